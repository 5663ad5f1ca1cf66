// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The event queue: a heap with four branches, which uses caches better than a heap with two
 * branches.
 */
#include "base/grow.h"
#include "predict/predict_internal.h"

#include <errno.h>
#include <stdlib.h>

static bool before(const struct predict_event *a, const struct predict_event *b)
{
	return a->t < b->t || (a->t == b->t && a->seq < b->seq);
}

int predict_heap_push(struct predict_heap *h, struct predict_event event)
{
	uint32_t i = h->n, up;

	if (grow(h->events, h->cap, h->n + 1))
		return -ENOMEM;
	h->n++;
	event.seq = h->seq++;
	for (; i; i = up) {
		up = (i - 1) / 4;
		if (!before(&event, &h->events[up]))
			break;
		h->events[i] = h->events[up];
	}
	h->events[i] = event;
	return 0;
}

bool predict_heap_pop(struct predict_heap *h, struct predict_event *out)
{
	struct predict_event last;
	uint32_t i = 0, c, best, end;

	if (!h->n)
		return false;
	*out = h->events[0];
	last = h->events[--h->n];
	while ((c = 4 * i + 1) < h->n) {
		end = c + 4 < h->n ? c + 4 : h->n;
		for (best = c++; c < end; c++)
			if (before(&h->events[c], &h->events[best]))
				best = c;
		if (!before(&h->events[best], &last))
			break;
		h->events[i] = h->events[best];
		i = best;
	}
	h->events[i] = last;
	return true;
}
