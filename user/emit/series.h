/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Print the output of series for people: the fastest point, all points, a table of rows and columns
 * for two-way labels, and the share of each call site.
 */
#ifndef EMIT_SERIES_H
#define EMIT_SERIES_H

#include "compare/series.h"
#include "emit/fields.h"
#include "emit/textout.h"

void series_print(struct textout *t, const struct series *s, const struct fields_context *context);
/* Print the sentences without the tables. */
void series_sentences(struct textout *t, const struct series *s);
/* Return the record of a point, for JSON and CSV. */
struct fields_series fields_series_of(const struct series *s, uint32_t point);

#endif /* EMIT_SERIES_H */
