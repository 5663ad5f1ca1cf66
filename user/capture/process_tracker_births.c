// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * -a: processes that execute a program, as the kernel's events report them. Each file that they map
 * is examined and probed at once. As soon as the process's dynamic linker is done, sbt-trace
 * decides how to trace the program. Both steps are also done if the process has already exited, for
 * later processes that run the same files.
 */
#include "capture/process_tracker_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/msg.h"
#include "target/linker.h"
#include "target/proc.h"

/* These times equal those in process_tracker_linker.c, which are for processes that already ran. */
#define LINKER_NS   500000u
#define LINKER_LONG 1000000000u
#define LINKER_PART 8

/*
 * A program that is executed again within this time of its classification is assumed to use the
 * same libraries, so the new process is examined later.
 */
#define RECENT_NS 50000000u

/* Maximum number of mapped files that are noted for a process. No real program maps more. */
#define FILES_MAX 4096

struct birth {
	uint32_t tgid;
	struct maps maps; /* mapped code of files, in order of mapping; owns the paths */
	size_t cap, examined; /* the first @examined files are probed */
	/* when the process executed the program, and when it last mapped a file */
	uint64_t exec_ns, last_ns;
	uint64_t busy_ns; /* when its dynamic linker was last seen running; 0: never */
	uint64_t due_ns;
	bool unwanted; /* its name differs from --comm */
	bool late; /* the process is counted as late */
	/* at the current look: the linker was running (busy), the process had exited (gone) */
	bool busy, gone;
};

static uint64_t program_key(const struct maps_entry *e)
{
	return hash_mix(e->dev) ^ hash_mix(e->ino);
}

static void files_free(struct birth *b)
{
	size_t i;

	for (i = 0; i < b->maps.n; i++)
		free((char *)(uintptr_t)b->maps.entries[i].path);
	maps_free(&b->maps);
	b->cap = 0;
}

static struct birth *birth_of(const struct tracker *t, uint32_t tgid)
{
	uint64_t i;

	return hash_get(&t->birth_of, tgid, &i) ? &t->births[i] : NULL;
}

bool tracker_is_birth(const struct tracker *t, uint32_t tgid)
{
	return birth_of(t, tgid) != NULL;
}

static void birth_drop(struct tracker *t, uint32_t i)
{
	struct birth *last = &t->births[--t->nbirths];

	hash_del(&t->birth_of, t->births[i].tgid);
	files_free(&t->births[i]);
	if (i == t->nbirths)
		return;
	t->births[i] = *last;
	hash_put(&t->birth_of, last->tgid, i);
}

void tracker_births_free(struct tracker *t)
{
	while (t->nbirths)
		birth_drop(t, t->nbirths - 1);
	free(t->births);
	hash_free(&t->birth_of);
	hash_free(&t->decided);
	hash_free(&t->late_of);
}

static void count_late(struct tracker *t, struct birth *b, uint64_t until_ns, bool ranks);

/* If memory is exhausted, the process is examined like a process that already ran. */
void tracker_birth(struct tracker *t, const struct mappings_event *exec)
{
	const char *comm = t->options.comm;
	struct birth *b = birth_of(t, exec->tgid);
	struct birth born = { .tgid = exec->tgid,
			      .exec_ns = exec->t_ns,
			      .due_ns = exec->t_ns,
			      .unwanted = comm && strcmp(comm, exec->comm) != 0 };

	if (b) {
		/* The process ran another program before, which has ended. */
		count_late(t, b, exec->t_ns, true);
		files_free(b);
		*b = born;
		return;
	}
	if (grow(t->births, t->births_cap, t->nbirths + 1))
		return;
	if (hash_put(&t->birth_of, born.tgid, t->nbirths))
		return;
	t->births[t->nbirths++] = born;
}

bool tracker_birth_maps(struct tracker *t, const struct mappings_event *m)
{
	struct birth *b = birth_of(t, m->tgid);
	uint64_t decided;
	char *path;

	if (!b || b->maps.n == FILES_MAX)
		return false;
	if (grow(b->maps.entries, b->cap, b->maps.n + 1))
		return false;
	path = strdup(m->path);
	if (!path)
		return false;
	b->last_ns = m->t_ns;
	b->maps.entries[b->maps.n++] = (struct maps_entry){ .start = m->start,
							    .end = m->start + m->bytes,
							    .offset = m->offset,
							    .ino = m->ino,
							    .dev = m->dev,
							    .exec = true,
							    .deleted = m->deleted,
							    .path = path };
	if (b->maps.n == 1 && hash_get(&t->decided, program_key(b->maps.entries), &decided) &&
	    b->exec_ns < decided + RECENT_NS)
		b->due_ns = b->exec_ns + RECENT_NS;
	return true;
}

