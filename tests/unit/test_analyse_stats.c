// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check statistical tests of means against published values and values worked out by hand. */
#include <math.h>

#include "test_check.h"
#include "analyse/stats.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The values 2 4 4 4 5 5 7 9 have a mean of 5, and the squares of their deviations add up to 32. */
static void test_of(void **state)
{
	static const double v[] = { 2, NAN, 4, 4, 4, 5, INFINITY, 5, 7, 9 };
	struct stats s = stats_of(v, COUNT(v));

	assert_fields(&s, IS(n, 8), NEAR(mean, 5, 1e-12), NEAR(stddev, sqrt(32.0 / 7), 1e-12),
		      NEAR(min, 2, 0), NEAR(max, 9, 0));
	s = stats_of(v, 1);
	assert_fields(&s, IS(n, 1), NEAR(mean, 2, 0));
	assert_true(isnan(s.stddev));
	s = stats_of(v, 0);
	assert_int_equal(s.n, 0);
	assert_true(isnan(s.mean) && isnan(s.min) && isnan(s.max) && isnan(s.stddev));
}

/* The deviation of 10^15 + {1, 2, 3} is exact, although the mean is large. */
static void test_digits(void **state)
{
	static const double v[] = { 1e15 + 1, 1e15 + 2, 1e15 + 3 };

	assert_near(stats_of(v, 3).stddev, 1, 1e-9);
}

/* The two-sided quantiles of Student's distribution, from printed tables. */
static void test_distribution(void **state)
{
	static const struct {
		double df, p, t;
	} table[] = {
		{ 1, 0.05, 12.706205 },	 { 1, 0.01, 63.656741 },   { 2, 0.05, 4.302653 },
		{ 4, 0.05, 2.776445 },	 { 5, 0.1, 2.015048 },	   { 10, 0.05, 2.228139 },
		{ 10, 0.01, 3.169273 },	 { 30, 0.05, 2.042272 },   { 30, 0.001, 3.645959 },
		{ 120, 0.05, 1.979930 }, { 1000, 0.05, 1.962339 },
	};

	for (size_t i = 0; i < COUNT(table); i++) {
		assert_near(stats_t_critical(table[i].p, table[i].df), table[i].t,
			    6e-7 * table[i].t);
		assert_near(stats_t_two_sided(table[i].t, table[i].df), table[i].p,
			    1e-6 * table[i].p);
		assert_near(stats_t_two_sided(-table[i].t, table[i].df), table[i].p,
			    1e-6 * table[i].p);
	}
	/*
	 * There are exact formulas for 1 degree of freedom (Cauchy's distribution) and for 2 (1 - t
	 * / sqrt(t^2 + 2)).
	 */
	assert_near(stats_t_two_sided(1, 1), 0.5, 1e-14);
	assert_near(stats_t_two_sided(3, 2), 1 - 3 / sqrt(11), 1e-14);
	assert_near(stats_t_two_sided(0, 7), 1, 0);
	assert_near(stats_t_two_sided(INFINITY, 7), 0, 0);
	/*
	 * With many degrees of freedom the distribution is nearly normal, and the continued
	 * fraction still converges.
	 */
	assert_near(stats_t_two_sided(1.959963985, 1e7), 0.05, 1e-7);
	assert_true(isnan(stats_t_two_sided(1, 0)));
	assert_true(isnan(stats_t_two_sided(NAN, 3)));
	assert_true(isnan(stats_t_critical(0, 3)));
	assert_true(isnan(stats_t_critical(0.05, NAN)));
}

static struct stats_test welch(const double *a, uint32_t na, const double *b, uint32_t nb)
{
	struct stats x = stats_of(a, na), y = stats_of(b, nb);

	return stats_welch(y.mean - x.mean, x.stddev * x.stddev / x.n, x.n,
			   y.stddev * y.stddev / y.n, y.n, 0.95);
}

/*
 * Student's sleep data (Biometrika 6, 1908), with the values from R's documentation of t.test(): t
 * = -1.8608, df = 17.776, p = 0.07939, and the interval -3.3654832 to 0.2054832 for the first mean
 * minus the second.
 */
static void test_welch(void **state)
{
	static const double one[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2 };
	static const double two[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };
	struct stats_test r = welch(one, 10, two, 10);

	assert_fields(&r, NEAR(t, 1.8608, 5e-5), NEAR(df, 17.776, 5e-4), NEAR(p, 0.07939, 5e-6),
		      NEAR(low, -0.2054832, 5e-8), NEAR(high, 3.3654832, 5e-8));
	r = welch(two, 10, one, 10);
	assert_fields(&r, NEAR(t, -1.8608, 5e-5), NEAR(low, -3.3654832, 5e-8));
}

/*
 * Two samples of three values have the means 2 and 6 and the variances 1 and 4. By hand, t = 4 /
 * sqrt(5/3) and df = (5/3)^2 / ((1/9 + 16/9) / 2).
 */
static void test_welch_by_hand(void **state)
{
	static const double a[] = { 1, 2, 3 }, b[] = { 4, 6, 8 };
	struct stats_test r = welch(a, 3, b, 3);

	assert_fields(&r, NEAR(t, 4 / sqrt(5.0 / 3), 1e-12),
		      NEAR(df, 25.0 / 9 / (17.0 / 18), 1e-12));
	assert_near((r.low + r.high) / 2, 4, 1e-12);
}

