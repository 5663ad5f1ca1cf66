// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/why.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/cause.h"
#include "base/array.h"
#include "base/function_name.h"
#include "base/text.h"
#include "emit/table.h"

#define LEAD	"Why: "
#define PARTS	6 /* largest number of rows */
/* share of the positive parts below which a part is not shown */
#define LITTLE	0.005
#define INDENTS 16

static const char *blanks(char out[INDENTS], unsigned n)
{
	snprintf(out, INDENTS, "%*s", (int)(n < INDENTS ? n : INDENTS - 1), "");
	return out;
}

void why_sentence(struct textout *t, enum textout_style style, const struct report_cause *cause,
		  unsigned indent)
{
	char first[INDENTS + sizeof(LEAD)], lead[INDENTS];

	if (!cause->nparts || !*cause->text)
		return;
	snprintf(first, sizeof(first), "%s" LEAD, blanks(lead, indent));
	textout_wrap(t, style, first, indent + 2, "%s", cause->text);
}

/* --- parts ------------------------------------------------------------------------------------ */

static double positive(const struct report_cause *cause)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < cause->nparts; i++)
		if (cause->parts[i].ns > 0)
			sum += (double)cause->parts[i].ns;
	return sum;
}

static uint64_t magnitude(int64_t ns)
{
	return ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
}

static void part_row(struct table *table, const struct report_part *part, double sum)
{
	char s[TEXTOUT_CELL], time[TEXTOUT_CELL];

	table_text(table, part->name ? part->name : "?");
	snprintf(s, sizeof(s), "%s%.40s", part->ns < 0 ? "-" : "",
		 textout_time(time, magnitude(part->ns)));
	table_text(table, s);
	table_text(table, part->ns < 0 ? "" : textout_percent(s, (double)part->ns / sum));
	table_ns(table, part->ns < 0 ? 0 : (uint64_t)part->ns);
}

void why_parts(struct textout *t, const struct report_cause *cause, unsigned indent)
{
	double sum = positive(cause);
	struct table table = { 0 };
	uint32_t i, rows = 0, n = 0;
	char lead[INDENTS];
	bool below = false;

	/* If no part explains most of the lateness, the parts are not worth a table. */
	if (!cause->dominant || !(sum > 0))
		return;
	array_for_each (p, cause->parts, cause->nparts)
		n += (double)magnitude(p->ns) >= LITTLE * sum;
	if (n < 2)
		return;
	table_column(&table, "part of lateness", EMIT_ID);
	table_column(&table, "total", EMIT_NUMBER);
	table_column(&table, "share", EMIT_NUMBER);
	table_column(&table, "", EMIT_BAR);
	for (i = 0; i < cause->nparts && rows < PARTS; i++) {
		if ((double)magnitude(cause->parts[i].ns) < LITTLE * sum)
			continue;
		part_row(&table, &cause->parts[i], sum);
		below |= cause->parts[i].ns < 0;
		rows++;
	}
	table_print(&table, t, indent);
	if (below)
		textout_wrap(t, TEXTOUT_DIM, blanks(lead, indent), indent,
			     "Negative: the late threads had less of this than the threads that "
			     "they are compared with, which offsets other parts.");
}

/* --- stack ------------------------------------------------------------------------------------ */

bool why_is_inner(const struct report_callsite *frame)
{
	static const char *const libraries[] = {
		"libc.so", "libc-2", "libpthread", "ld-linux", "ld-musl", "libc.musl", NULL,
	};
	const char *module = text_base_name(frame->module);
	unsigned i;

	for (i = 0; module && libraries[i]; i++)
		if (!strncmp(module, libraries[i], strlen(libraries[i])))
			return true;
	return false;
}

static void frame_line(struct textout *t, const struct report_callsite *f, unsigned indent)
{
	const char *function = f->function ? f->function : "?";
	char *place = NULL;
	int n;

	if (f->file && f->line)
		n = asprintf(&place, "%s%s %s:%u", function, function_name_call(function),
			     text_base_name(f->file), f->line);
	else if (f->function && f->module)
		n = asprintf(&place, "%s%s (%s)", function, function_name_call(function),
			     text_base_name(f->module));
	else if (f->module)
		n = asprintf(&place, "%s+0x%llx", text_base_name(f->module),
			     (unsigned long long)f->offset);
	else
		n = asprintf(&place, "%s%s", f->function ? function : "an unknown function",
			     f->function ? function_name_call(function) : "");
	if (n < 0) {
		t->buf->failed = true;
		return;
	}
	textout_line(t, why_is_inner(f) ? TEXTOUT_DIM : TEXTOUT_PLAIN, "%*sat %s%s%s", (int)indent,
		     "", place, f->inlined ? ", inlined into " : "", f->inlined ? f->inlined : "");
	free(place);
}

void why_stack(struct textout *t, const struct report_cause *cause, unsigned indent, uint32_t most)
{
	uint32_t first = 0, end = cause->nframes, i;
	char n[TEXTOUT_CELL];

	if (!cause->nparts || !cause->frames || cause_is(cause, CAUSE_GIL))
		return;
	while (first < end && why_is_inner(&cause->frames[first]))
		first++;
	/*
	 * Print the frames from the call into the library to the thread's start, without the
	 * library's inner frames.
	 */
	if (first == end)
		first = 0;
	else if (first)
		first--;
	while (end > first + 2 && why_is_inner(&cause->frames[end - 1]))
		end--;
	for (i = first; i < end && i < first + most; i++)
		frame_line(t, &cause->frames[i], indent);
	if (i < end)
		textout_line(t, TEXTOUT_DIM, "%*sand %s further out", (int)indent, "",
			     textout_plural(n, end - i, "frame"));
}

const struct report_callsite *why_place(const struct report_cause *cause)
{
	if (cause_is(cause, CAUSE_GIL))
		return NULL;
	array_for_each (frame, cause->frames, cause->frames ? cause->nframes : 0)
		if (!why_is_inner(frame) && (frame->function || frame->module))
			return frame;
	return NULL;
}
