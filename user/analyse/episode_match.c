// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/episode_match.h"
#include "base/array.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/internal.h"

/*
 * If @array is full, return a copy with twice the room, which the arena owns. Otherwise return
 * @array. Return NULL when out of memory.
 */
static void *more(struct arena *a, void *array, uint32_t n, size_t size)
{
	void *grown;

	/* The array is full with 0, 4, 8, 16, ... elements. */
	if (n && (n < 4 || n & (n - 1)))
		return array;
	grown = arena_alloc(a, (n ? (size_t)n * 2 : 4) * size);
	if (grown && array)
		memcpy(grown, array, n * size);
	return grown;
}

/* --- processes ------------------------------------------------------------------------------- */

struct joining {
	struct episode_match *m;
	struct arena *arena;
	/* name of a process -> first slot (index in m->processes) with this name */
	struct hash names;
	uint32_t *next; /* indexed by slot: the next slot with the same name */
	uint32_t *cursor; /* indexed by first slot: where the next search in report `r` begins */
	struct hash ids; /* (process, id of the site) -> index in m->sites */
	uint32_t r; /* index of the report that is joined */
	const struct report *report;
	struct hash pids; /* pid in report `r` -> slot of the process */
};

static const char *comm_of(const struct report_process *p)
{
	return p->comm ? p->comm : "";
}

static uint64_t hash_of(const char *s)
{
	return text_hash(TEXT_HASH_INIT, s, strlen(s));
}

static uint32_t rank_of(const struct report_process *p)
{
	return p->nmembers && p->members[0].ranked ? p->members[0].index : EPISODE_MATCH_NONE;
}

/* Compare by rank, then by the order of their starts. */
static int by_rank(const void *x, const void *y)
{
	const struct report_process *const *a = x, *const *b = y;
	uint32_t ra = rank_of(*a), rb = rank_of(*b);

	return ra != rb ? NUMBER_COMPARE(ra, rb) : NUMBER_COMPARE((*a)->index, (*b)->index);
}

static int process_new(struct joining *j, const struct report_process *p, uint32_t *slot)
{
	struct episode_match *m = j->m;
	uint32_t n = m->nprocesses;
	uint64_t first, key = hash_of(comm_of(p));

	m->processes = more(j->arena, m->processes, n, sizeof(*m->processes));
	j->next = more(j->arena, j->next, n, sizeof(*j->next));
	j->cursor = more(j->arena, j->cursor, n, sizeof(*j->cursor));
	if (!m->processes || !j->next || !j->cursor)
		return -ENOMEM;
	m->processes[n] = (struct episode_match_process){ .comm = p->comm };
	m->processes[n].in = arena_alloc(j->arena, m->nreports * sizeof(void *));
	if (!m->processes[n].in)
		return -ENOMEM;
	j->next[n] = EPISODE_MATCH_NONE;
	j->cursor[n] = EPISODE_MATCH_NONE;
	m->nprocesses++;
	*slot = n;
	if (!hash_get(&j->names, key, &first))
		return hash_put(&j->names, key, n);
	while (j->next[first] != EPISODE_MATCH_NONE)
		first = j->next[first];
	j->next[first] = n;
	return 0;
}

/*
 * Return a slot with the process's name that no process of this report has taken yet, or
 * EPISODE_MATCH_NONE if there is none.
 */
static uint32_t process_find(struct joining *j, const struct report_process *p)
{
	uint64_t first;
	uint32_t at;

	if (!j->cursor || !hash_get(&j->names, hash_of(comm_of(p)), &first))
		return EPISODE_MATCH_NONE;
	at = j->cursor[first] == EPISODE_MATCH_NONE ? (uint32_t)first : j->cursor[first];
	while (at != EPISODE_MATCH_NONE && j->m->processes[at].in[j->r])
		at = j->next[at];
	if (at != EPISODE_MATCH_NONE)
		j->cursor[first] = at;
	return at;
}

static int process_take(struct joining *j, const struct report_process *p, uint32_t slot)
{
	uint64_t other;

	j->m->processes[slot].in[j->r] = p;
	/* If two processes have the same pid, the first process counts. */
	return hash_get(&j->pids, p->pid, &other) ? 0 : hash_put(&j->pids, p->pid, slot);
}

