/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Means, deviations, and whether two means differ by more than noise. Pure; NAN is unknown. */
#ifndef ANALYSE_STATS_H
#define ANALYSE_STATS_H

#include <stdint.h>

/* Of values that are known; n == 0: all NAN. */
struct stats {
	uint32_t n;
	double mean, min, max;
	double stddev; /* of the sample (over n - 1); NAN with fewer than two */
};

/* NANs among the @n values are left out. */
struct stats stats_of(const double *values, uint32_t n);

struct stats_test {
	double t; /* infinite where neither side varies and they differ */
	double df; /* degrees of freedom */
	double p; /* two-sided */
	double low, high; /* confidence interval of the difference */
};

/*
 * Welch 1947: whether @difference of two independent estimates is more than their variances explain, each of which was
 * estimated from @na and @nb values. @var_a, @var_b: of the estimates themselves (of means: s^2 / n). All NAN where one
 * of them rests on fewer than two values.
 */
struct stats_test stats_welch(double difference, double var_a, double na, double var_b, double nb,
			      double confidence);
/*
 * Student's t for one value against a sample, which alone tells how much values vary (Crawford and Howell 1998):
 * variance s^2 (1 + 1/n), n - 1 degrees of freedom. @difference: as the caller has it signed.
 */
struct stats_test stats_single(double difference, const struct stats *sample, double confidence);

/*
 * Whether paired changes lie further from @from than they vary among themselves: their median, against a robust
 * deviation (1.4826 times the median of the distances from it), by Student's t with n - 1 degrees of freedom. The deviation is not
 * divided by the number of changes: they are parts of one pair of runs, and what a whole run has more or less of than
 * another is taken to be as much as what its parts have. Cautious by that: of parts that vary alone it errs far
 * less often than asked for. @changes are put in order. All NAN of fewer than two. low and high: of median - @from.
 */
struct stats_test stats_spread(double *changes, uint32_t n, double from, double confidence);
/* Of a two-sided test: p of that the difference is no greater than 0. */
double stats_greater(const struct stats_test *test);

/* P(|T| > |t|) of Student's distribution with @df degrees of freedom. */
double stats_t_two_sided(double t, double df);
/* The t of which stats_t_two_sided() is @p; 0 < p < 1. */
double stats_t_critical(double p, double df);

/*
 * Holm 1979, in place: p values adjusted so that each may be held against the level that the whole family shall keep,
 * however they depend on one another. NANs were not tested, and do not count. Returns 0 or -ENOMEM.
 */
int stats_holm(double *p, uint32_t n);

#endif /* ANALYSE_STATS_H */
