/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Handle the first crossing of a thread, and barrier functions that are called by barrier
 * functions. For programs that run in the context of the thread itself.
 */
#ifndef BPF_THREAD_H
#define BPF_THREAD_H

#include "account.h"
#include "team.h"

/* Count a crossing, or a possible crossing (a candidate), that is not recorded. */
#define count_refused(field, cpu, crossing)         \
	do {                                        \
		if (crossing) {                     \
			count(refused, cpu);        \
			count(field, cpu);          \
		} else {                            \
			count(candidates, cpu);     \
			count(lost_candidate, cpu); \
		}                                   \
	} while (0)

/* The name of a process is that of its first thread. */
static __always_inline void leader_comm(char comm[SBT_COMM_LEN])
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	bpf_probe_read_kernel(comm, SBT_COMM_LEN, &leader->comm);
}

static __always_inline __u64 leader_start(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, group_leader, start_time);
}

/*
 * -a: report (SBT_REC_THREAD) when the current thread was created. There was no such report when
 * the thread was created, because the process was not known yet. User space needs the time, because
 * the thread's first phase begins then.
 */
static __always_inline void report_found_thread(__u32 tgid, __u32 tid, __u32 inc, __u64 now)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct sbt_event *e = event_new(SBT_REC_THREAD, now);

	if (!e)
		return;
	event_task(e, tgid, tid, inc);
	e->start_ns = BPF_CORE_READ(task, start_time);
	bpf_ringbuf_submit(e, event_wake());
}

/* -a: return whether the current process is one that the user asked for (--comm, --cgroup). */
static __always_inline bool is_wanted(void)
{
	if (config.by_comm) {
		char comm[SBT_COMM_LEN] = {};
		int i;

		leader_comm(comm);
		for (i = 0; i < SBT_COMM_LEN; i++) {
			if (comm[i] != config.comm[i])
				return false;
			if (!comm[i])
				break;
		}
	}
	if (config.by_cgroup &&
	    bpf_get_current_ancestor_cgroup_id(config.cgroup_level) != config.cgroup_id)
		return false;
	return true;
}

/*
 * Count a crossing, or a possible one, that is not recorded because it is not known yet how to
 * trace the program.
 */
static __always_inline void refuse_early(__u32 tgid, __u32 cpu, bool crossing)
{
	__u32 *n, one = 1;

	if (crossing) {
		count(refused, cpu);
		count(lost_early, cpu);
	} else {
		count(candidates, cpu);
		count(lost_candidate_early, cpu);
	}
	n = bpf_map_lookup_elem(&early, &tgid);
	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&early, &tgid, &one, BPF_ANY);
}

/*
 * -a: add a process that is not known yet. How its departures can be seen depends on its program.
 * Until user space has found this out, nothing is recorded. Return whether the process has an entry
 * now.
 */
static __always_inline bool process_admit(__u32 tgid, __u64 now, __u32 cpu, bool crossing)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct sbt_verdict *v, ask = { .ns = now };
	struct sbt_proc proc = { .inc = incarnation(now) };
	struct sbt_file key = {};

	if (!is_wanted())
		proc.flags |= SBT_PROC_EXCLUDED;
	program_key(task, &key);
	v = bpf_map_lookup_elem(&files, &key);
	if (!proc.flags && (!v || !(v->flags & SBT_PROC_KNOWN))) {
		if (!v) {
			bpf_map_update_elem(&files, &key, &ask, BPF_NOEXIST);
			mappings_changed(NULL, tgid, (__u32)bpf_get_current_pid_tgid(), false);
		}
		refuse_early(tgid, cpu, crossing);
		return false;
	}
	if (v)
		proc.flags |= v->flags & (SBT_PROC_BY_EXIT | SBT_PROC_EXCLUDED);
	if (config.by_exit)
		proc.flags |= SBT_PROC_BY_EXIT;
	if (!bpf_map_update_elem(&procs, &tgid, &proc, BPF_NOEXIST)) {
		teams_lost(tgid);
	} else if (!bpf_map_lookup_elem(&procs, &tgid)) {
		/*
		 * There is still no entry, so the map is full. If there were an entry, another
		 * thread of the process would have made it.
		 */
		count_refused(lost_process, cpu, crossing);
		return false;
	}
	return true;
}

/*
 * Handle the first crossing of a thread, or any crossing of a thread that is not traced. Return the
 * thread's slot, or NULL if it is not traced. @crossing: true for a crossing; false if the thread
 * only waits for something, or wakes other threads.
 */
