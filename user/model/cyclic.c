// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * In cyclic use, more threads use the barrier than its count n. A thread may arrive for the next
 * episode before all members of the current episode have left. The crossings are therefore cut into
 * chunks of n by order of arrival. In each chunk, the last arrival must be before the first
 * departure. This check also finds the right cut again after a lost record. The order of arrivals
 * that the probes see can differ from the barrier's own order, so more than n threads may arrive
 * before the first departure. Those of them that leave before the next release are members of the
 * current episode. If fewer than n threads do so, this episode and the next are ambiguous.
 */
#include "model/internal.h"

#include "base/array.h"
#include "base/grow.h"

#include <string.h>

/*
 * Slots of threads that no longer use the barrier are freed after each (number of slots /
 * SLOTS_PURGE) crossings.
 */
#define SLOTS_PURGE 64

#define CYCLIC_BUF_MIN 4096

/*
 * Make room for one more member. Members that left have freed room at the front, which is reused
 * when it is as large as the remaining members.
 */
static int buf_reserve(struct cyclic *c)
{
	uint32_t front = c->room ? (uint32_t)(c->buf - c->room) : 0;
	int err;

	if (front + c->n < c->cap)
		return 0;
	if (front && front >= c->n) {
		memmove(c->room, c->buf, c->n * sizeof(*c->buf));
		c->buf = c->room;
		return 0;
	}
	err = grow(c->room, c->cap, front + c->n + 1);
	if (!err)
		c->buf = c->room + front;
	return err;
}

/*
 * Among the first @upto members, remove those that are marked in @gone. Keep all other members, in
 * order.
 */
static void buf_leave(struct cyclic *c, const uint64_t *gone, uint32_t upto)
{
	uint32_t i, kept = upto;

	for (i = upto; i--;)
		if (!gone[i])
			c->buf[--kept] = c->buf[i];
	c->buf += kept;
	c->n -= kept;
}

static int buf_insert(struct object *o, const struct member *mem)
{
	struct cyclic *c = &o->cyclic;
	uint32_t i;
	int err = buf_reserve(c);

	if (err)
		return err;
	for (i = c->n++; i && c->buf[i - 1].pub.arrive_ns > mem->pub.arrive_ns; i--)
		c->buf[i] = c->buf[i - 1];
	c->buf[i] = *mem;
	return 0;
}

static int buf_take(struct model *m, struct object *o, struct episode *e)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < e->n && !err; i++) {
		err = buf_insert(o, &e->members[i]);
		/* The buffer owns the member's detail now. */
		if (!err)
			e->members[i].pub.detail = NULL;
	}
	queue_unopen(queue_of(m, o->proc), &e->open);
	if (o->first == e)
		o->first = NULL;
	episode_free(m, e);
	return err;
}

/* Move the open crossings of this barrier to the buffer, but not those of a former barrier. */
static int take_open(struct model *m, struct object *o)
{
	uint32_t i, kept = 0;
	int err = 0;

	for (i = 0; i < o->nopen; i++) {
		if (err || episode_is_former(o->open[i]))
			o->open[kept++] = o->open[i];
		else
			err = buf_take(m, o, o->open[i]);
	}
	o->nopen = kept;
	return err;
}

/* Switch the object to cyclic use: open episodes become single crossings again. */
int cyclic_enter(struct model *m, struct object *o)
{
	uint64_t latest = 0;
	int err = 0;

	o->is_cyclic = true;
	o->cyclic.nprev = 0;
	o->cyclic.swap = false;
	/*
	 * Earlier episodes were matched on the assumption that no more threads use the barrier than
	 * it counts. So it is not certain where the next episode begins.
	 */
	o->cyclic.blind = o->nclosed;
	o->cyclic.unsure = o->nclosed ? MODEL_WHY_SWAP : 0;
	if (o->pending && episode_is_former(o->pending)) {
		err = object_classify(m, o, false);
	} else if (o->pending) {
		err = buf_take(m, o, o->pending);
		o->pending = NULL;
	}
	if (!err)
		err = take_open(m, o);
	o->cyclic.warm_ns = 0;
	if (o->cyclic.n)
		latest = o->cyclic.buf[o->cyclic.n - 1].pub.arrive_ns;
	array_for_each (slot, o->slots, o->nslots) {
		slot->arrive_ns = latest;
		slot->crossing = o->crossings;
	}
	if (o->cyclic.n)
		queue_open(queue_of(m, o->proc), &o->cyclic.open, o->cyclic.buf[0].pub.arrive_ns);
	return err;
}

