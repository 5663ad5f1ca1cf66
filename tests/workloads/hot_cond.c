// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Threads that use condition variables as often as they can, between two barriers:
 *
 *   hot_cond KIND THREADS ROUNDS [OBJECTS]
 *
 *   empty    broadcasts for which no thread waits, on OBJECTS condition variables
 *   own      as `empty`, each thread on its own condition variable
 *   turns    threads run one after the other
 *   barrier  episodes of a hand-written barrier
 *   both     as `barrier`, while one more thread broadcasts and wakes no thread
 *   queue    every second thread takes from a queue of 8, the others put into it
 *   nap      as `queue`, and then each thread sleeps for OBJECTS tenths of a second
 *   free     as `queue`, without the barriers at the start and the end
 * Prints the elapsed seconds.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t conds[MOST];
static pthread_barrier_t ends;
static const char *kind;
static unsigned nthreads, objects = 1;
static long rounds, turn;
static unsigned arrived, round_now, queued;
static atomic_int done;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void by_turns(long me)
{
	long i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < rounds; i++) {
		while (turn % nthreads != me)
			pthread_cond_wait(&conds[0], &lock);
		turn++;
		pthread_cond_broadcast(&conds[0]);
	}
	pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) void meet(unsigned n)
{
	unsigned mine;

	pthread_mutex_lock(&lock);
	mine = round_now;
	if (++arrived == n) {
		arrived = 0;
		round_now++;
		pthread_cond_broadcast(&conds[0]);
	} else {
		while (mine == round_now)
			pthread_cond_wait(&conds[0], &lock);
	}
	pthread_mutex_unlock(&lock);
}

/* All threads together put in as many items as they take out, so no thread waits forever. */
static void queue(long me)
{
	long i;

	for (i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		if (me & 1) {
			while (!queued)
				pthread_cond_wait(&conds[0], &lock);
			queued--;
			pthread_cond_signal(&conds[1]);
		} else {
			while (queued >= 8)
				pthread_cond_wait(&conds[1], &lock);
			queued++;
			pthread_cond_signal(&conds[0]);
		}
		pthread_mutex_unlock(&lock);
	}
}

static void *run(void *arg)
{
	long me = (long)arg, i;
	int both = !strcmp(kind, "both");

	if (!strcmp(kind, "free")) {
		queue(me);
		return NULL;
	}
	pthread_barrier_wait(&ends);
	if (!strcmp(kind, "queue") || !strcmp(kind, "nap"))
		queue(me);
	else if (!strcmp(kind, "turns"))
		by_turns(me);
	else if (both && me == nthreads - 1)
		while (!done)
			pthread_cond_broadcast(&conds[1]);
	else if (both || !strcmp(kind, "barrier"))
		for (i = 0; i < rounds; i++)
			meet(nthreads - (both ? 1 : 0));
	else
		for (i = 0; i < rounds; i++)
			pthread_cond_broadcast(&conds[!strcmp(kind, "own") ? me : i % objects]);
	if (!strcmp(kind, "nap"))
		usleep(objects * 100000);
	done = 1;
	pthread_barrier_wait(&ends);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST];
	double begin;
	long i;

	if (argc < 4)
		return 2;
	kind = argv[1];
	nthreads = (unsigned)atoi(argv[2]);
	rounds = atol(argv[3]);
	if (argc > 4)
		objects = (unsigned)atoi(argv[4]);
	if (!nthreads || nthreads > MOST || !objects || objects > MOST)
		return 2;
	for (i = 0; i < MOST; i++)
		pthread_cond_init(&conds[i], NULL);
	pthread_barrier_init(&ends, NULL, nthreads);
	begin = now();
	for (i = 0; i < nthreads; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	printf("%.6f\n", now() - begin);
	return 0;
}
