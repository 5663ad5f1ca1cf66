// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Finished episodes are queued in the order of their releases. An episode leaves the heap when no
 * open episode of its process, or of processes that share barriers with it, can have an earlier
 * release.
 */
#include "model/internal.h"

#include "base/grow.h"

#include <stdlib.h>

/*
 * If a queue has more open episodes than this, the earliest of them is searched for only in
 * model_advance(), and not whenever an episode finishes.
 */
#define QUEUE_LOOK 64

void queue_open(struct queue *q, struct open *o, uint64_t bound)
{
	o->bound = bound;
	list_add_tail(&q->open, &o->link);
	q->nopen++;
}

void queue_unopen(struct queue *q, struct open *o)
{
	if (list_empty(&o->link))
		return;
	list_del(&o->link);
	q->nopen--;
}

static bool before(const struct queued *a, const struct queued *b)
{
	if (a->release_ns != b->release_ns)
		return a->release_ns < b->release_ns;
	return a->episode->serial < b->episode->serial;
}

static void sift_up(struct queue *q, uint32_t i, struct queued e)
{
	uint32_t parent;

	for (; i; i = parent) {
		parent = (i - 1) / 2;
		if (!before(&e, &q->heap[parent]))
			break;
		q->heap[i] = q->heap[parent];
	}
	q->heap[i] = e;
}

static struct episode *pop(struct queue *q)
{
	struct episode *top = q->heap[0].episode;
	struct queued last = q->heap[--q->n];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < q->n) {
		if (child + 1 < q->n && before(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (!before(&q->heap[child], &last))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = last;
	return top;
}

static int heap_add(struct model *m, struct queue *q, struct episode *e)
{
	int err = grow(q->heap, q->cap, q->n + 1);

	if (err)
		return err;
	if (!q->n)
		list_add_tail(&m->waiting, &q->waiting);
	sift_up(q, q->n++, (struct queued){ .release_ns = e->arrive_max, .episode = e });
	return 0;
}

/*
 * Return the earliest release that an open episode may still have. Episodes far behind the
 * watermark (MODEL_HOLD_NS) are ignored. An episode without a known count is ignored only later,
 * when it is decided (MODEL_DECIDE_NS).
 */
static uint64_t earliest_open(const struct model *m, const struct queue *q)
{
	uint64_t stale = number_less(m->watermark, MODEL_HOLD_NS), bound = MODEL_UNKNOWN;
	uint64_t decided = number_less(stale, MODEL_DECIDE_NS);
	const struct list *l;
	const struct open *o;

	for (l = q->open.next; l != &q->open; l = l->next) {
		o = container_of(l, struct open, link);
		if (o->bound >= (o->uncounted ? decided : stale) && o->bound < bound)
			bound = o->bound;
	}
	return bound;
}

/*
 * Return true if the first episode of @e's object is still open and earlier than @e. Tracing began
 * in the middle of that first episode. It stays open until a second episode shows that no more
 * threads arrive. @e must wait for it, because the phase of the second episode begins at the
 * release of the first.
 */
static bool waits_for_first(const struct episode *e)
{
	return e->object->first && e->object->first->arrive_max < e->arrive_max;
}

int queue_flush(struct model *m, struct queue *q, bool all)
{
	uint64_t bound = all ? MODEL_UNKNOWN : earliest_open(m, q);
	struct episode *e;
	int err = 0;

	while (q->n && !err) {
		if (q->n <= MODEL_HEAP_MAX && !all &&
		    (q->heap[0].release_ns > bound || waits_for_first(q->heap[0].episode)))
			break;
		e = pop(q);
		if (!q->n)
			list_del(&q->waiting);
		err = episode_emit(m, e);
		episode_free(m, e);
	}
	return err;
}

int queue_push(struct model *m, struct queue *q, struct episode *e)
{
	int err;

	if (!q->n && !q->nopen) {
		err = episode_emit(m, e);
		episode_free(m, e);
		return err;
	}
	err = heap_add(m, q, e);
	if (err) {
		episode_free(m, e);
		return err;
	}
	if (q->nopen > QUEUE_LOOK && q->n <= MODEL_HEAP_MAX)
		return 0;
	return queue_flush(m, q, false);
}

/* Return the index of the queue that contains queue @i now (union-find, with path halving). */
static uint32_t find_root(struct model *m, uint32_t i)
{
	struct queue *q = m->queues[i];

	while (q->into != MODEL_NONE) {
		if (m->queues[q->into]->into != MODEL_NONE)
			q->into = m->queues[q->into]->into;
		i = q->into;
		q = m->queues[i];
	}
	return i;
}

struct queue *queue_of(struct model *m, uint32_t proc)
{
	return m->queues[find_root(m, proc)];
}

/*
 * Join the queues of two processes that share a barrier, by moving the entries of the smaller
 * queue.
 */
int queue_join(struct model *m, uint32_t a, uint32_t b)
{
	uint32_t keep = find_root(m, a), drop = find_root(m, b), i;
	struct queue *to = m->queues[keep], *from = m->queues[drop];
	struct list *l;
	int err;

	if (keep == drop)
		return 0;
	if (to->n + to->nopen < from->n + from->nopen) {
		i = keep;
		keep = drop;
		drop = i;
		to = m->queues[keep];
		from = m->queues[drop];
	}
	while (from->n) {
		err = heap_add(m, to, from->heap[from->n - 1].episode);
		if (err)
			return err;
		from->n--;
	}
	list_del(&from->waiting);
	while (!list_empty(&from->open)) {
		l = from->open.next;
		list_del(l);
		from->nopen--;
		list_add_tail(&to->open, l);
		to->nopen++;
	}
	from->into = keep;
	to->joined = from->joined = true;
	return 0;
}
