/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Records that must wait: a candidate until it is known whether it is of a barrier, and whatever comes
 * behind it, for the model wants each thread's crossings in their order.
 */
#ifndef INGEST_REORDER_H
#define INGEST_REORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/discover.h"
#include "model/forkjoin.h"
#include "ingest/stream.h"

enum held_fate {
	HELD_WAITS,
	HELD_PLAIN, /* no candidate: waits for those before it alone */
	HELD_TAKEN, /* of a barrier */
	HELD_DROPPED,
};

/* One record, copied. */
struct held_item {
	struct stream_record record;
	enum held_fate fate;
	bool plain_site; /* HELD_PLAIN, a crossing: `site` is known, from when its library was still there */
	uint32_t site;
	uint64_t id; /* of discover_add() */
	struct discover_member member; /* HELD_TAKEN */
	struct forkjoin_round *round; /* the same, of FORKJOIN; owned */
};

struct held {
	struct held_item *items; /* a ring */
	uint32_t first, n, cap;
	uint64_t cookie; /* of the first */
};

void held_free(struct held *held);
/* Returns 0 and *cookie, which names it, or -ENOMEM. */
int held_add(struct held *held, const struct stream_record *record, enum held_fate fate,
	     uint64_t *cookie);
/* NULL: it has been let go. */
struct held_item *held_at(const struct held *held, uint64_t cookie);
/* The oldest, if it need not wait any longer; held_pop() frees it. */
struct held_item *held_ready(const struct held *held);
void held_pop(struct held *held);
/* When the first crossing departed that waits for others alone; UINT64_MAX: none does. */
uint64_t held_crossing_ns(const struct held *held);

#endif /* INGEST_REORDER_H */
