// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Convert everything that is known about a module to bytes and back. The reader's child writes the
 * bytes; the tracer reads them and checks that the result is consistent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites/module_internal.h"
#include "base/array.h"
#include "symbols/wire.h"

#define LIBRARIES_MAX  128
#define NAME_MAX_BYTES 1024
#define PATH_BYTES     16384
#define ERROR_MAX      4095
/* The kernel's struct pt_regs is smaller than this on all machines. */
#define REGS_BYTES     512

/*
 * Rows of the tables are transferred by number. Rows of rules have higher numbers: one of the
 * following two constants, plus twice the number of the rule, plus 1 for the second of the rule's
 * two rows (for_all).
 */
#define OF_RULES       0x10000u
#define OF_KNOWN_RULES 0x20000u

/* --- rows ------------------------------------------------------------------------------------- */

static bool rule_number(const struct rules *rules, uint32_t base,
			const struct family_function *function, uint32_t *number)
{
	size_t i;

	for (i = 0; rules && i < rules->n; i++) {
		*number = base + 2 * (uint32_t)i;
		if (function == &rules->all[i]->by_argument)
			return true;
		++*number;
		if (function == &rules->all[i]->for_all)
			return true;
	}
	return false;
}

static const struct family_function *rule_numbered(const struct rules *rules, uint32_t number)
{
	if (!rules || number / 2 >= rules->n)
		return NULL;
	return number & 1 ? &rules->all[number / 2]->for_all : &rules->all[number / 2]->by_argument;
}

static void wire_row(struct wire *w, const struct family_function **row,
		     const struct module_names *names)
{
	uint32_t number = 0;

	if (!w->reads && !family_number(*row, &number) &&
	    !rule_number(names->rules, OF_RULES, *row, &number) &&
	    !rule_number(names->known, OF_KNOWN_RULES, *row, &number))
		w->bad = true;
	WIRE(w, number, UINT32_MAX);
	if (!w->reads)
		return;
	*row = number < OF_RULES	 ? family_numbered(number)
	       : number < OF_KNOWN_RULES ? rule_numbered(names->rules, number - OF_RULES)
					 : rule_numbered(names->known, number - OF_KNOWN_RULES);
	w->bad |= !*row;
}

/* --- members ---------------------------------------------------------------------------------- */

static void wire_arg(struct wire *w, struct sbt_arg *arg)
{
	WIRE(w, arg->how, SBT_ARG_SP);
	WIRE(w, arg->size, 8);
	WIRE(w, arg->flags, SBT_ARG_SIGNED | SBT_ARG_POINTED | SBT_ARG_ADDS);
	WIRE(w, arg->scale, 8);
	WIRE(w, arg->reg, SBT_ARG_NO_REG);
	WIRE(w, arg->index, SBT_ARG_NO_REG);
	WIRE(w, arg->disp, UINT64_MAX);
	if ((arg->reg >= REGS_BYTES && arg->reg != SBT_ARG_NO_REG) ||
	    (arg->index >= REGS_BYTES && arg->index != SBT_ARG_NO_REG))
		w->bad = true;
}

static void wire_spec(struct wire *w, struct sbt_spec *spec)
{
	WIRE(w, spec->family, SBT_FAMILIES - 1);
	WIRE(w, spec->kind, SBT_KINDS - 1);
	WIRE(w, spec->role, SBT_ROLES - 1);
	WIRE(w, spec->flags, UINT8_MAX);
	WIRE(w, spec->words_offset, UINT32_MAX);
	WIRE(w, spec->probe_group, UINT64_MAX);
	wire_arg(w, &spec->object);
	wire_arg(w, &spec->words);
	wire_arg(w, &spec->index);
	wire_arg(w, &spec->file);
	wire_arg(w, &spec->line);
	wire_arg(w, &spec->name);
	wire_arg(w, &spec->what);
	WIRE(w, spec->team_size.slot, UINT64_MAX);
	WIRE(w, spec->team_size.team, UINT32_MAX);
	WIRE(w, spec->team_size.count, UINT32_MAX);
	WIRE(w, spec->team_size.known, 1);
	WIRE(w, spec->rule, UINT32_MAX);
	WIRE(w, spec->less_one, 1);
}

