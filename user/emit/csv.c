// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define CSV_NAME 64

struct csv {
	unsigned ncolumns;
	char (*columns)[CSV_NAME];
	struct buf *cells; /* one a column, of the row being made */
	bool failed;
};

static int csv_find(const struct csv *csv, const char *name)
{
	unsigned i;

	for (i = 0; i < csv->ncolumns; i++)
		if (!strcmp(csv->columns[i], name))
			return (int)i;
	return -1;
}

static void csv_column(struct csv *csv, const char *name)
{
	char(*columns)[CSV_NAME];

	if (csv_find(csv, name) >= 0)
		return;
	columns = realloc(csv->columns, (csv->ncolumns + 1) * sizeof(*columns));
	if (!columns) {
		csv->failed = true;
		return;
	}
	csv->columns = columns;
	snprintf(columns[csv->ncolumns++], CSV_NAME, "%s", name);
}

static bool csv_rows(const struct emit_field *f)
{
	return f->type == EMIT_ARRAY || f->type == EMIT_EMBEDDED || f->type == EMIT_MAP;
}

static bool csv_nested(const struct emit_field *f)
{
	return f->type == EMIT_OBJECT || f->type == EMIT_TIMES;
}

static void csv_name(char *out, const char *prefix, const char *name)
{
	snprintf(out, CSV_NAME, "%s%s%s", prefix, *prefix ? "." : "", name);
}

static void csv_columns(struct csv *csv, const struct emit_record *record, const char *prefix)
{
	const struct emit_field *f;
	char name[CSV_NAME];

	for (f = record->fields; f->help; f++) {
		if (!f->name || csv_rows(f) || f->type == EMIT_HIST)
			continue;
		csv_name(name, prefix, f->name);
		if (csv_nested(f))
			csv_columns(csv, fields_sub(f), name);
		else
			csv_column(csv, name);
	}
}

struct csv *csv_new(void)
{
	const struct emit_record *const *r;
	const struct emit_field *f;
	struct csv *csv = calloc(1, sizeof(*csv));

	if (!csv)
		return NULL;
	csv_column(csv, "type");
	for (r = fields_records; *r; r++)
		csv_columns(csv, *r, "");
	for (r = fields_records; *r; r++)
		for (f = (*r)->fields; f->help; f++)
			if (f->name && csv_rows(f))
				csv_columns(csv, f->sub, "");
	if (!csv->failed && csv->ncolumns)
		csv->cells = calloc(csv->ncolumns, sizeof(*csv->cells));
	if (csv->failed || !csv->cells) {
		csv_free(csv);
		return NULL;
	}
	return csv;
}

void csv_free(struct csv *csv)
{
	unsigned i;

	if (!csv)
		return;
	for (i = 0; csv->cells && i < csv->ncolumns; i++)
		buf_free(&csv->cells[i]);
	free(csv->cells);
	free(csv->columns);
	free(csv);
}

static void csv_eol(struct buf *buf)
{
	buf_str(buf, "\r\n");
}

void csv_header(const struct csv *csv, struct buf *buf)
{
	unsigned i;

	for (i = 0; i < csv->ncolumns; i++)
		buf_printf(buf, "%s%s", i ? "," : "", csv->columns[i]);
	csv_eol(buf);
}

static void csv_string(struct buf *buf, const char *s)
{
	char *safe = text_printable(s), *c;

	if (!safe) {
		buf->failed = true;
		return;
	}
	buf_char(buf, '"');
	/* Spreadsheets take these for the beginning of a formula, and run it. */
	if (*safe && strchr("=+-@\t\r", *s))
		buf_char(buf, '\'');
	for (c = safe; *c; c++) {
		if (*c == '"')
			buf_char(buf, '"');
		buf_char(buf, *c);
	}
	buf_char(buf, '"');
	free(safe);
}

static void csv_set(struct buf *buf, const struct emit_names *names, uint64_t bits)
{
	const char *space = "";

	buf_char(buf, '"');
	for (; names->name; names++) {
		if (!(bits & names->value))
			continue;
		buf_printf(buf, "%s%s", space, names->name);
		space = " ";
	}
	buf_char(buf, '"');
}

static void csv_scalar(struct buf *buf, const struct emit_field *f, const struct fields_value *v)
{
	buf_clear(buf);
	switch (v->kind) {
	case FIELDS_UINT:
		buf_printf(buf, "%" PRIu64, v->u);
		break;
	case FIELDS_INT:
		buf_printf(buf, "%" PRId64, v->i);
		break;
	case FIELDS_REAL:
		buf_real(buf, v->d, f->type == EMIT_RATIO ? 6 : 15);
		break;
	case FIELDS_TRUTH:
		buf_str(buf, v->u ? "true" : "false");
		break;
	case FIELDS_TEXT:
		csv_string(buf, v->s);
		break;
	case FIELDS_BITS:
		csv_set(buf, f->names, v->u);
		break;
	default:
		break;
	}
}

/* Fills the cells of the row; @keys: only those that nested rows repeat. */
static void csv_fill(struct csv *csv, const struct emit_record *record, const void *rec,
		     const struct fields_context *context, const char *prefix, bool keys)
{
	const struct emit_field *f;
	struct fields_value v;
	char name[CSV_NAME];
	int column;

	for (f = record->fields; f->help; f++) {
		if (!f->name || csv_rows(f) || f->type == EMIT_HIST ||
		    (keys && !(f->flags & FIELDS_KEY)))
			continue;
		v = fields_get(f, rec, context);
		csv_name(name, prefix, f->name);
		if (v.kind == FIELDS_OBJECT) {
			csv_fill(csv, fields_sub(f), v.base, context, name, false);
			continue;
		}
		column = csv_find(csv, name);
		if (column >= 0)
			csv_scalar(&csv->cells[column], f, &v);
	}
}

static void csv_begin(struct csv *csv, const char *type, const char *sub)
{
	unsigned i;

	for (i = 0; i < csv->ncolumns; i++)
		buf_clear(&csv->cells[i]);
	buf_printf(&csv->cells[0], "%s%s%s", type, sub ? "." : "", sub ? sub : "");
}

static void csv_end(struct csv *csv, struct buf *buf)
{
	unsigned i;

	for (i = 0; i < csv->ncolumns; i++) {
		if (i)
			buf_char(buf, ',');
		if (csv->cells[i].failed)
			buf->failed = true;
		else if (csv->cells[i].len)
			buf_add(buf, csv->cells[i].s, csv->cells[i].len);
	}
	csv_eol(buf);
}

void csv_record(struct csv *csv, struct buf *buf, const struct emit_record *record, const void *rec,
		const struct fields_context *context)
{
	const struct emit_field *f;
	struct fields_value v;
	const char *at;
	uint32_t i;

	csv_begin(csv, record->type, NULL);
	csv_fill(csv, record, rec, context, "", false);
	csv_end(csv, buf);
	for (f = record->fields; f->help; f++) {
		if (!f->name || !csv_rows(f))
			continue;
		v = fields_get(f, rec, context);
		at = v.base;
		for (i = 0; i < v.n; i++, at += f->sub->size) {
			csv_begin(csv, record->type, f->sub->type);
			csv_fill(csv, record, rec, context, "", true);
			csv_fill(csv, f->sub, at, context, "", false);
			csv_end(csv, buf);
		}
	}
}
