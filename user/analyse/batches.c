// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/batches.h"
#include "base/grow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void merge(struct batches_times *t)
{
	uint32_t i;

	for (i = 0; i < t->n / 2; i++)
		t->sum[i] = t->sum[2 * i] + t->sum[2 * i + 1];
	/* With an odd number of batches, the last one has no partner: reopen it. */
	if (t->n % 2) {
		t->open += t->sum[t->n - 1];
		t->fill += t->per;
	}
	t->n /= 2;
	t->per *= 2;
}

static void add(struct batches_times *t, uint64_t ns)
{
	if (!t->per)
		t->per = 1;
	t->open += (double)ns;
	if (++t->fill < t->per)
		return;
	t->sum[t->n++] = t->open;
	t->open = 0;
	t->fill = 0;
	if (t->n == BLOCKS)
		merge(t);
}

void batches_free(struct batches *b)
{
	free(b->barriers);
	memset(b, 0, sizeof(*b));
}

void batches_episode(struct batches *b, const struct model_episode *e)
{
	if (b->err || e->state != MODEL_COMPLETE)
		return;
	if (grow_zeroed(b->barriers, b->n, (size_t)e->barrier + 1)) {
		batches_free(b);
		b->err = -ENOMEM;
		return;
	}
	add(&b->barriers[e->barrier].within, e->barrier_ns);
	if (e->phase_ns != MODEL_UNKNOWN)
		add(&b->barriers[e->barrier].phase, e->phase_ns);
}

static double episodes(const struct batches_times *t)
{
	return (double)t->n * (double)t->per + (double)t->fill;
}

/* Return the time of the first @count episodes. All episodes of one batch count as equally long. */
static double upto(const struct batches_times *t, double count)
{
	double per = (double)t->per, sum = 0;
	uint32_t i;

	for (i = 0; i < t->n && count >= per; i++, count -= per)
		sum += t->sum[i];
	if (i < t->n)
		return sum + t->sum[i] * count / per;
	return t->fill ? sum + t->open * fmin(1, count / (double)t->fill) : sum;
}

static double part(const struct batches_times *t, uint32_t i, uint32_t n)
{
	double all = episodes(t);

	return upto(t, all * (i + 1) / n) - upto(t, all * i / n);
}

uint32_t batches_changes(const struct batches_times *a, const struct batches_times *b, double *out)
{
	double least = fmin(episodes(a), episodes(b)), x, y;
	uint32_t all = least < BATCHES_PARTS ? (uint32_t)least : BATCHES_PARTS, i, n = 0;

	for (i = 0; i < all; i++) {
		x = part(a, i, all);
		y = part(b, i, all);
		if (x > 0 && y > 0)
			out[n++] = log(y / x);
	}
	return n;
}
