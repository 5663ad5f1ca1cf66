// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Handle rounds at a condition variable that is known to belong to a barrier. Their records stay
 * pending until the usual number of threads has arrived, or until the next waking. At that point it
 * is known whether the waits and the waking are an episode, and whether all members took part. A
 * barrier in a macro waits and wakes in many functions, so the functions of one round are compared
 * with each other.
 */
#include "model/discover_internal.h"

/*
 * If the same threads are missing in this number of consecutive rounds, these threads are no longer
 * members.
 */
#define SHORT_MAX 16

static uint64_t function_at(const struct discover *d, uint32_t site)
{
	bool exact;

	return d->ops.function(d->ops.ctx, site, &exact);
}

void discover_known_function(struct discover *d, uint32_t site)
{
	uint64_t f = function_at(d, site);

	/*
	 * If this fails (out of memory), rounds with threads in several functions are later dropped
	 * and counted.
	 */
	if (f)
		hash_put(&d->functions, f, 1);
}

/*
 * Return whether a wait at @wait that a waking from @wake ended belongs to a barrier: both are in
 * one function, or in functions that contain barriers.
 */
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

/*
 * Take the round's records. @team is the number of threads that should have arrived; 0 if the usual
 * number arrived, because more threads may follow.
 */
static void take_held(struct discover *d, struct object *o, uint32_t team)
{
	discover_take_held(d, o, team);
	o->reported = true;
}

/* Drop the round's pending records and count them, because the round is not an episode. */
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

/* Return the members of the current round as a sum that does not depend on their order. */
static uint64_t members_sum(const struct object *o)
{
	uint64_t sum = hash_mix(o->now_waker);
	uint32_t i;

	for (i = 0; i < o->nnow; i++)
		sum += hash_mix(o->now[i]);
	return sum;
}

/*
 * Note a round with fewer threads than before. If the same threads cross without the others for
 * many rounds, only these threads are members from then on.
 */
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

/*
 * Note a round with more threads than before. If its records were already taken, the number is
 * reported with the next round.
 */
static void more_members(struct discover *d, struct object *o)
{
	o->reported_less = o->nset && o->reported;
	discover_set_members(o);
	discover_note_largest(d, o);
}

/* Take a round with the usual number of threads. */
static void take_complete(struct discover *d, struct object *o)
{
	/*
	 * The waking that ended this round may be an episode's second waking, by a thread that was
	 * preempted for a long time.
	 */
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
	/*
	 * The usual number of threads arrived, but not the same threads as before. This happens in
	 * each round at the upper nodes of a tree barrier.
	 */
	if (o->nnow && o->nnow + 1 == o->nset && !discover_all_known(o)) {
		discover_set_members(o);
		if (o->nheld)
			take_complete(d, o);
		return;
	}
	if (o->nnow && o->nnow + 1 > o->nset)
		more_members(d, o);
	if (!o->nheld)
		return;
	/* A waking from another function is not an arrival if no thread waited for it. */
	if (!o->nnow && !belongs(d, o->now_site, o->now_site)) {
		discover_drop_from(d, o, 0);
		return;
	}
	/*
	 * The waking that ended this round may be the second waking of an episode, by a thread that
	 * was slow to leave.
	 */
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
	/* With a new thread, more threads may cross than before. The next waking decides. */
	if (o->nset && !discover_all_known(o))
		return;
	take_complete(d, o);
}
