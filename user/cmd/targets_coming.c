// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * How departures may be seen in a program that is not held when it begins. What it crosses before that is known is lost, and to look at its
 * libraries once they are mapped, and to put probes where their functions end, may take longer than a rank of MPI needs to come to its first
 * meeting, most of all where ranks spin on all CPUs. So what can be known of the program before is.
 */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/targets_internal.h"
#include "sites/needed.h"

#define NEEDED_MAX 256
#define JUDGED	   (1ULL << 32) /* of targets.judged */

/* What a program needs. */
struct coming {
	struct module *files[NEEDED_MAX];
	size_t n;
	bool unknown; /* one of them is not to be found here, or more may be */
};

static void add_file(void *ctx, const char *name, struct module *m)
{
	struct coming *c = ctx;

	(void)name;
	/* Where regions return to is probed in each process. */
	c->unknown |= !m || m->error || m->regions || c->n == NEEDED_MAX;
	if (!c->unknown)
		c->files[c->n++] = m;
}

/* The flags of a verdict, once the files have their probes. False: all of it will be known only when the program runs. */
static bool judge_needed(struct targets *t, const struct module *program, uint32_t *flags)
{
	struct coming c = { .unknown = getenv("LD_PRELOAD") || getenv("LD_AUDIT") };
	struct space_facts facts;
	size_t i;

	if (c.unknown || needed_each(t->modules, program->path, add_file, &c) || c.unknown)
		return false;
	facts = spaces_judge_files(c.files, c.n);
	if (!facts.decided)
		return false;
	*flags = facts.refusal ? SBT_PROC_BY_EXIT : 0;
	for (i = 0; i < c.n; i++) {
		probes_module(&t->probes, c.files[i], 0, false);
		if (facts.refusal && c.files[i]->nplaces &&
		    probes_exits(&t->probes, c.files[i], UINT32_MAX))
			return false;
	}
	return true;
}

/* By the program alone. */
static bool judge_alone(struct targets *t, struct maps_entry *e, struct module *m, uint32_t *flags)
{
	struct maps alone = { .entries = e, .n = 1 };
	struct space_facts facts = spaces_judge(t->spaces, getpid(), &alone, false);

	*flags = 0;
	if (!facts.decided)
		return false;
	/* Its runtime is examined when it runs; what regions do cannot be seen before. */
	if (facts.refusal)
		*flags = probes_exits(&t->probes, m, m->regions ? 0 : UINT32_MAX)
				 ? SBT_PROC_EXCLUDED
				 : SBT_PROC_BY_EXIT;
	return true;
}

/* Says what is known of a program that needs other files, once. Returns JUDGED and the verdict's flags, or 0. */
static uint64_t judge_once(struct targets *t, const struct maps_entry *e, struct module *m)
{
	uint64_t key = (uint64_t)(uintptr_t)m, known = 0;
	uint32_t flags;

	if (hash_get(&t->judged, key, &known))
		return known;
	if (judge_needed(t, m, &flags)) {
		known = JUDGED | flags;
		attach_know_program(t->attach, e->dev, e->ino, flags, false);
	}
	hash_put(&t->judged, key, known);
	return known;
}

void targets_judge_coming(struct targets *t, const struct maps_entry *entry, struct module *m,
			  bool rank)
{
	struct maps_entry e = *entry;
	uint32_t flags;

	if (judge_alone(t, &e, m, &flags))
		attach_know_program(t->attach, e.dev, e.ino, flags, false);
	else if (rank)
		judge_once(t, &e, m);
}

static struct module *program_of(struct targets *t, const struct space *space,
				 const struct maps_entry **entry)
{
	struct module *m;
	size_t i;

	for (i = 0; i < space->maps.n; i++) {
		m = targets_module(t, space, i);
		if (m && m->is_elf && m->traits.executable) {
			*entry = &space->maps.entries[i];
			return m;
		}
	}
	return NULL;
}

void targets_judge_rank(struct targets *t, const struct space *space)
{
	const struct maps_entry *entry = NULL;
	struct job job = { .rank = JOB_NONE };
	struct module *m;
	uint64_t known;

	if (t->options.by_process)
		return;
	job_read((int)space->tgid, &job);
	m = job.rank == JOB_NONE ? NULL : program_of(t, space, &entry);
	known = m ? judge_once(t, entry, m) : 0;
	if (known)
		attach_flag_process(t->attach, space->tgid, space->inc, (uint32_t)known,
				    SBT_PROC_FRESH);
}
