/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find all exits of a function, for use where no return probe is allowed. Exits are the ret
 * instructions of the function, of its parts that lie elsewhere, and of functions to which it jumps
 * at its end. At an exit, the stack pointer shows which call returns.
 */
#ifndef ELF_EXITS_H
#define ELF_EXITS_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf.h"

#define EXITS_MAX 48

/* How to handle jumps out of the function. Each value allows more jumps than the value before. */
enum exits_follow {
	EXITS_FOLLOW_NONE, /* follow no jump: a function with such jumps has unknown exits */
	/* follow conditional jumps, which lead to a cold part of the same function */
	EXITS_FOLLOW_COLD,
	/*
	 * Follow all jumps within the file. A jump to a function of another file is an exit if that
	 * function returns at once, such as pthread_mutex_unlock().
	 */
	EXITS_FOLLOW_ALL,
	/*
	 * Also treat every other jump to another file as an exit, as if the function there took no
	 * time. This is for functions that wait in their own code, and that also have a ret.
	 */
	EXITS_FOLLOW_OUTSIDE,
};

struct exits {
	uint32_t n; /* 0: the exits are unknown, for the reason in `why` */
	uint64_t at[EXITS_MAX]; /* file offsets */
	uint32_t parts; /* number of pieces of code that were searched */
	char why[128]; /* reason as the second half of a sentence: "it ..." */
};

/*
 * Find the exits of the function @symbol. If its size is unknown (0), use the unwind table.
 * Overwrites the bytes from elf_bytes().
 */
void exits_find(const struct elf_file *elf, uint16_t machine, const struct elf_symbol *symbol,
		enum exits_follow follow, struct exits *out);

/*
 * Find the function or the part of a function that contains @vaddr, in the unwind table or among
 * symbols. Return false if its bounds are unknown.
 */
bool exits_function_around(const struct elf_file *elf, uint64_t vaddr, struct elf_symbol *out);

#endif /* ELF_EXITS_H */
