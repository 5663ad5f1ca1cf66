// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Handle parallel regions. The thread that begins a region calls a function of the OpenMP runtime
 * (programs region_*), and all threads of the team run the outlined function (programs outlined_*).
 * A thread that enters the function is a member of the team, and a thread that leaves it has
 * arrived at the join. The departure from the join is seen only for the thread that began the
 * region. Workers count as inside until they enter the next region.
 */
#include "probe.h"
#include "team.h"
#include "turn.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* in crossing.bpf.c */
extern int thread_admit(__u32 tgid, __u32 tid);

enum { BY_SESSION, BY_EXIT, BY_CALLER };

/* The data that each program in this file looks up when a probe is hit. */
struct here {
	struct sbt_thread *t;
	struct sbt_teams *own_teams;
	struct sbt_spec *spec;
	__u64 sp;
	__u32 tgid, tid;
	__u32 index;
	__u32 number; /* number of `spec` */
};

static __always_inline bool here_find(struct here *h, struct pt_regs *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();

	h->tid = (__u32)id;
	h->tgid = id >> 32;
	h->sp = PT_REGS_SP(ctx);
	h->t = thread_find(h->tid, &h->index);
	if (!h->t)
		return false;
	h->own_teams = bpf_map_lookup_elem(&teams, &h->index);
	return h->own_teams != NULL;
}

/* Like here_find(), for the entry of a function, where the thread may be new. */
static __always_inline bool here_enter(struct here *h, struct pt_regs *ctx)
{
	int slot;

	if (armed != ARMED_ALL)
		return false;
	if (!here_find(h, ctx) || h->t->tgid != h->tgid || !h->t->inc) {
		slot = thread_admit(h->tgid, h->tid);
		if (!slot || !here_find(h, ctx))
			return false;
	}
	if (h->t->proc_flags & SBT_PROC_EXCLUDED)
		return false;
	if (h->own_teams->tid != h->tid) {
		__builtin_memset(h->own_teams, 0, sizeof(*h->own_teams));
		h->own_teams->tid = h->tid;
	}
	h->number = spec_index(ctx);
	h->spec = bpf_map_lookup_elem(&specs, &h->number);
	/*
	 * An outlined function is traced even where its end cannot be seen, because its entry shows
	 * the members of a team.
	 */
	return h->spec && !is_detached(h->t, h->spec) &&
	       (h->spec->role == SBT_ROLE_OUTLINED ||
		!((h->t->proc_flags & SBT_PROC_BY_EXIT) && (h->spec->flags & SBT_SPEC_NO_EXITS)));
}

/*
 * Return the value that a program returns at the entry of a function: 0 if the return probe is to
 * see the function's end, else 1.
 */
static __always_inline int here_end(const struct here *h)
{
	return h->t->proc_flags & SBT_PROC_BY_EXIT ? 1 : 0;
}

/*
 * Drop the regions that the thread has left by longjmp(): their stack pointers are not above @sp.
 */
static __always_inline void teams_trim(struct sbt_teams *own_teams, __u64 sp)
{
	__u32 i;

	for (i = 0; i < SBT_TEAM_DEPTH; i++) {
		struct sbt_team *top = team_top(own_teams);
		__u64 at;

		if (!top)
			return;
		at = top->region_sp ? top->region_sp : top->outlined_sp;
		if (at > sp)
			return;
		own_teams->depth--;
	}
}

/*
 * Record that a worker that waited at the end of a region continues in the next region. @begun_ns:
 * when that region was begun; 0: not known.
 */
static __noinline int team_resume(struct sbt_thread *t, struct sbt_teams *own_teams, __u32 index,
				  __u64 begun_ns)
{
	__u64 now = bpf_ktime_get_ns();

	if (!t || !own_teams)
		return 0;
	own_teams->flags &= ~SBT_TEAMS_JOINED;
	t->team = TEAM_RESUME;
	t->flags = 0;
	t->object = begun_ns;
	t->arrive_ns = now;
	crossing_write(index, t->tid, now, now);
	t->team = TEAM_NONE;
	return 0;
}

