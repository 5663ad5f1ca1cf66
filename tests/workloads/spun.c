// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Threads that cross their own barriers, at which they spin, so a tracer sees no calls.
 *
 *   spun KIND THREADS MILLISECONDS
 *
 * KIND "counter": one counter, and a sense that changes in each round. KIND "flags": each thread
 * sets a flag of its neighbours, at growing distances. Prints the process number when all threads
 * run, and the number of episodes at the end.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST  16
#define STEPS 4

static unsigned nthreads;
static double until;
static int by_flags;
static atomic_uint count, sense, last_round;
static atomic_uint told[MOST][STEPS];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void meet_counter(void)
{
	unsigned mine = atomic_load(&sense);

	if (atomic_fetch_add(&count, 1) + 1 == nthreads) {
		atomic_store(&count, 0);
		atomic_store(&sense, mine + 1);
	} else {
		while (atomic_load(&sense) == mine)
			;
	}
}

static void meet_flags(unsigned me, unsigned round)
{
	unsigned step, distance = 1;

	for (step = 0; distance < nthreads; step++, distance *= 2) {
		atomic_store(&told[(me + distance) % nthreads][step], round);
		while (atomic_load(&told[me][step]) < round)
			;
	}
}

static void *run(void *arg)
{
	unsigned me = (unsigned)(size_t)arg, round = 0;

	/*
	 * The first thread decides which round is the last, so that all threads leave after the
	 * same round.
	 */
	do {
		round++;
		if (!me && now() > until)
			atomic_store(&last_round, round);
		if (by_flags)
			meet_flags(me, round);
		else
			meet_counter();
	} while (round != atomic_load(&last_round));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST];
	unsigned i;

	if (argc != 4)
		return 2;
	by_flags = !strcmp(argv[1], "flags");
	nthreads = (unsigned)atoi(argv[2]);
	if (nthreads < 2 || nthreads > MOST)
		return 2;
	until = now() + atof(argv[3]) / 1e3;
	for (i = 0; i < nthreads; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(size_t)i))
			return 1;
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	for (i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	printf("episodes %u\n", atomic_load(&last_round));
	return 0;
}
