// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// main exits while the other three threads wait for it in their 11th episode.
//
// Known answer: 10 episodes of 4 threads, three arrivals that never depart, exit status 7.
#include "common.h"

#define THREADS 3
#define ROUNDS	10

static pthread_barrier_t barrier;
static pid_t tid[THREADS];
static uint32_t started;

static void *waiter(void *arg)
{
	tid[(uintptr_t)arg] = thread_id();
	word_add(&started, 1);
	for (;;)
		serial(pthread_barrier_wait(&barrier));
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	stopgap(STOPGAP_SECONDS);
	must(pthread_barrier_init(&barrier, NULL, THREADS + 1), "pthread_barrier_init");
	for (uintptr_t i = 0; i < THREADS; i++)
		must(pthread_create(&thread[i], NULL, waiter, (void *)i), "pthread_create");
	for (int i = 0; i < ROUNDS; i++)
		serial(pthread_barrier_wait(&barrier));
	word_wait(&started, THREADS);
	for (int i = 0; i < THREADS; i++)
		wait_until_asleep(tid[i]);
	printf("exit_in_wait: rounds=%d, leaving %d threads in the wait\n", ROUNDS, THREADS);
	fflush(stdout);
	exit(7);
}
