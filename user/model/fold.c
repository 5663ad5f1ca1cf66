// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * A program that makes a thread for each task makes millions of threads. If too many are kept, all
 * threads that have ended are folded: their figures are added to the sums of their process and its
 * barriers. Folding many threads at once keeps the cost per thread small.
 */
#include "model/internal.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static void mark_members(const struct member *members, uint32_t n)
{
	array_for_each (m, members, n)
		m->thread->busy = true;
}

/* Mark the threads that are members of unfinished episodes. These threads must not be folded. */
void thread_mark_busy(struct model *m)
{
	const struct object *o;
	const struct queue *q;
	struct list *l;
	uint32_t i, j;

	for (i = 0; i < m->threads.n; i++)
		thread_at(m, i)->busy = thread_at(m, i)->nparked > 0;
	for (l = m->objects.next; l != &m->objects; l = l->next) {
		o = container_of(l, struct object, lru);
		for (i = 0; i < o->nopen; i++)
			mark_members(o->open[i]->members, o->open[i]->n);
		if (o->pending)
			mark_members(o->pending->members, o->pending->n);
		mark_members(o->cyclic.buf, o->cyclic.n);
	}
	for (i = 0; i < m->procs.n; i++) {
		q = m->queues[i];
		for (j = 0; j < q->n; j++)
			mark_members(q->heap[j].episode->members, q->heap[j].episode->n);
	}
}

static void fold_one(struct proc *p, struct thread *t)
{
	struct model_thread th;
	uint64_t ideal;

	if (t->summed)
		t->pub.outside_ns = summed_outside(t);
	thread_at_end(t, t->pub.end_ns, &th, &ideal);
	if (t->crossed) {
		p->pub.folded.threads++;
		p->pub.folded.crossings += th.crossings;
		p->pub.folded.last += th.last;
		p->pub.folded.outside_ns += th.outside_ns;
		p->pub.folded.idle_ns += th.idle_ns;
		p->pub.folded.wait_ns += th.wait_ns;
		p->pub.folded.unknown_ns += th.unknown_ns;
		p->pub.folded.life_ns +=
			number_less(number_less(th.end_ns, th.start_ns), th.away_ns);
		model_sums_join(&p->pub.folded.sums, &th.sums);
		if (th.outside_ns > p->pub.folded.outside_max_ns)
			p->pub.folded.outside_max_ns = th.outside_ns;
		if (th.start_ns < p->folded_start)
			p->folded_start = th.start_ns;
		if (th.end_ns > p->folded_end)
			p->folded_end = th.end_ns;
		if (ideal > p->folded_ideal)
			p->folded_ideal = ideal;
	}
	t->folded = true;
}

static void forget_number(struct model *m, const struct proc *p, const struct thread *t)
{
	uint64_t key = (uint64_t)p->pub.inc << 32 | t->pub.tid, i;

	if (hash_get(&m->thread_by_id, key, &i) && i == t->index)
		hash_del(&m->thread_by_id, key);
}

static int empty_place(struct model *m, struct thread *t)
{
	uint32_t index = t->index;
	int err = model_grow((void **)&m->free_threads, &m->cap_free_threads, m->nfree_threads + 1,
			     sizeof(*m->free_threads));

	if (err)
		return err;
	tail_drop(m, t);
	free(t->parked);
	memset(t, 0, sizeof(*t));
	t->index = index;
	t->folded = true;
	t->pub.proc = MODEL_NONE;
	t->pub.depart_ns = t->pub.release_ns = t->pub.pending_ns = MODEL_UNKNOWN;
	t->pub.barrier = MODEL_NONE;
	m->free_threads[m->nfree_threads++] = index;
	return 0;
}

void thread_fold_process(struct model *m, struct proc *p, uint32_t *list)
{
	struct thread *t;
	uint32_t *link = &p->threads;

	while (*link != MODEL_NONE) {
		t = thread_at(m, *link);
		if (!t->pub.exited || t->busy) {
			link = &t->next;
			continue;
		}
		fold_one(p, t);
		forget_number(m, p, t);
		*link = t->next;
		t->next = *list;
		*list = t->index;
	}
}

int thread_empty_places(struct model *m, uint32_t list)
{
	struct thread *t;
	int err = 0;

	while (list != MODEL_NONE && !err) {
		t = thread_at(m, list);
		list = t->next;
		err = empty_place(m, t);
	}
	return err;
}

int thread_fold(struct model *m)
{
	uint32_t i, way, list = MODEL_NONE;
	struct list *l;
	int err = 0;

	thread_mark_busy(m);
	teams_forget(m);
	for (i = 0; i < m->procs.n; i++)
		thread_fold_process(m, proc_at(m, i), &list);
	for (l = m->objects.next; l != &m->objects; l = l->next)
		slots_purge(m, container_of(l, struct object, lru), 0);
	for (i = 0; i < m->rows.n && !err; i++)
		err = barrier_fold(row_at(m, i), m);
	for (i = 0; i < m->threads.n; i++)
		for (way = 0; way < THREAD_CACHE; way++)
			thread_at(m, i)->rows[way].row = MODEL_NONE;
	if (!err)
		err = thread_empty_places(m, list);
	m->nended = 0;
	return err;
}
