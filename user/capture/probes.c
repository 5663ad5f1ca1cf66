// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/probes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/msg.h"
#include "base/remark.h"
#include "sites/family.h"

void probes_init(struct probes *p, struct attach *attach, const struct tracker_options *options)
{
	*p = (struct probes){ .attach = attach, .options = options, .team_ends = options->running };
	written_init(&p->written);
}

void probes_free(struct probes *p)
{
	hash_free(&p->waits);
	hash_free(&p->turns);
	hash_free(&p->sems);
	hash_free(&p->by_process);
	hash_free(&p->returns);
	hash_free(&p->tasks);
	hash_free(&p->loaders);
	free(p->deferred);
	written_free(&p->written);
}

/*
 * Mark the module as probed. If each process has its own probes, mark it only for process @tgid.
 * Return whether it was marked before.
 */
static bool already(struct probes *p, struct module *m, uint32_t tgid)
{
	uint64_t key, value;
	bool before;

	if (!p->options->by_process) {
		before = m->attached;
		m->attached = true;
		return before;
	}
	key = hash_mix((uint64_t)(uintptr_t)m) ^ tgid;
	if (hash_get(&p->by_process, key, &value))
		return true;
	m->attached = true;
	return hash_put(&p->by_process, key, 1) != 0;
}

/* Return the probe group of the function, or 0 for the probe group of its family. */
static uint8_t probe_group_of(const struct probes *p, const struct module_probe_site *probe_site)
{
	const struct family_function *f = probe_site->function;

	if (!p->options->apart)
		return 0;
	if (!family_has(f->family, FAMILY_RULES))
		return family_probe_group(f);
	/* The two functions of a pair share the group of their rule. */
	return attach_user_probe_group(p->attach,
				       f->flags & SBT_SPEC_PAIR ? f->symbol : probe_site->symbol);
}

/* Return the tag by which the probes of this probe site are removed. */
static uint64_t tag_of(const struct module *m, const struct module_probe_site *probe_site)
{
	return hash_mix((uint64_t)(uintptr_t)m) ^ hash_mix(probe_site->offset + 1);
}

static bool is_musl(const struct module *m)
{
	return m->traits.musl && !m->traits.glibc;
}

/*
 * Return whether only arrivals are probed, because user space infers the departures. Only in glibc
 * is it known that no code of a waiter runs on after the release. In musl, the threads wait for
 * each other again. A function of the same name in another file may do anything.
 */
static bool is_inferred(const struct probes *p, const struct module *m,
			const struct module_probe_site *from)
{
	return attach_infers(p->attach) && from->spec.role == SBT_ROLE_BARRIER &&
	       family_has(from->spec.family, FAMILY_INFERRED) && m->traits.glibc;
}

/*
 * Return whether departures are inferred where the team's members are known. Functions that only
 * some members wait in, or that may end in another way, need both ends: all departures of an
 * episode are found by the same method. A session decides at each arrival whether it needs the end.
 * Other methods do without probes at the end if the number of members can be read at every arrival,
 * until a departure cannot be inferred.
 */
static enum sbt_inferred_in_team inferred_in_team(const struct probes *p,
						  const struct module_probe_site *from)
{
	const uint8_t seen = SBT_SPEC_WAITED | SBT_SPEC_REDUCE | SBT_SPEC_RETS | SBT_SPEC_PAIR;

	if (!attach_infers(p->attach) || from->spec.role != SBT_ROLE_BARRIER ||
	    !family_has(from->spec.family, FAMILY_INFERRED_IN_TEAM) || from->spec.flags & seen ||
	    from->function->seen)
		return SBT_TEAM_SEEN;
	if (!attach_only_exits(p->attach))
		return SBT_TEAM_INFERRED;
	if (!from->spec.team_size.known || !from->nexits)
		return SBT_TEAM_SEEN;
	return p->team_ends ? SBT_TEAM_INFERRED : SBT_TEAM_ARRIVALS;
}

static void fill_probe_site(const struct probes *p, const struct module *m,
			    const struct module_probe_site *from,
			    struct attach_probe_site *probe_site)
{
	uint8_t probe_group = probe_group_of(p, from);

