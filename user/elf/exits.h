/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Every place by which a function can return to its caller, where no return probe may be used: its ret instructions,
 * those of the parts of it that lie elsewhere, and those of functions that it ends by jumping to. The stack
 * pointer there tells whose return it is.
 */
#ifndef ELF_EXITS_H
#define ELF_EXITS_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf.h"

#define EXITS_MAX 48

/* What to do about jumps out of the function: the more, the later in this list. */
enum exits_follow {
	EXITS_FOLLOW_NONE, /* its exits are then not known */
	EXITS_FOLLOW_COLD, /* those on a condition lead into a cold part of the same function */
	EXITS_FOLLOW_ALL, /* all within the file; one to a function elsewhere that returns at once is an end itself */
	/*
	 * And one that leaves the file is an end itself, as it would be if what is called there took no time: of functions
	 * that wait themselves, and return as well.
	 */
	EXITS_FOLLOW_OUTSIDE,
};

struct exits {
	uint32_t n; /* 0: not known; then why says so */
	uint64_t at[EXITS_MAX]; /* offsets in the file */
	uint32_t parts; /* of how many pieces of code they are */
	char why[128]; /* half a sentence about the function */
};

/*
 * The exits of the function @symbol. Its size may be unknown (0): then the unwind table is asked. Overwrites what
 * elf_bytes() gave.
 */
void exits_find(const struct elf_file *elf, uint16_t machine, const struct elf_symbol *symbol,
		enum exits_follow follow, struct exits *out);

/*
 * The function, or part of one, that @vaddr lies in, by the unwind table or by symbols. False: where it begins and ends
 * cannot be told. The offset of *out is in the file.
 */
bool exits_function_around(const struct elf_file *elf, uint64_t vaddr, struct elf_symbol *out);

#endif /* ELF_EXITS_H */