void tracker_forget_file(struct tracker *t, struct module *m)
{
	struct maps_entry e = { .dev = m->dev, .ino = m->ino };

	probes_remove_file(&t->probes, m);
	attach_forget_program(t->attach, e.dev, e.ino);
	hash_del(&t->decided, program_key(&e));
}

/* Check whether an examined file was rewritten: its probes would be at arbitrary addresses. */
static void look_for_changes(struct tracker *t, uint32_t tgid, const struct maps_entry *e)
{
	struct module *old = modules_replaced(t->modules, (int)tgid, e);

	if (!old)
		return;
	tracker_forget_file(t, old);
}

void tracker_births_examine(struct tracker *t)
{
	const struct module *m;
	struct maps_entry e;
	bool more;
	uint32_t i;

	for (i = 0; i < t->nbirths; i++) {
		more = t->births[i].examined < t->births[i].maps.n;
		while (t->births[i].examined < t->births[i].maps.n) {
			e = t->births[i].maps.entries[t->births[i].examined++];
			look_for_changes(t, t->births[i].tgid, &e);
			if (tracker_probe_file(t, (int)t->births[i].tgid, &e))
				tracker_note_waiting(t, (int)t->births[i].tgid);
			/*
			 * Note the file's region functions before the first region of the process
			 * begins.
			 */
			m = modules_find(t->modules, e.dev, e.ino);
			if (m)
				probes_note_outlined(&t->probes, t->births[i].tgid, &e, m);
		}
		if (!more)
			continue;
		/*
		 * If the program was classified in an earlier process, the crossings of this
		 * process are recorded from its start. So check now whether it is late.
		 */
		count_late(t, &t->births[i], now_ns(), false);
		tracker_scan_rank(t, (int)t->births[i].tgid, &t->births[i].maps);
	}
}

/* Return whether any of these files calls a barrier function of the library. */
static bool calls_barriers(const struct tracker *t, const struct maps *maps,
			   const struct module *library)
{
	const struct module *m;
	uint32_t k;

	array_for_each (e, maps->entries, maps->n) {
		m = modules_find(t->modules, e->dev, e->ino);
		for (k = 0; m && m->is_elf && !m->c_library && k < library->nplaces; k++)
			if (module_imports(m, library->places[k].symbol))
				return true;
	}
	return false;
}

/*
 * Return whether barriers of @m may have been crossed before it was probed. @began: when the
 * process began to run its own code.
 */
static bool is_late(const struct tracker *t, const struct birth *b, const struct module *m,
		    uint64_t began)
{
	/*
	 * Every process maps a C library, so the barriers of a C library count only if the program
	 * calls them.
	 */
	return m->nplaces && (!m->linked || m->attached_ns > began) &&
	       (!m->c_library || !m->traits.dynamic || calls_barriers(t, &b->maps, m));
}

/*
 * Return when the process first created a thread or, with @children, a child, while it ran this
 * program until @until_ns. 0: it created none, so it crossed no barrier with other threads.
 */
static uint64_t forked_ns(const struct tracker *t, const struct birth *b, uint64_t until_ns,
			  bool children)
{
	uint64_t thread_ns, child_ns, first = until_ns;

	attach_forked(t->attach, b->tgid, &thread_ns, &child_ns);
	if (thread_ns > b->exec_ns && thread_ns < first)
		first = thread_ns;
	if (children && child_ns > b->exec_ns && child_ns < first)
		first = child_ns;
	return first < until_ns ? first : 0;
}

/*
 * Return whether the process may have crossed barriers before its files were probed. A process with
 * a single thread crosses no barrier, unless it is an MPI rank. If so, set *path to the path of the
 * file with these barriers.
 */
static bool ran_before_probes(const struct tracker *t, const struct birth *b, uint64_t until_ns,
			      bool ranks, const char **path)
{
	uint64_t began = b->busy_ns > b->last_ns ? b->busy_ns : b->last_ns;
	uint64_t thread_ns = forked_ns(t, b, until_ns, false);
	uint64_t any_ns = forked_ns(t, b, until_ns, true);

	array_for_each (e, b->maps.entries, b->maps.n) {
		const struct module *m = modules_find(t->modules, e->dev, e->ino);

		*path = e->path;
		/*
		 * The file may have barriers: it was gone, like the process, before it could be
		 * opened.
		 */
		if (!m && thread_ns)
			return true;
		if (m && is_late(t, b, m, began) &&
		    ((ranks && m->mpi) || (any_ns && (!m->linked || any_ns < m->attached_ns))))
			return true;
	}
	return false;
}

