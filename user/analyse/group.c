// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Processes that share barriers, such as the ranks of an MPI job, are one team. The figures of the
 * whole team show which process has more work. The figures of one process alone would count the
 * lateness of other processes as its own.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/internal.h"
#include "base/array.h"
#include "base/number.h"

/*
 * The efficiencies of a group are unknown if more than 1/UNSEEN_PART of its time is missing because
 * processes were not recorded from their start.
 */
#define UNSEEN_PART 50

struct groups {
	struct arena *arena;
	const struct model *model;
	const struct model_proc *procs; /* indexed as in the model */
	const struct model_thread *threads; /* indexed as in the model */
	struct report *out;
	struct member_of { /* one for each process; indexed as in the model */
		/*
		 * union-find: another process of its group, or the process itself if it is the head
		 */
		uint32_t head;
		uint32_t size; /* for a head: number of its processes in the report */
		uint32_t processes; /* for a head: the first of its processes in the report */
		uint32_t barriers; /* for a head: the first of its barriers in the report */
		/* first start and last end of its threads that crossed a barrier */
		uint64_t start_ns, end_ns;
	} * of;
	uint32_t *next_process, *next_barrier; /* the next entry of the same group, or MODEL_NONE */
};

static uint32_t head_of(const struct groups *g, uint32_t proc)
{
	while (g->of[proc].head != proc) {
		g->of[proc].head = g->of[g->of[proc].head].head;
		proc = g->of[proc].head;
	}
	return proc;
}

/* Put all processes that share a barrier into one group. */
static void join_members(const struct groups *g, const struct model_barrier *b)
{
	uint32_t a = head_of(g, b->proc), other;

	array_for_each (t, b->threads, b->nthreads) {
		if (t->thread == MODEL_NONE)
			continue;
		other = head_of(g, g->threads[t->thread].proc);
		if (other != a)
			g->of[other].head = a;
	}
}

/*
 * Set *start and *end to the first start and the last end of the group's threads that crossed a
 * barrier, and *ideal to the length of the longest path through them.
 */
static void span_of(const struct groups *g, uint32_t head, uint64_t *start, uint64_t *end,
		    uint64_t *ideal)
{
	uint32_t k;
	uint64_t own;

	*start = UINT64_MAX;
	*end = *ideal = 0;
	for (k = g->of[head].processes; k != MODEL_NONE; k = g->next_process[k]) {
		const struct report_process *p = &g->out->processes[k];

		own = g->of[p->index].start_ns;
		if (g->of[p->index].end_ns > *end)
			*end = g->of[p->index].end_ns;
		if (own == UINT64_MAX)
			own = g->procs[p->index].start_ns;
		if (own < *start)
			*start = own;
		/*
		 * The process's longest path ends at this time. It contains parts of other
		 * processes' paths, because shared episodes join the paths of their members.
		 */
		if (own + p->ideal_ns > *ideal)
			*ideal = own + p->ideal_ns;
		if (own + p->elapsed_ns > *end)
			*end = own + p->elapsed_ns;
	}
	*ideal = number_less(*ideal, *start);
}

/*
 * Set last_share as a share of the thread's own episodes, because ranks need not take part in all
 * episodes.
 */
static void share_of_own(struct report_thread *t)
{
	t->last_share = t->crossings ? (double)t->last / (double)t->crossings : NAN;
}

/*
 * Add a process to its group. Take the episodes from @model, which counts each episode once, for
 * the first process at the barrier.
 */
static void add_process(struct report_process *all, const struct report_process *p,
			const struct model_proc *model, struct efficiency_sums *sums)
{
	memcpy(all->members + all->nmembers, p->members, p->nmembers * sizeof(*p->members));
	all->nmembers += p->nmembers;
	all->threads += p->threads;
	all->episodes += model->episodes;
	all->incomplete += model->incomplete;
	all->ambiguous += model->ambiguous;
	all->crossings += p->crossings;
	all->abandoned += p->abandoned;
	all->departures_unknown += p->departures_unknown;
	all->lost += p->lost;
	all->outside_ns += p->outside_ns;
	all->wait_ns += p->wait_ns;
	all->phase_wait_ns += p->phase_wait_ns;
	all->phase_thread_ns += p->phase_thread_ns;
	all->release_ns += p->release_ns;
	array_for_each (m, p->members, p->nmembers) {
		uint64_t ns = efficiency_useful(m->work_ns, m->parts.turn_ns, m->parts.begin_ns);

		sums->sum_ns += ns;
		if (ns > sums->max_ns)
			sums->max_ns = ns;
	}
}

