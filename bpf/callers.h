/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Who called the caller. Where the caller's address is follows from the code: user space has it from the unwind
 * tables, and tells it for each return address once. Until then a piece of the stack goes along with the crossing, for
 * user space to do the same: so the first crossings have the same site as the rest.
 */
#ifndef BPF_CALLERS_H
#define BPF_CALLERS_H

#include "maps.h"

/* Where a walk begins, as its caller has it: the registers when the call that returns to @ip has returned. */
struct caller_walk {
	__u64 ip, sp, fp;
	__u64 link; /* arm64, in a system call: where its function returns to */
	__u32 want; /* callers; wrappers do not count */
	__u32 plain; /* one caller need not be put into a chain: it is its own name */
};

static __always_inline __u64 code_address(__u64 address)
{
#if defined(__TARGET_ARCH_arm64)
	/* It may be signed, in the bits above those in use. */
	return address & ((1ULL << 48) - 1);
#else
	return address;
#endif
}

/* The registers at the entry of a function, for what called it. */
static __always_inline void walk_begin(struct caller_walk *w, struct pt_regs *ctx, __u64 ip)
{
	w->ip = code_address(ip);
	w->fp = PT_REGS_FP(ctx);
	w->link = 0;
	w->plain = 0;
#if defined(__TARGET_ARCH_arm64)
	w->sp = PT_REGS_SP(ctx);
#else
	w->sp = PT_REGS_SP(ctx) + sizeof(w->sp);
#endif
}

static __always_inline __u32 stack_bytes(void *to, __u64 sp, __u32 most)
{
	if (!bpf_probe_read_user(to, most, (void *)sp))
		return most;
	/* Near the top there is less of it. */
	if (!bpf_probe_read_user(to, most / 4, (void *)sp))
		return most / 4;
	return bpf_probe_read_user(to, most / 16, (void *)sp) ? 0 : most / 16;
}

static __always_inline void sample_fill(struct sbt_callers *s, const struct sbt_thread *t,
					const struct caller_walk *w, __u64 name, __u64 now)
{
	__builtin_memset(&s->head, 0, sizeof(s->head));
	s->head.arrive_ns = s->head.depart_ns = now;
	s->head.object = name;
	s->head.ip = w->ip;
	s->head.words = w->want;
	s->head.tgid = t->tgid;
	s->head.tid = t->tid;
	s->head.inc = t->inc;
	s->head.type = SBT_REC_CALLERS;
	s->sp = w->sp;
	s->fp = w->fp;
	s->link = w->link;
}

/*
 * Room in this CPU's ring, of which samples leave half to the crossings. Not a ring of their own: what goes before its
 * crossing must be read before it.
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

/* Returns the name of a sample of the stack; if there was no room nothing goes by it. */
static __noinline __u64 callers_sample(const struct sbt_thread *t, const struct caller_walk *w)
{
	__u64 now = bpf_ktime_get_ns(), name;
	__u32 cpu = bpf_get_smp_processor_id();
	struct sbt_callers *s;

	if (!t || !w)
		return 0;
	name = SBT_SAMPLE_NAME | (__u64)(t->tid & 0x3fffff) << 40 | (now >> 6 & 0xffffffffffULL);
	if (config.frames) {
		s = sample_reserve(cpu, sizeof(*s));
		if (!s)
			return name;
		sample_fill(s, t, w, name, now);
		s->len = stack_bytes(s->bytes, w->sp, SBT_CALLERS_DEEP);
	} else {
		s = sample_reserve(cpu, sizeof(*s) - SBT_CALLERS_DEEP + SBT_CALLERS_BYTES);
		if (!s)
			return name;
		sample_fill(s, t, w, name, now);
		s->len = stack_bytes(s->bytes, w->sp, SBT_CALLERS_BYTES);
	}
	bpf_ringbuf_submit(s, ring_wake(cpu));
	return name;
}

/*
 * The name of the callers: of a chain (SBT_CHAIN_NAME), of a sample, or the one caller itself; 0: there is none, and it
 * was wanted plain.
 */
static __noinline __u64 callers_walk(const struct sbt_thread *t, const struct caller_walk *w)
{
	__u64 window = config.frames ? SBT_CALLERS_DEEP : SBT_CALLERS_BYTES;
	struct sbt_frame_key key = {};
	struct sbt_chain chain = {};
	struct sbt_frame_rule *rule;
	__u64 sp, fp, cfa, name;
	__u32 want;
	int i;

	if (!t || !w)
		return 0;
	sp = w->sp;
	fp = w->fp;
	want = w->want;
	key.tgid = t->tgid;
	key.inc = t->inc;
	key.ip = name = w->ip;
	chain.ip[0] = w->ip;
	chain.n = 1;
	/* Too much to be unrolled; Linux 5.3 knows loops. */
	for (i = 1; i < SBT_CHAIN_MAX; i++) {
		if (!want)
			break;
		rule = bpf_map_lookup_elem(&frame_rules, &key);
		if (!rule)
			return callers_sample(t, w);
		if (rule->flags & SBT_FRAME_LAST)
			break;
		cfa = (rule->flags & SBT_FRAME_BY_FP ? fp : sp) + (__s64)rule->cfa;
		/* As far as a sample would reach, so that both come to the same. */
		if (cfa < sp || cfa - w->sp > window)
			break;
		if (rule->flags & SBT_FRAME_LINK) {
			if (i > 1)
				break;
			key.ip = w->link;
		} else if (bpf_probe_read_user(&key.ip, sizeof(key.ip),
					       (void *)(cfa + (__s64)rule->ret))) {
			break;
		}
		if (rule->flags & SBT_FRAME_SAVES_FP &&
		    bpf_probe_read_user(&fp, sizeof(fp), (void *)(cfa + (__s64)rule->fp)))
			break;
		key.ip = code_address(key.ip);
		if (!key.ip)
			break;
		sp = cfa;
		if (!(rule->flags & SBT_FRAME_THROUGH))
			want--;
		chain.ip[i] = key.ip;
		chain.n = i + 1;
		name = (name ^ key.ip) * 0x9e3779b97f4a7c15ULL;
		name ^= name >> 29;
	}
	if (w->plain && chain.n <= 2)
		return chain.ip[1];
	name = (name & ~SBT_SAMPLE_NAME) | SBT_CHAIN_NAME;
	if (!bpf_map_lookup_elem(&chains, &name))
		bpf_map_update_elem(&chains, &name, &chain, BPF_ANY);
	return name;
}

#endif /* BPF_CALLERS_H */
