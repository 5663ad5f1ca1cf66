// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/prediction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "emit/table.h"

#define CURVE_WIDTH 60 /* columns of the longest bar */
#define PHASES_MOST 12 /* largest number of rows in tables of phases */
#define MATRIX_MOST 8 /* largest number of columns for numbers of processors */
/* largest number of predictions that are all shown; with more, is_shown() selects */
#define POINTS_MOST 16
#define SHOWN_MOST  64

/* --- rows to show ----------------------------------------------------------------------------- */

struct shown {
	uint32_t n;
	uint32_t at[SHOWN_MOST]; /* indices of predictions.all */
	uint32_t left_out;
};

/*
 * Of many predictions, show those for a power of two or for the number of threads, the best and the
 * last. Return whether prediction @i is one of these.
 */
static bool is_shown(const struct predictions *p, uint32_t i)
{
	uint32_t processors = p->all[i].processors;

	return !(processors & (processors - 1)) || processors == p->all[i].threads ||
	       i == p->best || i + 1 == p->n;
}

static void choose(const struct predictions *p, struct shown *shown)
{
	uint32_t i;

	shown->n = 0;
	for (i = 0; i < p->n; i++)
		if ((p->n <= POINTS_MOST || is_shown(p, i)) && shown->n < SHOWN_MOST)
			shown->at[shown->n++] = i;
	shown->left_out = p->n - shown->n;
}

/* --- the answer ------------------------------------------------------------------------------- */

