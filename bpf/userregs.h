/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/* The registers with which a task came into the kernel. */
#ifndef BPF_USERREGS_H
#define BPF_USERREGS_H

#include "kernel.h"

/* The user registers of a task that is in the kernel, or NULL. */
static __always_inline struct pt_regs___kernel *user_regs(struct task_struct *task)
{
	void *stack;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (struct pt_regs___kernel *)bpf_task_pt_regs(task);
	/* Before 5.15: at the top of its kernel stack, which nothing pads there. */
	stack = BPF_CORE_READ(task, stack);
	return stack ? stack + THREAD_SIZE - bpf_core_type_size(struct pt_regs___kernel) : NULL;
}

#if defined(__TARGET_ARCH_arm64)
#define USER_IP(regs)  BPF_CORE_READ(regs, pc)
#define USER_REGS_SIZE sizeof(struct user_pt_regs)
#else
#define USER_IP(regs)  BPF_CORE_READ(regs, ip)
#define USER_REGS_SIZE sizeof(struct pt_regs)
#endif
#define USER_SP(regs) BPF_CORE_READ(regs, sp)

#endif /* BPF_USERREGS_H */
