// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check the estimate of what tracing costs: pure arithmetic. */
#include "test_check.h"

#include <math.h>

#include "analyse/cost.h"
#include "base/array.h"

#define NEAR_NS 1e-3

/* Two threads that ran for 1 ms on two CPUs, and crossed 100 barriers at 1 us each. */
static struct cost_input two_threads(void)
{
	return (struct cost_input){
		.crossing_ns = 1000,
		.switch_ns = 500,
		.crossings = 100,
		.threads_ns = 2000000,
		.elapsed_ns = 1000000,
		.members = 2,
		.ncpus = 2,
	};
}

static double cost_ns(const struct cost_input *in)
{
	return cost_estimate(in).ns;
}

static void test_available(void **state)
{
	assert_int_equal(cost_available(4000, 1000, 0), 4000);
	assert_int_equal(cost_available(4000, 1000, 2), 2000);
	assert_int_equal(cost_available(1500, 1000, 2), 1500);
	/* More CPUs than fit into the product. */
	assert_int_equal(cost_available(1500, UINT64_MAX, 2), 1500);
}

/* Every event that tracing makes longer is in the sum. */
static void test_parts(void **state)
{
	struct cost_input in = two_threads();
	struct cost c;

	assert_near(cost_ns(&in), 100000, NEAR_NS);
	in.looks = 30;
	assert_near(cost_ns(&in), 115000, NEAR_NS);
	in.switches = 7;
	assert_near(cost_ns(&in), 118500, NEAR_NS);
	in.faults = 10;
	assert_near(cost_ns(&in), 118500 + 10 * COST_FAULT_NS, NEAR_NS);
	in.samples_ns = 50;
	c = cost_estimate(&in);
	assert_near(c.ns, 118550 + 10 * COST_FAULT_NS, NEAR_NS);
	assert_near(c.probes_ns, 115000, NEAR_NS);
	assert_near(c.switches_ns, 3550 + 10 * COST_FAULT_NS, NEAR_NS);
	assert_false(c.limited);
}

/* Other threads wait for a thread that slept in a barrier, and for its probes. */
static void test_sleeps(void **state)
{
	struct cost_input in = two_threads();

	in.slept = 30;
	assert_near(cost_ns(&in), 100000 + 60 * 500, NEAR_NS);
	/* If all but one of many threads sleep, each switch costs the time of only one thread. */
	in.slept = 90;
	assert_near(cost_ns(&in), 100000 + 100 * 500, NEAR_NS);
}

/* An unknown price is left out. Without the price of a crossing, the cost is unknown. */
static void test_unknown(void **state)
{
	struct cost_input in = two_threads();

	in.switches = 7;
	in.switch_ns = NAN;
	assert_near(cost_ns(&in), 100000, NEAR_NS);
	in.crossing_ns = NAN;
	assert_true(isnan(cost_ns(&in)));
	assert_false(cost_estimate(&in).limited);
}

/* If a thread lost its CPU to the tracer, all members lose that time, but at most ncpus members. */
static void test_interference(void **state)
{
	struct cost_input in = two_threads();

	in.interference_ns = 9000;
	assert_near(cost_ns(&in), 100000 + 2 * 9000, NEAR_NS);
	in.members = 3;
	assert_near(cost_ns(&in), 100000 + 2 * 9000, NEAR_NS);
	in.ncpus = 0;
	assert_near(cost_ns(&in), 100000 + 3 * 9000, NEAR_NS);
	/* Several threads waited for the same CPU at the same time. */
	in = two_threads();
	in.threads_ns = 4000000;
	in.members = 4;
	in.interference_ns = 1900000;
	assert_near(cost_ns(&in), 2000000, NEAR_NS);
}

/*
 * If another program has one of two CPUs for half of the time, the process does the same work in
 * more time, and the cost of tracing is the same share of its own time.
 */
static void test_other_programs(void **state)
{
	struct cost_input in = two_threads();

	in.no_cpu_ns = 1000000;
	assert_near(cost_ns(&in), 200000, NEAR_NS);
	/* Four threads share two CPUs: the threads wait for each other, not for other programs. */
	in.threads_ns = 4000000;
	in.no_cpu_ns = 2000000;
	assert_near(cost_ns(&in), 100000, NEAR_NS);
	in.no_cpu_ns = 3000000;
	assert_near(cost_ns(&in), 200000, NEAR_NS);
}

/*
 * The cost never exceeds the available thread time, whatever the numbers are. An estimate that
 * would exceed it is marked: the cost is then unknown, and not all of the time.
 */
static void test_limit(void **state)
{
	static const double prices[] = { 0, 1, 500, 20000, 1e9 };
	static const uint64_t times[] = { 0, 1, 100000, 2000000, 4000000, UINT64_MAX / 4 };
	struct cost_input in = two_threads();
	struct cost c;

	in.crossings = 4000;
	c = cost_estimate(&in);
	assert_near(c.ns, 2000000, NEAR_NS);
	assert_true(c.limited);
	array_for_each (price, prices, ARRAY_SIZE(prices))
		array_for_each (threads, times, ARRAY_SIZE(times))
			array_for_each (taken, times, ARRAY_SIZE(times)) {
				in = two_threads();
				in.crossing_ns = *price;
				in.threads_ns = *threads;
				in.interference_ns = in.no_cpu_ns = *taken;
				in.switches = 1000;
				in.slept = 70;
				c = cost_estimate(&in);
				assert_true(c.ns >= 0);
				assert_true(c.ns <=
					    (double)cost_available(*threads, in.elapsed_ns, 2));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_available),      cmocka_unit_test(test_parts),
		cmocka_unit_test(test_sleeps),	       cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_interference),   cmocka_unit_test(test_limit),
		cmocka_unit_test(test_other_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
