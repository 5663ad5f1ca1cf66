// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The model from its creation to its end: feed records, order each thread's records, and advance
 * the watermark.
 */
#include "model/internal.h"

#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Checking all open episodes and their threads takes time in proportion to their number, and a
 * hostile recording can advance the time with three bytes. Each advance therefore earns
 * ADVANCE_CREDIT, a check costs about 1 for each thread, and no check is made while the credit is
 * negative. So a thousand threads are checked at each advance, and a million threads are checked
 * once in a thousand advances.
 */
#define ADVANCE_CREDIT 1024

/* --- tables ---------------------------------------------------------------------------------- */

int table_add(struct table *t)
{
	if (t->n == t->nchunks * TABLE_CHUNK) {
		if (grow(t->chunks, t->cap, t->nchunks + 1))
			return -ENOMEM;
		/* Align the chunk, so that elements begin at a cache line. */
		t->chunks[t->nchunks] = aligned_alloc(TABLE_ALIGN, TABLE_CHUNK * t->elem);
		if (!t->chunks[t->nchunks])
			return -ENOMEM;
		memset(t->chunks[t->nchunks], 0, TABLE_CHUNK * t->elem);
		t->nchunks++;
	}
	t->n++;
	return 0;
}

void table_free(struct table *t)
{
	uint32_t i;

	for (i = 0; i < t->nchunks; i++)
		free(t->chunks[i]);
	free(t->chunks);
}

/* --- life ------------------------------------------------------------------------------------ */

/*
 * Round up to an odd number of cache lines. The first lines of the elements, which every crossing
 * uses, are then spread over all sets of the cache. With an even number, they would use only half
 * of the sets.
 */
static uint32_t odd_lines(size_t size)
{
	return (uint32_t)(((size + TABLE_ALIGN - 1) / TABLE_ALIGN | 1) * TABLE_ALIGN);
}

struct model *model_new(const struct model_ops *ops, uint64_t start_ns)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	if (ops)
		m->ops = *ops;
	m->start_ns = start_ns;
	m->procs.elem = sizeof(struct proc);
	m->threads.elem = odd_lines(sizeof(struct thread));
	m->rows.elem = sizeof(struct row);
	list_init(&m->objects);
	list_init(&m->busy);
	list_init(&m->waiting);
	list_init(&m->tails);
	m->teams_epoch = 1;
	return m;
}

void model_begin(struct model *m, uint64_t start_ns)
{
	m->start_ns = start_ns;
}

static void free_queues(struct model *m)
{
	uint32_t i, j;

	for (i = 0; i < m->procs.n; i++) {
		for (j = 0; j < m->queues[i]->n; j++)
			episode_free(m, m->queues[i]->heap[j].episode);
		free(m->queues[i]->heap);
		free(m->queues[i]);
	}
	free(m->queues);
}

static void free_thread(struct model *m, struct thread *t)
{
	uint32_t i;

	for (i = 0; i < t->nparked; i++)
		detail_release(m, t->parked[i].detail);
	free(t->parked);
	detail_release(m, t->tail);
}

void model_free(struct model *m)
{
	struct episode *e;
	uint32_t i;

	if (!m)
		return;
	free_queues(m);
	teams_forget(m);
	while (!list_empty(&m->objects))
		object_free(m, container_of(m->objects.next, struct object, lru));
	while (m->free) {
		e = m->free;
		m->free = e->free_next;
		free(e->members);
		free(e);
	}
	for (i = 0; i < m->threads.n; i++)
		free_thread(m, thread_at(m, i));
	details_free(m);
	for (i = 0; i < m->rows.n; i++)
		barrier_free(row_at(m, i));
	for (i = 0; i < m->procs.n; i++)
		free(proc_at(m, i)->pub.parts);
	table_free(&m->procs);
	table_free(&m->threads);
	table_free(&m->rows);
	hash_free(&m->proc_by_id);
	hash_free(&m->thread_by_id);
	hash_free(&m->object_by_id);
	hash_free(&m->row_by_id);
	free(m->recent);
	free(m->parked);
	free(m->free_threads);
	free(m->free_procs);
	free(m->free_rows);
	free(m->exited);
	hash_free(&m->programs);
	free(m->order);
	free(m->out);
	free(m->whole);
	free(m->prefix);
	free(m->sorted);
	free(m->sites);
	free(m);
}

/* --- the order of one thread's records ------------------------------------------------------- */

/* Add a crossing's detail to its thread's sums, and keep it with the member. */
static int keep_detail(struct model *m, struct thread *t, const struct model_crossing *c,
		       struct member *mem)
{
	uint64_t inside = member_inside(mem);
	int err;

