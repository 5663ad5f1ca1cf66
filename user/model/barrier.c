// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The rows of the report. A row is a call site within a process. Episodes with members from several
 * call sites have a row for the sorted set of these call sites.
 */
#include "model/internal.h"

#include "base/array.h"
#include "base/grow.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool one_site(const struct episode *e)
{
	uint32_t i;

	for (i = 1; i < e->n; i++)
		if (e->members[i].pub.site != e->members[0].pub.site)
			return false;
	return true;
}

/* Write the sorted set of call sites to m->sites. */
static int collect_sites(struct model *m, const struct episode *e, uint32_t *n)
{
	uint32_t i, kept = 1;
	int err = grow(m->sites, m->cap_sites, e->n);

	if (err)
		return err;
	for (i = 0; i < e->n; i++)
		m->sites[i] = e->members[i].pub.site;
	qsort(m->sites, e->n, sizeof(*m->sites), number_compare_u32);
	for (i = 1; i < e->n; i++)
		if (m->sites[i] != m->sites[kept - 1])
			m->sites[kept++] = m->sites[i];
	*n = kept < MODEL_SITES_MAX ? kept : MODEL_SITES_MAX;
	return 0;
}

static uint64_t row_key(const struct row_id *id, const uint32_t *sites, uint32_t n)
{
	uint64_t k = hash_mix((uint64_t)id->proc << 16 | id->family << 8 | id->nested);
	uint32_t i;

	for (i = 0; i < n; i++)
		k = hash_mix(k ^ ((uint64_t)sites[i] + 1));
	return k;
}

static bool row_is(const struct row *r, const struct row_id *id, const uint32_t *sites, uint32_t n)
{
	return r->pub.proc == id->proc && r->pub.family == id->family &&
	       r->pub.nested == id->nested && r->pub.nsites == n &&
	       (!n || !memcmp(r->sites, sites, n * sizeof(*sites)));
}

static int row_new(struct model *m, const struct row_id *id, const uint32_t *sites, uint32_t n,
		   uint64_t key, uint32_t *index)
{
	uint64_t head = MODEL_NONE;
	struct row *r;
	uint32_t *own = malloc((n ? n : 1) * sizeof(*own));
	int err;

	if (!own)
		return -ENOMEM;
	err = m->nfree_rows ? 0 : table_add(&m->rows);
	if (err) {
		free(own);
		return err;
	}
	*index = m->nfree_rows ? m->free_rows[--m->nfree_rows] : m->rows.n - 1;
	r = row_at(m, *index);
	if (n)
		memcpy(own, sites, n * sizeof(*own));
	hash_get(&m->row_by_id, key, &head);
	r->hash_next = head;
	r->index = *index;
	r->sites = own;
	r->pub.sites = own;
	r->pub.nsites = n;
	r->pub.proc = id->proc;
	r->pub.before = proc_at(m, id->proc)->rows;
	proc_at(m, id->proc)->rows = *index;
	r->pub.family = id->family;
	r->pub.kind = id->kind;
	r->pub.nested = id->nested;
	r->pub.object = id->object;
	r->pub.objects = 1;
	r->pub.team_min = UINT32_MAX;
	model_stat_init(&r->pub.phase);
	model_stat_init(&r->pub.barrier);
	model_stat_init(&r->pub.wait);
	model_stat_init(&r->pub.release);
	err = hash_put(&m->row_by_id, key, *index);
	if (err)
		return err;
	if (m->ops.barrier) {
		m->ops.barrier(m->ops.ctx, m, *index, &r->pub);
		r->pub.has_user = true;
	}
	return 0;
}

/* Return the index of the row, or MODEL_NONE. */
static uint32_t row_known(const struct model *m, const struct row_id *id, const uint32_t *sites,
			  uint32_t n)
{
	uint64_t i;

	if (!hash_get(&m->row_by_id, row_key(id, sites, n), &i))
		return MODEL_NONE;
	while (i != MODEL_NONE && !row_is(row_at(m, i), id, sites, n))
		i = row_at(m, i)->hash_next;
	return i;
}

