// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/msg.h"
#include "target/proc.h"

/* The incarnation of a process that was there before us: anything but what BPF makes. */
#define INC_FOUND 2u

#define MAPPED_MAX 64

struct targets {
	struct attach *attach;
	struct modules *modules;
	struct spaces *spaces;
	struct targets_options options;
	struct hash by_process; /* (module, tgid) that has its probes, with by_process */
	struct hash waiting; /* tid -> futex word, as its probe came */
	uint32_t child; /* COMMAND before it is executed: our own image */
	uint64_t generation;
	uint32_t places;
	bool stepped;
	bool reread; /* counts of barriers cannot be kept */
};

int targets_new(struct attach *attach, struct modules *modules, struct spaces *spaces,
		const struct targets_options *options, struct targets **out)
{
	struct targets *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->attach = attach;
	t->modules = modules;
	t->spaces = spaces;
	t->options = *options;
	*out = t;
	return 0;
}

void targets_free(struct targets *t)
{
	if (!t)
		return;
	hash_free(&t->by_process);
	hash_free(&t->waiting);
	free(t);
}

/* --- probes --------------------------------------------------------------------------------------- */

/* Has this module its probes, as far as the process @tgid is concerned? Notes that it has. */
static bool already(struct targets *t, struct module *m, uint32_t tgid)
{
	uint64_t key, value;
	bool before;

	if (!t->options.by_process) {
		before = m->attached;
		m->attached = true;
		return before;
	}
	key = hash_mix((uint64_t)(uintptr_t)m) ^ tgid;
	if (hash_get(&t->by_process, key, &value))
		return true;
	m->attached = true;
	return hash_put(&t->by_process, key, 1) != 0;
}

static void fill_place(const struct module *m, const struct module_place *from,
		       struct attach_place *place)
{
	place->fd = m->fd;
	place->entry = from->offset;
	place->exits = from->exits;
	place->nexits = from->nexits;
}

static void attach_module(struct targets *t, struct module *m, uint32_t tgid, bool by_exit)
{
	int pid = t->options.by_process ? (int)tgid : 0, err;
	struct attach_place place;
	uint32_t i;

	if ((!m->nplaces && !m->loader) || already(t, m, tgid))
		return;
	for (i = 0; i < m->nplaces; i++) {
		const struct module_place *from = &m->places[i];

		if (from->error) {
			msg_warn("%s in %s cannot be probed: %s", from->symbol, m->path,
				 from->entry.why);
			continue;
		}
		fill_place(m, from, &place);
		err = attach_place(t->attach, &place, pid,
				   by_exit && t->options.by_process && from->nexits);
		if (err) {
			msg_warn("%s in %s could not be probed: %s", from->symbol, m->path,
				 strerror(-err));
			continue;
		}
		t->places++;
		t->stepped |= from->entry.insn.class != INSN_EMULATED;
		msg_verbose(t->options.verbose, "probe: %s in %s at 0x%llx, %s: %s", from->symbol,
			    m->path, (unsigned long long)from->offset,
			    attach_method_name(attach_method(t->attach)), from->entry.why);
	}
	err = m->nplaces && !m->nmakers ? -ENOENT : 0;
	for (i = 0; i < m->nmakers && !err; i++)
		err = attach_made(t->attach, m->fd, m->makers[i], pid);
	if (err) {
		/* Not all makings are seen: every barrier's count is read anew each time. */
		attach_keep_words(t->attach, false);
		t->reread = true;
	} else if (m->nplaces && !t->reread) {
		attach_keep_words(t->attach, true);
	}
	if (m->loader) {
		err = attach_loader(t->attach, m->fd, m->loader, pid);
		if (err)
			msg_warn("libraries opened later by programs that use %s will not be "
				 "noticed: %s",
				 m->path, strerror(-err));
	}
}

/*
 * Departures of this process cannot be seen through return probes. Its exits get probes; they
 * stay for all who run the file, since children of the process need them too.
 */
static int use_exits(struct targets *t, struct module *m)
{
	struct attach_place place;
	uint32_t i;
	int err;

	for (i = 0; i < m->nplaces; i++) {
		const struct module_place *from = &m->places[i];

		if (from->error)
			continue;
		if (!from->nexits) {
			msg_warn("%s in %s: its exits cannot be known (%s)", from->symbol, m->path,
				 from->exits_why);
			return -ENOTSUP;
		}
		if (t->options.by_process || attach_only_exits(t->attach) || m->exits_attached)
			continue;
		fill_place(m, from, &place);
		err = attach_exits(t->attach, &place, 0);
		if (err) {
			msg_warn("the exits of %s in %s could not be probed: %s", from->symbol,
				 m->path, strerror(-err));
			return err;
		}
	}
	m->exits_attached = true;
	return 0;
}

static struct module *module_of(struct targets *t, const struct space *space, size_t i)
{
	const struct maps_entry *e = &space->maps.entries[i];

