// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The threads that are missing at a barrier. */
#include "hang/hang_internal.h"

#include "base/array.h"

#include <errno.h>
#include <string.h>

/* Start times have the precision of a clock tick. */
#define START_SLACK_NS 20000000ULL

static bool may_come(const struct hang_barrier *b, const struct hang_thread *t)
{
	uint32_t i;

	if (t->state == HANG_GONE)
		return false;
	if (t->pid == b->pid)
		return true;
	for (i = 0; i < b->npids; i++)
		if (t->pid == b->pids[i])
			return true;
	return false;
}

static const struct hang_member *member_of(const struct hang_barrier *b, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < b->nteam; i++)
		if (b->team[i].tid == tid)
			return &b->team[i];
	return NULL;
}

static bool has_arrived(const struct hang_barrier *b, uint32_t tid)
{
	array_for_each (a, b->arrived, b->narrived)
		if (a->tid == tid)
			return true;
	return false;
}

/* Return whether exactly the threads of the last episode must arrive again. */
static bool team_stays(const struct hang_barrier *b)
{
	if (!b->nteam || (b->count && b->nteam != b->count))
		return false;
	array_for_each (a, b->arrived, b->narrived)
		if (!member_of(b, a->tid))
			return false;
	return true;
}

static void add_candidate(const struct graph *g, const struct hang_barrier *b, struct need *need,
			  uint32_t thread, const struct hang_member *m, enum hang_known why)
{
	const struct hang_thread *t = thread != HANG_NONE ? &g->in->threads[thread] : NULL;
	struct candidate *c = &need->candidates[need->n++];

	*c = (struct candidate){ .thread = thread, .member = m, .why = why };
	c->lost = m && (m->gone || m->left);
	if (t)
		c->lost |= t->state == HANG_GONE || t->left || (b->of_regions && t->idle);
}

static void add_team(const struct graph *g, const struct hang_barrier *b, struct need *need)
{
	array_for_each (m, b->team, b->nteam) {
		if (!has_arrived(b, m->tid))
			add_candidate(g, b, need, m->gone ? HANG_NONE : graph_thread(g, m->tid), m,
				      b->call		 ? HANG_BY_CALL
				      : b->team_declared ? HANG_BY_TEAM
							 : HANG_BY_PAST);
	}
}

/*
 * Return whether the thread is in the function from which the arrived threads called the barrier.
 */
static bool is_within(const struct hang_barrier *b, const struct hang_thread *t)
{
	uint32_t i;

	for (i = 0; b->site.function && i < t->nframes; i++)
		if (t->frames[i].function && !strcmp(t->frames[i].function, b->site.function))
			return true;
	return false;
}

/*
 * Return whether the thread joins a thread that has arrived here, and was never seen at this
 * barrier. Then the thread is not missing.
 */
static bool joins_arrived(const struct graph *g, const struct hang_barrier *b, uint32_t i)
{
	const struct hang_thread *t = &g->in->threads[i];
	uint32_t steps, next = i;

	if (t->on != HANG_ON_JOIN || member_of(b, t->tid) || is_within(b, t))
		return false;
	for (steps = 0; steps <= g->in->nthreads && next != HANG_NONE; steps++) {
		if (g->in->threads[next].on != HANG_ON_JOIN)
			break;
		next = graph_holder(g, next);
		if (next != HANG_NONE && has_arrived(b, g->in->threads[next].tid))
			return true;
	}
	return false;
}

/*
 * Return whether the thread is the one that arrives for its process: the thread that took part in
 * the last episode or, if that thread is unknown, the main thread. Return false if the process has
 * already arrived.
 */
static bool arrives_for_process(const struct graph *g, const struct hang_barrier *b,
				const struct hang_thread *t)
{
	uint32_t i;

	if (!b->of_processes)
		return true;
	for (i = 0; i < b->narrived; i++) {
		uint32_t a = graph_thread(g, b->arrived[i].tid);

		if (a != HANG_NONE && g->in->threads[a].pid == t->pid)
			return false;
	}
	for (i = 0; i < b->nteam; i++)
		if (b->team[i].pid == t->pid)
			return b->team[i].tid == t->tid;
	return t->tid == t->pid;
}

/*
 * Add the threads that may arrive. With @newer, add only threads that started after the last
 * episode: they may replace threads that have ended.
 */