static void set_bound(struct model *m, struct object *o)
{
	struct cyclic *c = &o->cyclic;
	uint32_t i;

	if (!c->n) {
		queue_unopen(queue_of(m, o->proc), &c->open);
		return;
	}
	/* The next release cannot be before the arrival that completes the next chunk. */
	i = o->count && o->count <= c->n ? o->count - 1 : c->n - 1;
	if (list_empty(&c->open.link))
		queue_open(queue_of(m, o->proc), &c->open, 0);
	c->open.bound = c->buf[i].pub.arrive_ns;
}

/*
 * A possible episode, cut from the buffer: the first members, which all arrived before the earliest
 * departure among them.
 */
struct chunk {
	uint32_t n; /* at most the count */
	uint32_t surplus; /* further members that arrived before the earliest departure */
	uint64_t depart_min; /* earliest departure of these n members; MODEL_UNKNOWN if none left */
};

static struct chunk cut(const struct object *o)
{
	const struct member *buf = o->cyclic.buf;
	struct chunk c = { .depart_min = MODEL_UNKNOWN };
	uint32_t i;

	for (i = 0; i < o->cyclic.n && i < o->count; i++) {
		if (buf[i].pub.arrive_ns >= c.depart_min)
			break;
		if (buf[i].pub.depart_ns < c.depart_min)
			c.depart_min = buf[i].pub.depart_ns;
	}
	c.n = i;
	if (c.n < o->count)
		return c;
	for (; i < o->cyclic.n && buf[i].pub.arrive_ns < c.depart_min; i++)
		c.surplus++;
	return c;
}

static bool overdue(const struct model *m, const struct object *o, uint64_t t)
{
	uint32_t room = CYCLIC_BUF_MIN > 8 * (uint64_t)o->count ? CYCLIC_BUF_MIN : 8 * o->count;

	return m->watermark > t + MODEL_DECIDE_NS || o->cyclic.n > room;
}

/*
 * Return whether the chunk could be shifted, which means that a cut k members earlier also agrees
 * with all departures. The last k members of the previous chunk would then have been released by
 * the (n - k)th member of this chunk, and would have left after its arrival.
 */
static bool shift_possible(const struct object *o, const struct episode *e)
{
	const struct cyclic *c = &o->cyclic;
	uint64_t earliest = MODEL_UNKNOWN;
	uint32_t k;

	if (c->blind && c->nprev < 2 * e->count)
		return true;
	for (k = 1; k < e->n; k++) {
		if (k <= c->nprev && c->prev[c->nprev - k].depart_ns < earliest)
			earliest = c->prev[c->nprev - k].depart_ns;
		if (earliest >= e->members[e->n - 1 - k].pub.arrive_ns)
			return true;
	}
	return false;
}

/* Return whether a record may be missing between @from and @to. */
static bool loss_between(const struct model *m, const struct object *o, uint64_t from, uint64_t to)
{
	const struct thread *t;

	array_for_each (slot, o->slots, o->nslots) {
		t = thread_at(m, slot->thread);
		/* The last record of a thread that was not seen again may be lost. */
		if (thread_gap_covers(t, from, to) || (m->totals.lost && t->seen_ns < to))
			return true;
	}
	return false;
}

static int remember_passed(struct cyclic *c, const struct episode *e)
{
	uint32_t j, keep = 2 * e->count;
	struct passed p;
	int err = grow(c->prev, c->cap_prev, c->nprev + e->n);

	if (err)
		return err;
	array_for_each (m, e->members, e->n) {
		p.arrive_ns = m->pub.arrive_ns;
		p.depart_ns = m->pub.depart_ns;
		for (j = c->nprev++; j && c->prev[j - 1].arrive_ns > p.arrive_ns; j--)
			c->prev[j] = c->prev[j - 1];
		c->prev[j] = p;
	}
	if (c->nprev > keep) {
		memmove(&c->prev[0], &c->prev[c->nprev - keep], keep * sizeof(p));
		c->nprev = keep;
	}
	return 0;
}

