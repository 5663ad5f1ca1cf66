// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/clock.h"
#include "base/number.h"
#include "capture/measure.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RUNS   15 /* of each measurement; the median is used */
#define ROUNDS 300
#define COPY   (32u << 20) /* bytes: more than caches hold */
#define SETTLE 20000 /* ns after which a thread that goes to sleep is asleep */

struct pair; /* two threads that run one measurement */

struct side {
	struct pair *pair;
	unsigned which; /* 0, 1 */
	int cpu;
	double ns; /* result */
	int err;
};

struct pair {
	void (*run)(struct side *s);
	pthread_barrier_t barrier;
	/* futex words of the two threads, one cache line each */
	_Alignas(64) _Atomic uint32_t word[2][16];
	_Alignas(64) _Atomic uint64_t counter;
	struct side sides[2];
};

static double median(double all[RUNS])
{
	qsort(all, RUNS, sizeof(*all), number_compare_double);
	return all[RUNS / 2];
}

static int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

/* --- measurements with two threads ------------------------------------------------------------ */

static void futex_sleep(_Atomic uint32_t *word, uint32_t value)
{
	while (atomic_load(word) == value)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, uint32_t value)
{
	atomic_store(word, value);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/*
 * The threads wake each other in turn. Half the time of a round is the time from one thread's
 * wake-up call until the other thread runs.
 */
static void run_wake_ups(struct side *s)
{
	_Atomic uint32_t *mine = &s->pair->word[s->which][0], *other = &s->pair->word[!s->which][0];
	double begin = now_ns();
	uint32_t i;

	for (i = 1; i <= ROUNDS; i++) {
		if (s->which == 0) {
			futex_wake(other, i);
			futex_sleep(mine, i - 1);
		} else {
			futex_sleep(mine, i - 1);
			futex_wake(other, i);
		}
	}
	s->ns = (now_ns() - begin) / ROUNDS / 2;
}

static void spin_for(double ns)
{
	double end = now_ns() + ns;

	while (now_ns() < end)
		;
}

/* One thread sleeps; the other thread measures the call that wakes it. */
static void run_wakes(struct side *s)
{
	_Atomic uint32_t *sleeper = &s->pair->word[1][0], *back = &s->pair->word[0][0];
	double all = 0, begin;
	uint32_t i;

	for (i = 1; i <= ROUNDS; i++) {
		if (s->which == 0) {
			spin_for(SETTLE);
			begin = now_ns();
			futex_wake(sleeper, i);
			all += now_ns() - begin;
			while (atomic_load(back) != i)
				sched_yield();
		} else {
			futex_sleep(sleeper, i - 1);
			atomic_store(back, i);
		}
	}
	s->ns = all / ROUNDS;
}

/* Pass a cache line to the other thread and back; both spin. */
static void run_lines(struct side *s)
{
	_Atomic uint32_t *mine = &s->pair->word[s->which][0], *other = &s->pair->word[!s->which][0];
	double begin = now_ns();
	uint32_t i, spins;

	for (i = 1; i <= ROUNDS; i++) {
		if (s->which == 0)
			atomic_store(other, i);
		/* The other thread may have lost its CPU. */
		for (spins = 0; atomic_load(mine) != i; spins++)
			if (spins > 100000)
				sched_yield();
		if (s->which == 1)
			atomic_store(other, i);
	}
	s->ns = (now_ns() - begin) / ROUNDS / 2;
}

/* Both threads increment one counter. */
static void run_counter(struct side *s)
{
	double begin = now_ns();
	uint32_t i;

	for (i = 0; i < 100 * ROUNDS; i++)
		atomic_fetch_add(&s->pair->counter, 1);
	s->ns = (now_ns() - begin) / (100 * ROUNDS);
}

/* Both threads yield their common CPU to each other. */
static void run_switches(struct side *s)
{
	double begin = now_ns();
	uint32_t i;

	for (i = 0; i < ROUNDS; i++)
		sched_yield();
	s->ns = (now_ns() - begin) / ROUNDS / 2;
}

/* Cross the C library's barrier in a loop. */
static void run_barrier(struct side *s)
{
	double begin = now_ns();
	uint32_t i;

	for (i = 0; i < ROUNDS; i++)
		pthread_barrier_wait(&s->pair->barrier);
	s->ns = (now_ns() - begin) / ROUNDS;
}

static void *side_main(void *arg)
{
	struct side *s = arg;

	s->err = pin(s->cpu);
	pthread_barrier_wait(&s->pair->barrier);
	s->pair->run(s);
	return NULL;
}

/*
 * Run a measurement once on these CPUs. *ns: the longer of the two threads' times. Return 0 or a
 * negative errno.
 */
static int run_once(void (*run)(struct side *s), const int cpus[2], double *ns)
{
	struct pair *p = aligned_alloc(64, sizeof(*p));
	pthread_t threads[2];
	unsigned n = 0;
	int err;

	if (!p)
		return -ENOMEM;
	memset(p, 0, sizeof(*p));
	p->run = run;
	err = -pthread_barrier_init(&p->barrier, NULL, 2);
	for (n = 0; n < 2 && !err; n++) {
		p->sides[n] = (struct side){ .pair = p, .which = n, .cpu = cpus[n] };
		err = -pthread_create(&threads[n], NULL, side_main, &p->sides[n]);
		if (err)
			break;
	}
	/* Do not join the only thread: it waits at the barrier forever, and still uses *p. */
	if (err && n == 1)
		return err;
	while (n)
		pthread_join(threads[--n], NULL);
	if (!err)
		err = p->sides[0].err ? p->sides[0].err : p->sides[1].err;
	*ns = fmax(p->sides[0].ns, p->sides[1].ns);
	pthread_barrier_destroy(&p->barrier);
	free(p);
	return err;
}

static int run_median(void (*run)(struct side *s), int a, int b, double *ns)
{
	const int cpus[2] = { a, b };
	double all[RUNS];
	int i, err = 0;

	for (i = 0; i < RUNS && !err; i++)
		err = run_once(run, cpus, &all[i]);
	if (err)
		return err;
	*ns = median(all);
	return 0;
}

/* --- measurements with one thread ------------------------------------------------------------- */

/*
 * Measure how long one thread alone takes to cross a barrier, without the wake-up call in the
 * barrier, because wake_time covers this call.
 */
static int single_thread_barrier(double *ns)
{
	_Atomic uint32_t word = 0;
	pthread_barrier_t barrier;
	double all[RUNS], begin, middle;
	int i, k;

	if (pthread_barrier_init(&barrier, NULL, 1))
		return -EAGAIN;
	for (i = 0; i < RUNS; i++) {
		begin = now_ns();
		for (k = 0; k < 10 * ROUNDS; k++)
			pthread_barrier_wait(&barrier);
		middle = now_ns();
		for (k = 0; k < 10 * ROUNDS; k++)
			futex_wake(&word, 1);
		all[i] = fmax(0, middle - begin - (now_ns() - middle)) / (10 * ROUNDS);
	}
	pthread_barrier_destroy(&barrier);
	*ns = median(all);
	return 0;
}

/* Get the ns per byte of a copy that exceeds all caches. */
static int copying(double *ns)
{
	char *from = malloc(COPY), *to = malloc(COPY);
	double all[RUNS], begin;
	int i, err = from && to ? 0 : -ENOMEM;

	if (!err) {
		memset(from, 1, COPY);
		memset(to, 2, COPY);
	}
	for (i = 0; i < RUNS && !err; i++) {
		begin = now_ns();
		memcpy(to, from, COPY);
		/* Read the copy, so that the compiler keeps it. */
		all[i] = (now_ns() - begin) / COPY + (to[i] == 3);
	}
	free(from);
	free(to);
	if (err)
		return err;
	*ns = median(all);
	return 0;
}

/* Read the kernel's time slice; leave *ns unchanged if it cannot be read. */
static void read_slice(double *ns)
{
	FILE *f = fopen("/sys/kernel/debug/sched/base_slice_ns", "re");
	double v;

	if (!f)
		f = fopen("/sys/kernel/debug/sched/min_granularity_ns", "re");
	if (!f)
		return;
	if (fscanf(f, "%lf", &v) == 1 && v > 0 && v < 1e9)
		*ns = v;
	fclose(f);
}

/* --- the whole machine ------------------------------------------------------------------------ */

/* Find the first two usable CPUs. Return the number of usable CPUs. */
static uint32_t find_cpus(int cpus[2])
{
	cpu_set_t set;
	uint32_t n = 0;
	int i;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET((unsigned)i, &set))
			continue;
		if (n < 2)
			cpus[n] = i;
		n++;
	}
	return n;
}

