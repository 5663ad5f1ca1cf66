// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/series.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emit/compare.h"
#include "emit/table.h"

#define COUNTERS 12 /* largest number of columns for counters */
#define ACROSS	 24 /* largest number of columns of a two-way table */
#define NAME	 22 /* columns for a counter's name */
#define SITES	 12 /* largest number of call sites shown per point */
/* columns that a table can spare for a point's label */
#define LABEL	 26
#define BESIDE	 18 /* columns for a label if there is also a table of call sites */

struct fields_series fields_series_of(const struct series *s, uint32_t point)
{
	const struct series_point *p = &s->points[point];

	return (struct fields_series){
		.point = p,
		.base = p->base == SERIES_NONE ? NULL : s->points[p->base].label,
	};
}

/* --- the answer ------------------------------------------------------------------------------- */

static void print_headline(struct textout *t, const struct series *s)
{
	char points[TEXTOUT_CELL], runs[TEXTOUT_CELL], a[TEXTOUT_CELL];
	const struct series_point *fast, *slow;
	double times;

	textout_plural(points, s->npoints, "point");
	textout_plural(runs, s->ninputs, "recording");
	if (s->fastest == SERIES_NONE) {
		textout_line(t, TEXTOUT_BOLD,
			     "SBT series: %s from %s; the times of all points are unknown", points,
			     runs);
		return;
	}
	fast = &s->points[s->fastest];
	slow = &s->points[s->slowest];
	times = (double)slow->time.mean / (double)fast->time.mean;
	if (s->fastest == s->slowest || !fast->time.mean)
		textout_wrap(t, TEXTOUT_BOLD, "SBT series: ", 2, "%s from %s: %s, %s", points, runs,
			     fast->label, textout_time(a, fast->time.mean));
	else
		textout_wrap(t, TEXTOUT_BOLD, "SBT series: ", 2,
			     "%s from %s; fastest: %s, %s; slowest: %s, %.*f times that", points,
			     runs, fast->label, textout_time(a, fast->time.mean), slow->label,
			     times < 99.5 ? 2 : 0, times);
}

static void print_remarks(struct textout *t, const struct series *s)
{
	uint32_t lossy = 0, detached = 0, parts = 0;

	array_for_each (p, s->points, s->npoints) {
		lossy += p->lossy;
		detached += p->detached;
		parts += p->detached_parts;
		if (p->whole)
			textout_wrap(t, TEXTOUT_PLAIN, "", 2,
				     "%s: no barrier was crossed; its time is the length of the "
				     "recording.",
				     p->label);
	}
	if (detached)
		textout_wrap(
			t, TEXTOUT_RED, "", 2,
			"In %u of the recordings a process was not traced to its end "
			"(--cost-limit): the time of such a recording is unknown, and its sums "
			"cover only the traced time.",
			detached);
	if (parts)
		textout_wrap(t, TEXTOUT_RED, "", 2,
			     "In %u of the recordings some barriers were not traced to the end "
			     "(--cost-limit): their sums cover only the traced time.",
			     parts);
	if (lossy)
		textout_wrap(t, TEXTOUT_RED, "", 2, "%u of the recordings lost records.", lossy);
}

/* --- names of points in tables ---------------------------------------------------------------- */

/*
 * How tables name points: all by label, or all by number if a label is too wide. A list above the
 * tables then has the full labels.
 */
struct point_names {
	bool numbers;
	char number[16];
};

static void point_names_begin(struct point_names *c, const struct series *s)
{
	unsigned most = LABEL;
	uint32_t i;

	c->numbers = false;
	array_for_each (p, s->points, s->npoints)
		if (p->nsites)
			most = BESIDE;
	for (i = 0; i < s->npoints && !c->numbers; i++) {
		char *shown = textout_fit(s->points[i].label, UINT_MAX);

		c->numbers = shown && textout_columns(shown) > most;
		free(shown);
	}
}

