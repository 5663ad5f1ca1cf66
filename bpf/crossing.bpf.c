// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * The hot path: threads arrive at barriers and leave them. The arrival is kept in the thread's
 * slot, and one record is written at the departure. The attach method decides which programs are
 * attached. barrier_session sees both the arrival and the departure. Where the kernel has no
 * sessions, or where a return probe could do harm, barrier_enter sees the arrival, and barrier_exit
 * on the ret instructions sees the departure.
 */
#include "account.h"
#include "arrive.h"
#include "callers.h"
#include "label.h"
#include "team.h"
#include "thread.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct sbt_config config;
/*
 * incremented at each initialization of a barrier: words that were read from a barrier earlier may
 * then be outdated
 */
volatile __u32 epoch = 1;
/*
 * --aggregate: incremented when a library is loaded or unloaded, because an address may then belong
 * to another library.
 */
volatile __u32 mappings;
volatile __u32 keep_words; /* 1: every initialization of a barrier is seen, so words may be kept */
/* 0 until everything is attached, so that all data begins at the same moment */
volatile __u32 armed;
struct sbt_counts counts[SBT_COUNT_SLOTS];
__u32 marks[SBT_MARKS];
volatile __u32 ended; /* tracing has ended, and accounts no longer change */
volatile __u32 tasks_made; /* team.h */
volatile __u32 ends_asked; /* 1: SBT_REC_ENDS was written */

/*
 * Handle the first crossing of a traced thread, or any crossing of a thread that is not traced.
 * Return 1 + the index of the thread's slot, or 0 if the thread is not traced. Global, so that the
 * verifier checks it once in each program. Programs in other files also call it.
 */
__noinline int thread_admit(__u32 tgid, __u32 tid)
{
	__u32 index = 0;

	return thread_new(tgid, tid, &index, true) ? (int)index + 1 : 0;
}

/*
 * To find the beginning of a std::barrier, this many words before its phase are searched. The
 * completion function lies between its beginning and its phase, and has an unknown size.
 */
#define STD_SEARCHED 16

/* libstdc++'s barrier: ptrdiff_t, std::unique_ptr, ptrdiff_t, completion function, phase. */
struct std_barrier {
	__s64 expected;
	__u64 state; /* aligned to 64 */
	__s64 adjustment; /* minus the number of threads that have dropped out */
};

#define STD_COUNT_MAX	  0x7fffffff
#define STD_TICKETS_AHEAD 4 /* two steps in each of two phases */
#define STD_COMPLETION	  24 /* offset of the completion function, which has at least one byte */

/*
 * Return the address of the barrier with this phase; 0: not found. The type of the completion
 * function, and so its size, is not known here. So the words are searched for values that look like
 * the barrier's first members. Global for the same reason as thread_admit().
 */
__noinline __u64 std_begin(__u64 phase)
{
	__u64 at = (phase - STD_COMPLETION - 1) & ~7ULL;
	struct std_barrier b;
	int i;

	for (i = 0; i < STD_SEARCHED; i++, at -= 8) {
		if (bpf_probe_read_user(&b, sizeof(b), (void *)at))
			return 0;
		if (b.expected < 0 || b.expected > STD_COUNT_MAX || b.adjustment > 0 ||
		    b.adjustment < -b.expected || !b.state || b.state & 63 || b.state >> 56)
			continue;
		return at;
	}
	return 0;
}

/*
 * Return whether an object that looks like a barrier is a barrier. The first ticket of a barrier's
 * tree is the phase, the phase + 1 (one thread of a pair has arrived), or the phase + 2 (the next
 * phase). Before the last arriver begins its wait, other threads may have arrived in the next
 * phase: then it is the phase + 3 or the phase + 4. It cannot be more, because the next phase needs
 * this thread. This check is for inlined waits, where the type of the object is not known: threads
 * also wait for bytes of other objects to change.
 */
static __noinline int has_ticket(__u64 begin, __u8 old)
{
	struct std_barrier b;
	__u8 ticket;

	if (bpf_probe_read_user(&b, sizeof(b), (void *)begin) || !b.expected ||
	    bpf_probe_read_user(&ticket, sizeof(ticket), (void *)b.state))
		return 0;
	return (__u8)(ticket - old) <= STD_TICKETS_AHEAD;
}

