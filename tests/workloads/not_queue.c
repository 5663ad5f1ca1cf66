// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A bounded queue. Half of the threads produce and half consume. As in much real code, every change
// is broadcast on one condition variable, whatever the threads wait for.
#include "not.h"

#define SLOTS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t slot[SLOTS], put, taken, sum;
static uint64_t total;

static void produce(uint64_t value)
{
	pthread_mutex_lock(&mutex);
	while (put - taken == SLOTS)
		pthread_cond_wait(&changed, &mutex);
	slot[put++ % SLOTS] = value;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static int consume(void)
{
	int got = 0;

	pthread_mutex_lock(&mutex);
	while (put == taken && taken < total)
		pthread_cond_wait(&changed, &mutex);
	if (taken < total) {
		sum += slot[taken++ % SLOTS];
		got = 1;
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	return got;
}

static void *body(void *arg)
{
	uint32_t index = (uint32_t)(uintptr_t)arg;

	if (index % 2) {
		while (consume())
			work_us(index, 10);
		return NULL;
	}
	for (uint32_t i = 0; i < rounds; i++) {
		work_us(index + i, 10);
		produce(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	parse_arguments(argc, argv);
	total = (uint64_t)(thread_count + 1) / 2 * rounds;
	run_threads(thread_count, body);
	return report("not_queue", "items", sum, total);
}
