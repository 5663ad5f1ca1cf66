/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Account for the time of traced threads. The scheduler's events move each thread's account from
 * state to state (account.bpf.c). At a crossing, the functions here calculate how much each sum
 * grew since the last crossing. A thread that was not switched out and had no fault since its last
 * departure was on its CPU all the time. This common case costs one check, and its record carries
 * no parts.
 */
#ifndef BPF_ACCOUNT_H
#define BPF_ACCOUNT_H

#include "maps.h"

/*
 * Begin to keep the past (past.h) of the thread in slot @index, which has just been created. Only
 * account.bpf.c includes past.h, which defines this function.
 */
extern int past_begin(__u32 index);

/*
 * Number of attempts in a phase to look up the mapping of a page fault. A look-up fails if another
 * thread holds the lock of the mappings.
 */
#define FAULT_TRIES 16

static __always_inline struct sbt_account *account_at(__u32 index, __u32 tid)
{
	struct sbt_account *a = bpf_map_lookup_elem(&accounts, &index);

	return a && a->tid == tid ? a : NULL;
}

/*
 * Return whether a thread is inside a barrier. A thread that may be inside, and is on a CPU, is
 * taken to be outside: few barriers let their threads spin for long.
 */
static __always_inline bool is_inside_barrier(const struct sbt_account *a)
{
	return a->inside == ACCOUNT_INSIDE ||
	       (a->inside == ACCOUNT_MAYBE_INSIDE && a->state != ACCOUNT_RUNNING);
}

/*
 * Return what happened to the thread since its last arrival without a seen departure, or NULL if it
 * never arrived so.
 */
static __always_inline struct sbt_offs *offs_at(__u32 index, __u32 tid)
{
	struct sbt_offs *o = config.infer ? bpf_map_lookup_elem(&offs, &index) : NULL;

	return o && o->tid == tid ? o : NULL;
}

static __always_inline struct sbt_account *account_find(__u32 tid, __u32 *index)
{
	struct sbt_account *a;
	__u32 i, at;

	/* Thread number 0 belongs to idle tasks, and it also marks free slots. */
	if (!tid || !marks[tid & (SBT_MARKS - 1)])
		return NULL;
#pragma unroll
	for (i = 0; i < SBT_THREAD_PROBES; i++) {
		at = (tid + i * SBT_THREAD_STRIDE) & config.thread_mask;
		a = bpf_map_lookup_elem(&accounts, &at);
		if (a && a->tid == tid) {
			*index = at;
			return a;
		}
	}
	return NULL;
}

/* --- counters --------------------------------------------------------------------------------- */

static __always_inline __u32 counter_key(__u32 i)
{
	return i * config.nrings + bpf_get_smp_processor_id();
}

/* Return true for a software counter. It counts all the time, so its count is never scaled. */
static __always_inline bool counter_is_plain(__u32 i)
{
	return config.plain_counters >> i & 1;
}

/*
 * Return true if the account itself keeps this count (switches, faults), so that no counter is read
 * for it.
 */
static __always_inline bool counter_is_kept(__u32 i)
{
	return (config.switch_counters | config.fault_counters) >> i & 1;
}

/* Read counter @i of this CPU. Return whether that worked. */
static __always_inline bool counter_read(__u32 i, struct bpf_perf_event_value *v)
{
	if (counter_is_plain(i)) {
		/* This helper costs half as much as bpf_perf_event_read_value(). */
		v->counter = bpf_perf_event_read(&counter_events, counter_key(i));
		v->enabled = v->running = 0;
		/* The values from -4095 to -1 are error codes. */
		return (__s64)v->counter >= 0 || (__s64)v->counter <= -4096;
	}
	return !bpf_perf_event_read_value(&counter_events, counter_key(i), v, sizeof(*v));
}

/*
 * Do not unroll loops over counters: unrolled eight times, they would be the largest part of every
 * program. Where no counters are used, the kernel would have to remove all that code when it loads
 * the programs.
 */
#define NOT_UNROLLED _Pragma("clang loop unroll(disable)")

/*
 * Read counter @i for this thread alone: leave out what other threads counted while this thread was
 * away. Read again if the thread was switched out during the read.
 */
static __always_inline bool counter_own(const volatile struct sbt_account *a,
					const struct sbt_counting *c, __u32 i,
					struct bpf_perf_event_value *v)
{
	__u32 seq = a->away_seq;
	bool known = counter_read(i, v);
	__u64 away = c->away[i];