void prediction_sentences(struct textout *t, const struct predictions *p)
{
	const struct prediction *b = &p->all[p->best];
	char time[TEXTOUT_CELL], serial[TEXTOUT_CELL], here[TEXTOUT_CELL], n[TEXTOUT_CELL];
	char threads[TEXTOUT_CELL];

	textout_time(time, b->time_ns);
	textout_time(serial, p->serial_ns);
	textout_time(here, p->recorded_ns);
	textout_plural(n, b->processors, "processor");
	textout_plural(threads, b->threads, "thread");
	if (p->recordings > 1)
		textout_wrap(t, TEXTOUT_BOLD, "", 2,
			     "Predicted for %s: fastest with %s on %s (%s), %.3g times as fast as "
			     "the fewest threads on one processor (%s instead of %s)",
			     b->machine, threads, n, b->recording, b->speedup, time, serial);
	else if (b->processors == 1)
		textout_wrap(t, TEXTOUT_BOLD, "", 2, "Predicted for %s: %s with one processor%s",
			     b->machine, time, p->n > 1 ? "; more processors are not faster" : "");
	else
		textout_wrap(
			t, TEXTOUT_BOLD, "", 2,
			"Predicted for %s: %s%s, %.3g times as fast as with one (%s instead of %s)",
			b->machine, p->n > 1 ? "fastest with " : "with ", n, b->speedup, time,
			serial);
	if (p->recordings > 1)
		textout_wrap(t, TEXTOUT_PLAIN, "", 2,
			     "Limited by %s, in the phase that ends at %s.", b->because,
			     b->limit_label);
	else
		textout_wrap(t, TEXTOUT_PLAIN, "", 2,
			     "%s took %s on this machine. The prediction is limited by %s, in the "
			     "phase that ends at %s.",
			     threads, here, b->because, b->limit_label);
	textout_blank(t);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void print_points(struct textout *t, const struct predictions *p, const struct shown *shown,
			 const struct fields_context *context)
{
	struct table table = { 0 };
	char n[TEXTOUT_CELL];
	uint32_t i;

	table_fields(&table, &fields_rec_prediction, context);
	for (i = 0; i < shown->n; i++)
		table_row(&table, &fields_rec_prediction, &p->all[shown->at[i]], context);
	table_print(&table, t, 2);
	if (shown->left_out)
		textout_line(t, TEXTOUT_DIM,
			     "  and %s of processors between these: see --csv or --json",
			     textout_plural(n, shown->left_out, "number"));
	textout_blank(t);
}

/* Print a row for each of several recordings. */
static void print_recordings(struct textout *t, const struct predictions *p,
			     const struct shown *shown)
{
	static const struct {
		const char *heading;
		enum emit_look look;
	} columns[] = {
		{ "recording", EMIT_NAME },
		{ "threads", EMIT_NUMBER },
		{ "proces-\nsors", EMIT_NUMBER },
		{ "time", EMIT_COMMON },
		{ "speedup", EMIT_NUMBER },
		{ "effi-\nciency", EMIT_NUMBER },
		{ "limited by the\nphase that ends at", EMIT_NAME },
		{ "because of", EMIT_ID },
	};
	struct table table = { 0 };
	char n[TEXTOUT_CELL];
	uint32_t i;

	array_for_each (c, columns, sizeof(columns) / sizeof(columns[0]))
		table_column(&table, c->heading, c->look);
	for (i = 0; i < shown->n; i++) {
		const struct prediction *one = &p->all[shown->at[i]];

		table_text(&table, one->recording);
		table_text(&table, textout_number(n, one->threads));
		table_text(&table, textout_number(n, one->processors));
		table_ns(&table, one->time_ns);
		table_text(&table, textout_fraction(n, one->speedup));
		snprintf(n, sizeof(n), "%.0f %%", 100 * one->efficiency);
		table_text(&table, isfinite(one->efficiency) ? n : "?");
		table_text(&table, one->limit_label ? one->limit_label : "?");
		table_text(&table, one->because ? one->because : "?");
	}
	table_print(&table, t, 2);
	if (shown->left_out)
		textout_line(t, TEXTOUT_DIM, "  and %s: see --csv or --json",
			     textout_plural(n, shown->left_out, "row"));
	textout_blank(t);
}

static void print_phases(struct textout *t, const struct predictions *p,
			 const struct fields_context *context)
{
	const struct prediction *b = &p->all[p->best];
	char n[TEXTOUT_CELL];

	if (!b->nphases)
		return;
	if (p->recordings > 1)
		textout_line(t, TEXTOUT_BOLD, "Phases of %s with %s", b->recording,
			     textout_plural(n, b->processors, "processor"));
	else
		textout_line(t, TEXTOUT_BOLD, "Phases with %s",
			     textout_plural(n, b->processors, "processor"));
	table_records(t, 2, &fields_rec_prediction_phase, b->phases,
		      b->nphases < PHASES_MOST ? b->nphases : PHASES_MOST, context);
	if (b->nphases > PHASES_MOST)
		textout_line(t, TEXTOUT_DIM, "  and %u shorter ones", b->nphases - PHASES_MOST);
	textout_blank(t);
}

/*
 * Return the time of the phases of @p that end at the same barrier as the phases @like, or 0 if
 * there are no such phases. Labels and ids are compared by address, because the predictions share
 * them.
 */
static uint64_t phase_time(const struct prediction *p, const struct prediction_phase *like)
{
	array_for_each (phase, p->phases, p->nphases)
		if (phase->label == like->label && phase->id == like->id)
			return phase->time_ns;
	return 0;
}

/* Print a row per phase, and a column for each of the first numbers of processors. */
static void print_matrix(struct textout *t, const struct predictions *p, const struct shown *shown)
{
	const struct prediction *b = &p->all[p->best];
	char headings[MATRIX_MOST][16];
	uint32_t n = shown->n < MATRIX_MOST ? shown->n : MATRIX_MOST, i, k;
	struct table table = { 0 };

	if (n < 2 || !b->nphases)
		return;
	textout_line(t, TEXTOUT_BOLD, "Time of phases by number of processors");
	table_column(&table, "phases that end at", EMIT_NAME);
	for (k = 0; k < n; k++) {
		snprintf(headings[k], sizeof(headings[k]), "%u", p->all[shown->at[k]].processors);
		table_column(&table, headings[k], EMIT_COMMON);
	}
	for (i = 0; i < b->nphases && i < PHASES_MOST; i++) {
		table_text(&table, b->phases[i].label ? b->phases[i].label : "?");
		for (k = 0; k < n; k++)
			table_ns(&table, phase_time(&p->all[shown->at[k]], &b->phases[i]));
	}
	table_print(&table, t, 2);
	textout_blank(t);
}

/* --- the curve -------------------------------------------------------------------------------- */

/* Add a row with a bar for the speedup, and "|" at linear speedup if there is room for it. */
static void add_bar(struct table *table, const struct prediction *p, double most, bool threads)
{
	unsigned full = (unsigned)lround(p->speedup / most * CURVE_WIDTH), i;
	double linear = p->processors / most * CURVE_WIDTH;
	unsigned mark = linear <= CURVE_WIDTH ? (unsigned)lround(linear) : CURVE_WIDTH + 1;
	char bar[CURVE_WIDTH + 2], s[TEXTOUT_CELL];

	for (i = 0; i <= CURVE_WIDTH; i++)
		bar[i] = i == mark && i > full ? '|' : i < full ? '#' : ' ';
	while (i && bar[i - 1] == ' ')
		i--;
	bar[i] = '\0';
	if (threads)
		table_text(table, textout_number(s, p->threads));
	table_text(table, textout_number(s, p->processors));
	table_text(table, textout_fraction(s, p->speedup));
	table_text(table, bar);
}

static void print_curve(struct textout *t, const struct predictions *p, const struct shown *shown)
{
	struct table table = { 0 };
	bool threads = p->recordings > 1;
	double most = 1;
	uint32_t i;

	array_for_each (x, p->all, p->n)
		if (x->speedup > most)
			most = x->speedup;
	textout_line(t, TEXTOUT_BOLD, "Speedup by number of processors (|: linear speedup)");
	if (threads)
		table_column(&table, "threads", EMIT_NUMBER);
	table_column(&table, "proces-\nsors", EMIT_NUMBER);
	table_column(&table, "speedup", EMIT_NUMBER);
	table_column(&table, "", EMIT_ID);
	for (i = 0; i < shown->n; i++)
		if (isfinite(p->all[shown->at[i]].speedup))
			add_bar(&table, &p->all[shown->at[i]], most, threads);
	table_print(&table, t, 2);
	textout_blank(t);
}

/* Print warnings before the figures that they concern. */
static void print_warnings(struct textout *t, const struct predictions *p)
{
	uint32_t n = 0;

	array_for_each (note, p->notes, p->nnotes) {
		if (strcmp(note->kind, "warning") != 0)
			continue;
		textout_wrap(t, TEXTOUT_RED, "Warning: ", 2, "%s", note->text);
		n++;
	}
	if (n)
		textout_blank(t);
}

static void print_assumed(struct textout *t, const struct predictions *p)
{
	textout_line(t, TEXTOUT_BOLD, "Assumptions");
	array_for_each (note, p->notes, p->nnotes)
		if (strcmp(note->kind, "warning") != 0)
			textout_wrap(t, TEXTOUT_PLAIN, "  ", 4, "%s", note->text);
}

void prediction_print(struct textout *t, const struct predictions *p,
		      const struct fields_context *context)
{
	struct shown shown;

	if (!p->n)
		return;
	choose(p, &shown);
	prediction_sentences(t, p);
	print_warnings(t, p);
	if (p->recordings > 1)
		print_recordings(t, p, &shown);
	else
		print_points(t, p, &shown, context);
	print_curve(t, p, &shown);
	if (p->recordings <= 1)
		print_matrix(t, p, &shown);
	print_phases(t, p, context);
	print_assumed(t, p);
}

/* --- machines --------------------------------------------------------------------------------- */

void prediction_print_machine(struct buf *buf, const struct predict_machine *m, const char *comment)
{
	const struct predict_param *p;
	char value[64];

	buf_printf(buf, "# %s\nmachine = %s\n", comment, m->name);
	for (p = predict_params; p->name; p++) {
		predict_param_print(m, p, value, sizeof(value));
		buf_printf(buf, "\n# %s\n%s = %s\n", p->help, p->name, value);
	}
}