static __noinline MAYBE_UNUSED struct sbt_thread *thread_new(__u32 tgid, __u32 tid, __u32 *index,
							     bool crossing)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sbt_proc *p = bpf_map_lookup_elem(&procs, &tgid);
	__u64 now = bpf_ktime_get_ns();
	struct sbt_thread *t;
	struct sbt_event *e;
	bool found = false;
	__u32 flags, *refused;

	if (!p) {
		if (!config.system || tgid == config.self)
			return NULL;
		if (!process_admit(tgid, now, cpu, crossing))
			return NULL;
		p = bpf_map_lookup_elem(&procs, &tgid);
		if (!p)
			return NULL;
	}
	flags = proc_flags(p, tgid);
	if (flags & SBT_PROC_EXCLUDED)
		return NULL;
	if (flags & SBT_PROC_FRESH) {
		/*
		 * It is not known yet whether a return probe could harm the process, so nothing is
		 * recorded. Candidates are not even counted as refused, because they may come from
		 * probes on files of the process's previous program.
		 */
		if (crossing)
			refuse_early(tgid, cpu, true);
		return NULL;
	}
	t = thread_find(tid, index);
	if (t && (t->tgid != tgid || t->inc)) {
		/*
		 * This is the slot of an earlier thread with this number. The end of that thread
		 * was not seen.
		 */
		thread_release(t);
		t = NULL;
	}
	if (!t) {
		t = thread_claim(tid, tgid, index);
		if (!t) {
			count_refused(lost_thread, cpu, crossing);
			return NULL;
		}
		if (config.account)
			account_start(*index, (void *)bpf_get_current_task(), tid, tgid,
				      ACCOUNT_RUNNING, now, false);
		found = config.system;
	}
	t->inc = p->inc;
	t->proc_flags = flags;
	t->detached = proc_detached(p, tgid);
	if (!(flags & SBT_PROC_SEEN)) {
		/*
		 * Two threads may do this at the same time and both report the process, which is
		 * harmless.
		 */
		p->flags |= SBT_PROC_SEEN;
		e = event_new(SBT_REC_SEEN, now);
		if (e) {
			event_task(e, tgid, tid, p->inc);
			leader_comm(e->comm);
			e->start_ns = leader_start();
			refused = bpf_map_lookup_elem(&early, &tgid);
			e->refused = refused ? *refused : 0;
			event_program(e, (void *)bpf_get_current_task());
			/*
			 * Wake the reader now, while the thread waits: the mappings of a
			 * short-lived process may be gone in a millisecond.
			 */
			bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
		}
	}
	if (found)
		report_found_thread(tgid, tid, p->inc, now);
	return t;
}

/* --- functions within functions --------------------------------------------------------------- */

#define PAGE_OF(address) ((address) >> 12)

/*
 * Return whether this return address is that of the trampoline, by which a return probe replaces
 * the real one.
 */
static __always_inline bool is_trampoline(__u64 address)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct xol_area *area = NULL;

	if (!bpf_core_field_exists(mm->uprobes_state) || !bpf_core_field_exists(area->vaddr))
		return false;
	area = BPF_CORE_READ(mm, uprobes_state.xol_area);
	return area && PAGE_OF(BPF_CORE_READ(area, vaddr)) == PAGE_OF(address);
}

/*
 * Return whether the present function was called (or reached by a tail call) by the function with
 * the probe at @entry. That probe was hit before, at stack pointer @sp, and the function returns to
 * @ip (0: not known). For example, an old version of a function calls its new version, or a wrapper
 * calls the function that it wraps. If the calling function was left by longjmp, its return address
 * has usually been overwritten, and on x86-64 the result is false.
 */
static __always_inline bool called_within(struct pt_regs *ctx, __u64 entry, __u64 sp, __u64 ip)
{
	__u64 back = 0;

	if (entry == PT_REGS_IP(ctx) || PT_REGS_SP(ctx) > sp)
		return false;
#if defined(__TARGET_ARCH_arm64)
	/*
	 * A function that was called from there has a lower stack pointer. Its own return address
	 * cannot be checked, because it is not known where the outer function has stored the link
	 * register.
	 */
	if (PT_REGS_SP(ctx) < sp)
		return true;
	back = PT_REGS_RET(ctx);
#else
	if (bpf_probe_read_user(&back, sizeof(back), (void *)sp))
		return false;
#endif
	return (ip && back == ip) || is_trampoline(back);
}

#endif /* BPF_THREAD_H */
