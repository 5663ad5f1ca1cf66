// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Attach probes to probe sites by the chosen method. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/internal.h"
#include "attach/link.h"
#include "base/grow.h"

/*
 * Return the number of @spec in the map of specs. Add the spec if the map lacks it. Return -ENOSPC
 * if the map is full, or -errno.
 */
static int spec_number(struct attach *a, const struct sbt_spec *spec)
{
	struct sbt_spec full = *spec;
	uint32_t i;

	if (!full.probe_group)
		full.probe_group = SBT_PROBE_GROUP(full.family);
	for (i = 0; i < a->nspecs; i++)
		if (!memcmp(&a->specs[i], &full, sizeof(full)))
			return (int)i;
	if (a->nspecs == SBT_SPECS)
		return -ENOSPC;
	if (bpf_map_update_elem(bpf_map__fd(a->skel->maps.specs), &i, &full, BPF_ANY))
		return -errno;
	a->specs[a->nspecs++] = full;
	return (int)i;
}

/*
 * Find all probes at the same offset in their page as @offset. Write these probes to the map in
 * which BPF programs look up probes by their code.
 */
static int share_probe_site(struct attach *a, uint64_t offset)
{
	int fd = bpf_map__fd(a->skel->maps.place_codes);
	const struct probe_sites_probe *probe;
	uint32_t at = 0;

	while ((probe = probe_sites_next(&a->probe_sites, offset, &at))) {
		struct sbt_probe_site key = { .place = offset & (SBT_PAGE_PROBE_SITES - 1),
					      .code = probe->code };

		if (bpf_map_update_elem(fd, &key, &probe->number, BPF_ANY))
			return -errno;
	}
	return 0;
}

/*
 * Record the probe at @offset. If probes have no cookies, a BPF program identifies the probe by its
 * offset in the page, and if necessary by the code there. @number is PROBE_SITES_NONE if the
 * probe's program needs no number.
 */
static int claim_probe_site(struct attach *a, int fd, uint64_t offset, uint32_t number)
{
	struct probe_sites_probe probe = { .offset = offset, .number = number };
	uint32_t page_offset = offset & (SBT_PAGE_PROBE_SITES - 1), value = number;
	bool shared;
	struct stat st;
	int err;

	if (a->cookies)
		return 0;
	if (fstat(fd, &st))
		return -errno;
	probe.dev = st.st_dev;
	probe.ino = st.st_ino;
	probe.has_code = probe_sites_code_fits(offset) &&
			 pread(fd, &probe.code, sizeof(probe.code),
			       (off_t)(offset + SBT_BREAKPOINT_BYTES)) == sizeof(probe.code);
	err = probe_sites_add(&a->probe_sites, &probe, &shared);
	if (!err && shared)
		err = share_probe_site(a, offset);
	if (err || number == PROBE_SITES_NONE)
		return err;
	if (shared)
		value = SBT_PROBE_SITE_SHARED;
	return bpf_map_update_elem(bpf_map__fd(a->skel->maps.page_places), &page_offset, &value,
				   BPF_ANY)
		       ? -errno
		       : 0;
}

/* Add the link @fd to the list. @file is the open file that contains the link's probes. */
static int add_link(struct attach *a, int fd, int file, int pid, uint64_t probe_groups)
{
	struct stat st = { 0 };

	if (fd < 0)
		return fd;
	if (grow(a->links, a->links_cap, a->nlinks + 1)) {
		link_close(fd);
		return -ENOMEM;
	}
	/* Without the file's identity, attach_remove_file() cannot find the link. */
	if (fstat(file, &st))
		st.st_ino = 0;
	a->links[a->nlinks++] = (struct attach_link){ .fd = fd,
						      .pid = pid > 0 ? pid : 0,
						      .probe_groups = probe_groups,
						      .dev = st.st_dev,
						      .ino = st.st_ino };
	return 0;
}

/*
 * Undo attachments if one of them failed (@err): remove all links after the first @before links.
 * Return @err.
 */
static int all_or_none(struct attach *a, uint32_t before, int err)
{
	while (err && a->nlinks > before)
		link_close(a->links[--a->nlinks].fd);
	return err;
}

