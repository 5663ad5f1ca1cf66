// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/phase.h"
#include "base/array.h"
#include "base/grow.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct share *share_of(struct shares *s, uint32_t thread, uint32_t tid)
{
	struct share *t;

	if (grow_zeroed(s->places, s->nplaces, thread + 1))
		return NULL;
	t = s->places[thread] ? &s->all[s->places[thread] - 1] : NULL;
	/* Ignore the share of an earlier thread that had the same index. */
	if (t && t->tid == tid)
		return t;
	if (grow_zeroed(s->all, s->cap, s->n + 1))
		return NULL;
	t = &s->all[s->n++];
	s->places[thread] = s->n;
	*t = (struct share){ .thread = thread, .tid = tid };
	return t;
}

/* Empty the set, but keep its memory for the next occurrence. */
static void shares_empty(struct shares *s)
{
	array_for_each (x, s->all, s->n)
		s->places[x->thread] = 0;
	s->n = 0;
}

void shares_free(struct shares *s)
{
	free(s->all);
	free(s->places);
}

/* --- an occurrence --------------------------------------------------------------------------- */

void occurrence_begin(struct occurrence *o, uint64_t start_ns)
{
	o->start_ns = start_ns;
	shares_empty(&o->shares);
	o->episodes = o->incomplete = 0;
	o->unknown = false;
}

void occurrence_work(struct occurrence *o, const struct model_member *m, struct share *t)
{
	bool accounted = m->detail || m->flags & MODEL_CROSSING_ACCOUNTED;
	uint64_t work = m->work_ns, inside = member_inside(m);
	if (work == MODEL_UNKNOWN) {
		o->unknown = true;
	} else if (m->arrive_ns < o->start_ns + work) {
		work = number_less(m->arrive_ns, o->start_ns);
		t->work_ns += work;
		t->ideal_ns += work;
		if (work && m->detail && m->detail->ncounters)
			t->sums.unknown |= (uint8_t)((1u << m->detail->ncounters) - 1);
		work = MODEL_UNKNOWN;
	} else {
		t->work_ns += work;
		t->ideal_ns += work;
	}
	if (accounted)
		model_sums_add(&t->sums, m->detail, work, inside);
}

void occurrence_wait(const struct model_episode *ep, uint32_t i, struct share *t)
{
	const struct model_member *m = &ep->members[i];
	uint64_t inside = member_inside(m);

	t->idle_ns += inside != MODEL_UNKNOWN ? inside : 0;
	t->crossings++;
	if (ep->state == MODEL_INCOMPLETE)
		return;
	t->wait_ns += m->wait_ns;
	if (m->wait_ns > t->wait_max_ns)
		t->wait_max_ns = m->wait_ns;
	t->last += i == ep->n - 1;
}

void occurrence_count(struct occurrence *o, const struct model_episode *ep)
{
	o->episodes += ep->state == MODEL_COMPLETE;
	o->incomplete += ep->state == MODEL_INCOMPLETE;
}

static int merge(struct phase *p, const struct share *from, bool unknown)
{
	struct share *to = share_of(&p->shares, from->thread, from->tid);

	if (!to)
		return -ENOMEM;
	to->crossings += from->crossings;
	to->last += from->last;
	to->work_ns += from->work_ns;
	to->wait_ns += from->wait_ns;
	to->idle_ns += from->idle_ns;
	if (from->wait_max_ns > to->wait_max_ns)
		to->wait_max_ns = from->wait_max_ns;
	if (!unknown)
		to->whole_ns += from->work_ns;
	model_sums_join(&to->sums, &from->sums);
	return 0;
}

int phase_end(struct phase *p, const struct occurrence *o, uint64_t end_ns)
{
	uint64_t ideal = 0, ns = end_ns - o->start_ns;
	uint32_t i;
	int err = 0;

	if (!p->time.n)
		model_stat_init(&p->time);
	model_stat_add(&p->time, ns);
	p->episodes += o->episodes;
	p->incomplete += o->incomplete;
	for (i = 0; i < o->shares.n && !err; i++) {
		err = merge(p, &o->shares.all[i], o->unknown);
		if (o->shares.all[i].ideal_ns > ideal)
			ideal = o->shares.all[i].ideal_ns;
	}
	if (!o->unknown) {
		p->whole_ns += ns;
		p->ideal_ns += ideal;
	}
	return err;
}

void phase_free(struct phase *p)
{
	shares_free(&p->shares);
	blame_free(&p->blame);
}

/* --- results --- */

/*
 * Return the parts of the share's time. If a thread's work began before the phase, only its total
 * is known. That time counts as unattributed.
 */
static struct report_parts parts_within(const struct share *s)
{
	struct model_sums sums = s->sums;

	if (sums.known_ns || sums.inside_known_ns)
		sums.known_ns = s->work_ns;
	return parts_of(&sums);
}

