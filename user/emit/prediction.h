/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* A prediction for people: the answer, a table, the curve of speedups, phases, and what it assumes. */
#ifndef EMIT_PREDICTION_H
#define EMIT_PREDICTION_H

#include "predict/predict_report.h"
#include "emit/fields.h"
#include "emit/textout.h"

void prediction_print(struct textout *t, const struct predictions *p,
		      const struct fields_context *context);
/* A machine as a file of parameters, with a comment at each; read back by predict_machine_parse(). */
void prediction_print_machine(struct buf *buf, const struct predict_machine *m,
			      const char *comment);

/* The answer alone, without tables and assumptions. */
void prediction_says(struct textout *t, const struct predictions *p);

#endif /* EMIT_PREDICTION_H */
