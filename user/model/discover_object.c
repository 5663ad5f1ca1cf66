// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "model/discover_internal.h"

#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OLDER_MAX 8 /* maximum number of pending rounds with other members than the streak's */

struct discover *discover_new(const struct discover_ops *ops)
{
	struct discover *d = calloc(1, sizeof(*d));

	if (d) {
		d->ops = *ops;
		d->next_id = 1;
	}
	return d;
}

static void object_free(struct object *o)
{
	free(o->now);
	free(o->set);
	free(o->held);
	free(o->pending);
	free(o->processes);
	free(o);
}

void discover_free(struct discover *d)
{
	uint32_t i;

	if (!d)
		return;
	for (i = 0; i < d->n; i++)
		object_free(d->objects[i]);
	free(d->objects);
	hash_free(&d->by_key);
	hash_free(&d->by_id);
	hash_free(&d->known);
	hash_free(&d->functions);
	hash_free(&d->unseen_of);
	discover_echo_free(d);
	free(d);
}

void discover_values_add(struct values *v, uint32_t value)
{
	v->differ |= v->any && v->one != value;
	v->any = true;
	v->one = value;
}

void discover_values_join(struct values *v, const struct values *more)
{
	if (more->any)
		discover_values_add(v, more->one);
	v->differ |= more->differ;
}

static uint64_t object_key(const struct discover_object *o)
{
	uint64_t key = o->shared ? hash_mix(o->shared)
				 : hash_mix((uint64_t)o->tgid << 32 | o->inc) ^ o->object;

	return hash_mix(key ^ (o->futex ? 0x9e37ULL << 48 : 0));
}

static bool same_object(const struct discover_object *a, const struct discover_object *b)
{
	if (a->futex != b->futex || a->shared != b->shared)
		return false;
	return a->shared || (a->tgid == b->tgid && a->inc == b->inc && a->object == b->object);
}

void discover_drop_from(struct discover *d, struct object *o, uint32_t from)
{
	uint32_t i;

	for (i = from; i < o->nheld; i++)
		d->ops.drop(d->ops.ctx, o->held[i].cookie);
	o->nheld = from;
	if (o->held_now > from)
		o->held_now = from;
	if (o->held_streak > from)
		o->held_streak = from;
}

void discover_drop_pending(struct discover *d, struct object *o)
{
	uint32_t i;

	for (i = 0; i < o->npending; i++)
		if (o->pending[i].again)
			d->ops.drop(d->ops.ctx, o->pending[i].cookie);
	o->npending = 0;
}

/* Drop the pending records before index @to. */
void discover_drop_before(struct discover *d, struct object *o, uint32_t to)
{
	uint32_t i;

	for (i = 0; i < to; i++)
		d->ops.drop(d->ops.ctx, o->held[i].cookie);
	if (to)
		memmove(o->held, o->held + to, (o->nheld - to) * sizeof(*o->held));
	o->nheld -= to;
	o->held_now = o->held_now > to ? o->held_now - to : 0;
	o->held_streak = o->held_streak > to ? o->held_streak - to : 0;
}

/*
 * Begin a new streak, because the current round has different members from the streak. The earlier
 * rounds can no longer make the object a barrier. If the object's call sites turn out to be those
 * of a known barrier, these rounds still count.
 */
void discover_streak_restart(struct discover *d, struct object *o)
{
	o->older += o->streak;
	o->held_streak = o->held_now;
	o->streak = 0;
	o->rotated = false;
	o->values = (struct values){};
	if (o->older <= OLDER_MAX)
		return;
	discover_drop_before(d, o, o->held_streak);
	o->older = 0;
}

/* End the streak. The current round may be the first of a new streak. */
void discover_streak_end(struct discover *d, struct object *o)
{
	discover_drop_before(d, o, o->held_now);
	o->streak = o->older = 0;
	o->rotated = false;
	o->values = (struct values){};
	o->one_function = true;
	o->elsewhere = false;
	o->nplaces = 0;
	o->places_full = false;
}

bool discover_worth_telling(const struct discover_object *o)
{
	return o->echo || (o->verdict != DISCOVER_BARRIER && o->uneven >= UNEVEN_LEAST) ||
	       o->one_waker || o->unreported || (o->verdict != DISCOVER_OTHER && o->rounds) ||
	       o->split || o->led || o->alone >= TEAM_LEAST - 1;
}