/*
 * Read the team's size from the object of a C++ wait. The size is read in the wait, after the
 * arrival, because the arrival itself calls no function that could have a probe.
 */
static __noinline int passed_read(struct pt_regs *ctx, struct sbt_thread *t,
				  const struct sbt_spec *spec, __u32 number)
{
	__u64 twin, old, begin, words = 0;
	__u32 left = 0;
	__u8 now = 0;

	if (!ctx || !t || !spec)
		return 0;
	if (spec->flags & SBT_SPEC_LATCH) {
		if (bpf_probe_read_user(&left, sizeof(left), (void *)t->object))
			return 0;
		if ((__s32)left < 0)
			return 0;
		t->result = SBT_RESULT_PASSED | SBT_RESULT_LATCH;
		t->result |= !left		       ? SBT_RESULT_OVER
			     : left < SBT_RESULT_VALUE ? left
						       : SBT_RESULT_VALUE;
		return 0;
	}
	/*
	 * Both arguments should be the same address. If they differ, the wait's predicate has an
	 * unknown layout, and nothing is read.
	 */
	twin = t->words;
	t->words = 0;
	old = twin == t->object ? arg_fetch(ctx, number, what) : ARG_UNREAD;
	if (old == ARG_UNREAD)
		return 0;
	/* A barrier begins with the number of threads that it waits for. */
	begin = std_begin(t->object);
	if (begin &&
	    (bpf_probe_read_user(&words, sizeof(words), (void *)begin) || words > STD_COUNT_MAX))
		begin = 0;
	if (begin && spec->role == SBT_ROLE_MARK_ENTER && !has_ticket(begin, old))
		begin = 0;
	/*
	 * Read the phase again at the end: if it is still the same, all words that were read belong
	 * to it.
	 */
	if (bpf_probe_read_user(&now, sizeof(now), (void *)t->object))
		return 0;
	t->result = SBT_RESULT_PASSED | (now == (__u8)old ? 0 : SBT_RESULT_OVER) | (__u8)old;
	if (begin) {
		t->object = begin;
		t->words = words;
	}
	return 0;
}

/*
 * Name the crossing's call site by its chain of callers: with --frames, and for a wait that a
 * function of the C++ library may have called on behalf of the program.
 */
static __noinline int name_callers(struct pt_regs *ctx, struct sbt_thread *t, __u32 index)
{
	if (!ctx || !t)
		return 0;
	walk_begin(&t->walk, ctx, t->ip);
	t->walk.want = config.frames;
	t->site = callers_walk(index);
	t->site_ip = t->ip;
	return 0;
}

/*
 * Set the number of the thread in its team, plus 1: as the barrier's argument states it, or else as
 * the program has stated it.
 */
static __always_inline void arrive_index(struct pt_regs *ctx, struct sbt_thread *t,
					 const struct sbt_spec *spec, __u32 number)
{
	__u64 team_index;

	t->index = t->own_index;
	if (spec->index.how == SBT_ARG_NONE)
		return;
	team_index = arg_fetch(ctx, number, index);
	if (team_index != ARG_UNREAD)
		t->index = team_index + 1;
}

/* Note which probe was hit. */
static __always_inline void arrive_place(struct pt_regs *ctx, struct sbt_thread *t,
					 const struct sbt_spec *spec, __u32 number, __u16 flags)
{
	t->entry = PT_REGS_IP(ctx);
	t->sp = PT_REGS_SP(ctx);
	t->family = spec->family;
	t->kind = spec->kind;
	t->how = spec->flags;
	t->spec = number;
	t->flags = flags;
}

/*
 * Note the arrival at the present location. Call this last, because it takes the time of the
 * arrival.
 */
static __always_inline void arrive_now(struct pt_regs *ctx, struct sbt_thread *t, __u32 index,
				       const struct sbt_spec *spec, __u32 number, __u16 flags)
{
	arrive_place(ctx, t, spec, number, flags);
	t->arrive_cpu = bpf_get_smp_processor_id();
	t->arrive_ns = crossing_arrive(index, t->tid);
}

