/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the thread that ends another thread's wait, if it is certain that the current task does so.
 * An interrupt may also end the wait, and it may occur while any task runs.
 */
#ifndef BPF_WAKER_H
#define BPF_WAKER_H

#include <bpf/bpf_endian.h>

#include "block.h"

/*
 * Return whether the kernel is executing the system call of the current task. Interrupts and
 * softirqs have a separate stack, and packets between local sockets are also delivered on that
 * stack. Interrupts of user code run on the task's own stack, but then the task is in no system
 * call, as the caller has checked. @ctx: the context of the program, which is on the stack that the
 * kernel uses at this moment; @regs: at the end of the task's stack.
 */
static __always_inline bool on_own_stack(const void *ctx, struct task_struct *current,
					 struct pt_regs___kernel *regs)
{
	const void *first = current->stack, *end = regs;

	/* Pointers are only compared: the verifier forbids arithmetic on them. */
	barrier_var(ctx);
	if (ctx < first)
		return false;
	barrier_var(ctx);
	return ctx < end;
}

static __always_inline struct sock *socket_at(struct task_struct *task, __u64 fd)
{
	struct file *file = file_at(task, fd);
	struct socket *socket;

	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return NULL;
	socket = BPF_CORE_READ(file, private_data);
	return socket ? BPF_CORE_READ(socket, sk) : NULL;
}

#define SOCK(sk, field) BPF_CORE_READ(sk, __sk_common.field)

/*
 * Return whether these sockets are the two ends of one connection on this machine. The socket
 * @waits may still be listening.
 */
static __always_inline bool are_connected(struct sock *waits, struct sock *wakes)
{
	__u32 local;

	if (SOCK(waits, skc_net.net) != SOCK(wakes, skc_net.net) ||
	    bpf_htons(SOCK(waits, skc_num)) != SOCK(wakes, skc_dport))
		return false;
	if (SOCK(waits, skc_dport) && SOCK(waits, skc_dport) != bpf_htons(SOCK(wakes, skc_num)))
		return false;
	local = SOCK(waits, skc_rcv_saddr);
	return SOCK(waits, skc_family) != AF_INET || SOCK(wakes, skc_family) != AF_INET || !local ||
	       local == SOCK(wakes, skc_daddr);
}

/*
 * Return whether both tasks are in a system call with a socket, and the two sockets are the ends of
 * one connection.
 */
static __noinline bool of_one_connection(struct task_struct *waits, struct task_struct *wakes)
{
	struct user_call call = {};
	struct sock *sk[2];

	user_call(user_regs(waits), &call);
	if ((reason_of_call(&call) & CALL_MASK) != CALL_FILE)
		return false;
	sk[0] = socket_at(waits, call.arg[0]);
	user_call(user_regs(wakes), &call);
	if ((reason_of_call(&call) & CALL_MASK) != CALL_FILE)
		return false;
	sk[1] = socket_at(wakes, call.arg[0]);
	return sk[0] && sk[1] && are_connected(sk[0], sk[1]);
}

/*
 * Return whether the call ends waits with this @reason. close() and shutdown() end waits for I/O,
 * because they give the reader the end of the data.
 */
static __always_inline bool ends_waits(const struct user_call *call, __u32 reason)
{
	if (reason == SBT_BLOCKED_IO && (call->nr == __NR_close || call->nr == __NR_shutdown))
		return true;
	return (__u8)reason_of_call(call) == reason;
}

/*
 * Return the number of the current thread if it ends the wait of @task (@a is the account of
 * @task); 0: it does not, or this is not certain.
 */
static __always_inline __u32 waker_of(const void *ctx, const struct sbt_account *a,
				      struct task_struct *task, __u64 now)
{
	struct task_struct *current;
	struct pt_regs___kernel *regs;
	struct user_call call = {};

	if (a->reason != SBT_BLOCKED_LOCK && a->reason != SBT_BLOCKED_IO)
		return 0;
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		return 0;
	current = bpf_get_current_task_btf();
	if (current->flags & PF_KTHREAD)
		return 0;
	regs = user_regs(current);
	if (!regs)
		return 0;
	user_call(regs, &call);
	if (!ends_waits(&call, a->reason))
		return 0;
	if (!on_own_stack(ctx, current, regs) &&
	    (a->reason != SBT_BLOCKED_IO || !of_one_connection(task, current)))
		return 0;
	name_task(current, now);
	return current->pid;
}

#endif /* BPF_WAKER_H */
