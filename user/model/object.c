// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Assign crossings to episodes. A crossing belongs to the open episode if and only if it arrived
 * before the earliest departure of that episode. If the count is known, an episode is closed when
 * it has that many members. If not, it is closed when a thread has left a later episode. Objects
 * with more threads than their count are handled in cyclic.c.
 */
#include "model/internal.h"
#include "base/array.h"
#include "sites/family.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- finding the object ---------------------------------------------------------------------- */

static uint64_t object_key(const struct model_crossing *c, uint32_t proc)
{
	uint64_t k;

	if (c->shared)
		k = hash_mix(c->shared ^ 0x5368617265640000ULL);
	else
		k = hash_mix(c->object ^ hash_mix((uint64_t)proc + 1));
	return k ^ c->family;
}

static bool object_is(const struct object *o, const struct model_crossing *c, uint32_t proc)
{
	return o->family == c->family && o->shared == c->shared &&
	       (c->shared || (o->proc == proc && o->addr == c->object));
}

int object_unlink(struct model *m, struct object *o)
{
	struct object *head = hash_get_ptr(&m->object_by_id, o->key), *p;

	if (head == o) {
		if (!o->hash_next)
			hash_del(&m->object_by_id, o->key);
		else
			return hash_put_ptr(&m->object_by_id, o->key, o->hash_next);
		return 0;
	}
	for (p = head; p && p->hash_next != o; p = p->hash_next)
		;
	if (p)
		p->hash_next = o->hash_next;
	return 0;
}

void object_free(struct model *m, struct object *o)
{
	uint32_t i;

	for (i = 0; i < o->nopen; i++)
		episode_free(m, o->open[i]);
	if (o->pending)
		episode_free(m, o->pending);
	list_del(&o->lru);
	list_del(&o->busy);
	for (i = 0; i < o->cyclic.n; i++)
		detail_release(m, o->cyclic.buf[i].pub.detail);
	free(o->last_members);
	hash_free(&o->by_thread);
	free(o->slots);
	free(o->cyclic.room);
	free(o->cyclic.prev);
	free(o);
	m->nobjects--;
}

/* Remove the least recently used object. */
static int object_evict(struct model *m)
{
	struct object *o = container_of(m->objects.next, struct object, lru);
	int err = object_finish(m, o);

	if (!err && o->unfinished)
		err = queue_flush(m, queue_of(m, o->proc), true);
	if (!err)
		err = object_unlink(m, o);
	if (!err)
		object_free(m, o);
	return err;
}

static int object_get(struct model *m, const struct model_crossing *c, uint32_t proc,
		      struct object **out)
{
	uint64_t key = object_key(c, proc);
	struct object *o, *head = hash_get_ptr(&m->object_by_id, key);
	int err;

	for (o = head; o && !object_is(o, c, proc); o = o->hash_next)
		;
	if (!o) {
		if (m->nobjects >= MODEL_OBJECTS_MAX) {
			err = object_evict(m);
			if (err)
				return err;
			head = hash_get_ptr(&m->object_by_id, key);
		}
		o = calloc(1, sizeof(*o));
		if (!o)
			return -ENOMEM;
		err = hash_put_ptr(&m->object_by_id, key, o);
		if (err) {
			free(o);
			return err;
		}
		o->hash_next = head;
		o->key = key;
		o->serial = m->next_serial++;
		o->addr = c->object;
		o->shared = c->shared;
		o->family = c->family;
		o->proc = proc;
		o->row = MODEL_NONE;
		list_init(&o->busy);
		list_init(&o->cyclic.open.link);
		list_add_tail(&m->objects, &o->lru);
		m->nobjects++;
	} else if (m->objects.prev != &o->lru) {
		list_del(&o->lru);
		list_add_tail(&m->objects, &o->lru);
	}
	*out = o;
	return 0;
}

/*
 * Return true if the members of @e are known: a thread has left it, no member abandoned it, and all
 * members have arrived if the count is known.
 */
static bool members_known(const struct episode *e)
{
	return e && e->depart_min != MODEL_UNKNOWN && !e->nabandoned &&
	       (!e->count || e->n >= e->count);
}