	return e->exec && e->ino ? modules_get(t->modules, (int)space->tgid, e) : NULL;
}

static void refuse(struct targets *t, struct space *space, const char *comm)
{
	attach_flag_process(t->attach, space->tgid, space->inc, SBT_PROC_EXCLUDED, 0);
	space->departures = "none: not traced";
	msg_warn("process %u (%s) is not traced: %s, and no other way is left", space->tgid, comm,
		 space->refusal);
}

/* How departures may be seen, once it is known what the process runs. */
static void choose_departures(struct targets *t, struct space *space)
{
	char comm[16] = "?";
	int err = 0;
	size_t i;

	if (!space->has_place)
		return;
	if (attach_only_exits(t->attach))
		space->departures = "ret instructions";
	else if (!space->refusal)
		space->departures = "return probe";
	if (!space->refusal || space->by_exit)
		return;
	proc_comm((int)space->tgid, (int)space->tgid, comm);
	for (i = 0; i < space->maps.n && !err; i++) {
		struct module *m = module_of(t, space, i);

		if (m && m->nplaces)
			err = use_exits(t, m);
	}
	if (err) {
		refuse(t, space, comm);
		return;
	}
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

/* Reads what the process has mapped and probes what is in it. */
static int examine(struct targets *t, struct space *space)
{
	int err = space_read(t->spaces, space);
	size_t i;

	if (err)
		return err;
	t->generation++;
	for (i = 0; i < space->maps.n; i++) {
		struct module *m = module_of(t, space, i);

		if (!m)
			continue;
		m->in_target = true;
		attach_module(t, m, space->tgid, space->refusal != NULL);
	}
	choose_departures(t, space);
	return 0;
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

	if (proc_waits_at(w->pid, tid, &address) || !address ||
	    attach_is_inside(w->t->attach, (uint32_t)tid))
		return;
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

/* Files mapped for a moment, so that they have the numbers that /proc/PID/maps will show for them. */
struct mapped {
	void *at[MAPPED_MAX];
	size_t n;
};

static void map_file(struct mapped *mapped, const char *path)
{
	struct stat st;
	void *p;
	int fd;

	if (mapped->n == MAPPED_MAX)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_mode & 0111)) {
		p = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE,
			 fd, 0);
		if (p != MAP_FAILED)
			mapped->at[mapped->n++] = p;
	}
	close(fd);
}

/* C libraries that programs started later may use, though nobody runs one now. */
static void map_common(struct mapped *mapped)
{
	static const char *const paths[] = { "/lib/ld-musl-x86_64.so.1",
					     "/lib/ld-musl-aarch64.so.1",
					     "/lib/x86_64-linux-gnu/libpthread.so.0",
					     "/lib/aarch64-linux-gnu/libpthread.so.0",
					     "/lib64/libpthread.so.0",
					     "/lib64/libc.so.6",
					     "/lib/x86_64-linux-gnu/libc.so.6",
					     "/lib/aarch64-linux-gnu/libc.so.6" };
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		map_file(mapped, paths[i]);
}

static void map_named(struct mapped *mapped, const char *word)
{
	const char *path = getenv("PATH"), *end;
	char file[PATH_MAX];

	if (strchr(word, '/')) {
		map_file(mapped, word);
		return;
	}
	for (; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		if ((size_t)snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path, word) <
		    sizeof(file))
			map_file(mapped, file);
	}
}

/* Each word, and each word within one: a shell's script is one argument. */
static void map_words(struct mapped *mapped, char *const command[])
{
	for (; command && *command; command++) {
		char *copy = strdup(*command), *save = NULL, *word;

		for (word = copy ? strtok_r(copy, " \t\n;&|()<>'\"`$", &save) : NULL; word;
		     word = strtok_r(NULL, " \t\n;&|()<>'\"`$", &save))
			map_named(mapped, word);
		free(copy);
	}
}

int targets_add_own(struct targets *t, char *const command[])
{
	struct mapped mapped = { .n = 0 };
	struct maps maps;
	size_t i;
	int err;

	if (t->options.by_process)
		return 0;
	map_common(&mapped);
	map_words(&mapped, command);
	err = maps_read(getpid(), &maps);
	for (i = 0; !err && i < maps.n; i++) {
		struct module *m = NULL;

		if (maps.entries[i].exec && maps.entries[i].ino)
			m = modules_get(t->modules, getpid(), &maps.entries[i]);
		if (m)
			attach_module(t, m, 0, false);
	}
	if (!err)
		maps_free(&maps);
	while (mapped.n)
		munmap(mapped.at[--mapped.n], (size_t)sysconf(_SC_PAGESIZE));
	return err;
}

