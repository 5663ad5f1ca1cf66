// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The graph of waiting threads: the threads that can continue, and cycles of threads that cannot.
 */
#include "hang/hang_internal.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

/*
 * A thread that was on a CPU for more than this share of the time between the two looks is busy,
 * whatever it waits for.
 */
#define BUSY_SHARE 0.1

uint32_t graph_thread(const struct graph *g, uint32_t tid)
{
	uint64_t i;

	return tid && hash_get(&g->by_tid, tid, &i) ? (uint32_t)i : HANG_NONE;
}

bool thread_waits_for_holder(const struct hang_thread *t)
{
	/* MPI libraries spin, so the thread need not be blocked. */
	if (t->on == HANG_ON_MESSAGE)
		return t->holder && t->state != HANG_GONE;
	return t->state == HANG_BLOCKED && t->holder &&
	       (t->on == HANG_ON_MUTEX || t->on == HANG_ON_RWLOCK || t->on == HANG_ON_JOIN);
}

uint32_t graph_holder(const struct graph *g, uint32_t i)
{
	const struct hang_thread *t = &g->in->threads[i];

	return thread_waits_for_holder(t) ? graph_thread(g, t->holder) : HANG_NONE;
}

uint32_t graph_chain_end(const struct graph *g, uint32_t i)
{
	uint32_t steps, next;

	for (steps = 0; steps < g->in->nthreads; steps++) {
		next = graph_holder(g, i);
		if (next == HANG_NONE)
			break;
		i = next;
	}
	return i;
}

bool thread_is_busy(const struct hang_thread *t)
{
	if (t->call)
		return false;
	if (t->state == HANG_RUNNING || t->state == HANG_RUNNABLE)
		return true;
	return t->state == HANG_BLOCKED && t->interval_ns && t->cpu_ns != MODEL_UNKNOWN &&
	       (double)t->cpu_ns > BUSY_SHARE * (double)t->interval_ns;
}

bool thread_is_outside(const struct hang_thread *t)
{
	if (t->state == HANG_STOPPED)
		return true;
	return !t->call && t->state == HANG_BLOCKED &&
	       (t->on == HANG_ON_IO || t->on == HANG_ON_SLEEP || t->on == HANG_ON_CHILD ||
		t->on == HANG_ON_DISK);
}

/* --- threads that can go on ------------------------------------------------------------------- */

static bool can_fill(const struct graph *g, uint32_t barrier)
{
	const struct need *need = &g->needs[barrier];
	bool replaceable = g->strict && !g->in->barriers[barrier].team_declared;
	uint32_t n = 0;

	if (need->odd != HANG_NONE)
		return false;
	if (need->unclear)
		return true;
	array_for_each (c, need->candidates, need->n) {
		/* Nothing is proven about a thread that was not examined: it may arrive. */
		bool can = !c->lost && !c->barred && (c->thread == HANG_NONE || g->can[c->thread]);

		if (need->exact && !can && !replaceable)
			return false;
		n += can;
	}
	if (need->exact && replaceable)
		return n == need->n || n + need_outsiders(g, barrier) >= need->n;
	return need->exact || n >= need->k || !need_knows_all(g, &g->in->barriers[barrier]);
}

/*
 * If two examinations found thread @i in an MPI_COMM_WORLD collective other than a barrier, return
 * the barrier of that communicator at which threads have arrived. Otherwise return HANG_NONE.
 */
static uint32_t crossed_barrier(const struct graph *g, uint32_t i)
{
	const struct hang_thread *t = &g->in->threads[i];
	uint32_t b;

	if (t->on != HANG_ON_COLLECTIVE || !t->world || !t->still)
		return HANG_NONE;
	for (b = 0; b < g->in->nbarriers; b++)
		if (g->in->barriers[b].of_processes && g->in->barriers[b].world &&
		    g->in->barriers[b].narrived)
			return b;
	return HANG_NONE;
}

/*
 * Thread @i is in a different collective than the threads at @barrier. Return whether it may leave
 * its collective. The threads at @barrier cannot release it: each of them either has not called
 * that collective, or has left it early and has done its part in it. Only ranks that are in neither
 * collective yet can release thread @i.
 */
static bool others_may_help(const struct graph *g, uint32_t i, uint32_t barrier)
{
	const struct need *need = &g->needs[barrier];
	uint32_t at;

	if (!need->exact)
		return true;
	array_for_each (candidate, need->candidates, need->n) {
		at = candidate->thread;
		if (at == HANG_NONE ? !candidate->lost : at != i && g->can[at])
			return true;
	}
	return false;
}

