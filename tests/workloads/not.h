// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// For the programs not_*.c. Their threads wait for each other, but cross no barrier, so a tracer
// must find none. All take [THREADS [ROUNDS]] and print what they did. main creates threads and
// joins them at the end, which is the only episode, of the family forkjoin.
#ifndef WORKLOADS_NOT_H
#define WORKLOADS_NOT_H

#include "common.h"

static uint32_t thread_count = 4, rounds = 500;

static inline void parse_arguments(int argc, char **argv)
{
	if (argc > 1)
		thread_count = (uint32_t)parse_u64("THREADS", argv[1], 2, 256);
	if (argc > 2)
		rounds = (uint32_t)parse_u64("ROUNDS", argv[2], 1, 1000000);
	stopgap(STOPGAP_SECONDS);
}

static inline pthread_t *start_threads(uint32_t n, void *(*body)(void *))
{
	pthread_t *threads = (pthread_t *)must_alloc(n, sizeof(*threads));

	for (uint32_t i = 0; i < n; i++)
		must(pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)i),
		     "pthread_create");
	return threads;
}

static inline void join_threads(pthread_t *threads, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		must(pthread_join(threads[i], NULL), "pthread_join");
	free(threads);
}

static inline void run_threads(uint32_t n, void *(*body)(void *))
{
	join_threads(start_threads(n, body), n);
}

/* Do some work, of a different length for each key. */
static inline void work_us(uint64_t key, uint64_t most)
{
	spin_until(now_ns() + mix64(key) % (most * 1000));
}

/* Print the result, and return whether it differs from the expected value. */
static inline int report(const char *name, const char *what, uint64_t got, uint64_t expected)
{
	printf("%s: %s=%llu episodes=0 %s\n", name, what, (unsigned long long)got,
	       got == expected ? "ok" : "bad");
	return got != expected;
}

#endif
