// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/feed_parts.h"

#include <string.h>

static void fill_counters(struct model_detail *d, const struct sbt_counters *c)
{
	d->ncounters = c->n <= MODEL_COUNTERS_MAX ? c->n : MODEL_COUNTERS_MAX;
	d->scaled = c->scaled;
	d->unknown = c->unknown;
	memcpy(d->counters, c->phase, d->ncounters * sizeof(d->counters[0]));
	memcpy(d->inside_counters, c->inside, d->ncounters * sizeof(d->inside_counters[0]));
}

static struct model_block block_of(const struct sbt_block *b)
{
	return (struct model_block){
		.ns = b->ns,
		.at.key = b->at.key,
		.stack = b->stack,
		.doing_ns = b->doing_ns,
		.waker = b->waker,
		.holder = b->holder,
		.culprit = b->culprit,
		.reason = b->reason,
		.doing = b->doing,
		.among = b->among,
		.waited = b->waited,
	};
}

#define COPY_PART(member, ...) d->member = p->member;

static void fill_parts(struct model_detail *d, const struct sbt_parts *p, uint64_t fault_outside_ns)
{
	memcpy(d->blocked_ns, p->blocked_ns, sizeof(d->blocked_ns));
	SBT_PARTS_ALL(COPY_PART, )
	d->fault_ns += p->faults * fault_outside_ns;
	if (d->fault_ns > d->oncpu_ns)
		d->fault_ns = d->oncpu_ns;
	d->turn_oncpu_ns = p->turn_oncpu_ns;
	d->fault_addr = p->fault_addr;
	d->ran_ns = p->ran_ns;
	d->ran = p->ran;
	d->cpus_allowed = p->cpus_allowed;
	d->block = block_of(&p->block);
	d->second = block_of(&p->second);
}

_Static_assert((int)MODEL_BLOCKED_REASONS == (int)SBT_BLOCKED_REASONS,
	       "both enums list the same reasons");
_Static_assert(MODEL_COUNTERS_MAX == SBT_COUNTERS_MAX,
	       "both have the same maximum number of counters");
_Static_assert((int)MODEL_WAITED_WAKER == (int)SBT_WAITED_WAKER, "both enums list the same waits");
_Static_assert((int)MODEL_OTHER_SIGNAL == (int)SBT_OTHER_SIGNAL,
	       "both enums list the same reasons for blocking under BLOCKED_OTHER");
_Static_assert((int)MODEL_FILE_SEVERAL == (int)SBT_FILE_SEVERAL,
	       "Files without names have equal numbers in both lists");
_Static_assert((int)MODEL_DOING_BLOCKED == (int)SBT_DOING_BLOCKED,
	       "both enums list the same activities");

bool feed_parts(const struct sbt_crossing *c, uint64_t fault_outside_ns, uint32_t self,
		struct model_detail *d)
{
	const struct sbt_inside *inside = (const void *)(c + 1);
	const void *next = inside + 1;

	if (!(c->flags & SBT_CROSSING_INSIDE))
		return false;
	memset(d, 0, sizeof(*d));
	d->oncpu_ns = MODEL_UNKNOWN;
	d->inside_oncpu_ns = inside->oncpu_ns;
	d->inside_runq_ns = inside->runq_ns;
	d->inside_ran = inside->ran;
	d->inside_switches = inside->switches;
	d->inside_interference_ns = inside->ran == self ? inside->ran_ns : 0;
	if (c->flags & SBT_CROSSING_PARTS) {
		fill_parts(d, next, fault_outside_ns);
		d->interference_ns = d->ran == self ? d->ran_ns : 0;
		next = (const struct sbt_parts *)next + 1;
	}
	if (c->flags & SBT_CROSSING_COUNTERS)
		fill_counters(d, next);
	return true;
}
