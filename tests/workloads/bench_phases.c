// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Measures how much a tracer slows down a program with phases: T threads work between barriers, for
// R rounds. The work is a fixed number of steps and not a fixed time, so the result includes
// everything that slows the program down. Prints one JSON object: the time of the rounds, from the
// first barrier to the last, and the CPU time of all threads meanwhile. --turns: for each byte on
// stdin run R rounds, and print their time, ns, on a line. --calibrate: print only the number of
// steps that one thread takes in a millisecond. -DLTTNG: report each crossing to LTTng-UST, which
// cannot see crossings otherwise.
#include "steps.h"

#include <getopt.h>
#include <stdbool.h>
#ifdef LTTNG
#include <lttng/tracef.h>
#define TELL(what) lttng_ust_tracef(what)
#else
#define TELL(what) ((void)0)
#endif

static pthread_barrier_t barrier;
static uint64_t rounds = 1000, steps, last_round;

static uint64_t process_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void meet(void)
{
	TELL("arrive");
	serial(pthread_barrier_wait(&barrier));
	TELL("depart");
}

/*
 * Before the first thread arrives at the last round, it stores the number of that round. The other
 * threads see the number when they have departed from the round.
 */
static void *body(void *arg)
{
	meet();
	for (uint64_t i = 0; i < __atomic_load_n(&last_round, __ATOMIC_RELAXED); i++) {
		work(steps);
		meet();
	}
	return arg;
}

static void some_rounds(uint64_t n)
{
	while (n--) {
		work(steps);
		meet();
	}
}

static void in_turns(void)
{
	uint64_t done = 0, start;

	while (getchar() != EOF) {
		start = now_ns();
		some_rounds(rounds);
		done += rounds;
		printf("%llu\n", (unsigned long long)(now_ns() - start));
		fflush(stdout);
	}
	__atomic_store_n(&last_round, done + 1, __ATOMIC_RELAXED);
	some_rounds(1);
}

static void at_once(uint32_t threads)
{
	uint64_t start = now_ns(), cpu = process_cpu_ns();

	some_rounds(rounds);
	cpu = process_cpu_ns() - cpu;
	printf("{\"threads\": %u, \"rounds\": %llu, \"elapsed_ns\": %llu, \"cpu_ns\": %llu}\n",
	       threads, (unsigned long long)rounds, (unsigned long long)(now_ns() - start),
	       (unsigned long long)cpu);
}

static void run(uint32_t threads, bool turns)
{
	pthread_t *t = (pthread_t *)must_alloc(threads, sizeof(*t));

	last_round = turns ? UINT64_MAX : rounds;
	must(pthread_barrier_init(&barrier, NULL, threads), "pthread_barrier_init");
	for (uint32_t i = 1; i < threads; i++)
		must(pthread_create(&t[i], NULL, body, NULL), "pthread_create");
	meet();
	if (turns)
		in_turns();
	else
		at_once(threads);
	for (uint32_t i = 1; i < threads; i++)
		must(pthread_join(t[i], NULL), "pthread_join");
	free(t);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "steps", required_argument, NULL, 's' },
		{ "turns", no_argument, NULL, 'T' },
		{ "calibrate", no_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	uint32_t threads = 1;
	bool turns = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't':
			threads = (uint32_t)parse_u64("threads", optarg, 1, 1024);
			break;
		case 'r':
			rounds = parse_u64("rounds", optarg, 1, 10000000000);
			break;
		case 's':
			steps = parse_u64("steps", optarg, 0, UINT64_MAX);
			break;
		case 'T':
			turns = true;
			break;
		case 'c':
			print_steps_per_ms();
			return 0;
		default:
			die("usage: bench_phases [--threads T] [--rounds R] [--steps S] "
			    "[--turns] | --calibrate");
		}
	}
	stopgap(turns ? 10 * STOPGAP_SECONDS : STOPGAP_SECONDS);
	run(threads, turns);
	return 0;
}
