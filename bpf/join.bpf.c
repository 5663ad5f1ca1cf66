// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Find waits for the end of other threads if threads' time is not accounted for. With accounting,
 * account.bpf.c knows when each thread blocked. Without it, the programs here note when a thread
 * that is in no barrier lost its CPU.
 */
#include "join.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Return the traced thread with this @tid if it is in no barrier; else NULL. */
static __always_inline struct sbt_thread *thread_outside(__u32 tid)
{
	__u32 index = 0;
	struct sbt_thread *t;

	if (!marks[tid & (SBT_MARKS - 1)] || ended)
		return NULL;
	t = thread_find(tid, &index);
	return t && !t->arrive_ns ? t : NULL;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(join_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct sbt_thread *t = thread_outside(prev->pid);

	if (t)
		t->out_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(join_waking, struct task_struct *task)
{
	struct sbt_thread *t = thread_outside(task->pid);

	/* A thread that was woken before it left its CPU did not wait. */
	if (t && t->out_ns && !task->on_cpu)
		join_ended(task, 0, t->out_ns, config.aggregate ? t->summing.depart_ns : 0,
			   bpf_ktime_get_ns());
	return 0;
}
