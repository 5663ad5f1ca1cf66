// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A thread pool. At its start all workers wait on one condition variable, and main broadcasts once.
// Then main submits single jobs with a signal each, and batches of as many jobs as there are
// workers with a broadcast each. It waits for them on another condition variable. At the end, a
// broadcast ends all workers.
#include "not.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, idle = PTHREAD_COND_INITIALIZER;
static uint32_t queued, running, waiting;
static uint64_t done;
static int closed;

static void *worker(void *arg)
{
	pthread_mutex_lock(&mutex);
	for (;;) {
		while (!queued && !closed) {
			waiting++;
			pthread_cond_wait(&work, &mutex);
			waiting--;
		}
		if (!queued)
			break;
		queued--;
		running++;
		pthread_mutex_unlock(&mutex);
		work_us((uintptr_t)arg + done, 20);
		pthread_mutex_lock(&mutex);
		done++;
		if (--running == 0 && !queued)
			pthread_cond_signal(&idle);
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void submit(uint32_t jobs)
{
	pthread_mutex_lock(&mutex);
	queued += jobs;
	if (jobs == 1)
		pthread_cond_signal(&work);
	else
		pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&mutex);
}

static void drain(void)
{
	pthread_mutex_lock(&mutex);
	while (queued || running)
		pthread_cond_wait(&idle, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void until_all_wait(void)
{
	for (uint32_t seen = 0; seen < thread_count;) {
		sleep_ns(1000000);
		pthread_mutex_lock(&mutex);
		seen = waiting;
		pthread_mutex_unlock(&mutex);
	}
}

int main(int argc, char **argv)
{
	pthread_t *threads;

	parse_arguments(argc, argv);
	threads = start_threads(thread_count, worker);
	until_all_wait();
	submit(thread_count);
	for (uint32_t i = 0; i < rounds; i++)
		submit(1);
	drain();
	for (uint32_t i = 0; i < rounds; i++) {
		submit(thread_count);
		drain();
	}
	until_all_wait();
	pthread_mutex_lock(&mutex);
	closed = 1;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&mutex);
	join_threads(threads, thread_count);
	return report("not_pool", "jobs", done, thread_count + rounds + rounds * thread_count);
}
