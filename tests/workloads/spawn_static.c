// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
//   spawn_static PATH [ARGS...]
//
// Runs PATH twice, by posix_spawn and by vfork and exec: children that share the parent's memory
// until they exec. Meant for a static program such as gen-static, which has its own libc.
//
// Known answer: 50 episodes of 2 threads before, between and after the two runs; and the episodes
// of PATH, twice.
#include "common.h"
#include "team.h"

#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static void finish(const char *how, pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("waitpid: %s", strerror(errno));
	if (!WIFEXITED(status))
		die("spawn_static: %s: killed by signal %d", how, WTERMSIG(status));
	printf("spawn_static: %s status=%d\n", how, WEXITSTATUS(status));
	printf("spawn_static: episodes=%u\n", run_team(2, 50));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: spawn_static PATH [ARGS...]\n");
		return 2;
	}
	stopgap(STOPGAP_SECONDS);
	printf("spawn_static: episodes=%u\n", run_team(2, 50));
	fflush(stdout);

	must(posix_spawn(&pid, argv[1], NULL, NULL, argv + 1, environ), argv[1]);
	finish("posix_spawn", pid);

	pid = vfork();
	if (pid < 0)
		die("vfork: %s", strerror(errno));
	if (!pid) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	finish("vfork", pid);
	printf("spawn_static: ok\n");
	return 0;
}
