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
	a->inside = ACCOUNT_INSIDE;
	a->fault_since_ns = 0;
	if (steal_may_differ(a))
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
	__u64 now = 0, own;

	if (!a)
		return bpf_ktime_get_ns();
	own = account_busy(a, &now);
	if (config.infer)
		arrival_left(index, tid, now);
	account_arrive(a, index, own);
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
	a->inside = ACCOUNT_OUTSIDE;
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
		a->inside = ACCOUNT_OUTSIDE;
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
		if (steal_may_differ(a))
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

/* --- arrivals without a seen departure -------------------------------------------------------- */

struct arrival_team {
	__u8 bytes[__builtin_offsetof(struct sbt_arrival_full, first_word)];
};

struct arrival_one {
	__u8 bytes[__builtin_offsetof(struct sbt_arrival_full, off) + sizeof(struct sbt_off)];
};

static __always_inline void arrival_head(struct sbt_arrival *r, const struct sbt_thread *t,
					 __u64 now, __u32 cpu, __u8 type, __u8 length)
{
	r->stamp = now | SBT_ARRIVAL_STAMP;
	r->object = t->object;
	r->ip = t->site && t->site_ip == t->ip ? t->site : t->ip;
	r->tgid = t->tgid;
	r->tid = t->tid;
	r->inc = t->inc;
	r->seq = t->seq;
	r->cpu = cpu;
	r->spec = t->spec;
	r->flags = t->flags | SBT_CROSSING_ACCOUNTED |
		   (length == SBT_ARRIVAL_ALL ? SBT_CROSSING_PARTS : 0);
	r->type = type;
	r->length = length;
}

static __always_inline void arrival_of_team(struct sbt_arrival_full *r, const struct sbt_thread *t)
{
	r->raw_word = t->words;
	r->round = t->round;
	r->index = t->index;
	r->kind = t->kind;
	r->pad = 0;
}

/* Fill in the members between `head` and `off`. */
static __always_inline void arrival_more(struct sbt_arrival_full *r, const struct sbt_thread *t,
					 const struct sbt_account *a, const struct sbt_offs *o,
					 __u32 fresh)
{
	arrival_of_team(r, t);
	r->first_word = o->first_word;
	r->woke_ns = o->woke_ns;
	r->left_ns = o->left_ns;
	r->handler_ns = t->handler_ns;
	r->noffs = o->noffs;
	r->merged = o->merged;
	r->unsure = a->unsure;
	r->has_words = fresh != 0;
	r->woke_idle = o->woke_idle;
	__builtin_memset(r->pad2, 0, sizeof(r->pad2));
}

/* Return 1, or 0 if the record is lost. */
static __noinline int arrival_write_one(struct sbt_thread *t, struct sbt_account *a,
					struct sbt_offs *o, __u64 now, __u32 fresh)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sbt_arrival_full *r;
	struct arrival_one *room;

	if (!t || !a || !o)
		return 0;
	room = crossing_reserve(cpu, sizeof(*room));
	if (!room)
		return 0;
	r = (void *)room;
	arrival_head(&r->head, t, now, cpu, SBT_REC_ARRIVAL, SBT_ARRIVAL_ONE);
	arrival_more(r, t, a, o, fresh);
	r->off[0] = o->off[0];
	bpf_ringbuf_submit(room, crossing_wake(t, cpu));
	return 1;
}

static __noinline int arrival_write_team(struct sbt_thread *t, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct arrival_team *room;

	if (!t)
		return 0;
	room = crossing_reserve(cpu, sizeof(*room));
	if (!room)
		return 0;
	arrival_head((void *)room, t, now, cpu, SBT_REC_ARRIVAL, SBT_ARRIVAL_TEAM);
	arrival_of_team((void *)room, t);
	bpf_ringbuf_submit(room, crossing_wake(t, cpu));
	return 1;
}

