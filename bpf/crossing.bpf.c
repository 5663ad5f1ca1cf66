// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * The hot path: a thread arrives at a barrier, a thread leaves it. The arrival waits in the thread's
 * slot; one record is written at the departure. Which program is attached is the ladder's choice:
 * barrier_session sees both ends in one program; barrier_enter with barrier_leave is the same as two
 * programs; barrier_exit sits on the ret instructions where a return probe could hurt.
 */
#include "maps.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct sbt_config config;
volatile __u32 epoch = 1; /* counts barriers made: what was read of one may no longer be so */
volatile __u32 keep_words; /* set where every making of a barrier is seen */
volatile __u32 armed; /* 0 until everything is attached: data begins at one instant */
struct sbt_counts counts[SBT_COUNT_SLOTS];

/* What a return takes off the stack. */
#if defined(__TARGET_ARCH_arm64)
#define RETURN_POPS 0
#else
#define RETURN_POPS 8
#endif

extern bool bpf_session_is_return(void) __ksym __weak;

/* The name of the process is that of its first thread. */
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

/* -a: is the process that runs one of those asked for? */
static __always_inline bool wanted(void)
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
 * -a: a process not heard of. How its departures may be seen depends on the program: until that is
 * known, nothing is recorded of it.
 */
static __always_inline bool admit(__u32 tgid, __u64 now, __u32 cpu)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct sbt_verdict *v, ask = { .ns = now };
	struct sbt_proc proc = { .inc = incarnation(now) };
	struct sbt_file key = {};

	if (!wanted())
		proc.flags |= SBT_PROC_EXCLUDED;
	program_key(task, &key);
	v = bpf_map_lookup_elem(&files, &key);
	if (!proc.flags && (!v || !(v->flags & SBT_PROC_KNOWN))) {
		if (!v) {
			bpf_map_update_elem(&files, &key, &ask, BPF_NOEXIST);
			mappings_changed(NULL, tgid, (__u32)bpf_get_current_pid_tgid(), false);
		}
		count(refused, cpu);
		count(lost_early, cpu);
		return false;
	}
	if (v)
		proc.flags |= v->flags & (SBT_PROC_BY_EXIT | SBT_PROC_EXCLUDED);
	if (config.by_exit)
		proc.flags |= SBT_PROC_BY_EXIT;
	if (bpf_map_update_elem(&procs, &tgid, &proc, BPF_NOEXIST) &&
	    !bpf_map_lookup_elem(&procs, &tgid)) {
		/* Full; else a sister thread was quicker. */
		count(refused, cpu);
		count(lost_process, cpu);
		return false;
	}
	return true;
}

/* First crossing of a thread (or of a stranger, each time): NULL unless it is traced. */
static __noinline struct sbt_thread *thread_new(__u32 tgid, __u32 tid)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sbt_proc *p = bpf_map_lookup_elem(&procs, &tgid);
	__u64 now = bpf_ktime_get_ns();
	struct sbt_thread *t;
	struct sbt_event *e;

	if (!p) {
		if (!config.system || tgid == config.self) {
			count(strangers, cpu);
			return NULL;
		}
		if (!admit(tgid, now, cpu))
			return NULL;
		p = bpf_map_lookup_elem(&procs, &tgid);
		if (!p)
			return NULL;
	}
	if (p->flags & SBT_PROC_EXCLUDED) {
		count(strangers, cpu);
		return NULL;
	}
	t = thread_find(tid);
	if (t)
		thread_release(t); /* of an earlier thread of this number, whose end was not seen */
	t = thread_claim(tid);
	if (!t) {
		count(refused, cpu);
		count(lost_thread, cpu);
		return NULL;
	}
	t->tgid = tgid;
	t->inc = p->inc;
	t->proc_flags = p->flags;
	if (!(p->flags & SBT_PROC_SEEN)) {
		/* Two threads may both say so; saying it twice is harmless. */
		p->flags |= SBT_PROC_SEEN;
		e = event_new(SBT_REC_SEEN, now);
		if (e) {
			e->tgid = tgid;
			e->tid = tid;
			e->inc = p->inc;
			leader_comm(e->comm);
			e->start_ns = leader_start();
			/* Now, while it waits: its mappings may be gone in a millisecond. */
			bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
		}
	}
	return t;
}

/*
 * The count of a barrier does not change while it lives, and to read it costs a twentieth of a crossing: it is
 * kept until any barrier is made, unless processes share it. glibc marks such with 128 in the second
 * word, musl with the sign of the first.
 */
