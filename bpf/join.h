/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find waits for another thread's end where the functions that join threads have no probes. These
 * functions get no probes if discovery is off, because the probes would also be in the code of
 * other processes, and would kill programs that run under an emulator. Each thread has a separate
 * word at which other threads wait for its end, and the ending thread itself wakes the waiter.
 */
#ifndef BPF_JOIN_H
#define BPF_JOIN_H

#include <asm/unistd.h>

#include "maps.h"
#include "userregs.h"

/*
 * musl on x86-64: offset of that word from the thread pointer. In glibc, the stack canary is near
 * that offset: no thread waits on it.
 */
#define MUSL_DETACH_STATE 56

/*
 * Return the address of the word at which other threads wait for the current task's end; 0: it is
 * not ending.
 */
static __always_inline __u64 word_of_end(struct task_struct *current)
{
	if (BPF_CORE_READ(current, flags) & PF_EXITING)
		return (__u64)BPF_CORE_READ(current, clear_child_tid);
#if defined(__TARGET_ARCH_arm64)
	return 0;
#else
	return thread_pointer(current) + MUSL_DETACH_STATE;
#endif
}

/*
 * Report (SBT_REC_JOINED) if @task waited for the end of the current task, which is waking @task.
 * @since: when @task blocked (ns). @addr: the address of the word at which @task waits, of which
 * the three lowest bits are ignored; 0: not known. @after: the last departure of @task (ns), if
 * sums are kept. Return 0.
 */
static __noinline int join_ended(struct task_struct *task, __u64 addr, __u64 since, __u64 after,
				 __u64 now)
{
	struct task_struct *current = (void *)bpf_get_current_task();
	__u64 word = word_of_end(current);
	struct pt_regs___kernel *regs;
	struct user_call call = {};
	struct sbt_event *e;
	struct sbt_proc *p;
	__u32 tgid;

	if (!task || !word || now <= since || (addr && (addr ^ word) & ~7ULL))
		return 0;
	tgid = task->tgid;
	if ((__u32)BPF_CORE_READ(current, tgid) != tgid)
		return 0;
	regs = user_regs(task);
	if (!regs)
		return 0;
	user_call(regs, &call);
	if (call.nr != __NR_futex || call.arg[0] != word)
		return 0;
	p = bpf_map_lookup_elem(&procs, &tgid);
	if (!p || (proc_flags(p, tgid) & SBT_PROC_EXCLUDED) || armed != ARMED_ALL)
		return 0;
	e = event_new(SBT_REC_JOINED, now);
	if (!e)
		return 0;
	event_task(e, tgid, task->pid, p->inc);
	e->since_ns = since;
	e->departed_ns = after;
	bpf_ringbuf_submit(e, event_wake());
	return 0;
}

#endif /* BPF_JOIN_H */
