// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Measures the cost of a context switch. After one crossing of a barrier, two threads on one CPU
// pass a byte back and forth through pipes, with a switch each time. Prints one JSON object: ns per
// switch, as minimum and median over the repetitions. With --wait-start, the program first prints
// its pid, and a line on stdin starts the measurement.
#include "common.h"
#include "median.h"
#include "pin.h"

#include <getopt.h>

static pthread_barrier_t barrier;
static int there[2], back[2];
static uint64_t rounds = 20000, repetitions = 11;

static void hand_over(int fd)
{
	if (write(fd, "x", 1) != 1)
		die("write: %s", strerror(errno));
}

static void take(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		die("read: %s", strerror(errno));
}

static void *answer(void *arg)
{
	(void)arg;
	serial(pthread_barrier_wait(&barrier));
	for (uint64_t i = 0; i < rounds * repetitions; i++) {
		take(there[0]);
		hand_over(back[1]);
	}
	return NULL;
}

static void measure(void)
{
	double *sample = (double *)must_alloc(repetitions, sizeof(*sample));
	pthread_t thread;

	pin_to_last();
	must(pthread_barrier_init(&barrier, NULL, 2), "pthread_barrier_init");
	if (pipe(there) || pipe(back))
		die("pipe: %s", strerror(errno));
	must(pthread_create(&thread, NULL, answer, NULL), "pthread_create");
	serial(pthread_barrier_wait(&barrier));
	for (uint64_t r = 0; r < repetitions; r++) {
		uint64_t start = now_ns();

		for (uint64_t i = 0; i < rounds; i++) {
			hand_over(there[1]);
			take(back[0]);
		}
		sample[r] = (double)(now_ns() - start) / (double)(2 * rounds);
	}
	must(pthread_join(thread, NULL), "pthread_join");
	sort_samples(sample, repetitions);
	printf("{\"rounds\": %llu, \"repetitions\": %llu, \"ns_per_switch\": {\"min\": %.1f, "
	       "\"median\": %.1f}}\n",
	       (unsigned long long)rounds, (unsigned long long)repetitions, sample[0],
	       sample[repetitions / 2]);
	free(sample);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rounds", required_argument, NULL, 'r' },
		{ "repetitions", required_argument, NULL, 'n' },
		{ "wait-start", no_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 },
	};
	int o, wait_start = 0;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (o) {
		case 'r':
			rounds = parse_u64("--rounds", optarg, 1, 100000000);
			break;
		case 'n':
			repetitions = parse_u64("--repetitions", optarg, 1, 1000);
			break;
		case 'w':
			wait_start = 1;
			break;
		default:
			fprintf(stderr, "usage: bench_switch [--rounds N] [--repetitions R] "
					"[--wait-start]\n");
			return 2;
		}
	}
	if (wait_start) {
		printf("bench_switch: pid %d ready\n", (int)getpid());
		fflush(stdout);
		if (getchar() == EOF)
			die("bench_switch: no line on stdin");
	}
	stopgap(STOPGAP_SECONDS);
	measure();
	return 0;
}
