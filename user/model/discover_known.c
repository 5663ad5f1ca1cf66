// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Rounds at a condition variable that is known to be a barrier's. They are held until as many threads are there as meet, or
 * until the next waking: then it is known whether the waits and the waking are a meeting, and whether all took part. A barrier
 * that is a macro waits and wakes in many functions: those of one round are compared with each other.
 */
#include "model/discover_internal.h"

#define SHORT_MAX \
	16 /* rounds in a row that lacked the same threads, until those are no members any more */

static uint64_t function_at(const struct discover *d, uint32_t site)
{
	bool exact;

	return d->ops.function(d->ops.ctx, site, &exact);
}

void discover_known_function(struct discover *d, uint32_t site)
{
	uint64_t f = function_at(d, site);

	/* Out of memory: rounds of threads that are in several functions are dropped, and counted. */
	if (f)
		hash_put(&d->functions, f, 1);
}

/* Is a wait at @wait that was ended from @wake a barrier's? In one function, or both in functions that barriers are in. */
static bool belongs(const struct discover *d, uint32_t wait, uint32_t wake)
{
	uint64_t value;
	bool exact;

	if (discover_same_function(d, wait, wake, &exact))
		return true;
	return hash_get(&d->functions, function_at(d, wake), &value) &&
	       (hash_get(&d->functions, function_at(d, wait), &value) ||
		discover_same_code(d, wait, wake));
}

/* As many as meet: the team is not told, for more may follow. Less: how many there should be. */
static void take_held(struct discover *d, struct object *o, uint32_t team)
{
	discover_take_held(d, o, team);
	o->reported = true;
}

/* The round is no meeting: what is held of it is dropped, and counted. */
static void is_wrong(struct discover *d, struct object *o)
{
	d->unseen.given_up += o->nheld;
	discover_drop_from(d, o, 0);
	o->bad = true;
	if (++o->wrong < BREAKS_MAX)
		return;
	discover_drop_pending(d, o);
	discover_classify(d, o, DISCOVER_OTHER);
}

/* The members of the round under way, in whatever order they are. */
static uint64_t members_sum(const struct object *o)
{
	uint64_t sum = hash_mix(o->now_waker);
	uint32_t i;

	for (i = 0; i < o->nnow; i++)
		sum += hash_mix(o->now[i]);
	return sum;
}

/* Fewer than met before: they are all that meet from now on where that stays so for long. */
static void note_short(struct object *o)
{
	uint64_t sum = members_sum(o);

	if (o->nshort && o->short_n == o->nnow + 1 && o->short_sum == sum)
		o->nshort++;
	else
		o->nshort = 1;
	o->short_n = o->nnow + 1;
	o->short_sum = sum;
	if (o->nshort >= SHORT_MAX) {
		discover_set_members(o);
		o->nshort = 0;
	}
}

/* More meet than did: where the round was taken already, it is told with the next one how many. */
static void more_meet(struct object *o)
{
	o->reported_less = o->nset && o->reported;
	discover_set_members(o);
}

/* As many are there as meet. */
static void take_whole(struct discover *d, struct object *o)
{
	/* The thread that makes a second waking may have been kept from running for long. */
	if (discover_echo_late(d, o)) {
		discover_drop_from(d, o, 0);
		o->reported = o->bad = true;
		return;
	}
	o->wrong = o->nshort = 0;
	discover_echo_not(d, o->now_site);
	take_held(d, o, o->reported_less ? o->nset : 0);
	o->reported_less = false;
}

void discover_known_end(struct discover *d, struct object *o)
{
	if (o->pub.futex || o->pub.verdict != DISCOVER_BARRIER || !o->open || o->bad)
		return;
	/* As many as meet, but others: at the upper nodes of a tree these are others each time. */
	if (o->nnow && o->nnow + 1 == o->nset && !discover_all_known(o)) {
		discover_set_members(o);
		if (o->nheld)
			take_whole(d, o);
		return;
	}
	if (o->nnow && o->nnow + 1 > o->nset)
		more_meet(o);
	if (!o->nheld)
		return;
	/* A waking from elsewhere that nobody waited for is no arrival. */
	if (!o->nnow && !belongs(d, o->now_site, o->now_site)) {
		discover_drop_from(d, o, 0);
		return;
	}
	/* It may be the second waking of a meeting, by a thread that was slow to leave. */
	if (o->nnow + 1 < o->nset && discover_echo_first(d, o, o->now_site)) {
		d->unseen.given_up += o->nheld;
		discover_drop_from(d, o, 0);
		return;
	}
	note_short(o);
	take_held(d, o, o->nset);
}

void discover_known_wake(struct discover *d, struct object *o, const struct discover_record *r)
{
	discover_known_end(d, o);
	discover_round_begin(o, r);
	if (!discover_hold(o, r, r->arrive_ns, r->arrive_ns, false))
		return;
	d->ops.drop(d->ops.ctx, r->cookie);
	o->bad = true;
}

void discover_known_wait(struct discover *d, struct object *o, const struct discover_record *r,
			 uint64_t arrive_ns, bool merged)
{
	if (o->bad) {
		d->unseen.given_up++;
		d->ops.drop(d->ops.ctx, r->cookie);
		return;
	}
	if (r->tid == o->now_waker || discover_has_waited(o, r->tid) ||
	    !belongs(d, r->site, o->now_site) || discover_round_join(o, r->tid, r->value)) {
		d->unseen.given_up++;
		d->ops.drop(d->ops.ctx, r->cookie);
		is_wrong(d, o);
		return;
	}
	if (o->reported) {
		discover_take(d, o, r->cookie, arrive_ns, r->depart_ns, merged);
		return;
	}
	if (discover_hold(o, r, arrive_ns, r->depart_ns, merged)) {
		d->ops.drop(d->ops.ctx, r->cookie);
		return;
	}
	if (o->nnow + 1 < o->nset)
		return;
	/* With one that was not there before, more may meet than did: the next waking tells. */
	if (o->nset && !discover_all_known(o))
		return;
	take_whole(d, o);
}
