/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Walk up the stack to find the callers of a call site: functions to begin the walk, and to get its
 * result.
 */
#ifndef BPF_CALLERS_H
#define BPF_CALLERS_H

#include "maps.h"

static __always_inline __u64 code_address(__u64 address)
{
#if defined(__TARGET_ARCH_arm64)
	/* Pointer authentication may have signed the address, in the unused upper bits. */
	return address & ((1ULL << 48) - 1);
#else
	return address;
#endif
}

/* Let the walk begin in the caller of a function that was just entered. @ip: the return address. */
static __always_inline void walk_begin(struct sbt_walk *w, struct pt_regs *ctx, __u64 ip)
{
	w->from.ip = code_address(ip);
	w->from.fp = PT_REGS_FP(ctx);
	w->link = 0;
	w->plain = 0;
	w->deep = config.frames != 0;
#if defined(__TARGET_ARCH_arm64)
	w->from.sp = PT_REGS_SP(ctx);
#else
	w->from.sp = PT_REGS_SP(ctx) + sizeof(w->from.sp);
#endif
}

/*
 * Copy up to @most bytes of the stack from @sp on. Return the number of bytes that could be read.
 */
static __always_inline __u32 stack_bytes(void *to, __u64 sp, __u32 most)
{
	if (!bpf_probe_read_user(to, most, (void *)sp))
		return most;
	/* Near the base of the stack, fewer bytes can be read above sp, so try smaller sizes. */
	if (!bpf_probe_read_user(to, most / 4, (void *)sp))
		return most / 4;
	return bpf_probe_read_user(to, most / 16, (void *)sp) ? 0 : most / 16;
}

/*
 * Return a name for the callers that the walk of the thread in slot @index finds: the name of a
 * chain (SBT_CHAIN_NAME), the name of a sample, or the address of the single caller. 0: walk.plain
 * asks for an address, and none was found. If walk.want is 0, walk up only from functions of
 * libraries that wait on behalf of their callers (SBT_FRAME_THROUGH). Global for the verifier, like
 * thread_admit(). Defined in callers.bpf.c.
 */
extern __u64 callers_walk(__u32 index);

#endif /* BPF_CALLERS_H */