static bool can_go_on(const struct graph *g, uint32_t i)
{
	const struct hang_thread *t = &g->in->threads[i];
	uint32_t holder;

	if (t->state == HANG_GONE)
		return false;
	if (g->at[i] != HANG_NONE)
		return g->needs[g->at[i]].fills;
	if (crossed_barrier(g, i) != HANG_NONE)
		return others_may_help(g, i, crossed_barrier(g, i));
	if (!t->still || !thread_waits_for_holder(t))
		return true;
	holder = graph_thread(g, t->holder);
	if (holder == HANG_NONE)
		return t->on == HANG_ON_JOIN || !g->in->all;
	if (g->in->threads[holder].state == HANG_GONE)
		return t->on == HANG_ON_JOIN;
	return g->can[holder];
}

void graph_find_able(struct graph *g)
{
	bool more = true;
	uint32_t i;

	while (more) {
		more = false;
		for (i = 0; i < g->in->nthreads; i++) {
			if (g->can[i] || !can_go_on(g, i))
				continue;
			g->can[i] = more = true;
		}
		for (i = 0; i < g->in->nbarriers; i++) {
			struct need *need = &g->needs[i];

			if (need->fills || !can_fill(g, i))
				continue;
			need->fills = more = true;
		}
	}
}

/* --- cycles ----------------------------------------------------------------------------------- */

struct search {
	/* by thread: the thread from which the search reached it; HANG_NONE: not reached yet */
	uint32_t *from;
	uint32_t *queue;
	uint32_t n;
};

static void reach(const struct graph *g, struct search *s, uint32_t from, uint32_t to)
{
	/* A thread that can continue is in no permanent cycle. */
	if (to == HANG_NONE || g->can[to] || s->from[to] != HANG_NONE)
		return;
	s->from[to] = from;
	s->queue[s->n++] = to;
}

static void reach_next(const struct graph *g, struct search *s, uint32_t i)
{
	const struct need *need;

	if (g->at[i] == HANG_NONE) {
		uint32_t crossed = crossed_barrier(g, i);

		reach(g, s, i,
		      crossed != HANG_NONE
			      ? graph_thread(g, g->in->barriers[crossed].arrived[0].tid)
			      : graph_holder(g, i));
		return;
	}
	need = &g->needs[g->at[i]];
	array_for_each (candidate, need->candidates, need->n)
		if (!candidate->barred && !candidate->lost)
			reach(g, s, i, candidate->thread);
}

/* Find the shortest path from @start back to @start, and keep it if it is the shortest so far. */
static void search_from(struct graph *g, struct search *s, uint32_t start)
{
	uint32_t i, at, len, done = 0;
	bool locked = false;

	for (i = 0; i < g->in->nthreads; i++)
		s->from[i] = HANG_NONE;
	s->n = 0;
	reach_next(g, s, start);
	while (done < s->n && s->from[start] == HANG_NONE)
		reach_next(g, s, s->queue[done++]);
	if (s->from[start] == HANG_NONE)
		return;
	for (at = start, len = 0; !len || at != start; at = s->from[at], len++)
		locked |= g->at[at] == HANG_NONE;
	/* Of two equally long cycles, prefer one with a lock or a join. */
	if (g->nsteps && (g->nsteps < len || (g->nsteps == len && g->locked >= locked)))
		return;
	g->nsteps = len;
	g->locked = locked;
	for (at = start, i = len; i; i--) {
		at = s->from[at];
		g->steps[i - 1] = (struct step){ at, g->at[at] };
	}
}

int graph_find_cycle(struct graph *g, uint32_t barrier)
{
	const struct need *need = &g->needs[barrier];
	size_t n = (size_t)g->in->nthreads + 1;
	struct search s = { 0 };
	uint32_t end, steps;
	int err = -ENOMEM;

	s.from = calloc(n, sizeof(*s.from));
	s.queue = calloc(n, sizeof(*s.queue));
	g->steps = arena_alloc(g->arena, n * sizeof(*g->steps));
	if (!s.from || !s.queue || !g->steps)
		goto out;
	array_for_each (c, need->candidates, need->n) {
		end = c->thread;
		/* The candidate may wait for a cycle that it is not part of. */
		for (steps = 0; steps <= g->in->nthreads && end != HANG_NONE && !g->can[end];
		     steps++) {
			search_from(g, &s, end);
			if (s.from[end] != HANG_NONE)
				break;
			end = graph_holder(g, end);
		}
	}
	err = 0;
out:
	free(s.from);
	free(s.queue);
	return err;
}

void graph_cross_ranks(struct graph *g, uint32_t barrier)
{
	const struct hang_barrier *b = &g->in->barriers[barrier];
	const struct need *need = &g->needs[barrier];

	/* .steps has room for all threads. */
	g->steps[0] = (struct step){ graph_thread(g, b->arrived[need->odd].tid), barrier };
	g->steps[1] = (struct step){ graph_thread(g, b->arrived[need->even].tid), barrier };
	g->nsteps = 2;
	g->locked = true;
}