	*probe_site = (struct attach_probe_site){ .fd = module_fd(m), .spec = from->spec };
	if (is_inferred(p, m, from))
		probe_site->spec.role = SBT_ROLE_ARRIVAL;
	probe_site->spec.inferred_in_team = inferred_in_team(p, from);
	if (family_has(from->spec.family, FAMILY_LIBC_OBJECT))
		probe_site->spec.less_one = is_musl(m);
	probe_site->spec.probe_group = probe_group ? SBT_PROBE_GROUP(probe_group) : 0;
	probe_site->entry = from->offset;
	if (probe_site->spec.inferred_in_team != SBT_TEAM_ARRIVALS) {
		probe_site->exits = from->exits;
		probe_site->nexits = from->nexits;
	}
	probe_site->tag = tag_of(m, from);
}

/* Maximum number of processes with probes on waits. These probes stay until tracing ends. */
#define WAITS_MAX 1024
#define ENDED	  2 /* value in probes.waits: the process ended before it was probed */

static struct attach_group group_of(const struct module *m, const struct module_waits *w)
{
	return (struct attach_group){ .fd = module_fd(m),
				      .spec = w->spec,
				      .nentries = w->nentries,
				      .nexits = w->nexits,
				      .entries = w->entries,
				      .exits = w->exits };
}

/* Return whether both waits and wake-ups can be probed: probes on only one kind are useless. */
static bool has_waits(const struct module *m)
{
	return m->waits.nentries && m->wakes.nentries;
}

static const char *why_not(int err)
{
	switch (err) {
	case -EADDRINUSE:
		/*
		 * Before Linux 5.15, a probe is identified by its offset in the page and by the
		 * code there.
		 */
		return "two probes have the same offset in a page and the same code, which this "
		       "kernel cannot distinguish: Linux 5.15 can";
	case -EUSERS:
		return "the maximum number of processes with such probes is reached";
	default:
		return strerror(-err);
	}
}

/* Report a reason only once, because later processes usually map the same library. */
static void report_not_looked_for(struct probes *p, const struct module *m, uint32_t tgid, int err)
{
	static const char text[] =
		"barriers on condition variables, and rounds of threads that are created and "
		"joined, are not looked for in process %u%s: cannot attach the probes in %s: %s";
	const char *more = err == -EUSERS ? " and later ones" : "";

	/* A process that has ended needs no probes. */
	if (err == -ESRCH || err == p->waits_refused) {
		msg_verbose(p->options->verbose, text, tgid, more, m->path, why_not(err));
		return;
	}
	remark_warn("not_looked_for", tgid, text, tgid, more, m->path, why_not(err));
	p->waits_refused = err;
}

int probes_waits(struct probes *p, struct module *m, uint32_t tgid, uint32_t inc)
{
	bool alone = !p->options->discover_all && attach_filters_process(p->attach);
	struct attach_group groups[ATTACH_GROUPS_MAX], wakes = group_of(m, &m->wakes);
	uint64_t key = hash_mix((uint64_t)(uintptr_t)m), value;
	int pid = alone ? (int)tgid : 0, err;
	uint32_t n = 0;

	if (has_waits(m))
		groups[n++] = group_of(m, &m->waits);
	if (m->joins.nentries)
		groups[n++] = group_of(m, &m->joins);
	if (!p->options->discover || !n)
		return 0;
	if (alone)
		key ^= hash_mix((uint64_t)inc << 32 | tgid);
	if (hash_get(&p->waits, key, &value))
		return value == ENDED ? -ESRCH : 0;
	err = hash_count(&p->waits) >= WAITS_MAX ? -EUSERS : hash_put(&p->waits, key, 1);
	if (err) {
		report_not_looked_for(p, m, tgid, err);
		return err;
	}
	m->linked = true;
	written_watch(&p->written, m);
	err = attach_waits(p->attach, groups, n, has_waits(m) ? &wakes : NULL, pid);
	if (err == -ESRCH)
		hash_put(&p->waits, key, ENDED);
	if (err)
		report_not_looked_for(p, m, tgid, err);
	else
		msg_verbose(p->options->verbose,
			    "probes: %u waits, %u wake-ups and %u joins in %s of %s",
			    m->waits.nentries, m->wakes.nentries, m->joins.nentries, m->path,
			    alone ? "this process" : "all processes");
	return err;
}

