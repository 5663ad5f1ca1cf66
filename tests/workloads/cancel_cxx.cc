// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Like cancel_async, in C++: cancellation inside the wait must run destructors and pass through
// catch (...), which rethrows it.
//
// Known answer: 60 episodes of two threads on `meeting`; 20 arrivals on `alone` that never depart;
// 40 destructors.
#include "common.h"
#include "wait.h"

#define TURNS	 20
#define MEETINGS 3

static pthread_barrier_t meeting, alone;
static uint32_t on_the_way;
static pid_t victim_tid;
static int destroyed, caught;

struct guard {
	~guard()
	{
		destroyed++;
	}
};

static void wait_alone(uint32_t turn)
{
	guard inner;
	int old;

	victim_tid = thread_id();
	word_set(&on_the_way, turn + 1);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	wait_for_all(&alone);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
}

extern "C" void *victim(void *arg)
{
	guard outer;

	for (int i = 0; i < MEETINGS; i++)
		wait_for_all(&meeting);
	try {
		wait_alone((uint32_t)(uintptr_t)arg);
	} catch (...) {
		caught++;
		throw;
	}
	return nullptr;
}

int main()
{
	int cancelled = 0, crossings = 0;

	stopgap(STOPGAP_SECONDS);
	must(pthread_barrier_init(&meeting, nullptr, 2), "pthread_barrier_init");
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		pthread_t thread;
		void *result;

		must(pthread_barrier_init(&alone, nullptr, 2), "pthread_barrier_init");
		must(pthread_create(&thread, nullptr, victim, (void *)(uintptr_t)turn),
		     "pthread_create");
		for (int i = 0; i < MEETINGS; i++) {
			wait_for_all(&meeting);
			crossings++;
		}
		word_wait(&on_the_way, turn + 1);
		wait_until_asleep(victim_tid);
		must(pthread_cancel(thread), "pthread_cancel");
		must(pthread_join(thread, &result), "pthread_join");
		cancelled += result == PTHREAD_CANCELED;
	}
	printf("cancel_cxx: cancelled=%d destroyed=%d caught=%d crossings=%d ok\n", cancelled,
	       destroyed, caught, crossings);
	return cancelled != TURNS || destroyed != 2 * TURNS || caught != TURNS;
}
