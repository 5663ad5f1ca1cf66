// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Close files that no traced process runs any more, and remove their probes. */
#include "capture/process_tracker_internal.h"

#include <sys/stat.h>

#include "base/array.h"
#include "base/msg.h"
#include "target/proc.h"

#define CLOSE_NS 2000000000u /* how often unused files are closed */

#define UNUSED_MAX 64 /* maximum number of files that lose their probes at a time */

struct unused {
	struct tracker *t;
	struct module *modules[UNUSED_MAX]; /* files with probes that no known process maps */
	bool mapped[UNUSED_MAX]; /* a process that maps the file was found */
	uint32_t n, nmapped;
	dev_t root;
};

static bool settle_module(void *ctx, struct module *m)
{
	struct tracker *t = ctx;

	return address_spaces_settle_module(t->spaces, m);
}

static bool maps_module(const struct maps *maps, const struct module *m)
{
	array_for_each (e, maps->entries, maps->n)
		if (e->exec && e->ino == m->ino && e->dev == m->dev)
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

bool tracker_still_mapped(const struct module *m)
{
	struct maps maps;
	bool mapped;

	if (m->pid <= 0 || maps_read(m->pid, &maps))
		return false;
	mapped = maps_module(&maps, m);
	maps_free(&maps);
	return mapped;
}

/* Keep the probes of installed libraries: they are few, and a new process needs them at once. */
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
	    !tracker_still_mapped(m))
		u->modules[u->n++] = m;
}

/* -a: remove probes of ended programs, because they keep file systems busy and accumulate. */
static void remove_unused(struct tracker *t)
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

void tracker_step(struct tracker *t, uint64_t now)
{
	/*
	 * Processes that already run when tracing begins will be found soon. Close no files in the
	 * first CLOSE_NS, so that their files stay open until then.
	 */
	if (!t->closed_ns)
		t->closed_ns = now;
	if (now - t->closed_ns < CLOSE_NS)
		return;
	t->closed_ns = now;
	tracker_watch(t);
	tracker_copied_forget(t);
	address_spaces_mark_used(t->spaces);
	if (t->options.discover_all)
		remove_unused(t);
	modules_close_unused(t->modules, settle_module, t);
}