/* Note the return address of the function with the probe. Return SBT_CROSSING_NO_IP or 0. */
static __always_inline __u16 arrive_from(struct pt_regs *ctx, struct sbt_thread *t)
{
	__u16 flags = 0;

#if defined(__TARGET_ARCH_arm64)
	t->ip = PT_REGS_RET(ctx); /* the link register */
#else
	__u64 back = 0;

	/*
	 * Not read directly into the slot: a load from there would have to wait until the copy is
	 * complete, which costs a tenth of the whole program.
	 */
	if (bpf_probe_read_user(&back, sizeof(back), (void *)PT_REGS_SP(ctx))) {
		back = 0;
		flags = SBT_CROSSING_NO_IP;
	}
	t->ip = back;
#endif
	/*
	 * If another function with a return probe jumped to this function, the return address is
	 * not the caller's: it is the trampoline, which lies at the beginning of a page.
	 */
	if (t->ip && !(t->ip & 0xfff) && is_trampoline(t->ip)) {
		t->ip = 0;
		flags = SBT_CROSSING_NO_IP;
	}
	return flags;
}

/*
 * Note the phase of a wait inside arrive_and_wait(), which is a function in unoptimised code. Other
 * threads may call arrive() and wait() separately. The phase shows which of these waits belong to
 * the same episode.
 */
static __noinline int phase_inside(struct pt_regs *ctx, struct sbt_thread *t, __u32 number)
{
	__u64 old, phase, words;
	__u8 now;

	if (!ctx || !t || t->result || t->how & (SBT_SPEC_PHASE | SBT_SPEC_LATCH))
		return 0;
	phase = arg_fetch(ctx, number, words);
	if (phase - t->object > STD_COMPLETION + 8 * STD_SEARCHED)
		return 0;
	old = arg_fetch(ctx, number, what);
	if (old == ARG_UNREAD)
		return 0;
	t->result = SBT_RESULT_PASSED | (__u8)old;
	/* As in passed_read(), use the team's size only if the phase is still the same. */
	if (!bpf_probe_read_user(&words, sizeof(words), (void *)t->object) &&
	    words <= STD_COUNT_MAX && !bpf_probe_read_user(&now, sizeof(now), (void *)phase) &&
	    now == (__u8)old)
		t->words = words;
	return 0;
}

/*
 * Set the call site of a barrier that a region's function reaches by a jump at its end. There is no
 * call instruction, so the function itself is the call site. Use the function's address + 2,
 * because address + 1 stands for the end of the region (join_arrive()).
 */
static __noinline int tail_of_region(struct pt_regs *ctx, struct sbt_thread *t, __u32 index)
{
	struct sbt_teams *own_teams = t ? teams_of(index, t->tid) : NULL;
	struct sbt_team *top = own_teams ? team_top(own_teams) : NULL;

	if (!ctx || !t || !top || !top->fn || top->outlined_sp != PT_REGS_SP(ctx))
		return 0;
	t->ip = top->fn + 2;
	return 1;
}

/*
 * Return whether the present function was called by the function of the thread's last arrival, if
 * the departure from there is inferred.
 */
static __always_inline bool offs_called_within(struct pt_regs *ctx, __u32 index, __u32 tid)
{
	struct sbt_offs *o = offs_at(index, tid);

	return o && UNLIKELY(o->entry != PT_REGS_IP(ctx)) && o->open &&
	       called_within(ctx, o->entry, o->sp, o->ip);
}

