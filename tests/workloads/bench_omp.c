// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// The time of an OpenMP barrier, back to back in one region: bench_omp THREADS SECONDS. Prints one
// JSON object.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define STRIDE 1000 /* barriers between two looks at the clock */

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[1]) : 0, over = 0;
	double seconds = argc > 2 ? atof(argv[2]) : 0, begun = 0, now = 0;
	long barriers = 0;

	if (threads < 1 || threads > 1024 || !(seconds > 0)) {
		fprintf(stderr, "usage: bench_omp THREADS SECONDS\n");
		return 2;
	}
#pragma omp parallel num_threads(threads)
	{
#pragma omp barrier
#pragma omp master
		begun = omp_get_wtime();
		while (!over) {
			for (int i = 0; i < STRIDE; i++) {
#pragma omp barrier
			}
#pragma omp master
			{
				barriers += STRIDE;
				now = omp_get_wtime();
				over = now - begun >= seconds;
			}
#pragma omp barrier
		}
	}
	printf("{\"threads\": %d, \"barriers\": %ld, \"ns_per_barrier\": %.1f}\n", threads,
	       barriers, (now - begun) * 1e9 / (double)barriers);
	return 0;
}
