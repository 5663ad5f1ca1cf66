// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Handle the scheduler's events for traced threads: a thread gets a CPU, becomes ready and waits
 * for a CPU, or blocks. Events of other threads cost one look-up in `marks`. If an event is missed,
 * the time that it would have explained stays unattributed.
 */
#include <linux/bpf_perf_event.h>

#include "join.h"
#include "offs.h"
#include "python.h"
#include "waker.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Indexed by a CPU's number modulo SBT_WATCHED: 1 if traced threads may wait for a CPU with this
 * index. A switch on any other CPU costs only this look-up.
 */
#define SBT_WATCHED 512
static __u8 watched[SBT_WATCHED];

/* --- the scheduler's events ------------------------------------------------------------------- */

#define QUOTA_NONE   (~0ULL)
#define GROUP_LEVELS 4

/*
 * Return the task's present or last run queue; NULL: this kernel does not show it. Call this
 * function once in a program, as soon as it is certain that the program needs the queue. For each
 * read of a pointer from one of the program's own arguments, the verifier searches all types of the
 * kernel four times.
 */
static __always_inline struct cfs_rq *queue_of(struct task_struct *task)
{
	struct cfs_rq *queue = NULL;

	if (bpf_core_field_exists(task->se.cfs_rq))
		queue = task->se.cfs_rq;
	barrier_var(queue); /* this compiler barrier must be here, not where `queue` is used */
	return queue;
}

/*
 * Return how long (ns) the cgroup of a queue, and a few levels of cgroups above it, have been
 * throttled so far.
 */
static __always_inline __u64 throttled_time(struct cfs_rq *queue)
{
	struct task_group *group = NULL;
	__u64 sum = 0;
	int i;

	if (!bpf_core_field_exists(queue->tg) || !bpf_core_field_exists(group->cfs_bandwidth) ||
	    !queue)
		return 0;
	group = queue->tg;
	for (i = 0; i < GROUP_LEVELS; i++) {
		if (!group)
			break;
		if (group->cfs_bandwidth.quota != QUOTA_NONE)
			sum += group->cfs_bandwidth.throttled_time;
		group = group->parent;
	}
	return sum;
}

/* Note that the thread begins to wait for a CPU, or for its cgroup's CPU quota to be renewed. */
static __always_inline void wait_begin(struct sbt_account *a, struct cfs_rq *queue, __u32 cpu,
				       __u64 now)
{
	a->state = ACCOUNT_RUNNABLE;
	a->since_ns = now;
	a->wait_cpu = cpu;
	a->throttled_mark = throttled_time(queue);
	a->was_throttled = 0;
	if (bpf_core_field_exists(queue->throttle_count) && queue)
		a->was_throttled = queue->throttle_count > 0;
}

/*
 * Begin to note which threads run on @cpu. The first is @runs (NULL: the thread to which the CPU
 * switches next).
 */
static __always_inline void occupancy_watch(__u32 cpu, struct task_struct *runs, __u64 now)
{
	struct sbt_occupancy *t = bpf_map_lookup_elem(&cpu_turns, &cpu);

	if (!t)
		return;
	t->left = SBT_OCCUPANTS;
	if (runs)
		occupancy_push(t, runs->pid, now);
	watched[cpu & (SBT_WATCHED - 1)] = 1;
}

/* Note a switch on a CPU that a thread waits for, or waited for a moment ago. */
static __noinline int occupancy_switch(__u32 cpu, struct task_struct *next, __u64 now)
{
	struct sbt_occupancy *t = bpf_map_lookup_elem(&cpu_turns, &cpu);

	if (!t)
		return 0;
	if (!t->left) {
		watched[cpu & (SBT_WATCHED - 1)] = 0;
		occupancy_push(t, 0, now);
		return 0;
	}
	t->left--;
	occupancy_push(t, next->pid, now);
	name_task(next, now);
	return 0;
}

/*
 * Return the CPU for which a woken thread will wait: usually the CPU on which it ran last. Note the
 * task that is running there.
 */
static __always_inline __u32 woken_to(struct sbt_account *a, struct cfs_rq *queue, __u64 now)
{
	struct task_struct *current;
	struct rq *rq;
	__u32 cpu;

	a->out_ran = 0;
	if (!queue)
		return ACCOUNT_NO_CPU;
	rq = queue->rq;
	cpu = rq->cpu;
	current = rq->curr;
	if (!current || !current->pid)
		return cpu;
	a->out_ran = current->pid;
	name_task(current, now);
	occupancy_watch(cpu, current, now);
	return cpu;
}

