// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// OpenMP regions of four threads that hang: hung_omp KIND. "break": thread 1 leaves the loop early.
// It waits for the others at the end of the region, while they wait for it at the loop's barrier.
// "pipe": thread 1 reads from an empty pipe on its way to the barrier. Prints "# member NUMBER
// TID", "# missing TID" and, when each thread is where it stays, "# hung".
#include "common.h"

#include <omp.h>
#include <stdbool.h>

#define THREADS 4
#define ROUNDS	20

static pid_t tid_of[THREADS];
static int fd[2];

static void *watcher(void *arg)
{
	for (int i = 0; i < THREADS; i++) {
		while (!__atomic_load_n(&tid_of[i], __ATOMIC_RELAXED))
			sleep_ns(1000000);
		wait_until_asleep(tid_of[i]);
	}
	printf("# hung\n");
	fflush(stdout);
	return arg;
}

static void say(const char *what, int number)
{
	if (number < 0)
		printf("# %s %d\n", what, thread_id());
	else
		printf("# %s %d %d\n", what, number, thread_id());
	fflush(stdout);
}

ONE_COPY static void read_it(void)
{
	char byte;

	if (read(fd[0], &byte, 1) < 0) /* HERE: pipe */
		die("read: %s", strerror(errno));
}

ONE_COPY static void rounds(bool leaves)
{
	int me = omp_get_thread_num();

	for (int i = 0; i <= ROUNDS + 1; i++) {
		if (i == ROUNDS && me == 1) {
			say("missing", -1);
			if (leaves)
				break;
			read_it();
		}
#pragma omp barrier /* HERE: barrier */
	}
}

int main(int argc, char **argv)
{
	bool leaves = argc == 2 && !strcmp(argv[1], "break");
	pthread_t watching;

	if (argc != 2 || (!leaves && strcmp(argv[1], "pipe")))
		die("usage: hung_omp break|pipe");
	stopgap(STOPGAP_SECONDS);
	if (pipe(fd))
		die("pipe: %s", strerror(errno));
#pragma omp parallel num_threads(THREADS)
	{
		int me = omp_get_thread_num();

		say("member", me);
		tid_of[me] = thread_id();
#pragma omp barrier
		if (!me)
			must(pthread_create(&watching, NULL, watcher, NULL), "pthread_create");
		rounds(leaves);
	} /* HERE: break */
	return 0;
}
