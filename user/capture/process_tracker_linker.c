// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Determine when the mappings of a process are complete. A "named" process has a probe on its own
 * dynamic linker that reports mappings. For other processes, the kernel reports mappings a moment
 * later.
 */
#include "capture/process_tracker_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/mappings.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/grow.h"
#include "target/linker.h"
#include "target/proc.h"

/*
 * How often to check whether the dynamic linker of a process is done. A check takes some
 * microseconds; until the linker is known to be done, crossings are lost. If the linker runs for
 * longer than LINKER_LONG (the process may be stopped), the interval is 1/LINKER_PART of the time
 * so far.
 */
#define LINKER_NS   500000u
#define LINKER_LONG 1000000000u
#define LINKER_PART 8

/* How long to keep a process that mapped code before its start was reported. */
#define UNREPORTED_NS 1000000000u

/* The maximum number of processes with a probe on their own dynamic linker. */
#define NAMED_MAX 64

static uint32_t mapped_times(const struct tracker *t, uint32_t tgid)
{
	uint64_t n;

	return hash_get(&t->changes, tgid, &n) ? (uint32_t)n : 0;
}

/*
 * Note code that a process has mapped. The linker of a named process reports the mapping before the
 * code runs. For other processes, the kernel reports it a moment later.
 */
static void on_mapped(void *ctx, const struct mappings_event *m)
{
	struct tracker *t = ctx;
	uint32_t inc = 0;
	uint64_t named;
	bool traced, born;

	if (m->exec)
		tracker_birth(t, m);
	/*
	 * Use this report even if the process's own linker reports the mapping too, because the
	 * linker's report does not contain the file.
	 */
	born = m->file && t->options.discover_all && tracker_birth_maps(t, m);
	if (!m->file || hash_get(&t->named, m->tgid, &named))
		return;
	traced = attach_traces(t->attach, m->tgid, &inc);
	if (!traced && (inc || born || !t->options.discover_all))
		return;
	if (grow(t->mapped, t->mapped_cap, t->nmapped + 1))
		return;
	if (traced) {
		hash_put(&t->changes, m->tgid, mapped_times(t, m->tgid) + 1);
		attach_code_changed(t->attach);
	}
	t->mapped[t->nmapped++] = (struct sbt_event){ .type = SBT_REC_MAP,
						      .t_ns = m->t_ns,
						      .tgid = m->tgid,
						      .tid = m->tid,
						      .inc = inc,
						      .change = mapped_times(t, m->tgid) };
}

static void read_mappings(struct tracker *t)
{
	/*
	 * If reports were lost, their processes are unknown, so all processes are examined later.
	 */
	uint64_t unseen = t->mappings ? mappings_read(t->mappings, on_mapped, t) : 0;

	t->unseen += unseen;
	t->missed |= unseen > 0;
}

bool tracker_follows(struct tracker *t, uint32_t tgid)
{
	read_mappings(t);
	return tracker_is_birth(t, tgid);
}

int tracker_mapped_fd(const struct tracker *t, uint32_t i)
{
	return t->mappings ? mappings_fd(t->mappings, i) : -1;
}

/*
 * Each mapping of any process wakes sbt-trace up. So reports are requested only while a traced
 * process has no probe on its own linker. If the last such process exits, the reports continue
 * until the next tracker_step(), because starting and stopping them interrupts all CPUs. Return
 * true if this call starts them.
 */
bool tracker_watch(struct tracker *t)
{
	bool wanted = t->options.discover_all || hash_count(&t->unnamed) > 0;

	if (!t->mappings || wanted == t->watching)
		return false;
	t->watching = wanted;
	mappings_enable(t->mappings, wanted);
	return wanted;
}

/* Get how often the process has changed its mappings, including changes not handled yet. */
int tracker_changes(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n)
{
	struct tracker *t = ctx;
	int err = attach_mappings(t->attach, tgid, inc, n);

	if (err)
		return err;
	read_mappings(t);
	*n += mapped_times(t, tgid);
	return 0;
}

int tracker_starting_add(struct tracker *t, uint32_t tgid, uint32_t inc, bool changed)
{
	uint64_t now = now_ns();

	array_for_each (s, t->starting, t->nstarting) {
		if (s->tgid == tgid && s->inc == inc) {
			s->changed |= changed;
			if (changed)
				s->due_ns = now;
			return 0;
		}
	}
	if (grow(t->starting, t->starting_cap, t->nstarting + 1))
		return -ENOMEM;
	t->starting[t->nstarting++] =
		(struct starting){ .tgid = tgid,
				   .inc = inc,
				   .changed = changed,
				   .since_ns = now,
				   .due_ns = changed ? now : now + LINKER_NS };
	return 0;
}

void tracker_starting_done(struct tracker *t, uint32_t tgid, uint32_t inc)
{
	uint32_t i;

	for (i = 0; i < t->nstarting; i++)
		if (t->starting[i].tgid == tgid && t->starting[i].inc == inc)
			t->starting[i].changed = false;
}

/*
 * Return whether the process has only ever had one thread, as far as known. This may be wrong,
 * because threads that have ended leave few traces in /proc.
 */
static bool was_alone(const struct tracker *t, uint32_t tgid)
{
	uint64_t thread_ns, child_ns;

	attach_forked(t->attach, tgid, &thread_ns, &child_ns);
	return !thread_ns && !child_ns && proc_was_alone((int)tgid);
}

/* Return whether the process has the name that --comm gives. */
static bool is_wanted(const struct tracker *t, uint32_t tgid)
{
	char comm[16];

	return !t->options.comm || proc_comm((int)tgid, (int)tgid, comm) ||
	       !strcmp(comm, t->options.comm);
}