/* A task has waited for @ns. Return for how much of that time its cgroup was throttled. */
static __always_inline __u64 throttled_of(const struct sbt_account *a, struct cfs_rq *queue,
					  __u64 ns)
{
	__u64 throttled = 0;

	if (a->throttled_mark != THROTTLED_UNKNOWN)
		throttled = throttled_time(queue) - a->throttled_mark;
	/* A negative difference: the task has moved to another cgroup since its wait began. */
	if ((__s64)throttled < 0)
		throttled = 0;
	/*
	 * The kernel counts no throttled time if the task was preempted because its cgroup's quota
	 * was used up. In that case, count the whole wait.
	 */
	if (!throttled && a->was_throttled)
		throttled = ns;
	return throttled < ns ? throttled : ns;
}

static __always_inline bool wants_cpu(struct task_struct *task, bool preempt)
{
	long state;

	if (preempt)
		return true;
	state = task_state(task);
	return state == TASK_RUNNING || state == TASK_WAKING;
}

static __always_inline void fault_stop(struct sbt_account *a, __u64 now)
{
	__u64 from = a->fault_since_ns > a->since_ns ? a->fault_since_ns : a->since_ns;

	if (now > from)
		a->fault_ns += now - from;
}

/*
 * Handle a thread that leaves its CPU during a page fault. If the thread is no longer at the
 * location of the fault, the fault is over: it has failed, and its time is not counted as fault
 * time.
 */
static __noinline int fault_out(struct sbt_account *a, struct task_struct *prev, __u64 now)
{
	struct pt_regs___kernel *regs;

	if (!a || !prev)
		return 0;
	regs = user_regs(prev);
	if (regs && user_place(regs) != a->fault_place)
		a->fault_since_ns = 0;
	else
		fault_stop(a, now);
	return 0;
}

/*
 * Handle a thread that leaves a CPU although no event showed that it had got one: sometimes no
 * event is delivered for a switch. The kernel knows how long the thread ran since it was switched
 * out. For the remaining time it was in the state that its account shows.
 */
static __noinline int missed_in(struct sbt_account *a, __u32 index, struct task_struct *prev,
				__u64 now)
{
	__u64 all, ran, from;
	__u32 what;

	if (!a || !prev)
		return 0;
	all = now - a->since_ns;
	a->missed = 1;
	from = running_since(a, prev, now);
	if (from) {
		ran = now - from;
	} else if (a->exec_ns) {
		ran = prev->se.sum_exec_runtime - a->exec_ns;
		ran = ran < all ? ran : all;
	} else {
		ran = all = 0;
	}
	what = a->state == ACCOUNT_BLOCKED ? SBT_TIME_BLOCKED + a->reason : SBT_TIME_RUNQ;
	times_add(a->times, what, all - ran);
	if (from && offs_maybe_inside(a))
		offs_in(index, a->tid, from);
	else if (!from)
		a->unsure = 1;
	a->times[SBT_TIME_ONCPU] += ran;
	return 0;
}

/* Apart from missed_out(), because the functions that missed_out() calls need its stack. */
static __noinline int missed_reason(struct sbt_account *a, struct task_struct *next, __u64 now)
{
	struct user_call call = {};

	if (a && next && !a->inside)
		block_reason(a, next, &call, now);
	return 0;
}

/*
 * Handle a thread that gets a CPU although no event showed that it had lost one. If an event showed
 * that it was woken, it had blocked; otherwise it was preempted. Its registers show what it waited
 * for; its memory cannot be read from here.
 */
static __noinline int missed_out(struct sbt_account *a, __u32 index, struct task_struct *next,
				 __u64 now)
{
	__u64 out, upto;

	if (!a)
		return 0;
	a->missed = a->unsure = 1;
	if (!next || !a->exec_ns)
		return 0;
	out = a->since_ns + (next->se.sum_exec_runtime - a->exec_ns);
	upto = a->run_ns + a->away_ns;
	if (out > now)
		out = now;
	if (out < upto)
		out = upto;
	account_run(a, out - a->away_ns);
	a->since_ns = out;
	if (a->woken_ns > out) {
		missed_reason(a, next, now);
		block_end(index, a->woken_ns, 0);
		a->since_ns = a->woken_ns;
	}
	a->times[SBT_TIME_RUNQ] += now - a->since_ns;
	return 0;
}

