/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A sample of a thread's registers and stack. Both are untrusted. Pure. Registers have DWARF's
 * numbers (System V ABI for x86-64, figure 3.36; AADWARF64, table 1).
 */
#ifndef SYMBOLS_STACK_H
#define SYMBOLS_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "sbt/record.h"

#if defined(__aarch64__)
#define STACK_NREGS 33
#define STACK_FP    29
#define STACK_SP    31
#define STACK_PC    32
#else
#define STACK_NREGS 17
#define STACK_FP    6
#define STACK_SP    7
#define STACK_PC    16
#endif

/* The registers of one frame. */
struct stack_regs {
	uint64_t value[STACK_NREGS]; /* if the stack pointer is not known, a lower bound for it */
	uint64_t known; /* bit r is set: value[r] is known */
	uint64_t exact; /* 1: the pc is the thread's position; 0: it is a return address */
};

/*
 * Get the registers of the innermost frame. Return 0, or -ENOTSUP if the architecture is neither
 * x86-64 nor arm64.
 */
int stack_first(const struct sbt_stack *stack, struct stack_regs *regs);
/* Like stack_first(), but with the registers in @words, which has the layout of sbt_stack.regs. */
int stack_first_of(const __u64 words[SBT_STACK_REGS], struct stack_regs *regs);
/*
 * Return whether the thread is in a system call, so that the pc is immediately after the system
 * call instruction.
 */
bool stack_in_syscall(const struct sbt_stack *stack);

static inline bool stack_knows(const struct stack_regs *regs, unsigned int reg)
{
	return reg < STACK_NREGS && (regs->known >> reg & 1);
}

static inline void stack_set(struct stack_regs *regs, unsigned int reg, uint64_t value)
{
	regs->value[reg] = value;
	regs->known |= 1ull << reg;
}

/*
 * Return the code address in @value. On arm64, remove the pointer authentication code, which is in
 * the upper bits: only 48 bits of an address are in use.
 */
uint64_t stack_pc_of(uint64_t value);
/*
 * Read @size (1 to 8) bytes at @addr, little-endian. Return false if the sample does not contain
 * all of them.
 */
bool stack_read(const struct sbt_stack *stack, uint64_t addr, unsigned int size, uint64_t *value);
/*
 * Find the caller by the frame pointer, for code without unwind tables. Return false if the frame
 * pointer is outside the sample, or if there is no caller. If the code keeps no frame pointer, the
 * result may be wrong.
 */
bool stack_frame_pointer_step(const struct sbt_stack *stack, const struct stack_regs *regs,
			      struct stack_regs *caller);
/*
 * Return whether @caller can be the caller of @regs: its stack pointer must be higher. This check
 * ensures that every walk ends.
 */
bool stack_grows(const struct stack_regs *regs, const struct stack_regs *caller);

#endif /* SYMBOLS_STACK_H */
