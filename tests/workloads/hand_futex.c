// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Like hand.c, but on a futex. -DHELPER: the system call is in a separate function; -DHELPERS: in
// two functions, one that waits and one that wakes. -DLATE=...: how long a thread works, in µs.
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef LATE
#define LATE rand_r(&seed) % 900
#endif
static unsigned count, cycle;
#if defined(HELPERS)
__attribute__((noinline)) static void futex_wait(unsigned *word, unsigned value)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, 0, 0, 0);
	__asm__("");
}

__attribute__((noinline)) static void futex_wake(unsigned *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1 << 30, 0, 0, 0);
	__asm__("");
}
#else
#ifdef HELPER
__attribute__((noinline))
#else
static inline
	__attribute__((always_inline))
#endif
long futex(unsigned *word, int op, unsigned value)
{
	long r = syscall(SYS_futex, word, op, value, 0, 0, 0);

	__asm__("");
	return r;
}

#define futex_wait(word, value) futex(word, FUTEX_WAIT, value)
#define futex_wake(word)	futex(word, FUTEX_WAKE, 1 << 30)
#endif

__attribute__((noinline)) void meet(void)
{
	unsigned mine = __atomic_load_n(&cycle, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&count, 1, __ATOMIC_ACQ_REL) == 3) {
		__atomic_store_n(&count, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&cycle, mine + 1, __ATOMIC_RELEASE);
		futex_wake(&cycle);
	} else {
		while (__atomic_load_n(&cycle, __ATOMIC_ACQUIRE) == mine)
			futex_wait(&cycle, mine);
	}
}

static void *work(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;

	for (int i = 0; i < 25; i++) {
		usleep(LATE);
		meet(); /* first */
		usleep(LATE);
		meet(); /* second */
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
