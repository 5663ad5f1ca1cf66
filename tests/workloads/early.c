// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Crosses barriers in a constructor, before main begins, and again in main.
//
// Known answer: 40 episodes of 2 threads at early_member(), 60 of 2 at late_member().
#include "common.h"

#define EARLY 40
#define LATE  60

static pthread_barrier_t barrier;
static uint32_t serials;

ONE_COPY static void *early_member(void *arg)
{
	for (int i = 0; i < EARLY; i++) {
		if (serial(pthread_barrier_wait(&barrier)))
			__atomic_fetch_add(&serials, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

ONE_COPY static void *late_member(void *arg)
{
	for (int i = 0; i < LATE; i++) {
		if (serial(pthread_barrier_wait(&barrier)))
			__atomic_fetch_add(&serials, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

static void run_two(void *(*member)(void *))
{
	pthread_t thread[2];

	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		must(pthread_create(&thread[i], NULL, member, NULL), "pthread_create");
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		must(pthread_join(thread[i], NULL), "pthread_join");
}

__attribute__((constructor)) static void before_main(void)
{
	stopgap(STOPGAP_SECONDS);
	must(pthread_barrier_init(&barrier, NULL, 2), "pthread_barrier_init");
	run_two(early_member);
}

int main(void)
{
	run_two(late_member);
	printf("early: episodes=%u ok\n", serials);
	return serials != EARLY + LATE;
}