static uint64_t key_of(const struct module *m, uint32_t tgid, uint32_t inc)
{
	return hash_mix((uint64_t)(uintptr_t)m) ^ hash_mix((uint64_t)inc << 32 | tgid);
}

int probes_rest(struct probes *p, struct module *m, uint32_t tgid, uint32_t inc, bool rest)
{
	uint64_t key = key_of(m, tgid, inc);
	struct attach_group groups[ATTACH_GROUPS_MAX], wakes = group_of(m, &m->wakes);
	uint32_t n = 1;
	uint64_t value;

	if (p->options->discover_all || !attach_filters_process(p->attach))
		return -ENOTSUP;
	if (!has_waits(m) || !hash_get(&p->waits, key, &value))
		return 0;
	groups[0] = group_of(m, &m->joins);
	if (rest)
		return m->joins.nentries ? attach_joins(p->attach, groups, (int)tgid) : 0;
	groups[0] = group_of(m, &m->waits);
	if (m->joins.nentries)
		groups[n++] = group_of(m, &m->joins);
	return attach_waits(p->attach, groups, n, &wakes, (int)tgid);
}

/*
 * A kind of wait (for a turn, or on a semaphore), and how to probe such waits for a single process.
 */
struct alone {
	/* (module, tgid, inc) -> 1: probes are attached; 2: they are impossible */
	struct hash *done;
	const struct module_waits *waits;
	int (*attach)(struct attach *a, const struct attach_group *g, int pid);
	const char *what;
};

static int put_alone(struct probes *p, const struct alone *alone, struct module *m, uint32_t tgid)
{
	struct attach_group g = group_of(m, alone->waits);

	/*
	 * If probes cannot be limited to one process, other processes hit them too, perhaps often.
	 * Such shared probes could not be removed for one process.
	 */
	if (!attach_filters_process(p->attach))
		return -ENOTSUP;
	m->linked = true;
	return alone->attach(p->attach, &g, (int)tgid);
}

static int probe_alone(struct probes *p, const struct alone *alone, struct module *m, uint32_t tgid,
		       uint32_t inc)
{
	uint64_t key = key_of(m, tgid, inc), value = 0;
	int err;

	if (hash_get(alone->done, key, &value))
		return value == 1 ? 0 : -ENOTSUP;
	err = hash_count(alone->done) >= WAITS_MAX ? -EUSERS : put_alone(p, alone, m, tgid);
	if (hash_put(alone->done, key, err ? 2 : 1))
		return -ENOMEM;
	msg_verbose(p->options->verbose, "probes: %u %s in %s%s%s", alone->waits->nentries,
		    alone->what, m->path, err ? ": " : "", err ? why_not(err) : "");
	return err;
}

static int probe_again(struct probes *p, const struct alone *alone, struct module *m, uint32_t tgid,
		       uint32_t inc)
{
	uint64_t value;

	return hash_get(alone->done, key_of(m, tgid, inc), &value) ? put_alone(p, alone, m, tgid)
								   : 0;
}

static struct alone turns_of(struct probes *p, const struct module *m)
{
	return (struct alone){ &p->turns, &m->turns, attach_turns, "turns" };
}

static struct alone sems_of(struct probes *p, const struct module *m)
{
	return (struct alone){ &p->sems, &m->sems, attach_sems, "waits on semaphores" };
}

int probes_turns(struct probes *p, struct module *m, uint32_t tgid, uint32_t inc)
{
	struct alone alone = turns_of(p, m);

	return probe_alone(p, &alone, m, tgid, inc);
}

int probes_turns_again(struct probes *p, struct module *m, uint32_t tgid, uint32_t inc)
{
	struct alone alone = turns_of(p, m);

	return probe_again(p, &alone, m, tgid, inc);
}

int probes_sems(struct probes *p, struct module *m, uint32_t tgid, uint32_t inc)
{
	struct alone alone = sems_of(p, m);

	return probe_alone(p, &alone, m, tgid, inc);
}

int probes_sems_again(struct probes *p, struct module *m, uint32_t tgid, uint32_t inc)
{
	struct alone alone = sems_of(p, m);

	return probe_again(p, &alone, m, tgid, inc);
}

