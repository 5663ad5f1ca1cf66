// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_check.h"
#include "base/number.h"

static void test_whole(void **state)
{
	assert_int_equal(number_whole(0.9), 0);
	assert_int_equal(number_whole(1234.9), 1234);
	assert_int_equal(number_whole(-5), 0);
	assert_int_equal(number_whole(NAN), 0);
	assert_true(number_whole(2.8e19) == 1ull << 63);
	assert_true(number_whole(INFINITY) == 1ull << 63);
}

static void test_signed(void **state)
{
	assert_true(number_signed(-7.5) == -7);
	assert_true(number_signed(7.5) == 7);
	assert_true(number_signed(NAN) == 0);
	assert_true(number_signed(-1e30) == -(1ll << 62));
	assert_true(number_signed(INFINITY) == 1ll << 62);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_signed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
