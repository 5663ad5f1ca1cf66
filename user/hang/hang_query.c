// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "hang/hang_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"
#include "sites/family.h"
#include "target/proc.h"

#define TEAM_MAX 4096

struct members {
	struct hang_collect_barrier *barrier;
	uint32_t in_team, entered;
	bool failed;
};

static struct hang_member *add_member(struct hang_collect_barrier *b, uint32_t pid, uint32_t tid)
{
	if (grow(b->team, b->team_cap, b->nteam + 1))
		return NULL;
	b->team[b->nteam] = (struct hang_member){ .pid = pid, .tid = tid, .index = HANG_NONE };
	return &b->team[b->nteam++];
}

static struct hang_member *find_member(struct hang_collect_barrier *b, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < b->nteam; i++)
		if (b->team[i].tid == tid)
			return &b->team[i];
	return NULL;
}

static void describe(const struct hang_env *env, uint32_t thread, bool is_rank,
		     struct hang_member *m)
{
	const struct model_thread *t = model_thread(env->model, thread);
	const struct model_proc *p = model_proc(env->model, t->proc);

	m->pid = p->tgid;
	m->index = t->place != MODEL_NONE ? t->place : t->ordinal;
	m->ranked = is_rank && t->place != MODEL_NONE;
	m->comm = *t->comm ? strndup(t->comm, sizeof(t->comm)) : NULL;
	m->gone = t->exited || p->exited;
}

/* Add the threads of the last episode. */
static int add_past(const struct hang_env *env, const struct arrival *p,
		    struct hang_collect_barrier *b, struct model_team *team)
{
	struct model_team_member *members = calloc(TEAM_MAX, sizeof(*members));
	struct model_crossing at = arrival_crossing(p);
	struct hang_member *m;
	uint32_t i;

	if (!members)
		return -ENOMEM;
	if (!model_team(env->model, &at, members, TEAM_MAX, team) || team->changes ||
	    team->n > TEAM_MAX)
		team->n = 0;
	for (i = 0; i < team->n; i++) {
		m = add_member(b, p->pid, members[i].tid);
		if (!m) {
			free(members);
			return -ENOMEM;
		}
		m->gone = members[i].thread == MODEL_NONE;
		if (!m->gone)
			describe(env, members[i].thread, family_has(p->family, FAMILY_RANKS), m);
	}
	b->team_ns = team->release_ns;
	free(members);
	return 0;
}

static void note_member(void *ctx, uint32_t tid, uint64_t team, uint32_t entered)
{
	struct members *m = ctx;
	struct hang_member *member;

	if (team != m->barrier->object)
		return;
	m->in_team++;
	if (entered > m->entered)
		m->entered = entered;
	member = find_member(m->barrier, tid);
	if (!member)
		member = add_member(m->barrier, m->barrier->pid, tid);
	if (member)
		member->left = false;
	else
		m->failed = true;
}

/*
 * Complete the team of an OpenMP region. Add the threads that are in the region now, and set .count
 * to the number of threads that entered it. A thread of the last episode that is not in the region
 * now has left it. But if more threads are known than entered, drop those that are not in the
 * region now.
 */
static int add_region(const struct hang_env *env, struct hang_collect_barrier *b)
{
	struct members m = { .barrier = b };
	uint32_t i, past = b->nteam;

	for (i = 0; i < past; i++)
		b->team[i].left = true;
	attach_each_member(env->attach, b->pid, note_member, &m);
	if (m.failed)
		return -ENOMEM;
	if (!m.in_team || !m.entered) {
		/* Nothing is known about the region. */
		for (i = 0; i < past; i++)
			b->team[i].left = false;
		return 0;
	}
	b->team_declared = true;
	b->count = m.entered;
	if (b->nteam > m.entered) {
		/*
		 * Not all threads of the last episode are in this team, and it is unknown which
		 * are: keep only the threads that are in the region now.
		 */
		for (i = 0, past = 0; i < b->nteam; i++)
			if (!b->team[i].left)
				b->team[past++] = b->team[i];
		b->nteam = past;
	}
	return 0;
}

struct processes {
	struct hang_collect_barrier *barrier;
	bool failed;
};

static void note_process(void *ctx, uint32_t tgid, uint32_t rank)
{
	struct processes *r = ctx;
	struct hang_collect_barrier *b = r->barrier;
	uint32_t i;

	(void)rank;
	for (i = 0; i < b->npids; i++)
		if (b->pids[i] == tgid)
			return;
	if (grow(b->pids, b->pids_cap, b->npids + 1))
		r->failed = true;
	else
		b->pids[b->npids++] = tgid;
}

static int add_ranks(const struct hang_env *env, const struct arrival *p,
		     struct hang_collect_barrier *b)
{
	struct processes r = { .barrier = b };
	struct ranks_comm comm;

	ranks_look(env->ranks, p->pid, p->inc, p->object, &comm);
	b->count = comm.size;
	b->of_processes = true;
	ranks_each(env->ranks, p->pid, p->inc, note_process, &r);
	b->open = !b->npids;
	return r.failed ? -ENOMEM : 0;
}

/*
 * Add the processes of the arrivals at a shared barrier, and of its last episode. If that episode
 * is unknown, unknown processes may also arrive.
 */
