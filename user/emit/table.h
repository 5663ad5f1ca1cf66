/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Tables for people: columns as wide as they must be, names shortened until the table fits. */
#ifndef EMIT_TABLE_H
#define EMIT_TABLE_H

#include "emit/fields.h"
#include "emit/textout.h"

#define TABLE_COLUMNS 32

struct table_cell {
	size_t at; /* its text in table.text; SIZE_MAX: not made yet, from ns */
	unsigned columns; /* that it takes */
	uint64_t ns; /* of EMIT_COMMON and EMIT_BAR; UINT64_MAX unknown */
};

struct table {
	unsigned ncolumns;
	struct {
		const char *heading;
		enum emit_look look;
		unsigned width;
		uint64_t max; /* of its cells' ns; 0: none is known */
		bool drop; /* not shown where it is nothing beside the others */
		bool gone; /* says nothing */
		bool hidden; /* stands in another part of a table that is cut up */
	} columns[TABLE_COLUMNS];
	/*
	 * A table that is too wide is cut up into parts below one another, each with these first
	 * columns; 0: it is not.
	 */
	unsigned nkeys;
	struct table_cell *cells;
	unsigned ncells, cap;
	struct buf text; /* of all cells, each with its NUL */
	struct buf line; /* that is being printed */
	bool measured;
	bool failed;
};

void table_column(struct table *table, const char *heading, enum emit_look look);
/* The next cell, row by row. */
void table_text(struct table *table, const char *s);
void table_ns(struct table *table, uint64_t ns);
/* The columns of all fields of @record that have a heading, and one row of them. */
void table_fields(struct table *table, const struct emit_record *record,
		  const struct fields_context *context);
void table_row(struct table *table, const struct emit_record *record, const void *rec,
	       const struct fields_context *context);
/* A row with the sums of the @n structs at @rows: of times, "?" where one is unknown. */
void table_total(struct table *table, const struct emit_record *record, const void *rows,
		 uint32_t n, const char *name, const struct fields_context *context);
/* A row with @name and no values. */
void table_label(struct table *table, const struct emit_record *record, const char *name,
		 const struct fields_context *context);
/* Whether its widest line fits, names shortened, with @indent blanks before it. */
bool table_fits(struct table *table, const struct textout *out, unsigned indent);
/* Empties it unprinted. */
void table_drop(struct table *table);
/* Prints it, @indent blanks before every line, and empties it. */
void table_print(struct table *table, struct textout *out, unsigned indent);

#endif /* EMIT_TABLE_H */
