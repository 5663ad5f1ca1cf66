/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * CSV (RFC 4180): one header with the columns of all record types, "type" first. A record fills the
 * cells of the fields that it has. Nested lists become rows of their own below the record: a row of
 * type "barrier.thread" repeats the id and pid of the barrier. Strings are quoted, made printable
 * as in text output, and escaped so that no spreadsheet takes them for formulas.
 */
#ifndef EMIT_CSV_H
#define EMIT_CSV_H

#include "emit/buf.h"
#include "emit/fields.h"

struct csv; /* the columns */

/*
 * Create the columns of the records in @only, which ends with NULL, or of all records of a trace if
 * @only is NULL. Return NULL when out of memory.
 */
struct csv *csv_new(const struct emit_record *const *only);
void csv_free(struct csv *csv);
void csv_header(const struct csv *csv, struct buf *buf);
void csv_record(struct csv *csv, struct buf *buf, const struct emit_record *record, const void *rec,
		const struct fields_context *context);

#endif /* EMIT_CSV_H */
