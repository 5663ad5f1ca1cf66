/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the OpenMP team of a thread. Runtimes give teams no reliable names. So a team is identified
 * by the thread that began its region, and by the nesting level of the region in that thread. The
 * other members find these two by the region's outlined function and its argument.
 */
#ifndef BPF_TEAM_H
#define BPF_TEAM_H

#include "account.h"

/* By how many bytes a return from a function increases the stack pointer. */
#if defined(__TARGET_ARCH_arm64)
#define RETURN_POPS 0
#else
#define RETURN_POPS 8
#endif

/* Flags in struct ident_t of libomp, in the upper half of its first 8 bytes. */
#define IDENT_FLAGS(words)     ((__u32)((words) >> 32))
#define IDENT_BARRIER_EXPLICIT 0x20
#define IDENT_BARRIER_MASK     0x1c0
#define IDENT_BARRIER_SECTIONS 0xc0
#define IDENT_BARRIER_SINGLE   0x140
#define IDENT_BARRIER_IMPLICIT 0x40

static __always_inline struct sbt_teams *teams_of(__u32 index, __u32 tid)
{
	struct sbt_teams *own_teams = bpf_map_lookup_elem(&teams, &index);

	return own_teams && own_teams->tid == tid ? own_teams : NULL;
}

/* Return the innermost region, or NULL. */
static __always_inline struct sbt_team *team_top(struct sbt_teams *own_teams)
{
	__u32 i = own_teams->depth - 1;

	if (i >= SBT_TEAM_DEPTH)
		return NULL;
	/*
	 * Keep the value in one register: the verifiers of older kernels would lose the result of
	 * the comparison at the following addition.
	 */
	asm volatile("" : "+r"(i));
	return &own_teams->stack[i & (SBT_TEAM_DEPTH - 1)];
}

/* Return whether regions may have been running in this process when its tracing began. */
static __always_inline bool teams_unknown(__u32 tgid)
{
	struct sbt_region_key key = { .tgid = tgid };

	return bpf_map_lookup_elem(&regions, &key) != NULL;
}

/*
 * Note that the process may be inside parallel regions that began unseen. The note is valid until
 * the beginning of a region is seen. Not inlined, because of the stack that this function needs.
 */
static __noinline MAYBE_UNUSED void teams_lost(__u32 tgid)
{
	struct sbt_region_key key = { .tgid = tgid };
	struct sbt_region unknown = {};

	bpf_map_update_elem(&regions, &key, &unknown, BPF_ANY);
}

/*
 * Find the team of a thread that arrives at a barrier. Return TEAM_BARRIER, or TEAM_NONE if the
 * thread is outside all regions or the teams cannot be distinguished.
 */
static __noinline MAYBE_UNUSED int team_find(__u32 tgid, __u32 tid, __u32 index, __u64 *object,
					     __u64 *team_index)
{
	struct sbt_teams *own_teams = teams_of(index, tid);
	struct sbt_team *top = own_teams ? team_top(own_teams) : NULL;

	if (!object || !team_index)
		return TEAM_NONE;
	*team_index = 0;
	if (!top) {
		if (own_teams && own_teams->flags & SBT_TEAMS_SEEN)
			return TEAM_NONE;
		if (!teams_unknown(tgid)) {
			/*
			 * The process's first thread is taken to be outside regions. Any other
			 * thread is in a region that began before the process had probes.
			 */
			if (tid == tgid)
				return TEAM_NONE;
			teams_lost(tgid);
		}
		*object = SBT_TEAM_OBJECT(tgid, SBT_TEAM_UNKNOWN);
		return TEAM_BARRIER;
	}
	if (own_teams->depth > SBT_TEAM_DEPTH || (top->flags & SBT_TEAM_AMBIGUOUS)) {
		count(lost_team, bpf_get_smp_processor_id());
		return TEAM_NONE;
	}
	if (top->flags & SBT_TEAM_ALONE)
		return TEAM_NONE;
	*team_index = top->index;
	*object = top->flags & SBT_TEAM_UNSEEN ? SBT_TEAM_OBJECT(tgid, SBT_TEAM_UNKNOWN)
					       : top->object;
	return TEAM_BARRIER;
}

