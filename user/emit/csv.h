/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * CSV (RFC 4180): one header with every column of every type of record, "type" first; a record
 * fills the cells it has. What a record holds many of comes in rows of its own below it: type
 * "barrier.thread" repeats id and pid of the barrier. Strings are quoted, made printable as in text
 * output, and kept from being taken for formulas.
 */
#ifndef EMIT_CSV_H
#define EMIT_CSV_H

#include "emit/buf.h"
#include "emit/fields.h"

struct csv; /* the columns */

/* @only: the records that there are, NULL after the last; NULL: all that a trace prints. */
struct csv *csv_new(const struct emit_record *const *only);
void csv_free(struct csv *csv);
void csv_header(const struct csv *csv, struct buf *buf);
void csv_record(struct csv *csv, struct buf *buf, const struct emit_record *record, const void *rec,
		const struct fields_context *context);

#endif /* EMIT_CSV_H */
