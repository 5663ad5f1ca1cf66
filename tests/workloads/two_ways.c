// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Two kinds of barrier in one program: each thread goes through a barrier of its own (it counts 1) as fast as it can, and
// every some milliseconds all meet at one of OpenMP's. At the end one JSON object on stdout: how often they met there, and
// for each round when it was over (CLOCK_MONOTONIC) and how often the threads had gone through the others by then; after
// the last round what was made in all.
// With --forever until SIGTERM.
#include "common.h"

#include <getopt.h>
#include <omp.h>
#include <signal.h>

#define ROUNDS_MAX 65536u

static uint64_t ended[ROUNDS_MAX];
static uint64_t hot[ROUNDS_MAX];
static uint64_t *made; /* by thread */
static uint32_t rounds = 400, threads = 2;
static uint64_t every_ns = 10 * NSEC_PER_SEC / 1000;
static volatile sig_atomic_t terminated;

static void on_term(int sig)
{
	(void)sig;
	terminated = 1;
}

static void go_through(pthread_barrier_t *own, uint64_t until, uint64_t *n)
{
	uint64_t count = *n;

	do {
		for (uint32_t i = 0; i < 50; i++)
			pthread_barrier_wait(own);
		count += 50;
		/* Others read it at the end of a round. */
		__atomic_store_n(n, count, __ATOMIC_RELAXED);
	} while (now_ns() < until);
}

static void run(void)
{
	uint32_t done = 0;
	int over = 0;

#pragma omp parallel num_threads(threads)
	{
		pthread_barrier_t own;
		uint64_t *n = &made[16 * (uint32_t)omp_get_thread_num()];
		uint32_t round = 0;

		must(pthread_barrier_init(&own, NULL, 1), "pthread_barrier_init");
		while (!over) {
			go_through(&own, now_ns() + every_ns, n);
#pragma omp barrier
			if (omp_get_thread_num() == 0) {
				ended[round] = now_ns();
				for (uint32_t i = 0; i < threads; i++)
					hot[round] +=
						__atomic_load_n(&made[16 * i], __ATOMIC_RELAXED);
				done = round + 1;
				over = done == rounds || terminated;
			}
			round++;
			/* Nobody goes on before it is known whether it is over. */
#pragma omp barrier
		}
	}
	rounds = done;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "every", required_argument, NULL, 'e' },
		{ "forever", no_argument, NULL, 'f' },
		{ 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 't')
			threads = (uint32_t)strtoul(optarg, NULL, 10);
		else if (opt == 'r')
			rounds = (uint32_t)strtoul(optarg, NULL, 10);
		else if (opt == 'e')
			every_ns = strtoull(optarg, NULL, 10) * (NSEC_PER_SEC / 1000);
		else if (opt == 'f')
			rounds = ROUNDS_MAX;
		else
			return 2;
	}
	if (!threads || !rounds || rounds > ROUNDS_MAX)
		return 2;
	signal(SIGTERM, on_term);
	made = (uint64_t *)must_alloc(16 * threads, sizeof(*made));
	run();
	printf("{\"rounds\": %u, \"ended_ns\": [", rounds);
	for (uint32_t i = 0; i < rounds; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)ended[i]);
	printf("], \"hot\": [");
	for (uint32_t i = 0; i < rounds; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)hot[i]);
	printf("]}\n");
	free(made);
	return 0;
}
