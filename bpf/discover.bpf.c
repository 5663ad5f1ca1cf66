// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Find barriers that are not functions of a known library: threads wait on a condition variable or
 * a futex, and one thread wakes them all. Each wait and each wake-up is a candidate, from which
 * user space classifies the object. Once an object is classified as a barrier, its crossings are
 * recorded like those of any barrier. Waits on an object that is not a barrier cost only a check.
 * No return probes are used here: pthread_cond_wait is a cancellation point. A cancelled thread
 * unwinds its stack, and unwinding through a return probe breaks the process.
 */
#include <asm/errno.h>

#include "account.h"
#include "callers.h"
#include "looks.h"
#include "probe.h"
#include "python.h"
#include "thread.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline struct sbt_object_state *object_find(const struct sbt_thread *t,
							    __u64 address)
{
	struct sbt_object key = { .address = address, .tgid = t->tgid, .inc = t->inc };

	return bpf_map_lookup_elem(&objects, &key);
}

static __always_inline __u32 object_state(const struct sbt_thread *t, __u64 address)
{
	const struct sbt_object_state *state = object_find(t, address);

	return state ? state->verdict : SBT_OBJECT_OPEN;
}

/*
 * Note that a thread waits on the object: the next wake-up is worth a record. Call this after the
 * clock was read for the wait. A wake-up that clears the note then has a later time.
 */
static __noinline int object_waits(struct sbt_thread *t)
{
	struct sbt_object_state *state, fresh = { .waits = 1 };
	struct sbt_object key = {};

	if (!t)
		return 0;
	state = object_find(t, t->waiting.object);
	if (state) {
		*(volatile __u32 *)&state->waits = 1;
		return 0;
	}
	key.address = t->waiting.object;
	key.tgid = t->tgid;
	key.inc = t->inc;
	bpf_map_update_elem(&objects, &key, &fresh, BPF_NOEXIST);
	return 0;
}

/*
 * The first process in which a thread waited, or woke other threads. A second such process, or a
 * fork, sets several_tgids. Processes may share the objects on which they wait, at different
 * addresses. So once the flag is set, `waits` does not show whether a thread waits on an object.
 */
static volatile __u32 first_tgid;
volatile __u32 several_tgids;

static __always_inline bool may_share(const struct sbt_thread *t)
{
	if (several_tgids)
		return true;
	if (!first_tgid)
		first_tgid = t->tgid;
	if (first_tgid != t->tgid)
		several_tgids = 1;
	return several_tgids;
}

/*
 * Return whether no thread has begun to wait on the object since the last wake-up. If the object is
 * not known (any more), return false, because a thread may have begun to wait.
 */
static __noinline int object_empty(struct sbt_thread *t)
{
	struct sbt_object_state *state, fresh = {};
	struct sbt_object key = {};

	if (!t || may_share(t))
		return 0;
	state = object_find(t, t->waiting.object);
	if (!state) {
		key.address = t->waiting.object;
		key.tgid = t->tgid;
		key.inc = t->inc;
		bpf_map_update_elem(&objects, &key, &fresh, BPF_NOEXIST);
		return 0;
	}
	/*
	 * Write only if the value changes, because threads that wake other threads at the same time
	 * would contend for the cache line.
	 */
	if (!*(volatile __u32 *)&state->waits)
		return 1;
	*(volatile __u32 *)&state->waits = 0;
	return 0;
}

static __noinline int cond_hits_add(struct sbt_thread *t)
{
	__u32 looks, role = SBT_ROLE_COND_WAIT;

	if (!t)
		return 0;
	if (t->waiting.kind == SBT_KIND_SEMAPHORE)
		role = SBT_ROLE_SEM_WAIT;
	looks = t->waiting.looks;
	t->waiting.looks = 0;
	return hits_add(t, role, looks, looks);
}

/* Count a probe hit that is not a crossing, because it costs time. */
static __always_inline void count_hit(struct sbt_thread *t)
{
	if (++t->waiting.looks >= SBT_LOOKS_STEP)
		cond_hits_add(t);
}

static __always_inline __u64 return_address(struct pt_regs *ctx)
{
#if defined(__TARGET_ARCH_arm64)
	return PT_REGS_RET(ctx);
#else
	__u64 ip = 0;

	bpf_probe_read_user(&ip, sizeof(ip), (void *)PT_REGS_SP(ctx));
	return ip;
#endif
}

