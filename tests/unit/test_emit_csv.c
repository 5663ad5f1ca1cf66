// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check CSV output with a strict reader of RFC 4180. */
#include <stdio.h>

#include "test_check.h"
#include "base/text.h"
#include "test_emit_data.h"

#define CELLS 512

struct rows {
	char *text; /* the CSV text, which is split in place */
	unsigned n, ncolumns;
	char *cells[200][CELLS];
};

/* Unquote one cell in place, and return the position after it. */
static char *cell(char *s, char **out)
{
	char *to = s;

	*out = s;
	if (*s != '"') {
		s += strcspn(s, ",\r\n\"");
		assert_true(*s == ',' || *s == '\r');
		return s;
	}
	for (s++;; s++) {
		assert_true(*s);
		if (*s == '"' && s[1] == '"')
			s++;
		else if (*s == '"')
			break;
		*to++ = *s;
	}
	s++;
	assert_true(*s == ',' || *s == '\r');
	if (to < s)
		memset(to, '\0', 1);
	return s;
}

static struct rows *parse(char *text)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	char *s = text, *next;
	unsigned c;
	char stop;

	rows->text = text;
	while (*s) {
		assert_true(rows->n < 200);
		for (c = 0;; c++) {
			assert_true(c < CELLS);
			next = cell(s, &rows->cells[rows->n][c]);
			stop = *next;
			*next = '\0';
			s = next + 1;
			if (stop == '\r')
				break;
		}
		assert_int_equal(*s++, '\n');
		if (!rows->n)
			rows->ncolumns = c + 1;
		assert_int_equal(c + 1, rows->ncolumns);
		rows->n++;
	}
	return rows;
}

static void rows_free(struct rows *rows)
{
	free(rows->text);
	free(rows);
}

DEFINE_CLEANUP_PTR(rows_free, struct rows *)

static const char *get(const struct rows *rows, unsigned row, const char *column)
{
	for (unsigned c = 0; c < rows->ncolumns; c++)
		if (!strcmp(rows->cells[0][c], column))
			return rows->cells[row][c];
	fail_msg("no column %s", column);
	return NULL;
}

/* Return the row of the @nth record of @type. */
static unsigned row_of(const struct rows *rows, const char *type, unsigned nth)
{
	for (unsigned i = 1; i < rows->n; i++)
		if (!strcmp(rows->cells[i][0], type) && !nth--)
			return i;
	fail_msg("no row of type %s", type);
	return 0;
}

static const struct emit_options csv_options = { .format = EMIT_CSV };

static void test_rows(void **state)
{
	struct rows *rows CLEANUP_PTR(rows_free);
	unsigned i;
	size_t len;
	struct report r CLEANUP(data_free) = data_new();

	rows = parse(data_all(&csv_options, &r, &len));
	assert_string_equal(rows->cells[0][0], "type");
	for (unsigned c = 0; c < rows->ncolumns; c++)
		for (unsigned d = c + 1; d < rows->ncolumns; d++)
			assert_string_not_equal(rows->cells[0][c], rows->cells[0][d]);
	assert_string_equal(rows->cells[1][0], "session");
	assert_string_equal(get(rows, 1, "schema"), "1");
	i = row_of(rows, "session.counter_unavailable", 1);
	assert_string_equal(get(rows, i, "name"), "nosuch");
	assert_string_equal(get(rows, i, "reason"), "there is no such event");

	i = row_of(rows, "barrier", 0);
	assert_string_equal(get(rows, i, "id"), "#5c1e70d2");
	assert_string_equal(get(rows, i, "phase_ns.sum"), "4080000000");
	assert_string_equal(get(rows, i, "phase_ns.stddev"), "2210000.5");
	assert_string_equal(get(rows, i, "imbalance"), "0.329");
	assert_string_equal(get(rows, i, "episodes"), "1023");
	assert_string_equal(get(rows, i, "t_ns"), "");
	i = row_of(rows, "barrier.thread", 7);
	assert_string_equal(get(rows, i, "id"), "#5c1e70d2");
	assert_string_equal(get(rows, i, "pid"), "4711");
	assert_string_equal(get(rows, i, "tid"), "4718");
	assert_string_equal(get(rows, i, "last"), "542");
	i = row_of(rows, "barrier", 2);
	assert_string_equal(get(rows, i, "phase_ns.sum"), "");
	assert_string_equal(get(rows, i, "lost_ns"), "");
	i = row_of(rows, "episode.thread", 1);
	assert_string_equal(get(rows, i, "barrier"), "#5c1e70d2");
	assert_string_equal(get(rows, i, "seq"), "1070");
	assert_string_equal(get(rows, i, "tid"), "4714");
	i = row_of(rows, "process", 0);
	assert_string_equal(get(rows, i, "efficiency.transfer"), "0.981");
	i = row_of(rows, "end.lost", 0);
	assert_string_equal(get(rows, i, "cause"), "ring_full");
	assert_string_equal(get(rows, i, "count"), "0");
	assert_string_equal(get(rows, row_of(rows, "end", 0), "complete"), "true");
}

