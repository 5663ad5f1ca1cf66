// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Draw the lines of the screen. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/screen_row.h"

static void draw_foot(struct clip *p, const struct screen *s)
{
	static const char *const keys[] = { "q quit", "Enter threads", "/ filter",   "? help",
					    "s sort", "t flat",	       "Space pause" };
	static const char *const thread_keys[] = { "q quit", "Esc back", "/ filter",
						   "? help", "s sort",	 "Space pause" };
	const char *const *list = s->opened ? thread_keys : keys;
	unsigned i, n = s->opened ? sizeof(thread_keys) / sizeof(keys[0])
				  : sizeof(keys) / sizeof(keys[0]);

	if (s->typing || *s->filter) {
		clip_put(p, SCREEN_BOLD, s->typing ? "filter: " : "only: ");
		clip_put(p, SCREEN_PLAIN, s->filter);
		clip_put_if_room(p, SCREEN_DIM,
				 s->typing ? "_  Enter keeps it  Esc clears it"
					   : "  / changes it  Esc clears it");
		clip_end_line(p);
		return;
	}
	for (i = 0; i < n; i++) {
		if (p->column + (i ? 2 : 0) + strlen(list[i]) > p->width)
			break;
		if (i)
			clip_skip(p, 2);
		clip_put(p, SCREEN_DIM, list[i]);
	}
	clip_end_line(p);
}

static void draw_help(struct clip *p, unsigned height)
{
	static const char *const lines[] = {
		"Up Down PgUp PgDn   choose a row; Home: the first one",
		"Enter               show the row's threads; Esc: back",
		"s                   sort by the next column; or directly with:",
		"l r i w n           lost time, rate, imbalance, waiting, name",
		"/                   show only rows that contain the typed text",
		"t                   show barriers without their processes",
		"Space               pause the display",
		"q, Ctrl-C           quit; traced programs keep running",
		"",
		"LOST/s  time waited per second, summed over threads",
		"RATE/s  episodes per second; for a thread: crossings per second",
		"IMB     imbalance: lost share of the phases' thread time",
		"PHASE   mean time from one release to the next; THR: most threads",
		"LAST    the thread that arrived last most often, and its share",
		"CAUSE   cause and share of lost time; or waiting threads, time",
		"CPU QUEUE BLOCK  a thread's phases: running, waiting for a CPU, blocked",
		"",
		"Any key goes back.",
	};
	unsigned i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]) && i < height; i++) {
		clip_put(p, SCREEN_PLAIN, lines[i]);
		clip_end_line(p);
	}
}

/* Draw a paragraph of at most @most lines. Return the number of lines. */
static unsigned draw_paragraph(struct clip *p, enum screen_style style, const char *s,
			       unsigned most)
{
	struct textout t = { .buf = &(struct buf){ 0 }, .width = p->width };
	unsigned n = 0;
	char *line, *save = NULL;

	textout_wrap(&t, TEXTOUT_PLAIN, NULL, 0, "%s", s);
	p->failed |= t.buf->failed;
	for (line = t.buf->s ? strtok_r(t.buf->s, "\n", &save) : NULL; line && n < most;
	     line = strtok_r(NULL, "\n", &save)) {
		clip_put(p, style, line);
		clip_end_line(p);
		n++;
	}
	buf_free(t.buf);
	return n;
}

/*
 * Draw the process or barrier that the user opened to see its threads, with its cause. Return the
 * number of lines.
 */
static unsigned draw_opened(struct clip *p, const struct screen *s, unsigned most)
{
	const struct screen_item *it = screen_opened_item(s);
	char process[64], text[512], number[TEXTOUT_CELL], lost[TEXTOUT_CELL];
	unsigned n = 1;

	if (!it) {
		clip_put(p, SCREEN_ALARM, "This row no longer exists.");
		clip_end_line(p);
		return 1;
	}
	screen_format_process(process, sizeof(process), it);
	if (it->kind == SCREEN_BARRIER)
		snprintf(text, sizeof(text), "%s in %s  %s", it->name ? it->name : "?", process,
			 it->id ? it->id : "");
	else
		snprintf(text, sizeof(text), "%s, at all its barriers", process);
	clip_put(p, SCREEN_BOLD, text);
	clip_end_line(p);
	if (most < 3)
		return n;
	screen_format_lost(lost, it->lost_ns);
	screen_format_rate(number, it->rate);
	snprintf(text, sizeof(text), "%s lost, %s episodes per second", lost, number);
	clip_put(p, SCREEN_PLAIN, text);
	if (isfinite(it->imbalance)) {
		snprintf(text, sizeof(text), ", imbalance %.0f %%", it->imbalance * 100);
		clip_put_if_room(
			p, it->imbalance >= SCREEN_BAD_IMBALANCE ? SCREEN_ALARM : SCREEN_PLAIN,
			text);
	}
	if (it->cause) {
		char cause[128];

		screen_format_share(cause, sizeof(cause), it->cause, it->cause_share);
		snprintf(text, sizeof(text), ", %s", cause);
		clip_put_if_room(p, SCREEN_PLAIN, text);
	}
	clip_end_line(p);
	n++;
	if (s->facts && s->facts->why && most > n + 1)
		n += draw_paragraph(p, SCREEN_DIM, s->facts->why,
				    most - n - 1 < 3 ? most - n - 1 : 3);
	return n;
}

