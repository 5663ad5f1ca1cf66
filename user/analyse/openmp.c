// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * A thread of a team is in one of five states. 1. It does useful work. 2. It waits in a region: at
 * a barrier, or at the join until the thread that began the region continues. 3. It has no region,
 * from that join until the next region begins. 4. Its team starts, from the beginning of the region
 * until the thread's own first instruction in it. 5. It waits in a region for its turn (critical,
 * ordered, locks).
 *
 * The shortest wait in a region is common to all members, and is the cost of the runtime. Longer
 * waits of other threads are imbalance (TALP: DLB, talp_openmp.c). The rest of a thread's time in
 * barriers is spent outside regions.
 */
#include "analyse/openmp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/internal.h"
#include "base/array.h"
#include "base/grow.h"
#include "base/number.h"
#include "sbt/record.h"
#include "sites/family.h"

/*
 * Figures are reported only if at least this share of the regions is complete and at least this
 * share of the time is known.
 */
#define KNOWN_LEAST 0.95

/* The time that a thread has waited in its current region. */
struct waited {
	uint32_t thread;
	uint64_t ns;
};

struct region {
	uint32_t proc;
	uint32_t n, cap;
	struct waited *waited;
};

struct omp_thread {
	/* shows if another thread has taken over the index; 0 if the thread was in no team yet */
	uint32_t tid;
	const struct region *in; /* the last region in which the thread waited */
	uint32_t at; /* index of the thread in that region */
	uint64_t other_ns; /* time inside barriers outside OpenMP */
};

struct omp_proc {
	uint64_t imbalance_ns, scheduling_ns, start_ns;
	/*
	 * number of times that a worker began in a region; start_ns sums up the times from the
	 * start of the region until the worker began
	 */
	uint64_t starts;
	uint64_t regions; /* number of all regions */
	uint64_t partial; /* number of regions that were not recorded completely */
};

struct openmp {
	struct omp_thread *threads; /* indexed as in the model */
	struct omp_proc *procs; /* indexed as in the model */
	uint32_t nthreads, nprocs;
	struct hash regions; /* (process, team) -> struct region */
};

bool openmp_is_barrier(const struct model_barrier *b)
{
	return family_has(b->family, FAMILY_OPENMP);
}

struct openmp *openmp_new(void)
{
	struct openmp *o = calloc(1, sizeof(*o));

	if (o)
		hash_init(&o->regions);
	return o;
}

static void region_free(struct region *r)
{
	if (r)
		free(r->waited);
	free(r);
}

void openmp_free(struct openmp *o)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	if (!o)
		return;
	while ((e = hash_next(&o->regions, &pos, &zero)))
		region_free((struct region *)(uintptr_t)e->value);
	hash_free(&o->regions);
	free(o->threads);
	free(o->procs);
	free(o);
}

void openmp_fold_process(struct openmp *o, uint32_t from)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	if (from >= o->nprocs)
		return;
	memset(&o->procs[from], 0, sizeof(o->procs[from]));
	while ((e = hash_next(&o->regions, &pos, &zero))) {
		struct region *r = (void *)(uintptr_t)e->value;

		if (r->proc != from)
			continue;
		hash_del(&o->regions, e->key);
		region_free(r);
		pos = 0;
	}
}

static int prepare(struct openmp *o, const struct model_episode *ep)
{
	int err = grow_zeroed(o->procs, o->nprocs, ep->proc + 1);
	uint32_t i;

	for (i = 0; i < ep->n && !err; i++) {
		const struct model_member *m = &ep->members[i];
		struct omp_thread *t;

		err = grow_zeroed(o->threads, o->nthreads, m->thread + 1);
		if (err)
			break;
		t = &o->threads[m->thread];
		if (t->tid != m->tid)
			*t = (struct omp_thread){ .tid = m->tid };
	}
	return err;
}

/* --- a region -------------------------------------------------------------------------------- */

static uint64_t region_key(const struct model_episode *ep)
{
	return hash_mix(ep->object) ^ ep->proc;
}

static int region_get(struct openmp *o, const struct model_episode *ep, struct region **out)
{
	uint64_t key = region_key(ep);

	*out = hash_get_ptr(&o->regions, key);
	if (*out)
		return 0;
	*out = hash_new_ptr(&o->regions, key, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->proc = ep->proc;
	return 0;
}

static struct waited *region_thread(struct region *r, struct omp_thread *t, uint32_t thread)
{
	struct waited *w;
	uint32_t i;

	if (t->in == r && t->at < r->n && r->waited[t->at].thread == thread)
		return &r->waited[t->at];
	/*
	 * The thread may have been in another team since its last wait in this region, so search
	 * for it.
	 */
	for (i = 0; i < r->n; i++)
		if (r->waited[i].thread == thread)
			break;
	t->in = r;
	t->at = i;
	if (i < r->n)
		return &r->waited[i];
	if (grow_zeroed(r->waited, r->cap, r->n + 1))
		return NULL;
	w = &r->waited[r->n++];
	*w = (struct waited){ .thread = thread };
	return w;
}

/* For each worker, add the time from the start of the region until the worker began in it. */
static void region_start(struct omp_proc *p, const struct model_episode *ep)
{
	array_for_each (m, ep->members, ep->n) {
		if (m->team_start_ns == MODEL_UNKNOWN)
			continue;
		p->start_ns += m->team_start_ns;
		p->starts++;
	}
}

/*
 * Add the waits of all members from arrival to departure. If the departure is unknown, add the wait
 * up to @end.
 */
static int region_wait(struct openmp *o, const struct model_episode *ep, uint64_t end,
		       struct region **out)
{
	int err = region_get(o, ep, out);
	uint32_t i;

	for (i = 0; i < ep->n && !err; i++) {
		const struct model_member *m = &ep->members[i];
		uint64_t until = m->depart_ns != MODEL_UNKNOWN ? m->depart_ns : end;
		struct waited *w = region_thread(*out, &o->threads[m->thread], m->thread);

		if (!w) {
			err = -ENOMEM;
		} else if (until != MODEL_UNKNOWN && until > m->arrive_ns) {
			w->ns += until - m->arrive_ns;
		}
	}
	return err;
}

static void region_end(struct openmp *o, const struct model_episode *ep, struct region *r)
{
	struct omp_proc *p = &o->procs[ep->proc];
	uint64_t least = MODEL_UNKNOWN, sum = 0;
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		sum += r->waited[i].ns;
		if (r->waited[i].ns < least)
			least = r->waited[i].ns;
	}
	if (r->n) {
		p->scheduling_ns += least * r->n;
		p->imbalance_ns += sum - least * r->n;
	}
	hash_del(&o->regions, region_key(ep));
	region_free(r);
}

