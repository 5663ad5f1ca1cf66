// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "hang/hang_collect_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/link.h"
#include "attach/regs.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/number.h"
#include "sites/family.h"
#include "elf/insn.h"
#include "target/proc.h"

/* In a process with up to this many threads, the stacks of arrived threads are also read. */
#define STACKS_MAX	  128
#define LOOK_INTERVAL_NS  120000000ULL /* time between the two looks at the threads */
/* maximum number of threads without an arrival that are examined in a process */
#define THREADS_MAX	  1024
/* incarnation of address spaces that are read only for the looks; no traced process has it */
#define ADDRESS_SPACE_INC UINT32_MAX

/* --- names ------------------------------------------------------------------------------------ */

static const struct site_name *env_site(void *ctx, uint32_t site)
{
	const struct hang_collect *s = ctx;

	return address_spaces_site(s->spaces, site);
}

int hang_collect_new(struct address_spaces *spaces, struct snapshots *snapshots,
		     struct hang_collect **out)
{
	struct hang_collect *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s || locks_new(spaces, &s->locks)) {
		free(s);
		return -ENOMEM;
	}
	*s = (struct hang_collect){
		.spaces = spaces,
		.snapshots = snapshots,
		.locks = s->locks,
		.env = { .ctx = s, .site = env_site, .family_name = family_name },
	};
	*out = s;
	return 0;
}

void hang_collect_free(struct hang_collect *s)
{
	if (!s)
		return;
	locks_free(s->locks);
	free(s);
}

void hang_collect_question_free(struct hang_collect_question *q)
{
	uint32_t i, j;

	for (i = 0; q->barriers && i < q->nbarriers; i++) {
		for (j = 0; j < q->barriers[i].nteam; j++)
			free((char *)(uintptr_t)q->barriers[i].team[j].comm);
		free(q->barriers[i].arrived);
		free(q->barriers[i].team);
		free(q->barriers[i].pids);
		free(q->barriers[i].named);
		report_arena_free(q->barriers[i].named_arena);
	}
	free(q->barriers);
	free(q->numbers);
	free(q->pids);
	memset(q, 0, sizeof(*q));
}

static void close_returns(struct hang_collect_process *p)
{
	uint32_t i;

	for (i = 0; p->returns && i < p->nreturns; i++)
		if (p->returns[i] >= 0)
			link_close(p->returns[i]);
	free(p->returns);
	free(p->left);
}

void hang_collect_answer_free(struct hang_collect_answer *a)
{
	uint32_t i;

	if (!a)
		return;
	array_for_each (p, a->processes, a->nprocesses) {
		snapshot_free(p->arrived);
		snapshot_free(p->others);
		snapshot_free(p->again);
		close_returns(p);
		snapshot_free(p->calls_again);
		free(p->tids);
	}
	for (i = 0; a->arrivals && i < a->in.nbarriers; i++)
		free(a->arrivals[i]);
	for (i = 0; a->arenas && i < a->in.nbarriers; i++)
		report_arena_free(a->arenas[i]);
	for (i = 0; a->threads && i < a->in.nthreads; i++)
		free((void *)(uintptr_t)a->threads[i].frames);
	free(a->both);
	free(a->processes);
	free(a->threads);
	free(a->locks);
	free(a->barriers);
	free(a->arrivals);
	free(a->arenas);
	free(a);
}

/*
 * Read the current mappings. The space is marked as gone afterwards, so that an address outside
 * these mappings does not cause another read.
 */
static struct address_space *read_address_space(const struct hang_collect *s, uint32_t pid)
{
	struct address_space *space = address_space_get(s->spaces, pid, ADDRESS_SPACE_INC);
	int err;

	if (!space)
		return NULL;
	space->gone = false;
	err = address_space_read(s->spaces, space);
	space->gone = true;
	return err ? NULL : space;
}

/* --- the two looks ---------------------------------------------------------------------------- */