	if (c->detail) {
		err = detail_copy(m, c->detail, &mem->pub.detail);
		if (err)
			return err;
		detail_settle(mem->pub.detail, mem->pub.work_ns, inside);
		if (c->detail->cpus_allowed && !mem->late)
			t->pub.cpus_allowed = c->detail->cpus_allowed;
	}
	if (!mem->depth)
		model_sums_add(&t->pub.sums, mem->pub.detail,
			       t->tail_done ? MODEL_UNKNOWN : mem->pub.work_ns, inside);
	return 0;
}

static int feed(struct model *m, struct thread *t, const struct model_crossing *c, bool late)
{
	int err;
	struct member mem = {
		.thread = t,
		.seq = c->seq,
		.depth = c->depth,
		.probe_group = c->probe_group ? c->probe_group : c->family,
		.rest = c->rest,
		.place = c->place,
		.round = c->round,
		.ordinal = c->ordinal,
		.left_ns = c->depart_ns,
		.late = late,
		.pub = {
			.thread = t->index,
			.tid = c->tid,
			.site = c->site,
			.arrive_cpu = c->arrive_cpu,
			.depart_cpu = c->depart_cpu,
			.arrive_ns = c->arrive_ns,
			.depart_ns = c->flags & MODEL_CROSSING_UNTIMED ? MODEL_UNKNOWN
									: c->depart_ns,
			.team_start_ns = MODEL_UNKNOWN,
			.flags = c->flags,
			.kind = c->kind,
		},
	};

	if (c->flags & MODEL_CROSSING_RESUMES)
		return thread_resume(m, t, c, late);
	if (!t->begun && t->inside != MODEL_UNKNOWN && t->inside - c->object < OBJECT_BYTES) {
		/*
		 * The thread was waiting inside when tracing began, and its departure was not seen.
		 * So the time until this arrival is not known to be work.
		 */
		mem.was_inside = true;
		t->known_sure = false;
		t->release_sure = false;
	}
	t->begun = true;
	if (c->place && (!c->shared || !t->placed)) {
		t->pub.place = c->place - 1u;
		t->placed = !c->shared;
	}
	thread_account(m, t, c, late, &mem);
	if (c->detail || c->flags & MODEL_CROSSING_ACCOUNTED) {
		err = keep_detail(m, t, c, &mem);
		if (err)
			return err;
	}
	return object_add(m, c, &mem);
}

/*
 * Feed @c as the next record of @t. Records that should precede it and are missing count as lost.
 */
static int feed_in_order(struct model *m, struct thread *t, const struct model_crossing *c)
{
	uint32_t missing = c->seq - t->next_seq;

	if (!t->begun && (!missing || !c->seq)) {
		missing = 0;
		if (t->inside == MODEL_UNKNOWN)
			thread_gap(m, t, c, false);
	}
	if (missing) {
		t->pub.lost += missing;
		proc_at(m, t->pub.proc)->pub.lost += missing;
		m->totals.lost += missing;
		thread_gap(m, t, c, true);
	}
	t->next_seq = c->seq + 1;
	return feed(m, t, c, false);
}

/*
 * Feed a record with a smaller number than expected. Either the record is late, or its source
 * restarted the count.
 */
static int feed_past(struct model *m, struct thread *t, const struct model_crossing *c)
{
	struct proc *p = proc_at(m, t->pub.proc);

	if (c->first_ns >= t->known_ns) {
		thread_gap(m, t, c, true);
		t->next_seq = c->seq + 1;
		return feed(m, t, c, false);
	}
	if (t->pub.lost) {
		t->pub.lost--;
		p->pub.lost -= p->pub.lost > 0;
		m->totals.lost -= m->totals.lost > 0;
	}
	return feed(m, t, c, true);
}

static int park(struct model *m, struct thread *t, const struct model_crossing *c)
{
	struct model_crossing own = *c;
	uint32_t i;
	int err;

	if (!t->parked) {
		t->parked = calloc(THREAD_PARKED, sizeof(*t->parked));
		if (!t->parked)
			return -ENOMEM;
	}
	if (!t->nparked) {
		err = grow(m->parked, m->cap_parked, m->nparked + 1);
		if (err)
			return err;
		m->parked[m->nparked++] = t->index;
	}
	if (c->detail) {
		err = detail_copy(m, c->detail, &own.detail);
		if (err)
			return err;
	}
	for (i = t->nparked++; i && seq_after(t->parked[i - 1].seq, c->seq); i--)
		t->parked[i] = t->parked[i - 1];
	t->parked[i] = own;
	return 0;
}

