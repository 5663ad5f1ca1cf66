// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Threads with known times between barriers: paced ROUNDS HOW TURN MICROSECONDS... runs one thread
// for each of the times. HOW: s (sleep), b (burn CPU time), or one such letter for each thread.
// TURN 1: the times rotate, so that a different thread is late in each round; TURN 0: each thread
// keeps its time. PACED_ALONE, PACED_FIRST and PACED_TAIL are microseconds of sleep: of the main
// thread before the others begin, of each thread before its first round, and of each thread after
// its last. PACED_CALLS 2: two call sites of the barrier alternate.
#include "common.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 64

static pthread_barrier_t barrier;
static const char *how;
static int rounds, turn, threads;
static long times_us[MOST];

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void spend(int member, long us)
{
	char way = strlen(how) == 1 ? how[0] : how[member];
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };
	uint64_t end;

	if (way == 's') {
		nanosleep(&t, NULL);
		return;
	}
	for (end = cpu_ns() + (uint64_t)us * 1000; cpu_ns() < end;)
		;
}

static long number_of(const char *name)
{
	const char *value = getenv(name);

	return value ? atol(value) : 0;
}

static void __attribute__((noinline)) step(int member, int round)
{
	spend(member, times_us[(member + (turn ? round : 0)) % threads]);
	pthread_barrier_wait(&barrier);
	__asm__ volatile("# step");
}

static void __attribute__((noinline)) other_step(int member, int round)
{
	spend(member, times_us[(member + (turn ? round : 0)) % threads] / 2);
	pthread_barrier_wait(&barrier);
	__asm__ volatile("# other_step");
}

static void *run(void *arg)
{
	int member = (int)(intptr_t)arg, i;

	usleep((unsigned int)number_of("PACED_FIRST"));
	for (i = 0; i < rounds; i++) {
		step(member, i);
		if (number_of("PACED_CALLS") > 1)
			other_step(member, i);
	}
	usleep((unsigned int)number_of("PACED_TAIL"));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t ids[MOST];
	int i;

	if (argc < 5 || argc - 4 > MOST)
		return 2;
	rounds = atoi(argv[1]);
	how = argv[2];
	turn = atoi(argv[3]);
	threads = argc - 4;
	if (strlen(how) != 1 && (int)strlen(how) != threads)
		return 2;
	for (i = 0; i < threads; i++)
		times_us[i] = atol(argv[4 + i]);
	pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
	usleep((unsigned int)number_of("PACED_ALONE"));
	for (i = 1; i < threads; i++)
		if (pthread_create(&ids[i], NULL, run, (void *)(intptr_t)i))
			return 1;
	run(NULL);
	for (i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
