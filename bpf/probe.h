/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What a probe was put there for, and where the values are that it is to read. User space writes it down
 * (struct sbt_spec); the programs are the same for all families.
 */
#ifndef BPF_PROBE_H
#define BPF_PROBE_H

#include "maps.h"

#if defined(__TARGET_ARCH_arm64)
#define CTX_BYTES sizeof(struct user_pt_regs)
#else
#define CTX_BYTES sizeof(struct pt_regs)
#endif

/* Of several probes at one place in their pages. SBT_SPECS, which no spec has, if it is none of them. */
static __noinline __attribute__((unused)) __u32 spec_by_code(__u64 ip)
{
	struct sbt_place key = { .place = ip & (SBT_PAGE_PLACES - 1) };
	__u32 *index;

	if (bpf_probe_read_user(&key.code, sizeof(key.code), (void *)(ip + SBT_BREAKPOINT_BYTES)))
		return SBT_SPECS;
	index = bpf_map_lookup_elem(&place_codes, &key);
	return index ? *index : SBT_SPECS;
}

/* The number of the probe's spec. In a return probe only where there are cookies. */
static __always_inline __u32 spec_index(struct pt_regs *ctx)
{
	__u32 place = PT_REGS_IP(ctx) & (SBT_PAGE_PLACES - 1), *index;

	if (config.cookies)
		return (__u32)bpf_get_attach_cookie(ctx);
	index = bpf_map_lookup_elem(&page_places, &place);
	if (index && *index == SBT_PLACE_SHARED)
		return spec_by_code(PT_REGS_IP(ctx));
	return index ? *index : 0;
}

static __always_inline __u64 arg_sized(__u64 value, const struct sbt_arg *arg)
{
	__u32 shift = 64 - arg->size * 8;

	if (!arg->size || arg->size >= 8)
		return value;
	value <<= shift & 63;
	return arg->flags & SBT_ARG_SIGNED ? (__u64)((__s64)value >> (shift & 63))
					   : value >> (shift & 63);
}

/* The register at @offset; 0 if there is none there. */
static __always_inline __u64 arg_register(struct pt_regs *ctx, __u32 offset)
{
	__u64 value = 0;

	if (offset > CTX_BYTES - sizeof(value))
		return 0;
	bpf_probe_read_kernel(&value, sizeof(value), (void *)ctx + offset);
	return value;
}

/* A value that is not in the first argument. Returns 0, or -1 if it cannot be read. */
static __noinline int arg_fetch(struct pt_regs *ctx, const struct sbt_arg *arg, __u64 *out)
{
	__u64 value = 0;

	if (!ctx || !arg || !out)
		return -1;
	switch (arg->how) {
	case SBT_ARG_FIRST:
		value = PT_REGS_PARM1(ctx);
		break;
	case SBT_ARG_SP:
		value = PT_REGS_SP(ctx);
		break;
	case SBT_ARG_CONST:
		value = (__u64)arg->disp;
		break;
	case SBT_ARG_REG:
		value = arg_register(ctx, arg->reg);
		break;
	case SBT_ARG_MEM:
		value = arg_register(ctx, arg->reg) + arg->disp;
		if (arg->index != SBT_ARG_NO_REG)
			value += arg_register(ctx, arg->index) * arg->scale;
		if (bpf_probe_read_user(&value, sizeof(value), (void *)value))
			return -1;
		break;
	default:
		break;
	}
	if ((arg->flags & SBT_ARG_POINTED) && value &&
	    bpf_probe_read_user(&value, sizeof(value), (void *)value))
		return -1;
	*out = arg_sized(value, arg);
	return 0;
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
