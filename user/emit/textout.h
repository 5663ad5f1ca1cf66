/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Lines for people. Every line of text output goes through textout_line() or textout_wrap(), which
 * make it printable, keep it within the width and colour it: nothing else has to.
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
	bool markdown; /* neither coloured nor broken; what would act in Markdown is escaped */
};

/* One line; what does not fit is left out of its middle. */
void textout_line(struct textout *t, enum textout_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A paragraph: @first before its first line, @indent blanks before the others. */
void textout_wrap(struct textout *t, enum textout_style style, const char *first, unsigned indent,
		  const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* A line that is there already and printable, which may be changed. @columns: what it takes, or more. */
void textout_string(struct textout *t, enum textout_style style, struct buf *s, unsigned columns);
void textout_blank(struct textout *t);

/* Columns that a printable string takes on a terminal. */
unsigned textout_columns(const char *s);
/* A printable copy of @s in at most @columns columns (to be freed), NULL when out of memory. */
char *textout_fit(const char *s, unsigned columns);
/* Adds of the printable @s what fits in @columns columns. Returns how many it takes. */
unsigned textout_elide(struct buf *buf, const char *s, unsigned columns);
/* Adds @s, made printable, so that Markdown shows it as it is, in a table too. */
void textout_markdown(struct buf *buf, const char *s);
/* Adds @s in nothing but ASCII. */
void textout_ascii(struct buf *buf, const char *s);

#define TEXTOUT_CELL 48 /* enough for any of these */

/* As "%.*f unit": not negative, with 0 to 3 decimals. */
void textout_decimal(char out[TEXTOUT_CELL], double v, int decimals, const char *unit);
/* A length of time with three digits in its best unit; "?" if unknown (UINT64_MAX). */
const char *textout_time(char out[TEXTOUT_CELL], uint64_t ns);
/* From the start: seconds and microseconds. */
const char *textout_clock(char out[TEXTOUT_CELL], uint64_t ns);
/* Time of day of a CLOCK_REALTIME in ns. */
const char *textout_day(char out[TEXTOUT_CELL], int64_t realtime_ns);
/* "34 %"; "?" if NAN. */
const char *textout_percent(char out[TEXTOUT_CELL], double ratio);
/* "0.66"; "?" if NAN. */
const char *textout_fraction(char out[TEXTOUT_CELL], double ratio);
/* 1234567 */
const char *textout_number(char out[TEXTOUT_CELL], uint64_t u);
/* 1,234,567 */
const char *textout_count(char out[TEXTOUT_CELL], uint64_t count);
/* "pid 12"; of a sum of processes "9,744 processes that have exited". */
const char *textout_pid(char out[TEXTOUT_CELL], uint32_t pid, uint32_t processes);
/* "3 threads", "1 thread" */
const char *textout_plural(char out[TEXTOUT_CELL], uint64_t count, const char *noun);

#endif /* EMIT_TEXTOUT_H */
