// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * OpenMP threads that work one after another: omp_turns KIND THREADS ROUNDS MICROSECONDS [spin].
 * Each round is a region in which each thread works for MICROSECONDS when it has its turn. KIND is
 * how they take turns: a critical section, "ordered", or a lock. With "free" all threads work at
 * once. With "hot" each thread enters the critical section repeatedly, and works there for
 * MICROSECONDS in all. Threads sleep in place of work, or compute with "spin". Prints, by the
 * program's own clock, how long each thread waited for its turn and worked, and the run time.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 64

static struct {
	long long waited, worked;
	char apart[112];
} logs[THREADS];

static omp_lock_t lock;
static omp_nest_lock_t nest;
static volatile long passed;
static long us;
static int spin;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void work(long long came)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };
	int me = omp_get_thread_num();
	long long began = now();

	logs[me].waited += began - came;
	if (spin)
		while (now() - began < us * 1000)
			;
	else
		nanosleep(&t, NULL);
	logs[me].worked += now() - began;
}

static void turn(const char *kind)
{
	long long came = now();

	if (!strcmp(kind, "critical")) {
#pragma omp critical
		work(came);
	} else if (!strcmp(kind, "named")) {
#pragma omp critical(turns)
		work(came);
	} else if (!strcmp(kind, "lock")) {
		omp_set_lock(&lock);
		work(came);
		omp_unset_lock(&lock);
	} else if (!strcmp(kind, "nest")) {
		omp_set_nest_lock(&nest);
		omp_set_nest_lock(&nest);
		work(came);
		omp_unset_nest_lock(&nest);
		omp_unset_nest_lock(&nest);
	} else if (!strcmp(kind, "hot")) {
		while (now() - came < us * 1000) {
#pragma omp critical(hot)
			passed++;
		}
	} else {
		work(came);
	}
}

int main(int argc, char **argv)
{
	int i, k, threads, rounds;
	long long began;

	if (argc < 5) {
		fprintf(stderr, "usage: omp_turns KIND THREADS ROUNDS MICROSECONDS [spin]\n");
		return 2;
	}
	began = now();
	threads = atoi(argv[2]);
	rounds = atoi(argv[3]);
	us = atol(argv[4]);
	spin = argc > 5;
	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
	for (i = 0; i < rounds; i++) {
		if (!strcmp(argv[1], "ordered")) {
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads)
			for (k = 0; k < threads; k++) {
				long long came = now();
#pragma omp ordered
				work(came);
			}
		} else {
#pragma omp parallel num_threads(threads)
			turn(argv[1]);
		}
	}
	for (i = 0; i < threads && i < THREADS; i++)
		printf("# waited %d %lld worked %lld\n", i, logs[i].waited, logs[i].worked);
	printf("# took %lld passed %ld\n", now() - began, passed);
	return 0;
}
