// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Recognise barriers of two phases on condition variables. In the first phase a counter goes up,
 * and the last arriver wakes all threads. In the second phase the counter goes down again. The last
 * thread to leave then wakes the threads that have already arrived again, or the threads that wait
 * until all have left. This second waking is called an echo of the first, and ends no round. An
 * echo is made by a second call in the same function, by a thread that left a wait there a moment
 * before. If one function contains two different barriers, the thread works between them, or they
 * are on different lines of the source.
 *
 * On a busy machine, the thread that makes the second waking may be preempted before it, so its own
 * times prove little. The threads that it wakes are evidence, too: most of them go directly from
 * the first wait to the second. If they go from the second to the first as fast, it is not known
 * which waking ends an episode, and the object is a candidate. A thread that arrives late at the
 * second wait need not wait, so second waits are recorded more rarely. If one of the two waits is
 * far more frequent, it is therefore the first. The thread that makes a second waking also does so
 * directly after the first wait. If it nearly always makes the waking a millisecond or more after
 * the wait, it has worked in between, and there are two barriers.
 */
#include "model/discover_internal.h"

#include "base/array.h"

#include <stdlib.h>

#define DEPARTURES_MAX 65536
#define LINES_DEEP     16 /* maximum number of functions that were inlined into each other */
#define ECHO_LEAST     2 /* number of echoes, or of waits for them, that is enough to decide */
/* number of second waits, directly after first waits, that is enough to decide */
#define WAITS_LEAST    4
/*
 * number of waits that proves two barriers if only few of them began directly after the other wait
 */
#define WAITS_ENOUGH   12
/*
 * The thread that makes the second waking does no other work before it, and is rarely preempted for
 * this long (ns).
 */
#define AWAY_NS	       1000000ULL
/* number of wakings after AWAY_NS that proves other work before the waking */
#define AWAY_ENOUGH    4
/*
 * Of two call sites, one with n wakings is rare if the other made more than RARE_TIMES * n +
 * RARE_BESIDE wakings.
 */
#define RARE_TIMES     4
#define RARE_BESIDE    8

static uint64_t thread_key(const struct discover_record *r)
{
	return (uint64_t)r->inc << 32 | r->tid;
}

void discover_echo_free(struct discover *d)
{
	hash_free_ptrs(&d->departures);
	hash_free_ptrs(&d->echoes);
	hash_free(&d->ends);
	hash_free(&d->wakings);
}

static void *get_or_make(struct hash *h, uint64_t key, size_t size)
{
	void *entry = hash_get_ptr(h, key);

	return entry ? entry : hash_new_ptr(h, key, size);
}

/*
 * Return whether the last wait and its waking are on one source line, and @site is on another.
 * These are two uses of a macro or of an inlined function. The function with both uses may itself
 * be inlined.
 */
static bool on_other_line(const struct discover *d, const struct departure *last, uint32_t site)
{
	uint64_t wait, wake, here;
	uint32_t depth;

	if (!d->ops.line)
		return false;
	wait = d->ops.line(d->ops.ctx, last->wait_site, DISCOVER_INNERMOST);
	wake = d->ops.line(d->ops.ctx, last->wake_site, DISCOVER_INNERMOST);
	here = d->ops.line(d->ops.ctx, site, DISCOVER_INNERMOST);
	/*
	 * The two wakings are one statement that was inlined twice. A barrier of two phases has two
	 * such statements.
	 */
	if (here && here == wake && wait && wait != wake)
		return true;
	for (depth = 0; depth < LINES_DEEP; depth++) {
		wait = d->ops.line(d->ops.ctx, last->wait_site, depth);
		wake = d->ops.line(d->ops.ctx, last->wake_site, depth);
		here = d->ops.line(d->ops.ctx, site, depth);
		if (!wait || wait != wake || !here)
			return false;
		if (here != wait)
			return true;
	}
	return false;
}

/*
 * Return whether, according to the code, a waking from @site directly after the wait @last may
 * belong to the same episode.
 */
static bool may_follow(const struct discover *d, const struct departure *last, uint32_t site)
{
	bool exact;

	return last->wake_site != UINT32_MAX && last->wake_site != site &&
	       discover_same_function(d, last->wait_site, site, &exact) &&
	       !on_other_line(d, last, site);
}

/*
 * Note that a thread that left the wait @last has waited again, until a waking from @wake_site.
 * Return whether it began the second wait directly after the first.
 */
