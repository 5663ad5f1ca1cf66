/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* diff for people: the answer, what it rests on, then what changed, site by site. */
#ifndef EMIT_COMPARE_H
#define EMIT_COMPARE_H

#include "emit/fields.h"
#include "emit/textout.h"

void compare_print(struct textout *t, const struct fields_comparison *rec,
		   const struct fields_context *context);

/* The sentences alone, without the tables. */
void compare_says(struct textout *t, const struct fields_comparison *rec);

/* A value in three digits and the unit it is in; "?" if NAN. */
const char *compare_value(char out[TEXTOUT_CELL], double v, enum compare_unit unit);
/* "+43 %" for 1.43; "?" if NAN. */
const char *compare_percent(char out[TEXTOUT_CELL], double ratio);

#endif /* EMIT_COMPARE_H */
