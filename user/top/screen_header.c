// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Draw the lines above the rows: what is traced, and the answer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "top/screen_row.h"

#include "base/array.h"

/* a process with an imbalance below this value loses little */
#define LITTLE 0.05

static void format_seconds(char out[TEXTOUT_CELL], uint64_t ns)
{
	if (ns % 1000000000 >= 50000000 && ns < 10000000000)
		snprintf(out, TEXTOUT_CELL, "%.1f s", (double)ns / 1e9);
	else if (ns < 60000000000)
		snprintf(out, TEXTOUT_CELL, "%.0f s", (double)ns / 1e9);
	else if (ns < 3600000000000)
		snprintf(out, TEXTOUT_CELL, "%u min %02u s", (unsigned)(ns / 60000000000),
			 (unsigned)(ns / 1000000000 % 60));
	else
		textout_time(out, ns);
}

void screen_draw_title(struct clip *p, const struct screen *s)
{
	char text[TEXTOUT_CELL], time[64], right[160], number[TEXTOUT_CELL];
	uint32_t n[SCREEN_THREAD + 1] = { 0 };
	unsigned len;

	array_for_each (item, s->items, s->n)
		n[item->kind]++;
	textout_plural(number, n[SCREEN_BARRIER], "barrier");
	if (n[SCREEN_PROCESS] == 1)
		snprintf(right, sizeof(right), "1 process, %s", number);
	else
		snprintf(right, sizeof(right), "%u processes, %s", n[SCREEN_PROCESS], number);
	clip_put(p, SCREEN_BOLD, "sbt-trace top");
	if (s->facts) {
		clip_put_if_room(p, SCREEN_PLAIN, "  ");
		clip_put(p, SCREEN_PLAIN, s->facts->what);
		format_seconds(text, s->facts->elapsed_ns / 1000000000 * 1000000000);
		snprintf(time, sizeof(time), "  for %s", text);
		clip_put_if_room(p, SCREEN_DIM, time);
		format_seconds(text, s->facts->interval_ns);
		snprintf(time, sizeof(time), ", every %s", text);
		if (s->facts->interval_ns != 1000000000)
			clip_put_if_room(p, SCREEN_DIM, time);
		if (s->paused)
			clip_put_if_room(p, SCREEN_ALARM, "  paused");
	}
	len = textout_columns(right);
	if (p->column + 2 + len <= p->width) {
		clip_skip(p, p->width - p->column - len);
		clip_put(p, SCREEN_DIM, right);
	}
	clip_end_line(p);
}

/* Return the item of this kind that loses most. If @process is not 0, consider only its items. */
static const struct screen_item *worst(const struct screen *s, enum screen_kind kind,
				       uint64_t process)
{
	const struct screen_item *found = NULL;

	array_for_each (it, s->items, s->n) {
		if (it->kind != kind || it->nested || (process && it->process != process))
			continue;
		if (!found || it->lost_ns > found->lost_ns)
			found = it;
	}
	return found;
}

/* Draw the first clause, and as many others as fit. */
static void draw_clauses(struct clip *p, enum screen_style style, char clauses[][256], unsigned n)
{
	unsigned i;

	clip_put(p, style, clauses[0]);
	for (i = 1; i < n; i++) {
		char *fit = textout_fit(clauses[i], 10000);
		bool room = fit && p->column + textout_columns(fit) <= p->width;

		if (room)
			clip_put(p, style, fit);
		free(fit);
		if (!room)
			break;
	}
	clip_end_line(p);
}

static void draw_stuck(struct clip *p, const struct screen_item *process,
		       const struct screen_item *barrier)
{
	char clauses[3][256], comm[64], time[TEXTOUT_CELL];

	screen_format_process(comm, sizeof(comm), process);
	textout_time(time, barrier->waiting_ns);
	snprintf(clauses[0], sizeof(clauses[0]), "%s: %u thread%s waiting for %s", comm,
		 barrier->waiting, barrier->waiting == 1 ? "" : "s", time);
	snprintf(clauses[1], sizeof(clauses[1]), " at %s", barrier->name ? barrier->name : "?");
	snprintf(clauses[2], sizeof(clauses[2]), "; see sbt-trace hang -p %u", process->pid);
	draw_clauses(p, barrier->waiting_ns >= SCREEN_BAD_WAIT_NS ? SCREEN_ALARM : SCREEN_BOLD,
		     clauses, barrier->waiting_ns >= SCREEN_BAD_WAIT_NS ? 3 : 2);
}

void screen_draw_answer(struct clip *p, const struct screen *s)
{
	const struct screen_item *it = worst(s, SCREEN_PROCESS, 0), *at;
	char clauses[5][256], comm[64], lost[TEXTOUT_CELL];
	unsigned n = 0;

	if (!it) {
		clip_end_line(p);
		return;
	}
	at = worst(s, SCREEN_BARRIER, it->key);
	if (at && screen_is_stuck(at) && at->lost_ns > 0.5 * it->lost_ns) {
		draw_stuck(p, it, at);
		return;
	}
	screen_format_process(comm, sizeof(comm), it);
	screen_format_lost(lost, it->lost_ns);
	if (!(it->lost_ns > 0)) {
		clip_put(p, SCREEN_PLAIN, "No time is lost at present");
		clip_end_line(p);
		return;
	}
	if (it->imbalance < LITTLE) {
		snprintf(clauses[n++], sizeof(clauses[0]), "Little is lost: %s per second", lost);
		snprintf(clauses[n++], sizeof(clauses[0]), " at most, by %s", comm);
		draw_clauses(p, SCREEN_PLAIN, clauses, n);
		return;
	}
	snprintf(clauses[n++], sizeof(clauses[0]), "%s loses %s per second", comm, lost);
	if (isfinite(it->imbalance))
		snprintf(clauses[n++], sizeof(clauses[0]), ", imbalance %.0f %%",
			 it->imbalance * 100);
	if (at && at->last && at->last_share >= 0.5)
		snprintf(clauses[n++], sizeof(clauses[0]), ": %s%s is last",
			 *at->last >= '0' && *at->last <= '9' ? "thread " : "", at->last);
	if (at && at->cause)
		snprintf(clauses[n++], sizeof(clauses[0]), ", %s", at->cause);
	draw_clauses(p, SCREEN_BOLD, clauses, n);
}
