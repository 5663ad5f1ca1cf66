// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A read-write lock: pthread's, then a hand-written one with a condition variable. Each thread in
// turn is the writer. The writer's release often wakes all other threads at once.
#include "not.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static uint32_t readers;
static int writing;
static uint64_t writes, reads;

static void acquire(int write)
{
	pthread_mutex_lock(&mutex);
	while (writing || (write && readers))
		pthread_cond_wait(&released, &mutex);
	if (write)
		writing = 1;
	else
		readers++;
	pthread_mutex_unlock(&mutex);
}

static void release(int write)
{
	pthread_mutex_lock(&mutex);
	if (write)
		writing = 0;
	else
		readers--;
	pthread_cond_broadcast(&released);
	pthread_mutex_unlock(&mutex);
}

static void use(int write, uint64_t key)
{
	work_us(key, write ? 100 : 5);
	if (write)
		writes++;
	else
		__atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED);
}

static void *body(void *arg)
{
	uint32_t index = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0; i < rounds; i++) {
		int write = i % thread_count == index;

		if (write)
			pthread_rwlock_wrlock(&lock);
		else
			pthread_rwlock_rdlock(&lock);
		use(write, i);
		pthread_rwlock_unlock(&lock);
	}
	for (uint32_t i = 0; i < rounds; i++) {
		int write = i % thread_count == index;

		acquire(write);
		use(write, i);
		release(write);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	parse_arguments(argc, argv);
	run_threads(thread_count, body);
	return report("not_rwlock", "locked", reads + writes, 2ULL * thread_count * rounds);
}
