// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Measure how long each thread waits for its turn. Threads take turns in functions of OpenMP's
 * runtimes (critical, ordered, locks). No record is written: like time on a CPU, the wait is a part
 * of the thread's phase.
 */
#include "arrive.h"
#include "looks.h"
#include "turn.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Add the thread's hits to those of its process. */
static __noinline int turn_hits_add(struct sbt_thread *t)
{
	__u32 hits, idle;

	if (!t)
		return 0;
	hits = t->turn.looks;
	idle = t->turn.idle;
	t->turn.looks = t->turn.idle = 0;
	return hits_add(t, SBT_ROLE_TURN, hits, idle);
}

static __always_inline void turn_count_hit(struct sbt_thread *t, bool idle)
{
	t->turn.idle += idle;
	if (++t->turn.looks >= SBT_LOOKS_STEP)
		turn_hits_add(t);
}

SEC("?uprobe")
int turn_begin(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	__u64 sp = PT_REGS_SP(ctx);
	__u32 index = 0;
	struct sbt_thread *t = thread_here(&index);
	struct sbt_account *a;

	/*
	 * Inside a barrier a thread may run tasks. Its waits for a turn in these tasks are not part
	 * of a phase.
	 */
	if (!t || t->arrive_ns)
		return 0;
	/*
	 * If the stack pointer is below that of the present wait, the function that waits has
	 * called this function, and its wait continues. Otherwise that wait is over.
	 */
	if (t->turn.sp && sp < t->turn.sp)
		return 0;
	a = account_at(index, t->tid);
	if (!a)
		return 0;
	turn_wait_begin(t, a, sp);
	return 0;
}

/* Attached to the ret instructions of the functions that wait for a turn. */
SEC("?uprobe")
int turn_end(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	struct sbt_account *a;
	struct sbt_thread *t;
	__u32 index = 0;

	if (!armed)
		return 0;
	t = thread_find((__u32)bpf_get_current_pid_tgid(), &index);
	if (!t || !t->turn.sp || t->turn.sp != PT_REGS_SP(ctx))
		return 0;
	t->turn.sp = 0;
	a = account_at(index, t->tid);
	if (!a)
		return 0;
	turn_count_hit(t, turn_wait_end(t, a, &a->turn_ns) < SBT_TURN_WORTH_NS);
	return 0;
}
