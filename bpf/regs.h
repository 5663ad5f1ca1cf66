/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the iterator over threads writes. Both sides are of one build. */
#ifndef BPF_REGS_H
#define BPF_REGS_H

#include "sbt/record.h"

#define SBT_REGS_RETURNED 64 /* places that threads may return to, at once */
#define SBT_REGS_RETURNS  8

struct sbt_regs {
	__u32 tid; /* as the reader's PID namespace has it */
	/* Not 0: it has one, so that the registers are those of its last entry into the kernel. */
	__u32 on_cpu;
	__u64 switches; /* so far */
	__u64 words[SBT_STACK_REGS]; /* as the kernel of this architecture lays them out */
	/*
	 * Where functions with a pending return probe really return to, innermost first; 0: no
	 * more.
	 */
	__u64 returns[SBT_REGS_RETURNS];
};

#endif /* BPF_REGS_H */
