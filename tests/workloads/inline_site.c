// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// One line that waits, inlined twice: into first_half() directly and into second_half() through
// another inline function.
//
// Known answer: two call sites with 50 episodes of 3 threads each, both at the line in meet();
// their inlined frames are meet <- first_half and meet <- regroup <- second_half.
#include "common.h"

#define THREADS 3
#define ROUNDS	50

static pthread_barrier_t barrier;
static uint32_t first_serials, second_serials;

__attribute__((always_inline)) static inline int meet(pthread_barrier_t *b)
{
	return serial(pthread_barrier_wait(b));
}

__attribute__((always_inline)) static inline int regroup(pthread_barrier_t *b)
{
	return meet(b);
}

ONE_COPY static void first_half(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (meet(&barrier))
			__atomic_fetch_add(&first_serials, 1, __ATOMIC_RELAXED);
	}
}

ONE_COPY static void second_half(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (regroup(&barrier))
			__atomic_fetch_add(&second_serials, 1, __ATOMIC_RELAXED);
	}
}

static void *member(void *arg)
{
	first_half();
	second_half();
	return arg;
}

int main(void)
{
	pthread_t thread[THREADS];

	stopgap(STOPGAP_SECONDS);
	must(pthread_barrier_init(&barrier, NULL, THREADS), "pthread_barrier_init");
	for (int i = 0; i < THREADS; i++)
		must(pthread_create(&thread[i], NULL, member, NULL), "pthread_create");
	for (int i = 0; i < THREADS; i++)
		must(pthread_join(thread[i], NULL), "pthread_join");
	printf("inline_site: first=%u second=%u ok\n", first_serials, second_serials);
	return first_serials != ROUNDS || second_serials != ROUNDS;
}