/*
 * Maximum number of entries in late_of. Entries stay, because the end of an untraced process is not
 * reported.
 */
#define LATE_MAX 4096

void tracker_count_late(struct tracker *t, uint32_t tgid)
{
	t->late++;
	if (hash_count(&t->late_of) >= LATE_MAX)
		hash_free(&t->late_of);
	/*
	 * If memory runs out, the process is treated as not late: its first phase begins at its
	 * start.
	 */
	hash_put(&t->late_of, tgid, now_ns());
}

bool tracker_is_late(const struct tracker *t, uint32_t tgid, uint64_t start_ns)
{
	uint64_t found_ns;

	/* A later process may have the same process id. */
	return hash_get(&t->late_of, tgid, &found_ns) && start_ns < found_ns;
}

/*
 * Count the process as late if it may have crossed barriers before they were probed, while it ran
 * this program up to @until_ns. @ranks: its dynamic linker is done, so it may be an MPI rank, which
 * can cross barriers with a single thread.
 */
static void count_late(struct tracker *t, struct birth *b, uint64_t until_ns, bool ranks)
{
	const char *path = NULL;

	if (b->unwanted || b->late || !ran_before_probes(t, b, until_ns, ranks, &path))
		return;
	b->late = true;
	tracker_count_late(t, b->tgid);
	msg_verbose(t->options.verbose, "process %u ran %s before it was probed", b->tgid, path);
}

/* Decide how to trace the program. Return whether to try again later. */
static bool birth_classify(struct tracker *t, struct birth *b)
{
	struct address_space_facts facts = { 0 };

	if (b->maps.n)
		facts = address_spaces_classify(t->spaces, (int)b->tgid, &b->maps, b->busy);
	if (facts.decided)
		attach_know_program(
			t->attach, b->maps.entries->dev, b->maps.entries->ino,
			tracker_scan_departures(t, (int)b->tgid, &b->maps, facts.refusal),
			facts.settled);
	/* Count the process before its first crossing is recorded. */
	if (facts.decided && !b->busy)
		count_late(t, b, now_ns(), true);
	if (facts.settled)
		hash_put(&t->decided, program_key(b->maps.entries), now_ns());
	if (!facts.settled && !b->gone && now_ns() - b->exec_ns < LINKER_LONG)
		return true;
	if (b->busy)
		return true;
	count_late(t, b, now_ns(), true);
	return false;
}

void tracker_births_settle(struct tracker *t, void (*read)(struct tracker *t))
{
	uint64_t now = now_ns(), took;
	bool any = false;
	struct birth *b;
	uint32_t i;
	int busy;

	/*
	 * Check the linkers before reading the mappings: once a linker is done, all code is mapped.
	 */
	for (i = 0; i < t->nbirths; i++) {
		b = &t->births[i];
		if (b->due_ns > now)
			continue;
		busy = linker_busy((int)b->tgid);
		b->busy = busy == 1;
		b->gone = busy == -ESRCH || (busy < 0 && !proc_alive((int)b->tgid));
		if (b->busy)
			b->busy_ns = now_ns();
		any = true;
	}
	if (!any)
		return;
	read(t);
	tracker_births_examine(t);
	for (i = t->nbirths; i-- > 0;) {
		b = &t->births[i];
		if (b->due_ns > now)
			continue;
		if (!birth_classify(t, b)) {
			birth_drop(t, i);
			continue;
		}
		took = now - b->exec_ns;
		b->due_ns = now + (took > LINKER_LONG ? took / LINKER_PART : LINKER_NS);
	}
}

uint64_t tracker_births_due(const struct tracker *t)
{
	uint64_t due = 0;

	array_for_each (birth, t->births, t->nbirths)
		if (!due || birth->due_ns < due)
			due = birth->due_ns;
	return due;
}

void tracker_births_end(struct tracker *t, uint64_t end_ns)
{
	struct birth *b;
	size_t k;

	while (t->nbirths) {
		/* Examine remaining files, if only to learn whether they have barriers. */
		for (k = t->births[t->nbirths - 1].examined; k < t->births[t->nbirths - 1].maps.n;
		     k++)
			(void)tracker_mapped_at(t, (int)t->births[t->nbirths - 1].tgid,
						&t->births[t->nbirths - 1].maps.entries[k]);
		b = &t->births[t->nbirths - 1];
		if (b->exec_ns < end_ns)
			count_late(t, b, end_ns, true);
		birth_drop(t, t->nbirths - 1);
	}
}