static int row_find(struct model *m, const struct row_id *id, const uint32_t *sites, uint32_t n,
		    uint32_t *index)
{
	*index = row_known(m, id, sites, n);
	if (*index != MODEL_NONE)
		return 0;
	/*
	 * Programs hardly have this many call sites. Further call sites of a process share one row
	 * without a call site.
	 */
	if (n && m->rows.n - m->nfree_rows >= MODEL_ROWS_MAX)
		return row_find(m, id, NULL, 0, index);
	return row_new(m, id, sites, n, row_key(id, sites, n), index);
}

static struct row_id id_of(const struct episode *e)
{
	return (struct row_id){ .proc = e->proc,
				.family = e->object->family,
				.kind = e->n ? e->members[0].pub.kind : 0,
				.nested = e->nested,
				.object = e->object->addr };
}

int barrier_row_at(struct model *m, const struct row_id *id, uint32_t site, uint32_t *row)
{
	return row_find(m, id, &site, 1, row);
}

int barrier_row_of(struct model *m, const struct row_id *id, const uint32_t *sites, uint32_t n,
		   bool make, uint32_t *row)
{
	if (!make && row_known(m, id, sites, n) == MODEL_NONE)
		n = 0;
	return row_find(m, id, sites, n, row);
}

int barrier_row(struct model *m, struct episode *e, uint32_t *row)
{
	struct object *o = e->object;
	uint32_t site = e->members[0].pub.site, n = 1;
	struct row_id id;
	int err;

	if (one_site(e)) {
		if (o->row != MODEL_NONE && o->row_site == site && o->row_nested == e->nested) {
			*row = o->row;
			return 0;
		}
		id = id_of(e);
		err = row_find(m, &id, &site, 1, row);
		if (!err) {
			o->row = *row;
			o->row_site = site;
			o->row_nested = e->nested;
		}
		return err;
	}
	err = collect_sites(m, e, &n);
	id = id_of(e);
	return err ? err : row_find(m, &id, m->sites, n, row);
}

/*
 * Return the thread's entry in the row if the entry's position is in the thread's cache; else NULL.
 */
struct model_barrier_thread *barrier_thread_known(const struct row *r, const struct thread *t)
{
	uint32_t way = r->index % THREAD_CACHE;

	return t->rows[way].row == r->index ? &r->pub.threads[t->rows[way].pos] : NULL;
}

int barrier_thread(struct row *r, struct thread *t, struct model_barrier_thread **out)
{
	uint32_t way = r->index % THREAD_CACHE;
	struct model_barrier_thread *bt = barrier_thread_known(r, t);
	uint64_t pos;
	int err;

	if (bt) {
		*out = bt;
		return 0;
	}
	if (!hash_get(&r->by_thread, t->index, &pos)) {
		pos = r->pub.nthreads;
		err = grow(r->pub.threads, r->cap_threads, pos + 1);
		if (!err)
			err = hash_put(&r->by_thread, t->index, pos);
		if (err)
			return err;
		bt = &r->pub.threads[r->pub.nthreads++];
		memset(bt, 0, sizeof(*bt));
		bt->thread = t->index;
		bt->place = MODEL_NONE;
	}
	t->rows[way].row = r->index;
	t->rows[way].pos = pos;
	*out = &r->pub.threads[pos];
	return 0;
}

/* Find or add the phase that began at barrier @from. *out is NULL if there are too many phases. */
int barrier_phase(struct row *r, uint32_t from, struct model_phase **out)
{
	struct model_phase *ph;
	uint32_t i;
	int err;

	if (r->last_phase < r->pub.nphases && r->pub.phases[r->last_phase].from == from) {
		*out = &r->pub.phases[r->last_phase];
		return 0;
	}
	for (i = 0; i < r->pub.nphases && r->pub.phases[i].from != from; i++)
		;
	if (i == MODEL_PHASES_MAX) {
		*out = NULL;
		return 0;
	}
	if (i == r->pub.nphases) {
		err = grow(r->pub.phases, r->cap_phases, i + 1);
		if (err)
			return err;
		ph = &r->pub.phases[r->pub.nphases++];
		memset(ph, 0, sizeof(*ph));
		ph->from = from;
		model_stat_init(&ph->time);
	}
	r->last_phase = i;
	*out = &r->pub.phases[i];
	return 0;
}

