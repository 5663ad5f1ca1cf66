// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A team of threads that crosses one barrier ROUNDS times, for programs that test something else
// (fork, exec, exit).
#ifndef WORKLOADS_TEAM_H
#define WORKLOADS_TEAM_H

#include "common.h"

struct team {
	pthread_barrier_t barrier;
	uint32_t rounds;
	uint32_t serials;
};

ONE_COPY static void *team_member(void *arg)
{
	struct team *team = (struct team *)arg;

	for (uint32_t i = 0; i < team->rounds; i++) {
		if (serial(pthread_barrier_wait(&team->barrier)))
			__atomic_fetch_add(&team->serials, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Start the threads, join them, and return the number of episodes. */
static inline uint32_t run_team(uint32_t threads, uint32_t rounds)
{
	pthread_t *t = (pthread_t *)must_alloc(threads, sizeof(*t));
	struct team team;

	memset(&team, 0, sizeof(team));
	team.rounds = rounds;
	must(pthread_barrier_init(&team.barrier, NULL, threads), "pthread_barrier_init");
	for (uint32_t i = 0; i < threads; i++)
		must(pthread_create(&t[i], NULL, team_member, &team), "pthread_create");
	for (uint32_t i = 0; i < threads; i++)
		must(pthread_join(t[i], NULL), "pthread_join");
	must(pthread_barrier_destroy(&team.barrier), "pthread_barrier_destroy");
	free(t);
	return team.serials;
}

#endif
