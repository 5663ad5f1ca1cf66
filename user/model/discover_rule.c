// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "model/discover_internal.h"

#include "base/array.h"
#include "base/grow.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS_ENOUGH	 3 /* number of consecutive rounds that is enough evidence for a barrier */
/*
 * number of additional rounds that are needed for each round with different members from the round
 * before it
 */
#define EVEN_ROUNDS	 4
#define PAIR_ROUNDS_MAX	 8 /* maximum number of pending rounds of two threads */
/*
 * maximum number of consecutive rounds for which it stays undecided whether waits and waking are in
 * one function
 */
#define APART_ROUNDS_MAX 8
/* number of wakings without waiters after which the object is not a barrier */
#define EMPTY_MAX	 64
/*
 * number of consecutive rounds with the same waker that is enough evidence for a barrier if it is
 * not known which functions were inlined
 */
#define SEVERAL_ROUNDS	 8

static uint64_t place_key(uint32_t wait, uint32_t wake)
{
	return (uint64_t)wait << 32 | wake;
}

bool discover_same_function(const struct discover *d, uint32_t wait, uint32_t wake, bool *exact)
{
	bool exact_wait = false, exact_wake = false;
	uint64_t f;

	f = d->ops.function(d->ops.ctx, wait, &exact_wait);
	if (!f || f != d->ops.function(d->ops.ctx, wake, &exact_wake))
		return false;
	*exact = exact_wait && exact_wake;
	return true;
}

bool discover_same_code(const struct discover *d, uint32_t wait, uint32_t wake)
{
	uint64_t f = d->ops.outer ? d->ops.outer(d->ops.ctx, wait) : 0;

	return f && f == d->ops.outer(d->ops.ctx, wake);
}

/*
 * Return whether any of the waits that @wake ends is in the same function as @wake. @exact: all
 * functions that were inlined there must be known, too.
 */
static bool has_other(const struct object *o, uint32_t wake, bool exact)
{
	array_for_each (p, o->places, o->nplaces)
		if (p->wake == wake && !p->apart && (p->exact || !exact))
			return true;
	return false;
}

/*
 * Return whether debug information attributes the call to no inlined function: it may be in merged
 * code.
 */
static bool is_of_none(const struct discover *d, uint32_t site)
{
	bool exact = true;

	return d->ops.function(d->ops.ctx, site, &exact) == d->ops.outer(d->ops.ctx, site) &&
	       !exact;
}

/*
 * Return whether each wait is in one function with its waking, or with code that compilers have
 * merged from the ends of several functions.
 */
static bool places_joined(const struct discover *d, const struct object *o)
{
	array_for_each (p, o->places, o->nplaces)
		if (p->apart && !has_other(o, p->wake, false) && !is_of_none(d, p->wake))
			return false;
	return true;
}

/*
 * Return whether only the barriers' own functions were inlined into the functions that wait and
 * wake.
 */
static bool places_exact(const struct object *o)
{
	array_for_each (p, o->places, o->nplaces)
		if (!p->exact && !has_other(o, p->wake, true))
			return false;
	return true;
}

/*
 * Remember the first pair of call sites of a possible barrier, for the remark about this barrier.
 */
static void note_split(struct object *o, uint32_t wait, uint32_t wake)
{
	if (o->split.apart)
		return;
	o->split.apart = true;
	o->pub.wait_site = wait;
	o->pub.wake_site = wake;
}

/*
 * Note the call sites of the round's wait and waking. Return whether the wait and the waking are,
 * or may turn out to be, in one function.
 */
