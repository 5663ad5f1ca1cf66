// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/outlier_threads.h"

#include <errno.h>
#include <stdlib.h>

#define FENCE  3.0
#define LITTLE 0.1 /* smallest spread, as a share of the median */
#define FEW    4 /* smallest spread, in the unit of the values */

struct score {
	uint32_t place;
	double far; /* distance from the median in multiples of the spread; 0: no outlier */
};

struct fences {
	double low, high, median, spread;
};

int outliers_value_cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int score_cmp(const void *a, const void *b)
{
	const struct score *x = a, *y = b;

	if (x->far != y->far)
		return x->far > y->far ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static struct fences fences_of(uint64_t *values, uint32_t n)
{
	uint32_t half = n / 2, quarter = n / 4;
	double low, high, margin;
	struct fences f;

	qsort(values, n, sizeof(*values), outliers_value_cmp);
	f.median = (double)values[half];
	low = (double)values[quarter];
	high = (double)values[n - 1 - quarter];
	margin = FENCE * (high - low);
	f.low = low - margin;
	f.high = high + margin;
	/*
	 * If nearly all values are equal, the smallest difference would otherwise make a thread an
	 * outlier.
	 */
	f.spread = high - low > LITTLE * f.median ? high - low : LITTLE * f.median;
	if (f.spread < FEW)
		f.spread = FEW;
	return f;
}

static double distance(const struct fences *f, uint64_t value)
{
	double v = (double)value, far = (v > f->median ? v - f->median : f->median - v) / f->spread;

	return (v < f->low || v > f->high) && far > 1 ? far : 0;
}

static void score_one(const struct report_thread *threads, uint32_t n, outliers_value *value,
		      uint32_t what, uint64_t *values, struct score *scores)
{
	struct fences f;
	uint32_t i, known = 0;
	uint64_t v;
	double far;

	for (i = 0; i < n; i++) {
		v = value(&threads[i], what);
		if (threads[i].tid && v != REPORT_UNKNOWN)
			values[known++] = v;
	}
	if (!known)
		return;
	f = fences_of(values, known);
	for (i = 0; i < n; i++) {
		v = value(&threads[i], what);
		far = threads[i].tid && v != REPORT_UNKNOWN ? distance(&f, v) : 0;
		if (far > scores[i].far)
			scores[i].far = far;
	}
}

int outliers_find(const struct report_thread *threads, uint32_t n, outliers_value *value,
		  uint32_t nwhat, uint32_t *out, uint32_t max)
{
	struct score *scores = calloc(n ? n : 1, sizeof(*scores));
	uint64_t *values = calloc(n ? n : 1, sizeof(*values));
	int found = 0;
	uint32_t i;

	if (!scores || !values) {
		found = -ENOMEM;
		goto out;
	}
	for (i = 0; i < n; i++)
		scores[i].place = i;
	for (i = 0; i < nwhat; i++)
		score_one(threads, n, value, i, values, scores);
	qsort(scores, n, sizeof(*scores), score_cmp);
	while ((uint32_t)found < max && (uint32_t)found < n && scores[found].far > 0) {
		out[found] = scores[found].place;
		found++;
	}
out:
	free(values);
	free(scores);
	return found;
}
