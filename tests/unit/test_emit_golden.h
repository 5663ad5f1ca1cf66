/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Compare output with files in tests/unit/golden, from the root of the repository; UPDATE_GOLDEN=1
 * updates the files.
 */
#ifndef TEST_EMIT_GOLDEN_H
#define TEST_EMIT_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "base/text.h"
#include "emit/textout.h"

static inline char *golden_slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *s = NULL;
	size_t cap = 0;

	if (!f)
		return NULL;
	if (getdelim(&s, &cap, '\0', f) < 0) {
		free(s);
		s = NULL;
	}
	fclose(f);
	return s;
}

/* Compare with the file named after @prefix and @name. */
static inline void golden_check(const char *prefix, const char *name, const char *out)
{
	const char *update = getenv("UPDATE_GOLDEN");
	char path[256], *expected;
	FILE *f;

	snprintf(path, sizeof(path), "tests/unit/golden/%s%s.txt", prefix, name);
	if (update && *update == '1') {
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(out, f);
		assert_int_equal(fclose(f), 0);
		return;
	}
	expected = golden_slurp(path);
	if (!expected)
		fail_msg("%s is missing: UPDATE_GOLDEN=1 makes it", path);
	assert_string_equal(out, expected);
	free(expected);
}

/* Check the properties of all text output: no line is too wide, and nothing controls a terminal. */
static inline void check_lines(const char *out, unsigned width)
{
	const char *line, *end;
	char copy[1024];
	char *safe;

	for (line = out; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		assert_true((size_t)(end - line) < sizeof(copy));
		memcpy(copy, line, (size_t)(end - line));
		copy[end - line] = '\0';
		if (textout_columns(copy) > width)
			fail_msg("%u columns: %s", textout_columns(copy), copy);
		safe = text_printable(copy);
		assert_string_equal(copy, safe);
		free(safe);
		if (end > line && end[-1] == ' ')
			fail_msg("blank at the end: %s", copy);
	}
}

static inline void check_golden(const char *name, const char *out)
{
	check_lines(out, 100);
	golden_check("", name, out);
}

#endif /* TEST_EMIT_GOLDEN_H */
