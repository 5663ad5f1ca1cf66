// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Measure the cost of the model: ns per crossing, and the memory after millions of episodes. Usage:
 * bench_model [EPISODES [THREADS [SITES [none|whole|parts]]]]; prints one line. "whole": the time
 * of each crossing is accounted for, all of it on a CPU. "parts": each crossing has a detail with
 * its time parts and four counters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "model/model.h"

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static long max_rss_kib(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return ru.ru_maxrss;
}

static void count_episode(void *ctx, const struct model *model, const struct model_episode *ep)
{
	(void)model;
	*(uint64_t *)ctx += ep->n;
}

int main(int argc, char **argv)
{
	uint64_t episodes = argc > 1 ? strtoull(argv[1], NULL, 0) : 10000000;
	uint32_t threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 4;
	uint32_t sites = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : 1;
	uint64_t e, begin, t = 1000000, spent, members = 0, x = 88172645463325252ULL;
	struct model_ops ops = { .ctx = &members, .episode = count_episode };
	const char *mode = argc > 4 ? argv[4] : "none";
	bool whole = !strcmp(mode, "whole"), parts = !strcmp(mode, "parts");
	struct model_detail d = { .ncounters = 4, .inside_oncpu_ns = 300, .inside_runq_ns = 100 };
	struct model *m;
	long rss_early = 0;
	uint32_t i;

	if (!threads || !sites || threads > 4096 || !(whole || parts || !strcmp(mode, "none")))
		return 2;
	m = model_new(&ops, 0);
	if (!m || model_add_process(m, 100, 1, 0, 0, 0, true, "bench"))
		return 1;
	begin = now();
	for (e = 0; e < episodes; e++) {
		for (i = 0; i < threads; i++) {
			struct model_crossing c = {
				.tgid = 100,
				.inc = 1,
				.tid = 100 + i,
				.seq = (uint32_t)(e + 1),
				.site = (uint32_t)(e % sites),
				.count = threads,
				.object = 0x7f0000001000,
				.depart_ns = t + 2000 + i,
				.family = 1,
				.flags = whole || parts ? MODEL_CROSSING_ACCOUNTED : 0,
				.detail = parts ? &d : NULL,
			};

			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			c.arrive_ns = t + x % 1500;
			if (parts) {
				d.oncpu_ns = 5000 + x % 1500;
				d.blocked_ns[MODEL_BLOCKED_LOCK] = x % 700;
				d.counters[x % 4] = x % 100000;
			}
			if (model_add_crossing(m, &c))
				return 1;
		}
		t += 10000;
		if (e % 1000 == 999 && model_advance(m, t))
			return 1;
		if (e == episodes / 10)
			rss_early = max_rss_kib();
	}
	spent = now() - begin;
	if (model_finish(m, t))
		return 1;
	printf("model: %.1f ns a crossing, %llu episodes of %u threads at %u sites, time: %s, "
	       "max RSS %ld KiB (%ld KiB after a tenth)\n",
	       (double)spent / (double)(episodes * threads),
	       (unsigned long long)model_totals(m)->episodes, threads, sites, mode, max_rss_kib(),
	       rss_early);
	model_free(m);
	return members == episodes * threads ? 0 : 1;
}
