// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* One episode, from its first member to the queue. */
#include "model/internal.h"

#include "base/array.h"
#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EPISODES_KEPT 1024
#define SORT_FEW      64
/* Allocate at most this many members in advance, because the count is untrusted. */
#define MEMBERS_READY 64

int episode_new(struct model *m, struct object *o, uint32_t count, struct episode **out)
{
	struct episode *e = m->free;
	struct member *members;
	uint32_t cap;

	if (e) {
		m->free = e->free_next;
		m->nfree--;
		members = e->members;
		cap = e->cap;
		memset(e, 0, sizeof(*e));
		e->members = members;
		e->cap = cap;
	} else {
		e = calloc(1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		if (grow(e->members, e->cap, count < MEMBERS_READY ? count : MEMBERS_READY)) {
			free(e);
			return -ENOMEM;
		}
	}
	list_init(&e->open.link);
	e->object = o;
	e->serial = m->next_episode++;
	e->proc = o->proc;
	e->count = count;
	e->arrive_min = MODEL_UNKNOWN;
	e->depart_min = MODEL_UNKNOWN;
	e->first = !o->seen_episode;
	e->made = o->made;
	o->seen_episode = true;
	o->unfinished++;
	*out = e;
	return 0;
}

/* Free the episode and the details of its members. */
void episode_free(struct model *m, struct episode *e)
{
	uint32_t i;

	for (i = 0; e->detailed && i < e->n; i++)
		detail_release(m, e->members[i].pub.detail);
	e->object->unfinished--;
	if (m->nfree >= EPISODES_KEPT) {
		free(e->members);
		free(e);
		return;
	}
	e->free_next = m->free;
	m->free = e;
	m->nfree++;
}

int episode_add(struct model *m, struct episode *e, const struct member *mem)
{
	int err = grow(e->members, e->cap, e->n + 1);

	(void)m;
	if (err)
		return err;
	e->members[e->n++] = *mem;
	if (mem->round)
		e->round = mem->round;
	e->ordinal |= mem->ordinal;
	e->probe_groups |= SBT_PROBE_GROUP(mem->probe_group);
	e->nuncertain += mem->uncertain;
	e->nested |= mem->depth > 0;
	e->detailed |= mem->pub.detail != NULL;
	if (mem->pub.arrive_ns < e->arrive_min)
		e->arrive_min = mem->pub.arrive_ns;
	if (mem->pub.arrive_ns > e->arrive_max)
		e->arrive_max = mem->pub.arrive_ns;
	e->nabandoned += member_abandoned(mem);
	if (mem->left_ns < e->depart_min)
		e->depart_min = mem->left_ns;
	if (mem->left_ns != MODEL_UNKNOWN && mem->left_ns > e->depart_max)
		e->depart_max = mem->left_ns;
	return 0;
}

static int order_cmp(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return x->key != y->key ? NUMBER_COMPARE(x->key, y->key)
				: NUMBER_COMPARE(x->index, y->index);
}

static int sort_many(struct model *m, const struct episode *e)
{
	uint32_t i;
	int err = grow(m->order, m->cap_order, e->n);

	if (err)
		return err;
	for (i = 0; i < e->n; i++)
		m->order[i] = (struct order){ .key = e->members[i].pub.arrive_ns, .index = i };
	qsort(m->order, e->n, sizeof(*m->order), order_cmp);
	for (i = 0; i < e->n; i++)
		m->sorted[i] = e->members[m->order[i].index];
	return 0;
}

/*
 * Sort by counting the members that precede each member. For few members, comparing all pairs takes
 * less time than mispredicted branches.
 */
static void sort_few(struct model *m, const struct episode *e)
{
	uint32_t place[SORT_FEW] = { 0 }, i, j;
	uint64_t key[SORT_FEW];

	for (i = 0; i < e->n; i++) {
		key[i] = e->members[i].pub.arrive_ns;
		for (j = 0; j < i; j++) {
			place[j] += key[j] > key[i];
			place[i] += key[j] <= key[i];
		}
	}
	for (i = 0; i < e->n; i++)
		m->sorted[place[i]] = e->members[i];
}

/* Sort the members by arrival; members that arrived at the same time keep their order. */
int episode_sort(struct model *m, struct episode *e)
{
	struct member *sorted;
	uint32_t i, cap;
	int err;

	for (i = 1; i < e->n && e->members[i - 1].pub.arrive_ns <= e->members[i].pub.arrive_ns; i++)
		;
	if (i >= e->n)
		return 0;
	err = grow(m->sorted, m->cap_sorted, e->n);
	if (!err && e->n <= SORT_FEW)
		sort_few(m, e);
	else if (!err)
		err = sort_many(m, e);
	if (err)
		return err;
	sorted = m->sorted;
	cap = m->cap_sorted;
	m->sorted = e->members;
	m->cap_sorted = e->cap;
	e->members = sorted;
	e->cap = cap;
	return 0;
}

/*
 * Return the earliest time at which @mem's thread can arrive at the object again. If its next
 * arrival is not known, return its departure.
 */
static uint64_t next_arrival(struct object *o, const struct episode *e, const struct member *mem,
			     bool final)
{
	const struct thread *t = mem->thread;
	const struct slot *s = slot_find(o, mem->thread);

	if (mem->pub.depart_ns == MODEL_UNKNOWN)
		return mem->pub.arrive_ns;
	if (s && s->next_for == e->serial && s->next_arrive_ns >= mem->pub.depart_ns) {
		/* A missing record may have been an earlier arrival. */
		return s->next_gaps == mem->gaps ? s->next_arrive_ns : mem->pub.depart_ns;
	}
	if (final && t->pub.pending_ns != MODEL_UNKNOWN && t->pending_object == o->addr)
		return t->pub.pending_ns;
	/* All records have been seen and none was lost, so the thread never arrived again. */
	if (final && !t->pub.lost)
		return MODEL_UNKNOWN;
	return mem->pub.depart_ns;
}

/*
 * Find out whether the members of a full episode are certain although records are missing. Suppose
 * that they are wrong. Then the last k members belong to the next episode, and their crossings of
 * this episode are missing. All other members must then have left, and arrived again, before the
 * first of these k members left. If this is impossible for every k, the members are right.
 */
int episode_certain(struct model *m, struct object *o, struct episode *e, bool final, bool *certain)
{
	uint64_t latest = 0, earliest = MODEL_UNKNOWN, depart;
	uint32_t i;
	int err;

	err = episode_sort(m, e);
	if (!err)
		err = grow(m->prefix, m->cap_prefix, e->n);
	if (err)
		return err;
	for (i = 0; i < e->n; i++) {
		depart = next_arrival(o, e, &e->members[i], final);
		if (depart > latest)
			latest = depart;
		m->prefix[i] = latest;
	}
	/*
	 * If records are missing, a thread that left before the last arrival belongs to another
	 * episode.
	 */
	*certain = e->depart_min >= e->arrive_max;
	for (i = e->n - 1; i > 0 && e->members[i].uncertain; i--) {
		depart = e->members[i].pub.depart_ns;
		if (depart < earliest)
			earliest = depart;
		if (earliest >= m->prefix[i - 1])
			*certain = false;
	}
	return 0;
}

static uint32_t causality(const struct episode *e)
{
	if (e->depart_min >= e->arrive_max)
		return 0;
	array_for_each (m, e->members, e->n)
		if (m->pub.depart_ns < e->arrive_max)
			return MODEL_WHY_CAUSALITY;
	return 0;
}

/* Return the MODEL_WHY_* flags for members with an arrival time that is only an upper bound. */
static uint32_t bounds(const struct episode *e)
{
	uint32_t n = 0;

	array_for_each (m, e->members, e->n)
		n += !!(m->pub.flags & MODEL_CROSSING_BOUND);
	return (n ? MODEL_WHY_BOUND : 0) | (n > 1 ? MODEL_WHY_RIVALS : 0);
}

/*
 * Return whether threads arrived without leaving a record. The last member with a known arrival
 * reports how many threads were missing at that moment. Exactly this number of members must have an
 * arrival that is only an upper bound; otherwise threads left no record. If all arrivals are upper
 * bounds, return true: the object may have been open for a long time, and earlier threads are not
 * known. Set *@waited if members waited for threads without a record.
 */
static bool others_came(const struct episode *e, bool *waited)
{
	const struct member *newest = NULL;
	uint32_t after = 0;

	*waited = false;
	array_for_each (mem, e->members, e->n) {
		if (!mem->rest)
			return false;
		if (mem->pub.flags & MODEL_CROSSING_BOUND)
			after++;
		else if (!newest || mem->pub.arrive_ns >= newest->pub.arrive_ns)
			newest = mem;
	}
	*waited = newest && newest->rest - 1u != after;
	return !newest || *waited;
}

static void remember(struct object *o, const struct episode *e)
{
	bool full = e->count && e->n >= e->count;

	o->closed[o->nclosed++ % OBJECT_CLOSED] = (struct closed){
		.arrive_max = e->arrive_max,
		.depart_min = e->depart_min,
		.count = e->count,
		.round = e->round,
		.ordinal = e->ordinal,
		.full = full,
		.sure = full && e->state == MODEL_COMPLETE,
	};
	if (e->depart_max > o->depart_max)
		o->depart_max = e->depart_max;
}

/*
 * For an episode during which tracing began, return whether the threads without a record were
 * inside when tracing began. If so, all members are accounted for.
 */
bool episode_others_were_inside(const struct object *o, const struct episode *e)
{
	return e->first && e->n + o->nwere_inside == e->count;
}

/* Note in the members' slots whether their crossings of @e are certainly in the right episode. */
static void mark_places(struct object *o, const struct episode *e)
{
	if (episode_is_former(e) ||
	    (e->state == MODEL_INCOMPLETE && episode_others_were_inside(o, e)))
		return;
	array_for_each (mem, e->members, e->n) {
		/* A number decides. */
		if (e->state != MODEL_COMPLETE && mem->round)
			slot_clear(o, mem->thread, mem->seq);
		else if (e->state != MODEL_COMPLETE)
			slot_mark_uncertain(o, mem->thread, mem->seq);
		else if (o->nuncertain || mem->thread->has_gap)
			slot_clear(o, mem->thread, mem->seq);
	}
}

/* Remember the members, to find missing threads. When out of memory, no members are known. */
static void keep_team(struct object *o, const struct episode *e)
{
	uint32_t i;

	o->nlast_members = 0;
	if (grow(o->last_members, o->cap_last_members, e->n))
		return;
	for (i = 0; i < e->n; i++)
		o->last_members[i] = (struct model_team_member){ e->members[i].pub.thread,
								 e->members[i].pub.tid };
	o->nlast_members = e->n;
	o->last_release_ns = e->arrive_max;
}

bool episode_detached_before(const struct model *m, const struct episode *e, uint64_t t_ns)
{
	const struct model_proc *p = &proc_at(m, e->proc)->pub;

	array_for_each (part, p->parts, p->nparts)
		if (part->probe_groups & e->probe_groups && t_ns > part->t_ns)
			return true;
	return false;
}

bool episode_was_cut(const struct model *m, const struct episode *e)
{
	/* The comparison is also true if depart_min is MODEL_UNKNOWN. */
	return episode_detached_before(m, e, e->depart_min);
}

/* Close @e and pass it to the queue. The caller no longer owns @e, even after an error. */
int episode_close(struct model *m, struct episode *e, enum model_state state, uint32_t why)
{
	struct object *o = e->object;
	struct queue *q = queue_of(m, o->proc);

	e->state = state;
	e->why = why | causality(e) | (e->nabandoned ? MODEL_WHY_ABANDONED : 0);
	if (e->depart_min == MODEL_UNKNOWN)
		e->state = MODEL_INCOMPLETE;
	e->why |= bounds(e);
	if (others_came(e, &e->waits_unseen) || o->partial) {
		e->state = MODEL_INCOMPLETE;
		e->why |= MODEL_WHY_OTHERS;
	}
	queue_unopen(q, &e->open);
	if (o->first == e)
		o->first = NULL;
	remember(o, e);
	/*
	 * If probes were detached before the members left, mark no slot as uncertain: all later
	 * crossings belong to other episodes.
	 */
	if (e->state == MODEL_COMPLETE || !episode_was_cut(m, e))
		mark_places(o, e);
	if (e->state == MODEL_COMPLETE && e->arrive_max >= o->last_release_ns)
		keep_team(o, e);
	if (e->count && e->n >= e->count && e->arrive_max > o->full_arrive_ns)
		o->full_arrive_ns = e->arrive_max;
	return queue_push(m, q, e);
}