bool discover_note_places(const struct discover *d, struct object *o, uint32_t wait, uint32_t wake)
{
	bool exact = false, apart;

	/*
	 * If the wait and the waking have the same call site, the call is in a wrapper and proves
	 * nothing.
	 */
	if (o->pub.futex && wait == wake) {
		o->pub.wait_site = o->pub.wake_site = wait;
		o->elsewhere = true;
		o->one_function = false;
		return false;
	}
	array_for_each (p, o->places, o->nplaces)
		if (p->wait == wait && p->wake == wake)
			return !o->elsewhere;
	apart = !discover_same_function(d, wait, wake, &exact);
	if (apart)
		note_split(o, wait, wake);
	if (apart && !discover_same_code(d, wait, wake)) {
		o->elsewhere = true;
		o->one_function = false;
		return false;
	}
	if (o->nplaces == PLACES_MAX) {
		o->places_full = true;
		return !apart;
	}
	o->places[o->nplaces].exact = exact;
	o->places[o->nplaces].apart = apart;
	o->places[o->nplaces].wait = wait;
	o->places[o->nplaces++].wake = wake;
	if (!apart) {
		o->pub.wait_site = wait;
		o->pub.wake_site = wake;
	}
	o->one_function = !o->elsewhere && places_joined(d, o);
	return !o->elsewhere;
}

bool discover_has_waited(const struct object *o, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < o->nnow; i++)
		if (o->now[i] == tid)
			return true;
	return false;
}

/*
 * Write the members of the current round, waiters and waker, sorted, to @out (nnow + 1 elements).
 */
static void sort_members(const struct object *o, uint32_t *out)
{
	if (o->nnow)
		memcpy(out, o->now, o->nnow * sizeof(*out));
	out[o->nnow] = o->now_waker;
	qsort(out, o->nnow + 1, sizeof(*out), number_compare_u32);
}

/*
 * Return whether the current round has the members of the streak. If not, and @replace is set, make
 * its members those of a new streak.
 */
static bool same_members(struct object *o, bool replace)
{
	uint32_t n = o->nnow + 1, *members;
	bool same;

	members = malloc(n * sizeof(*members));
	if (!members)
		return false;
	sort_members(o, members);
	same = n == o->nset && !memcmp(members, o->set, n * sizeof(*members));
	if (!same && replace && !grow(o->set, o->cap_set, n)) {
		memcpy(o->set, members, n * sizeof(*members));
		o->nset = n;
	}
	free(members);
	return same;
}

void discover_set_members(struct object *o)
{
	same_members(o, true);
}

static bool is_member(const struct object *o, uint32_t tid)
{
	return bsearch(&tid, o->set, o->nset, sizeof(*o->set), number_compare_u32);
}

/* Return the barrier with the most members at this pair of call sites, or NULL if not known. */
static struct object *largest_at(const struct discover *d, uint64_t place)
{
	struct object *o;
	uint64_t id;

	if (!hash_get(&d->known, place, &id))
		return NULL;
	o = hash_get_ptr(&d->by_id, id);
	return o && o->pub.verdict == DISCOVER_BARRIER ? o : NULL;
}

void discover_note_largest(struct discover *d, const struct object *o)
{
	const struct object *largest;
	uint64_t place;

	array_for_each (p, o->places, o->nplaces) {
		place = place_key(p->wait, p->wake);
		largest = largest_at(d, place);
		if (!largest || largest->nset < o->nset)
			hash_put(&d->known, place, o->id);
	}
}

/* Return whether all threads of @o's current round are members of @barrier, and it has more. */
static bool is_part_of(const struct object *o, const struct object *barrier)
{
	uint32_t i;

	if (barrier == o || barrier->nset <= o->nnow + 1 || !is_member(barrier, o->now_waker))
		return false;
	for (i = 0; i < o->nnow; i++)
		if (!is_member(barrier, o->now[i]))
			return false;
	return true;
}

/*
 * At the call sites of a known barrier, return whether the current round may lack threads, because
 * more threads cross the other barrier together. A thread that spins before it waits may leave no
 * record.
 */
static bool may_lack(const struct discover *d, const struct object *o)
{
	const struct object *largest;

	if (o->pub.futex)
		return false;
	array_for_each (p, o->places, o->nplaces) {
		largest = largest_at(d, place_key(p->wait, p->wake));
		if (largest && is_part_of(o, largest))
			return true;
	}
	return false;
}

/* Return whether all pairs of call sites of the object belong to known barriers. */
static bool places_known(const struct discover *d, const struct object *o)
{
	uint64_t value;

	if (o->places_full || !o->nplaces || o->bad || !o->one_function)
		return false;
	array_for_each (p, o->places, o->nplaces)
		if (!hash_get(&d->known, place_key(p->wait, p->wake), &value))
			return false;
	return true;
}

