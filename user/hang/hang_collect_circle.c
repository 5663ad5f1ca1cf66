// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Find ranks that wait for messages from each other in a cycle. No barrier is involved. The MPI
 * call of one of these ranks is treated as a barrier, at which only its peer is missing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hang/hang_collect_internal.h"
#include "sites/family.h"

/*
 * Return the index of the thread that thread @i waited for, in an MPI call, at both looks. Return
 * HANG_NONE if there is none.
 */
static uint32_t waits_for(const struct hang_collect_answer *a, uint32_t i)
{
	const struct hang_thread *t = &a->threads[i];
	uint32_t k;

	if (!t->call || t->on != HANG_ON_MESSAGE || !t->holder || !t->still)
		return HANG_NONE;
	for (k = 0; k < a->in.nthreads; k++)
		if (a->threads[k].tid == t->holder)
			return k;
	return HANG_NONE;
}

/* Return the index of the first thread that is part of a cycle, or HANG_NONE. */
static uint32_t find_first(const struct hang_collect_answer *a)
{
	uint32_t i, at, steps;

	for (i = 0; i < a->in.nthreads; i++) {
		at = waits_for(a, i);
		for (steps = 1; at != HANG_NONE && at != i && steps < a->in.nthreads; steps++)
			at = waits_for(a, at);
		if (at == i)
			return i;
	}
	return HANG_NONE;
}

static struct hang_member member_of(const struct hang_thread *t)
{
	return (struct hang_member){
		.pid = t->pid,
		.tid = t->tid,
		.index = t->index,
		.ranked = t->ranked,
		.comm = t->comm,
	};
}

int hang_collect_add_circle(struct hang_collect *s, struct hang_collect_answer *a)
{
	/* Only MPI ranks wait for each other's messages, so the family is fixed. */
	const uint8_t family = SBT_FAMILY_MPI;
	uint32_t first = find_first(a), index = a->in.nbarriers, site = ADDRESS_SPACE_SITE_NONE;
	const struct hang_collect_process *p;
	struct report_barrier named = { 0 };
	struct hang_barrier *b;
	struct hang_thread *t;
	int err;

	a->circle = HANG_NONE;
	if (first == HANG_NONE)
		return 0;
	t = &a->threads[first];
	b = &a->barriers[index];
	a->arrivals[index] = calloc(1, sizeof(*a->arrivals[index]));
	a->both = calloc(2, sizeof(*a->both));
	if (!a->arrivals[index] || !a->both)
		return -ENOMEM;
	a->in.nbarriers++;
	a->circle = index;
	a->both[0] = member_of(t);
	a->both[1] = member_of(&a->threads[waits_for(a, first)]);
	*a->arrivals[index] = (struct hang_arrival){ .tid = t->tid, .since_ns = MODEL_UNKNOWN };
	if (t->call_frame < t->nframes)
		a->arrivals[index]->site = t->frames[t->call_frame];
	*b = (struct hang_barrier){
		.pid = t->pid,
		.comm = t->comm,
		.call = t->call,
		.family = family_name(family),
		.site = a->arrivals[index]->site,
		.narrived = 1,
		.arrived = a->arrivals[index],
		.nteam = 2,
		.team = a->both,
		.team_declared = true,
		.of_processes = true,
	};
	p = hang_collect_find_process(a, t->pid);
	if (p && p->space && b->site.address)
		site = address_space_site(s->spaces, p->space, b->site.address + 1);
	if (site == ADDRESS_SPACE_SITE_NONE)
		return 0;
	err = report_place_name(&s->env, family, &site, 1, NULL, &named, &a->arenas[index]);
	if (err)
		return err;
	memcpy(b->id, named.id, sizeof(b->id));
	memcpy(b->label, named.label, sizeof(b->label));
	return 0;
}