static bool has_arrived(const struct hang_collect_question *q, uint32_t tid)
{
	array_for_each (b, q->barriers, q->nbarriers)
		array_for_each (a, b->arrived, b->narrived)
			if (a->tid == tid)
				return true;
	return false;
}

struct splitting {
	const struct hang_collect_question *question;
	struct hang_collect_process *process;
	uint32_t *others;
	uint32_t nothers, cap, cap_others;
	bool failed;
};

static void add_tid(struct splitting *s, uint32_t **list, uint32_t *n, uint32_t *cap, uint32_t tid)
{
	if (grow(*list, *cap, *n + 1)) {
		s->failed = true;
		return;
	}
	(*list)[(*n)++] = tid;
}

static void split_thread(void *ctx, int tid)
{
	struct splitting *s = ctx;

	if (has_arrived(s->question, (uint32_t)tid))
		add_tid(s, &s->process->tids, &s->process->n, &s->cap, (uint32_t)tid);
	else if (s->nothers < THREADS_MAX)
		add_tid(s, &s->others, &s->nothers, &s->cap_others, (uint32_t)tid);
	else
		s->process->incomplete = true;
}

/*
 * List the process's threads: first the threads that have arrived at a barrier, then all other
 * threads.
 */
static int list_threads(const struct hang_collect_question *q, struct hang_collect_process *p)
{
	struct splitting s = { .question = q, .process = p };
	uint32_t i;
	int err = proc_each_thread((int)p->pid, split_thread, &s);

	p->narrived = p->n;
	for (i = 0; i < s.nothers && !s.failed; i++)
		add_tid(&s, &p->tids, &p->n, &s.cap, s.others[i]);
	free(s.others);
	return err < 0 ? err : s.failed ? -ENOMEM : 0;
}

/*
 * With @stacks, also read the stacks of arrived threads: these threads may be missing at another
 * barrier.
 */
static int look_first(struct hang_collect *s, struct hang_collect_process *p, bool stacks)
{
	int err = 0;

	p->space = read_address_space(s, p->pid);
	if (p->narrived && stacks && p->n <= STACKS_MAX)
		err = snapshot_take(s->snapshots, p->pid, p->tids, p->narrived, &p->arrived);
	else if (p->narrived)
		err = snapshot_glance(p->pid, p->tids, p->narrived, &p->arrived);
	if (!err && p->n > p->narrived)
		err = snapshot_take(s->snapshots, p->pid, p->tids + p->narrived, p->n - p->narrived,
				    &p->others);
	return err;
}

static bool add_pid(struct hang_collect_answer *a, uint32_t pid)
{
	if (hang_collect_find_process(a, pid))
		return true;
	if (grow(a->processes, a->processes_cap, a->nprocesses + 1))
		return false;
	a->processes[a->nprocesses++] = (struct hang_collect_process){ .pid = pid };
	return true;
}

static int add_pids(struct hang_collect_answer *a, const struct hang_collect_question *q)
{
	bool ok = true;
	uint32_t i, j;

	array_for_each (b, q->barriers, q->nbarriers) {
		ok &= add_pid(a, b->pid);
		for (j = 0; j < b->narrived; j++)
			ok &= add_pid(a, b->arrived[j].pid);
		for (j = 0; j < b->npids; j++)
			ok &= add_pid(a, b->pids[j]);
	}
	for (i = 0; i < q->npids; i++)
		ok &= add_pid(a, q->pids[i]);
	return ok ? 0 : -ENOMEM;
}

static int each_thread(struct hang_collect_answer *a,
		       int (*each)(struct hang_collect *, struct hang_collect_answer *,
				   const struct hang_collect_question *,
				   const struct hang_collect_process *,
				   const struct snapshot_thread *),
		       struct hang_collect *s, const struct hang_collect_question *q)
{
	uint32_t j, k;
	int err = 0;

	array_for_each (p, a->processes, a->nprocesses) {
		const struct snapshot *looks[2] = { p->arrived, p->others };

		for (k = 0; k < 2; k++)
			for (j = 0; looks[k] && j < looks[k]->n && !err; j++)
				err = each(s, a, q, p, &looks[k]->threads[j]);
	}
	return err;
}

