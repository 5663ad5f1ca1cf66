// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
// Copyright (c) 2026 The sbt-trace authors
/*
 * Update a thread's account at its arrival, and write the record at its departure. All programs
 * that see threads arrive and depart share these functions.
 */
#include "account.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct with_inside {
	struct sbt_crossing crossing;
	struct sbt_inside inside;
};

struct with_parts {
	struct sbt_crossing crossing;
	struct sbt_inside inside;
	struct sbt_parts parts;
};

struct with_counters {
	struct sbt_crossing crossing;
	struct sbt_inside inside;
	struct sbt_counters counters;
};

/* --- arrival ---------------------------------------------------------------------------------- */

/*
 * End the phase of the running thread, which arrives at a barrier. @own: the time of the arrival in
 * the thread's own time (less away_ns).
 */
static __always_inline void account_arrive(struct sbt_account *a, __u32 index, __u64 own)
{
	counters_phase(a, index);
	rest_reset(a);
	a->inside = 1;
	a->fault_since_ns = 0;
	steal_take(a);
	account_run(a, own);
	if (a->changed) {
		account_phase(a);
	} else {
		a->phase_changed = 0;
		a->mark.times[SBT_TIME_ONCPU] = a->times[SBT_TIME_ONCPU];
	}
}

__noinline __u64 crossing_arrive(__u32 index, __u32 tid)
{
	struct sbt_account *a = config.account ? account_at(index, tid) : NULL;
	__u64 now = 0;

	if (!a)
		return bpf_ktime_get_ns();
	account_arrive(a, index, account_busy(a, &now));
	account_done(a);
	return now;
}

/* --- departure -------------------------------------------------------------------------------- */

/*
 * Not inlined, because only threads that were switched out or had a page fault in their phase need
 * it.
 */
static __noinline int crossing_write_parts(struct sbt_thread *t, struct sbt_account *a,
					   __u64 depart_ns)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct with_parts *r;

	if (!t || !a)
		return 0;
	r = crossing_reserve(cpu, sizeof(*r));
	if (!r)
		return 0;
	crossing_fill(&r->crossing, t, depart_ns, cpu, HAS_PARTS);
	fill_inside(&r->inside, a);
	fill_parts(&r->parts, a);
	bpf_ringbuf_submit(r, crossing_wake(t, cpu));
	return 0;
}

/* Write a crossing with counters, whether or not the thread was switched out. */
static __noinline int crossing_write_counters(struct sbt_thread *t, struct sbt_account *a,
					      __u32 index, __u64 depart_ns)
{
	struct sbt_counting *c = counting_at(index);
	__u32 cpu = bpf_get_smp_processor_id();
	struct sbt_crossing_full *f;
	struct with_counters *r;

	if (!t || !a || !c)
		return 0;
	counters_take(c, a, true);
	if (a->phase_changed) {
		f = crossing_reserve(cpu, sizeof(*f));
		if (!f)
			return 0;
		crossing_fill(&f->crossing, t, depart_ns, cpu, HAS_PARTS | SBT_CROSSING_COUNTERS);
		fill_inside(&f->inside, a);
		fill_parts(&f->parts, a);
		fill_counters(&f->counters, c);
		bpf_ringbuf_submit(f, crossing_wake(t, cpu));
		return 0;
	}
	r = crossing_reserve(cpu, sizeof(*r));
	if (!r)
		return 0;
	crossing_fill(&r->crossing, t, depart_ns, cpu, HAS_COUNTERS);
	fill_inside(&r->inside, a);
	fill_counters(&r->counters, c);
	bpf_ringbuf_submit(r, crossing_wake(t, cpu));
	return 0;
}

static __noinline int crossing_write_inside(struct sbt_thread *t, struct sbt_account *a,
					    __u64 depart_ns)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct with_inside *r;

	if (!t || !a)
		return 0;
	r = crossing_reserve(cpu, sizeof(*r));
	if (!r)
		return 0;
	crossing_fill(&r->crossing, t, depart_ns, cpu, HAS_INSIDE);
	fill_inside(&r->inside, a);
	bpf_ringbuf_submit(r, crossing_wake(t, cpu));
	return 0;
}

