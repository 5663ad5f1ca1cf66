// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/activity.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/function_name.h"
#include "base/number.h"
#include "base/text.h"
#include "emit/why.h"

#define INDENT		6
/* Largest numbers of lines, if not all threads are printed. */
#define BRIEF_STATES	3
#define BRIEF_WAKERS	5
#define FUNCTION_LEAST	12 /* columns of a function that are kept before its file and line */
#define FUNCTIONS_SHOWN 3
#define SAMPLES_LEAST	3 /* fewer samples of a thread show nothing */
#define SHARE_LEAST	0.01
/* Threads that lived for a smaller share of the longest life are only counted. */
#define LIFE_LEAST	0.1
/*
 * A wait shorter than this share of the thread's life is not worth a line, unless all waits of its
 * kind have at least the second share.
 */
#define WAIT_LEAST	0.02
#define WAITS_LEAST	0.1
/* Waits for other threads that are fewer, or take a smaller share of the life, are not shown. */
#define WOKEN_WAITS	3
#define WOKEN_LEAST	0.05
#define WAKERS_SHOWN	4

struct state {
	const char *words;
	double share;
};

static const char *const wait_words[MODEL_BLOCKED_REASONS] = {
	[MODEL_BLOCKED_LOCK] = "waiting for a lock or condition",
	[MODEL_BLOCKED_IO] = "waiting for I/O",
	[MODEL_BLOCKED_FAULT] = "waiting for a page",
	[MODEL_BLOCKED_SLEEP] = "asleep at its own request",
	[MODEL_BLOCKED_THROTTLED] = "stopped at its CPU quota",
	[MODEL_BLOCKED_OTHER] = "blocked for another reason",
	[MODEL_BLOCKED_GIL] = "waiting for the GIL of Python",
};

static int by_share(const void *a, const void *b)
{
	const struct state *x = a, *y = b;

	return NUMBER_COMPARE(y->share, x->share);
}

static void add_states(struct buf *out, const struct report_activity *a)
{
	struct state states[MODEL_BLOCKED_REASONS + 2] = {
		{ "on a CPU", (double)a->parts.oncpu_ns / (double)a->elapsed_ns },
		{ "waiting for a CPU", (double)a->parts.runq_ns / (double)a->elapsed_ns },
	};
	char percent[TEXTOUT_CELL];
	bool first = true;
	size_t i;

	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		states[i + 2] = (struct state){ wait_words[i], (double)a->parts.blocked_ns[i] /
								       (double)a->elapsed_ns };
	qsort(states, MODEL_BLOCKED_REASONS + 2, sizeof(states[0]), by_share);
	array_for_each (s, states, MODEL_BLOCKED_REASONS + 2) {
		if (s->share < SHARE_LEAST && !first)
			break;
		buf_printf(out, "%s%s %s", first ? "" : ", ", textout_percent(percent, s->share),
			   s->words);
		first = false;
	}
}

/* Return how many columns a line of a thread has; UINT_MAX: as many as needed. */
static unsigned columns_of(const struct textout *t)
{
	if (t->markdown)
		return UINT_MAX;
	return t->width > INDENT ? t->width - INDENT : 1;
}

/*
 * Return the call site in at most @columns, to be freed, or NULL when out of memory. A long name
 * loses its parameters, and then its end, so that the file and the line are kept.
 */
static char *where_text(const struct report_callsite *c, unsigned columns)
{
	char place[TEXTOUT_CELL * 2] = "", *function, *cut, *out = NULL;
	unsigned rest;

	if (!c->function) {
		if (asprintf(&out, "%s+0x%llx",
			     c->module ? text_base_name(c->module) : "unknown code",
			     (unsigned long long)c->offset) < 0)
			return NULL;
		return out;
	}
	if (c->file && c->line)
		snprintf(place, sizeof(place), " %.40s:%u", text_base_name(c->file), c->line);
	if (asprintf(&function, "%s%s", c->function, function_name_call(c->function)) < 0)
		return NULL;
	rest = textout_columns(place) + FUNCTION_LEAST <= columns ? columns - textout_columns(place)
								  : FUNCTION_LEAST;
	if (textout_columns(function) > rest && !function_name_shorten(function))
		memcpy(function, c->function, strlen(c->function) + 1);
	cut = textout_cut(function, rest);
	if (cut && asprintf(&out, "%s%s", cut, place) < 0)
		out = NULL;
	free(function);
	free(cut);
	return out;
}