/* Ask user space, once, for probes at the ends of barriers in teams. */
static __noinline int ask_for_ends(const struct sbt_thread *t)
{
	struct sbt_event *e = t && !ends_asked ? event_new(SBT_REC_ENDS, bpf_ktime_get_ns()) : NULL;

	if (!e)
		return 0;
	ends_asked = 1;
	event_task(e, t->tgid, t->tid, t->inc);
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/*
 * If the departure from a barrier of the thread's team can be inferred, or cannot be seen, note the
 * arrival and return true. In a region that began before tracing, neither members nor departures
 * would be known, so the arrival is lost.
 */
static __always_inline bool arrive_in_team(struct pt_regs *ctx, struct sbt_thread *t, __u32 index,
					   const struct sbt_spec *spec, __u32 number, __u16 flags,
					   __u64 team_index, __u64 began)
{
	int members = flags & SBT_CROSSING_ROUND ? team_inferred(ctx, t, index, spec) : 0;

	if (members == 1)
		return true; /* it waits for no other thread, so there is no barrier */
	if (!members) {
		if (spec->inferred_in_team != SBT_TEAM_ARRIVALS)
			return false;
		ask_for_ends(t);
		if (!(flags & SBT_CROSSING_ROUND)) {
			count(refused, bpf_get_smp_processor_id());
			count(lost_early, bpf_get_smp_processor_id());
			return true;
		}
	}
	arrive_place(ctx, t, spec, number, flags);
	if (team_index)
		t->index = team_index;
	team_kind(t);
	t->words = members;
	t->team = TEAM_NONE;
	if (UNLIKELY(began))
		handler_note(t, began, bpf_ktime_get_ns());
	arrival_write(index, t->tid, ARRIVAL_TEAM);
	return true;
}

/* Note an arrival. Return 0 if the return probe of a session is to see the departure, else 1. */
static __always_inline int arrive(struct pt_regs *ctx)
{
	__u64 object = PT_REGS_PARM1(ctx), team_index = 0, began, paused;
	__u32 index = 0, number;
	struct sbt_thread *t = thread_here(&index);
	struct sbt_spec *spec;
	__u16 flags = 0;
	__u8 team = TEAM_NONE;

	if (!t)
		return 1;
	began = handler_begin(t);
	number = spec_index(ctx);
	spec = bpf_map_lookup_elem(&specs, &number);
	if (!spec || ((t->proc_flags & SBT_PROC_BY_EXIT) && (spec->flags & SBT_SPEC_NO_EXITS)))
		return 1;
	if (is_detached(t, spec))
		return 1;
	if (t->arrive_ns) {
		/* The function of its arrival has called this one, or never returned. */
		if (still_inside(ctx, t)) {
			if (spec->flags & SBT_SPEC_PHASE && t->family == SBT_FAMILY_STD)
				phase_inside(ctx, t, number);
			return 1;
		}
		crossing_write(index, t->tid, 0, bpf_ktime_get_ns());
		began = 0;
	}
	if (config.infer && offs_called_within(ctx, index, t->tid))
		return 1;
	t->label = 0;
	t->marked = 0;
	flags |= arrive_from(ctx, t);
	paused = handler_look(began);
	if (spec->object.how == SBT_ARG_TEAM) {
		team = team_find(t->tgid, t->tid, index, &object, &team_index);
		if (!team)
			return 1;
	} else if (spec->object.how != SBT_ARG_FIRST) {
		object = arg_or(ctx, number, object, 0);
	}
	t->object = object;
	if (team && tail_of_region(ctx, t, index))
		flags &= ~SBT_CROSSING_NO_IP;
	if (config.frames || spec->flags & SBT_SPEC_PHASE)
		name_callers(ctx, t, index);
	flags |= words_of(ctx, t, spec, number, object);
	t->result = 0;
	if (spec->flags & (SBT_SPEC_PHASE | SBT_SPEC_LATCH))
		passed_read(ctx, t, spec, number);
	arrive_index(ctx, t, spec, number);
	t->team = team;
	if (team) {
		team_note(t, index);
		flags |= team_round(t, index);
	}
	began += handler_look(began) - paused;
	if (team && config.infer && spec->inferred_in_team &&
	    arrive_in_team(ctx, t, index, spec, number, flags, team_index, began))
		return 1;
	arrive_now(ctx, t, index, spec, number, flags);
	handler_note(t, began, t->arrive_ns);
	if (team) {
		if (team_index)
			t->index = team_index;
		team_kind(t);
	}
	return (t->proc_flags & SBT_PROC_BY_EXIT) || (t->how & SBT_SPEC_RETS) ? 1 : 0;
}

/* Offset in pthread_barrier_t of the 8 bytes that hold the count in all known layouts. */
#define PTHREAD_WORDS 8

/* Read the words of a barrier that can be read only at the departure. */
static __noinline int words_at_end(struct sbt_thread *t)
{
	__u64 made = t ? t->words : 0;

	if (!t)
		return 0;
	if (t->flags & SBT_CROSSING_MAKES) {
		if (bpf_probe_read_user(&t->words, sizeof(t->words), (void *)made))
			t->flags |= SBT_CROSSING_NO_WORDS;
		return 0;
	}
	/*
	 * After fork, a child has no page of a shared mapping until it touches the page. So the
	 * words could not be read at the arrival, but now they can: in the barrier, the child has
	 * touched the page.
	 */
	if (t->family == SBT_FAMILY_PTHREAD &&
	    !bpf_probe_read_user(&t->words, sizeof(t->words), (void *)(t->object + PTHREAD_WORDS)))
		t->flags &= ~SBT_CROSSING_NO_WORDS;
	return 0;
}

/* Return whether the thread has synchronized with its team in this reduction of libomp. */
static __noinline int reduce_synchronized(struct pt_regs *ctx, const struct sbt_thread *t,
					  __u32 index)
{
	__u32 number = t ? t->spec : 0, result;
	struct sbt_spec *spec = bpf_map_lookup_elem(&specs, &number);
	struct sbt_teams *own_teams = t ? teams_of(index, t->tid) : NULL;
	__u32 before;

	if (!ctx || !t || !spec || !own_teams)
		return 0;
	before = own_teams->flags;
	own_teams->flags &= ~SBT_TEAMS_REDUCE;
	if (spec->what.disp == SBT_REDUCE_END)
		return !(before & SBT_TEAMS_REDUCE);
	result = PT_REGS_RC(ctx);
	if (!result)
		return 1;
	/* Where threads reduce in a critical section, the call returns 1 to all of them. */
	if (result != 1 || t->index != 1 || t->words <= SBT_REDUCE_NO_TREE)
		return 0;
	if (spec->what.disp == SBT_REDUCE_BEGIN)
		own_teams->flags |= SBT_TEAMS_REDUCE;
	return 1;
}

static __always_inline int depart(struct pt_regs *ctx, int by)
{
	__u64 now = bpf_ktime_get_ns();
	struct sbt_thread *t;
	__u32 index = 0;

	if (!armed)
		return 0;
	t = thread_find((__u32)bpf_get_current_pid_tgid(), &index);
	if (!t || !t->arrive_ns)
		return 0;
	if (by == BY_EXIT && !((t->proc_flags & SBT_PROC_BY_EXIT) || (t->how & SBT_SPEC_RETS)))
		return 0;
	/*
	 * A crossing of a pair begins in one function and ends in another, so the stack pointers
	 * cannot be compared.
	 */
	if (by == BY_END ? !(t->how & SBT_SPEC_PAIR) || t->spec != spec_index(ctx)
			 : t->how & SBT_SPEC_PAIR)
		return 0;
	/*
	 * If the stack pointers differ, another function inside the barrier has ended, not the
	 * barrier's function.
	 */
	if (by == BY_EXIT && PT_REGS_SP(ctx) != t->sp)
		return 0;
	if (t->team) {
		if (t->team == TEAM_JOIN)
			return 0;
		if (!team_words(t, index) || ((t->how & SBT_SPEC_WAITED) && !PT_REGS_RC(ctx)) ||
		    ((t->how & SBT_SPEC_REDUCE) && !reduce_synchronized(ctx, t, index))) {
			crossing_drop(t, index, now);
			return 0;
		}
	}
	if (t->flags & (SBT_CROSSING_NO_WORDS | SBT_CROSSING_MAKES))
		words_at_end(t);
	crossing_write(index, t->tid, now, now);
	return 0;
}

SEC("?uprobe")
int barrier_session(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_session);
	if (session_is_return(ctx))
		return depart(ctx, BY_SESSION);
	return arrive(ctx);
}

