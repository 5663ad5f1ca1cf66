// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Compute the differences since the last look, for barriers and for their threads. */
#include "base/array.h"
#include "base/grow.h"
#include "top/live_rates_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Records of waits that ended may arrive one look later, and dropped records never arrive. If more
 * time was reported as lost than the ended waits account for, wait one look for the missing
 * records, then forget them.
 */
uint64_t live_rates_settle(struct live_rates_credit *c, uint64_t ended, uint64_t open)
{
	uint64_t before = c->ns;

	if (ended + open >= before) {
		c->ns = open;
		c->overdue = false;
		return ended + open - before;
	}
	if (c->overdue) {
		c->ns = open;
		c->overdue = false;
	} else {
		c->ns = before > ended ? before - ended : 0;
		c->overdue = true;
	}
	return 0;
}

void live_rates_take_sums(const struct model_barrier *b, const struct causes *causes,
			  uint32_t index, struct live_rates_sums *s)
{
	*s = (struct live_rates_sums){
		.episodes = b->episodes,
		.incomplete = b->incomplete,
		.crossings = b->crossings,
		.wait_ns = b->wait.sum,
		.phase_n = b->phase.n,
		.phase_ns = b->phase.sum,
		.release_n = b->release.n,
		.release_ns = b->release.sum,
	};
	array_for_each (p, b->phases, b->nphases) {
		s->phase_wait_ns += p->wait_ns;
		s->phase_thread_ns += p->thread_ns;
	}
	if (causes && !b->nested)
		causes_weights(causes, index, s->weight, &s->weighed, &s->weighed_thread_ns);
}

void live_rates_take_row(struct live_rates_place *p, const struct live_rates_sums *now)
{
	const struct live_rates_sums *was = &p->was;
	struct live_rates_row *row = &p->row;
	unsigned k;

	row->episodes = now->episodes - was->episodes;
	row->incomplete = now->incomplete - was->incomplete;
	row->crossings = now->crossings - was->crossings;
	row->phase_n = now->phase_n - was->phase_n;
	row->phase_ns = now->phase_ns - was->phase_ns;
	row->phase_wait_ns = now->phase_wait_ns - was->phase_wait_ns;
	row->phase_thread_ns = now->phase_thread_ns - was->phase_thread_ns;
	row->release_n = now->release_n - was->release_n;
	row->release_ns = now->release_ns - was->release_ns;
	for (k = 0; k < CAUSE_KINDS; k++)
		row->weight[k] = now->weight[k] - was->weight[k];
	row->weighed = now->weighed - was->weighed;
	row->weighed_thread_ns = now->weighed_thread_ns - was->weighed_thread_ns;
	row->lost_ns = live_rates_settle(&p->credit, now->wait_ns - was->wait_ns, p->open_ns);
	row->sum_lost_ns += row->lost_ns;
	p->was = *now;
}

static uint64_t blocked_of(const struct model_sums *s)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		sum += s->blocked_ns[i];
	return sum;
}

static struct live_rates_thread *add_thread(struct live_rates_place *p)
{
	if (grow_zeroed(p->threads, p->cap_threads, p->nthreads + 1))
		return NULL;
	p->threads[p->nthreads] = (struct live_rates_thread){ .waiting_ns = MODEL_UNKNOWN };
	return &p->threads[p->nthreads++];
}

/* Return the thread's wait if it is at this barrier. */
static struct live_rates_wait *waiting_of(const struct live_rates *r,
					  const struct live_rates_place *p, uint32_t tid)
{
	uint64_t i;

	if (!hash_get(&r->by_tid, tid, &i) || r->waiting[i - 1].place != p)
		return NULL;
	return &r->waiting[i - 1];
}

static uint64_t waited(const struct live_rates *r, struct live_rates_wait *w,
		       struct live_rates_thread *out)
{
	uint64_t ns = r->now_ns > w->w.arrive_ns ? r->now_ns - w->w.arrive_ns : 0;

	w->shown = true;
	out->waiting_ns = ns;
	return ns;
}

static int take_thread(struct live_rates *r, struct live_rates_place *p,
		       const struct model_thread *t, const struct model_barrier_thread *bt,
		       struct live_rates_thread_was *was)
{
	bool fresh = !was->crossings;
	struct live_rates_wait *w = t->exited ? NULL : waiting_of(r, p, t->tid);
	struct live_rates_thread *out;
	uint64_t open = 0;