/*
 * Begin the wait of a thread that has begun a region: until it runs the region's function, it waits
 * for its workers. The wait is stored in t->turn, which is free: a thread cannot wait for a turn at
 * that time. The BPF programs call this function directly, to save stack: Linux before 6.13 adds up
 * the stacks of all calls.
 */
static __noinline int team_await_begin(void)
{
	__u32 index = 0;
	struct sbt_thread *t = thread_find((__u32)bpf_get_current_pid_tgid(), &index);
	struct sbt_teams *own_teams = t ? teams_of(index, t->tid) : NULL;
	struct sbt_team *top = own_teams ? team_top(own_teams) : NULL;
	struct sbt_account *a;

	/*
	 * Begin no wait in the first region: there the thread creates the workers, and this counts
	 * as its own work.
	 */
	if (!top || !top->region_sp || top->outlined_sp || own_teams->begun < 2 || t->arrive_ns ||
	    t->turn.sp)
		return 0;
	a = account_at(index, t->tid);
	if (!a)
		return 0;
	turn_wait_begin(t, a, SBT_TURN_REGION);
	return 0;
}

/* End the wait for the team. */
static __noinline int team_await_end(void)
{
	__u32 index = 0;
	struct sbt_thread *t = thread_find((__u32)bpf_get_current_pid_tgid(), &index);
	struct sbt_account *a;

	if (!t || t->turn.sp != SBT_TURN_REGION)
		return 0;
	t->turn.sp = 0;
	a = account_at(index, t->tid);
	if (!a)
		return 0;
	turn_wait_end(t, a, &a->begin_ns);
	return 0;
}

/* --- the thread that begins a region ---------------------------------------------------------- */

/*
 * Return whether the function is in the program file and got a probe when another process ran it.
 * Probes are attached to the file, so all processes of the program have this probe.
 */
static __always_inline bool outlined_in_program(struct task_struct *task, __u64 fn)
{
	struct sbt_outlined key = {};
	struct sbt_file program = {};
	__u32 *known;

	program_key(task, &program);
	key.fn = SBT_OUTLINED_PROGRAM(program.dev, program.ino,
				      fn - BPF_CORE_READ(task, mm, start_code));
	known = bpf_map_lookup_elem(&outlined, &key);
	return known && *known;
}

/*
 * Ask user space, once, for a probe on a region's function. Return whether the probe already
 * exists.
 */
static __noinline int outlined_known(struct pt_regs *ctx, const struct here *h, __u64 fn)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct sbt_outlined key = { .fn = fn };
	__u32 *known, asked = 0;
	struct sbt_proc *p;
	struct sbt_event *e;

	if (!ctx || !h)
		return 0;
	key.tgid = h->tgid;
	known = bpf_map_lookup_elem(&outlined, &key);
	if (known) {
		if (*known > SBT_OUTLINED_KNOWN)
			*known &= SBT_OUTLINED_KNOWN;
		return *known;
	}
	if (!config.system && outlined_in_program(task, fn))
		asked = SBT_OUTLINED_KNOWN;
	if (bpf_map_update_elem(&outlined, &key, &asked, BPF_NOEXIST))
		return 0;
	if (asked)
		return asked;
	p = bpf_map_lookup_elem(&procs, &key.tgid);
	e = event_new(SBT_REC_OUTLINED, bpf_ktime_get_ns());
	if (!e)
		return 0;
	event_task(e, h->tgid, h->tid, p ? p->inc : 0);
	e->family = h->spec->family;
	e->function = fn;
#if defined(__TARGET_ARCH_arm64)
	e->return_ip = PT_REGS_RET(ctx);
#else
	bpf_probe_read_user(&e->return_ip, sizeof(e->return_ip), (void *)PT_REGS_SP(ctx));
