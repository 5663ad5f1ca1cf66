// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Threads with asynchronous cancellation, cancelled inside pthread_barrier_wait. In each of 20
// turns a thread crosses `meeting` three times with main. Then it waits on `alone`, where no second
// member ever arrives, and is cancelled.
//
// Known answer: 60 episodes of two threads on `meeting`; 20 arrivals on `alone` that never depart;
// every cleanup handler runs, the inner before the outer.
#include "common.h"

#define TURNS	 20
#define MEETINGS 3

static pthread_barrier_t meeting, alone;
static uint32_t on_the_way;
static pid_t victim_tid;
static int cleanups, in_order;

static void outer_cleanup(void *arg)
{
	in_order += *(int *)arg == 1;
	cleanups++;
}

static void inner_cleanup(void *arg)
{
	(*(int *)arg)++;
	cleanups++;
}

static void *victim(void *arg)
{
	uint32_t turn = (uint32_t)(uintptr_t)arg;
	int old, inner_ran = 0;

	for (int i = 0; i < MEETINGS; i++)
		serial(pthread_barrier_wait(&meeting));
	pthread_cleanup_push(outer_cleanup, &inner_ran);
	pthread_cleanup_push(inner_cleanup, &inner_ran);
	victim_tid = thread_id();
	word_set(&on_the_way, turn + 1);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	pthread_barrier_wait(&alone);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	int cancelled = 0, crossings = 0;

	stopgap(STOPGAP_SECONDS);
	must(pthread_barrier_init(&meeting, NULL, 2), "pthread_barrier_init");
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		pthread_t thread;
		void *result;

		/*
		 * Initialise the barrier again, because it is unusable after a thread was cancelled
		 * in it.
		 */
		must(pthread_barrier_init(&alone, NULL, 2), "pthread_barrier_init");
		must(pthread_create(&thread, NULL, victim, (void *)(uintptr_t)turn),
		     "pthread_create");
		for (int i = 0; i < MEETINGS; i++) {
			serial(pthread_barrier_wait(&meeting));
			crossings++;
		}
		word_wait(&on_the_way, turn + 1);
		wait_until_asleep(victim_tid);
		must(pthread_cancel(thread), "pthread_cancel");
		must(pthread_join(thread, &result), "pthread_join");
		cancelled += result == PTHREAD_CANCELED;
	}
	printf("cancel_async: cancelled=%d cleanups=%d in_order=%d crossings=%d ok\n", cancelled,
	       cleanups, in_order, crossings);
	return cancelled != TURNS || cleanups != 2 * TURNS || in_order != TURNS;
}