static int measure_pairs(struct predict_machine *m, const int cpus[2], struct measured *out)
{
	double wake_up = 0, wake = 0;
	const struct {
		void (*run)(struct side *s);
		double *ns;
	} all[] = {
		{ run_wake_ups, &wake_up },	   { run_wakes, &wake },
		{ run_counter, &m->counter_time }, { run_lines, &m->cluster_startup },
		{ run_barrier, &out->episode_ns },
	};
	int err = 0;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]) && !err; i++)
		err = run_median(all[i].run, cpus[0], cpus[1], all[i].ns);
	m->wake_time = wake;
	m->flag_time = fmax(0, wake_up - wake);
	return err;
}

/*
 * Return the episode time of two threads that only cross a barrier, predicted from the parameters.
 */
static double predict_episode(const struct predict_machine *m)
{
	struct predict_input in = { 0 };
	struct predict_run run;
	uint32_t i, episode;
	double t = NAN;
	int err;

	err = predict_add_thread(&in) < 0 || predict_add_thread(&in) < 0;
	for (i = 0; i < ROUNDS && !err; i++)
		err = predict_add_episode(&in, 0, &episode) ||
		      predict_add_step(&in, 0, PREDICT_MEET, 0, episode, 0) ||
		      predict_add_step(&in, 1, PREDICT_MEET, 0, episode, 0);
	if (!err && !predict_simulate(&in, m, 2, NULL, NULL, &run)) {
		t = run.time_ns / ROUNDS;
		predict_run_free(&run);
	}
	predict_input_free(&in);
	return t;
}

