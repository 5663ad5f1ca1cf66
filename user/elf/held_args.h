/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find where a function keeps its arguments during a call. Pure: the input is the function's
 * instructions, the output is registers and stack slots. This is used for threads that are blocked
 * in a call that was not traced. Inside the call, the argument registers have new contents. But
 * compilers copy arguments that are needed after the call to callee-saved registers or to the
 * stack.
 */
#ifndef ELF_HELD_ARGS_H
#define ELF_HELD_ARGS_H

#include <stddef.h>
#include <stdint.h>

#define HELD_ARGS_MAX 12 /* number of arguments that can be found: 0 to 11 */

enum held_how {
	HELD_NOWHERE, /* not found */
	HELD_IN_REGISTER, /* in register `reg` (DWARF's number) of the function's frame */
	/* at `offset` from the frame's CFA (the caller's stack pointer at the call) */
	HELD_ON_STACK,
	/*
	 * In memory, at `offset` from the address in register `reg`: in a structure that the
	 * function filled.
	 */
	HELD_AT_REGISTER,
};

struct held_arg {
	enum held_how how;
	uint8_t reg;
	uint8_t size; /* bytes in memory: 4 or 8 */
	int32_t offset;
	/*
	 * number of the called function's register argument that has the same value; -1: none
	 */
	int16_t passed;
};

/*
 * Find the arguments during the call that returns to @after (bytes from the start of the function,
 * which has @len bytes). An argument is found in a register or memory word if every path from the
 * entry to the call copies the argument there and then leaves it unchanged. Only integers and
 * pointers are found. @out has an entry for each argument. Return 0, -ENOTSUP (not x86-64, or code
 * that cannot be followed), -ENOENT (no call returns to @after) or -ENOMEM.
 */
int held_args_find(uint16_t machine, const uint8_t *bytes, size_t len, uint32_t after,
		   struct held_arg out[HELD_ARGS_MAX]);

#endif /* ELF_HELD_ARGS_H */