	if (a->away_seq != seq) {
		known = counter_read(i, v);
		away = c->away[i];
	}
	v->counter -= away;
	return known;
}

/* Return what counter @i has counted since the last arrival or departure. */
static __always_inline __u64 counter_so_far(struct sbt_counting *c, __u32 i)
{
	struct sbt_counted since = {
		.counter = c->sum[i].counter - c->mark[i].counter,
		.enabled = c->sum[i].enabled - c->mark[i].enabled,
		.running = c->sum[i].running - c->mark[i].running,
	};
	enum sbt_scaled how;
	__u64 value;

	if (counter_is_plain(i))
		return since.counter;
	value = sbt_count_scale(&since, &how);
	if (how == SBT_COUNT_SCALED)
		c->scaled |= 1 << i;
	else if (how == SBT_COUNT_UNKNOWN)
		c->unknown |= 1 << i;
	return value;
}

/* Do the same as counter_so_far(), and restart the count. Call this at an arrival or departure. */
static __always_inline __u64 counter_since(struct sbt_counting *c, __u32 i)
{
	__u64 value = counter_so_far(c, i);

	if (counter_is_plain(i))
		c->mark[i].counter = c->sum[i].counter;
	else
		c->mark[i] = c->sum[i];
	return value;
}

/*
 * Read how much this CPU's counters have counted since the last read. @charge: add this to the
 * thread's counts; false: only store the present counts, because the thread has just begun to run.
 */
static __always_inline void counters_take(struct sbt_counting *c, struct sbt_account *a,
					  bool charge)
{
	struct bpf_perf_event_value v;
	__u32 i, kept;

	if (a->missed) {
		a->missed = 0;
		c->unknown = (1 << config.ncounters) - 1;
		charge = false;
	}

	NOT_UNROLLED
	for (i = 0; i < SBT_COUNTERS_MAX; i++) {
		if (i >= config.ncounters)
			break;
		if (counter_is_kept(i)) {
			kept = config.switch_counters >> i & 1 ? a->switches : a->faults_begun;
			c->sum[i].counter += (__u32)(kept - (__u32)c->sum[i].counter);
			continue;
		}
		if (!counter_own(a, c, i, &v)) {
			c->unknown |= 1 << i;
			continue;
		}
		if (charge)
			c->sum[i].counter += v.counter - c->base[i].counter;
		c->base[i].counter = v.counter;
		if (counter_is_plain(i))
			continue;
		if (charge) {
			c->sum[i].enabled += v.enabled - c->base[i].enabled;
			c->sum[i].running += v.running - c->base[i].running;
		}
		c->base[i].enabled = v.enabled;
		c->base[i].running = v.running;
	}
}

/*
 * Note the counters when a thread with a `busy` account is switched out, or (@back) is switched in
 * again.
 */
static __always_inline void counters_away(struct sbt_counting *c, bool back)
{
	struct bpf_perf_event_value v;
	__u32 i;

	NOT_UNROLLED
	for (i = 0; i < SBT_COUNTERS_MAX; i++) {
		if (i >= config.ncounters)
			break;
		if (counter_is_kept(i))
			continue;
		if (!counter_read(i, &v))
			c->unknown |= 1 << i;
		else if (back)
			c->away[i] += v.counter - c->out[i];
		else
			c->out[i] = v.counter;
	}
}

static __always_inline struct sbt_counting *counting_at(__u32 index)
{
	return config.ncounters ? bpf_map_lookup_elem(&countings, &index) : NULL;
}

/* --- steal time ------------------------------------------------------------------------------- */

/*
 * Return where the kernel adds up the steal time of the task's CPU. The kernel updates this sum
 * only at ticks and switches, so recent steal time may be missing in it. 0: this kernel has no such
 * sum.
 */
static __always_inline __u64 steal_at(struct task_struct *task)
{
	struct cfs_rq *queue = NULL;
	struct rq *rq = NULL;

	if (!bpf_core_field_exists(rq->prev_steal_time_rq) || !bpf_core_field_exists(queue->rq) ||
	    !bpf_core_field_exists(task->se.cfs_rq))
		return 0;
	rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	return rq ? (__u64)rq + bpf_core_field_offset(rq->prev_steal_time_rq) : 0;
}

/*
 * Return the steal time of the thread's CPU until now. If it is not known, return the value read
 * last.
 */
static __always_inline __u64 steal_time(const struct sbt_account *a)
{
	__u64 steal = a->steal_base;

	if (a->steal_at)
		bpf_probe_read_kernel(&steal, sizeof(steal), (void *)a->steal_at);
	return steal;
}

