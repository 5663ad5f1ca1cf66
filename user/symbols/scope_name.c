// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "symbols/scope_name.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "base/function_name.h"

#define DEPTH	  64 /* maximum depth of nested scopes */
#define FUNCTIONS 4 /* maximum number of functions around a function */

/* Languages that older versions of elfutils do not know. */
#define LANG_CXX_17 0x2a
#define LANG_CXX_20 0x2b
#define LANG_CXX_23 0x3a

/* The entries from a unit's child to an entry. */
struct path {
	Dwarf_Die dies[DEPTH];
	int n;
};

struct maker {
	scope_name_demangle_fn demangle;
	void *ctx;
};

const char *scope_name_linkage(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return dwarf_formstring(&attr);
	return NULL;
}

Dwarf_Die scope_name_origin(Dwarf_Die die)
{
	static const unsigned int ways[] = { DW_AT_abstract_origin, DW_AT_specification };
	Dwarf_Attribute attr;
	Dwarf_Die next;
	int i, depth;

	for (depth = 0; depth < DEPTH; depth++) {
		for (i = 0; i < 2; i++)
			if (dwarf_attr(&die, ways[i], &attr) && dwarf_formref_die(&attr, &next))
				break;
		if (i == 2)
			break;
		die = next;
	}
	return die;
}

static bool is_cxx(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case LANG_CXX_17:
	case LANG_CXX_20:
	case LANG_CXX_23:
	case DW_LANG_ObjC_plus_plus:
		return true;
	default:
		return false;
	}
}

/*
 * Find the entries around @die. Entries are in the order of their offsets, and an entry's children
 * follow it, so only one child of each entry can contain @die.
 */
static bool find_path(Dwarf_Die *unit, Dwarf_Die *die, struct path *path)
{
	Dwarf_Off offset = dwarf_dieoffset(die), at;
	Dwarf_Die cur, next, *parent = unit;

	for (path->n = 0; path->n < DEPTH; path->n++) {
		if (dwarf_child(parent, &cur))
			return false;
		at = dwarf_dieoffset(&cur);
		/* In damaged debug information a sibling may be before its predecessor. */
		while (!dwarf_siblingof(&cur, &next) && dwarf_dieoffset(&next) > at &&
		       dwarf_dieoffset(&next) <= offset) {
			cur = next;
			at = dwarf_dieoffset(&cur);
		}
		if (at > offset)
			return false;
		path->dies[path->n] = cur;
		parent = &path->dies[path->n];
		if (at == offset) {
			path->n++;
			return true;
		}
	}
	return false;
}

static bool append(char name[SCOPE_NAME_MAX], const char *part)
{
	size_t n = strlen(name);
	int len = snprintf(name + n, SCOPE_NAME_MAX - n, "%s%s", n ? "::" : "", part);

	return len >= 0 && (size_t)len < SCOPE_NAME_MAX - n;
}

/*
 * Return whether @function, a member of a class without a name, is the function of a lambda.
 * GCC calls the lambda's own parameter __closure.
 */
static bool is_of_lambda(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_diename(function);
	bool artificial = false;
	Dwarf_Die die;

	if (name && !strcmp(name, "_FUN"))
		return dwarf_attr(function, DW_AT_artificial, &attr) &&
		       !dwarf_formflag(&attr, &artificial) && artificial;
	if (!name || strncmp(name, "operator()", 10) != 0 || dwarf_child(function, &die))
		return false;
	do {
		name = dwarf_tag(&die) == DW_TAG_formal_parameter ? dwarf_diename(&die) : NULL;
		if (name && !strcmp(name, "__closure"))
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

/* Return the name of a scope; @inner is the next entry inside it. "": it has none. */
static const char *scope_part(Dwarf_Die *scope, Dwarf_Die *inner)
{
	const char *name = dwarf_diename(scope);

	switch (dwarf_tag(scope)) {
	case DW_TAG_namespace:
		return name ? name : "(anonymous namespace)";
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		if (dwarf_tag(inner) == DW_TAG_subprogram && is_of_lambda(inner))
			return "{lambda}";
		return name ? name : "{unnamed}";
	default:
		return "";
	}
}

static bool make(const struct maker *m, Dwarf_Die *die, int functions, char name[SCOPE_NAME_MAX]);

/* Write the name of a function that contains others, without its parameters. */
static bool outer_name(const struct maker *m, Dwarf_Die *die, int functions,
		       char name[SCOPE_NAME_MAX])
{
	const char *raw = scope_name_linkage(die);
	size_t n;

	if (!functions)
		return false;
	if ((!raw || !m->demangle(m->ctx, raw, name, SCOPE_NAME_MAX)) &&
	    !make(m, die, functions - 1, name)) {
		raw = dwarf_diename(die);
		*name = '\0';
		if (!raw || !append(name, raw))
			return false;
	}
	function_name_lambda(name);
	if (!function_name_shorten(name))
		return false;
	n = strlen(name);
	if (n > 2 && !strcmp(name + n - 2, "()") &&
	    (n < 10 || strcmp(name + n - 10, "operator()") != 0))
		name[n - 2] = '\0';
	return true;
}

/* Write the name of @die. At most @functions functions may be around it. */
static bool make(const struct maker *m, Dwarf_Die *die, int functions, char name[SCOPE_NAME_MAX])
{
	Dwarf_Die origin = scope_name_origin(*die), unit;
	const char *part, *own = dwarf_diename(&origin);
	struct path path;
	int i, from;

	/* The code that GCC generates for a parallel region already has the whole name. */
	if (!own || !strncmp(own, "_Z", 2) || strstr(own, "._omp_") ||
	    !dwarf_cu_die(origin.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) || !is_cxx(&unit) ||
	    !find_path(&unit, &origin, &path) || path.n < 2)
		return false;
	for (from = path.n - 1; from > 0 && dwarf_tag(&path.dies[from - 1]) != DW_TAG_subprogram;)
		from--;
	*name = '\0';
	if (from && !outer_name(m, &path.dies[from - 1], functions, name))
		return false;
	for (i = from; i < path.n - 1; i++) {
		part = scope_part(&path.dies[i], &path.dies[i + 1]);
		if (*part && !append(name, part))
			return false;
	}
	if (!*name || !append(name, own))
		return false;
	/* A lambda in a lambda: the outer one's function is no part of the name. */
	function_name_lambda(name);
	return true;
}

bool scope_name(Dwarf_Die *die, scope_name_demangle_fn demangle, void *ctx,
		char name[SCOPE_NAME_MAX])
{
	const struct maker m = { demangle, ctx };

	return make(&m, die, FUNCTIONS, name);
}
