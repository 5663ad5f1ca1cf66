// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// What a tracer costs a phase program: T threads do a fixed number of steps of work between barriers, for R
// rounds. The work is counted in steps and not in time, so that whoever slows the program down is seen. One JSON
// object on stdout: the time of the rounds, from the first barrier to the last, and the CPU time of all threads in it;
// with --each N also when every Nth round ended, so that who traces it now and then knows what that did. SIGTERM: no
// round after this one.
// --calibrate: only how many steps one thread alone takes in a millisecond. -DLTTNG: each crossing is told to LTTng-UST,
// which cannot see it otherwise.
#include "common.h"
#include "median.h"

#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#ifdef LTTNG
#include <lttng/tracef.h>
#define TELL(what) lttng_ust_tracef(what)
#else
#define TELL(what) ((void)0)
#endif

#define SAMPLES 15

static pthread_barrier_t barrier;
static uint64_t rounds = 1000, steps, each;
static volatile sig_atomic_t asked;
static volatile uint64_t sink;

static uint64_t process_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void work(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = mix64(x);
	sink = x;
}

static void meet(void)
{
	TELL("arrive");
	serial(pthread_barrier_wait(&barrier));
	TELL("depart");
}

static void ask(int signal)
{
	(void)signal;
	asked = 1;
}

/* The first thread lowers the number of rounds before it arrives: all others see it when they have left. */
static bool is_round(uint64_t i)
{
	return i < __atomic_load_n(&rounds, __ATOMIC_RELAXED);
}

static void *body(void *arg)
{
	meet();
	for (uint64_t i = 0; is_round(i); i++) {
		work(steps);
		meet();
	}
	return arg;
}

static void calibrate(void)
{
	const uint64_t n = 1000000;
	double sample[SAMPLES];

	for (size_t i = 0; i < SAMPLES; i++) {
		uint64_t start = now_ns();

		work(n);
		sample[i] = (double)n * 1e6 / (double)(now_ns() - start);
	}
	sort_samples(sample, SAMPLES);
	printf("{\"steps_per_ms\": %.0f}\n", sample[SAMPLES / 2]);
}

static void run(uint32_t threads)
{
	pthread_t *t = (pthread_t *)must_alloc(threads, sizeof(*t));
	uint64_t *ended = each ? (uint64_t *)must_alloc(rounds / each + 1, sizeof(*ended)) : NULL;
	uint64_t start, cpu, n = 0;

	must(pthread_barrier_init(&barrier, NULL, threads), "pthread_barrier_init");
	for (uint32_t i = 1; i < threads; i++)
		must(pthread_create(&t[i], NULL, body, NULL), "pthread_create");
	meet();
	start = now_ns();
	cpu = process_cpu_ns();
	for (uint64_t i = 0; is_round(i); i++) {
		work(steps);
		if (asked)
			__atomic_store_n(&rounds, i + 1, __ATOMIC_RELAXED);
		meet();
		if (ended && i % each == 0)
			ended[n++] = now_ns();
	}
	cpu = process_cpu_ns() - cpu;
	printf("{\"threads\": %u, \"rounds\": %llu, \"elapsed_ns\": %llu, \"cpu_ns\": %llu, "
	       "\"each\": %llu, \"ended_ns\": [",
	       threads, (unsigned long long)rounds, (unsigned long long)(now_ns() - start),
	       (unsigned long long)cpu, (unsigned long long)each);
	for (uint64_t i = 0; i < n; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)ended[i]);
	printf("]}\n");
	for (uint32_t i = 1; i < threads; i++)
		must(pthread_join(t[i], NULL), "pthread_join");
	free(ended);
	free(t);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "steps", required_argument, NULL, 's' },
		{ "each", required_argument, NULL, 'e' },
		{ "calibrate", no_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	uint32_t threads = 1;
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
		case 'e':
			each = parse_u64("each", optarg, 1, UINT64_MAX);
			break;
		case 'c':
			calibrate();
			return 0;
		default:
			die("usage: bench_phases [--threads T] [--rounds R] [--steps S] "
			    "[--each N] | --calibrate");
		}
	}
	signal(SIGTERM, ask);
	stopgap(STOPGAP_SECONDS);
	run(threads);
	return 0;
}
