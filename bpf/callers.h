/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/* Who called the caller: where a walk up the stack begins. */
#ifndef BPF_CALLERS_H
#define BPF_CALLERS_H

#include "maps.h"

static __always_inline __u64 code_address(__u64 address)
{
#if defined(__TARGET_ARCH_arm64)
	/* It may be signed, in the bits above those in use. */
	return address & ((1ULL << 48) - 1);
#else
	return address;
#endif
}

/* The registers at the entry of a function, for what called it. */
static __always_inline void walk_begin(struct sbt_walk *w, struct pt_regs *ctx, __u64 ip)
{
	w->from.ip = code_address(ip);
	w->from.fp = PT_REGS_FP(ctx);
	w->link = 0;
	w->plain = 0;
#if defined(__TARGET_ARCH_arm64)
	w->from.sp = PT_REGS_SP(ctx);
#else
	w->from.sp = PT_REGS_SP(ctx) + sizeof(w->from.sp);
#endif
}

/*
 * The name of the callers of the thread with this slot, from where its walk begins: of a chain (SBT_CHAIN_NAME), of a sample,
 * or the one caller itself; 0: there is none, and it was wanted plain. Global, as thread_admit() is. In callers.bpf.c.
 */
extern __u64 callers_walk(__u32 index);

#endif /* BPF_CALLERS_H */
