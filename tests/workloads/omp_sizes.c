// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * OpenMP teams that shrink and grow, so that GCC's runtime ends threads and creates others:
 * omp_sizes sizes|nested ROUNDS. "sizes": regions of 2, 3 and 4 threads alternate, and the first
 * thread works longest. "nested": two threads with a team of two each. Prints, by the program's own
 * clock, the total work of its threads, and the run time.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long worked;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void work(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };
	long long since = now();

	nanosleep(&t, NULL);
	__atomic_fetch_add(&worked, now() - since, __ATOMIC_RELAXED);
}

static void sizes(int round)
{
#pragma omp parallel num_threads(2 + round % 3)
	work(omp_get_thread_num() ? 3000 : 15000);
}

static void nested(void)
{
#pragma omp parallel num_threads(2)
	{
		int outer = omp_get_thread_num();

#pragma omp parallel num_threads(2)
		{
			work(outer ? 10000 : 4000 + 6000 * omp_get_thread_num());
#pragma omp barrier
			work(3000);
		}
	}
}

int main(int argc, char **argv)
{
	long long since = now();
	int round, rounds = argc > 2 ? atoi(argv[2]) : 30;
	int teams = argc > 1 && !strcmp(argv[1], "nested");

	omp_set_max_active_levels(2);
	for (round = 0; round < rounds; round++) {
		if (teams)
			nested();
		else
			sizes(round);
	}
	printf("# worked %lld of %lld\n", worked, now() - since);
	return 0;
}
