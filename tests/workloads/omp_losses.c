// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * OpenMP regions of two threads with known losses: omp_losses SERIAL MASTER WORKER ROUNDS. In each
 * round one thread works for SERIAL ms. Then the two threads of a region work for MASTER and WORKER
 * ms. Prints one line of times in ms, measured by the program's own clock: the serial parts, the
 * work of each thread, and the waits of one thread for the other at the ends of regions.
 */
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Sleep in place of work, so that other programs do not matter. Return the elapsed time, ms. */
static double work(double ms)
{
	struct timespec t = { (time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000L };
	double begin = now_ms();

	if (ms > 0)
		nanosleep(&t, NULL);
	return now_ms() - begin;
}

int main(int argc, char **argv)
{
	double serial = 0, waits = 0, took[2] = { 0, 0 }, end[2];
	int i, rounds;

	if (argc != 5) {
		fprintf(stderr, "usage: omp_losses SERIAL_MS MASTER_MS WORKER_MS ROUNDS\n");
		return 2;
	}
	rounds = atoi(argv[4]);
	/*
	 * If permitted, prevent other programs from delaying the threads, which inherit the
	 * priority.
	 */
	(void)sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
	for (i = 0; i < rounds; i++) {
		serial += work(atof(argv[1]));
#pragma omp parallel num_threads(2)
		{
			int me = omp_get_thread_num();

			took[me] += work(atof(argv[2 + me]));
			end[me] = now_ms();
		}
		/*
		 * Measure the wait itself, not the difference of the work: on a busy machine the
		 * two threads do not begin together.
		 */
		waits += fabs(end[0] - end[1]);
	}
	printf("%.3f %.3f %.3f %.3f\n", serial, took[0], took[1], waits);
	return 0;
}
