// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The probe sites of a module. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/exits.h"
#include "base/array.h"
#include "base/grow.h"
#include "sites/module_internal.h"

/*
 * Functions of this size (bytes) or more are not decoded completely to choose the instruction for
 * the probe.
 */
#define FUNCTION_MAX 16384
#define INSN_BYTES   16

size_t module_function_bytes(const struct module *m, const struct elf_symbol *symbol,
			     const uint8_t **bytes)
{
	size_t len = symbol->size && symbol->size < FUNCTION_MAX ? symbol->size : 64;

	return elf_bytes(m->elf, symbol->offset, len, bytes);
}

/*
 * Decide which jumps out of a function are followed to find its exits. Functions of a runtime often
 * end by a jump to another function. The BPF programs recognise a return from that function by the
 * stack pointer. The body of a parallel region may jump to a function that is called a million
 * times. So only conditional jumps are followed there: they lead to a cold part of the same
 * function. Jumps out of the C library's functions are not followed.
 */
static enum exits_follow follow_of(const struct family_function *function)
{
	if (function->role == SBT_ROLE_OUTLINED)
		return EXITS_FOLLOW_COLD;
	/* glibc's sem_wait() jumps to another function, which waits. */
	if (function->role == SBT_ROLE_SEM_WAIT)
		return EXITS_FOLLOW_ALL;
	return (enum exits_follow)family_table[function->family].follow;
}

void module_find_exits(struct module *m, const struct elf_symbol *symbol,
		       struct module_probe_site *probe_site)
{
	struct exits exits;

	exits_find(m->elf, m->traits.machine, symbol, follow_of(probe_site->function), &exits);
	probe_site->nexits = exits.n;
	memcpy(probe_site->exits, exits.at, exits.n * sizeof(exits.at[0]));
	snprintf(probe_site->exits_why, sizeof(probe_site->exits_why), "%s", exits.why);
	/*
	 * The exits of the second function of a pair are recognised only by their address, so they
	 * must all be in that function.
	 */
	if (probe_site->end && exits.parts > 1) {
		probe_site->nexits = 0;
		snprintf(probe_site->exits_why, sizeof(probe_site->exits_why),
			 "it ends by jumping to another function");
	}
}

static int fill_spec(const struct module *m, struct module_probe_site *probe_site)
{
	int err = family_spec(probe_site->function, m->traits.machine, &probe_site->spec);

	/*
	 * Regions are distinguished by the address where their function begins. So store the
	 * distance from there to the probe.
	 */
	if (probe_site->spec.role == SBT_ROLE_OUTLINED)
		probe_site->spec.words =
			(struct sbt_arg){ .how = SBT_ARG_CONST, .disp = probe_site->entry.skip };
	return err;
}

/*
 * Return whether the probe site is known under another name. If so, keep the name that is first in
 * the table.
 */
static bool probe_site_known(struct module *m, const struct family_function *function,
			     const struct elf_symbol *symbol)
{
	array_for_each (p, m->places, m->nplaces) {
		if (p->start != symbol->offset || p->end || p->function->role != function->role)
			continue;
		/*
		 * Compare the order only for rows of the table. Rows of the user's rules are not in
		 * the table.
		 */
		if (!function->rule && !p->function->rule && function < p->function) {
			p->function = function;
			p->error = fill_spec(m, p);
		}
		return true;
	}
	return false;
}

struct module_probe_site *module_probe_site_new(struct module *m)
{
	if (m->nplaces == MODULE_PLACES_MAX || grow(m->places, m->cap_places, m->nplaces + 1))
		return NULL;
	memset(&m->places[m->nplaces], 0, sizeof(*m->places));
	return &m->places[m->nplaces++];
}

struct module_probe_site *module_add_inside(struct module *m, const struct family_function *row,
					    uint64_t offset, const char *what)
{
	struct module_probe_site *p = module_probe_site_new(m);
	const uint8_t *bytes;
	size_t len = elf_bytes(m->elf, offset, INSN_BYTES, &bytes);

	if (!p)
		return NULL;
	p->function = row;
	p->start = p->offset = offset;
	insn_decode(m->traits.machine, bytes, len, &p->entry.insn);
	snprintf(p->entry.why, sizeof(p->entry.why), "%s, on %s", what, p->entry.insn.text);
	p->spec = (struct sbt_spec){ .family = row->family,
				     .kind = row->kind,
				     .role = row->role,
				     .flags = row->flags,
				     .words_offset = SBT_WORDS_NONE };
	return p;
}

/*
 * Return whether the probe reads arguments. For a barrier of the thread's team, it reads only the
 * return address.
 */
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
		probe_site->error = fill_spec(m, probe_site);
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

/*
 * Give an error to the first function of a pair if the second function is missing or has no known
 * exits: threads would never be seen to leave.
 */
static void drop_endless(struct module *m)
{
	uint32_t j, ends, known;

	array_for_each (p, m->places, m->nplaces) {
		if (p->end || p->error || !(p->spec.flags & SBT_SPEC_PAIR))
			continue;
		for (j = ends = known = 0; j < m->nplaces; j++) {
			if (!m->places[j].end || m->places[j].spec.rule != p->spec.rule)
				continue;
			ends++;
			known += m->places[j].nexits > 0;
		}
		/* The second function of a user's pair may be in another file. */
		if (known || (!ends && p->function->family == SBT_FAMILY_USER))
			continue;
		p->error = -ENOTSUP;
		snprintf(p->entry.why, sizeof(p->entry.why),
			 ends ? "the exits of the function that ends the wait are unknown"
			      : "the function that ends the wait was inlined");
	}
}

static bool has_begin(const struct module *m, uint32_t rule)
{
	array_for_each (p, m->places, m->nplaces)
		if (!p->end && p->spec.rule == rule)
			return true;
	return false;
}

/*
 * Drop second functions of a pair if the file lacks the first. If the compiler inlined the first
 * function, a probe on the second has a cost but no use.
 */
static void drop_beginless(struct module *m)
{
	uint32_t kept = 0;

	array_for_each (p, m->places, m->nplaces) {
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