static void wire_offsets(struct wire *w, uint64_t *offsets, uint32_t *n, uint32_t max)
{
	uint32_t i;

	WIRE(w, *n, max);
	for (i = 0; i < *n; i++)
		WIRE(w, offsets[i], UINT64_MAX);
}

static void wire_waits(struct wire *w, struct module_waits *waits)
{
	wire_spec(w, &waits->spec);
	wire_offsets(w, waits->entries, &waits->nentries, MODULE_WAITS_MAX);
	wire_offsets(w, waits->exits, &waits->nexits, MODULE_WAITS_MAX * MODULE_EXITS_MAX);
	WIRE_TEXT(w, waits->why);
}

static void wire_untraced(struct wire *w, struct untraced *calls)
{
	size_t i;

	for (i = 0; i < UNTRACED_WORDS; i++)
		WIRE(w, calls->mpi[i], UINT64_MAX);
	WIRE(w, calls->openmp, UINT64_MAX);
	WIRE_BOOL(w, calls->tasks);
	WIRE_BOOL(w, calls->in_line);
	WIRE_BOOL(w, calls->semaphores);
}

static void wire_traits(struct wire *w, struct elf_traits *t)
{
	size_t i;

	WIRE(w, t->machine, UINT16_MAX);
	WIRE_BOOL(w, t->executable);
	WIRE_BOOL(w, t->dynamic);
	WIRE_BOOL(w, t->stripped);
	WIRE_BOOL(w, t->go);
	WIRE_BOOL(w, t->glibc);
	WIRE_BOOL(w, t->musl);
	WIRE_BOOL(w, t->imports_setcanceltype);
	WIRE_BOOL(w, t->imports_signal);
	WIRE_BOOL(w, t->plain_libraries);
	WIRE_BOOL(w, t->imports_throw);
	WIRE(w, t->build_id_len, ELF_BUILD_ID_MAX);
	for (i = 0; i < t->build_id_len; i++)
		WIRE(w, t->build_id[i], UINT8_MAX);
	WIRE_TEXT(w, t->interp);
	WIRE_TEXT(w, t->soname);
}

static void wire_segments(struct wire *w, struct module *m)
{
	WIRE(w, m->nsegments, MODULE_SEGMENTS_MAX);
	array_for_each (s, m->segments, m->nsegments) {
		WIRE(w, s->vaddr, UINT64_MAX);
		WIRE(w, s->offset, UINT64_MAX);
		WIRE(w, s->size, UINT64_MAX);
		WIRE_BOOL(w, s->exec);
	}
}

static void wire_needs(struct wire *w, struct module_needs *needs)
{
	WIRE(w, needs->n, LIBRARIES_MAX);
	if (w->reads) {
		needs->names = calloc(needs->n + 1, sizeof(*needs->names));
		if (!needs->names) {
			needs->n = 0;
			w->bad = true;
		}
	}
	array_for_each (name, needs->names, needs->n)
		wire_long_text(w, name, NAME_MAX_BYTES);
	wire_long_text(w, &needs->path, PATH_BYTES);
	WIRE_BOOL(w, needs->path_first);
}

void module_wire_symbol(struct wire *w, struct elf_symbol *symbol)
{
	WIRE(w, symbol->vaddr, UINT64_MAX);
	WIRE(w, symbol->offset, UINT64_MAX);
	WIRE(w, symbol->size, UINT64_MAX);
	WIRE_BOOL(w, symbol->from_symtab);
}

/* --- probe sites ------------------------------------------------------------------------------ */

