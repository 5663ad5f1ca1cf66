// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/merge_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEFT (~(turn)0) /* later than whoever has the last of all keys */

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

/* On a tie the later player goes first. */
static turn turn_of(uint64_t key_ns, uint32_t player)
{
	return (turn)key_ns << 64 | (UINT32_MAX - player);
}

static uint32_t player_of(turn first)
{
	return UINT32_MAX - (uint32_t)first;
}

static turn earlier(turn a, turn b)
{
	return a < b ? a : b;
}

void merge_order_add(struct merge_order *t, uint32_t source, uint64_t key_ns)
{
	/* Where they play from is known only once all are there. */
	t->tree[t->cap + t->n] = turn_of(key_ns, t->n);
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
 * Plays the first's meetings again. Whom it meets does not depend on how they end: with a thousand sources a heap takes twice
 * as long, for it waits at each level for what it finds there, and guesses wrongly where to go on.
 */
static void play(struct merge_order *t, turn mine)
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
	play(t, turn_of(key_ns, player_of(t->tree[1])));
}

void merge_order_leave(struct merge_order *t)
{
	play(t, LEFT);
}
