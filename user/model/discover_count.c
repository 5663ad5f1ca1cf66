// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Count the unseen waits at a barrier on a condition variable. A forked process gets its probes
 * while it already runs. A round may already be over at that time. If none of its threads slept,
 * there is no record of the round. glibc's condition variables number the waits. The count is
 * exact, because glibc updates it under the mutex. Missing numbers belong to unseen waits.
 */
#include "model/discover_internal.h"

/*
 * A gap above this maximum is ignored: the object belongs to another C library, and its first word
 * is not a count.
 */
#define UNSEEN_MAX     (1u << 20)
/*
 * After this number of rounds, all waits that began before the object was recognised as a barrier
 * have ended.
 */
#define SETTLED_ROUNDS 4

void discover_tally(struct discover *d, struct object *o, const struct discover_record *r)
{
	struct tally *t = &o->tally;

	if (o->pub.futex || t->settled)
		return;
	/*
	 * Unless the object is shared, only its first record says whether it may be older than
	 * tracing. In a later record the flag may be set only because the parent process has
	 * meanwhile used its own copy of the object.
	 */
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
	/*
	 * Unless processes share the object, the kernel side soon knows the barrier, and its
	 * records then have no count.
	 */
	if (o->pub.verdict == DISCOVER_BARRIER &&
	    (!t->counted || !(r->flags & DISCOVER_COUNT) || r->earlier_waits > t->most))
		return;
	if (!(r->flags & DISCOVER_COUNT)) {
		t->unread++;
		return;
	}
	if (!t->counted || r->earlier_waits < t->least)
		t->least = r->earlier_waits;
	if (!t->counted || r->earlier_waits > t->most)
		t->most = r->earlier_waits;
	t->counted++;
}

/*
 * Add the object's unseen waits to its process, or subtract them. When out of memory, do nothing.
 */
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
	/* If the numbers are not all different, or have too large a gap, they are not a count. */
	if (t->counted < 2 || span < t->counted || all > seen + UNSEEN_MAX)
		t->reported.uncounted = t->blind;
	else if (all > seen)
		t->reported.waits += all - seen;
	/* Waits before the first seen wait may have happened before tracing began. */
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
