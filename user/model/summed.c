// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Add sums from the kernel side to the model's own sums, with the same result as for single
 * crossings.
 */
#include "model/internal.h"

#include <errno.h>
#include <stdlib.h>

/* Return the thread with that tid that existed at @born_ns, or NULL if there is none. */
static struct thread *lived(const struct model *m, const struct proc *p, uint32_t tid,
			    uint64_t born_ns)
{
	struct thread *t;
	uint32_t i;

	for (i = p->threads; i != MODEL_NONE; i = t->next) {
		t = thread_at(m, i);
		if (t->pub.tid == tid && t->pub.start_ns <= born_ns &&
		    (!t->pub.exited || t->pub.end_ns >= born_ns))
			return t;
	}
	return NULL;
}

static int thread_of(struct model *m, const struct model_summed *in, struct proc *p,
		     struct thread **out)
{
	struct thread *t = thread_find(m, in->tgid, in->inc, in->tid);

	/*
	 * Usually the last thread with this tid is the right one, because tids are rarely reused.
	 */
	if (!t || t->pub.start_ns > in->born_ns)
		t = lived(m, p, in->tid, in->born_ns);
	*out = t;
	return t ? 0 : thread_new(m, p, in->tid, p->pub.start_ns, p->pub.start_seen, out);
}

static double squares_of(const struct model_stat *s)
{
	return s->n ? s->m2 + (double)s->n * s->mean * s->mean : 0;
}

static void add_to_thread(struct model *m, struct proc *p, struct thread *t,
			  const struct model_summed *in)
{
	t->begun = t->summed = true;
	if (!t->crossed) {
		t->crossed = true;
		p->pub.nthreads_crossed++;
	}
	t->pub.crossings += in->crossings;
	t->pub.abandoned += in->abandoned;
	t->pub.idle_ns += in->idle_ns + in->idle_other_ns;
	t->pub.unknown_ns += in->unknown_ns;
	t->pub.wait_ns += in->wait.sum;
	t->pub.waits += in->wait.n;
	t->pub.wait_squares += squares_of(&in->wait);
	t->pub.last += in->barrier.n;
	if (in->depart_ns > t->joined_after_ns)
		t->joined_ns = 0;
	if (in->depart_ns > t->known_ns)
		t->known_ns = t->pub.depart_ns = in->depart_ns;
	p->pub.crossings += in->crossings;
	p->pub.abandoned += in->abandoned;
	p->pub.unmet += in->unmet;
	p->pub.episodes += in->barrier.n;
	p->pub.episodes_joined += in->barrier.n;
	p->pub.incomplete += in->incomplete;
	p->pub.ambiguous += in->ambiguous;
	p->pub.incomplete_joined += in->incomplete;
	p->pub.ambiguous_joined += in->ambiguous;
	m->totals.crossings += in->crossings;
	m->totals.abandoned += in->abandoned;
	m->totals.episodes += in->barrier.n;
	m->totals.incomplete += in->incomplete;
	m->totals.ambiguous += in->ambiguous;
}

static int add_to_row(struct row *r, struct thread *t, const struct model_summed *in)
{
	uint64_t first =
		in->first_arrive_ns ? number_less(in->first_arrive_ns, t->pub.start_ns) : 0;
	struct model_barrier *b = &r->pub;
	struct model_barrier_thread *bt;
	int err = barrier_thread(r, t, &bt);

	if (err)
		return err;
	bt->crossings += in->crossings;
	bt->wait_ns += in->wait.sum;
	bt->waits += in->wait.n;
	bt->wait_squares += squares_of(&in->wait);
	if (in->wait.n && in->wait.max > bt->wait_max_ns)
		bt->wait_max_ns = in->wait.max;
	bt->idle_ns += in->idle_ns;
	bt->work_ns += in->work_ns + first;
	bt->team_work_ns += in->work_ns + first;
	bt->work_n += in->work_n + (in->first_arrive_ns != 0);
	bt->last += in->barrier.n;
	b->crossings += in->crossings;
	b->unmet += in->unmet;
	b->incomplete += in->incomplete;
	b->ambiguous += in->ambiguous;
	b->episodes += in->barrier.n;
	if (in->barrier.n && in->team_min < b->team_min)
		b->team_min = in->team_min;
	if (in->team_max > b->team_max)
		b->team_max = in->team_max;
	model_stat_join(&b->wait, &in->wait);
	model_stat_join(&b->release, &in->release);
	model_stat_join(&b->barrier, &in->barrier);
	model_stat_join(&b->phase, &in->phase);
	b->summed_thread_ns += in->thread_ns;
	if (in->first_release_ns && in->first_release_ns >= t->pub.start_ns) {
		first = in->first_release_ns - t->pub.start_ns;
		model_stat_add(&b->phase, first);
		b->summed_thread_ns += first * in->first_team;
	}
	if (in->several || b->object != in->object)
		b->objects = 2;
	b->object = in->object;
	return 0;
}

int model_add_summed(struct model *m, const struct model_summed *in)
{
	struct row_id id = { .family = in->family, .kind = in->kind, .object = in->object };
	struct thread *t;
	struct proc *p;
	uint32_t row;
	int err = proc_get(m, in->tgid, in->inc, &p);

	if (!err)
		err = thread_of(m, in, p, &t);
	if (err)
		return err;
	m->summed = p->pub.summed = true;
	id.proc = p->index;
	err = barrier_row_at(m, &id, in->site, &row);
	if (err)
		return err;
	row_at(m, row)->pub.summed = true;
	row_at(m, row)->pub.probe_groups |= SBT_PROBE_GROUP(in->family);
	add_to_thread(m, p, t, in);
	return add_to_row(row_at(m, row), t, in);
}

static int by_start(const void *a, const void *b)
{
	const struct thread *x = *(struct thread *const *)a, *y = *(struct thread *const *)b;

	return x->pub.start_ns != y->pub.start_ns ? NUMBER_COMPARE(x->pub.start_ns, y->pub.start_ns)
						  : NUMBER_COMPARE(x->pub.tid, y->pub.tid);
}

/*
 * Number the threads that crossed a barrier and have no number yet, in the order of their starts.
 */
static void number_threads(const struct model *m, struct proc *p, struct thread **order)
{
	struct thread *t;
	uint32_t i, n = 0;

	for (i = p->threads; i != MODEL_NONE; i = t->next) {
		t = thread_at(m, i);
		if (t->crossed && t->pub.ordinal == MODEL_NONE)
			order[n++] = t;
	}
	qsort(order, n, sizeof(*order), by_start);
	for (i = 0; i < n; i++)
		order[i]->pub.ordinal = p->next_ordinal++;
}

uint64_t summed_outside(const struct thread *t)
{
	return number_less(number_less(t->known_ns, t->pub.start_ns),
			   t->pub.idle_ns + t->pub.unknown_ns);
}

/*
 * Set each thread's time outside barriers: the time from its start to its last departure that is
 * neither idle nor unknown.
 */
int summed_finish(struct model *m)
{
	struct thread **order = calloc(m->threads.n + 1, sizeof(struct thread *)), *t;
	uint32_t i;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < m->threads.n; i++) {
		t = thread_at(m, i);
		if (t->summed)
			t->pub.outside_ns = summed_outside(t);
	}
	for (i = 0; i < m->procs.n; i++)
		number_threads(m, proc_at(m, i), order);
	free(order);
	return 0;
}
