// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The counters and sites of a point. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/series_internal.h"
#include "base/array.h"
#include "analyse/stats.h"
#include "base/number.h"

static uint64_t rounded(double ns)
{
	/* A damaged recording may have impossible times. */
	return ns >= 0 && ns < 0x1p63 ? (uint64_t)llround(ns) : REPORT_UNKNOWN;
}

struct series_time series_time_of(const double *values, uint32_t n)
{
	struct stats s = stats_of(values, n);

	return (struct series_time){ .n = s.n,
				     .mean = rounded(s.mean),
				     .stddev = rounded(s.stddev),
				     .min = rounded(s.min),
				     .max = rounded(s.max) };
}

/* Put the values of the runs of point @p into k->values. Return their number. */
static uint32_t collect_values(struct series_making *k, uint32_t p,
			       double (*of)(const void *in, const void *ctx), const void *const *in,
			       const void *ctx)
{
	uint32_t i, n = 0;

	for (i = 0; i < k->s->ninputs; i++)
		if (k->point[i] == p && in[i])
			k->values[n++] = of(in[i], ctx);
	return n;
}

/* --- counters --------------------------------------------------------------------------------- */

/* Return the counters of process @i of a report, or of a site (@i is 0). Set *n to their number. */
typedef const struct report_counter *counters_fn(const void *in, uint32_t i, uint32_t *n);

static const struct report_counter *run_counters(const void *in, uint32_t i, uint32_t *n)
{
	const struct report *r = in;

	if (i >= r->nprocesses)
		return NULL;
	*n = r->processes[i].ncounters;
	return r->processes[i].counters;
}

static const struct report_counter *site_counters(const void *in, uint32_t i, uint32_t *n)
{
	const struct report_barrier *b = in;

	*n = i ? 0 : b->ncounters;
	return i ? NULL : b->counters;
}

struct summing {
	counters_fn *of;
	const char *name;
	uint32_t nprocesses_max; /* highest number of processes in a run; 1 for a site */
};

/*
 * Return the sum of a counter over all processes. Return NAN if no process has the counter, or if
 * its value is unknown in one of them.
 */
static double counter_sum(const void *in, const void *ctx)
{
	const struct summing *s = ctx;
	const struct report_counter *c;
	double sum = NAN;
	uint32_t i, j, n;

	for (i = 0; i < s->nprocesses_max; i++) {
		n = 0;
		c = s->of(in, i, &n);
		for (j = 0; c && j < n; j++) {
			if (!c[j].name || strcmp(c[j].name, s->name) != 0)
				continue;
			if (c[j].value == REPORT_UNKNOWN)
				return NAN;
			sum = (isnan(sum) ? 0 : sum) + (double)c[j].value;
			break;
		}
	}
	return sum;
}

