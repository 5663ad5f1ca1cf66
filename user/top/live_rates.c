// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/grow.h"
#include "top/live_rates_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Rows of exited processes are kept this long. */
#define KEEP_NS 5000000000ULL

struct live_rates *live_rates_new(void)
{
	return calloc(1, sizeof(struct live_rates));
}

static void place_free(struct live_rates_place *p)
{
	if (!p)
		return;
	free(p->threads_was);
	free(p->threads);
	free(p);
}

static void places_free(struct live_rates_place **places, uint32_t n)
{
	while (n--)
		place_free(places[n]);
	free(places);
}

void live_rates_free(struct live_rates *r)
{
	if (!r)
		return;
	places_free(r->places, r->nplaces);
	places_free(r->unmet, r->nunmet);
	places_free(r->procs, r->nprocs);
	free(r->shown);
	free(r->shown_procs);
	free(r->waiting);
	hash_free(&r->by_tid);
	hash_free(&r->by_proc);
	hash_free(&r->by_site);
	hash_free(&r->by_object);
	free(r);
}

/* --- rows ------------------------------------------------------------------------------------- */

/*
 * Take over the lost time that was reported for the barrier before any thread had departed from it.
 */
static void inherit(struct live_rates *r, struct live_rates_place *p)
{
	struct live_rates_place *u;
	uint32_t i;

	for (i = 0; i < r->nunmet; i++) {
		u = r->unmet[i];
		if (u->row.proc != p->row.proc || u->row.object != p->row.object)
			continue;
		p->credit = u->credit;
		p->row.sum_lost_ns = u->row.sum_lost_ns;
		r->unmet[i] = r->unmet[--r->nunmet];
		place_free(u);
		return;
	}
}

static int add_place(struct live_rates *r, const struct model *m, uint32_t index)
{
	const struct model_barrier *b = model_barrier(m, index);
	struct live_rates_place *p = calloc(1, sizeof(*p));
	uint64_t other;
	uint32_t i;
	int err = 0;

	if (!p)
		return -ENOMEM;
	r->places[index] = p;
	p->row = (struct live_rates_row){ .barrier = index,
					  .proc = b->proc,
					  .site = MODEL_NONE,
					  .key = (uint64_t)index + 1,
					  .nested = b->nested,
					  .object = b->object };
	inherit(r, p);
	for (i = 0; i < b->nsites && !b->nested && !err; i++) {
		/* A barrier with only this site has priority over a barrier with several sites. */
		if (b->nsites == 1 ||
		    !hash_get(&r->by_site, live_rates_place_key(b->proc, b->sites[i]), &other))
			err = hash_put(&r->by_site, live_rates_place_key(b->proc, b->sites[i]),
				       index);
	}
	return err;
}

/* Add new barriers, before waits are assigned to places. */
static int add_new(struct live_rates *r, const struct model *m)
{
	uint32_t i, n = model_nbarriers(m);
	const struct model_barrier *b;
	int err = grow_zeroed(r->places, r->cap_places, n);

	for (i = 0; i < n && !err; i++) {
		b = model_barrier(m, i);
		if (i >= r->nplaces)
			err = add_place(r, m, i);
		if (err)
			break;
		r->nplaces = i < r->nplaces ? r->nplaces : i + 1;
		r->places[i]->row.object = b->object;
	}
	return err;
}

static void hide(struct live_rates_place *p)
{
	free(p->threads_was);
	free(p->threads);
	p->threads_was = NULL;
	p->threads = NULL;
	p->nwas = p->cap_was = p->nthreads = p->cap_threads = 0;
	p->hidden = true;
}

static int show(const struct live_rates_row ***list, uint32_t *n, uint32_t *cap,
		struct live_rates_place *p)
{
	int err = grow_zeroed(*list, *cap, *n + 1);

	if (err)
		return err;
	p->row.threads = p->threads;
	p->row.nthreads = p->nthreads;
	(*list)[(*n)++] = &p->row;
	return 0;
}

static int look_at(struct live_rates *r, const struct model *m, const struct causes *causes,
		   uint32_t i)
{
	const struct model_barrier *b = model_barrier(m, i);
	struct live_rates_place *p = r->places[i];
	bool active = b->crossings != p->was.crossings || p->row.waiting;
	struct live_rates_sums now;

	p->row.exited = model_proc(m, b->proc)->exited;
	p->row.team = b->team_max;
	if (active)
		p->active_ns = r->now_ns;
	p->row.quiet_ns = r->now_ns - p->active_ns;
	if (!active && (p->still || p->hidden)) {
		if (p->row.exited && p->row.quiet_ns > KEEP_NS && !p->hidden)
			hide(p);
		return 0;
	}
	p->hidden = false;
	p->still = !active && !p->credit.ns;
	live_rates_take_sums(b, causes, i, &now);
	live_rates_take_row(p, &now);
	return live_rates_take_threads(r, m, p, b);
}