static uint32_t copy_members(const struct episode *e, struct model_team_member *members,
			     uint32_t max)
{
	uint32_t i;

	for (i = 0; i < e->n && i < max; i++)
		members[i] = (struct model_team_member){ e->members[i].pub.thread,
							 e->members[i].pub.tid };
	return e->n;
}

/*
 * Return @member, but without the index if its thread exited long ago and the entry at this index
 * is empty or reused.
 */
static struct model_team_member still_there(const struct model *m, struct model_team_member member)
{
	const struct thread *t = thread_at(m, member.thread);

	if (t->folded || t->pub.tid != member.tid)
		member.thread = MODEL_NONE;
	return member;
}

bool model_team(const struct model *m, const struct model_crossing *at,
		struct model_team_member *members, uint32_t max, struct model_team *out)
{
	const struct proc *p = proc_find(m, at->tgid, at->inc);
	const struct object *o = NULL;
	const struct episode *e;
	uint32_t i;

	memset(out, 0, sizeof(*out));
	out->barrier = MODEL_NONE;
	if (p)
		o = hash_get_ptr(&m->object_by_id, object_key(at, p->index));
	while (o && !object_is(o, at, p->index))
		o = o->hash_next;
	if (!o)
		return false;
	out->barrier = o->row;
	out->changes = o->is_cyclic;
	out->n = o->nlast_members;
	out->release_ns = o->last_release_ns;
	for (i = 0; i < o->nlast_members && i < max; i++)
		members[i] = still_there(m, o->last_members[i]);
	/*
	 * Look at open episodes, too: without a count, an episode stays open until a thread has
	 * left a later one.
	 */
	for (i = 0; i <= o->nopen; i++) {
		e = i ? o->open[i - 1] : o->pending;
		if (!members_known(e) || e->arrive_max < out->release_ns)
			continue;
		out->n = copy_members(e, members, max);
		out->release_ns = e->arrive_max;
	}
	return true;
}

/* --- full episodes --------------------------------------------------------------------------- */

static void remove_open(struct object *o, const struct episode *e)
{
	uint32_t i;

	for (i = 0; i < o->nopen && o->open[i] != e; i++)
		;
	if (i == o->nopen)
		return;
	o->nopen--;
	for (; i < o->nopen; i++)
		o->open[i] = o->open[i + 1];
}

/* Return true if the member's crossing may belong to another episode. */
static bool is_uncertain(const struct member *mem, const struct slot *s)
{
	return !mem->round && (mem->late || slot_uncertain(s, mem->thread));
}

static void uncertainty_again(struct object *o, struct episode *e)
{
	e->nuncertain = 0;
	array_for_each (mem, e->members, e->n) {
		mem->uncertain = is_uncertain(mem, slot_find(o, mem->thread));
		e->nuncertain += mem->uncertain;
	}
}

static uint32_t uncertainty_why(const struct episode *e)
{
	array_for_each (m, e->members, e->n)
		if (m->uncertain && m->thread->pub.lost)
			return MODEL_WHY_LOST;
	return MODEL_WHY_BEFORE;
}

/* Note when members of @e arrived again, as far as the open episodes show. */
static void note_open(struct object *o, const struct episode *e)
{
	const struct episode *later;
	struct slot *s;
	uint32_t i;

	for (i = 0; i < o->nopen; i++) {
		later = o->open[i];
		array_for_each (m, later->members, later->n) {
			s = slot_find(o, m->thread);
			if (s && m->pub.arrive_ns >= e->arrive_max)
				slot_note_next(s, e, m);
		}
	}
}

/*
 * Decide the pending full episode, because the next episode is full too or no more records follow.
 */
int object_classify(struct model *m, struct object *o, bool final)
{
	struct episode *e = o->pending;
	bool certain = true;
	int err = 0;

	o->pending = NULL;
	/*
	 * The slots say nothing about an episode of a former barrier, so its members stay uncertain
	 * if they were uncertain before.
	 */
	if (!episode_is_former(e))
		uncertainty_again(o, e);
	if (e->nuncertain)
		err = episode_certain(m, o, e, final, &certain);
	if (err) {
		o->pending = e;
		return err;
	}
	if (certain)
		return episode_close(m, e, MODEL_COMPLETE, 0);
	return episode_close(m, e, MODEL_AMBIGUOUS, uncertainty_why(e));
}

