// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check series from its arguments to its exit status, on recordings that are made here instead of
 * read.
 */
#include <stdio.h>

#include "test_check.h"
#include "cmd/pictures.c"
#include "cmd/view_output.c"
#include "cmd/series.c"
#include "test_cmd.h"

static int series(const char *words, char **out)
{
	return cmd_on(cmd_series, words, out);
}

static void test_labels(void **state)
{
	char *out;

	assert_int_equal(series("cont-1 cont-2 non-1", &out), 0);
	assert_says(out, "SBT series: 2 points from 3 recordings; fastest: lu cont");
	free(out);
	assert_int_equal(series("-l a cont-1 cont-2 --label b non-1 --json", &out), 0);
	assert_int_equal(strncmp(out, "{\"type\":\"series\",\"label\":\"a\"", 28), 0);
	assert_says(out, "\"label\":\"b\"");
	free(out);
	/* Files before the first label have no label. Files after -- have the last label. */
	assert_int_equal(series("--by file cont-1 --label b -- non-1 non-2", &out), 0);
	assert_says(out, "\ncont-1", "\nb ");
	free(out);
	assert_int_equal(series("--by file --csv cont-1 non-1", &out), 0);
	assert_int_equal(strncmp(out, "type,label,", 11), 0);
	free(out);
	assert_int_equal(series("--base row --label 2048/cont cont-1 --label 2048/non non-1", &out),
			 0);
	assert_says(out, "\nTime above the base\n");
	free(out);
	assert_int_equal(series("--base non-1 --by file cont-1 non-1", &out), 0);
	free(out);
	assert_int_equal(series("none", NULL), 0);
}

static void test_usage(void **state)
{
	static const char *const wrong[] = {
		"",
		"--label a",
		"--label",
		"--nosuch cont-1",
		"-x cont-1",
		"--json --csv cont-1",
		"--csv --markdown cont-1",
		"--by what cont-1",
		"--base nosuch cont-1",
	};

	cmd_usage(cmd_series, wrong, sizeof(wrong) / sizeof(wrong[0]));
}

static void test_fails(void **state)
{
	assert_int_equal(series("cont-1 nosuch", NULL), EXIT_FAILED);
	assert_int_equal(series("cont-1 -o /nosuch/file", NULL), EXIT_FAILED);
	assert_int_equal(series("cont-1 -o /dev/full", NULL), EXIT_FAILED);
	assert_int_equal(series("--help", NULL), 0);
}

static void test_forms(void **state)
{
	cmd_forms(cmd_series, "--label a cont-1 cont-2 --label b non-1",
		  "{\"type\":\"series\",\"label\":\"a\"");
	cmd_page(cmd_series, "--label a cont-1 cont-2 --label b non-1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_fails),
		cmocka_unit_test(test_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
