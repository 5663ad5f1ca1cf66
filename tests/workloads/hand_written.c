// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Barriers with a mutex and a condition variable, in the forms that programs use. They count their
// own episodes:
//   hand_written KIND THREADS ROUNDS [LATE]
//     macro      a macro, expanded in four functions, on one object
//     arms       the macro at the end of two functions that are called in the branches of an if;
//                when they are inlined, their ends are merged
//     steps      the macro twice, on two objects, in a function that is inlined; one thread works
//                in between
//     written    two barriers written out in one small function, on two objects; one thread works
//                in between
//     slow       as `written`, but that thread also works before the first barrier, so it arrives
//                last at both
//     mixed      a macro; thread 0 runs another function than the other threads
//     phases     one condition variable for both phases: the counter increases, and decreases again
//     spin       as `phases`, with a spin before each wait
//     out        two condition variables: no thread leaves before all have arrived
//     start      thread 0 starts the other threads in the function in which they wait, then all
//                cross as in `phases`
//   LATE: the thread that is always late; -1 (default): a random one
// Prints "episodes N" at the end.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 64

struct bar {
	pthread_mutex_t mutex;
	pthread_cond_t changed, all_out;
	unsigned n, arrived, generation;
	int arrival; /* kind phases: the counter increases */
};

static struct bar bar = { .mutex = PTHREAD_MUTEX_INITIALIZER,
			  .changed = PTHREAD_COND_INITIALIZER,
			  .all_out = PTHREAD_COND_INITIALIZER,
			  .arrival = 1 };
static unsigned long episodes;
static int late = -1, rounds;
static int spins, slow;

/* The whole barrier is on one line per use, as in programs that are preprocessed with m4. */
#define BARRIER(b)                                                           \
	do {                                                                 \
		pthread_mutex_lock(&(b).mutex);                              \
		if (++(b).arrived == (b).n) {                                \
			(b).arrived = 0;                                     \
			(b).generation++;                                    \
			episodes++;                                          \
			pthread_cond_broadcast(&(b).changed);                \
		} else {                                                     \
			unsigned mine = (b).generation;                      \
			while (mine == (b).generation)                       \
				pthread_cond_wait(&(b).changed, &(b).mutex); \
		}                                                            \
		pthread_mutex_unlock(&(b).mutex);                            \
	} while (0)

static void work(int me, unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	if (late >= 0)
		usleep(me == late ? 600 : 20);
	else
		usleep((*seed >> 16) % 500);
}

__attribute__((noinline)) static void step_one(int me, unsigned *seed)
{
	work(me, seed);
	BARRIER(bar);
}

__attribute__((noinline)) static void step_two(int me, unsigned *seed)
{
	work(me, seed);
	work(me, seed);
	BARRIER(bar);
}

__attribute__((noinline)) static void step_three(int me, unsigned *seed)
{
	work(me, seed);
	BARRIER(bar);
	__asm__ volatile("" ::: "memory");
}

static void *run_macro(void *arg)
{
	int me = (int)(long)arg;
	unsigned seed = 17u * (unsigned)me + 1;

	for (int i = 0; i < rounds; i++) {
		step_one(me, &seed);
		step_two(me, &seed);
		step_three(me, &seed);
		work(me, &seed);
		BARRIER(bar);
	}
	return NULL;
}

static void even(int me, unsigned *seed)
{
	work(me, seed);
	BARRIER(bar);
}

static void odd(int me, unsigned *seed)
{
	work(me, seed);
	work(me, seed);
	BARRIER(bar);
}

static void *run_arms(void *arg)
{
	int me = (int)(long)arg;
	unsigned seed = 17u * (unsigned)me + 1;

	for (int i = 0; i < rounds; i++) {
		if (i & 1)
			odd(me, &seed);
		else
			even(me, &seed);
	}
	return NULL;
}

static struct bar other = { .mutex = PTHREAD_MUTEX_INITIALIZER,
			    .changed = PTHREAD_COND_INITIALIZER };

static inline __attribute__((always_inline)) void both(int works)
{
	usleep(300);
	BARRIER(bar);
	if (works)
		usleep(3000);
	BARRIER(other);
}

static void *run_steps(void *arg)
{
	int me = (int)(long)arg;

	other.n = bar.n;
	for (int i = 0; i < rounds; i++)
		both(me == (late < 0 ? i % (int)bar.n : late));
	return NULL;
}

__attribute__((noinline)) static void chief(int me)
{
	unsigned seed = 5;

	for (int i = 0; i < rounds; i++) {
		work(me, &seed);
		BARRIER(bar);
	}
}

static void *run_mixed(void *arg)
{
	int me = (int)(long)arg;
	unsigned seed = 17u * (unsigned)me + 1;

	if (!me) {
		chief(me);
		return NULL;
	}
	for (int i = 0; i < rounds; i++) {
		work(me, &seed);
		BARRIER(bar);
	}
	return NULL;
}

static void wait_while(struct bar *b, int arrival)
{
	for (int i = 0; i < spins && b->arrival == arrival; i++) {
		pthread_mutex_unlock(&b->mutex);
		for (volatile int k = 0; k < 200; k++)
			;
		pthread_mutex_lock(&b->mutex);
	}
}