/* Return the probe group of a spec for attach_link.probe_groups. */
static uint64_t probe_group_of(const struct sbt_spec *spec)
{
	/* Probes with these roles report no crossings, so they belong to no probe group. */
	if (spec->role == SBT_ROLE_MARK_THREAD || spec->role == SBT_ROLE_MARK_ACCESS ||
	    spec->role == SBT_ROLE_TASK || spec->role == SBT_ROLE_TURN ||
	    spec->role == SBT_ROLE_SEM_WAIT)
		return 0;
	return spec->probe_group ? spec->probe_group : SBT_PROBE_GROUP(spec->family);
}

static uint64_t probe_groups_of(const struct attach_probe_site *p, uint32_t n)
{
	uint64_t probe_groups = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		probe_groups |= probe_group_of(&p[i].spec);
	return probe_groups;
}

/*
 * Return the process to which a link of many probe sites is limited; 0: all processes. It is also 0
 * if the kernel cannot filter by process. A session is always for all processes: the kernel would
 * skip its program in other processes, but still install the return probe there.
 */
static int pid_of(const struct attach *a, int type, int pid)
{
	return a->filters_process && type != LINK_ATTACH_SESSION ? pid : 0;
}

/* Attach one program to @n offsets. All of them get the same @number. */
static int put(struct attach *a, struct bpf_program *program, int fd, const uint64_t *offsets,
	       uint32_t n, int pid, uint32_t number, uint64_t probe_groups)
{
	int prog_fd = bpf_program__fd(program), err = 0;
	uint32_t before = a->nlinks, i;

	copies_note(&a->copies, fd, offsets, n);
	if (a->method != ATTACH_PERF) {
		int type = bpf_program__expected_attach_type(program) == LINK_ATTACH_SESSION
				   ? LINK_ATTACH_SESSION
				   : LINK_ATTACH_MULTI;

		/*
		 * Limit the link to a process only if the kernel filters by process. A filter by
		 * thread would silently lose the hits of the other threads.
		 */
		pid = pid_of(a, type, pid);
		return add_link(a, link_multi(prog_fd, type, fd, offsets, n, pid, number), fd, pid,
				probe_groups);
	}
	for (i = 0; i < n && !err; i++)
		err = claim_probe_site(a, fd, offsets[i], PROBE_SITES_NONE);
	for (i = 0; i < n && !err; i++)
		err = add_link(
			a,
			link_perf(prog_fd, fd, offsets[i], pid ? pid : -1, a->cookies ? number : 0),
			fd, pid, probe_groups);
	return all_or_none(a, before, err);
}

int attach_chain(const struct attach *a, uint64_t name, struct sbt_chain *out)
{
	if (bpf_map_lookup_elem(bpf_map__fd(a->skel->maps.chains), &name, out))
		return -errno;
	if (out->n > SBT_CHAIN_MAX)
		out->n = SBT_CHAIN_MAX;
	return 0;
}

uint32_t attach_rule(const struct attach *a, uint16_t spec)
{
	return spec < a->nspecs ? a->specs[spec].rule : 0;
}

const struct sbt_spec *attach_spec(const struct attach *a, uint16_t number)
{
	return number < a->nspecs ? &a->specs[number] : NULL;
}

bool attach_less_one(const struct attach *a, uint16_t spec)
{
	return spec < a->nspecs && a->specs[spec].less_one;
}

uint8_t attach_user_probe_group(struct attach *a, const char *name)
{
	uint32_t i, n = a->nuser_probe_groups;

	for (i = 0; i < n && strcmp(a->user_probe_groups[i], name) != 0; i++)
		;
	if (i == SBT_PROBE_GROUPS - SBT_PROBE_GROUPS_USER)
		return 0;
	if (i == n) {
		a->user_probe_groups[i] = strdup(name);
		if (!a->user_probe_groups[i])
			return 0;
		a->nuser_probe_groups++;
	}
	return (uint8_t)(SBT_PROBE_GROUPS_USER + i);
}

const char *attach_user_probe_group_name(const struct attach *a, uint8_t probe_group)
{
	return probe_group >= SBT_PROBE_GROUPS_USER &&
			       probe_group < SBT_PROBE_GROUPS_USER + a->nuser_probe_groups
		       ? a->user_probe_groups[probe_group - SBT_PROBE_GROUPS_USER]
		       : NULL;
}

