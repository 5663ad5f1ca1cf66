// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/conceptual.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/user_phases.h"
#include "analyse/phase.h"
#include "base/array.h"
#include "base/grow.h"

/* The phases that begin and end at a barrier, one bit each. */
struct bounds {
	uint32_t begins, ends;
};

/* A phase in one process. */
struct bounded {
	struct phase phase;
	bool open; /* an occurrence is open */
	bool begun; /* at least one occurrence has begun */
	struct occurrence now;
};

struct conceptual {
	const char *const *names;
	uint32_t n;
	uint32_t from_start; /* phases that begin with the process, one bit each */
	struct bounds *bounds; /* indexed by barrier */
	uint32_t nbounds;
	struct bounded **procs; /* indexed by process: n phases each, or NULL */
	uint32_t nprocs;
	struct user_phases *user_phases;
	uint32_t nblames;
	struct blame *blames[CONCEPTUAL_MAX + USER_PHASES_MAX];
};

struct conceptual *conceptual_new(const char *const *names, uint32_t n)
{
	struct conceptual *c = calloc(1, sizeof(*c));

	if (c)
		c->user_phases = user_phases_new();
	if (!c || !c->user_phases) {
		free(c);
		return NULL;
	}
	c->names = names;
	c->n = n < CONCEPTUAL_MAX ? n : CONCEPTUAL_MAX;
	return c;
}

void conceptual_free(struct conceptual *c)
{
	uint32_t i, k;

	if (!c)
		return;
	for (i = 0; i < c->nprocs; i++) {
		for (k = 0; c->procs[i] && k < c->n; k++) {
			phase_free(&c->procs[i][k].phase);
			shares_free(&c->procs[i][k].now.shares);
		}
		free(c->procs[i]);
	}
	user_phases_free(c->user_phases);
	free(c->procs);
	free(c->bounds);
	free(c);
}

void conceptual_from_start(struct conceptual *c, uint32_t phase)
{
	c->from_start |= 1u << phase;
}

int conceptual_barrier(struct conceptual *c, uint32_t barrier, uint32_t begins, uint32_t ends)
{
	int err;

	if (!begins && !ends)
		return 0;
	err = grow_zeroed(c->bounds, c->nbounds, barrier + 1);
	if (!err)
		c->bounds[barrier] = (struct bounds){ begins, ends };
	return err;
}

/* Return the phases of the process, or NULL when out of memory. */
static struct bounded *phases_of(struct conceptual *c, const struct model *model, uint32_t proc)
{
	struct bounded *all;
	uint32_t k;

	if (grow_zeroed(c->procs, c->nprocs, proc + 1))
		return NULL;
	all = c->procs[proc];
	if (all)
		return all;
	all = c->procs[proc] = calloc(c->n, sizeof(*all));
	for (k = 0; all && k < c->n; k++) {
		all[k].open = all[k].begun = c->from_start >> k & 1;
		all[k].now.start_ns = model_proc(model, proc)->start_ns;
	}
	return all;
}

static int take(struct occurrence *o, const struct model_episode *ep)
{
	struct share *t;
	uint64_t longest = 0;
	uint32_t i;

	for (i = 0; i < ep->n; i++) {
		t = share_of(&o->shares, ep->members[i].thread, ep->members[i].tid);
		if (!t)
			return -ENOMEM;
		occurrence_work(o, &ep->members[i], t);
		occurrence_wait(ep, i, t);
		if (t->ideal_ns > longest)
			longest = t->ideal_ns;
	}
	/*
	 * An episode joins the paths of its members at the last arrival: each member continues the
	 * longest of these paths (see model_proc.ideal_ns).
	 */
	array_for_each (m, ep->members, ep->n) {
		t = share_of(&o->shares, m->thread, m->tid);
		if (t)
			t->ideal_ns = longest;
	}
	occurrence_count(o, ep);
	return 0;
}

