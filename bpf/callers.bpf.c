// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Find the callers of a call site. For the code at each return address, the unwind tables say where
 * the next return address is on the stack. User space reads this rule from the tables, and passes
 * it to this program. As long as there is no rule for an address, a copy of part of the stack is
 * sent with the crossing, and user space finds the callers in it. So the first crossings have the
 * same call site as later crossings.
 */
#include "callers.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline void sample_fill(struct sbt_callers *s, const struct sbt_thread *t,
					const struct sbt_walk *w, __u64 name, __u64 now)
{
	__builtin_memset(&s->head, 0, sizeof(s->head));
	s->head.arrive_ns = s->head.depart_ns = now;
	s->head.sample = name;
	s->head.ip = w->from.ip;
	s->head.wanted = w->want;
	s->head.tgid = t->tgid;
	s->head.tid = t->tid;
	s->head.inc = t->inc;
	s->head.type = SBT_REC_CALLERS;
	s->sp = w->from.sp;
	s->fp = w->from.fp;
	s->link = w->link;
}

/*
 * Reserve room in this CPU's ring. If the ring is more than half full, return NULL: the rest is for
 * crossings. Samples have no separate ring, because a sample must be read before its crossing.
 */
static __always_inline void *sample_reserve(__u32 cpu, __u64 size)
{
	__u32 i = cpu < config.nrings ? cpu : 0;
	void *ring = bpf_map_lookup_elem(&rings, &i);

	if (!ring || bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >
			     bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2)
		return NULL;
	return bpf_ringbuf_reserve(ring, size, 0);
}

/*
 * One sample in SAMPLE_WAKE_EVERY checks whether the ring is filling up. A sample takes the room of
 * many crossings.
 */
#define SAMPLE_WAKE_EVERY 8

/*
 * Send a sample of the stack. Return its name, even if there was no room and the sample was not
 * sent.
 */
static __noinline __u64 callers_sample(const struct sbt_thread *t)
{
	__u64 now = bpf_ktime_get_ns(), name;
	__u32 cpu = bpf_get_smp_processor_id();
	const struct sbt_walk *w;
	struct sbt_callers *s;

	if (!t)
		return 0;
	w = &t->walk;
	name = SBT_SAMPLE_NAME | (__u64)(t->tid & 0x3fffff) << 40 | (now >> 6 & 0xffffffffffULL);
	if (w->deep) {
		s = sample_reserve(cpu, sizeof(*s));
		if (!s)
			return name;
		sample_fill(s, t, w, name, now);
		s->len = stack_bytes(s->bytes, w->from.sp, SBT_CALLERS_DEEP);
	} else {
		s = sample_reserve(cpu, sizeof(*s) - SBT_CALLERS_DEEP + SBT_CALLERS_BYTES);
		if (!s)
			return name;
		sample_fill(s, t, w, name, now);
		s->len = stack_bytes(s->bytes, w->from.sp, SBT_CALLERS_BYTES);
	}
	bpf_ringbuf_submit(s, record_wake(cpu, SAMPLE_WAKE_EVERY));
	return name;
}

/* Results of a step. */
enum { STEP_STOP, STEP_DONE, STEP_UNKNOWN };

/*
 * Step from the frame that the thread's walk has reached to its caller's frame. Global, so that the
 * verifier checks it once and not for each step.
 */
__noinline int callers_step(__u32 index, __u32 nth)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	struct sbt_frame_key key = {};
	struct sbt_frame_rule *rule;
	struct sbt_walk *w;
	__u64 cfa, window, ip = 0;

	if (!t || (!t->walk.left && t->walk.want))
		return STEP_STOP;
	w = &t->walk;
	window = w->deep ? SBT_CALLERS_DEEP : SBT_CALLERS_BYTES;
	key.tgid = t->tgid;
	key.inc = t->inc;
	key.ip = w->at.ip;
	rule = bpf_map_lookup_elem(&frame_rules, &key);
	if (!rule)
		return STEP_UNKNOWN;
	if (rule->flags & SBT_FRAME_LAST || (!w->want && !(rule->flags & SBT_FRAME_THROUGH)))
		return STEP_STOP;
	cfa = (rule->flags & SBT_FRAME_BY_FP ? w->at.fp : w->at.sp) + (__s64)rule->cfa;
	/*
	 * Use the same limit as for a sample, so that user space's walk through a sample finds the
	 * same callers.
	 */
	if (cfa < w->at.sp || cfa - w->from.sp > window)
		return STEP_STOP;
	if (rule->flags & SBT_FRAME_LINK) {
		if (nth > 1)
			return STEP_STOP;
		ip = w->link;
	} else if (bpf_probe_read_user(&ip, sizeof(ip), (void *)(cfa + (__s64)rule->ret))) {
		return STEP_STOP;
	}
	if (rule->flags & SBT_FRAME_SAVES_FP &&
	    bpf_probe_read_user(&w->at.fp, sizeof(w->at.fp), (void *)(cfa + (__s64)rule->fp)))
		return STEP_STOP;
	w->at.ip = code_address(ip);
	w->at.sp = cfa;
	if (w->left && w->at.ip && !(rule->flags & SBT_FRAME_THROUGH))
		w->left--;
	return w->at.ip ? STEP_DONE : STEP_STOP;
}

__noinline __u64 callers_walk(__u32 index)
{
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	struct sbt_chain chain = {};
	__u64 name;
	int i, step;

	if (!t)
		return 0;
	t->walk.at = t->walk.from;
	t->walk.left = t->walk.want;
	chain.ip[0] = name = t->walk.from.ip;
	chain.n = 1;
	/* The loop is too large to be unrolled. Linux 5.3 and later support loops. */
	for (i = 1; i < SBT_CHAIN_MAX; i++) {
		step = callers_step(index, i);
		if (step == STEP_UNKNOWN)
			return callers_sample(t);
		if (step == STEP_STOP)
			break;
		chain.ip[i] = t->walk.at.ip;
		chain.n = i + 1;
		name = (name ^ chain.ip[i]) * 0x9e3779b97f4a7c15ULL;
		name ^= name >> 29;
	}
	if (!t->walk.want && chain.n == 1)
		return chain.ip[0];
	if (t->walk.plain && chain.n <= 2)
		return chain.ip[1];
	name = (name & ~SBT_SAMPLE_NAME) | SBT_CHAIN_NAME;
	if (!bpf_map_lookup_elem(&chains, &name))
		bpf_map_update_elem(&chains, &name, &chain, BPF_ANY);
	return name;
}
