// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check efficiencies of threads that exist only part of the time, against numbers worked out by
 * hand.
 */
#include "test_analyse_util.h"

static struct report_efficiency of(struct report_thread *spans, uint32_t n, uint64_t elapsed,
				   uint64_t ideal, uint32_t *positions)
{
	struct efficiency_sums sums = { .elapsed_ns = elapsed, .ideal_ns = ideal };
	struct report_efficiency e;

	assert_int_equal(positions_assign(spans, n, positions), 0);
	for (uint32_t i = 0; i < n; i++)
		sums.sum_ns += spans[i].work_ns;
	assert_int_equal(positions_efficiency(spans, n, *positions, &sums, &e), 0);
	if (ideal != MODEL_UNKNOWN && n && !isnan(e.parallel))
		assert_near(e.load_balance * e.serialisation * e.transfer, e.parallel, 1e-12);
	return e;
}

static struct report_thread span(uint64_t start, uint64_t end, uint64_t work)
{
	static uint32_t tid = 99;

	tid++;
	return (struct report_thread){
		.start_ns = start, .until_ns = end, .work_ns = work, .tid = tid
	};
}

/*
 * The mean work is 18, the longest work 22, the longest path 24 and the time 28. The efficiencies
 * are the ratios of these.
 */
static void test_all_the_time(void **state)
{
	struct report_thread s[] = { span(0, 28, 14), span(0, 28, 22) };
	uint32_t positions;
	struct report_efficiency e = of(s, 2, 28, 24, &positions);

	assert_int_equal(positions, 2);
	assert_fields(&e, NEAR(load_balance, 18.0 / 22, 1e-12),
		      NEAR(serialisation, 22.0 / 24, 1e-12), NEAR(transfer, 24.0 / 28, 1e-12),
		      NEAR(communication, 22.0 / 28, 1e-12), NEAR(parallel, 18.0 / 28, 1e-12));
}

/*
 * One thread runs alone for 80, and three more run for 70. The first thread and two others work
 * only for half of the 70. So the work is 80 + 3 x 35 + 70 = 255, of a total of 80 + 4 x 70. The
 * fourth thread loses nothing, so all loss is load balance.
 */
static void test_alone_first(void **state)
{
	struct report_thread s[] = { span(0, 150, 115), span(80, 150, 35), span(80, 150, 35),
				     span(80, 150, 70) };
	uint32_t positions;
	struct report_efficiency e = of(s, 4, 150, 150, &positions);

	assert_int_equal(positions, 4);
	assert_fields(&e, NEAR(parallel, 255.0 / 360, 1e-12), NEAR(load_balance, e.parallel, 1e-12),
		      NEAR(communication, 1, 1e-12));
}

/*
 * As in test_alone_first(), but each of the four threads waits for half of the 70, so no thread
 * loses more than another.
 */
static void test_rotating_after_alone(void **state)
{
	struct report_thread s[] = { span(0, 150, 115), span(80, 150, 35), span(80, 150, 35),
				     span(80, 150, 35) };
	uint32_t positions;
	struct report_efficiency e = of(s, 4, 150, 150, &positions);

	assert_fields(&e, NEAR(parallel, 220.0 / 360, 1e-12), NEAR(load_balance, 1, 1e-12),
		      NEAR(transfer, 1, 1e-12), NEAR(serialisation, 220.0 / 360, 1e-12));
}

/*
 * Each round has three new workers, with work 10, 20 and 30. The result equals that of three
 * permanent threads.
 */
static void test_rounds(void **state)
{
	struct report_thread s[300];
	struct report_efficiency e;
	uint32_t positions;

	for (uint32_t i = 0; i < 300; i++)
		s[i] = span(i / 3 * 40 + i % 3, i / 3 * 40 + 32, 10 * (i % 3 + 1));
	e = of(s, 300, 4000, 4000, &positions);
	assert_int_equal(positions, 3);
	assert_near(e.parallel, 20.0 / 31, 1e-12);
	/* The third worker loses nothing, so all loss is load balance. */
	assert_near(e.load_balance, 20.0 / 31, 1e-12);
	/* A different worker has the most work in each round. */
	for (uint32_t i = 0; i < 300; i++)
		s[i] = span(i / 3 * 40 + i % 3, i / 3 * 40 + 32, 10 * ((i + i / 3) % 3 + 1));
	e = of(s, 300, 4000, 4000, &positions);
	assert_fields(&e, NEAR(parallel, 20.0 / 31, 1e-12), NEAR(load_balance, 1, 0.05));
	/* If a thread's end is recorded late, its successor still gets no new position. */
	for (uint32_t i = 0; i < 300; i++)
		s[i] = span(i / 3 * 40, i / 3 * 40 + 41, 10 * (i % 3 + 1));
	of(s, 300, 4001, 4001, &positions);
	assert_int_equal(positions, 3);
}