static __always_inline void steal_take(struct sbt_account *a)
{
	__u64 steal = steal_time(a);

	if (steal == a->steal_base)
		return;
	a->steal_ns += steal - a->steal_base;
	a->steal_base = steal;
	a->changed = 1;
}

/* Return whether the sum may have been updated since the last call: at most once per tick. */
static __always_inline bool steal_may_differ(struct sbt_account *a)
{
	__u32 tick = (__u32)bpf_jiffies64();

	if (LIKELY(a->steal_tick == tick))
		return false;
	a->steal_tick = tick;
	return true;
}

/* --- crossings -------------------------------------------------------------------------------- */

/*
 * Note the thread's number in its PID namespace, which is the number that the program stores in its
 * locks. Return the namespace; 0: the initial one, where all numbers are the kernel's own.
 */
static __always_inline __u32 pidns_note(struct task_struct *task, __u32 tid)
{
	struct sbt_inner inner = {};
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = pid ? BPF_CORE_READ(pid, level) : 0;
	struct upid *upid;

	if (!level)
		return 0;
	upid = (void *)pid + bpf_core_field_offset(pid->numbers) +
	       level * bpf_core_type_size(struct upid);
	inner.nr = BPF_CORE_READ(upid, nr);
	inner.pidns = BPF_CORE_READ(upid, ns, ns.inum);
	bpf_map_update_elem(&inner_tids, &inner, &tid, BPF_ANY);
	return inner.pidns;
}

/* Return the kernel's number of the thread with number @nr in the namespace of @a; 0: unknown. */
static __always_inline __u32 outer_tid(const struct sbt_account *a, __u32 nr)
{
	struct sbt_inner inner = { .pidns = a->pidns, .nr = nr };
	__u32 *tid;

	if (!nr || !inner.pidns)
		return nr;
	tid = bpf_map_lookup_elem(&inner_tids, &inner);
	return tid ? *tid : 0;
}

/*
 * Begin to account for a thread. @fresh: the thread is new; otherwise, what it did until now is not
 * known.
 */
static __always_inline void account_start(__u32 index, struct task_struct *task, __u32 tid,
					  __u32 tgid, __u8 state, __u64 now, bool fresh)
{
	struct sbt_account *a = bpf_map_lookup_elem(&accounts, &index);
	struct sbt_counting *c;

	if (!a)
		return;
	/*
	 * Two calls, separated by barrier(): for more than 1 KiB at once clang would call memset(),
	 * which does not exist in BPF.
	 */
	__builtin_memset(a, 0, offsetof(struct sbt_account, blocks));
	barrier();
	__builtin_memset(a->blocks, 0, sizeof(*a) - offsetof(struct sbt_account, blocks));
	a->tgid = tgid;
	a->pidns = pidns_note(task, tid);
	a->state = state;
	a->since_ns = now;
	a->run_ns = now;
	a->changed = !fresh;
	a->fault_tries = FAULT_TRIES;
	a->throttled_mark = THROTTLED_UNKNOWN;
	a->cpu = state == ACCOUNT_RUNNING ? bpf_get_smp_processor_id() : ACCOUNT_NO_CPU;
	c = counting_at(index);
	if (c) {
		__builtin_memset(c, 0, sizeof(*c));
		if (state == ACCOUNT_RUNNING)
			counters_take(c, a, false);
		if (!fresh)
			c->unknown = (1 << config.ncounters) - 1;
	}
	a->tid = tid;
}

/*
 * Return 1 if @a is more than @b, else 0, for times that differ by less than 2^63 ns. This function
 * and choose() contain no branches and no masks. With them, the verifier would know the result in
 * each case, and would follow all later code once for each case.
 */
static __always_inline __u64 more_than(__u64 a, __u64 b)
{
	__u64 more = (b - a) >> 63;

	barrier_var(more);
	return more;
}

/* Return @a if @first is 1, @b if it is 0. */
static __always_inline __u64 choose(__u64 first, __u64 a, __u64 b)
{
	return b + (a - b) * first;
}

/*
 * Return the index in a->runs of the task that had the CPU for the longest time while the thread
 * waited for it.
 */
static __always_inline __u32 runs_most(const struct sbt_account *a)
{
	__u64 most = a->runs[0].ns, which = 0, more;
	__u32 i;

#pragma unroll
	for (i = 1; i < SBT_RUNS; i++) {
		more = more_than(a->runs[i].ns, most);
		most = choose(more, a->runs[i].ns, most);
		which = choose(more, i, which);
	}
	return which & (SBT_RUNS - 1);
}

