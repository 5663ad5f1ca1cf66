// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "top/screen_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *heading;
	bool right;
	enum screen_sort sort; /* SCREEN_SORTS: rows cannot be sorted by this column */
} columns[] = {
	[COL_TIME] = { "TIME", false, SCREEN_SORTS },
	[COL_WHAT] = { "WHAT", false, SCREEN_SORTS },
	[COL_PID] = { "PID", true, SCREEN_SORTS },
	[COL_LOST] = { "LOST/s", true, SCREEN_LOST },
	[COL_RATE] = { "RATE/s", true, SCREEN_RATE },
	[COL_IMBALANCE] = { "IMB", true, SCREEN_IMBALANCE },
	[COL_PHASE] = { "PHASE", true, SCREEN_SORTS },
	[COL_TEAM] = { "THR", true, SCREEN_SORTS },
	[COL_LAST] = { "LAST", false, SCREEN_SORTS },
	[COL_CAUSE] = { "CAUSE", false, SCREEN_WAITING },
	[COL_ID] = { "ID", false, SCREEN_SORTS },
	[COL_NAME] = { "BARRIER", false, SCREEN_NAME },
	[COL_ONCPU] = { "CPU", true, SCREEN_SORTS },
	[COL_RUNQ] = { "QUEUE", true, SCREEN_SORTS },
	[COL_BLOCKED] = { "BLOCK", true, SCREEN_SORTS },
	[COL_WAITS] = { "WAITS", true, SCREEN_WAITING },
};

void screen_format_lost(char out[TEXTOUT_CELL], double ns)
{
	if (!isfinite(ns))
		snprintf(out, TEXTOUT_CELL, "?");
	else if (ns < 0.5)
		snprintf(out, TEXTOUT_CELL, "0");
	else if (ns >= 599.5e9)
		snprintf(out, TEXTOUT_CELL, "%.0f s", ns / 1e9);
	else
		textout_time(out, (uint64_t)(ns + 0.5));
}

void screen_format_rate(char out[TEXTOUT_CELL], double rate)
{
	if (!isfinite(rate))
		snprintf(out, TEXTOUT_CELL, "?");
	else if (rate <= 0)
		snprintf(out, TEXTOUT_CELL, "0");
	else if (rate < 9.995)
		snprintf(out, TEXTOUT_CELL, "%.2f", rate);
	else if (rate < 99.95)
		snprintf(out, TEXTOUT_CELL, "%.1f", rate);
	else if (rate < 999999.5)
		textout_count(out, (uint64_t)(rate + 0.5));
	else
		snprintf(out, TEXTOUT_CELL, "%.1fM", rate / 1e6);
}

static void format_share(char out[TEXTOUT_CELL], double share)
{
	if (isfinite(share))
		snprintf(out, TEXTOUT_CELL, "%.0f %%", share * 100);
	else
		snprintf(out, TEXTOUT_CELL, "-");
}

void screen_format_share(char *out, size_t size, const char *what, double share)
{
	if (isfinite(share))
		snprintf(out, size, "%s %.0f %%", what, share * 100);
	else
		snprintf(out, size, "%s", what);
}

bool screen_is_stuck(const struct screen_item *it)
{
	return it->waiting && !(it->rate > 0);
}

void screen_format_process(char *out, size_t size, const struct screen_item *it)
{
	snprintf(out, size, "%s (%u)%s", it->comm ? it->comm : "?", it->pid,
		 it->exited ? ", exited" : "");
}

void screen_lay(struct screen_layout *l, enum screen_column column, unsigned width)
{
	l->cols[l->n].column = column;
	l->cols[l->n++].width = width;
}