static __always_inline struct sbt_thread *traced_thread(__u32 *index)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)id, tgid = id >> 32;
	struct sbt_thread *t;

	if (armed != ARMED_ALL || tgid == config.self)
		return NULL;
	t = thread_find(tid, index);
	if (!t || t->tgid != tgid || !t->inc)
		t = thread_new(tgid, tid, index, false);
	return t && t->proc_flags & SBT_PROC_EXCLUDED ? NULL : t;
}

static __noinline int candidate_write(struct sbt_thread *t, __u64 depart_ns, __u16 result)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sbt_crossing *c;

	if (!t)
		return 0;
	count(candidates, cpu);
	c = ring_reserve(cpu, sizeof(*c));
	if (!c) {
		count(lost_candidate, cpu);
		return 0;
	}
	c->arrive_ns = t->waiting.since_ns;
	c->depart_ns = depart_ns;
	c->object = t->waiting.object;
	c->ip = t->waiting.ip;
	c->callers = t->waiting.words;
	c->tgid = t->tgid;
	c->tid = t->tid;
	c->inc = t->inc;
	c->seq = t->seq;
	c->arrive_cpu = t->waiting.cpu;
	c->depart_cpu = cpu;
	c->type = SBT_REC_CANDIDATE;
	c->family = t->waiting.family;
	c->kind = t->waiting.kind;
	c->depth = 0;
	c->flags = (t->waiting.unread ? SBT_CROSSING_NO_WORDS : 0) |
		   (t->waiting.ip ? 0 : SBT_CROSSING_NO_IP);
	c->spec = t->waiting.spec;
	c->index = 0;
	c->result = result;
	c->value = t->waiting.value;
	c->held = t->waiting.held;
	bpf_ringbuf_submit(c, record_wake(cpu, WAKE_EVERY));
	return 0;
}

/* Note the arrival at an object that is known to be a barrier, with the data in t->waiting. */
static __noinline int found_barrier_arrive(struct sbt_thread *t, __u32 index)
{
	if (!t)
		return 0;
	t->entry = t->waiting.entry;
	t->sp = t->waiting.sp;
	t->object = t->waiting.object;
	t->ip = t->waiting.ip;
	t->words_object = 0;
	t->words = t->waiting.words;
	t->family = t->waiting.family;
	t->kind = t->waiting.kind;
	t->spec = t->waiting.spec;
	t->index = t->own_index;
	t->label = 0;
	t->how = 0;
	t->marked = 0;
	t->team = 0;
	t->flags = 0;
	t->arrive_cpu = t->waiting.cpu;
	t->waiting.since_ns = 0;
	t->arrive_ns = crossing_arrive(index, t->tid);
	return 0;
}

/*
 * Return whether the present function was called by a function in which the thread is inside a
 * barrier, or waits.
 */
static __always_inline bool is_inside(struct pt_regs *ctx, struct sbt_thread *t, __u32 index)
{
	if (t->waiting.since_ns &&
	    called_within(ctx, t->waiting.entry, t->waiting.sp, t->waiting.ip))
		return true;
	t->waiting.since_ns = 0;
	if (!t->arrive_ns)
		return false;
	if (is_python_family(t->family))
		return PT_REGS_SP(ctx) < t->sp;
	if (t->family != SBT_FAMILY_COND || called_within(ctx, t->entry, t->sp, t->ip))
		return true;
	/*
	 * The thread is in another call now, so the earlier call never returned: abandon its
	 * crossing.
	 */
	crossing_write(index, t->tid, 0, bpf_ktime_get_ns());
	return false;
}

/*
 * Return the same caller as callers_walk() would, but by a rule that is already known. Only for
 * walks of one step.
 */
static __always_inline __u64 one_caller(const struct sbt_frame_rule *rule, const struct sbt_walk *w)
{
	__u64 cfa = (rule->flags & SBT_FRAME_BY_FP ? w->from.fp : w->from.sp) + (__s64)rule->cfa,
	      ip = 0;

	if (rule->flags & SBT_FRAME_LAST || cfa < w->from.sp ||
	    cfa - w->from.sp > SBT_CALLERS_BYTES)
		return 0;
	bpf_probe_read_user(&ip, sizeof(ip), (void *)(cfa + (__s64)rule->ret));
	return code_address(ip);
}