uint8_t attach_probe_group(const struct attach *a, uint8_t family, uint16_t spec)
{
	/* Crossings from system calls have no spec. */
	if (spec >= a->nspecs || a->specs[spec].family != family)
		return family;
	return (uint8_t)__builtin_ctzll(a->specs[spec].probe_group);
}

int attach_team_ends(struct attach *a)
{
	int fd = bpf_map__fd(a->skel->maps.specs);
	uint32_t i;

	for (i = 0; i < a->nspecs; i++) {
		if (a->specs[i].inferred_in_team != SBT_TEAM_ARRIVALS)
			continue;
		a->specs[i].inferred_in_team = SBT_TEAM_INFERRED;
		if (bpf_map_update_elem(fd, &i, &a->specs[i], BPF_ANY))
			return -errno;
	}
	return 0;
}

bool attach_for_one(const struct attach *a)
{
	return a->filters_process && a->method != ATTACH_SESSION;
}

bool attach_only_exits(const struct attach *a)
{
	return a->only_exits;
}

static int tag_links(struct attach *a, uint32_t from, uint64_t tag, int err)
{
	for (; from < a->nlinks && !err; from++)
		a->links[from].tag = tag;
	return err;
}

/* Return whether the ends of the function need probes of their own. */
static bool needs_exits(const struct attach *a, const struct attach_probe_site *p, bool by_exit)
{
	if (p->spec.inferred_in_team == SBT_TEAM_ARRIVALS)
		return false;
	return by_exit || a->only_exits || (p->spec.flags & SBT_SPEC_RETS);
}

int attach_probe_site(struct attach *a, const struct attach_probe_site *p, int pid, bool by_exit)
{
	struct program_ends ends = program_ends(a->skel, p->spec.role);
	uint32_t before = a->nlinks;
	bool pair = p->spec.flags & SBT_SPEC_PAIR;
	bool exits = needs_exits(a, p, by_exit);
	uint64_t probe_group = probe_group_of(&p->spec);
	int number, err;

	number = spec_number(a, &p->spec);
	err = number < 0 ? number : claim_probe_site(a, p->fd, p->entry, (uint32_t)number);
	if (err)
		return err;
	if (program_of(a->skel, p->spec.role)) {
		err = put(a, program_of(a->skel, p->spec.role), p->fd, &p->entry, 1, pid,
			  (uint32_t)number, probe_group);
		return tag_links(a, before, p->tag, err);
	}
	/* Never use a return probe instead: it breaks functions that unwind their stack. */
	if (exits && !pair && !p->nexits && p->spec.role != SBT_ROLE_OUTLINED)
		return -ENOTSUP;
	/*
	 * Attach the exits first, so that at each arrival the probe for the departure is already
	 * attached.
	 */
	if (pair || (exits && !p->nexits))
		/*
		 * attach_end() attaches the exits, or this is an outlined function with unknown
		 * exits. Even without exits, the probe at its entry shows which threads are in a
		 * team.
		 */
		err = 0;
	else if (exits)
		err = put(a, ends.exit, p->fd, p->exits, p->nexits, pid, 0, probe_group);
	if (!err)
		err = put(a, a->method == ATTACH_SESSION ? ends.session : ends.enter, p->fd,
			  &p->entry, 1, pid, (uint32_t)number, probe_group);
	return tag_links(a, before, p->tag, all_or_none(a, before, err));
}

int attach_end(struct attach *a, const struct attach_probe_site *p, int pid)
{
	int number, err = 0;
	uint32_t i;

	if (!p->nexits)
		return -ENOTSUP;
	number = spec_number(a, &p->spec);
	if (number < 0)
		return number;
	for (i = 0; i < p->nexits && !err; i++)
		err = claim_probe_site(a, p->fd, p->exits[i], (uint32_t)number);
	return err ? err
		   : put(a, a->skel->progs.barrier_end, p->fd, p->exits, p->nexits, pid,
			 (uint32_t)number, probe_group_of(&p->spec));
}

