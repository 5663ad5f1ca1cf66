// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check folded stacks: every line is a stack, and the lines of a thread add up to its time in the
 * report.
 */
#include <stdio.h>

#include <errno.h>

#include "test_check.h"
#include "emit/folded.h"
#include "test_emit_data.h"

static char *print(const struct report *r)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(folded_print(f, r), 0);
	fclose(f);
	return text;
}

/*
 * Check that each line has three ";" before a blank and a number. Return the sum of the numbers of
 * the lines that contain all of the words.
 */
static uint64_t sum(const char *text, const char *a, const char *b)
{
	const char *line, *end, *c;
	uint64_t all = 0;
	char copy[2048];
	unsigned frames;

	for (line = text; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		assert_true((size_t)(end - line) < sizeof(copy));
		snprintf(copy, sizeof(copy), "%.*s", (int)(end - line), line);
		for (c = copy, frames = 1; *c; c++) {
			frames += *c == ';';
			assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
		}
		assert_int_equal(frames, 4);
		c = strrchr(copy, ' ');
		assert_non_null(c);
		assert_int_equal(strspn(c + 1, "0123456789"), strlen(c + 1));
		assert_true(strtoull(c + 1, NULL, 10) > 0);
		if (strstr(copy, a) && strstr(copy, b))
			all += strtoull(c + 1, NULL, 10);
	}
	return all;
}

static void test_sums(void **state)
{
	const struct report_thread *t;
	char *text CLEANUP_PTR(free), who[32];
	struct report r CLEANUP(data_free) = data_new();

	text = print(&r);
	for (unsigned i = 0; i < DATA_THREADS; i++) {
		t = &r.barriers[0].threads[i];
		snprintf(who, sizeof(who), ";%u lu_block (%u);", i, t->tid);
		assert_int_equal(sum(text, who, "lu.c:88;wait "), t->wait_ns);
		assert_int_equal(sum(text, who, "lu.c:88;leave "), t->idle_ns - t->wait_ns);
		assert_int_equal(sum(text, who, "lu.c:88;on CPU "), t->parts.oncpu_ns);
		assert_int_equal(sum(text, who, "lu.c:88;run queue "), t->parts.runq_ns);
		assert_int_equal(sum(text, who, "lu.c:88;blocked: lock "),
				 t->parts.blocked_ns[MODEL_BLOCKED_LOCK]);
		/*
		 * The sum of all lines is the thread's own work and idle time, each counted once.
		 */
		t = &r.processes[0].members[i];
		assert_int_equal(sum(text, who, "wait "), t->wait_ns);
		assert_int_equal(sum(text, who, "on CPU "), t->parts.oncpu_ns);
		assert_int_equal(sum(text, who, "lu_block (4711)"),
				 t->parts.oncpu_ns + t->parts.runq_ns + t->parts.unattributed_ns +
					 t->parts.blocked_ns[MODEL_BLOCKED_LOCK] + t->idle_ns);
	}
}

/*
 * If the parts of a thread's work time are unknown, one line has all of the work time. If the work
 * time is unknown, too, there is no line.
 */
static void test_unknown(void **state)
{
	char *text CLEANUP_PTR(free);
	struct report r CLEANUP(data_free) = data_new();

	r.barriers[0].threads[3].parts = data_unknown();
	r.barriers[0].threads[4].parts = data_unknown();
	r.barriers[0].threads[4].work_ns = REPORT_UNKNOWN;
	text = print(&r);
	assert_int_equal(sum(text, "(4714);", "lu.c:88;work "), r.barriers[0].threads[3].work_ns);
	assert_int_equal(sum(text, "(4714);", "lu.c:88;on CPU "), 0);
	assert_int_equal(sum(text, "(4715);", "lu.c:88;work "), 0);
}

static void test_hostile(void **state)
{
	char path[4097], *text CLEANUP_PTR(free);
	struct report r CLEANUP(data_free) = data_new();

	data_hostile(&r, path);
	r.processes[0].members[0].comm = "a;b c 12";
	text = print(&r);
	assert_true(sum(text, "a,b c 12", ";wait ") > 0);
}

static void test_full(void **state)
{
	FILE *full CLEANUP_PTR(fclose) = fopen("/dev/full", "w");
	struct report r CLEANUP(data_free);

	assert_non_null(full);
	data_report(&r);
	assert_int_equal(folded_print(full, &r), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
