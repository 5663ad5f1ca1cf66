/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* JSON Lines, one record per line. JSON is only written, never read. */
#ifndef EMIT_JSON_H
#define EMIT_JSON_H

#include "emit/buf.h"
#include "emit/fields.h"

/* Add the record at @rec as one line, with its newline. */
void jsonl_record(struct buf *buf, const struct emit_record *record, const void *rec,
		  const struct fields_context *context);
/* Add a number or a truth value, as in JSON and CSV. Return false for values of other kinds. */
bool jsonl_scalar(struct buf *buf, const struct emit_field *field, const struct fields_value *v);
/*
 * Add a string. Each byte that is not UTF-8 becomes U+FFFD: such bytes cannot be distinguished
 * afterwards, but every parser can read the line. Characters that could control a terminal or close
 * a script element are escaped, which loses nothing.
 */
void jsonl_string(struct buf *buf, const char *s);

#endif /* EMIT_JSON_H */
