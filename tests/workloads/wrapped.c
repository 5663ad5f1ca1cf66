// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A barrier behind two wrappers, which is called from two lines alternately.
//
// Known answer: 50 episodes of 2 threads at one line of inner(). With --frames 1 they are at one
// line of outer(), and with --frames 2 at the two lines of work(), 25 each. The file does not use
// common.h, because it is also built without unwind tables.
#include <pthread.h>

static pthread_barrier_t b;

/* The empty statements prevent tail calls. */
__attribute__((noinline)) static int inner(void)
{
	int r = pthread_barrier_wait(&b); /* HERE: inner */

	__asm__ volatile("");
	return r + 1;
}

__attribute__((noinline)) static int outer(void)
{
	int r = inner(); /* HERE: outer */

	__asm__ volatile("");
	return r + 1;
}

static void *work(void *arg)
{
	volatile int sum = 0;

	for (int i = 0; i < 25; i++) {
		sum += outer(); /* HERE: first */
		sum += outer(); /* HERE: second */
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_barrier_init(&b, 0, 2);
	pthread_create(&t, 0, work, 0);
	work(0);
	return pthread_join(t, 0);
}
