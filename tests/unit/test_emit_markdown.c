// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check the Markdown report: it has the wording of the text report, Markdown tables, and no active
 * content.
 */
#include <stdio.h>

#include "test_check.h"
#include "emit/emit.h"
#include "emit/textout.h"
#include "test_emit_data.h"

static char *print(const struct report *r, enum emit_format format)
{
	const struct emit_options options = { .format = format, .detail = true, .banner = true };
	char *text = NULL;
	struct emit *e;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	e = emit_new(f, &options);
	assert_non_null(e);
	emit_report(e, r);
	assert_int_equal(emit_free(e), 0);
	fclose(f);
	return text;
}

/* Return the number of cells in a table line: its unescaped "|", less one. */
static unsigned cells(const char *line, size_t n)
{
	unsigned bars = 0;

	for (size_t i = 0; i < n; i++) {
		if (line[i] == '\\')
			i++;
		else if (line[i] == '|')
			bars++;
	}
	return bars ? bars - 1 : 0;
}

static size_t length(const char *line)
{
	return strcspn(line, "\n");
}

static const char *next(const char *line)
{
	line += length(line);
	return *line ? line + 1 : line;
}

/*
 * Check that every table has a heading, a line of dashes, and rows with as many cells. Return the
 * number of tables.
 */
static unsigned check_tables(const char *text)
{
	unsigned tables = 0, n;
	const char *line;

	for (line = text; *line; line = next(line)) {
		if (*line != '|')
			continue;
		/* The table follows a blank line, or begins the text. */
		assert_true(line == text || (line - text >= 2 && line[-2] == '\n'));
		n = cells(line, length(line));
		assert_true(n > 0);
		line = next(line);
		assert_int_equal(strncmp(line, "| --", 4), 0);
		assert_int_equal(cells(line, length(line)), n);
		assert_int_equal(strspn(line, "|-: "), length(line));
		for (line = next(line); *line == '|'; line = next(line))
			assert_int_equal(cells(line, length(line)), n);
		assert_int_equal(*line, '\n');
		tables++;
	}
	return tables;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in the report:\n%.3000s", part, text);
}

static void test_report(void **state)
{
	char *text CLEANUP_PTR(free);
	struct report r CLEANUP(data_free) = data_new();

	text = print(&r, EMIT_MARKDOWN);
	assert_true(check_tables(text) >= 4);
	assert_has(text,
		   "## SBT report: 4.31 s traced, 1 process, 1,025 episodes at 3 barriers\n\n");
	assert_has(text, "**lu\\_block (pid 4711), 8 threads, 4.21 s: 34 % of the threads' time");
	assert_has(text, "| id | barrier | episodes | phase mean |");
	assert_has(text, "\n→ Divide the work anew");
	assert_has(text, "\n## BARRIERS, most lost time first\n\n|");
	assert_has(text, "lu\\_worker lu.c:88");
	/* No name is shortened and no line is broken to fit a screen. */
	assert_lacks(text, "…");
}

/* Names act neither as Markdown nor as HTML, break no table, and do not move the cursor. */
static void test_hostile(void **state)
{
	char path[4097], *text CLEANUP_PTR(free), *c;
	struct report r CLEANUP(data_free) = data_new();

	data_hostile(&r, path);
	r.barriers[0].name = NULL;
	snprintf(r.barriers[0].label, sizeof(r.barriers[0].label),
		 "a|b `c` [d](http://e) *f* <img src=x> &lt; www.g.h");
	text = print(&r, EMIT_MARKDOWN);
	assert_true(check_tables(text) >= 4);
	assert_has(text,
		   "a\\|b \\`c\\` \\[d\\](http\\://e) \\*f\\* &lt;img src=x> &amp;lt; www\\.g.h");
	assert_null(strchr(text, '<'));
	for (c = text; *c; c++)
		assert_true((unsigned char)*c >= 0x20 || *c == '\n');
}

static void markdown_is(const char *s, const char *expected)
{
	struct buf buf CLEANUP(buf_free) = { 0 };

	textout_markdown(&buf, s);
	assert_string_equal(buf.s ? buf.s : "", expected);
}

static void test_escapes(void **state)
{
	check_cases(markdown_is, { "", "" }, { "lu.c:77", "lu.c:77" },
		    { "# no heading", "\\# no heading" }, { "- no list", "\\- no list" },
		    { "a - b # c", "a - b # c" }, { "C:\\x", "C:\\\\x" },
		    { "~~gone~~ $x$", "\\~\\~gone\\~\\~ \\$x\\$" },
		    { "\033[1m\n", "\\\\x1b\\[1m\\\\x0a" }, { "&#60;b>", "&amp;#60;b>" });
}

/* The text report is unchanged. */
static void test_text(void **state)
{
	char *text CLEANUP_PTR(free);
	struct report r CLEANUP(data_free) = data_new();

	text = print(&r, EMIT_TEXT);
	assert_lacks(text, "##", "| --", "lu\\_");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