	if (t->exited && bt->crossings == was->crossings)
		return 0;
	out = add_thread(p);
	if (!out)
		return -ENOMEM;
	*out = (struct live_rates_thread){
		.thread = bt->thread,
		.tid = t->tid,
		.crossings = bt->crossings - was->crossings,
		.last = bt->last - was->last,
		.idle_ns = bt->idle_ns - was->idle_ns,
		.work_ns = bt->work_ns - was->work_ns,
		.known_ns = bt->sums.known_ns - was->sums.known_ns,
		.oncpu_ns = bt->sums.oncpu_ns - was->sums.oncpu_ns,
		.runq_ns = bt->sums.runq_ns - was->sums.runq_ns,
		.blocked_ns = blocked_of(&bt->sums) - blocked_of(&was->sums),
		.waiting_ns = MODEL_UNKNOWN,
	};
	if (w)
		open = waited(r, w, out);
	out->lost_ns = live_rates_settle(&was->credit, bt->wait_ns - was->wait_ns, open);
	/*
	 * While the thread had no departures, the part of its first wait before this interval was
	 * already reported.
	 */
	if (fresh && out->lost_ns > r->now_ns - r->begin_ns)
		out->lost_ns = r->now_ns - r->begin_ns;
	if (out->last > p->row.last_count) {
		p->row.last_count = out->last;
		p->row.last_thread = bt->thread;
	}
	return 0;
}

/*
 * Return the thread's sums at the last look, or NULL. Usually they are still at index @i. If the
 * model has folded exited threads, look the thread up in @moved.
 */
static const struct live_rates_thread_was *find_was(const struct live_rates_place *p, uint32_t i,
						    uint32_t thread, struct hash *moved)
{
	uint64_t at;
	uint32_t j;

	if (i < p->nwas && p->threads_was[i].thread == thread)
		return &p->threads_was[i];
	if (!hash_count(moved))
		for (j = 0; j < p->nwas; j++)
			if (hash_put(moved, p->threads_was[j].thread, j))
				return NULL;
	return hash_get(moved, thread, &at) ? &p->threads_was[at] : NULL;
}

int live_rates_take_threads(struct live_rates *r, const struct model *m, struct live_rates_place *p,
			    const struct model_barrier *b)
{
	struct live_rates_thread_was *now = NULL, *w;
	const struct live_rates_thread_was *was;
	struct hash moved = { 0 };
	uint32_t i, cap = 0;
	int err = grow_zeroed(now, cap, b->nthreads);

	p->row.last_thread = MODEL_NONE;
	p->row.last_count = 0;
	p->nthreads = 0;
	for (i = 0; i < b->nthreads && !err; i++) {
		const struct model_barrier_thread *bt = &b->threads[i];

		w = &now[i];
		was = find_was(p, i, bt->thread, &moved);
		/* If the number of crossings decreased, another thread has the slot now. */
		if (was && was->crossings <= bt->crossings)
			*w = *was;
		/* Skip the sum of exited threads: threads that exit later are added to it. */
		if (bt->thread != MODEL_NONE)
			err = take_thread(r, p, model_thread(m, bt->thread), bt, w);
		*w = (struct live_rates_thread_was){
			.thread = bt->thread,
			.credit = w->credit,
			.crossings = bt->crossings,
			.last = bt->last,
			.wait_ns = bt->wait_ns,
			.idle_ns = bt->idle_ns,
			.work_ns = bt->work_ns,
			.sums = bt->sums,
		};
	}
	hash_free(&moved);
	free(p->threads_was);
	p->threads_was = now;
	p->nwas = err ? 0 : b->nthreads;
	p->cap_was = cap;
	return err;
}

int live_rates_take_newcomers(struct live_rates *r)
{
	struct live_rates_thread *out;

	array_for_each (w, r->waiting, r->nwaiting) {
		if (!w->place || w->shown)
			continue;
		out = add_thread(w->place);
		if (!out)
			return -ENOMEM;
		out->thread = MODEL_NONE;
		out->tid = w->w.tid;
		out->lost_ns = waited(r, w, out);
		/* Count only the part of the wait in this interval. */
		if (out->lost_ns > r->now_ns - r->begin_ns)
			out->lost_ns = r->now_ns - r->begin_ns;
	}
	return 0;
}
