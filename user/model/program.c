// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * If more processes have exited than the model keeps, they are folded into their program. The sums
 * of such a process are added to those of the program's first process, and its index is reused. The
 * processes with the largest losses are kept.
 */
#include "model/internal.h"

#include "base/array.h"
#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* This long (ns) after the exit of a process, all of its records have arrived. */
#define SETTLED_NS 3000000000ULL
/* Interval (ns) at which exited processes are examined. */
#define LOOK_NS	   1000000000ULL
/* Maximum number of rows of one program. Further call sites share one row. */
#define ROWS_MAX   256

struct loss {
	uint64_t wait_ns;
	uint32_t proc; /* index */
	uint32_t at; /* position in the order of exits */
};

void model_keep(struct model *m, uint32_t exited)
{
	m->keep = exited;
	m->folds = true;
}

int program_exited(struct model *m, struct proc *p)
{
	int err;

	if (!m->folds)
		return 0;
	err = grow(m->exited, m->cap_exited, m->nexited + 1);
	if (!err)
		m->exited[m->nexited++] = p->index;
	return err;
}

int take_program(struct model *m, uint32_t tgid, uint32_t inc, uint64_t program)
{
	struct proc *p = proc_find(m, tgid, inc);

	if (p)
		p->program = program;
	return 0;
}

/* --- which processes are folded --- */

static uint64_t wait_of(const struct model *m, const struct proc *p)
{
	uint64_t sum = p->pub.folded.wait_ns;
	uint32_t i;

	for (i = p->threads; i != MODEL_NONE; i = thread_at(m, i)->next)
		sum += thread_at(m, i)->pub.wait_ns;
	return sum;
}

/*
 * Return false for a process that shares barriers with other processes, or that was traced only in
 * part.
 */
static bool may_fold(const struct model *m, const struct proc *p)
{
	uint32_t i;

	if (m->queues[p->index]->joined || p->pub.nparts || p->pub.detached.t_ns != MODEL_UNKNOWN)
		return false;
	for (i = p->rows; i != MODEL_NONE; i = row_at(m, i)->pub.before)
		if (row_at(m, i)->pub.shared)
			return false;
	return !m->ops.may_fold || m->ops.may_fold(m->ops.ctx, m, p->index);
}

static bool is_settled(const struct model *m, const struct proc *p)
{
	return p->pub.end_ns + SETTLED_NS <= m->watermark;
}

static int by_loss(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;

	return x->wait_ns != y->wait_ns ? NUMBER_COMPARE(y->wait_ns, x->wait_ns)
					: NUMBER_COMPARE(x->at, y->at);
}

static int by_exit(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;

	return NUMBER_COMPARE(x->at, y->at);
}

/*
 * Close the open episodes of the processes that are folded, as at the end: no more records follow.
 */
static int close_objects(struct model *m)
{
	struct object *o;
	struct list *l;
	int err = 0;

	for (l = m->objects.next; l != &m->objects && !err; l = l->next) {
		o = container_of(l, struct object, lru);
		if (!proc_at(m, o->proc)->folding)
			continue;
		err = object_finish(m, o);
		if (!err)
			err = queue_flush(m, m->queues[o->proc], true);
	}
	return err;
}

static int free_objects(struct model *m)
{
	struct list *l, *next;
	struct object *o;
	int err = 0;

	for (l = m->objects.next; l != &m->objects && !err; l = next) {
		next = l->next;
		o = container_of(l, struct object, lru);
		if (!proc_at(m, o->proc)->folding)
			continue;
		err = object_unlink(m, o);
		if (!err)
			object_free(m, o);
	}
	return err;
}

/* --- sums ------------------------------------------------------------------------------------ */

static void join_row(struct row *to, const struct row *from)
{
	struct model_barrier *a = &to->pub;
	const struct model_barrier *b = &from->pub;

	a->summed |= b->summed;
	a->has_user |= b->has_user;
	a->probe_groups |= b->probe_groups;
	/* An address has no meaning in another process. */
	a->objects = 2;
	a->episodes += b->episodes;
	a->incomplete += b->incomplete;
	a->ambiguous += b->ambiguous;
	a->crossings += b->crossings;
	a->inferred += b->inferred;
	a->unmet += b->unmet;
	if (b->team_min < a->team_min)
		a->team_min = b->team_min;
	if (b->team_max > a->team_max)
		a->team_max = b->team_max;
	model_stat_join(&a->phase, &b->phase);
	model_stat_join(&a->barrier, &b->barrier);
	model_stat_join(&a->wait, &b->wait);
	model_stat_join(&a->release, &b->release);
	a->max_work_ns += b->max_work_ns;
	a->margin_ns += b->margin_ns;
	a->summed_thread_ns += b->summed_thread_ns;
	/* Phase numbers count within a process, so they mean nothing in a sum. */
	memset(a->longest, 0, sizeof(a->longest));
}