void module_wire_probe_site(struct wire *w, struct module_probe_site *p,
			    const struct module_names *names)
{
	uint32_t error = (uint32_t)-p->error;

	wire_row(w, &p->function, names);
	WIRE_TEXT(w, p->symbol);
	wire_spec(w, &p->spec);
	WIRE(w, p->start, UINT64_MAX);
	WIRE(w, p->offset, UINT64_MAX);
	WIRE(w, p->entry.skip, UINT32_MAX);
	WIRE(w, p->entry.insn.class, INSN_UNKNOWN);
	WIRE(w, p->entry.insn.length, UINT8_MAX);
	WIRE_TEXT(w, p->entry.insn.text);
	WIRE_TEXT(w, p->entry.why);
	WIRE_BOOL(w, p->found_by_code);
	WIRE_BOOL(w, p->end);
	WIRE_BOOL(w, p->for_all);
	WIRE(w, error, ERROR_MAX);
	wire_offsets(w, p->exits, &p->nexits, MODULE_EXITS_MAX);
	WIRE_TEXT(w, p->exits_why);
	if (w->reads)
		p->error = -(int)error;
}

static void wire_probe_sites(struct wire *w, struct module *m, const struct module_names *names)
{
	uint32_t n = m->nplaces, i;
	struct module_probe_site *probe_site;

	WIRE(w, n, MODULE_PLACES_MAX);
	for (i = 0; i < n && !w->bad; i++) {
		probe_site = w->reads ? module_probe_site_new(m) : &m->places[i];
		if (probe_site)
			module_wire_probe_site(w, probe_site, names);
		else
			w->bad = true;
	}
}

/* --- the module ------------------------------------------------------------------------------- */

/* Transfer the number of hits of each rule in this file. */
static void wire_found(struct wire *w, const struct module_names *names)
{
	uint32_t found;
	size_t i, k;

	for (i = 0; names->rules && i < names->rules->n; i++) {
		for (k = 0; k < 2; k++) {
			found = names->rules->all[i]->at[k].found;
			WIRE(w, found, MODULE_PLACES_MAX * 16);
			if (w->reads)
				names->rules->all[i]->at[k].found += found;
		}
	}
}

void module_wire(struct wire *w, struct module *m, const struct module_names *names)
{
	int i;

	wire_traits(w, &m->traits);
	wire_segments(w, m);
	wire_needs(w, &m->needs);
	wire_probe_sites(w, m, names);
	WIRE_BOOL(w, m->c_library);
	wire_waits(w, &m->waits);
	wire_waits(w, &m->wakes);
	wire_waits(w, &m->joins);
	WIRE_BOOL(w, m->scopes);
	wire_waits(w, &m->sems);
	wire_waits(w, &m->turns);
	wire_untraced(w, &m->turns_seen);
	wire_untraced(w, &m->turns_unseen);
	WIRE_BOOL(w, m->mpi);
	for (i = 0; i < MODULE_HANDLES; i++)
		WIRE(w, m->handles[i], UINT64_MAX);
	wire_untraced(w, &m->untraced);
	WIRE_BOOL(w, m->runtime);
	WIRE_BOOL(w, m->tasks);
	WIRE(w, m->team, MODULE_TEAMS - 1);
	WIRE(w, m->python_runtime, UINT64_MAX);
	WIRE(w, m->python_minor, UINT8_MAX);
	WIRE_BOOL(w, m->inlined_waits);
	WIRE(w, m->regions, UINT32_MAX);
	wire_offsets(w, m->returns.at, &m->returns.n, RETURNS_MAX);
	WIRE(w, m->returned, UINT32_MAX);
	wire_offsets(w, m->makers, &m->nmakers, MODULE_MAKERS_MAX);
	WIRE(w, m->loader, UINT64_MAX);
	wire_found(w, names);
}

/* --- checks of what was read ------------------------------------------------------------------ */

