/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The families of barriers that are known: which functions to probe, where the object is and what
 * its bytes mean. Pure: a new family is a row here and an enum sbt_family.
 */
#ifndef SITES_FAMILY_H
#define SITES_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sbt/record.h"

struct sites_family {
	enum sbt_family family;
	const char *name; /* "pthread" */
	const char *kind; /* "explicit": the program calls the barrier itself */
	const char *const *symbols; /* functions that one thread calls to meet; ends with NULL */
	const char *
		maker; /* function that makes an object: what was read of one is then old; NULL none */
	uint32_t argument; /* which argument points at the object, from 0 */
	uint32_t words_offset; /* bytes from the object to the 8 bytes that travel as words */
};

/* All rows, *n of them. Read-only, never NULL. */
const struct sites_family *family_table(size_t *n);
/* The row of @family, or NULL. */
const struct sites_family *family_find(enum sbt_family family);

/* Whose layout a barrier object has: by struct elf_traits of the file with the probed function. */
enum family_flavour {
	FAMILY_FLAVOUR_UNKNOWN = 0,
	FAMILY_FLAVOUR_GLIBC,
	FAMILY_FLAVOUR_MUSL,
};

enum family_flavour family_flavour_of(bool glibc, bool musl);

struct family_team {
	bool known; /* else nothing below is */
	uint32_t count; /* threads that must meet */
	bool sharing_known;
	bool process_shared; /* when sharing_known */
};

/*
 * What the 8 bytes of a crossing (sbt_crossing.words) say about the barrier. Never guesses: an
 * unknown flavour, or values that no initialised barrier has, give known = false.
 */
struct family_team family_read_words(enum sbt_family family, enum family_flavour flavour,
				     uint64_t words);

#endif /* SITES_FAMILY_H */
