// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Convert barriers and the threads in them to the input of hang_classify(). */
#include "hang/hang_collect_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sites/family.h"

const struct hang_collect_process *hang_collect_find_process(const struct hang_collect_answer *a,
							     uint32_t pid)
{
	array_for_each (p, a->processes, a->nprocesses)
		if (p->pid == pid)
			return p;
	return NULL;
}

/*
 * whether the stack pointer points at the return address when a function is entered; otherwise it
 * is in a register
 */
#if defined(__x86_64__)
#define RETURNS_ON_STACK true
#else
#define RETURNS_ON_STACK false
#endif

/* Return whether this address is the one with which return probes replace return addresses. */
static bool is_trampoline(const struct address_space *space, uint64_t address)
{
	const struct maps_entry *e = space ? maps_find(&space->maps, address) : NULL;

	return e && !strcmp(e->path, "[uprobes]");
}

/*
 * Return whether the thread is no longer at the barrier, although no departure was seen (longjmp,
 * an exception, the thread's end). Its stack is then shorter than on arrival, or no longer holds
 * the return address.
 */
static bool is_stale(const struct hang_collect_answer *a, const struct hang_collect_arrival *at)
{
	const struct hang_collect_process *p = hang_collect_find_process(a, at->pid);
	const struct snapshot_thread *t =
		p && p->arrived ? snapshot_find(p->arrived, at->tid) : NULL;
	uint64_t back = 0;

	if (!t || t->wait == SNAPSHOT_GONE || t->wait == SNAPSHOT_ZOMBIE)
		return true;
	if (!at->sp || !t->sp)
		return false;
	if (t->sp > at->sp)
		return true;
	if (RETURNS_ON_STACK && at->returns && at->ip &&
	    !snapshot_read(at->pid, at->sp, &back, sizeof(back)))
		return back != at->ip && !is_trampoline(p->space, back);
	return false;
}

/*
 * Give an arrived thread without a stack its call site as the only frame. The frame is shown if the
 * thread is missing at another barrier.
 */
static void add_site_frame(struct hang_collect_answer *a, uint32_t tid,
			   const struct hang_frame *site)
{
	array_for_each (t, a->threads, a->in.nthreads) {
		/* .frames has room for one more frame. */
		if (t->tid == tid && !t->nframes && t->frames && site->module)
			((struct hang_frame *)(uintptr_t)t->frames)[t->nframes++] = *site;
	}
}

static struct hang_frame frame_of(const struct site_name *name)
{
	const struct site_frame *f = name && name->nframes ? &name->frames[0] : NULL;

	return (struct hang_frame){ .function = f ? f->function : NULL,
				    .file = f ? f->file : NULL,
				    .line = f ? f->line : 0,
				    .module = name ? name->module : NULL };
}

static struct hang_frame frame_of_barrier(const struct report_barrier *b)
{
	return (struct hang_frame){
		.function = b->function, .file = b->file, .line = b->line, .module = b->module
	};
}

static uint32_t site_of(struct hang_collect *s, const struct hang_collect_answer *a, uint32_t pid,
			uint64_t ip)
{
	const struct hang_collect_process *p = hang_collect_find_process(a, pid);

	return p && p->space && ip ? address_space_site(s->spaces, p->space, ip)
				   : ADDRESS_SPACE_SITE_NONE;
}

static void note_site(uint32_t *sites, uint32_t *n, uint32_t site)
{
	uint32_t i;

	for (i = 0; i < *n; i++)
		if (sites[i] == site)
			return;
	if (site != ADDRESS_SPACE_SITE_NONE)
		sites[(*n)++] = site;
}

static int name_barrier(struct hang_collect *s, const struct hang_collect_barrier *from,
			const uint32_t *sites, uint32_t nsites, struct hang_barrier *to,
			void **arena)
{
	struct report_barrier named = { 0 };
	const struct report_barrier *b = from->named;
	int err = 0;

	if (!b) {
		err = report_place_name(&s->env, from->family, sites, nsites, from->name, &named,
					arena);
		b = &named;
	}
	if (err)
		return err;
	memcpy(to->id, b->id, sizeof(to->id));
	memcpy(to->label, b->label, sizeof(to->label));
	to->site = frame_of_barrier(b);
	return 0;
}