static void add_to(struct model_barrier_thread *sum, const struct model_barrier_thread *bt)
{
	sum->crossings += bt->crossings;
	sum->wait_ns += bt->wait_ns;
	sum->waits += bt->waits;
	sum->wait_squares += bt->wait_squares;
	sum->idle_ns += bt->idle_ns;
	sum->undeparted += bt->undeparted;
	sum->work_ns += bt->work_ns;
	sum->team_work_ns += bt->team_work_ns;
	sum->work_n += bt->work_n;
	sum->last += bt->last;
	model_sums_join(&sum->sums, &bt->sums);
	if (bt->wait_max_ns > sum->wait_max_ns)
		sum->wait_max_ns = bt->wait_max_ns;
}

/* Add up the entries of threads that are being folded, into one entry without a thread. */
int barrier_fold(struct row *r, const struct model *m)
{
	struct model_barrier_thread sum = { .thread = MODEL_NONE }, *bt;
	uint32_t i, kept = 0;
	bool any = false;
	int err = 0;

	array_for_each (t, r->pub.threads, r->pub.nthreads) {
		bt = t;
		if (bt->thread == MODEL_NONE || thread_at(m, bt->thread)->folded) {
			any = true;
			add_to(&sum, bt);
		}
	}
	if (!any)
		return 0;
	for (i = 0; i < r->pub.nthreads; i++) {
		bt = &r->pub.threads[i];
		if (bt->thread != MODEL_NONE && !thread_at(m, bt->thread)->folded)
			r->pub.threads[kept++] = *bt;
	}
	r->pub.threads[kept++] = sum;
	r->pub.nthreads = kept;
	hash_free(&r->by_thread);
	for (i = 0; i + 1 < kept && !err; i++)
		err = hash_put(&r->by_thread, r->pub.threads[i].thread, i);
	return err;
}

int barrier_join_threads(struct row *to, const struct row *from)
{
	struct model_barrier_thread *sum;
	int err;

	if (!to->pub.nthreads) {
		err = grow(to->pub.threads, to->cap_threads, 1);
		if (err)
			return err;
		to->pub.threads[to->pub.nthreads++] =
			(struct model_barrier_thread){ .thread = MODEL_NONE, .place = MODEL_NONE };
	}
	sum = &to->pub.threads[to->pub.nthreads - 1];
	array_for_each (t, from->pub.threads, from->pub.nthreads)
		add_to(sum, t);
	return 0;
}

static int unlink_row(struct model *m, struct row *r)
{
	struct row_id id = { .proc = r->pub.proc,
			     .family = r->pub.family,
			     .nested = r->pub.nested };
	uint64_t key = row_key(&id, r->sites, r->pub.nsites), head = MODEL_NONE;
	struct row *p;

	hash_get(&m->row_by_id, key, &head);
	if (head == r->index && r->hash_next != MODEL_NONE)
		return hash_put(&m->row_by_id, key, r->hash_next);
	if (head == r->index) {
		hash_del(&m->row_by_id, key);
		return 0;
	}
	for (p = row_at(m, (uint32_t)head); p->hash_next != r->index;)
		p = row_at(m, p->hash_next);
	p->hash_next = r->hash_next;
	return 0;
}

int barrier_empty(struct model *m, struct row *r)
{
	uint32_t index = r->index;
	int err = grow(m->free_rows, m->cap_free_rows, m->nfree_rows + 1);

	if (!err)
		err = unlink_row(m, r);
	if (err)
		return err;
	barrier_free(r);
	memset(r, 0, sizeof(*r));
	r->index = index;
	r->pub.proc = r->pub.before = MODEL_NONE;
	m->free_rows[m->nfree_rows++] = index;
	return 0;
}

void barrier_free(struct row *r)
{
	free(r->sites);
	free(r->pub.threads);
	free(r->pub.phases);
	hash_free(&r->by_thread);
}
