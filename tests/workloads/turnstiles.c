// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Barriers of semaphores, in the forms that programs and text books use. They count their own
// episodes:
//   turnstiles KIND THREADS ROUNDS [LATE]
//     chain    a semaphore protects the counter; at each of two turnstiles, each thread lets the
//              next one pass
//     posts    as `chain`, but the last arriver posts for all, at both turnstiles
//     helpers  as `chain`, through functions P() and V()
//     checked  as `chain`, through functions that report errors
//     phases   the two halves of `chain` are two functions
//     parity   two semaphores alternate; all threads but the last wait on one of them
//     several  as `chain`, with two barriers that are passed to one function
//     lock     a semaphore is a lock, held while a thread works: no barrier
//     pool     one thread starts the others by posting for each, and waits for them: no barrier
//   LATE: the thread that is always late; -1 (default): a different thread each time
// Prints "episodes N" at the end.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 64

struct bar {
	sem_t mutex, in, out;
	int arrived;
};

static struct bar bars[2];
static sem_t turn[2], start, done;
static pthread_mutex_t counter_mutex = PTHREAD_MUTEX_INITIALIZER;
static int threads, rounds, late = -1, counter;
static unsigned long episodes;

static void work(int me, int round)
{
	usleep(me == (late < 0 ? round % threads : late) ? 1500 : 100);
}

__attribute__((noinline)) static void meet_chain(struct bar *b)
{
	sem_wait(&b->mutex);
	if (++b->arrived == threads) {
		episodes++;
		sem_wait(&b->out);
		sem_post(&b->in);
	}
	sem_post(&b->mutex);
	sem_wait(&b->in);
	sem_post(&b->in);
	sem_wait(&b->mutex);
	if (!--b->arrived) {
		sem_wait(&b->in);
		sem_post(&b->out);
	}
	sem_post(&b->mutex);
	sem_wait(&b->out);
	sem_post(&b->out);
}

__attribute__((noinline)) static void meet_posts(struct bar *b)
{
	sem_wait(&b->mutex);
	if (++b->arrived == threads) {
		episodes++;
		for (int i = 0; i < threads; i++)
			sem_post(&b->in);
	}
	sem_post(&b->mutex);
	sem_wait(&b->in);
	sem_wait(&b->mutex);
	if (!--b->arrived)
		for (int i = 0; i < threads; i++)
			sem_post(&b->out);
	sem_post(&b->mutex);
	sem_wait(&b->out);
}

