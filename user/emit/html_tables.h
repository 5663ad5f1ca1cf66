/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Pages without a timeline: for series, diff and predict. Each page has the records of --json and
 * the sentences of text output, and a script of its own that draws them. Like html_begin(), these
 * functions need the charting library: see html_available().
 */
#ifndef EMIT_HTML_TABLES_H
#define EMIT_HTML_TABLES_H

#include <stdio.h>

#include "compare/compare.h"
#include "predict/predict_report.h"
#include "compare/series.h"
#include "emit/emit.h"

/*
 * The functions return 0, -ENOSYS (no charting library), -ENOMEM, or the error of a write. @title
 * is untrusted.
 */
int html_series(FILE *file, const struct series *series, const char *title);
/* @inputs has A's recordings, then B's. */
int html_compare(FILE *file, const struct compare *compare, const struct compare_input *inputs,
		 const char *title);
int html_predictions(FILE *file, const struct predictions *predictions, const char *title);

#endif /* EMIT_HTML_TABLES_H */