#endif
	if (config.hold && may_hold(task) && bpf_send_signal(SIGSTOP) == 0)
		e->flags = SBT_EVENT_HELD;
	asked = e->flags & SBT_EVENT_HELD;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	/* If the process was stopped, it continues only when the probe exists. */
	return asked != 0;
}

/*
 * Begin a region. @seen: the region's function has a probe. Return SBT_TEAM_AMBIGUOUS if another
 * region has the same key, else 0.
 */
static __noinline int region_begin(struct sbt_region_key *key, __u64 object, __u32 seen,
				   __u32 number)
{
	struct sbt_region fresh = {
		.object = object, .begun_ns = bpf_ktime_get_ns(), .masters = 1, .number = number
	};
	struct sbt_region *r;

	if (!key)
		return 0;
	if (seen)
		fresh.flags = SBT_REGION_SEEN;
	r = bpf_map_lookup_elem(&regions, key);
	/*
	 * A region with the same key and the same object was begun by this thread, which never
	 * ended it. That region is over and is replaced. Any other running region with this key
	 * makes the key ambiguous.
	 */
	if (r && r->masters && (r->object != object || (r->flags & SBT_REGION_AMBIGUOUS))) {
		__sync_fetch_and_add(&r->masters, 1);
		r->flags |= SBT_REGION_AMBIGUOUS;
		return SBT_TEAM_AMBIGUOUS;
	}
	bpf_map_update_elem(&regions, key, &fresh, BPF_ANY);
	return 0;
}

/*
 * Note that the thread begins a region. Return 0 if the return probe is to see the region's end,
 * else 1.
 */
static __noinline int region_enter_at(struct pt_regs *ctx)
{
	struct sbt_region_key key = {}, unknown = {};
	struct sbt_team *top;
	__u64 n = 1, fn;
	struct here h = {};
	__u32 level, seen;

	if (!ctx || !here_enter(&h, ctx))
		return 1;
	teams_trim(h.own_teams, h.sp);
	if (h.own_teams->flags & SBT_TEAMS_JOINED)
		team_resume(h.t, h.own_teams, h.index, 0);
	level = h.own_teams->depth;
	if (level >= SBT_TEAM_DEPTH) {
		count(lost_team, bpf_get_smp_processor_id());
		return 1;
	}
	top = &h.own_teams->stack[level & (SBT_TEAM_DEPTH - 1)];
	__builtin_memset(top, 0, sizeof(*top));
	top->region_sp = h.sp;
	top->family = h.spec->family;
	fn = arg_or(ctx, h.number, object, 0);
	if (!fn)
		return 1;
	key.fn = fn;
	key.tgid = h.tgid;
	if (h.spec->index.how != SBT_ARG_NONE)
		n = arg_or(ctx, h.number, index, 0);
	if (n)
		key.data = arg_or(ctx, h.number, words, 0);
	seen = outlined_known(ctx, &h, fn);
	unknown.tgid = h.tgid;
	if (!seen) {
		struct sbt_region some = {};

		bpf_map_update_elem(&regions, &unknown, &some, BPF_NOEXIST);
		top->flags = SBT_TEAM_UNSEEN;
	} else if (!level && !(h.own_teams->flags & SBT_TEAMS_SEEN)) {
		bpf_map_delete_elem(&regions, &unknown);
	}
	h.own_teams->flags |= SBT_TEAMS_SEEN;
	top->object = SBT_TEAM_OBJECT(h.tid, level);
	top->fn = fn;
	top->data = key.data;
	top->index = 1;
	h.own_teams->begun += h.own_teams->begun == 0xffff ? 2 : 1;
	top->number = h.own_teams->begun;
	top->flags |= region_begin(&key, top->object, seen, top->number);
	h.own_teams->depth = level + 1;
	return here_end(&h);
}

