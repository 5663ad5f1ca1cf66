/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find where a function keeps its arguments during a call. Pure: the function's instructions in,
 * registers and stack slots out. Used for threads that are blocked in a call that was not traced.
 * The argument registers have new contents by then, but compilers copy arguments that are needed
 * after the call to callee-saved registers or to the stack.
 */
#ifndef ELF_HELD_ARGS_H
#define ELF_HELD_ARGS_H

#include <stddef.h>
#include <stdint.h>

#define HELD_ARGS_MAX 12 /* arguments 0 to 11 */

enum held_how {
	HELD_NOWHERE, /* in no known place */
	HELD_IN_REGISTER, /* in register .reg (DWARF's number) of the function's frame */
	/* at .offset from the frame's CFA (the caller's stack pointer at the call) */
	HELD_ON_STACK,
	/*
	 * in memory, at .offset from the address in register .reg: in a structure that the function
	 * filled
	 */
	HELD_AT_REGISTER,
};

struct held_arg {
	enum held_how how;
	uint8_t reg;
	uint8_t size; /* bytes in memory: 4 or 8 */
	int32_t offset;
	int8_t passed; /* index of the callee's register argument that has this value; -1: none */
};

/*
 * Find the arguments during the call that returns to @after (bytes from the start of the function's
 * @len bytes). An argument is found in a place if every path from the entry to the call copies it
 * there and writes nothing else there. This covers integers and pointers only. @out has an entry
 * for each argument. Return 0, -ENOTSUP (not x86-64, or code that cannot be followed), -ENOENT (no
 * call returns to @after) or -ENOMEM.
 */
int held_args_find(uint16_t machine, const uint8_t *bytes, size_t len, uint32_t after,
		   struct held_arg out[HELD_ARGS_MAX]);

#endif /* ELF_HELD_ARGS_H */
