// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "recording/time_window.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"

/* At most this many earlier threads that had the same tid are examined. */
#define NAMESAKES 64

/* A thread that got a number in the first pass. */
struct numbered {
	uint64_t start_ns;
	uint32_t tgid, number;
	uint32_t before; /* index + 1 of the previous entry with the same tid; 0: none */
};

struct time_window {
	uint64_t from_ns, to_ns;
	struct model *whole; /* model of the whole run, for the first pass */
	struct numbered *numbered;
	uint32_t n, cap;
	struct hash last; /* (inc, tid) -> index + 1 of the last entry */
	/* (tgid, inc) -> how many thread numbers of the process were given out in the first pass */
	struct hash shown;
	struct hash cut; /* (inc, tid) -> arrival at an episode that began before the window */
	/*
	 * (inc, tid) -> number of the thread's last crossing before the window << 1; bit 0 is set
	 * if the next crossing is the first inside
	 */
	struct hash left_out;
};

static uint64_t key_of(uint32_t inc, uint32_t id)
{
	return (uint64_t)inc << 32 | id;
}

struct time_window *time_window_new(uint64_t from_ns, uint64_t to_ns)
{
	struct time_window *w = calloc(1, sizeof(*w));

	if (w)
		*w = (struct time_window){ .from_ns = from_ns, .to_ns = to_ns };
	return w;
}

