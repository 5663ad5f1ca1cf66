// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * What nobody saw at a barrier on a condition variable. A process that was forked gets its probes when it runs already,
 * and a round may be over by then, without one of its threads having slept. glibc's condition variables number the waits
 * (the count is taken under the mutex that is waited with, so it is exact): what is missing in the row of numbers was
 * waited for unseen.
 */
#include "model/discover_internal.h"

/* More than that in a row is no count: another C library's object begins with something else. */
#define UNSEEN_MAX     (1u << 20)
/* When the waits that had begun before the object was found to be a barrier have ended: so many rounds later. */
#define SETTLED_ROUNDS 4

void discover_tally(struct discover *d, struct object *o, const struct discover_record *r)
{
	struct tally *t = &o->tally;

	if (o->pub.futex || t->settled)
		return;
	/* Of what processes do not share, when it is first seen: later the parent may have come to its own copy. */
	if (o->pub.shared || !t->begun)
		t->older |= !!(r->flags & DISCOVER_OLDER);
	t->begun = true;
	t->blind |= !!(r->flags & DISCOVER_BLIND);
	if (r->flags & DISCOVER_KNOWN) {
		if (o->pub.verdict == DISCOVER_BARRIER &&
		    ++t->since >= SETTLED_ROUNDS * (o->nset + 1ULL))
			discover_settle(d, o);
		return;
	}
	if (r->flags & DISCOVER_WAKE)
		return;
	/* What began later is written without a count soon; other processes that share it may go on with theirs. */
	if (o->pub.verdict == DISCOVER_BARRIER &&
	    (!t->counted || !(r->flags & DISCOVER_COUNT) || r->value > t->most))
		return;
	if (!(r->flags & DISCOVER_COUNT)) {
		t->unread++;
		return;
	}
	if (!t->counted || r->value < t->least)
		t->least = r->value;
	if (!t->counted || r->value > t->most)
		t->most = r->value;
	t->counted++;
}

/* Without memory for it the process is not known as one of these. */
static void unseen_add(struct discover *d, const struct object *o, bool add)
{
	uint64_t key = (uint64_t)o->pub.inc << 32 | o->pub.tgid, n = 0;
	uint64_t reported = o->tally.reported.waits + o->tally.reported.uncounted;

	if (!reported)
		return;
	hash_get(&d->unseen_of, key, &n);
	n = add ? n + reported : n - reported;
	if (n)
		hash_put(&d->unseen_of, key, n);
	else
		hash_del(&d->unseen_of, key);
}

void discover_settle(struct discover *d, struct object *o)
{
	struct tally *t = &o->tally;
	uint64_t all, span, seen = t->counted + t->unread;

	if (o->pub.futex || t->settled || o->pub.verdict != DISCOVER_BARRIER)
		return;
	t->settled = true;
	t->reported.waits = t->unwoken;
	span = t->counted ? (uint64_t)t->most - t->least + 1 : 0;
	all = t->older ? span : (uint64_t)t->most + 1;
	/* Each has a number of its own, or it is none. */
	if (t->counted < 2 || span < t->counted || all > seen + UNSEEN_MAX)
		t->reported.uncounted = t->blind;
	else if (all > seen)
		t->reported.waits += all - seen;
	/* What came before the first that was seen is perhaps not ours to have seen. */
	if (t->older && t->blind && t->least)
		t->reported.uncounted = 1;
	d->unseen.waits += t->reported.waits;
	d->unseen.uncounted += t->reported.uncounted;
	unseen_add(d, o, true);
}

void discover_unsettle(struct discover *d, struct object *o)
{
	d->unseen.waits -= o->tally.reported.waits;
	d->unseen.uncounted -= o->tally.reported.uncounted;
	unseen_add(d, o, false);
	o->tally.reported = (struct discover_unseen){ 0 };
}

struct discover_unseen discover_unseen(const struct discover *d)
{
	return d->unseen;
}

bool discover_waited_unseen(const struct discover *d, uint32_t tgid, uint32_t inc)
{
	uint64_t n;

	return hash_get(&d->unseen_of, (uint64_t)inc << 32 | tgid, &n);
}
