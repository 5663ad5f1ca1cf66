/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Short logs that show which threads had a CPU or a lock, one after the other. After a thread has
 * waited for the CPU or the lock, it adds up which threads had it during the wait. Nothing is
 * written while no thread waits.
 */
#ifndef BPF_CPU_OCCUPANCY_H
#define BPF_CPU_OCCUPANCY_H

#include "maps.h"

#define SBT_OCCUPANTS 32 /* a power of two */

struct sbt_occupant {
	__u64 from_ns;
	__u32 tid; /* 0: no thread, or not known */
	__u32 pad;
};

struct sbt_occupancy {
	__u32 last; /* the newest entry, modulo SBT_OCCUPANTS */
	/*
	 * CPUs only: number of entries still to be written before the log stops; set to
	 * SBT_OCCUPANTS whenever a thread begins to wait.
	 */
	__u32 left;
	struct sbt_occupant occupant[SBT_OCCUPANTS];
};

/* Key: the CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sbt_occupancy);
} cpu_turns SEC(".maps");

struct sbt_lock {
	__u64 addr;
	__u32 tgid;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct sbt_lock);
	__type(value, struct sbt_occupancy);
} lock_turns SEC(".maps");

static __always_inline struct sbt_occupancy *occupancy_of_lock(const struct sbt_account *a)
{
	struct sbt_lock lock = { .addr = a->block_at.futex, .tgid = a->tgid };

	return bpf_map_lookup_elem(&lock_turns, &lock);
}

/*
 * Note that thread @tid has the CPU or lock from @now on. If two CPUs do this at the same time, one
 * of the two entries may be lost. Its time is then attributed to the thread of the other entry.
 */
static __always_inline void occupancy_push(struct sbt_occupancy *t, __u32 tid, __u64 now)
{
	__u32 at = (t->last + 1) & (SBT_OCCUPANTS - 1);

	t->occupant[at].tid = tid;
	t->occupant[at].from_ns = now;
	t->last = at;
}

/*
 * Note a wait of @ns for thread @for_tid, which ended at @now. It replaces the wait noted before if
 * it is longer than that wait, less the time since that wait ended.
 */
static __always_inline void waited_longest(struct sbt_waited_for *w, __u32 for_tid, __u64 ns,
					   __u64 now)
{
	if (ns + (now - w->end_ns) < w->ns)
		return;
	w->ns = ns;
	w->end_ns = now;
	w->tid = for_tid;
}

/*
 * Charge @ns to task @tid, which had the CPU for which the thread in slot @index waited. A global
 * function, because the verifier checks global functions once and not for each caller. The account
 * holds all state, because the verifier would follow values in registers along each path through
 * the caller's loop.
 */
__noinline int runs_add(__u32 index, __u32 tid, __u64 ns)
{
	struct sbt_account *a = bpf_map_lookup_elem(&accounts, &index);
	__u32 i, at = 0;

	if (!a)
		return 0;
#pragma unroll
	for (i = 0; i < SBT_RUNS; i++) {
		if (a->runs[i].tid == tid) {
			a->runs[i].ns += ns;
			return 0;
		}
		if (a->runs[i].ns < a->runs[at & (SBT_RUNS - 1)].ns)
			at = i;
	}
	at &= SBT_RUNS - 1;
	if (a->runs[at].ns < ns) {
		a->runs[at].tid = tid;
		a->runs[at].ns = ns;
	}
	return 0;
}

/*
 * Boyer and Moore's majority vote, weighted by time: find the thread that had the CPU or lock for
 * longer than all other threads together, if there is such a thread.
 */
static __always_inline void occupancy_vote(struct sbt_most *m, __u32 tid, __u64 ns)
{
	m->seen_ns += ns;
	if (tid == m->tid) {
		m->votes += ns;
		m->ns += ns;
	} else if (ns > m->votes) {
		m->votes = ns - m->votes;
		m->tid = tid;
		m->ns = ns;
	} else {
		m->votes -= ns;
	}
}

/*
 * Add one entry of the log: thread @tid, from time @from until m->end_ns. occupancy_sum() goes
 * through the entries from the newest to the oldest. Return 1 if no earlier entry matters, because
 * this entry began before the wait. A global function, so that the verifier checks it once and not
 * for each pass of the loop.
 */
__noinline int occupancy_add(__u32 index, __u32 of_cpu, __u32 tid, __u64 from)
{
	struct sbt_account *a = bpf_map_lookup_elem(&accounts, &index);
	struct sbt_most *m;
	bool first;

	if (!a)
		return 1;
	m = &a->most;
	first = from <= a->since_ns;
	if (first)
		from = a->since_ns;
	if (from < m->end_ns) {
		if (tid && tid != a->tid) {
			if (of_cpu)
				runs_add(index, tid, m->end_ns - from);
			occupancy_vote(m, tid, m->end_ns - from);
		}
		m->end_ns = from;
	}
	return first;
}

/*
 * Find the thread that had a CPU or a lock for most of the wait of the thread in slot @index, up to
 * @now. Store the result in `most` of the account. @of_cpu: the thread waited for a CPU, and the
 * tasks that ran are added to `runs`; false: it waited for a lock.
 */
__noinline int occupancy_sum(__u32 index, __u32 of_cpu, __u64 now)
{
	struct sbt_account *a = bpf_map_lookup_elem(&accounts, &index);
	struct sbt_occupancy *t;
	struct sbt_most *m;
	struct sbt_occupant *occupant;
	__u32 i;

	if (!a)
		return 0;
	m = &a->most;
	m->tid = 0;
	m->ns = m->seen_ns = m->votes = 0;
	m->end_ns = now;
	t = of_cpu ? bpf_map_lookup_elem(&cpu_turns, &a->wait_cpu) : occupancy_of_lock(a);
	for (i = 0; t && i < SBT_OCCUPANTS; i++) {
		occupant = &t->occupant[(t->last - i) & (SBT_OCCUPANTS - 1)];
		if (occupancy_add(index, of_cpu, occupant->tid, occupant->from_ns))
			break;
	}
	return 0;
}

#endif /* BPF_CPU_OCCUPANCY_H */