/*
 * Keep the rule to find the caller of the last wait, because most threads wait at the same location
 * again.
 */
static __noinline int keep_rule(struct sbt_thread *t, __u64 ip)
{
	struct sbt_frame_key key = {};
	struct sbt_frame_rule *rule;

	if (!t)
		return 0;
	key.ip = ip;
	key.tgid = t->tgid;
	key.inc = t->inc;
	rule = bpf_map_lookup_elem(&frame_rules, &key);
	if (!rule || rule->flags & (SBT_FRAME_THROUGH | SBT_FRAME_LINK))
		return 0;
	t->waiting.rule = *rule;
	t->waiting.rule_inc = t->inc;
	t->waiting.rule_ip = ip;
	return 0;
}

#define HELD_BLOCK 4 /* words of the stack that are read at once */
#define HELD_WORDS 32

static __always_inline __u64 held_registers(struct pt_regs *ctx)
{
	__u64 h = 1;
#if defined(__TARGET_ARCH_arm64)
	const struct user_pt_regs *regs = (void *)ctx;

	h = hash_add(hash_add(h, regs->regs[19]), regs->regs[20]);
	h = hash_add(hash_add(h, regs->regs[21]), regs->regs[22]);
	h = hash_add(hash_add(h, regs->regs[23]), regs->regs[24]);
	h = hash_add(hash_add(h, regs->regs[25]), regs->regs[26]);
	h = hash_add(hash_add(h, regs->regs[27]), regs->regs[28]);
	h = hash_add(h, regs->regs[29]);
#else
	h = hash_add(hash_add(h, ctx->rbx), ctx->rbp);
	h = hash_add(hash_add(h, ctx->r12), ctx->r13);
	h = hash_add(hash_add(h, ctx->r14), ctx->r15);
#endif
	return h;
}

/*
 * Note what the waiting functions hold: registers that a call preserves, and the words on the
 * stack. A thread that was woken for nothing waits again in the same call, with the same contents.
 * In a new call, the number of the round or a counter differs.
 */
static __noinline int note_held(struct pt_regs *ctx, struct sbt_thread *t)
{
	__u64 h, sp, words[HELD_BLOCK];
	int i;

	if (!ctx || !t)
		return 0;
	h = held_registers(ctx);
	sp = PT_REGS_SP(ctx);
	for (i = 0; i < HELD_WORDS / HELD_BLOCK; i++) {
		if (bpf_probe_read_user(words, sizeof(words), (void *)(sp + i * sizeof(words))))
			break;
		h = hash_add(hash_add(h, words[0]), words[1]);
		h = hash_add(hash_add(h, words[2]), words[3]);
	}
	t->waiting.held = (__u32)(h >> 32) | 1;
	return 0;
}

/* Find the callers of the function that waits or wakes: one of them may be the barrier. */
static __noinline int note_callers(struct pt_regs *ctx, struct sbt_thread *t, __u32 index)
{
	struct sbt_walk *walk;

	if (!ctx || !t)
		return 0;
	walk = &t->walk;
	walk_begin(walk, ctx, t->waiting.ip);
	if (!config.frames && walk->from.ip == t->waiting.rule_ip &&
	    t->inc == t->waiting.rule_inc) {
		t->waiting.words = one_caller(&t->waiting.rule, walk);
		return 0;
	}
	walk->want = 1 + config.frames;
	walk->plain = 1;
	t->waiting.words = callers_walk(index);
	if (!config.frames)
		keep_rule(t, walk->from.ip);
	return 0;
}

/* Do the same as note_callers() for @want callers. @deep: take more of the stack for them. */
static __noinline int note_more_callers(struct pt_regs *ctx, struct sbt_thread *t, __u32 index,
					__u32 want, __u32 deep)
{
	struct sbt_walk *walk;

	if (!ctx || !t)
		return 0;
	walk = &t->walk;
	walk_begin(walk, ctx, t->waiting.ip);
	walk->want = want;
	walk->plain = 1;
	walk->deep |= deep;
	t->waiting.words = callers_walk(index);
	return 0;
}

/* --- condition variables, and threads that are joined ----------------------------------------- */

/*
 * Read the condition variable's own count of waits. glibc keeps it in the first eight bytes, above
 * the lowest bit. The count includes waits that began before the process had its probes.
 */