/* Round to three digits: more would be noise. */
static void round_times(struct predict_machine *m)
{
	double *const times[] = { &m->switch_time,     &m->entry_time,	 &m->exit_time,
				  &m->counter_time,    &m->wake_time,	 &m->flag_time,
				  &m->cluster_startup, &m->cluster_byte, &m->byte_time };
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		char s[32];

		snprintf(s, sizeof(s), "%.3g", *times[i]);
		*times[i] = strtod(s, NULL);
	}
}

int measure_machine(struct predict_machine *m, struct measured *out)
{
	int cpus[2] = { 0, 0 }, err = predict_machine_find("laptop", m);
	double single_thread = 0;

	*out = (struct measured){ .cpus = find_cpus(cpus), .episode_ns = NAN, .predicted_ns = NAN };
	if (err || !out->cpus)
		return err ? err : -ENODEV;
	snprintf(m->name, sizeof(m->name), "this machine");
	m->cores_per_cluster = out->cpus;
	read_slice(&m->quantum);
	err = single_thread_barrier(&single_thread);
	if (!err)
		err = copying(&m->cluster_byte);
	if (!err)
		err = run_median(run_switches, cpus[0], cpus[0], &m->switch_time);
	m->entry_time = m->exit_time = single_thread / 2;
	m->model_time = 0;
	m->byte_time = m->cluster_byte;
	if (!err && out->cpus > 1)
		err = measure_pairs(m, cpus, out);
	round_times(m);
	if (!err && out->cpus > 1)
		out->predicted_ns = predict_episode(m);
	return err;
}
