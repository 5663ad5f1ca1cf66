/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A page in one file: its head, JSON in a script element, the charting library with its licence,
 * and the script that draws. The page may load nothing, not even from its own folder.
 */
#ifndef EMIT_HTML_PAGE_H
#define EMIT_HTML_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emit/buf.h"
#include "emit/fields.h"

struct html_page {
	FILE *file;
	struct buf buf; /* JSON that is not written yet */
	int err; /* first error: of a write, or -ENOMEM */
};

/* Write the page up to the JSON. @page is zero except for its file. */
void html_page_begin(struct html_page *page);
/* Write the contents of the buffer. */
void html_page_flush(struct html_page *page);
/*
 * End the JSON, write @script of @size bytes, and release the buffer. Return 0 after everything was
 * handed to the system, or the first error.
 */
int html_page_end(struct html_page *page, const char *script, uint64_t size);

/* Add a record as in --json after *comma, and set *comma to ",". */
void html_page_record(struct html_page *page, const char **comma, const struct emit_record *record,
		      const void *rec, const struct fields_context *context);

#endif /* EMIT_HTML_PAGE_H */
