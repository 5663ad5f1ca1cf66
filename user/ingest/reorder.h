/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The reorder queue. A candidate waits in the queue until it is known whether it belongs to a
 * barrier. All later records wait behind it, because the model needs each thread's crossings in
 * order.
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
	REORDER_PLAIN, /* no candidate: the record only waits for earlier records */
	REORDER_TAKEN, /* the record belongs to a barrier or fork-join episode */
	REORDER_DROPPED,
};

/* A record, copied. */
struct reorder_item {
	struct stream_record record;
	enum reorder_fate fate;
	/* for a REORDER_PLAIN crossing: `site` is set; it was found while the library was mapped */
	bool plain_site;
	uint32_t site;
	uint64_t id; /* id from discover_add(); 0 if none */
	struct discover_member member; /* if REORDER_TAKEN */
	struct forkjoin_episode *episode; /* if REORDER_TAKEN by fork-join; owned by the item */
};

struct reorder {
	struct reorder_item *items; /* a circular buffer */
	uint32_t first, n, cap;
	uint64_t cookie; /* cookie of the first record */
};

void reorder_free(struct reorder *reorder);
/* Append a record. Return 0 and *cookie, which identifies the record, or -ENOMEM. */
int reorder_add(struct reorder *reorder, const struct stream_record *record, enum reorder_fate fate,
		uint64_t *cookie);
/* Return the record, or NULL if it has left the queue. */
struct reorder_item *reorder_at(const struct reorder *reorder, uint64_t cookie);
/*
 * Return the oldest record if it no longer needs to wait; otherwise return NULL. reorder_pop()
 * removes and frees it.
 */
struct reorder_item *reorder_ready(const struct reorder *reorder);
void reorder_pop(struct reorder *reorder);
/*
 * Return the departure time of the first crossing that only waits for earlier records, or
 * UINT64_MAX if there is none.
 */
uint64_t reorder_crossing_ns(const struct reorder *reorder);

#endif /* INGEST_REORDER_H */
