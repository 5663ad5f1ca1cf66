// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/text.h"

#define GAP    2 /* blanks between columns */
#define LEAST  8 /* a name is not shortened to fewer columns, see table.name_least */
#define BAR    12 /* columns of a full bar */
/* table_cell.at of a time that has no text yet, because its unit is not known */
#define UNMADE SIZE_MAX
/* a column of times is negligible if all are below the table's greatest time / LITTLE */
#define LITTLE 1000

/* --- filling ---------------------------------------------------------------------------------- */

void table_column(struct table *table, const char *heading, enum emit_look look)
{
	if (table->ncolumns == TABLE_COLUMNS)
		return;
	table->columns[table->ncolumns].heading = heading;
	table->columns[table->ncolumns].look = look;
	table->ncolumns++;
	table->measured = false;
}

static struct table_cell *table_next(struct table *table)
{
	struct table_cell *cells;

	if (grow(table->cells, table->cap, table->ncells + 1)) {
		table->failed = true;
		return NULL;
	}
	table->measured = false;
	cells = &table->cells[table->ncells++];
	*cells = (struct table_cell){ .at = UNMADE, .ns = UINT64_MAX };
	return cells;
}

/* Return the text of a cell, which is printable. */
static const char *cell_text(const struct table *table, const struct table_cell *cell)
{
	return table->text.s + cell->at;
}

static void cell_set(struct table *table, struct table_cell *cell, const char *s)
{
	cell->at = table->text.len;
	buf_add(&table->text, s, strlen(s) + 1);
	cell->columns = textout_columns(s);
	table->failed |= table->text.failed;
}

static enum emit_look table_look(const struct table *table)
{
	return table->columns[table->ncells % table->ncolumns].look;
}

void table_text(struct table *table, const char *s)
{
	struct table_cell *cell = table_next(table);
	char *safe;

	if (!cell)
		return;
	if (text_is_printable(s)) {
		cell_set(table, cell, s);
		return;
	}
	safe = text_printable(s);
	if (safe)
		cell_set(table, cell, safe);
	else
		table->failed = true;
	free(safe);
}

void table_ns(struct table *table, uint64_t ns)
{
	enum emit_look look = table_look(table);
	char s[TEXTOUT_CELL];
	struct table_cell *cell;

	if (look != EMIT_COMMON && look != EMIT_BAR) {
		table_text(table, textout_time(s, ns));
		return;
	}
	cell = table_next(table);
	if (cell)
		cell->ns = ns;
}

static bool table_shows(const struct emit_field *f, const struct fields_context *context)
{
	if (!f->heading || (f->look == EMIT_DAY && !context->realtime_offset_ns))
		return false;
	if (f->look == EMIT_BAR && context->no_bars)
		return false;
	if (!((f->views ? f->views : FIELDS_MAIN) & (context->view ? context->view : FIELDS_MAIN)))
		return false;
	return context->many || !(f->flags & FIELDS_MANY);
}

void table_fields(struct table *table, const struct emit_record *record,
		  const struct fields_context *context)
{
	const struct emit_field *f;

	for (f = record->fields; f->help; f++) {
		if (!table_shows(f, context) || table->ncolumns == TABLE_COLUMNS)
			continue;
		table->columns[table->ncolumns].drop = f->flags & FIELDS_DROP;
		table_column(table, f->heading, f->look);
	}
}

static void table_time(struct table *table, const struct emit_field *f, uint64_t ns,
		       const struct fields_context *context)
{
	char s[TEXTOUT_CELL];

	if (f->look == EMIT_CLOCK)
		table_text(table, textout_clock(s, ns));
	else if (f->look == EMIT_DAY && ns != UINT64_MAX)
		table_text(table, textout_day(s, (int64_t)(ns + context->clock_start_ns +
							   (uint64_t)context->realtime_offset_ns)));
	else
		table_ns(table, ns);
}

static void table_real(struct table *table, const struct emit_field *f, double d)
{
	char s[TEXTOUT_CELL];

	if (f->look == EMIT_MEAN)
		table_ns(table, d < 0 ? 0 : (uint64_t)llround(d));
	else if (f->look == EMIT_FRACTION)
		table_text(table, textout_fraction(s, d));
	else
		table_text(table, textout_percent(s, d));
}