static void add_others(const struct graph *g, const struct hang_barrier *b, struct need *need,
		       bool newer)
{
	const struct hang_thread *t;
	uint32_t i;

	for (i = 0; i < g->in->nthreads; i++) {
		t = &g->in->threads[i];
		if (!may_come(b, t) || has_arrived(b, t->tid) || graph_thread(g, t->tid) != i ||
		    !arrives_for_process(g, b, t))
			continue;
		if (newer && (member_of(b, t->tid) || !t->start_ns ||
			      t->start_ns + START_SLACK_NS < b->team_ns))
			continue;
		add_candidate(g, b, need, i, member_of(b, t->tid),
			      member_of(b, t->tid) ? HANG_BY_PAST : HANG_BY_PROCESS);
		need->candidates[need->n - 1].barred = joins_arrived(g, b, i);
	}
}

bool need_knows_all(const struct graph *g, const struct hang_barrier *b)
{
	return g->in->all && !b->open;
}

static void count_able(struct need *need)
{
	need->able = 0;
	array_for_each (c, need->candidates, need->n)
		need->able += !c->lost && !c->barred;
}

static void need_team(const struct graph *g, const struct hang_barrier *b, struct need *need)
{
	uint32_t lost = 0;

	add_team(g, b, need);
	need->k = need->n;
	need->exact = true;
	array_for_each (c, need->candidates, need->n)
		lost += c->lost;
	/* New threads may replace threads that have ended. */
	if (lost && !b->team_declared) {
		add_others(g, b, need, true);
		need->exact = need->n == need->k;
	}
}

static void need_others(const struct graph *g, const struct hang_barrier *b, struct need *need)
{
	add_others(g, b, need, false);
	need->k = b->count ? b->count - b->narrived : 1;
	if (!b->count || !need_knows_all(g, b))
		return;
	/* Exactly as many threads are left as the barrier needs, so all of them are missing. */
	if (need->n == need->k) {
		array_for_each (c, need->candidates, need->n)
			if (c->why == HANG_BY_PROCESS)
				c->why = HANG_BY_COUNT;
	}
	count_able(need);
	need->exact = need->able == need->k && need->n == need->k;
}

static const char *call_of(const struct graph *g, const struct hang_barrier *b, uint32_t arrived)
{
	uint32_t i = graph_thread(g, b->arrived[arrived].tid);

	return i != HANG_NONE ? g->in->threads[i].call : NULL;
}

/*
 * Find two ranks in different operations of a communicator. All ranks must call the same operation.
 * Otherwise no rank leaves: a rank leaves an operation that acts as a barrier only after all ranks
 * have called it. .odd is in the operation that fewer ranks called.
 */
static void find_odd(const struct graph *g, const struct hang_barrier *b, struct need *need)
{
	const char *first = b->narrived ? call_of(g, b, 0) : NULL, *call;
	uint32_t i, same = 0, others = 0, other = HANG_NONE;

	need->odd = need->even = HANG_NONE;
	if (!b->of_processes || !first)
		return;
	for (i = 0; i < b->narrived; i++) {
		call = call_of(g, b, i);
		if (!call)
			return;
		same += !strcmp(call, first);
		if (!strcmp(call, first))
			continue;
		others++;
		other = other == HANG_NONE ? i : other;
	}
	if (!others)
		return;
	need->odd = same < others ? 0 : other;
	need->even = same < others ? other : 0;
}

int need_find(struct graph *g, uint32_t barrier)
{
	const struct hang_barrier *b = &g->in->barriers[barrier];
	struct need *need = &g->needs[barrier];

	need->candidates = arena_alloc(g->arena, ((size_t)b->nteam + g->in->nthreads + 1) *
							 sizeof(*need->candidates));
	if (!need->candidates)
		return -ENOMEM;
	find_odd(g, b, need);
	if (need->odd != HANG_NONE) {
		need_team(g, b, need);
	} else if (b->count && b->narrived >= b->count) {
		need->unclear = true;
		need->fills = true;
	} else if (team_stays(b)) {
		need_team(g, b, need);
	} else {
		need_others(g, b, need);
	}
	count_able(need);
	return 0;
}

uint32_t need_outsiders(const struct graph *g, uint32_t barrier)
{
	const struct hang_barrier *b = &g->in->barriers[barrier];
	const struct need *need = &g->needs[barrier];
	const struct hang_thread *t;
	uint32_t i, c, n = 0;

	for (i = 0; i < g->in->nthreads; i++) {
		t = &g->in->threads[i];
		if (!g->can[i] || !may_come(b, t) || has_arrived(b, t->tid) ||
		    !arrives_for_process(g, b, t) || joins_arrived(g, b, i))
			continue;
		for (c = 0; c < need->n && need->candidates[c].thread != i; c++)
			;
		n += c == need->n;
	}
	return n;
}

bool need_thread_may_come(const struct graph *g, const struct hang_barrier *b)
{
	uint32_t i;

	for (i = 0; i < g->in->nthreads; i++)
		if (g->can[i] && !g->in->threads[i].left && may_come(b, &g->in->threads[i]))
			return true;
	return false;
}