static void begin(struct bounded *p, uint64_t start_ns)
{
	p->open = p->begun = true;
	occurrence_begin(&p->now, start_ns);
}

/* Drop the open occurrence, and count it as unfinished, because its end is unknown. */
static void give_up(struct bounded *p)
{
	p->phase.unfinished++;
	p->open = false;
}

static int bounded_episode(struct conceptual *c, const struct model *model,
			   const struct model_episode *ep)
{
	struct bounds at = { 0 };
	struct bounded *all, *p;
	uint32_t k;
	int err = 0;

	all = phases_of(c, model, ep->proc);
	if (!all)
		return -ENOMEM;
	if (ep->barrier < c->nbounds)
		at = c->bounds[ep->barrier];
	for (k = 0; k < c->n && !err; k++) {
		p = &all[k];
		if (p->open && ep->release_ns > p->now.start_ns) {
			err = take(&p->now, ep);
			c->blames[c->nblames++] = &p->phase.blame;
			if (!err && at.ends >> k & 1) {
				if (ep->state == MODEL_INCOMPLETE)
					give_up(p);
				else
					err = phase_end(&p->phase, &p->now, ep->release_ns);
				p->open = false;
			}
		}
		if (!p->open && at.begins >> k & 1 && ep->state != MODEL_INCOMPLETE)
			begin(p, ep->release_ns);
	}
	return err;
}

int conceptual_episode(struct conceptual *c, const struct model *model,
		       const struct model_episode *ep)
{
	int err = 0;

	c->nblames = 0;
	/* A nested episode lies inside the wait at another barrier and is not added to any sum. */
	if (ep->nested || !ep->n)
		return 0;
	if (c->n)
		err = bounded_episode(c, model, ep);
	return err ? err : user_phases_episode(c->user_phases, ep, c->blames, &c->nblames);
}

int conceptual_mark(struct conceptual *c, const struct model *model, uint32_t thread,
		    const char *name, const struct model_mark *mark)
{
	return user_phases_add(c->user_phases, model_thread(model, thread)->proc, thread, name,
			       mark);
}

int conceptual_finish(struct conceptual *c)
{
	return user_phases_finish(c->user_phases);
}

uint64_t conceptual_marks(const struct conceptual *c, uint32_t proc)
{
	return c ? user_phases_n(c->user_phases, proc) : 0;
}

uint64_t conceptual_refused(const struct conceptual *c)
{
	return user_phases_refused(c->user_phases);
}

struct blame *const *conceptual_blames(const struct conceptual *c, uint32_t *n)
{
	*n = c->nblames;
	return c->blames;
}

/* --- results --- */

int conceptual_report(const struct conceptual *c, const struct report_env *env,
		      const struct model_proc *procs, const struct model_thread *threads,
		      const uint32_t *position, struct arena *arena, struct report *out)
{
	struct phase_build b = { env, threads, position, arena };
	size_t most = (size_t)c->nprocs * c->n + user_phases_phases(c->user_phases);
	struct report_conceptual *row;
	const struct bounded *p;
	uint32_t i, k;
	int err = 0;

	out->conceptuals = arena_alloc(arena, (most + 1) * sizeof(*out->conceptuals));
	if (!out->conceptuals)
		return -ENOMEM;
	/* Sort by name, then by process, so that comparable rows are adjacent. */
	for (k = 0; k < c->n; k++) {
		for (i = 0; i < c->nprocs && !err; i++) {
			p = c->procs[i] ? &c->procs[i][k] : NULL;
			if (!p || !p->begun)
				continue;
			row = &out->conceptuals[out->nconceptuals++];
			row->name = c->names[k];
			/*
			 * Count an open occurrence as unfinished, unless no episode followed its
			 * start.
			 */
			err = phase_out(&b, &p->phase, p->open && p->now.shares.n, &procs[i], row);
		}
	}
	return err ? err : user_phases_report(c->user_phases, &b, procs, out);
}
