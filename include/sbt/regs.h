/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The struct that the BPF iterator writes for each thread. User space and the BPF program are
 * always from the same build, so the layout may change freely.
 */
#ifndef SBT_REGS_H
#define SBT_REGS_H

#include "sbt/record.h"

#define SBT_REGS_RETURNED 64 /* largest number of return addresses with a probe at the same time */
#define SBT_REGS_RETURNS  8

struct sbt_regs {
	__u32 tid; /* in the reader's PID namespace */
	/*
	 * Not 0: the thread is on a CPU. In that case the registers may be outdated: they are those
	 * of its last entry into the kernel.
	 */
	__u32 on_cpu;
	__u64 switches; /* number of context switches so far */
	__u64 words[SBT_STACK_REGS]; /* in the layout of this architecture's kernel */
	/*
	 * Real return addresses of the functions with a pending return probe, innermost first. A 0
	 * ends the list.
	 */
	__u64 returns[SBT_REGS_RETURNS];
};

#endif /* SBT_REGS_H */
