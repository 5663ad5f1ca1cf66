/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Where a function keeps its arguments while it waits in a function that it called. Pure: the function's instructions in,
 * registers and stack slots out. For threads that are stuck in a call that nobody traced: the argument registers have new
 * contents by then, but compilers copy what is needed after a call to registers that callees preserve, or to the stack.
 */
#ifndef ELF_HELD_ARGS_H
#define ELF_HELD_ARGS_H

#include <stddef.h>
#include <stdint.h>

#define HELD_ARGS_MAX 12 /* arguments 0 to 11 */

enum held_how {
	HELD_NOWHERE, /* it is kept in no place that is known */
	HELD_IN_REGISTER, /* .reg, as DWARF numbers it, of the function's frame */
	HELD_ON_STACK, /* .offset from the frame's CFA (the stack pointer of its caller after the call) */
	HELD_AT_REGISTER, /* in memory at .offset from where register .reg points: in a structure that the function filled */
};

struct held_arg {
	enum held_how how;
	uint8_t reg;
	uint8_t size; /* bytes that are in memory: 4 or 8 */
	int32_t offset;
	int8_t passed; /* the function that is called has it as this argument of its own, in a register; -1: it has not */
};

/*
 * Find where the arguments are during the call that returns to @after (bytes from the start of the function's @len bytes):
 * along every path from the entry to that call the argument was copied there, and nothing else was written there. Integers
 * and pointers only. @out has an entry for each argument. Return 0, or -ENOTSUP (another machine than x86-64, or code that
 * cannot be followed), -ENOENT (no call returns to @after), -ENOMEM.
 */
int held_args_find(uint16_t machine, const uint8_t *bytes, size_t len, uint32_t after,
		   struct held_arg out[HELD_ARGS_MAX]);

#endif /* ELF_HELD_ARGS_H */
