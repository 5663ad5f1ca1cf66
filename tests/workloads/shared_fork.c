// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Processes are forked before the first wait, and cross a barrier in memory that they share. No
 * child has touched that memory when it first arrives. Known answer: ROUNDS episodes of PROCESSES
 * members.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 4
#define ROUNDS	  200

int main(void)
{
	pthread_barrier_t *barrier = mmap(NULL, sizeof(*barrier), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t attr;
	int i, round, status, bad = 0;

	alarm(60);
	if (barrier == MAP_FAILED)
		return 1;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(barrier, &attr, PROCESSES);
	for (i = 0; i < PROCESSES; i++) {
		if (fork())
			continue;
		for (round = 0; round < ROUNDS; round++)
			pthread_barrier_wait(barrier);
		_exit(0);
	}
	while (wait(&status) > 0)
		bad |= status;
	printf("shared_fork: episodes=%d %s\n", ROUNDS, bad ? "bad" : "ok");
	return bad != 0;
}
