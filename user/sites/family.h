/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Barrier families and their functions. For each function at which threads wait for each other, the
 * table says how it is probed, where the barrier object is, and where the raw barrier word is. To
 * add a function, add a row to the table in family.c.
 */
#ifndef SITES_FAMILY_H
#define SITES_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sbt/probe.h"
#include "sbt/record.h"

/*
 * Where a function's argument is, as its number in the calling convention. family_spec() translates
 * the number to registers or stack slots of a machine.
 */
struct family_arg {
	/* SBT_ARG_REG for argument @number, or SBT_ARG_NONE, _CONST, _TEAM or _SP */
	uint8_t how;
	uint8_t number; /* from 0 */
	uint8_t size; /* bytes; 0 means 8 */
	uint8_t flags; /* SBT_ARG_* */
	int64_t value; /* constant for SBT_ARG_CONST; offset with SBT_ARG_ADDS */
};

#define FAMILY_ARGUMENT(n)                        \
	{                                         \
		.how = SBT_ARG_REG, .number = (n) \
	}
#define FAMILY_ARGUMENT_AS(n, ...)                             \
	{                                                      \
		.how = SBT_ARG_REG, .number = (n), __VA_ARGS__ \
	}

/* One function that gets probes. */
struct family_function {
	/* Name of the function. A name with '*' is a pattern. */
	const char *symbol;
	uint8_t family; /* enum sbt_family */
	uint8_t kind; /* enum sbt_kind */
	uint8_t role; /* enum sbt_role */
	uint8_t flags; /* SBT_SPEC_* */
	uint32_t words_offset; /* as in struct sbt_spec; 0 means SBT_WORDS_NONE */
	/* Number of the user's rule, from 1; 0: a row of the table. */
	uint32_t rule;
	/*
	 * Name of the probe group, if the function can be detached separately. NULL: the function
	 * is in the probe group of its family.
	 */
	const char *probe_group;
	struct family_arg object;
	struct family_arg words;
	struct family_arg index;
	struct family_arg what; /* for SBT_SPEC_MAKES and SBT_SPEC_REDUCE */
	bool seen; /* departures are seen in teams, too: inferred_in_team() in capture/probes.c */
};

/*
 * Return the next row for a function with this name, in the order of the table. @after is the
 * previous result, or NULL for the first row. NULL: there are no more rows. The function is called
 * for every symbol of every file, so it is fast for names without a row.
 */
const struct family_function *family_function(const char *symbol,
					      const struct family_function *after);

/*
 * Return the row for the start or the @end of an inlined wait of std::barrier or, if @latch, of
 * std::latch.
 */
const struct family_function *family_inline_wait(bool latch, bool end);

/*
 * Return the row for the marker @name of provider "sbt" (include/sbt/sbt.h), or NULL. The marker's
 * note in the file says where its arguments are.
 */
const struct family_function *family_mark(const char *name);
/* For each member of a spec, the number of the marker's argument that provides it. */
struct family_mark_args {
	int8_t object, index, file, line, name, what, words; /* -1: none */
};

const struct family_mark_args *family_mark_args(const struct family_function *mark);

/*
 * Return the row for functions that a parallel region of this family runs (outlined functions),
 * which may have any name. NULL: none.
 */
const struct family_function *family_outlined(uint8_t family);

/*
 * Find a row of any of these tables by its number, which can be sent to another process. NULL: no
 * such number. family_number() gets the number of a row and returns false if the row is not in the
 * tables.
 */
const struct family_function *family_numbered(uint32_t number);
bool family_number(const struct family_function *function, uint32_t *number);

/*
 * Fill in the spec of the probe at this function. Return 0, or -ENOTSUP on an unsupported machine.
 */
int family_spec(const struct family_function *function, uint16_t machine, struct sbt_spec *out);

/*
 * Return the number of a row's probe group (SBT_PROBE_GROUPS): the group that the row names, or
 * else the group of its family.
 */
uint8_t family_probe_group(const struct family_function *function);
/*
 * Return the name of a probe group that the table names, such as "MPI_Barrier". NULL: the group
 * belongs to a family or to a rule of the user.
 */
const char *family_probe_group_name(uint8_t probe_group);
/* Return the family of any probe group. */
uint8_t family_of_probe_group(uint8_t probe_group);

/*
 * Special properties of a family. Other parts of the program ask for a trait, and do not compare
 * family numbers. So a new family only needs a row of family_table. scripts/rooms counts the
 * comparisons that remain.
 */
