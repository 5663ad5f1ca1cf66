// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check that work is linear in the number of processes, threads and sites: four times as many may
 * take at most five times the work.
 */
#include "test_model_util.h"

#include <math.h>
#include <stdio.h>

#include "analyse/report.h"
#include "sbt/record.h"

#define FEW  3000
#define MANY (4 * FEW)

enum {
	ALONE,
	OPEN,
	ONE_TEAM,
	PAIRS,
	ONE_BARRIER,
	HELD_BACK,
	THREADS,
	THREADS_ALONE,
	SITES,
	OBJECTS
};

/*
 * Work is counted, not timed: the compiler makes each basic block of the product call this
 * function. In the C library only copying and callbacks, such as comparisons in qsort(), are
 * counted.
 */
static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);

__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

#define COPIED 64 /* number of copied bytes that count as one block */

void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n);

void *__wrap_memcpy(void *to, const void *from, size_t n)
{
	blocks += n / COPIED;
	return __real_memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n)
{
	blocks += n / COPIED;
	return __real_memmove(to, from, n);
}

static const struct site_name *no_site(void *ctx, uint32_t site)
{
	return NULL;
}

static const char *no_name(void *ctx, const struct model_barrier *barrier)
{
	return NULL;
}

static void add(struct model *m, const struct model_crossing *x)
{
	assert_int_equal(model_add_crossing(m, x), 0);
}

/* Add the events of process @i. */
static void come(struct model *m, int way, uint32_t i, uint32_t n, uint64_t t)
{
	struct model_crossing x = { .tgid = 10 + i,
				    .inc = 1,
				    .tid = 10 + i,
				    .seq = 1,
				    .site = 1,
				    .count = 1,
				    .object = 0x1000,
				    .family = SBT_FAMILY_PTHREAD,
				    .arrive_ns = t,
				    .depart_ns = t + 5 };

	if (way >= THREADS)
		x.tgid = 10;
	if (way == THREADS)
		x.count = n;
	if (way == THREADS_ALONE || way == OBJECTS)
		x.object = 0x1000 + 64 * i;
	if (way == SITES)
		x.site = 1 + i;
	if (way == SITES || way == OBJECTS) {
		x.tid = 10;
		x.seq = i + 1;
	}
	if (way == OPEN)
		x.count = 2;
	if (way == ONE_TEAM) {
		x.shared = 7;
		x.family = SBT_FAMILY_MPI;
		x.count = 0;
	}
	if (way == PAIRS || way == ONE_BARRIER) {
		x.shared = way == PAIRS ? 7 + i / 2 : 7;
		x.count = 2;
	}
	add(m, &x);
	if (way != HELD_BACK)
		return;
	/* One episode stays open, and the next is complete. */
	x.object = 0x2000;
	x.seq = 2;
	x.count = 3;
	x.arrive_ns = x.depart_ns = t + 10;
	add(m, &x);
	x.object = 0x3000;
	x.seq = 3;
	x.count = 1;
	x.arrive_ns = x.depart_ns = t + 20;
	add(m, &x);
}

/* Return the number of blocks that are executed for a model and its report. */
static uint64_t work_of(int way, uint32_t n)
{
	struct report_env env = { .site = no_site,
				  .barrier_name = no_name,
				  .object_name = no_name,
				  .crossing_cost_ns = NAN,
				  .tracer_cpu_ns = REPORT_UNKNOWN };
	struct model *m = model_new(NULL, 1000);
	uint64_t begun = blocks, t = 2000;
	struct report report;

	assert_non_null(m);
	for (uint32_t i = 0; i < n; i++) {
		come(m, way, i, n, t);
		t += 100;
		assert_int_equal(model_advance(m, t), 0);
	}
	assert_int_equal(model_finish(m, t), 0);
	env.end_ns = t;
	assert_int_equal(report_build(m, &env, &report), 0);
	assert_fields(&report, IS(nprocesses, way >= THREADS ? 1 : n),
		      IS(crossings, way == HELD_BACK ? 3 * n : n));
	report_free(&report);
	model_free(m);
	return blocks - begun;
}

static void grows_with_their_number(int way)
{
	uint64_t few = work_of(way, FEW), many = work_of(way, MANY);

	/*
	 * MANY is four times FEW, so the work grows by 4 if it is linear, and by 16 if it is
	 * quadratic.
	 */
	assert_true(few > 20 * FEW);
	if (many > 5 * few)
		fail_msg("%u processes are %llu blocks of code, %u are %llu", FEW,
			 (unsigned long long)few, MANY, (unsigned long long)many);
}

static void each_alone(void **state)
{
	grows_with_their_number(ALONE);
}

static void barriers_that_stay_open(void **state)
{
	grows_with_their_number(OPEN);
}

static void one_team(void **state)
{
	grows_with_their_number(ONE_TEAM);
}

static void teams_of_two(void **state)
{
	grows_with_their_number(PAIRS);
}

static void all_at_a_barrier_for_two(void **state)
{
	grows_with_their_number(ONE_BARRIER);
}

static void held_back(void **state)
{
	grows_with_their_number(HELD_BACK);
}

static void threads_at_one(void **state)
{
	grows_with_their_number(THREADS);
}

static void threads_alone(void **state)
{
	grows_with_their_number(THREADS_ALONE);
}

static void many_sites(void **state)
{
	grows_with_their_number(SITES);
}

static void many_objects(void **state)
{
	grows_with_their_number(OBJECTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_alone),
		cmocka_unit_test(barriers_that_stay_open),
		cmocka_unit_test(one_team),
		cmocka_unit_test(teams_of_two),
		cmocka_unit_test(all_at_a_barrier_for_two),
		cmocka_unit_test(held_back),
		cmocka_unit_test(threads_at_one),
		cmocka_unit_test(threads_alone),
		cmocka_unit_test(many_sites),
		cmocka_unit_test(many_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
