// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Remarks on the files that were searched for barriers. */
#include "capture/process_tracker_internal.h"

#include <errno.h>
#include <string.h>

#include "base/remark.h"
#include "sites/family.h"

struct explain {
	int shown;
};

static void explain_nameless(void *ctx, struct module *m)
{
	(void)ctx;
	if (m->in_target && !m->error && !m->nplaces && module_is_nameless(m))
		remark_note(REMARK_ERROR, "nameless", 0,
			    "%s: static and stripped: its functions have no names to search for, "
			    "and none was recognised by its code",
			    m->path);
}

static void explain_module(void *ctx, struct module *m)
{
	char names[FAMILY_NAMES];
	struct explain *e = ctx;

	if (!m->in_target)
		return;
	if (m->left_out)
		remark_note(REMARK_ERROR, "looked_at", 0,
			    "%s: has functions of %s, which --aggregate omits", m->path,
			    family_list(m->left_out, names, sizeof(names)));
	if (m->error && m->error != -ENOEXEC) {
		remark_note(REMARK_ERROR, "looked_at", 0, "%s: not read: %s", m->path,
			    module_why(m->error));
	} else if (m->nplaces) {
		remark_note(REMARK_ERROR, "looked_at", 0, "%s: has %u of these functions, %s",
			    m->path, m->nplaces,
			    m->probed ? "probed, but no thread crossed a barrier there"
				      : "not probed");
	} else if (m->is_elf && !module_is_nameless(m) && !m->team && !m->left_out &&
		   e->shown++ < 12) {
		remark_note(REMARK_ERROR, "looked_at", 0, "%s: has none of these functions",
			    m->path);
	}
}

static bool has_std(const struct module *m)
{
	uint32_t i;

	for (i = 0; i < m->nplaces && !family_has(m->places[i].spec.family, FAMILY_CXX); i++)
		;
	return i < m->nplaces;
}

static void report_inlined(void *ctx, struct module *m)
{
	(void)ctx;
	if (m->in_target && m->inlined_waits)
		remark_note(REMARK_HINT, "inlined", 0,
			    "%s inlines std::barrier, std::latch, std::atomic::wait() or a C++20 "
			    "semaphore, and sbt-trace does not recognise the code: barriers of "
			    "this kind may be missing. --discover finds them if all waiting "
			    "threads sleep; or name a function around the barrier with -b",
			    m->path);
	if (m->in_target && m->scopes && !m->joins.nentries)
		remark_note(REMARK_HINT, "inlined", 0,
			    "%s is a Rust program that creates threads: rounds of "
			    "std::thread::scope()%s are not seen if their waits are inlined or "
			    "have no name, as after link-time optimisation or without symbols",
			    m->path, has_std(m) ? "" : " and of std::sync::Barrier");
}

static void report_team(void *ctx, struct module *m)
{
	(void)ctx;
	if (m->in_target && m->team)
		remark_note(REMARK_HINT, "own_threads", 0, "%s %s", m->path, module_team_text(m));
}

void tracker_report_teams(const struct tracker *t)
{
	modules_each(t->modules, report_team, NULL);
}

void tracker_report_inlined(const struct tracker *t)
{
	modules_each(t->modules, report_inlined, NULL);
}

static void count_looked(void *ctx, struct module *m)
{
	*(uint32_t *)ctx += m->in_target && m->is_elf;
}

void tracker_explain(const struct tracker *t, bool aggregate)
{
	struct explain e = { 0 };
	uint32_t n = 0;

	modules_each(t->modules, count_looked, &n);
	remark_note(REMARK_ERROR, "nothing_crossed", 0,
		    "no barrier was crossed. Looked for %s in %u file%s:",
		    aggregate ? "pthread_barrier_wait only (--aggregate)"
			      : "functions of pthread, OpenMP, MPI and others",
		    n, n == 1 ? "" : "s");
	modules_each(t->modules, explain_module, &e);
	if (e.shown > 12)
		remark_note(REMARK_ERROR, "looked_at", 0,
			    "and %d more files that have none of these functions", e.shown - 12);
	modules_each(t->modules, explain_nameless, NULL);
}