static int add_sharers(struct hang_collect_barrier *b)
{
	struct processes r = { .barrier = b };
	uint32_t i;

	for (i = 0; i < b->narrived; i++)
		note_process(&r, b->arrived[i].pid, 0);
	for (i = 0; i < b->nteam; i++) {
		b->team[i].index = HANG_NONE;
		if (!b->team[i].gone)
			note_process(&r, b->team[i].pid, 0);
	}
	b->open = !b->nteam;
	return r.failed ? -ENOMEM : 0;
}

/*
 * Take the model's name for the barrier. It is better than the call site's name, unless the barrier
 * is a known function that is called at one site only: in interpreted code, the call site is in the
 * interpreter. The symbols are looked up immediately.
 */
static int add_name(const struct hang_env *env, const struct arrival *p,
		    struct hang_collect_barrier *b, uint32_t barrier)
{
	const struct model_barrier *mb;
	int err;

	if (barrier == MODEL_NONE)
		return 0;
	mb = model_barrier(env->model, barrier);
	b->name = env->report_env->barrier_name(env->report_env->ctx, mb);
	if (!family_has(p->family, FAMILY_DISCOVERED | FAMILY_MARKERS | FAMILY_INTERPRETED) &&
	    mb->nsites == 1)
		return 0;
	b->named = calloc(1, sizeof(*b->named));
	if (!b->named)
		return -ENOMEM;
	err = report_barrier_name(env->model, env->report_env, barrier, b->named, &b->named_arena);
	if (err) {
		free(b->named);
		b->named = NULL;
	}
	return err;
}

/*
 * Return whether the call's return address is at the stack pointer that the thread had on arrival.
 */
static bool is_plain_call(const struct arrival *p)
{
	return !p->marked && !(p->how & SBT_SPEC_PAIR) && p->kind != SBT_KIND_JOIN &&
	       family_has(p->family, FAMILY_PLAIN_CALL);
}

int hang_query_add_barrier(const struct hang_env *env, const struct arrivals *arrivals,
			   uint32_t group, struct hang_collect_question *q)
{
	const struct arrival_group *g = &arrivals->groups[group];
	const struct arrival *first = &arrivals->all[g->first];
	struct hang_collect_barrier *b = &q->barriers[q->nbarriers++];
	struct family_team words = arrival_team(env, first);
	struct model_team team;
	uint32_t i;
	int err;

	*b = (struct hang_collect_barrier){ .pid = first->pid,
					    .family = first->family,
					    .object = first->object,
					    .count = words.known ? words.count : 0 };
	proc_comm((int)first->pid, (int)first->pid, b->comm);
	b->arrived = calloc(g->n, sizeof(*b->arrived));
	if (!b->arrived)
		return -ENOMEM;
	for (i = g->first; i < arrivals->n; i++) {
		const struct arrival *p = &arrivals->all[i];

		if (p->group != group)
			continue;
		b->arrived[b->narrived++] = (struct hang_collect_arrival){
			.pid = p->pid,
			.tid = p->tid,
			.since_ns = p->since_ns,
			.ip = p->ip,
			.sp = p->marked || p->how & SBT_SPEC_PAIR ? 0 : p->sp,
			.returns = is_plain_call(p),
		};
	}
	err = add_past(env, first, b, &team);
	if (!err && family_has(first->family, FAMILY_OPENMP))
		err = add_region(env, b);
	if (!err && family_has(first->family, FAMILY_RANKS))
		err = add_ranks(env, first, b);
	else if (!err && first->shared)
		err = add_sharers(b);
	return err ? err : add_name(env, first, b, team.barrier);
}

bool hang_query_is_of(const struct hang_collect_question *q, uint32_t pid)
{
	uint32_t i, j;

	for (i = 0; i < q->npids; i++)
		if (q->pids[i] == pid)
			return true;
	array_for_each (b, q->barriers, q->nbarriers) {
		if (b->pid == pid)
			return true;
		array_for_each (a, b->arrived, b->narrived)
			if (a->pid == pid)
				return true;
		for (j = 0; j < b->npids; j++)
			if (b->pids[j] == pid)
				return true;
	}
	return false;
}

int hang_query_add_numbers(const struct hang_env *env, struct hang_collect_question *q)
{
	bool ranks = !q->nbarriers || q->barriers[0].of_processes;
	uint32_t i, n = model_nthreads(env->model);

	/* Thread numbers of several processes are ambiguous, unless they are ranks. */
	if (!ranks && q->barriers[0].npids > 1)
		return 0;
	q->numbers = calloc(n + 1u, sizeof(*q->numbers));
	if (!q->numbers)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct model_thread *t = model_thread(env->model, i);
		struct hang_member m = { 0 };

		if (t->proc == MODEL_NONE || t->exited ||
		    !hang_query_is_of(q, model_proc(env->model, t->proc)->tgid))
			continue;
		describe(env, i, ranks, &m);
		free((char *)(uintptr_t)m.comm);
		if (m.index != MODEL_NONE)
			q->numbers[q->nnumbers++] =
				(struct hang_collect_number){ t->tid, m.index, m.ranked };
	}
	return 0;
}
