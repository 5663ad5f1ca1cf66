// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#ifndef WORKLOADS_STEPS_H
#define WORKLOADS_STEPS_H

#include "common.h"
#include "median.h"

#define STEPS_SAMPLES 15

/* Work for a number of steps, so that everything that slows the program down lengthens it. */
static inline void work(uint64_t steps)
{
	volatile uint64_t sink;
	uint64_t x = steps;

	while (steps--)
		x = mix64(x);
	sink = x;
	(void)sink;
}

/* Print, as a JSON object, the number of steps that one thread takes in a millisecond. */
static inline void print_steps_per_ms(void)
{
	const uint64_t n = 1000000;
	double sample[STEPS_SAMPLES];

	for (size_t i = 0; i < STEPS_SAMPLES; i++) {
		uint64_t start = now_ns();

		work(n);
		sample[i] = (double)n * 1e6 / (double)(now_ns() - start);
	}
	sort_samples(sample, STEPS_SAMPLES);
	printf("{\"steps_per_ms\": %.0f}\n", sample[STEPS_SAMPLES / 2]);
}

#endif