static bool note_next_wait(struct discover *d, const struct departure *last,
			   const struct discover_record *r, uint32_t wake_site)
{
	struct echo *echo;

	if (last->woke || wake_site == UINT32_MAX || r->arrive_ns < last->depart_ns ||
	    !may_follow(d, last, wake_site))
		return false;
	echo = get_or_make(&d->echoes, wake_site, sizeof(*echo));
	if (!echo)
		return false;
	if (!echo->waits)
		echo->compact =
			!d->ops.compact || d->ops.compact(d->ops.ctx, last->wait_site, wake_site);
	echo->after = last->wake_site;
	echo->waits++;
	echo->waits_soon += r->arrive_ns - last->depart_ns < DISCOVER_SOON_NS;
	return r->arrive_ns - last->depart_ns < DISCOVER_SOON_NS;
}

bool discover_again(const struct discover *d, const struct object *o,
		    const struct discover_record *r)
{
	const struct departure *last = hash_get_ptr(&d->departures, thread_key(r));

	return last && r->held && !last->woke && last->object == o->id && last->held == r->held &&
	       last->wait_site == r->site && r->arrive_ns >= last->depart_ns &&
	       (r->flags & DISCOVER_SLOW || r->arrive_ns - last->depart_ns < DISCOVER_AGAIN_NS);
}

bool discover_departed(struct discover *d, const struct object *o, const struct discover_record *r,
		       uint32_t wake_site)
{
	struct departure *last;
	bool soon;

	/*
	 * Forget all threads, so that those that have ended are removed. The others are added again
	 * at their next wait.
	 */
	if (hash_count(&d->departures) >= DEPARTURES_MAX)
		hash_free_ptrs(&d->departures);
	last = get_or_make(&d->departures, thread_key(r), sizeof(*last));
	if (!last)
		return false;
	soon = last->depart_ns && note_next_wait(d, last, r, wake_site);
	*last = (struct departure){ .depart_ns = r->depart_ns,
				    .wait_site = r->site,
				    .wake_site = wake_site,
				    .object = o->id,
				    .held = r->held };
	return soon;
}

static uint64_t wakings(const struct discover *d, uint32_t site)
{
	uint64_t n = 0;

	hash_get(&d->wakings, site, &n);
	return n;
}

static bool is_rare(const struct discover *d, uint32_t site, uint32_t than)
{
	return wakings(d, than) > RARE_TIMES * wakings(d, site) + RARE_BESIDE;
}

/* Return whether the threads that make the waking nearly always do other work before it. */
static bool may_be_away(const struct echo *echo)
{
	return echo->away && echo->away * 8 >= echo->seen * 7;
}

static bool is_away(const struct echo *echo)
{
	return echo->away >= AWAY_ENOUGH && may_be_away(echo);
}

/*
 * Return whether most waiters began this wait directly after the other wait, and rarely began the
 * other wait directly after this wait.
 */
static bool is_by_waits(const struct discover *d, const struct echo *echo, uint32_t site)
{
	const struct echo *other = hash_get_ptr(&d->echoes, echo->after);

	return !is_rare(d, echo->after, site) && echo->compact && !is_away(echo) &&
	       echo->waits_soon >= WAITS_LEAST && echo->waits_soon * 4 >= echo->waits * 3 &&
	       (!other || (!other->soon && other->waits_soon * 2 <= other->waits));
}

static bool is_by_wakings(const struct echo *echo)
{
	bool late = echo->waits_soon * 2 > echo->waits;

	return echo->soon * 2 > echo->seen + (late ? 0 : echo->seen_woke);
}

/*
 * Return whether the waking is likely to be an echo. Only one of the two wakings of an episode is
 * an echo.
 */
static bool is_likely(const struct discover *d, uint32_t site)
{
	const struct echo *echo = hash_get_ptr(&d->echoes, site);

	return echo && (is_by_wakings(echo) || is_by_waits(d, echo, site));
}

bool discover_echo_note(struct discover *d, const struct discover_record *r)
{
	struct departure *last = hash_get_ptr(&d->departures, thread_key(r));
	struct echo *echo;
	bool soon, woke = last && last->woke;

	/*
	 * If this fails (out of memory), the object is not classified, and is reported as a
	 * candidate.
	 */
	hash_put(&d->wakings, r->site, wakings(d, r->site) + 1);
	soon = last && r->arrive_ns >= last->depart_ns &&
	       r->arrive_ns - last->depart_ns < DISCOVER_SOON_NS && may_follow(d, last, r->site) &&
	       !is_likely(d, last->wake_site);
	if (last)
		last->woke = true;
	echo = hash_get_ptr(&d->echoes, r->site);
	if (!echo && !soon)
		return false;
	if (!echo)
		echo = get_or_make(&d->echoes, r->site, sizeof(*echo));
	if (!echo)
		return false;
	if (woke && !soon)
		echo->seen_woke++;
	else
		echo->seen++;
	echo->soon += soon;
	echo->away += !woke && last && r->arrive_ns >= last->depart_ns + AWAY_NS;
	if (soon)
		echo->after = last->wake_site;
	/*
	 * A site that is known for echoes stays known, even if the thread lost its CPU between the
	 * wait and the waking.
	 */
	return soon || discover_echo_is(d, r->site);
}