void discover_object_forget(struct discover *d, struct object *o)
{
	discover_decide(d, o);
	discover_settle(d, o);
	discover_echo_end(d, o);
	if (o->pub.verdict == DISCOVER_BARRIER && !o->pub.futex)
		discover_known_end(d, o);
	discover_drop_from(d, o, 0);
	discover_drop_pending(d, o);
	if (discover_worth_telling(&o->pub) && d->nkept < KEPT_MAX)
		d->kept[d->nkept++] = o->pub;
	hash_del(&d->by_key, object_key(&o->pub));
	hash_del(&d->by_id, o->id);
	d->objects[o->slot] = d->objects[--d->n];
	d->objects[o->slot]->slot = o->slot;
	object_free(o);
}

/* Make room: forget objects that have no pending records and are not barriers. */
static void sweep(struct discover *d)
{
	uint32_t i;

	for (i = d->n; i-- > 0;) {
		const struct object *o = d->objects[i];

		if (!o->nheld && !o->npending && o->pub.verdict != DISCOVER_BARRIER)
			discover_object_forget(d, d->objects[i]);
	}
}

/*
 * Return the record's object, or a new object if there is none. Return NULL when out of memory or
 * if there are too many objects.
 */
struct object *discover_object_get(struct discover *d, const struct discover_record *r)
{
	struct discover_object want = { .tgid = r->tgid,
					.inc = r->inc,
					.futex = r->flags & DISCOVER_FUTEX,
					.object = r->object,
					.shared = r->shared };
	uint64_t key = object_key(&want);
	struct object *o = hash_get_ptr(&d->by_key, key);

	if (o)
		return same_object(&o->pub, &want) ? o : NULL;
	if (d->n >= OBJECTS_MAX)
		sweep(d);
	if (d->n >= OBJECTS_MAX || grow(d->objects, d->cap, d->n + 1))
		return NULL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->pub = want;
	o->id = d->next_id++;
	o->one_function = true;
	if (hash_put_ptr(&d->by_key, key, o) || hash_put_ptr(&d->by_id, o->id, o)) {
		hash_del(&d->by_key, key);
		free(o);
		return NULL;
	}
	o->slot = d->n;
	d->objects[d->n++] = o;
	return o;
}

bool discover_has(const struct discover *d, uint32_t tgid, uint32_t inc, uint64_t object)
{
	const struct discover_object want = { .tgid = tgid, .inc = inc, .object = object };
	const struct object *o = hash_get_ptr(&d->by_key, object_key(&want));

	return o && same_object(&o->pub, &want);
}

void discover_classify(struct discover *d, struct object *o, enum discover_verdict verdict)
{
	bool given_up = o->pub.verdict == DISCOVER_BARRIER && verdict == DISCOVER_OTHER;

	if (o->pub.verdict == DISCOVER_BARRIER)
		discover_unsettle(d, o);
	o->pub.verdict = verdict;
	o->pub.was_barrier = given_up;
	if (d->ops.classified)
		d->ops.classified(d->ops.ctx, &o->pub);
}

/* Note that the rule was broken, by the current round or outside of any round. */
void discover_broken(struct discover *d, struct object *o)
{
	discover_drop_from(d, o, o->held_now);
	discover_streak_end(d, o);
	/*
	 * If threads are woken one by one, many waits must be seen to find out whether the threads
	 * wait and leave together. So permit more breaks.
	 */
	if (++o->breaks <
	    (o->wake_ns || o->pub.futex || o->pub.shared ? BREAKS_MAX : ALONE_BREAKS_MAX))
		return;
	discover_drop_from(d, o, 0);
	discover_drop_pending(d, o);
	discover_classify(d, o, DISCOVER_OTHER);
}

int discover_hold(struct object *o, const struct discover_record *r, uint64_t arrive_ns,
		  uint64_t depart_ns, bool merged)
{
	if (o->nheld >= HELD_MAX || grow(o->held, o->cap_held, o->nheld + 1))
		return -ENOMEM;
	o->held[o->nheld++] = (struct held){ .cookie = r->cookie,
					     .arrive_ns = arrive_ns,
					     .depart_ns = depart_ns,
					     .wake_site = o->now_site,
					     .wake = r->flags & DISCOVER_WAKE,
					     .merged = merged };
	return 0;
}
