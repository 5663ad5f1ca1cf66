// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/hang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/function_name.h"
#include "base/text.h"
#include "emit/fields.h"

#define NAMED  12 /* largest number of threads listed for a call site or stack */
#define STACKS 8 /* largest number of different stacks shown */
#define FRAMES 16 /* largest number of frames shown per stack */
#define PLACE  208

/* Add "3 (tid 77)", or the tid alone if the thread has no index. @n threads were added before. */
static void add_thread(struct buf *b, uint32_t n, uint32_t tid, uint32_t index)
{
	if (n >= NAMED)
		return;
	buf_str(b, n ? ", " : "");
	if (index != HANG_NONE)
		buf_printf(b, "%u (tid %u)", index, tid);
	else
		buf_uint(b, tid);
}

static void place_of(char out[PLACE], const char *function, const char *file, uint32_t line,
		     const char *module)
{
	if (file && line)
		snprintf(out, PLACE, "%s%s %s:%u", function ? function : "?",
			 function ? function_name_call(function) : "", text_base_name(file), line);
	else if (function && module)
		snprintf(out, PLACE, "%s%s (%s)", function, function_name_call(function),
			 text_base_name(module));
	else
		snprintf(out, PLACE, "%s",
			 module ? text_base_name(module) : "an unknown call site");
}

/* --- arrived threads -------------------------------------------------------------------------- */

static bool same_site(const struct report_hang_arrived *a, const struct report_hang_arrived *b)
{
	return a->line == b->line && text_same(a->function, b->function) &&
	       text_same(a->file, b->file) && text_same(a->module, b->module);
}

static void arrived_at(struct textout *t, const struct report_hang *h, uint32_t first)
{
	const struct report_hang_arrived *a = &h->arrived[first];
	char place[PLACE], since[TEXTOUT_CELL];
	struct buf threads = { 0 };
	uint32_t i, n = 0;

	for (i = 0; i < first; i++)
		if (same_site(&h->arrived[i], a))
			return;
	for (; i < h->narrived; i++) {
		if (!same_site(&h->arrived[i], a))
			continue;
		add_thread(&threads, n++, h->arrived[i].tid, h->arrived[i].index);
	}
	if (n > NAMED)
		buf_printf(&threads, " and %u more", n - NAMED);
	place_of(place, a->function, a->file, a->line, a->module);
	textout_wrap(t, TEXTOUT_PLAIN, "    arrived: ", 13, "%s %s at %s, %s%s",
		     n == 1 ? "thread" : "threads", threads.s ? threads.s : "?", place,
		     a->waited_ns == MODEL_UNKNOWN ? "since before tracing began"
		     : n == 1			   ? "waits for "
						   : "the first for ",
		     a->waited_ns == MODEL_UNKNOWN ? "" : textout_time(since, a->waited_ns));
	t->buf->failed |= threads.failed;
	buf_free(&threads);
}

/* --- missing threads -------------------------------------------------------------------------- */

static bool same_stack(const struct report_hang_missing *a, const struct report_hang_missing *b)
{
	uint32_t i;

	if (a->nframes != b->nframes || a->state != b->state || a->why != b->why ||
	    a->pid != b->pid || !text_same(a->blocked_on, b->blocked_on))
		return false;
	for (i = 0; i < a->nframes; i++)
		if (a->frames[i].line != b->frames[i].line ||
		    !text_same(a->frames[i].function, b->frames[i].function) ||
		    !text_same(a->frames[i].file, b->frames[i].file))
			return false;
	return true;
}

static bool is_inner(const struct hang_frame *f)
{
	return f->module && hang_is_runtime(f->module);
}

static bool is_of_cxx(const char *function)
{
	return function && function_name_of_cxx_library(function);
}

/* Print a frame. Frames in the C library and other runtimes are dim: the fault is rarely there. */
static void frame_line(struct textout *t, const struct hang_frame *f)
{
	char place[PLACE];

	const char *outer = f->inlined && *f->inlined ? f->inlined : NULL;

	/* The library starts a thread's function in functions of its own, and may inline it. */
	if (outer && !is_of_cxx(f->function) && is_of_cxx(outer))
		outer = NULL;
	place_of(place, f->function, f->file, f->line, f->module);
	textout_line(t, is_inner(f) ? TEXTOUT_DIM : TEXTOUT_PLAIN, "        at %s%s%s", place,
		     outer ? ", inlined into " : "", outer ? outer : "");
}

/*
 * Print the frames of the program's code, and the runtime function that the innermost of them
 * called. Leave out the runtime's other frames at both ends, unless all frames are in runtimes.
 */
static void stack_lines(struct textout *t, const struct report_hang_missing *m)
{
	uint32_t first = 0, end = m->nframes, i;
	char n[TEXTOUT_CELL];

	while (first < end && is_inner(&m->frames[first]))
		first++;
	while (first < end && is_inner(&m->frames[end - 1]))
		end--;
	while (first + 1 < end && is_of_cxx(m->frames[end - 1].function))
		end--;
	/* Of the library's frames, show only the function that was called. */
	if (first == end)
		first = 0;
	else if (first)
		first--;
	for (i = first; i < end && i - first < FRAMES; i++)
		frame_line(t, &m->frames[i]);
	if (i < end)
		textout_line(t, TEXTOUT_DIM, "        and %s further out",
			     textout_plural(n, end - i, "frame"));
}