SEC("?uprobe")
int barrier_enter(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	arrive(ctx);
	return 0;
}

SEC("?uprobe")
int barrier_exit(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	return depart(ctx, BY_EXIT);
}

/* Attached to the ret instructions of the second function of a pair. */
SEC("?uprobe")
int barrier_end(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	return depart(ctx, BY_END);
}

/*
 * Note an arrival if the departure is not seen: as in arrive(), for functions with the barrier as
 * their first argument.
 */
static __always_inline int arrive_only(struct pt_regs *ctx)
{
	__u32 index = 0, number, how;
	struct sbt_thread *t = thread_here(&index);
	struct sbt_spec *spec;
	__u64 began;
	__u16 flags;

	if (!t)
		return 0;
	began = handler_begin(t);
	number = spec_index(ctx);
	spec = bpf_map_lookup_elem(&specs, &number);
	if (!spec || is_detached(t, spec))
		return 0;
	if (UNLIKELY(t->arrive_ns)) {
		if (still_inside(ctx, t))
			return 0;
		crossing_write(index, t->tid, 0, bpf_ktime_get_ns());
		began = 0;
	}
	if (offs_called_within(ctx, index, t->tid))
		return 0;
	t->label = 0;
	t->marked = 0;
	t->result = 0;
	t->team = TEAM_NONE;
	flags = arrive_from(ctx, t);
	if (config.frames)
		name_callers(ctx, t, index);
	t->object = PT_REGS_PARM1(ctx);
	how = t->words_object != t->object || t->words_epoch != epoch ? ARRIVAL_FRESH : 0;
	if (spec->family == SBT_FAMILY_PTHREAD)
		how |= ARRIVAL_FUTEX;
	flags |= words_of(ctx, t, spec, number, t->object);
	t->index = t->own_index;
	arrive_place(ctx, t, spec, number, flags);
	if (UNLIKELY(began))
		handler_note(t, began, bpf_ktime_get_ns());
	return arrival_write(index, t->tid, how);
}