static int join_phases(struct model *m, struct row *to, const struct row *from)
{
	const struct model_phase *ph;
	struct model_phase *sum;
	uint32_t i;
	int err = 0;

	for (i = 0; i < from->pub.nphases && !err; i++) {
		ph = &from->pub.phases[i];
		err = barrier_phase(
			to, ph->from == MODEL_NONE ? MODEL_NONE : row_at(m, ph->from)->joins, &sum);
		if (err || !sum)
			continue;
		model_stat_join(&sum->time, &ph->time);
		sum->wait_ns += ph->wait_ns;
		sum->thread_ns += ph->thread_ns;
	}
	return err;
}

/* Find the row of @into to which each row of @from is added. */
static int find_rows(struct model *m, const struct proc *from, const struct proc *into)
{
	struct row_id id = { .proc = into->index };
	uint32_t i, n = 0;
	struct row *r;
	int err = 0;

	for (i = into->rows; i != MODEL_NONE; i = row_at(m, i)->pub.before)
		n++;
	for (i = from->rows; i != MODEL_NONE && !err; i = r->pub.before) {
		r = row_at(m, i);
		id.family = r->pub.family;
		id.kind = r->pub.kind;
		id.nested = r->pub.nested;
		id.object = r->pub.object;
		err = barrier_row_of(m, &id, r->sites, r->pub.nsites, n < ROWS_MAX, &r->joins);
		n += !err && row_at(m, r->joins)->pub.crossings == 0;
	}
	return err;
}

static int join_rows(struct model *m, struct proc *from, struct proc *into)
{
	struct row *r;
	uint32_t i;
	int err = find_rows(m, from, into);

	for (i = from->rows; i != MODEL_NONE && !err; i = r->pub.before) {
		r = row_at(m, i);
		join_row(row_at(m, r->joins), r);
		err = barrier_join_threads(row_at(m, r->joins), r);
		if (!err)
			err = join_phases(m, row_at(m, r->joins), r);
		if (!err && m->ops.barrier_folded)
			m->ops.barrier_folded(m->ops.ctx, m, i, r->joins);
	}
	while (from->rows != MODEL_NONE && !err) {
		i = from->rows;
		from->rows = row_at(m, i)->pub.before;
		err = barrier_empty(m, row_at(m, i));
	}
	return err;
}

static uint64_t life_of(const struct proc *p)
{
	if (p->pub.processes > 1)
		return p->pub.life_ns;
	return p->pub.start_seen ? number_less(p->pub.end_ns, p->pub.start_ns) : MODEL_UNKNOWN;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a == MODEL_UNKNOWN || b == MODEL_UNKNOWN ? MODEL_UNKNOWN : a + b;
}

static void join_folded(struct proc *to, const struct proc *from)
{
	to->pub.folded.threads += from->pub.folded.threads;
	to->pub.folded.crossings += from->pub.folded.crossings;
	to->pub.folded.last += from->pub.folded.last;
	to->pub.folded.outside_ns += from->pub.folded.outside_ns;
	to->pub.folded.idle_ns += from->pub.folded.idle_ns;
	to->pub.folded.wait_ns += from->pub.folded.wait_ns;
	to->pub.folded.unknown_ns += from->pub.folded.unknown_ns;
	to->pub.folded.life_ns += from->pub.folded.life_ns;
	model_sums_join(&to->pub.folded.sums, &from->pub.folded.sums);
	if (from->pub.folded.outside_max_ns > to->pub.folded.outside_max_ns)
		to->pub.folded.outside_max_ns = from->pub.folded.outside_max_ns;
}

static void join_proc(struct proc *to, const struct proc *from)
{
	struct model_proc *a = &to->pub;
	const struct model_proc *b = &from->pub;

	a->life_ns = plus(life_of(to), life_of(from));
	a->elapsed_ns += b->elapsed_ns;
	a->ideal_ns = plus(a->ideal_ns, b->ideal_ns);
	a->processes += b->processes;
	if (b->start_ns < a->start_ns)
		a->start_ns = b->start_ns;
	if (b->end_ns > a->end_ns)
		a->end_ns = b->end_ns;
	a->start_seen &= b->start_seen;
	a->crossings += b->crossings;
	a->unmet += b->unmet;
	a->arrivals_unseen += b->arrivals_unseen;
	a->departures_unknown += b->departures_unknown;
	a->lost += b->lost;
	a->abandoned += b->abandoned;
	a->episodes += b->episodes;
	a->incomplete += b->incomplete;
	a->ambiguous += b->ambiguous;
	a->episodes_joined += b->episodes_joined;
	a->incomplete_joined += b->incomplete_joined;
	a->ambiguous_joined += b->ambiguous_joined;
	a->nthreads_crossed += b->nthreads_crossed;
	a->summed |= b->summed;
	join_folded(to, from);
}