static void table_value(struct table *table, const struct emit_field *f, const void *rec,
			const struct fields_context *context)
{
	struct fields_value v = fields_get(f, rec, context);
	char s[TEXTOUT_CELL];

	if (f->type == EMIT_NS || f->type == EMIT_T_NS) {
		table_time(table, f, v.kind == FIELDS_UINT ? v.u : UINT64_MAX, context);
	} else if (f->type == EMIT_TIMES && v.kind == FIELDS_OBJECT) {
		table_real(table, f, ((const struct report_times *)v.base)->mean);
	} else if (v.kind == FIELDS_REAL) {
		table_real(table, f, v.d);
	} else if (v.kind == FIELDS_UINT) {
		table_text(table, textout_number(s, v.u));
	} else if (v.kind == FIELDS_TEXT) {
		table_text(table, v.s);
	} else {
		table_text(table, f->look == EMIT_NAME ? "-" : "?");
	}
}

void table_row(struct table *table, const struct emit_record *record, const void *rec,
	       const struct fields_context *context)
{
	const struct emit_field *f;
	char s[TEXTOUT_CELL];

	for (f = record->fields; f->help; f++) {
		if (!table_shows(f, context))
			continue;
		if (f->cell) {
			f->cell(rec, s, sizeof(s));
			table_text(table, s);
		} else {
			table_value(table, f, rec, context);
		}
	}
}

static uint64_t total_ns(const struct emit_field *f, const struct emit_record *record,
			 const void *rows, uint32_t n, const struct fields_context *context)
{
	const char *at = rows;
	struct fields_value v;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++, at += record->size) {
		v = fields_get(f, at, context);
		if (v.kind != FIELDS_UINT)
			return UINT64_MAX;
		sum += v.u;
	}
	return sum;
}

static void table_sums(struct table *table, const struct emit_record *record, const void *rows,
		       uint32_t n, const char *name, const struct fields_context *context)
{
	const struct emit_field *f;

	for (f = record->fields; f->help; f++) {
		if (!table_shows(f, context))
			continue;
		if (f->look == EMIT_NAME) {
			table_text(table, name);
			name = "";
		} else if (f->type == EMIT_NS && rows) {
			table_ns(table, total_ns(f, record, rows, n, context));
		} else {
			table_text(table, "");
		}
	}
}

void table_total(struct table *table, const struct emit_record *record, const void *rows,
		 uint32_t n, const char *name, const struct fields_context *context)
{
	table_sums(table, record, rows, n, name, context);
}

void table_label(struct table *table, const struct emit_record *record, const char *name,
		 const struct fields_context *context)
{
	table_sums(table, record, NULL, 0, name, context);
}

/* --- printing --------------------------------------------------------------------------------- */

static void table_greatest(struct table *table)
{
	unsigned i, c;

	array_for_each (column, table->columns, table->ncolumns)
		column->max = 0;
	for (i = c = 0; i < table->ncells; i++, c = c + 1 == table->ncolumns ? 0 : c + 1)
		if (table->cells[i].ns != UINT64_MAX && table->cells[i].ns > table->columns[c].max)
			table->columns[c].max = table->cells[i].ns;
}

/* Format a time in the column's unit: the largest in which the column's maximum is 1 or more. */
static void common_time(char out[TEXTOUT_CELL], uint64_t ns, uint64_t max)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 1, "ns" } };
	static const double least[] = { 1, 0.1, 0.01, 0.001 };
	double v, top;
	int decimals;
	unsigned u = 0;

	while (u < 3 && (double)max < units[u].ns)
		u++;
	v = (double)ns / units[u].ns;
	top = (double)max / units[u].ns;
	decimals = u == 3 || top >= 1000 ? 0 : top >= 100 ? 1 : top >= 10 ? 2 : 3;
	if (ns == UINT64_MAX)
		snprintf(out, TEXTOUT_CELL, "?");
	else if (ns && v < least[decimals] / 2)
		/* A time above 0 must not look like 0. */
		snprintf(out, TEXTOUT_CELL, "<%.*f %s", decimals, least[decimals], units[u].name);
	else
		textout_decimal(out, v, decimals, units[u].name);
}

static void bar(char out[TEXTOUT_CELL], uint64_t ns, uint64_t max)
{
	/* Block characters from U+258F, one eighth wide, to U+2589, seven eighths wide. */
	char part[] = "\xe2\x96\x90";
	unsigned eighths, i;

	*out = '\0';
	if (ns == UINT64_MAX || !max)
		return;
	eighths = (unsigned)lround((double)ns / (double)max * BAR * 8);
	if (ns && !eighths)
		eighths = 1;
	for (i = 0; i < eighths / 8; i++)
		out = stpcpy(out, "█");
	part[2] = (char)(part[2] - (char)(eighths % 8));
	if (eighths % 8)
		memcpy(out, part, sizeof(part));
}

