/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Keep the recent past of traced threads. It is needed because a thread knows only at the end of
 * its wait for which thread it waited. The sums of a thread's times are stored at each change of
 * its state. The sums of the last few changes are all kept. Of older changes, only some are kept:
 * the older the changes, the fewer. So the sums are known exactly for the recent past, and by
 * interpolation for earlier times.
 */
#ifndef BPF_PAST_H
#define BPF_PAST_H

#include "account.h"

#define PAST_LEVELS  12
#define PAST_KEPT    4 /* a power of two */
#define PAST_REST_NS 1000000000
#define PAST_SHIFT   10 /* sums of times are kept in units of 2^10 ns, modulo 2^32 */
#define PAST_NONE    (PAST_LEVELS * PAST_KEPT)

struct past_sums {
	__u64 at_ns;
	__u32 times[SBT_TIMES];
};

struct sbt_past {
	__u32 tid; /* 0: free */
	__u32 changes;
	__u64 from_ns; /* older sums belong to another thread */
	__u64 noted_ns; /* time of the last change */
	/*
	 * Results of past_around(): index and time of the last change up to a given time, and of
	 * the first change after it. They are stored here so that the verifier does not follow
	 * their values through the loop.
	 */
	__u32 before, after; /* PAST_NONE: no such change is kept */
	__u64 before_ns, after_ns;
	__u32 grew[SBT_TIMES]; /* result of past_grow(), in the unit of the sums */
	/*
	 * Change number n is at level i if 2^i divides n and 2^(i + 1) does not. Changes that would
	 * be above the last level are at the last level. The last entry holds the present sums, for
	 * past_grow().
	 */
	struct past_sums sums[PAST_LEVELS * PAST_KEPT + 1];
};

/*
 * Index: the thread's slot, modulo SBT_PASTS. If two threads need the same entry, the first thread
 * keeps it until the thread's state has not changed for PAST_REST_NS.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sbt_past);
} pasts SEC(".maps");

static __always_inline struct sbt_past *past_at(__u32 index)
{
	__u32 at = index & (SBT_PASTS - 1);

	return bpf_map_lookup_elem(&pasts, &at);
}

static __always_inline void past_clear(struct sbt_past *p, __u32 tid, __u64 now)
{
	p->tid = tid;
	p->changes = 0;
	p->from_ns = now;
}

static __always_inline void sums_now(struct past_sums *s, const __u64 times[SBT_TIMES], __u64 now)
{
	__u32 i;

	s->at_ns = now;
#pragma unroll
	for (i = 0; i < SBT_TIMES; i++)
		s->times[i] = (__u32)(times[i] >> PAST_SHIFT);
}

/*
 * Return the position of the lowest bit that is set in @n, among the lowest PAST_LEVELS bits. BPF
 * has no instruction for this.
 */
static __always_inline __u32 lowest_bit(__u32 n)
{
	__u32 bit = n & -n;

#define ANY(mask) (((bit & (mask)) + 0xfff) >> 12 & 1)
	return ANY(0xaaa) | ANY(0xccc) << 1 | ANY(0x0f0) << 2 | ANY(0xf00) << 3;
#undef ANY
}

/* Store the thread's sums at a change of its state. */
static __always_inline void past_write(struct sbt_past *p, struct sbt_account *a)
{
	__u64 now = a->since_ns, at;
	__u32 n, level;

	if (p->tid != a->tid) {
		if (p->tid && now - p->noted_ns < PAST_REST_NS)
			return;
		past_clear(p, a->tid, now);
	}
	p->noted_ns = now;
	n = ++p->changes;
	level = lowest_bit(n | 1U << (PAST_LEVELS - 1));
	/*
	 * Choose one of the level's PAST_KEPT entries by the bits of the number that differ between
	 * successive changes of this level.
	 */
	at = level * PAST_KEPT + (n >> (level + (level < PAST_LEVELS - 1)) & (PAST_KEPT - 1));
	barrier_var(at); /* without this, older verifiers lose track of the value of `at` */
	if (at < PAST_NONE)
		sums_now(&p->sums[at], a->times, now);
}

/*
 * Note a change of the state of the thread in slot @index. Global, so that the verifier checks it
 * once and not for each caller.
 */
__noinline int past_note(__u32 index)
{
	struct sbt_account *a = bpf_map_lookup_elem(&accounts, &index);
	struct sbt_past *p = past_at(index);

	/*
	 * While one of the thread's own programs updates the account, the sums are not up to date.
	 */
	if (a && p && !a->busy && a->state != ACCOUNT_RESTING)
		past_write(p, a);
	return 0;
}

/* Do the same as past_note() for the two threads of a switch, if they are traced. */
__noinline int past_switched(__u32 out, __u32 in)
{
	__u32 index = 0;

	if (account_find(out, &index))
		past_note(index);
	if (account_find(in, &index))
		past_note(index);
	return 0;
}

/* Begin to keep the past of the thread in slot @index, which has just been created. */
__noinline int past_begin(__u32 index)
{
	struct sbt_account *a = bpf_map_lookup_elem(&accounts, &index);
	struct sbt_past *p = past_at(index);

	if (!a || !p)
		return 0;
	if (p->tid == a->tid)
		past_clear(p, a->tid, a->since_ns);
	past_write(p, a);
	return 0;
}

/*
 * Set `before` to the last kept change up to @since, and `after` to the first kept change after it.
 */
__noinline int past_around(__u32 index, __u64 since)
{
	struct sbt_past *p = past_at(index);
	__u64 at_ns;
	__u32 i;

	if (!p)
		return 0;
	p->before = p->after = PAST_NONE;
	p->before_ns = 0;
	p->after_ns = ~0ULL;
	for (i = 0; i < PAST_NONE; i++) {
		at_ns = p->sums[i].at_ns;
		if (at_ns < p->from_ns || !at_ns)
			continue;
		if (at_ns > since) {
			if (at_ns < p->after_ns) {
				p->after_ns = at_ns;
				p->after = i;
			}
		} else if (at_ns > p->before_ns) {
			p->before_ns = at_ns;
			p->before = i;
		}
	}
	return 0;
}

/*
 * Set `grew` to how much each of the thread's times grew from @since to now. Call it after
 * past_around(), with the present sums in sums[PAST_NONE].
 */
__noinline int past_grow(__u32 index, __u64 since)
{
	const struct past_sums *first, *next, *last;
	struct sbt_past *p = past_at(index);
	__u64 span, part, before, after;
	__u32 i;

	if (!p)
		return 0;
	before = p->before;
	after = p->after;
	barrier_var(before);
	barrier_var(after);
	if (before > PAST_NONE || after > PAST_NONE)
		return 0;
	first = &p->sums[before];
	next = &p->sums[after];
	last = &p->sums[PAST_NONE];
	span = (next->at_ns - first->at_ns) >> PAST_SHIFT;
	part = (next->at_ns - since) >> PAST_SHIFT;
	/* Nothing is known about the time before the first change that is kept. */
	if (before == PAST_NONE || !span)
		part = 0;
	for (i = 0; i < SBT_TIMES; i++) {
		p->grew[i] = last->times[i] - next->times[i];
		if (part)
			p->grew[i] += (__u64)(next->times[i] - first->times[i]) * part / span;
	}
	return 0;
}

#endif /* BPF_PAST_H */
