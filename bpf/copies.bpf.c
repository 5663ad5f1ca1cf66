// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Processes that make code of other memory. If that is a copy of code that holds probes, its breakpoints were copied with
 * it: the kernel knows of no probe there, and the process dies of SIGTRAP.
 */
#include "maps.h"
#include "userregs.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Why a CPU's translations of addresses are flushed, enum tlb_flush_reason: here, for memory of the task that runs. */
#define FLUSH_LOCAL 2
#define FLUSH_SENT  4

#define PROT_EXEC     0x4
#define MAP_FIXED     0x10
#define MAP_ANONYMOUS 0x20
#define MREMAP_FIXED  0x2

/* One call may flush several times. */
#define COPY_SAME_NS 100000

/* Of processes that are not traced so many calls are reported in a second: probes may be for all. */
#define COPY_STRANGERS_MAX 64
#define COPY_STRANGERS_NS  1000000000ULL

/* What a call makes code of. */
struct copy_range {
	__u64 start, end;
	bool replaces; /* other memory was there before */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct sbt_copied);
} copied SEC(".maps");

__u64 copy_strangers_ns; /* when their count began */
__u32 copy_strangers;

#if defined(__TARGET_ARCH_arm64)
/* There the flush is no event. */
static __always_inline bool makes_code(struct task_struct *task, struct copy_range *out)
{
	(void)task;
	(void)out;
	return false;
}
#else
/* A file that has no name any more, or never had one: memfd_create(). Libraries have names. */
static __always_inline bool is_nameless(struct task_struct *task, __u64 fd)
{
	struct file *file = file_at(task, fd);

	return file && !BPF_CORE_READ(file, f_inode, i_nlink);
}

/*
 * Is the task in a call that makes code of memory that was none, or puts other memory where its code may be? For memory that was
 * never touched nothing is flushed: there is no copy in it.
 */
static __always_inline bool makes_code(struct task_struct *task, struct copy_range *out)
{
	struct pt_regs___kernel *regs = own_regs();
	struct user_call call;
	__u64 flags;

	if (!regs)
		return false;
	user_call(regs, &call);
	out->start = call.arg[0];
	out->end = call.arg[0] + call.arg[1];
	out->replaces = true;
	switch (call.nr) {
	case 10: /* mprotect */
	case 329: /* pkey_mprotect */
		out->replaces = false;
		return call.arg[2] & PROT_EXEC;
	case 9: /* mmap */
		flags = BPF_CORE_READ(regs, r10);
		return call.arg[2] & PROT_EXEC && flags & MAP_FIXED &&
		       (flags & MAP_ANONYMOUS || is_nameless(task, BPF_CORE_READ(regs, r8)));
	case 25: /* mremap */
		out->start = BPF_CORE_READ(regs, r8);
		out->end = out->start + call.arg[2];
		return BPF_CORE_READ(regs, r10) & MREMAP_FIXED;
	default:
		return false;
	}
}
#endif

static __always_inline bool is_own_code(struct task_struct *task, const struct copy_range *range)
{
	return range->start < BPF_CORE_READ(task, mm, end_code) &&
	       range->end > BPF_CORE_READ(task, mm, start_code);
}

/* Of one call one event; and no more than are to be looked at. */
static __always_inline bool is_due(struct sbt_proc *p, __u32 tgid, const struct copy_range *range,
				   bool own, __u64 now)
{
	struct sbt_copied *last = bpf_map_lookup_elem(&copied, &tgid);
	struct sbt_copied this = { .ns = now, .address = range->start };

	if (p->copies >= (own ? SBT_COPIES_OWN_MAX : SBT_COPIES_MAX) ||
	    (last && last->address == range->start && now - last->ns < COPY_SAME_NS))
		return false;
	bpf_map_update_elem(&copied, &tgid, &this, BPF_ANY);
	p->copied = SBT_COPIED_AT(now);
	p->copies++;
	return true;
}

/* Those alone that may replace code that is probed: compilers that run in a program only add code. */
static __always_inline bool stranger_is_due(const struct copy_range *range, __u64 now)
{
	if (!range->replaces)
		return false;
	if (now - copy_strangers_ns > COPY_STRANGERS_NS) {
		copy_strangers_ns = now;
		copy_strangers = 0;
	}
	if (copy_strangers >= COPY_STRANGERS_MAX)
		return false;
	__sync_fetch_and_add(&copy_strangers, 1);
	return true;
}

/*
 * When memory becomes code, or goes away, what the CPU knows of its addresses is flushed. That is an event while the call is
 * still under way, so that the process can be stopped before the copy runs.
 */
SEC("?tp_btf/tlb_flush")
int BPF_PROG(on_code_flushed, int reason)
{
	__u64 id = bpf_get_current_pid_tgid(), now;
	__u32 tgid = id >> 32;
	struct task_struct *task;
	struct copy_range range;
	struct sbt_event *e;
	struct sbt_proc *p;
	bool own;

	if (reason < FLUSH_LOCAL || reason > FLUSH_SENT || tgid == config.self)
		return 0;
	task = (void *)bpf_get_current_task();
	if (!makes_code(task, &range))
		return 0;
	p = bpf_map_lookup_elem(&procs, &tgid);
	own = is_own_code(task, &range);
	now = bpf_ktime_get_ns();
	if (p ? !is_due(p, tgid, &range, own, now) : !stranger_is_due(&range, now))
		return 0;
	e = event_new(SBT_REC_COPY, now);
	if (!e)
		return 0;
	e->tgid = tgid;
	e->tid = (__u32)id;
	e->inc = p ? p->inc : 0;
	e->address = range.start;
	e->code_end = range.end;
	e->stack = own;
	e->caller = range.replaces;
	if (p && config.hold && may_hold(task) && bpf_send_signal(SIGSTOP) == 0)
		e->flags = SBT_EVENT_HELD;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}