static __always_inline __u8 read_words(struct sbt_thread *t, __u64 object, __u32 words_offset)
{
	__u32 now = epoch;

	t->words_object = 0;
	if (bpf_probe_read_user(&t->words, sizeof(t->words), (void *)(object + words_offset))) {
		t->words = 0;
		return SBT_CROSSING_NO_WORDS;
	}
	if (keep_words && t->words >> 32 != 128 && (__s32)t->words > 0) {
		t->words_object = object;
		t->words_epoch = now;
	}
	return 0;
}

/* Returns 0 if the departure shall be seen through the return probe, 1 if not. */
static __always_inline int arrive(struct pt_regs *ctx, __u8 family, __u64 object,
				  __u32 words_offset)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)id, tgid = id >> 32;
	struct sbt_thread *t;
	__u8 flags = 0;

	if (armed != ARMED_ALL && !(armed == ARMED_SELF && tgid == config.self))
		return 1;
	t = thread_find(tid);
	if (!t || t->tgid != tgid) {
		t = thread_new(tgid, tid);
		if (!t)
			return 1;
	}
	if (t->arrive_ns) {
		/*
		 * Inside already. In another function: a wrapper that calls the real one, which is part of
		 * the same crossing. In the same one, or a second time: the first never returned.
		 */
		if (t->entry != PT_REGS_IP(ctx) && !t->inner) {
			t->inner = 1;
			count(inner, bpf_get_smp_processor_id());
			return 1;
		}
		crossing_write(t, 0);
	}
	t->inner = 0;
	t->entry = PT_REGS_IP(ctx);
	t->sp = PT_REGS_SP(ctx);
	t->object = object;
#if defined(__TARGET_ARCH_arm64)
	t->ip = PT_REGS_RET(ctx); /* the link register */
#else
	if (bpf_probe_read_user(&t->ip, sizeof(t->ip), (void *)PT_REGS_SP(ctx))) {
		t->ip = 0;
		flags |= SBT_CROSSING_NO_IP;
	}
#endif
	if (t->words_object != object || t->words_epoch != epoch)
		flags |= read_words(t, object, words_offset);
	t->family = family;
	t->flags = flags;
	t->arrive_cpu = bpf_get_smp_processor_id();
	/* Last: what we cost belongs to the phase, not to the wait. */
	t->arrive_ns = bpf_ktime_get_ns();
	return t->proc_flags & SBT_PROC_BY_EXIT ? 1 : 0;
}

/* Where pthread_barrier_t has its count, in all layouts that are known: 8 bytes from here. */
#define PTHREAD_WORDS 8

enum { BY_SESSION, BY_RETURN, BY_EXIT };

static __always_inline int depart(struct pt_regs *ctx, int by)
{
	__u64 now = bpf_ktime_get_ns();
	struct sbt_thread *t;

	if (!armed)
		return 0;
	t = thread_find((__u32)bpf_get_current_pid_tgid());
	if (!t || !t->arrive_ns) {
		if (t)
			count(unmatched, bpf_get_smp_processor_id());
		return 0;
	}
	if (by == BY_EXIT && !(t->proc_flags & SBT_PROC_BY_EXIT))
		return 0;
	/* The end of the inner of two is not the end of the outer. */
	if (by != BY_SESSION && PT_REGS_SP(ctx) != t->sp + (by == BY_RETURN ? RETURN_POPS : 0))
		return 0;
	/* A child of fork has no page of a shared mapping until it touches it: by now it has. */
	if ((t->flags & SBT_CROSSING_NO_WORDS) &&
	    !bpf_probe_read_user(&t->words, sizeof(t->words), (void *)(t->object + PTHREAD_WORDS)))
		t->flags &= ~SBT_CROSSING_NO_WORDS;
	crossing_write(t, now);
	return 0;
}

SEC("?uprobe")
int barrier_session(struct pt_regs *ctx)
{
	if (bpf_session_is_return())
		return depart(ctx, BY_SESSION);
	return arrive(ctx, SBT_FAMILY_PTHREAD, PT_REGS_PARM1(ctx), PTHREAD_WORDS);
}

SEC("?uprobe")
int barrier_enter(struct pt_regs *ctx)
{
	arrive(ctx, SBT_FAMILY_PTHREAD, PT_REGS_PARM1(ctx), PTHREAD_WORDS);
	return 0;
}

SEC("?uretprobe")
int barrier_leave(struct pt_regs *ctx)
{
	return depart(ctx, BY_RETURN);
}

SEC("?uprobe")
int barrier_exit(struct pt_regs *ctx)
{
	return depart(ctx, BY_EXIT);
}

/* On pthread_barrier_init: an address may now hold another barrier. */
SEC("?uprobe")
int barrier_made(struct pt_regs *ctx)
{
	__sync_fetch_and_add(&epoch, 1);
	return 0;
}
