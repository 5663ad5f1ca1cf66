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
	/*
	 * The object is the first argument. For a function that is known to have no argument, this
	 * is the same as RULE_OBJECT_ALL.
	 */
	RULE_OBJECT_AUTO,
	RULE_OBJECT_ARGUMENT,
	RULE_OBJECT_ALL, /* all callers cross one barrier */
};

/* One function of a rule. If the name is a pattern: several functions. */
struct rule_point {
	char *name; /* as given; NULL for an address */
	/* Text that a mangled name must contain to match. NULL: unknown. */
	char *needle;
	bool pattern;
	uint64_t vaddr; /* the address, if `name` is NULL */
	uint32_t found; /* number of probe sites found for this rule */
};

struct rule {
	char *text; /* as given */
	char *file; /* NULL: any file */
	/* the names in the rule are mangled, so symbols are compared without demangling */
	bool raw;
	bool pair; /* the wait is from the entry of at[0] to the return from at[1] */
	struct rule_point at[2];
	enum rule_object object;
	struct family_function by_argument; /* the row that the rule becomes */
	/* the row that the rule becomes for a function without arguments */
	struct family_function for_all;
};

struct rules {
	struct rule *all[RULES_MAX]; /* allocated one by one, so that pointers to rows stay valid */
	size_t n;
};

/*
 * Add a rule. Return 0, -EINVAL with a clause in @why that says what is wrong, -E2BIG (too many
 * rules) or -ENOMEM.
 */
int rules_add(struct rules *rules, const char *spec, char *why, size_t why_len);
/*
 * Add rules for known functions of C++, Boost and Rust, by mangled names (family std). Compilers
 * inline most of these functions, and only those that remain can be traced: see rule.c. Return 0 or
 * -ENOMEM.
 */
int rules_add_known(struct rules *rules);
void rules_free(struct rules *rules);

/* Return whether this object stands for all callers of a function (RULE_EVERYBODY). */
bool rule_is_everybody(uint64_t object);

/* Return whether the rule applies to the file with this path or name. @soname may be "". */
bool rule_takes_file(const struct rule *rule, const char *path, const char *soname);

/*
 * Write the source name of a mangled name. Return false if the name is not mangled or cannot be
 * demangled.
 */
typedef bool (*rule_demangle_fn)(void *ctx, const char *raw, char *name, size_t size);

/*
 * Return whether the rule means the function with this name in the symbol table. Demangling is
 * slow, so @demangle is called only if the name could match.
 */
bool rule_takes_symbol(const struct rule_point *point, const char *raw, rule_demangle_fn demangle,
		       void *ctx);

#endif /* SITES_RULE_H */
