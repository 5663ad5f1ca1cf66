// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Threads that are created and joined, with known loads: thread i sleeps for i + 1 steps. joiner
// WAY [WORKERS [ROUNDS]]
//   rounds    each round creates new workers and joins them; the last one has most work
//   rotating  in each round a different worker has most work
//   serial    as `rounds`, and main sleeps for four steps between the rounds
//   part      as `rounds`, and main has as much work as the first worker before it joins
//   meet      the workers of a round cross a barrier three times
//   pool      the workers are created once, and cross a barrier; main joins them
//   gate      as `pool`, and main crosses a barrier with them once before it joins them
//   kinds     two kinds of rounds, from two calls; in one of them main works as well
// Prints "# efficiency PE LB" by its own clock. PE is the share of the threads' lives that they
// spend outside of barriers and joins: the workers', and main's if main works. Each life counts up
// to the end of its round. LB is the same share if all threads lose only as much as the thread that
// loses least. For LB, the first workers of all rounds count as one thread, and so do the second
// ones, and so on.
#include "common.h"

#include <stdbool.h>

#define STEP_NS	 10000000
#define MOST	 64
#define MEETINGS 3

static pthread_barrier_t barrier;
static unsigned workers = 4, rounds = 10;
static unsigned turn; /* of the current round */
static uint64_t worked[MOST], began[MOST], ended[MOST]; /* of the current round */
static double lost[MOST + 1], life[MOST + 1]; /* by worker, over all rounds; the last is main's */

static void sleep_for(uint64_t ns)
{
	sleep_until(now_ns() + ns);
}

static uint64_t load(unsigned i)
{
	return ((i + turn) % workers + 1) * (uint64_t)STEP_NS;
}

static void *once(void *arg)
{
	unsigned i = (unsigned)(uintptr_t)arg;

	sleep_for(load(i));
	ended[i] = now_ns();
	worked[i] = ended[i] - began[i];
	return NULL;
}

static void meet(unsigned i, unsigned times)
{
	uint64_t since = began[i];

	worked[i] = 0;
	for (unsigned k = 0; k < times; k++) {
		sleep_for(load(i));
		worked[i] += now_ns() - since;
		pthread_barrier_wait(&barrier);
		since = now_ns();
	}
	ended[i] = now_ns();
	worked[i] += ended[i] - since;
}

static void *meets(void *arg)
{
	meet((unsigned)(uintptr_t)arg, MEETINGS);
	return NULL;
}

static void *stays(void *arg)
{
	meet((unsigned)(uintptr_t)arg, rounds);
	return NULL;
}

static void *through_the_gate(void *arg)
{
	pthread_barrier_wait(arg);
	return NULL;
}

static pthread_barrier_t gate;
static void *(*after_gate)(void *) = stays;

static void *gated(void *arg)
{
	through_the_gate(&gate);
	return after_gate(arg);
}

static void make_all(pthread_t *threads, void *(*body)(void *))
{
	for (unsigned i = 0; i < workers; i++) {
		began[i] = now_ns();
		if (pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)i))
			die("pthread_create");
	}
}

ONE_COPY static void join_all(pthread_t *threads)
{
	for (unsigned i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
}

ONE_COPY static void join_others(pthread_t *threads)
{
	for (unsigned i = workers; i-- > 0;)
		pthread_join(threads[i], NULL);
}

/* Add what the workers did, and could have done until the last of them ended. */
static void account(void)
{
	uint64_t end = 0;

	for (unsigned i = 0; i < workers; i++)
		if (ended[i] > end)
			end = ended[i];
	for (unsigned i = 0; i < workers; i++) {
		lost[i] += (double)(end - began[i]) - (double)worked[i];
		life[i] += (double)(end - began[i]);
	}
}

static void one_round(pthread_t *threads, void *(*body)(void *))
{
	make_all(threads, body);
	join_all(threads);
	account();
}

/* Main has as much work as the first worker. */
static void round_with_main(pthread_t *threads, void (*join)(pthread_t *))
{
	uint64_t begin = now_ns(), end = 0, main_work;

	make_all(threads, once);
	sleep_for(STEP_NS);
	main_work = now_ns() - begin;
	join(threads);
	account();
	for (unsigned i = 0; i < workers; i++)
		if (ended[i] > end)
			end = ended[i];
	lost[MOST] += (double)(end - begin) - (double)main_work;
	life[MOST] += (double)(end - begin);
}

static void print_efficiency(void)
{
	double all_lost = 0, all_life = 0, least = 1, pe;

	for (unsigned i = 0; i <= MOST; i++) {
		all_lost += lost[i];
		all_life += life[i];
		if (life[i] > 0 && lost[i] / life[i] < least)
			least = lost[i] / life[i];
	}
	pe = 1 - all_lost / all_life;
	printf("# efficiency %.4f %.4f\n", pe, pe / (1 - least));
}

static bool is(const char *way, const char *name)
{
	return strcmp(way, name) == 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	pthread_t threads[MOST];

	if (argc > 2)
		workers = (unsigned)atoi(argv[2]);
	if (argc > 3)
		rounds = (unsigned)atoi(argv[3]);
	if (workers < 2 || workers > MOST || rounds < 1)
		die("usage: joiner WAY [WORKERS [ROUNDS]]");
	stopgap(STOPGAP_SECONDS);
	pthread_barrier_init(&barrier, NULL, workers);
	pthread_barrier_init(&gate, NULL, workers + 1);
	if (is(way, "pool") || is(way, "gate")) {
		make_all(threads, is(way, "gate") ? gated : stays);
		if (is(way, "gate"))
			through_the_gate(&gate);
		join_all(threads);
		account();
	}
	for (unsigned r = 0; r < rounds && !is(way, "pool") && !is(way, "gate"); r++) {
		turn = is(way, "rotating") ? r : 0;
		if (is(way, "serial"))
			sleep_for(4 * (uint64_t)STEP_NS);
		if (is(way, "part") || (is(way, "kinds") && r % 2))
			round_with_main(threads, is(way, "kinds") ? join_others : join_all);
		else
			one_round(threads, is(way, "meet") ? meets : once);
	}
	print_efficiency();
	return 0;
}
