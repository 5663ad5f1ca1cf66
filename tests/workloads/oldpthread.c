// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A libpthread.so.0 as in glibc before 2.34: a separate library that exports
// pthread_barrier_wait@@GLIBC_2.2.5. The barrier has the layout of glibc 2.25 to 2.33, and the
// simplest algorithm that works.
#include "common.h"

#include <limits.h>

struct barrier {
	uint32_t in;
	uint32_t round;
	uint32_t count;
	int32_t shared; /* 0: private, 128: shared, like glibc's futex flags */
	uint32_t out;
};

static void futex(uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

int pthread_barrier_init(pthread_barrier_t *restrict barrier,
			 const pthread_barrierattr_t *restrict attr, unsigned int count)
{
	struct barrier *b = (struct barrier *)barrier;
	int pshared = PTHREAD_PROCESS_PRIVATE;

	if (!count)
		return EINVAL;
	if (attr)
		pthread_barrierattr_getpshared(attr, &pshared);
	memset(b, 0, sizeof(*b));
	b->count = count;
	b->shared = pshared == PTHREAD_PROCESS_PRIVATE ? 0 : 128;
	return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	struct barrier *b = (struct barrier *)barrier;

	while (__atomic_load_n(&b->out, __ATOMIC_ACQUIRE))
		sleep_ns(10000);
	return 0;
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct barrier *b = (struct barrier *)barrier;
	uint32_t round = __atomic_load_n(&b->round, __ATOMIC_ACQUIRE);
	int last;

	__atomic_fetch_add(&b->out, 1, __ATOMIC_ACQ_REL);
	last = __atomic_add_fetch(&b->in, 1, __ATOMIC_ACQ_REL) == b->count;
	if (last) {
		b->in = 0;
		__atomic_fetch_add(&b->round, 1, __ATOMIC_ACQ_REL);
		futex(&b->round, 1 /* FUTEX_WAKE */, INT_MAX);
	}
	while (!last && __atomic_load_n(&b->round, __ATOMIC_ACQUIRE) == round)
		futex(&b->round, 0 /* FUTEX_WAIT */, round);
	__atomic_fetch_sub(&b->out, 1, __ATOMIC_ACQ_REL);
	return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}