/* Keep only the sums of the process's threads. */
static int fold_threads(struct model *m, struct proc *p)
{
	uint32_t i, list = MODEL_NONE;
	struct model_proc at;
	int err = 0;

	/* Calculate the process's times before its threads are folded. */
	model_proc_at(m, p->index, p->pub.end_ns, &at);
	p->pub.elapsed_ns = at.elapsed_ns;
	p->pub.ideal_ns = at.ideal_ns;
	thread_fold_process(m, p, &list);
	for (i = p->rows; i != MODEL_NONE && !err; i = row_at(m, i)->pub.before)
		err = barrier_fold(row_at(m, i), m);
	return err ? err : thread_empty_places(m, list);
}

/* --- indices --- */

static int empty_proc(struct model *m, struct proc *p)
{
	uint32_t index = p->index, i;
	int err = grow(m->free_procs, m->cap_free_procs, m->nfree_procs + 1);

	if (err)
		return err;
	proc_forget_number(m, p);
	for (i = 0; i < m->procs.n; i++)
		if (proc_at(m, i)->pub.parent == index)
			proc_at(m, i)->pub.parent = MODEL_NONE;
	memset(p, 0, sizeof(*p));
	proc_init(m, p, index);
	m->free_procs[m->nfree_procs++] = index;
	return 0;
}

static uint64_t key_of(const struct proc *p)
{
	uint64_t key = hash_mix(p->program), words[2];

	memcpy(words, p->pub.comm, sizeof(words));
	return hash_mix(hash_mix(key ^ words[0]) + words[1]);
}

static int fold_one(struct model *m, struct proc *p)
{
	uint64_t key = key_of(p), at;
	struct proc *into;
	int err = 0;

	if (!hash_get(&m->programs, key, &at))
		return hash_put(&m->programs, key, p->index);
	into = proc_at(m, at);
	if (into->pub.processes == 1)
		err = fold_threads(m, into);
	if (!err)
		err = fold_threads(m, p);
	if (!err)
		err = join_rows(m, p, into);
	if (err)
		return err;
	join_proc(into, p);
	if (m->ops.process_folded)
		m->ops.process_folded(m->ops.ctx, m, p->index, into->index);
	return empty_proc(m, p);
}

/* --- when processes are folded --- */

/*
 * Take the settled processes, with the largest losses first. The other processes stay in m->exited.
 */
static uint32_t take_settled(struct model *m, struct loss *out)
{
	uint32_t i, kept = 0, n = 0;
	struct proc *p;

	for (i = 0; i < m->nexited; i++) {
		p = proc_at(m, m->exited[i]);
		if (is_settled(m, p))
			out[n++] = (struct loss){ wait_of(m, p), p->index, i };
		else
			m->exited[kept++] = p->index;
	}
	m->nexited = kept;
	qsort(out, n, sizeof(*out), by_loss);
	return n;
}

/* Return true if the process has no unfinished episode. */
static bool is_over(const struct model *m, const struct proc *p)
{
	const struct queue *q = m->queues[p->index];
	const struct thread *t;
	uint32_t i;

	for (i = p->threads; i != MODEL_NONE; i = t->next) {
		t = thread_at(m, i);
		if (t->busy || !t->pub.exited)
			return false;
	}
	return !q->n && !q->nopen;
}

static int fold_all(struct model *m, struct loss *all, uint32_t n)
{
	uint32_t i, kept;
	int err;

	/*
	 * Sort by the order of exits, because the process that exited first receives the sums of
	 * the other processes.
	 */
	qsort(all, n, sizeof(*all), by_exit);
	for (i = kept = 0; i < n; i++)
		if (may_fold(m, proc_at(m, all[i].proc)))
			all[kept++] = all[i];
	n = kept;
	array_for_each (x, all, n)
		proc_at(m, x->proc)->folding = true;
	err = close_objects(m);
	thread_mark_busy(m);
	for (i = 0; i < n && !err; i++)
		proc_at(m, all[i].proc)->folding = is_over(m, proc_at(m, all[i].proc));
	if (!err)
		err = free_objects(m);
	for (i = 0; i < n && !err; i++)
		if (proc_at(m, all[i].proc)->folding)
			err = fold_one(m, proc_at(m, all[i].proc));
	for (i = 0; i < n; i++)
		proc_at(m, all[i].proc)->folding = false;
	return err;
}

/* Put the kept processes back into the list of exited processes. */
static void keep(struct model *m, struct loss *all, uint32_t n)
{
	uint32_t i;

	qsort(all, n, sizeof(*all), by_exit);
	memmove(&m->exited[n], m->exited, m->nexited * sizeof(*m->exited));
	for (i = 0; i < n; i++)
		m->exited[i] = all[i].proc;
	m->nexited += n;
}

int programs_fold(struct model *m)
{
	uint32_t n, kept;
	struct loss *all;
	int err = 0;

	if (!m->folds || m->nexited <= m->keep || m->watermark < m->fold_ns)
		return 0;
	m->fold_ns = m->watermark + LOOK_NS;
	all = malloc(m->nexited * sizeof(*all));
	if (!all)
		return -ENOMEM;
	n = take_settled(m, all);
	kept = n < m->keep ? n : m->keep;
	keep(m, all, kept);
	if (n > kept)
		err = fold_all(m, all + kept, n - kept);
	free(all);
	return err;
}
