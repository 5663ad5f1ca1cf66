// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * exec_away TIMES ROUNDS: four threads cross a barrier ROUNDS times. Then one of them, not the
 * first, executes the program again at once. This ends the other threads wherever they are, even on
 * their way out of the barrier. All this is repeated TIMES times. In the last program, all threads
 * end by themselves.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 4

static pthread_barrier_t barrier;
static int times, rounds;
static char **words;

static void *run(void *arg)
{
	char left[16];

	for (int i = 0; i < rounds; i++)
		pthread_barrier_wait(&barrier);
	if (times > 0 && arg == (void *)2) {
		snprintf(left, sizeof(left), "%d", times - 1);
		execl("/proc/self/exe", words[0], left, words[2], (char *)NULL);
		exit(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	if (argc < 3)
		return 2;
	words = argv;
	times = atoi(argv[1]);
	rounds = atoi(argv[2]);
	if (pthread_barrier_init(&barrier, NULL, THREADS))
		return 1;
	for (long i = 1; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)i))
			return 1;
	run(NULL);
	for (int i = 1; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
