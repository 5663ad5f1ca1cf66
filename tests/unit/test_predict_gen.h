/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Input for the prediction, modelled on the benchmarks (table 2) and the matrix multiplication
 * (section 4.2) of Shanmugam, Malony and Mohr, Performance Extrapolation of Parallel Programs,
 * 1995. It says what each of n threads computes, where threads cross a barrier, and which data they
 * request from each other. There is one input for each number of threads, as the paper has one
 * recording for each. Sizes are fixed, so more threads have less work each. Shared by tests and
 * benchmarks.
 */
#ifndef TEST_PREDICT_GEN_H
#define TEST_PREDICT_GEN_H

#include <math.h>
#include <stdlib.h>

#include "predict/predict.h"

#define US 1000ull
#define MS 1000000ull

struct gen {
	struct predict_input in;
	uint32_t n;
	/* for each thread: time (ns) that it has computed and that is not in a step yet */
	uint64_t *work;
	int err;
};

static inline void gen_begin(struct gen *g, uint32_t n)
{
	*g = (struct gen){ .n = n, .work = calloc(n, sizeof(*g->work)) };
	for (uint32_t i = 0; i < n; i++)
		g->err |= predict_add_thread(&g->in) < 0;
}

static inline void gen_step(struct gen *g, uint32_t thread, enum predict_op op, uint32_t what,
			    uint32_t bytes)
{
	g->err |= predict_add_step(&g->in, thread, op, g->work[thread], what, bytes);
	g->work[thread] = 0;
}

static inline void gen_work(struct gen *g, uint32_t thread, uint64_t ns)
{
	g->work[thread] += ns;
}

static inline void gen_read(struct gen *g, uint32_t thread, uint32_t owner, uint32_t bytes)
{
	if (thread != owner)
		gen_step(g, thread, PREDICT_READ, owner, bytes);
}

static inline void gen_meet(struct gen *g, uint32_t site)
{
	uint32_t episode;

	g->err |= predict_add_episode(&g->in, site, &episode);
	for (uint32_t i = 0; i < g->n; i++)
		gen_step(g, i, PREDICT_MEET, episode, 0);
}

static inline int gen_end(struct gen *g, struct predict_input *out)
{
	free(g->work);
	*out = g->in;
	return g->err;
}

/* Return how many of @size elements thread @i of @n has in a block distribution. */
static inline uint32_t gen_block(uint32_t size, uint32_t n, uint32_t i)
{
	return (uint32_t)((uint64_t)size * (i + 1) / n - (uint64_t)size * i / n);
}

static inline uint32_t gen_owner(uint32_t size, uint32_t n, uint32_t element)
{
	uint32_t i = (uint32_t)((uint64_t)element * n / size);

	while (i + 1 < n && (uint64_t)size * (i + 1) / n <= element)
		i++;
	return i;
}

static inline uint32_t gen_root(uint32_t n)
{
	uint32_t q = (uint32_t)sqrt(n);

	while ((q + 1) * (q + 1) <= n)
		q++;
	while (q * q > n)
		q--;
	return q;
}

/* --- Embar: random numbers are counted, then all counts are added up ----------------------- */

#define EMBAR_NS 32000000000ull

static inline int gen_embar(uint32_t n, struct predict_input *out)
{
	struct gen g;

	gen_begin(&g, n);
	for (uint32_t i = 0; i < n; i++)
		gen_work(&g, i, EMBAR_NS / n);
	gen_meet(&g, 0);
	return gen_end(&g, out);
}

/* --- Cyclic reduction ------------------------------------------------------------------------- */

/*
 * Many systems of equations are reduced at once. Each step leaves half of the equations, and
 * distributes them to all threads again, one by one. So all threads have work as long as there are
 * enough equations, and nearly all data that an equation needs belong to another thread.
 */

#define CYCLIC_NS (800 * US)

static inline void gen_cyclic_level(struct gen *g, uint32_t size, uint32_t stride, uint32_t site)
{
	for (uint32_t e = stride - 1; e < size; e += stride) {
		uint32_t me = e / stride % g->n, half = stride / 2;

		if (e >= half)
			gen_read(g, me, (e - half) / stride % g->n, 64);
		if (e + half < size)
			gen_read(g, me, (e + half) / stride % g->n, 64);
		gen_work(g, me, CYCLIC_NS);
	}
	gen_meet(g, site);
}

