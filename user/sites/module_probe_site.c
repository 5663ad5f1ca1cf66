// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The places of a module where probes sit: one function each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/exits.h"
#include "sites/module_internal.h"

/* The longest function that is looked at as a whole to choose where in it a probe sits. */
#define FUNCTION_MAX 16384

size_t module_function_bytes(const struct module *m, const struct elf_symbol *symbol,
			     const uint8_t **bytes)
{
	size_t len = symbol->size && symbol->size < FUNCTION_MAX ? symbol->size : 64;

	return elf_bytes(m->elf, symbol->offset, len, bytes);
}

/*
 * A runtime's functions often end by a jump into another one. What a thread returns from there by is its stack
 * pointer's business: the programs look at that. Not so with the body of a parallel region, where that other one may
 * be called a million times: there only what is jumped to on a condition is followed, which is a cold part of the
 * same. Nor with the C library's.
 */
static enum exits_follow follow_of(const struct family_function *function)
{
	switch (function->family) {
	case SBT_FAMILY_PTHREAD:
		return EXITS_FOLLOW_NONE;
	case SBT_FAMILY_COND:
		/* glibc's sem_wait() waits in another function, which it jumps to. */
		return function->role == SBT_ROLE_SEM_WAIT ? EXITS_FOLLOW_ALL : EXITS_FOLLOW_NONE;
	case SBT_FAMILY_GOMP:
	case SBT_FAMILY_LIBOMP:
		return function->role == SBT_ROLE_OUTLINED ? EXITS_FOLLOW_COLD
							   : EXITS_FOLLOW_OUTSIDE;
	case SBT_FAMILY_MPI:
		return EXITS_FOLLOW_OUTSIDE;
	default:
		return EXITS_FOLLOW_ALL;
	}
}

void module_find_exits(struct module *m, const struct elf_symbol *symbol,
		       struct module_probe_site *probe_site)
{
	struct exits exits;

	exits_find(m->elf, m->traits.machine, symbol, follow_of(probe_site->function), &exits);
	probe_site->nexits = exits.n;
	memcpy(probe_site->exits, exits.at, exits.n * sizeof(exits.at[0]));
	snprintf(probe_site->exits_why, sizeof(probe_site->exits_why), "%s", exits.why);
	/* Of two functions, the end of the second is told by its place alone. */
	if (probe_site->end && exits.parts > 1) {
		probe_site->nexits = 0;
		snprintf(probe_site->exits_why, sizeof(probe_site->exits_why),
			 "it ends by jumping to another function");
	}
}

static int tell_probe_site(const struct module *m, struct module_probe_site *probe_site)
{
	int err = family_spec(probe_site->function, m->traits.machine, &probe_site->spec);

	/* Where the function begins is what regions are told apart by. */
	if (probe_site->spec.role == SBT_ROLE_OUTLINED)
		probe_site->spec.words =
			(struct sbt_arg){ .how = SBT_ARG_CONST, .disp = probe_site->entry.skip };
	return err;
}

/* Another name of a place that is known? The name that comes first in the table is shown. */
static bool probe_site_known(struct module *m, const struct family_function *function,
			     const struct elf_symbol *symbol)
{
	uint32_t i;

	for (i = 0; i < m->nplaces; i++) {
		struct module_probe_site *p = &m->places[i];

		if (p->start != symbol->offset || p->end || p->function->role != function->role)
			continue;
		/* The user's own rows are not of the table. */
		if (!function->rule && !p->function->rule && function < p->function) {
			p->function = function;
			p->error = tell_probe_site(m, p);
		}
		return true;
	}
	return false;
}

struct module_probe_site *module_probe_site_new(struct module *m)
{
	struct module_probe_site *places;

	if (m->nplaces == MODULE_PLACES_MAX)
		return NULL;
	if (!(m->nplaces & (m->nplaces - 1))) {
		places = realloc(m->places, (m->nplaces ? 2 * m->nplaces : 1) * sizeof(*places));
		if (!places)
			return NULL;
		m->places = places;
	}
	memset(&m->places[m->nplaces], 0, sizeof(*places));
	return &m->places[m->nplaces++];
}

/* Of a barrier of the thread's team nothing is read but where it was called from. */
static bool reads_arguments(const struct family_function *f)
{
	return f->object.how != SBT_ARG_TEAM || f->words.how != SBT_ARG_NONE ||
	       f->index.how != SBT_ARG_NONE || f->what.how != SBT_ARG_NONE;
}

void module_add_probe_site(struct module *m, const struct family_function *function,
			   const char *name, const struct elf_symbol *symbol)
{
	struct module_probe_site *probe_site;
	const uint8_t *bytes;
	size_t len;

	if (probe_site_known(m, function, symbol))
		return;
	probe_site = module_probe_site_new(m);
	if (!probe_site)
		return;
	probe_site->function = function;
	snprintf(probe_site->symbol, sizeof(probe_site->symbol), "%.*s", (int)strcspn(name, "@"),
		 name);
	probe_site->start = symbol->offset;
	len = module_function_bytes(m, symbol, &bytes);
	probe_site->error = (reads_arguments(function) ? insn_choose_entry : insn_choose_late)(
		m->traits.machine, bytes, len, &probe_site->entry);
	if (!probe_site->error)
		probe_site->error = tell_probe_site(m, probe_site);
	probe_site->offset = symbol->offset + probe_site->entry.skip;
	module_find_exits(m, symbol, probe_site);
	if (!probe_site->nexits)
		probe_site->spec.flags |= SBT_SPEC_NO_EXITS;
	m->c_library |= function->family == SBT_FAMILY_PTHREAD;
	m->mpi |= function->family == SBT_FAMILY_MPI;
	m->tasks |= function->role == SBT_ROLE_TASK;
	m->runtime |= !m->traits.executable && (function->family == SBT_FAMILY_GOMP ||
						function->family == SBT_FAMILY_LIBOMP);
}

/* The first of two functions, without the second: who came would never be seen to go. */
static void drop_endless(struct module *m)
{
	uint32_t i, j, ends, known;

	for (i = 0; i < m->nplaces; i++) {
		struct module_probe_site *p = &m->places[i];

		if (p->end || p->error || !(p->spec.flags & SBT_SPEC_PAIR))
			continue;
		for (j = ends = known = 0; j < m->nplaces; j++) {
			if (!m->places[j].end || m->places[j].spec.rule != p->spec.rule)
				continue;
			ends++;
			known += m->places[j].nexits > 0;
		}
		/* One of the user's may end in another file. */
		if (known || (!ends && p->function->family == SBT_FAMILY_USER))
			continue;
		p->error = -ENOTSUP;
		snprintf(p->entry.why, sizeof(p->entry.why),
			 ends ? "where the function that ends it returns cannot be known"
			      : "the function that ends it is not there: it was inlined");
	}
}

static bool has_begin(const struct module *m, uint32_t rule)
{
	uint32_t i;

	for (i = 0; i < m->nplaces; i++)
		if (!m->places[i].end && m->places[i].spec.rule == rule)
			return true;
	return false;
}

/* The same the other way round: where compilers inlined the first, the second's end costs and tells nothing. */
static void drop_beginless(struct module *m)
{
	uint32_t i, kept = 0;

	for (i = 0; i < m->nplaces; i++) {
		const struct module_probe_site *p = &m->places[i];

		if (!p->end || p->function->family == SBT_FAMILY_USER || has_begin(m, p->spec.rule))
			m->places[kept++] = *p;
	}
	m->nplaces = kept;
}

void module_drop_halves(struct module *m)
{
	drop_endless(m);
	drop_beginless(m);
}
