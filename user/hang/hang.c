// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Derive the verdict about a barrier from the graph of waiting threads. */
#include "hang/hang_internal.h"

#include "base/array.h"

#include <errno.h>
#include <string.h>

static uint32_t ranked_n(const struct need *need, uint32_t rank)
{
	uint32_t n = 0;

	array_for_each (c, need->candidates, need->n)
		n += c->rank == rank;
	return n;
}

static enum hang_verdict verdict_of(struct graph *g, uint32_t barrier)
{
	const struct need *need = &g->needs[barrier];

	if (need->odd != HANG_NONE)
		return HANG_DEADLOCK;
	if (need->unclear)
		return HANG_UNKNOWN;
	if (!need->fills) {
		if (need->exact && ranked_n(need, RANK_LOST))
			return HANG_NEVER_FILLS;
		if (!need->exact && need->able < need->k)
			return HANG_NEVER_FILLS;
		return g->nsteps && g->locked ? HANG_DEADLOCK : HANG_NEVER_FILLS;
	}
	/*
	 * Some candidates are deadlocked. Other threads could arrive instead, so the verdict may
	 * not be proven.
	 */
	if (g->nsteps && g->locked)
		return HANG_DEADLOCK;
	if (!need->exact) {
		if (ranked_n(need, RANK_BUSY))
			return HANG_LONG_PHASE;
		return ranked_n(need, RANK_OUTSIDE) ? HANG_OUTSIDE : HANG_UNKNOWN;
	}
	if (ranked_n(need, RANK_OUTSIDE))
		return HANG_OUTSIDE;
	if (ranked_n(need, RANK_REST))
		return HANG_UNKNOWN;
	return need->n ? HANG_LONG_PHASE : HANG_UNKNOWN;
}

/* Return whether the runtime decides which threads must arrive, so that no other thread can. */
static bool is_set_by_runtime(const struct hang_barrier *b)
{
	return b->team_declared || b->of_regions || b->of_processes;
}

/*
 * Find whether the verdict would also hold if the next episode had other threads than the last
 * episode. Only the threads of the last episode are known, unless the runtime declares the team.
 */
static int prove(const struct graph *g, uint32_t barrier, enum hang_verdict verdict, bool *proven)
{
	const struct hang_barrier *b = &g->in->barriers[barrier];
	struct graph strict = *g;
	uint32_t i;

	strict.strict = true;
	*proven = true;
	if (g->needs[barrier].odd != HANG_NONE)
		return 0;
	if (verdict != HANG_DEADLOCK && (verdict != HANG_NEVER_FILLS || is_set_by_runtime(b)))
		return 0;
	strict.can = arena_alloc(g->arena, (g->in->nthreads + 1) * sizeof(*strict.can));
	strict.needs = arena_alloc(g->arena, (g->in->nbarriers + 1) * sizeof(*strict.needs));
	if (!strict.can || !strict.needs)
		return -ENOMEM;
	for (i = 0; i < g->in->nbarriers; i++) {
		strict.needs[i] = g->needs[i];
		strict.needs[i].fills = strict.needs[i].unclear;
	}
	graph_find_able(&strict);
	if (verdict == HANG_NEVER_FILLS)
		*proven = !need_thread_may_come(&strict, b);
	for (i = 0; verdict == HANG_DEADLOCK && i < g->nsteps; i++)
		*proven &= !strict.can[g->steps[i].thread];
	return 0;
}

static int graph_build(struct graph *g)
{
	const struct hang_input *in = g->in;
	uint32_t i, k, thread;
	int err = 0;

	g->needs = arena_alloc(g->arena, (in->nbarriers + 1) * sizeof(*g->needs));
	g->can = arena_alloc(g->arena, (in->nthreads + 1) * sizeof(*g->can));
	g->at = arena_alloc(g->arena, (in->nthreads + 1) * sizeof(*g->at));
	if (!g->needs || !g->can || !g->at)
		return -ENOMEM;
	for (i = 0; i < in->nthreads && !err; i++) {
		g->at[i] = HANG_NONE;
		g->several |= in->threads[i].pid != in->threads[0].pid;
		if (in->threads[i].tid && graph_thread(g, in->threads[i].tid) == HANG_NONE)
			err = hash_put(&g->by_tid, in->threads[i].tid, i);
	}
	for (i = 0; i < in->nbarriers && !err; i++) {
		for (k = 0; k < in->barriers[i].narrived; k++) {
			thread = graph_thread(g, in->barriers[i].arrived[k].tid);
			if (thread != HANG_NONE)
				g->at[thread] = i;
		}
	}
	for (i = 0; i < in->nthreads && !err; i++)
		if (in->threads[i].on == HANG_ON_BARRIER && g->at[i] == HANG_NONE &&
		    in->threads[i].barrier < in->nbarriers)
			g->at[i] = in->threads[i].barrier;
	for (i = 0; i < in->nbarriers && !err; i++)
		err = need_find(g, i);
	return err;
}

int hang_classify(const struct hang_input *in, uint32_t barrier, struct report_hang *out)
{
	struct graph g = { .in = in, .arena = arena_new() };
	enum hang_verdict likely;
	bool proven;
	int err = -ENOMEM;

	memset(out, 0, sizeof(*out));
	out->arena = g.arena;
	if (g.arena)
		err = graph_build(&g);
	if (err)
		goto out;
	graph_find_able(&g);
	err = graph_find_cycle(&g, barrier);
	if (!err && g.needs[barrier].odd != HANG_NONE)
		graph_cross_ranks(&g, barrier);
	if (!err)
		err = hang_fill_barrier(&g, &in->barriers[barrier], out);
	if (!err)
		err = hang_fill_arrived(&g, &in->barriers[barrier], out);
	if (!err)
		err = hang_fill_missing(&g, barrier, out);
	if (err)
		goto out;
	out->verdict = verdict_of(&g, barrier);
	if (out->verdict == HANG_DEADLOCK)
		err = hang_fill_cycle(&g, out);
	if (!err)
		err = prove(&g, barrier, out->verdict, &proven);
	if (err)
		goto out;
	likely = out->verdict;
	if (!proven) {
		out->verdict = HANG_UNKNOWN;
		out->guess = true;
	}
	text_fill(&g, barrier, likely, out);
out:
	hash_free(&g.by_tid);
	if (err)
		report_hang_free(out);
	return err;
}

void report_hang_free(struct report_hang *hang)
{
	arena_free(hang->arena);
	memset(hang, 0, sizeof(*hang));
}
