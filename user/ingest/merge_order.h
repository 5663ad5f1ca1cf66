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

/* An all-zero struct turns has no room. */
struct turns {
	turn *tree; /* 1: the first of all; behind the n - 1 meetings the players themselves */
	uint32_t *sources; /* of the players */
	uint32_t n, cap;
};

/* Room for @cap players. Returns 0 or -ENOMEM; turns_free() in either case. */
int turns_init(struct turns *t, uint32_t cap);
void turns_free(struct turns *t);

/* Nobody plays. */
void turns_clear(struct turns *t);
/* @source plays with its first key, in ascending order of sources and at most `cap` of them; then turns_begin(). */
void turns_add(struct turns *t, uint32_t source, uint64_t key_ns);
void turns_begin(struct turns *t);

/* Who is first; of those with one key the last source. False: nobody is left. */
bool turns_first(const struct turns *t, uint32_t *source);
/* The first has @key_ns now. */
void turns_next(struct turns *t, uint64_t key_ns);
/* The first leaves. */
void turns_leave(struct turns *t);

#endif /* INGEST_MERGE_ORDER_H */