/*
 * Return the time when the thread that began the region continued after it, or MODEL_UNKNOWN. The
 * departures of the workers are not recorded.
 */
static uint64_t master_left(const struct model_episode *ep)
{
	array_for_each (m, ep->members, ep->n)
		if (!(m->flags & MODEL_CROSSING_STAYS))
			return m->depart_ns;
	return MODEL_UNKNOWN;
}

static void elsewhere(struct openmp *o, const struct model_episode *ep)
{
	array_for_each (m, ep->members, ep->n) {
		if (m->depart_ns != MODEL_UNKNOWN && m->depart_ns > m->arrive_ns)
			o->threads[m->thread].other_ns += m->depart_ns - m->arrive_ns;
	}
}

int openmp_episode(struct openmp *o, const struct model *model, const struct model_episode *ep)
{
	uint64_t end = MODEL_UNKNOWN;
	struct region *r;
	bool join;
	int err;

	/* A nested episode lies inside the wait at another barrier and is not added to any sum. */
	if (ep->nested || !ep->n)
		return 0;
	err = prepare(o, ep);
	if (err)
		return err;
	if (!openmp_is_barrier(model_barrier(model, ep->barrier))) {
		elsewhere(o, ep);
		return 0;
	}
	region_start(&o->procs[ep->proc], ep);
	join = ep->members[0].kind == SBT_KIND_JOIN;
	if (join) {
		end = master_left(ep);
		o->procs[ep->proc].regions++;
	}
	if (ep->state == MODEL_INCOMPLETE || (join && end == MODEL_UNKNOWN))
		o->procs[ep->proc].partial++;
	err = region_wait(o, ep, end, &r);
	if (!err && join)
		region_end(o, ep, r);
	return err;
}

/* --- results --- */

/* Return the waits in regions that have not ended, or that have no recorded end. */
static uint64_t open_waits(const struct openmp *o, uint32_t proc)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	uint64_t sum = 0;
	size_t pos = 0;
	uint32_t i;

	while ((e = hash_next(&o->regions, &pos, &zero))) {
		const struct region *r = (const void *)(uintptr_t)e->value;

		for (i = 0; r->proc == proc && i < r->n; i++)
			sum += r->waited[i].ns;
	}
	return sum;
}

bool openmp_times(const struct openmp *o, uint32_t proc, const struct model_thread *threads,
		  const uint32_t *of_proc, uint32_t n, uint32_t at_once, uint64_t elapsed_ns,
		  struct efficiency_omp *out)
{
	const struct omp_proc *p = proc < o->nprocs ? &o->procs[proc] : NULL;
	uint64_t unknown, useful, begun, start = 0, all;
	uint32_t i;

	memset(out, 0, sizeof(*out));
	if (!p || !p->regions || (double)p->partial > (1 - KNOWN_LEAST) * (double)p->regions)
		return false;
	unknown = open_waits(o, proc);
	out->imbalance_ns = p->imbalance_ns;
	out->scheduling_ns = p->scheduling_ns;
	for (i = 0; i < n; i++) {
		const struct model_thread *t = &threads[of_proc[i]];
		const struct omp_thread *ot;

		ot = of_proc[i] < o->nthreads ? &o->threads[of_proc[i]] : NULL;
		useful = efficiency_useful(t->outside_ns, t->sums.turn_ns, t->sums.begin_ns);
		begun = t->sums.begin_ns != MODEL_UNKNOWN ? t->sums.begin_ns : 0;
		if (begun > t->outside_ns - useful)
			begun = t->outside_ns - useful;
		out->useful_ns += useful;
		out->turns_ns += t->outside_ns - useful - begun;
		start += begun;
		out->imbalance_ns += ot && ot->tid == t->tid ? ot->other_ns : t->idle_ns;
		unknown += t->unknown_ns;
	}
	/*
	 * Add the time of workers until they begin, and of the threads that begin a region until
	 * their team is complete.
	 */
	start += p->starts ? p->start_ns : 0;
	out->start_ns = p->starts ? start : MODEL_UNKNOWN;
	if (!p->starts)
		out->turns_ns += start;
	if (__builtin_mul_overflow(elapsed_ns, at_once, &all))
		return false;
	/*
	 * The rest is time between regions, or before a worker was created, in which only one
	 * thread works.
	 */
	out->serialisation_ns =
		number_less(all, out->useful_ns + out->turns_ns + out->imbalance_ns +
					 out->scheduling_ns + (p->starts ? start : 0));
	return (double)unknown <= (1 - KNOWN_LEAST) * (double)all;
}
