/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Fourier transforms by FFTW, which divides each among its threads: threads of its own
 * (fft_rounds), or those of OpenMP (fft_rounds-omp).
 *   fft_rounds [THREADS [ROUNDS [SIZE]]]   (3, 30, 256)
 */
#include "common.h"

#include <fftw3.h>

int main(int argc, char **argv)
{
	int threads = argc > 1 ? (int)parse_u64("THREADS", argv[1], 1, 64) : 3;
	uint32_t rounds = argc > 2 ? (uint32_t)parse_u64("ROUNDS", argv[2], 1, 1000000) : 30;
	int n = argc > 3 ? (int)parse_u64("SIZE", argv[3], 1, 10000) : 256;
	fftw_complex *cells;
	fftw_plan plan;

	stopgap(STOPGAP_SECONDS);
	if (!fftw_init_threads())
		die("fft_rounds: FFTW cannot create threads");
	fftw_plan_with_nthreads(threads);
	cells = fftw_alloc_complex((size_t)n * (size_t)n);
	if (!cells)
		die("fft_rounds: out of memory");
	plan = fftw_plan_dft_2d(n, n, cells, cells, FFTW_FORWARD, FFTW_ESTIMATE);
	for (int i = 0; i < n * n; i++)
		cells[i][0] = cells[i][1] = i % 7;
	for (uint32_t round = 0; round < rounds; round++) {
		fftw_execute(plan);
		usleep(500);
	}
	printf("fft_rounds: rounds=%u ok\n", rounds);
	fftw_destroy_plan(plan);
	fftw_free(cells);
	fftw_cleanup_threads();
	return 0;
}