static int counter_add(struct series_making *k, struct series_counter **counters, uint32_t *n,
		       const char *name)
{
	struct series_counter *grown;
	uint32_t i;

	for (i = 0; i < *n; i++)
		if (!strcmp((*counters)[i].name, name))
			return 0;
	grown = arena_alloc(k->arena, (*n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	if (*n)
		memcpy(grown, *counters, *n * sizeof(*grown));
	grown[*n] = (struct series_counter){ .name = name, .normalised = NAN };
	*counters = grown;
	(*n)++;
	return 0;
}

/*
 * Fill the counters of the runs of point @p. @in holds the point's reports or sites, indexed by
 * input. Return 0 or -ENOMEM.
 */
static int counters_make(struct series_making *k, uint32_t p, const void *const *in,
			 counters_fn *of, uint32_t nprocesses_max, struct series_counter **counters,
			 uint32_t *ncounters)
{
	uint32_t threads = k->s->points[p].threads, i, j, q, n;
	const struct report_counter *c;
	struct summing sum = { .of = of, .nprocesses_max = nprocesses_max };
	struct stats s;
	int err = 0;

	for (i = 0; i < k->s->ninputs; i++) {
		for (q = 0; k->point[i] == p && in[i] && q < nprocesses_max; q++) {
			n = 0;
			c = of(in[i], q, &n);
			for (j = 0; !err && c && j < n; j++)
				if (c[j].name)
					err = counter_add(k, counters, ncounters, c[j].name);
		}
	}
	for (i = 0; !err && i < *ncounters; i++) {
		sum.name = (*counters)[i].name;
		s = stats_of(k->values, collect_values(k, p, counter_sum, in, &sum));
		(*counters)[i].mean = s.mean;
		(*counters)[i].stddev = s.stddev;
		(*counters)[i].per_thread = threads == SERIES_NONE ? NAN : s.mean / threads;
	}
	return err;
}

int series_counters(struct series_making *k, uint32_t index)
{
	struct series_point *p = &k->s->points[index];
	const void **in = calloc(k->s->ninputs + 1, sizeof(*in));
	uint32_t i, nprocesses_max = 0;
	int err;

	if (!in)
		return -ENOMEM;
	for (i = 0; i < k->s->ninputs; i++) {
		in[i] = k->inputs[i].report;
		if (k->inputs[i].report->nprocesses > nprocesses_max)
			nprocesses_max = k->inputs[i].report->nprocesses;
	}
	err = counters_make(k, index, in, run_counters, nprocesses_max, &p->counters,
			    &p->ncounters);
	free(in);
	return err;
}

/* --- sites ------------------------------------------------------------------------------------ */

/*
 * Return the sum of a barrier's times, or NAN if unknown. *@ctx is the offset of these times in
 * struct report_barrier.
 */
static double site_sum(const void *in, const void *ctx)
{
	const struct report_times *t = (const void *)((const char *)in + *(const size_t *)ctx);

	return t->n && t->sum != REPORT_UNKNOWN ? (double)t->sum : NAN;
}

static double site_lost(const void *in, const void *ctx)
{
	const struct report_barrier *b = in;

	(void)ctx;
	return b->lost_ns == REPORT_UNKNOWN ? NAN : (double)b->lost_ns;
}

static double thread_wait(const void *in, const void *ctx)
{
	const struct report_barrier *b = in;
	uint32_t i = *(const uint32_t *)ctx;

	return i < b->nthreads && b->threads[i].wait_ns != REPORT_UNKNOWN
		       ? (double)b->threads[i].wait_ns
		       : NAN;
}

/*
 * Fill *out from the threads' waits, each averaged over the runs. The threads are the complete
 * population, not a sample, so the deviation divides by n. Return 0 or -ENOMEM.
 */
static int site_idle(struct series_making *k, uint32_t p, const void *const *in,
		     struct series_time *out)
{
	uint32_t n = 0, i;
	struct stats s;
	double *waits;

	for (i = 0; i < k->s->ninputs; i++)
		if (in[i] && k->point[i] == p &&
		    ((const struct report_barrier *)in[i])->nthreads > n)
			n = ((const struct report_barrier *)in[i])->nthreads;
	waits = calloc((size_t)n + 1, sizeof(*waits));
	if (!waits)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		waits[i] = stats_of(k->values, collect_values(k, p, thread_wait, in, &i)).mean;
	*out = series_time_of(waits, n);
	s = stats_of(waits, n);
	if (s.n == 1)
		out->stddev = 0;
	else if (s.n)
		out->stddev = rounded(s.stddev * sqrt((s.n - 1.0) / s.n));
	free(waits);
	return 0;
}

static int site_make(struct series_making *k, uint32_t p, uint32_t slot, struct series_site *out)
{
	const void *const *in = (const void *const *)k->s->match.sites[slot].in;
	const size_t phase = offsetof(struct report_barrier, phase_ns);
	const size_t barrier = offsetof(struct report_barrier, barrier_ns);
	const struct report_barrier *b = NULL;
	uint32_t i;
	int err;

	for (i = 0; !b && i < k->s->ninputs; i++)
		if (k->point[i] == p)
			b = in[i];
	if (!b)
		return 1;
	*out = (struct series_site){ .id = b->id, .label = b->label, .slot = slot };
	out->phase = series_time_of(k->values, collect_values(k, p, site_sum, in, &phase));
	out->barrier = series_time_of(k->values, collect_values(k, p, site_sum, in, &barrier));
	out->lost = series_time_of(k->values, collect_values(k, p, site_lost, in, NULL));
	out->work_ns = REPORT_UNKNOWN;
	if (out->phase.n && out->barrier.n && out->phase.mean >= out->barrier.mean)
		out->work_ns = out->phase.mean - out->barrier.mean;
	err = site_idle(k, p, in, &out->idle);
	if (!err)
		err = counters_make(k, p, in, site_counters, 1, &out->counters, &out->ncounters);
	return err;
}

static int by_first(const void *x, const void *y)
{
	const struct series_first *a = x, *b = y;

	if (a->report != b->report)
		return NUMBER_COMPARE(a->report, b->report);
	if (a->index != b->index)
		return NUMBER_COMPARE(a->index, b->index);
	return NUMBER_COMPARE(a->slot, b->slot);
}

int series_sites(struct series_making *k, uint32_t index, const struct series_first *order)
{
	struct series_point *p = &k->s->points[index];
	uint32_t all = k->s->match.nsites, i;
	double sum = 0;
	int err = 0;

	p->sites = arena_alloc(k->arena, (all + 1) * sizeof(*p->sites));
	if (!p->sites)
		return -ENOMEM;
	for (i = 0; err >= 0 && i < all; i++) {
		err = site_make(k, index, order[i].slot, &p->sites[p->nsites]);
		p->nsites += !err;
	}
	if (err < 0)
		return err;
	for (i = 0; i < p->nsites; i++)
		if (p->sites[i].phase.n)
			sum += (double)p->sites[i].phase.mean;
	array_for_each (s, p->sites, p->nsites) {
		s->share = s->phase.n && sum > 0 ? (double)s->phase.mean / sum : NAN;
		s->barrier_share = s->barrier.n && sum > 0 ? (double)s->barrier.mean / sum : NAN;
	}
	return 0;
}

struct series_first *series_order(const struct episode_match *m)
{
	struct series_first *order = calloc(m->nsites + 1, sizeof(*order));
	uint32_t i, r;

	for (i = 0; order && i < m->nsites; i++) {
		for (r = 0; !m->sites[i].in[r]; r++)
			;
		order[i] = (struct series_first){ i, r, m->sites[i].in[r]->index };
	}
	if (order)
		qsort(order, m->nsites, sizeof(*order), by_first);
	return order;
}
