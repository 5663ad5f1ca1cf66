/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* A prediction for people: the answer, a table, the speedup curve, phases, and assumptions. */
#ifndef EMIT_PREDICTION_H
#define EMIT_PREDICTION_H

#include "predict/predict_report.h"
#include "emit/fields.h"
#include "emit/textout.h"

void prediction_print(struct textout *t, const struct predictions *p,
		      const struct fields_context *context);
/*
 * Print a machine as a file of parameters with comments, which predict_machine_parse() reads back.
 */
void prediction_print_machine(struct buf *buf, const struct predict_machine *m,
			      const char *comment);

/* Print the answer without tables and assumptions. */
void prediction_sentences(struct textout *t, const struct predictions *p);

#endif /* EMIT_PREDICTION_H */
