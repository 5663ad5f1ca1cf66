/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The user registers of blocked threads, by a program that the kernel runs over its tasks. Nobody
 * is stopped.
 */
#ifndef ATTACH_REGS_H
#define ATTACH_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites/stack.h"

#define REGS_RETURNS 8

struct regs; /* opaque */

struct regs_thread {
	uint32_t tid;
	bool on_cpu; /* regs are those of its last entry into the kernel: old */
	uint64_t switches; /* times it gave up a CPU or lost it, when the registers were read */
	struct stack_regs regs; /* regs.known 0: not known */
	/* Where calls with a pending return probe really return to, innermost first. */
	uint64_t returns[REGS_RETURNS];
	uint32_t nreturns;
};

/*
 * Loads the program. Returns 0 and *out, or -errno and in @why what keeps it from being used: no
 * rights, a kernel without iterators over tasks.
 */
int regs_new(struct regs **out, char *why, size_t len);
void regs_free(struct regs *regs);
/*
 * All threads of @pid, by tid: *out (to be freed) has *n. Runs over all tasks of the machine: about
 * 1 us each.
 */
int regs_read(struct regs *regs, uint32_t pid, struct regs_thread **out, uint32_t *n);

#endif /* ATTACH_REGS_H */