static int processes_join(struct joining *j)
{
	uint32_t n = j->report->nprocesses, known = j->m->nprocesses, found = 0, slot, i;
	const struct report_process **order = calloc(n ? n : 1, sizeof(void *));
	int err = order ? 0 : -ENOMEM;

	for (i = 0; j->cursor && i < known; i++)
		j->cursor[i] = EPISODE_MATCH_NONE;
	for (i = 0; !err && i < n; i++)
		order[i] = &j->report->processes[i];
	if (!err)
		qsort(order, n, sizeof(void *), by_rank);
	for (i = 0; !err && i < n; i++) {
		slot = process_find(j, order[i]);
		if (slot == EPISODE_MATCH_NONE)
			continue;
		err = process_take(j, order[i], slot);
		order[i] = NULL;
		found++;
	}
	/*
	 * If no process was matched by name and the number of processes is unchanged, pair the
	 * processes by order. Otherwise add the unmatched processes.
	 */
	for (i = 0; !err && i < n; i++) {
		if (!order[i])
			continue;
		slot = i;
		if (!found && known == n)
			j->m->processes[i].by_order = true;
		else
			err = process_new(j, order[i], &slot);
		if (!err)
			err = process_take(j, order[i], slot);
	}
	free(order);
	return err;
}

/* --- sites ----------------------------------------------------------------------------------- */

/* A site to match: new in this report, or known but not yet found in this report. */
struct candidate {
	uint64_t key; /* 0 if it cannot be matched */
	uint32_t line, slot; /* slot of a known site, or EPISODE_MATCH_NONE for a new site */
	uint64_t offset;
	const struct report_barrier *b;
	uint32_t process;
};

static uint64_t mix(uint64_t seed, const char *s)
{
	return text_hash(seed, s, strlen(s) + 1);
}

static uint64_t key_of(enum episode_match_how how, uint32_t process, const struct report_barrier *b)
{
	uint64_t key = text_hash(TEXT_HASH_INIT, &process, sizeof(process));

	key = mix(key, b->family ? b->family : "");
	switch (how) {
	case EPISODE_MATCH_ID:
		return mix(key, b->id);
	case EPISODE_MATCH_NAME:
		return b->name ? mix(key, b->name) : 0;
	case EPISODE_MATCH_PLACE:
		if (!b->function || !b->file || !b->line)
			return 0;
		key = mix(mix(key, b->function), text_base_name(b->file));
		return text_hash(key, &b->line, sizeof(b->line));
	default:
		return b->function ? mix(key, b->function) : 0;
	}
}

static uint32_t process_of(const struct joining *j, const struct report_barrier *b)
{
	uint64_t slot;

	return hash_get(&j->pids, b->pid, &slot) ? (uint32_t)slot : EPISODE_MATCH_NONE;
}

static int site_new(struct joining *j, uint32_t process, uint32_t *slot)
{
	struct episode_match *m = j->m;
	uint32_t n = m->nsites;

	m->sites = more(j->arena, m->sites, n, sizeof(*m->sites));
	if (!m->sites)
		return -ENOMEM;
	m->sites[n] = (struct episode_match_site){ .process = process };
	m->sites[n].in = arena_alloc(j->arena, m->nreports * sizeof(void *));
	if (!m->sites[n].in)
		return -ENOMEM;
	m->nsites++;
	*slot = n;
	return 0;
}

static int site_take(struct joining *j, uint32_t process, const struct report_barrier *b,
		     uint32_t slot, enum episode_match_how how)
{
	struct episode_match_site *s = &j->m->sites[slot];

	s->in[j->r] = b;
	s->last = b;
	if (how > s->how)
		s->how = how;
	return hash_put(&j->ids, key_of(EPISODE_MATCH_ID, process, b), slot);
}

static int by_key(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->key != b->key)
		return NUMBER_COMPARE(a->key, b->key);
	if (a->line != b->line)
		return NUMBER_COMPARE(a->line, b->line);
	if (a->offset != b->offset)
		return NUMBER_COMPARE(a->offset, b->offset);
	/* Matched candidates have no barrier, and key 0. */
	return a->b && b->b ? strcmp(a->b->id, b->b->id) : 0;
}

static uint32_t run_of(const struct candidate *c, uint32_t n, uint32_t from)
{
	uint32_t i = from;

	while (i < n && c[i].key == c[from].key)
		i++;
	return i - from;
}

static void candidates_sort(enum episode_match_how how, struct candidate *c, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		c[i].key = c[i].b ? key_of(how, c[i].process, c[i].b) : 0;
	qsort(c, n, sizeof(*c), by_key);
}

/*
 * For each key, pair the old candidates with the new ones in the order of their lines, if there are
 * equally many. Otherwise the match would be ambiguous, so pair none.
 */
static int candidates_pair(struct joining *j, enum episode_match_how how, struct candidate *old,
			   uint32_t nold, struct candidate *new, uint32_t nnew)
{
	uint32_t o = 0, n = 0, no, nn, i;
	int err = 0;

	candidates_sort(how, old, nold);
	candidates_sort(how, new, nnew);
	while (!err && o < nold && n < nnew) {
		no = run_of(old, nold, o);
		nn = run_of(new, nnew, n);
		if (old[o].key != new[n].key) {
			if (old[o].key < new[n].key)
				o += no;
			else
				n += nn;
			continue;
		}
		for (i = 0; !err && old[o].key && no == nn && i < no; i++) {
			err = site_take(j, new[n + i].process, new[n + i].b, old[o + i].slot, how);
			old[o + i].b = NULL;
			new[n + i].b = NULL;
		}
		o += no;
		n += nn;
	}
	return err;
}