/* Set the kind of the barrier, from the flags in libomp's location argument. */
static __always_inline void team_kind(struct sbt_thread *t)
{
	__u32 flags = IDENT_FLAGS(t->words), implicit = flags & IDENT_BARRIER_MASK;

	t->words = 0;
	t->words_object = 0;
	if (t->family != SBT_FAMILY_LIBOMP)
		return;
	if (flags & IDENT_BARRIER_EXPLICIT)
		t->kind = SBT_KIND_EXPLICIT;
	else if (implicit == IDENT_BARRIER_SECTIONS)
		t->kind = SBT_KIND_SECTIONS;
	else if (implicit == IDENT_BARRIER_SINGLE)
		t->kind = SBT_KIND_SINGLE;
	else if (implicit & IDENT_BARRIER_IMPLICIT)
		t->kind = SBT_KIND_LOOP;
}

/*
 * Set the team's size when the thread leaves the barrier. At that time all members have arrived, so
 * all have been counted as they entered the region. Return 0 if the thread crossed no barrier (a
 * team of one), or if the team cannot be identified.
 */
static __noinline MAYBE_UNUSED int team_words(struct sbt_thread *t, __u32 index)
{
	struct sbt_teams *own_teams = t ? teams_of(index, t->tid) : NULL;
	struct sbt_team *top = own_teams ? team_top(own_teams) : NULL;
	struct sbt_region_key key = {};
	struct sbt_region *r;

	if (!t)
		return 0;
	t->words = 0;
	if (!top || (top->flags & SBT_TEAM_UNSEEN))
		return 1;
	key.fn = top->fn;
	key.data = top->data;
	key.tgid = t->tgid;
	r = bpf_map_lookup_elem(&regions, &key);
	if (!r)
		return 1;
	if ((r->flags & SBT_REGION_AMBIGUOUS) || ((r->flags & SBT_REGION_SEEN) && !r->members)) {
		count(lost_team, bpf_get_smp_processor_id());
		return 0;
	}
	if (!(r->flags & SBT_REGION_SEEN))
		return 1;
	t->words = r->members;
	return r->members > 1;
}

/* Save the mark of the CPU time for crossing_drop(), because the arrival will change it. */
static __always_inline void team_note(const struct sbt_thread *t, __u32 index)
{
	const struct sbt_account *a = config.account ? account_at(index, t->tid) : NULL;
	struct sbt_teams *own_teams = teams_of(index, t->tid);

	if (a && own_teams)
		own_teams->mark_oncpu = a->mark.times[SBT_TIME_ONCPU];
}

/*
 * Number the episode of the team that the thread arrives at. All members count the same episodes,
 * so the numbers agree even if records are lost. Return SBT_CROSSING_ROUND, or 0 if the beginning
 * of the region was not seen.
 */
static __noinline MAYBE_UNUSED int team_round(struct sbt_thread *t, __u32 index)
{
	struct sbt_teams *own_teams = t ? teams_of(index, t->tid) : NULL;
	struct sbt_team *top = own_teams ? team_top(own_teams) : NULL;

	if (!t || !top || !top->number || top->flags & SBT_TEAM_UNSEEN)
		return 0;
	/*
	 * After 65534 barriers in one region the numbers start at 1 again. SBT_ROUND_JOIN, the
	 * number of the join, is not used.
	 */
	top->barriers = top->barriers + 1 == SBT_ROUND_JOIN ? 1 : top->barriers + 1;
	t->round = (__u32)top->number << 16 | top->barriers;
	return SBT_CROSSING_ROUND;
}

/*
 * 1 after a thread of any traced process has created an OpenMP task. From then on, threads may run
 * tasks inside barriers, so departures are seen.
 */
extern volatile __u32 tasks_made;

