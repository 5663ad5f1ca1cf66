/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Lines for people. All text output goes through textout_line() or textout_wrap(), which make it
 * printable, keep it within the width, and colour it. Callers need not do that.
 */
#ifndef EMIT_TEXTOUT_H
#define EMIT_TEXTOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emit/buf.h"

enum textout_style { TEXTOUT_PLAIN, TEXTOUT_BOLD, TEXTOUT_RED, TEXTOUT_DIM };

struct textout {
	struct buf *buf;
	unsigned width;
	bool colour;
	bool ascii;
	/* Markdown: no colour, no line breaks, and active characters are escaped */
	bool markdown;
};

/* Print one line. If it is too long, its middle is elided. */
void textout_line(struct textout *t, enum textout_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Print a paragraph, with @first before its first line and @indent blanks before the other lines.
 */
void textout_wrap(struct textout *t, enum textout_style style, const char *first, unsigned indent,
		  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/*
 * Like textout_wrap(), but print at most @most lines. If the text needs more, the last line ends in
 * an ellipsis. In Markdown there is no limit.
 */
void textout_wrap_most(struct textout *t, enum textout_style style, const char *first,
		       unsigned indent, unsigned most, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/*
 * Print @s as one line. It must be printable, and at most @columns wide. Trailing blanks are
 * removed from @s.
 */
void textout_string(struct textout *t, enum textout_style style, struct buf *s, unsigned columns);
void textout_blank(struct textout *t);

/* Return the width of a printable string on a terminal. */
unsigned textout_columns(const char *s);
/*
 * Return a printable copy of @s in at most @columns columns (to be freed), or NULL when out of
 * memory.
 */
char *textout_fit(const char *s, unsigned columns);
/*
 * Like textout_fit(), but a longer text loses its end, not its middle: each of several names in one
 * line can then be recognised.
 */
char *textout_cut(const char *s, unsigned columns);
/* Add the printable @s, elided to at most @columns columns. Return its width. */
unsigned textout_elide(struct buf *buf, const char *s, unsigned columns);
/* Add @s, made printable and escaped so that Markdown shows it unchanged, even in a table. */
void textout_markdown(struct buf *buf, const char *s);
/* Add @s in ASCII only. */
void textout_ascii(struct buf *buf, const char *s);

#define TEXTOUT_CELL 48 /* enough for the results of all functions below */

/* Format @v, not negative, as "%.*f unit" with 0 to 3 decimals. */
void textout_decimal(char out[TEXTOUT_CELL], double v, int decimals, const char *unit);
/* Format a length of time with three digits in its best unit; "?" if unknown (UINT64_MAX). */
const char *textout_time(char out[TEXTOUT_CELL], uint64_t ns);
/* Format a time since the start in seconds with six decimals; "?" if unknown (UINT64_MAX). */
const char *textout_clock(char out[TEXTOUT_CELL], uint64_t ns);
/* Format a time of CLOCK_REALTIME as local time of day. */
const char *textout_day(char out[TEXTOUT_CELL], int64_t realtime_ns);
/* Format a ratio as "34 %"; "?" if NAN. */
const char *textout_percent(char out[TEXTOUT_CELL], double ratio);
/* Format a ratio as "0.66"; "?" if NAN. */
const char *textout_fraction(char out[TEXTOUT_CELL], double ratio);
/* Format a number without separators, as 1234567. */
const char *textout_number(char out[TEXTOUT_CELL], uint64_t u);
/* Format a number as 1,234,567. */
const char *textout_count(char out[TEXTOUT_CELL], uint64_t count);
/* Format "pid 12", or "9,744 processes that have exited" for a sum of processes. */
const char *textout_pid(char out[TEXTOUT_CELL], uint32_t pid, uint32_t processes);
/* Format "3 threads" or "1 thread". */
const char *textout_plural(char out[TEXTOUT_CELL], uint64_t count, const char *noun);

#endif /* EMIT_TEXTOUT_H */
