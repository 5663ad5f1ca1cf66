// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "symbols/stack.h"

#include <errno.h>
#include <string.h>

#if defined(__x86_64__)

/* For each DWARF register, its word in struct pt_regs (arch/x86/include/asm/ptrace.h). */
static const uint8_t pt_regs_word[STACK_NREGS] = { 10, 12, 11, 5, 13, 14, 4, 19, 9,
						   8,  7,  6,  3, 2,  1,  0, 16 };
#define PT_REGS_ORIG_AX 15

int stack_first_of(const __u64 words[SBT_STACK_REGS], struct stack_regs *regs)
{
	unsigned int i;

	memset(regs, 0, sizeof(*regs));
	for (i = 0; i < STACK_NREGS; i++)
		stack_set(regs, i, words[pt_regs_word[i]]);
	regs->exact = 1;
	return 0;
}

/* Outside system calls, orig_ax is -1. */
bool stack_in_syscall(const struct sbt_stack *stack)
{
	return stack->regs[PT_REGS_ORIG_AX] != UINT64_MAX;
}

uint64_t stack_pc_of(uint64_t value)
{
	return value;
}

#elif defined(__aarch64__)

/* struct user_pt_regs: x0 to x30, sp, pc, in DWARF's order. */
int stack_first_of(const __u64 words[SBT_STACK_REGS], struct stack_regs *regs)
{
	unsigned int i;

	memset(regs, 0, sizeof(*regs));
	for (i = 0; i < STACK_NREGS; i++)
		stack_set(regs, i, words[i]);
	regs->exact = 1;
	return 0;
}

/* On arm64, the registers do not show whether the thread is in a system call. */
bool stack_in_syscall(const struct sbt_stack *stack)
{
	(void)stack;
	return false;
}

uint64_t stack_pc_of(uint64_t value)
{
	return value & ((1ull << 48) - 1);
}

#else

int stack_first_of(const __u64 words[SBT_STACK_REGS], struct stack_regs *regs)
{
	(void)words;
	memset(regs, 0, sizeof(*regs));
	return -ENOTSUP;
}

bool stack_in_syscall(const struct sbt_stack *stack)
{
	(void)stack;
	return false;
}

uint64_t stack_pc_of(uint64_t value)
{
	return value;
}

#endif

int stack_first(const struct sbt_stack *stack, struct stack_regs *regs)
{
	return stack_first_of(stack->regs, regs);
}

bool stack_read(const struct sbt_stack *stack, uint64_t addr, unsigned int size, uint64_t *value)
{
	uint64_t len = stack->len < SBT_STACK_BYTES ? stack->len : SBT_STACK_BYTES;
	uint64_t at = addr - stack->sp;

	*value = 0;
	if (size < 1 || size > 8 || len < size || addr < stack->sp || at > len - size)
		return false;
	memcpy(value, stack->bytes + at, size);
	return true;
}

bool stack_frame_pointer_step(const struct sbt_stack *stack, const struct stack_regs *regs,
			      struct stack_regs *caller)
{
	uint64_t fp = regs->value[STACK_FP], next, pc;

	memset(caller, 0, sizeof(*caller));
	/*
	 * On both architectures, the frame pointer points to the caller's frame pointer, and the
	 * return address is above it.
	 */
	if (!stack_knows(regs, STACK_FP) || fp % sizeof(fp) || fp < regs->value[STACK_SP] ||
	    !stack_read(stack, fp, sizeof(next), &next) ||
	    !stack_read(stack, fp + sizeof(next), sizeof(pc), &pc))
		return false;
	pc = stack_pc_of(pc);
	if (!pc)
		return false;
	stack_set(caller, STACK_FP, next);
	stack_set(caller, STACK_PC, pc);
	stack_set(caller, STACK_SP, fp + 2 * sizeof(fp));
#if defined(__aarch64__)
	/*
	 * On arm64, local variables lie above this pair, so this stack pointer is only a lower
	 * bound.
	 */
	caller->known &= ~(1ull << STACK_SP);
#endif
	return true;
}

bool stack_grows(const struct stack_regs *regs, const struct stack_regs *caller)
{
	/*
	 * The stack pointers may be equal only for the innermost frame: on arm64, a leaf function
	 * may have no frame, and then its caller has the same stack pointer.
	 */
	return caller->value[STACK_SP] > regs->value[STACK_SP] ||
	       (regs->exact && caller->value[STACK_SP] == regs->value[STACK_SP] && !caller->exact);
}