static inline int gen_cyclic(uint32_t n, struct predict_input *out)
{
	struct gen g;
	uint32_t size = 1024;

	gen_begin(&g, n);
	for (uint32_t stride = 2; stride <= size; stride *= 2)
		gen_cyclic_level(&g, size, stride, 0);
	for (uint32_t stride = size; stride >= 2; stride /= 2)
		gen_cyclic_level(&g, size, stride, 1);
	return gen_end(&g, out);
}

/* --- Sparse: conjugate gradients; an iteration needs parts of all vectors, and two sums ------ */

static inline int gen_sparse(uint32_t n, struct predict_input *out)
{
	struct gen g;
	uint32_t size = 1400;

	gen_begin(&g, n);
	for (uint32_t k = 0; k < 25; k++) {
		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t j = 0; j < n; j++)
				gen_read(&g, i, (i + j) % n, 8 * gen_block(size, n, (i + j) % n));
			gen_work(&g, i, 30 * US * gen_block(size, n, i));
		}
		gen_meet(&g, 0);
		for (uint32_t j = 1; j < 3; j++) {
			for (uint32_t i = 0; i < n; i++)
				gen_work(&g, i, US * gen_block(size, n, i));
			gen_meet(&g, j);
			gen_work(&g, 0, 2 * US * n);
			gen_meet(&g, j);
		}
	}
	return gen_end(&g, out);
}

/* --- Grid: a (BLOCK, BLOCK) plane; only a square number of threads has work ------------------ */

static inline void gen_plane(struct gen *g, uint32_t size, uint64_t ns_point, uint32_t bytes,
			     uint32_t site)
{
	uint32_t q = gen_root(g->n), r, c, me;

	q = q < size ? q : size;
	for (r = 0; r < q; r++) {
		for (c = 0; c < q; c++) {
			me = r * q + c;
			if (r)
				gen_read(g, me, me - q, bytes);
			if (r + 1 < q)
				gen_read(g, me, me + q, bytes);
			if (c)
				gen_read(g, me, me - 1, bytes);
			if (c + 1 < q)
				gen_read(g, me, me + 1, bytes);
			gen_work(g, me, ns_point * gen_block(size, q, r) * gen_block(size, q, c));
		}
	}
	gen_meet(g, site);
}

#define GRID_ROUNDS 100

/*
 * Generate Grid with @bytes per edge element. The paper mistakenly used the size of the whole
 * element.
 */
static inline int gen_grid_of(uint32_t n, uint32_t bytes, struct predict_input *out)
{
	struct gen g;

	gen_begin(&g, n);
	for (uint32_t k = 0; k < GRID_ROUNDS; k++)
		gen_plane(&g, 120, 3 * US, bytes, 0);
	return gen_end(&g, out);
}

static inline int gen_grid(uint32_t n, struct predict_input *out)
{
	return gen_grid_of(n, 128, out);
}

/* --- Mgrid: like Grid, on planes of half the size each time, and back to the full size ------- */

static inline int gen_mgrid(uint32_t n, struct predict_input *out)
{
	struct gen g;

	gen_begin(&g, n);
	for (uint32_t cycle = 0; cycle < 20; cycle++) {
		for (uint32_t size = 64; size >= 2; size /= 2)
			gen_plane(&g, size, 3 * US, 8 * size, 0);
		for (uint32_t size = 4; size <= 64; size *= 2)
			gen_plane(&g, size, 3 * US, 8 * size, 1);
	}
	return gen_end(&g, out);
}

/* --- Poisson: transform rows, transpose, transform columns, and back ------------------------- */

static inline void gen_poisson_sweep(struct gen *g, uint32_t size, uint32_t site)
{
	for (uint32_t i = 0; i < g->n; i++)
		gen_work(g, i, 12 * MS * gen_block(size, g->n, i));
	gen_meet(g, site);
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t j = 1; j < g->n; j++)
			gen_read(g, i, (i + j) % g->n,
				 8 * gen_block(size, g->n, i) *
					 gen_block(size, g->n, (i + j) % g->n));
	gen_meet(g, site + 1);
}

static inline int gen_poisson(uint32_t n, struct predict_input *out)
{
	struct gen g;

	gen_begin(&g, n);
	for (uint32_t k = 0; k < 4; k++)
		gen_poisson_sweep(&g, 128, 2 * (k % 2));
	return gen_end(&g, out);
}

/* --- Sort: bitonic; each step reads all data of the partner; @n is a power of two ------------ */

