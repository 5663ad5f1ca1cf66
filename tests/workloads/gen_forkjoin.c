// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for fork-join rounds: in each round main creates workers and joins them, and every
// worker is a new thread. The workers' ends are the arrivals. The last entry of a round in the log
// is main, which arrives where it begins to join and departs when it has joined all. The departure
// of a worker cannot be seen, so the log has main's departure for all. --kind:
//   order     joined in the order of creation
//   reverse   joined in the reverse order
//   busy      as `order`, but main works as long as the first worker before it joins
//   exit      workers end by pthread_exit
// Built as C++, it creates and joins objects of std::thread.
#include "gen_core.h"

#ifdef __cplusplus
#include <thread>

typedef std::thread worker_thread;
#else
typedef pthread_t worker_thread;
#endif

#define MAX_THREADS 1024

enum kind { ORDER, REVERSE, BUSY, EXIT };

static const char *const kinds[] = { "order", "reverse", "busy", "exit", NULL };

static uint64_t this_round;

/* The arrival is read as late as possible before the worker ends. */
static void *worker(void *arg)
{
	uint32_t index = (uint32_t)(uintptr_t)arg;
	struct gen_entry *e;

	exact_timers();
	gen_work(index, this_round);
	e = gen_next(index, this_round, 0, 0);
	e->tid = thread_id();
	gen_arrive(e);
	if (gen.kind == EXIT)
		pthread_exit(NULL);
	return NULL;
}

static void create_one(worker_thread *thread, uint32_t i)
{
#ifdef __cplusplus
	*thread = std::thread(worker, (void *)(uintptr_t)i);
#else
	must(pthread_create(thread, NULL, worker, (void *)(uintptr_t)i), "pthread_create");
#endif
}

static void join_one(worker_thread *thread)
{
#ifdef __cplusplus
	thread->join();
#else
	must(pthread_join(*thread, NULL), "pthread_join");
#endif
}

ONE_COPY static void create_all(worker_thread *threads, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		create_one(&threads[i], i);
}

ONE_COPY static void join_all(worker_thread *threads, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		join_one(&threads[gen.kind == REVERSE ? n - 1 - i : i]);
}

static void drive(void)
{
	uint32_t n = gen.workers - 1;
	static worker_thread threads[MAX_THREADS];

	if (n == 0 || n > MAX_THREADS)
		die("gen_forkjoin: --threads counts main and its workers, from 2 to %u",
		    MAX_THREADS + 1);
	do {
		struct gen_entry *e;

		create_all(threads, n);
		if (gen.kind == BUSY)
			gen_work(0, this_round);
		e = gen_next(n, this_round, 0, 0);
		e->tid = thread_id();
		gen_serial(n, e);
		gen_arrive(e);
		join_all(threads, n);
		gen_depart(e);
		for (uint32_t i = 0; gen.logging && i < n; i++)
			gen_earlier(i, this_round)->depart = e->depart;
	} while (++this_round < gen.rounds && !gen_time_is_up());
}

int main(int argc, char **argv)
{
	static gen_site *const sites[] = { NULL };
	static const struct gen_family family = {
		.name = "gen_forkjoin",
		.flavour = "pthread_create and pthread_join; --threads counts main",
		.kinds = kinds,
		.sites = ARRAY_SIZE(sites),
		.site = sites,
		.drive = drive,
	};

	return gen_main(argc, argv, &family);
}
