// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Measures how much a tracer slows down programs with several kinds of barriers. T threads do S
// steps of work before each of R barriers. The work is a fixed number of steps and not a fixed
// time, so the elapsed time includes everything that slows the program down. Prints one JSON object
// with the time from the first barrier to the last. --kind:
//   pthread    pthread_barrier_wait
//   cond       a barrier written by hand with a mutex and a condition variable
//   futex      a barrier written by hand with the futex system call
//   sleep      pthread_barrier_wait after --sleeps short sleeps
//   barrier    #pragma omp barrier, with OpenMP only
//   region     a parallel region for each round, with OpenMP only
// --handoffs N: two more threads hand N items to each other through a condition variable for each
// round of the barrier, so there are probe hits that belong to no barrier.
// --calibrate: print only the number of steps that one thread takes in a millisecond.
#include "steps.h"

#include <getopt.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum kind { PTHREAD, COND, FUTEX, SLEEP, BARRIER, REGION };

static const char *const kinds[] = { "pthread", "cond", "futex", "sleep", "barrier", "region" };

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static uint32_t nthreads = 2, arrived, sense;
static uint64_t rounds = 1000, steps, sleeps = 1, handoffs;
static enum kind kind = PTHREAD;

static pthread_mutex_t hand_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t handed = PTHREAD_COND_INITIALIZER;
static uint64_t items;
static cpu_set_t cpus;

/*
 * Pin thread @index to one of the CPUs. Otherwise the scheduler sometimes wakes all threads on one
 * CPU and sometimes on several, and this changes the time of a run more than a tracer does.
 */
static void pin(uint32_t index)
{
	int cpu = 0, nth = (int)(index % (uint32_t)CPU_COUNT(&cpus));
	cpu_set_t set;

	while (!CPU_ISSET(cpu, &cpus) || nth--)
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity: %s", strerror(errno));
}

ONE_COPY static void meet_cond(void)
{
	uint32_t mine;

	pthread_mutex_lock(&mutex);
	mine = sense;
	if (++arrived == nthreads) {
		arrived = 0;
		sense++;
		pthread_cond_broadcast(&all_here);
	}
	while (mine == sense)
		pthread_cond_wait(&all_here, &mutex);
	pthread_mutex_unlock(&mutex);
}

ONE_COPY static void meet_futex(void)
{
	uint32_t mine = __atomic_load_n(&sense, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == nthreads) {
		__atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&sense, mine + 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &sense, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
		return;
	}
	while (__atomic_load_n(&sense, __ATOMIC_ACQUIRE) == mine)
		syscall(SYS_futex, &sense, FUTEX_WAIT_PRIVATE, mine, NULL, NULL, 0);
}

static void meet(void)
{
	switch (kind) {
	case COND:
		meet_cond();
		break;
	case FUTEX:
		meet_futex();
		break;
	default:
		serial(pthread_barrier_wait(&barrier));
		break;
	}
}

static void nap(uint64_t n)
{
	struct timespec shortest = { .tv_nsec = 1 };

	while (n--)
		nanosleep(&shortest, NULL);
}

static void *body(void *arg)
{
	pin((uint32_t)(uintptr_t)arg);
	meet();
	for (uint64_t i = 0; i < rounds; i++) {
		work(steps);
		if (kind == SLEEP)
			nap(sleeps);
		meet();
	}
	return NULL;
}

/* Hand items to the thread with the other parity. */
static void *hand_over(void *arg)
{
	uint64_t parity = (uintptr_t)arg == nthreads, i;

	pin((uint32_t)parity);
	for (i = 0; i < handoffs * rounds; i++) {
		pthread_mutex_lock(&hand_mutex);
		while (items % 2 != parity)
			pthread_cond_wait(&handed, &hand_mutex);
		items++;
		pthread_cond_signal(&handed);
		pthread_mutex_unlock(&hand_mutex);
	}
	return NULL;
}

static uint64_t with_threads(void)
{
	pthread_t *t = (pthread_t *)must_alloc(nthreads + 2, sizeof(*t));
	uint32_t i, n = nthreads + (handoffs ? 1 : 0);
	uint64_t start;

	must(pthread_barrier_init(&barrier, NULL, nthreads), "pthread_barrier_init");
	for (i = 1; i < n; i++)
		must(pthread_create(&t[i], NULL, i < nthreads ? body : hand_over,
				    (void *)(uintptr_t)i),
		     "pthread_create");
	if (handoffs)
		must(pthread_create(&t[0], NULL, hand_over, NULL), "pthread_create");
	start = now_ns();
	body(NULL);
	start = now_ns() - start;
	for (i = handoffs ? 0 : 1; i < n; i++)
		must(pthread_join(t[i], NULL), "pthread_join");
	free(t);
	return start;
}

#ifdef _OPENMP
static uint64_t with_regions(void)
{
	uint64_t start = 0;

	omp_set_num_threads((int)nthreads);
	for (uint64_t i = 0; i <= rounds; i++) {
#pragma omp parallel
		{
			if (!i)
				pin((uint32_t)omp_get_thread_num());
			work(i ? steps : 1);
		}
		if (!i)
			start = now_ns();
	}
	return now_ns() - start;
}

static uint64_t with_barriers(void)
{
	uint64_t start = 0;

	omp_set_num_threads((int)nthreads);
#pragma omp parallel
	{
		pin((uint32_t)omp_get_thread_num());
		for (uint64_t i = 0; i <= rounds; i++) {
			work(i ? steps : 1);
#pragma omp barrier
			if (!i && !omp_get_thread_num())
				start = now_ns();
		}
	}
	return now_ns() - start;
}

static uint64_t run(void)
{
	return kind == REGION ? with_regions() : kind == BARRIER ? with_barriers() : with_threads();
}
#else
static uint64_t run(void)
{
	if (kind == REGION || kind == BARRIER)
		die("bench_slowed: this kind needs OpenMP");
	return with_threads();
}
#endif

static enum kind kind_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(name, kinds[i]))
			return (enum kind)i;
	die("bench_slowed: '%s' is no kind of barrier", name);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "kind", required_argument, NULL, 'k' },
		{ "threads", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "steps", required_argument, NULL, 's' },
		{ "sleeps", required_argument, NULL, 'n' },
		{ "handoffs", required_argument, NULL, 'h' },
		{ "calibrate", no_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'k':
			kind = kind_of(optarg);
			break;
		case 't':
			nthreads = (uint32_t)parse_u64("threads", optarg, 1, 1024);
			break;
		case 'r':
			rounds = parse_u64("rounds", optarg, 1, 10000000000);
			break;
		case 's':
			steps = parse_u64("steps", optarg, 0, UINT64_MAX);
			break;
		case 'n':
			sleeps = parse_u64("sleeps", optarg, 0, 1000000);
			break;
		case 'h':
			handoffs = parse_u64("handoffs", optarg, 0, 1000000);
			break;
		case 'c':
			print_steps_per_ms();
			return 0;
		default:
			die("usage: bench_slowed [--kind KIND] [--threads T] [--rounds R] "
			    "[--steps S] [--sleeps N] [--handoffs N] | --calibrate");
		}
	}
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		die("sched_getaffinity: %s", strerror(errno));
	stopgap(STOPGAP_SECONDS);
	exact_timers();
	printf("{\"elapsed_ns\": %llu}\n", (unsigned long long)run());
	return 0;
}