static void table_make(struct table *table)
{
	struct table_cell *cell;
	char s[TEXTOUT_CELL];
	unsigned i, c;

	table_greatest(table);
	for (i = c = 0; i < table->ncells; i++, c = c + 1 == table->ncolumns ? 0 : c + 1) {
		cell = &table->cells[i];
		if (cell->at != UNMADE)
			continue;
		if (table->columns[c].look == EMIT_BAR)
			bar(s, cell->ns, table->columns[c].max);
		else
			common_time(s, cell->ns, table->columns[c].max);
		cell_set(table, cell, s);
	}
}

/* Copy one of the two lines of a heading. A heading of one line is on the lower line. */
static void heading_line(const char *heading, unsigned line, char out[TEXTOUT_CELL])
{
	const char *second = strchr(heading, '\n');
	size_t n;

	if (line)
		heading = second ? second + 1 : heading;
	n = line ? strlen(heading) : second ? (size_t)(second - heading) : 0;
	if (n >= TEXTOUT_CELL) {
		n = TEXTOUT_CELL - 1;
		/* Do not cut inside a character. */
		while (n && (heading[n] & 0xc0) == 0x80)
			n--;
	}
	memcpy(out, heading, n);
	out[n] = '\0';
}

static unsigned heading_columns(const char *heading)
{
	char line[TEXTOUT_CELL];
	unsigned i, w, widest = 0;

	for (i = strchr(heading, '\n') ? 0 : 1; i < 2; i++) {
		heading_line(heading, i, line);
		w = textout_columns(line);
		if (w > widest)
			widest = w;
	}
	return widest;
}

/*
 * Set the width of the column and whether to leave it out. @greatest is the longest time in the
 * table.
 */
static void column_measure(struct table *table, unsigned c, uint64_t greatest)
{
	uint64_t max = table->columns[c].max;
	unsigned width = heading_columns(table->columns[c].heading), i;
	bool name = table->columns[c].look == EMIT_NAME, empty = table->ncells != 0;
	const struct table_cell *cell;
	const char *s;

	for (i = c; i < table->ncells; i += table->ncolumns) {
		cell = &table->cells[i];
		s = cell_text(table, cell);
		if (cell->columns > width)
			width = cell->columns;
		if (*s && !(name && s[0] == '-' && !s[1]))
			empty = false;
	}
	table->columns[c].width = width;
	/* Drop the column if it is negligible compared with the greatest time. */
	table->columns[c].omitted =
		empty || (table->columns[c].drop && (!max || max < greatest / LITTLE));
}

static void table_measure(struct table *table)
{
	uint64_t greatest = 0;
	unsigned c;

	array_for_each (column, table->columns, table->ncolumns)
		if (column->max > greatest)
			greatest = column->max;
	for (c = 0; c < table->ncolumns; c++)
		column_measure(table, c, greatest);
	table->measured = true;
}

static unsigned table_width(const struct table *table)
{
	unsigned all = 0;

	array_for_each (column, table->columns, table->ncolumns)
		if (!column->omitted && !column->hidden)
			all += column->width + GAP;
	return all ? all - GAP : 0;
}

/*
 * Shorten the widest name, one column at a time, until the table fits or no name can be shortened.
 */
static void table_shrink(struct table *table, unsigned width)
{
	unsigned least = table->name_least ? table->name_least : LEAST;
	unsigned c, widest;

	while (table_width(table) > width) {
		widest = table->ncolumns;
		for (c = 0; c < table->ncolumns; c++)
			if (table->columns[c].look == EMIT_NAME && !table->columns[c].omitted &&
			    table->columns[c].width > least &&
			    (widest == table->ncolumns ||
			     table->columns[c].width > table->columns[widest].width))
				widest = c;
		if (widest == table->ncolumns)
			return;
		table->columns[widest].width--;
	}
}

/* Add a cell; @columns is the width of @s. */
static void table_put(struct table *table, unsigned c, const char *s, unsigned columns)
{
	enum emit_look look = table->columns[c].look;
	bool left = look == EMIT_NAME || look == EMIT_ID || look == EMIT_BAR;
	unsigned width = table->columns[c].width;
	struct buf *line = &table->line;

	/* Only a name can be wider than its column. */
	if (columns > width) {
		columns = textout_elide(line, s, width);
		buf_pad(line, GAP + width - columns);
		return;
	}
	buf_pad(line, left ? 0 : width - columns);
	buf_str(line, s);
	buf_pad(line, GAP + (left ? width - columns : 0));
}

