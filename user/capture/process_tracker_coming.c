// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Decide how departures are seen in a program that is not stopped when it begins. Crossings are
 * lost until that is known. Examining its mapped libraries and probing the exits of functions may
 * take longer than an MPI rank needs until its first collective, in particular if ranks spin on all
 * CPUs. So programs are examined in advance, as far as possible.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/process_tracker_internal.h"
#include "sites/needed.h"
#include "sites/family.h"

#define NEEDED_MAX 256

/* Values of tracker.classified; the bits below are the flags of the verdict. */
#define CLASSIFIED     (1ULL << 32)
#define CLASSIFIED_MPI (1ULL << 33)

/* The files that a program needs. */
struct coming {
	const struct module *program;
	struct module *files[NEEDED_MAX];
	size_t n;
	bool mpi;
	/*
	 * the file at the program's path is this program; a process with another root directory may
	 * have another file there
	 */
	bool found;
	bool regions; /* a file of the program begins OpenMP parallel regions */
	bool unknown; /* a file was not found here, or there may be more files */
};

static void add_file(void *ctx, const char *name, struct module *m)
{
	struct coming *c = ctx;

	(void)name;
	/* Each probe on tasks is for a single process, so the program must run first. */
	c->unknown |= !m || m->error || m->untraced.tasks || (m->traits.executable && m->tasks) ||
		      c->n == NEEDED_MAX;
	if (c->unknown)
		return;
	c->found |= m == c->program;
	c->mpi |= m->mpi;
	c->regions |= m->regions != 0;
	c->files[c->n++] = m;
}

/*
 * Probe the needed files. Return CLASSIFIED and flags, or 0 if the flags are only known at run
 * time.
 */
static uint64_t classify_needed(struct tracker *t, const struct module *program)
{
	struct coming c = { .program = program,
			    .unknown = getenv("LD_PRELOAD") || getenv("LD_AUDIT") };
	struct address_space_facts facts;
	size_t i;

	if (c.unknown || needed_each(t->modules, program->path, add_file, &c) || c.unknown ||
	    !c.found)
		return 0;
	facts = address_spaces_classify_files(c.files, c.n);
	if (!facts.decided)
		return 0;
	/* The addresses to which regions return are probed in each process, after its start. */
	if (c.regions && (facts.refusal || attach_only_exits(t->attach)))
		return 0;
	for (i = 0; i < c.n; i++) {
		probes_module(&t->probes, c.files[i], 0, false);
		if (facts.refusal && c.files[i]->nplaces &&
		    probes_exits(&t->probes, c.files[i], UINT32_MAX))
			return 0;
	}
	return CLASSIFIED | (c.mpi ? CLASSIFIED_MPI : 0) | (facts.refusal ? SBT_PROC_BY_EXIT : 0);
}

/* Classify the program from its own file alone. Return whether that suffices. */
static bool classify_alone(struct tracker *t, struct maps_entry *e, struct module *m,
			   uint32_t *flags)
{
	struct maps alone = { .entries = e, .n = 1 };
	struct address_space_facts facts =
		address_spaces_classify(t->spaces, getpid(), &alone, false);

	*flags = 0;
	if (!facts.decided)
		return false;
	/*
	 * Skip the functions of parallel regions if their runtime is in another file. That file is
	 * examined when the program runs.
	 */
	if (facts.refusal)
		*flags = probes_exits(&t->probes, m, m->regions ? 0 : UINT32_MAX)
				 ? SBT_PROC_EXCLUDED
				 : SBT_PROC_BY_EXIT;
	return true;
}

/* Classify a program that needs other files, once, and pass the result to the BPF programs. */
static uint64_t classify_once(struct tracker *t, const struct maps_entry *e, struct module *m)
{
	uint64_t key = (uint64_t)(uintptr_t)m, known = 0;

	if (hash_get(&t->classified, key, &known))
		return known;
	known = classify_needed(t, m);
	if (known)
		attach_know_program(t->attach, e->dev, e->ino, (uint32_t)known, false);
	hash_put(&t->classified, key, known);
	return known;
}

