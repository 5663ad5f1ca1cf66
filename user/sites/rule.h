/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Barriers that the user names with -b SPEC. They become rows like those of the table in family.h.
 * No file is opened.
 *
 *	SPEC:     [FILE:]FUNCTION[..FUNCTION][@N | @all][,count=N]
 *	FUNCTION: a name as in the symbol table or in the source (C++, Rust; without parameters
 *		  it means all functions of that name), a pattern of these with * and ?, or
 *		  0xADDRESS as nm and objdump show it
 *
 * FILE is a path, or the name of a file or library, which may be a pattern. An address needs FILE.
 * FILE ends at the first single colon.
 */
#ifndef SITES_RULE_H
#define SITES_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites/family.h"

#define RULES_MAX 64

enum rule_object {
	/* The first argument, or as @all if the function is known to have none. */
	RULE_OBJECT_AUTO,
	RULE_OBJECT_ARGUMENT,
	RULE_OBJECT_ALL, /* all callers cross one barrier */
};

/* One function, or several by a pattern. */
struct rule_point {
	char *name; /* as given; NULL for an address */
	/* What a mangled name must contain to be the name. NULL: unknown. */
	char *needle;
	bool pattern;
	uint64_t vaddr; /* if it is an address */
	uint32_t found; /* number of probe sites found for this rule */
};

struct rule {
	char *text; /* as given */
	char *file; /* NULL: any file */
	bool raw; /* its names are mangled: they are never demangled */
	bool pair; /* from the entry of at[0] to the return from at[1] */
	struct rule_point at[2];
	enum rule_object object;
	struct family_function by_argument; /* the row that it becomes */
	struct family_function for_all; /* the row for a function without arguments */
};

struct rules {
	struct rule *all[RULES_MAX]; /* allocated one by one: pointers to rows stay valid */
	size_t n;
};

/*
 * Add a rule. Return 0, -EINVAL with a clause in @why about what is wrong, -E2BIG (too many rules)
 * or -ENOMEM.
 */
int rules_add(struct rules *rules, const char *spec, char *why, size_t why_len);
/*
 * Add the known functions of C++, Boost and Rust by mangled names (family std). Compilers inline
 * most of these functions: only the remaining ones are seen, see rule.c. Return 0 or -ENOMEM.
 */
int rules_add_known(struct rules *rules);
void rules_free(struct rules *rules);

/* Return whether this address stands for all callers of a function. */
bool rule_is_everybody(uint64_t object);

/* Return whether the rule means this file, by its path or name. @soname may be "". */
bool rule_takes_file(const struct rule *rule, const char *path, const char *soname);

/*
 * Write the source name of a mangled name. Return false if the name is not mangled or cannot be
 * demangled.
 */
typedef bool (*rule_demangle_fn)(void *ctx, const char *raw, char *name, size_t size);

/*
 * Return whether the rule means the function with this name in the symbol table. A demangler is
 * slow, so it is called only where the name could match.
 */
bool rule_takes_symbol(const struct rule_point *point, const char *raw, rule_demangle_fn demangle,
		       void *ctx);

#endif /* SITES_RULE_H */
