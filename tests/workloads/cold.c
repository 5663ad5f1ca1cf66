// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Measures the cost of a call that follows other work. In each of R rounds, a thread works for U
// microseconds on B bytes of memory, then crosses a pthread barrier alone. Prints one JSON object:
// the mean time of a crossing, ns, and their number. Crossings of more than 50 us were interrupted
// by another thread, and are left out.
#include "common.h"

#include <getopt.h>

#define MOST_NS 50000
#define STEPS	64 /* between reads of the clock */

static volatile uint64_t sink;

/* Access scattered bytes of @memory until @ns have passed. @bytes is a power of two. */
static void work(unsigned char *memory, uint64_t bytes, uint64_t ns, uint64_t *at)
{
	uint64_t begin = now_ns();

	do {
		for (int i = 0; i < STEPS; i++) {
			*at = mix64(*at);
			if (bytes)
				sink = ++memory[*at & (bytes - 1)];
		}
	} while (now_ns() - begin < ns);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "us", required_argument, NULL, 'u' },
		{ "bytes", required_argument, NULL, 'b' },
		{ "rounds", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t us = 0, bytes = 0, rounds = 1000, sum = 0, n = 0, at = 1, begin, ns;
	pthread_barrier_t barrier;
	unsigned char *memory;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'u':
			us = parse_u64("us", optarg, 0, 1000000);
			break;
		case 'b':
			bytes = parse_u64("bytes", optarg, 0, 1u << 30);
			break;
		case 'r':
			rounds = parse_u64("rounds", optarg, 1, 10000000);
			break;
		default:
			die("usage: cold [--us U] [--bytes B, a power of two] [--rounds R]");
		}
	}
	if (bytes & (bytes - 1))
		die("bytes is no power of two");
	stopgap(STOPGAP_SECONDS);
	memory = (unsigned char *)must_alloc(bytes + 1, 1);
	must(pthread_barrier_init(&barrier, NULL, 1), "pthread_barrier_init");
	for (uint64_t i = 0; i < rounds; i++) {
		work(memory, bytes, us * 1000, &at);
		begin = now_ns();
		serial(pthread_barrier_wait(&barrier));
		ns = now_ns() - begin;
		if (ns <= MOST_NS) {
			sum += ns;
			n++;
		}
	}
	printf("{\"calls\": %llu, \"mean_ns\": %.1f}\n", (unsigned long long)n,
	       n ? (double)sum / (double)n : 0);
	free(memory);
	return 0;
}
