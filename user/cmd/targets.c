// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/targets.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/mappings.h"
#include "base/hash.h"
#include "base/msg.h"
#include "base/remark.h"
#include "cmd/mapped.h"
#include "cmd/probes.h"
#include "model/model.h"
#include "target/linker.h"
#include "target/proc.h"

/* The incarnation of a process that was there before us: anything but what BPF makes. */
#define INC_FOUND 2u

#define CLOSE_NS 2000000000u /* how often files that are not used are closed */

#define UNUSED_MAX 64 /* files of which probes are removed at a time */

#define WORDS_MAX 64 /* of a process's command line are looked at */

/*
 * How often it is asked whether the dynamic linker of a process is done: at first, and later in a part of the time that it has
 * taken.
 */
#define LINKER_NS   500000u
#define LINKER_PART 8

/* A process that maps code before its beginning has been reported is not forgotten for so long. */
#define UNREPORTED_NS 1000000000u

/* A program that was looked at so short a time ago is not looked at again. */
#define RECENT_NS 50000000u

/* More of the processes that were named have no probe of their own in their dynamic linkers. */
#define NAMED_MAX 64

/* A process whose dynamic linker is at work. */
struct starting {
	uint32_t tgid, inc; /* inc 0: of -a, not traced yet */
	bool changed; /* code has been mapped since its mappings were read */
	uint64_t since_ns, due_ns;
};

struct targets {
	struct attach *attach;
	struct modules *modules;
	struct spaces *spaces;
	struct targets_options options;
	struct probes probes;
	struct hash waiting; /* tid -> futex word, as its probe came */
	struct hash seen; /* inc << 32 | tgid: there are probes where its threads wait */
	struct mappings *mappings; /* NULL: they are not needed, or not to be had */
	struct sbt_event *mapped; /* what they said, and has not been acted on */
	uint32_t nmapped, mapped_cap;
	struct hash changes; /* tgid -> how often they said that it mapped code */
	struct hash
		named; /* tgid that is probed where its dynamic linker reports -> probes_loader()'s leader */
	struct hash unnamed; /* tgid of other processes that are traced, by their parents */
	bool watching; /* they are asked for */
	bool missed; /* what some processes mapped was not seen */
	struct hash scanned; /* -a: program -> when it was looked at last */
	struct starting *starting;
	uint32_t nstarting, starting_cap;
	uint32_t child; /* COMMAND before it is executed: our own image */
	uint64_t generation;
	uint64_t closed_ns; /* when files that are not used were closed last */
	struct ranks *ranks;
};

static uint32_t mapped_times(const struct targets *t, uint32_t tgid)
{
	uint64_t n;

	return hash_get(&t->changes, tgid, &n) ? (uint32_t)n : 0;
}

/*
 * Code that a process has mapped. Of those that were named their dynamic linkers report, before any of the code runs; of the others
 * it is known a moment later.
 */
static void on_mapped(void *ctx, const struct mappings_event *m)
{
	struct targets *t = ctx;
	struct sbt_event *all = t->mapped, *e;
	uint32_t cap = t->mapped_cap ? 2 * t->mapped_cap : 64, inc = 0;
	uint64_t named;
	bool traced;

	if (!m->file || hash_get(&t->named, m->tgid, &named))
		return;
	traced = attach_traces(t->attach, m->tgid, &inc);
	if (!traced && (inc || !t->options.discover_all))
		return;
	if (t->nmapped == t->mapped_cap) {
		all = realloc(all, cap * sizeof(*all));
		if (!all)
			return;
		t->mapped = all;
		t->mapped_cap = cap;
	}
	if (traced) {
		hash_put(&t->changes, m->tgid, mapped_times(t, m->tgid) + 1);
		attach_code_changed(t->attach);
	}
	e = &t->mapped[t->nmapped++];
	*e = (struct sbt_event){ .type = SBT_REC_MAP,
				 .t_ns = m->t_ns,
				 .tgid = m->tgid,
				 .tid = m->tid,
				 .inc = inc,
				 .seq = mapped_times(t, m->tgid) };
}

static void read_mappings(struct targets *t)
{
	/* Which those were that there was no room for is not known: all are looked at. */
	if (t->mappings && mappings_read(t->mappings, on_mapped, t))
		t->missed = true;
}

int targets_mapped_fd(const struct targets *t, uint32_t i)
{
	return t->mappings ? mappings_fd(t->mappings, i) : -1;
}

/*
 * What processes map wakes us up, whoever they are: it is asked for only while some of them have no probe of their own. Returns
 * whether it is asked for from now on.
 */
static bool watch_mappings(struct targets *t)
{
	bool wanted = t->options.discover_all || hash_count(&t->unnamed) > 0;

	if (!t->mappings || wanted == t->watching)
		return false;
	t->watching = wanted;
	mappings_enable(t->mappings, wanted);
	return wanted;
}

/* How often the process has changed what it maps: also what nobody has acted on yet. */
static int changes_of(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n)
{
	struct targets *t = ctx;
	int err = attach_mappings(t->attach, tgid, inc, n);

	if (err)
		return err;
	read_mappings(t);
	*n += mapped_times(t, tgid);
	return 0;
}