/* End the region for the thread that began it. This is the thread's departure from the join. */
static __noinline int region_leave_at(struct pt_regs *ctx, int by)
{
	__u64 now = bpf_ktime_get_ns();
	struct sbt_region_key key = {};
	struct sbt_region *r;
	struct sbt_team *top;
	struct here h = {};

	if (!ctx || !armed || !here_find(&h, ctx) || h.own_teams->tid != h.tid)
		return 0;
	if (by == BY_EXIT && !(h.t->proc_flags & SBT_PROC_BY_EXIT))
		return 0;
	top = team_top(h.own_teams);
	if (by != BY_EXIT)
		h.sp -= RETURN_POPS;
	if (!top || top->region_sp != h.sp)
		return 0;
	h.own_teams->depth--;
	key.fn = top->fn;
	key.data = top->data;
	key.tgid = h.tgid;
	r = top->fn ? bpf_map_lookup_elem(&regions, &key) : NULL;
	if (h.t->arrive_ns && h.t->team == TEAM_JOIN) {
		h.t->words = r && r->flags & SBT_REGION_SEEN ? r->members : 0;
		if (r && r->flags & SBT_REGION_AMBIGUOUS)
			count(lost_team, bpf_get_smp_processor_id());
		if (h.t->words > 1 && !(r && r->flags & SBT_REGION_AMBIGUOUS))
			crossing_write(h.index, h.tid, now, now);
		else
			crossing_drop(h.t, h.index, now);
		h.t->team = TEAM_NONE;
	}
	if (!r)
		return 0;
	/* Read the value separately, because on Linux 5.10 atomics return no value. */
	__sync_fetch_and_add(&r->masters, -1);
	if (*(volatile __u32 *)&r->masters == 0)
		bpf_map_delete_elem(&regions, &key);
	return 0;
}

/* --- tasks ------------------------------------------------------------------------------------ */

/*
 * Report that the process has tasks, after which the probe that was hit is no longer needed. Return
 * 0 if the report was sent.
 */
static __noinline int report_tasks(struct pt_regs *ctx, struct sbt_proc *p)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct sbt_event *e;

	tasks_made = 1;
	if (!ctx || !p)
		return 1;
	e = event_new(SBT_REC_TASKS, bpf_ktime_get_ns());
	if (!e)
		return 1;
	event_task(e, id >> 32, (__u32)id, p->inc);
	e->probe = PT_REGS_IP(ctx);
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/*
 * Note that an outlined function was entered without a region: it belongs to a task, which GCC
 * names in the same way, or the beginning of its region was not seen.
 */
static __noinline int outlined_alone(struct pt_regs *ctx, __u64 fn)
{
	struct sbt_outlined key = { .fn = fn };
	__u32 *known;
	struct sbt_proc *p;

	if (!ctx)
		return 0;
	key.tgid = bpf_get_current_pid_tgid() >> 32;
	known = bpf_map_lookup_elem(&outlined, &key);
	if (!known)
		return 0;
	p = bpf_map_lookup_elem(&procs, &key.tgid);
	/*
	 * If the process is known to have tasks, this was a task, which hits the probes at its
	 * beginning and at its end: two useless hits.
	 */
	if (p && p->tasks_inc == p->inc)
		__sync_fetch_and_add(&p->looks, 2);
	/*
	 * This is not atomic, so two entries at the same time may be counted only once. This is
	 * harmless.
	 */
	*known += SBT_OUTLINED_ALONE;
	/*
	 * Report after SBT_OUTLINED_ALONE_MAX entries, and again after each further
	 * SBT_OUTLINED_ALONE_MAX, as long as the probe is attached.
	 */
	if (*known / SBT_OUTLINED_ALONE % SBT_OUTLINED_ALONE_MAX)
		return 0;
	return report_tasks(ctx, p);
}

SEC("?uprobe")
int task_made(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct sbt_proc *p = bpf_map_lookup_elem(&procs, &tgid);

	if (armed != ARMED_ALL || !p)
		return 0;
	/*
	 * After the report, it takes a while until the probe is removed, and many tasks may hit the
	 * probe meanwhile.
	 */
	__sync_fetch_and_add(&p->looks, 1);
	if (p->tasks_inc == p->inc)
		return 0;
	p->tasks_inc = p->inc;
	if (report_tasks(ctx, p))
		p->tasks_inc = 0;
	return 0;
}