void screen_lay_main(struct screen_layout *l, unsigned width)
{
	screen_lay(l, COL_LOST, 7);
	if (width >= 50)
		screen_lay(l, COL_RATE, 7);
	if (width >= 28)
		screen_lay(l, COL_IMBALANCE, 5);
	if (width >= 104)
		screen_lay(l, COL_PHASE, 7);
	if (width >= 92)
		screen_lay(l, COL_TEAM, 4);
	if (width >= 64)
		screen_lay(l, COL_LAST, width >= 120 ? 22 : 14);
	if (width >= 76)
		screen_lay(l, COL_CAUSE, width >= 120 ? 22 : 18);
	screen_lay(l, COL_NAME, 0);
}

void screen_lay_threads(struct screen_layout *l, unsigned width)
{
	screen_lay(l, COL_LOST, 7);
	if (width >= 50)
		screen_lay(l, COL_RATE, 7);
	screen_lay(l, COL_LAST, 5);
	if (width >= 60) {
		screen_lay(l, COL_ONCPU, 5);
		screen_lay(l, COL_RUNQ, 5);
		screen_lay(l, COL_BLOCKED, 5);
	}
	if (width >= 36)
		screen_lay(l, COL_WAITS, 7);
	screen_lay(l, COL_NAME, 0);
}

void screen_draw_heads(struct clip *p, const struct screen_layout *l, const struct screen *s)
{
	bool threads = s && s->opened;
	enum screen_sort sort = !s ? SCREEN_SORTS : threads ? s->thread_sort : s->sort;
	char text[32];
	unsigned i;

	p->base = SCREEN_HEAD;
	p->solid = true;
	for (i = 0; i < l->n; i++) {
		enum screen_column c = l->cols[i].column;
		const char *heading = columns[c].heading;
		enum screen_sort by = columns[c].sort;

		if (c == COL_NAME && threads)
			heading = "THREAD";
		if (c == COL_LAST && threads)
			by = SCREEN_IMBALANCE;
		snprintf(text, sizeof(text), "%s%s", heading, s && by == sort ? "▼" : "");
		if (i)
			clip_skip(p, 1);
		clip_cell(p, SCREEN_HEAD,
			  l->cols[i].width ? l->cols[i].width : p->width - p->column,
			  columns[c].right, text);
	}
	clip_end_line(p);
}

static enum screen_style row_style(const struct screen_item *it)
{
	if (it->exited || it->nested)
		return SCREEN_DIM;
	return it->kind == SCREEN_PROCESS ? SCREEN_BOLD : SCREEN_PLAIN;
}

static void last_cell(struct clip *p, const struct screen_item *it, enum screen_style style,
		      unsigned width)
{
	char text[128] = "-", share[TEXTOUT_CELL];
	char *name;

	if (it->kind == SCREEN_THREAD) {
		format_share(share, it->last_share);
		clip_cell(p, it->last_share >= 0.5 ? SCREEN_ALARM : style, width, true, share);
		return;
	}
	/* Shorten the name rather than the share. */
	if (it->last) {
		format_share(share, it->last_share);
		name = textout_fit(it->last, width - 1 - textout_columns(share));
		snprintf(text, sizeof(text), "%s %s", name ? name : "?", share);
		free(name);
	}
	clip_cell(p, style, width, false, text);
}

static void cause_cell(struct clip *p, const struct screen_item *it, enum screen_style style,
		       unsigned width)
{
	char text[160] = "-", time[TEXTOUT_CELL];

	if (screen_is_stuck(it)) {
		textout_time(time, it->waiting_ns);
		snprintf(text, sizeof(text), "%u wait%s %s", it->waiting,
			 it->waiting == 1 ? "s" : "", time);
		style = it->waiting_ns >= SCREEN_BAD_WAIT_NS ? SCREEN_ALARM : style;
	} else if (it->cause) {
		/* If there is no room for both, show the cause without its share. */
		screen_format_share(text, sizeof(text), it->cause, it->cause_share);
		if (textout_columns(text) > width)
			snprintf(text, sizeof(text), "%s", it->cause);
	} else if (it->balanced) {
		snprintf(text, sizeof(text), "balanced");
		style = SCREEN_DIM;
	}
	clip_cell(p, style, width, false, text);
}