/*
 * Close an episode with the chosen members: those among the first @upto that are marked in
 * m->prefix.
 */
static int chunk_close(struct model *m, struct object *o, uint32_t upto, enum model_state state,
		       uint32_t why)
{
	struct cyclic *c = &o->cyclic;
	uint32_t i;
	struct episode *e;
	int err = episode_new(m, o, o->count, &e);

	if (err)
		return err;
	e->cyclic = true;
	for (i = 0; i < upto; i++) {
		if (m->prefix[i] && !err)
			err = episode_add(m, e, &c->buf[i]);
		/* A member that could not be added stays in the buffer. */
		if (err)
			m->prefix[i] = 0;
	}
	buf_leave(c, m->prefix, upto);
	if (err) {
		episode_free(m, e);
		return err;
	}
	if (state == MODEL_INCOMPLETE) {
		why |= slots_missing_why(m, o, e);
	} else if (loss_between(m, o, e->arrive_min,
				e->depart_min == MODEL_UNKNOWN ? e->arrive_max : e->depart_min)) {
		state = MODEL_AMBIGUOUS;
		why |= MODEL_WHY_LOST;
	} else if ((c->unsure || e->nuncertain) && shift_possible(o, e)) {
		state = MODEL_AMBIGUOUS;
		why |= c->unsure == MODEL_WHY_SWAP ? MODEL_WHY_SWAP : MODEL_WHY_LOST;
	}
	c->unsure = why;
	err = remember_passed(c, e);
	if (err) {
		episode_free(m, e);
		return err;
	}
	set_bound(m, o);
	return episode_close(m, e, state, why);
}

static int mark_first(struct model *m, uint32_t n, uint32_t total)
{
	uint32_t i;
	int err = grow(m->prefix, m->cap_prefix, total);

	for (i = 0; i < total && !err; i++)
		m->prefix[i] = i < n;
	return err;
}

/* Decide on a chunk with too few arrivals before the first departure: records are missing. */
static int decide_short(struct model *m, struct object *o, const struct chunk *ch, bool final,
			bool *decided)
{
	uint64_t left = ch->depart_min;
	int err;

	if (left == MODEL_UNKNOWN)
		left = o->cyclic.buf[ch->n - 1].pub.arrive_ns;
	*decided = final || overdue(m, o, left) ||
		   (ch->depart_min != MODEL_UNKNOWN && slots_settled(m, o, left));
	if (!*decided)
		return 0;
	err = mark_first(m, ch->n, ch->n);
	o->cyclic.swap = false;
	return err ? err : chunk_close(m, o, ch->n, MODEL_INCOMPLETE, 0);
}

/*
 * Choose the members among the first @pool. Threads that left before the next release must be
 * members. The other members are chosen by order of arrival and are not certain. Return the number
 * of threads that must be members.
 */
static uint32_t choose(struct model *m, const struct object *o, uint32_t n, uint32_t pool,
		       uint64_t next_release)
{
	const struct member *buf = o->cyclic.buf;
	uint32_t i, must = 0, chosen;

	for (i = 0; i < pool; i++) {
		m->prefix[i] = buf[i].pub.depart_ns < next_release;
		must += m->prefix[i];
	}
	chosen = must;
	for (i = 0; i < pool && chosen < n; i++) {
		chosen += !m->prefix[i];
		m->prefix[i] = 1;
	}
	return must;
}

static int decide_full(struct model *m, struct object *o, const struct chunk *ch, bool final,
		       bool *decided)
{
	uint32_t n = o->count, pool = n + ch->surplus, why = 0, must;
	uint64_t left = ch->depart_min, next = MODEL_UNKNOWN;
	bool was_swap = o->cyclic.swap;
	int err;

	if (left == MODEL_UNKNOWN)
		left = o->cyclic.buf[n - 1].pub.arrive_ns;
	if (ch->surplus && o->cyclic.n >= 2 * n)
		next = o->cyclic.buf[2 * n - 1].pub.arrive_ns;
	*decided = final || overdue(m, o, left) ||
		   (ch->depart_min != MODEL_UNKNOWN &&
		    (ch->surplus ? next != MODEL_UNKNOWN && slots_settled(m, o, next)
				 : slots_settled(m, o, left)));
	if (!*decided)
		return 0;
	err = mark_first(m, n, pool);
	if (err)
		return err;
	o->cyclic.swap = false;
	if (ch->surplus) {
		must = choose(m, o, n, pool, next);
		/*
		 * The next release is not known if records are missing, or if this chunk may be
		 * shifted.
		 */
		if (o->cyclic.unsure || loss_between(m, o, o->cyclic.buf[0].pub.arrive_ns, next))
			must = pool;
		if (must != n)
			why = MODEL_WHY_SWAP;
		o->cyclic.swap = must < n;
		/*
		 * More threads departed before the next release than the episode has members, so
		 * records are missing.
		 */
		if (must > n)
			err = mark_first(m, n, pool);
		if (err)
			return err;
	}
	if (was_swap)
		why |= MODEL_WHY_SWAP;
	return chunk_close(m, o, pool, why ? MODEL_AMBIGUOUS : MODEL_COMPLETE, why);
}

