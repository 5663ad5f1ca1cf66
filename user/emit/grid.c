// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/grid.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void grid_init(struct grid *g)
{
	memset(g, 0, sizeof(*g));
	hash_init(&g->by_thread);
	hash_init(&g->by_barrier);
	g->lane_ns = g->point_ns = GRID_FIRST_NS;
	g->width = GRID_WIDTH;
}

void grid_free(struct grid *g)
{
	uint32_t i;

	array_for_each (lane, g->lanes, g->nlanes)
		free(lane->ns[0]);
	for (i = 0; i < g->nseries; i++)
		free(g->series[i]);
	hash_free(&g->by_thread);
	hash_free(&g->by_barrier);
}

/* --- lanes ------------------------------------------------------------------------------------ */

/*
 * Join neighbouring buckets. The first half of the buckets then holds all times, and the second
 * half is empty.
 */
static void join_lane(struct grid_lane *lane, uint32_t width)
{
	uint32_t i, k;

	for (k = 0; k < GRID_KINDS; k++) {
		for (i = 0; i < width / 2; i++)
			lane->ns[k][i] = lane->ns[k][2 * i] + lane->ns[k][2 * i + 1];
		memset(lane->ns[k] + width / 2, 0, (width - width / 2) * sizeof(float));
	}
}

static void join_lanes(struct grid *g)
{
	array_for_each (lane, g->lanes, g->nlanes)
		join_lane(lane, g->width);
	g->lane_ns *= 2;
}

int grid_lane(struct grid *g, uint32_t thread, uint32_t tid, uint32_t *lane)
{
	uint64_t key = (uint64_t)thread << 32 | tid, found;
	struct grid_lane *l;
	uint32_t k;
	float *ns;

	*lane = GRID_LANES;
	if (hash_get(&g->by_thread, key, &found)) {
		if (found)
			*lane = (uint32_t)found - 1;
		return 0;
	}
	if (g->nlanes == GRID_LANES) {
		g->left_out++;
		return hash_put(&g->by_thread, key, 0);
	}
	/*
	 * Halve the number of buckets of all lanes until there is room for one more lane. Existing
	 * lanes keep their memory.
	 */
	for (; g->width > GRID_LEAST && (g->nlanes + 1) * g->width > GRID_CELLS; g->width /= 2)
		join_lanes(g);
	ns = calloc((size_t)GRID_KINDS * g->width, sizeof(*ns));
	if (!ns)
		return -ENOMEM;
	l = &g->lanes[g->nlanes];
	*l = (struct grid_lane){ .thread = thread, .tid = tid };
	for (k = 0; k < GRID_KINDS; k++)
		l->ns[k] = ns + (size_t)k * g->width;
	*lane = g->nlanes++;
	return hash_put(&g->by_thread, key, g->nlanes);
}

void grid_add(struct grid *g, uint32_t lane, enum grid_kind kind, uint64_t from, uint64_t to)
{
	uint64_t at, end;
	float *ns;

	if (lane >= g->nlanes || to <= from || to > GRID_MOST_NS)
		return;
	while (to > g->lane_ns * g->width)
		join_lanes(g);
	ns = g->lanes[lane].ns[kind];
	for (at = from; at < to; at = end) {
		end = (at / g->lane_ns + 1) * g->lane_ns;
		if (end > to)
			end = to;
		ns[at / g->lane_ns] += (float)(end - at);
	}
}

/* --- barriers --------------------------------------------------------------------------------- */

static void join_point(struct grid_point *to, const struct grid_point *a,
		       const struct grid_point *b)
{
	struct grid_point p = a->n ? *a : *b;

	if (a->n && b->n) {
		p.min = a->min < b->min ? a->min : b->min;
		p.max = a->max > b->max ? a->max : b->max;
		p.sum = a->sum + b->sum;
		p.n = a->n + b->n;
	}
	*to = p;
}

static void join_row(struct grid_point *row)
{
	uint32_t i;

	for (i = 0; i < GRID_POINTS / 2; i++)
		join_point(&row[i], &row[2 * i], &row[2 * i + 1]);
	memset(row + GRID_POINTS / 2, 0, GRID_POINTS / 2 * sizeof(*row));
}

static void point_add(struct grid_point *p, uint64_t ns)
{
	float v = (float)ns;

	if (ns == UINT64_MAX)
		return;
	if (!p->n || v < p->min)
		p->min = v;
	if (!p->n || v > p->max)
		p->max = v;
	p->sum += (double)ns;
	p->n++;
}

static int series_of(struct grid *g, uint32_t barrier, struct grid_series **out)
{
	uint64_t found;

	*out = NULL;
	if (hash_get(&g->by_barrier, barrier, &found)) {
		*out = g->series[found];
		return 0;
	}
	if (g->nseries == GRID_SERIES)
		return 0;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->barrier = barrier;
	g->series[g->nseries++] = *out;
	return hash_put(&g->by_barrier, barrier, g->nseries - 1);
}

int grid_episode(struct grid *g, uint32_t barrier, uint64_t t_ns, uint64_t phase_ns,
		 uint64_t barrier_ns)
{
	struct grid_series *s;
	uint32_t i;
	int err;

	if (t_ns >= GRID_MOST_NS)
		return 0;
	err = series_of(g, barrier, &s);
	if (err || !s)
		return err;
	while (t_ns >= g->point_ns * GRID_POINTS) {
		for (i = 0; i < g->nseries; i++) {
			join_row(g->series[i]->phase);
			join_row(g->series[i]->within);
		}
		g->point_ns *= 2;
	}
	point_add(&s->phase[t_ns / g->point_ns], phase_ns);
	point_add(&s->within[t_ns / g->point_ns], barrier_ns);
	return 0;
}
