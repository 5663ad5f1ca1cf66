// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_check.h"
#include "sbt/state.h"

static void counted(uint64_t count, uint64_t enabled, uint64_t running, uint64_t expected,
		    enum sbt_scaled expected_how)
{
	struct sbt_counted c = { .counter = count, .enabled = enabled, .running = running };
	enum sbt_scaled how;

	assert_int_equal(sbt_count_scale(&c, &how), expected);
	assert_int_equal(how, expected_how);
}

static void test_all_the_time(void **state)
{
	counted(1000, 5000, 5000, 1000, SBT_COUNT_EXACT);
	/* The kernel reads the two times one after the other, so they can differ slightly. */
	counted(1000, 5000, 5001, 1000, SBT_COUNT_EXACT);
	counted(0, 0, 0, 0, SBT_COUNT_EXACT);
}

static void test_part_of_the_time(void **state)
{
	counted(1000, 8000, 4000, 2000, SBT_COUNT_SCALED);
	counted(1000, 8000, 1000, 8000, SBT_COUNT_SCALED);
	counted(1ULL << 43, 1ULL << 40, 1ULL << 39, 1ULL << 44, SBT_COUNT_SCALED);
}

/*
 * If a counter ran for a tiny part of the time, its value is not extrapolated. An earlier version
 * extrapolated the few cycles that the kernel had counted to 2,483 cycles for a whole phase.
 */
static void test_hardly_ever(void **state)
{
	counted(1000, 8000, 999, 0, SBT_COUNT_UNKNOWN);
	counted(5, 1000000, 2000, 0, SBT_COUNT_UNKNOWN);
	counted(0, 8000, 0, 0, SBT_COUNT_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_the_time),
		cmocka_unit_test(test_part_of_the_time),
		cmocka_unit_test(test_hardly_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
