// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A pipeline: each thread takes from the slot before it and puts into the slot after it. Each slot
// has its own mutex and condition variable, on which at most two threads wait.
#include "not.h"

struct slot {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	uint64_t value;
	int full;
};

static struct slot *slots;
static uint64_t sum;

static void put(struct slot *s, uint64_t value)
{
	pthread_mutex_lock(&s->mutex);
	while (s->full)
		pthread_cond_wait(&s->changed, &s->mutex);
	s->value = value;
	s->full = 1;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mutex);
}

static uint64_t take(struct slot *s)
{
	uint64_t value;

	pthread_mutex_lock(&s->mutex);
	while (!s->full)
		pthread_cond_wait(&s->changed, &s->mutex);
	value = s->value;
	s->full = 0;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mutex);
	return value;
}

static void *stage(void *arg)
{
	uint32_t index = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0; i < rounds; i++) {
		uint64_t value = index ? take(&slots[index - 1]) : i;

		work_us(index + i, 10);
		if (index + 1 < thread_count)
			put(&slots[index], value + 1);
		else
			sum += value;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	parse_arguments(argc, argv);
	slots = (struct slot *)must_alloc(thread_count, sizeof(*slots));
	for (uint32_t i = 0; i < thread_count; i++) {
		must(pthread_mutex_init(&slots[i].mutex, NULL), "pthread_mutex_init");
		must(pthread_cond_init(&slots[i].changed, NULL), "pthread_cond_init");
	}
	run_threads(thread_count, stage);
	free(slots);
	return report("not_pipeline", "sum", sum,
		      (uint64_t)rounds * (rounds - 1) / 2 + (uint64_t)rounds * (thread_count - 1));
}
