// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Assign waits to barriers. */
#include "base/grow.h"
#include "top/live_rates_internal.h"

#include <errno.h>
#include <stdlib.h>

int live_rates_add_waiting(struct live_rates *r, const struct live_rates_waiting *waiting)
{
	int err = grow_zeroed(r->waiting, r->cap_waiting, r->nwaiting + 1);

	if (!err)
		err = hash_put(&r->by_tid, waiting->tid, r->nwaiting + 1);
	if (!err)
		r->waiting[r->nwaiting++] = (struct live_rates_wait){ .w = *waiting };
	return err;
}

uint64_t live_rates_place_key(uint32_t proc, uint64_t what)
{
	return hash_mix(what ^ hash_mix((uint64_t)proc + 1));
}

int live_rates_know_procs(struct live_rates *r, const struct model *m)
{
	const struct model_proc *p;
	int err = 0;

	for (; r->known_procs < model_nprocs(m) && !err; r->known_procs++) {
		p = model_proc(m, r->known_procs);
		err = hash_put(&r->by_proc, (uint64_t)p->tgid << 32 | p->inc, r->known_procs);
	}
	return err;
}

static struct live_rates_place *find_unmet(const struct live_rates *r, uint32_t proc,
					   const struct live_rates_waiting *w)
{
	uint32_t i;

	for (i = 0; i < r->nunmet; i++)
		if (r->unmet[i]->row.proc == proc && r->unmet[i]->row.object == w->object &&
		    r->unmet[i]->row.site == w->site)
			return r->unmet[i];
	return NULL;
}

static int add_unmet(struct live_rates *r, uint32_t proc, const struct live_rates_waiting *w,
		     struct live_rates_place **out)
{
	struct live_rates_place *p = calloc(1, sizeof(*p));

	if (!p || grow_zeroed(r->unmet, r->cap_unmet, r->nunmet + 1)) {
		free(p);
		return -ENOMEM;
	}
	p->row = (struct live_rates_row){
		.barrier = MODEL_NONE,
		.proc = proc,
		.site = w->site,
		.object = w->object,
		/* These keys are above those of all barriers, and below those of processes. */
		.key = 1ULL << 62 | ++r->unmet_key,
	};
	*out = r->unmet[r->nunmet++] = p;
	return 0;
}

int live_rates_know_objects(struct live_rates *r)
{
	const struct live_rates_row *row;
	uint32_t i;
	int err = 0;

	hash_free(&r->by_object);
	for (i = 0; i < r->nplaces && r->nwaiting && !err; i++) {
		row = &r->places[i]->row;
		if (!r->places[i]->hidden && !row->nested && !row->exited)
			err = hash_put(&r->by_object, live_rates_place_key(row->proc, row->object),
				       i);
	}
	return err;
}

int live_rates_put_waiting(struct live_rates *r, struct live_rates_wait *w)
{
	uint64_t proc, i;

	if (!hash_get(&r->by_proc, (uint64_t)w->w.tgid << 32 | w->w.inc, &proc))
		return 0;
	if ((w->w.site != MODEL_NONE &&
	     hash_get(&r->by_site, live_rates_place_key(proc, w->w.site), &i)) ||
	    hash_get(&r->by_object, live_rates_place_key(proc, w->w.object), &i)) {
		w->place = r->places[i];
		return 0;
	}
	w->place = find_unmet(r, proc, &w->w);
	return w->place ? 0 : add_unmet(r, proc, &w->w, &w->place);
}

void live_rates_count_waiting(struct live_rates *r, uint64_t now)
{
	struct live_rates_place *p;
	uint64_t ns;
	uint32_t i;

	for (i = 0; i < r->nwaiting; i++) {
		p = r->waiting[i].place;
		if (!p)
			continue;
		ns = now > r->waiting[i].w.arrive_ns ? now - r->waiting[i].w.arrive_ns : 0;
		p->row.waiting++;
		p->open_ns += ns;
		if (ns > p->row.waiting_ns)
			p->row.waiting_ns = ns;
	}
}

void live_rates_clear_waiting(struct live_rates *r)
{
	uint32_t i;

	for (i = 0; i < r->nplaces + r->nunmet; i++) {
		struct live_rates_place *p =
			i < r->nplaces ? r->places[i] : r->unmet[i - r->nplaces];

		p->row.waiting = 0;
		p->row.waiting_ns = p->open_ns = 0;
		if (i >= r->nplaces)
			p->nthreads = 0;
	}
}
