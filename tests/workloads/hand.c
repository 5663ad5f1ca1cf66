// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A barrier written by hand with a condition variable, which three threads cross at two call sites,
// 25 times each. tests/e2e/test_frames.py builds it in many variants: -DWRAPPED: through another
// function; -DINLINED: in the threads' own function.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef INLINED
#define FAR static inline __attribute__((always_inline))
#else
#define FAR __attribute__((noinline))
#endif
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static unsigned count, cycle;

FAR void meet(void)
{
	unsigned mine;

	pthread_mutex_lock(&m);
	mine = cycle;
	if (++count == 3) {
		count = 0;
		cycle++;
		pthread_cond_broadcast(&c); /* wake */
	} else {
		while (cycle == mine)
			pthread_cond_wait(&c, &m); /* wait */
	}
	pthread_mutex_unlock(&m);
}
#ifdef WRAPPED
FAR void sync_all(void)
{
	meet(); /* wrapper */
	__asm__("");
}
#else
#define sync_all meet
#endif
static void *work(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;

	for (int i = 0; i < 25; i++) {
		usleep(rand_r(&seed) % 300);
		sync_all(); /* first */
		usleep(rand_r(&seed) % 300);
		sync_all(); /* second */
	}
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, (void *)(size_t)(i + 1));
	work((void *)7);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