static bool has_two_ends(const struct module_probe_site *probe_site)
{
	uint8_t role = probe_site->spec.role;

	return role == SBT_ROLE_BARRIER || role == SBT_ROLE_REGION || role == SBT_ROLE_OUTLINED;
}

/*
 * Report that the ends of parallel regions are not seen if the regions run @from or one of @n - 1
 * other functions.
 */
static void report_no_join(const struct module *m, const struct module_probe_site *from, uint32_t n)
{
	char more[48] = "";

	if (n > 1)
		snprintf(more, sizeof(more), " or %u other functions", n - 1);
	remark_warn("not_probed", 0,
		    "the end of parallel regions that run %s%s in %s is not seen: where it returns "
		    "is unknown (%s), and a return probe could break programs that unwind",
		    from->symbol, more, m->path, from->exits_why);
}

/* Attach the probes of one probe site. @done: they are attached already, and are only counted. */
static int attach_one(struct probes *p, struct module *m, const struct module_probe_site *from,
		      int pid, bool by_exit, bool done)
{
	struct attach_probe_site probe_site;
	int err;

	/*
	 * Programs may mark accesses often, so probe these markers only for a recording, which
	 * alone contains the accesses.
	 */
	if (from->spec.role == SBT_ROLE_MARK_ACCESS && !p->options->accesses)
		return 0;
	if (from->error) {
		remark_warn("not_probed", 0, "%s in %s cannot be probed: %s", from->symbol, m->path,
			    from->entry.why);
		return from->error;
	}
	fill_probe_site(p, m, from, &probe_site);
	if (done)
		err = 0;
	else if (from->end)
		err = attach_end(p->attach, &probe_site, pid);
	else
		err = attach_probe_site(p->attach, &probe_site, pid, false);
	if (err == -ENOTSUP && !from->nexits && !is_inferred(p, m, from)) {
		/* If the process needs probes on exits, probes_exits() reports the error. */
		if (!by_exit || from->function->rule)
			remark_warn("not_probed", 0,
				    "%s in %s is not traced: where it returns is unknown (%s), and "
				    "a return probe could break programs that unwind",
				    from->symbol, m->path, from->exits_why);
		return err;
	}
	if (err) {
		remark_warn("not_probed", 0, "%s in %s could not be probed: %s", from->symbol,
			    m->path, strerror(-err));
		return err;
	}
	p->places++;
	if (from->spec.rule <= RULES_MAX)
		p->by_rule[from->spec.rule]++;
	m->probed = true;
	written_watch(&p->written, m);
	if (from->entry.insn.class != INSN_EMULATED) {
		p->stepped = true;
		if (from->spec.role != SBT_ROLE_OUTLINED)
			m->stepped[from->spec.family] |= 1u << from->spec.kind;
	}
	msg_verbose(p->options->verbose, "probe: %s in %s at 0x%llx, %s: %s", from->symbol, m->path,
		    (unsigned long long)from->offset, attach_method_name(attach_method(p->attach)),
		    from->entry.why);
	return 0;
}

/* Return whether the probe site can be attached together with other probe sites of its file. */
static bool is_common(const struct probes *p, const struct module_probe_site *probe_site)
{
	return !probe_site->error && probe_site->spec.role == SBT_ROLE_BARRIER &&
	       !probe_site->end && !(probe_site->spec.flags & (SBT_SPEC_RETS | SBT_SPEC_PAIR)) &&
	       (probe_site->nexits || !attach_only_exits(p->attach));
}

/*
 * Collect the probe sites of a file that can be attached together with @first: all have its probe
 * group. Return their number; @which gets their indices.
 */
static uint32_t fill_alike(const struct probes *p, const struct module *m, uint32_t first,
			   struct attach_probe_site *places, uint32_t *which)
{
	uint8_t probe_group = probe_group_of(p, &m->places[first]);
	uint32_t i, n = 0;

	for (i = first; i < m->nplaces; i++) {
		if (!is_common(p, &m->places[i]) || probe_group_of(p, &m->places[i]) != probe_group)
			continue;
		fill_probe_site(p, m, &m->places[i], &places[n]);
		which[n++] = i;
	}
	return n;
}

/*
 * Attach the probe sites of a file together, because MPI libraries have dozens of them. Set @done
 * for each probe site that is attached.
 */