/* Mark members of older open episodes as uncertain, because they may belong to @e instead. */
static void doubt_older(const struct model *m, struct object *o, struct episode *e)
{
	const struct episode *older;
	uint32_t i;

	for (i = 0; i < o->nopen; i++) {
		older = o->open[i];
		if (episode_is_former(older) || older->arrive_max > e->arrive_max ||
		    episode_detached_before(m, older, e->arrive_min) ||
		    episode_others_were_inside(o, older))
			continue;
		array_for_each (member, older->members, older->n)
			if (!member->round)
				slot_mark_uncertain(o, member->thread, member->seq);
	}
	uncertainty_again(o, e);
}

/*
 * Close a full episode of a former barrier. Its last member was slow to leave. The slots belong to
 * the present barrier, so they say nothing about this episode. No later episode can show whether a
 * member that never left belonged to a still earlier barrier.
 */
static int former_full(struct model *m, struct object *o, struct episode *e)
{
	bool certain = true;
	int err = e->nuncertain ? episode_certain(m, o, e, false, &certain) : 0;

	certain = certain && !e->nabandoned;
	if (err) {
		queue_unopen(queue_of(m, o->proc), &e->open);
		episode_free(m, e);
		return err;
	}
	return episode_close(m, e, certain ? MODEL_COMPLETE : MODEL_AMBIGUOUS,
			     e->nuncertain && !certain ? uncertainty_why(e) : 0);
}

/*
 * Handle an episode with as many members as the count. It is complete unless there is contrary
 * evidence. A member that never left may belong to an earlier barrier at this address. A member
 * with a missing record may belong to the next episode. An episode with such a member is pending
 * until the next episode is full.
 */
static int object_full(struct model *m, struct object *o, struct episode *e)
{
	bool certain = true;
	int err = 0;

	remove_open(o, e);
	if (episode_is_former(e))
		return former_full(m, o, e);
	if (o->nopen)
		doubt_older(m, o, e);
	if (!e->nuncertain && !e->nabandoned && !o->pending)
		return episode_close(m, e, MODEL_COMPLETE, 0);
	if (e->arrive_max > o->full_arrive_ns)
		o->full_arrive_ns = e->arrive_max;
	if (o->pending)
		err = object_classify(m, o, false);
	if (!err && e->nuncertain) {
		uncertainty_again(o, e);
		note_open(o, e);
		if (e->nuncertain)
			err = episode_certain(m, o, e, false, &certain);
	}
	if (err) {
		queue_unopen(queue_of(m, o->proc), &e->open);
		episode_free(m, e);
		return err;
	}
	if (certain && !e->nabandoned)
		return episode_close(m, e, MODEL_COMPLETE, 0);
	o->pending = e;
	return 0;
}

/* --- closing incomplete episodes ------------------------------------------------------------- */

static int close_short(struct model *m, struct object *o, struct episode *e)
{
	bool certain = true;
	uint32_t why;
	int err;

	remove_open(o, e);
	why = slots_missing_why(m, o, e);
	/* Members that arrived after the probes were detached could not be seen. */
	if (episode_was_cut(m, e))
		return episode_close(m, e, MODEL_INCOMPLETE, MODEL_WHY_END);
	if (e->count)
		return episode_close(m, e, MODEL_INCOMPLETE, why);
	/*
	 * Without a count, the threads that arrived are taken as all members, unless a record is
	 * known to be missing.
	 */
	if (why & MODEL_WHY_LOST)
		return episode_close(m, e, MODEL_INCOMPLETE, MODEL_WHY_LOST);
	uncertainty_again(o, e);
	if (e->nuncertain) {
		err = episode_certain(m, o, e, false, &certain);
		if (err) {
			queue_unopen(queue_of(m, o->proc), &e->open);
			episode_free(m, e);
			return err;
		}
	}
	if (!certain && (uncertainty_why(e) & MODEL_WHY_LOST))
		return episode_close(m, e, MODEL_AMBIGUOUS, MODEL_WHY_LOST);
	return episode_close(m, e, MODEL_COMPLETE, 0);
}