static const struct report_barrier *top_of(const struct groups *g, uint32_t head)
{
	const struct report_barrier *b;
	uint32_t i;

	/* The barriers are sorted, with the most lost time first. */
	for (i = g->of[head].barriers; i != MODEL_NONE; i = g->next_barrier[i]) {
		b = &g->out->barriers[i];
		if (!b->nested && b->lost_ns)
			return b;
	}
	return NULL;
}

static struct verdict_shares shares_of(const struct groups *g, uint32_t head,
				       const struct report_process *all,
				       const struct report_barrier *top)
{
	struct verdict_shares shares = { .top = NAN };
	const struct report_barrier *b;
	uint32_t i;

	for (i = g->of[head].barriers; i != MODEL_NONE; i = g->next_barrier[i]) {
		b = &g->out->barriers[i];
		if (!b->nested)
			verdict_share(&shares, b, all->wait_ns);
	}
	if (top && all->wait_ns)
		shares.top = (double)top->lost_ns / (double)all->wait_ns;
	return shares;
}

/*
 * Set `ranked` of the members that stand for this thread. The members are sorted by
 * threads_by_index().
 */
static void rank_member(struct report_process *all, const struct report_thread *t)
{
	struct report_thread *at =
		bsearch(t, all->members, all->nmembers, sizeof(*all->members), threads_by_index);

	/*
	 * Several members may be equal, because several processes had the same pid in succession.
	 */
	while (at && at > all->members && !threads_by_index(at - 1, t))
		at--;
	for (; at && at < all->members + all->nmembers && !threads_by_index(at, t); at++)
		at->ranked = true;
}

/* Mark the members that are numbered by their MPI rank at a barrier of the group. */
static void note_ranks(const struct groups *g, uint32_t head, struct report_process *all)
{
	uint32_t i, j;

	for (i = g->of[head].barriers; i != MODEL_NONE; i = g->next_barrier[i]) {
		const struct report_barrier *b = &g->out->barriers[i];

		for (j = 0; b->ranked && j < b->nthreads; j++)
			rank_member(all, &b->threads[j]);
	}
	all->ranked = report_ranked(all->members, all->nmembers);
}

/*
 * Reset the efficiencies of one process, which would count the lateness of other processes as its
 * own.
 */
static void forget_efficiency(struct report_process *p)
{
	p->meets_others = true;
	p->efficiency = EFFICIENCY_UNKNOWN;
	p->lost_static = p->lost_rotating = p->lost_transfer = NAN;
	array_for_each (m, p->members, p->nmembers)
		share_of_own(m);
}

/* Return the thread time from @start on that is missing because processes were recorded late. */
static uint64_t unseen_time(const struct groups *g, uint32_t head, uint64_t start)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = g->of[head].processes; i != MODEL_NONE; i = g->next_process[i]) {
		const struct report_process *p = &g->out->processes[i];

		if (p->counted_from_ns != REPORT_UNKNOWN && p->counted_from_ns > start)
			sum += (p->counted_from_ns - start) * p->threads;
	}
	return sum;
}

