// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Fill the report of a hang with copies, in the report's own memory. */
#include "hang/hang_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"

static const char *keep(struct arena *a, const char *s, bool *failed)
{
	char *copy = s ? arena_string(a, s) : NULL;

	if (s && !copy)
		*failed = true;
	return copy;
}

static struct hang_frame keep_frame(struct arena *a, const struct hang_frame *f, bool *failed)
{
	struct hang_frame out = *f;

	out.function = keep(a, f->function, failed);
	out.file = keep(a, f->file, failed);
	out.module = keep(a, f->module, failed);
	out.inlined = keep(a, f->inlined, failed);
	return out;
}

static uint32_t rank_of(const struct graph *g, const struct candidate *c)
{
	const struct hang_thread *end;

	if (c->lost)
		return RANK_LOST;
	if (c->barred)
		return RANK_BARRED;
	if (c->thread == HANG_NONE)
		return RANK_REST;
	if (!g->can[c->thread])
		return RANK_STUCK;
	end = &g->in->threads[graph_chain_end(g, c->thread)];
	if (thread_is_busy(end))
		return RANK_BUSY;
	return thread_is_outside(end) ? RANK_OUTSIDE : RANK_REST;
}

static int candidate_cmp(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->rank != y->rank)
		return NUMBER_COMPARE(x->rank, y->rank);
	return NUMBER_COMPARE(x->thread, y->thread);
}

static int arrived_cmp(const void *a, const void *b)
{
	const struct report_hang_arrived *x = a, *y = b;

	if (x->arrive_ns != y->arrive_ns)
		return NUMBER_COMPARE(x->arrive_ns, y->arrive_ns);
	return NUMBER_COMPARE(x->tid, y->tid);
}

int hang_fill_arrived(const struct graph *g, const struct hang_barrier *b, struct report_hang *out)
{
	bool failed = false;

	out->arrived = arena_alloc(g->arena, (b->narrived + 1) * sizeof(*out->arrived));
	if (!out->arrived)
		return -ENOMEM;
	array_for_each (from, b->arrived, b->narrived) {
		uint32_t thread = graph_thread(g, from->tid);
		const struct hang_thread *t = thread != HANG_NONE ? &g->in->threads[thread] : NULL;
		struct hang_frame site = keep_frame(g->arena, &from->site, &failed);
		bool known = from->since_ns != MODEL_UNKNOWN;

		out->arrived[out->narrived++] = (struct report_hang_arrived){
			.pid = t ? t->pid : b->pid,
			.tid = from->tid,
			.index = t ? t->index : HANG_NONE,
			.comm = t ? keep(g->arena, t->comm, &failed) : NULL,
			.arrive_ns = from->since_ns,
			.waited_ns =
				known ? number_less(g->in->now_ns, from->since_ns) : MODEL_UNKNOWN,
			.function = site.function,
			.file = site.file,
			.module = site.module,
			.line = site.line,
		};
	}
	qsort(out->arrived, out->narrived, sizeof(*out->arrived), arrived_cmp);
	return failed ? -ENOMEM : 0;
}

static int fill_frames(const struct graph *g, const struct hang_thread *t,
		       struct report_hang_missing *to)
{
	struct hang_frame *frames = arena_alloc(g->arena, (t->nframes + 1) * sizeof(*frames));
	bool failed = !frames;
	uint32_t i;

	for (i = 0; i < t->nframes && !failed; i++)
		frames[i] = keep_frame(g->arena, &t->frames[i], &failed);
	to->frames = frames;
	to->nframes = failed ? 0 : t->nframes;
	return failed ? -ENOMEM : 0;
}

static int fill_missing_one(const struct graph *g, const struct candidate *c,
			    struct report_hang_missing *to)
{
	const struct hang_member *m = c->member;
	const struct hang_thread *t = c->thread != HANG_NONE ? &g->in->threads[c->thread] : NULL;
	bool failed = false;