static void attach_common(struct probes *p, const struct module *m, int pid, bool *done)
{
	struct attach_probe_site *places = calloc(m->nplaces + 1, sizeof(*places));
	uint32_t *which = calloc(m->nplaces + 1, sizeof(*which)), i, k, n;
	bool *tried = calloc(m->nplaces + 1, sizeof(*tried));

	for (i = 0; places && which && tried && i < m->nplaces; i++) {
		if (tried[i] || !is_common(p, &m->places[i]))
			continue;
		n = fill_alike(p, m, i, places, which);
		for (k = 0; k < n; k++)
			tried[which[k]] = true;
		if (n < 2 || attach_probe_sites(p->attach, places, n, pid))
			continue;
		for (k = 0; k < n; k++)
			done[which[k]] = true;
	}
	free(places);
	free(which);
	free(tried);
}

/* Remember the barriers of OpenMP teams in this file: their ends have no probes. */
static void defer_ends(struct probes *p, struct module *m, int pid)
{
	array_for_each (from, m->places, m->nplaces) {
		if (from->error || inferred_in_team(p, from) != SBT_TEAM_ARRIVALS)
			continue;
		if (grow(p->deferred, p->cap_deferred, p->ndeferred + 1))
			probes_team_ends(p);
		else
			p->deferred[p->ndeferred++] = (struct probes_file){ m, pid };
		return;
	}
}

static void attach_module(struct probes *p, struct module *m, int pid, bool by_exit)
{
	bool *done = calloc(m->nplaces + 1, sizeof(*done));
	uint32_t i;

	defer_ends(p, m, pid);
	if (done)
		attach_common(p, m, pid, done);
	for (i = 0; i < m->nplaces; i++)
		if (m->places[i].spec.role != SBT_ROLE_TASK)
			attach_one(p, m, &m->places[i], pid, by_exit, done && done[i]);
	free(done);
}

void probes_tasks(struct probes *p, struct module *m, uint32_t tgid)
{
	int pid = p->options->by_process ? (int)tgid : 0;
	uint64_t key = hash_mix((uint64_t)(uintptr_t)m) ^ (uint32_t)pid, value;
	uint32_t i;

	for (i = 0; i < m->nplaces && m->places[i].spec.role != SBT_ROLE_TASK; i++)
		;
	if (i == m->nplaces)
		return;
	/* Once there are tasks, departures cannot be inferred, and it is too late to attach. */
	probes_team_ends(p);
	if (hash_get(&p->tasks, key, &value) || hash_put(&p->tasks, key, 1))
		return;
	for (; i < m->nplaces; i++)
		if (m->places[i].spec.role == SBT_ROLE_TASK)
			attach_one(p, m, &m->places[i], pid, false, false);
}

/*
 * Probe the ends of the barriers of OpenMP teams in one file, all together: departures are unknown
 * until then.
 */
static int attach_team_exits(struct probes *p, const struct probes_file *file)
{
	struct attach_probe_site *sites = calloc(file->m->nplaces + 1, sizeof(*sites));
	uint32_t n = 0;
	int err;

	if (!sites)
		return -ENOMEM;
	array_for_each (from, file->m->places, file->m->nplaces)
		if (!from->error && inferred_in_team(p, from) != SBT_TEAM_SEEN)
			fill_probe_site(p, file->m, from, &sites[n++]);
	err = attach_exits(p->attach, sites, n, file->pid);
	free(sites);
	return err == -ESRCH ? 0 : err;
}

void probes_team_ends(struct probes *p)
{
	bool all = true;
	int err;

	if (p->team_ends)
		return;
	p->team_ends = true;
	array_for_each (file, p->deferred, p->ndeferred) {
		err = attach_team_exits(p, file);
		all &= !err;
		if (err)
			remark_warn("not_probed", 0,
				    "departures from barriers of OpenMP teams in %s are unknown "
				    "where they cannot be inferred: cannot attach the probes: %s",
				    file->m->path, strerror(-err));
		else
			msg_verbose(p->options->verbose,
				    "probes: the ends of barriers of OpenMP teams in %s, because "
				    "not all departures can be inferred",
				    file->m->path);
	}
	p->ndeferred = 0;
	/* Without a probe at its end, a crossing would seem to have been abandoned. */
	if (all)
		attach_team_ends(p->attach);
}

