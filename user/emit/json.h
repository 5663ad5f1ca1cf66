/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* JSON Lines, one record a line. Only written, never read. */
#ifndef EMIT_JSON_H
#define EMIT_JSON_H

#include "emit/buf.h"
#include "emit/fields.h"

/* The record at @rec as one line, its newline included. */
void jsonl_record(struct buf *buf, const struct emit_record *record, const void *rec,
		  const struct fields_context *context);
/*
 * A string. Bytes that are not UTF-8 become U+FFFD, one each: they cannot be told apart afterwards,
 * but the line stays readable by every parser. Whatever could act on a terminal or close a script
 * element is escaped, which loses nothing.
 */
void jsonl_string(struct buf *buf, const char *s);

#endif /* EMIT_JSON_H */
