/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What a probe was put there for, and where the values are that it is to read. User space writes it down
 * (struct sbt_spec); the programs are the same for all families.
 */
#ifndef BPF_PROBE_H
#define BPF_PROBE_H

#include "maps.h"

/* Of several probes at one place in their pages. SBT_SPECS, which no spec has, if it is none of them. */
static __noinline __attribute__((unused)) __u32 spec_by_code(__u64 ip)
{
	struct sbt_probe_site key = { .place = ip & (SBT_PAGE_PROBE_SITES - 1) };
	__u32 *index;

	if (bpf_probe_read_user(&key.code, sizeof(key.code), (void *)(ip + SBT_BREAKPOINT_BYTES)))
		return SBT_SPECS;
	index = bpf_map_lookup_elem(&place_codes, &key);
	return index ? *index : SBT_SPECS;
}

/* The number of the probe's spec. In a return probe only where there are cookies. */
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

/* What cannot be read: neither an address, a count nor a number that anybody has. */
#define ARG_UNREAD 0x8000000000000001ULL

/* The name that kernels know a probe's context by, where a global function takes it. */
struct bpf_user_pt_regs_t;

/*
 * The value that the spec of this number has at @member, or ARG_UNREAD. Global: the verifier goes through it once in each
 * program, not once for each way there. In probe.bpf.c.
 */
extern __u64 arg_at(struct bpf_user_pt_regs_t *ctx, __u32 number, __u32 member);

/* The value of the spec's @member, or ARG_UNREAD; one that is in the first argument is had quicker. */
#define arg_fetch(ctx, number, member) \
	arg_at((struct bpf_user_pt_regs_t *)(ctx), number, offsetof(struct sbt_spec, member))

/* Likewise, or @other where it cannot be read. */
#define arg_or(ctx, number, member, other) arg_known(arg_fetch(ctx, number, member), other)

static __always_inline __u64 arg_known(__u64 value, __u64 other)
{
	return value == ARG_UNREAD ? other : value;
}

/*
 * Is this the end of a session? There the instruction is the caller's, and the helper still tells that of the probe. The
 * kernel has a function for it (bpf_session_is_return), of which Linux 7.2 has changed the arguments: libbpf refuses
 * all programs of an object then that names it with others.
 */
static __always_inline bool session_is_return(struct pt_regs *ctx)
{
	return PT_REGS_IP(ctx) != bpf_get_func_ip(ctx);
}

#endif /* BPF_PROBE_H */
