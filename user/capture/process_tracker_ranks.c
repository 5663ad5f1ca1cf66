// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * MPI ranks that may wait for one another in calls that are not traced. No figure contains a rank
 * that crosses no barrier, so a remark names it.
 */
#include "capture/process_tracker_internal.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/remark.h"
#include "ingest/ranks.h"
#include "sites/untraced.h"
#include "target/job.h"

#define RANKS_MOST 65536

/* A rank with code that calls untraced functions. */
struct silent_rank {
	const char *program; /* a path, untrusted */
	/* names of the functions; both texts live as long as the address spaces */
	const char *calls;
};

/* Ranks of one program that call the same untraced functions. */
struct silent_program {
	struct silent_rank rank;
	uint32_t n, pid; /* number of ranks; process id of one of them */
};

void tracker_note_rank(struct tracker *t, uint32_t tgid, const struct job *job,
		       const struct untraced *untraced, const char *program)
{
	struct silent_rank *r = hash_get_ptr(&t->silent_ranks, tgid);
	struct untraced calls = *untraced;
	char names[UNTRACED_NAMES];

	/* In a job of one rank, there is no other rank to wait for. */
	if (job->rank == JOB_NONE || job->size == 1 || !untraced_has_mpi(untraced))
		return;
	if (!r && hash_count(&t->silent_ranks) < RANKS_MOST)
		r = hash_new_ptr(&t->silent_ranks, tgid, sizeof(*r));
	if (!r)
		return;
	calls.openmp = 0;
	calls.in_line = false;
	r->program = address_spaces_keep(t->spaces, program ? program : "a program");
	r->calls = address_spaces_keep(t->spaces, untraced_names(&calls, names));
}

void tracker_scan_rank(struct tracker *t, int pid, const struct maps *maps)
{
	struct job job = { .rank = JOB_NONE, .size = JOB_NONE };
	struct untraced untraced = { 0 };
	const char *program = NULL;
	bool mpi = false;

	array_for_each (e, maps->entries, maps->n) {
		const struct module *m = tracker_mapped_at(t, pid, e);

		if (!m)
			continue;
		mpi |= m->mpi;
		if (m->traits.executable)
			program = m->path;
		untraced_join(&untraced, &m->untraced);
	}
	if (!mpi)
		return;
	job_read(pid, &job);
	tracker_note_rank(t, (uint32_t)pid, &job, &untraced, program);
}

void tracker_forget_rank(struct tracker *t, uint32_t tgid)
{
	free(hash_get_ptr(&t->silent_ranks, tgid));
	hash_del(&t->silent_ranks, tgid);
}

void tracker_free_ranks(struct tracker *t)
{
	hash_free_ptrs(&t->silent_ranks);
}

struct silent_programs {
	struct silent_program *all;
	uint32_t n, cap;
};

static bool add_rank(struct silent_programs *list, const struct silent_rank *r, uint32_t pid)
{
	array_for_each (p, list->all, list->n) {
		if (p->rank.program == r->program && p->rank.calls == r->calls) {
			p->n++;
			p->pid = pid < p->pid ? pid : p->pid;
			return true;
		}
	}
	if (grow(list->all, list->cap, list->n + 1))
		return false;
	list->all[list->n++] = (struct silent_program){ .rank = *r, .n = 1, .pid = pid };
	return true;
}

static void report_program(const struct silent_program *p)
{
	const char *calls = p->rank.calls ? p->rank.calls : "MPI functions";
	const char *program = p->rank.program ? p->rank.program : "a program";

	if (p->n == 1)
		remark_note(REMARK_WARN, "untraced", p->pid,
			    "process %u (%s) crossed no traced barrier, but its code calls %s, "
			    "where it may wait for other MPI ranks: these calls are not traced, "
			    "and how long it waits in them is unknown",
			    p->pid, program, calls);
	else
		remark_note(REMARK_WARN, "untraced", p->pid,
			    "%u processes of %s (one is %u) crossed no traced barrier, but their "
			    "code calls %s, where they may wait for other MPI ranks: these calls "
			    "are not traced, and how long they wait in them is unknown",
			    p->n, program, p->pid, calls);
}

void tracker_report_ranks(const struct tracker *t, const struct model *model)
{
	struct silent_programs list = { 0 };
	const struct hash_entry *e;
	struct hash_entry zero;
	struct hash crossed = { 0 };
	uint64_t value;
	size_t pos = 0;
	uint32_t i;
	int err = 0;

	if (!hash_count(&t->silent_ranks))
		return;
	for (i = 0; i < model_nprocs(model) && !err; i++)
		if (model_proc(model, i)->crossings)
			err = hash_put(&crossed, model_proc(model, i)->tgid, 1);
	while (!err && (e = hash_next(&t->silent_ranks, &pos, &zero)))
		if (!hash_get(&crossed, e->key, &value) &&
		    !add_rank(&list, (const struct silent_rank *)(uintptr_t)e->value,
			      (uint32_t)e->key))
			break;
	array_for_each (x, list.all, list.n)
		report_program(x);
	free(list.all);
	hash_free(&crossed);
}
