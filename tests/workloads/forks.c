// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Create processes one after another, each of which ends at once: forks N, or forks N PROGRAM for
 * processes that first execute PROGRAM. Print the time from before fork() to the end of the
 * process, and the time of fork() itself, both as medians of N. Also print the mean CPU time of a
 * process. The program crosses a barrier of two threads first, so that there is something to trace.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int double_cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *all, int n)
{
	qsort(all, (size_t)n, sizeof(*all), double_cmp);
	return all[n / 2];
}

/* Return the CPU time of all children that have ended, us. */
static double children_us(void)
{
	struct rusage use;

	getrusage(RUSAGE_CHILDREN, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e6 +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void *meet(void *arg)
{
	pthread_barrier_wait(&barrier);
	return arg;
}

int main(int argc, char **argv)
{
	int i, status, n = argc > 1 ? atoi(argv[1]) : 200;
	double *all, *calls, begin;
	pthread_t other;
	pid_t child;

	if (n < 1)
		return 2;
	all = calloc((size_t)n, sizeof(*all));
	calls = calloc((size_t)n, sizeof(*calls));
	if (!all || !calls || pthread_barrier_init(&barrier, NULL, 2) ||
	    pthread_create(&other, NULL, meet, NULL))
		return 1;
	meet(NULL);
	pthread_join(other, NULL);
	for (i = 0; i < n; i++) {
		begin = now_us();
		child = fork();
		if (!child) {
			if (argc > 2)
				execv(argv[2], argv + 2);
			_exit(argc > 2);
		}
		calls[i] = now_us() - begin;
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			return 1;
		all[i] = now_us() - begin;
	}
	printf("{\"fork_us\": %.2f, \"process_us\": %.2f, \"cpu_us\": %.2f}\n", median(calls, n),
	       median(all, n), children_us() / n);
	free(all);
	free(calls);
	return 0;
}
