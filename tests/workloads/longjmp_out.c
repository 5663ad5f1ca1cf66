// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A signal handler that interrupts the wait and leaves it by siglongjmp, 20 times. Each time, the
// thread then crosses a barrier with main.
//
// Known answer: 20 arrivals on `alone` that never depart, and 20 complete episodes of two threads
// on `meeting`.
#include "common.h"

#include <setjmp.h>
#include <signal.h>

#define TURNS 20

static pthread_barrier_t meeting, alone;
static sigjmp_buf back;
static uint32_t on_the_way;
static pid_t jumper_tid;
static int jumps;

static void on_signal(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

ONE_COPY static void wait_alone(uint32_t turn)
{
	must(pthread_barrier_init(&alone, NULL, 2), "pthread_barrier_init");
	if (sigsetjmp(back, 1)) {
		jumps++;
		return;
	}
	word_set(&on_the_way, turn + 1);
	serial(pthread_barrier_wait(&alone));
}

static void *jumper(void *arg)
{
	jumper_tid = thread_id();
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		wait_alone(turn);
		serial(pthread_barrier_wait(&meeting));
	}
	return arg;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;
	int crossed = 0;

	stopgap(STOPGAP_SECONDS);
	sigaction(SIGUSR1, &action, NULL);
	must(pthread_barrier_init(&meeting, NULL, 2), "pthread_barrier_init");
	must(pthread_create(&thread, NULL, jumper, NULL), "pthread_create");
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		word_wait(&on_the_way, turn + 1);
		wait_until_asleep(jumper_tid);
		must(pthread_kill(thread, SIGUSR1), "pthread_kill");
		serial(pthread_barrier_wait(&meeting));
		crossed++;
	}
	must(pthread_join(thread, NULL), "pthread_join");
	printf("longjmp_out: jumps=%d crossed=%d ok\n", jumps, crossed);
	return jumps != TURNS || crossed != TURNS;
}