void time_window_free(struct time_window *w)
{
	if (!w)
		return;
	model_free(w->whole);
	free(w->numbered);
	hash_free(&w->last);
	hash_free(&w->shown);
	hash_free(&w->cut);
	hash_free(&w->left_out);
	free(w);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static int note(struct time_window *w, const struct model_thread *t, const struct model_proc *p,
		uint32_t number)
{
	uint64_t before = 0;

	if (grow(w->numbered, w->cap, w->n + 1))
		return -ENOMEM;
	hash_get(&w->last, key_of(p->inc, t->tid), &before);
	w->numbered[w->n++] = (struct numbered){
		.start_ns = t->start_ns,
		.tgid = p->tgid,
		.number = number,
		.before = (uint32_t)before,
	};
	if (hash_put(&w->last, key_of(p->inc, t->tid), w->n))
		return -ENOMEM;
	return hash_put(&w->shown, key_of(p->inc, p->tgid), (uint64_t)number + 1);
}

/*
 * Note the number of a thread of the whole run. If memory runs out, the window gives the thread a
 * number that no other thread has.
 */
static uint32_t learn_number(void *ctx, const struct model *model, uint32_t thread, uint32_t next)
{
	const struct model_thread *t = model_thread(model, thread);

	note(ctx, t, model_proc(model, t->proc), next);
	return next;
}

uint32_t time_window_number(void *ctx, const struct model *model, uint32_t thread, uint32_t next)
{
	const struct time_window *w = ctx;
	const struct model_thread *t = model_thread(model, thread);
	const struct model_proc *p = model_proc(model, t->proc);
	const struct numbered *found = NULL;
	uint64_t at = 0, shown = 0;
	uint32_t i;

	/* If several threads had this tid, take the last thread that began before this one. */
	hash_get(&w->last, key_of(p->inc, t->tid), &at);
	for (i = 0; at && i < NAMESAKES; i++, at = w->numbered[at - 1].before) {
		if (w->numbered[at - 1].tgid != p->tgid)
			continue;
		found = &w->numbered[at - 1];
		if (found->start_ns <= t->start_ns)
			break;
	}
	if (found)
		return found->number;
	hash_get(&w->shown, key_of(p->inc, p->tgid), &shown);
	return (uint32_t)shown + next;
}

/*
 * Note the members that arrived inside the window at an episode that began before the window. Their
 * crossings are left out, like the other crossings of that episode. Otherwise the model would count
 * them as crossings of the next episode: another member may arrive at the next episode before these
 * threads have departed from this one.
 */
static void learn_cut(void *ctx, const struct model *model, const struct model_episode *e)
{
	struct time_window *w = ctx;
	const struct model_proc *p;

	if (!e->n || e->members[0].arrive_ns >= w->from_ns)
		return;
	array_for_each (m, e->members, e->n) {
		if (m->arrive_ns < w->from_ns)
			continue;
		p = model_proc(model, model_thread(model, m->thread)->proc);
		/* If memory runs out, this crossing counts as inside the window. */
		(void)!hash_put(&w->cut, key_of(p->inc, m->tid), m->arrive_ns);
	}
}

int time_window_learn(struct time_window *w, uint64_t start_ns, const struct model_input *in)
{
	const struct model_ops ops = { .ctx = w, .number = learn_number, .episode = learn_cut };

	if (!w->whole) {
		w->whole = model_new(&ops, start_ns);
		if (!w->whole)
			return -ENOMEM;
	}
	return model_take(w->whole, in);
}

/* --- contents of the window ------------------------------------------------------------------- */

/*
 * Feed the departure of a thread that was waiting when the window began, or was at an episode that
 * is left out. From this departure on, the thread is known to be outside barriers. The first such
 * departure is the thread's first record in the window. A further departure is numbered like any
 * other crossing.
 */
static int come_out(struct time_window *w, struct model *m, const struct model_crossing *x)
{
	uint64_t key = key_of(x->inc, x->tid), before;
	struct model_crossing out = {
		.tgid = x->tgid,
		.inc = x->inc,
		.tid = x->tid,
		.flags = MODEL_CROSSING_RESUMES,
	};

	if (!hash_get(&w->left_out, key, &before) || before & 1 || x->seq <= before >> 1) {
		before = (uint64_t)(x->seq - 1) << 1;
		/*
		 * The thread's next phase begins at this departure, so all of it is inside the
		 * window: leave bit 0 clear.
		 */
		if (hash_put(&w->left_out, key, before))
			return -ENOMEM;
	}
	out.seq = x->seq - (uint32_t)(before >> 1);
	out.begun_ns = out.depart_ns = x->depart_ns < w->to_ns ? x->depart_ns : w->to_ns;
	return model_add_crossing(m, &out);
}

/* Return whether the crossing, or another crossing of its episode, began before the window. */
static bool came_before(const struct time_window *w, const struct model_crossing *x)
{
	uint64_t cut;

	return x->first_ns < w->from_ns ||
	       (hash_get(&w->cut, key_of(x->inc, x->tid), &cut) && cut == x->first_ns);
}

/*
 * Leave out crossings that began before the window, and number the thread's later crossings as if
 * the omitted crossings did not exist. Otherwise the omitted crossings would count as lost. The
 * phase of the first crossing inside began before the window, so its parts are unknown.
 */
static int take_crossing(struct time_window *w, struct model *m,
			 const struct model_crossing *crossing)
{
	uint64_t key = key_of(crossing->inc, crossing->tid), before = 0;
	struct model_crossing x = *crossing;

	if (x.first_ns >= w->to_ns)
		return 0;
	if (came_before(w, &x)) {
		if (x.depart_ns != MODEL_UNKNOWN && x.depart_ns > w->from_ns && x.seq)
			return come_out(w, m, &x);
		return hash_put(&w->left_out, key, (uint64_t)x.seq << 1 | 1);
	}
	hash_get(&w->left_out, key, &before);
	/* This is another thread with the same tid, which counts its crossings from 1. */
	if (before && x.seq <= before >> 1) {
		before = 0;
		if (hash_put(&w->left_out, key, 0))
			return -ENOMEM;
	}
	if (before & 1) {
		x.detail = NULL;
		x.flags &= (uint16_t)~MODEL_CROSSING_ACCOUNTED;
		before &= ~(uint64_t)1;
		if (hash_put(&w->left_out, key, before))
			return -ENOMEM;
	}
	x.seq -= (uint32_t)(before >> 1);
	/* Cut the crossing off at the end of the window. */
	if (x.depart_ns != MODEL_UNKNOWN && x.depart_ns > w->to_ns)
		x.depart_ns = w->to_ns;
	return model_add_crossing(m, &x);
}

/*
 * Handle the start or end of a thread or process after the window. The input is not fed, but the
 * end of a thread may contain the thread's name.
 */
static int take_later(struct model *m, const struct model_input *in)
{
	const char *comm = in->type == MODEL_INPUT_END_THREAD ? in->end_thread.comm : NULL;

	return comm && *comm ? model_name_thread(m, in->tgid, in->inc, in->tid, comm) : 0;
}

int time_window_take(struct time_window *w, struct model *m, const struct model_input *in)
{
	struct model_input cut = *in;

	switch (in->type) {
	case MODEL_INPUT_CROSSING:
		return take_crossing(w, m, in->crossing);
	case MODEL_INPUT_TAIL:
		return 0;
	case MODEL_INPUT_MARK:
		if (in->mark->t_ns < w->from_ns || in->mark->t_ns >= w->to_ns)
			return 0;
		break;
	case MODEL_INPUT_MESSAGE:
		if (in->message->t_ns < w->from_ns || in->message->t_ns >= w->to_ns)
			return 0;
		break;
	case MODEL_INPUT_ACTIVITY:
		/* It is about the whole life of a thread, and not about the window. */
		return 0;
	case MODEL_INPUT_SAMPLE:
		if (in->sample->t_ns < w->from_ns || in->sample->t_ns >= w->to_ns)
			return 0;
		break;
	case MODEL_INPUT_PROCESS:
	case MODEL_INPUT_THREAD:
	case MODEL_INPUT_END_THREAD:
	case MODEL_INPUT_END_PROCESS:
	case MODEL_INPUT_DETACHED:
		if (in->t_ns >= w->to_ns)
			return take_later(m, in);
		break;
	case MODEL_INPUT_DETACHED_PART:
		if (in->t_ns >= w->to_ns)
			return 0;
		break;
	case MODEL_INPUT_JOINED:
		if (in->t_ns > w->to_ns) {
			cut.joined.for_ns = number_less(in->joined.for_ns, in->t_ns - w->to_ns);
			cut.t_ns = w->to_ns;
		}
		break;
	case MODEL_INPUT_PENDING:
		if (in->t_ns >= w->to_ns)
			return 0;
		/* The thread arrived before the window and waited during all of it. */
		if (in->t_ns < w->from_ns)
			cut.t_ns = w->from_ns;
		break;
	case MODEL_INPUT_FINISH:
		if (in->t_ns > w->to_ns)
			cut.t_ns = w->to_ns;
		break;
	default:
		break;
	}
	return model_take(m, &cut);
}
