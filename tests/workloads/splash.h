// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// For programs modelled on SPLASH-2 (radix, lu3, ocean, water). Their threads cross BARRIER(id),
// which has three variants, chosen by -DFLAVOUR=PTHREAD, COND or SPIN. SPIN is inlined and calls
// nothing, so a tracer cannot see it. Arguments: [THREADS [SIZE [STEPS]]]. At the end the program
// prints a line for every BARRIER in the source with its exact number of episodes. Then it prints a
// line with the sum and a checksum of the results, which depends neither on the variant nor on the
// number of threads.
#ifndef WORKLOADS_SPLASH_H
#define WORKLOADS_SPLASH_H

#include "common.h"

#define PTHREAD 1
#define COND	2
#define SPIN	3

#ifndef FLAVOUR
#define FLAVOUR PTHREAD
#endif

#define MAX_THREADS 64
#define MAX_LINES   400

static struct {
	uint32_t threads, size, steps;
	uint64_t episodes[MAX_LINES]; /* by source line, counted by thread 0 */
	const char *function[MAX_LINES];
} splash;

#if FLAVOUR == PTHREAD

#define FLAVOUR_NAME "pthread"

static pthread_barrier_t splash_barrier;

static inline void splash_init(void)
{
	must(pthread_barrier_init(&splash_barrier, NULL, splash.threads), "pthread_barrier_init");
}

/* This is a macro, so that the call is on the line of BARRIER. */
#define splash_wait() serial(pthread_barrier_wait(&splash_barrier))

#elif FLAVOUR == COND

#define FLAVOUR_NAME "cond"

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t all_here;
	uint32_t counter, cycle;
} splash_barrier = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };

static inline void splash_init(void)
{
}

/*
 * The barrier of section 4.3.1 of E. Novillo's thesis (University of Alberta, 2002), with a
 * predicate loop.
 */
ONE_COPY static void splash_wait(void)
{
	uint32_t cycle;

	pthread_mutex_lock(&splash_barrier.mutex);
	cycle = splash_barrier.cycle;
	if (++splash_barrier.counter == splash.threads) {
		splash_barrier.counter = 0;
		splash_barrier.cycle++;
		pthread_cond_broadcast(&splash_barrier.all_here);
	} else {
		while (splash_barrier.cycle == cycle)
			pthread_cond_wait(&splash_barrier.all_here, &splash_barrier.mutex);
	}
	pthread_mutex_unlock(&splash_barrier.mutex);
}

#elif FLAVOUR == SPIN

#define FLAVOUR_NAME "spin"

static struct {
	uint32_t counter, cycle;
} splash_barrier;

static inline void splash_init(void)
{
}

static inline __attribute__((always_inline)) void splash_wait(void)
{
	uint32_t cycle = __atomic_load_n(&splash_barrier.cycle, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&splash_barrier.counter, 1, __ATOMIC_ACQ_REL) == splash.threads) {
		__atomic_store_n(&splash_barrier.counter, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&splash_barrier.cycle, cycle + 1, __ATOMIC_RELEASE);
	} else {
		while (__atomic_load_n(&splash_barrier.cycle, __ATOMIC_ACQUIRE) == cycle)
			;
	}
}

#endif

/* Cross the barrier of all threads. Each source line is one call site. */
#define BARRIER(id)                                                      \
	do {                                                             \
		_Static_assert(__LINE__ < MAX_LINES, "raise MAX_LINES"); \
		if ((id) == 0) {                                         \
			splash.episodes[__LINE__]++;                     \
			splash.function[__LINE__] = __func__;            \
		}                                                        \
		splash_wait();                                           \
	} while (0)

static inline void splash_arguments(int argc, char **argv, uint32_t size, uint32_t steps)
{
	splash.threads = 4;
	splash.size = size;
	splash.steps = steps;
	if (argc > 1)
		splash.threads = (uint32_t)parse_u64("THREADS", argv[1], 1, MAX_THREADS);
	if (argc > 2)
		splash.size = (uint32_t)parse_u64("SIZE", argv[2], 1, 1U << 28);
	if (argc > 3)
		splash.steps = (uint32_t)parse_u64("STEPS", argv[3], 1, 1000000);
	stopgap(STOPGAP_SECONDS);
}

/*
 * Return the first item of a thread's share of @n. The share ends at the first item of the next
 * thread.
 */
static inline uint32_t share(uint32_t id, uint32_t n)
{
	return (uint32_t)((uint64_t)n * id / splash.threads);
}

/* Main is thread 0, as in SPLASH-2. */
static inline void splash_run(void *(*body)(void *))
{
	pthread_t threads[MAX_THREADS];

	splash_init();
	for (uint32_t i = 1; i < splash.threads; i++)
		must(pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)i),
		     "pthread_create");
	body(NULL);
	for (uint32_t i = 1; i < splash.threads; i++)
		must(pthread_join(threads[i], NULL), "pthread_join");
}

static inline int splash_report(const char *name, uint64_t sum, int right)
{
	uint64_t total = 0;

	for (uint32_t line = 0; line < MAX_LINES; line++) {
		if (!splash.episodes[line])
			continue;
		total += splash.episodes[line];
		printf("%s-" FLAVOUR_NAME ": site=%s.c:%u function=%s episodes=%llu\n", name, name,
		       line, splash.function[line], (unsigned long long)splash.episodes[line]);
	}
	printf("%s-" FLAVOUR_NAME ": threads=%u size=%u episodes=%llu checksum=%016llx %s\n", name,
	       splash.threads, splash.size, (unsigned long long)total, (unsigned long long)sum,
	       right ? "ok" : "bad");
	return !right;
}

#endif