/*
 * Return whether the thread begins a rest, because it switches very often. During the rest, until
 * rest_ns, the thread is not accounted for. Inside a barrier a thread never rests.
 */
static __noinline bool rest_begin(struct sbt_account *a, __u64 now)
{
	if (!a)
		return false;
	if (now - a->recent_from_ns >= SBT_REST_NS) {
		a->recent_from_ns = now;
		a->recent_switches = 0;
	}
	if (++a->recent_switches < SBT_REST_SWITCHES || a->inside || config.ncounters)
		return false;
	a->state = ACCOUNT_RESTING;
	a->rest_ns = a->recent_from_ns + SBT_REST_NS;
	/*
	 * Count one tick more, because the next tick may occur at any moment, and rest_clock() must
	 * not be ahead of the clock.
	 */
	a->ticks_from = now - (bpf_jiffies64() + 1) * config.tick_ns;
	a->off = 1;
	a->holder = 0;
	a->steal_at = 0; /* the thread may move to another CPU */
	count_add(rested_ns, bpf_get_smp_processor_id(), a->rest_ns - now);
	return true;
}

/*
 * Return the present time as the kernel's ticks show it: at most a few ms behind the clock, and
 * never ahead of it. For a resting thread, reading the clock would take longer than all other work.
 */
static __always_inline __u64 rest_clock(const struct sbt_account *a)
{
	return a->ticks_from + bpf_jiffies64() * config.tick_ns;
}

static __always_inline bool is_resting(const struct sbt_account *a)
{
	return a->state == ACCOUNT_RESTING && rest_clock(a) < a->rest_ns;
}

/*
 * Handle a thread that leaves a CPU after its rest has ended. The kernel's own data show since when
 * the thread had that CPU.
 */
static __noinline int rest_ran(struct sbt_account *a, struct task_struct *prev, __u64 now)
{
	__u64 from;

	if (!a || !prev || !a->clock_ns || !bpf_core_field_exists(prev->sched_info.last_arrival))
		return 0;
	from = prev->sched_info.last_arrival + a->clock_ns;
	if (from > a->since_ns && from < now)
		a->times[SBT_TIME_ONCPU] += now - from;
	return 0;
}

/* Handle a thread that is woken after its rest has ended. Its registers show what it waited for. */
static __noinline int rest_blocked(struct sbt_account *a, struct task_struct *task, __u64 now)
{
	struct user_call call = {};

	if (!a || !task || !a->off)
		return 0;
	block_reason(a, task, &call, now);
	a->tried_ns = 0;
	a->state = ACCOUNT_BLOCKED;
	return 0;
}

/* Note that a resting thread leaves its CPU, without accounting for the time. */
static __always_inline void rest_switch_out(struct sbt_account *a)
{
	__u64 now = rest_clock(a);

	a->switches++;
	a->off = 1;
	if (now > a->since_ns)
		a->since_ns = now;
}

/*
 * Return whether a switch from thread @out to thread @in need not be noted, because each of them
 * rests or is not traced.
 */
static __noinline int rest_switches(__u32 out, __u32 in)
{
	struct sbt_account *from, *to;
	__u32 index = 0;

	from = account_find(out, &index);
	if (from && !is_resting(from))
		return 0;
	to = account_find(in, &index);
	if (to) {
		if (!is_resting(to))
			return 0;
		to->off = 0;
	}
	if (from)
		rest_switch_out(from);
	return 1;
}

static __always_inline void switch_out(struct sbt_account *a, __u32 index, struct task_struct *prev,
				       struct task_struct *next, bool preempt, __u64 now)
{
	struct cfs_rq *queue = queue_of(prev);
	struct sbt_counting *c = counting_at(index);
	__u32 cpu;

