// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Handle rare events: processes and threads begin, change and end, and files are mapped. If user
 * space has to act at once, the event wakes it. These events are in a ring of their own, without
 * crossings.
 */
#include "account.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Write what the current thread did after its last departure. The thread is exiting. */
static __noinline int tail_write(struct sbt_thread *t, struct sbt_account *a, __u32 index,
				 __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id(), tgid;
	struct sbt_crossing_full *f;
	struct sbt_counting *c;
	struct sbt_proc *p;
	__u64 own;

	if (!t || !a)
		return 0;
	/* A thread without crossings does not know the incarnation of its process. */
	tgid = t->tgid;
	p = t->inc ? NULL : bpf_map_lookup_elem(&procs, &tgid);
	if (p)
		t->inc = p->inc;
	own = account_busy(a, &now);
	counters_phase(a, index);
	account_run(a, own);
	account_phase(a);
	/*
	 * Threads without crossings are many where a program starts many short processes, and are
	 * at most in the list of what threads did: leave room for the others.
	 */
	if (!t->seq && ring_wake(cpu) != BPF_RB_NO_WAKEUP)
		return 0;
	f = ring_reserve(cpu, sizeof(*f));
	if (!f) {
		count(lost_tail, cpu);
		return 0;
	}
	t->arrive_ns = now;
	crossing_fill(&f->crossing, t, now, cpu,
		      HAS_PARTS | (config.ncounters ? SBT_CROSSING_COUNTERS : 0));
	f->crossing.type = SBT_REC_TAIL;
	__builtin_memset(&f->inside, 0, sizeof(f->inside));
	fill_parts(&f->parts, a);
	c = counting_at(index);
	fill_counters(&f->counters, c);
	bpf_ringbuf_submit(f, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * Abandon the thread's pending arrival, and release its slot. Set *seq to the number of its
 * crossings. Return whether an arrival was pending.
 */
static __always_inline bool thread_drop(__u32 tid, __u64 now, __u32 *seq)
{
	__u32 index = 0;
	struct sbt_thread *t = thread_find(tid, &index);
	struct sbt_account *a;
	bool pending;

	if (!t)
		return false;
	a = config.account ? account_at(index, tid) : NULL;
	pending = t->arrive_ns != 0;
	if (config.infer && armed)
		arrival_left(index, tid, now);
	if (pending)
		crossing_write(index, tid, 0, now);
	else if (a && armed && !a->inside)
		tail_write(t, a, index, now);
	if (a)
		a->tid = 0;
	*seq = t->seq;
	thread_release(t);
	return pending;
}

/* Give a new thread its slot when it is created, so that its first phase is accounted for. */
static __always_inline void thread_begin(struct task_struct *task, __u32 tid, __u32 tgid,
					 __u8 state, __u64 now)
{
	__u32 index = 0;

	if (!config.account || !thread_claim(tid, tgid, &index))
		return;
	account_start(index, task, tid, tgid, state, now, true);
	past_begin(index);
}

/*
 * -a: note that from now on the process has other threads or processes with which it can
 * synchronize. The process itself may not be known yet.
 */
static __always_inline void note_forked(const struct task_struct *parent,
					const struct task_struct *child, __u64 now)
{
	__u32 ptgid = parent->tgid, ctgid = child->tgid;
	struct sbt_forked *f, fresh = {};

	if (ctgid != ptgid) {
		/* delete the entry of an earlier process with this number */
		bpf_map_delete_elem(&forked, &ctgid);
		/*
		 * After vfork() the parent waits until the child has exited or executed a program,
		 * so they do not synchronize.
		 */
		if (child->mm == parent->mm)
			return;
	}
	f = bpf_map_lookup_elem(&forked, &ptgid);
	if (!f) {
		bpf_map_update_elem(&forked, &ptgid, &fresh, BPF_NOEXIST);
		f = bpf_map_lookup_elem(&forked, &ptgid);
	}
	if (!f)
		return;
	if (ctgid == ptgid && f->thread_ns <= f->exec_ns)
		f->thread_ns = now;
	else if (ctgid != ptgid && f->child_ns <= f->exec_ns)
		f->child_ns = now;
}

/*
 * A forked process has the interpreter of its parent at the same address. Not inlined, because of
 * the stack that this function needs.
 */
static __noinline int python_forked(__u32 ptgid, __u32 pinc, __u32 ctgid, __u32 cinc)
{
	const struct sbt_python *parent = bpf_map_lookup_elem(&pythons, &ptgid);
	struct sbt_python child;

	if (!parent || parent->inc != pinc)
		return 0;
	child = *parent;
	child.inc = cinc;
	bpf_map_update_elem(&pythons, &ctgid, &child, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 ptgid = parent->tgid, ctgid = child->tgid, ctid = child->pid;
	struct sbt_proc *p = bpf_map_lookup_elem(&procs, &ptgid);
	__u64 now = bpf_ktime_get_ns();
	struct sbt_proc fresh = {};
	struct sbt_event *e;
	__u32 flags;
	bool first;

	if (config.system)
		note_forked(parent, child, now);
	/* sbt-trace is in `procs` only while it measures itself, and its children are not. */
	if (!p || ptgid == config.self)
		return 0;
	flags = proc_flags(p, ptgid);
	if (flags & SBT_PROC_EXCLUDED)
		return 0;
	if (ctgid == ptgid) {
		thread_begin(child, ctid, ctgid, ACCOUNT_RUNNABLE, now);
		e = event_new(SBT_REC_THREAD, now);
		if (e) {
			event_task(e, ptgid, ctid, p->inc);
			e->creator = parent->pid;
			e->thread_pointer = thread_pointer(child);
			/*
			 * If this is the first thread that the process creates, wake user space at
			 * once: the process's waits must be seen from now on. A process that
			 * creates and joins one thread after another has these probes already.
			 */
			first = config.discover && !(flags & SBT_PROC_WAITS) &&
				parent->signal->nr_threads <= 2;
			bpf_ringbuf_submit(e, first ? BPF_RB_FORCE_WAKEUP : event_wake());
		}
		return 0;
	}
	/* With -a --comm the child's name may differ: the child is found at its first crossing. */
	if (!config.follow || config.by_comm)
		return 0;
	several_tgids = 1;
	fresh.inc = incarnation(now);
	fresh.flags = flags & (SBT_PROC_BY_EXIT | SBT_PROC_FRESH);
	if (bpf_map_update_elem(&procs, &ctgid, &fresh, BPF_ANY))
		return 0; /* no room for the child; its loss is counted at its first crossing */
	thread_begin(child, ctid, ctgid, ACCOUNT_RUNNABLE, now);
	python_forked(ptgid, p->inc, ctgid, fresh.inc);
	e = event_new(SBT_REC_FORK, now);
	if (e) {
		event_task(e, ctgid, ctid, fresh.inc);
		e->parent_tgid = ptgid;
		e->parent_inc = p->inc;
		BPF_CORE_READ_STR_INTO(&e->comm, child, comm);
		bpf_ringbuf_submit(e, event_wake());
	}
	return 0;
}

/* Return how long an ending thread was on a CPU or waited for a CPU. */
static __always_inline __u64 busy_time(struct task_struct *task)
{
	__u64 ns = BPF_CORE_READ(task, se.sum_exec_runtime);

	if (bpf_core_field_exists(task->sched_info.run_delay))
		ns += BPF_CORE_READ(task, sched_info.run_delay);
	return ns;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	__u32 tgid = task->tgid, tid = task->pid;
	__u64 now = bpf_ktime_get_ns();
	__u32 seq = 0;
	bool pending = thread_drop(tid, now, &seq), last;
	struct sbt_proc *p = bpf_map_lookup_elem(&procs, &tgid);
	struct sbt_event *e;

	last = task->signal->live.counter == 0;
	if (last)
		bpf_map_delete_elem(&early, &tgid);
	if (!p)
		return 0;
	if (!(proc_flags(p, tgid) & SBT_PROC_EXCLUDED)) {
		e = event_new(SBT_REC_EXIT, now);
		if (e) {
			event_task(e, tgid, tid, p->inc);
			e->start_ns = task->start_time;
			e->busy_ns = busy_time(task);
			e->crossings = seq;
			e->cpu = bpf_get_smp_processor_id();
			e->looks = last ? p->looks : 0;
			e->flags = (last ? SBT_EVENT_LEADER : 0) |
				   (pending ? SBT_EVENT_PENDING : 0) |
				   ((task->exit_code & 0x7f) == SIGTRAP ? SBT_EVENT_TRAPPED : 0);
			bpf_get_current_comm(e->comm, sizeof(e->comm));
			bpf_ringbuf_submit(e, event_wake());
		}
	}
	if (last) {
		bpf_map_delete_elem(&procs, &tgid);
		bpf_map_delete_elem(&judged, &tgid);
	}
	return 0;
}

/* Return what user space has found out about the program that the process runs, or NULL. */
static __always_inline struct sbt_verdict *program_verdict(struct task_struct *task)
{
	struct sbt_file key = {};
	struct sbt_verdict *v;

	program_key(task, &key);
	v = bpf_map_lookup_elem(&files, &key);
	return v && (v->flags & SBT_PROC_KNOWN) ? v : NULL;
}

/*
 * Return whether the program was examined a moment ago. After a while the program is examined
 * again, because it may run with other libraries.
 */
static __always_inline bool verdict_recent(const struct sbt_verdict *v)
{
	return v && bpf_ktime_get_ns() - v->ns < SBT_VERDICT_NS;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	__u32 tgid = task->tgid, tid = task->pid, old = old_pid;
	struct sbt_proc *p = bpf_map_lookup_elem(&procs, &tgid);
	__u64 now = bpf_ktime_get_ns();
	struct sbt_forked *f;
	struct sbt_event *e;
	struct sbt_verdict *v;
	__u32 seq = 0;
	bool hold;

	bpf_map_delete_elem(&early, &tgid);
	if (config.system) {
		f = bpf_map_lookup_elem(&forked, &tgid);
		if (f)
			f->exec_ns = now;
	}
	if (p) {
		thread_drop(tid, now, &seq);
		if (old != tid)
			thread_drop(old, now, &seq);
		if (config.system &&
		    (config.by_comm || (proc_flags(p, tgid) & SBT_PROC_EXCLUDED))) {
			/*
			 * The process now runs another program, perhaps with another name. Its
			 * first crossing decides whether it is traced.
			 */
			bpf_map_delete_elem(&procs, &tgid);
			p = NULL;
		}
	}
	if (!p) {
		if (config.system && tgid != config.self && !verdict_recent(program_verdict(task)))
			mappings_changed(NULL, tgid, tid, false);
		return 0;
	}
	v = program_verdict(task);
	hold = config.hold && !verdict_recent(v) && may_hold(task);
	p->inc = incarnation(now);
	p->mappings = 0;
	p->copies = 0;
	p->flags = config.by_exit ? SBT_PROC_BY_EXIT : 0;
	if (v)
		p->flags |= v->flags & (SBT_PROC_BY_EXIT | SBT_PROC_EXCLUDED);
	/*
	 * If the process is stopped, it may as well be examined again: no crossing is missed
	 * meanwhile.
	 */
	if (!v || hold)
		p->flags |= SBT_PROC_FRESH;
	if (!(p->flags & SBT_PROC_EXCLUDED))
		thread_begin(task, tid, tgid, ACCOUNT_RUNNING, now);
	e = event_new(SBT_REC_EXEC, now);
	if (!e)
		return 0;
	event_task(e, tgid, old, p->inc);
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	/*
	 * Include the program's identity, because the process may exit or execute another program
	 * before user space examines it.
	 */
	event_program(e, task);
	if (hold && bpf_send_signal(SIGSTOP) == 0)
		e->flags = SBT_EVENT_HELD;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/*
 * The dynamic linker calls _dl_debug_state for debuggers: once after it has mapped a program's
 * libraries and before any of their code runs, and then before and after every dlopen and dlclose.
 * In a traced process these libraries may contain barriers, or may replace another library at its
 * address. Where possible, only a few traced processes have this probe, because a probe in the
 * dynamic linker kills every program that starts under an emulator. For other processes the kernel
 * reports mapped code instead (user/attach/mappings.c).
 */
SEC("?uprobe")
int loader_state(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tgid = id >> 32;
	struct sbt_proc *p = bpf_map_lookup_elem(&procs, &tgid);
	struct task_struct *task = (void *)bpf_get_current_task();
	__u32 flags;

	if (tgid == config.self)
		return 0;
	if (!p) {
		if (config.system && !verdict_recent(program_verdict(task)))
			mappings_changed(NULL, tgid, (__u32)id, false);
		return 0;
	}
	flags = proc_flags(p, tgid);
	if (flags & SBT_PROC_EXCLUDED)
		return 0;
	__sync_fetch_and_add(&p->mappings, 1);
	if (config.aggregate) {
		/*
		 * Increment `mappings` first: a BPF program that sees the new epoch then also sees
		 * the new value of `mappings`.
		 */
		__sync_fetch_and_add(&mappings, 1);
		__sync_fetch_and_add(&epoch, 1);
	}
	mappings_changed(p, tgid, (__u32)id,
			 config.hold && (flags & SBT_PROC_FRESH) && may_hold(task));
	return 0;
}
