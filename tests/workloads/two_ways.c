// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Hot and cold barriers in one program. Threads cross the hot ones as fast as they can, and after a
// fixed time all threads cross an OpenMP barrier, the cold one. The hot ones, by --hot:
//   own    each thread's own pthread barrier, which counts 1
//   cond   all threads cross on a condition variable, CONDS times per round and no more
//   phase  each thread ends a phase of its own, by a marker
//   named  as `phase`, in a conceptual phase that begins and ends in each round
//   team   all threads cross OpenMP's own barrier, TEAMS times per round and no more; each round is
//          a region of its own
// At the end prints one JSON object: the number of rounds; and for each round its end
// (CLOCK_MONOTONIC), the number of hot crossings so far, and the CPU time of the threads. With
// --forever the program runs until SIGTERM. Built without OpenMP (two_ways-posix), all threads
// cross a pthread barrier instead: a program with fewer functions to probe.
#include "common.h"
#include "sbt.h"

#include <getopt.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <signal.h>

#define ROUNDS_MAX 65536u
#define CONDS	   200u
#define TEAMS	   400u

enum hot { OWN, COND, PHASE, NAMED, TEAM };

static const char *const kinds[] = { "own", "cond", "phase", "named", "team" };

static enum hot kind;
static uint64_t ended[ROUNDS_MAX], cpu_ns[ROUNDS_MAX];
static uint64_t hot[ROUNDS_MAX];
static uint64_t *made; /* number of crossings, by thread */
static uint32_t rounds = 400, threads = 2;
static uint64_t every_ns = 10 * NSEC_PER_SEC / 1000;
static volatile sig_atomic_t terminated;

#ifdef _OPENMP
#define MEET_COLD() _Pragma("omp barrier")
#else
static pthread_barrier_t cold;
#define MEET_COLD() pthread_barrier_wait(&cold)
#endif

static void on_term(int sig)
{
	(void)sig;
	terminated = 1;
}

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	uint32_t come, generation;
} all = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };

ONE_COPY static void meet_all(void)
{
	uint32_t mine;

	pthread_mutex_lock(&all.mutex);
	mine = all.generation;
	if (++all.come == threads) {
		all.come = 0;
		all.generation++;
		pthread_cond_broadcast(&all.condition);
	} else {
		while (all.generation == mine)
			pthread_cond_wait(&all.condition, &all.mutex);
	}
	pthread_mutex_unlock(&all.mutex);
}

static void go_once(pthread_barrier_t *own)
{
	if (kind == OWN)
		pthread_barrier_wait(own);
	else if (kind == COND)
		meet_all();
	else
		SBT_PHASE("hot");
}

static void go_through(pthread_barrier_t *own, uint64_t until, uint64_t *n)
{
	uint32_t some = kind == COND ? CONDS : 50;
	uint64_t count = *n;

	if (kind == NAMED)
		SBT_PHASE_BEGIN("round");
	do {
		for (uint32_t i = 0; i < some; i++)
			go_once(own);
		count += some;
		/* Another thread reads this number at the end of a round. */
		__atomic_store_n(n, count, __ATOMIC_RELAXED);
		/* Threads that share a barrier cross it equally often. */
	} while (kind != COND && now_ns() < until);
	if (kind == NAMED)
		SBT_PHASE_END("round");
	if (kind == COND)
		sleep_until(until);
}

static uint64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static void print_list(const char *name, const uint64_t *values)
{
	printf(", \"%s\": [", name);
	for (uint32_t i = 0; i < rounds; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)values[i]);
	printf("]");
}

static uint32_t kind_of(const char *word)
{
	uint32_t i = 0;

	while (i < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[i], word))
		i++;
	return i;
}

static void note_round(uint32_t round)
{
	ended[round] = now_ns();
	cpu_ns[round] = cpu_now();
	for (uint32_t i = 0; i < threads; i++)
		hot[round] += __atomic_load_n(&made[16 * i], __ATOMIC_RELAXED);
}

#ifdef _OPENMP
static void run_regions(void)
{
	uint32_t round;

	for (round = 0; round < rounds && !terminated; round++) {
		uint64_t until = now_ns() + every_ns;

#pragma omp parallel num_threads(threads)
		for (uint32_t i = 0; i < TEAMS; i++) {
#pragma omp barrier
			made[16 * (uint32_t)omp_get_thread_num()]++;
		}
		note_round(round);
		sleep_until(until);
	}
	rounds = round;
}
#else
static void run_regions(void)
{
	die("--hot team: that is OpenMP's");
}
#endif

static void member(uint32_t self)
{
	static int over;
	pthread_barrier_t own;
	uint32_t round = 0;

	must(pthread_barrier_init(&own, NULL, 1), "pthread_barrier_init");
	while (!over) {
		go_through(&own, now_ns() + every_ns, &made[16 * self]);
		MEET_COLD();
		if (!self) {
			note_round(round);
			over = round + 1 == rounds || terminated;
			if (over)
				rounds = round + 1;
		}
		round++;
		/* No thread may continue before it is known whether the program ends. */
		MEET_COLD();
	}
}

#ifdef _OPENMP
static void run(void)
{
#pragma omp parallel num_threads(threads)
	member((uint32_t)omp_get_thread_num());
}
#else
static void *run_member(void *self)
{
	member((uint32_t)(uintptr_t)self);
	return NULL;
}

static void run(void)
{
	pthread_t *all = (pthread_t *)must_alloc(threads, sizeof(*all));

	must(pthread_barrier_init(&cold, NULL, threads), "pthread_barrier_init");
	for (uint32_t i = 1; i < threads; i++)
		must(pthread_create(&all[i], NULL, run_member, (void *)(uintptr_t)i),
		     "pthread_create");
	member(0);
	for (uint32_t i = 1; i < threads; i++)
		must(pthread_join(all[i], NULL), "pthread_join");
	free(all);
}
#endif

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "hot", required_argument, NULL, 'h' },
		{ "every", required_argument, NULL, 'e' },
		{ "forever", no_argument, NULL, 'f' },
		{ 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 't')
			threads = (uint32_t)strtoul(optarg, NULL, 10);
		else if (opt == 'r')
			rounds = (uint32_t)strtoul(optarg, NULL, 10);
		else if (opt == 'e')
			every_ns = strtoull(optarg, NULL, 10) * (NSEC_PER_SEC / 1000);
		else if (opt == 'h')
			kind = (enum hot)kind_of(optarg);
		else if (opt == 'f')
			rounds = ROUNDS_MAX;
		else
			return 2;
	}
	if (!threads || !rounds || rounds > ROUNDS_MAX || kind > TEAM)
		return 2;
	signal(SIGTERM, on_term);
	made = (uint64_t *)must_alloc(16 * threads, sizeof(*made));
	if (kind == TEAM)
		run_regions();
	else
		run();
	printf("{\"rounds\": %u", rounds);
	print_list("ended_ns", ended);
	print_list("hot", hot);
	print_list("cpu_ns", cpu_ns);
	printf("}\n");
	free(made);
	return 0;
}
