// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/text.h"
#include "emit/json.h"

#define CSV_NAME 96

struct csv {
	unsigned ncolumns, cap;
	char (*columns)[CSV_NAME];
	struct buf *cells; /* cells of the current row, one per column */
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
	if (csv_find(csv, name) >= 0)
		return;
	if (grow(csv->columns, csv->cap, csv->ncolumns + 1))
		csv->failed = true;
	else
		snprintf(csv->columns[csv->ncolumns++], CSV_NAME, "%s", name);
}

/* Return whether a field has a column for each of its keys. */
static bool csv_keyed(const struct emit_field *f)
{
	return f->type == EMIT_MAP && f->keys;
}

/* Return whether a field has rows of its own. */
static bool csv_rows(const struct emit_field *f)
{
	return f->type == EMIT_ARRAY || f->type == EMIT_EMBEDDED || f->type == EMIT_MAP;
}

/* Return whether a field has no column in its record's row. */
static bool csv_elsewhere(const struct emit_field *f)
{
	return !f->name || f->type == EMIT_HIST || (csv_rows(f) && !csv_keyed(f));
}

static bool csv_nested(const struct emit_field *f)
{
	return f->type == EMIT_OBJECT || f->type == EMIT_TIMES;
}

static void csv_name(char *out, const char *prefix, const char *name)
{
	/*
	 * All names are in the list of fields, and short. A truncated name would not be found among
	 * the columns.
	 */
	if (snprintf(out, CSV_NAME, "%s%s%s", prefix, *prefix ? "." : "", name) >= CSV_NAME)
		*out = '\0';
}

static void csv_key_columns(struct csv *csv, const struct emit_field *map, const char *prefix)
{
	char name[CSV_NAME];
	unsigned k;

	for (k = 0; map->keys(k); k++) {
		csv_name(name, prefix, map->keys(k));
		csv_column(csv, name);
	}
}

static void csv_columns(struct csv *csv, const struct emit_record *record, const char *prefix)
{
	const struct emit_field *f;
	char name[CSV_NAME];

	for (f = record->fields; f->help; f++) {
		if (csv_elsewhere(f))
			continue;
		csv_name(name, prefix, f->name);
		if (csv_keyed(f))
			csv_key_columns(csv, f, name);
		else if (csv_nested(f))
			csv_columns(csv, fields_sub(f), name);
		else
			csv_column(csv, name);
	}
}

/* Add the columns of all rows nested below a record. */
static void csv_row_columns(struct csv *csv, const struct emit_record *record)
{
	const struct emit_field *f;

	for (f = record->fields; f->help; f++) {
		if (!f->name || (!csv_rows(f) && f->type != EMIT_OBJECT))
			continue;
		if (csv_rows(f) && !csv_keyed(f))
			csv_columns(csv, f->sub, "");
		csv_row_columns(csv, f->sub);
	}
}

/*
 * Return whether a trace can contain the record. Other commands print the other records; doctor has
 * no CSV.
 */
static bool csv_traced(const struct emit_record *record)
{
	const struct emit_record *const *const others[] = { fields_of_diff, fields_of_series,
							    fields_of_predict };
	const struct emit_record *const *r;
	unsigned i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		for (r = others[i]; *r; r++)
			if (*r == record)
				return false;
	return record != &fields_rec_doctor;
}

struct csv *csv_new(const struct emit_record *const *only)
{
	const struct emit_record *const *all = only ? only : fields_records, *const * r;
	struct csv *csv = calloc(1, sizeof(*csv));

