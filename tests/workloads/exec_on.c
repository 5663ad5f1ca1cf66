// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Crosses a barrier and executes the next program at once, so that a tracer that then examines the
// process finds the next program: exec_on N NEXT OTHER executes NEXT with N - 1 OTHER NEXT, until N
// is 1. It is built with different function names (MEMBER) and code addresses (PAD), and with a
// wait function in a library (WAIT).
//
// Known answer: one pid, N programs one after the other, 10 episodes of 3 threads each, all at the
// one call in MEMBER (or in WAIT, if it is given).
#include "common.h"

#ifndef MEMBER
#define MEMBER first_member
#endif
#ifndef WAIT
#define WAIT pthread_barrier_wait
#endif

#define ROUNDS 10

int WAIT(pthread_barrier_t *barrier);

static pthread_barrier_t barrier;

#ifdef PAD
ONE_COPY __attribute__((used)) static void pad(void)
{
	__asm__ volatile(".skip %c0" : : "i"(PAD));
}
#endif

ONE_COPY static void *MEMBER(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		WAIT(&barrier);
	return arg;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 3 ? parse_u64("N", argv[1], 1, 100000) : 1;
	pthread_t thread[2];
	char left[1024];

	stopgap(STOPGAP_SECONDS);
	must(pthread_barrier_init(&barrier, NULL, 3), "pthread_barrier_init");
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		must(pthread_create(&thread[i], NULL, MEMBER, NULL), "pthread_create");
	MEMBER(NULL);
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		must(pthread_join(thread[i], NULL), "pthread_join");
	if (n == 1)
		return 0;
	/*
	 * The argument has another length each time. So the stack begins at another address even
	 * without ASLR, as it does in a program that is run again.
	 */
	snprintf(left, sizeof(left), "%*llu", (int)(n % 60 * 16 + 8), (unsigned long long)n - 1);
	execl(argv[2], argv[2], left, argv[3], argv[2], NULL);
	die("%s: %s", argv[2], strerror(errno));
}
