// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/merge_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEFT (~(merge_key)0) /* the key of a source that has left, which is later than all others */

int merge_order_init(struct merge_order *t, uint32_t cap)
{
	memset(t, 0, sizeof(*t));
	t->tree = calloc(cap, 2 * sizeof(*t->tree));
	t->sources = calloc(cap, sizeof(*t->sources));
	t->cap = cap;
	return t->tree && t->sources ? 0 : -ENOMEM;
}

void merge_order_free(struct merge_order *t)
{
	free(t->tree);
	free(t->sources);
	memset(t, 0, sizeof(*t));
}

void merge_order_clear(struct merge_order *t)
{
	t->n = 0;
}

/* With equal keys, the later player is first. */
static merge_key key_of(uint64_t key_ns, uint32_t player)
{
	return (merge_key)key_ns << 64 | (UINT32_MAX - player);
}

static uint32_t player_of(merge_key first)
{
	return UINT32_MAX - (uint32_t)first;
}

static merge_key earlier(merge_key a, merge_key b)
{
	return a < b ? a : b;
}

void merge_order_add(struct merge_order *t, uint32_t source, uint64_t key_ns)
{
	/* merge_order_begin() moves the leaves to their final index, when their number is known. */
	t->tree[t->cap + t->n] = key_of(key_ns, t->n);
	t->sources[t->n++] = source;
}

void merge_order_begin(struct merge_order *t)
{
	uint32_t i;

	memmove(&t->tree[t->n], &t->tree[t->cap], t->n * sizeof(*t->tree));
	for (i = t->n; i-- > 1;)
		t->tree[i] = earlier(t->tree[2 * i], t->tree[2 * i + 1]);
}

bool merge_order_first(const struct merge_order *t, uint32_t *source)
{
	if (!t->n || t->tree[1] == LEFT)
		return false;
	*source = t->sources[player_of(t->tree[1])];
	return true;
}

/*
 * Replay the matches of the first player with its new key @mine. Its opponents are the siblings of
 * the nodes on its path. Their keys do not depend on the results of these matches. With a thousand
 * sources a heap takes twice as long, because it waits for memory at each level and mispredicts the
 * branch.
 */
static void play(struct merge_order *t, merge_key mine)
{
	uint32_t i = t->n + player_of(t->tree[1]);

	t->tree[i] = mine;
	for (; i > 1; i /= 2) {
		mine = earlier(mine, t->tree[i ^ 1]);
		t->tree[i / 2] = mine;
	}
}

void merge_order_next(struct merge_order *t, uint64_t key_ns)
{
	play(t, key_of(key_ns, player_of(t->tree[1])));
}

void merge_order_leave(struct merge_order *t)
{
	play(t, LEFT);
}