	if (!csv)
		return NULL;
	csv_column(csv, "type");
	for (r = all; *r; r++)
		if (only || csv_traced(*r))
			csv_columns(csv, *r, "");
	for (r = all; *r; r++)
		if (only || csv_traced(*r))
			csv_row_columns(csv, *r);
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
	/* Spreadsheets take these characters for the beginning of a formula, and evaluate it. */
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

/* Set the cell of the column called @name, if there is one. */
static void csv_cell(struct csv *csv, const char *name, const struct emit_field *f,
		     const struct fields_value *v)
{
	int column = csv_find(csv, name);
	struct buf *cell = &csv->cells[column < 0 ? 0 : column];

	if (column < 0)
		return;
	buf_clear(cell);
	if (v->kind == FIELDS_TEXT)
		csv_string(cell, v->s);
	else if (v->kind == FIELDS_BITS)
		csv_set(cell, f->names, v->u);
	else
		jsonl_scalar(cell, f, v);
}

static void csv_fill_keys(struct csv *csv, const struct emit_field *map,
			  const struct fields_value *list, const struct fields_context *context,
			  const char *prefix)
{
	const struct emit_field *value = fields_map_value(map);
	const char *at = list->base, *key;
	struct fields_value v;
	char name[CSV_NAME];
	uint32_t i;

	for (i = 0; i < list->n; i++, at += map->sub->size) {
		key = fields_key(map, at, context);
		if (!key)
			continue;
		csv_name(name, prefix, key);
		v = fields_get(value, at, context);
		csv_cell(csv, name, value, &v);
	}
}

/* Fill the cells of the row; with @keys, only the cells that nested rows repeat. */
static void csv_fill(struct csv *csv, const struct emit_record *record, const void *rec,
		     const struct fields_context *context, const char *prefix, bool keys)
{
	const struct emit_field *f;
	struct fields_value v;
	char name[CSV_NAME];

	for (f = record->fields; f->help; f++) {
		if (csv_elsewhere(f) || (keys && !(f->flags & FIELDS_KEY)))
			continue;
		v = fields_get(f, rec, context);
		csv_name(name, prefix, f->name);
		if (csv_keyed(f))
			csv_fill_keys(csv, f, &v, context, name);
		else if (v.kind == FIELDS_OBJECT)
			csv_fill(csv, fields_sub(f), v.base, context, name, false);
		else
			csv_cell(csv, name, f, &v);
	}
}

static void csv_begin(struct csv *csv, const char *type)
{
	array_for_each (cell, csv->cells, csv->ncolumns)
		buf_clear(cell);
	buf_str(&csv->cells[0], type);
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

/*
 * A record and the records that contain it. Rows nested below it repeat the keys of all these
 * records.
 */
struct csv_above {
	const struct csv_above *above; /* the record that contains this one; NULL: none */
	const struct emit_record *record;
	const void *rec;
	char type[CSV_NAME]; /* "barrier.thread" */
};

static void csv_fill_above(struct csv *csv, const struct csv_above *above,
			   const struct fields_context *context)
{
	if (!above)
		return;
	csv_fill_above(csv, above->above, context);
	csv_fill(csv, above->record, above->rec, context, "", true);
}

static void csv_below(struct csv *csv, struct buf *buf, const struct csv_above *above,
		      const struct emit_record *record, const void *rec,
		      const struct fields_context *context);

static void csv_list(struct csv *csv, struct buf *buf, const struct csv_above *above,
		     const struct emit_field *f, const struct fields_value *v,
		     const struct fields_context *context)
{
	struct csv_above own = { .above = above, .record = f->sub };
	const char *at = v->base;
	uint32_t i;

	csv_name(own.type, above->type, f->sub->type);
	for (i = 0; i < v->n; i++, at += f->sub->size) {
		own.rec = at;
		csv_begin(csv, own.type);
		csv_fill_above(csv, above, context);
		csv_fill(csv, f->sub, at, context, "", false);
		csv_end(csv, buf);
		csv_below(csv, buf, &own, f->sub, at, context);
	}
}

/* Print the rows of the lists in @rec, including lists in its objects. */
static void csv_below(struct csv *csv, struct buf *buf, const struct csv_above *above,
		      const struct emit_record *record, const void *rec,
		      const struct fields_context *context)
{
	const struct emit_field *f;
	struct fields_value v;

	for (f = record->fields; f->help; f++) {
		if (!f->name || csv_keyed(f) || f->flags & FIELDS_MORE ||
		    (!csv_rows(f) && f->type != EMIT_OBJECT))
			continue;
		v = fields_get(f, rec, context);
		if (v.kind == FIELDS_LIST)
			csv_list(csv, buf, above, f, &v, context);
		else if (v.kind == FIELDS_OBJECT)
			csv_below(csv, buf, above, f->sub, v.base, context);
	}
}

void csv_record(struct csv *csv, struct buf *buf, const struct emit_record *record, const void *rec,
		const struct fields_context *context)
{
	struct csv_above own = { .record = record, .rec = rec };

	csv_name(own.type, "", record->type);
	csv_begin(csv, own.type);
	csv_fill(csv, record, rec, context, "", false);
	csv_end(csv, buf);
	csv_below(csv, buf, &own, record, rec, context);
}
