/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Unwind one frame of a stack by a file's call frame information (DWARF 5, section 6.4). */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "sbt/probe.h"
#include "sbt/record.h"
#include "symbols/stack.h"

enum unwind_result {
	/* the file has no rules for this code, or the rules need unknown values */
	UNWIND_NO_RULES = 0,
	UNWIND_CALLER = 1,
	UNWIND_END = 2, /* this is the outermost frame, or its caller is invalid */
};

struct unwind_step {
	uint32_t result; /* enum unwind_result */
	/*
	 * not 0: this is the frame that the kernel made to call a signal handler: its caller was
	 * interrupted
	 */
	uint32_t signal;
	struct stack_regs caller; /* for UNWIND_CALLER; if `signal` is set, so is caller.exact */
};

struct Dwfl_Module;

/* Addresses of a file, as linked: from <= vaddr < to. */
struct unwind_range {
	uint64_t from, to;
};

/*
 * Get the rules of @module for the code at @vaddr as a struct sbt_frame_rule. The rules of most
 * code fit into it: they are relative to the stack pointer or the frame pointer. Return false if
 * the file has no rules for this code, or if the rules do not fit. The rule of the outermost
 * function has SBT_FRAME_LAST. *range: the code around @vaddr for which the answer is the same.
 * Only for the symboliser's child.
 */
bool unwind_rule(struct Dwfl_Module *module, uint64_t vaddr, struct sbt_frame_rule *rule,
		 struct unwind_range *range);

/*
 * Apply the rules of @module for the code at @vaddr to @regs. For a caller's frame, @vaddr is in
 * the call: return address minus one. This parses the file's contents, so only the symboliser's
 * child may call it.
 */
void unwind_step(struct Dwfl_Module *module, uint64_t vaddr, const struct stack_regs *regs,
		 const struct sbt_stack *stack, struct unwind_step *step);

#endif /* SYMBOLS_UNWIND_H */