static uint64_t left_by(const struct episode *e)
{
	return e->depart_min == MODEL_UNKNOWN ? e->arrive_max : e->depart_min;
}

/*
 * Return true if a newer episode has a departure before the watermark. If so, the members of the
 * newer episode have left the oldest. An arrival at the newer episode is weaker evidence, because
 * other members may still be leaving the oldest.
 */
static bool newer_was_left(const struct model *m, const struct object *o)
{
	uint32_t i;

	for (i = 1; i < o->nopen; i++)
		if (o->open[i]->depart_min <= m->watermark)
			return true;
	return false;
}

/*
 * Return true if the oldest open episode can get no more members. @opened: a newer episode has just
 * begun.
 */
static bool oldest_is_over(const struct model *m, const struct object *o, bool opened)
{
	const struct episode *e = o->open[0];
	uint64_t left = left_by(e);

	if (!e->count) {
		/* As long as there is no watermark, two newer episodes are enough evidence. */
		if (!m->watermark && o->nopen > 2)
			return true;
		if (newer_was_left(m, o))
			return true;
		return m->watermark > left + MODEL_DECIDE_NS;
	}
	/*
	 * The slots belong to the present barrier, so the missing members of the episode are not
	 * among them.
	 */
	if (episode_is_former(e))
		return m->watermark > left + MODEL_DECIDE_NS;
	if (o->full_arrive_ns > e->arrive_max && o->full_arrive_ns >= left)
		return slots_settled(m, o, left) || m->watermark > left + MODEL_DECIDE_NS;
	return opened && o->nopen > 1 && o->nslots >= o->count && slots_settled(m, o, left);
}

static int close_old(struct model *m, struct object *o, bool opened)
{
	int err = 0;

	while (o->nopen && !err && oldest_is_over(m, o, opened))
		err = close_short(m, o, o->open[0]);
	return err;
}

/* --- placing a crossing ---------------------------------------------------------------------- */

static bool counts_agree(uint32_t a, uint32_t b)
{
	return !a || !b || a == b;
}

static bool rounds_agree(uint32_t a, uint32_t b)
{
	return !a || !b || a == b;
}

static bool in_time(const struct member *mem, uint64_t arrive_max, uint64_t depart_min,
		    uint64_t skew)
{
	return mem->pub.arrive_ns < depart_min &&
	       (mem->left_ns == MODEL_UNKNOWN || mem->left_ns + skew >= arrive_max);
}

/*
 * Return true if the ordinal of the call on the object is known for both @mem and the episode. If
 * so, the ordinals decide and not the times, because clocks may differ.
 */
static bool is_numbered(const struct member *mem, bool ordinal)
{
	return mem->ordinal && ordinal;
}

/*
 * Return true if @mem's thread is already a member of an episode without a count, from which no
 * departure was seen because members were killed. The thread must have left that episode, so @mem
 * belongs to another one.
 */
static bool comes_again(const struct episode *e, const struct member *mem)
{
	if (e->count || !e->nabandoned || e->depart_min != MODEL_UNKNOWN)
		return false;
	array_for_each (m, e->members, e->n)
		if (m->thread == mem->thread)
			return true;
	return false;
}

static bool of_team(uint16_t flags)
{
	return flags & MODEL_CROSSING_TEAM;
}

/*
 * Return true if the team of @mem fits the episode: the members of a team arrive at the same
 * episode, each of them once.
 */
static bool team_agrees(const struct episode *e, const struct member *mem)
{
	if (!of_team(mem->pub.flags))
		return true;
	array_for_each (m, e->members, e->n)
		if (m->pub.kind != mem->pub.kind || m->thread == mem->thread)
			return false;
	return true;
}

/*
 * Return true if @mem may be at the former barrier of @e. If no member of @e has left, any arrival
 * would be in time, so @mem must then have a different count from the present barrier.
 */
static bool former_agrees(const struct object *o, const struct episode *e, const struct member *mem,
			  uint32_t count)
{
	return mem->pub.arrive_ns < o->made_ns &&
	       (count != o->count || e->depart_min != MODEL_UNKNOWN);
}

