/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Means, deviations, and tests whether two means differ by more than noise. This code does no I/O.
 * NAN means unknown.
 */
#ifndef ANALYSE_STATS_H
#define ANALYSE_STATS_H

#include <stdint.h>

/* Statistics of known values. If n is 0, all are NAN. */
struct stats {
	uint32_t n;
	double mean, min, max;
	/* standard deviation of the sample (over n - 1); NAN for fewer than two values */
	double stddev;
};

/* Return the statistics of @values without NANs. */
struct stats stats_of(const double *values, uint32_t n);

struct stats_test {
	double t; /* infinite if the values differ but do not vary */
	double df; /* degrees of freedom */
	double p; /* two-sided */
	double low, high; /* confidence interval of the difference */
};

/*
 * Welch 1947: test whether @difference of two independent estimates exceeds what their variances
 * explain. @var_a and @var_b are variances of the estimates themselves (for means, s^2 / n),
 * estimated from @na and @nb values. All results are NAN if an estimate is based on fewer than two
 * values.
 */
struct stats_test stats_welch(double difference, double var_a, double na, double var_b, double nb,
			      double confidence);
/*
 * Test one value against a sample with Student's t (Crawford and Howell 1998). The variance comes
 * from the sample alone: s^2 (1 + 1/n), with n - 1 degrees of freedom. The caller sets the sign of
 * @difference.
 */
struct stats_test stats_single(double difference, const struct stats *sample, double confidence);

/*
 * Test whether paired changes differ from @from by more than they vary among themselves. Compare
 * their median with a robust deviation (1.4826 times the median distance from it), by Student's t
 * with n - 1 degrees of freedom. The changes are parts of one pair of runs, and complete runs are
 * assumed to differ by as much as their parts. The deviation is therefore not divided by the number
 * of changes. For parts that vary independently, the test errs far less often than @confidence
 * allows. The function sorts @changes. All results are NAN for fewer than two changes. low and high
 * are the confidence interval of median - @from.
 */
struct stats_test stats_spread(double *changes, uint32_t n, double from, double confidence);
/* Return the one-sided p-value of the hypothesis that the difference is at most 0. */
double stats_greater(const struct stats_test *test);

/* Return P(|T| > |t|) of Student's distribution with @df degrees of freedom. */
double stats_t_two_sided(double t, double df);
/* Return the t for which stats_t_two_sided() is @p, with 0 < p < 1. */
double stats_t_critical(double p, double df);

/*
 * Holm 1979: adjust p values in place, so that each can be compared with the significance level of
 * the whole family, even if the values depend on each other. A NAN was not tested and does not
 * count. Return 0 or -ENOMEM.
 */
int stats_holm(double *p, uint32_t n);

#endif /* ANALYSE_STATS_H */
