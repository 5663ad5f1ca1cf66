// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// All threads compete for one mutex, and for a lock of their own: a futex word that is 0 if free, 1
// if held, and 2 if held with waiting threads. The thread that releases this lock wakes all.
#include "not.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t word;
static uint64_t count, own_count; /* one for each lock: threads may hold different locks */

static void lock(void)
{
	uint32_t seen = 0;

	if (__atomic_compare_exchange_n(&word, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&word, 2, __ATOMIC_ACQUIRE) != 0)
		syscall(SYS_futex, &word, 128 /* FUTEX_WAIT_PRIVATE */, 2, NULL, NULL, 0);
}

static void unlock(void)
{
	if (__atomic_exchange_n(&word, 0, __ATOMIC_RELEASE) == 2)
		syscall(SYS_futex, &word, 129 /* FUTEX_WAKE_PRIVATE */, INT32_MAX, NULL, NULL, 0);
}

static void *body(void *arg)
{
	for (uint32_t i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		work_us((uintptr_t)arg + i, 20);
		count++;
		pthread_mutex_unlock(&mutex);
	}
	for (uint32_t i = 0; i < rounds; i++) {
		lock();
		work_us((uintptr_t)arg + i, 20);
		own_count++;
		unlock();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	parse_arguments(argc, argv);
	run_threads(thread_count, body);
	return report("not_mutex", "locked", count + own_count, 2ULL * thread_count * rounds);
}