static inline int gen_sort(uint32_t n, struct predict_input *out)
{
	struct gen g;
	uint32_t size = 65536;

	gen_begin(&g, n);
	for (uint32_t i = 0; i < n; i++)
		gen_work(&g, i, (uint64_t)(500.0 * (size / n) * log2((double)size / n)));
	gen_meet(&g, 0);
	for (uint32_t k = 2; k <= n; k *= 2) {
		for (uint32_t j = k / 2; j; j /= 2) {
			for (uint32_t i = 0; i < n; i++) {
				gen_read(&g, i, i ^ j, 4 * (size / n));
				gen_work(&g, i, 700 * (size / n));
			}
			gen_meet(&g, 1);
		}
	}
	return gen_end(&g, out);
}

/* --- Matmul: nine distributions ------------------------------------------------------------ */

enum gen_dist { GEN_BLOCK, GEN_CYCLIC, GEN_WHOLE };

struct gen_matmul {
	enum gen_dist row, column;
	/* size of the matrix; numbers of threads that share the rows, and the columns */
	uint32_t size, rows, columns;
};

static inline uint32_t gen_deal(enum gen_dist d, uint32_t size, uint32_t n, uint32_t i)
{
	return d == GEN_BLOCK ? gen_owner(size, n, i) : d == GEN_CYCLIC ? i % n : 0;
}

static inline uint32_t gen_matmul_owner(const struct gen_matmul *m, uint32_t r, uint32_t c)
{
	return gen_deal(m->row, m->size, m->rows, r) * m->columns +
	       gen_deal(m->column, m->size, m->columns, c);
}

static inline void gen_matmul_deal(struct gen_matmul *m, uint32_t n)
{
	uint32_t q = gen_root(n);

	m->rows = m->row == GEN_WHOLE ? 1 : m->column == GEN_WHOLE ? n : q;
	m->columns = m->column == GEN_WHOLE ? 1 : m->row == GEN_WHOLE ? n : q;
}

/*
 * Generate one round, for one row of the transposed matrix B. The thread that has a column of T
 * gets the matching part of the row. All threads multiply. Then sums move from right to left
 * through each row: a thread reads the sum of the element to the right, if that element belongs to
 * another thread.
 */
static inline void gen_matmul_row(struct gen *g, const struct gen_matmul *m, uint32_t b)
{
	uint32_t me, size = m->size;

	for (uint32_t r = 0; r < m->rows; r++)
		for (uint32_t c = 0; c < m->columns; c++)
			gen_read(g, r * m->columns + c,
				 gen_deal(m->row, size, m->rows, b) * m->columns + c,
				 8 * size / m->columns);
	gen_meet(g, 0);
	for (uint32_t r = 0; r < size; r++)
		for (uint32_t c = 0; c < size; c++)
			gen_work(g, gen_matmul_owner(m, r, c), 2 * US);
	gen_meet(g, 1);
	for (uint32_t r = 0; r < size; r++) {
		for (uint32_t c = size - 1; c-- > 0;) {
			me = gen_matmul_owner(m, r, c);
			gen_read(g, me, gen_matmul_owner(m, r, c + 1), 8);
			gen_work(g, me, US);
		}
	}
	gen_meet(g, 2);
}

static inline int gen_matmul(uint32_t n, enum gen_dist row, enum gen_dist column, uint32_t size,
			     struct predict_input *out)
{
	struct gen_matmul m = { .row = row, .column = column, .size = size };
	struct gen g;

	gen_begin(&g, n);
	gen_matmul_deal(&m, n);
	for (uint32_t b = 0; b < size; b++)
		gen_matmul_row(&g, &m, b);
	return gen_end(&g, out);
}

/* --- all of table 2 ------------------------------------------------------------------------ */

struct gen_benchmark {
	const char *name;
	int (*make)(uint32_t n, struct predict_input *out);
};

enum { GEN_EMBAR, GEN_CYCLIC_RED, GEN_SPARSE, GEN_GRID, GEN_MGRID, GEN_POISSON, GEN_SORT };

static const struct gen_benchmark gen_benchmarks[] = {
	[GEN_EMBAR] = { "Embar", gen_embar },	 [GEN_CYCLIC_RED] = { "Cyclic", gen_cyclic },
	[GEN_SPARSE] = { "Sparse", gen_sparse }, [GEN_GRID] = { "Grid", gen_grid },
	[GEN_MGRID] = { "Mgrid", gen_mgrid },	 [GEN_POISSON] = { "Poisson", gen_poisson },
	[GEN_SORT] = { "Sort", gen_sort },
};

#endif /* TEST_PREDICT_GEN_H */