/* Return the number of threads of the present team, as libgomp keeps it; 0: not known. */
static __always_inline __u32 team_size(struct pt_regs *ctx, const struct sbt_spec *spec)
{
	const struct sbt_team_size *where = &spec->team_size;
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 at = 0, team = 0;
	__u32 count = 0;

	if (!where->known ||
	    (where->slot &&
	     bpf_probe_read_user(&at, sizeof(at), (void *)(PT_REGS_IP(ctx) + where->slot))))
		return 0;
	at += thread_pointer(task) + (__s32)where->team;
	if (bpf_probe_read_user(&team, sizeof(team), (void *)at) || !team ||
	    bpf_probe_read_user(&count, sizeof(count), (void *)(team + (__s32)where->count)))
		return 0;
	return count;
}

/*
 * Return the number of the team's members as they were counted when they entered the region; 0: not
 * known. At the first barrier, members may not have entered the region yet. At the second one, all
 * of them have.
 */
static __always_inline __u32 team_counted(const struct sbt_thread *t, const struct sbt_team *top)
{
	struct sbt_region_key key = { .fn = top->fn, .data = top->data, .tgid = t->tgid };
	struct sbt_region *r = top->barriers < 2 ? NULL : bpf_map_lookup_elem(&regions, &key);

	if (!r || r->flags & SBT_REGION_AMBIGUOUS || !(r->flags & SBT_REGION_SEEN) ||
	    r->members < 2)
		return 0;
	return r->members;
}

/*
 * Return the number of the team's members if the departure from the barrier that the thread arrives
 * at can be inferred, else 0. Call this after team_round(). The number is read once in each region.
 */
static __noinline MAYBE_UNUSED int team_inferred(struct pt_regs *ctx, struct sbt_thread *t,
						 __u32 index, const struct sbt_spec *spec)
{
	struct sbt_teams *own_teams = t ? teams_of(index, t->tid) : NULL;
	struct sbt_team *top = own_teams ? team_top(own_teams) : NULL;

	if (!ctx || !spec || !t || !top || tasks_made)
		return 0;
	if (!top->members)
		top->members = spec->team_size.known ? team_size(ctx, spec) : team_counted(t, top);
	return top->members;
}

/* Undo team_round(), because there was no episode. */
static __always_inline void team_round_undo(const struct sbt_thread *t, struct sbt_teams *own_teams)
{
	struct sbt_team *top = own_teams ? team_top(own_teams) : NULL;

	if (top && t->flags & SBT_CROSSING_ROUND &&
	    t->round == ((__u32)top->number << 16 | top->barriers))
		top->barriers--;
}

static __always_inline void counters_undo(__u32 index)
{
	struct sbt_counting *c = counting_at(index);
	__u32 i;

	for (i = 0; c && i < SBT_COUNTERS_MAX; i++)
		c->mark[i].counter -= c->phase[i];
	/*
	 * A scaled value cannot be subtracted from the count, so such a counter is unknown in this
	 * phase.
	 */
	if (c)
		c->unknown |= c->scaled;
}

/*
 * Drop an arrival that was not at a barrier. No record is written, and the phase continues as if
 * there had been no arrival.
 */
static __noinline MAYBE_UNUSED int crossing_drop(struct sbt_thread *t, __u32 index, __u64 now)
{
	struct sbt_account *a = t && config.account ? account_at(index, t->tid) : NULL;
	struct sbt_teams *own_teams = t ? teams_of(index, t->tid) : NULL;
	__u32 i;

	if (!t)
		return 0;
	team_round_undo(t, own_teams);
	t->arrive_ns = 0;
	t->handler_ns = 0;
	if (!a)
		return 0;
	account_run(a, account_busy(a, &now));
	a->inside = 0;
	for (i = 1; a->phase_changed && i < SBT_TIMES; i++)
		a->mark.times[i] -= a->phase.times[i];
	if (a->phase_changed) {
		SBT_PARTS(UNDO_PART, )
		a->mark.turn_oncpu_ns -= a->phase.turn_oncpu_ns;
	}
	if (own_teams)
		a->mark.times[SBT_TIME_ONCPU] = own_teams->mark_oncpu;
	a->changed |= a->phase_changed;
	a->phase_changed = 0;
	counters_undo(index);
	account_done(a);
	return 0;
}

#endif /* BPF_TEAM_H */
