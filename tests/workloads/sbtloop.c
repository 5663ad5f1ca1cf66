// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Loop barriers, modelled on figure 5.15 of E. Novillo's thesis (University of Alberta, 2002).
// Phase 1 of each iteration is done by the first thread and by the last thread alternately, while
// the others arrive at once. All threads do phase 2. Work is sleep of a known length.
//
// Known answer, with N threads, I iterations, work of W and E more loop barriers (defaults 4, 32,
// 6ms, 0):
//   "Start" (anonymous if --anonymous)           1 episode
//   "Done factor diagonal block" (loop)           I episodes, each with barrier time about W; over
//                                                 all of them threads 0 and N - 1 wait about I/2 W
//                                                 and the others I W: 96 192 192 96 ms
//   an anonymous loop barrier                     I episodes, short
//   E loop barriers at lines 1001, 1002, ...      I episodes each, short; "extra N" if N is even
//   "End"                                         1 episode
// Prints the sum of each thread's waits at the loop barrier as it measured them itself.
#define SBT_BARRIER  meeting
#define SBT_THREADID me->id
#include "common.h"
#include "sbt.h"

#include <getopt.h>

struct member {
	int id;
	uint64_t wait_ns;
	pthread_t thread;
};

static sbt_barrier_t *meeting;
static int threads = 4, iterations = 32, extras;
static uint64_t work_ns = 6000000;
static const char *start_name = "Start";
static char extra_name[1000][20];

ONE_COPY static void factor_diagonal(const struct member *me, int iteration)
{
	if (me->id == (iteration % 2 ? threads - 1 : 0))
		sleep_ns(work_ns);
}

/* Add any number of barriers. Their line numbers are constructed, and in no file. */
ONE_COPY static void more_barriers(const struct member *me)
{
	for (int i = 1; i <= extras; i++)
		sbt_barrier(SBT_BARRIER, SBT_THREADID, __FILE__, 1000 + i,
			    i % 2 ? NULL : extra_name[i - 1], 1);
}

ONE_COPY static void *work(void *arg)
{
	struct member *me = (struct member *)arg;
	uint64_t before;

	exact_timers();
	sbt_barrier(SBT_BARRIER, SBT_THREADID, __FILE__, __LINE__, start_name, 0);
	for (int i = 0; i < iterations; i++) {
		factor_diagonal(me, i);
		before = now_ns();
		NL_BARRIER("Done factor diagonal block");
		me->wait_ns += now_ns() - before;
		L_BARRIER;
		more_barriers(me);
	}
	N_BARRIER("End");
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "iterations", required_argument, NULL, 'i' },
		{ "work", required_argument, NULL, 'w' },
		{ "extra", required_argument, NULL, 'e' },
		{ "anonymous", no_argument, NULL, 'a' },
		{ NULL, 0, NULL, 0 },
	};
	struct member *members;
	const char *rest;
	int o, all = argc;

	/*
	 * Remove SBT's own options before getopt_long() parses the rest. sbt_init() still sees
	 * them.
	 */
	argc = sbt_args(argc, argv);
	while ((o = getopt_long(argc, argv, "t:i:w:e:a", options, NULL)) != -1) {
		if (o == 't') {
			threads = (int)parse_u64("--threads", optarg, 1, 1024);
		} else if (o == 'i') {
			iterations = (int)parse_u64("--iterations", optarg, 0, 10000000);
		} else if (o == 'e') {
			extras = (int)parse_u64("--extra", optarg, 0, ARRAY_SIZE(extra_name));
		} else if (o == 'a') {
			start_name = NULL;
		} else if (o == 'w') {
			work_ns = parse_time("--work", optarg, &rest);
		} else {
			fprintf(stderr,
				"usage: sbtloop [--threads N] [--iterations N] [--work TIME] "
				"[--extra N] [--anonymous]\n");
			return 2;
		}
	}
	if (optind < argc)
		die("sbtloop: what is '%s'?", argv[optind]);
	stopgap(STOPGAP_SECONDS);
	for (int i = 0; i < extras; i++)
		snprintf(extra_name[i], sizeof(extra_name[i]), "extra %d", i + 1);
	members = (struct member *)must_alloc((size_t)threads, sizeof(*members));
	SBT_BARRIER = sbt_init(threads, all, argv);
	if (!SBT_BARRIER)
		die("sbt_init: %s", strerror(errno));
	for (int i = 0; i < threads; i++)
		members[i].id = i;
	for (int i = 1; i < threads; i++)
		must(pthread_create(&members[i].thread, NULL, work, &members[i]), "pthread_create");
	work(&members[0]);
	for (int i = 1; i < threads; i++)
		must(pthread_join(members[i].thread, NULL), "pthread_join");
	sbt_finalize();
	printf("sbtloop: %d iterations, idle us:", iterations);
	for (int i = 0; i < threads; i++)
		printf(" %llu", (unsigned long long)members[i].wait_ns / 1000);
	printf(" ok\n");
	free(members);
	return 0;
}
