// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Thousands of teams of short-lived threads, one after the other. All cross a barrier at the same
// address. Its count cycles through 2 to THREADS. With --same-tids the kernel is asked to give
// every team the same thread ids (needs /proc/sys/kernel/ns_last_pid and the right to write it).
//
// Known answer: teams * rounds episodes; crossings as printed.
#include "common.h"

#include <fcntl.h>
#include <getopt.h>

#define MAX_THREADS 64

static pthread_barrier_t barrier;
static uint32_t rounds = 3;
static uint32_t serials;

static void *member(void *arg)
{
	for (uint32_t i = 0; i < rounds; i++) {
		if (serial(pthread_barrier_wait(&barrier)))
			__atomic_fetch_add(&serials, 1, __ATOMIC_RELAXED);
	}
	*(pid_t *)arg = thread_id();
	return NULL;
}

/* Give the next thread the id after @tid, if that id is free. */
static int set_last_tid(pid_t tid)
{
	char text[16];
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	int n = snprintf(text, sizeof(text), "%d", (int)tid);
	int ok;

	if (fd < 0)
		return 0;
	ok = write(fd, text, (size_t)n) == n;
	close(fd);
	return ok;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "teams", required_argument, NULL, 'n' },
		{ "threads", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "same-tids", no_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	uint32_t teams = 2000, max_threads = 4;
	pthread_t thread[MAX_THREADS];
	pid_t tid[MAX_THREADS], first = 0;
	uint64_t crossings = 0, reused = 0;
	int o, same = 0;

	while ((o = getopt_long(argc, argv, "n:t:r:s", options, NULL)) != -1) {
		switch (o) {
		case 'n':
			teams = (uint32_t)parse_u64("--teams", optarg, 1, 10000000);
			break;
		case 't':
			max_threads = (uint32_t)parse_u64("--threads", optarg, 2, MAX_THREADS);
			break;
		case 'r':
			rounds = (uint32_t)parse_u64("--rounds", optarg, 1, 1000000);
			break;
		case 's':
			same = 1;
			break;
		default:
			fprintf(stderr, "usage: churn [--teams N] [--threads MAX] [--rounds R] "
					"[--same-tids]\n");
			return 2;
		}
	}
	stopgap(STOPGAP_SECONDS);
	for (uint32_t k = 0; k < teams; k++) {
		uint32_t threads = 2 + k % (max_threads - 1);

		must(pthread_barrier_init(&barrier, NULL, threads), "pthread_barrier_init");
		if (same && first && !set_last_tid(first - 1)) {
			fprintf(stderr, "churn: thread ids cannot be chosen here\n");
			same = 0;
		}
		for (uint32_t i = 0; i < threads; i++)
			must(pthread_create(&thread[i], NULL, member, &tid[i]), "pthread_create");
		for (uint32_t i = 0; i < threads; i++)
			must(pthread_join(thread[i], NULL), "pthread_join");
		must(pthread_barrier_destroy(&barrier), "pthread_barrier_destroy");
		reused += tid[0] == first;
		if (!first)
			first = tid[0];
		crossings += (uint64_t)threads * rounds;
	}
	if (same)
		fprintf(stderr, "churn: the first id was used %llu times more\n",
			(unsigned long long)reused);
	printf("churn: teams=%u episodes=%u crossings=%llu ok\n", teams, serials,
	       (unsigned long long)crossings);
	return serials != teams * rounds;
}
