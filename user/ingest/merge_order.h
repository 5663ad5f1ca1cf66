/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Whose turn it is among many sources that are each in order: a tournament by key. What it takes to go on grows as the
 * logarithm of their number.
 */
#ifndef INGEST_MERGE_ORDER_H
#define INGEST_MERGE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* A key, and who has it: the earlier is the smaller number. */
typedef unsigned __int128 turn;

/* An all-zero struct merge_order has no room. */
struct merge_order {
	turn *tree; /* 1: the first of all; behind the n - 1 meetings the players themselves */
	uint32_t *sources; /* of the players */
	uint32_t n, cap;
};

/* Room for @cap players. Returns 0 or -ENOMEM; merge_order_free() in either case. */
int merge_order_init(struct merge_order *t, uint32_t cap);
void merge_order_free(struct merge_order *t);

/* Nobody plays. */
void merge_order_clear(struct merge_order *t);
/* @source plays with its first key, in ascending order of sources and at most `cap` of them; then merge_order_begin(). */
void merge_order_add(struct merge_order *t, uint32_t source, uint64_t key_ns);
void merge_order_begin(struct merge_order *t);

/* Who is first; of those with one key the last source. False: nobody is left. */
bool merge_order_first(const struct merge_order *t, uint32_t *source);
/* The first has @key_ns now. */
void merge_order_next(struct merge_order *t, uint64_t key_ns);
/* The first leaves. */
void merge_order_leave(struct merge_order *t);

#endif /* INGEST_MERGE_ORDER_H */