static struct candidate candidate(uint32_t process, const struct report_barrier *b, uint32_t slot)
{
	return (struct candidate){
		.line = b->line, .slot = slot, .offset = b->offset, .b = b, .process = process
	};
}

/* Match sites with known ids, and list the other sites. */
static int sites_by_id(struct joining *j, struct candidate *new, uint32_t *nnew)
{
	const struct report_barrier *b;
	uint32_t i, process;
	uint64_t slot;
	int err = 0;

	for (i = 0; !err && i < j->report->nbarriers; i++) {
		b = &j->report->barriers[i];
		process = process_of(j, b);
		if (hash_get(&j->ids, key_of(EPISODE_MATCH_ID, process, b), &slot) &&
		    !j->m->sites[slot].in[j->r])
			err = site_take(j, process, b, (uint32_t)slot, EPISODE_MATCH_ID);
		else
			new[(*nnew)++] = candidate(process, b, EPISODE_MATCH_NONE);
	}
	return err;
}

static int by_order(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	/* Matched candidates are sorted last. */
	if (!a->b || !b->b)
		return !a->b - !b->b;
	return NUMBER_COMPARE(a->b, b->b);
}

static int sites_join(struct joining *j)
{
	uint32_t known = j->m->nsites, all = j->report->nbarriers, nold = 0, nnew = 0, i, slot;
	struct candidate *old = calloc(known ? known : 1, sizeof(*old));
	struct candidate *new = calloc(all ? all : 1, sizeof(*new));
	enum episode_match_how how;
	int err = old && new ? 0 : -ENOMEM;

	if (!err)
		err = sites_by_id(j, new, &nnew);
	for (i = 0; !err && nnew && i < known; i++)
		if (!j->m->sites[i].in[j->r])
			old[nold++] = candidate(j->m->sites[i].process, j->m->sites[i].last, i);
	for (how = EPISODE_MATCH_NAME; !err && nold && nnew && how <= EPISODE_MATCH_FUNCTION; how++)
		err = candidates_pair(j, how, old, nold, new, nnew);
	if (!err)
		qsort(new, nnew, sizeof(*new), by_order);
	for (i = 0; !err && i < nnew && new[i].b; i++) {
		err = site_new(j, new[i].process, &slot);
		if (!err)
			err = site_take(j, new[i].process, new[i].b, slot, EPISODE_MATCH_ID);
	}
	free(old);
	free(new);
	return err;
}

/* --- groups ---------------------------------------------------------------------------------- */

static uint32_t group_process(const struct joining *j, const struct report_group *g)
{
	uint32_t least = EPISODE_MATCH_NONE;
	uint64_t slot;

	array_for_each (p, g->processes, g->nprocesses)
		if (hash_get(&j->pids, p->pid, &slot) && slot < least)
			least = (uint32_t)slot;
	return least;
}

static int groups_join(struct joining *j)
{
	struct episode_match *m = j->m;
	uint32_t g, process;

	array_for_each (group, j->report->groups, j->report->ngroups) {
		process = group_process(j, group);
		for (g = 0; g < m->ngroups; g++)
			if (m->groups[g].process == process && !m->groups[g].in[j->r])
				break;
		if (g == m->ngroups) {
			m->groups = more(j->arena, m->groups, g, sizeof(*m->groups));
			if (!m->groups)
				return -ENOMEM;
			m->groups[g].process = process;
			m->groups[g].in = arena_alloc(j->arena, m->nreports * sizeof(void *));
			if (!m->groups[g].in)
				return -ENOMEM;
			m->ngroups++;
		}
		m->groups[g].in[j->r] = group;
	}
	return 0;
}

/* --- all ------------------------------------------------------------------------------------- */

int episode_match_reports(const struct report *const *reports, uint32_t n,
			  struct episode_match *out)
{
	struct joining j = { .m = out, .arena = arena_new() };
	int err = j.arena ? 0 : -ENOMEM;

	memset(out, 0, sizeof(*out));
	out->arena = j.arena;
	out->nreports = n;
	for (j.r = 0; !err && j.r < n; j.r++) {
		j.report = reports[j.r];
		err = processes_join(&j);
		if (!err)
			err = sites_join(&j);
		if (!err)
			err = groups_join(&j);
		hash_free(&j.pids);
	}
	hash_free(&j.names);
	hash_free(&j.ids);
	if (err)
		episode_match_free(out);
	return err;
}

void episode_match_free(struct episode_match *m)
{
	if (m->arena)
		arena_free(m->arena);
	memset(m, 0, sizeof(*m));
}