/* Return whether the program is linked with an OpenMP runtime. */
static bool needs_openmp(const struct module *program)
{
	uint32_t i;

	for (i = 0; i < program->needs.n; i++)
		if (family_library_has(program->needs.names[i], FAMILY_OPENMP))
			return true;
	return false;
}

void tracker_classify_coming(struct tracker *t, const struct maps_entry *entry, struct module *m,
			     bool rank)
{
	struct maps_entry e = *entry;
	uint32_t flags;

	if (classify_alone(t, &e, m, &flags))
		attach_know_program(t->attach, e.dev, e.ino, flags, false);
	else if (rank || needs_openmp(m))
		classify_once(t, &e, m);
}

static uint64_t job_key(uint32_t tgid, uint32_t inc)
{
	return (uint64_t)inc << 32 | tgid;
}

static struct module *program_of(struct tracker *t, const struct address_space *space,
				 const struct maps_entry **entry)
{
	struct module *m;
	size_t i;

	for (i = 0; i < space->maps.n; i++) {
		m = tracker_module(t, space, i);
		if (m && m->is_elf && m->traits.executable) {
			*entry = &space->maps.entries[i];
			return m;
		}
	}
	return NULL;
}

void tracker_classify_executed(struct tracker *t, const struct address_space *space)
{
	const struct maps_entry *entry = NULL;
	struct module *m;
	uint64_t known;

	if (t->options.by_process)
		return;
	/* tracker_glance() keeps a job only if the process is a rank. */
	if (!hash_get_ptr(&t->jobs, job_key(space->tgid, space->inc)) &&
	    !job_links_as_we((int)space->tgid))
		return;
	m = program_of(t, space, &entry);
	known = m ? classify_once(t, entry, m) : 0;
	if (known)
		attach_flag_process(t->attach, space->tgid, space->inc, (uint32_t)known,
				    SBT_PROC_FRESH);
}

/* --- jobs of ranks ---------------------------------------------------------------------------- */

void tracker_glance(struct tracker *t, const struct sbt_event *event)
{
	struct job job = { .rank = JOB_NONE }, *kept;

	if (event->type != SBT_REC_EXEC)
		return;
	job_read((int)event->tgid, &job);
	kept = job.rank == JOB_NONE ? NULL : malloc(sizeof(*kept));
	if (!kept)
		return;
	*kept = job;
	tracker_forget_job(t, event->tgid, event->inc);
	if (hash_put_ptr(&t->jobs, job_key(event->tgid, event->inc), kept))
		free(kept);
}

void tracker_job(struct tracker *t, uint32_t tgid, uint32_t inc, struct job *out)
{
	const struct job *kept = hash_get_ptr(&t->jobs, job_key(tgid, inc));

	if (kept)
		*out = *kept;
	else
		job_read((int)tgid, out);
}

void tracker_forget_job(struct tracker *t, uint32_t tgid, uint32_t inc)
{
	free(hash_get_ptr(&t->jobs, job_key(tgid, inc)));
	hash_del(&t->jobs, job_key(tgid, inc));
}

void tracker_rank_gone(struct tracker *t, const struct sbt_event *exec)
{
	const struct job *job = hash_get_ptr(&t->jobs, job_key(exec->tgid, exec->inc));
	const struct module *m = modules_find(t->modules, exec->device, exec->inode);
	struct ranks_handles handles = { .addresses = false };
	uint64_t known = 0;

	if (job && m && hash_get(&t->classified, (uint64_t)(uintptr_t)m, &known) &&
	    known & CLASSIFIED_MPI)
		ranks_see(t->ranks, exec->tgid, exec->inc, job, &handles);
}

void tracker_free_coming(struct tracker *t)
{
	hash_free_ptrs(&t->jobs);
	hash_free(&t->classified);
}
