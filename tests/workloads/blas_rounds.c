/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Products of matrices by OpenBLAS, which divides each among its threads. The build of OpenBLAS
 * decides how: with threads of its own, or with OpenMP.
 *   blas_rounds [ROUNDS [SIZE]]   (40, 256)
 */
#include "common.h"

#include <cblas.h>

int main(int argc, char **argv)
{
	uint32_t rounds = argc > 1 ? (uint32_t)parse_u64("ROUNDS", argv[1], 1, 1000000) : 40;
	uint32_t n = argc > 2 ? (uint32_t)parse_u64("SIZE", argv[2], 1, 10000) : 256;
	size_t cells = (size_t)n * n, i;
	double *a = calloc(cells, sizeof(*a)), *b = calloc(cells, sizeof(*b)), *product;

	product = calloc(cells, sizeof(*product));
	if (!a || !b || !product)
		die("blas_rounds: out of memory");
	stopgap(STOPGAP_SECONDS);
	for (i = 0; i < cells; i++)
		a[i] = b[i] = 1;
	for (uint32_t round = 0; round < rounds; round++) {
		cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)n, (int)n, 1, a,
			    (int)n, b, (int)n, 0, product, (int)n);
		usleep(500);
	}
	printf("blas_rounds: rounds=%u cell=%.0f ok\n", rounds, product[cells - 1]);
	free(a);
	free(b);
	free(product);
	return 0;
}
