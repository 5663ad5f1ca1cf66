// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Read the user registers of the threads of one process without stopping them. This is a separate
 * BPF object for two reasons: it is also loaded where nothing is traced, and on a kernel that
 * refuses it, sbt-trace can still trace.
 */
#include "sbt/regs.h"
#include "userregs.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u32 wanted; /* the process, in the reader's PID namespace */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct return_instance {
	unsigned long orig_ret_vaddr;
	bool chained; /* true: it shares its location on the stack with the next instance */
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct task_struct___uprobes {
	struct uprobe_task *utask;
};

#pragma clang attribute pop

/* Note the return addresses that return probes have replaced. */
static __always_inline void note_returns(struct task_struct *task, struct sbt_regs *regs)
{
	struct task_struct___uprobes *t = (void *)task;
	struct return_instance *at;
	__u32 i, n = 0;

	if (!bpf_core_field_exists(t->utask))
		return;
	at = BPF_CORE_READ(t, utask, return_instances);
	for (i = 0; i < 2 * SBT_REGS_RETURNS && at; i++) {
		/*
		 * Several instances may share one location on the stack. Only the last of these has
		 * the real return address.
		 */
		if (!BPF_CORE_READ(at, chained) && n < SBT_REGS_RETURNS)
			regs->returns[n++] = BPF_CORE_READ(at, orig_ret_vaddr);
		at = BPF_CORE_READ(at, next);
	}
}

/*
 * Return the number of a task in its PID namespace at nesting level @level; 0: it has no number at
 * that level.
 */
static __always_inline __u32 number_of(struct task_struct *task, __u32 level)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid *upid;

	if (!pid || BPF_CORE_READ(pid, level) < level)
		return 0;
	upid = (void *)pid + bpf_core_field_offset(pid->numbers) +
	       level * bpf_core_type_size(struct upid);
	return (__u32)BPF_CORE_READ(upid, nr);
}

SEC("iter/task")
int thread_regs(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task, *reader;
	struct pt_regs___kernel *from;
	struct sbt_regs regs = {};
	__u32 level;

	if (!task || task->flags & PF_KTHREAD)
		return 0;
	reader = (struct task_struct *)bpf_get_current_task();
	level = BPF_CORE_READ(reader, thread_pid, level);
	if (number_of(BPF_CORE_READ(task, group_leader), level) != wanted)
		return 0;
	regs.tid = number_of(task, level);
	regs.on_cpu = task->on_cpu != 0;
	regs.switches = task->nvcsw + task->nivcsw;
	from = user_regs(task);
	/*
	 * Registers that cannot be read stay 0. So a stack pointer of 0 shows user space that no
	 * register could be read.
	 */
	if (from)
		bpf_probe_read_kernel(regs.words, USER_REGS_SIZE, from);
	note_returns(task, &regs);
	bpf_seq_write(ctx->meta->seq, &regs, sizeof(regs));
	return 0;
}

/*
 * Two arrays, indexed by the probe's cookie. For each probe: the thread for which hits are counted,
 * and the number of its hits.
 */
__u32 watched[SBT_REGS_RETURNED];
__u64 returned[SBT_REGS_RETURNED];

/*
 * Count the hits of a probe at a return address. Cookies need Linux 5.15. Attaching this program as
 * a multi-probe needs no more privileges than tracing.
 */
SEC("?uprobe")
int count_return(struct pt_regs *ctx)
{
	__u64 at = bpf_get_attach_cookie(ctx);

	if (at < SBT_REGS_RETURNED && watched[at] == (__u32)bpf_get_current_pid_tgid())
		returned[at]++;
	return 0;
}