static int unpark_first(struct model *m, struct thread *t)
{
	struct model_crossing c = t->parked[0];
	int err;

	t->nparked--;
	memmove(&t->parked[0], &t->parked[1], t->nparked * sizeof(c));
	err = feed_in_order(m, t, &c);
	detail_release(m, c.detail);
	return err;
}

/*
 * Feed the parked records that are next: a record with the expected number, or one that begins by
 * @until. All records before that time have arrived, so those that are still missing are lost.
 */
static int unpark(struct model *m, struct thread *t, uint64_t until)
{
	int err = 0;

	while (!err && t->nparked &&
	       (t->parked[0].seq == t->next_seq || t->parked[0].first_ns <= until))
		err = unpark_first(m, t);
	return err;
}

static int add_out_of_order(struct model *m, struct thread *t, const struct model_crossing *c)
{
	int err = 0;

	if (c->seq == t->next_seq || (!t->begun && !c->seq)) {
		err = feed_in_order(m, t, c);
		return err ? err : unpark(m, t, 0);
	}
	if (!seq_after(c->seq, t->next_seq))
		return feed_past(m, t, c);
	/* All departures before this arrival have been fed, so the missing records are lost. */
	if (c->first_ns <= m->watermark && !t->nparked)
		return feed_in_order(m, t, c);
	if (t->nparked == THREAD_PARKED) {
		if (seq_after(t->parked[0].seq, c->seq))
			return feed_in_order(m, t, c);
		err = unpark_first(m, t);
		if (!err)
			err = unpark(m, t, 0);
		if (err || c->seq == t->next_seq)
			return err ? err : feed_in_order(m, t, c);
	}
	return park(m, t, c);
}

static int take_thread_crossing(struct model *m, const struct model_crossing *c)
{
	struct thread *t;
	int err = thread_for_crossing(m, c, &t);

	if (err)
		return err;
	if (t->begun && c->seq == t->next_seq && !t->nparked) {
		t->next_seq++;
		return feed(m, t, c, false);
	}
	return add_out_of_order(m, t, c);
}

/*
 * Return whether the record must be corrected. The clocks and the traced program are untrusted, so
 * a departure may be before its arrival, for example.
 */
static bool needs_mending(const struct model_crossing *c)
{
	return c->flags & (MODEL_CROSSING_ABANDONED | MODEL_CROSSING_STAYS) ||
	       c->depart_ns < c->first_ns || c->depart_ns == MODEL_UNKNOWN;
}

int take_crossing(struct model *m, const struct model_crossing *crossing)
{
	struct model_crossing c;

	m->totals.crossings += !(crossing->flags & (MODEL_CROSSING_RESUMES | MODEL_CROSSING_JOINS));
	if (!needs_mending(crossing))
		return take_thread_crossing(m, crossing);
	c = *crossing;
	if (c.flags & (MODEL_CROSSING_ABANDONED | MODEL_CROSSING_STAYS))
		c.depart_ns = MODEL_UNKNOWN;
	else if (c.depart_ns < c.first_ns)
		c.depart_ns = c.first_ns;
	if (c.depart_ns == MODEL_UNKNOWN && !(c.flags & MODEL_CROSSING_STAYS))
		c.flags |= MODEL_CROSSING_ABANDONED;
	return take_thread_crossing(m, &c);
}

static int unpark_all(struct model *m, uint64_t until)
{
	uint32_t i, kept = 0;
	struct thread *t;
	int err = 0;

	for (i = 0; i < m->nparked && !err; i++) {
		t = thread_at(m, m->parked[i]);
		err = unpark(m, t, until);
		if (t->nparked)
			m->parked[kept++] = t->index;
	}
	if (!err)
		m->nparked = kept;
	return err;
}

static int flush_queues(struct model *m, bool all)
{
	struct list *l, *next;
	struct queue *q;
	int err = 0;

	for (l = m->waiting.next; l != &m->waiting && !err; l = next) {
		next = l->next;
		q = container_of(l, struct queue, waiting);
		m->credit -= 1 + (int64_t)q->nopen;
		err = queue_flush(m, q, all);
	}
	return err;
}

static int advance_objects(struct model *m)
{
	struct list *l, *next;
	struct object *o;
	int err = 0;

	for (l = m->busy.next; l != &m->busy && !err; l = next) {
		next = l->next;
		o = container_of(l, struct object, busy);
		m->credit -= 1 + (int64_t)o->nslots + o->cyclic.n;
		err = object_advance(m, o);
	}
	return err;
}

