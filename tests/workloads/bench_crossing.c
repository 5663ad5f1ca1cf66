// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Measures the cost of a crossing. By default, one thread crosses a barrier that counts 1, back to
// back: ns per call, as minimum and median over the repetitions. With --threads T, T threads cross
// back to back for S seconds: episodes, and ns per episode. Prints one JSON object. With
// --wait-start, the program first prints its pid, and a line on stdin starts the measurement. With
// --turns, each byte on stdin makes the one thread measure a number of calls, and print the time
// per call, ns, on a line.
#include "common.h"
#include "median.h"

#include <getopt.h>

#define FOREVER UINT64_MAX

static pthread_barrier_t barrier;
static uint64_t seconds = 2;
static uint64_t last_round = FOREVER;
static uint64_t start_ns;
static uint32_t gate, ready;

static void *back_to_back(void *arg)
{
	int leader = (uintptr_t)arg == 0;
	uint64_t round;

	word_add(&ready, 1);
	word_wait(&gate, 1);
	for (round = 0;; round++) {
		/*
		 * The leader reads the clock in some of the rounds. Before it arrives at the last
		 * round, it stores the number of that round. So each thread that departs from the
		 * round sees the number.
		 */
		if (leader && round % 16 == 0 && last_round == FOREVER &&
		    now_ns() - start_ns >= seconds * NSEC_PER_SEC)
			__atomic_store_n(&last_round, round, __ATOMIC_RELEASE);
		serial(pthread_barrier_wait(&barrier));
		if (round >= __atomic_load_n(&last_round, __ATOMIC_ACQUIRE))
			break;
	}
	return NULL;
}

static void bench_threads(uint32_t threads)
{
	pthread_t *t = (pthread_t *)must_alloc(threads, sizeof(*t));
	uint64_t elapsed;

	must(pthread_barrier_init(&barrier, NULL, threads), "pthread_barrier_init");
	for (uint32_t i = 0; i < threads; i++)
		must(pthread_create(&t[i], NULL, back_to_back, (void *)(uintptr_t)i),
		     "pthread_create");
	word_wait(&ready, threads);
	start_ns = now_ns();
	word_set(&gate, 1);
	for (uint32_t i = 0; i < threads; i++)
		must(pthread_join(t[i], NULL), "pthread_join");
	elapsed = now_ns() - start_ns;
	printf("{\"threads\": %u, \"seconds\": %.3f, \"episodes\": %llu, "
	       "\"ns_per_episode\": %.1f}\n",
	       threads, (double)elapsed / NSEC_PER_SEC, (unsigned long long)(last_round + 1),
	       (double)elapsed / (double)(last_round + 1));
	free(t);
}

static void bench_single(uint64_t calls, uint64_t repetitions)
{
	double *sample = (double *)must_alloc(repetitions, sizeof(*sample));

	must(pthread_barrier_init(&barrier, NULL, 1), "pthread_barrier_init");
	for (uint64_t r = 0; r < repetitions; r++) {
		uint64_t start = now_ns();

		for (uint64_t i = 0; i < calls; i++)
			serial(pthread_barrier_wait(&barrier));
		sample[r] = (double)(now_ns() - start) / (double)calls;
	}
	sort_samples(sample, repetitions);
	printf("{\"calls\": %llu, \"repetitions\": %llu, \"ns_per_call\": {\"min\": %.3f, "
	       "\"median\": %.3f}}\n",
	       (unsigned long long)calls, (unsigned long long)repetitions, sample[0],
	       sample[repetitions / 2]);
	free(sample);
}

/* After the process has slept, these calls fill the caches before the measurement. */
#define WARM_CALLS 30

static void bench_turns(uint64_t calls)
{
	uint64_t start, i;
	char c;

	must(pthread_barrier_init(&barrier, NULL, 1), "pthread_barrier_init");
	while (read(STDIN_FILENO, &c, 1) == 1) {
		for (i = 0; i < WARM_CALLS; i++)
			serial(pthread_barrier_wait(&barrier));
		start = now_ns();
		for (i = 0; i < calls; i++)
			serial(pthread_barrier_wait(&barrier));
		printf("%.3f\n", (double)(now_ns() - start) / (double)calls);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "calls", required_argument, NULL, 'c' },
		{ "repetitions", required_argument, NULL, 'r' },
		{ "threads", required_argument, NULL, 't' },
		{ "seconds", required_argument, NULL, 's' },
		{ "turns", no_argument, NULL, 'T' },
		{ "wait-start", no_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t calls = 200000, repetitions = 11;
	uint32_t threads = 0;
	int o, wait_start = 0, turns = 0;

	while ((o = getopt_long(argc, argv, "c:r:t:s:w", options, NULL)) != -1) {
		switch (o) {
		case 'c':
			calls = parse_u64("--calls", optarg, 1, 1000000000);
			break;
		case 'r':
			repetitions = parse_u64("--repetitions", optarg, 1, 1000);
			break;
		case 't':
			threads = (uint32_t)parse_u64("--threads", optarg, 1, 1024);
			break;
		case 's':
			seconds = parse_u64("--seconds", optarg, 1, 3600);
			break;
		case 'T':
			turns = 1;
			break;
		case 'w':
			wait_start = 1;
			break;
		default:
			fprintf(stderr, "usage: bench_crossing [--calls N] [--repetitions R] "
					"[--threads T --seconds S | --turns] [--wait-start]\n");
			return 2;
		}
	}
	if (wait_start) {
		printf("bench_crossing: pid %d ready\n", (int)getpid());
		fflush(stdout);
		if (getchar() == EOF)
			die("bench_crossing: no line on stdin");
	}
	stopgap(STOPGAP_SECONDS + (threads ? (unsigned int)seconds : 0));
	if (threads)
		bench_threads(threads);
	else if (turns)
		bench_turns(calls);
	else
		bench_single(calls, repetitions);
	return 0;
}
