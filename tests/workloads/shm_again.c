// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * shm_again PAIRS ROUNDS [file]: pairs of children run one after the other. Each pair has a barrier
 * in shared memory of its own, always at the same address. The memory is an anonymous page or, with
 * "file", a different page of one file. The children end soon. Prints "pair PID PID" for each pair.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t begin(pthread_barrier_t *barrier, int rounds)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(1);
	if (pid)
		return pid;
	for (int i = 0; i < rounds; i++)
		pthread_barrier_wait(barrier);
	_exit(0);
}

int main(int argc, char **argv)
{
	int pairs = argc > 2 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 0, bad = 0;
	pthread_barrierattr_t shared;
	int file = argc > 3 ? memfd_create("pages", MFD_CLOEXEC) : -1;
	void *place = NULL;

	if (argc > 3 && (file < 0 || ftruncate(file, 4096L * pairs)))
		return 1;

	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	for (int i = 0; i < pairs; i++) {
		void *p =
			mmap(place, 4096, PROT_READ | PROT_WRITE,
			     MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0) | (place ? MAP_FIXED : 0),
			     file, file < 0 ? 0 : 4096L * i);
		pid_t one, other;

		if (p == MAP_FAILED || pthread_barrier_init((pthread_barrier_t *)p, &shared, 2))
			return 1;
		place = p;
		one = begin((pthread_barrier_t *)p, rounds);
		other = begin((pthread_barrier_t *)p, rounds);
		printf("pair %d %d\n", (int)one, (int)other);
		fflush(stdout);
	}
	for (int i = 0, status; i < 2 * pairs; i++)
		bad += wait(&status) < 0 || status;
	return bad != 0;
}