int take_advance(struct model *m, uint64_t t_ns)
{
	int err;

	if (t_ns <= m->watermark)
		return 0;
	m->watermark = t_ns;
	/* If the credit is negative, a later advance makes the check. */
	m->credit += ADVANCE_CREDIT;
	if (m->credit < 0)
		return 0;
	m->credit -= m->nparked;
	err = unpark_all(m, t_ns);
	if (!err)
		err = advance_objects(m);
	tails_settle(m);
	if (!err)
		err = flush_queues(m, false);
	/*
	 * At the end of the run (MODEL_UNKNOWN) nothing is folded here, because sums of exited
	 * processes may still arrive.
	 */
	return err || t_ns == MODEL_UNKNOWN ? err : programs_fold(m);
}

/* --- queries --------------------------------------------------------------------------------- */

/*
 * Find the first start and the last end of the threads that crossed a barrier, and the end of the
 * longest path as an absolute time.
 */
static void proc_span(const struct model *m, const struct proc *p, uint64_t end_ns, uint64_t *start,
		      uint64_t *end, uint64_t *ideal)
{
	const struct thread *t;
	struct model_thread at;
	uint64_t own;
	uint32_t i;

	*start = p->folded_start;
	*end = p->folded_end;
	*ideal = p->folded_ideal;
	for (i = p->threads; i != MODEL_NONE; i = t->next) {
		t = thread_at(m, i);
		if (!t->crossed)
			continue;
		thread_at_end(t, end_ns, &at, &own);
		if (at.start_ns < *start)
			*start = at.start_ns;
		if (at.end_ns > *end)
			*end = at.end_ns;
		if (own > *ideal)
			*ideal = own;
	}
	if (*start == MODEL_UNKNOWN)
		*start = *end = *ideal = 0;
}

void model_proc_at(const struct model *m, uint32_t index, uint64_t end_ns, struct model_proc *out)
{
	const struct proc *p = proc_at(m, index);
	uint64_t start, end, ideal;

	*out = p->pub;
	if (m->finished || out->processes > 1)
		return;
	proc_span(m, p, end_ns, &start, &end, &ideal);
	out->elapsed_ns = number_less(end, start);
	out->ideal_ns = number_less(ideal, start);
	if (!out->exited)
		out->end_ns = end_ns;
}

void model_thread_at(const struct model *m, uint32_t index, uint64_t end_ns,
		     struct model_thread *out)
{
	const struct thread *t = thread_at(m, index);
	uint64_t ideal;

	*out = t->pub;
	if (!m->finished && !t->folded)
		thread_at_end(t, end_ns, out, &ideal);
}

/* --- the end --------------------------------------------------------------------------------- */

static void end_process(struct model *m, struct proc *p, uint64_t end_ns)
{
	struct model_proc at;
	struct model_thread th;
	struct thread *t;
	uint64_t start, end, ideal;
	uint32_t i;

	model_proc_at(m, p->index, end_ns, &at);
	proc_span(m, p, end_ns, &start, &end, &ideal);
	for (i = p->threads; i != MODEL_NONE; i = t->next) {
		t = thread_at(m, i);
		thread_at_end(t, end_ns, &th, &ideal);
		th.ideal_ns = p->pub.summed ? MODEL_UNKNOWN : number_less(ideal, start);
		t->pub = th;
	}
	if (p->pub.summed)
		at.ideal_ns = MODEL_UNKNOWN;
	p->pub = at;
}

int take_finish(struct model *m, uint64_t end_ns)
{
	struct object *o;
	struct list *l;
	uint32_t i;
	int err;

	if (m->finished)
		return 0;
	err = unpark_all(m, MODEL_UNKNOWN);
	for (l = m->objects.next; l != &m->objects && !err; l = l->next) {
		o = container_of(l, struct object, lru);
		err = object_finish(m, o);
	}
	if (!err)
		err = flush_queues(m, true);
	m->watermark = MODEL_UNKNOWN;
	if (!err)
		err = programs_fold(m);
	if (!err && m->summed)
		err = summed_finish(m);
	if (err)
		return err;
	for (i = 0; i < m->procs.n; i++)
		end_process(m, proc_at(m, i), end_ns);
	m->finished = true;
	return 0;
}

const struct model_totals *model_totals(const struct model *m)
{
	return &m->totals;
}

uint64_t model_start(const struct model *m)
{
	return m->start_ns;
}

uint32_t model_nprocs(const struct model *m)
{
	return m->procs.n;
}

const struct model_proc *model_proc(const struct model *m, uint32_t index)
{
	return &proc_at(m, index)->pub;
}

uint32_t model_nthreads(const struct model *m)
{
	return m->threads.n;
}

const struct model_thread *model_thread(const struct model *m, uint32_t index)
{
	return &thread_at(m, index)->pub;
}

uint32_t model_nbarriers(const struct model *m)
{
	return m->rows.n;
}

const struct model_barrier *model_barrier(const struct model *m, uint32_t index)
{
	return &row_at(m, index)->pub;
}
