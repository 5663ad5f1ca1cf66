/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The short form of the report for people: the answer, at most three findings with their gain and
 * their advice, one table of barriers, and what is missing. On a terminal with at least 80 columns,
 * it never has more than FIRST_SCREEN_LINES lines. summary.h prints the whole report.
 */
#ifndef EMIT_FIRST_SCREEN_H
#define EMIT_FIRST_SCREEN_H

#include "emit/fields.h"
#include "emit/textout.h"

#define FIRST_SCREEN_LINES 25

/*
 * @warnings is the number of barrier times that were too long but were not printed when they
 * occurred, and @warned_ns is the longest of them.
 */
void first_screen_print(struct textout *t, const struct report *report,
			const struct fields_context *context, uint64_t warnings,
			uint64_t warned_ns);

#endif /* EMIT_FIRST_SCREEN_H */