int attach_returns(struct attach *a, int fd, const uint64_t *offsets, uint32_t n, int pid,
		   uint64_t probe_groups)
{
	return put(a, a->skel->progs.outlined_returned, fd, offsets, n, pid, 0, probe_groups);
}

/* Collect each exit once, because functions may share exits. Return their number, or -ENOMEM. */
static int collect_exits(const struct attach_probe_site *p, uint32_t n, uint64_t **out)
{
	uint32_t i, j, k, found = 0, max = 0;
	uint64_t *all;

	for (i = 0; i < n; i++)
		max += p[i].nexits;
	all = calloc(max ? max : 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		for (j = 0; j < p[i].nexits; j++) {
			for (k = 0; k < found && all[k] != p[i].exits[j]; k++)
				;
			if (k == found)
				all[found++] = p[i].exits[j];
		}
	}
	*out = all;
	return (int)found;
}

/* Attach one program to @n offsets by one link, with a separate cookie for each offset. */
static int put_each(struct attach *a, const struct bpf_program *program, int type, int fd,
		    const uint64_t *offsets, const uint64_t *cookies, uint32_t n, int pid,
		    uint64_t probe_groups)
{
	pid = pid_of(a, type, pid);
	copies_note(&a->copies, fd, offsets, n);
	return add_link(
		a, link_multi_each(bpf_program__fd(program), type, fd, offsets, cookies, n, pid),
		fd, pid, probe_groups);
}

static int put_entries(struct attach *a, const struct attach_probe_site *p, uint32_t n, int pid)
{
	struct program_ends ends = program_ends(a->skel, SBT_ROLE_BARRIER);
	bool session = a->method == ATTACH_SESSION;
	int type = session ? LINK_ATTACH_SESSION : LINK_ATTACH_MULTI;
	const struct bpf_program *program = session ? ends.session : ends.enter;
	uint64_t *offsets = calloc(n, sizeof(*offsets)), *cookies = calloc(n, sizeof(*cookies));
	int err = offsets && cookies ? 0 : -ENOMEM, number;
	uint32_t i;

	for (i = 0; i < n && !err; i++) {
		number = spec_number(a, &p[i].spec);
		err = number < 0 ? number : 0;
		offsets[i] = p[i].entry;
		cookies[i] = (uint64_t)number;
	}
	if (!err)
		err = put_each(a, program, type, p->fd, offsets, cookies, n, pid,
			       probe_groups_of(p, n));
	free(offsets);
	free(cookies);
	return err;
}

int attach_probe_sites(struct attach *a, const struct attach_probe_site *p, uint32_t n, int pid)
{
	uint32_t before = a->nlinks, i;
	bool exits = false;
	int err = 0;

	if (a->method == ATTACH_PERF || !n)
		return -ENOTSUP;
	for (i = 0; i < n; i++) {
		if (p[i].spec.role != SBT_ROLE_BARRIER || p[i].fd != p->fd ||
		    (needs_exits(a, &p[i], false) && !p[i].nexits))
			return -ENOTSUP;
		exits |= needs_exits(a, &p[i], false);
	}
	if (exits)
		err = attach_exits(a, p, n, pid);
	if (!err)
		err = put_entries(a, p, n, pid);
	return all_or_none(a, before, err);
}

bool attach_filters_process(const struct attach *a)
{
	return a->filters_process;
}

/*
 * Attach the probes of all groups with two links, because each link takes time: first all exits,
 * then all entries.
 */
static int put_waits(struct attach *a, const struct attach_group *g, uint32_t n, int pid,
		     const uint32_t *numbers)
{
	uint64_t *offsets, *cookies;
	uint32_t i, j, entries = 0, exits = 0, k = 0;
	uint64_t probe_groups = 0;
	int err;

	for (i = 0; i < n; i++) {
		probe_groups |= probe_group_of(&g[i].spec);
		entries += g[i].nentries;
		exits += g[i].nexits;
	}
	offsets = calloc((size_t)entries + exits + 1, sizeof(*offsets));
	cookies = calloc((size_t)entries + 1, sizeof(*cookies));
	err = offsets && cookies ? 0 : -ENOMEM;
	for (i = 0; i < n && !err; i++) {
		for (j = 0; j < g[i].nentries; j++, k++) {
			offsets[k] = g[i].entries[j];
			cookies[k] = numbers[i];
		}
	}
	for (i = 0; i < n && !err; i++)
		for (j = 0; j < g[i].nexits; j++)
			offsets[k++] = g[i].exits[j];
	if (!err)
		err = put(a, a->skel->progs.cond_waited, g->fd, offsets + entries, exits, pid, 0,
			  probe_groups);
	if (!err)
		err = put_each(a, a->skel->progs.cond_wait, LINK_ATTACH_MULTI, g->fd, offsets,
			       cookies, entries, pid, probe_groups);
	free(offsets);
	free(cookies);
	return err;
}

