// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test_check.h"
#include "target/look.h"

/*
 * The fields of /proc/PID/stat that begin with the parent. The 22nd field of the file is the start
 * time.
 */
#define NUMBERS "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20 21 22"

static void stat_is(const char *text, const char *comm, char state)
{
	struct look look = { 0 };

	assert_true(look_parse_stat(text, &look));
	assert_fields(&look, TEXT(comm, comm), IS(state, state), IS(start_ticks, 777));
}

static void test_stat(void **unused)
{
	stat_is("12 (gen) S " NUMBERS "\n", "gen", 'S');
	stat_is("12 () R " NUMBERS, "", 'R');
	stat_is("12 (a b) D " NUMBERS, "a b", 'D');
	/* These names contain text that looks like the fields after the name. */
	stat_is("12 () R 1 (x) Z " NUMBERS, ") R 1 (x", 'Z');
	stat_is("12 (x\n) T 9 9) t " NUMBERS, "x\n) T 9 9", 't');
	stat_is("12 (((((() S " NUMBERS, "(((((", 'S');
	/* Names of kernel threads can be longer than those of other threads. */
	stat_is("12 (0123456789abcdefgh) I " NUMBERS, "0123456789abcde", 'I');
}

static void test_stat_refused(void **unused)
{
	static const char *const texts[] = { "",
					     "12",
					     "12 (gen",
					     "12 )gen( S " NUMBERS,
					     "12 gen S " NUMBERS,
					     "12 (gen)",
					     "12 (gen) S 1 2 3",
					     "12 (gen) S a b c d e f g h i j k l m n o p q r s t" };
	struct look look = { 0 };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(look_parse_stat(texts[i], &look));
}

static void test_syscall(void **unused)
{
	struct look look = { 0 };

	assert_true(look_parse_syscall("running\n", &look));
	assert_fields(&look, IS(syscall, LOOK_NO_CALL), IS(sp, 0));
	/* The thread is in the kernel, but in no system call: a page fault. */
	assert_true(look_parse_syscall("-1 0x7ffc00001000 0x401000\n", &look));
	assert_fields(&look, IS(syscall, LOOK_NO_CALL), IS(sp, 0x7ffc00001000), IS(pc, 0x401000));
	assert_true(look_parse_syscall("0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n", &look));
	assert_int_equal(look.syscall, LOOK_NO_CALL);
	assert_true(look_parse_syscall("202 0x1 0x2 0x3 0x4 0x5 0xffffffffffffffff 0x7f00 0x7e00\n",
				       &look));
	assert_int_equal(look.syscall, 202);
	for (int i = 0; i < 5; i++)
		assert_int_equal(look.args[i], i + 1);
	assert_true(look.args[5] == UINT64_MAX);
	assert_fields(&look, IS(sp, 0x7f00), IS(pc, 0x7e00));
}

static void test_syscall_refused(void **unused)
{
	static const char *const texts[] = { "",       "\n",	     "0",	 "202 0x1 0x2",
					     "-1 0x1", "-7 0x1 0x2", "x 0x1 0x2" };
	struct look look = { 0 };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_false(look_parse_syscall(texts[i], &look));
		assert_int_equal(look.syscall, LOOK_UNKNOWN_CALL);
	}
}

static void test_counts(void **unused)
{
	struct look look = { .cpu_ns = 1, .switches = 1 };

	assert_true(look_parse_schedstat("123456789012 34 5\n", &look));
	assert_true(look.cpu_ns == 123456789012);
	assert_int_equal(look.runq_ns, 34);
	assert_false(look_parse_schedstat("", &look));
	assert_false(look_parse_schedstat("0", &look));
	assert_true(look_parse_status("Name:\tx\nState:\tS\nvoluntary_ctxt_switches:\t7\n"
				      "nonvoluntary_ctxt_switches:\t5\n",
				      &look));
	assert_int_equal(look.switches, 12);
	/* The name contains the text of the field. */
	assert_false(look_parse_status("Name:\tx\nnonvoluntary_ctxt_switches:\t5\n", &look));
	assert_false(look_parse_status("Name:\tvoluntary_ctxt_switches:\t5\n", &look));
}

static void test_files(void **unused)
{
	static const struct {
		const char *link, *words;
	} cases[] = {
		{ "pipe:[1234]", "a pipe" },
		{ "socket:[1]", "a socket" },
		{ "anon_inode:[eventfd]", "an eventfd" },
		{ "anon_inode:[something new]", "an anonymous file" },
		{ "/dev/pts/3", "the terminal /dev/pts/3" },
		{ "/tmp/a\033[2Jb\n", "/tmp/a\\x1b[2Jb\\x0a" },
		{ "", "" },
	};
	char words[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		look_file_words(cases[i].link, words, sizeof(words));
		assert_string_equal(words, cases[i].words);
	}
	look_file_words("/a/path/that/is/too/long", words, 8);
	assert_string_equal(words, "/a/path");
}

static void test_calls(void **unused)
{
	struct look look = { .syscall = SYS_read, .args = { 99999 } };
	char words[128];

	assert_string_equal(look_call_name(SYS_futex), "futex");
	assert_null(look_call_name(100000));
	assert_null(look_call_name(LOOK_NO_CALL));
	assert_int_equal(look_call_wait(&look), LOOK_IO);
	look_words(getpid(), &look, words, sizeof(words));
	assert_string_equal(words, "read() of descriptor 99999");
	look.syscall = LOOK_NO_CALL;
	look_words(getpid(), &look, words, sizeof(words));
	assert_string_equal(words, "");
	assert_int_equal(look_call_wait(&look), LOOK_NOTHING);
	look.syscall = 100000;
	look_words(getpid(), &look, words, sizeof(words));
	assert_string_equal(words, "system call 100000");
	/* The system call has invalid addresses. */
	look = (struct look){ .syscall = SYS_ppoll, .args = { 8, 3 } };
	look_words(getpid(), &look, words, sizeof(words));
	assert_string_equal(words, "ppoll() of 3 files");
	look = (struct look){ .syscall = SYS_ppoll };
	assert_int_equal(look_call_wait(&look), LOOK_SLEEP);
	look = (struct look){ .syscall = SYS_clock_nanosleep, .args = { 0, 0, 8 } };
	look_words(getpid(), &look, words, sizeof(words));
	assert_string_equal(words, "sleep");
}

static void test_self(void **unused)
{
	struct look look;
	char bytes[4], text[] = "abc";

	assert_int_equal(look_thread(getpid(), getpid(), &look), 0);
	assert_int_equal(look.state, 'R');
	assert_true(look.start_ticks > 0);
	assert_true(look.switches != UINT64_MAX);
	/* The thread number does not exist. */
	assert_int_equal(look_thread(getpid(), 0x7fffffff, &look), -ESRCH);
	assert_fields(&look, IS(state, 0), IS(syscall, LOOK_UNKNOWN_CALL));
	assert_int_equal(look_read(getpid(), (uint64_t)(uintptr_t)text, bytes, sizeof(bytes)), 0);
	assert_string_equal(bytes, "abc");
	assert_int_equal(look_read(getpid(), 8, bytes, sizeof(bytes)), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),	cmocka_unit_test(test_stat_refused),
		cmocka_unit_test(test_syscall), cmocka_unit_test(test_syscall_refused),
		cmocka_unit_test(test_counts),	cmocka_unit_test(test_files),
		cmocka_unit_test(test_calls),	cmocka_unit_test(test_self),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