static void draw_rows(struct clip *p, struct screen *s, unsigned height)
{
	struct screen_layout layout = { 0 };
	unsigned i;

	if (s->opened)
		screen_lay_threads(&layout, p->width);
	else
		screen_lay_main(&layout, p->width);
	screen_draw_heads(p, &layout, s);
	height--;
	s->page = height ? height : 1;
	if (s->at < s->scroll)
		s->scroll = s->at;
	if (s->at >= s->scroll + s->page)
		s->scroll = s->at - s->page + 1;
	if (s->scroll + s->page > s->nrows)
		s->scroll = s->nrows > s->page ? s->nrows - s->page : 0;
	for (i = 0; i < height && s->scroll + i < s->nrows; i++)
		screen_draw_row(p, &layout, s->rows[s->scroll + i], s->scroll + i == s->at,
				s->flat ? NAMES_FULL : NAMES_TREE);
	if (i < height && !s->nrows) {
		if (s->n && *s->filter)
			draw_paragraph(p, SCREEN_PLAIN, "No row matches the filter.", 1);
		else if (!s->opened && s->facts && s->facts->nothing)
			draw_paragraph(p, SCREEN_PLAIN, s->facts->nothing, height);
	}
}

static void fill_to(struct clip *p, unsigned line)
{
	while (p->line < line)
		clip_end_line(p);
}

static void draw_all(struct clip *p, struct screen *s, unsigned height)
{
	unsigned foot = height >= 5;

	if (s->help) {
		draw_help(p, height);
		return;
	}
	if (height >= 4)
		screen_draw_title(p, s);
	if (s->facts && s->facts->alert && height >= 6) {
		clip_put(p, SCREEN_ALARM, s->facts->alert);
		clip_end_line(p);
	}
	if (s->opened)
		draw_opened(p, s, height > p->line + foot + 3 ? height - p->line - foot - 3 : 1);
	else
		screen_draw_answer(p, s);
	if (height >= 16)
		clip_end_line(p);
	if (height > p->line + foot)
		draw_rows(p, s, height - p->line - foot);
	if (foot) {
		fill_to(p, height - 1);
		draw_foot(p, s);
	}
}

int screen_draw(struct screen *s, unsigned width, unsigned height, struct screen_lines *out)
{
	struct clip p = { .out = out, .width = width, .ascii = s->ascii };

	buf_clear(&out->text);
	out->nruns = 0;
	if (width && height)
		draw_all(&p, s, height);
	return p.failed || out->text.failed ? -ENOMEM : 0;
}

void screen_lines_free(struct screen_lines *lines)
{
	buf_free(&lines->text);
	free(lines->runs);
	memset(lines, 0, sizeof(*lines));
}

/* --- lines ------------------------------------------------------------------------------------ */

static bool is_active(const struct screen_item *it)
{
	return it->kind != SCREEN_THREAD && (it->rate > 0 || it->waiting || it->lost_ns > 0);
}

void screen_plain(const struct screen_facts *facts, const struct screen_item *items, uint32_t n,
		  bool ascii, struct buf *out)
{
	struct screen_layout layout = { 0 };
	struct screen s = { .items = items, .n = n, .facts = facts, .ascii = ascii };
	struct screen_lines lines = { 0 };
	struct clip p = { .out = &lines, .width = 400, .ascii = ascii };
	char day[TEXTOUT_CELL];
	uint32_t i;

	textout_day(day, facts->realtime_ns);
	day[strcspn(day, ".")] = '\0';
	screen_lay(&layout, COL_WHAT, 7);
	screen_lay(&layout, COL_PID, 7);
	screen_lay(&layout, COL_LOST, 7);
	screen_lay(&layout, COL_RATE, 7);
	screen_lay(&layout, COL_IMBALANCE, 5);
	screen_lay(&layout, COL_PHASE, 7);
	screen_lay(&layout, COL_TEAM, 4);
	screen_lay(&layout, COL_LAST, 22);
	screen_lay(&layout, COL_CAUSE, 22);
	screen_lay(&layout, COL_ID, 9);
	screen_lay(&layout, COL_NAME, 0);
	clip_put(&p, SCREEN_PLAIN, day);
	clip_skip(&p, 1);
	screen_draw_heads(&p, &layout, NULL);
	if (screen_arrange(&s))
		out->failed = true;
	for (i = 0; i < s.nrows; i++) {
		if (!is_active(s.rows[i]))
			continue;
		clip_put(&p, SCREEN_PLAIN, day);
		clip_skip(&p, 1);
		screen_draw_row(&p, &layout, s.rows[i], false, NAMES_LINES);
	}
	if (p.line == 1) {
		clip_put(&p, SCREEN_PLAIN, day);
		clip_skip(&p, 1);
		clip_put(&p, SCREEN_PLAIN, n ? "nothing in this interval" : facts->nothing);
		clip_end_line(&p);
	}
	clip_end_line(&p);
	buf_add(out, lines.text.s ? lines.text.s : "", lines.text.len);
	out->failed |= p.failed || lines.text.failed;
	free(s.rows);
	screen_lines_free(&lines);
}
