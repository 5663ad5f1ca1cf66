// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Children are forked without exec. Each has threads that cross a barrier of their own, at the same
// addresses in every process. The second child forks a grandchild.
//
// Known answer: the parent has 50 episodes of 2 threads before forking and 50 after; child i (1 to
// 3) has 100 * i episodes of i + 1 threads; the grandchild has 70 of 2.
#include "common.h"
#include "team.h"

#include <sys/wait.h>

static pid_t child(uint32_t threads, uint32_t rounds, int with_grandchild)
{
	pid_t pid = fork();
	int status = 0;

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	stopgap(STOPGAP_SECONDS);
	if (with_grandchild)
		waitpid(child(2, 70, 0), &status, 0);
	_exit(status || run_team(threads, rounds) != rounds);
}

int main(void)
{
	pid_t pid[3];

	stopgap(STOPGAP_SECONDS);
	printf("fork_children: parent episodes=%u\n", run_team(2, 50));
	fflush(stdout);
	for (uint32_t i = 0; i < ARRAY_SIZE(pid); i++)
		pid[i] = child(i + 2, 100 * (i + 1), i == 1);
	printf("fork_children: parent episodes=%u\n", run_team(2, 50));
	for (uint32_t i = 0; i < ARRAY_SIZE(pid); i++) {
		int status;

		if (waitpid(pid[i], &status, 0) != pid[i] || status)
			die("fork_children: child %u ended with status 0x%x", i + 1,
			    (unsigned int)status);
		printf("fork_children: child %u ok\n", i + 1);
	}
	printf("fork_children: ok\n");
	return 0;
}
