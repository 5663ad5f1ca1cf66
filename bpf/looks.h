/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Count probe hits that are not crossings. Such hits only cost time, so user space removes these
 * probes from a process with many such hits.
 */
#ifndef BPF_LOOKS_H
#define BPF_LOOKS_H

#include "maps.h"

/*
 * Note that the thread has hit probes of @role (enum sbt_role) @hits times, and that @idle of these
 * hits were useless. Report (SBT_REC_HOT) a process with many useless hits. Return 0.
 */
static __noinline MAYBE_UNUSED int hits_add(const struct sbt_thread *t, __u32 role, __u32 hits,
					    __u32 idle)
{
	__u64 now = bpf_ktime_get_ns();
	struct sbt_idle *idle_of;
	struct sbt_event *e;
	struct sbt_proc *p;
	__u32 tgid;

	if (!t)
		return 0;
	tgid = t->tgid;
	p = bpf_map_lookup_elem(&procs, &tgid);
	if (!p || p->inc != t->inc)
		return 0;
	__sync_fetch_and_add(&p->looks, hits);
	/*
	 * One counter serves both turns and semaphores: an OpenMP program rarely has semaphores as
	 * well.
	 */
	idle_of = role == SBT_ROLE_COND_WAIT ? &p->conds : &p->turns;
	if (now - idle_of->since_ns > SBT_LOOKS_NS) {
		idle_of->since_ns = now;
		idle_of->looks = 0;
	}
	__sync_fetch_and_add(&idle_of->looks, idle);
	if (*(volatile __u32 *)&idle_of->looks < SBT_LOOKS_MAX)
		return 0;
	idle_of->looks = 0;
	e = event_new(SBT_REC_HOT, now);
	if (!e)
		return 0;
	event_task(e, tgid, t->tid, p->inc);
	e->role = role;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

#endif /* BPF_LOOKS_H */
