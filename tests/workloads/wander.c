// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Threads and their CPUs: wander MODE ROUNDS. Two threads repeatedly work for a millisecond and
 * cross a barrier. MODE "pin": both may run on CPU 0 only. "wander": before it works, each moves to
 * the other of CPUs 0 and 1. "stay": each has its own CPU.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 2

static pthread_barrier_t meet;
static int rounds, wanders, pinned;

static void go_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("wander: sched_setaffinity");
		exit(1);
	}
}

static void work(void)
{
	struct timespec now;
	int64_t end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec * 1000000000LL + now.tv_nsec + 1000000;
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec * 1000000000LL + now.tv_nsec < end);
}

static void *run(void *arg)
{
	int i, me = (int)(intptr_t)arg;

	go_to(pinned ? 0 : me);
	for (i = 0; i < rounds; i++) {
		if (wanders)
			go_to((me + i) % THREADS);
		work();
		pthread_barrier_wait(&meet);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	if (argc != 3) {
		fprintf(stderr, "usage: wander pin|wander|stay ROUNDS\n");
		return 2;
	}
	pinned = !strcmp(argv[1], "pin");
	wanders = !strcmp(argv[1], "wander");
	rounds = atoi(argv[2]);
	pthread_barrier_init(&meet, NULL, THREADS);
	if (pthread_create(&other, NULL, run, (void *)(intptr_t)1))
		return 1;
	run(NULL);
	pthread_join(other, NULL);
	printf("wander: rounds=%d ok\n", rounds);
	return 0;
}