/* A statement for each part in sbt/parts.h. */
#define MARK_PART(member, ...)	      a->mark.member = a->member;
#define PHASE_PART(member, ...)	      a->phase.member = a->member - a->mark.member;
#define UNDO_PART(member, ...)	      a->mark.member -= a->phase.member;
#define FILL_PART(member, ...)	      p->member = a->phase.member;
#define FILL_PART_SO_FAR(member, ...) p->member = a->member - a->mark.member;

static __always_inline void account_mark(struct sbt_account *a)
{
	__builtin_memcpy(a->mark.times, a->times, sizeof(a->times));
	SBT_PARTS(MARK_PART, )
	a->mark.turn_oncpu_ns = a->turn_oncpu_ns;
	__builtin_memset(a->runs, 0, sizeof(a->runs));
	a->fault_max_ns = 0;
	a->fault_tries = FAULT_TRIES;
	a->tried_ns = 0;
	a->changed = 0;
}

/*
 * End the phase and keep its sums. Not inlined, because only threads that were switched out or had
 * a page fault in the phase need this function.
 */
static __noinline MAYBE_UNUSED int account_phase(struct sbt_account *a)
{
	__u32 i;

	if (!a)
		return 0;
	for (i = 0; i < SBT_TIMES; i++)
		a->phase.times[i] = a->times[i] - a->mark.times[i];
	SBT_PARTS(PHASE_PART, )
	a->phase.turn_oncpu_ns = a->turn_oncpu_ns - a->mark.turn_oncpu_ns;
	i = runs_most(a);
	a->phase_ran = a->runs[i].tid;
	a->phase_ran_ns = a->runs[i].ns;
	account_mark(a);
	a->phase_changed = 1;
	return 0;
}

static __always_inline void counters_phase(struct sbt_account *a, __u32 index)
{
	struct sbt_counting *c = counting_at(index);
	__u32 i;

	if (!c)
		return;
	counters_take(c, a, true);
	NOT_UNROLLED
	for (i = 0; i < SBT_COUNTERS_MAX; i++) {
		if (i >= config.ncounters)
			break;
		c->phase[i] = counter_since(c, i);
	}
}

static __always_inline void times_add(__u64 *times, __u32 which, __u64 ns)
{
	/* The verifier must see the limit in the register that is the index. */
	barrier_var(which);
	if (which < SBT_TIMES)
		times[which] += ns;
}

/* Add the running thread's time on a CPU, up to @own (own time: the time less away_ns). */
static __always_inline void account_run(struct sbt_account *a, __u64 own)
{
	a->times[SBT_TIME_ONCPU] += own - a->run_ns;
	a->run_ns = own;
}

/* End the thread's rest early. */
static __noinline MAYBE_UNUSED int rest_end(struct sbt_account *a, __u64 now)
{
	if (!a || a->rest_ns <= now)
		return 0;
	count_add(rested_ns, bpf_get_smp_processor_id(), now - a->rest_ns);
	a->rest_ns = now;
	return 0;
}

/* Restart the count of the thread's switches, because it crosses a barrier. */
static __always_inline void rest_reset(struct sbt_account *a)
{
	a->recent_switches = 0;
}

/*
 * The words of glibc's barrier at which threads wait are within this many bytes of its beginning.
 * Other locks may follow the barrier in memory.
 */
#define OFFS_OBJECT_BYTES 20

/* Return whether this futex word is in the barrier of the thread's last arrival. */
static __always_inline bool offs_has_word(const struct sbt_offs *o, __u64 word)
{
	return o->futex && word - o->object < OFFS_OBJECT_BYTES;
}

static __always_inline bool offs_maybe_inside(const struct sbt_account *a)
{
	return config.infer && a->inside == ACCOUNT_MAYBE_INSIDE;
}

/*
 * The thread @tid in slot @index got a CPU again at @now, and may be inside a barrier. If it was
 * off the CPU since its arrival, keep that time. If the barrier has released the thread, it departs
 * now, so the sums of the phase begin here. Global for the same reason as crossing_arrive(). Return
 * 0.
 */
extern int offs_in(__u32 index, __u32 tid, __u64 now);

/*
 * Return since when the thread of this account, which is running, has had its CPU: the kernel's own
 * data show this. 0: not known.
 */
