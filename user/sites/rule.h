/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Barriers that the user names: -b SPEC. Rows beside the table of family.h, made from text. Nothing is opened.
 *
 *	SPEC:     [FILE:]FUNCTION[..FUNCTION][@N | @all][,count=N]
 *	FUNCTION: a name, as in the symbol table or as in the source (C++, Rust; without its parameters it means all
 *		  of that name), a pattern of these with * and ?, or 0xADDRESS as nm and objdump show it
 *
 * FILE is a path, or the name of a file or library, which may be a pattern; an address needs it. It ends at the first
 * colon that is not one of two.
 */
#ifndef SITES_RULE_H
#define SITES_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites/family.h"

#define RULES_MAX 64

enum rule_object {
	RULE_OBJECT_AUTO, /* its first argument; if it is known to have none, as with @all */
	RULE_OBJECT_ARGUMENT,
	RULE_OBJECT_ALL, /* all who call it meet there */
};

/* One function, or many by a pattern. */
struct rule_point {
	char *name; /* as given; of an address: NULL */
	char *needle; /* what a mangled name must contain for the name to be it; NULL: nothing known */
	bool pattern;
	uint64_t vaddr; /* of an address */
	uint32_t found; /* places that were found to be it */
};

struct rule {
	char *text; /* as given */
	char *file; /* NULL: any */
	bool raw; /* its names are mangled ones: never to be read */
	bool pair; /* from the entry of at[0] to the return from at[1] */
	struct rule_point at[2];
	enum rule_object object;
	struct family_function by_argument; /* what becomes of it: a row */
	struct family_function for_all; /* the same where the function has no argument */
};

struct rules {
	struct rule *all[RULES_MAX]; /* rows are pointed at: they stay where they are */
	size_t n;
};

/*
 * One more. Returns 0; -EINVAL with half a sentence in @why about what is wrong; -E2BIG: too many; -ENOMEM.
 */
int rules_add(struct rules *rules, const char *spec, char *why, size_t why_len);
/*
 * What is known of C++, Boost and Rust, by their mangled names (family std). Compilers inline most of it: what is seen
 * is what they leave, see rule.c. Returns 0 or -ENOMEM.
 */
int rules_add_known(struct rules *rules);
void rules_free(struct rules *rules);

/* Does this address stand for all who call a function? */
bool rule_is_everybody(uint64_t object);

/* Is the file the one that the rule means? By its path or name; @soname may be "". */
bool rule_takes_file(const struct rule *rule, const char *path, const char *soname);

/* What a mangled name reads in the source: false if it is not mangled, or cannot be read. */
typedef bool (*rule_demangle_fn)(void *ctx, const char *raw, char *name, size_t size);

/*
 * Is the function with this name in the symbol table one that is meant? A demangler is slow: it is asked only where
 * the name could be it.
 */
bool rule_takes_symbol(const struct rule_point *point, const char *raw, rule_demangle_fn demangle,
		       void *ctx);

#endif /* SITES_RULE_H */
