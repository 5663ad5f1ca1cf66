// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// bench_timed COMMAND [ARGS...]: runs it, and says on stdout how long that took, in ns, from before it was started
// to its end: a program's own time where a tracer's start and report are not to count. Exit status: COMMAND's.
#include "common.h"

#include <sys/wait.h>

int main(int argc, char **argv)
{
	uint64_t start = now_ns();
	int status;
	pid_t pid;

	if (argc < 2)
		die("usage: bench_timed COMMAND [ARGS...]");
	pid = fork();
	if (pid < 0)
		die("fork failed");
	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid failed");
	printf("{\"elapsed_ns\": %llu}\n", (unsigned long long)(now_ns() - start));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
