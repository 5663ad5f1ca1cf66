// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check the lines about threads without barriers: no name is joined to the end of another. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "emit/activity.h"

#define SECOND 1000000000ull

static char *print(const struct report_activity *a, unsigned width)
{
	struct report r = { .nactivities = 1, .activities = (struct report_activity *)a };
	struct buf buf = { 0 };
	struct textout t = { .buf = &buf, .width = width };

	activity_print(&t, &r, 1);
	assert_false(buf.failed);
	for (const char *s = buf.s, *end; *s; s = end + 1) {
		char line[512];

		end = strchr(s, '\n');
		assert_true(end && (size_t)(end - s) < sizeof(line));
		snprintf(line, sizeof(line), "%.*s", (int)(end - s), s);
		assert_true(textout_columns(line) <= width);
	}
	return buf.s;
}

static struct report_activity busy(struct report_activity_function *f, uint32_t n)
{
	return (struct report_activity){ .comm = "prog",
					 .tid = 7,
					 .elapsed_ns = SECOND,
					 .parts.oncpu_ns = SECOND,
					 .samples = 100,
					 .functions = f,
					 .nfunctions = n };
}

/* Names that do not fit are left out; those that are printed are whole. */
static void test_several(void **state)
{
	struct report_activity_function f[] = {
		{ { .function = "handle_amd", .file = "/g/cacheinfo.c", .line = 9 }, 0.4 },
		{ { .function = "dl_new_object_in_the_linker" }, 0.3 },
		{ { .function = "memset", .file = "/g/memset-vec-unaligned-erms.S", .line = 252 },
		  0.2 },
	};
	struct report_activity a = busy(f, 3);
	char *text = print(&a, 100);

	assert_says(text, "on a CPU in handle_amd() cacheinfo.c:9 (40 %), "
			  "dl_new_object_in_the_linker() (30 %)\n");
	assert_null(strstr(text, "…"));
	assert_null(strstr(text, "memset"));
	free(text);
	text = print(&a, 140);
	assert_says(text, "memset() memset-vec-unaligned-erms.S:252 (20 %)\n");
	free(text);
}

/* A single long name loses its parameters and its scopes, and keeps its file and its share. */
static void test_long(void **state)
{
	struct report_activity_function f[] = {
		{ { .function = "v8::internal::compiler::turboshaft::ReducerBaseForwarder<v8::Next>"
				"::ReduceInputGraphOperationOfSomeKind(unsigned int, unsigned int)",
		    .file = "/n/reducer.h",
		    .line = 77 },
		  0.9 },
		{ { .function = "CRYPTO_THREAD_run_once" }, 0.1 },
	};
	struct report_callsite wait = { .function = f[0].where.function, .module = "/n/node" };
	struct report_activity a = busy(f, 2);
	char *text;

	a.wait_ns = SECOND / 2;
	a.wait_reason = MODEL_BLOCKED_IO;
	a.frames = &wait;
	a.nframes = 1;
	text = print(&a, 80);
	assert_says(text,
		    "on a CPU in …ReduceInputGraphOperationOfSomeKind() reducer.h:77 (90 %)\n");
	assert_says(text, "waiting for I/O for up to 500 ms, in …ReduceInputGraphOperation");
	assert_null(strstr(text, "CRYPTO"));
	assert_null(strstr(text, "unsigned"));
	free(text);
	/* Many short waits for one reason have a place, too, but few do not. */
	a.wait_ns = a.elapsed_ns / 1000;
	a.parts.blocked_ns[MODEL_BLOCKED_IO] = a.elapsed_ns / 4;
	text = print(&a, 80);
	assert_says(text, "waiting for I/O for up to ");
	free(text);
	a.parts.blocked_ns[MODEL_BLOCKED_IO] = a.elapsed_ns / 20;
	text = print(&a, 80);
	assert_null(strstr(text, "waiting for I/O for up to "));
	free(text);
}

/* Code without a name is not joined to the next name either. */
static void test_nameless(void **state)
{
	struct report_activity_function f[] = {
		{ { .offset = 0x7f0012345678 }, 0.6 },
		{ { .function = "G1CollectedHeap::update_code_root_pointers_in_core_regions"
				"_and_more(long)" },
		  0.4 },
	};
	struct report_activity a = busy(f, 2);
	char *text = print(&a, 80);

	assert_says(text, "on a CPU in unknown code+0x7f0012345678 (60 %)\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_nameless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
