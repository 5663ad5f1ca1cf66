// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Estimate how likely it is that a process has barriers on condition variables. If that is
 * unlikely, probes on them are not worth their cost. Handle pauses in which these probes are
 * detached.
 */
#include "model/discover_internal.h"

#include "base/array.h"

static bool is_of(const struct object *o, uint32_t tgid, uint32_t inc)
{
	uint64_t process = (uint64_t)tgid << 32 | inc;

	if (!o->pub.shared)
		return o->pub.tgid == tgid && o->pub.inc == inc;
	array_for_each (p, o->processes, o->nprocesses)
		if (p->process == process)
			return true;
	return false;
}

enum discover_hope discover_hope(const struct discover *d, uint32_t tgid, uint32_t inc)
{
	enum discover_hope hope = DISCOVER_HOPE_NONE;
	uint32_t i;

	for (i = 0; i < d->n; i++) {
		const struct object *o = d->objects[i];

		if (o->pub.futex || o->pub.verdict == DISCOVER_OTHER || !is_of(o, tgid, inc))
			continue;
		if (o->pub.verdict == DISCOVER_BARRIER)
			return DISCOVER_HOPE_BARRIER;
		/* If there is no streak, the current round may be its first. */
		if (o->one_function && !o->bad && (o->streak ? o->nset : o->nnow + 1) >= TEAM_LEAST)
			hope = DISCOVER_HOPE_SOME;
	}
	return hope;
}

void discover_pause(struct discover *d, uint32_t tgid, uint32_t inc)
{
	uint32_t i;

	for (i = 0; i < d->n; i++) {
		struct object *o = d->objects[i];

		if (o->pub.futex || !is_of(o, tgid, inc))
			continue;
		if (o->pub.verdict == DISCOVER_OPEN) {
			discover_drop_from(d, o, 0);
			discover_drop_pending(d, o);
			discover_streak_end(d, o);
			o->bad = true;
		}
		/* After the pause the classification begins anew. */
		o->breaks = o->empty = o->over = o->wrong = 0;
		if (o->pub.verdict == DISCOVER_OTHER)
			discover_classify(d, o, DISCOVER_OPEN);
	}
}
