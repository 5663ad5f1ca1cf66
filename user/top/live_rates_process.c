// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Compute the rates of processes: the sums over their barriers. */
#include "base/array.h"
#include "base/grow.h"
#include "base/number.h"
#include "top/live_rates_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add_row(struct live_rates_row *to, const struct live_rates_row *row)
{
	unsigned k;

	to->exited = row->exited;
	if (row->quiet_ns < to->quiet_ns)
		to->quiet_ns = row->quiet_ns;
	if (row->nested)
		return;
	to->episodes += row->episodes;
	to->incomplete += row->incomplete;
	to->crossings += row->crossings;
	to->lost_ns += row->lost_ns;
	to->phase_n += row->phase_n;
	to->phase_ns += row->phase_ns;
	to->phase_wait_ns += row->phase_wait_ns;
	to->phase_thread_ns += row->phase_thread_ns;
	to->release_n += row->release_n;
	to->release_ns += row->release_ns;
	to->sum_lost_ns += row->sum_lost_ns;
	to->waiting += row->waiting;
	if (row->waiting_ns > to->waiting_ns)
		to->waiting_ns = row->waiting_ns;
	if (row->team > to->team)
		to->team = row->team;
	for (k = 0; k < CAUSE_KINDS; k++)
		to->weight[k] += row->weight[k];
	to->weighed += row->weighed;
	to->weighed_thread_ns += row->weighed_thread_ns;
}

static int add_threads(struct live_rates_place *to, const struct live_rates_place *p)
{
	int err = grow_zeroed(to->threads, to->cap_threads, to->nthreads + p->nthreads);

	if (err || !p->nthreads)
		return err;
	memcpy(to->threads + to->nthreads, p->threads, p->nthreads * sizeof(*p->threads));
	to->nthreads += p->nthreads;
	return 0;
}

int live_rates_add_to_process(struct live_rates *r, const struct live_rates_place *p)
{
	uint32_t i = p->row.proc;
	struct live_rates_place *to;
	int err = grow_zeroed(r->procs, r->cap_procs, i + 1);

	if (err)
		return err;
	r->nprocs = i < r->nprocs ? r->nprocs : i + 1;
	to = r->procs[i];
	if (!to)
		to = r->procs[i] = calloc(1, sizeof(*to));
	if (!to)
		return -ENOMEM;
	/* If this is the first barrier of the process in this look, begin a new row. */
	if (to->active_ns != r->now_ns) {
		to->active_ns = r->now_ns;
		to->nthreads = 0;
		to->row = (struct live_rates_row){ .barrier = MODEL_NONE,
						   .proc = i,
						   .site = MODEL_NONE,
						   .key = 1ULL << 63 | i,
						   .quiet_ns = MODEL_UNKNOWN,
						   .last_thread = MODEL_NONE };
	}
	add_row(&to->row, &p->row);
	return p->row.nested ? 0 : add_threads(to, p);
}

static int tid_cmp(const void *a, const void *b)
{
	const struct live_rates_thread *x = a, *y = b;

	return NUMBER_COMPARE(x->tid, y->tid);
}

/* Merge the rows of each thread, and find the thread that arrived last most often. */
void live_rates_merge_threads(struct live_rates_place *p)
{
	struct live_rates_thread *to;
	uint32_t i, kept = 0;

	qsort(p->threads, p->nthreads, sizeof(*p->threads), tid_cmp);
	array_for_each (t, p->threads, p->nthreads) {
		to = kept ? &p->threads[kept - 1] : NULL;
		if (!to || to->tid != t->tid) {
			p->threads[kept++] = *t;
			continue;
		}
		if (to->thread == MODEL_NONE)
			to->thread = t->thread;
		to->crossings += t->crossings;
		to->last += t->last;
		to->lost_ns += t->lost_ns;
		to->idle_ns += t->idle_ns;
		to->work_ns += t->work_ns;
		to->known_ns += t->known_ns;
		to->oncpu_ns += t->oncpu_ns;
		to->runq_ns += t->runq_ns;
		to->blocked_ns += t->blocked_ns;
		if (t->waiting_ns != MODEL_UNKNOWN)
			to->waiting_ns = t->waiting_ns;
	}
	p->nthreads = kept;
	for (i = 0; i < kept; i++) {
		if (p->threads[i].last <= p->row.last_count)
			continue;
		p->row.last_count = p->threads[i].last;
		p->row.last_thread = p->threads[i].thread;
	}
}