bool discover_echo_is(const struct discover *d, uint32_t site)
{
	const struct echo *echo = hash_get_ptr(&d->echoes, site);

	return echo &&
	       ((echo->soon >= ECHO_LEAST && is_by_wakings(echo)) || is_by_waits(d, echo, site));
}

bool discover_echo_first(const struct discover *d, const struct object *o, uint32_t site)
{
	uint64_t value;
	uint32_t i;

	for (i = 0; i < o->nplaces && o->places[i].wake != site; i++)
		;
	return o->pub.verdict == DISCOVER_BARRIER && !o->pub.futex && i == o->nplaces &&
	       !hash_get(&d->ends, site, &value);
}

bool discover_echo_late(const struct discover *d, const struct object *o)
{
	const struct echo *echo = hash_get_ptr(&d->echoes, o->now_site);

	return echo && echo->compact && !is_away(echo) && o->now_after > o->nnow / 2 &&
	       discover_echo_first(d, o, o->now_site);
}

bool discover_echo_open(const struct discover *d, uint32_t site)
{
	const struct echo *echo = hash_get_ptr(&d->echoes, site);

	return echo && may_be_away(echo);
}

void discover_echo_over(struct discover *d, struct object *o, uint32_t site)
{
	const struct echo *echo = hash_get_ptr(&d->echoes, site);

	if (!o->nechoed || !echo || !is_away(echo))
		return;
	d->unseen.given_up += o->nechoed;
	o->nechoed = o->echo_waits = 0;
	o->echo_wait_ns = 0;
	o->pub.echo = false;
}

void discover_echo_end(struct discover *d, struct object *o)
{
	if (o->echo_waits < ECHO_LEAST || o->echo_wait_ns / o->echo_waits < AWAY_NS)
		return;
	d->unseen.given_up += o->nechoed;
	o->pub.echo_ns = o->echo_wait_ns / o->echo_waits;
	o->nechoed = o->echo_waits = 0;
	o->echo_wait_ns = 0;
}

void discover_echo_not(struct discover *d, uint32_t site)
{
	/*
	 * When out of memory, incomplete episodes that a waking from @site ended are dropped and
	 * counted.
	 */
	hash_put(&d->ends, site, 1);
}

/* Return whether at least some threads begin this wait directly after the other wait. */
static bool may_be_by_waits(const struct discover *d, const struct echo *echo, uint32_t site)
{
	return !is_rare(d, echo->after, site) && echo->compact && echo->waits && !is_away(echo) &&
	       !discover_echo_is(d, echo->after) &&
	       (echo->waits < WAITS_ENOUGH || echo->waits_soon * 4 > echo->waits);
}

bool discover_echo_maybe(const struct discover *d, const struct object *o)
{
	const struct echo *echo;

	array_for_each (p, o->places, o->nplaces) {
		echo = hash_get_ptr(&d->echoes, p->wake);
		if (echo && ((echo->soon && echo->soon == echo->seen + echo->seen_woke) ||
			     may_be_by_waits(d, echo, p->wake)))
			return true;
	}
	return false;
}

void discover_echo_settle(struct discover *d, struct object *o)
{
	const struct echo *echo;
	uint32_t i, site;

	for (i = o->nplaces; i-- > 0;) {
		site = o->places[i].wake;
		echo = hash_get_ptr(&d->echoes, site);
		if (echo && site != o->now_site && echo->soon == echo->seen + echo->seen_woke &&
		    echo->soon && is_rare(d, site, echo->after))
			discover_echo_purge(d, o, site);
		i = i > o->nplaces ? o->nplaces : i;
	}
}

void discover_echo_purge(struct discover *d, struct object *o, uint32_t site)
{
	uint32_t i, n = 0, streak = 0, now = 0, rounds = 0;

	for (i = 0; i < o->nheld; i++) {
		streak = i == o->held_streak ? n : streak;
		now = i == o->held_now ? n : now;
		if (o->held[i].wake_site != site) {
			o->held[n++] = o->held[i];
			continue;
		}
		d->ops.drop(d->ops.ctx, o->held[i].cookie);
		o->nechoed++;
		rounds += i < o->held_now && o->held[i].wake;
	}
	o->held_streak = o->held_streak >= o->nheld ? n : streak;
	o->held_now = o->held_now >= o->nheld ? n : now;
	if (o->open && o->now_site == site)
		o->open = false;
	o->nheld = n;
	o->streak -= rounds < o->streak ? rounds : o->streak;
	o->pub.rounds -= rounds < o->pub.rounds ? rounds : o->pub.rounds;
	for (i = 0; i < o->nplaces;)
		if (o->places[i].wake == site)
			o->places[i] = o->places[--o->nplaces];
		else
			i++;
}