/* The form of benchmark suites for multi-core machines. */
__attribute__((noinline)) static void meet_phases(struct bar *b)
{
	pthread_mutex_lock(&b->mutex);
	wait_while(b, 0);
	while (!b->arrival)
		pthread_cond_wait(&b->changed, &b->mutex);
	if (++b->arrived == b->n) {
		b->arrival = 0;
		episodes++;
		pthread_cond_broadcast(&b->changed);
	} else {
		wait_while(b, 1);
		while (b->arrival)
			pthread_cond_wait(&b->changed, &b->mutex);
	}
	if (--b->arrived == 0) {
		b->arrival = 1;
		pthread_cond_broadcast(&b->changed);
	}
	pthread_mutex_unlock(&b->mutex);
}

__attribute__((noinline)) static void meet_out(struct bar *b)
{
	pthread_mutex_lock(&b->mutex);
	if (++b->arrived == b->n) {
		b->arrival = 0;
		episodes++;
		pthread_cond_broadcast(&b->changed);
	} else {
		while (b->arrival)
			pthread_cond_wait(&b->changed, &b->mutex);
	}
	if (--b->arrived == 0) {
		b->arrival = 1;
		pthread_cond_broadcast(&b->all_out);
	} else {
		while (!b->arrival)
			pthread_cond_wait(&b->all_out, &b->mutex);
	}
	pthread_mutex_unlock(&b->mutex);
}

__attribute__((noinline)) static void meet_both(struct bar *a, struct bar *b, int works)
{
	unsigned mine;

	pthread_mutex_lock(&a->mutex);
	mine = a->generation;
	if (++a->arrived == a->n) {
		a->arrived = 0;
		a->generation++;
		episodes++;
		pthread_cond_broadcast(&a->changed);
	} else {
		while (mine == a->generation)
			pthread_cond_wait(&a->changed, &a->mutex);
	}
	pthread_mutex_unlock(&a->mutex);
	if (works)
		usleep(3000);
	pthread_mutex_lock(&b->mutex);
	mine = b->generation;
	if (++b->arrived == b->n) {
		b->arrived = 0;
		b->generation++;
		episodes++;
		pthread_cond_broadcast(&b->changed);
	} else {
		while (mine == b->generation)
			pthread_cond_wait(&b->changed, &b->mutex);
	}
	pthread_mutex_unlock(&b->mutex);
}

static void *run_both(void *arg)
{
	int me = (int)(long)arg;

	other.n = bar.n;
	for (int i = 0; i < rounds; i++) {
		int works = me == (late >= 0 ? late : i % (int)bar.n);

		usleep(works && slow ? 3000 : 500);
		meet_both(&bar, &other, works);
	}
	return NULL;
}

static void *run_phases(void *arg)
{
	int me = (int)(long)arg;
	unsigned seed = 17u * (unsigned)me + 1;

	for (int i = 0; i < rounds; i++) {
		work(me, &seed);
		meet_phases(&bar);
	}
	return NULL;
}

static void *run_out(void *arg)
{
	int me = (int)(long)arg;
	unsigned seed = 17u * (unsigned)me + 1;

	for (int i = 0; i < rounds; i++) {
		work(me, &seed);
		meet_out(&bar);
	}
	return NULL;
}

static pthread_mutex_t go_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER;
static int go_round;

static void *run_start(void *arg)
{
	int me = (int)(long)arg;
	unsigned seed = 17u * (unsigned)me + 1;

	for (int i = 1; i <= rounds; i++) {
		if (!me) {
			usleep(1000);
			pthread_mutex_lock(&go_mutex);
			go_round = i;
			pthread_mutex_unlock(&go_mutex);
			pthread_cond_broadcast(&go);
		} else {
			pthread_mutex_lock(&go_mutex);
			while (go_round < i)
				pthread_cond_wait(&go, &go_mutex);
			pthread_mutex_unlock(&go_mutex);
		}
		work(me, &seed);
		meet_phases(&bar);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void *(*run)(void *arg);
		int spins, slow;
	} kinds[] = {
		{ "macro", run_macro, 0, 0 },	{ "mixed", run_mixed, 0, 0 },
		{ "phases", run_phases, 0, 0 }, { "spin", run_phases, 60, 0 },
		{ "out", run_out, 0, 0 },	{ "start", run_start, 0, 0 },
		{ "arms", run_arms, 0, 0 },	{ "steps", run_steps, 0, 0 },
		{ "written", run_both, 0, 0 },	{ "slow", run_both, 0, 1 },
	};
	void *(*run)(void *arg) = NULL;
	pthread_t thread[THREADS_MAX];
	size_t i;

	for (i = 0; argc > 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(argv[1], kinds[i].name)) {
			run = kinds[i].run;
			spins = kinds[i].spins;
			slow = kinds[i].slow;
		}
	}
	bar.n = argc > 3 ? (unsigned)atoi(argv[2]) : 0;
	if (!run || !bar.n || bar.n > THREADS_MAX) {
		fprintf(stderr, "usage: hand_written KIND THREADS ROUNDS [LATE]\n");
		return 2;
	}
	rounds = atoi(argv[3]);
	late = argc > 4 ? atoi(argv[4]) : -1;
	for (i = 0; i < bar.n; i++)
		pthread_create(&thread[i], NULL, run, (void *)(long)i);
	for (i = 0; i < bar.n; i++)
		pthread_join(thread[i], NULL);
	printf("episodes %lu\n", episodes);
	return 0;
}
