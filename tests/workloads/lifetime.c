// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A program that sleeps: alone for 0.3 s, then with THREADS threads that cross a barrier ROUNDS
// times. Thread i sleeps for 10 ms * (i + 1) before each crossing. lifetime [THREADS ROUNDS].
// Prints "# lived NS", measured by its own clock.
#include "common.h"

#include <pthread.h>

#define ALONE_NS 300000000
#define STEP_NS	 10000000

static pthread_barrier_t barrier;
static int rounds = 20;

static void *work(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		sleep_until(now_ns() + ((uint64_t)(uintptr_t)arg + 1) * STEP_NS);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t begun = now_ns();
	pthread_t threads[64];
	int n = argc > 1 ? atoi(argv[1]) : 4;

	if (argc > 2)
		rounds = atoi(argv[2]);
	if (n < 2 || n > 64 || rounds < 1)
		die("usage: lifetime [THREADS ROUNDS]");
	stopgap(STOPGAP_SECONDS);
	sleep_until(begun + ALONE_NS);
	pthread_barrier_init(&barrier, NULL, (unsigned)n);
	for (int i = 1; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i))
			die("pthread_create");
	work(NULL);
	for (int i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("# lived %llu\n", (unsigned long long)(now_ns() - begun));
	return 0;
}
