// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Blocked LU decomposition modelled on SPLASH-2's: a SIZE x SIZE matrix in blocks of BLOCK x BLOCK,
// distributed to the threads cyclically. Every iteration has the three barriers of E. Novillo's
// thesis (University of Alberta, 2002): after the diagonal block, after the perimeter, after the
// interior. Episodes: 1 + 3 * SIZE / BLOCK.
#include "splash.h"

#include <math.h>

#define BLOCK 16

static double *a;
static uint32_t blocks; /* number of blocks in a row */

static double element(uint32_t row, uint32_t column)
{
	uint64_t r = mix64(((uint64_t)row << 32) | column);

	return (double)(int64_t)r / 9223372036854775808.0 + (row == column ? splash.size : 0);
}

static double *at(uint32_t block_row, uint32_t block_column)
{
	return a + (size_t)block_row * BLOCK * splash.size + (size_t)block_column * BLOCK;
}

static int mine(uint32_t id, uint32_t row, uint32_t column)
{
	return (row * blocks + column) % splash.threads == id;
}

static void factor(double *d)
{
	for (uint32_t k = 0; k < BLOCK; k++) {
		for (uint32_t i = k + 1; i < BLOCK; i++) {
			d[i * splash.size + k] /= d[k * splash.size + k];
			for (uint32_t j = k + 1; j < BLOCK; j++)
				d[i * splash.size + j] -=
					d[i * splash.size + k] * d[k * splash.size + j];
		}
	}
}

/* Solve a block right of the diagonal with the unit lower triangle of @d. */
static void solve_row(const double *d, double *b)
{
	for (uint32_t k = 0; k < BLOCK; k++)
		for (uint32_t i = k + 1; i < BLOCK; i++)
			for (uint32_t j = 0; j < BLOCK; j++)
				b[i * splash.size + j] -=
					d[i * splash.size + k] * b[k * splash.size + j];
}

/* Solve a block below the diagonal with the upper triangle of @d. */
static void solve_column(const double *d, double *b)
{
	for (uint32_t i = 0; i < BLOCK; i++) {
		for (uint32_t k = 0; k < BLOCK; k++) {
			b[i * splash.size + k] /= d[k * splash.size + k];
			for (uint32_t j = k + 1; j < BLOCK; j++)
				b[i * splash.size + j] -=
					b[i * splash.size + k] * d[k * splash.size + j];
		}
	}
}

static void subtract_product(double *c, const double *l, const double *u)
{
	for (uint32_t i = 0; i < BLOCK; i++)
		for (uint32_t k = 0; k < BLOCK; k++)
			for (uint32_t j = 0; j < BLOCK; j++)
				c[i * splash.size + j] -=
					l[i * splash.size + k] * u[k * splash.size + j];
}

static void perimeter(uint32_t id, uint32_t k)
{
	for (uint32_t i = k + 1; i < blocks; i++) {
		if (mine(id, i, k))
			solve_column(at(k, k), at(i, k));
		if (mine(id, k, i))
			solve_row(at(k, k), at(k, i));
	}
}

static void interior(uint32_t id, uint32_t k)
{
	for (uint32_t i = k + 1; i < blocks; i++)
		for (uint32_t j = k + 1; j < blocks; j++)
			if (mine(id, i, j))
				subtract_product(at(i, j), at(i, k), at(k, j));
}

ONE_COPY static void lu(uint32_t id)
{
	for (uint32_t k = 0; k < blocks; k++) {
		if (mine(id, k, k))
			factor(at(k, k));
		BARRIER(id);
		perimeter(id, k);
		BARRIER(id);
		interior(id, k);
		BARRIER(id);
	}
}

ONE_COPY static void *slave(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = share(id, splash.size); i < share(id + 1, splash.size); i++)
		for (uint32_t j = 0; j < splash.size; j++)
			a[(size_t)i * splash.size + j] = element(i, j);
	BARRIER(id);
	lu(id);
	return NULL;
}

/* Compare some elements of L U with those of A. */
static int right(void)
{
	uint32_t n = splash.size;

	for (uint32_t s = 0; s < 200; s++) {
		uint32_t i = (uint32_t)(mix64(s) % n), j = (uint32_t)(mix64(s + 1000) % n);
		double sum = i <= j ? a[(size_t)i * n + j] : 0;

		for (uint32_t k = 0; k < i && k <= j; k++)
			sum += a[(size_t)i * n + k] * a[(size_t)k * n + j];
		if (!(fabs(sum - element(i, j)) < 1e-9 * n))
			return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t sum;
	int ok;

	splash_arguments(argc, argv, 256, 1);
	if (splash.size % BLOCK)
		die("lu3: SIZE must be a multiple of %u", BLOCK);
	blocks = splash.size / BLOCK;
	a = (double *)must_alloc((size_t)splash.size * splash.size, sizeof(*a));
	splash_run(slave);
	ok = right();
	sum = checksum(a, (size_t)splash.size * splash.size * sizeof(*a));
	free(a);
	return splash_report("lu3", sum, ok);
}
