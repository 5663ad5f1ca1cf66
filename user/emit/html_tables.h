/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The pages of what has no timeline: many recordings, two sides of them, a prediction. Each carries the records of
 * --json and the sentences of the text, and is drawn by a script of its own. As html_begin() they need the charting
 * library: see html_available().
 */
#ifndef EMIT_HTML_TABLES_H
#define EMIT_HTML_TABLES_H

#include <stdio.h>

#include "compare/compare.h"
#include "predict/predict_report.h"
#include "compare/series.h"
#include "emit/emit.h"

/* All return 0, -ENOSYS (no charting library), or -ENOMEM or the error of a write. @title: untrusted. */
int html_series(FILE *file, const struct series *series, const char *title);
/* @inputs: A's, then B's. */
int html_compare(FILE *file, const struct compare *compare, const struct compare_input *inputs,
		 const char *title);
int html_predictions(FILE *file, const struct predictions *predictions, const char *title);

#endif /* EMIT_HTML_TABLES_H */