static void look_at_unmet(struct live_rates *r)
{
	struct live_rates_place *p;
	uint32_t i, kept = 0;

	for (i = 0; i < r->nunmet; i++) {
		p = r->unmet[i];
		if (!p->row.waiting) {
			place_free(p);
			continue;
		}
		p->row.lost_ns = live_rates_settle(&p->credit, 0, p->open_ns);
		p->row.sum_lost_ns += p->row.lost_ns;
		p->row.last_thread = MODEL_NONE;
		r->unmet[kept++] = p;
	}
	r->nunmet = kept;
}

static int show_all(struct live_rates *r)
{
	struct live_rates_place *p;
	uint32_t i;
	int err = 0;

	r->nshown = r->nshown_procs = 0;
	for (i = 0; i < r->nplaces + r->nunmet && !err; i++) {
		p = i < r->nplaces ? r->places[i] : r->unmet[i - r->nplaces];
		if (p->hidden)
			continue;
		err = show(&r->shown, &r->nshown, &r->cap_shown, p);
		if (!err)
			err = live_rates_add_to_process(r, p);
	}
	for (i = 0; i < r->nprocs && !err; i++) {
		p = r->procs[i];
		if (!p)
			continue;
		if (p->active_ns != r->now_ns) {
			place_free(p);
			r->procs[i] = NULL;
			continue;
		}
		live_rates_merge_threads(p);
		err = show(&r->shown_procs, &r->nshown_procs, &r->cap_shown_procs, p);
	}
	return err;
}

/* --- a look ----------------------------------------------------------------------------------- */

int live_rates_look(struct live_rates *r, const struct model *m, const struct causes *causes,
		    uint64_t now_ns)
{
	uint32_t i;
	int err;

	r->begin_ns = r->looked ? r->now_ns : model_start(m);
	r->now_ns = now_ns > r->begin_ns ? now_ns : r->begin_ns;
	r->looked = true;
	err = live_rates_know_procs(r, m);
	if (!err)
		err = add_new(r, m);
	if (err)
		return err;
	live_rates_clear_waiting(r);
	err = live_rates_know_objects(r);
	for (i = 0; i < r->nwaiting && !err; i++)
		err = live_rates_put_waiting(r, &r->waiting[i]);
	live_rates_count_waiting(r, r->now_ns);
	for (i = 0; i < r->nplaces && !err; i++)
		err = look_at(r, m, causes, i);
	look_at_unmet(r);
	if (!err)
		err = live_rates_take_newcomers(r);
	if (!err)
		err = show_all(r);
	r->nwaiting = 0;
	hash_free(&r->by_tid);
	return err;
}

uint64_t live_rates_interval_ns(const struct live_rates *r)
{
	return r->now_ns - r->begin_ns;
}

uint32_t live_rates_nbarriers(const struct live_rates *r)
{
	return r->nshown;
}

const struct live_rates_row *live_rates_barrier(const struct live_rates *r, uint32_t i)
{
	return r->shown[i];
}

uint32_t live_rates_nprocesses(const struct live_rates *r)
{
	return r->nshown_procs;
}

const struct live_rates_row *live_rates_process(const struct live_rates *r, uint32_t i)
{
	return r->shown_procs[i];
}

double live_rates_per_second(const struct live_rates *r, uint64_t amount)
{
	uint64_t ns = live_rates_interval_ns(r);

	return ns ? (double)amount * 1e9 / (double)ns : NAN;
}

double live_rates_imbalance(const struct live_rates_row *row)
{
	double share;

	if (!row->phase_thread_ns)
		return NAN;
	share = (double)row->phase_wait_ns / (double)row->phase_thread_ns;
	return share > 1 ? 1 : share;
}

const char *live_rates_cause(const struct live_rates_row *row, double *share, bool *balanced)
{
	enum cause_kind top = CAUSE_NONE;
	double named = 0;
	unsigned k;

	*balanced = false;
	for (k = 0; k < CAUSE_KINDS; k++) {
		named += row->weight[k];
		if (row->weight[k] > 0 && (top == CAUSE_NONE || row->weight[k] > row->weight[top]))
			top = k;
	}
	/* If much time was lost to waits without a known cause, the row is not balanced. */
	*balanced = row->weighed_thread_ns > 0 && named < CAUSE_LITTLE * row->weighed_thread_ns &&
		    !(live_rates_imbalance(row) >= CAUSE_LITTLE);
	if (top == CAUSE_NONE || named < CAUSE_LITTLE * row->weighed_thread_ns)
		return NULL;
	*share = row->weight[top] / row->weighed;
	return cause_name(top);
}
