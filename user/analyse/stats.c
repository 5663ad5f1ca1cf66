// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/stats.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ROUNDS 300 /* maximum rounds of a continued fraction that needs O(sqrt(max(a, b))) rounds */
#define HALVES 200 /* halvings of an interval: enough for the last bit of a double */

struct stats stats_of(const double *values, uint32_t n)
{
	struct stats s = { .mean = NAN, .min = NAN, .max = NAN, .stddev = NAN };
	double mean = 0, m2 = 0, d;
	uint32_t i;

	/* Welford 1962: a plain sum of squares would lose the significant digits. */
	for (i = 0; i < n; i++) {
		if (!isfinite(values[i]))
			continue;
		s.n++;
		d = values[i] - mean;
		mean += d / s.n;
		m2 += d * (values[i] - mean);
		s.min = s.n == 1 ? values[i] : fmin(s.min, values[i]);
		s.max = s.n == 1 ? values[i] : fmax(s.max, values[i]);
	}
	if (s.n)
		s.mean = mean;
	if (s.n > 1)
		s.stddev = sqrt(m2 / (s.n - 1));
	return s;
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f, delta, coefficient;
	int m;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (m = 1; m <= ROUNDS; m++) {
		coefficient = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 + coefficient * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + coefficient / c;
		c = fabs(c) < tiny ? tiny : c;
		f *= d * c;
		coefficient = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + coefficient * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + coefficient / c;
		c = fabs(c) < tiny ? tiny : c;
		delta = d * c;
		f *= delta;
		if (fabs(delta - 1) < 1e-15)
			break;
	}
	return f;
}

/* Return the regularised I_x(a, b). @y is 1 - x, which the caller knows to more digits. */
static double beta_regularised(double a, double b, double x, double y)
{
	double front;
	int sign;

	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
		    b * log(y));
	/* Beyond the mean the fraction converges slowly. Use I_x(a, b) = 1 - I_y(b, a) there. */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

double stats_t_two_sided(double t, double df)
{
	if (isnan(t) || isnan(df) || df <= 0)
		return NAN;
	if (isinf(t))
		return 0;
	/* DLMF 8.17 with x = df / (df + t^2). */
	return beta_regularised(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t));
}

double stats_t_critical(double p, double df)
{
	double low = 0, high = 1, middle;
	int i;

	if (isnan(df) || df <= 0 || !(p > 0 && p < 1))
		return NAN;
	while (stats_t_two_sided(high, df) > p && high < 1e150)
		high *= 2;
	for (i = 0; i < HALVES; i++) {
		middle = low + (high - low) / 2;
		if (stats_t_two_sided(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}

static struct stats_test test_of(double difference, double variance, double df, double confidence)
{
	struct stats_test r = { .df = df };
	double half;

	/*
	 * If nothing varies, any difference is significant. An example is the instruction counter
	 * of a program that always executes the same instructions.
	 */
	if (variance <= 0) {
		r.t = difference ? copysign(INFINITY, difference) : 0;
		r.p = difference ? 0 : 1;
		r.low = r.high = difference;
		return r;
	}
	r.t = difference / sqrt(variance);
	r.p = stats_t_two_sided(r.t, df);
	half = stats_t_critical(1 - confidence, df) * sqrt(variance);
	r.low = difference - half;
	r.high = difference + half;
	return r;
}

static struct stats_test untested(void)
{
	return (struct stats_test){ NAN, NAN, NAN, NAN, NAN };
}

struct stats_test stats_welch(double difference, double var_a, double na, double var_b, double nb,
			      double confidence)
{
	double sum = var_a + var_b, df;

	if (!(na >= 2 && nb >= 2) || !isfinite(sum) || !isfinite(difference))
		return untested();
	/* Satterthwaite 1946. */
	df = sum > 0 ? sum * sum / (var_a * var_a / (na - 1) + var_b * var_b / (nb - 1))
		     : na + nb - 2;
	return test_of(difference, sum, df, confidence);
}

struct stats_test stats_single(double difference, const struct stats *sample, double confidence)
{
	double variance;

	if (sample->n < 2 || !isfinite(difference))
		return untested();
	variance = sample->stddev * sample->stddev * (1 + 1.0 / sample->n);
	return test_of(difference, variance, sample->n - 1, confidence);
}

/* Return the median of @values, which are sorted. */
static double median(const double *values, uint32_t n)
{
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/*
 * Return a robust deviation, which equals the standard deviation if the values are normally
 * distributed (Hampel 1974).
 */
static double robust_deviation(const double *values, uint32_t n, double centre)
{
	uint32_t low = 0, high = n - 1, i;
	double distance = 0, before = 0;

	/*
	 * Go through the distances from @centre, from the largest down to the median distance. The
	 * value with the largest remaining distance is always at one end of the remaining sorted
	 * values.
	 */
	for (i = 0; i <= n / 2; i++) {
		before = distance;
		distance = centre - values[low] > values[high] - centre ? centre - values[low++]
									: values[high--] - centre;
	}
	return 1.4826 * (n % 2 ? distance : (before + distance) / 2);
}

struct stats_test stats_spread(double *changes, uint32_t n, double from, double confidence)
{
	double centre, deviation;

	if (n < 2)
		return untested();
	qsort(changes, n, sizeof(*changes), number_compare_double);
	centre = median(changes, n);
	deviation = robust_deviation(changes, n, centre);
	return test_of(centre - from, deviation * deviation * (1 + 1.0 / n), n - 1, confidence);
}

double stats_greater(const struct stats_test *test)
{
	return test->t > 0 ? test->p / 2 : 1 - test->p / 2;
}

struct ranked {
	double p;
	uint32_t index;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->p != y->p ? NUMBER_COMPARE(x->p, y->p) : NUMBER_COMPARE(x->index, y->index);
}

int stats_holm(double *p, uint32_t n)
{
	struct ranked *ranked = calloc(n ? n : 1, sizeof(*ranked));
	uint32_t m = 0, i;
	double least = 0;

	if (!ranked)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (!isnan(p[i]))
			ranked[m++] = (struct ranked){ p[i], i };
	qsort(ranked, m, sizeof(*ranked), by_p);
	for (i = 0; i < m; i++) {
		least = fmax(least, fmin(1, ranked[i].p * (m - i)));
		p[ranked[i].index] = least;
	}
	free(ranked);
	return 0;
}
