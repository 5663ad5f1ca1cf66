// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/process_tracker_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/mappings.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/msg.h"
#include "base/remark.h"
#include "capture/preload_probe_maps.h"
#include "capture/probes.h"
#include "model/model.h"
#include "target/linker.h"
#include "target/proc.h"

/*
 * The incarnation of a process that ran before tracing. The BPF programs never generate this
 * number.
 */
#define INC_FOUND 2u

#define WORDS_MAX 64 /* maximum number of words of a command line that are examined */

int tracker_new(struct attach *attach, struct modules *modules, struct address_spaces *spaces,
		const struct tracker_options *options, struct tracker **out)
{
	struct tracker *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	*t = (struct tracker){
		.attach = attach, .modules = modules, .spaces = spaces, .options = *options
	};
	address_spaces_set_changes(spaces, tracker_changes, t);
	t->options.all_loaders = false;
	if (options->children) {
		err = mappings_open(options->discover_all, &t->mappings);
		t->options.all_loaders = err != 0;
		if (err)
			remark_warn("all_loaders", 0,
				    "a probe in the dynamic linker, which all processes share, "
				    "detects the libraries that processes open. Programs that an "
				    "emulator (valgrind, qemu-user) runs during tracing die of "
				    "SIGTRAP. The kernel cannot report mappings in another way: %s",
				    strerror(-err));
	}
	probes_init(&t->probes, attach, &t->options);
	tracker_watch(t);
	if (ranks_new(&t->ranks)) {
		mappings_free(t->mappings);
		free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void tracker_free(struct tracker *t)
{
	if (!t)
		return;
	ranks_free(t->ranks);
	tracker_free_ranks(t);
	tracker_free_runtimes(t);
	probes_free(&t->probes);
	hash_free(&t->waiting);
	hash_free(&t->seen);
	hash_free(&t->changes);
	hash_free(&t->named);
	hash_free(&t->unnamed);
	tracker_births_free(t);
	tracker_free_coming(t);
	hash_free(&t->copied);
	mappings_free(t->mappings);
	free(t->mapped);
	free(t->starting);
	free(t);
}

/* --- the code that a process runs ------------------------------------------------------------- */

struct module *tracker_mapped_at(struct tracker *t, int pid, const struct maps_entry *e)
{
	return e->exec && e->ino ? modules_get(t->modules, pid, e) : NULL;
}

struct module *tracker_module(struct tracker *t, const struct address_space *space, size_t i)
{
	return tracker_mapped_at(t, (int)space->tgid, &space->maps.entries[i]);
}

static void refuse(struct tracker *t, struct address_space *space, const char *comm)
{
	attach_flag_process(t->attach, space->tgid, space->inc, SBT_PROC_EXCLUDED, 0);
	space->exit_detection = "none: not traced";
	remark_warn("not_traced", space->tgid,
		    "process %u (%s) is not traced: %s, and its departures cannot be seen in "
		    "another way",
		    space->tgid, comm, space->refusal);
}

/*
 * Return the combined results of probes_returns() for all mappings. *runtime: set if a library that
 * begins regions is mapped. At the start of a program no such library is mapped yet.
 */
static uint32_t see_returns(struct tracker *t, int pid, const struct maps *maps, bool *runtime)
{
	uint32_t returns = 0;

	*runtime = false;
	array_for_each (e, maps->entries, maps->n) {
		struct module *m = tracker_mapped_at(t, pid, e);

		if (!m || !m->regions)
			continue;
		*runtime = true;
		if (m->returns.n)
			returns |= probes_returns(&t->probes, m, (uint32_t)pid);
	}
	return returns;
}

/* Say how departures are found. @exits: no return probes are used in the process. */
static const char *detection(const struct tracker *t, const struct address_space *space, bool exits)
{
	if (attach_infers(t->attach) && space->libc != FAMILY_LIBC_MUSL)
		return exits ? "inference where possible, else ret instructions"
			     : "inference where possible, else return probe";
	return exits ? "ret instructions" : "return probe";
}

/* Choose how departures are seen, after the files of the process have been examined. */
static void choose_exit_detection(struct tracker *t, struct address_space *space)
{
	bool runtime = false;
	uint32_t returns;
	char comm[16] = "?";
	int err = 0;
	size_t i;

	if (!space->has_probe_site)
		return;
	returns = attach_only_exits(t->attach) || space->refusal
			  ? see_returns(t, (int)space->tgid, &space->maps, &runtime)
			  : 0;
	for (i = 0; i < space->maps.n && runtime; i++) {
		struct module *m = tracker_module(t, space, i);

		if (m)
			probes_report_ends(&t->probes, m, returns);
	}
	if (attach_only_exits(t->attach))
		space->exit_detection = detection(t, space, true);
	else if (!space->refusal)
		space->exit_detection = detection(t, space, false);
	if (!space->refusal)
		return;
	proc_comm((int)space->tgid, (int)space->tgid, comm);
	for (i = 0; i < space->maps.n && !err; i++) {
		struct module *m = tracker_module(t, space, i);

		if (m && m->nplaces)
			err = probes_exits(&t->probes, m, returns);
	}
	if (err) {
		refuse(t, space, comm);
		return;
	}
	/* An earlier call chose the exit detection, before another library was mapped. */
	if (space->by_exit)
		return;
	space->by_exit = true;
	space->exit_detection = detection(t, space, true);
	attach_flag_process(t->attach, space->tgid, space->inc, SBT_PROC_BY_EXIT, 0);
	/* Always report this for a Go program, because return probes have crashed Go programs. */
	if (!strncmp(space->refusal, "a Go", 4))
		msg_warn("process %u (%s): %s; departures are seen at ret instructions",
			 space->tgid, comm, space->refusal);
	else
		msg_verbose(t->options.verbose,
			    "process %u (%s): %s; departures are seen at ret instructions",
			    space->tgid, comm, space->refusal);
}

/* Note the rank of a process, which can only be read while it runs. */
static int see_rank(struct tracker *t, const struct address_space *space, const char *program)
{
	struct ranks_handles handles = { .addresses = false };
	struct job job = { .rank = JOB_NONE, .size = JOB_NONE };
	size_t i;

	for (i = 0; i < space->maps.n; i++) {
		const struct module *m = tracker_module(t, space, i);

		if (m)
			ranks_find_handles(m, &space->maps.entries[i], &handles);
	}
	tracker_job(t, space->tgid, space->inc, &job);
	/* A child that a rank forked runs the same code, but takes no part in MPI. */
	if (!space->parent_tgid)
		tracker_note_rank(t, space->tgid, &job, &space->untraced, program);
	return ranks_see(t->ranks, space->tgid, space->inc, &job, &handles);
}

int tracker_examine(struct tracker *t, struct address_space *space)
{
	int err = address_space_read(t->spaces, space);
	bool mpi = false, tasks = false, named;
	const char *program = NULL;
	uint64_t leader = 0;
	uint32_t family;
	size_t i;

	if (err)
		return err;
	named = hash_get(&t->named, space->tgid, &leader);
	t->generation++;
	for (i = 0; i < space->maps.n; i++) {
		struct module *m = tracker_module(t, space, i);

		if (!m)
			continue;
		m->in_target = true;
		mpi |= m->mpi;
		if (m->traits.executable)
			program = m->path;
		untraced_join(&space->untraced, &m->untraced);
		tasks |= m->traits.executable && m->tasks;
		probes_module(&t->probes, m, space->tgid, space->refusal != NULL);
		if (named)
			probes_loader(&t->probes, m, space->tgid, (uint32_t)leader);
		probes_note_outlined(&t->probes, space->tgid, &space->maps.entries[i], m);
		for (family = 0; family < SBT_FAMILIES; family++)
			space->stepped[family] |= m->stepped[family];
	}
	for (i = 0; i < space->maps.n && !space->tasks && (tasks || space->untraced.tasks); i++) {
		struct module *m = tracker_module(t, space, i);

		if (m && m->tasks)
			probes_tasks(&t->probes, m, space->tgid);
	}
	tracker_examine_turns(t, space);
	tracker_note_runtimes(t, space);
	choose_exit_detection(t, space);
	return mpi ? see_rank(t, space, program) : 0;
}

/* --- threads that are inside already ---------------------------------------------------------- */

struct waiting {
	struct tracker *t;
	int pid;
};

static void note_thread(void *ctx, int tid)
{
	const struct waiting *w = ctx;
	uint64_t address;

	if (proc_waits_at(w->pid, tid, &address))
		return;
	/*
	 * Recording has just begun. A thread that is not blocked (`proc_waits_at()` then sets
	 * MODEL_UNKNOWN), or that has arrived since, may have left a barrier without being seen.
	 * Treating it as having begun outside any barrier would shift all its episodes by one.
	 */
	if (attach_has_arrived(w->t->attach, (uint32_t)tid))
		address = MODEL_UNKNOWN;
	if (address)
		hash_put(&w->t->waiting, (uint64_t)tid, address);
}

static void note_process(void *ctx, int pid)
{
	struct waiting w = { ctx, pid };

	if (pid != getpid())
		proc_each_thread(pid, note_thread, &w);
}

void tracker_note_waiting(struct tracker *t, int pid)
{
	if (pid)
		note_process(t, pid);
	else
		proc_each(note_process, t);
}

/* --- which processes are traced --------------------------------------------------------------- */

/*
 * Examine everything that sbt-trace itself has mapped now. @named: some of these files are programs
 * that traced processes will run. @ranks: the processes run them as MPI ranks, which need more
 * libraries than the mapped ones.
 */
static int examine_own(struct tracker *t, bool named, bool ranks)
{
	struct maps maps;
	int err;

	err = maps_read(getpid(), &maps);
	if (err)
		return err;
	array_for_each (e, maps.entries, maps.n) {
		struct module *m = tracker_mapped_at(t, getpid(), e);

		if (!m)
			continue;
		probes_module(&t->probes, m, 0, false);
		if (m->traits.executable && named)
			tracker_classify_coming(t, e, m, ranks);
	}
	maps_free(&maps);
	return 0;
}

/*
 * Examine the OpenMP libraries in advance, because a child may need them at once. They are not
 * probed yet, because untraced processes may run them.
 */
static void read_openmp(struct tracker *t)
{
	struct preload_maps preload_maps = { .n = 0 };
	struct maps maps;

	preload_maps_openmp(&preload_maps);
	if (!maps_read(getpid(), &maps)) {
		array_for_each (e, maps.entries, maps.n)
			tracker_mapped_at(t, getpid(), e);
		maps_free(&maps);
	}
	preload_maps_free(&preload_maps);
}

int tracker_add_own(struct tracker *t, char *const command[])
{
	struct preload_maps preload_maps = { .n = 0 };
	int err;

	if (t->options.by_process)
		return 0;
	preload_maps_common(&preload_maps);
	if (!command)
		preload_maps_openmp(&preload_maps);
	else
		read_openmp(t);
	if (command && (getenv("OMPI_COMM_WORLD_RANK") || getenv("PMI_RANK")))
		preload_maps_mpi(&preload_maps);
	preload_maps_words(&preload_maps, t->modules, command);
	err = examine_own(t, command != NULL, preload_maps.mpi);
	preload_maps_free(&preload_maps);
	return err;
}

int tracker_add_words(struct tracker *t, int pid)
{
	struct preload_maps preload_maps = { .n = 0 };
	char *words[WORDS_MAX + 1];
	int n, err = 0;

	if (t->options.by_process)
		return 0;
	n = proc_words(pid, words, WORDS_MAX);
	if (n < 0)
		return n;
	/* Skip the first word: the program that the process runs has been examined already. */
	preload_maps_words(&preload_maps, t->modules, n ? words + 1 : words);
	if (preload_maps.n)
		err = examine_own(t, true, preload_maps.mpi);
	preload_maps_free(&preload_maps);
	if (n)
		free(words[0]);
	return err;
}

int tracker_add_pid(struct tracker *t, int pid)
{
	struct address_space *space = address_space_get(t->spaces, (uint32_t)pid, INC_FOUND);
	int err;

	if (!space)
		return -ENOMEM;
	err = tracker_name(t, pid);
	if (!err)
		err = attach_add_process(t->attach, (uint32_t)pid, INC_FOUND, 0);
	if (!err)
		err = attach_teams_unknown(t->attach, (uint32_t)pid);
	if (!err)
		err = tracker_examine(t, space);
	if (err)
		return err;
	/*
	 * The image distinguishes libraries that the process loads later from programs that it
	 * executes later.
	 */
	proc_image(pid, &space->program.image);
	tracker_examine_waits(t, space, false);
	return 0;
}

int tracker_add_child(struct tracker *t, int pid)
{
	/* The process still has the mappings of sbt-trace, which its exec will replace. */
	int err = tracker_name_coming(t, pid);

	t->child = (uint32_t)pid;
	return err ? err : attach_add_process(t->attach, (uint32_t)pid, INC_FOUND, 0);
}

int tracker_add_other(struct tracker *t, int pid)
{
	int err = tracker_name_coming(t, pid);

	return err ? err : attach_add_process(t->attach, (uint32_t)pid, INC_FOUND, 0);
}

/* Pass the known facts about the program that a process runs to the BPF programs. */
static void know_program(struct tracker *t, uint32_t tgid, const struct maps *maps, uint32_t flags,
			 bool settled)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/exe", tgid);
	if (stat(path, &st))
		return;
	array_for_each (e, maps->entries, maps->n) {
		if (e->exec && e->ino == st.st_ino) {
			attach_know_program(t->attach, e->dev, e->ino, flags, settled);
			return;
		}
	}
}

uint32_t tracker_scan_departures(struct tracker *t, int pid, const struct maps *maps,
				 const char *refusal)
{
	uint32_t returns;
	bool runtime;

	if (!refusal)
		return 0;
	returns = see_returns(t, pid, maps, &runtime);
	array_for_each (e, maps->entries, maps->n) {
		struct module *m = tracker_mapped_at(t, pid, e);

		if (m && m->nplaces && probes_exits(&t->probes, m, returns))
			return SBT_PROC_EXCLUDED;
	}
	return SBT_PROC_BY_EXIT;
}

bool tracker_probe_file(struct tracker *t, int pid, const struct maps_entry *entry)
{
	struct module *m = tracker_mapped_at(t, pid, entry);
	bool fresh;

	if (!m)
		return false;
	m->in_target = true;
	fresh = m->nplaces && !m->attached;
	probes_module(&t->probes, m, 0, false);
	probes_waits(&t->probes, m, 0, 0);
	return fresh;
}

struct tracker_scan tracker_scan_once(struct tracker *t, int pid)
{
	struct tracker_scan scan = { .partial = linker_busy(pid) == 1 };
	struct address_space_facts facts;
	struct maps maps;

	if (maps_read(pid, &maps))
		return (struct tracker_scan){ false, false };
	array_for_each (e, maps.entries, maps.n)
		scan.fresh |= tracker_probe_file(t, pid, e);
	tracker_scan_rank(t, pid, &maps);
	facts = address_spaces_classify(t->spaces, pid, &maps, scan.partial);
	/*
	 * The process ran before its files were probed, so note its threads that are inside a
	 * barrier already.
	 */
	if (scan.fresh)
		tracker_note_waiting(t, pid);
	if (facts.decided)
		know_program(t, (uint32_t)pid, &maps,
			     tracker_scan_departures(t, pid, &maps, facts.refusal), facts.settled);
	maps_free(&maps);
	return scan;
}

/*
 * Return whether a dynamic linker has finished by now. If the linker was probed only now, it may
 * already have passed the probed instruction, and no other event would report its end. If it has
 * not finished, the probe will report the end.
 */
static bool linker_done_meanwhile(bool partial, int pid)
{
	return partial && linker_busy(pid) == 0;
}

static void scan_one(void *ctx, int pid)
{
	struct tracker *t = ctx;
	bool partial;

	if (pid == getpid())
		return;
	partial = tracker_scan_once(t, pid).partial;
	if (linker_done_meanwhile(partial, pid))
		tracker_scan_once(t, pid);
	else if (partial && t->mappings)
		tracker_starting_add(t, (uint32_t)pid, 0, false);
}

int tracker_scan_all(struct tracker *t)
{
	int n = proc_each(scan_one, t);

	return n < 0 ? n : 0;
}

/* --- events ----------------------------------------------------------------------------------- */

static struct address_space_program program_of(const struct sbt_event *event)
{
	return (struct address_space_program){
		.dev = event->device,
		.ino = event->inode,
		.image = { .code = event->code_start,
			   .code_end = event->code_end,
			   .stack = event->stack_start },
	};
}

/*
 * Examine a program that a process executed, as the kernel reported it, even if the process has
 * exited.
 */
static int examine_program(struct tracker *t, struct address_space *space,
			   const struct sbt_event *event)
{
	int err;

	space->program = program_of(event);
	err = tracker_examine(t, space);
	if (err)
		address_space_assume(t->spaces, space);
	return err;
}

void tracker_settled(struct tracker *t, struct address_space *space)
{
	know_program(t, space->tgid, &space->maps, space->by_exit ? SBT_PROC_BY_EXIT : 0,
		     space->settled);
	attach_flag_process(t->attach, space->tgid, space->inc, 0, SBT_PROC_FRESH);
}

void tracker_resume(struct tracker *t, const struct sbt_event *event)
{
	if (!(event->flags & SBT_EVENT_HELD))
		return;
	/* Before the signal: then the process may get the CPU of this thread, and even end. */
	t->resumed_ns = now_ns();
	kill((pid_t)event->tgid, SIGCONT);
}

static void on_changed(struct tracker *t, const struct sbt_event *event)
{
	bool held = event->flags & SBT_EVENT_HELD;
	struct address_space *space;
	uint64_t leader;
	int err;

	if (event->tgid == t->child && event->inc == INC_FOUND)
		return;
	if (!event->inc) {
		/* -a: a process that is not traced yet runs an unknown file. */
		if (tracker_follows(t, event->tgid))
			return;
		if (!t->mappings || tracker_starting_add(t, event->tgid, 0, true))
			scan_one(t, (int)event->tgid);
		return;
	}
	tracker_written(t);
	space = address_space_get(t->spaces, event->tgid, event->inc);
	if (space)
		space->runs = !held;
	/* The linker maps one library after the other: wait, and examine them together. */
	if (space && event->type == SBT_REC_MAP && space->read && !space->settled && !held &&
	    t->mappings && !tracker_starting_add(t, event->tgid, event->inc, true)) {
		space->changes = event->change;
		return;
	}
	if (!space) {
		err = -ENOMEM;
	} else if (event->type == SBT_REC_EXEC) {
		t->executed += event->tgid != t->child;
		space->young = true;
		/* If another thread called exec, it is the thread-group leader now. */
		if (event->tid != event->tgid && hash_get(&t->named, event->tgid, &leader))
			hash_put(&t->named, event->tgid, leader + 1);
		err = examine_program(t, space, event);
		if (err)
			tracker_rank_gone(t, event);
		if (!err && !held && !space->settled)
			tracker_classify_executed(t, space);
		if (!err)
			err = tracker_name_starting(t, space);
	} else {
		space->changes = event->change;
		t->generation++;
		err = tracker_examine(t, space);
	}
	if (!err && linker_done_meanwhile(space->partial, (int)event->tgid))
		err = tracker_examine(t, space);
	/* Until the process is settled, it keeps SBT_PROC_FRESH, and may be stopped again. */
	if (!err && space->settled)
		tracker_settled(t, space);
	if (!err && event->type == SBT_REC_EXEC)
		tracker_starting_done(t, event->tgid, event->inc);
	if (!err && !space->settled && !held && t->mappings)
		tracker_starting_add(t, event->tgid, event->inc, false);
	/* While the process is stopped, it cannot wait: probes attached now miss no wait. */
	if (space && (held || tracker_has_multiprocessing(t, space)))
		tracker_examine_waits(t, space, !held);
	tracker_resume(t, event);
}

static void on_fork(struct tracker *t, const struct sbt_event *event)
{
	const struct address_space *parent =
		address_space_find(t->spaces, event->parent_tgid, event->parent_inc);
	struct address_space *child = address_space_get(t->spaces, event->tgid, event->inc);

	t->made++;
	if (parent && child)
		address_space_inherit(child, parent);
	if (child) {
		child->young = true;
		child->parent_tgid = event->parent_tgid;
		child->parent_inc = event->parent_inc;
	}
	t->generation++;
	hash_put(&t->unnamed, event->tgid, 1);
	/*
	 * If this call starts the reports of mappings, the process may have mapped code before
	 * them.
	 */
	if (tracker_watch(t))
		tracker_starting_add(t, event->tgid, event->inc, true);
	if (child)
		tracker_examine_forked(t, child);
	/*
	 * If the parent was settled after the fork, the child has still inherited SBT_PROC_FRESH.
	 * Clear it.
	 */
	if (parent && parent->settled)
		attach_flag_process(t->attach, event->tgid, event->inc, 0, SBT_PROC_FRESH);
}

/* Return the mapping at @addr, or NULL. *offset: the offset of @addr in the mapped file. */
static const struct maps_entry *mapped_at(const struct address_space *space, uint64_t addr,
					  uint64_t *offset)
{
	array_for_each (e, space->maps.entries, space->maps.n) {
		if (addr >= e->start && addr < e->end) {
			*offset = addr - e->start + e->offset;
			return e;
		}
	}
	return NULL;
}

/*
 * Probe a function without a name that a region runs, and all similar functions at once: most
 * processes can only be stopped before their first region, while they have one thread.
 */
static int find_outlined(struct tracker *t, struct address_space *space,
			 const struct sbt_event *event)
{
	const struct maps_entry *e, *from;
	uint64_t offset = 0, caller = 0;
	struct module *m;
	uint32_t returns = 0, i;
	bool runtime;
	int err;

	e = mapped_at(space, event->function, &offset);
	m = e && e->exec ? modules_get(t->modules, (int)space->tgid, e) : NULL;
	if (!m)
		return -ENOENT;
	from = mapped_at(space, event->return_ip, &caller);
	if (!from || from->ino != e->ino || from->dev != e->dev)
		caller = 0;
	err = probes_find_outlined(&t->probes, m, space, (uint8_t)event->family, offset, caller);
	if (err)
		return err;
	if (space->by_exit || attach_only_exits(t->attach)) {
		returns = see_returns(t, (int)space->tgid, &space->maps, &runtime);
		probes_report_ends(&t->probes, m, returns);
	}
	if (space->by_exit)
		err = probes_exits(&t->probes, m, returns);
	if (err)
		return err;
	for (i = 0; i < space->maps.n; i++)
		if (tracker_module(t, space, i) == m)
			probes_note_outlined(&t->probes, space->tgid, &space->maps.entries[i], m);
	return 0;
}

static void on_outlined(struct tracker *t, const struct sbt_event *event)
{
	struct address_space *space = address_space_get(t->spaces, event->tgid, event->inc);
	int err = -ENOMEM;

	if (space && !space->read)
		tracker_examine(t, space);
	if (space)
		err = find_outlined(t, space, event);
	if (err) {
		attach_outlined(t->attach, event->tgid, event->function, false);
		remark_warn(
			"regions_unseen", event->tgid,
			"process %u: the end of parallel regions that run the code at 0x%llx is "
			"not seen: the bounds of that function are unknown",
			event->tgid, (unsigned long long)event->function);
	} else if (!(event->flags & SBT_EVENT_HELD))
		remark_warn(
			"regions_unseen", event->tgid,
			"process %u: the first parallel regions that run the code at 0x%llx are "
			"incomplete: the process was not stopped while the probe was attached",
			event->tgid, (unsigned long long)event->function);
	tracker_resume(t, event);
}

/* Handle a probe's report that the process has tasks. */
static void on_tasks(struct tracker *t, const struct sbt_event *event)
{
	struct address_space *space = address_space_find(t->spaces, event->tgid, event->inc);
	const struct maps_entry *e;
	struct module *m = NULL;
	uint64_t offset = 0;
	bool unseen = false;

	if (!space)
		return;
	space->tasks = true;
	e = mapped_at(space, event->probe, &offset);
	if (e && e->exec)
		m = modules_get(t->modules, (int)space->tgid, e);
	if (m && !probes_remove(&t->probes, m, space->tgid, offset, &unseen) && unseen)
		address_spaces_tasks_unseen(t->spaces);
}

void tracker_look(struct tracker *t, const struct sbt_event *event)
{
	struct address_space *space = address_space_find(t->spaces, event->tgid, event->inc);

	if (space && !(event->tgid == t->child && event->inc == INC_FOUND))
		address_space_look(t->spaces, space);
}

uint64_t tracker_event(struct tracker *t, const struct sbt_event *event)
{
	struct address_space *space;

	t->resumed_ns = 0;
	switch (event->type) {
	case SBT_REC_FORK:
		on_fork(t, event);
		break;
	case SBT_REC_SEEN:
		space = address_space_get(t->spaces, event->tgid, event->inc);
		if (!space || space->read)
			break;
		space->runs = true;
		examine_program(t, space, event);
		break;
	/*
	 * A process with a single thread also gets probes on waits if it shares memory with other
	 * processes.
	 */
	case SBT_REC_UNPROBED:
	case SBT_REC_THREAD:
		space = t->options.discover ? address_space_find(t->spaces, event->tgid, event->inc)
					    : NULL;
		if (space && tracker_examine_waits(t, space, true) == -ESRCH)
			t->unprobed += event->type == SBT_REC_UNPROBED;
		break;
	case SBT_REC_EXEC:
	case SBT_REC_MAP:
		on_changed(t, event);
		break;
	case SBT_REC_EXIT:
		/*
		 * Forget a process that ends, because another process may soon have its process id.
		 */
		if (event->flags & SBT_EVENT_LEADER && event->flags & SBT_EVENT_TRAPPED)
			remark_warn("trapped", event->tgid,
				    "process %u (%.16s) died of SIGTRAP: it probably ran a copy of "
				    "code with a probe, as an emulator or a program that replaces "
				    "its own text does. It cannot be traced",
				    event->tgid, event->comm);
		if (event->flags & SBT_EVENT_LEADER) {
			hash_del(&t->changes, event->tgid);
			hash_del(&t->named, event->tgid);
			hash_del(&t->unnamed, event->tgid);
			hash_del(&t->copied, event->tgid);
			tracker_forget_job(t, event->tgid, event->inc);
		}
		break;
	case SBT_REC_OUTLINED:
		on_outlined(t, event);
		break;
	case SBT_REC_TASKS:
		on_tasks(t, event);
		break;
	case SBT_REC_ENDS:
		probes_team_ends(&t->probes);
		break;
	case SBT_REC_COPY:
		tracker_copied(t, event);
		break;
	default:
		break;
	}
	return t->resumed_ns;
}

void tracker_forget(struct tracker *t, uint32_t tgid, uint32_t inc)
{
	address_spaces_forget(t->spaces, tgid, inc);
	ranks_forget(t->ranks, tgid, inc);
	hash_del(&t->seen, (uint64_t)inc << 32 | tgid);
	/* This invalidates cached call sites. */
	t->generation++;
}

void tracker_made(const struct tracker *t, uint64_t *made, uint64_t *executed)
{
	*made = t->made;
	*executed = t->executed;
}

int tracker_written_fd(const struct tracker *t)
{
	return t->probes.written.fd;
}

void tracker_written(struct tracker *t)
{
	struct module *m;

	while ((m = written_next(&t->probes.written))) {
		msg_verbose(t->options.verbose, "probes of %s removed: it is written to", m->path);
		if (tracker_still_mapped(m))
			remark_warn("unread", 0,
				    "%s was written to while a process ran it: barriers there are "
				    "not seen from then on",
				    m->path);
		modules_forget(t->modules, m);
		tracker_forget_file(t, m);
	}
}

struct ranks *tracker_ranks(const struct tracker *t)
{
	return t->ranks;
}

static bool is_late(void *ctx, uint32_t tgid, uint64_t start_ns)
{
	return tracker_is_late(ctx, tgid, start_ns);
}

struct feed_processes tracker_for_feed(struct tracker *t)
{
	return (struct feed_processes){ .ctx = t,
					.ranks = tracker_ranks(t),
					.generation = &t->generation,
					.waiting = &t->waiting,
					.is_late = is_late };
}

bool tracker_have_places(const struct tracker *t)
{
	return t->probes.places > 0;
}

uint32_t tracker_probed(const struct tracker *t, uint32_t rule)
{
	return rule <= RULES_MAX ? t->probes.by_rule[rule] : 0;
}

bool tracker_stepped(const struct tracker *t)
{
	return t->probes.stepped;
}
