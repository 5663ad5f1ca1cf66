// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// LU decomposition without pivoting, modelled on figures 3.8 and 3.9 of E. Novillo's thesis
// (University of Alberta, 2002). Rows are distributed in blocks or cyclically. There is one barrier
// before the loop, in run(), and one in every iteration, at one line of lu_block() or lu_cyclic().
//
// Known answers, for an N x N matrix: 1 + (N - 1) episodes. With block partitioning the last thread
// has most work in every iteration, so the imbalance is static (SerE 1). With 8 threads the shares
// of work tend to (23, 65, 101, 131, 155, 173, 185, 191)/1024. Load balance (mean/maximum) tends to
// 8/11, 32/47 and 128/191 with 2, 4 and 8 threads, and with cyclic partitioning to 1. "cyclic"
// distributes the rows anew in every iteration, as the thesis does; "kept" does not. The exact
// figures for this N are printed. The checksum of the factors depends on N alone. With --sleep-work
// NS no arithmetic is done: updating a row in m columns takes m * NS asleep, in one sleep per
// iteration, so 8 threads on 2 CPUs have exactly proportional work.
#include "common.h"

#include <getopt.h>
#include <math.h>

struct thread {
	pthread_t thread;
	uint32_t id;
	uint32_t start_row, end_row; /* block partitioning; both inclusive */
	uint64_t updates; /* number of updated elements: the work done */
};

static uint32_t thread_count = 2, size = 1024, stride; /* distance between rows, in elements */
static uint32_t weight; /* steps of arithmetic for each element */
static uint64_t sleep_work_ns;
static int cyclic, kept; /* kept: cyclic, and row r always belongs to thread r modulo n */
static uint32_t first_row(uint32_t id, uint32_t k);
static double *a;
static pthread_barrier_t barrier;

/* Elements off the diagonal are in (-1, 1), and the diagonal dominates: no pivoting is needed. */
static double element(uint32_t row, uint32_t column)
{
	uint64_t r = mix64(((uint64_t)row << 32) | column);

	return (double)(int64_t)r / 9223372036854775808.0 + (row == column ? size : 0);
}

/*
 * Compute as if numbers had more digits than the processor's: each product is a long chain of steps
 * in little memory. The last chain depends on the previous one, so that the two threads of a core
 * do not compete.
 */
static void update_heavy(double *row, const double *pivot, double factor, uint32_t k)
{
	double product = 0;

	for (uint32_t j = k + 1; j < size; j++) {
		for (uint32_t step = 0; step < weight; step++)
			product += factor * pivot[j] - product;
		row[j] -= product;
	}
}

static inline void update_row(double *row, const double *pivot, uint32_t k)
{
	double factor = row[k] /= pivot[k];

	if (weight) {
		update_heavy(row, pivot, factor, k);
		return;
	}
	for (uint32_t j = k + 1; j < size; j++)
		row[j] -= factor * pivot[j];
}

/* Update a row, and return the number of updated elements. */
static inline uint64_t update(uint32_t i, uint32_t k)
{
	if (!sleep_work_ns)
		update_row(a + (size_t)i * stride, a + (size_t)k * stride, k);
	return size - 1 - k;
}

/* Sleep for the iteration's share, counted from when the thread began the iteration. */
static inline void sleep_for_updates(uint64_t updates, uint64_t began)
{
	if (sleep_work_ns && updates)
		sleep_until(began + updates * sleep_work_ns);
}

ONE_COPY static void lu_block(struct thread *t)
{
	for (uint32_t k = 0; k < size - 1; k++) {
		uint64_t updates = 0, began = sleep_work_ns ? now_ns() : 0;
		uint32_t first = k + 1 > t->start_row ? k + 1 : t->start_row;

		for (uint32_t i = first; i <= t->end_row; i++)
			updates += update(i, k);
		sleep_for_updates(updates, began);
		t->updates += updates;
		serial(pthread_barrier_wait(&barrier));
	}
}

ONE_COPY static void lu_cyclic(struct thread *t)
{
	for (uint32_t k = 0; k < size - 1; k++) {
		uint64_t updates = 0, began = sleep_work_ns ? now_ns() : 0;

		for (uint32_t i = first_row(t->id, k); i < size; i += thread_count)
			updates += update(i, k);
		sleep_for_updates(updates, began);
		t->updates += updates;
		serial(pthread_barrier_wait(&barrier));
	}
}

ONE_COPY static void *run(void *arg)
{
	struct thread *t = (struct thread *)arg;

	exact_timers();
	for (uint32_t i = t->start_row; !sleep_work_ns && i <= t->end_row; i++)
		for (uint32_t j = 0; j < size; j++)
			a[(size_t)i * stride + j] = element(i, j);
	serial(pthread_barrier_wait(&barrier));
	if (cyclic)
		lu_cyclic(t);
	else
		lu_block(t);
	return NULL;
}

/* Return the first of the thread's rows below row @k. */
static uint32_t first_row(uint32_t id, uint32_t k)
{
	if (!kept)
		return k + 1 + id;
	return k + 1 + (id + thread_count - (k + 1) % thread_count) % thread_count;
}

