// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * --aggregate: the hot path, where crossings are added up in maps and no records of them are
 * written. As in crossing.bpf.c, the attach method decides which of these programs are attached.
 * They are only for kernels with atomics that return a value, and are not loaded elsewhere.
 */
#include "aggregate.h"
#include "arrive.h"
#include "team.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u32 nsums;
__u32 nobjects;

/*
 * Look up the data that the thread needs for its crossing, and keep them for the next crossing.
 * Call this only if the function or the barrier is not that of the last crossing, if the barrier
 * may have been initialized again, or if libraries were loaded or unloaded. Return 0 if the
 * crossing is not counted.
 */
static __noinline int sums_look_up(struct pt_regs *ctx, struct sbt_thread *t, __u32 index,
				   __u32 now)
{
	__u32 number, mapped = mappings;
	struct sbt_spec *spec;

	if (!ctx || !t)
		return 0;
	/* If the function is the same as last time, so is the probe's spec. */
	number = t->entry == PT_REGS_IP(ctx) ? t->spec : spec_index(ctx);
	spec = bpf_map_lookup_elem(&specs, &number);
	if (!spec)
		return 0;
	if (!t->summing.born_ns) {
		t->summing.born_ns = bpf_ktime_get_ns();
		t->summing.sums = SBT_SUM_NONE;
	}
	if (t->summing.mappings != mapped) {
		t->summing.mappings = mapped;
		t->summing.sums_ip = 0;
	}
	t->object = PT_REGS_PARM1(ctx);
	t->flags = words_of(ctx, t, spec, number, t->object);
	t->entry = PT_REGS_IP(ctx);
	t->family = spec->family;
	t->kind = spec->kind;
	t->how = spec->flags;
	t->spec = number;
	t->summing.open_episodes = open_episodes_choose(t, index, now, spec);
	t->summing.epoch = t->words_object == t->object ? now : 0;
	return 1;
}

/*
 * The handler time measured here does not include the kernel's work before and after the programs
 * of a crossing. With cold caches, the measured time therefore grows by a larger factor than the
 * cost of a crossing. With this constant (ns) added, both grow by the same factor
 * (tests/bench/run.py table.cold).
 */
#define HANDLER_UNSEEN_NS 60

/*
 * Like arrive(), but only for functions with the barrier object as their first argument, if this
 * object holds the number of members. @t: the result of thread_find() for the current thread; @id:
 * tgid << 32 | tid.
 */
static __always_inline int sums_arrive(struct pt_regs *ctx, __u64 id, struct sbt_thread *t,
				       __u32 index)
{
	__u32 now = epoch;
	__u64 began, paused;
	bool by_exit;

	t = thread_traced(id, t, &index);
	if (UNLIKELY(!t))
		return 1;
	if (UNLIKELY(t->arrive_ns)) {
		if (still_inside(ctx, t))
			return 1;
		crossing_write(index, t->tid, 0, bpf_ktime_get_ns());
	}
	began = handler_begin(t);
	if (UNLIKELY(t->entry != PT_REGS_IP(ctx) || t->object != PT_REGS_PARM1(ctx) ||
		     t->summing.epoch != now)) {
		paused = handler_look(began);
		if (!sums_look_up(ctx, t, index, now))
			return 1;
		began += handler_look(began) - paused;
	}
	t->sp = PT_REGS_SP(ctx);
	by_exit = t->proc_flags & SBT_PROC_BY_EXIT;
	sums_arrived(ctx, t, index, by_exit);
	handler_note(t, began, t->arrive_ns + HANDLER_UNSEEN_NS);
	return by_exit ? 1 : 0;
}

static __always_inline int sums_depart(struct pt_regs *ctx, struct sbt_thread *t, __u32 index,
				       int by)
{
	__u64 now = bpf_ktime_get_ns();

	if (UNLIKELY(!armed || !t || !t->arrive_ns))
		return 0;
	if (by == BY_EXIT && !(t->proc_flags & SBT_PROC_BY_EXIT))
		return 0;
	if (by == BY_EXIT && PT_REGS_SP(ctx) != t->sp)
		return 0;
	/*
	 * At the end of a session the instruction pointer is the return address of the call,
	 * because the kernel has already replaced the return probe's address by the real one.
	 */
	sums_departed(t, index, by == BY_EXIT ? 0 : PT_REGS_IP(ctx), now);
	return 0;
}

/*
 * Like session_is_return(), but usually without calling a helper. If a thread is inside, and its
 * stack pointer has the value that it has after the return from the barrier function, the function
 * has returned: at the entry of a function, the alignment of the stack pointer is different.
 */
static __always_inline bool sums_is_return(struct pt_regs *ctx, const struct sbt_thread *t)
{
	if (t && t->entry == PT_REGS_IP(ctx))
		return false;
	if (RETURN_POPS && LIKELY(t && t->arrive_ns) && PT_REGS_SP(ctx) == t->sp + RETURN_POPS)
		return true;
	return session_is_return(ctx);
}

/* Return the slot of the current thread, or NULL. */
static __always_inline struct sbt_thread *sums_thread(__u64 *id, __u32 *index)
{
	*id = bpf_get_current_pid_tgid();
	return thread_find((__u32)*id, index);
}

SEC("?uprobe")
int sums_session(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_session);
	__u32 index = 0;
	__u64 id;
	struct sbt_thread *t = sums_thread(&id, &index);

	if (sums_is_return(ctx, t))
		return sums_depart(ctx, t, index, BY_SESSION);
	return sums_arrive(ctx, id, t, index);
}

SEC("?uprobe")
int sums_enter(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	__u32 index = 0;
	__u64 id;
	struct sbt_thread *t = sums_thread(&id, &index);

	sums_arrive(ctx, id, t, index);
	return 0;
}

SEC("?uprobe")
int sums_exit(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	__u32 index = 0;
	__u64 id;
	struct sbt_thread *t = sums_thread(&id, &index);

	return sums_depart(ctx, t, index, BY_EXIT);
}
