// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Convert examined threads to the input of hang_classify(). */
#include "hang/hang_collect_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/number.h"
#include "target/job.h"
#include "target/look.h"
#include "base/text.h"
#include "sites/family.h"

/*
 * The state for each kind of wait in a snapshot. At a futex, .on is not used: the lock shows what
 * the thread waits for.
 */
static const struct {
	enum hang_state state;
	enum hang_on on;
} waits[] = {
	[SNAPSHOT_UNKNOWN] = { HANG_STATE_UNKNOWN, HANG_ON_OTHER },
	[SNAPSHOT_RUNNING] = { HANG_RUNNING, HANG_ON_OTHER },
	[SNAPSHOT_RUNNABLE] = { HANG_RUNNABLE, HANG_ON_OTHER },
	[SNAPSHOT_FUTEX] = { HANG_BLOCKED, HANG_ON_UNKNOWN },
	[SNAPSHOT_IO] = { HANG_BLOCKED, HANG_ON_IO },
	[SNAPSHOT_SLEEP] = { HANG_BLOCKED, HANG_ON_SLEEP },
	[SNAPSHOT_CHILD] = { HANG_BLOCKED, HANG_ON_CHILD },
	[SNAPSHOT_STOPPED] = { HANG_STOPPED, HANG_ON_OTHER },
	[SNAPSHOT_DISK] = { HANG_BLOCKED, HANG_ON_DISK },
	[SNAPSHOT_ZOMBIE] = { HANG_GONE, HANG_ON_OTHER },
	[SNAPSHOT_GONE] = { HANG_GONE, HANG_ON_OTHER },
	[SNAPSHOT_OTHER] = { HANG_BLOCKED, HANG_ON_OTHER },
};

static bool same_count(uint64_t a, uint64_t b)
{
	return a == b && a != UINT64_MAX;
}

/*
 * Return whether the thread waited for the same object in both looks, without a timeout, and did
 * not run in between.
 */
static bool stood_still(const struct snapshot_thread *a, const struct lock_wait *first,
			const struct snapshot_thread *b, const struct lock_wait *second)
{
	if (a->wait != SNAPSHOT_FUTEX || b->wait != SNAPSHOT_FUTEX || first->timed || second->timed)
		return false;
	if (a->syscall != b->syscall || memcmp(a->args, b->args, 3 * sizeof(a->args[0])) != 0 ||
	    a->start_ticks != b->start_ticks)
		return false;
	if (first->on != second->on || first->object != second->object ||
	    first->holder != second->holder)
		return false;
	return same_count(a->switches, b->switches) && a->cpu_ns == b->cpu_ns;
}

/*
 * Return the MPI call with which the thread ends its use of MPI, if it is in such a call, or NULL.
 */
static const char *last_call(const struct snapshot_thread *t)
{
	static const char *const calls[] = { "MPI_Finalize",   "PMPI_Finalize",	    "mpi_finalize_",
					     "pmpi_finalize_", "ompi_mpi_finalize", "MPI_Abort" };
	size_t k;

	array_for_each (f, t->frames, t->nframes)
		for (k = 0; f->function && k < sizeof(calls) / sizeof(calls[0]); k++)
			if (!strcmp(f->function, calls[k]))
				/* Open MPI's own function, which MPI_Finalize tail-calls. */
				return strncmp(calls[k], "ompi_", 5) ? calls[k] : "MPI_Finalize";
	return NULL;
}

static struct hang_frame *copy_frames(const struct snapshot_thread *t)
{
	struct hang_frame *out = calloc(t->nframes + 1u, sizeof(*out));
	uint32_t i;

	for (i = 0; out && i < t->nframes; i++) {
		const struct snapshot_frame *f = &t->frames[i];

		out[i] = (struct hang_frame){ .function = f->function,
					      .file = f->file,
					      .module = f->module,
					      .line = f->line,
					      .inlined = f->inlined,
					      .address = f->address };
	}
	return out;
}

static void number_thread(const struct hang_collect_question *q, struct hang_thread *t)
{
	t->index = HANG_NONE;
	array_for_each (number, q->numbers, q->nnumbers) {
		if (number->tid != t->tid)
			continue;
		t->index = number->index;
		t->ranked = number->ranked;
		return;
	}
}

/*
 * Fill in what the thread waits for in an MPI call. hang_collect_add_peers() fills .holder later.
 */
static void add_call(const struct hang_collect_process *p, const struct snapshot_thread *first,
		     struct hang_thread *t)
{
	const struct snapshot_thread *again =
		p->calls_again ? snapshot_find(p->calls_again, first->tid) : NULL;
	const struct mpi_call *c = &first->call;
	uint32_t i;

