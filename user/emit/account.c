// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emit/table.h"

#define NAME	 22 /* columns for a counter's name */
/* largest number of counters in a table */
#define COUNTERS MODEL_COUNTERS_MAX

/* The counters of a table. All its threads have the same counters in the same order. */
struct counted {
	uint32_t n;
	char *names[COUNTERS];
	/*
	 * indices of the two counters for instructions per cycle (IPC); equal to .n: there are none
	 */
	uint32_t cycles, instructions;
	/* some value in the table is scaled, unknown, or only a lower limit */
	bool scaled, unknown, least;
	bool inside; /* the table has a row for counts inside barriers */
};

/* --- names ------------------------------------------------------------------------------------ */

char *account_name(const struct report_counter *counter)
{
	return textout_fit(counter->name && *counter->name ? counter->name : "?", NAME);
}

/*
 * Return the modifiers after the counter's name (such as ":u"), or NULL if the name is not in
 * @names.
 */
static const char *modifiers_of(const char *name, const char *const names[])
{
	size_t len;

	for (; name && *names; names++) {
		len = strlen(*names);
		if (!strncmp(name, *names, len) && (!name[len] || name[len] == ':'))
			return name + len;
	}
	return NULL;
}

/*
 * Find cycles and instructions with the same modifiers. The quotient of any other pair means
 * nothing.
 */
static void counted_ipc(struct counted *c, const struct report_counter *counters)
{
	static const char *const cycles[] = { "cycles", "cpu-cycles", "PAPI_TOT_CYC", NULL };
	static const char *const instructions[] = { "instructions", "PAPI_TOT_INS", NULL };
	const char *a, *b;
	uint32_t i, j;

	c->cycles = c->instructions = c->n;
	for (i = 0; i < c->n; i++) {
		a = modifiers_of(counters[i].name, cycles);
		for (j = 0; a && j < c->n; j++) {
			b = modifiers_of(counters[j].name, instructions);
			if (!b || strcmp(a, b) != 0)
				continue;
			c->cycles = i;
			c->instructions = j;
			return;
		}
	}
}

/* Return the number of counters of the thread at @row, and set *counters to these counters. */
static uint32_t account_values(const struct emit_record *record, const void *row,
			       const struct report_counter **counters,
			       const struct fields_context *context)
{
	struct fields_value v = fields_get(fields_find(record, "counters"), row, context);

	*counters = v.base;
	return v.n;
}

static void counted_begin(struct counted *c, struct textout *t, const struct account *account,
			  const struct fields_context *context)
{
	const struct report_counter *counters = account->counters;
	uint32_t i;

	memset(c, 0, sizeof(*c));
	c->n = account->ncounters;
	if (!c->n && account->n)
		c->n = account_values(account->record, account->rows, &counters, context);
	if (c->n > COUNTERS)
		c->n = COUNTERS;
	for (i = 0; i < c->n; i++) {
		c->names[i] = account_name(&counters[i]);
		if (!c->names[i])
			t->buf->failed = true;
	}
	counted_ipc(c, counters);
}

static void counted_end(struct counted *c)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		free(c->names[i]);
}

/* --- cells ------------------------------------------------------------------------------------ */

static void counted_columns(const struct counted *c, struct table *table)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		table_column(table, c->names[i] ? c->names[i] : "?", EMIT_NUMBER);
	if (c->cycles < c->n)
		table_column(table, "IPC", EMIT_NUMBER);
}

static uint64_t counted_value(const struct report_counter *counter, bool inside)
{
	return inside ? counter->inside : counter->value;
}

static void counted_cell(struct counted *c, struct table *table,
			 const struct report_counter *counter, bool inside)
{
	uint64_t value = counter ? counted_value(counter, inside) : REPORT_UNKNOWN;
	uint64_t least = !counter ? 0 : inside ? counter->inside_least : counter->least;
	char s[TEXTOUT_CELL + 2], *at = s;

	if (value == REPORT_UNKNOWN && !least) {
		c->unknown = true;
		table_text(table, "?");
		return;
	}
	c->least |= least > 0;
	c->scaled |= counter->scaled;
	if (least)
		*at++ = '>';
	if (counter->scaled)
		*at++ = '~';
	textout_count(at, least ? least : value);
	table_text(table, s);
}

/* Add the counters of one thread, or of all threads, to the table's row. */
static void counted_row(struct counted *c, struct table *table, uint32_t n,
			const struct report_counter *counters, bool inside)
{
	uint64_t cycles = REPORT_UNKNOWN, instructions = REPORT_UNKNOWN;
	char s[TEXTOUT_CELL];
	uint32_t i;

	for (i = 0; i < c->n; i++)
		counted_cell(c, table, i < n ? &counters[i] : NULL, inside);
	if (c->cycles >= c->n)
		return;
	if (c->cycles < n && c->instructions < n) {
		cycles = counted_value(&counters[c->cycles], inside);
		instructions = counted_value(&counters[c->instructions], inside);
	}
	if (cycles == REPORT_UNKNOWN || instructions == REPORT_UNKNOWN) {
		table_text(table, "?");
	} else if (!cycles) {
		table_text(table, "-");
	} else {
		snprintf(s, sizeof(s), "%s%.2f",
			 counters[c->cycles].scaled || counters[c->instructions].scaled ? "~" : "",
			 (double)instructions / (double)cycles);
		table_text(table, s);
	}
}

