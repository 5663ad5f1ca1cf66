// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Parallel matrix multiplication with three barriers, modelled on figures 3.3 and 3.4 of E.
// Novillo's thesis (University of Alberta, 2002): before initialisation, after it, after the
// multiplication. Rows are distributed in equal blocks (the last one has the remainder), so the
// load is balanced.
//
// Known answer: three episodes, at three lines of work(); the checksum depends on the size alone.
#include "common.h"

#include <getopt.h>

static uint32_t thread_count = 2;
static uint32_t size = 512;
static int32_t *a, *b, *c;
static pthread_barrier_t barrier;

static int32_t element(uint32_t matrix, uint32_t row, uint32_t column)
{
	return (int32_t)(mix64(((uint64_t)matrix << 62) | ((uint64_t)row << 31) | column) % 100);
}

ONE_COPY static void init_block(uint32_t first_row, uint32_t row_count)
{
	for (uint32_t i = first_row; i < first_row + row_count; i++) {
		for (uint32_t j = 0; j < size; j++) {
			a[(size_t)i * size + j] = element(0, i, j);
			b[(size_t)i * size + j] = element(1, i, j);
		}
	}
}

ONE_COPY static void matrix_multiply(uint32_t first_row, uint32_t row_count)
{
	for (uint32_t k = first_row; k < first_row + row_count; k++) {
		for (uint32_t i = 0; i < size; i++) {
			int32_t sum = 0;

			for (uint32_t j = 0; j < size; j++)
				sum += a[(size_t)k * size + j] * b[(size_t)j * size + i];
			c[(size_t)k * size + i] = sum;
		}
	}
}

ONE_COPY static void *work(void *arg)
{
	uint32_t my_id = (uint32_t)(uintptr_t)arg;
	uint32_t row_count = size / thread_count;
	uint32_t first_row = my_id * row_count;

	if (my_id == thread_count - 1)
		row_count = size - first_row;
	serial(pthread_barrier_wait(&barrier));
	init_block(first_row, row_count);
	serial(pthread_barrier_wait(&barrier)); /* end of initialisation */
	matrix_multiply(first_row, row_count);
	serial(pthread_barrier_wait(&barrier)); /* end of multiplication */
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "size", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	pthread_t *threads;
	int o;

	while ((o = getopt_long(argc, argv, "t:s:", options, NULL)) != -1) {
		if (o == 't') {
			thread_count = (uint32_t)parse_u64("--threads", optarg, 1, 1024);
		} else if (o == 's') {
			size = (uint32_t)parse_u64("--size", optarg, 1, 16384);
		} else {
			fprintf(stderr, "usage: pmm [--threads N] [--size N]\n");
			return 2;
		}
	}
	if (size < thread_count)
		die("pmm: fewer rows than threads");
	stopgap(STOPGAP_SECONDS);
	a = (int32_t *)must_alloc((size_t)size * size, sizeof(*a));
	b = (int32_t *)must_alloc((size_t)size * size, sizeof(*b));
	c = (int32_t *)must_alloc((size_t)size * size, sizeof(*c));
	threads = (pthread_t *)must_alloc(thread_count, sizeof(*threads));
	must(pthread_barrier_init(&barrier, NULL, thread_count), "pthread_barrier_init");

	/* Main is thread 0, as in the thesis. */
	for (uint32_t i = 1; i < thread_count; i++)
		must(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i),
		     "pthread_create");
	work((void *)0);
	for (uint32_t i = 1; i < thread_count; i++)
		must(pthread_join(threads[i], NULL), "pthread_join");

	printf("pmm: size=%u checksum=%016llx ok\n", size,
	       (unsigned long long)checksum(c, (size_t)size * size * sizeof(*c)));
	free(threads);
	free(a);
	free(b);
	free(c);
	return 0;
}