	*to = (struct report_hang_missing){
		.pid = t   ? t->pid
		       : m ? m->pid
			   : 0,
		.tid = t   ? t->tid
		       : m ? m->tid
			   : 0,
		.index = t && t->index != HANG_NONE ? t->index
			 : m			    ? m->index
						    : HANG_NONE,
		.comm = keep(g->arena,
			     t && t->comm ? t->comm
			     : m	  ? m->comm
					  : NULL,
			     &failed),
		.why = c->why,
		.state = t		? t->state
			 : m && m->gone ? HANG_GONE
					: HANG_STATE_UNKNOWN,
	};
	if (!t)
		return failed ? -ENOMEM : 0;
	to->syscall = keep(g->arena, t->syscall, &failed);
	to->wchan = keep(g->arena, t->wchan, &failed);
	to->sampled = t->sampled;
	to->holder = thread_waits_for_holder(t) ? t->holder : 0;
	to->blocked_on = text_blocked_on(g, c->thread);
	return failed ? -ENOMEM : fill_frames(g, t, to);
}

int hang_fill_missing(const struct graph *g, uint32_t barrier, struct report_hang *out)
{
	struct need *need = &g->needs[barrier];
	uint32_t i;
	int err = 0;

	array_for_each (c, need->candidates, need->n)
		c->rank = rank_of(g, c);
	qsort(need->candidates, need->n, sizeof(*need->candidates), candidate_cmp);
	out->missing = arena_alloc(g->arena, (need->n + 1) * sizeof(*out->missing));
	if (!out->missing)
		return -ENOMEM;
	/* Threads that only join arrived threads are not missing. */
	for (i = 0; i < need->n && !err; i++)
		if (!need->candidates[i].barred)
			err = fill_missing_one(g, &need->candidates[i],
					       &out->missing[out->nmissing++]);
	out->guess = !need->exact;
	return err;
}

int hang_fill_cycle(const struct graph *g, struct report_hang *out)
{
	bool failed = false;
	uint32_t i;

	out->cycle = arena_alloc(g->arena, (g->nsteps + 1) * sizeof(*out->cycle));
	if (!out->cycle)
		return -ENOMEM;
	for (i = 0; i < g->nsteps; i++) {
		const struct step *next = &g->steps[(i + 1) % g->nsteps];
		const struct hang_thread *t = &g->in->threads[g->steps[i].thread];

		out->cycle[out->ncycle++] = (struct report_hang_link){
			.pid = t->pid,
			.tid = t->tid,
			.index = t->index,
			.comm = keep(g->arena, t->comm, &failed),
			.waits_for = text_step(g, &g->steps[i], next),
			.next = g->in->threads[next->thread].tid,
		};
	}
	return failed ? -ENOMEM : 0;
}

int hang_fill_barrier(const struct graph *g, const struct hang_barrier *b, struct report_hang *out)
{
	bool failed = false;

	*out = (struct report_hang){
		.name = keep(g->arena, b->name, &failed),
		.comm = keep(g->arena, b->comm, &failed),
		.family = keep(g->arena, b->family, &failed),
		.pid = b->pid,
		.function = keep(g->arena, b->site.function, &failed),
		.file = keep(g->arena, b->site.file, &failed),
		.module = keep(g->arena, b->site.module, &failed),
		.line = b->site.line,
		.count = b->count,
		.t_ns = g->in->now_ns,
		.since_ns = MODEL_UNKNOWN,
		.waited_ns = MODEL_UNKNOWN,
		.arena = g->arena,
	};
	memcpy(out->id, b->id, sizeof(out->id));
	memcpy(out->label, b->label, sizeof(out->label));
	out->id[sizeof(out->id) - 1] = out->label[sizeof(out->label) - 1] = '\0';
	array_for_each (a, b->arrived, b->narrived)
		if (a->since_ns < out->since_ns)
			out->since_ns = a->since_ns;
	if (out->since_ns != MODEL_UNKNOWN)
		out->waited_ns = number_less(g->in->now_ns, out->since_ns);
	return failed ? -ENOMEM : 0;
}