static uint64_t next(uint64_t *x)
{
	/* xorshift64*, Vigna 2016 */
	*x ^= *x >> 12;
	*x ^= *x << 25;
	*x ^= *x >> 27;
	return *x * 2685821657736338717ULL;
}

/* Return a sum of twelve uniform numbers, which is nearly normal: mean 6, deviation 1. */
static double normal(uint64_t *x)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (double)(next(x) >> 11) * 0x1p-53;
	return sum;
}

/*
 * Without a difference, one test in twenty is significant at 95 %: 200 +- 14 of 4000. The same
 * holds for deviations of 1 and 10, the case for which Welch's test exists. If a test is not
 * significant, its interval contains the true difference, 0.
 */
static void test_false_alarms(void **state)
{
	static const uint32_t sizes[][2] = { { 5, 5 }, { 5, 12 }, { 20, 8 } };
	static const double deviations[] = { 1, 10 };
	uint64_t x = 0x9e3779b97f4a7c15ULL;
	double a[20], b[20];
	unsigned found, outside;
	struct stats_test r;

	for (unsigned s = 0; s < COUNT(sizes); s++) {
		for (unsigned d = 0; d < COUNT(deviations); d++) {
			for (unsigned n = found = outside = 0; n < 4000; n++) {
				for (unsigned i = 0; i < sizes[s][0]; i++)
					a[i] = normal(&x) - 6;
				for (unsigned i = 0; i < sizes[s][1]; i++)
					b[i] = (normal(&x) - 6) * deviations[d];
				r = welch(a, sizes[s][0], b, sizes[s][1]);
				found += r.p < 0.05;
				outside += r.low > 0 || r.high < 0;
			}
			if (found < 140 || found > 250)
				fail_msg("sizes %u, deviations %u: %u of 4000", s, d, found);
			assert_int_equal(found, outside);
		}
	}
}

/* Like test_false_alarms(), with one value against five. */
static void test_false_alarms_single(void **state)
{
	uint64_t x = 0x2545f4914f6cdd1dULL;
	unsigned found = 0;
	struct stats st;
	double a[5];

	for (unsigned n = 0; n < 4000; n++) {
		for (unsigned i = 0; i < 5; i++)
			a[i] = normal(&x);
		st = stats_of(a, 5);
		found += stats_single(normal(&x) - st.mean, &st, 0.95).p < 0.05;
	}
	assert_true(found > 150 && found < 250);
}

static void test_nothing_varies(void **state)
{
	static const double a[] = { 7, 7, 7 }, b[] = { 8, 8 };
	struct stats_test r = welch(a, 3, b, 2);

	assert_true(isinf(r.t) && r.t > 0);
	assert_fields(&r, NEAR(p, 0, 0), NEAR(low, 1, 0), NEAR(high, 1, 0));
	r = welch(a, 3, a, 2);
	assert_fields(&r, NEAR(t, 0, 0), NEAR(p, 1, 0));
}

static void test_too_few(void **state)
{
	static const double a[] = { 7, 8 }, b[] = { 9 };
	struct stats_test r = welch(a, 2, b, 1);

	assert_true(isnan(r.t) && isnan(r.p) && isnan(r.df) && isnan(r.low) && isnan(r.high));
	r = stats_welch(NAN, 1, 5, 1, 5, 0.95);
	assert_true(isnan(r.p));
}

/*
 * Compare 10 12 14 with the single value 20: t = 8 / (2 sqrt(4/3)) with 2 degrees of freedom, so p
 * = 1 - t / sqrt(t^2 + 2).
 */
static void test_single(void **state)
{
	static const double a[] = { 10, 12, 14 };
	struct stats s = stats_of(a, 3);
	struct stats_test r = stats_single(8, &s, 0.95);
	double t = 4 / sqrt(4.0 / 3);

	assert_fields(&r, NEAR(t, t, 1e-12), NEAR(df, 2, 0),
		      NEAR(p, 1 - t / sqrt(t * t + 2), 1e-12));
	assert_near(r.high - 8, 4.302652730 * 2 * sqrt(4.0 / 3), 1e-7);
	s = stats_of(a, 1);
	assert_true(isnan(stats_single(8, &s, 0.95).p));
}

/*
 * Holm's method on four p values gives 0.005 x 4, 0.01 x 3 and 0.03 x 2. The last, 0.04, is raised
 * to the value before it.
 */
static void test_holm(void **state)
{
	double p[] = { 0.01, NAN, 0.04, 0.03, 0.005, NAN };
	double one[] = { 0.5, 0.6, 0.7 };

	assert_int_equal(stats_holm(p, 6), 0);
	assert_near(p[0], 0.03, 1e-15);
	assert_true(isnan(p[1]));
	assert_near(p[2], 0.06, 1e-15);
	assert_near(p[3], 0.06, 1e-15);
	assert_near(p[4], 0.02, 1e-15);
	assert_true(isnan(p[5]));
	assert_int_equal(stats_holm(one, 3), 0);
	assert_near(one[0], 1, 0);
	assert_near(one[2], 1, 0);
	assert_int_equal(stats_holm(one, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of),
		cmocka_unit_test(test_digits),
		cmocka_unit_test(test_distribution),
		cmocka_unit_test(test_welch),
		cmocka_unit_test(test_welch_by_hand),
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_false_alarms_single),
		cmocka_unit_test(test_nothing_varies),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_holm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