static void name_cell(struct clip *p, const struct screen_item *it, enum screen_style style,
		      unsigned width, enum screen_names names)
{
	const char *name = it->name ? it->name : "?", *comm = it->comm ? it->comm : "?";
	const char *nested = it->nested ? " (nested)" : "";
	char text[512];

	if (it->kind == SCREEN_PROCESS)
		screen_format_process(text, sizeof(text), it);
	else if (it->kind == SCREEN_THREAD && it->index != UINT32_MAX)
		snprintf(text, sizeof(text), "%u %s (%u)", it->index, name, it->tid);
	else if (it->kind == SCREEN_THREAD)
		snprintf(text, sizeof(text), "%s (%u)", name, it->tid);
	else if (names == NAMES_FULL)
		snprintf(text, sizeof(text), "%s%s, %s (%u)", name, nested, comm, it->pid);
	else if (names == NAMES_LINES)
		snprintf(text, sizeof(text), "%s: %s%s", comm, name, nested);
	else
		snprintf(text, sizeof(text), "%s%s", name, nested);
	if (names == NAMES_TREE && it->kind == SCREEN_BARRIER) {
		clip_skip(p, 2);
		width = width > 2 ? width - 2 : 0;
	}
	clip_cell(p, style, width, false, text);
}

static void number_cell(struct clip *p, const struct screen_item *it, enum screen_column c,
			enum screen_style style, unsigned width)
{
	char text[TEXTOUT_CELL] = "-";

	switch (c) {
	case COL_PID:
		snprintf(text, sizeof(text), "%u", it->pid);
		break;
	case COL_LOST:
		screen_format_lost(text, it->lost_ns);
		break;
	case COL_RATE:
		screen_format_rate(text, it->rate);
		break;
	case COL_IMBALANCE:
		format_share(text, it->imbalance);
		if (it->imbalance >= SCREEN_BAD_IMBALANCE)
			style = SCREEN_ALARM;
		break;
	case COL_PHASE:
		if (isfinite(it->phase_ns))
			textout_time(text, (uint64_t)it->phase_ns);
		break;
	case COL_TEAM:
		if (it->team)
			snprintf(text, sizeof(text), "%u", it->team);
		break;
	case COL_ONCPU:
		format_share(text, it->oncpu);
		break;
	case COL_RUNQ:
		format_share(text, it->runq);
		break;
	case COL_BLOCKED:
		format_share(text, it->blocked);
		break;
	case COL_WAITS:
		if (it->waiting_ns != UINT64_MAX)
			textout_time(text, it->waiting_ns);
		break;
	default:
		break;
	}
	clip_cell(p, style, width, true, text);
}

static void draw_cell(struct clip *p, const struct screen_item *it, enum screen_column c,
		      unsigned width, enum screen_names names)
{
	enum screen_style style = row_style(it);

	switch (c) {
	case COL_LAST:
		last_cell(p, it, style, width);
		break;
	case COL_CAUSE:
		cause_cell(p, it, style, width);
		break;
	case COL_NAME:
		name_cell(p, it, style, width, names);
		break;
	case COL_ID:
		clip_cell(p, style, width, false, it->id ? it->id : "-");
		break;
	case COL_WHAT:
		clip_cell(p, style, width, false,
			  it->kind == SCREEN_PROCESS ? "process" : "barrier");
		break;
	default:
		number_cell(p, it, c, style, width);
	}
}

void screen_draw_row(struct clip *p, const struct screen_layout *l, const struct screen_item *it,
		     bool chosen, enum screen_names names)
{
	unsigned i;

	p->base = chosen ? SCREEN_CHOSEN : SCREEN_PLAIN;
	p->solid = chosen;
	for (i = 0; i < l->n; i++) {
		if (i)
			clip_skip(p, 1);
		draw_cell(p, it, l->cols[i].column,
			  l->cols[i].width ? l->cols[i].width : p->width - p->column, names);
	}
	clip_end_line(p);
}