static void table_line(struct table *table, struct textout *out, enum textout_style style,
		       unsigned indent, const struct table_cell *row, unsigned heading)
{
	char s[TEXTOUT_CELL];
	unsigned c;

	buf_clear(&table->line);
	buf_pad(&table->line, indent);
	for (c = 0; c < table->ncolumns; c++) {
		if (table->columns[c].omitted || table->columns[c].hidden)
			continue;
		if (row) {
			table_put(table, c, cell_text(table, &row[c]), row[c].columns);
		} else {
			heading_line(table->columns[c].heading, heading, s);
			table_put(table, c, s, textout_columns(s));
		}
	}
	textout_string(out, style, &table->line, indent + table_width(table));
}

static bool two_lines(const struct table *table)
{
	array_for_each (column, table->columns, table->ncolumns)
		if (!column->omitted && !column->hidden && strchr(column->heading, '\n'))
			return true;
	return false;
}

/* Print the columns that are not hidden. */
static void table_part(struct table *table, struct textout *out, unsigned indent)
{
	unsigned i;

	for (i = two_lines(table) ? 0 : 1; i < 2; i++)
		table_line(table, out, TEXTOUT_DIM, indent, NULL, i);
	for (i = 0; i < table->ncells; i += table->ncolumns)
		table_line(table, out, TEXTOUT_PLAIN, indent, &table->cells[i], 0);
}

/*
 * Print a table that is too wide, in parts: each part has the key columns and as many other columns
 * as fit.
 */
static void table_parts(struct table *table, struct textout *out, unsigned indent)
{
	unsigned c, next = table->nkeys;
	bool first;

	while (next < table->ncolumns) {
		for (c = table->nkeys; c < table->ncolumns; c++)
			table->columns[c].hidden = true;
		for (first = true; next < table->ncolumns; next++) {
			if (table->columns[next].omitted)
				continue;
			table->columns[next].hidden = false;
			if (!first && table_width(table) > out->width - indent) {
				table->columns[next].hidden = true;
				break;
			}
			first = false;
		}
		if (!first)
			table_part(table, out, indent);
	}
}

void table_heading(const char *heading, char out[TEXTOUT_CELL])
{
	size_t n = 0;

	for (; *heading && n < TEXTOUT_CELL - 1; heading++) {
		if (*heading == '-' && heading[1] == '\n')
			heading++;
		else
			out[n++] = *heading == '\n' ? ' ' : *heading;
	}
	out[n] = '\0';
}

/* Add a line of Markdown: the cells of a row, or the headings. */
static void markdown_line(const struct table *table, struct buf *buf, const struct table_cell *row)
{
	char heading[TEXTOUT_CELL];
	unsigned c;

	for (c = 0; c < table->ncolumns; c++) {
		if (table->columns[c].omitted)
			continue;
		table_heading(table->columns[c].heading, heading);
		buf_str(buf, "| ");
		textout_markdown(buf, row ? cell_text(table, &row[c]) : heading);
		buf_char(buf, ' ');
	}
	buf_str(buf, "|\n");
}

static void table_markdown(struct table *table, struct buf *buf)
{
	enum emit_look look;
	unsigned i;

	markdown_line(table, buf, NULL);
	array_for_each (column, table->columns, table->ncolumns) {
		look = column->look;
		if (!column->omitted)
			buf_str(buf, look == EMIT_NAME || look == EMIT_ID || look == EMIT_BAR
					     ? "| --- "
					     : "| ---: ");
	}
	buf_str(buf, "|\n");
	for (i = 0; i < table->ncells; i += table->ncolumns)
		markdown_line(table, buf, &table->cells[i]);
	buf_char(buf, '\n');
}

bool table_fits(struct table *table, const struct textout *out, unsigned indent)
{
	if (!table->measured && !table->failed && table->ncolumns)
		table_make(table);
	if (table->failed || !table->ncolumns)
		return true;
	if (!table->measured)
		table_measure(table);
	table_shrink(table, out->width - indent);
	return table_width(table) <= out->width - indent;
}

void table_drop(struct table *table)
{
	buf_free(&table->text);
	buf_free(&table->line);
	free(table->cells);
	*table = (struct table){ 0 };
}

void table_print(struct table *table, struct textout *out, unsigned indent)
{
	bool fits = table_fits(table, out, indent);

	if (!table->failed && table->ncolumns) {
		if (out->markdown)
			table_markdown(table, out->buf);
		else if (table->nkeys && !fits)
			table_parts(table, out, indent);
		else
			table_part(table, out, indent);
	}
	if (table->failed)
		out->buf->failed = true;
	table_drop(table);
}

void table_records(struct textout *out, unsigned indent, const struct emit_record *record,
		   const void *rows, uint32_t n, const struct fields_context *context)
{
	struct table table = { 0 };
	const char *at = rows;

	table_fields(&table, record, context);
	for (; n && table.ncolumns; n--, at += record->size)
		table_row(&table, record, at, context);
	table_print(&table, out, indent);
}
