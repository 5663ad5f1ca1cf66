// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Probes where the threads of one process wait for other threads, or for their turn. */
#include "capture/process_tracker_internal.h"

#include <errno.h>
#include <string.h>

#include "base/msg.h"
#include "base/text.h"

/* Return whether an earlier mapping has the same module. */
static bool is_earlier(struct tracker *t, struct address_space *space, size_t n,
		       const struct module *m)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (tracker_module(t, space, i) == m)
			return true;
	return false;
}

/* Probe where the threads wait for their turn, if the code calls such functions. */
void tracker_examine_turns(struct tracker *t, struct address_space *space)
{
	size_t i;

	if (!t->options.turns || !untraced_has_turns(&space->untraced))
		return;
	for (i = 0; i < space->maps.n; i++) {
		struct module *m = tracker_module(t, space, i);

		if (!m || !m->turns.nentries)
			continue;
		untraced_join(&space->turns_unseen, &m->turns_unseen);
		if (probes_turns(&t->probes, m, space->tgid, space->inc))
			space->turns = ADDRESS_SPACE_TURNS_PARTLY;
		else if (space->turns == ADDRESS_SPACE_TURNS_NONE)
			space->turns =
				space->runs ? ADDRESS_SPACE_TURNS_PARTLY : ADDRESS_SPACE_TURNS_SEEN;
	}
}

/* Call @again for each module of the process until it fails. Return 0 or its error. */
static int probe_again(struct tracker *t, struct address_space *space,
		       int (*again)(struct probes *probes, struct module *module, uint32_t tgid,
				    uint32_t inc))
{
	int err = 0;
	size_t i;

	for (i = 0; !err && i < space->maps.n; i++) {
		struct module *m = tracker_module(t, space, i);

		/* A file may have several mappings, but its probes are attached once. */
		if (m && !is_earlier(t, space, i, m))
			err = again(&t->probes, m, space->tgid, space->inc);
	}
	return err;
}

int tracker_rest_turns(struct tracker *t, uint32_t tgid, uint32_t inc, bool rest)
{
	struct address_space *space = address_space_find(t->spaces, tgid, inc);
	int err = space ? 0 : -ENOENT;

	if (space)
		space->turns = ADDRESS_SPACE_TURNS_PARTLY;
	return err || rest ? err : probe_again(t, space, probes_turns_again);
}

/*
 * Probe where the threads wait on semaphores, if the code has such waits. Failures are not
 * reported: semaphores only yield candidates.
 */
static void examine_sems(struct tracker *t, struct address_space *space)
{
	size_t i;

	for (i = 0; i < space->maps.n && space->untraced.semaphores; i++) {
		struct module *m = tracker_module(t, space, i);

		if (m && m->sems.nentries)
			probes_sems(&t->probes, m, space->tgid, space->inc);
	}
}

/*
 * If the process runs a Python interpreter, let the BPF programs read its frames. Failures are not
 * reported: the process may have ended, or its version may be unknown.
 */
static void examine_python(struct tracker *t, struct address_space *space)
{
	struct sbt_python python = { .inc = space->inc };
	uint32_t minor;

	if (space->python)
		return;
	minor = address_space_find_python(t->spaces, space);
	if (!minor)
		return;
	python.runtime = space->python_runtime;
	python.layout = space->python_layout;
	if (attach_python(t->attach, space->tgid, &python)) {
		space->python = NULL;
		return;
	}
	msg_verbose(t->options.verbose, "process %u: Python 3.%u, in %s", space->tgid, minor,
		    space->python->path);
}

bool tracker_has_multiprocessing(struct tracker *t, const struct address_space *space)
{
	static const char name[] = "_multiprocessing.";
	size_t i;

	for (i = 0; i < space->maps.n; i++) {
		const struct module *m = tracker_module(t, space, i);

		if (m && !strncmp(text_base_name(m->path), name, sizeof(name) - 1))
			return true;
	}
	return false;
}

int tracker_rest_sems(struct tracker *t, uint32_t tgid, uint32_t inc, bool rest)
{
	struct address_space *space = address_space_find(t->spaces, tgid, inc);
	int err = space ? 0 : -ENOENT;

	return err || rest ? err : probe_again(t, space, probes_sems_again);
}

/*
 * Probe where the threads of the process wait for other threads. Processes with one thread, which
 * are most processes of a build or a shell, need no such probes. Return -ESRCH if the process has
 * ended.
 */
int tracker_examine_waits(struct tracker *t, struct address_space *space, bool running)
{
	uint64_t key = (uint64_t)space->inc << 32 | space->tgid, seen;
	int err = 0;
	size_t i;

	if (!t->options.discover)
		return 0;
	if (!hash_get(&t->seen, key, &seen))
		address_space_see_inherited(space);
	for (i = 0; i < space->maps.n; i++) {
		struct module *m = tracker_module(t, space, i);

		if (m && probes_waits(&t->probes, m, space->tgid, space->inc) == -ESRCH)
			err = -ESRCH;
	}
	examine_python(t, space);
	examine_sems(t, space);
	/* From now on waits are seen, where probes could be attached. */
	if (hash_get(&t->seen, key, &seen) || hash_put(&t->seen, key, 1))
		return err;
	space->blind = running;
	attach_flag_process(t->attach, space->tgid, space->inc, SBT_PROC_WAITS, 0);
	return err;
}

static bool shares_memory(uint32_t tgid)
{
	struct maps maps = {};
	bool shares = false;
	size_t i;

	if (maps_read((int)tgid, &maps))
		return false;
	for (i = 0; i < maps.n && !shares; i++)
		shares = maps.entries[i].shared && maps.entries[i].writable;
	maps_free(&maps);
	return shares;
}

/*
 * A child with one thread may cross a barrier in shared memory together with its parent. If the
 * kernel does not report waits without probes, probe both processes at once.
 */
void tracker_examine_forked(struct tracker *t, struct address_space *child)
{
	struct address_space *parent =
		address_space_find(t->spaces, child->parent_tgid, child->parent_inc);

	if (parent && t->options.discover && tracker_has_multiprocessing(t, parent)) {
		tracker_examine_waits(t, child, true);
		return;
	}
	if (!t->options.discover || t->options.discover_all || t->options.waits_reported ||
	    !shares_memory(child->tgid))
		return;
	t->unprobed += tracker_examine_waits(t, child, true) == -ESRCH;
	if (parent)
		tracker_examine_waits(t, parent, true);
}

uint64_t tracker_unprobed(const struct tracker *t)
{
	return t->unprobed;
}

int tracker_rest(struct tracker *t, uint32_t tgid, uint32_t inc, bool rest)
{
	struct address_space *space = address_space_find(t->spaces, tgid, inc);
	int err = space ? 0 : -ENOENT;
	size_t i;

	for (i = 0; !err && i < space->maps.n; i++) {
		struct module *m = tracker_module(t, space, i);

		/* A file may have several mappings, but its probes are attached once. */
		if (m && !is_earlier(t, space, i, m))
			err = probes_rest(&t->probes, m, tgid, inc, rest);
	}
	return err;
}
