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
	if (reason == SBT_BLOCKED_GIL)
		reason = SBT_BLOCKED_LOCK;
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

	if (a->reason != SBT_BLOCKED_LOCK && a->reason != SBT_BLOCKED_IO &&
	    a->reason != SBT_BLOCKED_GIL)
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

/* Index: tid. If there are more threads, those that have not been woken for longest are removed. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct sbt_wakers);
} wakers SEC(".maps");

/* An empty entry. It is a global variable, because the stack has no room for it. */
static const struct sbt_wakers no_wakers;

static __always_inline bool waits_for_event(const struct sbt_account *a, __u64 now)
{
	return !a->inside && a->reason == SBT_BLOCKED_LOCK && a->block_at.futex &&
	       a->waited != SBT_WAITED_LOCK && a->waited != SBT_WAITED_JOIN && now > a->since_ns;
}

/*
 * Count that the current task, the thread @waker, ends the wait of the thread in slot @index, if
 * the wait is for no lock and both are of one process. Global, so that the verifier checks it once
 * and not for each caller.
 */
__noinline int waker_count(__u32 index, __u32 waker, __u64 now)
{
	struct sbt_account *a = bpf_map_lookup_elem(&accounts, &index);
	struct sbt_wakers *all;
	struct sbt_waker *w;
	__u32 tid, i;

	if (!a || !waker || !waits_for_event(a, now) || bpf_get_current_pid_tgid() >> 32 != a->tgid)
		return 0;
	tid = a->tid;
	all = bpf_map_lookup_elem(&wakers, &tid);
	if (!all || all->tgid != a->tgid) {
		bpf_map_update_elem(&wakers, &tid, &no_wakers, BPF_ANY);
		all = bpf_map_lookup_elem(&wakers, &tid);
		if (!all)
			return 0;
		all->tgid = a->tgid;
	}
	for (i = 0; i < SBT_WAKERS; i++) {
		w = &all->wakers[i];
		if (!w->tid) {
			w->tid = waker;
			w->stack = a->block_stack;
		}
		if (w->tid != waker || w->stack != a->block_stack)
			continue;
		w->waits++;
		w->ns += now - a->since_ns;
		return 0;
	}
	all->more++;
	return 0;
}

#endif /* BPF_WAKER_H */