/*
 * Examine a process while its dynamic linker runs, or after it mapped code before its start was
 * reported. Return whether to repeat this.
 */
static bool starting_look(struct tracker *t, struct starting *s)
{
	int busy = linker_busy((int)s->tgid);
	struct tracker_scan scan;
	struct address_space *space;

	if (busy == 1 && !s->changed)
		return true;
	/* The process has exited; later reports about it change nothing. */
	if (busy < 0 && !proc_alive((int)s->tgid))
		return false;
	if (!s->inc) {
		s->changed = false;
		scan = tracker_scan_once(t, (int)s->tgid);
		if (scan.fresh && is_wanted(t, s->tgid) && !was_alone(t, s->tgid))
			tracker_count_late(t, s->tgid);
		return scan.partial;
	}
	space = address_space_find(t->spaces, s->tgid, s->inc);
	if (!space || !space->read)
		return now_ns() - s->since_ns < UNREPORTED_NS;
	space->runs = true;
	/* Read the mappings again: at the last event, the linker had not finished. */
	if ((space->settled && !s->changed) || address_space_look(t->spaces, space) ||
	    tracker_examine(t, space))
		return false;
	s->changed = false;
	if (space->settled)
		tracker_settled(t, space);
	return !space->settled && space->partial;
}

void tracker_settle(struct tracker *t)
{
	uint64_t now = now_ns(), took;
	struct starting s;
	uint32_t i;

	tracker_births_settle(t, read_mappings);
	/* Entries may be added or moved during the loop. */
	for (i = t->nstarting; i-- > 0;) {
		if (t->starting[i].due_ns > now)
			continue;
		s = t->starting[i];
		if (!starting_look(t, &s)) {
			t->starting[i] = t->starting[--t->nstarting];
			continue;
		}
		took = now - s.since_ns;
		s.due_ns = now + (took > LINKER_LONG ? took / LINKER_PART : LINKER_NS);
		t->starting[i] = s;
	}
}

static void look_again(void *ctx, uint32_t tgid)
{
	struct tracker *t = ctx;
	uint32_t inc;

	if (attach_traces(t->attach, tgid, &inc))
		tracker_starting_add(t, tgid, inc, true);
}

void tracker_mapped(struct tracker *t, void (*each)(void *ctx, const struct sbt_event *event),
		    void *ctx)
{
	const struct address_space *space;
	struct sbt_event e;
	uint32_t i;

	read_mappings(t);
	tracker_births_examine(t);
	/* Entries may be added during the loop. */
	for (i = 0; i < t->nmapped; i++) {
		e = t->mapped[i];
		space = e.inc ? address_space_find(t->spaces, e.tgid, e.inc) : NULL;
		if (e.inc && (!space || !space->read))
			tracker_starting_add(t, e.tgid, e.inc, true);
		else
			each(ctx, &e);
	}
	t->nmapped = 0;
	if (!t->missed)
		return;
	t->missed = false;
	attach_each_process(t->attach, look_again, t);
	if (t->options.discover_all)
		tracker_scan_all(t);
}

void tracker_end(struct tracker *t, uint64_t end_ns)
{
	read_mappings(t);
	tracker_births_end(t, end_ns);
}

uint64_t tracker_due(const struct tracker *t)
{
	uint64_t due = tracker_births_due(t);
	uint32_t i;

	for (i = 0; i < t->nstarting; i++)
		if (!due || t->starting[i].due_ns < due)
			due = t->starting[i].due_ns;
	return due;
}

void tracker_unseen(const struct tracker *t, uint64_t *late, uint64_t *unseen)
{
	*late = t->late;
	*unseen = t->options.discover_all ? t->unseen : 0;
}

int tracker_name(struct tracker *t, int pid)
{
	int err;

	if (!t->mappings || hash_count(&t->named) < NAMED_MAX)
		return hash_put(&t->named, (uint64_t)pid, 0);
	err = hash_put(&t->unnamed, (uint64_t)pid, 1);
	tracker_watch(t);
	return err;
}

/* Most programs use the same dynamic linker as sbt-trace, so probe that linker. */
int tracker_name_coming(struct tracker *t, int pid)
{
	struct maps maps;
	int err = tracker_name(t, pid);
	uint64_t value;

	if (err || !hash_get(&t->named, (uint64_t)pid, &value))
		return err;
	err = maps_read(getpid(), &maps);
	if (err)
		return err;
	array_for_each (e, maps.entries, maps.n) {
		struct module *m = tracker_mapped_at(t, getpid(), e);

		if (m)
			probes_loader(&t->probes, m, (uint32_t)pid, 0);
	}
	maps_free(&maps);
	return 0;
}

/*
 * Crossings are lost until the mappings of a new program are complete and examined, and until then
 * its rank is unknown. A probe on the program's own dynamic linker reports sooner that the mappings
 * are complete. Only the first processes get such a probe, because each probe stays until tracing
 * ends.
 */
int tracker_name_starting(struct tracker *t, struct address_space *space)
{
	uint64_t value;
	int err;

	if (!t->mappings || t->options.discover_all || space->settled ||
	    hash_get(&t->named, space->tgid, &value) || hash_count(&t->probes.loaders) >= NAMED_MAX)
		return 0;
	err = hash_put(&t->named, space->tgid, 0);
	if (err)
		return err;
	hash_del(&t->unnamed, space->tgid);
	tracker_watch(t);
	return tracker_examine(t, space);
}
