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

enum reorder_fate {
	REORDER_WAITS,
	REORDER_PLAIN, /* no candidate: waits for those before it alone */
	REORDER_TAKEN, /* of a barrier */
	REORDER_DROPPED,
};

/* One record, copied. */
struct reorder_item {
	struct stream_record record;
	enum reorder_fate fate;
	bool plain_site; /* REORDER_PLAIN, a crossing: `site` is known, from when its library was still there */
	uint32_t site;
	uint64_t id; /* of discover_add() */
	struct discover_member member; /* REORDER_TAKEN */
	struct forkjoin_episode *episode; /* the same, of FORKJOIN; owned */
};

struct reorder {
	struct reorder_item *items; /* a ring */
	uint32_t first, n, cap;
	uint64_t cookie; /* of the first */
};

void reorder_free(struct reorder *reorder);
/* Returns 0 and *cookie, which names it, or -ENOMEM. */
int reorder_add(struct reorder *reorder, const struct stream_record *record, enum reorder_fate fate,
		uint64_t *cookie);
/* NULL: it has been let go. */
struct reorder_item *reorder_at(const struct reorder *reorder, uint64_t cookie);
/* The oldest, if it need not wait any longer; reorder_pop() frees it. */
struct reorder_item *reorder_ready(const struct reorder *reorder);
void reorder_pop(struct reorder *reorder);
/* When the first crossing departed that waits for others alone; UINT64_MAX: none does. */
uint64_t reorder_crossing_ns(const struct reorder *reorder);

#endif /* INGEST_REORDER_H */