static __always_inline void cond_count(struct sbt_thread *t)
{
	__u64 waits = 0;

	t->waiting.unread =
		bpf_probe_read_user(&waits, sizeof(waits), (void *)t->waiting.object) != 0;
	t->waiting.value = waits >> 1;
}

static __always_inline struct sbt_thread *cond_begin(struct pt_regs *ctx, __u32 *index,
						     __u32 *state)
{
	struct sbt_thread *t = traced_thread(index);
	__u64 object = PT_REGS_PARM1(ctx);
	struct sbt_spec *spec;
	__u32 number;

	if (!t || is_inside(ctx, t, *index))
		return NULL;
	number = spec_index(ctx);
	spec = bpf_map_lookup_elem(&specs, &number);
	if (!spec || is_detached(t, spec))
		return NULL;
	if (spec->object.how != SBT_ARG_FIRST)
		object = arg_fetch(ctx, number, object);
	if (object == ARG_UNREAD)
		return NULL;
	*state = object_state(t, object);
	t->waiting.quiet = *state == SBT_OBJECT_OTHER;
	t->waiting.object = object;
	t->waiting.several = 0;
	t->waiting.family = spec->family;
	t->waiting.kind = spec->kind;
	t->waiting.spec = number;
	t->waiting.words = 0;
	t->waiting.cpu = bpf_get_smp_processor_id();
	t->waiting.value = t->waiting.unread = t->waiting.held = 0;
	if (spec->kind == SBT_KIND_SEMAPHORE)
		t->waiting.unread = 1;
	else if (!*state && spec->family == SBT_FAMILY_COND)
		cond_count(t);
	return t;
}

SEC("?uprobe")
int cond_wait(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	__u32 index = 0, state = 0;
	struct sbt_thread *t = cond_begin(ctx, &index, &state);

	if (!t)
		return 0;
	t->waiting.ip = return_address(ctx);
	t->waiting.sp = PT_REGS_SP(ctx);
	t->waiting.entry = PT_REGS_IP(ctx);
	if (t->waiting.family == SBT_FAMILY_FORKJOIN)
		/*
		 * C++ programs join threads in functions of the library, such as destructors. Joins
		 * are rare, so a long walk costs little.
		 */
		note_more_callers(ctx, t, index, SBT_CHAIN_MAX, 1);
	else if (!t->waiting.quiet)
		note_callers(ctx, t, index);
	if (state == SBT_OBJECT_BARRIER) {
		found_barrier_arrive(t, index);
		return 0;
	}
	if (t->waiting.family == SBT_FAMILY_COND && !t->waiting.quiet)
		note_held(ctx, t);
	t->waiting.since_ns = bpf_ktime_get_ns();
	if (t->waiting.family == SBT_FAMILY_COND) {
		if (!t->waiting.quiet && !may_share(t))
			object_waits(t);
		count_hit(t);
	}
	return 0;
}

/*
 * Handle a thread that was delayed before it could sleep: its lock was released meanwhile, or is
 * about to be. It was among the waiting threads when the last thread arrived, so it arrived before
 * the first wake-up.
 */
static __noinline int python_delayed(struct sbt_thread *t, __u64 semaphore, __u64 object)
{
	struct sbt_object key = {};
	__u64 *woken, *since;
	__u32 value = 0;

	if (!t || bpf_probe_read_user(&value, sizeof(value), (void *)semaphore))
		return 0;
	value &= 0x7fffffff;
	if (!value && !t->python.releasing)
		return 0;
	key.address = object;
	key.tgid = t->tgid;
	key.inc = t->inc;
	woken = bpf_map_lookup_elem(&python_woken, &key);
	since = t->arrive_ns ? &t->arrive_ns : &t->waiting.since_ns;
	/* An earlier wake-up ended an earlier wait of the thread. */
	if (!woken || *woken >= *since || *woken <= t->python.left_ns)
		return 0;
	*since = *woken - 1;
	t->python.notified = value != 0;
	return 0;
}

/*
 * Note a wait at a condition in the program's own code, with the data in t->waiting. Return whether
 * it is a candidate, or known to be none. If the condition is known to be a barrier's, return 0.
 */
