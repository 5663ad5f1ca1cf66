// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Periodic waits: every thread waits on one condition variable until its next time. All have the
// same times, and no thread wakes another, except the first thread at the very end.
#include "not.h"

#define PERIOD_NS 500000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stop = PTHREAD_COND_INITIALIZER;
static uint64_t begin_ns, ticks;
static int stopped;

static void *body(void *arg)
{
	uint32_t index = (uint32_t)(uintptr_t)arg;
	uint32_t mine = 0;

	pthread_mutex_lock(&mutex);
	while (!stopped) {
		uint64_t next = begin_ns + (uint64_t)(mine + 1) * PERIOD_NS;
		struct timespec until = { (time_t)(next / NSEC_PER_SEC),
					  (long)(next % NSEC_PER_SEC) };

		if (mine == rounds)
			pthread_cond_wait(&stop, &mutex);
		else if (pthread_cond_clockwait(&stop, &mutex, CLOCK_MONOTONIC, &until) ==
			 ETIMEDOUT)
			mine++;
		if (mine == rounds && index == 0) {
			stopped = 1;
			pthread_cond_broadcast(&stop);
		}
	}
	ticks += mine;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(int argc, char **argv)
{
	int bad;

	parse_arguments(argc, argv);
	begin_ns = now_ns();
	run_threads(thread_count, body);
	/* The other threads may have been stopped in their last period. */
	bad = ticks < rounds || ticks > (uint64_t)rounds * thread_count;
	printf("not_timer: ticks=%llu episodes=0 %s\n", (unsigned long long)ticks,
	       bad ? "bad" : "ok");
	return bad;
}