static __always_inline __u64 running_since(const struct sbt_account *a, struct task_struct *task,
					   __u64 now)
{
	__u64 from;

	if (!a->clock_ns || !bpf_core_field_exists(task->sched_info.last_arrival))
		return 0;
	from = BPF_CORE_READ(task, sched_info.last_arrival) + a->clock_ns;
	return from > a->since_ns && from < now ? from : 0;
}

/*
 * Handle a thread that runs although no event showed that it got a CPU: the kernel sometimes
 * delivers no event for a switch. Until it got the CPU it was in the state that its account shows.
 * If that moment is not known, the time before it stays unattributed.
 */
static __noinline int found_running(struct sbt_account *a)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 now = bpf_ktime_get_ns(), from;
	__u32 index = 0, tid;

	if (!a)
		return 0;
	from = running_since(a, task, now);
	if (a->state == ACCOUNT_RESTING)
		rest_end(a, now);
	if (from && a->state == ACCOUNT_RUNNABLE)
		a->times[SBT_TIME_RUNQ] += from - a->since_ns;
	else if (from && a->state == ACCOUNT_BLOCKED && a->reason < SBT_BLOCKED_REASONS)
		times_add(a->times, SBT_TIME_BLOCKED + a->reason, from - a->since_ns);
	a->state = ACCOUNT_RUNNING;
	a->missed = 1;
	a->since_ns = from ? from : now;
	a->run_ns = a->since_ns - a->away_ns;
	a->changed = 1;
	tid = a->tid;
	if (!from)
		a->unsure = 1;
	else if (offs_maybe_inside(a) && account_find(tid, &index))
		offs_in(index, tid, from);
	return 0;
}

/*
 * Mark the account as `busy` until account_done(), while one of the thread's own programs updates
 * it. Set *now to the present time. If *now is already set (not 0), and the thread was not switched
 * out since that time, keep it. Return the thread's own time at *now. Both times are read together,
 * because the thread can be preempted between any two lines here.
 */
static __always_inline __u64 account_busy(volatile struct sbt_account *a, __u64 *now)
{
	__u64 away = a->away_ns;
	__u32 seq, tries;

	a->busy = 1;
	if (a->state != ACCOUNT_RUNNING)
		found_running((struct sbt_account *)a);
	if (*now && a->since_ns <= *now)
		return *now - away;
	for (tries = 0; tries < 2; tries++) {
		seq = a->away_seq;
		*now = bpf_ktime_get_ns();
		away = a->away_ns;
		if (a->away_seq == seq)
			break;
	}
	return *now - away;
}

static __always_inline void account_done(volatile struct sbt_account *a)
{
	a->busy = 0;
}

static __always_inline void fill_inside(struct sbt_inside *in, const struct sbt_account *a)
{
	__u32 i = runs_most(a);

	in->oncpu_ns = a->times[SBT_TIME_ONCPU] - a->mark.times[SBT_TIME_ONCPU];
	in->runq_ns = a->times[SBT_TIME_RUNQ] - a->mark.times[SBT_TIME_RUNQ];
	in->ran = a->runs[i].tid;
	in->ran_ns = a->runs[i].ns;
	in->switches = a->switches - a->mark.switches;
}

static __always_inline void fill_parts(struct sbt_parts *p, const struct sbt_account *a)
{
	__u64 ns, most = 0, next = 0, longest = 0, second = SBT_BLOCKED_REASONS, first, other;
	__u32 i;

	p->oncpu_ns = a->phase.times[SBT_TIME_ONCPU];
	p->runq_ns = a->phase.times[SBT_TIME_RUNQ];
#pragma unroll
	for (i = 0; i < SBT_BLOCKED_REASONS; i++) {
		ns = a->phase.times[SBT_TIME_BLOCKED + i];
		p->blocked_ns[i] = ns;
		first = more_than(ns, most);
		other = more_than(ns, next);
		second = choose(first, longest, choose(other, i, second));
		next = choose(first, most, choose(other, ns, next));
		longest = choose(first, i, longest);
		most = choose(first, ns, most);
	}
	SBT_PARTS(FILL_PART, )
	p->fault_addr = a->fault_max_addr;
	p->turn_oncpu_ns = a->phase.turn_oncpu_ns;
	p->ran_ns = a->phase_ran_ns;
	p->ran = a->phase_ran;
	p->cpus_allowed = a->cpus_allowed;
	if (longest < SBT_BLOCKED_REASONS)
		p->block = a->blocks[longest];
	/*
	 * Also report the second longest block. If the longest block delays all threads equally, it
	 * makes no thread late, and the second longest may be the reason why this thread is late.
	 */
	if (next && second < SBT_BLOCKED_REASONS)
		p->second = a->blocks[second];
	else
		__builtin_memset(&p->second, 0, sizeof(p->second));
}