static void counted_notes(const struct counted *c, struct textout *t, unsigned indent)
{
	char lead[16];

	snprintf(lead, sizeof(lead), "%*s", (int)(indent < 15 ? indent : 15), "");
	if (c->inside)
		textout_wrap(t, TEXTOUT_DIM, lead, indent,
			     "inside: counted inside barriers, all threads; not part of the rows "
			     "above.");
	if (c->scaled)
		textout_wrap(t, TEXTOUT_DIM, lead, indent,
			     "~ estimated: more counters than the CPU has were requested, so each "
			     "was counted only part of the time and scaled up.");
	if (c->least)
		textout_wrap(t, TEXTOUT_DIM, lead, indent,
			     "> lower limit: the counter was not available all the time.");
	if (c->unknown)
		textout_wrap(t, TEXTOUT_DIM, lead, indent,
			     "? unknown: the counter was not available all the time.");
}

/* --- tables ----------------------------------------------------------------------------------- */

bool account_known(const struct account *account, const struct fields_context *context)
{
	const struct emit_field *f;
	const char *at = account->rows;
	struct fields_value v;
	uint32_t i;

	for (i = 0; i < account->n; i++, at += account->record->size)
		for (f = account->record->fields; f->help; f++) {
			if (!(f->views & FIELDS_PARTS) || !(f->flags & FIELDS_DROP))
				continue;
			v = fields_get(f, at, context);
			if (v.kind == FIELDS_UINT && v.u)
				return true;
		}
	return false;
}

/* Return whether any of the counters counted anything inside barriers. */
static bool counted_inside(const struct account *account)
{
	array_for_each (c, account->counters, account->ncounters)
		if (c->inside && c->inside != REPORT_UNKNOWN)
			return true;
	return false;
}

static void account_totals(struct table *table, struct counted *c, const struct account *a,
			   const struct fields_context *context)
{
	if (a->ends && !c->n)
		return;
	/* Sums of the few threads shown would be mistaken for sums of all threads. */
	if (a->ends)
		table_label(table, a->record, "all", context);
	else
		table_total(table, a->record, a->rows, a->n, "total", context);
	counted_row(c, table, a->ncounters, a->counters, false);
	if (!c->n || !counted_inside(a))
		return;
	c->inside = true;
	table_label(table, a->record, "inside", context);
	counted_row(c, table, a->ncounters, a->counters, true);
}

/* Fill the table: the columns of the context's view, then the counters of @c. */
static void account_table(struct table *table, const struct account *a, struct counted *c,
			  const struct fields_context *context)
{
	struct fields_context keys = *context;
	const char *at = a->rows;
	const struct report_counter *counters;
	uint32_t i, n;

	keys.view = FIELDS_COUNTERS;
	table_fields(table, a->record, &keys);
	n = table->ncolumns;
	*table = (struct table){ .nkeys = n };
	table_fields(table, a->record, context);
	counted_columns(c, table);
	for (i = 0; i < a->n; i++, at += a->record->size) {
		if (a->ends && i >= a->ends && i < a->n - a->ends)
			continue;
		table_row(table, a->record, at, context);
		n = account_values(a->record, at, &counters, context);
		counted_row(c, table, n, counters, false);
	}
	if (a->n > 1 || (!a->n && c->n))
		account_totals(table, c, a, context);
}

void account_parts(struct textout *t, const struct account *account, unsigned indent,
		   const struct fields_context *context)
{
	struct fields_context parts = *context;
	struct counted none = { 0 };
	struct table table = { 0 };

	if (!account_known(account, context))
		return;
	parts.view = FIELDS_PARTS;
	account_table(&table, account, &none, &parts);
	table_print(&table, t, indent);
}

void account_counters(struct textout *t, const struct account *account, unsigned indent,
		      const struct fields_context *context)
{
	struct fields_context keys = *context;
	struct table table = { 0 };
	struct counted c;

	keys.view = FIELDS_COUNTERS;
	counted_begin(&c, t, account, context);
	if (c.n) {
		account_table(&table, account, &c, &keys);
		table_print(&table, t, indent);
		counted_notes(&c, t, indent);
	}
	counted_end(&c);
}

void account_both(struct textout *t, const struct account *account, unsigned indent,
		  const struct fields_context *context)
{
	struct fields_context both = *context;
	struct table table = { 0 };
	struct counted c;
	bool fits;

	both.view = FIELDS_PARTS;
	counted_begin(&c, t, account, context);
	fits = c.n && account_known(account, context);
	if (fits) {
		account_table(&table, account, &c, &both);
		fits = table_fits(&table, t, indent);
	}
	if (fits) {
		table_print(&table, t, indent);
		counted_notes(&c, t, indent);
	} else {
		table_drop(&table);
		account_parts(t, account, indent, context);
		account_counters(t, account, indent, context);
	}
	counted_end(&c);
}
