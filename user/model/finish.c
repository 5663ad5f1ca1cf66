// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* What an episode adds to threads, processes and barriers, once its place in the order is known. */
#include "model/internal.h"

#include <string.h>

/* W_i = max(0, min(L, l_i) - e_i); who never left is taken to have waited for the release. */
static uint64_t wait_of(const struct model_member *mem, uint64_t release)
{
	uint64_t until = mem->depart_ns < release ? mem->depart_ns : release;

	return minus(until, mem->arrive_ns);
}

static void fill_members(struct episode *e)
{
	struct model_member *mem;
	uint32_t i;

	for (i = 0; i < e->n; i++) {
		mem = &e->members[i].pub;
		mem->wait_ns = wait_of(mem, e->arrive_max);
		mem->latency_ns = mem->depart_ns == MODEL_UNKNOWN
					  ? MODEL_UNKNOWN
					  : minus(mem->depart_ns, e->arrive_max);
	}
}

/*
 * Phase time(e) = release(e) - release of the previous episode, on any object, of the thread that came
 * last; its start if it has none. Unknown where that release is.
 */
static void fill_phase(const struct episode *e, struct model_episode *out)
{
	const struct member *last = &e->members[e->n - 1];
	const struct thread *t = last->thread;
	uint64_t from = t->pub.release_ns == MODEL_UNKNOWN ? t->pub.start_ns : t->pub.release_ns;

	out->phase_ns = MODEL_UNKNOWN;
	out->phase_from = t->pub.barrier;
	if (e->nested || last->pub.work_ns == MODEL_UNKNOWN || !t->release_sure ||
	    from > e->arrive_max)
		return;
	out->phase_ns = e->arrive_max - from;
}

static void add_longest(struct model_barrier *b, const struct model_episode *ep)
{
	struct model_longest l = { ep->phase_ns, ep->number, ep->release_ns }, t;
	unsigned i;

	if (l.phase_ns <= b->longest[MODEL_LONGEST - 1].phase_ns)
		return;
	for (i = 0; i < MODEL_LONGEST; i++) {
		if (l.phase_ns <= b->longest[i].phase_ns)
			continue;
		t = b->longest[i];
		b->longest[i] = l;
		l = t;
	}
}

static int add_phase(struct row *r, const struct episode *e, const struct model_episode *ep,
		     uint64_t wait)
{
	struct model_phase *ph;
	int err;

	if (ep->phase_ns == MODEL_UNKNOWN)
		return 0;
	model_stat_add(&r->pub.phase, ep->phase_ns);
	add_longest(&r->pub, ep);
	err = barrier_phase(r, ep->phase_from, &ph);
	if (err || !ph)
		return err;
	model_stat_add(&ph->time, ep->phase_ns);
	ph->wait_ns += wait;
	ph->thread_ns += ep->phase_ns * e->n;
	return 0;
}

/* One member of a complete episode. */
static int add_member(struct row *r, const struct episode *e, const struct member *mem, bool last)
{
	struct model_barrier_thread *bt;
	struct thread *t = mem->thread;
	int err = barrier_thread(r, t, &bt);

	if (err)
		return err;
	bt->wait_ns += mem->pub.wait_ns;
	if (mem->pub.wait_ns > bt->wait_max_ns)
		bt->wait_max_ns = mem->pub.wait_ns;
	if (mem->pub.depart_ns != MODEL_UNKNOWN)
		bt->idle_ns += minus(mem->pub.depart_ns, mem->pub.arrive_ns);
	if (mem->pub.work_ns != MODEL_UNKNOWN) {
		bt->work_ns += mem->pub.work_ns;
		bt->work_n++;
	}
	bt->last += last;
	model_stat_add(&r->pub.wait, mem->pub.wait_ns);
	if (mem->pub.latency_ns != MODEL_UNKNOWN)
		model_stat_add(&r->pub.release, mem->pub.latency_ns);
	if (!e->nested) {
		t->pub.wait_ns += mem->pub.wait_ns;
		t->pub.last += last;
	}
	return 0;
}

static int add_complete(struct row *r, const struct episode *e, const struct model_episode *ep)
{
	struct model_barrier *b = &r->pub;
	uint64_t wait = 0, work = 0;
	const struct model_member *mem;
	uint32_t i;
	int err;

	b->episodes++;
	if (e->n < b->team_min)
		b->team_min = e->n;
	if (e->n > b->team_max)
		b->team_max = e->n;
	for (i = 0; i < e->n; i++) {
		mem = &e->members[i].pub;
		wait += mem->wait_ns;
		if (mem->work_ns != MODEL_UNKNOWN && mem->work_ns > work)
			work = mem->work_ns;
		err = add_member(r, e, &e->members[i], i == e->n - 1);
		if (err)
			return err;
	}
	b->max_work_ns += work;
	model_stat_add(&b->barrier, ep->barrier_ns);
	if (e->n > 1)
		b->margin_ns += e->arrive_max - e->members[e->n - 2].pub.arrive_ns;
	return add_phase(r, e, ep, wait);
}

