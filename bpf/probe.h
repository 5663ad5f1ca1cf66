/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the purpose of a probe, and the location of its values. User space provides both (struct
 * sbt_spec); the programs are the same for all families.
 */
#ifndef BPF_PROBE_H
#define BPF_PROBE_H

#include "maps.h"

/*
 * Return the number of the probe's spec, found by the code at the probe. This is needed if several
 * probes have the same offset in their pages. If no spec is found, return SBT_SPECS, which is not a
 * valid number.
 */
static __noinline __attribute__((unused)) __u32 spec_by_code(__u64 ip)
{
	struct sbt_probe_site key = { .place = ip & (SBT_PAGE_PROBE_SITES - 1) };
	__u32 *index;

	if (bpf_probe_read_user(&key.code, sizeof(key.code), (void *)(ip + SBT_BREAKPOINT_BYTES)))
		return SBT_SPECS;
	index = bpf_map_lookup_elem(&place_codes, &key);
	return index ? *index : SBT_SPECS;
}

/* Return the number of the probe's spec. In a return probe this works only with cookies. */
static __always_inline __u32 spec_index(struct pt_regs *ctx)
{
	__u32 place = PT_REGS_IP(ctx) & (SBT_PAGE_PROBE_SITES - 1), *index;

	if (config.cookies)
		return (__u32)bpf_get_attach_cookie(ctx);
	index = bpf_map_lookup_elem(&page_places, &place);
	if (index && *index == SBT_PROBE_SITE_SHARED)
		return spec_by_code(PT_REGS_IP(ctx));
	return index ? *index : 0;
}

/* Stands for a value that cannot be read. No address, count or number has this value. */
#define ARG_UNREAD 0x8000000000000001ULL

/* The type that a global function must declare for the context of a probe. */
struct bpf_user_pt_regs_t;

/*
 * Return the value that the struct sbt_arg at offset @member of spec @number describes, or
 * ARG_UNREAD. Global, so that the verifier checks it once in each program and not for each path to
 * it. Defined in probe.bpf.c.
 */
extern __u64 arg_at(struct bpf_user_pt_regs_t *ctx, __u32 number, __u32 member);

/* The value that @member of the spec describes, or ARG_UNREAD. */
#define arg_fetch(ctx, number, member) \
	arg_at((struct bpf_user_pt_regs_t *)(ctx), number, offsetof(struct sbt_spec, member))

/* Like arg_fetch(), or @other if the value cannot be read. */
#define arg_or(ctx, number, member, other) arg_known(arg_fetch(ctx, number, member), other)

static __always_inline __u64 arg_known(__u64 value, __u64 other)
{
	return value == ARG_UNREAD ? other : value;
}

/*
 * Return whether the program is called at the end of a session. At that time the instruction
 * pointer is in the caller, while bpf_get_func_ip() still returns the address of the probe. The
 * kernel has a function for this (bpf_session_is_return), but Linux 7.2 has changed its arguments,
 * and libbpf refuses all programs of an object that declares it with other arguments.
 */
static __always_inline bool session_is_return(struct pt_regs *ctx)
{
	return PT_REGS_IP(ctx) != bpf_get_func_ip(ctx);
}

#endif /* BPF_PROBE_H */