static __noinline int arrival_write_all(struct sbt_thread *t, struct sbt_account *a,
					struct sbt_offs *o, __u64 now, __u32 fresh)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sbt_arrival_full *r;

	if (!t || !a || !o)
		return 0;
	r = crossing_reserve(cpu, sizeof(*r));
	if (!r)
		return 0;
	arrival_head(&r->head, t, now, cpu, SBT_REC_ARRIVAL, SBT_ARRIVAL_ALL);
	arrival_more(r, t, a, o, fresh);
	__builtin_memcpy(r->off, o->off, sizeof(r->off));
	fill_parts(&r->parts, a);
	bpf_ringbuf_submit(r, crossing_wake(t, cpu));
	return 1;
}

__noinline int offs_in(__u32 index, __u32 tid, __u64 now)
{
	struct sbt_account *a = account_at(index, tid);
	struct sbt_offs *o = offs_at(index, tid);
	struct sbt_off *off;
	__u32 n, i;

	if (!a || !o || !o->out_ns)
		return 0;
	n = o->noffs;
	if (n >= SBT_OFFS) {
		/* There is no room: this element also stands for the time before it. */
		n = SBT_OFFS - 1;
		o->merged = 1;
	}
	barrier_var(n);
	off = &o->off[n & (SBT_OFFS - 1)];
	if (!o->merged)
		off->oncpu_ns = off->runq_ns = 0;
	i = runs_most(a);
	off->out_ns = o->out_ns;
	off->in_ns = now;
	off->oncpu_ns += o->oncpu_ns;
	off->runq_ns += a->times[SBT_TIME_RUNQ] - a->mark.times[SBT_TIME_RUNQ];
	off->ran_ns = a->runs[i].ns;
	off->ran = a->runs[i].tid;
	off->waker = o->waker;
	off->cpu = bpf_get_smp_processor_id();
	off->inside = o->inside;
	o->out_ns = 0;
	/* User space may read the element as soon as it is counted. */
	barrier();
	o->noffs = n + 1;
	__builtin_memcpy(a->mark.times, a->times, sizeof(a->times));
	a->mark.switches = a->switches;
	a->mark.voluntary = a->voluntary;
	a->mark.migrations = a->migrations;
	__builtin_memset(a->runs, 0, sizeof(a->runs));
	a->changed = a->faults != a->mark.faults;
	return 0;
}

/* Begin to keep what happens to the thread after its arrival at @now. */
static __always_inline void offs_begin(struct sbt_offs *o, const struct sbt_thread *t, __u64 now,
				       bool futex)
{
	/* User space may read this at any time: the number is valid last. */
	o->seq = 0;
	barrier();
	o->tid = t->tid;
	o->arrive_ns = now;
	o->object = t->object;
	o->ip = t->ip;
	o->sp = t->sp;
	o->entry = t->entry;
	o->futex = futex;
	o->out_ns = o->woke_ns = o->left_ns = 0;
	o->noffs = o->merged = 0;
	o->index = t->index;
	o->open = 1;
	barrier();
	o->seq = t->seq;
}

/*
 * The thread lost its CPU in the program that noted its arrival at @arrive_ns. Nothing was kept at
 * that switch, because the account was busy: keep it now.
 */
static __noinline int offs_preempted(struct sbt_account *a, struct sbt_offs *o, __u64 arrive_ns,
				     __u32 switches)
{
	struct sbt_off *off;

	if (!a || !o)
		return 0;
	/* Another time may have been kept since account_done(). */
	if (switches != 1 || o->noffs || a->last_away_ns < arrive_ns) {
		a->unsure = 1;
		return 0;
	}
	off = &o->off[0];
	__builtin_memset(off, 0, sizeof(*off));
	off->out_ns = a->last_away_ns;
	off->in_ns = a->last_back_ns;
	off->oncpu_ns = off->out_ns - arrive_ns;
	off->runq_ns = off->in_ns - off->out_ns;
	off->cpu = bpf_get_smp_processor_id();
	barrier();
	o->noffs = 1;
	a->mark.times[SBT_TIME_ONCPU] += off->oncpu_ns;
	a->mark.times[SBT_TIME_RUNQ] = a->times[SBT_TIME_RUNQ];
	a->mark.switches = a->switches;
	a->changed = a->faults != a->mark.faults;
	return 0;
}