static struct episode *find_open(const struct model *m, const struct object *o,
				 const struct member *mem, uint32_t count)
{
	struct episode *e;
	uint64_t skew;
	uint32_t i;

	for (i = 0; i < o->nopen; i++) {
		e = o->open[i];
		if (is_numbered(mem, e->ordinal)) {
			if (mem->round == e->round)
				return e;
			continue;
		}
		if (episode_is_former(e) && !former_agrees(o, e, mem, count))
			continue;
		/*
		 * If records are missing, a departure before the last arrival is more likely due to
		 * them than to disagreeing clocks. So permit no difference between clocks.
		 */
		skew = mem->uncertain || e->nuncertain ? 0 : MODEL_SKEW_NS;
		if (!(mem->was_inside && e->first) && counts_agree(count, e->count) &&
		    rounds_agree(mem->round, e->round) &&
		    in_time(mem, e->arrive_max, e->depart_min, skew) && !comes_again(e, mem) &&
		    team_agrees(e, mem) && !episode_detached_before(m, e, mem->pub.arrive_ns))
			return e;
	}
	return NULL;
}

enum fit { FIT_NEW, FIT_STRAY, FIT_SURPLUS };

/*
 * Check a crossing that fits no open episode against the closed episodes. FIT_SURPLUS: it is one
 * member too many for a complete episode. FIT_STRAY: it belongs to an incomplete episode that is
 * already closed. FIT_NEW: it fits none of them.
 */
static enum fit fit_closed(const struct object *o, const struct member *mem, uint32_t count)
{
	uint32_t i, n = o->nclosed < OBJECT_CLOSED ? o->nclosed : OBJECT_CLOSED;
	const struct closed *c;

	for (i = 0; i < n; i++) {
		c = &o->closed[(o->nclosed - 1 - i) % OBJECT_CLOSED];
		if (!counts_agree(count, c->count) || !rounds_agree(mem->round, c->round) ||
		    (!is_numbered(mem, c->ordinal) &&
		     (c->depart_min == MODEL_UNKNOWN ||
		      !in_time(mem, c->arrive_max, c->depart_min, 0))))
			continue;
		if (c->sure)
			return FIT_SURPLUS;
		if (!c->full)
			return FIT_STRAY;
	}
	return FIT_NEW;
}

/*
 * Return the value of object.made for an episode with this count: the present value if the count
 * fits, else the previous value.
 */
static uint32_t made_of(const struct object *o, uint32_t count)
{
	return counts_agree(count, o->count) ? o->made : o->made - 1;
}

static int episode_put(struct model *m, struct episode *e, const struct member *mem, uint32_t count)
{
	int err = episode_add(m, e, mem);

	if (!e->count && count) {
		e->count = count;
		e->made = made_of(e->object, count);
	}
	e->open.bound = e->arrive_max;
	e->open.uncounted = !e->count;
	return err;
}

static int object_open_new(struct model *m, struct object *o, const struct member *mem,
			   uint32_t count, struct episode **out)
{
	struct episode *e;
	uint32_t i;
	int err;

	if (o->nopen == OBJECT_OPEN_MAX) {
		err = close_short(m, o, o->open[0]);
		if (err)
			return err;
	}
	err = episode_new(m, o, count, &e);
	if (err)
		return err;
	e->made = made_of(o, count);
	/* A thread that was inside when tracing began has already passed the first episode. */
	e->first = e->first && !mem->was_inside;
	err = episode_put(m, e, mem, count);
	if (err) {
		episode_free(m, e);
		return err;
	}
	if (e->first)
		o->first = e;
	for (i = o->nopen++; i && left_by(o->open[i - 1]) > left_by(e); i--)
		o->open[i] = o->open[i - 1];
	o->open[i] = e;
	queue_open(queue_of(m, o->proc), &e->open, e->arrive_max);
	*out = e;
	return 0;
}

/*
 * @mem also belongs to the pending full episode, which then has one member too many. Replace a
 * member that never left: it belonged to an earlier barrier.
 */
