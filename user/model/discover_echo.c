// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Barriers of two phases on condition variables: a counter goes up, and the last arriver wakes all; it comes down again, and
 * the last to leave wakes those who came back meanwhile, or those who wait for all to have left. That second waking is an
 * echo of the first, and ends no round: it is made from another call of the same function, by a thread that left a wait there
 * a moment before. Between two barriers of one function a thread works, or they are on other lines of the source.
 *
 * On a busy machine the thread that makes the second waking is the one that was kept from running: its own times say little.
 * Those of the threads that it wakes are evidence too: most of them went from the first wait to the second one at once. Where
 * they go from the second one to the first one as fast, it is not known which of them ends a meeting: a candidate. Where threads
 * come late to the second wait it is over by then, and hardly ever recorded: what is far more frequent than what it would follow
 * is the first one. But the thread that makes a second waking comes right from the first wait too: where it comes a millisecond
 * later nearly each time, it has worked, and there are two barriers.
 */
#include "model/discover_internal.h"

#include <stdlib.h>

#define DEPARTURES_MAX 65536
#define LINES_DEEP     16 /* functions that were inlined one into another */
#define ECHO_LEAST     2 /* wakings that decide it */
#define WAITS_LEAST    4 /* or waits */
#define WAITS_ENOUGH   12 /* that show that there are two barriers */
/* The thread that makes the second waking of a meeting has nothing else to do: it is kept from running for so long now and then. */
#define AWAY_NS	       1000000ULL
#define AWAY_ENOUGH    4 /* such wakings, which show that it does something else */
/* Of two wakings one is the rare one if the other came so many times as often, and more than so often beside. */
#define RARE_TIMES     4
#define RARE_BESIDE    8

static uint64_t thread_key(const struct discover_record *r)
{
	return (uint64_t)r->inc << 32 | r->tid;
}

static void free_all(struct hash *h)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	while ((e = hash_next(h, &pos, &zero)))
		free((void *)(uintptr_t)e->value);
	hash_free(h);
	*h = (struct hash){ 0 };
}

void discover_echo_free(struct discover *d)
{
	free_all(&d->departures);
	free_all(&d->echoes);
	hash_free(&d->ends);
	hash_free(&d->wakings);
}

static void *get_or_make(struct hash *h, uint64_t key, size_t size)
{
	void *entry = hash_get_ptr(h, key);

	if (entry)
		return entry;
	entry = calloc(1, size);
	if (entry && hash_put_ptr(h, key, entry)) {
		free(entry);
		return NULL;
	}
	return entry;
}

/*
 * Are the last wait and its waking one line of the source, and @site another one: two uses of a macro, or of a function in line?
 * The function that uses them may itself be in line.
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
	/* One statement that was put in line twice; a barrier of two phases has two. */
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

/* Does a waking from @site that follows the @last wait at once belong to the same meeting, as far as the code tells? */
static bool may_follow(const struct discover *d, const struct departure *last, uint32_t site)
{
	bool exact;

	return last->wake_site != UINT32_MAX && last->wake_site != site &&
	       discover_same_function(d, last->wait_site, site, &exact) &&
	       !on_other_line(d, last, site);
}

/* A thread that left a wait has waited again, for a waking from @wake_site. Did it so at once? */
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

bool discover_departed(struct discover *d, const struct discover_record *r, uint32_t wake_site)
{
	struct departure *last;
	bool soon;

	/* Threads that have ended: what is forgotten of the others is known again at their next wait. */
	if (hash_count(&d->departures) >= DEPARTURES_MAX)
		free_all(&d->departures);
	last = get_or_make(&d->departures, thread_key(r), sizeof(*last));
	if (!last)
		return false;
	soon = last->depart_ns && note_next_wait(d, last, r, wake_site);
	*last = (struct departure){ r->depart_ns, r->site, wake_site, false };
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

/* Does the thread that makes the waking do something else before, nearly each time? */
static bool may_be_away(const struct echo *echo)
{
	return echo->away && echo->away * 8 >= echo->seen * 7;
}

static bool is_away(const struct echo *echo)
{
	return echo->away >= AWAY_ENOUGH && may_be_away(echo);
}

/* Did most of those that waited for it come right from the other wait, and not the other way round? */
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

/* One of the two wakings of a meeting is the echo of the other: not both. */
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

	/* Out of memory: it stays open, and is told as a candidate. */
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
	/* One that is always such stays such where the thread had slept in between. */
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
	/* Out of memory: an incomplete meeting that ended from there is dropped, and counted. */
	hash_put(&d->ends, site, 1);
}

/* Do the threads not always do something else between the other wait and this one? */
static bool may_be_by_waits(const struct discover *d, const struct echo *echo, uint32_t site)
{
	return !is_rare(d, echo->after, site) && echo->compact && echo->waits && !is_away(echo) &&
	       !discover_echo_is(d, echo->after) &&
	       (echo->waits < WAITS_ENOUGH || echo->waits_soon * 4 > echo->waits);
}

bool discover_echo_maybe(const struct discover *d, const struct object *o)
{
	const struct echo *echo;
	uint32_t i;

	for (i = 0; i < o->nplaces; i++) {
		echo = hash_get_ptr(&d->echoes, o->places[i].wake);
		if (echo && ((echo->soon && echo->soon == echo->seen + echo->seen_woke) ||
			     may_be_by_waits(d, echo, o->places[i].wake)))
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
		rounds += o->held[i].wake && i < o->held_now;
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
