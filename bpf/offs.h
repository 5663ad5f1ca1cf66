/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Keep the times when a thread was off the CPU after its arrival at a barrier, if its departure is
 * not seen. User space infers the departure from them (user/ingest/departures.h). For the programs
 * of scheduler events.
 *
 * It is not known here when the barrier releases the thread. So each time is kept until the thread
 * is seen to have left the barrier function, or until its next record.
 */
#ifndef BPF_OFFS_H
#define BPF_OFFS_H

#include <asm/unistd.h>

#include "account.h"
#include "thread.h"
#include "userregs.h"

#if defined(__TARGET_ARCH_arm64)
/*
 * Here the return address is in a register at the entry, and it is not known where the function
 * stores it.
 */
static __always_inline bool offs_replaced(const struct sbt_offs *o)
{
	return false;
}
#else
/* Return whether another value is where the return address was. */
static __always_inline bool offs_replaced(const struct sbt_offs *o)
{
	__u64 back = 0;

	if (!o->ip || bpf_probe_read_user(&back, sizeof(back), (void *)o->sp) || back == o->ip)
		return false;
	return back & 0xfff || !is_trampoline(back);
}
#endif

/* Return whether the thread's return address from the barrier function is no longer in place. */
static __always_inline bool offs_returned(const struct sbt_offs *o, __u64 sp)
{
	return sp > o->sp || offs_replaced(o);
}

/*
 * The thread leaves its CPU. If its stack or its system call shows that it has left the barrier,
 * note this. @blocks: it is not preempted.
 */
static __noinline int offs_look(struct sbt_account *a, __u32 index, struct task_struct *task,
				__u32 blocks, __u64 now)
{
	struct sbt_offs *o = a ? offs_at(index, a->tid) : NULL;
	struct user_call call = {};
	struct pt_regs___kernel *regs;

	if (!o || !task)
		return 0;
	o->inside = 0;
	regs = user_regs(task);
	if (!regs)
		return 0;
	user_call(regs, &call);
	if (!offs_returned(o, call.sp)) {
		if (call.nr == __NR_futex && (!o->futex || offs_has_word(o, call.arg[0])))
			o->inside = 1;
		/*
		 * If the thread blocks in another system call, it has left. Without a system call,
		 * it is in an exception, such as a page fault.
		 */
		if (o->inside || !(blocks && o->futex && call.nr >= 0))
			return 0;
	}
	a->inside = ACCOUNT_OUTSIDE;
	o->left_ns = now;
	return 0;
}

/* The thread leaves its CPU, and may be inside the barrier. */
static __always_inline void offs_out(struct sbt_account *a, __u32 index, __u64 now)
{
	struct sbt_offs *o = offs_at(index, a->tid);

	if (!o)
		return;
	o->out_ns = now;
	o->oncpu_ns = a->times[SBT_TIME_ONCPU] - a->mark.times[SBT_TIME_ONCPU];
	o->waker = 0;
}

/*
 * A thread that may be inside the barrier is woken. If the current thread has arrived at the same
 * barrier and may still be inside, it wakes the thread because the barrier is released.
 */
static __noinline int offs_waking(__u32 index, __u32 tid, struct cfs_rq *queue, __u64 now)
{
	struct sbt_offs *o = offs_at(index, tid), *own;
	__u32 waker = (__u32)bpf_get_current_pid_tgid(), at = 0;
	struct sbt_account *w = account_find(waker, &at);
	struct rq *rq = queue ? BPF_CORE_READ(queue, rq) : NULL;

	if (!o || !o->inside || !w || !offs_maybe_inside(w) || waker == tid)
		return 0;
	own = offs_at(at, waker);
	if (!own || own->object != o->object)
		return 0;
	o->waker = waker;
	own->woke_ns = now;
	own->woke_idle = rq && (__u32)BPF_CORE_READ(rq, cpu) != bpf_get_smp_processor_id() &&
			 !BPF_CORE_READ(rq, curr, pid);
	return 0;
}

#endif /* BPF_OFFS_H */