static int put_group(struct attach *a, const struct attach_group *g, int pid, uint32_t number)
{
	struct bpf_program *end = program_end(a->skel, g->spec.role);
	uint64_t probe_group = probe_group_of(&g->spec);
	int err = 0;

	if (end)
		err = put(a, end, g->fd, g->exits, g->nexits, pid, 0, probe_group);
	if (!err)
		err = put(a, program_of(a->skel, g->spec.role), g->fd, g->entries, g->nentries, pid,
			  number, probe_group);
	return err;
}

/*
 * Record the entries of the group as probe sites of its spec. Return the spec's number or -errno.
 */
static int claim_group(struct attach *a, const struct attach_group *g)
{
	int number, err = 0;
	uint32_t i;

	if (!g->nentries || (g->spec.role != SBT_ROLE_COND_WAKE && !g->nexits))
		return -ENOTSUP;
	number = spec_number(a, &g->spec);
	if (number < 0)
		return number;
	for (i = 0; i < g->nentries && !err; i++)
		err = claim_probe_site(a, g->fd, g->entries[i], (uint32_t)number);
	return err ? err : number;
}

int attach_waits(struct attach *a, const struct attach_group *g, uint32_t n,
		 const struct attach_group *wakes, int pid)
{
	uint32_t before = a->nlinks, numbers[ATTACH_GROUPS_MAX], i;
	int number, err = n && n <= ATTACH_GROUPS_MAX ? 0 : -EINVAL;
	bool together = n > 1 && a->method != ATTACH_PERF;

	for (i = 0; i < n && !err; i++) {
		number = claim_group(a, &g[i]);
		err = number < 0 ? number : 0;
		numbers[i] = (uint32_t)number;
	}
	if (!err && together)
		err = put_waits(a, g, n, pid, numbers);
	for (i = 0; i < n && !err && !together; i++)
		err = put_group(a, &g[i], pid, numbers[i]);
	if (!err && wakes) {
		number = claim_group(a, wakes);
		err = number < 0 ? number : put_group(a, wakes, pid, (uint32_t)number);
	}
	err = all_or_none(a, before, err);
	for (i = before; !err && wakes && i < a->nlinks; i++)
		a->links[i].waits = ATTACH_WAITS_ALL;
	return err;
}

static int attach_alone(struct attach *a, const struct attach_group *g, int pid,
			enum attach_waits_kind kind)
{
	uint32_t i = a->nlinks;
	int err = attach_waits(a, g, 1, NULL, pid);

	for (; !err && i < a->nlinks; i++)
		a->links[i].waits = kind;
	return err;
}

int attach_joins(struct attach *a, const struct attach_group *joins, int pid)
{
	return attach_alone(a, joins, pid, ATTACH_WAITS_JOINS);
}

int attach_turns(struct attach *a, const struct attach_group *turns, int pid)
{
	/*
	 * If earlier probes were removed while a thread waited, its wait still counts as under way:
	 * clear it.
	 */
	forget_turns(a, (uint32_t)pid);
	return attach_alone(a, turns, pid, ATTACH_WAITS_TURNS);
}

int attach_sems(struct attach *a, const struct attach_group *sems, int pid)
{
	/*
	 * Without cookies, a probe can prevent another probe at the same offset in its page. Probes
	 * on semaphores only help to report barriers made of semaphores, so they must not displace
	 * other probes.
	 */
	if (!a->cookies)
		return -ENOTSUP;
	return attach_alone(a, sems, pid, ATTACH_WAITS_SEMS);
}

