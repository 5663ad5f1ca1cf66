// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Condition variables of many objects at few addresses. Each request has its own condition
// variable, on the stack of the requesting thread, which waits there until the one server has
// answered and woken it. From time to time a whole stack passes to another thread.
#include "not.h"

struct request {
	pthread_mutex_t mutex;
	pthread_cond_t answered;
	struct request *next;
	uint64_t question, answer;
	int done;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER;
static struct request *pending;
static uint64_t sum;
static int closed;

static void *server(void *arg)
{
	struct request *r;

	for (;;) {
		pthread_mutex_lock(&mutex);
		while (!pending && !closed)
			pthread_cond_wait(&asked, &mutex);
		r = pending;
		if (r)
			pending = r->next;
		pthread_mutex_unlock(&mutex);
		if (!r)
			return arg;
		pthread_mutex_lock(&r->mutex);
		r->answer = r->question + 1;
		r->done = 1;
		pthread_cond_broadcast(&r->answered);
		pthread_mutex_unlock(&r->mutex);
	}
}

ONE_COPY static uint64_t ask(uint64_t question)
{
	struct request r = {
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, question, 0, 0
	};

	pthread_mutex_lock(&mutex);
	r.next = pending;
	pending = &r;
	pthread_cond_signal(&asked);
	pthread_mutex_unlock(&mutex);

	pthread_mutex_lock(&r.mutex);
	while (!r.done)
		pthread_cond_wait(&r.answered, &r.mutex);
	pthread_mutex_unlock(&r.mutex);
	pthread_cond_destroy(&r.answered);
	pthread_mutex_destroy(&r.mutex);
	return r.answer;
}

static void *client(void *arg)
{
	uint64_t own = 0;

	for (uint32_t i = 0; i < rounds / 10; i++)
		own += ask(0);
	__atomic_fetch_add(&sum, own, __ATOMIC_RELAXED);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t *servers;

	parse_arguments(argc, argv);
	servers = start_threads(1, server);
	/*
	 * The threads are detached, so that nothing joins them. The next generation reuses their
	 * stacks.
	 */
	for (int generation = 0; generation < 10; generation++) {
		pthread_attr_t attr;

		must(pthread_attr_init(&attr), "pthread_attr_init");
		must(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED),
		     "pthread_attr_setdetachstate");
		for (uint32_t i = 0; i < thread_count; i++) {
			pthread_t t;

			must(pthread_create(&t, &attr, client, NULL), "pthread_create");
		}
		pthread_attr_destroy(&attr);
		while (__atomic_load_n(&sum, __ATOMIC_RELAXED) <
		       (uint64_t)(generation + 1) * thread_count * (rounds / 10))
			sleep_ns(100000);
	}
	pthread_mutex_lock(&mutex);
	closed = 1;
	pthread_cond_signal(&asked);
	pthread_mutex_unlock(&mutex);
	join_threads(servers, 1);
	return report("not_stack", "answers", sum, 10ULL * thread_count * (rounds / 10));
}
