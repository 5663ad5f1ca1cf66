// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/* Read the values that a spec describes, for all programs that are attached as probes. */
#include "probe.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#if defined(__TARGET_ARCH_arm64)
#define CTX_BYTES sizeof(struct user_pt_regs)
#else
#define CTX_BYTES sizeof(struct pt_regs)
#endif

/*
 * The verifier needs the name of this type. It has no members here, because the context is read as
 * a struct pt_regs.
 */
struct bpf_user_pt_regs_t {
};

static __always_inline __u64 arg_sized(__u64 value, const struct sbt_arg *arg)
{
	__u32 shift = 64 - arg->size * 8;

	if (!arg->size || arg->size >= 8)
		return value;
	value <<= shift & 63;
	return arg->flags & SBT_ARG_SIGNED ? (__u64)((__s64)value >> (shift & 63))
					   : value >> (shift & 63);
}

/* Return the value of the register at @offset; 0 if @offset is outside the registers. */
static __always_inline __u64 arg_register(struct pt_regs *ctx, __u32 offset)
{
	__u64 value = 0;

	if (offset > CTX_BYTES - sizeof(value))
		return 0;
	bpf_probe_read_kernel(&value, sizeof(value), (void *)ctx + offset);
	return value;
}

__noinline __u64 arg_at(struct bpf_user_pt_regs_t *ctx, __u32 number, __u32 member)
{
	struct sbt_spec *spec = bpf_map_lookup_elem(&specs, &number);
	struct pt_regs *regs = (struct pt_regs *)ctx;
	const struct sbt_arg *arg;
	__u64 value = 0;

	if (!spec || member > sizeof(*spec) - sizeof(*arg))
		return ARG_UNREAD;
	arg = (void *)spec + member;
	switch (arg->how) {
	case SBT_ARG_FIRST:
		value = PT_REGS_PARM1(regs);
		break;
	case SBT_ARG_SP:
		value = PT_REGS_SP(regs);
		break;
	case SBT_ARG_CONST:
		value = (__u64)arg->disp;
		break;
	case SBT_ARG_REG:
		value = arg_register(regs, arg->reg);
		if (arg->flags & SBT_ARG_ADDS)
			value += arg->disp;
		break;
	case SBT_ARG_MEM:
		value = arg_register(regs, arg->reg) + arg->disp;
		if (arg->index != SBT_ARG_NO_REG)
			value += arg_register(regs, arg->index) * arg->scale;
		if (bpf_probe_read_user(&value, sizeof(value), (void *)value))
			return ARG_UNREAD;
		break;
	default:
		break;
	}
	if ((arg->flags & SBT_ARG_POINTED) && value &&
	    bpf_probe_read_user(&value, sizeof(value), (void *)value))
		return ARG_UNREAD;
	return arg_sized(value, arg);
}
