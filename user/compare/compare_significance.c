// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Test whether a change is more than noise, and classify it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "compare/compare_internal.h"

/* --- one row ---------------------------------------------------------------------------------- */

/* Return the ratio of B's value to A's beyond which the change is a regression. */
static double allowed(const struct compare_row *row, double fail_above)
{
	return row->unit == COMPARE_RATIO ? 1 - fail_above : 1 + fail_above;
}

static struct stats_test over_runs(const struct compare_evidence *e, double times,
				   double confidence)
{
	double va = times * times * e->a.stddev * e->a.stddev / e->a.n;
	double vb = e->b.stddev * e->b.stddev / e->b.n;

	return stats_welch(e->b.mean - times * e->a.mean, vb, e->b.n, va, e->a.n, confidence);
}

/*
 * Test the only recording of one side. It is assumed to vary as the recordings of the other side
 * do.
 */
static struct stats_test over_others(const struct compare_evidence *e, double times,
				     double confidence)
{
	struct stats sample = e->a.n > 1 ? e->a : e->b;

	if (e->a.n > 1)
		sample.stddev *= times;
	return stats_single(e->b.mean - times * e->a.mean, &sample, confidence);
}

/*
 * Test parts of two runs. They are compared as ratios, so that long parts have no more weight than
 * short parts.
 */
static struct stats_test over_batches(const struct compare_evidence *e, double times,
				      double confidence)
{
	double changes[BATCHES_PARTS];
	uint32_t n = 0;

	if (e->batches_a && e->batches_b)
		n = batches_changes(e->batches_a, e->batches_b, changes);
	if (n < BATCHES_LEAST || !(times > 0))
		n = 0;
	return stats_spread(changes, n, log(times), confidence);
}

static struct stats_test test_by(enum compare_test test, const struct compare_evidence *e,
				 double times, double confidence)
{
	switch (test) {
	case COMPARE_WELCH:
		return over_runs(e, times, confidence);
	case COMPARE_SINGLE:
		return over_others(e, times, confidence);
	case COMPARE_EPISODES:
		return over_batches(e, times, confidence);
	default:
		return (struct stats_test){ NAN, NAN, NAN, NAN, NAN };
	}
}

void compare_test_row(struct compare_row *row, const struct compare_evidence *e, double confidence,
		      double fail_above)
{
	struct stats_test r;

	row->p_holm = row->p_worse = NAN;
	row->significant = row->regression = COMPARE_UNKNOWN;
	if (e->a.n > 1 && e->b.n > 1)
		row->test = COMPARE_WELCH;
	else if (e->a.n + e->b.n > 2 && e->a.n && e->b.n)
		row->test = COMPARE_SINGLE;
	else if (e->a.n && e->b.n)
		row->test = COMPARE_EPISODES;
	r = test_by(row->test, e, 1, confidence);
	if (isnan(r.p))
		row->test = COMPARE_UNTESTED;
	/*
	 * The interval of this test is for the logarithm of the ratio. Convert it to an interval
	 * for the difference.
	 */
	if (row->test == COMPARE_EPISODES) {
		r.low = row->a * expm1(r.low);
		r.high = row->a * expm1(r.high);
	}
	row->t = r.t;
	row->df = r.df;
	row->p = r.p;
	row->low = r.low;
	row->high = r.high;
	if (isnan(fail_above))
		return;
	r = test_by(row->test, e, allowed(row, fail_above), confidence);
	if (isnan(r.p))
		return;
	row->p_worse = stats_greater(&r);
	if (row->unit == COMPARE_RATIO)
		row->p_worse = 1 - row->p_worse;
}

/* --- all rows --------------------------------------------------------------------------------- */

/* Compare the families of two rows: their scopes and quantities. */
static int family_compare(const struct compare_row *a, const struct compare_row *b)
{
	return a->scope != b->scope ? NUMBER_COMPARE(a->scope, b->scope)
				    : strcmp(a->quantity, b->quantity);
}