/*
 * Return the distance from the start of a program's code (mm.start_code) to the byte at @offset of
 * its file; UINT64_MAX: not in code.
 */
static uint64_t behind_code(const struct module *m, uint64_t offset)
{
	uint64_t first = UINT64_MAX, at = UINT64_MAX;

	array_for_each (s, m->segments, m->nsegments) {
		if (!s->exec)
			continue;
		if (s->vaddr < first)
			first = s->vaddr;
		if (offset >= s->offset && offset - s->offset < s->size)
			at = s->vaddr + (offset - s->offset);
	}
	return at == UINT64_MAX ? at : at - first;
}

/* Make processes that run the program from now on report its regions again. */
static void forget_program(struct probes *p, const struct module *m,
			   const struct module_probe_site *probe_site)
{
	uint64_t behind = behind_code(m, probe_site->start);

	if (m->traits.executable && probe_site->spec.role == SBT_ROLE_OUTLINED &&
	    behind != UINT64_MAX)
		attach_outlined_program(p->attach, m->dev, m->ino, behind, false);
}

/*
 * If probes are shared, note a region's function for all future processes of this program. Their
 * first regions begin before the processes are examined.
 */
static void note_program(struct probes *p, const struct module *m,
			 const struct module_probe_site *probe_site)
{
	uint64_t behind = behind_code(m, probe_site->start);

	if (p->options->by_process || p->options->discover_all || !m->traits.executable ||
	    probe_site->spec.role != SBT_ROLE_OUTLINED || probe_site->error || behind == UINT64_MAX)
		return;
	attach_outlined_program(p->attach, m->dev, m->ino, behind, !probe_site->removed);
}

void probes_module(struct probes *p, struct module *m, uint32_t tgid, bool by_exit)
{
	int pid = p->options->by_process ? (int)tgid : 0, err;
	bool loader = m->loader && p->options->all_loaders;
	uint32_t i;

	if ((!m->nplaces && !loader) || already(p, m, tgid))
		return;
	m->linked = true;
	attach_module(p, m, pid, by_exit);
	m->attached_ns = now_ns();
	array_for_each (place, m->places, m->nplaces)
		note_program(p, m, place);
	err = m->c_library && !m->nmakers ? -ENOENT : 0;
	for (i = 0; i < m->nmakers && !err; i++)
		err = attach_made(p->attach, module_fd(m), m->makers[i], pid);
	if (err) {
		/*
		 * Some initialisations of barriers are not seen, so the thread count is read at
		 * each crossing.
		 */
		attach_keep_words(p->attach, false);
		p->reread = true;
	} else if (m->c_library && !p->reread) {
		attach_keep_words(p->attach, true);
	}
	if (loader) {
		err = attach_loader(p->attach, module_fd(m), m->loader, pid);
		if (err)
			remark_warn("not_probed", 0,
				    "cannot notice libraries that programs using %s open later: %s",
				    m->path, strerror(-err));
	}
}

void probes_loader(struct probes *p, struct module *m, uint32_t tgid, uint32_t leader)
{
	uint64_t key = hash_mix((uint64_t)(uintptr_t)m) ^ ((uint64_t)leader << 32 | tgid), value;
	int err;

	if (!m->loader || p->options->all_loaders || hash_get(&p->loaders, key, &value) ||
	    hash_put(&p->loaders, key, 1))
		return;
	m->linked = true;
	err = attach_loader(p->attach, module_fd(m), m->loader, (int)tgid);
	if (err && err != -ESRCH)
		remark_warn(
			"not_probed", tgid,
			"process %u is not stopped while its libraries are mapped, and libraries "
			"that it opens later will not be noticed: cannot attach the probe in "
			"%s: %s",
			tgid, m->path, strerror(-err));
}

/* The file has no probes any more. */
static void forget_deferred(struct probes *p, const struct module *m)
{
	uint32_t i, n = 0;

	for (i = 0; i < p->ndeferred; i++)
		if (p->deferred[i].m != m)
			p->deferred[n++] = p->deferred[i];
	p->ndeferred = n;
}

