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

#include "symbols/stack.h"

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

/*
 * Whether a thread leaves a call: a probe in the process @pid at @offset of the file open as @fd, where the call returns to,
 * which counts how often the thread @tid comes there. @slot is less than REGS_SLOTS, and in use until the descriptor that is
 * returned is given to link_close(). -errno: -ENOTSUP where the kernel has no such probes (Linux before 6.6).
 */
#define REGS_SLOTS 64
int regs_count_returns(struct regs *regs, uint32_t slot, int fd, uint64_t offset, uint32_t pid,
		       uint32_t tid);
uint64_t regs_returned(const struct regs *regs, uint32_t slot);

#endif /* ATTACH_REGS_H */
