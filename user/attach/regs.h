/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * User registers of blocked threads, from a BPF program that iterates over tasks. No thread is
 * stopped.
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
	/* the thread is running, so `regs` are old: they are from its last entry into the kernel */
	bool on_cpu;
	uint64_t switches; /* number of context switches when the registers were read */
	struct stack_regs regs; /* regs.known 0: unknown */
	/* Return addresses of calls with a pending return probe, innermost first. */
	uint64_t returns[REGS_RETURNS];
	uint32_t nreturns;
};

/*
 * Load the program. Return 0 and *@out, or -errno with the reason in @why: missing rights, or a
 * kernel without task iterators.
 */
int regs_new(struct regs **out, char *why, size_t len);
void regs_free(struct regs *regs);
/*
 * Get all threads of @pid, sorted by tid: *@n threads in *@out, which the caller frees. This
 * iterates over all tasks of the machine and takes about 1 us per task.
 */
int regs_read(struct regs *regs, uint32_t pid, struct regs_thread **out, uint32_t *n);

/*
 * Count how often the thread @tid of the process @pid returns from a call. The probe is at the
 * instruction to which the call returns: at @offset of the file open as @fd. @slot is below
 * REGS_SLOTS, and is in use until the returned descriptor is closed with link_close(). Return that
 * descriptor or -errno; -ENOTSUP if the kernel has no such probes (Linux before 6.6).
 */
#define REGS_SLOTS 64
int regs_count_returns(struct regs *regs, uint32_t slot, int fd, uint64_t offset, uint32_t pid,
		       uint32_t tid);
uint64_t regs_returned(const struct regs *regs, uint32_t slot);

#endif /* ATTACH_REGS_H */