	a->switches++;
	if (a->busy) {
		a->away_at_ns = now;
		if (c)
			counters_away(c, false);
		return;
	}
	if (a->state == ACCOUNT_RUNNABLE || a->state == ACCOUNT_BLOCKED)
		missed_in(a, index, prev, now);
	if (offs_maybe_inside(a))
		offs_look(a, index, prev, !wants_cpu(prev, preempt), now);
	if (a->state == ACCOUNT_RESTING)
		rest_ran(a, prev, now);
	if (a->state == ACCOUNT_RUNNING) {
		if (bpf_core_field_exists(prev->sched_info.last_arrival))
			a->clock_ns = a->since_ns - prev->sched_info.last_arrival;
		account_run(a, now - a->away_ns);
		if (a->fault_since_ns)
			fault_out(a, prev, now);
		if (!a->inside)
			steal_take(a);
	}
	if (offs_maybe_inside(a))
		offs_out(a, index, now);
	a->since_ns = now;
	a->exec_ns = prev->se.sum_exec_runtime;
	a->changed = 1;
	a->cpus_allowed = prev->nr_cpus_allowed > 0xffff ? 0xffff : prev->nr_cpus_allowed;
	if (c)
		counters_take(c, a, true);
	if (rest_begin(a, now))
		return;
	if (wants_cpu(prev, preempt)) {
		cpu = bpf_get_smp_processor_id();
		wait_begin(a, queue, cpu, now);
		occupancy_watch(cpu, NULL, now);
		a->out_ran = next->pid;
		return;
	}
	a->voluntary++;
	a->state = ACCOUNT_BLOCKED;
	a->out_ran = 0;
	if (a->inside)
		a->reason = SBT_BLOCKED_OTHER;
	else
		block_begin(a, prev, now);
}

static __always_inline void moved_to(struct sbt_account *a, __u32 cpu)
{
	if (cpu != a->cpu) {
		a->migrations += a->cpu != ACCOUNT_NO_CPU;
		a->cpu = cpu;
		a->steal_at = 0;
	}
}

/*
 * Handle a thread that gets a CPU again after it was preempted while a BPF program updated its
 * account.
 */
static __always_inline void preemption_over(struct sbt_account *a, struct sbt_counting *c,
					    __u32 cpu, __u64 now)
{
	__u64 away = now - a->away_at_ns;

	a->last_away_ns = a->away_at_ns;
	a->last_back_ns = now;
	a->away_at_ns = 0;
	a->away_ns += away;
	a->times[SBT_TIME_RUNQ] += away;
	a->changed = 1;
	moved_to(a, cpu);
	if (c)
		counters_away(c, true);
	a->away_seq++;
}

/* Return for how long (ns) the task that leaves the CPU had the CPU. */
static __always_inline __u64 stint_of(struct task_struct *task)
{
	return task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime;
}

/*
 * Find the tasks that had the CPU while the thread waited. If the log covers less than half of the
 * wait, take the task that leaves the CPU now. If that task had the CPU for less than half of the
 * wait, take the task that had the CPU when the wait began.
 */
static __always_inline void find_cpu_occupant(struct sbt_account *a, __u32 index,
					      struct task_struct *prev, __u32 before, __u64 now)
{
	__u64 ns = now - a->since_ns;
	__u32 ran = before;

	occupancy_sum(index, true, now);
	if (a->most.seen_ns < ns / 2) {
		if (a->out_ran && a->out_ran != a->tid && (!before || stint_of(prev) * 2 < ns))
			ran = a->out_ran;
		if (ran)
			runs_add(index, ran, ns - a->most.seen_ns);
		a->most.tid = ran;
		name_task(prev, now);
	}
	waited_longest(&a->for_cpu, a->most.tid, ns, now);
}

static __always_inline void switch_in(struct sbt_account *a, __u32 index, struct task_struct *prev,
				      __u32 before, struct task_struct *next, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 ns = now - a->since_ns, throttled = 0;
	struct cfs_rq *queue = queue_of(next);
	struct sbt_counting *c = counting_at(index);

	if (a->away_at_ns) {
		preemption_over(a, c, cpu, now);
		return;
	}
	if (a->state == ACCOUNT_RUNNABLE) {
		throttled = throttled_of(a, queue, ns);
		a->times[SBT_TIME_BLOCKED + SBT_BLOCKED_THROTTLED] += throttled;
		a->times[SBT_TIME_RUNQ] += ns - throttled;
		if (ns > throttled)
			find_cpu_occupant(a, index, prev, before, now);
	} else if (a->state == ACCOUNT_BLOCKED) {
		/*
		 * The wake-up came before the thread left its CPU, so the thread did not wait for a
		 * CPU.
		 */
		block_end(index, now, 0);
	} else if (a->state == ACCOUNT_RUNNING && !a->busy) {
		missed_out(a, index, next, now);
	}
	a->state = ACCOUNT_RUNNING;
	a->since_ns = now;
	a->woken_ns = 0;
	a->run_ns = now - a->away_ns;
	a->changed = 1;
	moved_to(a, cpu);
	if (!a->steal_at)
		a->steal_at = steal_at(next);
	a->steal_base = steal_time(a);
	if (offs_maybe_inside(a))
		offs_in(index, a->tid, now);
	if (c)
		counters_take(c, a, false);
}

