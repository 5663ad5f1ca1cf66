// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A program that is not to be traced, and the cost of its calls: (a) a loop that never calls a
// barrier, (b) pthread_barrier_wait on a barrier that counts 1, which never waits. Prints one JSON
// object: ns per call, as minimum and median over the repetitions.
#include "common.h"
#include "median.h"

#include <getopt.h>

static volatile uint64_t sink;

ONE_COPY static uint64_t ordinary(uint64_t x)
{
	return mix64(x);
}

static double loop_ns(uint64_t calls)
{
	uint64_t start = now_ns(), x = 1;

	for (uint64_t i = 0; i < calls; i++)
		x = ordinary(x);
	sink = x;
	return (double)(now_ns() - start) / (double)calls;
}

static double wait_ns(uint64_t calls, pthread_barrier_t *barrier)
{
	uint64_t start = now_ns();

	for (uint64_t i = 0; i < calls; i++)
		serial(pthread_barrier_wait(barrier));
	return (double)(now_ns() - start) / (double)calls;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "calls", required_argument, NULL, 'c' },
		{ "repetitions", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t calls = 200000, repetitions = 11;
	pthread_barrier_t barrier;
	double *loop, *wait;
	int o;

	while ((o = getopt_long(argc, argv, "c:r:", options, NULL)) != -1) {
		if (o == 'c') {
			calls = parse_u64("--calls", optarg, 1, 1000000000);
		} else if (o == 'r') {
			repetitions = parse_u64("--repetitions", optarg, 1, 1000);
		} else {
			fprintf(stderr, "usage: stranger [--calls N] [--repetitions R]\n");
			return 2;
		}
	}
	stopgap(STOPGAP_SECONDS);
	must(pthread_barrier_init(&barrier, NULL, 1), "pthread_barrier_init");
	loop = (double *)must_alloc(repetitions, sizeof(*loop));
	wait = (double *)must_alloc(repetitions, sizeof(*wait));
	/* Alternate between the two, so that a busy moment affects both. */
	for (uint64_t i = 0; i < repetitions; i++) {
		loop[i] = loop_ns(calls);
		wait[i] = wait_ns(calls, &barrier);
	}
	sort_samples(loop, repetitions);
	sort_samples(wait, repetitions);
	printf("{\"calls\": %llu, \"repetitions\": %llu, "
	       "\"loop_ns\": {\"min\": %.3f, \"median\": %.3f}, "
	       "\"wait_ns\": {\"min\": %.3f, \"median\": %.3f}}\n",
	       (unsigned long long)calls, (unsigned long long)repetitions, loop[0],
	       loop[repetitions / 2], wait[0], wait[repetitions / 2]);
	free(loop);
	free(wait);
	return 0;
}