void discover_take(struct discover *d, const struct object *o, uint64_t cookie, uint64_t arrive_ns,
		   uint64_t depart_ns, bool merged)
{
	struct discover_member member = { .arrive_ns = arrive_ns,
					  .depart_ns = depart_ns,
					  .merged = merged,
					  .team = o->pub.futex ? o->nset : 0 };

	d->ops.take(d->ops.ctx, cookie, &member);
}

void discover_take_held(struct discover *d, struct object *o, uint32_t team)
{
	uint32_t i;

	for (i = 0; i < o->nheld; i++) {
		struct discover_member member = { .arrive_ns = o->held[i].arrive_ns,
						  .depart_ns = o->held[i].depart_ns,
						  .merged = o->held[i].merged,
						  .team = team };

		d->ops.take(d->ops.ctx, o->held[i].cookie, &member);
	}
	o->nheld = o->held_now = o->held_streak = 0;
}

static void is_barrier(struct discover *d, struct object *o, uint32_t team)
{
	/* The pending rounds are reported now. All earlier rounds have been dropped. */
	o->pub.unreported = o->pub.rounds - o->older - o->streak;
	d->unseen.given_up += o->pub.unreported * o->pub.members;
	o->pub.rounds = 0;
	discover_take_held(d, o, o->pub.futex ? o->nset : team);
	o->reported = true;
	o->wrong = o->nshort = 0;
	discover_classify(d, o, DISCOVER_BARRIER);
	discover_note_largest(d, o);
}

/*
 * Return how many threads should have arrived in each of the pending rounds: the largest number
 * that did. With a single round, return 0: more threads may follow.
 */
static uint32_t usual_team(const struct object *o)
{
	uint32_t most = o->nset > o->nnow + 1 ? o->nset : o->nnow + 1;

	if (!o->held_now)
		return 0;
	return most > o->pub.most ? most : o->pub.most;
}

/* Return the number of consecutive rounds with the same members that is enough evidence. */
static uint32_t rounds_needed(const struct object *o)
{
	/* If threads spin before they wait, the rounds may have the same waiters by chance. */
	return ROUNDS_ENOUGH + EVEN_ROUNDS * o->pub.uneven;
}

/*
 * The object has the call sites of a known barrier. Return whether the current round shows how many
 * threads cross.
 */
static bool is_team_known(const struct discover *d, struct object *o)
{
	return !may_lack(d, o) || (o->streak + 1 >= rounds_needed(o) && o->nnow + 1 == o->nset &&
				   same_members(o, false));
}

void discover_decide(struct discover *d, struct object *o)
{
	if (o->pub.verdict == DISCOVER_OPEN && !o->pub.futex && o->nheld && places_known(d, o))
		is_barrier(d, o, usual_team(o));
}

/* Classify the object as a barrier, together with all objects that use the same call sites. */
static void confirm(struct discover *d, struct object *o)
{
	uint32_t i;

	/* Rounds before the streak are dropped: tracing may have begun during one of them. */
	discover_drop_before(d, o, o->held_streak);
	o->older = 0;
	array_for_each (p, o->places, o->nplaces)
		hash_put(&d->known, place_key(p->wait, p->wake), o->id);
	if (!o->pub.futex)
		array_for_each (place, o->places, o->nplaces)
			discover_known_function(d, place->wake);
	/* Each round of the streak had all of these members. */
	is_barrier(d, o, o->nset);
	for (i = 0; i < d->n; i++) {
		struct object *other = d->objects[i];

		if (other->pub.verdict == DISCOVER_OPEN && other->nheld && places_known(d, other) &&
		    is_team_known(d, other))
			is_barrier(d, other, usual_team(other));
	}
}

bool discover_all_known(const struct object *o)
{
	uint32_t i;

	for (i = 0; i < o->nnow; i++)
		if (!is_member(o, o->now[i]))
			return false;
	return is_member(o, o->now_waker);
}

/* Return whether the functions that wait and wake contain little other code. */
static bool is_compact(const struct discover *d, const struct object *o)
{
	uint32_t i;

	for (i = 0; d->ops.compact && i < o->nplaces; i++)
		if (!d->ops.compact(d->ops.ctx, o->places[i].wait, o->places[i].wake))
			return false;
	return true;
}