int attach_futexes(struct attach *a)
{
	struct bpf_program *const programs[] = { a->skel->progs.futex_exit,
						 a->skel->progs.futex_enter };
	int err = attach_programs(a, programs, sizeof(programs) / sizeof(programs[0]));

	a->futexes = !err;
	return err;
}

int attach_classify(struct attach *a, uint32_t tgid, uint32_t inc, uint64_t object,
		    uint32_t verdict)
{
	struct sbt_object key = { .address = object, .tgid = tgid, .inc = inc };
	/* Set `waits`, because a thread may already be waiting at the object. */
	struct sbt_object_state state = { .verdict = verdict, .waits = 1 };

	return bpf_map_update_elem(bpf_map__fd(a->skel->maps.objects), &key, &state, BPF_ANY)
		       ? -errno
		       : 0;
}

int attach_python(struct attach *a, uint32_t tgid, const struct sbt_python *python)
{
	/* python_switch has to run after on_switch, so it is attached later. */
	struct bpf_program *programs[] = { a->skel->progs.python_waking,
					   a->skel->progs.python_switch };
	bool accounts = bpf_program__autoload(programs[1]);
	int err = 0;

	if (!bpf_program__autoload(programs[0]))
		return -ENOTSUP;
	if (!a->pythons)
		err = attach_programs(a, programs, accounts ? 2 : 1);
	a->pythons |= !err;
	if (!err && bpf_map_update_elem(bpf_map__fd(a->skel->maps.pythons), &tgid, python, BPF_ANY))
		err = -errno;
	return err;
}

int attach_frame_rule(struct attach *a, uint32_t tgid, uint32_t inc, uint64_t ip,
		      const struct sbt_frame_rule *rule)
{
	struct sbt_frame_key key = { .ip = ip, .tgid = tgid, .inc = inc };

	return bpf_map_update_elem(bpf_map__fd(a->skel->maps.frame_rules), &key, rule, BPF_ANY)
		       ? -errno
		       : 0;
}

int attach_exits(struct attach *a, const struct attach_probe_site *p, uint32_t n, int pid)
{
	uint32_t before = a->nlinks;
	uint64_t *exits;
	int found = collect_exits(p, n, &exits), err;

	if (found < 0)
		return found;
	err = !found ? -ENOTSUP
		     : put(a, program_ends(a->skel, p->spec.role).exit, p->fd, exits,
			   (uint32_t)found, pid, 0, probe_groups_of(p, n));
	free(exits);
	return tag_links(a, before, n == 1 ? p->tag : 0, err);
}

int attach_loader(struct attach *a, int fd, uint64_t offset, int pid)
{
	struct bpf_program *program = a->skel->progs.loader_state;

	if (a->method == ATTACH_PERF)
		return put(a, program, fd, &offset, 1, pid, 0, 0);
	copies_note(&a->copies, fd, &offset, 1);
	/*
	 * Pass @pid even if the kernel filters by thread instead of process: only the thread that
	 * starts the program, which has the number @pid, must be seen.
	 */
	return add_link(
		a, link_multi(bpf_program__fd(program), LINK_ATTACH_MULTI, fd, &offset, 1, pid, 0),
		fd, pid, 0);
}

const struct copies *attach_copies(const struct attach *a)
{
	return &a->copies;
}

void attach_code_changed(struct attach *a)
{
	/*
	 * Keep this order, so that a BPF program that sees the new epoch also reads the new count.
	 */
	__atomic_fetch_add(&a->skel->bss->mappings, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&a->skel->data->epoch, 1, __ATOMIC_SEQ_CST);
}

void attach_read_words_again(struct attach *a)
{
	__atomic_fetch_add(&a->skel->data->epoch, 1, __ATOMIC_SEQ_CST);
}

int attach_made(struct attach *a, int fd, uint64_t offset, int pid)
{
	return put(a, program_of(a->skel, SBT_ROLE_MAKER), fd, &offset, 1, pid, 0, 0);
}

void attach_keep_words(struct attach *a, bool on)
{
	__atomic_store_n(&a->skel->bss->keep_words, on, __ATOMIC_SEQ_CST);
}