static void count_state(struct model *m, struct proc *p, struct row *r, const struct episode *e)
{
	bool sums = !e->nested;

	switch (e->state) {
	case MODEL_COMPLETE:
		p->pub.episodes += sums;
		m->totals.episodes += sums;
		break;
	case MODEL_INCOMPLETE:
		r->pub.incomplete++;
		p->pub.incomplete += sums;
		m->totals.incomplete += sums;
		break;
	case MODEL_AMBIGUOUS:
		r->pub.ambiguous++;
		p->pub.ambiguous += sums;
		m->totals.ambiguous += sums;
		break;
	}
}

static int count_crossings(struct row *r, const struct episode *e)
{
	struct model_barrier_thread *bt;
	uint32_t i;
	int err;

	r->pub.crossings += e->n;
	for (i = 0; i < e->n; i++) {
		err = barrier_thread(r, e->members[i].thread, &bt);
		if (err)
			return err;
		bt->crossings++;
		if (e->members[i].thread->pub.proc != e->proc)
			r->pub.shared = true;
	}
	if (r->pub.object != e->object->addr) {
		r->pub.object = e->object->addr;
		r->pub.objects = 2;
	}
	return 0;
}

/*
 * The clocks of the ideal program (model.md, T_ideal): each runs through its thread's intervals outside
 * barriers; a meeting sets all its members' to the latest of them, at no cost.
 */
static void join_clocks(struct episode *e, uint32_t row)
{
	/* The release of an incomplete episode is not known, unless what is missing had arrived before. */
	bool sure = e->state == MODEL_COMPLETE || !(e->why & ~(MODEL_WHY_BEFORE | MODEL_WHY_SWAP));
	bool released = e->depart_min != MODEL_UNKNOWN;
	struct thread *t;
	uint64_t latest = 0;
	uint32_t i;

	for (i = 0; i < e->n; i++) {
		t = e->members[i].thread;
		t->ideal += e->members[i].outside_ns;
		t->outside_joined += e->members[i].outside_ns;
		if (t->ideal > latest)
			latest = t->ideal;
	}
	if (!released)
		return;
	for (i = 0; i < e->n; i++) {
		t = e->members[i].thread;
		t->ideal = latest;
		/* One that was decided late does not go back in time. */
		if (t->pub.release_ns != MODEL_UNKNOWN && t->pub.release_ns > e->arrive_max)
			continue;
		t->pub.release_ns = e->arrive_max;
		t->pub.barrier = row;
		t->release_sure = sure;
	}
}

/*
 * Threads get their small numbers when they are first shown, those of one meeting in the order in which they were
 * made: what programs mostly call thread 0 is then thread 0.
 */
static void number_members(struct model *m, const struct episode *e)
{
	const struct proc *home = proc_at(m, e->proc);

	if (home->next_ordinal == home->pub.nthreads_crossed && !e->object->shared)
		return;
	for (;;) {
		struct thread *first = NULL;
		uint32_t i;

		for (i = 0; i < e->n; i++) {
			struct thread *t = e->members[i].thread;

			if (t->pub.ordinal != MODEL_NONE)
				continue;
			if (!first || t->pub.start_ns < first->pub.start_ns ||
			    (t->pub.start_ns == first->pub.start_ns && t->pub.tid < first->pub.tid))
				first = t;
		}
		if (!first)
			return;
		first->pub.ordinal = proc_at(m, first->pub.proc)->next_ordinal++;
	}
}

static int hand_out(struct model *m, const struct episode *e, struct model_episode *ep)
{
	uint32_t i;
	int err = model_grow((void **)&m->out, &m->cap_out, e->n, sizeof(*m->out));

	if (err)
		return err;
	for (i = 0; i < e->n; i++)
		m->out[i] = e->members[i].pub;
	ep->members = m->out;
	m->ops.episode(m->ops.ctx, m, ep);
	return 0;
}

int episode_emit(struct model *m, struct episode *e)
{
	struct proc *p = proc_at(m, e->proc);
	struct model_episode ep = { 0 };
	struct row *r;
	uint32_t row;
	int err;

	err = episode_sort(m, e);
	if (!err)
		err = barrier_row(m, e, &row);
	if (err)
		return err;
	r = row_at(m, row);
	fill_members(e);
	number_members(m, e);
	ep.proc = e->proc;
	ep.barrier = row;
	ep.object = e->object->addr;
	ep.seq = r->pub.episodes + r->pub.incomplete + r->pub.ambiguous;
	ep.number = MODEL_UNKNOWN;
	if (!e->nested && e->depart_min != MODEL_UNKNOWN)
		ep.number = p->next_number++;
	ep.release_ns = e->arrive_max;
	ep.barrier_ns = e->arrive_max - e->arrive_min;
	ep.count = e->count;
	ep.n = e->n;
	ep.state = e->state;
	ep.why = e->why;
	ep.nested = e->nested;
	fill_phase(e, &ep);
	err = count_crossings(r, e);
	if (!err && e->state == MODEL_COMPLETE)
		err = add_complete(r, e, &ep);
	if (err)
		return err;
	count_state(m, p, r, e);
	if (!e->nested)
		join_clocks(e, row);
	return m->ops.episode ? hand_out(m, e, &ep) : 0;
}