void probes_remove_file(struct probes *p, struct module *m)
{
	uint64_t key = hash_mix((uint64_t)(uintptr_t)m);

	if (attach_remove_file(p->attach, m->identity.st_dev, m->identity.st_ino))
		return;
	forget_deferred(p, m);
	m->attached = m->linked = false;
	written_forget(&p->written, m);
	array_for_each (place, m->places, m->nplaces) {
		place->exits_used = false;
		forget_program(p, m, place);
	}
	hash_del(&p->waits, key);
	hash_del(&p->returns, key);
	hash_del(&p->tasks, key);
}

uint32_t probes_returns(struct probes *p, struct module *m, uint32_t tgid)
{
	int pid = p->options->by_process ? (int)tgid : 0;
	uint64_t key = hash_mix((uint64_t)(uintptr_t)m) ^ (uint32_t)pid, done;

	if (!m->returns.n)
		return 0;
	if (!hash_get(&p->returns, key, &done)) {
		done = attach_returns(p->attach, module_fd(m), m->returns.at, m->returns.n, pid,
				      m->returned)
			       ? 2
			       : 1;
		if (hash_put(&p->returns, key, done))
			return 0;
		msg_verbose(
			p->options->verbose,
			"probes: %u addresses to which functions of parallel regions return, in "
			"%s%s",
			m->returns.n, m->path, done == 1 ? "" : ": cannot attach");
	}
	return done == 1 ? m->returned : 0;
}

/*
 * Return whether a probe at the function's return address shows its end. @returns is from
 * probes_returns().
 */
static bool is_returned(const struct module_probe_site *probe_site, uint32_t returns)
{
	return probe_site->spec.role == SBT_ROLE_OUTLINED &&
	       (returns & 1u << probe_site->spec.family);
}

void probes_report_ends(struct probes *p, struct module *m, uint32_t returns)
{
	const struct module_probe_site *first = NULL;
	uint32_t i, unseen = 0;

	for (i = 0; i < m->nplaces && attach_only_exits(p->attach); i++) {
		struct module_probe_site *probe_site = &m->places[i];

		if (probe_site->error || probe_site->spec.role != SBT_ROLE_OUTLINED ||
		    probe_site->nexits || probe_site->exits_used ||
		    is_returned(probe_site, returns))
			continue;
		probe_site->exits_used = true;
		if (!unseen++)
			first = probe_site;
	}
	if (first)
		report_no_join(m, first, unseen);
}

/* Probe the exits of functions of one role. The exits of each probe group are attached together. */
static int attach_all_exits(struct probes *p, struct attach_probe_site *places, uint32_t n)
{
	struct attach_probe_site probe_site;
	uint32_t i, k;
	int err = 0;

	for (; n && !err; places += k, n -= k) {
		for (i = k = 1; i < n; i++) {
			if (places[i].spec.probe_group != places[0].spec.probe_group)
				continue;
			probe_site = places[k];
			places[k++] = places[i];
			places[i] = probe_site;
		}
		err = attach_exits(p->attach, places, k, 0);
	}
	return err;
}

/*
 * Probe exits for a process in which return probes may not be used. The probes stay, for all
 * processes that run the file: children of the process need them too.
 */
