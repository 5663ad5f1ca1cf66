// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Programs that report the owner of the data that they access (SBT_READ, SBT_WRITE), modelled on
// two of pC++'s benchmarks. Memory is shared here, so a marker stands for each message of the
// original.
//
//   sbtremote grid THREADS STEPS    in each step every thread reads the boundary rows (4096 bytes)
//                                   of the threads before and after it, computes, writes 8 bytes
//                                   (its residual) to thread 0, and crosses a barrier with the
//                                   others
//   sbtremote cyclic THREADS STEPS    cyclic reduction of 256 equations. At each level the
//                                     remaining equations are distributed to all threads again. For
//                                     each equation, 64 bytes of each of the two neighbours are
//                                     read from the threads that own them now.
//
// Prints the number of reads and writes of another thread's data, and their bytes.
#include "common.h"
#include "sbt.h"

#define MAX_THREADS 64
#define ROW	    4096
#define EQUATIONS   256

static pthread_barrier_t barrier;
static uint32_t threads;
static uint64_t steps;
static int cyclic;
static struct {
	uint64_t reads, writes, bytes, hash;
	uint64_t apart[4]; /* one cache line for each element */
} did[MAX_THREADS];

static void compute(uint32_t me, uint32_t units)
{
	uint64_t x = did[me].hash + 1;

	for (uint32_t i = 0; i < units * 2000; i++)
		x = mix64(x);
	did[me].hash = x;
}

static inline void read_of(uint32_t me, uint32_t owner, uint32_t bytes)
{
	if (owner == me)
		return;
	SBT_READ(owner, bytes);
	did[me].reads++;
	did[me].bytes += bytes;
}

static inline void write_of(uint32_t me, uint32_t owner, uint32_t bytes)
{
	if (owner == me)
		return;
	SBT_WRITE(owner, bytes);
	did[me].writes++;
	did[me].bytes += bytes;
}

ONE_COPY static void grid_step(uint32_t me)
{
	if (me > 0)
		read_of(me, me - 1, ROW);
	if (me + 1 < threads)
		read_of(me, me + 1, ROW);
	compute(me, 100);
	write_of(me, 0, 8);
	serial(pthread_barrier_wait(&barrier));
}

ONE_COPY static void cyclic_level(uint32_t me, uint32_t stride)
{
	for (uint32_t e = stride - 1; e < EQUATIONS; e += stride) {
		if (e / stride % threads != me)
			continue;
		if (e >= stride / 2)
			read_of(me, (e - stride / 2) / stride % threads, 64);
		if (e + stride / 2 < EQUATIONS)
			read_of(me, (e + stride / 2) / stride % threads, 64);
		compute(me, 10);
	}
	serial(pthread_barrier_wait(&barrier));
}

ONE_COPY static void *run(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg;

	SBT_THREAD(me);
	for (uint64_t step = 0; step < steps; step++) {
		if (!cyclic)
			grid_step(me);
		for (uint32_t stride = 2; cyclic && stride <= EQUATIONS; stride *= 2)
			cyclic_level(me, stride);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t all[MAX_THREADS];
	uint64_t reads = 0, writes = 0, bytes = 0;

	if (argc != 4 || (strcmp(argv[1], "grid") && strcmp(argv[1], "cyclic"))) {
		fprintf(stderr, "usage: sbtremote grid|cyclic THREADS STEPS\n");
		return 2;
	}
	cyclic = argv[1][0] == 'c';
	threads = (uint32_t)parse_u64("THREADS", argv[2], 1, MAX_THREADS);
	steps = parse_u64("STEPS", argv[3], 0, 1000000);
	stopgap(STOPGAP_SECONDS);
	must(pthread_barrier_init(&barrier, NULL, threads), "pthread_barrier_init");
	for (uint32_t i = 1; i < threads; i++)
		must(pthread_create(&all[i], NULL, run, (void *)(uintptr_t)i), "pthread_create");
	run((void *)0);
	for (uint32_t i = 1; i < threads; i++)
		must(pthread_join(all[i], NULL), "pthread_join");
	for (uint32_t i = 0; i < threads; i++) {
		reads += did[i].reads;
		writes += did[i].writes;
		bytes += did[i].bytes;
	}
	printf("sbtremote: reads=%llu writes=%llu bytes=%llu ok\n", (unsigned long long)reads,
	       (unsigned long long)writes, (unsigned long long)bytes);
	return 0;
}