/* Return the name of a point, valid until the next call. */
static const char *point_name(struct point_names *c, const struct series *s, uint32_t point)
{
	if (!c->numbers)
		return s->points[point].label;
	snprintf(c->number, sizeof(c->number), "%u", point + 1);
	return c->number;
}

static void print_point_names(struct textout *t, struct point_names *c, const struct series *s)
{
	char number[24];
	uint32_t i;

	if (!c->numbers)
		return;
	textout_blank(t);
	for (i = 0; i < s->npoints; i++) {
		snprintf(number, sizeof(number), "%3u  ", i + 1);
		textout_wrap(t, TEXTOUT_PLAIN, number, 5, "%s", s->points[i].label);
	}
}

/* --- points ----------------------------------------------------------------------------------- */

/* The names of the counters of all points. */
struct counted {
	uint32_t n;
	const char *names[COUNTERS];
	char *headings[COUNTERS]; /* printable */
};

static bool counted_has(const struct counted *c, const char *name)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		if (!strcmp(c->names[i], name))
			return true;
	return false;
}

static void counted_begin(struct counted *c, const struct series *s)
{
	uint32_t j;

	c->n = 0;
	array_for_each (p, s->points, s->npoints) {
		for (j = 0; j < p->ncounters && c->n < COUNTERS; j++) {
			if (counted_has(c, p->counters[j].name))
				continue;
			c->names[c->n] = p->counters[j].name;
			c->headings[c->n++] = textout_fit(p->counters[j].name, NAME);
		}
	}
}

static void counted_end(struct counted *c)
{
	while (c->n)
		free(c->headings[--c->n]);
}

static double counted_value(const struct series_point *p, const char *name)
{
	array_for_each (c, p->counters, p->ncounters)
		if (!strcmp(c->name, name))
			return isfinite(c->per_thread) ? c->per_thread : c->mean;
	return NAN;
}

static void print_points(struct textout *t, const struct series *s, struct point_names *names,
			 const struct fields_context *context)
{
	struct table table = { .nkeys = 1 };
	struct series_point shown;
	struct fields_series rec;
	char cell[TEXTOUT_CELL];
	struct counted c;
	uint32_t i, j;

	counted_begin(&c, s);
	table_fields(&table, &fields_rec_series, context);
	for (j = 0; j < c.n; j++)
		table_column(&table, c.headings[j] ? c.headings[j] : "?", EMIT_NUMBER);
	for (i = 0; i < s->npoints; i++) {
		rec = fields_series_of(s, i);
		shown = *rec.point;
		shown.label = point_name(names, s, i);
		rec.point = &shown;
		table_row(&table, &fields_rec_series, &rec, context);
		for (j = 0; j < c.n; j++)
			table_text(&table, compare_value(cell, counted_value(rec.point, c.names[j]),
							 COMPARE_COUNT));
	}
	textout_blank(t);
	textout_line(t, TEXTOUT_BOLD, "Points%s", c.n ? ", counters per thread" : "");
	table_print(&table, t, 0);
	counted_end(&c);
}

/* --- two-way tables --------------------------------------------------------------------------- */

enum shown { SHOWN_TIME, SHOWN_SPEEDUP, SHOWN_INCREASE };

static void across_cell(struct table *table, const struct series_point *p, enum shown shown)
{
	char s[TEXTOUT_CELL];

	if (!p && shown == SHOWN_TIME)
		table_ns(table, UINT64_MAX);
	else if (!p)
		table_text(table, "?");
	else if (shown == SHOWN_TIME)
		table_ns(table, p->time.mean);
	else if (shown == SHOWN_SPEEDUP)
		table_text(table, textout_fraction(s, p->speedup));
	else
		table_text(table, compare_percent(s, p->normalised));
}