/* --- threads that run the outlined function --------------------------------------------------- */

static __always_inline __u32 team_index_of(struct pt_regs *ctx, const struct here *h)
{
	__u64 team_index;

	if (h->spec->index.how == SBT_ARG_NONE)
		return 0;
	team_index = arg_fetch(ctx, h->number, index);
	return team_index < 0xffff ? team_index + 1 : 0;
}

/* Return when the region at @r was begun; 0: not known, or the region is ambiguous. */
static __always_inline __u64 region_begun_ns(const struct sbt_region *r)
{
	return r && !(r->flags & SBT_REGION_AMBIGUOUS) ? r->begun_ns : 0;
}

static __noinline int outlined_enter_at(struct pt_regs *ctx)
{
	struct sbt_region_key key = {};
	struct here h = {};
	struct sbt_region *r;
	struct sbt_team *top;
	__u32 level, team_index;
	bool alone;

	if (!ctx || !here_enter(&h, ctx))
		return 1;
	key.fn = PT_REGS_IP(ctx) - h.spec->words.disp;
	key.tgid = h.tgid;
	teams_trim(h.own_teams, h.sp);
	team_index = team_index_of(ctx, &h);
	top = team_top(h.own_teams);
	if (top && top->region_sp && !top->outlined_sp && top->fn == key.fn) {
		/* The thread itself began the region. */
		top->outlined_sp = h.sp;
		key.data = top->data;
		r = bpf_map_lookup_elem(&regions, &key);
		if (r)
			__sync_fetch_and_add(&r->members, 1);
		return here_end(&h);
	}
	key.data = arg_or(ctx, h.number, object, 0);
	r = bpf_map_lookup_elem(&regions, &key);
	if (!r && h.spec->family == SBT_FAMILY_LIBOMP) {
		/* Perhaps this is a region without an argument. */
		key.data = 0;
		r = bpf_map_lookup_elem(&regions, &key);
	}
	level = h.own_teams->depth;
	/*
	 * Without a known region, this is a task, or a region that began before tracing, or a
	 * region that one thread runs alone because of an if clause.
	 */
	alone = !r || (top && top->fn == key.fn && top->data == key.data);
	/*
	 * GCC begins every region by a call of its runtime, so this is not a region of one thread.
	 * A task contains no barrier.
	 */
	if (alone && h.spec->family == SBT_FAMILY_GOMP) {
		outlined_alone(ctx, key.fn);
		return 1;
	}
	if (alone && !level)
		return 1;
	if (h.own_teams->flags & SBT_TEAMS_JOINED)
		team_resume(h.t, h.own_teams, h.index, region_begun_ns(alone ? NULL : r));
	if (!alone) {
		__sync_fetch_and_add(&r->members, 1);
		h.own_teams->flags |= SBT_TEAMS_SEEN;
	}
	if (level >= SBT_TEAM_DEPTH) {
		count(lost_team, bpf_get_smp_processor_id());
		return 1;
	}
	top = &h.own_teams->stack[level & (SBT_TEAM_DEPTH - 1)];
	__builtin_memset(top, 0, sizeof(*top));
	top->outlined_sp = h.sp;
	h.own_teams->depth = level + 1;
	if (alone) {
		top->flags = SBT_TEAM_ALONE;
		return here_end(&h);
	}
	top->object = r->object;
	top->fn = key.fn;
	top->data = key.data;
	top->index = team_index;
	top->family = h.spec->family;
	top->number = r->number;
	if (r->flags & SBT_REGION_AMBIGUOUS)
		top->flags |= SBT_TEAM_AMBIGUOUS;
	if (!(r->flags & SBT_REGION_SEEN))
		top->flags |= SBT_TEAM_UNSEEN;
	return here_end(&h);
}