/*
 * Return whether several small functions both wait and wake at this object, as with a barrier in a
 * macro. A single such function may be a step of all threads, in which one thread starts the others
 * through inlined functions.
 */
static bool in_several(const struct discover *d, const struct object *o)
{
	uint64_t f, first = 0;
	bool exact;

	array_for_each (p, o->places, o->nplaces) {
		f = d->ops.function(d->ops.ctx, p->wait, &exact);
		if (f == first || (d->ops.compact && !d->ops.compact(d->ops.ctx, p->wait, p->wake)))
			continue;
		if (first)
			return true;
		first = f;
	}
	return false;
}

/* Return whether the streak with the current round is enough evidence for a barrier. */
static bool evidence(const struct discover *d, struct object *o, bool rotated)
{
	struct values values = o->values;
	bool exact = places_exact(o);

	discover_values_join(&values, &o->now_values);
	if (o->pub.futex && !values.differ)
		return false;
	if (!o->pub.futex && o->streak + 1 < rounds_needed(o))
		return false;
	if (!o->pub.futex && discover_echo_maybe(d, o))
		return false;
	/*
	 * A function in which the same thread repeatedly starts the others looks like a barrier,
	 * too.
	 */
	if (!o->pub.futex && !rotated && o->one_function && exact && !is_compact(d, o)) {
		o->pub.one_waker = true;
		return false;
	}
	if (!o->pub.futex && !rotated && o->one_function && !exact)
		return o->streak + 1 >= SEVERAL_ROUNDS && in_several(d, o);
	return (o->one_function && (exact || rotated)) || (o->pub.futex && rotated);
}

/* Classify the object as soon as all members of the streak have arrived again. */
void discover_try_early(struct discover *d, struct object *o)
{
	bool rotated = o->rotated || (o->streak && o->now_waker != o->waker);

	if (places_known(d, o)) {
		if (is_team_known(d, o))
			is_barrier(d, o, usual_team(o));
		return;
	}
	if (o->bad || o->streak + 1 < ROUNDS_ENOUGH || o->nset < TEAM_LEAST ||
	    o->nnow + 1 != o->nset || o->now_wakes < o->nnow || !evidence(d, o, rotated) ||
	    !same_members(o, false))
		return;
	confirm(d, o);
}

/*
 * Return whether, after many rounds, the waits and their wakings have still not turned out to be in
 * one function. If so, the rule is broken.
 */
static bool is_in_two_functions(const struct object *o)
{
	return !o->pub.futex && !o->one_function && o->streak >= APART_ROUNDS_MAX;
}

/* End the current round: check whether it kept the rule. */
void discover_round_end(struct discover *d, struct object *o)
{
	bool same;

	if (!o->open || o->bad)
		return;
	/*
	 * The round follows directly after an episode and lacks members: threads that leave wake
	 * the threads that have already returned.
	 */
	if (o->now_soon && o->nnow + 1 < o->nset) {
		discover_drop_from(d, o, o->held_now);
		return;
	}
	if (!o->nnow) {
		discover_drop_from(d, o, o->held_now);
		/*
		 * At a futex, all threads may have seen the value change before they slept, and
		 * have left no record.
		 */
		if (!o->pub.futex)
			discover_streak_end(d, o);
		if (++o->empty >= EMPTY_MAX) {
			discover_drop_from(d, o, 0);
			discover_drop_pending(d, o);
			discover_classify(d, o, DISCOVER_OTHER);
		}
		return;
	}
	if (o->now_wakes < o->nnow || is_in_two_functions(o)) {
		discover_broken(d, o);
		return;
	}
	same = same_members(o, false);
	o->pub.members = o->nnow + 1;
	if (o->one_function && o->nnow + 1 > o->pub.most)
		o->pub.most = o->nnow + 1;
	if (!same && o->nset) {
		o->pub.uneven += o->one_function;
		discover_streak_restart(d, o);
		if (o->pub.rounds && ++o->breaks >= BREAKS_MAX) {
			discover_drop_from(d, o, 0);
			discover_drop_pending(d, o);
			discover_classify(d, o, DISCOVER_OTHER);
			return;
		}
	}
	if (!same)
		same_members(o, true);
	if (o->streak && o->waker != o->now_waker)
		o->rotated = true;
	o->waker = o->now_waker;
	discover_values_join(&o->values, &o->now_values);
	o->over = 0;
	o->streak++;
	o->pub.rounds++;
	if (!o->pub.futex && o->streak >= rounds_needed(o) && places_known(d, o)) {
		is_barrier(d, o, usual_team(o));
		return;
	}
	if (o->nset < TEAM_LEAST) {
		/*
		 * Two threads are not evidence. Only a known barrier with the same call sites can
		 * make this object a barrier, so keep only a few rounds.
		 */
		if (o->streak + o->older >= PAIR_ROUNDS_MAX) {
			o->held_now = o->nheld;
			discover_drop_before(d, o, o->nheld);
			o->streak = o->older = 0;
		}
		return;
	}
	if (!o->pub.futex)
		discover_echo_settle(d, o);
	if (o->streak >= ROUNDS_ENOUGH && evidence(d, o, o->rotated)) {
		confirm(d, o);
	} else if (o->nheld > HELD_MAX / 2) {
		discover_drop_from(d, o, 0);
		discover_streak_end(d, o);
	}
}

