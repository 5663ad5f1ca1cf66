// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * OpenMP reductions: omp_reduce KIND THREADS ROUNDS MICROSECONDS. In each round each thread sleeps
 * for MICROSECONDS in place of work, and one thread, which changes each round, sleeps three times
 * as long. Then all threads reduce. KIND: "for" reduces at the end of a loop, "two" at the end of a
 * loop with two sums, "region" at the end of a region, "nowait" at the end of a loop that does not
 * wait, before a barrier. Prints, by the program's own clock, how long each thread waited for the
 * last thread to finish its work.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 64
#define ROUNDS	10000

static long long done[ROUNDS][THREADS];
static long us;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int work(int round, int threads)
{
	int me = omp_get_thread_num();
	long length = me == round % threads ? 3 * us : us;
	struct timespec t = { length / 1000000, length % 1000000 * 1000 };

	nanosleep(&t, NULL);
	done[round][me] = now();
	return me;
}

static double loops(const char *kind, int threads, int rounds)
{
	double sum = 0, other = 0;
	int r, k;

#pragma omp parallel num_threads(threads) private(r)
	for (r = 0; r < rounds; r++) {
		if (!strcmp(kind, "for")) {
#pragma omp for schedule(static, 1) reduction(+ : sum)
			for (k = 0; k < threads; k++)
				sum += work(r, threads);
		} else if (!strcmp(kind, "two")) {
#pragma omp for schedule(static, 1) reduction(+ : sum) reduction(* : other)
			for (k = 0; k < threads; k++) {
				sum += work(r, threads);
				other *= k;
			}
		} else {
#pragma omp for schedule(static, 1) reduction(+ : sum) nowait
			for (k = 0; k < threads; k++)
				sum += work(r, threads);
#pragma omp barrier
		}
	}
	return sum + other;
}

int main(int argc, char **argv)
{
	int i, r, threads, rounds;
	double sum = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: omp_reduce KIND THREADS ROUNDS MICROSECONDS\n");
		return 2;
	}
	threads = atoi(argv[2]);
	rounds = atoi(argv[3]);
	us = atol(argv[4]);
	if (threads > THREADS || rounds > ROUNDS)
		return 2;
	if (strcmp(argv[1], "region") != 0) {
		sum = loops(argv[1], threads, rounds);
	} else {
		for (r = 0; r < rounds; r++) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
			sum += work(r, threads);
		}
	}
	for (i = 0; i < threads; i++) {
		long long waited = 0;

		for (r = 0; r < rounds; r++) {
			long long last = 0;
			int k;

			for (k = 0; k < threads; k++)
				last = done[r][k] > last ? done[r][k] : last;
			waited += last - done[r][i];
		}
		printf("# waited %d %lld\n", i, waited);
	}
	printf("%g\n", sum);
	return 0;
}