/* Return the number of rows of @type that belong to the barrier @id. */
static unsigned rows_of(const struct rows *rows, const char *type, const char *id)
{
	unsigned n = 0;

	for (unsigned i = 1; i < rows->n; i++)
		n += !strcmp(rows->cells[i][0], type) && !strcmp(get(rows, i, "id"), id);
	return n;
}

/*
 * Nested records become rows with the keys of all enclosing records. Values with fixed names have
 * columns of their own.
 */
static void test_accounts(void **state)
{
	struct rows *rows CLEANUP_PTR(rows_free);
	unsigned i;
	size_t len;
	struct report r CLEANUP(data_free) = data_new();

	r.barriers[0].threads[0].counters[2].value = REPORT_UNKNOWN;
	rows = parse(data_all(&csv_options, &r, &len));
	i = row_of(rows, "barrier", 0);
	assert_string_equal(get(rows, i, "cause.dominant"), "lock");
	assert_string_equal(get(rows, i, "cause.share"), "0.8125");
	assert_string_equal(get(rows, i, "cause.parts.no cpu"), "6000000");
	assert_string_equal(get(rows, i, "cause.parts.released late"), "-1500000");
	assert_string_equal(get(rows, i, "cause.parts.i/o"), "");
	i = row_of(rows, "barrier", 1);
	assert_string_equal(get(rows, i, "cause.dominant"), "");
	assert_string_equal(get(rows, i, "cause.lateness_ns"), "");
	i = row_of(rows, "barrier.frame", 2);
	assert_string_equal(get(rows, i, "id"), "#5c1e70d2");
	assert_string_equal(get(rows, i, "function"), "queue_pop");
	assert_string_equal(get(rows, i, "line"), "41");
	i = row_of(rows, "barrier.thread", 7);
	assert_string_equal(get(rows, i, "blocked_ns.lock"), "20400000");
	i = row_of(rows, "barrier.thread.counter", 2);
	assert_string_equal(get(rows, i, "id"), "#5c1e70d2");
	assert_string_equal(get(rows, i, "tid"), "4711");
	assert_string_equal(get(rows, i, "name"), "PAPI_L2_TCM");
	assert_string_equal(get(rows, i, "value"), "");
	assert_string_equal(get(rows, i, "inside"), "12");
	assert_string_equal(get(rows, i, "scaled"), "true");
	assert_int_equal(rows_of(rows, "barrier.thread.counter", "#5c1e70d2"),
			 DATA_THREADS * DATA_COUNTERS);
	assert_int_equal(rows_of(rows, "barrier.counter", "#5c1e70d2"), DATA_COUNTERS);
	assert_int_equal(rows_of(rows, "barrier.part", "#5c1e70d2"), 0);
	i = row_of(rows, "warning.frame", 0);
	assert_string_equal(get(rows, i, "phase"), "1071");
	i = row_of(rows, "episode.thread.counter", 0);
	assert_string_equal(get(rows, i, "seq"), "1070");
	assert_string_equal(get(rows, i, "value"), "5700000");
	i = row_of(rows, "finding", 1);
	assert_string_equal(get(rows, i, "pid"), "");
	assert_string_equal(get(rows, i, "figure"), "0.61");
}

static void test_hostile(void **state)
{
	struct rows *rows CLEANUP_PTR(rows_free);
	char path[4097];
	char *out, *safe;
	unsigned i;
	size_t len;
	struct report r CLEANUP(data_free) = data_new();

	data_hostile(&r, path);
	out = data_all(&csv_options, &r, &len);
	assert_int_equal(len, strlen(out));
	rows = parse(out);
	for (i = 0; i < rows->n; i++) {
		for (unsigned c = 0; c < rows->ncolumns; c++) {
			safe = text_printable(rows->cells[i][c]);
			assert_string_equal(rows->cells[i][c], safe);
			free(safe);
			assert_null(strchr("=+@", *rows->cells[i][c] ? *rows->cells[i][c] : 'x'));
		}
	}
	i = row_of(rows, "barrier", 0);
	assert_string_equal(get(rows, i, "function"), "'=1+1");
	assert_string_equal(get(rows, i, "name"), "'-1+1");
	i = row_of(rows, "barrier.callsite", 0);
	assert_string_equal(get(rows, i, "file"), "'=cmd|' /C calc'!A0");
	assert_string_equal(get(rows, i, "inlined"), "'@x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_accounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
