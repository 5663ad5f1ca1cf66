// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_model_util.h"

static void test_empty(void **state)
{
	struct model_stat s;

	model_stat_init(&s);
	assert_int_equal(s.n, 0);
	assert_true(s.min == MODEL_UNKNOWN);
	assert_near(model_stat_stddev(&s), 0, 1e-12);
}

static void test_known(void **state)
{
	static const uint64_t v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct model_stat s;

	model_stat_init(&s);
	for (unsigned i = 0; i < 8; i++)
		model_stat_add(&s, v[i]);
	assert_fields(&s, IS(n, 8), IS(sum, 40), IS(min, 2), IS(max, 9), NEAR(mean, 5, 1e-12));
	assert_near(model_stat_stddev(&s), 2, 1e-12);
	assert_fields(&s, IS(hist[1], 1), /* 2 */
		      IS(hist[2], 6), /* 4 to 7 */
		      IS(hist[3], 1)); /* 9 */
}

/* Large values with a small spread: a naive sum of squares would lose the spread. */
static void test_cancellation(void **state)
{
	const uint64_t base = 1000000000000000ULL;
	struct model_stat s;

	model_stat_init(&s);
	for (unsigned i = 0; i < 1000; i++)
		model_stat_add(&s, base + (i & 1 ? 1 : 3));
	assert_near(model_stat_stddev(&s), 1, 1e-3);
}

static void test_extremes(void **state)
{
	struct model_stat s;

	model_stat_init(&s);
	model_stat_add(&s, 0);
	model_stat_add(&s, 1);
	model_stat_add(&s, UINT64_MAX);
	assert_fields(&s, IS(hist[0], 2), IS(hist[63], 1), IS(min, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_cancellation),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
