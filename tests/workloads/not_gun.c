// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// One-shot events. The first is a start signal: all threads wait for it, and one of them, in the
// same function, wakes the others once. Then there are futures, each an object of its own on the
// heap, often at an address that was used before. One thread, which changes, sets a future, and the
// others wait until it is set.
#include "not.h"

struct event {
	pthread_mutex_t mutex;
	pthread_cond_t happened;
	uint32_t users;
	uint64_t value;
	int set;
};

static struct event gun = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct event **futures;
static uint32_t waiting;
static uint64_t sum;

static void start(uint32_t index)
{
	pthread_mutex_lock(&gun.mutex);
	if (index == 0) {
		while (waiting + 1 < thread_count) {
			pthread_mutex_unlock(&gun.mutex);
			sleep_ns(1000000);
			pthread_mutex_lock(&gun.mutex);
		}
		gun.set = 1;
		pthread_cond_broadcast(&gun.happened);
	}
	waiting++;
	while (!gun.set)
		pthread_cond_wait(&gun.happened, &gun.mutex);
	pthread_mutex_unlock(&gun.mutex);
}

/*
 * Return the event of this round. The first thread that asks allocates it, and the last user frees
 * it.
 */
static struct event *future(uint32_t round)
{
	struct event *e;

	pthread_mutex_lock(&mutex);
	e = futures[round];
	if (!e) {
		e = futures[round] = (struct event *)must_alloc(1, sizeof(*e));
		must(pthread_mutex_init(&e->mutex, NULL), "pthread_mutex_init");
		must(pthread_cond_init(&e->happened, NULL), "pthread_cond_init");
		e->users = thread_count;
	}
	pthread_mutex_unlock(&mutex);
	return e;
}

static void drop(struct event *e)
{
	pthread_mutex_lock(&mutex);
	if (--e->users == 0) {
		pthread_cond_destroy(&e->happened);
		free(e);
	}
	pthread_mutex_unlock(&mutex);
}

static void set(struct event *e, uint64_t value)
{
	pthread_mutex_lock(&e->mutex);
	e->value = value;
	e->set = 1;
	pthread_cond_broadcast(&e->happened);
	pthread_mutex_unlock(&e->mutex);
}

static uint64_t get(struct event *e)
{
	uint64_t value;

	pthread_mutex_lock(&e->mutex);
	while (!e->set)
		pthread_cond_wait(&e->happened, &e->mutex);
	value = e->value;
	pthread_mutex_unlock(&e->mutex);
	return value;
}

static void *body(void *arg)
{
	uint32_t index = (uint32_t)(uintptr_t)arg;
	uint64_t own = 0;

	start(index);
	for (uint32_t round = 0; round < rounds; round++) {
		struct event *e = future(round);

		work_us(index + round, 20);
		if (round % thread_count == index)
			set(e, 1);
		else
			own += get(e);
		drop(e);
	}
	__atomic_fetch_add(&sum, own, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	parse_arguments(argc, argv);
	futures = (struct event **)must_alloc(rounds, sizeof(*futures));
	run_threads(thread_count, body);
	free(futures);
	return report("not_gun", "values", sum, (uint64_t)rounds * (thread_count - 1));
}
