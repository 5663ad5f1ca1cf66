// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check the list of thread positions: threads at one position are grouped, and no text controls the
 * terminal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "emit/emit.h"

static char *print(const struct emit_thread *threads, uint32_t n)
{
	struct emit_options options = { .format = EMIT_TEXT };
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *emit = emit_new(f, &options);

	emit_threads(emit, 10, "prog", threads, n);
	assert_int_equal(emit_free(emit), 0);
	fclose(f);
	return out;
}

static struct emit_thread sleeper(uint32_t tid, const struct hang_frame *frames, uint32_t n)
{
	return (struct emit_thread){ .pid = 10,
				     .tid = tid,
				     .comm = "worker",
				     .state = HANG_BLOCKED,
				     .blocked_on = "sleep of 5 s",
				     .nframes = n,
				     .frames = frames };
}

static void test_together(void **unused)
{
	/*
	 * Two of the addresses are on the same source line. A function without a name is shown by
	 * its address.
	 */
	struct hang_frame a = { .function = "nap", .file = "dir/a.c", .line = 3, .address = 100 };
	struct hang_frame b = { .function = "nap", .file = "dir/a.c", .line = 3, .address = 200 };
	struct hang_frame c = { .function = "nap", .file = "dir/a.c", .line = 4, .address = 100 };
	struct hang_frame d = { .module = "/lib/x.so", .address = 0x300 };
	struct hang_frame e = { .module = "/lib/x.so", .address = 0x400 };
	struct emit_thread threads[] = { sleeper(11, &a, 1), sleeper(12, &c, 1), sleeper(13, &b, 1),
					 sleeper(14, &d, 1), sleeper(15, &e, 1) };
	char *out CLEANUP_PTR(free);

	out = print(threads, 5);
	assert_string_equal(out,
			    "prog (pid 10): 5 threads\n"
			    "    threads 11 \"worker\", 13 \"worker\": blocked on sleep of 5 s\n"
			    "        at nap() a.c:3\n"
			    "    thread 12 \"worker\": blocked on sleep of 5 s\n"
			    "        at nap() a.c:4\n"
			    "    thread 14 \"worker\": blocked on sleep of 5 s\n"
			    "        at 0x300 (x.so)\n"
			    "    thread 15 \"worker\": blocked on sleep of 5 s\n"
			    "        at 0x400 (x.so)\n"
			    "\n");
}

static void test_states(void **unused)
{
	struct hang_frame f = { .function = "f", .inlined = "g", .address = 1 };
	struct emit_thread threads[] = {
		{ .pid = 10,
		  .tid = 1,
		  .state = HANG_RUNNING,
		  .sampled = true,
		  .nframes = 1,
		  .frames = &f },
		{ .pid = 10, .tid = 2, .comm = "\033[2J\n", .state = HANG_GONE },
		{ .pid = 10, .tid = 3 },
	};
	char *out CLEANUP_PTR(free);

	threads[0].truncated = true;
	out = print(threads, 3);
	assert_string_equal(out, "prog (pid 10): 3 threads\n"
				 "    thread 1: running, stack is one sample\n"
				 "        at f(), inlined into g\n"
				 "        and the callers of that function\n"
				 "    thread 2 \"\\x1b[2J\\x0a\": has exited\n"
				 "    thread 3: in an unknown state\n"
				 "\n");
}

static void test_many(void **unused)
{
	struct hang_frame frames[40];
	struct emit_thread threads[30];
	char *out CLEANUP_PTR(free);

	for (uint32_t i = 0; i < 40; i++)
		frames[i] = (struct hang_frame){ .function = "f", .address = i };
	for (uint32_t i = 0; i < 30; i++)
		threads[i] = sleeper(100 + i, frames, 40);
	out = print(threads, 30);
	assert_says(out, "111 \"worker\" and 18 more:");
	assert_lacks(out, "112");
	assert_says(out, "        and 16 frames further out\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
