// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check the grid of the HTML report: at any width, all times are present and in the right bucket.
 */
#include <stdlib.h>

#include "test_check.h"
#include "emit/grid.h"

static double total(const struct grid *g, uint32_t lane, enum grid_kind kind)
{
	double sum = 0;

	for (uint32_t i = 0; i < g->width; i++)
		sum += g->lanes[lane].ns[kind][i];
	return sum;
}

static void assert_about(double a, double b)
{
	if (!(a > b * 0.9999 - 1 && a < b * 1.0001 + 1))
		fail_msg("%f is not %f", a, b);
}

static uint32_t lane_of(struct grid *g, uint32_t thread)
{
	uint32_t lane;

	assert_int_equal(grid_lane(g, thread, 100 + thread, &lane), 0);
	return lane;
}

static void test_buckets(void **state)
{
	struct grid *g CLEANUP_PTR(free) = malloc(sizeof(*g));
	uint32_t a;

	assert_non_null(g);
	grid_init(g);
	a = lane_of(g, 7);
	assert_int_equal(lane_of(g, 7), a);
	grid_add(g, a, GRID_WORK, 500, 2500);
	grid_add(g, a, GRID_WAIT, 2500, 2600);
	assert_about(g->lanes[a].ns[GRID_WORK][0], 500);
	assert_about(g->lanes[a].ns[GRID_WORK][1], 1000);
	assert_about(g->lanes[a].ns[GRID_WORK][2], 500);
	assert_about(g->lanes[a].ns[GRID_WAIT][2], 100);
	/* A time beyond the last bucket makes all buckets wider. */
	grid_add(g, a, GRID_LEAVE, 40000000, 40000100);
	assert_fields(g, IS(lane_ns, 4000), IS(width, GRID_WIDTH));
	assert_about(g->lanes[a].ns[GRID_WORK][0], 2000);
	assert_about(g->lanes[a].ns[GRID_WAIT][0], 100);
	assert_about(g->lanes[a].ns[GRID_LEAVE][10000], 100);
	assert_about(total(g, a, GRID_WORK), 2000);
	grid_free(g);
}

/*
 * With more threads each thread has fewer buckets, so that memory is bounded. Threads beyond the
 * maximum have no lane, and are counted.
 */
static void test_lanes(void **state)
{
	struct grid *g CLEANUP_PTR(free) = malloc(sizeof(*g));
	uint32_t lane;

	assert_non_null(g);
	grid_init(g);
	for (uint32_t i = 0; i < GRID_LANES + 10; i++) {
		lane = lane_of(g, i);
		assert_int_equal(lane, i < GRID_LANES ? i : GRID_LANES);
		grid_add(g, lane, GRID_WORK, 1000 * i, 1000 * i + 30000000);
		assert_true(g->nlanes * g->width <= GRID_CELLS);
		assert_true(g->width >= GRID_LEAST);
	}
	assert_fields(g, IS(nlanes, GRID_LANES), IS(left_out, 10));
	lane_of(g, GRID_LANES + 3);
	assert_int_equal(g->left_out, 10);
	for (uint32_t i = 0; i < GRID_LANES; i++) {
		assert_about(total(g, i, GRID_WORK), 30000000);
		assert_about(g->lanes[i].ns[GRID_WORK][g->width - 1], 0);
	}
	/* Now another thread has the index 3. */
	assert_int_equal(grid_lane(g, 3, 999, &lane), 0);
	assert_int_equal(lane, GRID_LANES);
	grid_free(g);
}

static void test_series(void **state)
{
	struct grid *g = malloc(sizeof(*g));
	const struct grid_point *p;
	uint64_t n = 0;
	double sum = 0;
	uint32_t i;

	assert_non_null(g);
	grid_init(g);
	/*
	 * There are 10,000 episodes in 10 s. The first buckets are 1 us wide. Their width doubles
	 * until all 2048 buckets cover the run: 8.192 ms each, 16.8 s in total.
	 */
	for (uint64_t k = 0; k < 10000; k++)
		assert_int_equal(grid_episode(g, 5, k * 1000000, 100 + k, k ? 7 : UINT64_MAX), 0);
	assert_int_equal(g->nseries, 1);
	assert_true(g->point_ns * GRID_POINTS >= 9999000000ULL);
	assert_true(g->point_ns * GRID_POINTS < 2 * 9999000000ULL);
	for (i = 0; i < GRID_POINTS; i++) {
		p = &g->series[0]->phase[i];
		n += p->n;
		sum += p->sum;
		if (!p->n)
			continue;
		assert_true(p->min <= p->max);
		assert_about(p->max - p->min, p->n - 1);
		assert_about(p->sum / p->n, (p->min + p->max) / 2);
	}
	assert_int_equal(n, 10000);
	assert_about(sum, 10000 * 100 + 9999.0 * 10000 / 2);
	/* An unknown time adds nothing to the grid. */
	for (i = 0, n = 0; i < GRID_POINTS; i++)
		n += g->series[0]->within[i].n;
	assert_int_equal(n, 9999);
	for (i = 0; i < 2 * GRID_SERIES; i++)
		assert_int_equal(grid_episode(g, 100 + i, 5, 1, 1), 0);
	assert_int_equal(g->nseries, GRID_SERIES);
	grid_free(g);
	free(g);
}

/* Add random slices. The totals do not depend on how the grid grew. */
static void test_random(void **state)
{
	struct grid *g CLEANUP_PTR(free) = malloc(sizeof(*g));
	double in[8][GRID_KINDS] = { { 0 } };
	uint64_t x = 88172645463325252ULL, at, len;
	uint32_t lane, kind;

	assert_non_null(g);
	grid_init(g);
	for (uint32_t i = 0; i < 20000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		lane = lane_of(g, x % 8);
		kind = (x >> 8) % GRID_KINDS;
		at = (x >> 16) % (1000 + (uint64_t)i * i);
		len = (x >> 40) % 5000;
		grid_add(g, lane, kind, at, at + len);
		in[lane][kind] += (double)len;
	}
	for (lane = 0; lane < 8; lane++)
		for (kind = 0; kind < GRID_KINDS; kind++)
			assert_about(total(g, lane, kind), in[lane][kind]);
	grid_free(g);
}

/* With impossible times the grid stays intact, and the call ends. */
static void test_corrupt(void **state)
{
	struct grid *g CLEANUP_PTR(free) = malloc(sizeof(*g));
	uint32_t a;

	assert_non_null(g);
	grid_init(g);
	a = lane_of(g, 1);
	grid_add(g, a, GRID_WORK, 0, 5000);
	grid_add(g, a, GRID_WORK, 5, UINT64_MAX);
	grid_add(g, a, GRID_WORK, 9, 8);
	grid_add(g, GRID_LANES, GRID_WORK, 0, 5);
	assert_int_equal(grid_episode(g, 1, UINT64_MAX, 5, 5), 0);
	assert_int_equal(g->lane_ns, GRID_FIRST_NS);
	assert_about(total(g, a, GRID_WORK), 5000);
	grid_add(g, a, GRID_WAIT, GRID_MOST_NS - 10, GRID_MOST_NS);
	assert_int_equal(grid_episode(g, 1, GRID_MOST_NS - 1, 5, 5), 0);
	assert_about(total(g, a, GRID_WORK), 5000);
	assert_about(total(g, a, GRID_WAIT), 10);
	grid_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets), cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_series),	cmocka_unit_test(test_random),
		cmocka_unit_test(test_corrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
