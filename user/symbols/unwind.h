/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* One frame of a stack by a file's call frame information (DWARF 5, section 6.4). */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "sbt/probe.h"
#include "sbt/record.h"
#include "symbols/stack.h"

enum unwind_result {
	UNWIND_NO_RULES = 0, /* the file has no rules for this code, or they need unknown values */
	UNWIND_CALLER = 1,
	UNWIND_END = 2, /* the outermost frame, or nothing valid above it */
};

struct unwind_step {
	uint32_t result; /* enum unwind_result */
	uint32_t signal; /* not 0: the kernel's frame below a signal handler */
	struct stack_regs caller; /* for UNWIND_CALLER; caller.exact is set if signal is */
};

struct Dwfl_Module;

/*
 * Get the rules of @module for the code at @vaddr as a struct sbt_frame_rule. Most code's rules
 * fit: relative to the stack pointer or the frame pointer. Return false if the file has no rules
 * for this code, or they do not fit. The outermost function has SBT_FRAME_LAST. Only for the
 * symboliser's child.
 */
bool unwind_rule(struct Dwfl_Module *module, uint64_t vaddr, struct sbt_frame_rule *rule);

/*
 * Apply the rules of @module for the code at @vaddr (in a call: return address minus one) to @regs.
 * Parses the file's contents: only for the symboliser's child.
 */
void unwind_step(struct Dwfl_Module *module, uint64_t vaddr, const struct stack_regs *regs,
		 const struct sbt_stack *stack, struct unwind_step *step);

#endif /* SYMBOLS_UNWIND_H */