/*
 * Whether to measure this run of the program: one run in SBT_TIMED_EACH, chosen by low bits of the
 * clock. Reading the clock twice costs a quarter of all other work here. For resting threads the
 * bits are from their CPU times, because the clock is not read for them.
 */
#define IS_TIMED(now) (!((now) >> 7 & (SBT_TIMED_EACH - 1)))
/* Do not count a longer time (ns). This program does not cause it: the host ran something else. */
#define TIMED_MAX_NS  50000

static __noinline int timed_add(__u64 began, __u32 ends)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 ns = bpf_ktime_get_ns() - began;

	if (ns > TIMED_MAX_NS)
		return 0;
	count_add(timed_ns, cpu, ns);
	count_add(timed, cpu, ends);
	return 0;
}

static __noinline int switch_timed(__u64 began, __u32 out, __u32 in)
{
	__u32 index = 0, ends = 0;

	if (account_find(out, &index))
		ends++;
	if (account_find(in, &index))
		ends++;
	return ends ? timed_add(began, ends) : 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 out = prev->pid, in = next->pid, index = 0, cpu = bpf_get_smp_processor_id();
	struct sbt_account *a;
	__u32 noted = 0;
	__u64 now = 0;

	if (!(marks[out & (SBT_MARKS - 1)] | marks[in & (SBT_MARKS - 1)] |
	      watched[cpu & (SBT_WATCHED - 1)]) ||
	    ended)
		return 0;
	if (!watched[cpu & (SBT_WATCHED - 1)]) {
		if (IS_TIMED(prev->se.sum_exec_runtime + next->se.sum_exec_runtime))
			now = bpf_ktime_get_ns();
		if (rest_switches(out, in)) {
			if (now)
				switch_timed(now, out, next->pid);
			return 0;
		}
	}
	now = bpf_ktime_get_ns();
	a = account_find(out, &index);
	if (a && is_resting(a)) {
		rest_switch_out(a);
	} else if (a) {
		switch_out(a, index, prev, next, preempt, now);
		noted = 1;
	}
	a = account_find(in, &index);
	if (a && is_resting(a)) {
		a->off = 0;
	} else if (a) {
		switch_in(a, index, prev, out, next, now);
		noted = 1;
	}
	if (watched[cpu & (SBT_WATCHED - 1)])
		occupancy_switch(cpu, next, now);
	if (noted)
		past_switched(out, next->pid);
	if (IS_TIMED(now))
		switch_timed(now, out, next->pid);
	return 0;
}

/*
 * If the futex at which the thread in slot @index waits is that of the GIL, note this, and the
 * holder of the GIL. Return whether it is.
 */
static __noinline int gil_wait_begin(struct sbt_account *a, struct sbt_thread *t, __u32 index)
{
	struct sbt_account *h;
	__u32 tid;

	if (!a || !t || !python_gil_wait(index, a->block_at.futex))
		return 0;
	a->reason = SBT_BLOCKED_GIL;
	a->waited = SBT_WAITED_UNKNOWN;
	a->block_at.gil = t->python.code;
	a->block_stack = t->python.label;
	tid = outer_tid(a, t->python.holder);
	h = account_find(tid, &index);
	if (h && h->tgid == a->tgid)
		times_now(h, a->since_ns, a->holder_times);
	else if (!t->python.native)
		tid = 0;
	a->holder = tid == a->tid ? 0 : tid;
	return 1;
}

/*
 * Find waits for the GIL, and the places of other waits. Attached while a Python program is traced,
 * after on_switch, which has noted a wait for the GIL as one for a lock. A program of its own,
 * because together they would need more stack than older kernels allow.
 */