/* --- possible barriers, for remarks ----------------------------------------------------------- */

/*
 * @waker's waking ends a round: update the figures for the case that waits and waking are in
 * different functions.
 */
void discover_split_round(struct object *o, uint32_t waker)
{
	bool same = o->split.now == o->split.set && o->split.nnow == o->split.nset;
	uint32_t *most;

	if (o->split.nnow >= TEAM_LEAST && same) {
		o->split.streak++;
		o->split.rotated |= o->split.waker != o->split.last_waker;
	} else {
		o->split.streak = o->split.nnow >= TEAM_LEAST;
		o->split.rotated = false;
		o->split.set = o->split.now;
		o->split.nset = o->split.nnow;
	}
	o->split.last_waker = o->split.waker;
	most = o->split.rotated ? &o->pub.split : &o->pub.led;
	if (o->split.apart && o->split.streak >= ROUNDS_ENOUGH && o->split.streak > *most) {
		*most = o->split.streak;
		o->pub.members = o->split.nset;
	}
	o->split.waker = waker;
	o->split.now = hash_mix(waker);
	o->split.nnow = 1;
}

/*
 * Threads that a barrier wakes one by one all wait at the same time, and all leave before any
 * returns. At a lock, threads leave one at a time, and others arrive between two departures.
 */
static void note_batch(struct object *o, const struct discover_record *r)
{
	if (o->batch.n && r->arrive_ns < o->batch.first_ns) {
		o->batch.n++;
		o->batch.last_ns = r->depart_ns;
		return;
	}
	if (o->batch.n >= TEAM_LEAST - 1 && r->arrive_ns >= o->batch.last_ns)
		o->pub.batches++;
	else if (o->batch.n)
		o->pub.loose += o->batch.n;
	o->batch.n = 1;
	o->batch.first_ns = o->batch.last_ns = r->depart_ns;
}

void discover_note_split(struct object *o, const struct discover_record *r)
{
	uint32_t i;

	if (o->pub.futex)
		return;
	if (r->flags & DISCOVER_WAKE) {
		discover_split_round(o, r->tid);
		o->pub.alone = 0;
		return;
	}
	if (r->flags & DISCOVER_OVER) {
		o->pub.loose += !o->open;
		return;
	}
	if (!o->open)
		note_batch(o, r);
	if (o->open) {
		if (r->arrive_ns <= o->wake_ns && o->wake_ns <= r->depart_ns &&
		    r->tid != o->split.waker) {
			o->split.now += hash_mix(r->tid);
			o->split.nnow++;
		}
		return;
	}
	for (i = 0; i < o->pub.alone && o->alone[i] != r->tid; i++)
		;
	if (i == o->pub.alone && i < ALONE_MAX) {
		o->alone[o->pub.alone++] = r->tid;
		o->pub.wait_site = r->site;
	}
}
