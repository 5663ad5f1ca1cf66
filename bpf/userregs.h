/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/* The user registers of a task at its entry into the kernel. */
#ifndef BPF_USERREGS_H
#define BPF_USERREGS_H

#include "kernel.h"

/* Return the user registers of a task that is in the kernel, or NULL. */
static __always_inline struct pt_regs___kernel *user_regs(struct task_struct *task)
{
	void *stack;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (struct pt_regs___kernel *)bpf_task_pt_regs(task);
	/*
	 * Before Linux 5.15, the registers are at the very end of the task's kernel stack: the
	 * supported architectures have no padding there.
	 */
	stack = BPF_CORE_READ(task, stack);
	return stack ? stack + THREAD_SIZE - bpf_core_type_size(struct pt_regs___kernel) : NULL;
}

/* Return the user registers of the current task at its entry into the kernel, or NULL. */
static __always_inline struct pt_regs___kernel *own_regs(void)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		return user_regs(bpf_get_current_task_btf());
	return user_regs((void *)bpf_get_current_task());
}

#if defined(__TARGET_ARCH_arm64)
#define USER_REGS_SIZE sizeof(struct user_pt_regs)
#else
#define USER_REGS_SIZE sizeof(struct pt_regs)
#endif
#define USER_SP(regs) BPF_CORE_READ(regs, sp)

/*
 * The system call of a task and its arguments. Each read takes time, so registers that are adjacent
 * in memory are read together.
 */
struct user_call {
	long nr; /* number of the system call; -1: none, as in a page fault */
	__u64 arg[3];
	__u64 ip, sp;
};

#define REGS_READ(to, regs, first)               \
	bpf_probe_read_kernel(&(to), sizeof(to), \
			      (const void *)(regs) + bpf_core_field_offset((regs)->first))

static __always_inline void user_call(struct pt_regs___kernel *regs, struct user_call *call)
{
#if defined(__TARGET_ARCH_arm64)
	struct {
		__u64 sp, pc;
	} where = {};

	call->nr = BPF_CORE_READ(regs, syscallno);
	REGS_READ(call->arg, regs, regs);
	/* regs[0] holds the return value of the call. */
	call->arg[0] = BPF_CORE_READ(regs, orig_x0);
	REGS_READ(where, regs, sp);
	call->ip = where.pc;
	call->sp = where.sp;
#else
	struct {
		unsigned long dx, si, di, orig_ax, ip, cs, flags, sp;
	} r = {};

	REGS_READ(r, regs, dx);
	call->nr = (long)r.orig_ax;
	call->arg[0] = r.di;
	call->arg[1] = r.si;
	call->arg[2] = r.dx;
	call->ip = r.ip;
	call->sp = r.sp;
#endif
}

/*
 * Return a value that identifies the program's current location. While the value stays the same,
 * the task is taken to be in the same system call or exception.
 */
static __always_inline __u64 user_place(struct pt_regs___kernel *regs)
{
#if defined(__TARGET_ARCH_arm64)
	struct {
		__u64 sp, ip;
	} where = {};

	REGS_READ(where, regs, sp);
#else
	struct {
		__u64 ip, cs, flags, sp;
	} where = {};

	REGS_READ(where, regs, ip);
#endif
	return where.ip ^ where.sp << 16;
}

#endif /* BPF_USERREGS_H */