/* Add the call site. The line then has at most @columns if that is possible. */
static void add_where(struct buf *line, const struct report_callsite *c, unsigned columns)
{
	unsigned used = line->s ? textout_columns(line->s) : 0;
	char *text = where_text(c, columns > used ? columns - used : 1);

	if (text)
		buf_str(line, text);
	else
		line->failed = true;
	free(text);
}

/*
 * Add as many functions as fit, most time first: a name that is cut is only the first one. Return
 * whether there is any.
 */
static bool add_functions(struct buf *line, const struct report_activity *a, unsigned columns)
{
	char share[TEXTOUT_CELL + 3], percent[TEXTOUT_CELL];
	unsigned used, own;
	uint32_t i;

	buf_str(line, "on a CPU in ");
	used = (unsigned)line->len;
	for (i = 0; i < a->nfunctions && i < FUNCTIONS_SHOWN; i++) {
		char *where;

		if (a->functions[i].share < SHARE_LEAST)
			break;
		snprintf(share, sizeof(share), " (%s)",
			 textout_percent(percent, a->functions[i].share));
		own = textout_columns(share) + (i ? 2 : 0);
		where = where_text(&a->functions[i].where, i ? UINT_MAX
							   : columns > used + own
								   ? columns - used - own
								   : 1);
		if (!where) {
			line->failed = true;
			return false;
		}
		own += textout_columns(where);
		if (i && (columns < used || own > columns - used)) {
			free(where);
			break;
		}
		buf_printf(line, "%s%s%s", i ? ", " : "", where, share);
		used += own;
		free(where);
	}
	return i > 0;
}

static void functions_line(struct textout *t, const struct report_activity *a)
{
	struct buf line = { 0 };

	if (a->samples < SAMPLES_LEAST)
		return;
	if (add_functions(&line, a, columns_of(t)) && line.s)
		textout_line(t, TEXTOUT_PLAIN, "      %s", line.s);
	t->buf->failed |= line.failed;
	buf_free(&line);
}

static void wait_line(struct textout *t, const struct report_activity *a)
{
	const struct report_callsite *where = NULL;
	char time[TEXTOUT_CELL];
	struct buf line = { 0 };
	uint64_t waits_ns;
	uint32_t i;

	if (!a->wait_ns || a->wait_reason >= MODEL_BLOCKED_REASONS)
		return;
	waits_ns = a->parts.blocked_ns[a->wait_reason];
	if ((double)a->wait_ns < WAIT_LEAST * (double)a->elapsed_ns &&
	    (waits_ns == REPORT_UNKNOWN || (double)waits_ns < WAITS_LEAST * (double)a->elapsed_ns))
		return;
	for (i = 0; i < a->nframes && !where; i++)
		if (!why_is_inner(&a->frames[i]) && (a->frames[i].function || a->frames[i].module))
			where = &a->frames[i];
	if (!where && a->nframes)
		where = &a->frames[0];
	buf_printf(&line, "%s for up to %s", wait_words[a->wait_reason],
		   textout_time(time, a->wait_ns));
	if (where) {
		buf_printf(&line, ", in ");
		add_where(&line, where, columns_of(t));
	}
	if (line.s)
		textout_line(t, TEXTOUT_PLAIN, "      %s", line.s);
	t->buf->failed |= line.failed;
	buf_free(&line);
}