/* Note the arrival at the join. */
static __always_inline void join_arrive(struct here *h, const struct sbt_team *top)
{
	struct sbt_thread *t = h->t;

	if (t->arrive_ns)
		crossing_write(h->index, h->tid, 0, bpf_ktime_get_ns());
	t->object = top->object;
	t->ip = top->fn + 1; /* stands for the function itself, which has the line of the pragma */
	t->entry = 0;
	t->sp = top->region_sp;
	t->words = 0;
	t->words_object = 0;
	t->family = top->family;
	t->kind = SBT_KIND_JOIN;
	t->spec = 0;
	t->index = top->index ? top->index : t->own_index;
	t->round = (__u32)top->number << 16 | SBT_ROUND_JOIN;
	t->marked = 0;
	t->team = TEAM_JOIN;
	t->flags = (top->region_sp ? 0 : SBT_CROSSING_NO_DEPART) | SBT_CROSSING_ROUND;
	t->arrive_cpu = bpf_get_smp_processor_id();
	team_note(t, h->index);
	t->arrive_ns = crossing_arrive(h->index, h->tid);
}

static __noinline int outlined_leave_at(struct pt_regs *ctx, int by)
{
	struct sbt_region_key key = {};
	struct sbt_region *r;
	struct sbt_team *top;
	struct here h = {};

	if (!ctx || !armed || !here_find(&h, ctx))
		return 0;
	if ((by == BY_EXIT || by == BY_CALLER) && !(h.t->proc_flags & SBT_PROC_BY_EXIT))
		return 0;
	if (h.own_teams->tid != h.tid)
		return 0;
	top = team_top(h.own_teams);
	if (by != BY_EXIT)
		h.sp -= RETURN_POPS;
	if (!top || top->outlined_sp != h.sp)
		return 0;
	/* The exit of this function was seen already: the thread has arrived at this join. */
	if (top->region_sp && h.t->arrive_ns && h.t->team == TEAM_JOIN && h.t->sp == top->region_sp)
		return 0;
	if (!top->region_sp)
		h.own_teams->depth--;
	if (!top->object || (top->flags & (SBT_TEAM_UNSEEN | SBT_TEAM_AMBIGUOUS)))
		return 0;
	key.fn = top->fn;
	key.data = top->data;
	key.tgid = h.tgid;
	r = bpf_map_lookup_elem(&regions, &key);
	if (!r || (r->flags & SBT_REGION_AMBIGUOUS)) {
		count(lost_team, bpf_get_smp_processor_id());
		return 0;
	}
	join_arrive(&h, top);
	if (top->region_sp)
		return 0;
	crossing_write(h.index, h.tid, 0, bpf_ktime_get_ns());
	h.t->flags = 0;
	h.t->team = TEAM_NONE;
	h.own_teams->flags |= SBT_TEAMS_JOINED;
	return 0;
}

/* --- programs --------------------------------------------------------------------------------- */

SEC("?uprobe")
int region_session(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_session);
	int skip;

	if (session_is_return(ctx))
		return region_leave_at(ctx, BY_SESSION);
	skip = region_enter_at(ctx);
	if (config.account)
		team_await_begin();
	return skip;
}

SEC("?uprobe")
int region_enter(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	region_enter_at(ctx);
	if (config.account)
		team_await_begin();
	return 0;
}

SEC("?uprobe")
int region_exit(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	return region_leave_at(ctx, BY_EXIT);
}

SEC("?uprobe")
int outlined_session(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_session);
	if (session_is_return(ctx))
		return outlined_leave_at(ctx, BY_SESSION);
	if (config.account)
		team_await_end();
	return outlined_enter_at(ctx);
}

SEC("?uprobe")
int outlined_enter(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	if (config.account)
		team_await_end();
	outlined_enter_at(ctx);
	return 0;
}

SEC("?uprobe")
int outlined_exit(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	return outlined_leave_at(ctx, BY_EXIT);
}

/* Attached to the return address of the call of the outlined function. */
SEC("?uprobe")
int outlined_returned(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	return outlined_leave_at(ctx, BY_CALLER);
}
