// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The last episodes of teams. The phase of an episode begins at the last episode of all its
 * members. Episodes of some of these members with other threads lie within that phase.
 */
#include "model/internal.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A set of threads. */
struct team {
	uint64_t key;
	uint64_t release_ns; /* release of the team's last episode */
	uint32_t row; /* the barrier of that episode */
	bool sure; /* no later episode of the team can be missing */
	uint32_t n;
	uint32_t threads[]; /* indices, ascending */
};

/* Return a key that does not depend on the order of the members. */
static uint64_t key_of(const struct episode *e)
{
	uint64_t key = e->n;

	array_for_each (m, e->members, e->n)
		key += m->thread->mix;
	return hash_mix(key);
}

/* Forget all teams, because indices of threads are reused or there are too many teams. */
void teams_forget(struct model *m)
{
	hash_free_ptrs(&m->team_by_key);
	m->teams_epoch++;
}

/* Return the teams that a thread remembers, the most recent first. */
static struct thread_team *teams_of(const struct model *m, struct thread *t)
{
	if (t->teams_epoch != m->teams_epoch) {
		memset(t->teams, 0, sizeof(t->teams));
		t->teams_epoch = m->teams_epoch;
	}
	return t->teams;
}

static bool holds(const struct team *team, uint32_t thread)
{
	return bsearch(&thread, team->threads, team->n, sizeof(thread), number_compare_u32) != NULL;
}

static bool covers(const struct team *team, const struct episode *e)
{
	uint32_t i;

	for (i = 0; i < e->n && team->n >= e->n; i++)
		if (!holds(team, e->members[i].thread->index))
			return false;
	return team->n >= e->n;
}

/* Return @t's entry for @team, or NULL. */
static const struct thread_team *entry_of(const struct model *m, struct thread *t,
					  const struct team *team)
{
	const struct thread_team *teams = teams_of(m, t);
	uint32_t i;

	for (i = 0; i < THREAD_TEAMS; i++)
		if (teams[i].team == team)
			return &teams[i];
	return NULL;
}

/*
 * Find the last episode of all members of @e. Return its team, or NULL if none is known. A thread
 * remembers a limited number of teams, and forgets the least recent team.
 */
struct team *team_before(const struct model *m, struct episode *e, uint64_t *release_ns,
			 uint32_t *row, bool *sure)
{
	const struct thread_team *teams = teams_of(m, e->members[e->n - 1].thread);
	struct team *team;
	uint32_t i;

	e->key = key_of(e);
	for (i = 0; i < THREAD_TEAMS && teams[i].team; i++) {
		team = teams[i].team;
		if (team->key != e->key && !covers(team, e))
			continue;
		*release_ns = team->release_ns;
		*row = team->row;
		*sure = team->sure;
		return team;
	}
	return NULL;
}

/* Return the thread's time outside barriers since its last episode with @team, or MODEL_UNKNOWN. */
uint64_t team_work(const struct model *m, const struct member *mem, const struct team *team)
{
	const struct thread_team *entry = entry_of(m, mem->thread, team);

	return entry ? mem->thread->outside_joined + mem->outside_ns - entry->outside_ns
		     : MODEL_UNKNOWN;
}

static void remember(const struct model *m, struct thread *t, struct team *team)
{
	struct thread_team *teams = teams_of(m, t);
	uint32_t i;

	if (teams[0].team != team) {
		for (i = 1; i < THREAD_TEAMS - 1 && teams[i].team != team; i++)
			;
		memmove(&teams[1], &teams[0], i * sizeof(*teams));
		teams[0].team = team;
	}
	teams[0].outside_ns = t->outside_joined;
}

static int team_new(struct model *m, const struct episode *e, uint64_t key, struct team **out)
{
	struct team *team;
	uint32_t i;
	int err;

	if (hash_count(&m->team_by_key) >= MODEL_TEAMS_MAX)
		teams_forget(m);
	team = malloc(sizeof(*team) + e->n * sizeof(team->threads[0]));
	if (!team)
		return -ENOMEM;
	team->key = key;
	team->n = e->n;
	for (i = 0; i < e->n; i++)
		team->threads[i] = e->members[i].thread->index;
	qsort(team->threads, team->n, sizeof(team->threads[0]), number_compare_u32);
	err = hash_put_ptr(&m->team_by_key, key, team);
	if (err) {
		free(team);
		return err;
	}
	*out = team;
	return 0;
}

/*
 * Note that the team of @e has crossed, after the clocks of its members were joined
 * (join_clocks()). @sure: the release is known. For an incomplete episode the members are not
 * known. They are assumed to be the team of the previous episode on this object.
 */
int team_crossed(struct model *m, const struct episode *e, struct team *before, uint32_t row,
		 bool sure)
{
	struct team *team;
	int err;

	/* In cyclic use, any threads may share an episode. */
	if (e->cyclic)
		return 0;
	if (e->state != MODEL_COMPLETE) {
		team = hash_get_ptr(&m->team_by_key, e->object->team);
		if (team && sure && team->release_ns <= e->arrive_max) {
			team->release_ns = e->arrive_max;
			team->row = row;
		} else if (team) {
			team->sure = false;
		}
		return 0;
	}
	team = before && before->key == e->key ? before : hash_get_ptr(&m->team_by_key, e->key);
	if (!team) {
		err = team_new(m, e, e->key, &team);
		if (err)
			return err;
		team->release_ns = 0;
	}
	e->object->team = e->key;
	if (team->release_ns > e->arrive_max)
		return 0;
	team->release_ns = e->arrive_max;
	team->row = row;
	team->sure = sure;
	array_for_each (member, e->members, e->n)
		remember(m, member->thread, team);
	return 0;
}