static int thread_out(const struct phase_build *b, const struct phase *p, const struct share *s,
		      struct report_thread *out)
{
	const struct model_thread *t = &b->threads[s->thread];
	int err = 0;

	*out = (struct report_thread){
		.tid = s->tid,
		.index = MODEL_NONE,
		.crossings = s->crossings,
		.wait_ns = s->wait_ns,
		.wait_max_ns = s->wait_max_ns,
		.idle_ns = s->idle_ns,
		.work_ns = s->work_ns,
		.last = s->last,
		.last_share = p->episodes ? (double)s->last / (double)p->episodes : NAN,
		.parts = parts_within(s),
		.ncounters = parts_counters_n(b->env),
		.counters = counters_of(b->arena, b->env, &s->sums, &err),
	};
	/* The index may now belong to another thread. */
	if (t->tid == s->tid) {
		out->index = t->place != MODEL_NONE ? t->place : t->ordinal;
		out->comm = t->comm[0] ? arena_string(b->arena, t->comm) : NULL;
		if (t->comm[0] && !out->comm)
			return -ENOMEM;
	}
	return err;
}

/* The work of a thread in occurrences with completely known work. */
struct work {
	uint32_t position;
	uint64_t ns;
};

static int by_position(const void *a, const void *b)
{
	const struct work *x = a, *y = b;

	return NUMBER_COMPARE(x->position, y->position);
}

/*
 * Set n, sum_ns and max_ns of @sums by position. Threads that run one after another share a
 * position. Return 0 or -ENOMEM.
 */
static int sum_positions(const struct phase_build *b, const struct phase *p,
			 struct efficiency_sums *sums)
{
	struct work *work = calloc(p->shares.n + 1u, sizeof(*work));
	uint64_t ns = 0;
	uint32_t i;

	if (!work)
		return -ENOMEM;
	for (i = 0; i < p->shares.n; i++)
		work[i] = (struct work){ b->position[p->shares.all[i].thread],
					 efficiency_useful(p->shares.all[i].whole_ns,
							   p->shares.all[i].sums.turn_ns,
							   p->shares.all[i].sums.begin_ns) };
	if (p->shares.n)
		qsort(work, p->shares.n, sizeof(*work), by_position);
	for (i = 0; i < p->shares.n; i++) {
		if (!i || work[i].position != work[i - 1].position) {
			sums->n++;
			ns = 0;
		}
		ns += work[i].ns;
		sums->sum_ns += work[i].ns;
		if (ns > sums->max_ns)
			sums->max_ns = ns;
	}
	free(work);
	return 0;
}

static int threads_out(const struct phase_build *b, const struct phase *p,
		       struct report_conceptual *out)
{
	struct efficiency_sums sums = { .ideal_ns = p->ideal_ns, .elapsed_ns = p->whole_ns };
	struct model_sums spent = { 0 };
	int err = sum_positions(b, p, &sums);
	uint32_t i;

	out->threads = arena_alloc(b->arena, (p->shares.n + 1) * sizeof(*out->threads));
	if (!out->threads)
		return -ENOMEM;
	for (i = 0; i < p->shares.n && !err; i++) {
		const struct share *s = &p->shares.all[i];

		err = thread_out(b, p, s, &out->threads[out->nthreads++]);
		out->lost_ns += s->wait_ns;
		model_sums_join(&spent, &s->sums);
	}
	if (err)
		return err;
	qsort(out->threads, out->nthreads, sizeof(*out->threads), threads_by_index);
	out->efficiency = efficiency_of(&sums);
	out->gain_ns = sums.n ? out->lost_ns / sums.n : 0;
	out->imbalance = sums.n && p->time.sum
				 ? (double)out->lost_ns / (double)p->time.sum / (double)sums.n
				 : NAN;
	out->ncounters = parts_counters_n(b->env);
	out->counters = counters_of(b->arena, b->env, &spent, &err);
	return err;
}

int phase_out(const struct phase_build *b, const struct phase *p, uint32_t open,
	      const struct model_proc *mp, struct report_conceptual *out)
{
	int err = 0;

	out->pid = mp->tgid;
	out->comm = mp->comm[0] ? arena_string(b->arena, mp->comm) : NULL;
	out->occurrences = p->time.n;
	out->unfinished = p->unfinished + open;
	out->episodes = p->episodes;
	out->incomplete = p->incomplete;
	out->phase_ns = report_times(b->arena, &p->time, &err);
	out->share =
		p->time.n && mp->elapsed_ns ? (double)p->time.sum / (double)mp->elapsed_ns : NAN;
	out->cause.share = NAN;
	if (!err)
		err = threads_out(b, p, out);
	/* Waits at barriers that were detached are unknown. */
	if (mp->nparts)
		out->efficiency = EFFICIENCY_UNKNOWN;
	if (!err && b->env->causes && p->blame.episodes)
		err = causes_blame(b->env->causes, &p->blame, b->arena, &out->cause);
	return err;
}