SEC("?uprobe")
int barrier_arrival(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	arrive_only(ctx);
	return 0;
}

/* The mapping of a barrier that processes may share. */
struct shared_memory {
	__u64 start, end, offset, ino; /* ino 0: other processes cannot share it */
	__u32 dev;
};

static long shared_found(struct task_struct *task, struct vm_area_struct *vma, void *ctx)
{
	struct shared_memory *found = ctx;
	struct inode *inode;

	found->start = BPF_CORE_READ(vma, vm_start);
	found->end = BPF_CORE_READ(vma, vm_end);
	if (!(BPF_CORE_READ(vma, vm_flags) & VM_SHARED))
		return 0;
	inode = mapped_inode(BPF_CORE_READ(vma, vm_file));
	found->ino = BPF_CORE_READ(inode, i_ino);
	found->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	found->offset = (__u64)BPF_CORE_READ(vma, vm_pgoff) << config.page_shift;
	return 0;
}

/*
 * Report the mapping of a shared barrier. User space needs this report because a child that arrives
 * at the barrier may exit before its own mappings could be read.
 */
static __noinline int report_shared(struct sbt_proc *p, __u32 tgid, __u64 address)
{
	struct shared_memory found = {};
	struct sbt_event *e;
	bool seen;

	if (!p || (proc_flags(p, tgid) & SBT_PROC_EXCLUDED))
		return 0;
	seen = mapping_find(address, shared_found, &found);
	if (!seen) {
		found.start = address & ~0xfffULL;
		found.end = found.start + 0x1000;
	} else if (p->inc == p->reported_inc && found.start == p->reported_start &&
		   found.end == p->reported_end && found.offset == p->reported_offset &&
		   found.ino == p->reported_ino) {
		return 0;
	}
	e = found.end ? event_new(SBT_REC_SHARED, bpf_ktime_get_ns()) : NULL;
	if (!e)
		return 0;
	event_task(e, tgid, (__u32)bpf_get_current_pid_tgid(), p->inc);
	e->flags = seen ? 0 : SBT_EVENT_UNSEEN;
	e->range_start = found.start;
	e->range_end = found.end;
	e->file_offset = found.offset;
	e->inode = found.ino;
	e->device = found.dev;
	bpf_ringbuf_submit(e, event_wake());
	p->reported_inc = p->inc;
	p->reported_start = found.start;
	p->reported_end = found.end;
	p->reported_offset = found.offset;
	p->reported_ino = found.ino;
	return 0;
}

/*
 * Note that a barrier is initialized. @report: report shared barriers, which needs Linux 5.17 or
 * later.
 */