static int by_family(const void *x, const void *y)
{
	const struct compare_row *a = *(struct compare_row *const *)x;
	const struct compare_row *b = *(struct compare_row *const *)y;
	int order = family_compare(a, b);

	return order ? order : NUMBER_COMPARE(a, b);
}

/* Adjust the p values of one family: @n rows from @f on. Return 0 or -ENOMEM. */
static int adjust(struct compare_row **f, uint32_t n, double *p)
{
	uint32_t i;
	int err;

	for (i = 0; i < n; i++)
		p[i] = f[i]->p;
	err = stats_holm(p, n);
	for (i = 0; !err && i < n; i++)
		f[i]->p_holm = p[i];
	return err;
}

/* Adjust the p values of all rows, by family. @p has room for all rows. Return 0 or -ENOMEM. */
static int adjust_all(struct compare *c, double *p)
{
	struct compare_row **f = calloc(c->nrows, sizeof(struct compare_row *));
	uint32_t i, n;
	int err = 0;

	if (!f)
		return -ENOMEM;
	for (i = 0; i < c->nrows; i++)
		f[i] = &c->rows[i];
	qsort(f, c->nrows, sizeof(*f), by_family);
	for (i = 0; !err && i < c->nrows; i += n) {
		for (n = 1; i + n < c->nrows && !family_compare(f[i + n], f[i]); n++)
			;
		err = adjust(f + i, n, p);
	}
	free(f);
	return err;
}

/*
 * Return whether the row counts for --fail-above. If quantities were chosen, each one that can get
 * worse counts.
 */
static bool counts(const struct compare_row *row, const struct compare_options *o)
{
	if (!o->nquantities)
		return row->gate;
	return row->unit != COMPARE_COUNT || row->counter;
}

/*
 * Adjust p_worse. The rows that count are one family, so that the answer of --fail-above as a whole
 * has the requested confidence. Return 0 or -ENOMEM.
 */
static int adjust_worse(struct compare *c, const struct compare_options *o, double *p)
{
	uint32_t i;
	int err;

	for (i = 0; i < c->nrows; i++)
		p[i] = counts(&c->rows[i], o) ? c->rows[i].p_worse : NAN;
	err = stats_holm(p, c->nrows);
	for (i = 0; !err && i < c->nrows; i++)
		c->rows[i].p_worse = p[i];
	return err;
}

static void classify_regression(struct compare *c, struct compare_row *row,
				const struct compare_options *o)
{
	double most = allowed(row, o->fail_above);
	bool above;

	if (isnan(o->fail_above) || !counts(row, o) || isnan(row->ratio))
		return;
	above = row->unit == COMPARE_RATIO ? row->ratio < most : row->ratio > most;
	row->regression = above && row->p_worse < 1 - c->confidence;
	c->regressions += row->regression;
	c->suspects += above && !row->regression;
}

static void classify(struct compare *c, struct compare_row *row, const struct compare_options *o)
{
	bool up = row->difference > 0, more_is_worse = row->unit == COMPARE_NS;

	if (row->test != COMPARE_UNTESTED) {
		row->significant = row->p_holm < 1 - c->confidence;
		c->tested++;
		c->significant += row->significant;
	}
	if (row->significant == 1 && row->unit == COMPARE_COUNT)
		row->change = up ? COMPARE_MORE : COMPARE_LESS;
	else if (row->significant == 1)
		row->change = up == more_is_worse ? COMPARE_WORSE : COMPARE_BETTER;
	classify_regression(c, row, o);
}

int compare_classify(struct compare *c, const struct compare_options *o)
{
	double *p = calloc(c->nrows + 1u, sizeof(*p));
	int err = p ? 0 : -ENOMEM;
	uint32_t i;

	if (!err && c->nrows)
		err = adjust_all(c, p);
	if (!err && c->nrows)
		err = adjust_worse(c, o, p);
	for (i = 0; !err && i < c->nrows; i++)
		classify(c, &c->rows[i], o);
	free(p);
	return err;
}
