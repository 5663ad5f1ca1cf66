// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/pump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* A power of two: call sites in use at one time are few, and a miss only costs a look-up. */
#define CACHE_SLOTS 1024u

struct site_slot {
	uint64_t ip;
	uint64_t generation;
	uint32_t tgid, inc;
	struct space *space;
	uint32_t site;
};

struct shared_slot {
	uint64_t object;
	uint64_t generation;
	uint32_t tgid, inc;
	uint64_t key;
};

struct pump {
	struct stream *stream;
	struct spaces *spaces;
	struct targets *targets;
	struct model *model;
	struct hash current; /* tgid -> incarnation */
	struct site_slot sites[CACHE_SLOTS];
	struct shared_slot shared[CACHE_SLOTS];
};

int pump_new(struct stream *stream, struct spaces *spaces, struct targets *targets,
	     struct model *model, struct pump **out)
{
	struct pump *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->stream = stream;
	p->spaces = spaces;
	p->targets = targets;
	p->model = model;
	*out = p;
	return 0;
}

void pump_free(struct pump *p)
{
	if (!p)
		return;
	hash_free(&p->current);
	free(p);
}

static uint32_t slot_of(uint32_t tgid, uint64_t address)
{
	return (uint32_t)(hash_mix(address ^ (uint64_t)tgid << 40) >> 40) & (CACHE_SLOTS - 1);
}

/* NULL: out of memory. */
static const struct site_slot *find_site(struct pump *p, const struct sbt_crossing *c)
{
	uint64_t generation = targets_generation(p->targets);
	struct site_slot *slot = &p->sites[slot_of(c->tgid, c->ip)];

	if (slot->space && slot->ip == c->ip && slot->tgid == c->tgid && slot->inc == c->inc &&
	    slot->generation == generation)
		return slot;
	slot->space = space_get(p->spaces, c->tgid, c->inc);
	if (!slot->space)
		return NULL;
	slot->site = space_site(p->spaces, slot->space, c->ip);
	slot->ip = c->ip;
	slot->tgid = c->tgid;
	slot->inc = c->inc;
	slot->generation = generation;
	return slot;
}

static uint64_t find_shared(struct pump *p, const struct sbt_crossing *c, struct space *space)
{
	uint64_t generation = targets_generation(p->targets);
	struct shared_slot *slot = &p->shared[slot_of(c->tgid, c->object)];

	if (slot->object != c->object || slot->tgid != c->tgid || slot->inc != c->inc ||
	    slot->generation != generation) {
		slot->key = space_shared_key(p->spaces, space, c->object);
		slot->object = c->object;
		slot->tgid = c->tgid;
		slot->inc = c->inc;
		slot->generation = generation;
	}
	return slot->key;
}

static int feed_crossing(struct pump *p, const struct sbt_crossing *c)
{
	const struct site_slot *slot = find_site(p, c);
	struct model_crossing m = {
		.tgid = c->tgid,
		.inc = c->inc,
		.tid = c->tid,
		.seq = c->seq,
		.object = c->object,
		.arrive_ns = c->arrive_ns,
		.depart_ns = c->depart_ns ? c->depart_ns : MODEL_UNKNOWN,
		.arrive_cpu = c->arrive_cpu,
		.depart_cpu = c->depart_cpu,
		.family = c->family,
		.flags = c->flags & SBT_CROSSING_ABANDONED ? MODEL_CROSSING_ABANDONED : 0,
		.depth = c->depth,
	};
	struct family_team team = { 0 };

	if (!slot)
		return -ENOMEM;
	m.site = slot->site;
	if (!(c->flags & SBT_CROSSING_NO_WORDS))
		team = family_read_words(c->family, slot->space->flavour, c->words);
	if (team.known)
		m.count = team.count;
	if (team.sharing_known && team.process_shared)
		m.shared = find_shared(p, c, slot->space);
	if (c->seq == 1) {
		int err = model_add_found(p->model, c->tgid, c->inc, c->tid,
					  targets_was_waiting(p->targets, c->tid));

		if (err)
			return err;
	}
	return model_add_crossing(p->model, &m);
}

/* The program of a process ends: by exit, or because it runs another. */
static int end_process(struct pump *p, uint32_t tgid, uint32_t inc, uint64_t t_ns)
{
	struct space *space = space_find(p->spaces, tgid, inc);

	if (space)
		space->gone = true;
	return model_end_process(p->model, tgid, inc, t_ns);
}

static int feed_event(struct pump *p, const struct sbt_event *e)
{
	uint64_t old;
	int err = 0;

	switch (e->type) {
	case SBT_REC_SEEN:
		if (hash_get(&p->current, e->tgid, &old) && old == e->inc)
			return 0;
		/* One that began while tracing has its first phase from there. */
		err = model_add_process(p->model, e->tgid, e->inc, 0, 0,
					e->start_ns > model_start(p->model) ? e->start_ns
									    : model_start(p->model),
					false, e->comm);
		return err ? err : hash_put(&p->current, e->tgid, e->inc);
	case SBT_REC_FORK:
		err = model_add_process(p->model, e->tgid, e->inc, e->parent_tgid, e->parent_inc,
					e->t_ns, true, e->comm);
		if (!err)
			err = model_add_thread(p->model, e->tgid, e->inc, e->tid, e->t_ns);
		return err ? err : hash_put(&p->current, e->tgid, e->inc);
	case SBT_REC_THREAD:
		targets_was_waiting(p->targets, e->tid); /* an earlier thread of this number */
		return model_add_thread(p->model, e->tgid, e->inc, e->tid, e->t_ns);
	case SBT_REC_EXEC:
		if (hash_get(&p->current, e->tgid, &old) && old != e->inc)
			err = end_process(p, e->tgid, (uint32_t)old, e->t_ns);
		if (!err)
			err = model_add_process(p->model, e->tgid, e->inc, 0, 0, e->t_ns, true,
						e->comm);
		if (!err)
			err = model_add_thread(p->model, e->tgid, e->inc, e->tgid, e->t_ns);
		return err ? err : hash_put(&p->current, e->tgid, e->inc);
	case SBT_REC_EXIT:
		err = model_end_thread(p->model, e->tgid, e->inc, e->tid, e->t_ns, e->comm);
		if (!err && (e->flags & SBT_EVENT_LEADER)) {
			hash_del(&p->current, e->tgid);
			err = end_process(p, e->tgid, e->inc, e->t_ns);
		}
		return err;
	default:
		return 0;
	}
}

int pump_run(struct pump *p, uint64_t until_ns)
{
	struct stream_record record;
	int err;

	while ((err = stream_next(p->stream, until_ns, &record)) > 0) {
		err = record.event ? feed_event(p, record.event)
				   : feed_crossing(p, record.crossing);
		if (err)
			return err;
	}
	return err ? err : model_advance(p->model, until_ns);
}
