// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "recording/ordinal.h"

#include <errno.h>

#include "sbt/record.h"
#include "sites/family.h"

#define STATE_COMPLETE 1 /* the process was traced from its beginning */
#define STATE_LOST     2 /* the ordinal was known, but a record has been lost since then */

/* --- counting --------------------------------------------------------------------------------- */

void ordinals_free(struct ordinals *o)
{
	hash_free(&o->began);
	hash_free(&o->seqs);
	hash_free(&o->counts);
}

static uint64_t process_of(uint32_t tgid, uint32_t inc)
{
	return (uint64_t)tgid << 32 | inc;
}

static uint64_t thread_of(uint32_t inc, uint32_t tid)
{
	return (uint64_t)inc << 32 | tid;
}

bool ordinal_is_due(const struct model_input *in)
{
	const struct model_crossing *x = in->type == MODEL_INPUT_CROSSING ? in->crossing : NULL;

	return x && family_has(x->family, FAMILY_RANKS) && x->shared && !x->depth &&
	       !(x->flags & MODEL_CROSSING_RESUMES);
}

/*
 * Return whether the process was traced from its beginning and this is the next record of its
 * thread. *err is set to -ENOMEM if out of memory; the result is then not valid.
 */
static bool is_next(struct ordinals *o, const struct model_crossing *x, int *err)
{
	uint64_t process = process_of(x->tgid, x->inc), thread = thread_of(x->inc, x->tid);
	uint64_t state = 0, seq = 0;

	if (!hash_get(&o->began, process, &state) || state != STATE_COMPLETE)
		return false;
	hash_get(&o->seqs, thread, &seq);
	*err = hash_put(&o->seqs, thread, x->seq);
	if (*err || x->seq == seq + 1)
		return true;
	*err = hash_put(&o->began, process, STATE_LOST);
	return false;
}

static int take_crossing(struct ordinals *o, const struct model_input *in, uint64_t *ordinal)
{
	const struct model_crossing *x = in->crossing;
	uint64_t process = process_of(x->tgid, x->inc), call, count = 0;
	int err = 0;
	bool next = is_next(o, x, &err);

	if (err || !next || !ordinal_is_due(in))
		return err;
	call = hash_mix(x->shared ^ hash_mix(process));
	hash_get(&o->counts, call, &count);
	err = hash_put(&o->counts, call, count + 1);
	/* It is unknown whether other ranks count a call that never returned. */
	if (!err && x->flags & MODEL_CROSSING_ABANDONED)
		return hash_put(&o->began, process, STATE_LOST);
	*ordinal = count + 1;
	return err;
}

int ordinals_take(struct ordinals *o, const struct model_input *in, uint64_t *ordinal)
{
	*ordinal = 0;
	switch (in->type) {
	case MODEL_INPUT_CROSSING:
		return take_crossing(o, in, ordinal);
	case MODEL_INPUT_PROCESS:
		if (in->process.seen)
			return hash_put(&o->began, process_of(in->tgid, in->inc), STATE_COMPLETE);
		/* The first calls of the process were not seen. */
		hash_del(&o->began, process_of(in->tgid, in->inc));
		return 0;
	case MODEL_INPUT_THREAD:
		/* An earlier thread may have had this tid. */
		hash_del(&o->seqs, thread_of(in->inc, in->tid));
		return 0;
	default:
		return 0;
	}
}

/* --- in order --------------------------------------------------------------------------------- */

void ordinal_order_free(struct ordinal_order *o)
{
	hash_free_ptrs(&o->comms);
	hash_free(&o->ended);
}

static uint64_t ended_key(uint64_t shared, uint64_t ordinal)
{
	return hash_mix(shared ^ hash_mix(ordinal));
}

static struct ordinal_comm *comm_of(const struct ordinal_order *o, uint64_t shared)
{
	return hash_get_ptr(&o->comms, shared);
}

/* Add @by to the number of processes that make their last call on @shared with this ordinal. */
static int add_ended(struct ordinal_order *o, uint64_t shared, uint64_t ordinal, uint64_t by)
{
	uint64_t key = ended_key(shared, ordinal), n = 0;

	hash_get(&o->ended, key, &n);
	if (n + by)
		return hash_put(&o->ended, key, n + by);
	hash_del(&o->ended, key);
	return 0;
}

static int add_call(struct ordinal_order *o, uint64_t shared, uint64_t ordinal, uint64_t by)
{
	struct ordinal_comm *c = comm_of(o, shared);
	int err = 0;

	if (!c)
		c = hash_new_ptr(&o->comms, shared, sizeof(*c));
	if (!c)
		return -ENOMEM;
	if (ordinal == 1)
		c->members += by;
	else
		err = add_ended(o, shared, ordinal - 1, -by);
	return err ? err : add_ended(o, shared, ordinal, by);
}

int ordinal_order_add(struct ordinal_order *o, uint64_t shared, uint64_t ordinal)
{
	return add_call(o, shared, ordinal, 1);
}

int ordinal_order_remove(struct ordinal_order *o, uint64_t shared, uint64_t ordinal)
{
	return add_call(o, shared, ordinal, UINT64_MAX);
}

void ordinal_order_rewind(struct ordinal_order *o)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	while ((e = hash_next(&o->comms, &pos, &zero))) {
		struct ordinal_comm *c = (void *)(uintptr_t)e->value;

		*c = (struct ordinal_comm){ .members = c->members,
					    .left = c->members,
					    .missing = c->members };
	}
}

bool ordinal_order_is_due(const struct ordinal_order *o, uint64_t shared, uint64_t ordinal)
{
	const struct ordinal_comm *c = comm_of(o, shared);

	return !c || c->free || ordinal <= c->done + 1;
}

void ordinal_order_give(struct ordinal_order *o, uint64_t shared, uint64_t ordinal)
{
	struct ordinal_comm *c = comm_of(o, shared);
	uint64_t ended = 0;

	if (!c || c->free || ordinal != c->done + 1 || !c->missing)
		return;
	if (--c->missing)
		return;
	c->done++;
	hash_get(&o->ended, ended_key(shared, c->done), &ended);
	c->left -= ended < c->left ? ended : c->left;
	c->missing = c->left;
}

void ordinal_order_drop(struct ordinal_order *o, uint64_t shared)
{
	struct ordinal_comm *c = comm_of(o, shared);

	if (c)
		c->free = true;
}