static void print_across(struct textout *t, const struct series *s, enum shown shown)
{
	static const char *const titles[] = { "Time", "Speedup", "Time above the base" };
	uint32_t columns = s->ncolumns < ACROSS ? s->ncolumns : ACROSS, r, c;
	char *headings[ACROSS] = { NULL }, cell[TEXTOUT_CELL];
	struct table table = { .nkeys = 1 };

	table_column(&table, "", EMIT_NAME);
	for (c = 0; c < columns; c++) {
		headings[c] = textout_fit(s->columns[c], NAME);
		table_column(&table, headings[c] ? headings[c] : "?",
			     shown == SHOWN_TIME ? EMIT_MEAN : EMIT_NUMBER);
	}
	for (r = 0; r < s->nrows; r++) {
		for (c = 0; c < columns && !series_at(s, r, c); c++)
			;
		/*
		 * Skip a row without columns, which a label without "/" makes (for example the
		 * label of the sequential program).
		 */
		if (c == columns)
			continue;
		table_text(&table, s->rows[r]);
		for (c = 0; c < columns; c++)
			across_cell(&table, series_at(s, r, c), shown);
	}
	if (shown == SHOWN_INCREASE) {
		table_text(&table, "average");
		for (c = 0; c < columns; c++)
			table_text(&table, compare_percent(cell, 1 + series_average(s, c)));
	}
	textout_blank(t);
	textout_line(t, TEXTOUT_BOLD, "%s", titles[shown]);
	table_print(&table, t, 0);
	if (s->ncolumns > columns)
		textout_line(t, TEXTOUT_PLAIN, "and %u more columns (--json lists all)",
			     s->ncolumns - columns);
	for (c = 0; c < columns; c++)
		free(headings[c]);
}

/* --- call sites ------------------------------------------------------------------------------- */

/* Return whether the call site is among the SITES call sites of its point with most phase time. */
static bool site_counts(const struct series_point *p, uint32_t site)
{
	uint32_t i, more = 0;
	double share = p->sites[site].share;

	for (i = 0; i < p->nsites; i++)
		more += i < site ? p->sites[i].share >= share : p->sites[i].share > share;
	return isfinite(share) && more < SITES;
}

static void print_sites(struct textout *t, const struct series *s, struct point_names *names,
			const struct fields_context *context)
{
	struct table table = { 0 };
	uint32_t i, j, left = 0;
	const char *label;

	table_column(&table, "point", EMIT_NAME);
	table_fields(&table, &fields_rec_series_site, context);
	for (i = 0; i < s->npoints; i++) {
		label = point_name(names, s, i);
		for (j = 0; j < s->points[i].nsites; j++) {
			if (!site_counts(&s->points[i], j)) {
				left++;
				continue;
			}
			table_text(&table, label);
			table_row(&table, &fields_rec_series_site, &s->points[i].sites[j], context);
			label = "";
		}
	}
	if (!table.ncells) {
		table_drop(&table);
		return;
	}
	textout_blank(t);
	textout_line(t, TEXTOUT_BOLD, "How a run spends its time, by call site");
	table_print(&table, t, 0);
	if (left)
		textout_line(t, TEXTOUT_PLAIN, "and %u more rows (--json lists all)", left);
}

void series_sentences(struct textout *t, const struct series *s)
{
	print_headline(t, s);
	print_remarks(t, s);
}

void series_print(struct textout *t, const struct series *s, const struct fields_context *context)
{
	struct point_names names;
	bool rows = false;
	uint32_t i;

	series_sentences(t, s);
	if (!s->npoints)
		return;
	point_names_begin(&names, s);
	print_point_names(t, &names, s);
	print_points(t, s, &names, context);
	/* If points have their bases in the same row, print the change; otherwise the speedup. */
	for (i = 0; i < s->npoints; i++)
		rows |= s->points[i].base != i && s->points[i].base != SERIES_NONE &&
			s->points[i].column &&
			!strcmp(s->points[s->points[i].base].row, s->points[i].row);
	for (i = 0; i < s->npoints && rows; i++)
		rows = s->points[i].base != SERIES_NONE &&
		       !strcmp(s->points[s->points[i].base].row, s->points[i].row);
	if (s->ncolumns) {
		print_across(t, s, SHOWN_TIME);
		print_across(t, s, rows ? SHOWN_INCREASE : SHOWN_SPEEDUP);
	}
	print_sites(t, s, &names, context);
}
