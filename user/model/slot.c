// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The threads that use an object. A slot says up to which record the thread's crossings are
 * certainly in the right episodes.
 */
#include "model/internal.h"

#include "base/array.h"
#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Up to this many slots are searched one by one. If an object has more, a hash is used. */
#define SLOTS_LOOK 32

/* Add new slots, or all slots if they were moved, to the hash. Return false when out of memory. */
static bool file_slots(struct object *o)
{
	for (; o->nfiled < o->nslots; o->nfiled++)
		if (hash_put(&o->by_thread, o->slots[o->nfiled].thread, o->nfiled))
			return false;
	return true;
}

static void unfile_slots(struct object *o)
{
	if (o->nfiled)
		hash_free(&o->by_thread);
	o->nfiled = 0;
}

/* Return the index of the thread's slot, or nslots if there is none. */
static uint32_t slot_place(struct object *o, const struct thread *t)
{
	uint64_t place = o->nslots;
	uint32_t i;

	if (o->nslots > SLOTS_LOOK && file_slots(o)) {
		hash_get(&o->by_thread, t->index, &place);
		return (uint32_t)place;
	}
	for (i = 0; i < o->nslots && o->slots[i].thread != t->index; i++)
		;
	return i;
}

struct slot *slot_find(struct object *o, struct thread *t)
{
	uint32_t i, way = o->serial % THREAD_CACHE;

	if (t->slots[way].object == (uint32_t)o->serial) {
		i = t->slots[way].slot;
		if (i < o->nslots && o->slots[i].thread == t->index)
			return &o->slots[i];
	}
	i = slot_place(o, t);
	if (i == o->nslots)
		return NULL;
	t->slots[way].object = (uint32_t)o->serial;
	t->slots[way].slot = i;
	return &o->slots[i];
}

int slot_get(struct model *m, struct object *o, struct thread *t, struct slot **out, bool *fresh)
{
	struct slot *s = slot_find(o, t);
	uint32_t way = o->serial % THREAD_CACHE;
	int err;

	(void)m;
	*fresh = !s;
	if (!s) {
		err = grow(o->slots, o->cap_slots, o->nslots + 1);
		if (err)
			return err;
		t->slots[way].object = (uint32_t)o->serial;
		t->slots[way].slot = o->nslots;
		s = &o->slots[o->nslots++];
		memset(s, 0, sizeof(*s));
		s->thread = t->index;
	}
	*out = s;
	return 0;
}

/*
 * Forget threads that exited. If @idle_before is not 0, also forget threads that have not used the
 * object since that time, if many other crossings followed.
 */
void slots_purge(struct model *m, struct object *o, uint64_t idle_before)
{
	uint32_t kept = 0;
	bool idle;

	o->nuncertain = 0;
	array_for_each (s, o->slots, o->nslots) {
		idle = s->arrive_ns < idle_before &&
		       o->crossings - s->crossing > 8ULL * o->count + 64;
		if (idle || thread_at(m, s->thread)->pub.exited)
			continue;
		o->nuncertain += s->uncertain;
		o->slots[kept++] = *s;
	}
	if (kept < o->nslots)
		unfile_slots(o);
	o->nslots = kept;
}

void slots_reset(struct object *o)
{
	unfile_slots(o);
	o->nslots = 0;
	o->nuncertain = 0;
}

/* Note when the thread of @mem arrived again after the pending episode. */
void slot_note_next(struct slot *s, const struct episode *pending, const struct member *mem)
{
	if (s->next_for == pending->serial && s->next_arrive_ns <= mem->pub.arrive_ns)
		return;
	s->next_for = pending->serial;
	s->next_arrive_ns = mem->pub.arrive_ns;
	s->next_gaps = mem->gaps;
}

/*
 * Return true if the thread's next crossing may belong to another episode: a record is missing
 * since the thread's last crossing that was certainly in the right episode, or a later crossing was
 * uncertain.
 */
bool slot_uncertain(const struct slot *s, const struct thread *t)
{
	if (!s)
		return t->has_gap;
	return s->uncertain || (t->has_gap && !(s->clear && !seq_after(t->gap_seq, s->clear_seq)));
}

/* Mark that crossing number @seq of the thread may be in the wrong episode. */
void slot_mark_uncertain(struct object *o, struct thread *t, uint32_t seq)
{
	struct slot *s = slot_find(o, t);

	if (!s || (s->uncertain && seq_after(s->uncertain_seq, seq)))
		return;
	o->nuncertain += !s->uncertain;
	s->uncertain = true;
	s->uncertain_seq = seq;
}

/* Mark that crossing number @seq of the thread is in the right episode. */
void slot_clear(struct object *o, struct thread *t, uint32_t seq)
{
	struct slot *s = slot_find(o, t);

	if (!s)
		return;
	if (s->uncertain && !seq_after(s->uncertain_seq, seq)) {
		s->uncertain = false;
		o->nuncertain--;
	}
	if (!s->clear || seq_after(seq, s->clear_seq)) {
		s->clear = true;
		s->clear_seq = seq;
	}
}

/*
 * Return true if each thread of the object has exited, or has left a barrier at or after @until. If
 * so, no record with a departure before @until can follow.
 */
bool slots_settled(const struct model *m, const struct object *o, uint64_t until)
{
	const struct thread *t;

	array_for_each (slot, o->slots, o->nslots) {
		t = thread_at(m, slot->thread);
		if (t->seen_ns < until && !t->pub.exited)
			return false;
	}
	return true;
}

static bool is_member(const struct episode *e, const struct thread *t)
{
	array_for_each (m, e->members, e->n)
		if (m->thread == t)
			return true;
	return false;
}

/* Return why members of @e are missing, as precisely as known. */
uint32_t slots_missing_why(const struct model *m, const struct object *o, const struct episode *e)
{
	uint64_t to = e->depart_min == MODEL_UNKNOWN ? e->arrive_max : e->depart_min;
	const struct thread *t;
	uint32_t why = 0, n = m->gaps || m->npending ? o->nslots : 0;

	array_for_each (slot, o->slots, n) {
		t = thread_at(m, slot->thread);
		if (thread_gap_covers(t, e->arrive_max, to) && !is_member(e, t))
			why |= MODEL_WHY_LOST;
		else if (t->pub.pending_ns != MODEL_UNKNOWN && t->pub.pending_ns <= to &&
			 t->pending_object == o->addr)
			why |= MODEL_WHY_END;
	}
	if (!why && e->first && !proc_at(m, o->proc)->pub.start_seen)
		why = MODEL_WHY_BEFORE;
	return why ? why : MODEL_WHY_COUNT;
}