	t->call_frame = t->peer = HANG_NONE;
	if (!c->name)
		return;
	t->call = c->name;
	t->world = c->world;
	t->on = c->collective ? HANG_ON_COLLECTIVE : HANG_ON_MESSAGE;
	t->holder = 0;
	if (c->peer >= 0)
		t->peer = (uint32_t)c->peer;
	for (i = 0; i < t->nframes && t->call_frame == HANG_NONE; i++)
		if (c->site && t->frames[i].address == c->site)
			t->call_frame = i;
	t->still = again && again->call.name == c->name && again->call.site == c->site &&
		   again->call.cfa == c->cfa && again->start_ticks == first->start_ticks &&
		   !p->left[again - p->calls_again->threads];
}

/*
 * Return the thread that represents the rank: a thread in an MPI call or at a barrier, otherwise
 * the process's main thread.
 */
static const struct hang_thread *rank_thread(const struct hang_collect_answer *a, uint32_t pid)
{
	const struct hang_thread *first = NULL;

	array_for_each (t, a->threads, a->in.nthreads) {
		if (t->pid != pid)
			continue;
		if (t->call || t->on == HANG_ON_BARRIER)
			return t;
		if (t->tid == pid)
			first = t;
	}
	return first;
}

/* The processes of a communicator's ranks are known only for MPI_COMM_WORLD. */
void hang_collect_add_peers(struct hang_collect_answer *a)
{
	const struct hang_thread *peer;
	uint32_t j;
	struct job job;

	array_for_each (t, a->threads, a->in.nthreads) {
		for (j = 0; t->call && t->world && t->peer != HANG_NONE && j < a->nprocesses; j++) {
			if (job_read((int)a->processes[j].pid, &job) || job.rank != t->peer)
				continue;
			peer = rank_thread(a, a->processes[j].pid);
			t->holder = peer ? peer->tid : 0;
		}
	}
}

static uint64_t start_of(const struct snapshot_thread *t)
{
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t off = clock_ns(CLOCK_BOOTTIME) - now_ns();

	if (!t->start_ticks || hz <= 0)
		return 0;
	return number_less(t->start_ticks * (1000000000u / (uint64_t)hz), off);
}

int hang_collect_add_thread(struct hang_collect *s, struct hang_collect_answer *a,
			    const struct hang_collect_question *q,
			    const struct hang_collect_process *p,
			    const struct snapshot_thread *first)
{
	const struct snapshot_thread *second =
		p->again ? snapshot_find(p->again, first->tid) : NULL;
	struct lock_wait *lock = &a->locks[a->in.nthreads], after = { 0 };
	struct hang_thread *t = &a->threads[a->in.nthreads];

	*t = (struct hang_thread){ .pid = first->pid,
				   .tid = first->tid,
				   .comm = first->comm,
				   .start_ns = start_of(first),
				   .state = waits[first->wait].state,
				   .on = first->wait == SNAPSHOT_FUTEX ? lock->on
								       : waits[first->wait].on,
				   .cpu_ns = MODEL_UNKNOWN,
				   .barrier = HANG_NONE,
				   .object = *lock->words ? lock->words : NULL,
				   .waits_for = first->waits_for,
				   .syscall = look_call_name(first->syscall),
				   .wchan = *first->wchan ? first->wchan : NULL,
				   .left = last_call(first),
				   .sampled = first->sampled };
	number_thread(q, t);
	if (second && first->start_ticks == second->start_ticks) {
		locks_read(s->locks, p->space, second, first, &after);
		t->still = stood_still(first, lock, second, &after);
		t->interval_ns = a->interval_ns;
		if (first->cpu_ns != UINT64_MAX && second->cpu_ns >= first->cpu_ns)
			t->cpu_ns = second->cpu_ns - first->cpu_ns;
	}
	t->holder = lock->holder;
	t->frames = copy_frames(first);
	t->nframes = t->frames ? first->nframes : 0;
	add_call(p, first, t);
	a->in.nthreads++;
	return t->frames ? 0 : -ENOMEM;
}

void hang_collect_mark_idle(struct hang_collect_answer *a)
{
	uint32_t k;
	bool omp;

	array_for_each (t, a->threads, a->in.nthreads) {
		for (k = 0, omp = false; k < t->nframes; k++) {
			const char *m = t->frames[k].module;

			if (!m || !hang_is_runtime(m))
				break;
			omp |= family_library_has(text_base_name(m), FAMILY_OPENMP);
		}
		t->idle = omp && k == t->nframes;
	}
}