static uint32_t count_same_stacks(const struct report_hang *h, uint32_t first, struct buf *threads)
{
	const struct report_hang_missing *m = &h->missing[first];
	uint32_t i, n = 0;

	for (i = first; i < h->nmissing; i++) {
		if (!same_stack(&h->missing[i], m))
			continue;
		add_thread(threads, n++, h->missing[i].tid, h->missing[i].index);
	}
	if (n > NAMED)
		buf_printf(threads, " and %u more", n - NAMED);
	return n;
}

static bool is_shown(const struct report_hang *h, uint32_t i)
{
	uint32_t j;

	for (j = 0; j < i; j++)
		if (same_stack(&h->missing[j], &h->missing[i]))
			return true;
	return false;
}

static void missing_line(struct textout *t, const struct report_hang *h, uint32_t first)
{
	const struct report_hang_missing *m = &h->missing[first];
	const char *state = fields_text(fields_hang_states, m->state);
	const char *why = fields_text(fields_hang_known, m->why);
	struct buf threads = { 0 };
	uint32_t n = count_same_stacks(h, first, &threads);

	textout_wrap(t, TEXTOUT_BOLD, "    missing: ", 13, "%s %s%s%s%s: %s%s%s%s%s%s",
		     n == 1 ? "thread" : "threads", threads.s ? threads.s : "?",
		     m->comm ? " \"" : "", m->comm ? m->comm : "", m->comm ? "\"" : "",
		     state ? state : "in an unknown state",
		     m->blocked_on && m->state == HANG_BLOCKED
			     ? hang_is_call(m->blocked_on) ? " in " : " on "
		     : m->blocked_on ? ", in "
				     : "",
		     m->blocked_on ? m->blocked_on : "", m->wchan ? " (kernel: " : "",
		     m->wchan ? m->wchan : "", m->wchan ? ")" : "");
	t->buf->failed |= threads.failed;
	buf_free(&threads);
	if (why)
		textout_line(t, TEXTOUT_DIM, "        expected because %s%s", why,
			     m->sampled ? "; it was running: the stack is one sample" : "");
	stack_lines(t, m);
}

static void missing_all(struct textout *t, const struct report_hang *h)
{
	uint32_t i, shown = 0, left = 0;
	char n[TEXTOUT_CELL];

	for (i = 0; i < h->nmissing; i++) {
		if (is_shown(h, i))
			continue;
		if (shown++ < STACKS)
			missing_line(t, h, i);
		else
			left += 1;
	}
	if (left)
		textout_line(t, TEXTOUT_DIM, "    and %s more (--json lists all)",
			     textout_plural(n, left, "stack"));
}

/* --- the whole hang --------------------------------------------------------------------------- */

static void head_line(struct textout *t, const struct report_hang *h, const char *what)
{
	char waited[TEXTOUT_CELL], arrived[64], place[PLACE];

	if (h->file && h->line && h->name)
		snprintf(place, sizeof(place), "%s:%u \"%s\"", text_base_name(h->file), h->line,
			 h->name);
	else if (h->file && h->line)
		snprintf(place, sizeof(place), "%s:%u (%s)", text_base_name(h->file), h->line,
			 h->function ? h->function : "?");
	else
		snprintf(place, sizeof(place), "%s", *h->label ? h->label : h->id);
	/* Ranks that wait for each other's messages are not at a barrier. */
	if (h->nmissing && h->missing[0].why == HANG_BY_CALL)
		snprintf(arrived, sizeof(arrived), "%u ranks wait for each other's messages",
			 h->ncycle);
	else if (h->count)
		snprintf(arrived, sizeof(arrived), "%u of %u arrived", h->narrived, h->count);
	else
		snprintf(arrived, sizeof(arrived), "%u arrived", h->narrived);
	textout_line(t, TEXTOUT_RED, "SBT HANG%s: %s  %s (pid %u): %s%s%s", what, place,
		     h->comm ? h->comm : "?", h->pid, arrived,
		     h->waited_ns == MODEL_UNKNOWN ? "" : ", waiting for ",
		     h->waited_ns == MODEL_UNKNOWN ? "" : textout_time(waited, h->waited_ns));
}

void hang_print(struct textout *t, const struct report_hang *h)
{
	uint32_t i;

	if (h->over) {
		head_line(t, h, " is over");
		textout_wrap(t, TEXTOUT_PLAIN, "    ", 4, "it was reported as: %s", h->text);
		textout_blank(t);
		return;
	}
	head_line(t, h, "");
	textout_wrap(t, TEXTOUT_BOLD, "    ", 4, "%s", h->text);
	for (i = 0; i < h->narrived; i++)
		arrived_at(t, h, i);
	missing_all(t, h);
	textout_blank(t);
}