SEC("?tp_btf/sched_switch")
int BPF_PROG(python_switch, bool preempt, struct task_struct *prev)
{
	struct sbt_account *a;
	struct sbt_thread *t;
	__u32 index = 0;

	if (!marks[prev->pid & (SBT_MARKS - 1)] || ended)
		return 0;
	a = account_find(prev->pid, &index);
	if (!a || a->state != ACCOUNT_BLOCKED || a->inside)
		return 0;
	t = bpf_map_lookup_elem(&threads, &index);
	if (!t || t->tid != a->tid || !python_of(t))
		return 0;
	if (a->reason == SBT_BLOCKED_LOCK && a->block_at.futex && gil_wait_begin(a, t, index))
		return 0;
	/* Note the Python function and line in which the thread waits. */
	if (python_wait_place(index))
		a->block_stack = t->python.label;
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct sbt_account *a;
	__u32 index = 0, waker;
	struct cfs_rq *queue;
	__u64 now = 0;

	if (!marks[task->pid & (SBT_MARKS - 1)] || ended)
		return 0;
	if (IS_TIMED(task->se.sum_exec_runtime))
		now = bpf_ktime_get_ns();
	a = account_find(task->pid, &index);
	if (!a)
		return 0;
	if (is_resting(a)) {
		if (now)
			timed_add(now, 0);
		return 0;
	}
	queue = queue_of(task);
	now = bpf_ktime_get_ns();
	if (a->state == ACCOUNT_RESTING)
		rest_blocked(a, task, now);
	if (a->state == ACCOUNT_RUNNING)
		a->woken_ns = now;
	if (a->state != ACCOUNT_BLOCKED)
		return 0;
	if (!config.discover && !a->inside && a->reason == SBT_BLOCKED_LOCK)
		join_ended(task, a->block_at.futex, a->since_ns, 0, now);
	if (offs_maybe_inside(a))
		offs_waking(index, a->tid, queue, now);
	waker = a->inside ? 0 : waker_of(ctx, a, task, now);
	waker_count(index, waker, now);
	block_end(index, now, waker);
	waker_activity(index, waker, now);
	wait_begin(a, queue, ACCOUNT_NO_CPU, now);
	past_note(index);
	a->wait_cpu = woken_to(a, queue, now);
	if (IS_TIMED(now))
		timed_add(now, 0);
	return 0;
}

/*
 * Handle a signal for which the current thread has a handler. If it may be inside a barrier, its
 * stack shows whether it is. If so, the handler runs inside the barrier, and the thread leaves the
 * barrier only afterwards: the time of its departure is not known.
 */
SEC("?tp_btf/signal_deliver")
int BPF_PROG(on_signal, int sig, void *info, struct k_sigaction *action)
{
	struct user_call call = {};
	struct pt_regs___kernel *regs;
	struct sbt_account *a;
	struct sbt_offs *o;
	__u32 index = 0;

	if (!marks[(__u32)bpf_get_current_pid_tgid() & (SBT_MARKS - 1)] || ended ||
	    action->sa.sa_handler == (void *)SIG_DFL || action->sa.sa_handler == (void *)SIG_IGN)
		return 0;
	a = account_find((__u32)bpf_get_current_pid_tgid(), &index);
	if (!a || !offs_maybe_inside(a))
		return 0;
	o = offs_at(index, a->tid);
	regs = own_regs();
	if (!o || !regs)
		return 0;
	user_call(regs, &call);
	if (!offs_returned(o, call.sp)) {
		a->unsure = 1;
		return 0;
	}
	a->inside = ACCOUNT_OUTSIDE;
	o->left_ns = bpf_ktime_get_ns();
	return 0;
}

/* --- page faults ------------------------------------------------------------------------------ */

/*
 * The kernel counts a fault when it begins (PERF_COUNT_SW_PAGE_FAULTS), and again, as a minor or
 * major one, when it has been handled. A counter with a sample period of 1 runs its program at both
 * moments. The kernel does not count a failed fault a second time: such a fault has ended when the
 * thread is at another location (fault_out).
 */
SEC("?perf_event")
int on_fault(struct bpf_perf_event_data *ctx)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), index = 0;
	struct sbt_account *a = account_find(tid, &index);
	struct pt_regs___kernel *regs;

	if (!a)
		return 0;
	regs = own_regs();
	a->faults_begun++;
	a->fault_addr = ctx->addr;
	a->fault_place = regs ? user_place(regs) : 0;
	a->fault_since_ns = bpf_ktime_get_ns();
	return 0;
}