static int read_lock(struct hang_collect *s, struct hang_collect_answer *a,
		     const struct hang_collect_question *q, const struct hang_collect_process *p,
		     const struct snapshot_thread *t)
{
	(void)q;
	locks_read(s->locks, p->space, t, t, &a->locks[a->in.nthreads++]);
	return 0;
}

static void wait_until(uint64_t ns)
{
	uint64_t left = number_less(ns, now_ns());
	struct timespec t = { .tv_sec = (time_t)(left / 1000000000u),
			      .tv_nsec = (long)(left % 1000000000u) };

	if (left)
		nanosleep(&t, NULL);
}

/*
 * Begin to count how often the thread reaches the return address of its call, with a probe in this
 * process alone. (A hardware breakpoint would not change the code, but in some virtual machines it
 * silently counts nothing.) Return the same values as regs_count_returns().
 */
static int count_returns(const struct hang_collect *s, const struct hang_collect_process *p,
			 const struct snapshot_thread *t, uint32_t slot)
{
	struct regs *regs = snapshots_regs(s->snapshots);
	struct address_space_code at;
	enum insn_class class;

	if (!regs || slot >= REGS_SLOTS)
		return -ENOTSUP;
	if (!t->call.site || !p->space ||
	    !address_space_code(s->spaces, p->space, t->call.site + 1, &at) || !at.module->is_elf)
		return -ENOENT;
	class = module_insn(at.module, at.offset);
	if (class != INSN_EMULATED && class != INSN_STEPPED)
		return -ENOTSUP;
	return regs_count_returns(regs, slot, module_fd(at.module), at.offset, t->pid, t->tid);
}

/*
 * Look again at the threads in an MPI call. Such a thread may spin all the time, and a thread that
 * exchanges messages in a loop is in the same call at every look. So begin to count each thread's
 * returns from its call, and then read the stacks again. If a thread has not returned when
 * read_returns() runs, it was in one call all that time. All such threads were in their calls at
 * the same time.
 */
static int look_calls_again(struct hang_collect *s, struct hang_collect_process *p)
{
	const struct snapshot *looks[2] = { p->arrived, p->others };
	uint32_t *tids = calloc(p->n + 1u, sizeof(*tids)), n = 0, i, k;
	int err = -ENOMEM;

	p->returns = calloc(p->n + 1u, sizeof(*p->returns));
	p->left = calloc(p->n + 1u, sizeof(*p->left));
	if (!tids || !p->returns || !p->left)
		goto out;
	for (k = 0; k < 2; k++)
		for (i = 0; looks[k] && i < looks[k]->n; i++) {
			const struct snapshot_thread *t = &looks[k]->threads[i];

			if (!t->call.name)
				continue;
			p->left[n] = true;
			p->returns[n] = count_returns(s, p, t, p->slot + n);
			tids[n++] = t->tid;
		}
	p->nreturns = n;
	err = n ? snapshot_take(s->snapshots, p->pid, tids, n, &p->calls_again) : 0;
out:
	free(tids);
	return err;
}

static void read_returns(const struct hang_collect *s, struct hang_collect_process *p)
{
	uint32_t i;

	for (i = 0; i < p->nreturns; i++)
		p->left[i] = p->returns[i] < 0 ||
			     regs_returned(snapshots_regs(s->snapshots), p->slot + i);
}

