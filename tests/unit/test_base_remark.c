// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_check.h"
#include "base/remark.h"

static void say_few(uint32_t from, bool quiet)
{
	assert_int_equal(from, 0);
	remarks_say_few(quiet);
}

/* Get the text that @say writes to stderr. */
static void print_by(void (*say)(uint32_t from, bool quiet), uint32_t from, bool quiet, char *text,
		     size_t size)
{
	int pipes[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_true(saved >= 0);
	assert_int_equal(pipe(pipes), 0);
	fflush(stderr);
	dup2(pipes[1], STDERR_FILENO);
	say(from, quiet);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(pipes[1]);
	n = read(pipes[0], text, size - 1);
	close(pipes[0]);
	text[n > 0 ? n : 0] = '\0';
}

static void print_remarks(uint32_t from, bool quiet, char *text, size_t size)
{
	print_by(remarks_say, from, quiet, text, size);
}

static int forget(void **state)
{
	remarks_forget(0);
	return 0;
}

static void test_kept_in_order_and_once(void **state)
{
	const struct remark *all;
	uint32_t n;

	remark_note(REMARK_WARN, "ranks", 0, "%d ranks", 3);
	remark_note(REMARK_HINT, "candidate", 12, "a candidate");
	remark_note(REMARK_WARN, "ranks", 0, "%d ranks", 3);
	all = remarks_all(&n);
	assert_int_equal(n, 2);
	assert_fields(&all[0], TEXT(kind, "ranks"), TEXT(text, "3 ranks"), IS(pid, 0));
	assert_fields(&all[1], TEXT(text, "a candidate"), IS(pid, 12));
}

static void test_printable(void **state)
{
	const struct remark *all;
	uint32_t n;

	remark_note(REMARK_WARN, "not_probed", 0, "%s cannot be probed", "\x1b[31m\n");
	all = remarks_all(&n);
	assert_int_equal(n, 1);
	assert_string_equal(all[0].text, "\\x1b[31m\\x0a cannot be probed");
}

static void test_printed_once(void **state)
{
	char text[512];

	remark_note(REMARK_ERROR, "nothing_crossed", 0, "nothing in:");
	remark_note(REMARK_ERROR, "looked_at", 0, "/a: has none");
	remark_note(REMARK_HINT, "candidate", 0, "a candidate");
	print_remarks(0, true, text, sizeof(text));
	assert_says(text, "nothing in:\n", "  /a: has none\n");
	assert_lacks(text, "warning", "candidate");
	print_remarks(0, false, text, sizeof(text));
	assert_lacks(text, "nothing in:");
	assert_says(text, "warning: a candidate\n");
	print_remarks(0, false, text, sizeof(text));
	assert_string_equal(text, "");
}

/* If no barrier was crossed, a recording says so in two lines. Otherwise it leaves out nothing. */
static void test_few(void **state)
{
	char text[512];

	remark_note(REMARK_ERROR, "nothing_crossed", 0, "nothing in:");
	remark_note(REMARK_ERROR, "looked_at", 0, "/a: has none");
	remark_note(REMARK_HINT, "candidate", 0, "a candidate");
	remark_note(REMARK_HINT, "elsewhere", 0, "others");
	print_by(say_few, 0, false, text, sizeof(text));
	assert_says(text, "nothing in (sbt-trace report --detail lists them)\n",
		    "2 more remarks: see sbt-trace report\n");
	assert_lacks(text, "/a", "candidate", "others");
	print_by(say_few, 0, false, text, sizeof(text));
	assert_string_equal(text, "");
	remarks_forget(0);
	remark_note(REMARK_ERROR, "nothing_crossed", 0, "nothing in:");
	remark_note(REMARK_ERROR, "looked_at", 0, "/a: has none");
	remark_note(REMARK_HINT, "candidate", 0, "a candidate");
	print_by(say_few, 0, false, text, sizeof(text));
	assert_says(text, "nothing in (", "warning: a candidate\n");
	assert_lacks(text, "/a", "more remarks");
	remarks_forget(0);
	/* What the program does is always printed. */
	remark_note(REMARK_ERROR, "nothing_crossed", 0, "nothing in:");
	remark_note(REMARK_ERROR, "elsewhere", 0, "others");
	remark_note(REMARK_ERROR, "spinning_code", 7, "it spins");
	print_by(say_few, 0, false, text, sizeof(text));
	assert_says(text, "nothing in (", "it spins\n", "1 more remark: see sbt-trace report\n");
	assert_lacks(text, "others");
	remarks_forget(0);
	for (int i = 0; i < 4; i++)
		remark_note(REMARK_ERROR, "left_out", 0, "part %d", i);
	print_by(say_few, 0, false, text, sizeof(text));
	assert_says(text, "part 0\n", "part 3\n");
}

static void test_warned_of_at_once(void **state)
{
	const struct remark *all;
	char text[512];
	uint32_t n;

	remark_warn("not_traced", 7, "process %d", 7);
	print_remarks(0, false, text, sizeof(text));
	assert_string_equal(text, "");
	all = remarks_all(&n);
	assert_int_equal(n, 1);
	assert_string_equal(all[0].text, "process 7");
}

static void test_forgotten_from(void **state)
{
	uint32_t n;

	remark_note(REMARK_WARN, "ranks", 0, "kept");
	remark_note(REMARK_WARN, "ranks", 0, "of an interim report");
	remarks_forget(1);
	remarks_all(&n);
	assert_int_equal(n, 1);
	/* After remarks_forget() the same remark can be added again. */
	remark_note(REMARK_WARN, "ranks", 0, "of an interim report");
	remarks_all(&n);
	assert_int_equal(n, 2);
}

static void test_bounded(void **state)
{
	const struct remark *all;
	uint32_t n;

	for (uint32_t i = 0; i < REMARKS_MAX + 9; i++)
		remark_note(REMARK_WARN, "not_probed", 0, "remark %u", i);
	all = remarks_all(&n);
	assert_int_equal(n, REMARKS_MAX);
	assert_string_equal(all[n - 2].text, "remark 510");
	assert_string_equal(all[n - 1].kind, "more");
	/*
	 * The number includes the remarks that do not fit, and the remark that this line replaces.
	 */
	assert_string_equal(all[n - 1].text, "10 more remarks are left out here");
	remarks_forget(3);
	for (uint32_t i = 0; i < REMARKS_MAX; i++)
		remark_note(REMARK_WARN, "not_probed", 0, "another %u", i);
	all = remarks_all(&n);
	assert_string_equal(all[n - 1].text, "4 more remarks are left out here");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_kept_in_order_and_once, forget),
		cmocka_unit_test_teardown(test_printable, forget),
		cmocka_unit_test_teardown(test_printed_once, forget),
		cmocka_unit_test_teardown(test_few, forget),
		cmocka_unit_test_teardown(test_warned_of_at_once, forget),
		cmocka_unit_test_teardown(test_forgotten_from, forget),
		cmocka_unit_test_teardown(test_bounded, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
