// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "compare/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "compare/compare.h"
#include "compare/series_internal.h"
#include "analyse/stats.h"

/* --- points ----------------------------------------------------------------------------------- */

/* Add @name to the list, unless the list has it already. */
static void list_add(const char **list, uint32_t *n, const char *name)
{
	uint32_t i;

	for (i = 0; i < *n; i++)
		if (!strcmp(list[i], name))
			return;
	list[(*n)++] = name;
}

static int points_axes(struct series_making *k)
{
	struct series *s = k->s;

	s->rows = arena_alloc(k->arena, (s->npoints + 1) * sizeof(*s->rows));
	s->columns = arena_alloc(k->arena, (s->npoints + 1) * sizeof(*s->columns));
	if (!s->rows || !s->columns)
		return -ENOMEM;
	array_for_each (p, s->points, s->npoints) {
		list_add(s->rows, &s->nrows, p->row);
		if (p->column)
			list_add(s->columns, &s->ncolumns, p->column);
	}
	return 0;
}

static void point_time(struct series_making *k, uint32_t index)
{
	struct series_point *p = &k->s->points[index];
	const struct report *r;
	uint32_t i, threads;
	double t;

	for (i = 0; i < k->s->ninputs; i++) {
		if (k->point[i] != index)
			continue;
		r = k->inputs[i].report;
		t = compare_elapsed(r);
		if (!r->nprocesses && r->end_ns > r->start_ns) {
			p->whole = true;
			t = (double)(r->end_ns - r->start_ns);
		}
		threads = series_threads(r);
		p->threads = !p->runs || p->threads == threads ? threads : SERIES_NONE;
		p->lossy += !r->lossless;
		p->detached += r->ndetached > 0;
		p->detached_parts += r->ndetached_parts > 0;
		k->values[p->runs++] = t;
	}
	p->time = series_time_of(k->values, p->runs);
}

/* --- normalised values ------------------------------------------------------------------------ */

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static uint32_t base_of(const struct series *s, uint32_t index, const struct series_options *o)
{
	const struct series_point *p = &s->points[index];
	uint32_t i;

	if (o->base == SERIES_FASTEST)
		return s->fastest;
	for (i = 0; i < s->npoints; i++) {
		const struct series_point *q = &s->points[i];

		if (o->base == SERIES_FIRST || (o->base == SERIES_ROW && !strcmp(q->row, p->row)) ||
		    (o->base == SERIES_COLUMN && same(q->column, p->column)) ||
		    (o->base == SERIES_LABEL && same(q->label, o->base_label)))
			return i;
	}
	return SERIES_NONE;
}

static double counter_mean(const struct series_point *p, const char *name)
{
	array_for_each (c, p->counters, p->ncounters)
		if (!strcmp(c->name, name))
			return c->mean;
	return NAN;
}

static void point_normalise(struct series *s, uint32_t index, const struct series_options *o)
{
	struct series_point *p = &s->points[index];
	const struct series_point *b;
	double mean;

	p->normalised = p->speedup = p->efficiency = NAN;
	p->base = base_of(s, index, o);
	if (p->base == SERIES_NONE)
		return;
	b = &s->points[p->base];
	if (p->time.n && b->time.n && p->time.mean && b->time.mean) {
		p->normalised = (double)p->time.mean / (double)b->time.mean;
		p->speedup = 1 / p->normalised;
		if (p->threads != SERIES_NONE && b->threads != SERIES_NONE)
			p->efficiency = p->speedup * b->threads / p->threads;
	}
	array_for_each (c, p->counters, p->ncounters) {
		mean = counter_mean(b, c->name);
		if (mean > 0)
			c->normalised = c->mean / mean;
	}
}

static void points_normalise(struct series *s, const struct series_options *o)
{
	uint32_t i;

	s->fastest = s->slowest = SERIES_NONE;
	for (i = 0; i < s->npoints; i++) {
		if (!s->points[i].time.n)
			continue;
		if (s->fastest == SERIES_NONE ||
		    s->points[i].time.mean < s->points[s->fastest].time.mean)
			s->fastest = i;
		if (s->slowest == SERIES_NONE ||
		    s->points[i].time.mean > s->points[s->slowest].time.mean)
			s->slowest = i;
	}
	for (i = 0; i < s->npoints; i++)
		point_normalise(s, i, o);
	if (o->base == SERIES_LABEL && s->npoints && s->points[0].base == SERIES_NONE)
		s->base_label = o->base_label;
}

/* --- the series ------------------------------------------------------------------------------- */

static int series_match(struct series_making *k, uint32_t n)
{
	const struct report **reports = calloc((size_t)n + 1, sizeof(void *));
	uint32_t i;
	int err = -ENOMEM;

	if (!reports)
		return err;
	for (i = 0; i < n; i++)
		reports[i] = k->inputs[i].report;
	err = episode_match_reports(reports, n, &k->s->match);
	free(reports);
	return err;
}

static int series_points(struct series_making *k)
{
	struct series_first *order = series_order(&k->s->match);
	int err = order ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; !err && i < k->s->npoints; i++) {
		point_time(k, i);
		err = series_counters(k, i);
		if (!err)
			err = series_sites(k, i, order);
	}
	free(order);
	return err;
}

int series_build(const struct series_input *inputs, uint32_t n, const struct series_options *o,
		 struct series *out)
{
	struct series_making k = { .s = out, .inputs = inputs, .arena = arena_new() };
	int err = k.arena ? 0 : -ENOMEM;

	memset(out, 0, sizeof(*out));
	out->arena = k.arena;
	out->ninputs = n;
	k.point = calloc((size_t)n + 1, sizeof(*k.point));
	k.values = calloc((size_t)n + 1, sizeof(*k.values));
	if (!err)
		out->points = arena_alloc(k.arena, ((size_t)n + 1) * sizeof(*out->points));
	if (!k.point || !k.values || !out->points)
		err = -ENOMEM;
	if (!err)
		err = series_label(&k, n, o->by);
	if (!err)
		err = points_axes(&k);
	if (!err)
		err = series_match(&k, n);
	if (!err)
		err = series_points(&k);
	if (!err)
		points_normalise(out, o);
	free(k.point);
	free(k.values);
	if (err)
		series_free(out);
	return err;
}

void series_free(struct series *s)
{
	episode_match_free(&s->match);
	if (s->arena)
		arena_free(s->arena);
	memset(s, 0, sizeof(*s));
}

const struct series_point *series_at(const struct series *s, uint32_t row, uint32_t column)
{
	array_for_each (p, s->points, s->npoints)
		if (!strcmp(p->row, s->rows[row]) && same(p->column, s->columns[column]))
			return p;
	return NULL;
}

double series_average(const struct series *s, uint32_t column)
{
	double sum = 0, n = 0;

	array_for_each (p, s->points, s->npoints) {
		if (!same(p->column, s->columns[column]) || !isfinite(p->normalised))
			continue;
		sum += p->normalised - 1;
		n++;
	}
	return n > 0 ? sum / n : NAN;
}