static __noinline int condition_arrive(struct sbt_thread *t)
{
	__u32 state;

	if (!t || t->python.what != SBT_PYTHON_CONDITION)
		return 0;
	t->waiting.family = SBT_FAMILY_PYTHON_COND;
	t->waiting.words = t->python.within;
	state = object_state(t, t->waiting.object);
	if (state == SBT_OBJECT_BARRIER)
		return 0;
	if (state == SBT_OBJECT_OTHER)
		return 1;
	t->waiting.value = t->python.label;
	t->waiting.held = t->python.held;
	t->waiting.unread = 1;
	t->waiting.quiet = 0;
	t->waiting.since_ns = bpf_ktime_get_ns();
	return 1;
}

__noinline int python_condition_wake(__u32 index)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	__u32 state;
	__u64 now;

	if (!t)
		return 1;
	state = object_state(t, t->python.object);
	if (state == SBT_OBJECT_BARRIER)
		return 0;
	now = bpf_ktime_get_ns();
	t->python.woke_object = t->python.object;
	t->python.woke_ns = now;
	if (state == SBT_OBJECT_OTHER)
		return 1;
	t->waiting.object = t->python.object;
	t->waiting.family = SBT_FAMILY_PYTHON_COND;
	t->waiting.kind = SBT_KIND_EXPLICIT;
	t->waiting.spec = 0;
	t->waiting.ip = t->waiting.held = 0;
	t->waiting.words = t->python.within;
	t->waiting.value = t->python.label;
	t->waiting.unread = 1;
	t->waiting.cpu = bpf_get_smp_processor_id();
	t->waiting.since_ns = now;
	candidate_write(t, now, 0);
	t->waiting.since_ns = 0;
	return 1;
}

/*
 * Note the arrival of a thread that waits on a semaphore because Python code waits at a barrier or
 * a similar object. Return whether the semaphore belongs to an interpreter: its other waits are
 * those for locks of Python, and show nothing.
 */
static __noinline int python_arrive(struct pt_regs *ctx, struct sbt_thread *t, __u32 index)
{
	__u64 semaphore;

	if (!ctx || !t || !python_of(t))
		return 0;
	t->waiting.since_ns = 0;
	if (t->detached & PYTHON_GROUPS || !python_look(index, t->tid) || t->python.wakes)
		return 1;
	semaphore = t->waiting.object;
	if (!t->python.shared)
		t->waiting.object = t->python.object;
	t->waiting.family = SBT_FAMILY_PYTHON;
	t->waiting.kind = SBT_KIND_EXPLICIT;
	t->waiting.ip = return_address(ctx);
	t->waiting.sp = PT_REGS_SP(ctx);
	t->waiting.entry = PT_REGS_IP(ctx);
	t->waiting.words = t->python.parties;
	t->python.notified = 0;
	if (!condition_arrive(t)) {
		found_barrier_arrive(t, index);
		t->label = t->python.label;
	}
	if (t->arrive_ns || t->waiting.since_ns)
		python_delayed(t, semaphore, t->waiting.object);
	return 1;
}

/*
 * Note a wait on a semaphore. If threads seem to synchronize by semaphores, the report says so. If
 * the semaphore's value is not 0, the thread need not wait, and nothing is written. The semaphore's
 * value is its first member in glibc and in musl; musl keeps a flag in the uppermost bit.
 */
