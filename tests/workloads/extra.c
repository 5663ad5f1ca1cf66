// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * extra LATE THREADS ROUNDS: threads do the same work before each barrier, and thread LATE (-1:
 * none) does more, in extra_work(). Each thread measures both with its own clock of CPU time. At
 * the end, standard output has one line: the CPU time of the extra work of thread LATE, and all its
 * CPU time outside the barrier, both in ns. If no thread is late, it has the CPU time of each
 * thread.
 *
 * The way in which extra_work() is compiled is a choice of the build: by default a function of its
 * own; INLINED: it is inlined into its caller; LIBRARY: it is in a shared library; CALLS: it calls
 * a function of the C library that does the work. MEMORY: all work follows pointers in memory.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 64

#if defined(INLINED)
#define EXTRA static inline __attribute__((always_inline))
#else
#define EXTRA __attribute__((noinline))
#endif

struct thread {
	pthread_t thread;
	int number;
	uint64_t extra_ns, all_ns;
	double sink;
};

static pthread_barrier_t barrier;
static int late, rounds;

#if defined(MEMORY)
#define CELLS (1 << 19)

/* Each thread has its own. */
static __thread uint32_t *cells;

static void fill_cells(void)
{
	uint32_t i;

	cells = malloc(CELLS * sizeof(*cells));
	if (!cells)
		abort();
	/* An odd step visits all cells. */
	for (i = 0; i < CELLS; i++)
		cells[i] = (i + 100003) % CELLS;
}

EXTRA double extra_work(long n)
{
	uint32_t at = 1;

	for (n /= 2; n > 0; n--)
		at = cells[at];
	return at;
}
#elif defined(LIBRARY)
double extra_work(long n);
#elif defined(CALLS)
static char area[2][1 << 16];

EXTRA double extra_work(long n)
{
	long i;

	for (i = 0; i < n / 2000; i++) {
		memmove(area[i & 1], area[~i & 1], sizeof(area[0]));
		/* The compiler must not leave out a copy. */
		__asm__ volatile("" ::: "memory");
	}
	return area[0][n & 0xffff];
}
#else
EXTRA double extra_work(long n)
{
	double x = 1;
	long i;

	for (i = 0; i < n; i++)
		x = x / 1.0000001 + 0.3;
	return x;
}
#endif

#if defined(MEMORY)
__attribute__((noinline)) static double common_work(long n)
{
	uint32_t at = 0;

	for (n /= 2; n > 0; n--)
		at = cells[at];
	return at;
}
#else
__attribute__((noinline)) static double common_work(long n)
{
	double x = 1;
	long i;

	for (i = 0; i < n; i++)
		x = x * 1.0000001 + 0.1;
	return x;
}

static void fill_cells(void)
{
}
#endif

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *run(void *arg)
{
	struct thread *t = arg;
	uint64_t begin, middle, end;
	int i;

	fill_cells();
	for (i = 0; i < rounds; i++) {
		begin = cpu_ns();
		t->sink += common_work(1500000);
		middle = end = cpu_ns();
		if (t->number == late) {
			t->sink += extra_work(3000000);
			end = cpu_ns();
		}
		t->extra_ns += end - middle;
		t->all_ns += end - begin;
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct thread threads[MOST];
	int n = argc > 2 ? atoi(argv[2]) : 2, i;

	late = argc > 1 ? atoi(argv[1]) : 1;
	rounds = argc > 3 ? atoi(argv[3]) : 60;
	if (n < 1 || n > MOST || late >= n)
		return 2;
	pthread_barrier_init(&barrier, NULL, (unsigned int)n);
	for (i = 0; i < n; i++) {
		threads[i].number = i;
		if (pthread_create(&threads[i].thread, NULL, run, &threads[i]))
			return 1;
	}
	for (i = 0; i < n; i++)
		pthread_join(threads[i].thread, NULL);
	if (late >= 0)
		printf("%llu %llu\n", (unsigned long long)threads[late].extra_ns,
		       (unsigned long long)threads[late].all_ns);
	for (i = 0; late < 0 && i < n; i++)
		printf("%llu%c", (unsigned long long)threads[i].all_ns, i < n - 1 ? ' ' : '\n');
	return 0;
}
