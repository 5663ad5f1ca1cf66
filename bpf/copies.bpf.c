// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Handle processes that make memory executable. If that memory is a copy of code with probes, the
 * breakpoints were copied with it. The kernel knows of no probe in the copy, so the process would
 * die of SIGTRAP.
 */
#include "maps.h"
#include "userregs.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * The values of enum tlb_flush_reason from FLUSH_LOCAL to FLUSH_SENT mean that address translations
 * of the running task's memory are flushed.
 */
#define FLUSH_LOCAL 2
#define FLUSH_SENT  4

#define PROT_EXEC     0x4
#define MAP_FIXED     0x10
#define MAP_ANONYMOUS 0x20
#define MREMAP_FIXED  0x2

/*
 * One system call may flush several times, so flushes of one address within this time (ns) count as
 * one.
 */
#define COPY_SAME_NS 100000

/*
 * Processes that are not traced may contain probes, too. At most COPY_STRANGERS_MAX calls of such
 * processes are reported in COPY_STRANGERS_NS.
 */
#define COPY_STRANGERS_MAX 64
#define COPY_STRANGERS_NS  1000000000ULL

/* The memory that a system call makes executable. */
struct copy_range {
	__u64 start, end;
	bool replaces; /* other memory was mapped at this range before */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct sbt_copied);
} copied SEC(".maps");

__u64 copy_strangers_ns; /* when counting copy_strangers began */
__u32 copy_strangers;

#if defined(__TARGET_ARCH_arm64)
/* arm64 has no event for a flush. */
static __always_inline bool makes_code(struct task_struct *task, struct copy_range *out)
{
	(void)task;
	(void)out;
	return false;
}
#else
/*
 * Return whether the file has been deleted or never had a name (memfd_create()). A file with a name
 * is a library, and no copy.
 */
static __always_inline bool is_nameless(struct task_struct *task, __u64 fd)
{
	struct file *file = file_at(task, fd);

	return file && !BPF_CORE_READ(file, f_inode, i_nlink);
}

/*
 * Return whether the task is in a system call that makes memory executable, or that replaces memory
 * in which its code may be. Such a call causes no flush if the memory was never touched, but then
 * it cannot hold a copy either.
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

/*
 * Return whether to report this call. Each call is reported once. A process is reported at most as
 * often as user space examines its copies (SBT_COPIES_MAX, SBT_COPIES_OWN_MAX).
 */
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

/*
 * Like is_due(), for a process that is not traced. Only calls that replace memory count:
 * just-in-time compilers only add code.
 */
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
 * When memory becomes executable or goes away, the kernel flushes its address translations. The
 * event of this flush occurs while the system call is still running, so the process can be stopped
 * before it runs the copy.
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
	event_task(e, tgid, (__u32)id, p ? p->inc : 0);
	e->range_start = range.start;
	e->range_end = range.end;
	e->own_code = own;
	e->replaces = range.replaces;
	if (p && config.hold && may_hold(task) && bpf_send_signal(SIGSTOP) == 0)
		e->flags = SBT_EVENT_HELD;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}
