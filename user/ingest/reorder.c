// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/reorder.h"

#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct reorder_item *item_at(const struct reorder *h, uint32_t i)
{
	return &h->items[(h->first + i) & (h->cap - 1)];
}

static void item_free(struct reorder_item *item)
{
	free((void *)(uintptr_t)item->record.crossing);
	free((void *)(uintptr_t)item->record.event);
	free(item->episode);
}

void reorder_free(struct reorder *h)
{
	while (h->n)
		reorder_pop(h);
	free(h->items);
	memset(h, 0, sizeof(*h));
}

static int make_room(struct reorder *h)
{
	uint32_t had = h->cap;
	int err = grow(h->items, h->cap, h->n + 1);

	/*
	 * The full ring may have wrapped around. Move the items at its start to the new room behind
	 * its former end, so that they follow the items there.
	 */
	if (!err && h->cap > had)
		memcpy(h->items + had, h->items, h->first * sizeof(*h->items));
	return err;
}

static size_t crossing_size(const struct sbt_crossing *c)
{
	size_t size = sizeof(*c);

	if (c->flags & SBT_CROSSING_INSIDE)
		size += sizeof(struct sbt_inside);
	if (c->flags & SBT_CROSSING_PARTS)
		size += sizeof(struct sbt_parts);
	if (c->flags & SBT_CROSSING_COUNTERS)
		size += sizeof(struct sbt_counters);
	return size;
}

static size_t event_size(const struct sbt_event *e)
{
	switch (e->type) {
	case SBT_REC_LABEL:
		return sizeof(struct sbt_label);
	case SBT_REC_PYTHON:
		return sizeof(struct sbt_python_site);
	default:
		return sizeof(*e);
	}
}

int reorder_add(struct reorder *h, const struct stream_record *r, enum reorder_fate fate,
		uint64_t *cookie)
{
	size_t size = r->event ? event_size(r->event) : crossing_size(r->crossing);
	const void *from = r->event ? (const void *)r->event : r->crossing;
	struct reorder_item item = { .record = { .key_ns = r->key_ns }, .fate = fate };
	void *copy = malloc(size);
	int err = copy ? make_room(h) : -ENOMEM;

	if (err) {
		free(copy);
		return err;
	}
	memcpy(copy, from, size);
	if (r->event)
		item.record.event = copy;
	else
		item.record.crossing = copy;
	*cookie = h->cookie + h->n;
	*item_at(h, h->n++) = item;
	return 0;
}

struct reorder_item *reorder_at(const struct reorder *h, uint64_t cookie)
{
	return cookie - h->cookie < h->n ? item_at(h, (uint32_t)(cookie - h->cookie)) : NULL;
}

struct reorder_item *reorder_ready(const struct reorder *h)
{
	struct reorder_item *item = h->n ? item_at(h, 0) : NULL;

	return item && item->fate != REORDER_WAITS ? item : NULL;
}

void reorder_pop(struct reorder *h)
{
	item_free(item_at(h, 0));
	h->first = (h->first + 1) & (h->cap - 1);
	h->n--;
	h->cookie++;
}

uint64_t reorder_crossing_ns(const struct reorder *h)
{
	uint32_t i;

	for (i = 0; i < h->n; i++)
		if (item_at(h, i)->fate == REORDER_PLAIN && item_at(h, i)->record.crossing)
			return item_at(h, i)->record.key_ns;
	return UINT64_MAX;
}
