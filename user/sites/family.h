/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Barrier families, and the functions at which threads wait for each other: the functions that get
 * probes, the location of the barrier object, and the condition for a release. A new function is a
 * row of the table in family.c.
 */
#ifndef SITES_FAMILY_H
#define SITES_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sbt/probe.h"
#include "sbt/record.h"

/*
 * Where an argument of a function is, by the calling convention. family_spec() translates it for a
 * machine.
 */
struct family_arg {
	/* SBT_ARG_NONE, _CONST, _TEAM, _SP; SBT_ARG_REG: argument @number. */
	uint8_t how;
	uint8_t number; /* from 0 */
	uint8_t size; /* bytes; 0 means 8 */
	uint8_t flags; /* SBT_ARG_* */
	int64_t value; /* of SBT_ARG_CONST; offset with SBT_ARG_ADDS */
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
	/* Name of the function; a pattern if it contains '*'. */
	const char *symbol;
	uint8_t family; /* enum sbt_family */
	uint8_t kind; /* enum sbt_kind */
	uint8_t role; /* enum sbt_role */
	uint8_t flags; /* SBT_SPEC_* */
	uint32_t words_offset; /* as in struct sbt_spec; 0 means SBT_WORDS_NONE */
	/* Number of the user's rule, from 1; 0: a row of the table. */
	uint32_t rule;
	/*
	 * Name of the probe group that can be detached separately. NULL: the function is in the
	 * group of its family.
	 */
	const char *probe_group;
	struct family_arg object;
	struct family_arg words;
	struct family_arg index;
	struct family_arg what; /* for SBT_SPEC_MAKES and SBT_SPEC_REDUCE */
};

/*
 * Return the next function with this name, in the order of the table. @after is the previous
 * result, or NULL for the first one. NULL: no more. The function is called for every symbol of
 * every file, so it is fast for names without a row.
 */
const struct family_function *family_function(const char *symbol,
					      const struct family_function *after);

/*
 * Return the row for the start or the @end of an inlined wait of std::barrier or, if @latch, of
 * std::latch.
 */
const struct family_function *family_inline_wait(bool latch, bool end);

/*
 * Return the marker @name of provider "sbt" (include/sbt/sbt.h), or NULL. The marker's note says
 * where its values are.
 */
const struct family_function *family_mark(const char *name);
/* Numbers of the marker's arguments that go into a spec. */
struct family_mark_args {
	int8_t object, index, file, line, name, what, words; /* -1: none */
};

const struct family_mark_args *family_mark_args(const struct family_function *mark);

/*
 * Return the row of the functions that parallel regions of this family run, whatever their names.
 * NULL: none.
 */
const struct family_function *family_outlined(uint8_t family);

/*
 * Return the row of any of these tables with this number, which another process can pass on. NULL:
 * no such number. The second function returns the number of a row; false: not a row of the tables.
 */
const struct family_function *family_numbered(uint32_t number);
bool family_number(const struct family_function *function, uint32_t *number);

/*
 * Fill in what the probe at this function is given. Return 0, or -ENOTSUP on an unsupported
 * machine.
 */
int family_spec(const struct family_function *function, uint16_t machine, struct sbt_spec *out);

/*
 * Return the number of the probe group (SBT_PROBE_GROUPS) of a row: that of its family if it has no
 * other.
 */
uint8_t family_probe_group(const struct family_function *function);
/* Return "MPI_Barrier". NULL: the group is that of a family, or of a rule of the user's. */
const char *family_probe_group_name(uint8_t probe_group);
/* Return the family of any probe group. */
uint8_t family_of_probe_group(uint8_t probe_group);

/*
 * Special properties of a family. Other rooms ask for a trait and do not compare family numbers, so
 * that a new family only needs a row of family_table. scripts/rooms counts the comparisons that
 * remain.
 */
enum family_trait {
	/* A pthread_barrier_t of the C library: family_read_words() knows its layouts. */
	FAMILY_LIBC_OBJECT = 1u << 0,
	/* Teams of the parallel regions of an OpenMP runtime. */
	FAMILY_OPENMP = 1u << 1,
	/* Collective operations of processes on a communicator. */
	FAMILY_RANKS = 1u << 2,
	/* Waits of std::barrier and std::latch, which compilers inline. */
	FAMILY_CXX = 1u << 3,
	/* Markers in the source of the program: include/sbt/sbt.h. */
	FAMILY_MARKERS = 1u << 4,
	/* Functions that the user named. */
	FAMILY_RULES = 1u << 5,
	/* Condition variables and semaphores: model/discover finds the barriers among them. */
	FAMILY_COND_VAR = 1u << 6,
	/*
	 * Futex words: model/discover finds the barriers among them. A result is that of the system
	 * call.
	 */
	FAMILY_FUTEX_WORD = 1u << 7,
	/* A thread waits for the end of threads that it created. */
	FAMILY_JOINS = 1u << 8,
	/*
	 * Threads arrive by a plain call: the return address is at the stack pointer of the
	 * arrival.
	 */
	FAMILY_PLAIN_CALL = 1u << 9,
	/*
	 * Waiting threads sleep on a futex word. The 32-bit word before it holds the number of
	 * threads.
	 */
	FAMILY_COUNT_BEFORE_FUTEX = 1u << 10,
	/* The program itself, not the runtime, calls a region that one thread runs alone. */
	FAMILY_SERIAL_REGIONS = 1u << 11,

	FAMILY_DISCOVERED = FAMILY_COND_VAR | FAMILY_FUTEX_WORD,
};

/* One row for each number of enum sbt_family. The name of an unused number is NULL. */
struct family {
	const char *name; /* "pthread" */
	unsigned int traits; /* enum family_trait */
};

extern const struct family family_table[SBT_FAMILIES];

/* Return whether the family has any of these traits. False for a number without a family. */
static inline bool family_has(uint8_t family, unsigned int traits)
{
	return family < SBT_FAMILIES && family_table[family].traits & traits;
}

/* Return the probe groups of all families with any of these traits, as bits SBT_PROBE_GROUP(). */
uint64_t family_probe_groups_with(unsigned int traits);

/* Return "pthread"; NULL if there is no such family. */
const char *family_name(uint8_t family);
/* Return the family with this name; SBT_FAMILY_NONE if there is none. */
uint8_t family_by_name(const char *name);
#define FAMILY_NAMES 256 /* room for the names of all families */
/*
 * Write the names of the families in @bits (1 << number), "gomp, mpi", as far as there is room.
 * Return @out.
 */
const char *family_list(uint32_t bits, char *out, size_t size);
/* Return "explicit"; NULL if there is no such kind. */
const char *family_kind_name(uint8_t kind);

/*
 * The C library that decides the layout of a barrier object, by struct elf_traits of the file with
 * the probed function.
 */
enum family_libc {
	FAMILY_LIBC_UNKNOWN = 0,
	FAMILY_LIBC_GLIBC,
	FAMILY_LIBC_MUSL,
};

enum family_libc family_libc_of(bool glibc, bool musl);

struct family_team {
	bool known; /* else the other members are not valid */
	uint32_t count; /* threads that must arrive */
	bool sharing_known;
	bool process_shared; /* valid if sharing_known */
};

/*
 * Return what the raw barrier word of a crossing (sbt_crossing.raw_word) says about the barrier.
 * For an unknown libc variant, or values that no initialized barrier has, `known` is false.
 */
struct family_team family_read_words(uint8_t family, enum family_libc libc, uint64_t words);

#endif /* SITES_FAMILY_H */
