// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A pool of two resources, managed by a semaphore. Then the same with a hand-written semaphore on a
// condition variable, which broadcasts each release.
#include "not.h"

#include <semaphore.h>

static sem_t pool;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static uint32_t available = 2;
static uint64_t lent;

static void take(void)
{
	pthread_mutex_lock(&mutex);
	while (!available)
		pthread_cond_wait(&given_back, &mutex);
	available--;
	pthread_mutex_unlock(&mutex);
}

static void give(void)
{
	pthread_mutex_lock(&mutex);
	available++;
	pthread_cond_broadcast(&given_back);
	pthread_mutex_unlock(&mutex);
}

static void *body(void *arg)
{
	for (uint32_t i = 0; i < rounds; i++) {
		while (sem_wait(&pool))
			;
		work_us((uintptr_t)arg + i, 20);
		sem_post(&pool);
	}
	for (uint32_t i = 0; i < rounds; i++) {
		take();
		work_us((uintptr_t)arg + i, 20);
		give();
	}
	__atomic_fetch_add(&lent, 2 * rounds, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	parse_arguments(argc, argv);
	sem_init(&pool, 0, 2);
	run_threads(thread_count, body);
	return report("not_sem", "lent", lent, 2ULL * rounds * thread_count);
}
