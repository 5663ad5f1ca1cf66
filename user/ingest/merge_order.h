/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Merge many sources, each of which is ordered, with a tournament tree. The time of one step grows
 * with the logarithm of the number of sources.
 */
#ifndef INGEST_MERGE_ORDER_H
#define INGEST_MERGE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The upper half is a key. The lower half is UINT32_MAX minus the number of the player. Each player
 * is a leaf of the tree. The smaller value is first.
 */
typedef unsigned __int128 merge_key;

/* All zero: there is no room for players. */
struct merge_order {
	merge_key *tree; /* [1] is the first player, [n...] are the players */
	uint32_t *sources; /* by player */
	uint32_t n, cap;
};

/* Make room for @cap players. Return 0 or -ENOMEM; call merge_order_free() in either case. */
int merge_order_init(struct merge_order *t, uint32_t cap);
void merge_order_free(struct merge_order *t);

/* Remove all players. */
void merge_order_clear(struct merge_order *t);
/*
 * Add @source with its first key. Add sources in ascending order, at most `cap` of them, and then
 * call merge_order_begin().
 */
void merge_order_add(struct merge_order *t, uint32_t source, uint64_t key_ns);
void merge_order_begin(struct merge_order *t);

/*
 * Store the source with the smallest key in *source. With equal keys, store the last source. Return
 * false if there is no source.
 */
bool merge_order_first(const struct merge_order *t, uint32_t *source);
/* Give the first player its next key. */
void merge_order_next(struct merge_order *t, uint64_t key_ns);
/* Remove the first player. */
void merge_order_leave(struct merge_order *t);

#endif /* INGEST_MERGE_ORDER_H */