/* Return the largest element of |A x - L (U x)|, relative to the possible rounding errors. */
static double residual(void)
{
	double *x = (double *)must_alloc(size, sizeof(*x));
	double *ux = (double *)must_alloc(size, sizeof(*ux));
	double worst = 0;

	for (uint32_t i = 0; i < size; i++)
		x[i] = (double)(mix64(i) % 1000) / 1000;
	for (uint32_t i = 0; i < size; i++)
		for (uint32_t j = i; j < size; j++)
			ux[i] += a[(size_t)i * stride + j] * x[j];
	for (uint32_t i = 0; i < size; i++) {
		double sum = ux[i], expected = 0;

		for (uint32_t j = 0; j < i; j++)
			sum += a[(size_t)i * stride + j] * ux[j];
		for (uint32_t j = 0; j < size; j++)
			expected += element(i, j) * x[j];
		if (!(fabs(sum - expected) <= worst)) /* a NaN counts as worst */
			worst = fabs(sum - expected);
	}
	free(x);
	free(ux);
	return worst / (2.0 * size * size * 2.2e-16);
}

static void print_shares(const struct thread *threads)
{
	uint64_t sum = 0, max = 0;

	for (uint32_t i = 0; i < thread_count; i++) {
		sum += threads[i].updates;
		if (threads[i].updates > max)
			max = threads[i].updates;
	}
	printf("lu: updates=%llu shares", (unsigned long long)sum);
	for (uint32_t i = 0; i < thread_count; i++)
		printf(" %.4f", sum ? (double)threads[i].updates / (double)sum : 0.0);
	printf("\nlu: load_balance=%.4f\n", max ? (double)sum / ((double)max * thread_count) : 1.0);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "partition", required_argument, NULL, 'p' },
		{ "threads", required_argument, NULL, 't' },
		{ "size", required_argument, NULL, 's' },
		{ "sleep-work", required_argument, NULL, 'w' },
		/*
		 * Leave unused columns between rows, so that no prefetcher reads the row of another
		 * thread.
		 */
		{ "pad", required_argument, NULL, 'd' },
		{ "weight", required_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct thread *threads;
	uint32_t pad = 0;
	uint64_t sum = 0;
	double error = 0;
	int o;

	while ((o = getopt_long(argc, argv, "p:t:s:w:d:h:", options, NULL)) != -1) {
		switch (o) {
		case 'p':
			if (strcmp(optarg, "block") && strcmp(optarg, "cyclic") &&
			    strcmp(optarg, "kept"))
				die("--partition: block, cyclic or kept");
			kept = optarg[0] == 'k';
			cyclic = kept || optarg[0] == 'c';
			break;
		case 't':
			thread_count = (uint32_t)parse_u64("--threads", optarg, 1, 1024);
			break;
		case 's':
			size = (uint32_t)parse_u64("--size", optarg, 2, 16384);
			break;
		case 'w':
			sleep_work_ns = parse_u64("--sleep-work", optarg, 1, NSEC_PER_SEC);
			break;
		case 'd':
			pad = (uint32_t)parse_u64("--pad", optarg, 0, 4096);
			break;
		case 'h':
			weight = (uint32_t)parse_u64("--weight", optarg, 2, 1000);
			break;
		default:
			fprintf(stderr, "usage: lu [--partition block|cyclic|kept] [--threads N] "
					"[--size N] [--sleep-work NS] [--pad N] [--weight N]\n");
			return 2;
		}
	}
	if (size < thread_count)
		die("lu: fewer rows than threads");
	stopgap(STOPGAP_SECONDS);
	stride = size + pad;
	if (!sleep_work_ns)
		a = (double *)must_alloc((size_t)size * stride, sizeof(*a));
	threads = (struct thread *)must_alloc(thread_count, sizeof(*threads));
	must(pthread_barrier_init(&barrier, NULL, thread_count), "pthread_barrier_init");

	/* Main is thread 0, as in the thesis. */
	for (uint32_t i = 0; i < thread_count; i++) {
		threads[i].id = i;
		threads[i].start_row = (uint32_t)((uint64_t)size * i / thread_count);
		threads[i].end_row = (uint32_t)((uint64_t)size * (i + 1) / thread_count) - 1;
		if (i)
			must(pthread_create(&threads[i].thread, NULL, run, &threads[i]),
			     "pthread_create");
	}
	run(&threads[0]);
	for (uint32_t i = 1; i < thread_count; i++)
		must(pthread_join(threads[i].thread, NULL), "pthread_join");

	print_shares(threads);
	if (a) {
		error = residual();
		sum = checksum(a, (size_t)size * stride * sizeof(*a));
	}
	if (!(error < 1))
		die("lu: the factors are wrong, residual %g", error);
	printf("lu: size=%u barriers=%u checksum=%016llx ok\n", size, size,
	       (unsigned long long)sum);
	free(threads);
	free(a);
	return 0;
}