static int pending_replace(struct model *m, struct object *o, const struct member *mem)
{
	struct episode *e = o->pending, *alone;
	struct member stale;
	uint32_t i, found = MODEL_NONE;
	int err;

	for (i = 0; i < e->n; i++)
		if (member_abandoned(&e->members[i]) &&
		    (found == MODEL_NONE ||
		     e->members[i].pub.arrive_ns < e->members[found].pub.arrive_ns))
			found = i;
	stale = e->members[found];
	e->members[found] = *mem;
	e->nabandoned--;
	e->detailed |= mem->pub.detail != NULL;
	e->nuncertain += mem->uncertain - stale.uncertain;
	e->arrive_max = 0;
	e->arrive_min = e->depart_min = MODEL_UNKNOWN;
	if (mem->left_ns != MODEL_UNKNOWN && mem->left_ns > e->depart_max)
		e->depart_max = mem->left_ns;
	for (i = 0; i < e->n; i++) {
		if (e->members[i].pub.arrive_ns > e->arrive_max)
			e->arrive_max = e->members[i].pub.arrive_ns;
		if (e->members[i].pub.arrive_ns < e->arrive_min)
			e->arrive_min = e->members[i].pub.arrive_ns;
		if (e->members[i].left_ns < e->depart_min)
			e->depart_min = e->members[i].left_ns;
	}
	e->open.bound = e->arrive_max;
	err = episode_new(m, o, e->count, &alone);
	if (err)
		return err;
	err = episode_add(m, alone, &stale);
	if (err) {
		episode_free(m, alone);
		return err;
	}
	err = episode_close(m, alone, MODEL_INCOMPLETE, 0);
	if (!err && !e->nabandoned && !e->nuncertain) {
		o->pending = NULL;
		err = episode_close(m, e, MODEL_COMPLETE, 0);
	}
	return err;
}

static bool pending_has_stale(const struct object *o, const struct member *mem, uint32_t count)
{
	const struct episode *e = o->pending;

	return e && e->nabandoned && e->nabandoned < e->n && counts_agree(count, e->count) &&
	       rounds_agree(mem->round, e->round) && in_time(mem, e->arrive_max, e->depart_min, 0);
}

/* Put @mem into an episode, which then owns its detail. */
int object_place(struct model *m, struct object *o, const struct member *mem, uint32_t count)
{
	struct episode *e = find_open(m, o, mem, count);
	bool opened = !e;
	int err;

	if (e) {
		err = episode_put(m, e, mem, count);
	} else {
		if (pending_has_stale(o, mem, count))
			return pending_replace(m, o, mem);
		switch (mem->was_inside ? FIT_NEW : fit_closed(o, mem, count)) {
		case FIT_STRAY:
			detail_release(m, mem->pub.detail);
			return 0;
		case FIT_SURPLUS:
			if (o->count > 1 && count == o->count && !o->is_cyclic &&
			    !of_team(mem->pub.flags)) {
				err = cyclic_enter(m, o);
				return err ? err : cyclic_add(m, o, mem);
			}
			break;
		case FIT_NEW:
			break;
		}
		err = object_open_new(m, o, mem, count, &e);
	}
	if (err)
		return err;
	if (e->count && e->n >= e->count) {
		err = object_full(m, o, e);
		if (!err && o->nopen)
			err = close_old(m, o, false);
	} else if (opened && o->nopen > 1) {
		err = close_old(m, o, true);
	}
	return err;
}

static void set_busy(struct model *m, struct object *o)
{
	bool busy = o->nopen || o->pending || o->cyclic.n;

	if (busy && list_empty(&o->busy))
		list_add_tail(&m->busy, &o->busy);
	else if (!busy && !list_empty(&o->busy))
		list_del(&o->busy);
}

/*
 * Handle a crossing with another count at the same address, which means a new barrier with a new
 * team.
 */
static int object_remade(struct model *m, struct object *o, const struct model_crossing *c)
{
	int err = 0;

	if (o->is_cyclic)
		err = cyclic_leave(m, o, true);
	/*
	 * No further episode of the old barrier can settle the pending episode. An episode that
	 * only lacks records stays pending, because these may still arrive.
	 */
	if (!err && o->pending && (o->pending->nabandoned || episode_is_former(o->pending)))
		err = object_classify(m, o, false);
	/* If the count was unknown before, the barrier is the same. */
	if (o->count) {
		slots_reset(o);
		o->made++;
	}
	o->count = c->count;
	o->made_ns = o->arrived_ns = c->arrive_ns;
	return err;
}