static __always_inline int barrier_init_note(struct pt_regs *ctx, bool report)
{
	/*
	 * In glibc and musl the attributes are one number, which is 0 if processes do not share the
	 * barrier.
	 */
	void *attr = (void *)PT_REGS_PARM2(ctx);
	struct sbt_object key = {};
	struct sbt_proc *p;
	__u32 shared = 0;

	key.address = PT_REGS_PARM1(ctx);
	key.tgid = bpf_get_current_pid_tgid() >> 32;
	p = bpf_map_lookup_elem(&procs, &key.tgid);
	key.inc = p ? p->inc : 0;
	if (config.aggregate)
		bpf_map_delete_elem(&meetings_at, &key);
	else if (report && p && !bpf_probe_read_user(&shared, sizeof(shared), attr) && shared)
		report_shared(p, key.tgid, key.address);
	__sync_fetch_and_add(&epoch, 1);
	return 0;
}

/* Attached to pthread_barrier_init(): the address may now hold another barrier. */
SEC("?uprobe")
int barrier_made(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	return barrier_init_note(ctx, true);
}

SEC("?uprobe")
int barrier_made_unreported(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	return barrier_init_note(ctx, false);
}

/* --- markers ---------------------------------------------------------------------------------- */

/* Return whether the thread is in an inlined wait of C++, in the function with this frame. */
static __always_inline bool in_inlined_wait(struct pt_regs *ctx, const struct sbt_thread *t)
{
	return t->marked && t->family == SBT_FAMILY_STD && t->sp == PT_REGS_SP(ctx);
}

/*
 * Return 0 if the thread is outside all crossings, else -1. If it has left a crossing and the
 * departure was not seen, abandon that crossing and return 0.
 */
static __noinline int mark_outside(struct pt_regs *ctx, struct sbt_thread *t, __u32 index)
{
	if (!ctx || !t)
		return -1;
	if (!t->arrive_ns)
		return 0;
	/*
	 * In an inlined wait the probe is at the beginning of a loop, so one wait may hit it
	 * repeatedly.
	 */
	if (in_inlined_wait(ctx, t) ? t->entry == PT_REGS_IP(ctx) : still_inside(ctx, t))
		return -1;
	crossing_write(index, t->tid, 0, bpf_ktime_get_ns());
	return 0;
}

/* Note an arrival at a marker. Return false if the thread is inside a crossing already. */
static __always_inline bool mark_arrive(struct pt_regs *ctx, struct sbt_thread *t, __u32 index,
					const struct sbt_spec *spec, __u32 number, __u64 object)
{
	if (mark_outside(ctx, t, index))
		return false;
	t->object = object;
	t->ip = PT_REGS_IP(ctx) + 1; /* as if a function had been called at the marker */
	t->words_object = 0;
	t->words = 0;
	t->label = 0;
	t->result = 0;
	t->marked = 1;
	t->team = TEAM_NONE;
	if (spec->flags & (SBT_SPEC_PHASE | SBT_SPEC_LATCH)) {
		t->words = object;
		passed_read(ctx, t, spec, number);
		/*
		 * Without words, the object is not a barrier: threads also wait for bytes of other
		 * objects to change.
		 */
		if (spec->flags & SBT_SPEC_PHASE && !t->words)
			return false;
	} else {
		t->label = label_of(ctx, number, t);
	}
	if (spec->words.how != SBT_ARG_NONE)
		t->words = arg_or(ctx, number, words, 0);
	arrive_index(ctx, t, spec, number);
	arrive_now(ctx, t, index, spec, number, 0);
	return true;
}

static __always_inline void mark_leave(struct pt_regs *ctx, __u32 number, __u64 now)
{
	__u32 index = 0;
	struct sbt_thread *t = thread_find((__u32)bpf_get_current_pid_tgid(), &index);
	__u64 object;

	if (!armed || !t || !t->arrive_ns || !t->marked)
		return;
	if (t->family == SBT_FAMILY_STD) {
		if (in_inlined_wait(ctx, t))
			crossing_write(index, t->tid, now, now);
		return;
	}
	object = arg_fetch(ctx, number, object);
	if (object != ARG_UNREAD && object == t->object)
		crossing_write(index, t->tid, now, now);
}

/*
 * Write a record for the beginning or end of a conceptual phase, or for an access to another
 * thread's data: the record says what the thread did since its last departure. @data: the number of
 * the other thread in the upper half, the number of bytes in the lower half.
 */
