// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Distributions: mean and deviation by Welford's recurrence, which avoids cancellation. */
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

/* Join two sets by the method of Chan, Golub and LeVeque (1979). */
void model_stat_join(struct model_stat *to, const struct model_stat *from)
{
	double n = (double)to->n + (double)from->n, delta = from->mean - to->mean;
	unsigned i;

	if (!from->n)
		return;
	to->m2 += from->m2 + delta * delta * (double)to->n * (double)from->n / n;
	to->mean += delta * (double)from->n / n;
	to->n += from->n;
	to->sum += from->sum;
	if (from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	for (i = 0; i < 64; i++)
		to->hist[i] = from->hist[i] > UINT32_MAX - to->hist[i]
				      ? UINT32_MAX
				      : to->hist[i] + from->hist[i];
}

double model_stat_stddev(const struct model_stat *s)
{
	return s->n < 2 ? 0.0 : sqrt(s->m2 / (double)s->n);
}
