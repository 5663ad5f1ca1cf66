// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A parallel radix sort modelled on SPLASH-2's: SIZE 32-bit keys, DIGITS digits. Episodes: 1 at the
// start, 3 for each digit, 1 at the end; with STEPS sorts of new keys, that many times more.
#include "splash.h"

#define DIGIT_BITS 8
#define DIGITS	   4
#define RADIX	   (1U << DIGIT_BITS)

static uint32_t *from, *to; /* each thread swaps its own pointers after every digit */
static uint32_t histogram[MAX_THREADS][RADIX];
static uint32_t total[RADIX];
static uint64_t sum;
static int wrong;

static void fill(uint32_t id, uint32_t step)
{
	for (uint32_t i = share(id, splash.size); i < share(id + 1, splash.size); i++)
		from[i] = (uint32_t)mix64(((uint64_t)step << 32) | i);
}

static void count(uint32_t id, const uint32_t *keys, uint32_t shift)
{
	memset(histogram[id], 0, sizeof(histogram[id]));
	for (uint32_t i = share(id, splash.size); i < share(id + 1, splash.size); i++)
		histogram[id][keys[i] >> shift & (RADIX - 1)]++;
}

/* Each thread adds up its share of the digit's values over all threads. */
static void add_up(uint32_t id)
{
	for (uint32_t v = share(id, RADIX); v < share(id + 1, RADIX); v++) {
		total[v] = 0;
		for (uint32_t t = 0; t < splash.threads; t++)
			total[v] += histogram[t][v];
	}
}

static void permute(uint32_t id, const uint32_t *keys, uint32_t *out, uint32_t shift)
{
	uint32_t place[RADIX], before = 0;

	for (uint32_t v = 0; v < RADIX; v++) {
		place[v] = before;
		before += total[v];
		for (uint32_t t = 0; t < id; t++)
			place[v] += histogram[t][v];
	}
	for (uint32_t i = share(id, splash.size); i < share(id + 1, splash.size); i++)
		out[place[keys[i] >> shift & (RADIX - 1)]++] = keys[i];
}

ONE_COPY static void sort(uint32_t id)
{
	uint32_t *keys = from, *out = to;

	for (uint32_t digit = 0; digit < DIGITS; digit++) {
		uint32_t *swap = keys;

		count(id, keys, digit * DIGIT_BITS);
		BARRIER(id);
		add_up(id);
		BARRIER(id);
		permute(id, keys, out, digit * DIGIT_BITS);
		BARRIER(id);
		keys = out;
		out = swap;
	}
}

/* Only thread 0 calls this. An even number of digits leaves the result where it began. */
static void check(void)
{
	for (uint32_t i = 1; i < splash.size; i++)
		wrong |= from[i - 1] > from[i];
	sum ^= checksum(from, splash.size * sizeof(*from));
}

ONE_COPY static void *slave(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg;

	for (uint32_t step = 0; step < splash.steps; step++) {
		fill(id, step);
		BARRIER(id);
		sort(id);
		if (id == 0)
			check();
		BARRIER(id);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	splash_arguments(argc, argv, 1U << 16, 10);
	from = (uint32_t *)must_alloc(splash.size, sizeof(*from));
	to = (uint32_t *)must_alloc(splash.size, sizeof(*to));
	splash_run(slave);
	free(from);
	free(to);
	return splash_report("radix", sum, !wrong);
}
