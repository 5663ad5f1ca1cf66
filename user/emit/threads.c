// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/function_name.h"
#include "base/text.h"
#include "emit/fields.h"
#include "emit/textout.h"

#define NAMED  12 /* largest number of threads listed per place */
#define FRAMES 24 /* largest number of frames shown per stack */
#define PLACE  320

/*
 * Return whether two threads are at the same place. Compare functions and lines, not addresses,
 * which vary within a loop.
 */
static bool same_place(const struct emit_thread *a, const struct emit_thread *b)
{
	uint32_t i;

	if (a->nframes != b->nframes || a->state != b->state ||
	    !text_same(a->blocked_on, b->blocked_on))
		return false;
	for (i = 0; i < a->nframes; i++) {
		const struct hang_frame *x = &a->frames[i], *y = &b->frames[i];

		if (x->line != y->line || !text_same(x->function, y->function) ||
		    !text_same(x->file, y->file) || !text_same(x->module, y->module))
			return false;
		if (!x->function && x->address != y->address)
			return false;
	}
	return true;
}

static void frame_line(struct textout *t, const struct hang_frame *f)
{
	char place[PLACE], function[PLACE];

	if (f->function)
		snprintf(function, sizeof(function), "%s%s", f->function,
			 function_name_call(f->function));
	else
		snprintf(function, sizeof(function), "0x%" PRIx64, f->address);
	if (f->file && f->line)
		snprintf(place, sizeof(place), " %s:%u", text_base_name(f->file), f->line);
	else if (f->module)
		snprintf(place, sizeof(place), " (%s)", text_base_name(f->module));
	else
		*place = '\0';
	textout_line(t, f->module && hang_is_runtime(f->module) ? TEXTOUT_DIM : TEXTOUT_PLAIN,
		     "        at %s%s%s%s", function, place,
		     f->inlined && *f->inlined ? ", inlined into " : "",
		     f->inlined ? f->inlined : "");
}

static void print_place(struct textout *t, const struct emit_thread *threads, uint32_t n,
			uint32_t first, bool *reported)
{
	const struct emit_thread *one = &threads[first];
	const char *state = fields_text(fields_hang_states, one->state);
	struct buf ids = { 0 };
	uint32_t i, count = 0;
	char left[TEXTOUT_CELL];

	for (i = first; i < n; i++) {
		if (reported[i] || !same_place(one, &threads[i]))
			continue;
		reported[i] = true;
		if (count++ < NAMED)
			buf_printf(&ids, "%s%u%s%s%s", count > 1 ? ", " : "", threads[i].tid,
				   threads[i].comm ? " \"" : "",
				   threads[i].comm ? threads[i].comm : "",
				   threads[i].comm ? "\"" : "");
	}
	if (count > NAMED)
		buf_printf(&ids, " and %u more", count - NAMED);
	textout_wrap(t, TEXTOUT_BOLD, "    ", 8, "%s %s: %s%s%s%s",
		     count == 1 ? "thread" : "threads", ids.s ? ids.s : "?",
		     state ? state : "in an unknown state",
		     one->blocked_on && *one->blocked_on ? " on " : "",
		     one->blocked_on ? one->blocked_on : "",
		     one->sampled ? ", stack is one sample" : "");
	t->buf->failed |= ids.failed;
	buf_free(&ids);
	for (i = 0; i < one->nframes && i < FRAMES; i++)
		frame_line(t, &one->frames[i]);
	if (one->nframes > FRAMES)
		textout_line(t, TEXTOUT_DIM, "        and %s%s further out",
			     one->truncated ? "more than " : "",
			     textout_plural(left, one->nframes - FRAMES, "frame"));
	else if (one->nframes && one->truncated)
		textout_line(t, TEXTOUT_DIM, "        and the callers of that function");
}

void threads_print(struct textout *t, uint32_t pid, const char *comm,
		   const struct emit_thread *threads, uint32_t n)
{
	bool *reported = calloc(n + 1u, sizeof(*reported));
	char count[TEXTOUT_CELL];
	uint32_t i;

	if (!reported) {
		t->buf->failed = true;
		return;
	}
	textout_line(t, TEXTOUT_PLAIN, "%s (pid %u): %s", comm ? comm : "?", pid,
		     textout_plural(count, n, "thread"));
	for (i = 0; i < n; i++)
		if (!reported[i])
			print_place(t, threads, n, i, reported);
	textout_blank(t);
	free(reported);
}