static long mapping_name(struct task_struct *task, struct vm_area_struct *vma, void *ctx)
{
	struct sbt_file_name *name = ctx;
	struct file *file = BPF_CORE_READ(vma, vm_file);

	if (file) {
		name->mode = SBT_MAPPING_FILE;
		bpf_probe_read_kernel_str(name->name, sizeof(name->name),
					  BPF_CORE_READ(file, f_path.dentry, d_name.name));
	} else if (BPF_CORE_READ(vma, vm_start) <= BPF_CORE_READ(vma, vm_mm, brk) &&
		   BPF_CORE_READ(vma, vm_end) >= BPF_CORE_READ(vma, vm_mm, start_brk)) {
		name->mode = SBT_MAPPING_HEAP;
	} else {
		name->mode = SBT_MAPPING_ANON;
	}
	return 0;
}

/*
 * Note the name of the mapping at @addr. This is done during the fault, because programs that touch
 * fresh pages often unmap them soon.
 */
static __always_inline bool name_mapping(__u32 tgid, __u64 addr)
{
	__u64 key = SBT_MAPPING_KEY(tgid, addr);
	struct sbt_file_name name = {};

	if (bpf_find_vma(bpf_get_current_task_btf(), addr, mapping_name, &name, 0) || !name.mode)
		return false;
	bpf_map_update_elem(&mapping_names, &key, &name, BPF_ANY);
	return true;
}

/*
 * Look up the mapping once the faults of a phase add up to this time (ns). A look-up can take 8 us,
 * longer than ten faults, because the kernel releases the lock in an interrupt.
 */
#define FAULT_WORTH_NS 100000

static __always_inline bool faults_worth_name(const struct sbt_account *a)
{
	return a->fault_ns - a->mark.fault_ns >= FAULT_WORTH_NS;
}

/*
 * End the page fault under way. @name: note the name of the mapping, which needs Linux 5.17 or
 * later.
 */
static __always_inline int fault_done(bool name)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), index = 0;
	struct sbt_account *a = account_find(tid, &index);
	__u64 now, all;

	if (!a || !a->fault_since_ns || ended)
		return 0;
	now = bpf_ktime_get_ns();
	fault_stop(a, now);
	all = now - a->fault_since_ns;
	a->fault_since_ns = 0;
	a->faults++;
	a->changed = 1;
	if (a->inside || (all <= a->fault_max_ns && !a->fault_tries))
		return 0;
	if (all > a->fault_max_ns)
		a->fault_max_ns = all;
	if (!name) {
		a->fault_max_addr = a->fault_addr;
	} else if (!faults_worth_name(a)) {
		return 0;
	} else if (name_mapping(a->tgid, a->fault_addr)) {
		a->fault_max_addr = a->fault_addr;
		a->fault_tries = 0;
	} else if (a->fault_tries) {
		a->fault_tries--;
	}
	return 0;
}

SEC("?perf_event")
int on_fault_done(struct bpf_perf_event_data *ctx)
{
	return fault_done(true);
}

/*
 * For kernels without bpf_find_vma(): these kernels refuse a program with a callback, even if the
 * callback is never used.
 */
SEC("?perf_event")
int on_fault_done_nameless(struct bpf_perf_event_data *ctx)
{
	return fault_done(false);
}

/* --- threads that exist when tracing begins --------------------------------------------------- */

SEC("?iter/task")
int account_found(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct sbt_account *a;
	struct sbt_thread *t;
	struct sbt_proc *p;
	__u32 tid, tgid, index = 0;
	__u64 now;

	if (!task)
		return 0;
	tid = task->pid;
	tgid = task->tgid;
	p = bpf_map_lookup_elem(&procs, &tgid);
	if (!p || (proc_flags(p, tgid) & SBT_PROC_EXCLUDED) || thread_find(tid, &index))
		return 0;
	t = thread_claim(tid, tgid, &index);
	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	account_start(index, task, tid, tgid,
		      task->on_cpu	       ? ACCOUNT_RUNNING
		      : wants_cpu(task, false) ? ACCOUNT_RUNNABLE
					       : ACCOUNT_BLOCKED,
		      now, false);
	a = account_at(index, tid);
	if (!a)
		return 0;
	a->cpus_allowed = task->nr_cpus_allowed > 0xffff ? 0xffff : task->nr_cpus_allowed;
	a->reason = SBT_BLOCKED_OTHER;
	if (a->state == ACCOUNT_BLOCKED && user_regs(task)) {
		struct user_call call = {};

		user_call(user_regs(task), &call);
		a->reason = call.nr < 0 ? SBT_BLOCKED_OTHER : (__u8)reason_of_call(&call);
	}
	return 0;
}
