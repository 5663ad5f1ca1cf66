/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The output of diff for people: the answer, the data behind it, then the changes by call site. */
#ifndef EMIT_COMPARE_H
#define EMIT_COMPARE_H

#include "emit/fields.h"
#include "emit/textout.h"

void compare_print(struct textout *t, const struct fields_comparison *rec,
		   const struct fields_context *context);

/* Print the sentences without the tables. */
void compare_sentences(struct textout *t, const struct fields_comparison *rec);

/* Format a value with its unit; "?" if NAN. */
const char *compare_value(char out[TEXTOUT_CELL], double v, enum compare_unit unit);
/* Format a ratio as a change: "+43 %" for 1.43, "x 12" for 12; "?" if NAN. */
const char *compare_percent(char out[TEXTOUT_CELL], double ratio);

#endif /* EMIT_COMPARE_H */
