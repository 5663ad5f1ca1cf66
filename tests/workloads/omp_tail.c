// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// 50 parallel regions of 3 threads. A barrier is the last action of their function, so compilers
// make it a tail call. usage: omp_tail [--wait-start]; with --wait-start it prints that it is
// ready, and waits for a line on stdin
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void work(int n)
{
	struct timespec span = { .tv_nsec = 200000L * n };

	nanosleep(&span, NULL);
}

int main(int argc, char **argv)
{
	int i;

	if (argc == 2 && strcmp(argv[1], "--wait-start") == 0) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	for (i = 0; i < 50; i++) {
#pragma omp parallel num_threads(3)
		{
			work(omp_get_thread_num());
#pragma omp barrier
		}
	}
	return 0;
}
