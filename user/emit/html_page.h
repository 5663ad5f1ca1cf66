/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A page as one file, whatever is drawn on it: its head, JSON in a script element, the charting library with its
 * licence, and the script that draws. It may load nothing, not even from where it lies.
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
	struct buf buf; /* JSON that html_page_flush() has not written yet */
	int err; /* the first, of writing or -ENOMEM */
};

/* All up to the JSON. @page is zeroed but for its file. */
void html_page_begin(struct html_page *page);
/* Writes what has been put into the buffer. */
void html_page_flush(struct html_page *page);
/*
 * The end of the JSON, and @script of @size bytes. Releases the buffer. Returns 0, or the first error: all is in the
 * file then, as far as its stream knows.
 */
int html_page_end(struct html_page *page, const char *script, uint64_t size);

/* A record as --json has it, after *comma, which is "," from then on. */
void html_page_record(struct html_page *page, const char **comma, const struct emit_record *record,
		      const void *rec, const struct fields_context *context);

#endif /* EMIT_HTML_PAGE_H */