int targets_new(struct attach *attach, struct modules *modules, struct spaces *spaces,
		const struct targets_options *options, struct targets **out)
{
	struct targets *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->attach = attach;
	t->modules = modules;
	t->spaces = spaces;
	t->options = *options;
	spaces_set_changes(spaces, changes_of, t);
	if (options->children) {
		err = mappings_open(&t->mappings);
		t->options.all_loaders = err != 0;
		if (err)
			remark_warn(
				"all_loaders", 0,
				"which libraries processes open is seen by a probe in the "
				"dynamic linker, which every process of the machine has: programs "
				"that are run by an emulator (valgrind, qemu-user) meanwhile die "
				"of SIGTRAP. What processes map cannot be seen otherwise: %s",
				strerror(-err));
	}
	probes_init(&t->probes, attach, &t->options);
	watch_mappings(t);
	if (ranks_new(&t->ranks)) {
		mappings_free(t->mappings);
		free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void targets_free(struct targets *t)
{
	if (!t)
		return;
	ranks_free(t->ranks);
	probes_free(&t->probes);
	hash_free(&t->waiting);
	hash_free(&t->seen);
	hash_free(&t->changes);
	hash_free(&t->named);
	hash_free(&t->unnamed);
	hash_free(&t->scanned);
	mappings_free(t->mappings);
	free(t->mapped);
	free(t->starting);
	free(t);
}

/* --- what a process runs --------------------------------------------------------------------------- */

static struct module *module_of(struct targets *t, const struct space *space, size_t i)
{
	const struct maps_entry *e = &space->maps.entries[i];

	return e->exec && e->ino ? modules_get(t->modules, (int)space->tgid, e) : NULL;
}

static void refuse(struct targets *t, struct space *space, const char *comm)
{
	attach_flag_process(t->attach, space->tgid, space->inc, SBT_PROC_EXCLUDED, 0);
	space->departures = "none: not traced";
	remark_warn("not_traced", space->tgid,
		    "process %u (%s) is not traced: %s, and no other way is left", space->tgid,
		    comm, space->refusal);
}

/*
 * What is seen where the functions of parallel regions return to: probes_returns(). *runtime: there is what begins regions,
 * which at a program's start is not yet mapped.
 */
static uint32_t see_returns(struct targets *t, int pid, const struct maps *maps, bool *runtime)
{
	uint32_t returns = 0;
	size_t i;

	*runtime = false;
	for (i = 0; i < maps->n; i++) {
		const struct maps_entry *e = &maps->entries[i];
		struct module *m = NULL;

		if (e->exec && e->ino)
			m = modules_get(t->modules, pid, e);
		if (!m || !m->regions)
			continue;
		*runtime = true;
		if (m->returns.n)
			returns |= probes_returns(&t->probes, m, (uint32_t)pid);
	}
	return returns;
}

/* How departures may be seen, once it is known what the process runs. */
static void choose_departures(struct targets *t, struct space *space)
{
	bool runtime = false;
	uint32_t returns;
	char comm[16] = "?";
	int err = 0;
	size_t i;

	if (!space->has_place)
		return;
	returns = attach_only_exits(t->attach) || space->refusal
			  ? see_returns(t, (int)space->tgid, &space->maps, &runtime)
			  : 0;
	for (i = 0; i < space->maps.n && runtime; i++) {
		struct module *m = module_of(t, space, i);

		if (m)
			probes_say_ends(&t->probes, m, returns);
	}
	if (attach_only_exits(t->attach))
		space->departures = "ret instructions";
	else if (!space->refusal)
		space->departures = "return probe";
	if (!space->refusal)
		return;
	proc_comm((int)space->tgid, (int)space->tgid, comm);
	for (i = 0; i < space->maps.n && !err; i++) {
		struct module *m = module_of(t, space, i);

		if (m && m->nplaces)
			err = probes_exits(&t->probes, m, returns);
	}
	if (err) {
		refuse(t, space, comm);
		return;
	}
	/* It was known before, and a library has come. */
	if (space->by_exit)
		return;
	space->by_exit = true;
	space->departures = "ret instructions";
	attach_flag_process(t->attach, space->tgid, space->inc, SBT_PROC_BY_EXIT, 0);
	/* For Go it is worth a sentence: people have been bitten. */
	if (!strncmp(space->refusal, "a Go", 4))
		msg_warn("process %u (%s): %s; departures are seen at the ret instructions",
			 space->tgid, comm, space->refusal);
	else
		msg_verbose(t->options.verbose,
			    "process %u (%s): %s; departures are seen at the ret "
			    "instructions",
			    space->tgid, comm, space->refusal);
}

/* Which rank it is must be asked while it lives. */
static int see_rank(struct targets *t, const struct space *space)
{
	struct ranks_handles handles = { .addresses = false };
	struct job job = { .rank = JOB_NONE, .size = JOB_NONE };
	size_t i;

	for (i = 0; i < space->maps.n; i++) {
		const struct module *m = module_of(t, space, i);

		if (m)
			ranks_find_handles(m, &space->maps.entries[i], &handles);
	}
	job_read((int)space->tgid, &job);
	return ranks_see(t->ranks, space->tgid, space->inc, &job, &handles);
}

/* Is it the module of a mapping before this one, too? */
static bool is_earlier(struct targets *t, struct space *space, size_t n, const struct module *m)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (module_of(t, space, i) == m)
			return true;
	return false;
}

/* Probes where its threads wait for their turn, if its code calls such functions. */
static void examine_turns(struct targets *t, struct space *space)
{
	size_t i;

	if (!t->options.turns || !untraced_has_turns(&space->untraced))
		return;
	for (i = 0; i < space->maps.n; i++) {
		struct module *m = module_of(t, space, i);

		if (!m || !m->turns.nentries)
			continue;
		untraced_join(&space->turns_unseen, &m->turns_unseen);
		if (probes_turns(&t->probes, m, space->tgid, space->inc))
			space->turns = SPACE_TURNS_PARTLY;
		else if (space->turns == SPACE_TURNS_NONE)
			space->turns = space->runs ? SPACE_TURNS_PARTLY : SPACE_TURNS_SEEN;
	}
}

int targets_rest_turns(struct targets *t, uint32_t tgid, uint32_t inc, bool rest)
{
	struct space *space = space_find(t->spaces, tgid, inc);
	int err = space ? 0 : -ENOENT;
	size_t i;

	if (space)
		space->turns = SPACE_TURNS_PARTLY;
	for (i = 0; !err && !rest && i < space->maps.n; i++) {
		struct module *m = module_of(t, space, i);

		if (m && !is_earlier(t, space, i, m))
			err = probes_turns_again(&t->probes, m, tgid, inc);
	}
	return err;
}

/* Reads what the process has mapped and probes what is in it. */
static int examine(struct targets *t, struct space *space)
{
	int err = space_read(t->spaces, space);
	bool mpi = false, tasks = false, named;
	uint64_t leader = 0;
	size_t i;

	if (err)
		return err;
	named = hash_get(&t->named, space->tgid, &leader);
	t->generation++;
	for (i = 0; i < space->maps.n; i++) {
		struct module *m = module_of(t, space, i);

		if (!m)
			continue;
		m->in_target = true;
		mpi |= m->mpi;
		untraced_join(&space->untraced, &m->untraced);
		tasks |= m->traits.executable && m->tasks;
		probes_module(&t->probes, m, space->tgid, space->refusal != NULL);
		if (named)
			probes_loader(&t->probes, m, space->tgid, (uint32_t)leader);
		probes_note_outlined(&t->probes, space, &space->maps.entries[i], m);
		space->stepped |= m->stepped;
	}
	for (i = 0; i < space->maps.n && !space->tasks && (tasks || space->untraced.tasks); i++) {
		struct module *m = module_of(t, space, i);

		if (m && m->tasks)
			probes_tasks(&t->probes, m, space->tgid);
	}
	examine_turns(t, space);
	choose_departures(t, space);
	return mpi ? see_rank(t, space) : 0;
}

/*
 * Probes where the process's threads wait for others. Of processes of one thread, which are most of those that a
 * build or a shell starts, there is nothing to be found.
 */
static void examine_waits(struct targets *t, struct space *space, bool running)
{
	uint64_t key = (uint64_t)space->inc << 32 | space->tgid, seen;
	size_t i;

	if (!t->options.discover)
		return;
	for (i = 0; i < space->maps.n; i++) {
		struct module *m = module_of(t, space, i);

		if (m)
			probes_waits(&t->probes, m, space->tgid, space->inc);
	}
	/* What its threads wait for from now on is seen, if it can be. */
	if (hash_get(&t->seen, key, &seen) || hash_put(&t->seen, key, 1))
		return;
	space->blind = running;
	attach_flag_process(t->attach, space->tgid, space->inc, SBT_PROC_WAITS, 0);
}

int targets_rest(struct targets *t, uint32_t tgid, uint32_t inc, bool rest)
{
	struct space *space = space_find(t->spaces, tgid, inc);
	int err = space ? 0 : -ENOENT;
	size_t i;

	for (i = 0; !err && i < space->maps.n; i++) {
		struct module *m = module_of(t, space, i);

		/* A file has several mappings, and its probes once. */
		if (m && !is_earlier(t, space, i, m))
			err = probes_rest(&t->probes, m, tgid, inc, rest);
	}
	return err;
}

/* --- who is inside already ------------------------------------------------------------------------- */

struct waiting {
	struct targets *t;
	int pid;
};

static void note_thread(void *ctx, int tid)
{
	const struct waiting *w = ctx;
	uint64_t address;

	if (proc_waits_at(w->pid, tid, &address))
		return;
	/*
	 * Data began some moments ago. Who runs, or has come to a barrier since, may have been inside one then and
	 * have left it unseen: to say that it was not would shift all its meetings by one.
	 */
	if (attach_is_inside(w->t->attach, (uint32_t)tid))
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

void targets_note_waiting(struct targets *t, int pid)
{
	if (pid)
		note_process(t, pid);
	else
		proc_each(note_process, t);
}

uint64_t targets_was_waiting(struct targets *t, uint32_t tid)
{
	uint64_t address;

	if (!hash_count(&t->waiting) || !hash_get(&t->waiting, tid, &address))
		return 0;
	hash_del(&t->waiting, tid);
	return address;
}

/* --- who ---------------------------------------------------------------------------------------------- */

/*
 * A program that COMMAND names and that may not be held when it runs: what can be said of it now need not
 * be waited for then.
 */
static void judge_named(struct targets *t, struct maps_entry *e, struct module *m)
{
	struct maps alone = { .entries = e, .n = 1 };
	struct space_facts facts = spaces_judge(t->spaces, getpid(), &alone, false);
	uint32_t flags = 0;

	if (!facts.decided)
		return;
	/* Its runtime is examined when it runs; what regions do cannot be seen before. */
	if (facts.refusal)
		flags = probes_exits(&t->probes, m, m->regions ? 0 : UINT32_MAX) ? SBT_PROC_EXCLUDED
										 : SBT_PROC_BY_EXIT;
	attach_know_program(t->attach, e->dev, e->ino, flags, false);
}

/* Examines all that is mapped here now. @named: programs among it will be run by who is traced. */
static int examine_own(struct targets *t, bool named)
{
	struct maps maps;
	size_t i;
	int err;

	err = maps_read(getpid(), &maps);
	if (err)
		return err;
	for (i = 0; i < maps.n; i++) {
		struct module *m = NULL;

		if (maps.entries[i].exec && maps.entries[i].ino)
			m = modules_get(t->modules, getpid(), &maps.entries[i]);
		if (!m)
			continue;
		probes_module(&t->probes, m, 0, false);
		if (m->traits.executable && named)
			judge_named(t, &maps.entries[i], m);
	}
	maps_free(&maps);
	return 0;
}

int targets_add_own(struct targets *t, char *const command[])
{
	struct mapped mapped = { .n = 0 };
	int err;

	if (t->options.by_process)
		return 0;
	mapped_common(&mapped);
	if (command && (getenv("OMPI_COMM_WORLD_RANK") || getenv("PMI_RANK")))
		mapped_mpi(&mapped);
	mapped_words(&mapped, t->modules, command);
	err = examine_own(t, command != NULL);
	mapped_free(&mapped);
	return err;
}

int targets_add_words(struct targets *t, int pid)
{
	struct mapped mapped = { .n = 0 };
	char *words[WORDS_MAX + 1];
	int n, err = 0;

	if (t->options.by_process)
		return 0;
	n = proc_words(pid, words, WORDS_MAX);
	if (n < 0)
		return n;
	/* What it runs already has been examined. */
	mapped_words(&mapped, t->modules, n ? words + 1 : words);
	if (mapped.n)
		err = examine_own(t, true);
	mapped_free(&mapped);
	if (n)
		free(words[0]);
	return err;
}

/* The process is one of those whose dynamic linkers report before what they mapped runs. */
static int name_process(struct targets *t, int pid)
{
	int err;

	if (!t->mappings || hash_count(&t->named) < NAMED_MAX)
		return hash_put(&t->named, (uint64_t)pid, 0);
	err = hash_put(&t->unnamed, (uint64_t)pid, 1);
	watch_mappings(t);
	return err;
}

/* A process that will execute a program, by the dynamic linker that we have ourselves, as nearly all have. */
static int name_coming(struct targets *t, int pid)
{
	struct maps maps;
	int err = name_process(t, pid);
	uint64_t value;
	size_t i;

	if (err || !hash_get(&t->named, (uint64_t)pid, &value))
		return err;
	err = maps_read(getpid(), &maps);
	if (err)
		return err;
	for (i = 0; i < maps.n; i++) {
		struct module *m = NULL;

		if (maps.entries[i].exec && maps.entries[i].ino)
			m = modules_get(t->modules, getpid(), &maps.entries[i]);
		if (m)
			probes_loader(&t->probes, m, (uint32_t)pid, 0);
	}
	maps_free(&maps);
	return 0;
}

int targets_add_pid(struct targets *t, int pid)
{
	struct space *space = space_get(t->spaces, (uint32_t)pid, INC_FOUND);
	int err;

	if (!space)
		return -ENOMEM;
	err = name_process(t, pid);
	if (!err)
		err = attach_add_process(t->attach, (uint32_t)pid, INC_FOUND, 0);
	if (!err)
		err = attach_teams_unknown(t->attach, (uint32_t)pid);
	if (!err)
		err = examine(t, space);
	if (err)
		return err;
	/* What it may load later must be told from what it may become. */
	proc_image(pid, &space->program.image);
	examine_waits(t, space, false);
	return 0;
}

int targets_add_child(struct targets *t, int pid)
{
	/* Its own mappings are ours, and mean nothing: it is about to execute something else. */
	int err = name_coming(t, pid);

	t->child = (uint32_t)pid;
	return err ? err : attach_add_process(t->attach, (uint32_t)pid, INC_FOUND, 0);
}

int targets_add_other(struct targets *t, int pid)
{
	int err = name_coming(t, pid);

	return err ? err : attach_add_process(t->attach, (uint32_t)pid, INC_FOUND, 0);
}

/* Tells the kernel side what is to be known of the program that a process runs. */
static void know_program(struct targets *t, uint32_t tgid, const struct maps *maps, uint32_t flags,
			 bool settled)
{
	char path[32];
	struct stat st;
	size_t i;

	snprintf(path, sizeof(path), "/proc/%u/exe", tgid);
	if (stat(path, &st))
		return;
	for (i = 0; i < maps->n; i++) {
		const struct maps_entry *e = &maps->entries[i];

		if (e->exec && e->ino == st.st_ino) {
			attach_know_program(t->attach, e->dev, e->ino, flags, settled);
			return;
		}
	}
}

/* -a: the exits of what this process runs, if return probes could hurt it. Returns the verdict's flags. */
static uint32_t scan_departures(struct targets *t, int pid, const struct maps *maps,
				const char *refusal)
{
	uint32_t returns;
	bool runtime;
	size_t i;

	if (!refusal)
		return 0;
	returns = see_returns(t, pid, maps, &runtime);
	for (i = 0; i < maps->n; i++) {
		struct module *m = NULL;

		if (maps->entries[i].exec && maps->entries[i].ino)
			m = modules_get(t->modules, pid, &maps->entries[i]);
		if (m && m->nplaces && probes_exits(&t->probes, m, returns))
			return SBT_PROC_EXCLUDED;
	}
	return SBT_PROC_BY_EXIT;
}

/* Returns whether the dynamic linker was still at it. *settled: all that the program was linked with is there. */
static bool scan_once(struct targets *t, int pid, bool *settled)
{
	bool fresh = false, partial = linker_busy(pid) == 1;
	struct space_facts facts;
	struct maps maps;
	size_t i;

	*settled = false;
	if (maps_read(pid, &maps))
		return false;
	for (i = 0; i < maps.n; i++) {
		struct module *m = NULL;

		if (maps.entries[i].exec && maps.entries[i].ino)
			m = modules_get(t->modules, pid, &maps.entries[i]);
		if (!m)
			continue;
		m->in_target = true;
		fresh |= m->nplaces && !m->attached;
		probes_module(&t->probes, m, 0, false);
		probes_waits(&t->probes, m, 0, 0);
	}
	facts = spaces_judge(t->spaces, pid, &maps, partial);
	/* A probe came to a process that runs: who is inside a barrier of it already? */
	if (fresh)
		targets_note_waiting(t, pid);
	if (facts.decided)
		know_program(t, (uint32_t)pid, &maps, scan_departures(t, pid, &maps, facts.refusal),
			     facts.settled);
	*settled = facts.settled;
	maps_free(&maps);
	return partial;
}

/*
 * A dynamic linker that was never seen before has its probe only now, and may have passed it: then nothing would tell that
 * it is done. If it is not, the probe will.
 */
static bool linker_done_meanwhile(bool partial, int pid)
{
	return partial && linker_busy(pid) == 0;
}

/* --- while the dynamic linker is at work ------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* @changed: to be looked at as soon as what is known of other processes has been read. Without memory: at once. */
static int starting_add(struct targets *t, uint32_t tgid, uint32_t inc, bool changed)
{
	uint64_t now = now_ns();
	struct starting *s;
	uint32_t i, cap;

	for (i = 0; i < t->nstarting; i++) {
		s = &t->starting[i];
		if (s->tgid == tgid && s->inc == inc) {
			s->changed |= changed;
			if (changed)
				s->due_ns = now;
			return 0;
		}
	}
	if (t->nstarting == t->starting_cap) {
		cap = t->starting_cap ? 2 * t->starting_cap : 16;
		s = realloc(t->starting, cap * sizeof(*s));
		if (!s)
			return -ENOMEM;
		t->starting = s;
		t->starting_cap = cap;
	}
	t->starting[t->nstarting++] =
		(struct starting){ .tgid = tgid,
				   .inc = inc,
				   .changed = changed,
				   .since_ns = now,
				   .due_ns = changed ? now : now + LINKER_NS };
	return 0;
}

/* What a process had mapped up to now has been looked at. */
static void starting_done(struct targets *t, uint32_t tgid, uint32_t inc)
{
	uint32_t i;

	for (i = 0; i < t->nstarting; i++)
		if (t->starting[i].tgid == tgid && t->starting[i].inc == inc)
			t->starting[i].changed = false;
}

static void scan_one(void *ctx, int pid)
{
	struct targets *t = ctx;
	bool partial, settled;

	if (pid == getpid())
		return;
	partial = scan_once(t, pid, &settled);
	if (linker_done_meanwhile(partial, pid))
		scan_once(t, pid, &settled);
	else if (partial && t->mappings)
		starting_add(t, (uint32_t)pid, 0, false);
}

int targets_scan_all(struct targets *t)
{
	int n = proc_each(scan_one, t);

	return n < 0 ? n : 0;
}

/* --- events -------------------------------------------------------------------------------------------- */

static struct space_program program_of(const struct sbt_event *event)
{
	return (struct space_program){
		.dev = event->family,
		.ino = event->caller,
		.image = { .code = event->address,
			   .code_end = event->code_end,
			   .stack = event->stack },
	};
}

/* That a process runs a program: as the kernel saw it then, whatever has become of it since. */
static int examine_program(struct targets *t, struct space *space, const struct sbt_event *event)
{
	int err;

	space->program = program_of(event);
	err = examine(t, space);
	if (err)
		space_assume(t->spaces, space);
	return err;
}

/* Its crossings count from now on: nothing that is still to be mapped changes how its departures may be seen. */
static void settle(struct targets *t, struct space *space)
{
	know_program(t, space->tgid, &space->maps, space->by_exit ? SBT_PROC_BY_EXIT : 0,
		     space->settled);
	attach_flag_process(t->attach, space->tgid, space->inc, 0, SBT_PROC_FRESH);
}

/* -a: a program that many processes run is looked at once in a while. Returns whether its dynamic linker is at work. */
static bool scan_again(struct targets *t, int pid)
{
	uint64_t program = 0, at;
	char path[32];
	struct stat st;
	bool partial, settled;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (!stat(path, &st))
		program = hash_mix(st.st_dev) ^ hash_mix(st.st_ino);
	if (program && hash_get(&t->scanned, program, &at) && now_ns() - at < RECENT_NS)
		return false;
	partial = scan_once(t, pid, &settled);
	if (program && settled)
		hash_put(&t->scanned, program, now_ns());
	return partial;
}

/*
 * Looks at a process whose dynamic linker is at work, or that has mapped code before its beginning was reported. Returns whether that
 * is to be repeated.
 */
static bool starting_look(struct targets *t, struct starting *s)
{
	bool busy = linker_busy((int)s->tgid) == 1;
	struct space *space;

	if (busy && !s->changed)
		return true;
	if (!s->inc) {
		s->changed = false;
		return scan_again(t, (int)s->tgid);
	}
	space = space_find(t->spaces, s->tgid, s->inc);
	if (!space || !space->read)
		return now_ns() - s->since_ns < UNREPORTED_NS;
	space->runs = true;
	/* What was read with the last event is older than the linker's end. */
	if ((space->settled && !s->changed) || space_look(t->spaces, space) || examine(t, space))
		return false;
	s->changed = false;
	if (space->settled)
		settle(t, space);
	return !space->settled && space->partial;
}

void targets_settle(struct targets *t)
{
	uint64_t now = now_ns(), after;
	struct starting s;
	uint32_t i;

	/* Others may be added meanwhile, and what is there may move. */
	for (i = t->nstarting; i-- > 0;) {
		if (t->starting[i].due_ns > now)
			continue;
		s = t->starting[i];
		if (!starting_look(t, &s)) {
			t->starting[i] = t->starting[--t->nstarting];
			continue;
		}
		after = (now - s.since_ns) / LINKER_PART;
		s.due_ns = now + (after > LINKER_NS ? after : LINKER_NS);
		t->starting[i] = s;
	}
}

static void look_again(void *ctx, uint32_t tgid)
{
	struct targets *t = ctx;
	uint32_t inc;

	if (attach_traces(t->attach, tgid, &inc))
		starting_add(t, tgid, inc, true);
}

void targets_mapped(struct targets *t, void (*each)(void *ctx, const struct sbt_event *event),
		    void *ctx)
{
	const struct space *space;
	struct sbt_event e;
	uint32_t i;

	read_mappings(t);
	/* More may come meanwhile. */
	for (i = 0; i < t->nmapped; i++) {
		e = t->mapped[i];
		space = e.inc ? space_find(t->spaces, e.tgid, e.inc) : NULL;
		if (e.inc && (!space || !space->read))
			starting_add(t, e.tgid, e.inc, true);
		else
			each(ctx, &e);
	}
	t->nmapped = 0;
	if (!t->missed)
		return;
	t->missed = false;
	attach_each_process(t->attach, look_again, t);
	if (t->options.discover_all)
		targets_scan_all(t);
}

uint64_t targets_due(const struct targets *t)
{
	uint64_t due = 0;
	uint32_t i;

	for (i = 0; i < t->nstarting; i++)
		if (!due || t->starting[i].due_ns < due)
			due = t->starting[i].due_ns;
	return due;
}

/*
 * What a process that executes a program is still to map decides how its departures may be seen: until that is there and has been
 * looked at its crossings are lost. Its dynamic linker tells of it the sooner (or holds it, if it was held).
 */
static int name_undecided(struct targets *t, struct space *space)
{
	uint64_t value;
	int err;

	if (!t->mappings || space->settled || space->decided ||
	    hash_get(&t->named, space->tgid, &value) || hash_count(&t->named) >= NAMED_MAX)
		return 0;
	err = hash_put(&t->named, space->tgid, 0);
	if (err)
		return err;
	hash_del(&t->unnamed, space->tgid);
	watch_mappings(t);
	return examine(t, space);
}

static void on_changed(struct targets *t, const struct sbt_event *event)
{
	bool held = event->flags & SBT_EVENT_HELD;
	struct space *space;
	uint64_t leader;
	int err;

	if (event->tgid == t->child && event->inc == INC_FOUND)
		return;
	if (!event->inc) {
		/* -a: nobody traced yet, but it runs what nobody knows. */
		if (!t->mappings || starting_add(t, event->tgid, 0, true))
			scan_one(t, (int)event->tgid);
		return;
	}
	space = space_get(t->spaces, event->tgid, event->inc);
	if (space)
		space->runs = !held;
	/* The linker maps one library after the other: they are looked at together. */
	if (space && event->type == SBT_REC_MAP && space->read && !space->settled && !held &&
	    t->mappings && !starting_add(t, event->tgid, event->inc, true)) {
		space->changes = event->seq;
		return;
	}
	if (!space) {
		err = -ENOMEM;
	} else if (event->type == SBT_REC_EXEC) {
		space->young = true;
		/* Executed by another thread, which is the first now. */
		if (event->tid != event->tgid && hash_get(&t->named, event->tgid, &leader))
			hash_put(&t->named, event->tgid, leader + 1);
		err = examine_program(t, space, event);
		if (!err)
			err = name_undecided(t, space);
	} else {
		space->changes = event->seq;
		t->generation++;
		err = examine(t, space);
	}
	if (!err && linker_done_meanwhile(space->partial, (int)event->tgid))
		err = examine(t, space);
	/* A process that is held is to be held again. */
	if (!err && (space->settled || (space->decided && !held)))
		settle(t, space);
	if (!err && event->type == SBT_REC_EXEC)
		starting_done(t, event->tgid, event->inc);
	if (!err && !space->settled && !held && t->mappings)
		starting_add(t, event->tgid, event->inc, false);
	/* While it is held nothing is missed. */
	if (space && held)
		examine_waits(t, space, false);
	if (held)
		kill((pid_t)event->tgid, SIGCONT);
}

static void on_fork(struct targets *t, const struct sbt_event *event)
{
	const struct space *parent = space_find(t->spaces, event->parent_tgid, event->parent_inc);
	struct space *child = space_get(t->spaces, event->tgid, event->inc);

	if (parent && child)
		space_inherit(child, parent);
	if (child) {
		child->young = true;
		child->parent_tgid = event->parent_tgid;
		child->parent_inc = event->parent_inc;
	}
	t->generation++;
	hash_put(&t->unnamed, event->tgid, 1);
	/* What it has mapped before the mappings were looked at. */
	if (watch_mappings(t))
		starting_add(t, event->tgid, event->inc, true);
	/* The parent may have been let go between the fork and now: the child's copy of the mark stays. */
	if (parent && parent->settled)
		attach_flag_process(t->attach, event->tgid, event->inc, 0, SBT_PROC_FRESH);
}

/* What of the process is mapped at @addr, and *offset: where that is in its file; or NULL. */
static const struct maps_entry *mapped_at(const struct space *space, uint64_t addr,
					  uint64_t *offset)
{
	size_t i;

	for (i = 0; i < space->maps.n; i++) {
		const struct maps_entry *e = &space->maps.entries[i];

		if (addr >= e->start && addr < e->end) {
			*offset = addr - e->start + e->offset;
			return e;
		}
	}
	return NULL;
}

/*
 * A region runs a function that has no name. All of its like are looked for at once, for most processes can only be
 * held before their first region: then they have one thread.
 */
static int find_outlined(struct targets *t, struct space *space, const struct sbt_event *event)
{
	const struct maps_entry *e, *from;
	uint64_t offset = 0, caller = 0;
	struct module *m;
	uint32_t returns = 0, i;
	bool runtime;
	int err;

	e = mapped_at(space, event->address, &offset);
	m = e && e->exec ? modules_get(t->modules, (int)space->tgid, e) : NULL;
	if (!m)
		return -ENOENT;
	from = mapped_at(space, event->caller, &caller);
	if (!from || from->ino != e->ino || from->dev != e->dev)
		caller = 0;
	err = probes_find_outlined(&t->probes, m, space, (uint8_t)event->family, offset, caller);
	if (err)
		return err;
	if (space->by_exit || attach_only_exits(t->attach)) {
		returns = see_returns(t, (int)space->tgid, &space->maps, &runtime);
		probes_say_ends(&t->probes, m, returns);
	}
	if (space->by_exit)
		err = probes_exits(&t->probes, m, returns);
	if (err)
		return err;
	for (i = 0; i < space->maps.n; i++)
		if (module_of(t, space, i) == m)
			probes_note_outlined(&t->probes, space, &space->maps.entries[i], m);
	return 0;
}

static void on_outlined(struct targets *t, const struct sbt_event *event)
{
	struct space *space = space_get(t->spaces, event->tgid, event->inc);
	int err = -ENOMEM;

	if (space && !space->read)
		examine(t, space);
	if (space)
		err = find_outlined(t, space, event);
	if (err) {
		attach_outlined(t->attach, event->tgid, event->address, false);
		remark_warn(
			"not_probed", event->tgid,
			"process %u: the end of parallel regions that run the code at 0x%llx is "
			"not "
			"seen: where that function begins and ends is not known",
			event->tgid, (unsigned long long)event->address);
	} else if (!(event->flags & SBT_EVENT_HELD))
		remark_warn("not_probed", event->tgid,
			    "process %u: of parallel regions that run the code at 0x%llx the first "
			    "ones are "
			    "not seen whole: it was not held for the probe",
			    event->tgid, (unsigned long long)event->address);
	if (event->flags & SBT_EVENT_HELD)
		kill((pid_t)event->tgid, SIGCONT);
}

/* A probe has told that the process has tasks. */
static void on_tasks(struct targets *t, const struct sbt_event *event)
{
	struct space *space = space_find(t->spaces, event->tgid, event->inc);
	const struct maps_entry *e;
	struct module *m = NULL;
	uint64_t offset = 0;
	bool unseen = false;

	if (!space)
		return;
	space->tasks = true;
	e = mapped_at(space, event->address, &offset);
	if (e && e->exec)
		m = modules_get(t->modules, (int)space->tgid, e);
	if (m && !probes_remove(&t->probes, m, space->tgid, offset, &unseen) && unseen)
		spaces_tasks_unseen(t->spaces);
}

void targets_look(struct targets *t, const struct sbt_event *event)
{
	struct space *space = space_find(t->spaces, event->tgid, event->inc);

	if (space && !(event->tgid == t->child && event->inc == INC_FOUND))
		space_look(t->spaces, space);
}

void targets_event(struct targets *t, const struct sbt_event *event)
{
	struct space *space;

	switch (event->type) {
	case SBT_REC_FORK:
		on_fork(t, event);
		break;
	case SBT_REC_SEEN:
		space = space_get(t->spaces, event->tgid, event->inc);
		if (!space || space->read)
			break;
		space->runs = true;
		examine_program(t, space, event);
		break;
	case SBT_REC_UNPROBED: /* of one thread it may be, if it shares memory with others */
	case SBT_REC_THREAD:
		space = t->options.discover ? space_find(t->spaces, event->tgid, event->inc) : NULL;
		if (space)
			examine_waits(t, space, true);
		break;
	case SBT_REC_EXEC:
	case SBT_REC_MAP:
		on_changed(t, event);
		break;
	case SBT_REC_EXIT:
		/* The number may be another process's soon. */
		if (event->flags & SBT_EVENT_LEADER && event->flags & SBT_EVENT_TRAPPED)
			remark_warn(
				"trapped", event->tgid,
				"process %u (%.16s) died of SIGTRAP: likely it ran a copy of code "
				"that holds a probe, as a program does that replaces its own text, "
				"or an emulator. It cannot be traced",
				event->tgid, event->comm);
		if (event->flags & SBT_EVENT_LEADER) {
			hash_del(&t->changes, event->tgid);
			hash_del(&t->named, event->tgid);
			hash_del(&t->unnamed, event->tgid);
			watch_mappings(t);
		}
		break;
	case SBT_REC_OUTLINED:
		on_outlined(t, event);
		break;
	case SBT_REC_TASKS:
		on_tasks(t, event);
		break;
	default:
		break;
	}
}

static bool settle_module(void *ctx, struct module *m)
{
	struct targets *t = ctx;

	return spaces_settle_module(t->spaces, m);
}

/* --- probes that no process needs any more ------------------------------------------------------------- */

struct unused {
	struct targets *t;
	struct module *modules
		[UNUSED_MAX]; /* that have probes, and no process that is known to map them */
	bool mapped[UNUSED_MAX]; /* a process was found that does */
	uint32_t n, nmapped;
	dev_t root;
};

static bool maps_module(const struct maps *maps, const struct module *m)
{
	size_t i;

	for (i = 0; i < maps->n; i++)
		if (maps->entries[i].exec && maps->entries[i].ino == m->ino &&
		    maps->entries[i].dev == m->dev)
			return true;
	return false;
}

static void find_mapped(void *ctx, int pid)
{
	struct unused *u = ctx;
	struct maps maps;
	uint32_t i;

	if (u->nmapped == u->n || maps_read(pid, &maps))
		return;
	for (i = 0; i < u->n; i++) {
		if (u->mapped[i] || !maps_module(&maps, u->modules[i]))
			continue;
		u->mapped[i] = true;
		u->modules[i]->pid = pid;
		u->nmapped++;
	}
	maps_free(&maps);
}

/* Does the process that mapped it last still do so? */
static bool is_still_mapped(const struct module *m)
{
	struct maps maps;
	bool mapped;

	if (m->pid <= 0 || maps_read(m->pid, &maps))
		return false;
	mapped = maps_module(&maps, m);
	maps_free(&maps);
	return mapped;
}

/* Libraries of the machine keep their probes: there are few, and a process that starts needs them at once. */
static bool is_kept(const struct unused *u, const struct module *m)
{
	struct stat st;

	return m->identity.st_dev == u->root && !stat(m->path, &st) &&
	       st.st_ino == m->identity.st_ino;
}

static void find_unused(void *ctx, struct module *m)
{
	struct unused *u = ctx;

	if (m->linked && m->identified && !m->used && u->n < UNUSED_MAX && !is_kept(u, m) &&
	    !is_still_mapped(m))
		u->modules[u->n++] = m;
}

/* -a: the probes of programs that have ended would hold their file systems, and pile up. */
static void remove_unused(struct targets *t)
{
	struct unused u = { .t = t };
	struct stat root;
	uint32_t i;

	u.root = stat("/", &root) ? 0 : root.st_dev;
	modules_each(t->modules, find_unused, &u);
	if (u.n)
		proc_each(find_mapped, &u);
	for (i = 0; i < u.n; i++) {
		if (u.mapped[i])
			continue;
		probes_remove_file(&t->probes, u.modules[i]);
		msg_verbose(t->options.verbose, "probes of %s removed: no process runs it",
			    u.modules[i]->path);
	}
}

void targets_forget(struct targets *t, uint32_t tgid, uint32_t inc)
{
	spaces_forget(t->spaces, tgid, inc);
	ranks_forget(t->ranks, tgid, inc);
	hash_del(&t->seen, (uint64_t)inc << 32 | tgid);
	/* Who remembers where its calls are asks anew. */
	t->generation++;
}

void targets_step(struct targets *t, uint64_t now)
{
	/* Processes that are there as tracing begins are about to be seen: their files stay open until then. */
	if (!t->closed_ns)
		t->closed_ns = now;
	if (now - t->closed_ns < CLOSE_NS)
		return;
	t->closed_ns = now;
	spaces_mark_used(t->spaces);
	if (t->options.discover_all)
		remove_unused(t);
	modules_close_unused(t->modules, settle_module, t);
}

struct ranks *targets_ranks(const struct targets *t)
{
	return t->ranks;
}

uint64_t targets_generation(const struct targets *t)
{
	return t->generation;
}

bool targets_have_places(const struct targets *t)
{
	return t->probes.places > 0;
}

uint32_t targets_probed(const struct targets *t, uint32_t rule)
{
	return rule <= RULES_MAX ? t->probes.by_rule[rule] : 0;
}

bool targets_stepped(const struct targets *t)
{
	return t->probes.stepped;
}

/* --- when nothing was found ---------------------------------------------------------------------------- */

struct explain {
	int shown;
	int unread;
	int hidden;
};

static void explain_module(void *ctx, struct module *m)
{
	char names[FAMILY_NAMES];
	struct explain *e = ctx;

	if (!m->in_target)
		return;
	if (m->left_out)
		remark_note(REMARK_ERROR, "looked_at", 0,
			    "%s: has those of %s, which --aggregate leaves out", m->path,
			    family_list(m->left_out, names, sizeof(names)));
	if (m->error && m->error != -ENOEXEC) {
		e->unread++;
		remark_note(REMARK_ERROR, "looked_at", 0, "%s: not read: %s", m->path,
			    strerror(-m->error));
	} else if (m->nplaces) {
		remark_note(REMARK_ERROR, "looked_at", 0, "%s: has %u of them, %s", m->path,
			    m->nplaces, m->probed ? "probed; no threads met there" : "not probed");
	} else if (m->elf && m->traits.executable && !m->traits.dynamic && m->traits.stripped) {
		e->hidden++;
		remark_note(
			REMARK_ERROR, "looked_at", 0,
			"%s: static and stripped: functions in it have no names to be found by, "
			"and none was recognised by its code",
			m->path);
	} else if (m->tbb) {
		remark_note(REMARK_ERROR, "looked_at", 0,
			    "%s: oneTBB's tasks are waited for by one thread, and those who work "
			    "on them "
			    "pass no function of their own: not seen",
			    m->path);
	} else if (m->elf && !m->left_out && e->shown++ < 12) {
		remark_note(REMARK_ERROR, "looked_at", 0, "%s: has none", m->path);
	}
}

static void tell_inlined(void *ctx, struct module *m)
{
	(void)ctx;
	if (m->in_target && m->inlined_waits)
		remark_note(
			REMARK_HINT, "inlined", 0,
			"%s uses std::barrier, std::latch, std::atomic::wait() or a C++20 "
			"semaphore in line, where sbt-trace does not know the code: barriers of "
			"this kind may be missing. With --discover they are found where all "
			"waiting threads sleep; or name a function around the barrier with -b",
			m->path);
	if (m->in_target && m->scopes && !m->joins.nentries)
		remark_note(REMARK_HINT, "inlined", 0,
			    "%s uses Rust's std::thread::scope(), whose wait for its threads is in "
			    "line "
			    "or has no name: rounds of these threads are not seen",
			    m->path);
}

void targets_tell_inlined(const struct targets *t)
{
	modules_each(t->modules, tell_inlined, NULL);
}

void targets_explain(const struct targets *t, bool aggregate)
{
	struct explain e = { 0 };

	remark_note(REMARK_ERROR, "nothing_crossed", 0,
		    "no barrier was crossed. Looked for %s (sbt-trace list FILE names %s) in:",
		    aggregate ? "pthread_barrier_wait alone, as --aggregate does"
			      : "functions of pthread, OpenMP, MPI and others",
		    aggregate ? "others that are there" : "them");
	modules_each(t->modules, explain_module, &e);
	if (e.shown > 12)
		remark_note(REMARK_ERROR, "looked_at", 0, "and %d more files that have none",
			    e.shown - 12);
}
