// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "model/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

/*
 * Maximum number of remembered objects. If there are more, all are forgotten. A late thread at a
 * forgotten object does not join the episode of the other threads.
 */
#define WAITS_MAX  4096
/*
 * A latch stays open, so any number of threads may pass it later. A thread that begins its wait
 * this long (ns) after the first departure, or later, is not a member of the episode.
 */
#define LATE_NS	   20000000ULL
/*
 * A thread that begins its wait this long (ns) after the first departure, or later, did other work
 * between arrive() and wait().
 */
#define ELSE_NS	   20000ULL
/* Phases are numbered 0, 2, ... 254, 0. */
#define PHASE_STEP 2u
#define PHASE_MASK 255u

struct episode {
	uint64_t first_depart_ns; /* MODEL_UNKNOWN if no thread has left */
	uint32_t count; /* number of participants; 0: not known */
	uint32_t value;
	/*
	 * latch: number of arrivals that were missing when the last wait before the release began;
	 * MODEL_NONE if no wait began before the release
	 */
	uint32_t rest;
	uint32_t late; /* number of members that began their wait after the release */
	uint32_t n, cap; /* n is 0 if there is no episode */
	uint32_t *tids;
};

struct waited {
	uint64_t key;
	struct waited *next; /* next object with the same hash */
	uint64_t address;
	uint32_t inc;
	bool latch;
	struct episode now, before;
};

struct waits {
	struct hash objects;
	uint32_t n;
};

struct waits *waits_new(void)
{
	return calloc(1, sizeof(struct waits));
}

static void forget_all(struct waits *p)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	while ((e = hash_next(&p->objects, &pos, &zero))) {
		struct waited *o = (void *)(uintptr_t)e->value, *next;

		for (; o; o = next) {
			next = o->next;
			free(o->now.tids);
			free(o->before.tids);
			free(o);
		}
	}
	hash_free(&p->objects);
	hash_init(&p->objects);
	p->n = 0;
}

void waits_free(struct waits *p)
{
	if (p)
		forget_all(p);
	free(p);
}

static struct waited *object_of(struct waits *p, const struct waits_seen *w,
				const struct model_crossing *c)
{
	uint64_t key = hash_mix(c->object ^ hash_mix(c->inc)) ^ w->latch;
	struct waited *head = hash_get_ptr(&p->objects, key), *o;

	for (o = head; o; o = o->next)
		if (o->address == c->object && o->inc == c->inc && o->latch == w->latch)
			return o;
	if (p->n == WAITS_MAX) {
		forget_all(p);
		head = NULL;
	}
	o = calloc(1, sizeof(*o));
	if (!o || hash_put_ptr(&p->objects, key, o)) {
		free(o);
		return NULL;
	}
	o->key = key;
	o->next = head;
	o->address = c->object;
	o->inc = c->inc;
	o->latch = w->latch;
	p->n++;
	return o;
}

static bool has_member(const struct episode *g, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < g->n && g->tids[i] != tid; i++)
		;
	return i < g->n;
}

static bool is_full(const struct episode *g, bool latch)
{
	return latch ? g->rest != MODEL_NONE && g->late >= g->rest : g->count && g->n >= g->count;
}

/*
 * Return true if @c may belong to the episode @g. It does not if it is in another phase, or if
 * another barrier has reused the memory in the same phase.
 */
static bool is_of(const struct episode *g, const struct waits_seen *w,
		  const struct model_crossing *c)
{
	if (!g->n || (!w->latch && g->value != w->value) || has_member(g, c->tid))
		return false;
	if (!w->over)
		return c->arrive_ns < g->first_depart_ns;
	if (is_full(g, w->latch))
		return false;
	return !w->latch || g->first_depart_ns == MODEL_UNKNOWN ||
	       c->arrive_ns < g->first_depart_ns || c->arrive_ns - g->first_depart_ns < LATE_NS;
}

static void begin(struct waited *o, const struct waits_seen *w)
{
	struct episode old = o->before;

	o->before = o->now;
	o->now = (struct episode){
		.first_depart_ns = MODEL_UNKNOWN,
		.value = w->value,
		.rest = MODEL_NONE,
		.tids = old.tids,
		.cap = old.cap,
	};
}

static int join(struct episode *g, uint32_t tid)
{
	int err = grow(g->tids, g->cap, g->n + 1);

	if (!err)
		g->tids[g->n++] = tid;
	return err;
}

/*
 * Return true if both episodes of the object belong to one barrier. If not, another barrier has
 * reused the memory.
 */
static bool is_next(const struct waited *o)
{
	return !o->latch && o->before.n &&
	       ((o->before.value + PHASE_STEP) & PHASE_MASK) == o->now.value;
}

/*
 * Return the number of participants of an episode in which no wait began before the release; 0 if
 * unknown. Barriers only lose members, so if the previous and the next phase have the same number,
 * this phase has it, too.
 */
static uint32_t count_between(const struct waited *o, const struct episode *g,
			      const struct waits_seen *w)
{
	return g == &o->now && is_next(o) && o->before.count == w->words ? w->words : 0;
}

/*
 * Correct the times of a thread that had arrived when the first thread left, but began its wait
 * later. It worked until its wait began, and did not wait for other threads.
 */
static void take_late(const struct episode *g, struct model_crossing *c)
{
	if (c->arrive_ns < g->first_depart_ns)
		return;
	if (c->arrive_ns - g->first_depart_ns >= ELSE_NS && c->depart_ns != MODEL_UNKNOWN)
		c->depart_ns = g->first_depart_ns;
	c->arrive_ns = g->first_depart_ns - 1;
}

int waits_add(struct waits *p, const struct waits_seen *w, struct model_crossing *c)
{
	struct waited *o = object_of(p, w, c);
	struct episode *g;
	int err;

	if (!o)
		return -ENOMEM;
	g = &o->now;
	if (!is_of(g, w, c) && is_next(o))
		g = &o->before;
	if (!is_of(g, w, c)) {
		begin(o, w);
		g = &o->now;
	}
	err = join(g, c->tid);
	if (err)
		return err;
	if (w->over) {
		g->late++;
		c->flags |= MODEL_CROSSING_BOUND;
		if (!w->latch && !g->count)
			g->count = count_between(o, g, w);
		take_late(g, c);
	} else if (w->latch) {
		if (w->value < g->rest)
			g->rest = w->value;
	} else if (w->words) {
		g->count = w->words;
	}
	c->count = w->latch ? 0 : g->count;
	c->rest = !w->latch		  ? 0
		  : w->over		  ? 1
		  : w->value < UINT16_MAX ? (uint16_t)(w->value + 1)
					  : UINT16_MAX;
	if (c->depart_ns < g->first_depart_ns && c->depart_ns)
		g->first_depart_ns = c->depart_ns;
	return 0;
}