/*
 * Return whether thread @i waits at the barrier, as its stack and futex word show, although no
 * arrival was recorded: it arrived before tracing began. Such threads are not looked for in a
 * process with too many threads to examine.
 */
static bool arrived_unseen(const struct hang_collect_answer *a,
			   const struct hang_collect_barrier *b, uint32_t i)
{
	const struct hang_collect_process *p = hang_collect_find_process(a, b->pid);
	uint32_t k;

	for (k = 0; k < b->narrived; k++)
		if (b->arrived[k].tid == a->threads[i].tid)
			return false;
	return p && !p->incomplete && family_has(b->family, FAMILY_LIBC_OBJECT) &&
	       a->threads[i].on == HANG_ON_BARRIER && a->threads[i].pid == b->pid &&
	       a->locks[i].object == b->object;
}

/* Return whether the team is unknown and may contain threads of unknown processes. */
static bool may_be_elsewhere(struct hang_collect *s, const struct hang_collect_answer *a,
			     const struct hang_collect_barrier *b)
{
	const struct hang_collect_process *p = hang_collect_find_process(a, b->pid);

	if (b->nteam || b->npids > 1)
		return false;
	return b->of_processes || (family_has(b->family, FAMILY_LIBC_OBJECT) && p && p->space &&
				   address_space_shared_key(s->spaces, p->space, b->object, NULL));
}

/* Return whether the barrier is for all ranks of the job. */
static bool is_world(const struct hang_collect *s, const struct hang_collect_answer *a,
		     const struct hang_collect_barrier *b)
{
	const struct hang_collect_process *p = hang_collect_find_process(a, b->pid);

	if (!b->of_processes || b->world || !b->object || !p || !p->space)
		return b->world;
	return mpi_call_is_world(s->spaces, p->space, b->object);
}

int hang_collect_add_barrier(struct hang_collect *s, struct hang_collect_answer *a,
			     const struct hang_collect_barrier *from, uint32_t index)
{
	struct hang_barrier *to = &a->barriers[index];
	uint32_t i, site, nsites = 0, *sites = calloc(from->narrived + 1u, sizeof(*sites));
	struct hang_arrival *arrived =
		calloc((size_t)from->narrived + a->in.nthreads + 1, sizeof(*arrived));
	/* The call was made by the interpreter, and not by the interpreted code. */
	bool inner = family_has(from->family, FAMILY_INTERPRETED);
	int err;

	a->arrivals[index] = arrived;
	if (!sites || !arrived) {
		free(sites);
		return -ENOMEM;
	}
	*to = (struct hang_barrier){
		.pid = from->pid,
		.comm = *from->comm ? from->comm : NULL,
		.name = from->name,
		.family = family_name(from->family),
		.count = from->count,
		.nteam = from->nteam,
		.team = from->team,
		.team_declared = from->team_declared,
		.team_ns = from->team_ns,
		.of_processes = from->of_processes,
		.world = is_world(s, a, from),
		.open = from->open || may_be_elsewhere(s, a, from),
		.of_regions = family_has(from->family, FAMILY_OPENMP),
		.npids = from->npids,
		.pids = from->pids,
	};
	array_for_each (at, from->arrived, from->narrived) {
		at->stale = is_stale(a, at);
		if (at->stale)
			continue;
		site = site_of(s, a, at->pid, at->ip);
		note_site(sites, &nsites, site);
		arrived[to->narrived++] = (struct hang_arrival){
			.tid = at->tid,
			.since_ns = at->since_ns,
			.site = inner && from->named
					? frame_of_barrier(from->named)
					: frame_of(address_spaces_site(s->spaces, site)),
		};
		add_site_frame(a, at->tid, &arrived[to->narrived - 1].site);
	}
	for (i = 0; to->narrived && i < a->in.nthreads; i++)
		if (arrived_unseen(a, from, i))
			arrived[to->narrived++] = (struct hang_arrival){
				.tid = a->threads[i].tid,
				.since_ns = MODEL_UNKNOWN,
				.site = arrived[0].site,
			};
	to->arrived = arrived;
	err = name_barrier(s, from, sites, nsites, to, &a->arenas[index]);
	free(sites);
	return err;
}
