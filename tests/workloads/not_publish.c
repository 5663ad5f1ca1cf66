// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// One thread repeatedly publishes and wakes all others, which wait for news. It continues when all
// others have seen the last news, but does not wait with them: it polls a counter. So in every
// round N - 1 threads wait and one thread wakes them all, but there is no barrier: the waking
// thread is always the same, and wakes from a function of its own.
#include "not.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static uint32_t edition;
static uint32_t seen;
static uint64_t read_in_all;

static void publish(void)
{
	pthread_mutex_lock(&mutex);
	edition++;
	pthread_cond_broadcast(&news);
	pthread_mutex_unlock(&mutex);
}

static uint32_t wait_for_news(uint32_t have)
{
	pthread_mutex_lock(&mutex);
	while (edition == have)
		pthread_cond_wait(&news, &mutex);
	have = edition;
	pthread_mutex_unlock(&mutex);
	return have;
}

static void *body(void *arg)
{
	uint32_t index = (uint32_t)(uintptr_t)arg;
	uint32_t have = 0;

	if (index == 0) {
		for (uint32_t i = 0; i < rounds; i++) {
			while (__atomic_load_n(&seen, __ATOMIC_ACQUIRE) < i * (thread_count - 1))
				sleep_ns(20000);
			sleep_ns(100000);
			publish();
		}
		return NULL;
	}
	while (have < rounds) {
		have = wait_for_news(have);
		__atomic_fetch_add(&read_in_all, 1, __ATOMIC_RELAXED);
		work_us(index + have, 20);
		__atomic_fetch_add(&seen, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	parse_arguments(argc, argv);
	run_threads(thread_count, body);
	return report("not_publish", "read", read_in_all, (uint64_t)rounds * (thread_count - 1));
}
