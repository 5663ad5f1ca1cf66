// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Threads and processes, and the figures that each crossing adds to its thread. */
#include "model/internal.h"

#include "base/array.h"
#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RECENT_MIN 64

static uint64_t pair_key(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

static void set_comm(char dst[16], const char *src)
{
	if (src && src[0]) {
		memset(dst, 0, 16);
		memcpy(dst, src, strnlen(src, 15));
	}
}

struct proc *proc_find(const struct model *m, uint32_t tgid, uint32_t inc)
{
	uint64_t i;

	return hash_get(&m->proc_by_id, pair_key(tgid, inc), &i) ? proc_at(m, i) : NULL;
}

void proc_init(const struct model *m, struct proc *p, uint32_t index)
{
	p->index = index;
	p->threads = p->rows = MODEL_NONE;
	p->folded_start = MODEL_UNKNOWN;
	p->pub.parent = MODEL_NONE;
	p->pub.start_ns = m->start_ns;
	p->pub.end_ns = MODEL_UNKNOWN;
	p->pub.detached.t_ns = MODEL_UNKNOWN;
}

void proc_forget_number(struct model *m, const struct proc *p)
{
	hash_del(&m->proc_by_id, pair_key(p->pub.tgid, p->pub.inc));
}

static int proc_place(struct model *m, struct proc **out)
{
	uint32_t index = m->procs.n;
	struct queue *q;
	int err;

	if (m->nfree_procs) {
		*out = proc_at(m, m->free_procs[--m->nfree_procs]);
		proc_init(m, *out, (*out)->index);
		return 0;
	}
	err = grow(m->queues, m->cap_queues, index + 1);
	if (err)
		return err;
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	list_init(&q->open);
	list_init(&q->waiting);
	q->into = MODEL_NONE;
	err = table_add(&m->procs);
	if (err) {
		free(q);
		return err;
	}
	*out = proc_at(m, index);
	proc_init(m, *out, index);
	m->queues[index] = q;
	return 0;
}

int proc_get(struct model *m, uint32_t tgid, uint32_t inc, struct proc **out)
{
	struct proc *p = proc_find(m, tgid, inc);
	int err = 0;

	if (!p) {
		err = proc_place(m, &p);
		if (err)
			return err;
		p->pub.tgid = tgid;
		p->pub.inc = inc;
		p->pub.processes = 1;
		err = hash_put(&m->proc_by_id, pair_key(tgid, inc), p->index);
	}
	*out = p;
	return err;
}

/*
 * Start all figures of the process at @t_ns, because the process was not observed before @t_ns.
 * None of its threads has crossed a barrier yet.
 */
static void start_late(struct model *m, struct proc *p, uint64_t t_ns)
{
	struct thread *t;
	uint32_t i;

	p->pub.start_ns = t_ns;
	p->pub.start_seen = false;
	for (i = p->threads; i != MODEL_NONE; i = t->next) {
		t = thread_at(m, i);
		if (t->begun || t->pub.exited || t->pub.start_ns >= t_ns)
			continue;
		t->pub.start_ns = t->known_ns = t->ideal = t_ns;
		t->pub.start_seen = false;
		t->inside = MODEL_UNKNOWN;
	}
}

int take_process(struct model *m, uint32_t tgid, uint32_t inc, uint32_t parent_tgid,
		 uint32_t parent_inc, uint64_t t_ns, bool seen, const char *comm)
{
	struct proc *p, *parent;
	int err = proc_get(m, tgid, inc, &p);

	if (err)
		return err;
	set_comm(p->pub.comm, comm);
	parent = parent_tgid ? proc_find(m, parent_tgid, parent_inc) : NULL;
	if (parent && parent != p)
		p->pub.parent = parent->index;
	if (seen && (p->threads == MODEL_NONE || !p->pub.crossings)) {
		p->pub.start_ns = t_ns > m->start_ns ? t_ns : m->start_ns;
		p->pub.start_seen = true;
	} else if (!seen && t_ns > p->pub.start_ns && !p->pub.crossings) {
		start_late(m, p, t_ns);
	}
	return 0;
}

/*
 * Return the entry for a tid in a small table of recent threads. Tids are mostly consecutive, and a
 * cache line holds sixteen entries, so nearly every look-up for a crossing is a cache hit. The hash
 * would spread them over many cache lines. The hash is used only if the table lacks the thread.
 */
static uint32_t *recent_at(const struct model *m, uint32_t tid)
{
	return &m->recent[tid & (m->nrecent - 1)];
}

/* Double the table if threads fill half of it. When out of memory, leave it unchanged. */
static void grow_recent(struct model *m)
{
	uint32_t n = m->nrecent ? 2 * m->nrecent : RECENT_MIN, *recent;
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	if (m->threads.n <= m->nrecent / 2)
		return;
	recent = malloc(n * sizeof(*recent));
	if (!recent)
		return;
	memset(recent, 0xff, n * sizeof(*recent));
	free(m->recent);
	m->recent = recent;
	m->nrecent = n;
	while ((e = hash_next(&m->thread_by_id, &pos, &zero)))
		*recent_at(m, (uint32_t)e->key) = (uint32_t)e->value;
}

static struct thread *recent_thread(const struct model *m, uint32_t tid)
{
	uint32_t index = m->nrecent ? *recent_at(m, tid) : MODEL_NONE;

	return index == MODEL_NONE ? NULL : thread_at(m, index);
}

static bool is_of(const struct model *m, const struct thread *t, uint32_t tgid, uint32_t inc)
{
	const struct proc *p = proc_at(m, t->pub.proc);

	return p->pub.inc == inc && p->pub.tgid == tgid;
}

/* Return the last thread with this tid, or NULL if there is none. The thread may have exited. */
struct thread *thread_find(const struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid)
{
	struct thread *t = recent_thread(m, tid);
	uint64_t i;

	/* The index of a folded thread is free, or soon will be. */
	if (t && t->pub.tid == tid && !t->folded && is_of(m, t, tgid, inc))
		return t;
	if (!hash_get(&m->thread_by_id, pair_key(inc, tid), &i))
		return NULL;
	t = thread_at(m, i);
	return proc_at(m, t->pub.proc)->pub.tgid == tgid ? t : NULL;
}

void model_expect(const struct model *m, uint32_t tid)
{
	/*
	 * Do not check here whether this is the right thread, because the check would have to wait
	 * for the thread's memory.
	 */
	const char *t = (const char *)recent_thread(m, tid);
	size_t at;

	if (!t)
		return;
	for (at = 0; at < THREAD_HOT; at += TABLE_ALIGN)
		__builtin_prefetch(t + at, 1);
	__builtin_prefetch(t + offsetof(struct thread, mix), 1);
}

uint32_t model_find_thread(const struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid)
{
	const struct thread *t = thread_find(m, tgid, inc, tid);

	return t ? t->index : MODEL_NONE;
}

/* Return the index for a new thread in *@out. */
static int thread_place(struct model *m, uint32_t *out)
{
	uint32_t index = m->threads.n;
	int err;

	if (index >= MODEL_THREADS_MAX && !m->nfree_threads && m->nended > MODEL_THREADS_MAX / 4) {
		err = thread_fold(m);
		if (err)
			return err;
	}
	if (m->nfree_threads) {
		index = m->free_threads[--m->nfree_threads];
	} else {
		err = table_add(&m->threads);
		if (err)
			return err;
	}
	*out = index;
	return 0;
}

int thread_new(struct model *m, struct proc *p, uint32_t tid, uint64_t start_ns, bool seen,
	       struct thread **out)
{
	struct thread *t;
	uint32_t index, i;
	int err = thread_place(m, &index);

	if (err)
		return err;
	if (start_ns < m->start_ns)
		start_ns = m->start_ns;
	t = thread_at(m, index);
	*t = (struct thread){
		.index = index,
		.mix = hash_mix((uint64_t)index << 32 | tid),
		.pub.tid = tid,
		.pub.proc = p->index,
		.pub.ordinal = MODEL_NONE,
		.pub.place = MODEL_NONE,
		.pub.start_ns = start_ns,
		.pub.start_seen = seen,
		.pub.end_ns = MODEL_UNKNOWN,
		.pub.depart_ns = MODEL_UNKNOWN,
		.pub.release_ns = MODEL_UNKNOWN,
		.pub.barrier = MODEL_NONE,
		.pub.pending_ns = MODEL_UNKNOWN,
		.team_start_ns = MODEL_UNKNOWN,
		.inside = seen ? 0 : MODEL_UNKNOWN,
		.next_seq = 1,
		.known_ns = start_ns,
		.known_sure = true,
		.release_sure = true,
		.ideal = start_ns,
		.next = p->threads,
	};
	for (i = 0; i < THREAD_CACHE; i++) {
		t->rows[i].row = MODEL_NONE;
		t->slots[i].object = MODEL_NONE;
	}
	list_init(&t->tail_link);
	p->threads = t->index;
	*out = t;
	if (hash_put(&m->thread_by_id, pair_key(p->pub.inc, tid), t->index))
		return -ENOMEM;
	grow_recent(m);
	if (m->nrecent)
		*recent_at(m, tid) = t->index;
	return 0;
}

/* Note that the thread ended at @t_ns: it exited, or its tid is in use again. */
static void thread_replace(struct model *m, struct thread *t, uint64_t t_ns)
{
	if (t->pub.exited)
		return;
	t->pub.exited = true;
	t->pub.end_ns = t_ns > t->known_ns ? t_ns : t->known_ns;
	m->nended++;
}

int thread_for_crossing(struct model *m, const struct model_crossing *c, struct thread **out)
{
	struct thread *t = thread_find(m, c->tgid, c->inc, c->tid);
	struct proc *p;
	int err;

	/* The record of a crossing may arrive after the exit record of its thread. */
	if (t && !(t->pub.exited && c->arrive_ns > t->pub.end_ns)) {
		*out = t;
		return 0;
	}
	err = proc_get(m, c->tgid, c->inc, &p);
	if (err)
		return err;
	/* The start was not seen, but it did not precede the start of the process or of tracing. */
	return thread_new(m, p, c->tid, p->pub.start_ns, p->pub.start_seen, out);
}

int take_found(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t inside)
{
	struct thread *t = thread_find(m, tgid, inc, tid);
	struct proc *p;
	int err = 0;

	if (!t) {
		err = proc_get(m, tgid, inc, &p);
		if (!err)
			err = thread_new(m, p, tid, p->pub.start_ns, p->pub.start_seen, &t);
	}
	if (!err && !t->begun)
		t->inside = inside;
	return err;
}

int take_thread(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns)
{
	struct thread *t = thread_find(m, tgid, inc, tid);
	struct proc *p = proc_find(m, tgid, inc);
	uint64_t start;
	int err;

	/* The thread began before its process was observed. */
	if (p && !p->pub.start_seen && t_ns < p->pub.start_ns)
		return t ? 0 : thread_new(m, p, tid, p->pub.start_ns, false, &t);
	if (t && !t->pub.exited && !t->begun) {
		start = t_ns > m->start_ns ? t_ns : m->start_ns;
		t->pub.start_ns = t->known_ns = t->ideal = start;
		t->pub.start_seen = true;
		return 0;
	}
	if (t && t->pub.crossings == 1 && !t->pub.exited && t->known_sure &&
	    t_ns >= t->pub.start_ns && t_ns <= t->last_arrive_ns) {
		/*
		 * The record arrived after the thread's first crossing, so phase 0 was counted from
		 * too early a time.
		 */
		t->pub.outside_ns = number_less(t->pub.outside_ns, t_ns - t->pub.start_ns);
		sums_shorten(&t->pub.sums, t_ns - t->pub.start_ns);
		t->pub.start_ns = t_ns;
		t->pub.start_seen = true;
		return 0;
	}
	if (t && t->begun && t_ns <= t->last_arrive_ns)
		return 0;
	if (t)
		thread_replace(m, t, t_ns);
	err = proc_get(m, tgid, inc, &p);
	return err ? err : thread_new(m, p, tid, t_ns, true, &t);
}

int take_name(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, const char *comm)
{
	struct thread *t = thread_find(m, tgid, inc, tid);

	if (t)
		set_comm(t->pub.comm, comm);
	return 0;
}

int take_end_thread(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		    const char *comm)
{
	struct thread *t = thread_find(m, tgid, inc, tid);

	if (!t || t->pub.exited)
		return 0;
	set_comm(t->pub.comm, comm);
	thread_replace(m, t, t_ns);
	return 0;
}

int take_end_process(struct model *m, uint32_t tgid, uint32_t inc, uint64_t t_ns)
{
	struct proc *p = proc_find(m, tgid, inc);
	uint32_t i;

	if (!p || p->pub.exited)
		return 0;
	p->pub.exited = true;
	p->pub.end_ns = t_ns;
	for (i = p->threads; i != MODEL_NONE; i = thread_at(m, i)->next)
		thread_replace(m, thread_at(m, i), t_ns);
	return program_exited(m, p);
}

static struct model_detached detached_of(const struct model_input *in, uint64_t probe_groups)
{
	return (struct model_detached){ .t_ns = in->t_ns,
					.cost_ppm = in->detached.cost_ppm,
					.limit_ppm = in->detached.limit_ppm,
					.because = in->detached.because,
					.probed = in->detached.probed,
					.probe_groups = probe_groups };
}

/*
 * Note that probe groups of the process were detached. Its threads continue, and the caller feeds
 * no more crossings of these groups.
 */
int take_detached_part(struct model *m, const struct model_input *in)
{
	struct proc *p = proc_find(m, in->tgid, in->inc);
	uint64_t probe_groups = in->detached.probe_groups;

	if (!p || p->pub.detached.t_ns != MODEL_UNKNOWN)
		return 0;
	array_for_each (part, p->pub.parts, p->pub.nparts)
		probe_groups &= ~part->probe_groups;
	if (!probe_groups)
		return 0;
	if (grow(p->pub.parts, p->cap_parts, p->pub.nparts + 1))
		return -ENOMEM;
	p->pub.parts[p->pub.nparts++] = detached_of(in, probe_groups);
	return 0;
}

/* End the threads as if they had exited. The exit time of the process itself is unknown. */
int take_detached(struct model *m, const struct model_input *in)
{
	struct proc *p = proc_find(m, in->tgid, in->inc);

	if (!p || p->pub.exited)
		return 0;
	p->pub.detached = detached_of(in, MODEL_DETACHED_WHOLE);
	return take_end_process(m, in->tgid, in->inc, in->t_ns);
}

int take_pending(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t object,
		 uint64_t arrive_ns)
{
	struct thread *t = thread_find(m, tgid, inc, tid);
	struct proc *p;
	int err;

	if (!t || (t->pub.exited && arrive_ns > t->pub.end_ns)) {
		err = proc_get(m, tgid, inc, &p);
		if (!err)
			err = thread_new(m, p, tid, p->pub.start_ns, p->pub.start_seen, &t);
		if (err)
			return err;
	}
	m->npending++;
	t->pub.pending_ns = arrive_ns;
	t->pending_object = object;
	return 0;
}

int take_joined(struct model *m, const struct model_input *in)
{
	uint64_t after_ns = in->joined.after_ns, for_ns = in->joined.for_ns;
	struct thread *t = thread_find(m, in->tgid, in->inc, in->tid);
	uint64_t since = t ? number_less(in->t_ns, t->known_ns) : 0;

	if (!t || t->pub.exited || !t->known_sure)
		return 0;
	/* Waits that were noted before the thread's last crossing belong to an earlier phase. */
	if (after_ns > t->joined_after_ns) {
		t->joined_ns = 0;
		t->joined_after_ns = after_ns;
	}
	t->joined_ns += for_ns < since ? for_ns : since;
	return 0;
}

/*
 * Note that records before @c are missing. @lost: they were lost. If not set, @c is the thread's
 * first record, and the thread may have crossed barriers before tracing began.
 */
void thread_gap(struct model *m, struct thread *t, const struct model_crossing *c, bool lost)
{
	struct gap *g = &t->gaps[t->ngaps++ % THREAD_GAPS];

	g->from = lost ? t->known_ns : 0;
	/*
	 * The gap ends at the departure of @c and not at its arrival, because @c may have been
	 * assigned to the episode of the missing record.
	 */
	g->to = c->depart_ns == MODEL_UNKNOWN ? c->first_ns : c->depart_ns;
	g->lost = lost;
	m->gaps |= lost || t->ngaps > THREAD_GAPS;
	t->has_gap = true;
	t->gap_seq = c->seq;
	if (lost)
		t->known_sure = t->stays = false;
}

/* Return true if a record may be missing between @from and @to. */
bool thread_gap_covers(const struct thread *t, uint64_t from, uint64_t to)
{
	unsigned i;

	for (i = 0; i < t->ngaps && i < THREAD_GAPS; i++)
		if (t->gaps[i].lost && t->gaps[i].from <= to && t->gaps[i].to >= from)
			return true;
	/* Gaps before the oldest gap that is kept are not known. */
	return t->ngaps > THREAD_GAPS && from <= t->gaps[t->ngaps % THREAD_GAPS].from;
}

static void account_late(struct thread *t, const struct model_crossing *c)
{
	uint64_t inside = number_less(c->depart_ns, c->arrive_ns);

	if (c->depart_ns == MODEL_UNKNOWN || c->flags & MODEL_CROSSING_UNTIMED)
		return;
	t->pub.idle_ns += inside;
	t->pub.unknown_ns = number_less(t->pub.unknown_ns, inside);
}

/*
 * Add the interval before the crossing, and the crossing, to the sums of its thread (outside_ns and
 * idle_ns). @late: the record had already been counted as lost.
 */
void thread_account(struct model *m, struct thread *t, const struct model_crossing *c, bool late,
		    struct member *mem)
{
	struct proc *p = proc_at(m, t->pub.proc);
	uint64_t before = number_less(c->arrive_ns, t->known_ns);
	bool untimed = c->flags & MODEL_CROSSING_UNTIMED, joins = c->flags & MODEL_CROSSING_JOINS;
	bool left = c->depart_ns != MODEL_UNKNOWN && !untimed;

	mem->gaps = t->ngaps;
	mem->pub.work_ns = MODEL_UNKNOWN;
	p->pub.crossings += !joins;
	p->pub.departures_unknown += untimed;
	if (!left && !untimed && !(c->flags & MODEL_CROSSING_STAYS)) {
		t->pub.abandoned++;
		p->pub.abandoned++;
		m->totals.abandoned++;
	}
	if (c->depth)
		return;
	t->pub.crossings += !joins;
	if (!t->crossed && !joins) {
		t->crossed = true;
		p->pub.nthreads_crossed++;
	}
	if (late) {
		account_late(t, c);
		return;
	}
	if (t->known_sure) {
		t->pub.outside_ns += before;
		mem->pub.team_start_ns = t->team_start_ns;
		mem->pub.work_ns = before;
		mem->outside_ns = before;
	} else {
		t->pub.unknown_ns += before;
	}
	t->joined_ns = 0;
	t->team_start_ns = MODEL_UNKNOWN;
	t->last_arrive_ns = c->arrive_ns;
	t->pub.depart_ns = left ? c->depart_ns : MODEL_UNKNOWN;
	t->known_sure = left;
	t->stays = c->flags & MODEL_CROSSING_STAYS;
	if (left) {
		*(joins ? &t->pub.away_ns : &t->pub.idle_ns) +=
			number_less(c->depart_ns, c->arrive_ns);
		if (c->depart_ns > t->known_ns)
			t->known_ns = c->depart_ns;
		if (c->depart_ns > t->seen_ns)
			t->seen_ns = c->depart_ns;
	} else if (c->arrive_ns > t->known_ns) {
		t->known_ns = c->arrive_ns;
	}
}

/*
 * Let the thread continue after an unseen departure. If the record of its arrival is lost, it is
 * unknown what the thread did since its last record. From now on the thread is outside barriers.
 */
int thread_resume(struct model *m, struct thread *t, const struct model_crossing *c, bool late)
{
	uint64_t since = number_less(c->depart_ns, t->known_ns);
	const struct model_detail *detail;
	int err;

	t->begun = true;
	if (late)
		return 0;
	if (t->stays) {
		t->pub.idle_ns += since;
		if (c->detail) {
			err = detail_copy(m, c->detail, &detail);
			if (err)
				return err;
			detail_settle(detail, MODEL_UNKNOWN, since);
			model_sums_add(&t->pub.sums, detail, MODEL_UNKNOWN, since);
			detail_release(m, detail);
		} else if (c->flags & MODEL_CROSSING_ACCOUNTED) {
			model_sums_add(&t->pub.sums, NULL, MODEL_UNKNOWN, since);
		}
	} else {
		t->pub.unknown_ns += since;
	}
	t->team_start_ns = MODEL_UNKNOWN;
	/* If the previous record is missing, it is not known when the team began. */
	if (t->stays && c->begun_ns < c->depart_ns && c->begun_ns >= t->known_ns)
		t->team_start_ns = c->depart_ns - c->begun_ns;
	t->stays = false;
	t->known_sure = true;
	t->pub.depart_ns = c->depart_ns;
	if (c->depart_ns > t->known_ns)
		t->known_ns = c->depart_ns;
	if (c->depart_ns > t->seen_ns)
		t->seen_ns = c->depart_ns;
	return 0;
}

/*
 * Return the end of the thread's last interval outside barriers: @end_ns or, if the thread was
 * inside a barrier when tracing ended, its arrival there.
 */
uint64_t thread_until(const struct thread *t, uint64_t end_ns)
{
	return t->pub.pending_ns < end_ns ? t->pub.pending_ns : end_ns;
}

/* Copy the thread as of @end_ns. *ideal is its end on the longest path, as an absolute time. */
void thread_at_end(const struct thread *t, uint64_t end_ns, struct model_thread *out,
		   uint64_t *ideal)
{
	uint64_t until, since, joined;

	*out = t->pub;
	if (!out->exited || out->end_ns > end_ns)
		out->end_ns = end_ns;
	until = thread_until(t, out->end_ns);
	since = number_less(until, t->known_ns);
	joined = t->joined_ns < since ? t->joined_ns : since;
	if (t->known_sure) {
		out->outside_ns += since - joined;
		out->away_ns += joined;
	} else if (t->stays) {
		out->idle_ns += since;
	} else {
		out->unknown_ns += since;
	}
	tail_add(t, until, &out->sums);
	*ideal = t->ideal + number_less(out->outside_ns, t->outside_joined);
}