/*
 * Return true if the crossing is at a former barrier at this address: its thread was slow to leave,
 * and arrived before any thread arrived at the present barrier.
 */
static bool is_of_former(const struct object *o, const struct model_crossing *c)
{
	return o->count && c->count && c->count != o->count && c->arrive_ns < o->arrived_ns &&
	       !of_team(c->flags);
}

/*
 * Like is_of_former(), for the case that both barriers have the same count: an episode of the
 * former barrier lacks this member.
 */
static bool fits_former(const struct model *m, const struct object *o, const struct member *mem,
			uint32_t count)
{
	const struct episode *e;

	if (!o->made || !o->nopen || mem->pub.arrive_ns >= o->made_ns)
		return false;
	e = find_open(m, o, mem, count);
	return e && episode_is_former(e);
}

/*
 * Return true if the count of the barrier was only inferred from crossings, as for a hand-written
 * barrier. If so, the count may be too low.
 */
static bool is_found_out(const struct model_crossing *c)
{
	return family_has(c->family, FAMILY_COND_VAR) && !c->count;
}

int object_add(struct model *m, const struct model_crossing *c, struct member *mem)
{
	struct thread *t = mem->thread;
	struct object *o;
	struct slot *s;
	bool fresh;
	int err;

	err = object_get(m, c, t->pub.proc, &o);
	if (err)
		return err;
	if (c->shared && o->proc != t->pub.proc) {
		err = queue_join(m, o->proc, t->pub.proc);
		if (err)
			return err;
	}
	o->addr = c->object;
	o->partial |= c->flags & MODEL_CROSSING_PARTIAL;
	o->crossings++;
	o->nwere_inside += mem->was_inside;
	mem->uncertain = is_uncertain(mem, NULL);
	if (is_of_former(o, c) || fits_former(m, o, mem, c->count)) {
		err = object_place(m, o, mem, c->count);
		set_busy(m, o);
		return err;
	}
	if (c->count && c->count != o->count) {
		if (of_team(c->flags))
			o->count = c->count;
		else
			err = object_remade(m, o, c);
		if (err)
			return err;
	}
	if (c->count && c->arrive_ns > o->arrived_ns)
		o->arrived_ns = c->arrive_ns;
	err = slot_get(m, o, t, &s, &fresh);
	if (err)
		return err;
	mem->uncertain = is_uncertain(mem, s);
	if (o->pending)
		slot_note_next(s, o->pending, mem);
	if (o->is_cyclic) {
		s->arrive_ns = c->arrive_ns;
		s->crossing = o->crossings;
	} else if (fresh && o->count > 1 && o->nslots > o->count) {
		s->arrive_ns = c->arrive_ns;
		s->crossing = o->crossings;
		slots_purge(m, o, 0);
		if (o->nslots > o->count && is_found_out(c))
			o->count = 0;
		else if (o->nslots > o->count && !of_team(c->flags))
			err = cyclic_enter(m, o);
		if (err)
			return err;
	}
	if (o->is_cyclic)
		err = cyclic_add(m, o, mem);
	else
		err = object_place(m, o, mem, c->count);
	set_busy(m, o);
	return err;
}

/* Make the decisions that a new watermark allows. */
int object_advance(struct model *m, struct object *o)
{
	int err = 0;

	if (o->is_cyclic)
		err = cyclic_decide(m, o, false);
	if (!err)
		err = close_old(m, o, false);
	set_busy(m, o);
	return err;
}

/* Close all episodes, because no more records follow. */
int object_finish(struct model *m, struct object *o)
{
	int err = 0;

	if (o->is_cyclic)
		err = cyclic_decide(m, o, true);
	if (!err && o->pending)
		err = object_classify(m, o, true);
	while (!err && o->nopen)
		err = close_short(m, o, o->open[0]);
	set_busy(m, o);
	return err;
}