static bool is_code(const struct module *m, uint64_t offset)
{
	uint64_t vaddr;

	array_for_each (s, m->segments, m->nsegments)
		if (s->exec && offset >= s->offset && offset - s->offset < s->size)
			return !module_offset_to_vaddr(m, offset, &vaddr);
	return false;
}

static bool all_code(const struct module *m, const uint64_t *offsets, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && is_code(m, offsets[i]); i++)
		;
	return i == n;
}

bool module_probe_site_is_sound(const struct module *m, struct module_probe_site *p)
{
	const struct family_function *f = p->function;

	if (p->offset - p->start != p->entry.skip && p->offset != p->start)
		return false;
	/* The spec must match the row. A probe site with an error has no spec. */
	if (!p->error && (p->spec.family != f->family || p->spec.kind != f->kind ||
			  p->spec.role != f->role || p->spec.rule != f->rule))
		return false;
	if (!is_code(m, p->start) || !is_code(m, p->offset))
		return false;
	/*
	 * If the symbol's size is wrong, a function may seem to reach beyond its segment. Its exits
	 * are then not known.
	 */
	if (!all_code(m, p->exits, p->nexits)) {
		p->nexits = 0;
		p->spec.flags |= SBT_SPEC_NO_EXITS;
		snprintf(p->exits_why, sizeof(p->exits_why), "it ends where no code is loaded");
	}
	return true;
}

static bool waits_are_sound(const struct module *m, const struct module_waits *w, uint8_t role)
{
	return (!w->nentries || w->spec.role == role) && all_code(m, w->entries, w->nentries) &&
	       all_code(m, w->exits, w->nexits);
}

bool module_is_sound(struct module *m, uint64_t size)
{
	array_for_each (s, m->segments, m->nsegments) {
		if (s->offset > size || s->size > size - s->offset || s->vaddr + s->size < s->vaddr)
			return false;
	}
	array_for_each (p, m->places, m->nplaces)
		if (!module_probe_site_is_sound(m, p))
			return false;
	return waits_are_sound(m, &m->waits, SBT_ROLE_COND_WAIT) &&
	       waits_are_sound(m, &m->wakes, SBT_ROLE_COND_WAKE) &&
	       waits_are_sound(m, &m->joins, SBT_ROLE_COND_WAIT) &&
	       waits_are_sound(m, &m->sems, SBT_ROLE_SEM_WAIT) &&
	       waits_are_sound(m, &m->turns, SBT_ROLE_TURN) &&
	       all_code(m, m->returns.at, m->returns.n) && all_code(m, m->makers, m->nmakers) &&
	       (!m->loader || is_code(m, m->loader));
}

void module_forget_facts(struct module *m)
{
	uint32_t i;

	for (i = 0; i < m->needs.n; i++)
		free(m->needs.names[i]);
	free(m->needs.names);
	free(m->needs.path);
	memset(&m->needs, 0, sizeof(m->needs));
	free(m->places);
	m->places = NULL;
	m->nplaces = 0;
	memset(&m->waits, 0, sizeof(m->waits));
	memset(&m->wakes, 0, sizeof(m->wakes));
	memset(&m->joins, 0, sizeof(m->joins));
	memset(&m->sems, 0, sizeof(m->sems));
	memset(&m->turns, 0, sizeof(m->turns));
	memset(&m->traits, 0, sizeof(m->traits));
	memset(m->handles, 0, sizeof(m->handles));
	m->nsegments = m->nmakers = m->returns.n = m->regions = m->returned = 0;
	m->loader = m->python_runtime = 0;
	m->python_minor = 0;
	m->c_library = m->scopes = m->mpi = m->runtime = m->tasks = m->inlined_waits = false;
	m->team = MODULE_TEAM_NONE;
	memset(&m->turns_seen, 0, sizeof(m->turns_seen));
	memset(&m->turns_unseen, 0, sizeof(m->turns_unseen));
	memset(&m->untraced, 0, sizeof(m->untraced));
}