__noinline int arrival_write(__u32 index, __u32 tid, __u32 how)
{
	struct sbt_account *a = config.infer ? account_at(index, tid) : NULL;
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	struct sbt_offs *o = bpf_map_lookup_elem(&offs, &index);
	__u32 cpu = bpf_get_smp_processor_id(), away, written = 0, fresh = how & ARRIVAL_FRESH;
	struct sbt_arrival *r;
	__u64 now = 0, own;

	if (!t || t->tid != tid || !a || !o)
		return 0;
	if (fresh && bpf_probe_read_user(&o->first_word, sizeof(o->first_word), (void *)t->object))
		o->first_word = 0;
	own = account_busy(a, &now);
	away = a->away_seq;
	if (o->tid != tid || !o->open) {
		o->noffs = o->merged = 0;
		o->woke_ns = o->left_ns = 0;
		o->index = 0;
		a->unsure = 0;
	}
	rest_reset(a);
	a->fault_since_ns = 0;
	if (steal_may_differ(a))
		steal_take(a);
	account_run(a, own);
	t->seq++;
	if (a->changed || o->noffs > 1) {
		account_phase(a);
		written = arrival_write_all(t, a, o, now, fresh);
		a->phase_changed = 0;
	} else if (o->noffs | o->woke_ns | o->left_ns | a->unsure | fresh | t->handler_ns |
		   (o->index ^ t->index)) {
		written = arrival_write_one(t, a, o, now, fresh);
		a->mark.times[SBT_TIME_ONCPU] = a->times[SBT_TIME_ONCPU];
	} else if (how & ARRIVAL_TEAM) {
		written = arrival_write_team(t, now);
		a->mark.times[SBT_TIME_ONCPU] = a->times[SBT_TIME_ONCPU];
	} else {
		r = crossing_reserve(cpu, sizeof(*r));
		if (r) {
			arrival_head(r, t, now, cpu, SBT_REC_ARRIVAL, SBT_ARRIVAL_SHORT);
			bpf_ringbuf_submit(r, crossing_wake(t, cpu));
			written = 1;
		}
		a->mark.times[SBT_TIME_ONCPU] = a->times[SBT_TIME_ONCPU];
	}
	/* After a lost arrival, user space needs to know what the barrier has counted. */
	if (!written)
		t->words_object = 0;
	if (a->blocks_changed) {
		__builtin_memset(a->blocks, 0, sizeof(a->blocks));
		__builtin_memset(a->votes, 0, sizeof(a->votes));
		a->blocks_changed = 0;
	}
	offs_begin(o, t, now, how & ARRIVAL_FUTEX);
	a->inside = ACCOUNT_MAYBE_INSIDE;
	a->unsure = 0;
	account_done(a);
	away = a->away_seq - away;
	if (UNLIKELY(away))
		offs_preempted(a, o, now, away);
	t->handler_ns = 0;
	return 0;
}

__noinline int arrival_left(__u32 index, __u32 tid, __u64 now)
{
	struct sbt_account *a = config.infer ? account_at(index, tid) : NULL;
	struct sbt_thread *t = bpf_map_lookup_elem(&threads, &index);
	struct sbt_offs *o = offs_at(index, tid);
	__u32 cpu = bpf_get_smp_processor_id();
	struct sbt_arrival_full *r;

	if (!t || t->tid != tid || !a || !o || !o->open)
		return 0;
	if (a->inside == ACCOUNT_MAYBE_INSIDE)
		a->inside = ACCOUNT_OUTSIDE;
	o->open = 0;
	r = ring_reserve(cpu, sizeof(*r));
	if (!r) {
		count(lost_tail, cpu);
		return 0;
	}
	arrival_head(&r->head, t, now, cpu, SBT_REC_LEFT, SBT_ARRIVAL_ALL);
	r->head.object = o->object;
	if (t->object != o->object)
		r->head.flags &= ~SBT_CROSSING_ROUND;
	arrival_more(r, t, a, o, 0);
	__builtin_memcpy(r->off, o->off, sizeof(r->off));
	__builtin_memset(&r->parts, 0, sizeof(r->parts));
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}