static __noinline int mark_write(struct sbt_thread *t, __u32 index, __u32 label, __u32 what,
				 __u64 data)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sbt_crossing_full *f;
	struct sbt_account *a;
	struct sbt_counting *c;
	__u64 now = 0;

	if (!t)
		return 0;
	if (config.infer)
		arrival_left(index, t->tid, bpf_ktime_get_ns());
	f = ring_reserve(cpu, sizeof(*f));
	if (!f) {
		count(lost_mark, cpu);
		return 0;
	}
	__builtin_memset(f, 0, sizeof(*f));
	crossing_fill(&f->crossing, t, 0, cpu, 0);
	f->crossing.type = SBT_REC_MARK;
	f->crossing.flags = 0;
	f->crossing.label = label;
	f->crossing.mark = what;
	f->crossing.owner = data >> 32;
	f->crossing.bytes = (__u32)data;
	a = config.account ? account_at(index, t->tid) : NULL;
	if (a) {
		account_run(a, account_busy(a, &now));
		fill_so_far(&f->parts, a);
		f->crossing.flags = HAS_PARTS;
		c = counting_at(index);
		if (c) {
			counters_take(c, a, true);
			fill_counters_so_far(&f->counters, c);
			f->crossing.flags |= SBT_CROSSING_COUNTERS;
		}
		account_done(a);
	} else {
		now = bpf_ktime_get_ns();
	}
	f->crossing.arrive_ns = f->crossing.depart_ns = now;
	bpf_ringbuf_submit(f, record_wake(cpu, WAKE_EVERY));
	return 0;
}

/* Note that the thread accesses data of another thread. */
static __always_inline void mark_access(struct pt_regs *ctx, __u32 number, struct sbt_thread *t,
					__u32 index)
{
	__u64 owner = arg_fetch(ctx, number, object), bytes = arg_fetch(ctx, number, words);
	__u64 kind = arg_fetch(ctx, number, what);

	if (owner == ARG_UNREAD || bytes == ARG_UNREAD || kind == ARG_UNREAD ||
	    mark_outside(ctx, t, index))
		return;
	/* enum sbt_access_kind */
	mark_write(t, index, 0, kind == 2 ? SBT_MARK_WRITE : SBT_MARK_READ,
		   owner << 32 | (__u32)bytes);
}

/*
 * One program serves all markers, because the code that they share takes the kernel longest to
 * verify.
 */
SEC("?uprobe")
int mark(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	__u64 now = bpf_ktime_get_ns(), value;
	__u32 index = 0, number = spec_index(ctx);
	struct sbt_spec *spec = bpf_map_lookup_elem(&specs, &number);
	struct sbt_thread *t;
	bool phase;

	if (!spec)
		return 0;
	if (spec->role == SBT_ROLE_MARK_LEAVE) {
		mark_leave(ctx, number, now);
		return 0;
	}
	t = thread_here(&index);
	if (!t)
		return 0;
	if (spec->role == SBT_ROLE_MARK_THREAD) {
		value = arg_fetch(ctx, number, index);
		if (value != ARG_UNREAD)
			t->own_index = value + 1;
		return 0;
	}
	if (spec->role == SBT_ROLE_MARK_ACCESS) {
		mark_access(ctx, number, t, index);
		return 0;
	}
	/* Detached probes record no more arrivals. Departures were handled above. */
	if (is_detached(t, spec))
		return 0;
	phase = spec->role == SBT_ROLE_MARK_PHASE;
	value = phase ? arg_fetch(ctx, number, what) : arg_or(ctx, number, object, 0);
	if (value == ARG_UNREAD)
		return 0;
	if (phase && value) {
		if (!mark_outside(ctx, t, index))
			mark_write(t, index, label_of(ctx, number, t), value, 0);
		return 0;
	}
	/* SBT_PHASE (kind 0) is recorded as a barrier of one thread: its object is the thread. */
	if (!mark_arrive(ctx, t, index, spec, number, phase ? 1ULL << 63 | t->tid : value))
		return 0;
	if (phase) {
		t->words = 1;
		crossing_write(index, t->tid, t->arrive_ns, 0);
	}
	return 0;
}