/* Begin a new phase at the thread's departure. */
static __always_inline void account_leave(struct sbt_account *a)
{
	a->inside = 0;
	rest_reset(a);
	if (a->changed)
		account_mark(a);
	else
		a->mark.times[SBT_TIME_ONCPU] = a->times[SBT_TIME_ONCPU];
	a->phase_changed = 0;
	if (a->blocks_changed) {
		__builtin_memset(a->blocks, 0, sizeof(a->blocks));
		__builtin_memset(a->votes, 0, sizeof(a->votes));
		a->blocks_changed = 0;
	}
}

/*
 * --aggregate: abandon a crossing if its departure was not seen. This function must not use atomics
 * that return a value, because kernels without such atomics also load it.
 */
static __noinline int sums_abandon(struct sbt_thread *t, __u64 now)
{
	struct sbt_sums *sum = NULL;
	struct sbt_open_episodes *m;
	struct sbt_summing *s;
	__u32 at;

	if (!t)
		return 0;
	s = &t->summing;
	t->seq++;
	at = s->open_episodes;
	m = bpf_map_lookup_elem(&meetings, &at);
	if (m)
		m->doubted = 1;
	at = s->sums;
	if (s->site_known)
		sum = bpf_map_lookup_elem(&sums, &at);
	if (!s->site_known) {
		/* The call site is not known, and the thread's stack is gone by now. */
		count(lost_no_site, bpf_get_smp_processor_id());
	} else if (!sum) {
		count(lost_sum, bpf_get_smp_processor_id());
	} else {
		sum->abandoned++;
		sum->partial++;
		sum->unknown_ns += now - t->arrive_ns;
		if (!sum->first_arrive_ns && !s->depart_ns)
			sum->first_arrive_ns = t->arrive_ns;
		sum->depart_ns = s->depart_ns = now;
		s->release_ns = 0;
	}
	t->arrive_ns = 0;
	return 0;
}

__noinline int crossing_cancel(__u32 index, __u32 tid)
{
	struct sbt_account *a = config.account ? account_at(index, tid) : NULL;
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);

	if (!t || t->tid != tid)
		return 0;
	if (a) {
		a->inside = 0;
		a->phase_changed = 0;
	}
	t->arrive_ns = 0;
	t->handler_ns = 0;
	return 0;
}

__noinline int crossing_write(__u32 index, __u32 tid, __u64 depart_ns, __u64 now)
{
	struct sbt_account *a = config.account ? account_at(index, tid) : NULL;
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	__u32 cpu = bpf_get_smp_processor_id();
	struct sbt_crossing *c;

	if (!t || t->tid != tid)
		return 0;
	if (config.aggregate) {
		sums_abandon(t, now);
		return 0;
	}
	t->seq++;
	if (a) {
		account_run(a, account_busy(a, &now));
		/* Steal time inside the barrier belongs to no phase, so skip it. */
		a->steal_base = steal_time(a);
	}
	if (!depart_ns && !(t->flags & SBT_CROSSING_NO_DEPART)) {
		t->flags |= SBT_CROSSING_ABANDONED;
		depart_ns = now;
	}
	if (a && config.ncounters) {
		crossing_write_counters(t, a, index, depart_ns);
	} else if (a && a->phase_changed) {
		crossing_write_parts(t, a, depart_ns);
	} else if (a && a->changed) {
		crossing_write_inside(t, a, depart_ns);
	} else {
		c = crossing_reserve(cpu, sizeof(*c));
		if (c) {
			crossing_fill(c, t, depart_ns, cpu, a ? SBT_CROSSING_ACCOUNTED : 0);
			bpf_ringbuf_submit(c, crossing_wake(t, cpu));
		}
	}
	if (a) {
		/*
		 * A worker at the end of a region stays inside: the rest of its time inside is
		 * recorded when it continues.
		 */
		if (t->flags & SBT_CROSSING_NO_DEPART)
			a->phase_changed = 0;
		else
			account_leave(a);
		account_done(a);
	}
	t->arrive_ns = 0;
	t->handler_ns = 0;
	return 0;
}