static bool is_warm(const struct model *m, const struct object *o)
{
	return m->watermark >= o->cyclic.warm_ns || o->cyclic.n > CYCLIC_BUF_MIN;
}

/*
 * Return whether cyclic use may end. The remaining members could make the object cyclic again at
 * once, and this could repeat endlessly. So if cyclic use already ended a moment ago, the object
 * stays cyclic for a while.
 */
static bool may_leave(const struct model *m, const struct object *o)
{
	const struct cyclic *c = &o->cyclic;

	return o->nslots <= o->count && !(c->left && m->watermark - c->left_ns < MODEL_WARM_NS);
}

int cyclic_decide(struct model *m, struct object *o, bool final)
{
	bool decided = true;
	struct chunk ch;
	int err = 0;

	if (!final && !is_warm(m, o))
		return 0;
	/* All threads had left when the first of these members arrived, so a chunk begins here. */
	if (o->cyclic.n && !o->cyclic.nprev && o->cyclic.buf[0].pub.arrive_ns > o->depart_max) {
		o->cyclic.blind = false;
		o->cyclic.unsure = 0;
	}
	while (o->cyclic.n && decided && !err) {
		ch = cut(o);
		if (ch.n < o->count)
			err = decide_short(m, o, &ch, final, &decided);
		else
			err = decide_full(m, o, &ch, final, &decided);
	}
	set_bound(m, o);
	if (err || final)
		return err;
	/* A thread that used the barrier once must not keep it cyclic forever. */
	if (o->crossings - o->purged >= o->nslots / SLOTS_PURGE) {
		o->purged = o->crossings;
		slots_purge(m, o,
			    o->cyclic.n
				    ? number_less(o->cyclic.buf[0].pub.arrive_ns, MODEL_DECIDE_NS)
				    : 0);
	}
	return may_leave(m, o) ? cyclic_leave(m, o, false) : 0;
}

/*
 * End cyclic use, because there are no more threads than the count. Add the remaining members to
 * episodes one by one. @final: the count has changed, so cut the remaining members into episodes as
 * at the end of the run.
 */
int cyclic_leave(struct model *m, struct object *o, bool final)
{
	struct member mem;
	int err;

	if (final) {
		err = cyclic_decide(m, o, true);
		o->is_cyclic = false;
		return err;
	}
	o->is_cyclic = false;
	o->cyclic.left = true;
	o->cyclic.left_ns = m->watermark;
	queue_unopen(queue_of(m, o->proc), &o->cyclic.open);
	while (o->cyclic.n && !o->is_cyclic) {
		mem = *o->cyclic.buf++;
		o->cyclic.n--;
		err = object_place(m, o, &mem, o->count);
		if (err)
			return err;
	}
	return 0;
}

int cyclic_add(struct model *m, struct object *o, const struct member *mem)
{
	uint32_t full = o->cyclic.n < UINT32_MAX / 2 ? 2 * o->count : 0;
	int err = buf_insert(o, mem);

	if (err)
		return err;
	if (!o->cyclic.warm_ns)
		o->cyclic.warm_ns = mem->pub.arrive_ns + MODEL_WARM_NS;
	set_bound(m, o);
	/*
	 * To save time, try only when two chunks have arrived: a chunk can rarely be decided before
	 * the next chunk has arrived.
	 */
	if (o->cyclic.n < full)
		return 0;
	return cyclic_decide(m, o, false);
}
