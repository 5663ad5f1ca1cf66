// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * OpenMP tasks that run inside barriers: omp_tasks KIND THREADS ROUNDS TASKS MICROSECONDS. Each
 * round is one region.
 *   single  one thread creates the tasks, and all run them in the barrier at the end of the single
 *   master  the master creates the tasks, and all run them in the barrier at the end of the region
 *   loop    as `master`, with a taskloop
 *   each    every thread creates its own tasks
 *   none    a shared loop does the same work: the code for tasks exists, but no task is created
 * Prints, by the program's own clock, how long each thread worked, and how long it created tasks
 * before the barriers. Also prints the run time of the program and of its regions.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 64

static struct {
	long long worked, before;
	char apart[112];
} logs[THREADS];

static long us;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void work(void)
{
	long long began = now();

	if (!us)
		return;
	while (now() - began < us * 1000)
		;
	logs[omp_get_thread_num()].worked += now() - began;
}

static void make(unsigned long tasks)
{
	long long began = now();

	for (unsigned long i = 0; i < tasks; i++) {
#pragma omp task
		work();
	}
	logs[omp_get_thread_num()].before += now() - began;
}

static void make_loop(unsigned long tasks)
{
	long long began = now();

#pragma omp taskloop grainsize(1) nogroup
	for (unsigned long i = 0; i < tasks; i++)
		work();
	logs[omp_get_thread_num()].before += now() - began;
}

static void round_of(const char *kind, int threads, unsigned long tasks)
{
#pragma omp parallel num_threads(threads)
	{
		if (!strcmp(kind, "single")) {
#pragma omp single
			make(tasks);
		} else if (!strcmp(kind, "master")) {
#pragma omp master
			make(tasks);
		} else if (!strcmp(kind, "loop")) {
#pragma omp master
			make_loop(tasks);
		} else if (!strcmp(kind, "each")) {
			make(tasks / (unsigned long)threads);
#pragma omp barrier
		} else {
#pragma omp for schedule(dynamic)
			for (unsigned long i = 0; i < tasks; i++)
				work();
		}
	}
}

int main(int argc, char **argv)
{
	long long began = now(), regions = 0;
	unsigned long tasks;
	int threads, rounds;

	if (argc != 6)
		return 2;
	threads = atoi(argv[2]);
	rounds = atoi(argv[3]);
	tasks = strtoul(argv[4], NULL, 10);
	us = atol(argv[5]);
	if (threads > THREADS)
		return 2;
	for (int i = 0; i < rounds; i++) {
		long long region = now();

		round_of(argv[1], threads, tasks);
		regions += now() - region;
	}
	for (int i = 0; i < threads; i++)
		printf("# worked %d %lld before %lld\n", i, logs[i].worked, logs[i].before);
	printf("# ran %lld regions %lld\n", now() - began, regions);
	return 0;
}