/*
 * While a thread waits for the end of other threads, it is not a member of the team. That time is
 * not part of its life.
 */
static void test_away(void **state)
{
	struct report_thread s[] = { span(0, 1000, 10), span(0, 1000, 1000), span(0, 1000, 500) };
	struct report_efficiency e;
	uint32_t positions;

	for (uint32_t i = 0; i < 3; i++)
		s[i].away_ns = s[i].work_ns == 10 ? 990 : 0;
	e = of(s, 3, 1000, 1000, &positions);
	assert_fields(&e, NEAR(parallel, 1510.0 / 2010, 1e-12),
		      NEAR(load_balance, e.parallel, 1e-12));
}

/* A very short thread without losses does not change rotating imbalance to static imbalance. */
static void test_short_one(void **state)
{
	struct report_thread s[] = { span(0, 1000, 500), span(0, 1000, 500), span(0, 1000, 500),
				     span(10, 20, 10) };
	uint32_t positions;
	struct report_efficiency e = of(s, 4, 1000, 1000, &positions);

	assert_int_equal(positions, 4);
	assert_fields(&e, NEAR(load_balance, 1, 0.01), NEAR(serialisation, 0.5, 0.01));
}

/*
 * Parallel efficiency includes threads that are stored only as a sum. These threads have no
 * position.
 */
static void test_sum_of_threads(void **state)
{
	struct report_thread s[] = { span(0, 100, 100), span(0, 100, 50), { .until_ns = 200 } };
	struct report_efficiency e;
	uint32_t positions;

	s[2].work_ns = 150;
	e = of(s, 3, 100, 100, &positions);
	assert_int_equal(positions, 2);
	assert_true(s[2].position == MODEL_NONE);
	assert_fields(&e, NEAR(parallel, 300.0 / 400, 1e-12),
		      NEAR(load_balance, e.parallel, 1e-12));
}

static void test_edges(void **state)
{
	struct report_thread one[] = { span(0, 100, 80) };
	uint32_t positions;
	struct report_efficiency e = of(one, 1, 100, 90, &positions);

	assert_fields(&e, NEAR(parallel, 0.8, 1e-12), NEAR(load_balance, 1, 1e-12),
		      NEAR(transfer, 0.9, 1e-12));
	e = of(one, 1, 100, MODEL_UNKNOWN, &positions);
	assert_near(e.communication, 0.8, 1e-12);
	assert_true(isnan(e.serialisation) && isnan(e.transfer));
	e = of(one, 0, 0, 0, &positions);
	assert_int_equal(positions, 0);
	assert_true(isnan(e.parallel));
	/* In corrupt recordings a thread may end before it begins. */
	one[0] = span(100, 0, 50);
	e = of(one, 1, 0, 0, &positions);
	assert_int_equal(positions, 0);
	assert_true(isnan(e.parallel));
}

/*
 * Threads that run for 40 and 30 follow each other at one position. A thread that runs for 50 is at
 * another position.
 */
static void test_sums_of_positions(void **state)
{
	struct report_thread s[] = { span(0, 50, 40), span(0, 100, 50), span(60, 100, 30) };
	struct efficiency_sums sums = { .n = 3, .sum_ns = 120, .max_ns = 50 };
	uint32_t positions;

	assert_int_equal(positions_assign(s, 3, &positions), 0);
	assert_int_equal(positions_sums(s, 3, positions, &sums), 0);
	assert_fields(&sums, IS(n, 2), IS(max_ns, 70), IS(sum_ns, 120));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_the_time),
		cmocka_unit_test(test_alone_first),
		cmocka_unit_test(test_rotating_after_alone),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_away),
		cmocka_unit_test(test_short_one),
		cmocka_unit_test(test_sum_of_threads),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_sums_of_positions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