static int look_twice(struct hang_collect *s, struct hang_collect_answer *a,
		      const struct hang_collect_question *q)
{
	bool stacks = q->nbarriers > 1;
	uint32_t i, n = 0, nprocesses = 0, slot = 0;
	uint64_t begun;
	int err = 0, one;

	/* Only the stack shows which MPI operation a rank is in. */
	array_for_each (b, q->barriers, q->nbarriers)
		stacks |= b->of_processes;
	locks_forget(s->locks);
	a->in.now_ns = now_ns();
	for (i = 0; i < a->nprocesses && err != -ENOMEM; i++) {
		struct hang_collect_process *p = &a->processes[i];

		one = list_threads(q, p);
		if (!one)
			one = look_first(s, p, stacks);
		/* Some processes may have ended: fail only if no process could be examined. */
		if (!one)
			nprocesses++;
		else
			err = one;
		n += p->n;
	}
	if (err == -ENOMEM || !nprocesses)
		return err;
	a->threads = calloc(n + 1u, sizeof(*a->threads));
	a->locks = calloc(n + 1u, sizeof(*a->locks));
	if (!a->threads || !a->locks)
		return -ENOMEM;
	array_for_each (process, a->processes, a->nprocesses) {
		process->slot = slot;
		if (look_calls_again(s, process) == -ENOMEM)
			return -ENOMEM;
		slot += process->nreturns;
	}
	begun = now_ns();
	each_thread(a, read_lock, s, q);
	a->in.nthreads = 0;
	wait_until(begun + LOOK_INTERVAL_NS);
	a->interval_ns = now_ns() - begun;
	for (i = 0; i < a->nprocesses; i++)
		if (a->processes[i].n &&
		    snapshot_glance(a->processes[i].pid, a->processes[i].tids, a->processes[i].n,
				    &a->processes[i].again) == -ENOMEM)
			return -ENOMEM;
	for (i = 0; i < a->nprocesses; i++)
		read_returns(s, &a->processes[i]);
	return each_thread(a, hang_collect_add_thread, s, q);
}

/*
 * Return whether all relevant threads are known. This is not so if a process has too many threads,
 * or if a process that was not examined has a thread for which other threads wait.
 */
static bool is_all(const struct hang_collect_answer *a)
{
	uint32_t j;
	int tgid;

	array_for_each (p, a->processes, a->nprocesses)
		if (p->incomplete)
			return false;
	array_for_each (t, a->threads, a->in.nthreads) {
		uint32_t holder = t->holder;

		for (j = 0; holder && j < a->in.nthreads && a->threads[j].tid != holder; j++)
			;
		if (holder && j == a->in.nthreads && !proc_tgid((int)holder, &tgid) &&
		    !hang_collect_find_process(a, (uint32_t)tgid))
			return false;
	}
	return true;
}

int hang_collect_look(struct hang_collect *s, struct hang_collect_question *q,
		      struct hang_collect_answer **out)
{
	struct hang_collect_answer *a = calloc(1, sizeof(*a));
	uint32_t i;
	int err;

	*out = NULL;
	if (!a)
		return -ENOMEM;
	err = add_pids(a, q);
	if (!err)
		err = look_twice(s, a, q);
	a->barriers = calloc(q->nbarriers + 2u, sizeof(*a->barriers));
	a->arrivals = calloc(q->nbarriers + 2u, sizeof(struct hang_arrival *));
	a->arenas = calloc(q->nbarriers + 2u, sizeof(*a->arenas));
	if (!a->barriers || !a->arrivals || !a->arenas)
		err = -ENOMEM;
	hang_collect_mark_idle(a);
	hang_collect_add_peers(a);
	a->in.all = !err && is_all(a);
	a->in.threads = a->threads;
	a->in.barriers = a->barriers;
	for (i = 0; i < q->nbarriers && !err; i++) {
		a->in.nbarriers = i + 1;
		err = hang_collect_add_barrier(s, a, &q->barriers[i], i);
	}
	a->circle = HANG_NONE;
	if (!err && q->npids)
		err = hang_collect_add_circle(s, a);
	if (err) {
		hang_collect_answer_free(a);
		return err;
	}
	*out = a;
	return 0;
}

int hang_collect_classify(const struct hang_collect_answer *a, uint32_t barrier,
			  struct report_hang *out)
{
	if (barrier == HANG_NONE)
		barrier = a->circle;
	if (barrier >= a->in.nbarriers || !a->in.barriers[barrier].narrived) {
		memset(out, 0, sizeof(*out));
		return -ENOENT;
	}
	return hang_classify(&a->in, barrier, out);
}