SEC("?uprobe")
int sem_wait(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	__u32 index = 0, state = 0, value = 0;
	struct sbt_thread *t = cond_begin(ctx, &index, &state);

	if (!t || python_arrive(ctx, t, index))
		return 0;
	count_hit(t);
	if (t->waiting.quiet ||
	    bpf_probe_read_user(&value, sizeof(value), (void *)t->waiting.object) ||
	    value & 0x7fffffff)
		return 0;
	t->waiting.ip = return_address(ctx);
	t->waiting.sp = PT_REGS_SP(ctx);
	t->waiting.entry = PT_REGS_IP(ctx);
	/* One caller more, because often a function only waits on behalf of its caller. */
	note_more_callers(ctx, t, index, 2 + config.frames, 0);
	t->waiting.since_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * Note the departure of a thread of a Python program. A thread that gives up at a barrier has
 * arrived there, so its crossing is abandoned. A wait for something else that ends by a timeout is
 * no crossing; programs wait for events in this way to pause. @result: that of the wait.
 */
static __noinline int python_depart(struct sbt_thread *t, __u32 index, __u32 result, __u64 now)
{
	if (!t)
		return 0;
	t->python.left_ns = now;
	if (t->python.what == SBT_PYTHON_BARRIER)
		crossing_write(index, t->tid, result ? 0 : now, now);
	else if (result || (t->python.what == SBT_PYTHON_EVENT && !t->python.notified))
		crossing_cancel(index, t->tid);
	else
		crossing_write(index, t->tid, now, now);
	return 0;
}

/* Attached to the ret instructions of functions that wait. */
SEC("?uprobe")
int cond_waited(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	__u64 now = bpf_ktime_get_ns();
	struct sbt_thread *t;
	__u32 index = 0;

	if (!armed)
		return 0;
	t = thread_find((__u32)bpf_get_current_pid_tgid(), &index);
	if (!t)
		return 0;
	if (t->arrive_ns) {
		if (PT_REGS_SP(ctx) != t->sp)
			return 0;
		if (is_python_family(t->family)) {
			python_depart(t, index, PT_REGS_RC(ctx), now);
			return 0;
		}
		if (t->family != SBT_FAMILY_COND)
			return 0;
		t->result = (__u16)PT_REGS_RC(ctx);
		crossing_write(index, t->tid, now, now);
		t->result = 0;
		return 0;
	}
	if (t->waiting.since_ns && t->waiting.family != SBT_FAMILY_FUTEX &&
	    PT_REGS_SP(ctx) == t->waiting.sp) {
		if (t->waiting.family == SBT_FAMILY_PYTHON_COND) {
			t->python.left_ns = now;
			candidate_write(t, now, PT_REGS_RC(ctx) ? ETIMEDOUT : 0);
		} else if (!t->waiting.quiet) {
			candidate_write(t, now, (__u16)PT_REGS_RC(ctx));
		}
		t->waiting.since_ns = 0;
		if (t->waiting.family == SBT_FAMILY_COND)
			count_hit(t);
	}
	return 0;
}

SEC("?uprobe")
int cond_wake(struct pt_regs *ctx)
{
	stack_of_its_own(ctx, no_probe);
	__u32 index = 0, state = 0;
	struct sbt_thread *t = traced_thread(&index);
	__u64 ip;

	/*
	 * If the function that woke threads last has called this function, it is the same wake-up.
	 */
	if (!t || called_within(ctx, t->waiting.wake_entry, t->waiting.wake_sp, t->waiting.wake_ip))
		return 0;
	t = cond_begin(ctx, &index, &state);
	if (!t)
		return 0;
	if (state != SBT_OBJECT_BARRIER) {
		count_hit(t);
		/* A wake-up for which no thread waits is not written either. */
		if (state == SBT_OBJECT_OTHER || object_empty(t))
			return 0;
	}
	ip = return_address(ctx);
	t->waiting.ip = t->waiting.wake_ip = ip;
	t->waiting.sp = t->waiting.wake_sp = PT_REGS_SP(ctx);
	t->waiting.entry = t->waiting.wake_entry = PT_REGS_IP(ctx);
	note_callers(ctx, t, index);
	if (state == SBT_OBJECT_BARRIER) {
		found_barrier_arrive(t, index);
		crossing_write(index, t->tid, t->arrive_ns, t->arrive_ns);
	} else {
		t->waiting.since_ns = bpf_ktime_get_ns();
		candidate_write(t, t->waiting.since_ns, 0);
		t->waiting.since_ns = 0;
	}
	return 0;
}

/* --- futexes ---------------------------------------------------------------------------------- */

#if defined(__TARGET_ARCH_arm64)
#define NR_FUTEX 98
#else
#define NR_FUTEX 202
#endif
/* These system call numbers are the same on all architectures. */
#define NR_FUTEX_WAITV	 449
#define NR_FUTEX_WAKE	 454
#define NR_FUTEX_WAIT	 455
#define NR_FUTEX_REQUEUE 456

/* The values are those of <linux/futex.h>. The installed header may be too old to have them. */
#define OP_MASK	       (~(128 | 256)) /* the flags FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */
#define OP_WAIT	       0
#define OP_WAKE	       1
#define OP_REQUEUE     3
#define OP_CMP_REQUEUE 4
#define OP_WAIT_BITSET 9
#define OP_WAKE_BITSET 10

/* struct futex_waitv of Linux 5.16 */
struct futex_word {
	__u64 value;
	__u64 address;
	__u32 flags;
	__u32 reserved;
};

struct futex_call {
	__u64 object;
	__u64 several; /* futex_waitv: address of the array of waiters */
	__u32 wakes;
	/* for a wait: the value that the futex word must have for the thread to sleep */
	__u32 value;
	bool wait;
};

static __always_inline __u64 syscall_arg(struct pt_regs___kernel *regs, __u32 n)
{
#if defined(__TARGET_ARCH_arm64)
	__u64 all[4] = {};

	/*
	 * At the entry, regs[0] still holds the first argument, unless the kernel has restarted the
	 * call.
	 */
	bpf_probe_read_kernel(all, sizeof(all), &regs->regs);
	return all[n & 3];
#else
	return n == 0	? BPF_CORE_READ(regs, di)
	       : n == 1 ? BPF_CORE_READ(regs, si)
	       : n == 2 ? BPF_CORE_READ(regs, dx)
			: BPF_CORE_READ(regs, r10);
#endif
}

static __always_inline __u16 saturated_16(__u32 n)
{
	return n < 0xffff ? n : 0xffff;
}

static __always_inline __u64 first_word(__u64 at, __u32 *value)
{
	struct futex_word word = {};

	bpf_probe_read_user(&word, sizeof(word), (void *)at);
	*value = word.value;
	return word.address;
}

static __always_inline __u32 add_saturated(__u64 a, __u64 b)
{
	__u64 sum = (__u64)(__u32)a + (__u32)b;

	return sum > 0x7fffffff ? 0x7fffffff : (__u32)sum;
}

/* Find the object of the futex call. Return false if the call does not wait and does not wake. */
static __always_inline bool futex_parse(struct pt_regs___kernel *regs, long nr,
					struct futex_call *call)
{
	__u64 first = syscall_arg(regs, 0), third = syscall_arg(regs, 2);
	__u32 op;

	call->object = first;
	call->wakes = call->value = third;
	if (nr == NR_FUTEX_WAIT) {
		call->value = syscall_arg(regs, 1);
		return call->wait = true;
	}
	if (nr == NR_FUTEX_WAKE)
		return true;
	if (nr == NR_FUTEX_WAITV) {
		call->object = first_word(first, &call->value);
		call->several = first;
		return call->wait = true;
	}
	if (nr == NR_FUTEX_REQUEUE) {
		call->object = first_word(first, &call->value);
		call->wakes = add_saturated(third, syscall_arg(regs, 3));
		return true;
	}
	op = (__u32)syscall_arg(regs, 1) & OP_MASK;
	call->wait = op == OP_WAIT || op == OP_WAIT_BITSET;
	/* Waiters that are moved to another word count as woken. */
	if (op == OP_REQUEUE || op == OP_CMP_REQUEUE) {
		call->wakes = add_saturated(third, syscall_arg(regs, 3));
		return true;
	}
	return call->wait || op == OP_WAKE || op == OP_WAKE_BITSET;
}

/* Return whether the futex call is part of another barrier or of a wait on a condition variable. */
static __always_inline bool futex_inside(struct sbt_thread *t, __u32 index, __u64 sp)
{
	if (t->waiting.since_ns && t->waiting.family != SBT_FAMILY_FUTEX && sp <= t->waiting.sp)
		return true;
	t->waiting.since_ns = 0;
	if (!t->arrive_ns)
		return false;
	if (t->family != SBT_FAMILY_FUTEX)
		return true;
	crossing_write(index, t->tid, 0, bpf_ktime_get_ns());
	return false;
}

/*
 * Return whether the futex call may be part of a barrier with a probe at the arrival alone: it is
 * at a word of the barrier object.
 */
static __always_inline bool futex_of_barrier(const struct sbt_thread *t, __u32 index, __u64 word)
{
	const struct sbt_account *a = config.infer ? account_at(index, t->tid) : NULL;
	const struct sbt_offs *o = offs_at(index, t->tid);

	return a && o && offs_maybe_inside(a) && offs_has_word(o, word);
}

static __always_inline void futex_begin(struct sbt_thread *t, __u32 index,
					struct pt_regs___kernel *regs,
					const struct futex_call *call)
{
	struct sbt_walk *walk = &t->walk;

	t->waiting.object = call->object;
	t->waiting.several = call->several;
	t->waiting.value = call->value;
	t->waiting.unread = t->waiting.held = 0;
	t->waiting.family = SBT_FAMILY_FUTEX;
	t->waiting.kind = SBT_KIND_EXPLICIT;
	t->waiting.spec = 0;
	t->waiting.quiet = 0;
	t->waiting.cpu = bpf_get_smp_processor_id();
	t->waiting.entry = 0;
	/*
	 * The walk begins at the system call. The function that makes this call may only wait on
	 * behalf of the barrier function, so find one caller more than usual.
	 */
	walk->want = 2 + config.frames;
	walk->plain = 1;
	walk->deep = config.frames != 0;
	walk->link = 0;
#if defined(__TARGET_ARCH_arm64)
	walk->from.ip = BPF_CORE_READ(regs, pc);
	walk->from.sp = BPF_CORE_READ(regs, sp);
	bpf_probe_read_kernel(&walk->from.fp, sizeof(walk->from.fp), &regs->regs[29]);
	bpf_probe_read_kernel(&walk->link, sizeof(walk->link), &regs->regs[30]);
#else
	walk->from.ip = BPF_CORE_READ(regs, ip);
	walk->from.sp = BPF_CORE_READ(regs, sp);
	walk->from.fp = BPF_CORE_READ(regs, bp);
#endif
	t->waiting.ip = walk->from.ip;
	t->waiting.sp = walk->from.sp;
	t->waiting.words = callers_walk(index);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(futex_enter, struct pt_regs *user, long nr)
{
	struct pt_regs___kernel *regs = (void *)user;
	struct futex_call call = {};
	struct sbt_thread *t;
	__u32 index = 0, state;

	if (nr != NR_FUTEX && nr != NR_FUTEX_WAITV && nr != NR_FUTEX_WAIT && nr != NR_FUTEX_WAKE &&
	    nr != NR_FUTEX_REQUEUE)
		return 0;
	/* If config.account is set, every traced thread is counted in `marks`. */
	if (config.account && !marks[(__u32)bpf_get_current_pid_tgid() & (SBT_MARKS - 1)])
		return 0;
#if !defined(__TARGET_ARCH_arm64)
	if (BPF_CORE_READ(regs, cs) != 0x33) /* 32-bit calls have other numbers */
		return 0;
#endif
	t = traced_thread(&index);
	/*
	 * This program cannot be detached from a single process. Return at once for a process
	 * without this probe group.
	 */
	if (!t || t->detached & SBT_PROBE_GROUP(SBT_FAMILY_FUTEX))
		return 0;
	if (futex_inside(t, index, BPF_CORE_READ(regs, sp)) || !futex_parse(regs, nr, &call))
		return 0;
	if (futex_of_barrier(t, index, call.object))
		return 0;
	state = object_state(t, call.object);
	if (state == SBT_OBJECT_OTHER)
		return 0;
	futex_begin(t, index, regs, &call);
	if (state == SBT_OBJECT_BARRIER) {
		found_barrier_arrive(t, index);
		if (call.wait)
			return 0;
		t->result = saturated_16(call.wakes);
		crossing_write(index, t->tid, t->arrive_ns, t->arrive_ns);
		t->result = 0;
		return 0;
	}
	t->waiting.since_ns = bpf_ktime_get_ns();
	if (call.wait)
		return 0;
	candidate_write(t, t->waiting.since_ns, saturated_16(call.wakes));
	t->waiting.since_ns = 0;
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(futex_exit, struct pt_regs *user, long ret)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), index = 0;
	struct sbt_thread *t;
	__u64 now;

	if (!armed || !marks[tid & (SBT_MARKS - 1)])
		return 0;
	t = thread_find(tid, &index);
	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	if (t->arrive_ns && t->family == SBT_FAMILY_FUTEX) {
		t->result = ret < 0 ? -ret : 0;
		crossing_write(index, t->tid, now, now);
		t->result = 0;
	} else if (t->waiting.since_ns && t->waiting.family == SBT_FAMILY_FUTEX) {
		if (t->waiting.several && ret > 0 && ret < 128)
			t->waiting.object = first_word(
				t->waiting.several + (__u64)ret * sizeof(struct futex_word),
				&t->waiting.value);
		candidate_write(t, now, ret < 0 ? -ret : 0);
		t->waiting.since_ns = 0;
	}
	return 0;
}
