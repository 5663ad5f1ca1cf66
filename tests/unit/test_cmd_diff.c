// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check diff from its arguments to its exit status, on recordings that are made here instead of
 * read.
 */
#include <stdio.h>

#include "test_check.h"
#include "cmd/diff.c"
#include "cmd/pictures.c"
#include "cmd/view_output.c"
#include "test_cmd.h"

static int diff(const char *words, char **out)
{
	return cmd_on(cmd_diff, words, out);
}

static void test_sides(void **state)
{
	char *out;

	assert_int_equal(diff("cont-1 non-1", &out), 0);
	assert_says(out, "\nA: cont-1\nB: non-1\n");
	free(out);
	assert_int_equal(diff("cont-1 cont-2 -- non-1 non-2 non-3", &out), 0);
	assert_says(out, "\nA: cont-1, cont-2\nB: non-1, non-2, non-3\n");
	free(out);
	assert_int_equal(diff("cont-1 --json -- non-1", &out), 0);
	assert_int_equal(strncmp(out, "{\"type\":\"comparison\"", 20), 0);
	free(out);
	assert_int_equal(diff("--csv cont-1 non-1", &out), 0);
	assert_int_equal(strncmp(out, "type,", 5), 0);
	free(out);
	assert_int_equal(diff("none none", NULL), 0);
}

static void test_usage(void **state)
{
	static const char *const wrong[] = {
		"",
		"cont-1",
		"cont-1 cont-2 cont-3",
		"cont-1 --",
		"-- cont-1",
		"--nosuch cont-1 non-1",
		"-x cont-1 non-1",
		"--json --markdown cont-1 non-1",
		"--json --csv cont-1 non-1",
		"--fail-above much cont-1 non-1",
		"--fail-above -5 cont-1 non-1",
		"--fail-above",
		"--confidence 100 cont-1 non-1",
		"--confidence 5 cont-1 non-1",
		"--quantity phase,,lost cont-1 non-1",
		"--quantity nosuch cont-1 non-1",
	};

	cmd_usage(cmd_diff, wrong, sizeof(wrong) / sizeof(wrong[0]));
}

static void test_fails(void **state)
{
	assert_int_equal(diff("cont-1 nosuch", NULL), EXIT_FAILED);
	assert_int_equal(diff("cont-1 non-1 -o /nosuch/file", NULL), EXIT_FAILED);
	assert_int_equal(diff("cont-1 non-1 -o /dev/full", NULL), EXIT_FAILED);
	assert_int_equal(diff("--help", NULL), 0);
}

/*
 * An increase of 31 % is proven to exceed 25 %, but not 32 %. There is no regression if the sides
 * are exchanged, or if both sides are the same recording.
 */
static void test_regression(void **state)
{
	char *out;

	assert_int_equal(diff("--fail-above 25 cont-1 cont-2 -- non-1 non-2", NULL), 3);
	assert_int_equal(diff("--fail-above 32 cont-1 cont-2 -- non-1 non-2", NULL), 0);
	assert_int_equal(diff("--fail-above 25% cont-1 non-1", NULL), 3);
	assert_int_equal(diff("--fail-above 0 non-1 non-2 -- cont-1 cont-2", NULL), 0);
	assert_int_equal(diff("--fail-above 0 cont-1 cont-1", NULL), 0);
	assert_int_equal(diff("cont-1 non-1", NULL), 0);
	/* In one recording no thread crossed a barrier, so there is no result. */
	assert_int_equal(diff("--fail-above 25 cont-1 none", NULL), EXIT_FAILED);
	/* The recordings are of different programs, so there is no result, either. */
	assert_int_equal(diff("--fail-above 25 cont-1 other", &out), EXIT_FAILED);
	assert_says(out, "\nNo regression above 25 % is proven.\n");
	free(out);
	assert_int_equal(diff("cont-1 other", NULL), 0);
	/* The cache misses rose by more than the limit. */
	assert_int_equal(diff("--fail-above 100 cont-1 cont-2 -- non-1 non-2", NULL), 0);
	assert_int_equal(
		diff("--fail-above 100 --quantity PAPI_L2_TCM cont-1 cont-2 -- non-1 non-2", NULL),
		3);
	assert_int_equal(
		diff("--fail-above 100 --quantity phase,counters cont-1 cont-2 -- non-1 non-2",
		     NULL),
		3);
}

static void test_forms(void **state)
{
	cmd_forms(cmd_diff, "cont-1 non-1", "{\"type\":\"comparison\"");
	cmd_page(cmd_diff, "cont-1 non-1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sides),	   cmocka_unit_test(test_usage),
		cmocka_unit_test(test_fails),	   cmocka_unit_test(test_forms),
		cmocka_unit_test(test_regression),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