int probes_exits(struct probes *p, struct module *m, uint32_t returns)
{
	const struct module_probe_site *first = NULL;
	struct attach_probe_site *places;
	uint32_t n = 0, unseen = 0;
	int err = 0;

	places = calloc(m->nplaces + 1, sizeof(*places));
	if (!places)
		return -ENOMEM;

	array_for_each (from, m->places, m->nplaces) {
		if (from->error || !has_two_ends(from) || (from->spec.flags & SBT_SPEC_RETS) ||
		    from->exits_used || is_inferred(p, m, from))
			continue;
		/*
		 * A probe at the return address in the runtime shows the end, except if the program
		 * itself calls the function. Then only a probe on the exits shows it.
		 */
		if (is_returned(from, returns) &&
		    (!from->nexits || !family_has(from->spec.family, FAMILY_SERIAL_REGIONS)))
			continue;
		if (!from->nexits && from->spec.role == SBT_ROLE_OUTLINED) {
			from->exits_used = true;
			if (!unseen++)
				first = from;
			continue;
		}
		if (!from->nexits && !family_has(from->spec.family, FAMILY_LIBC_OBJECT)) {
			/*
			 * In processes that may not have return probes, the BPF programs skip this
			 * function (see struct sbt_spec).
			 */
			from->exits_used = true;
			remark_warn("not_probed", 0,
				    "%s in %s is not traced in programs that unwind: its exits are "
				    "unknown (%s)",
				    from->symbol, m->path, from->exits_why);
			continue;
		}
		if (!from->nexits) {
			remark_warn("not_probed", 0, "%s in %s: its exits are unknown (%s)",
				    from->symbol, m->path, from->exits_why);
			err = -ENOTSUP;
			break;
		}
		if (attach_only_exits(p->attach))
			continue;
		from->exits_used = true;
		/* Probe sites of barriers can be attached together. */
		fill_probe_site(p, m, from, &places[n]);
		if (from->spec.role == SBT_ROLE_BARRIER)
			n++;
		else if (attach_exits(p->attach, &places[n], 1, 0))
			remark_warn("not_probed", 0, "cannot probe the exits of %s in %s",
				    from->symbol, m->path);
	}
	if (!err && n) {
		err = attach_all_exits(p, places, n);
		if (err)
			remark_warn("not_probed", 0, "cannot probe the exits of %s%s in %s: %s",
				    m->places[0].symbol, n > 1 ? " and others" : "", m->path,
				    strerror(-err));
	}
	if (first)
		report_no_join(m, first, unseen);
	free(places);
	return err;
}

void probes_note_outlined(struct probes *p, uint32_t tgid, const struct maps_entry *e,
			  const struct module *m)
{
	array_for_each (probe_site, m->places, m->nplaces) {
		uint64_t offset = probe_site->start - e->offset;

		if (probe_site->spec.role == SBT_ROLE_OUTLINED && !probe_site->error &&
		    !probe_site->removed && probe_site->start >= e->offset &&
		    offset < e->end - e->start)
			attach_outlined(p->attach, tgid, e->start + offset, true);
	}
}

static struct module_probe_site *outlined_at(const struct module *m, uint64_t offset)
{
	array_for_each (p, m->places, m->nplaces)
		if (p->spec.role == SBT_ROLE_OUTLINED && p->start == offset)
			return p;
	return NULL;
}

int probes_find_outlined(struct probes *p, struct module *m, const struct address_space *space,
			 uint8_t family, uint64_t offset, uint64_t caller)
{
	int pid = p->options->by_process ? (int)space->tgid : 0, err;
	struct module_probe_site *known = outlined_at(m, offset);
	uint32_t i = m->nplaces;

	if (known && known->removed) {
		/*
		 * The probe was removed because the function was a task in one process. In this
		 * process it is a parallel region.
		 */
		known->removed = false;
		err = attach_one(p, m, known, pid, space->refusal != NULL, false);
		note_program(p, m, known);
		return err;
	}
	if (known)
		return 0;
	err = module_find_outlined(m, family, offset, caller);
	for (; i < m->nplaces; i++) {
		attach_one(p, m, &m->places[i], pid, space->refusal != NULL, false);
		note_program(p, m, &m->places[i]);
	}
	return err;
}

int probes_remove(struct probes *p, struct module *m, uint32_t tgid, uint64_t offset, bool *unseen)
{
	struct module_probe_site *probe_site;
	bool for_all;
	uint32_t i;
	int err;

	for (i = 0; i < m->nplaces && m->places[i].offset != offset; i++)
		;
	if (i == m->nplaces)
		return -ENOENT;
	probe_site = &m->places[i];
	probe_site->removed = true;
	note_program(p, m, probe_site);
	err = attach_remove_tagged(p->attach, tag_of(m, probe_site), tgid, &for_all);
	*unseen = for_all && probe_site->spec.role == SBT_ROLE_TASK;
	/* The next program of the process must report its own tasks. */
	if (p->options->by_process && probe_site->spec.role == SBT_ROLE_TASK)
		hash_del(&p->tasks, hash_mix((uint64_t)(uintptr_t)m) ^ tgid);
	msg_verbose(p->options->verbose,
		    "probe: %s in %s has reported that process %u has tasks, and is removed",
		    probe_site->symbol, m->path, tgid);
	return err;
}