int targets_add_pid(struct targets *t, int pid)
{
	struct space *space = space_get(t->spaces, (uint32_t)pid, INC_FOUND);
	int err;

	if (!space)
		return -ENOMEM;
	err = attach_add_process(t->attach, (uint32_t)pid, INC_FOUND, 0);
	return err ? err : examine(t, space);
}

int targets_add_child(struct targets *t, int pid)
{
	/* Its own mappings are ours, and mean nothing: it is about to execute something else. */
	t->child = (uint32_t)pid;
	return attach_add_process(t->attach, (uint32_t)pid, INC_FOUND, 0);
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
	size_t i;

	if (!refusal)
		return 0;
	for (i = 0; i < maps->n; i++) {
		struct module *m = NULL;

		if (maps->entries[i].exec && maps->entries[i].ino)
			m = modules_get(t->modules, pid, &maps->entries[i]);
		if (m && m->nplaces && use_exits(t, m))
			return SBT_PROC_EXCLUDED;
	}
	return SBT_PROC_BY_EXIT;
}

static void scan_one(void *ctx, int pid)
{
	struct targets *t = ctx;
	struct space_facts facts;
	bool fresh = false;
	struct maps maps;
	size_t i;

	if (pid == getpid() || maps_read(pid, &maps))
		return;
	for (i = 0; i < maps.n; i++) {
		struct module *m = NULL;

		if (maps.entries[i].exec && maps.entries[i].ino)
			m = modules_get(t->modules, pid, &maps.entries[i]);
		if (!m)
			continue;
		m->in_target = true;
		fresh |= m->nplaces && !m->attached;
		attach_module(t, m, 0, false);
	}
	facts = spaces_judge(t->spaces, pid, &maps);
	/* A probe came to a process that runs: who is inside a barrier of it already? */
	if (fresh)
		targets_note_waiting(t, pid);
	if (facts.decided)
		know_program(t, (uint32_t)pid, &maps, scan_departures(t, pid, &maps, facts.refusal),
			     facts.settled);
	maps_free(&maps);
}

int targets_scan_all(struct targets *t)
{
	int n = proc_each(scan_one, t);

	return n < 0 ? n : 0;
}

/* --- events -------------------------------------------------------------------------------------------- */

static void on_changed(struct targets *t, const struct sbt_event *event)
{
	struct space *space;

	if (event->tgid == t->child && event->inc == INC_FOUND)
		return;
	if (!event->inc) {
		/* -a: nobody traced yet, but it runs what nobody knows. */
		scan_one(t, (int)event->tgid);
		return;
	}
	space = space_get(t->spaces, event->tgid, event->inc);
	if (space && !examine(t, space) && space->settled) {
		know_program(t, event->tgid, &space->maps, space->by_exit ? SBT_PROC_BY_EXIT : 0,
			     true);
		attach_flag_process(t->attach, event->tgid, event->inc, 0, SBT_PROC_FRESH);
	}
	if (event->flags & SBT_EVENT_HELD)
		kill((pid_t)event->tgid, SIGCONT);
}

static void on_fork(struct targets *t, const struct sbt_event *event)
{
	const struct space *parent = space_find(t->spaces, event->parent_tgid, event->parent_inc);
	struct space *child = space_get(t->spaces, event->tgid, event->inc);

	if (parent && child)
		space_inherit(t->spaces, child, parent);
	t->generation++;
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
		if (space && !space->read)
			examine(t, space);
		break;
	case SBT_REC_EXEC:
	case SBT_REC_MAP:
		on_changed(t, event);
		break;
	default:
		break;
	}
}

uint64_t targets_generation(const struct targets *t)
{
	return t->generation;
}

bool targets_have_places(const struct targets *t)
{
	return t->places > 0;
}

bool targets_stepped(const struct targets *t)
{
	return t->stepped;
}

/* --- when nothing was found ---------------------------------------------------------------------------- */

struct explain {
	int shown;
	int unread;
	int hidden;
};

static void explain_module(void *ctx, struct module *m)
{
	struct explain *e = ctx;

	if (!m->in_target)
		return;
	if (m->error && m->error != -ENOEXEC) {
		e->unread++;
		msg_error("  %s: not read: %s", m->path, strerror(-m->error));
	} else if (m->nplaces) {
		msg_error("  %s: has it, was probed, was not called", m->path);
	} else if (m->elf && m->traits.executable && !m->traits.dynamic && m->traits.stripped) {
		e->hidden++;
		msg_error(
			"  %s: static and stripped: functions in it have no names to be found by, "
			"and none was recognised by its code",
			m->path);
	} else if (m->elf && e->shown++ < 12) {
		msg_error("  %s: does not have it", m->path);
	}
}

void targets_explain(const struct targets *t)
{
	struct explain e = { 0 };

	msg_error("no barrier was crossed. Looked for pthread_barrier_wait in:");
	modules_each(t->modules, explain_module, &e);
	if (e.shown > 12)
		msg_error("  and %d more files that do not have it", e.shown - 12);
}
