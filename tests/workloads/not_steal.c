// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Work stealing with a deque for each thread. A thread without tasks steals one, and a thread that
// finds none sleeps on one condition variable. One task in five makes more tasks, and then wakes
// all sleeping threads at once, often all others. ROUNDS is the number of trees of tasks.
#include "not.h"

#define DEQUE 4096

struct deque {
	pthread_mutex_t mutex;
	uint32_t depth[DEQUE];
	uint32_t top, bottom;
};

static struct deque *deques;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static uint32_t epoch, open_tasks, roots;
static uint64_t done;

static void push(uint32_t self, uint32_t depth, uint32_t n)
{
	struct deque *d = &deques[self];

	__atomic_fetch_add(&open_tasks, n, __ATOMIC_RELAXED);
	pthread_mutex_lock(&d->mutex);
	for (uint32_t i = 0; i < n; i++)
		d->depth[d->bottom++ % DEQUE] = depth;
	pthread_mutex_unlock(&d->mutex);

	pthread_mutex_lock(&mutex);
	epoch++;
	pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&mutex);
}

/* Take the newest task of one's own deque, or the oldest task of another thread. */
static int take(uint32_t self, uint32_t *depth)
{
	for (uint32_t i = 0; i < thread_count; i++) {
		struct deque *d = &deques[(self + i) % thread_count];
		int got = 0;

		pthread_mutex_lock(&d->mutex);
		if (d->top != d->bottom) {
			*depth = i ? d->depth[d->top++ % DEQUE] : d->depth[--d->bottom % DEQUE];
			got = 1;
		}
		pthread_mutex_unlock(&d->mutex);
		if (got)
			return 1;
	}
	return 0;
}

static void *body(void *arg)
{
	uint32_t self = (uint32_t)(uintptr_t)arg;

	for (;;) {
		uint32_t before = __atomic_load_n(&epoch, __ATOMIC_ACQUIRE), depth;

		if (take(self, &depth)) {
			work_us(done + self, 40);
			__atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
			if (depth)
				push(self, depth - 1, 4);
			/*
			 * This was the last task of the tree. Begin the next tree, or end all
			 * threads.
			 */
			if (__atomic_sub_fetch(&open_tasks, 1, __ATOMIC_ACQ_REL) == 0) {
				if (--roots)
					push(self, 2, 1);
				else
					push(self, 0, 0);
			}
			continue;
		}
		pthread_mutex_lock(&mutex);
		while (epoch == before && roots)
			pthread_cond_wait(&more, &mutex);
		pthread_mutex_unlock(&mutex);
		if (!__atomic_load_n(&roots, __ATOMIC_ACQUIRE))
			return NULL;
	}
}

int main(int argc, char **argv)
{
	uint64_t expected;

	rounds = 100;
	parse_arguments(argc, argv);
	deques = (struct deque *)must_alloc(thread_count, sizeof(*deques));
	for (uint32_t i = 0; i < thread_count; i++)
		must(pthread_mutex_init(&deques[i].mutex, NULL), "pthread_mutex_init");
	roots = rounds;
	expected = rounds * 21ULL; /* a tree: 1 + 4 + 16 */
	push(0, 2, 1);
	run_threads(thread_count, body);
	free(deques);
	return report("not_steal", "tasks", done, expected);
}
