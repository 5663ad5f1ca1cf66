// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Processes and threads come, change and go; files are mapped. Rare events: each wakes the reader
 * where it has to act at once, and none shares a ring with the crossings.
 */
#include "maps.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* An arrival that will never depart; and the thread's number is free for another. */
static __always_inline bool thread_drop(__u32 tid)
{
	struct sbt_thread *t = thread_find(tid);
	bool pending;

	if (!t)
		return false;
	pending = t->arrive_ns != 0;
	if (pending)
		crossing_write(t, 0);
	thread_release(t);
	return pending;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 ptgid = parent->tgid, ctgid = child->tgid, ctid = child->pid;
	struct sbt_proc *p = bpf_map_lookup_elem(&procs, &ptgid);
	__u64 now = bpf_ktime_get_ns();
	struct sbt_proc fresh = {};
	struct sbt_event *e;

	if (!p || (p->flags & SBT_PROC_EXCLUDED))
		return 0;
	if (ctgid == ptgid) {
		e = event_new(SBT_REC_THREAD, now);
		if (e) {
			e->tgid = ptgid;
			e->tid = ctid;
			e->inc = p->inc;
			bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
		}
		return 0;
	}
	/* Under -a the name may decide anew, and a child is found when it comes. */
	if (!config.follow || config.by_comm)
		return 0;
	fresh.inc = incarnation(now);
	fresh.flags = p->flags & SBT_PROC_BY_EXIT;
	if (bpf_map_update_elem(&procs, &ctgid, &fresh, BPF_ANY))
		return 0; /* counted at its first crossing */
	e = event_new(SBT_REC_FORK, now);
	if (e) {
		e->tgid = ctgid;
		e->tid = ctid;
		e->inc = fresh.inc;
		e->parent_tgid = ptgid;
		e->parent_inc = p->inc;
		BPF_CORE_READ_STR_INTO(&e->comm, child, comm);
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	__u32 tgid = task->tgid, tid = task->pid;
	bool pending = thread_drop(tid), last;
	struct sbt_proc *p = bpf_map_lookup_elem(&procs, &tgid);
	__u64 now = bpf_ktime_get_ns();
	struct sbt_event *e;

	if (!p)
		return 0;
	last = task->signal->live.counter == 0;
	if (!(p->flags & SBT_PROC_EXCLUDED)) {
		e = event_new(SBT_REC_EXIT, now);
		if (e) {
			e->tgid = tgid;
			e->tid = tid;
			e->inc = p->inc;
			e->flags =
				(last ? SBT_EVENT_LEADER : 0) | (pending ? SBT_EVENT_PENDING : 0);
			bpf_get_current_comm(e->comm, sizeof(e->comm));
			bpf_ringbuf_submit(e, last ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
		}
	}
	if (last)
		bpf_map_delete_elem(&procs, &tgid);
	return 0;
}

/*
 * May the process be stopped for a moment without anybody noticing? A stopped child is told to its
 * parent, and parents such as su act on it: only COMMAND itself is held, whose parent we are; alone in its process, as
 * after exec and in the dynamic linker.
 */
static __always_inline bool may_hold(struct task_struct *task)
{
	void *handler = BPF_CORE_READ(task, sighand, action[SIGCONT - 1].sa.sa_handler);

	if (BPF_CORE_READ(task, signal, nr_threads) != 1)
		return false;
	if (handler != (void *)SIG_DFL && handler != (void *)SIG_IGN)
		return false;
	return (__u32)BPF_CORE_READ(task, real_parent, tgid) == config.self;
}

/*
 * Was the program looked at a moment ago? Later it is asked about again: the same program may run with
 * other libraries.
 */
static __always_inline bool program_known(struct task_struct *task)
{
	struct sbt_file key = {};
	struct sbt_verdict *v;

	program_key(task, &key);
	v = bpf_map_lookup_elem(&files, &key);
	return v && (v->flags & SBT_PROC_KNOWN) && bpf_ktime_get_ns() - v->ns < SBT_VERDICT_NS;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	__u32 tgid = task->tgid, tid = task->pid, old = old_pid;
	struct sbt_proc *p = bpf_map_lookup_elem(&procs, &tgid);
	__u64 now = bpf_ktime_get_ns();
	struct sbt_event *e;
	bool known;

	if (p) {
		thread_drop(tid);
		if (old != tid)
			thread_drop(old);
		if (config.system && (config.by_comm || (p->flags & SBT_PROC_EXCLUDED))) {
			/* Another program, perhaps another name: decided at its first crossing. */
			bpf_map_delete_elem(&procs, &tgid);
			p = NULL;
		}
	}
	if (!p) {
		if (config.system && tgid != config.self && !program_known(task))
			mappings_changed(NULL, tgid, tid, false);
		return 0;
	}
	known = program_known(task);
	p->inc = incarnation(now);
	p->flags = (config.by_exit ? SBT_PROC_BY_EXIT : 0) | (known ? 0 : SBT_PROC_FRESH);
	e = event_new(SBT_REC_EXEC, now);
	if (!e)
		return 0;
	e->tgid = tgid;
	e->tid = old;
	e->inc = p->inc;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	if (!known && config.hold && may_hold(task) && bpf_send_signal(SIGSTOP) == 0)
		e->flags = SBT_EVENT_HELD;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/*
 * The dynamic linker calls _dl_debug_state for debuggers: after it has mapped a program's libraries and before any
 * of their code runs, and again around every dlopen and dlclose. In a traced process those may
 * bring barriers of their own, or put another library where one was.
 */
SEC("?uprobe")
int loader_state(struct pt_regs *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tgid = id >> 32;
	struct sbt_proc *p = bpf_map_lookup_elem(&procs, &tgid);
	struct task_struct *task = (void *)bpf_get_current_task();

	if (tgid == config.self)
		return 0;
	if (!p) {
		if (config.system && !program_known(task))
			mappings_changed(NULL, tgid, (__u32)id, false);
		return 0;
	}
	if (p->flags & SBT_PROC_EXCLUDED)
		return 0;
	mappings_changed(p, tgid, (__u32)id,
			 config.hold && (p->flags & SBT_PROC_FRESH) && may_hold(task));
	return 0;
}