static void P(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static void V(sem_t *s)
{
	sem_post(s);
}

__attribute__((noinline)) static void meet_helpers(struct bar *b)
{
	P(&b->mutex);
	if (++b->arrived == threads) {
		episodes++;
		P(&b->out);
		V(&b->in);
	}
	V(&b->mutex);
	P(&b->in);
	V(&b->in);
	P(&b->mutex);
	if (!--b->arrived) {
		P(&b->in);
		V(&b->out);
	}
	V(&b->mutex);
	P(&b->out);
	V(&b->out);
}

static unsigned long waits, posts;

static void fail(const char *what)
{
	fprintf(stderr, "turnstiles: %s: %s\n", what, strerror(errno));
	exit(1);
}

__attribute__((noinline)) static void checked_wait(sem_t *s)
{
	int value = 0;

	if (sem_getvalue(s, &value))
		fail("sem_getvalue");
	while (sem_wait(s)) {
		if (errno != EINTR)
			fail("sem_wait");
	}
	__atomic_add_fetch(&waits, 1 + (value > THREADS_MAX), __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void checked_post(sem_t *s)
{
	if (sem_post(s))
		fail("sem_post");
	__atomic_add_fetch(&posts, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void meet_checked(struct bar *b)
{
	checked_wait(&b->mutex);
	if (++b->arrived == threads) {
		episodes++;
		checked_wait(&b->out);
		checked_post(&b->in);
	}
	checked_post(&b->mutex);
	checked_wait(&b->in);
	checked_post(&b->in);
	checked_wait(&b->mutex);
	if (!--b->arrived) {
		checked_wait(&b->in);
		checked_post(&b->out);
	}
	checked_post(&b->mutex);
	checked_wait(&b->out);
	checked_post(&b->out);
}

__attribute__((noinline)) static void phase_one(struct bar *b)
{
	sem_wait(&b->mutex);
	if (++b->arrived == threads) {
		episodes++;
		sem_wait(&b->out);
		sem_post(&b->in);
	}
	sem_post(&b->mutex);
	sem_wait(&b->in);
	sem_post(&b->in);
}

__attribute__((noinline)) static void phase_two(struct bar *b)
{
	sem_wait(&b->mutex);
	if (!--b->arrived) {
		sem_wait(&b->in);
		sem_post(&b->out);
	}
	sem_post(&b->mutex);
	sem_wait(&b->out);
	sem_post(&b->out);
}

__attribute__((noinline)) static void meet_parity(int round)
{
	sem_t *mine = &turn[round % 2];

	pthread_mutex_lock(&counter_mutex);
	if (++counter == threads) {
		counter = 0;
		episodes++;
		for (int i = 1; i < threads; i++)
			sem_post(mine);
		pthread_mutex_unlock(&counter_mutex);
	} else {
		pthread_mutex_unlock(&counter_mutex);
		sem_wait(mine);
	}
}

static void *run_chain(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		work((int)(long)arg, i);
		meet_chain(&bars[0]);
	}
	return NULL;
}

static void *run_posts(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		work((int)(long)arg, i);
		meet_posts(&bars[0]);
	}
	return NULL;
}

static void *run_helpers(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		work((int)(long)arg, i);
		meet_helpers(&bars[0]);
	}
	return NULL;
}

static void *run_checked(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		work((int)(long)arg, i);
		meet_checked(&bars[0]);
	}
	return NULL;
}

static void *run_phases(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		work((int)(long)arg, i);
		phase_one(&bars[0]);
		work((int)(long)arg, i + 1);
		phase_two(&bars[0]);
	}
	return NULL;
}

static void *run_parity(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		work((int)(long)arg, i);
		meet_parity(i);
	}
	return NULL;
}

static void *run_several(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		work((int)(long)arg, i);
		meet_chain(&bars[i % 2]);
	}
	return NULL;
}

static void *run_lock(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		work((int)(long)arg, i);
		sem_wait(&bars[0].mutex);
		usleep(300);
		sem_post(&bars[0].mutex);
	}
	return NULL;
}

static void *run_pool(void *arg)
{
	int me = (int)(long)arg;

	for (int i = 0; i < rounds; i++) {
		if (!me) {
			for (int k = 1; k < threads; k++)
				sem_post(&start);
			for (int k = 1; k < threads; k++)
				sem_wait(&done);
		} else {
			sem_wait(&start);
			work(me, i);
			sem_post(&done);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void *(*run)(void *arg);
	} kinds[] = {
		{ "chain", run_chain },	    { "posts", run_posts },   { "helpers", run_helpers },
		{ "checked", run_checked }, { "phases", run_phases }, { "parity", run_parity },
		{ "several", run_several }, { "lock", run_lock },     { "pool", run_pool },
	};
	void *(*run)(void *arg) = NULL;
	pthread_t thread[THREADS_MAX];
	int n_posts;
	size_t i;

	for (i = 0; argc > 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name))
			run = kinds[i].run;
	threads = argc > 3 ? atoi(argv[2]) : 0;
	if (!run || threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr, "usage: turnstiles KIND THREADS ROUNDS [LATE]\n");
		return 2;
	}
	rounds = atoi(argv[3]);
	late = argc > 4 ? atoi(argv[4]) : -1;
	n_posts = !strcmp(argv[1], "posts");
	for (i = 0; i < 2; i++) {
		sem_init(&bars[i].mutex, 0, 1);
		sem_init(&bars[i].in, 0, 0);
		sem_init(&bars[i].out, 0, !n_posts);
		sem_init(&turn[i], 0, 0);
	}
	sem_init(&start, 0, 0);
	sem_init(&done, 0, 0);
	for (i = 0; i < (size_t)threads; i++)
		pthread_create(&thread[i], NULL, run, (void *)(long)i);
	for (i = 0; i < (size_t)threads; i++)
		pthread_join(thread[i], NULL);
	printf("episodes %lu\n", episodes);
	return 0;
}