enum family_trait {
	/*
	 * The object is a pthread_barrier_t of the C library. family_read_words() knows its
	 * layouts.
	 */
	FAMILY_LIBC_OBJECT = 1u << 0,
	/* Barriers in an OpenMP runtime, of the teams of parallel regions. */
	FAMILY_OPENMP = 1u << 1,
	/* Collective operations of processes on a communicator. */
	FAMILY_RANKS = 1u << 2,
	/* Waits of std::barrier and std::latch, which compilers inline. */
	FAMILY_CXX = 1u << 3,
	/* Markers in the source of the program: include/sbt/sbt.h. */
	FAMILY_MARKERS = 1u << 4,
	/* Functions that the user named. */
	FAMILY_RULES = 1u << 5,
	/*
	 * Condition variables, also those of an interpreter, and semaphores: model/discover finds
	 * the barriers among them.
	 */
	FAMILY_COND_VAR = 1u << 6,
	/*
	 * Futex words: model/discover finds the barriers among them. The result of a wait is the
	 * result of the futex call.
	 */
	FAMILY_FUTEX_WORD = 1u << 7,
	/* A thread waits for the exit of threads that it created. */
	FAMILY_JOINS = 1u << 8,
	/*
	 * Threads arrive by a plain call, so the stack pointer at the arrival points to the return
	 * address.
	 */
	FAMILY_PLAIN_CALL = 1u << 9,
	/*
	 * Waiting threads sleep on a futex word. The 32-bit word before that word holds the number
	 * of threads.
	 */
	FAMILY_COUNT_BEFORE_FUTEX = 1u << 10,
	/*
	 * If a single thread runs a region, the program itself calls the region's function, and not
	 * the runtime.
	 */
	FAMILY_SERIAL_REGIONS = 1u << 11,
	/*
	 * Barriers that only the memory of an interpreter shows (bpf/python.bpf.c). Processes may
	 * share them.
	 */
	FAMILY_INTERPRETED = 1u << 12,
	/*
	 * The object holds the number of members, and no member's code runs on in the barrier after
	 * the release: departures can be inferred.
	 */
	FAMILY_INFERRED = 1u << 13,
	/*
	 * The same for barriers of OpenMP teams, where the regions show the number of members. Not
	 * for libomp: after the release, its threads yield their CPUs, or wake each other one by
	 * one.
	 */
	FAMILY_INFERRED_IN_TEAM = 1u << 14,

	FAMILY_DISCOVERED = FAMILY_COND_VAR | FAMILY_FUTEX_WORD,
};

/* One row for each number of enum sbt_family. The name of an unused number is NULL. */
struct family {
	const char *name; /* "pthread" */
	unsigned int traits; /* enum family_trait */
	uint8_t follow; /* enum exits_follow: how the exits of its functions are found */
	const char *why_seen; /* a clause: why departures cannot be inferred; NULL: they can */
};

extern const struct family family_table[SBT_FAMILIES];

#define FAMILY_LIBRARY_FILES 3

/* A library that belongs to a family: a hang in such a library is attributed to its caller. */
struct family_library {
	const char *begin; /* the beginning of its file names: "libgomp" */
	uint8_t family; /* enum sbt_family */
	bool helper; /* the family's functions are in another library, which uses this one */
	/*
	 * Glob patterns of the names under which the library's file is searched, the preferred name
	 * first.
	 */
	const char *files[FAMILY_LIBRARY_FILES];
	/*
	 * For doctor, like the next two members. NULL: doctor does not check whether it can find
	 * names in the library.
	 */
	const char *name; /* "libgomp" */
	const char *function; /* one of its functions */
	const char *debug_package; /* Debian's package with its debug information */
};

extern const struct family_library family_libraries[];
extern const uint32_t family_nlibraries;

/*
 * Return the row for a library with this file name, which has no directory; NULL if the library
 * belongs to no family.
 */
const struct family_library *family_library(const char *file);
/*
 * Return whether the library with this file name has the functions of a family with any of these
 * traits.
 */
bool family_library_has(const char *file, unsigned int traits);

/* Return whether the family has any of these traits. False for a number without a family. */
static inline bool family_has(uint8_t family, unsigned int traits)
{
	return family < SBT_FAMILIES && family_table[family].traits & traits;
}

/*
 * Return the probe groups of all families with any of these traits, as a set of bits
 * SBT_PROBE_GROUP().
 */
uint64_t family_probe_groups_with(unsigned int traits);

/* Return the name of a family, such as "pthread"; NULL if there is no such family. */
const char *family_name(uint8_t family);
/* Return the family with this name; SBT_FAMILY_NONE if there is none. */
uint8_t family_by_name(const char *name);
#define FAMILY_NAMES 256 /* room for the names of all families */
/*
 * Write the names of the families in @bits (1 << number), such as "gomp, mpi", as far as there is
 * room. Return @out.
 */
const char *family_list(uint32_t bits, char *out, size_t size);
/* Return the name of a kind, such as "explicit"; NULL if there is no such kind. */
const char *family_kind_name(uint8_t kind);

/*
 * The C library that determines the layout of barrier objects. It is derived from the struct
 * elf_traits of the file that contains the probed function.
 */
enum family_libc {
	FAMILY_LIBC_UNKNOWN = 0,
	FAMILY_LIBC_GLIBC,
	FAMILY_LIBC_MUSL,
};

enum family_libc family_libc_of(bool glibc, bool musl);

struct family_team {
	bool known; /* if false, the other members are not valid */
	uint32_t count; /* threads that must arrive */
	bool sharing_known;
	bool process_shared; /* valid if sharing_known */
};

/*
 * Return what the raw barrier word of a crossing (sbt_crossing.raw_word) says about the barrier.
 * `known` is false for an unknown libc variant, and for values that no initialized barrier has.
 */
struct family_team family_read_words(uint8_t family, enum family_libc libc, uint64_t words);
/*
 * Return how many threads have arrived at a pthread barrier since its last release. @first: the
 * first 8 bytes of the object; @words: its raw barrier word. UINT32_MAX: unknown.
 */
uint32_t family_waiting(enum family_libc libc, uint64_t first, uint64_t words);

#endif /* SITES_FAMILY_H */
