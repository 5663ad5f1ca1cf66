// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A signal handler interrupts the wait and throws a C++ exception, which is caught in the thread's
// function, 20 times. Each time, the thread then crosses a barrier with main. Compiled with
// -fnon-call-exceptions, so that the handler can throw.
//
// Known answer: 20 arrivals on `alone` that never depart; 20 exceptions caught, 20 destructors; 20
// complete episodes of two threads on `meeting`.
#include "common.h"
#include "wait.h"

#include <signal.h>

#define TURNS 20

static pthread_barrier_t meeting, alone;
static uint32_t on_the_way;
static pid_t thrower_tid;
static int caught, destroyed;

struct interrupted {
	int signal;
};

struct guard {
	~guard()
	{
		destroyed++;
	}
};

static void on_signal(int sig)
{
	throw interrupted{ sig };
}

static void wait_alone(uint32_t turn)
{
	guard g;

	must(pthread_barrier_init(&alone, nullptr, 2), "pthread_barrier_init");
	word_set(&on_the_way, turn + 1);
	wait_for_all(&alone);
}

extern "C" void *thrower(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	thrower_tid = thread_id();
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		try {
			wait_alone(turn);
		} catch (const interrupted &e) {
			caught += e.signal == SIGUSR1;
			/* The handler did not return, so the signal is still blocked. */
			pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
		}
		wait_for_all(&meeting);
	}
	return arg;
}

int main()
{
	struct sigaction action = {};
	pthread_t thread;
	int crossed = 0;

	stopgap(STOPGAP_SECONDS);
	action.sa_handler = on_signal;
	sigaction(SIGUSR1, &action, nullptr);
	must(pthread_barrier_init(&meeting, nullptr, 2), "pthread_barrier_init");
	must(pthread_create(&thread, nullptr, thrower, nullptr), "pthread_create");
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		word_wait(&on_the_way, turn + 1);
		wait_until_asleep(thrower_tid);
		must(pthread_kill(thread, SIGUSR1), "pthread_kill");
		wait_for_all(&meeting);
		crossed++;
	}
	must(pthread_join(thread, nullptr), "pthread_join");
	printf("throw_out: caught=%d destroyed=%d crossed=%d ok\n", caught, destroyed, crossed);
	return caught != TURNS || destroyed != TURNS || crossed != TURNS;
}