static void add_wakers(struct buf *out, const struct report_woken *w)
{
	uint32_t i;

	for (i = 0; i < w->nby && i < WAKERS_SHOWN; i++)
		buf_printf(out, "%s%u (%llu%s)", i ? ", " : "", w->by[i].tid,
			   (unsigned long long)w->by[i].waits, i ? "" : " times");
	if (i < w->nby)
		buf_printf(out, " and %u more", w->nby - i);
}

/*
 * Print for which threads this thread waited longest, and where, in at most @most lines. What such
 * waits may mean is printed only once: *explained.
 */
static void woken_line(struct textout *t, const struct report_activity *a, unsigned most,
		       bool *explained)
{
	const struct report_woken *w = a->woken;
	char time[TEXTOUT_CELL];
	struct buf line = { 0 };

	if (!a->nwoken || w->waits < WOKEN_WAITS ||
	    (double)w->wait_ns < WOKEN_LEAST * (double)a->elapsed_ns)
		return;
	buf_printf(&line, "waited %llu times, %s in all, ", (unsigned long long)w->waits,
		   textout_time(time, w->wait_ns));
	if (w->where.function || w->where.module) {
		buf_printf(&line, "in ");
		add_where(&line, &w->where, columns_of(t));
		buf_printf(&line, ", ");
	}
	buf_printf(&line, "until another thread woke it: ");
	add_wakers(&line, w);
	if (a->partners > 1 && !*explained) {
		buf_printf(&line,
			   "; %u of these threads wait for it in turn. If this is a thread pool or "
			   "a barrier, its rounds are not traced: the markers of sbt/sbt.h show "
			   "them",
			   a->partners);
		*explained = true;
	}
	if (line.s)
		textout_wrap_most(t, TEXTOUT_PLAIN, "      ", 6, most, "%s", line.s);
	t->buf->failed |= line.failed;
	buf_free(&line);
}

static void thread_lines(struct textout *t, const struct report_activity *a, bool brief,
			 bool *explained)
{
	char time[TEXTOUT_CELL];
	struct buf line = { 0 };

	buf_printf(&line, "%s (thread %u), %s: ", *a->comm ? a->comm : "?", a->tid,
		   textout_time(time, a->elapsed_ns));
	if (a->parts.oncpu_ns == REPORT_UNKNOWN || !a->elapsed_ns)
		buf_printf(&line, "it is not known how its time was spent");
	else
		add_states(&line, a);
	if (line.s)
		textout_wrap_most(t, TEXTOUT_PLAIN, "  ", 6, brief ? BRIEF_STATES : UINT_MAX, "%s",
				  line.s);
	t->buf->failed |= line.failed;
	buf_free(&line);
	functions_line(t, a);
	wait_line(t, a);
	woken_line(t, a, brief ? BRIEF_WAKERS : UINT_MAX, explained);
}

void activity_print(struct textout *t, const struct report *r, uint32_t most)
{
	uint64_t longest_ns = 0, more = r->activities_more;
	uint32_t shown = 0;
	bool explained = false;
	char n[TEXTOUT_CELL];

	if (!r->nactivities)
		return;
	array_for_each (a, r->activities, r->nactivities)
		longest_ns = a->elapsed_ns > longest_ns ? a->elapsed_ns : longest_ns;
	textout_blank(t);
	textout_line(t, TEXTOUT_BOLD, "WHAT THE THREADS DID, most time on a CPU first");
	array_for_each (a, r->activities, r->nactivities) {
		if (shown < most && (double)a->elapsed_ns >= LIFE_LEAST * (double)longest_ns) {
			thread_lines(t, a, most != UINT32_MAX, &explained);
			shown++;
		} else {
			more++;
		}
	}
	if (more)
		textout_line(t, TEXTOUT_DIM, "  and %s (%s)", textout_plural(n, more, "thread"),
			     most == UINT32_MAX ? "--json shows up to 64" : "--detail: more");
}