static __always_inline void fill_counters(struct sbt_counters *out, struct sbt_counting *c)
{
	__u32 i;

	if (!c)
		return;
	NOT_UNROLLED
	for (i = 0; i < SBT_COUNTERS_MAX; i++) {
		if (i >= config.ncounters)
			break;
		out->phase[i] = c->phase[i];
		out->inside[i] = counter_since(c, i);
	}
	out->n = config.ncounters;
	out->scaled = c->scaled;
	out->unknown = c->unknown;
	c->scaled = c->unknown = 0;
}

/* Fill in the parts of the phase so far. The phase continues, so this changes no sums. */
static __always_inline void fill_so_far(struct sbt_parts *p, const struct sbt_account *a)
{
	__u32 i;

	__builtin_memset(p, 0, sizeof(*p));
	p->oncpu_ns = a->times[SBT_TIME_ONCPU] - a->mark.times[SBT_TIME_ONCPU];
	p->runq_ns = a->times[SBT_TIME_RUNQ] - a->mark.times[SBT_TIME_RUNQ];
#pragma unroll
	for (i = 0; i < SBT_BLOCKED_REASONS; i++)
		p->blocked_ns[i] =
			a->times[SBT_TIME_BLOCKED + i] - a->mark.times[SBT_TIME_BLOCKED + i];
	SBT_PARTS(FILL_PART_SO_FAR, )
	p->turn_oncpu_ns = a->turn_oncpu_ns - a->mark.turn_oncpu_ns;
}

static __always_inline void fill_counters_so_far(struct sbt_counters *out, struct sbt_counting *c)
{
	__u32 i;

	__builtin_memset(out, 0, sizeof(*out));
	NOT_UNROLLED
	for (i = 0; i < SBT_COUNTERS_MAX; i++) {
		if (i >= config.ncounters)
			break;
		out->phase[i] = counter_so_far(c, i);
	}
	out->n = config.ncounters;
	out->scaled = c->scaled;
	out->unknown = c->unknown;
}

#define HAS_INSIDE   (SBT_CROSSING_ACCOUNTED | SBT_CROSSING_INSIDE)
#define HAS_PARTS    (HAS_INSIDE | SBT_CROSSING_PARTS)
#define HAS_COUNTERS (HAS_INSIDE | SBT_CROSSING_COUNTERS)

/*
 * Note in slot @index the arrival of the running thread @tid, and return the time of the arrival.
 * Call this function as late as possible in the program, so that the handler time belongs to the
 * preceding phase and not to the wait.
 *
 * This function and crossing_write() are in record.bpf.c. They are global, so that the verifier
 * checks them once in each program and not on each path to them. Verification is the slowest part
 * of starting to trace.
 */
extern __u64 crossing_arrive(__u32 index, __u32 tid);
/*
 * Write one crossing of the running thread @tid in slot @index. With --aggregate, count the
 * crossing as abandoned instead. Afterwards the slot can hold the thread's next crossing. If
 * @depart_ns is 0, the thread never departed, and this was detected at @now. Return 0, because a
 * global function must return something.
 */
extern int crossing_write(__u32 index, __u32 tid, __u64 depart_ns, __u64 now);
/*
 * Forget the arrival of the running thread @tid in slot @index: it was no crossing, and its phase
 * goes on. Return 0.
 */
extern int crossing_cancel(__u32 index, __u32 tid);
/* Flags of arrival_write(). */
#define ARRIVAL_FRESH 1 /* the barrier's words were read now */
#define ARRIVAL_FUTEX 2 /* waiting threads sleep at a futex in the barrier object */
#define ARRIVAL_TEAM  4 /* at a barrier of an OpenMP team: t->round is set */
/*
 * Write the arrival of the running thread @tid in slot @index. The departure will be inferred.
 * Return 0.
 */
extern int arrival_write(__u32 index, __u32 tid, __u32 how);
/*
 * If the departure of the thread's last arrival is to be inferred, write the data for that, because
 * another record follows. Return 0.
 */
extern int arrival_left(__u32 index, __u32 tid, __u64 now);

#endif /* BPF_ACCOUNT_H */