static int group_fill(const struct groups *g, uint32_t head, struct report_group *out)
{
	struct report_process *all = &out->all;
	const struct report_barrier *top = top_of(g, head);
	struct efficiency_sums sums = { 0 };
	struct verdict_shares shares;
	uint32_t i, n = 0, members = 0;
	uint64_t start, end;

	*all = (struct report_process){
		.index = MODEL_NONE,
		.counted_from_ns = REPORT_UNKNOWN,
		.detached_ns = REPORT_UNKNOWN,
		.detached_cost = NAN,
		.detached_limit = NAN,
		.cost_ns = REPORT_UNKNOWN,
		.cost_interference_ns = REPORT_UNKNOWN,
		.cost_share = NAN,
		.crossing_cost_ns = NAN,
		.parallel_least = NAN,
		.parallel_most = NAN,
		.inside_oncpu = NAN,
		.useful_oncpu = NAN,
		.omp_load_balance = NAN,
		.omp_scheduling = NAN,
		.omp_start = NAN,
		.omp_serialisation = NAN,
		.omp_turns = NAN,
	};
	for (i = g->of[head].processes; i != MODEL_NONE; i = g->next_process[i]) {
		members += g->out->processes[i].nmembers;
		n++;
	}
	out->processes = arena_alloc(g->arena, (n + 1) * sizeof(*out->processes));
	all->members = arena_alloc(g->arena, (members + 1) * sizeof(*all->members));
	if (!out->processes || !all->members)
		return -ENOMEM;
	for (i = g->of[head].processes; i != MODEL_NONE; i = g->next_process[i]) {
		struct report_process *p = &g->out->processes[i];

		if (p->counted_from_ns != REPORT_UNKNOWN &&
		    (all->counted_from_ns == REPORT_UNKNOWN ||
		     p->counted_from_ns > all->counted_from_ns))
			all->counted_from_ns = p->counted_from_ns;
		all->detached_some |= p->detached_some;
		all->tasks |= p->tasks;
		if (!all->untraced)
			all->untraced = p->untraced;
		forget_efficiency(p);
		out->processes[out->nprocesses++] =
			(struct report_group_process){ p->pid, p->comm };
		add_process(all, p, &g->procs[p->index], &sums);
		if (out->nprocesses == 1)
			all->comm = p->comm;
		else if (all->comm && (!p->comm || strcmp(p->comm, all->comm) != 0))
			all->comm = NULL;
	}
	qsort(all->members, all->nmembers, sizeof(*all->members), threads_by_index);
	note_ranks(g, head, all);
	all->pid = out->processes[0].pid;
	span_of(g, head, &start, &end, &all->ideal_ns);
	all->elapsed_ns = number_less(end, start);
	sums.n = all->threads;
	sums.ideal_ns = all->ideal_ns;
	sums.elapsed_ns = all->elapsed_ns;
	all->efficiency = efficiency_of(&sums);
	if (!all->episodes || all->detached_some || all->tasks ||
	    unseen_time(g, head, start) > all->elapsed_ns / UNSEEN_PART * all->threads)
		all->efficiency = EFFICIENCY_UNKNOWN;
	efficiency_losses(&all->efficiency, &all->lost_static, &all->lost_rotating,
			  &all->lost_transfer);
	shares = shares_of(g, head, all, top);
	verdict_process(all, top, &shares);
	return 0;
}

static int group_cmp(const void *a, const void *b)
{
	const struct report_group *x = a, *y = b;

	return x->all.wait_ns != y->all.wait_ns ? NUMBER_COMPARE(y->all.wait_ns, x->all.wait_ns)
						: NUMBER_COMPARE(x->all.pid, y->all.pid);
}

/* List the processes and barriers of each group, in the order of the report. */
static void sort_out(const struct groups *g)
{
	uint32_t i, head;

	array_for_each (t, g->threads, model_nthreads(g->model)) {
		struct member_of *of = t->crossings ? &g->of[t->proc] : NULL;

		if (of && t->start_ns < of->start_ns)
			of->start_ns = t->start_ns;
		if (of && t->end_ns > of->end_ns)
			of->end_ns = t->end_ns;
	}
	for (i = g->out->nprocesses; i-- > 0;) {
		head = head_of(g, g->out->processes[i].index);
		g->next_process[i] = g->of[head].processes;
		g->of[head].processes = i;
		g->of[head].size++;
	}
	for (i = g->out->nbarriers; i-- > 0;) {
		head = head_of(g, model_barrier(g->model, g->out->barriers[i].index)->proc);
		g->next_barrier[i] = g->of[head].barriers;
		g->of[head].barriers = i;
	}
}

int groups_build(struct arena *a, const struct model *model, const struct model_proc *procs,
		 const struct model_thread *threads, struct report *out)
{
	struct groups g = { a, model, procs, threads, out, NULL, NULL, NULL };
	uint32_t i, n = model_nprocs(model), many = 0;
	int err = 0;

	g.of = arena_alloc(a, ((size_t)n + 1) * sizeof(*g.of));
	g.next_process = arena_alloc(a, ((size_t)out->nprocesses + 1) * sizeof(uint32_t));
	g.next_barrier = arena_alloc(a, ((size_t)out->nbarriers + 1) * sizeof(uint32_t));
	if (!g.of || !g.next_process || !g.next_barrier)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		g.of[i] = (struct member_of){ .head = i,
					      .processes = MODEL_NONE,
					      .barriers = MODEL_NONE,
					      .start_ns = UINT64_MAX };
	for (i = 0; i < model_nbarriers(model); i++)
		if (model_barrier(model, i)->shared)
			join_members(&g, model_barrier(model, i));
	sort_out(&g);
	for (i = 0; i < n; i++)
		many += g.of[i].size > 1;
	out->groups = arena_alloc(a, ((size_t)many + 1) * sizeof(*out->groups));
	if (!out->groups)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++)
		if (g.of[i].size > 1)
			err = group_fill(&g, i, &out->groups[out->ngroups++]);
	if (!err)
		qsort(out->groups, out->ngroups, sizeof(*out->groups), group_cmp);
	return err;
}
