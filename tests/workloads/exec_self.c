// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Crosses barriers, then executes itself: the first time from main, the second time from another
// thread while two more threads wait in a barrier that never fills. The pid stays, and the id of
// that thread disappears.
//
// Known answer: one pid, three programs one after the other, 100 + 200 + 300 episodes of 3 threads,
// and two arrivals at the end of the second program that never depart.
#include "common.h"
#include "team.h"

static pthread_barrier_t never;
static char self[4096];
static pid_t waiting[2];
static uint32_t arriving;

static void become(const char *stage)
{
	char *argv[] = { self, (char *)(uintptr_t)stage, NULL };

	fflush(stdout);
	execv(self, argv);
	die("%s: %s", self, strerror(errno));
}

static void *left_behind(void *arg)
{
	waiting[(uintptr_t)arg] = thread_id();
	word_add(&arriving, 1);
	serial(pthread_barrier_wait(&never));
	return arg;
}

static void *successor(void *arg)
{
	word_wait(&arriving, 2);
	wait_until_asleep(waiting[0]);
	wait_until_asleep(waiting[1]);
	become("3");
	return arg;
}

int main(int argc, char **argv)
{
	uint32_t stage = argc > 1 ? (uint32_t)parse_u64("stage", argv[1], 1, 3) : 1;
	pthread_t thread[3];
	ssize_t n;

	stopgap(STOPGAP_SECONDS);
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		die("/proc/self/exe: %s", strerror(errno));
	self[n] = 0;
	printf("exec_self: stage=%u episodes=%u\n", stage, run_team(3, 100 * stage));
	if (stage == 1)
		become("2");
	if (stage == 2) {
		must(pthread_barrier_init(&never, NULL, 3), "pthread_barrier_init");
		for (uintptr_t i = 0; i < 2; i++)
			must(pthread_create(&thread[i], NULL, left_behind, (void *)i),
			     "pthread_create");
		must(pthread_create(&thread[2], NULL, successor, NULL), "pthread_create");
		pthread_join(thread[2], NULL);
	}
	printf("exec_self: ok\n");
	return 0;
}
