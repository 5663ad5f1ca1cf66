// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Distributions: mean and deviation by Welford's recurrence, which loses nothing to cancellation. */
#include "model/model.h"

#include <math.h>
#include <string.h>

void model_stat_init(struct model_stat *s)
{
	memset(s, 0, sizeof(*s));
	s->min = MODEL_UNKNOWN;
}

void model_stat_add(struct model_stat *s, uint64_t value)
{
	double delta = (double)value - s->mean;
	unsigned bucket = value ? 63 - __builtin_clzll(value) : 0;

	s->n++;
	s->sum += value;
	if (value < s->min)
		s->min = value;
	if (value > s->max)
		s->max = value;
	s->mean += delta / (double)s->n;
	s->m2 += delta * ((double)value - s->mean);
	if (s->hist[bucket] != UINT32_MAX)
		s->hist[bucket]++;
}

double model_stat_stddev(const struct model_stat *s)
{
	return s->n < 2 ? 0.0 : sqrt(s->m2 / (double)s->n);
}
