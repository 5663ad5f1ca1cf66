/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Tables for people. Columns are as wide as their widest cell, and names are shortened until the
 * table fits.
 */
#ifndef EMIT_TABLE_H
#define EMIT_TABLE_H

#include "emit/fields.h"
#include "emit/textout.h"

#define TABLE_COLUMNS 32

struct table_cell {
	/* offset of its text in table.text; SIZE_MAX: the text is made from ns before printing */
	size_t at;
	unsigned columns; /* width of its text */
	uint64_t ns; /* for EMIT_COMMON and EMIT_BAR; UINT64_MAX: unknown */
};

struct table {
	unsigned ncolumns;
	struct {
		const char *heading;
		enum emit_look look;
		unsigned width;
		uint64_t max; /* largest ns of its cells; 0: none is known */
		bool drop; /* leave the column out if it is negligible */
		bool omitted; /* the column is left out, because it is empty or negligible */
		/* the column is not in the part of the table that is being printed */
		bool hidden;
	} columns[TABLE_COLUMNS];
	/*
	 * A table that is too wide is printed in parts below each other. All parts have the first
	 * nkeys columns. 0: do not divide the table.
	 */
	unsigned nkeys;
	unsigned name_least; /* names keep so many columns; 0: the default of 8 */
	struct table_cell *cells;
	unsigned ncells, cap;
	struct buf text; /* texts of all cells, each with a NUL */
	struct buf line; /* the line being printed */
	bool measured;
	bool failed;
};

void table_column(struct table *table, const char *heading, enum emit_look look);
/* Write a heading of two lines as one line. */
void table_heading(const char *heading, char out[TEXTOUT_CELL]);
/* Add the next cell. Cells are added row by row. */
void table_text(struct table *table, const char *s);
void table_ns(struct table *table, uint64_t ns);
/*
 * Add columns for all fields of @record that have a heading (table_fields), or add a row with the
 * fields of @rec (table_row).
 */
void table_fields(struct table *table, const struct emit_record *record,
		  const struct fields_context *context);
void table_row(struct table *table, const struct emit_record *record, const void *rec,
	       const struct fields_context *context);
/*
 * Add a row with @name and the sums of the times in the @n structs at @rows; "?" if a time is
 * unknown.
 */
void table_total(struct table *table, const struct emit_record *record, const void *rows,
		 uint32_t n, const char *name, const struct fields_context *context);
/* Add a row with @name and no values. */
void table_label(struct table *table, const struct emit_record *record, const char *name,
		 const struct fields_context *context);
/* Return whether the table fits after shortening names, with @indent blanks before each line. */
bool table_fits(struct table *table, const struct textout *out, unsigned indent);
/* Empty the table without printing it. */
void table_drop(struct table *table);
/* Print the table with @indent blanks before each line, and empty it. */
void table_print(struct table *table, struct textout *out, unsigned indent);

/* Print a table of the @n structs at @rows. */
void table_records(struct textout *out, unsigned indent, const struct emit_record *record,
		   const void *rows, uint32_t n, const struct fields_context *context);

#endif /* EMIT_TABLE_H */
