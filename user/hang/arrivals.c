// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "hang/arrivals.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/number.h"
#include "ingest/ranks.h"
#include "sites/family.h"

void arrivals_free(struct arrivals *s)
{
	hash_free(&s->stale);
	free(s->all);
	free(s->groups);
}

int arrivals_set_stale(struct arrivals *s, uint32_t tid, uint64_t since_ns)
{
	return hash_put(&s->stale, tid, since_ns);
}

bool arrivals_is_stale(const struct arrivals *s, uint32_t tid, uint64_t since_ns)
{
	uint64_t since;

	return hash_get(&s->stale, tid, &since) && since == since_ns;
}

/*
 * Return whether the thread's last arrival was at a barrier. Joins, in which a thread waits for the
 * end of other threads, and phases without a barrier do not count.
 */
static bool is_at_barrier(const struct sbt_thread *t)
{
	/* A thread that has not arrived anywhere yet has no family. */
	return t->family != SBT_FAMILY_NONE && !family_has(t->family, FAMILY_JOINS) &&
	       t->kind != SBT_KIND_PHASE;
}

static void note_pending(void *ctx, uint32_t tid, const struct sbt_thread *t)
{
	struct arrivals *s = ctx;
	uint64_t since = __atomic_load_n(&t->arrive_ns, __ATOMIC_ACQUIRE);

	/* If the probe group is detached, the thread may have left without an event. */
	if (!since || !is_at_barrier(t) || attach_is_detached(s->env->attach, t) ||
	    arrivals_is_stale(s, tid, since))
		return;
	if (grow(s->all, s->cap, s->n + 1)) {
		s->failed = true;
		return;
	}
	s->all[s->n++] = (struct arrival){
		.pid = t->tgid,
		.inc = t->inc,
		.tid = tid,
		.since_ns = since,
		.object = t->object,
		.ip = t->ip,
		.sp = t->sp,
		.words = t->flags & SBT_CROSSING_NO_WORDS ? 0 : t->words,
		.family = t->family,
		.kind = t->kind,
		.how = t->how,
		.marked = t->marked,
	};
	/* If the thread left during the copy, the copy may mix two arrivals. */
	if (__atomic_load_n(&t->arrive_ns, __ATOMIC_ACQUIRE) != since)
		s->n--;
}

int arrivals_look(struct arrivals *s, const struct hang_env *env)
{
	s->n = s->ngroups = 0;
	s->env = env;
	ingest_each_inside(env->ingest, note_pending, s);
	return s->failed ? -ENOMEM : 0;
}

bool arrivals_old(const struct arrivals *s, uint64_t now, uint64_t after_ns)
{
	array_for_each (x, s->all, s->n)
		if (now > x->since_ns && now - x->since_ns >= after_ns)
			return true;
	return false;
}

struct family_team arrival_team(const struct hang_env *env, const struct arrival *p)
{
	const struct address_space *space = address_space_find(env->spaces, p->pid, p->inc);
	struct family_team none = { 0 };

	/* In these families, .words does not describe the team before the departure. */
	if (!space || !p->words ||
	    family_has(p->family, FAMILY_OPENMP | FAMILY_DISCOVERED | FAMILY_CXX))
		return none;
	return family_read_words(p->family, space->libc, p->words);
}

/* Return the key by which several processes know the object, or 0. */
static uint64_t shared_key(const struct hang_env *env, const struct arrival *p)
{
	struct address_space *space = address_space_find(env->spaces, p->pid, p->inc);
	struct family_team team = arrival_team(env, p);
	struct ranks_comm comm;

	if (family_has(p->family, FAMILY_RANKS)) {
		ranks_look(env->ranks, p->pid, p->inc, p->object, &comm);
		return comm.shared;
	}
	if (space && ((team.known && team.sharing_known && team.process_shared) ||
		      family_has(p->family, FAMILY_DISCOVERED)))
		return address_space_shared_key(env->spaces, space, p->object, NULL);
	return 0;
}

static bool same_group(const struct arrival *a, const struct arrival *b)
{
	if (a->family != b->family || (a->kind == SBT_KIND_JOIN) != (b->kind == SBT_KIND_JOIN) ||
	    a->shared != b->shared)
		return false;
	return a->shared || (a->pid == b->pid && a->inc == b->inc && a->object == b->object);
}

/* Sort by time, so that a group's first member is its earliest arrival. */
static int by_arrival(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	return NUMBER_COMPARE(x->since_ns, y->since_ns);
}

static uint64_t group_key(const struct arrival *p)
{
	uint64_t key = p->shared ? p->shared
				 : hash_mix(p->object ^ hash_mix((uint64_t)p->pid << 32 | p->inc));

	return hash_mix(key ^ (uint64_t)p->family << 8 ^ (p->kind == SBT_KIND_JOIN));
}

int arrivals_group(struct arrivals *s, const struct hang_env *env)
{
	struct hash by_key = { 0 };
	uint64_t at;
	uint32_t i;
	int err = grow(s->groups, s->cap_groups, s->n);

	if (err)
		return err;
	s->ngroups = 0;
	qsort(s->all, s->n, sizeof(*s->all), by_arrival);
	for (i = 0; i < s->n && !err; i++) {
		struct arrival *p = &s->all[i];

		p->shared = shared_key(env, p);
		if (hash_get(&by_key, group_key(p), &at) &&
		    same_group(&s->all[s->groups[at].first], p)) {
			p->group = (uint32_t)at;
			s->groups[at].n++;
			continue;
		}
		p->group = s->ngroups;
		s->groups[s->ngroups] = (struct arrival_group){ .first = i, .n = 1 };
		err = hash_put(&by_key, group_key(p), s->ngroups++);
	}
	hash_free(&by_key);
	return err;
}

struct model_crossing arrival_crossing(const struct arrival *p)
{
	return (struct model_crossing){
		.tgid = p->pid,
		.inc = p->inc,
		.tid = p->tid,
		.object = p->object,
		.shared = p->shared,
		.family = p->family,
	};
}
