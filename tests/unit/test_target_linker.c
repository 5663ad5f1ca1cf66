// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check that a program is followed through its start, from one system call to the next. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_check.h"
#include "target/linker.h"
#include "target/maps.h"

static bool has_libc(int pid)
{
	struct maps maps;
	bool found = false;

	assert_int_equal(maps_read(pid, &maps), 0);
	for (size_t i = 0; i < maps.n; i++)
		found |= maps.entries[i].exec && strstr(maps.entries[i].path, "libc.so");
	maps_free(&maps);
	return found;
}

/* Start a program, and stop it before its first instruction. */
static pid_t begin(const char *path)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, "-c", ":", (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       (void *)(long)(PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT));
	return pid;
}

static void test_start_of_a_program(void **unused)
{
	pid_t pid = begin("/bin/sh");
	unsigned int busy = 0, early = 0, done = 0;
	int status;

	for (;;) {
		int now = linker_busy(pid);

		assert_true(now == 0 || now == 1);
		busy += now == 1;
		early += now == 1 && !has_libc(pid);
		done += now == 0;
		/* After the start is complete there are no more changes. */
		if (!now)
			assert_true(has_libc(pid));
		else
			assert_int_equal(done, 0);
		ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXIT)
			break;
	}
	assert_true(early > 4);
	assert_true(busy > early);
	assert_true(done > 2);
	kill(pid, SIGKILL);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	assert_int_equal(linker_busy(pid), -ESRCH);
}

static void test_self(void **unused)
{
	assert_int_equal(linker_busy(getpid()), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start_of_a_program),
		cmocka_unit_test(test_self),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
