/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The families of barriers that are known, and the functions by which programs meet: which to probe, where
 * the object is, what makes them meet there. Pure: a new way to meet is a row here.
 */
#ifndef SITES_FAMILY_H
#define SITES_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sbt/probe.h"
#include "sbt/record.h"

/* Where an argument of a function is, by the calling convention; told to a machine by family_spec(). */
struct family_arg {
	uint8_t how; /* SBT_ARG_NONE, _CONST, _TEAM, _SP; SBT_ARG_REG: argument @number */
	uint8_t number; /* from 0 */
	uint8_t size; /* bytes; 0: 8 */
	uint8_t flags; /* SBT_ARG_* */
	int64_t value; /* SBT_ARG_CONST */
};

#define FAMILY_ARGUMENT(n)                        \
	{                                         \
		.how = SBT_ARG_REG, .number = (n) \
	}
#define FAMILY_ARGUMENT_AS(n, ...)                             \
	{                                                      \
		.how = SBT_ARG_REG, .number = (n), __VA_ARGS__ \
	}

/* One function to be probed. */
struct family_function {
	const char *symbol; /* its name; with a '*' in it: a pattern */
	uint8_t family; /* enum sbt_family */
	uint8_t kind; /* enum sbt_kind */
	uint8_t role; /* enum sbt_role */
	uint8_t flags; /* SBT_SPEC_* */
	uint32_t words_offset; /* of struct sbt_spec; 0: SBT_WORDS_NONE */
	uint32_t rule; /* of the user's, from 1; 0: a row of the table */
	const char *
		probe_group; /* what it is called where it is shed alone; NULL: it goes with its family */
	struct family_arg object;
	struct family_arg words;
	struct family_arg index;
	struct family_arg what; /* with SBT_SPEC_MAKES and SBT_SPEC_REDUCE */
};

/*
 * The functions of this name, in the order of the table: @after the one found before, NULL to begin. NULL: no
 * more. Quick for names that are in no row: it is asked for every symbol of every file.
 */
const struct family_function *family_function(const char *symbol,
					      const struct family_function *after);

/* A wait of std::barrier or, if @latch, of std::latch that was put in line: its beginning, or its end. */
const struct family_function *family_inline_wait(bool latch, bool end);

/* The marker @name of provider "sbt" (include/sbt/sbt.h), or NULL. Its values are where its note says. */
const struct family_function *family_mark(const char *name);
/* The arguments of such a marker, by number, that go into a spec. */
struct family_mark_args {
	int8_t object, index, file, line, name, what, words; /* -1: none */
};

const struct family_mark_args *family_mark_args(const struct family_function *mark);

/* The row of the functions that parallel regions of this family run, whatever their names; NULL. */
const struct family_function *family_outlined(uint8_t family);

/* A row of any of these tables by its number, for another process; NULL: there is none of that number. And the way back; false: it is no such row. */
const struct family_function *family_numbered(uint32_t number);
bool family_number(const struct family_function *function, uint32_t *number);

/* What is to be told to the probe at such a function. Returns 0, or -ENOTSUP: not on this machine. */
int family_spec(const struct family_function *function, uint16_t machine, struct sbt_spec *out);

/* The number of the unit (SBT_PROBE_GROUPS) that a row of the table is of: its family's, where it has no other. */
uint8_t family_probe_group(const struct family_function *function);
/* "MPI_Barrier"; NULL: it is a family's, or the user's. */
const char *family_probe_group_name(uint8_t probe_group);
/* Of all units. */
uint8_t family_of_probe_group(uint8_t probe_group);

/*
 * What is special about a family. Other rooms ask for a trait and do not compare family numbers, so that a new family is
 * a row of family_table. scripts/rooms counts the comparisons that are left.
 */
enum family_trait {
	/* The object is the C library's pthread_barrier_t: family_read_words() knows its layouts. */
	FAMILY_LIBC_OBJECT = 1u << 0,
	/* Teams of the parallel regions of an OpenMP runtime. */
	FAMILY_OPENMP = 1u << 1,
	/* Collective operations of processes on a communicator. */
	FAMILY_RANKS = 1u << 2,
	/* std::barrier and std::latch, whose waits compilers inline. */
	FAMILY_CXX = 1u << 3,
	/* Markers in the source of the program: include/sbt/sbt.h. */
	FAMILY_MARKERS = 1u << 4,
	/* Functions that the user named. */
	FAMILY_RULES = 1u << 5,
	/* Condition variables and semaphores: model/discover finds the barriers among them. */
	FAMILY_COND_VAR = 1u << 6,
	/* Futex words: model/discover finds the barriers among them. A result is that of the system call. */
	FAMILY_FUTEX_WORD = 1u << 7,
	/* A thread waits for the end of threads that it created. */
	FAMILY_JOINS = 1u << 8,
	/* Threads arrive by a plain call, so that the return address is at the stack pointer of the arrival. */
	FAMILY_PLAIN_CALL = 1u << 9,
	/* Waiting threads sleep on a futex word; the 32-bit word before it holds the number of threads. */
	FAMILY_COUNT_BEFORE_FUTEX = 1u << 10,
	/* A region that one thread runs alone is called by the program itself, not by the runtime. */
	FAMILY_SERIAL_REGIONS = 1u << 11,

	FAMILY_DISCOVERED = FAMILY_COND_VAR | FAMILY_FUTEX_WORD,
};

/* One row for each family, by enum sbt_family; of the numbers without a family the name is NULL. */
struct family {
	const char *name; /* "pthread" */
	unsigned int traits; /* enum family_trait */
};

extern const struct family family_table[SBT_FAMILIES];

/* Does the family have any of these traits? False for a number that is no family's. */
static inline bool family_has(uint8_t family, unsigned int traits)
{
	return family < SBT_FAMILIES && family_table[family].traits & traits;
}

/* The probe groups of all families with any of these traits, bits SBT_PROBE_GROUP(). */
uint64_t family_probe_groups_with(unsigned int traits);

/* "pthread"; NULL if there is no such family. */
const char *family_name(uint8_t family);
/* Return the family with this name; SBT_FAMILY_NONE if there is none. */
uint8_t family_by_name(const char *name);
#define FAMILY_NAMES 256 /* room for the names of all */
/* "gomp, mpi": of all families with their bit, 1 << SBT_FAMILY_*, as much as there is room for. Returns @out. */
const char *family_list(uint32_t bits, char *out, size_t size);
/* "explicit"; NULL if there is no such kind. */
const char *family_kind_name(uint8_t kind);

/* Whose layout a barrier object has: by struct elf_traits of the file with the probed function. */
enum family_libc {
	FAMILY_LIBC_UNKNOWN = 0,
	FAMILY_LIBC_GLIBC,
	FAMILY_LIBC_MUSL,
};

enum family_libc family_libc_of(bool glibc, bool musl);

struct family_team {
	bool known; /* else nothing below is */
	uint32_t count; /* threads that must meet */
	bool sharing_known;
	bool process_shared; /* when sharing_known */
};

/*
 * What the raw barrier word of a crossing (sbt_crossing.raw_word) says about the barrier. Never guesses: an
 * unknown flavour, or values that no initialised barrier has, give known = false.
 */
struct family_team family_read_words(uint8_t family, enum family_libc libc, uint64_t words);

#endif /* SITES_FAMILY_H */
