// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Split the lateness of one thread relative to another into parts, without remainder. */
#include "analyse/internal.h"
#include "base/number.h"

#include <string.h>

/*
 * A member's phase, in ns. Differences are taken modulo 2^64, so nothing overflows, and sums are
 * exact.
 */
struct spent {
	uint64_t from; /* time when the thread left the preceding barrier */
	uint64_t oncpu, fault, steal, runq, rest;
	/* blocked time by reason; page faults count in `fault` */
	uint64_t blocked[MODEL_BLOCKED_REASONS];
};

static bool handler_of(const struct model_member *m, struct spent *s)
{
	const struct model_detail *d = m->detail;
	uint64_t known, on_fault, spins;
	unsigned i;

	if (m->work_ns == MODEL_UNKNOWN)
		return false;
	memset(s, 0, sizeof(*s));
	s->from = m->arrive_ns - m->work_ns;
	if (!d) {
		s->oncpu = m->work_ns;
		return m->flags & MODEL_CROSSING_ACCOUNTED;
	}
	known = s->runq = d->runq_ns;
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++) {
		s->blocked[i] = d->blocked_ns[i];
		known += d->blocked_ns[i];
	}
	s->oncpu = d->oncpu_ns;
	if (s->oncpu == MODEL_UNKNOWN)
		s->oncpu = number_less(m->work_ns, known);
	s->rest = m->work_ns - known - s->oncpu;
	on_fault = d->fault_ns < s->oncpu ? d->fault_ns : s->oncpu;
	s->oncpu -= on_fault;
	s->steal = d->steal_ns < s->oncpu ? d->steal_ns : s->oncpu;
	s->oncpu -= s->steal;
	/* A thread that spins for its turn does no work, because it waits for the lock holder. */
	spins = d->turn_oncpu_ns < s->oncpu ? d->turn_oncpu_ns : s->oncpu;
	s->oncpu -= spins;
	s->blocked[MODEL_BLOCKED_LOCK] += spins;
	s->fault = on_fault + s->blocked[MODEL_BLOCKED_FAULT];
	s->blocked[MODEL_BLOCKED_FAULT] = 0;
	return true;
}

static bool instructions_of(uint32_t i, const struct model_member *m, uint64_t *value)
{
	const struct model_detail *d = m->detail;

	if (!d || i >= d->ncounters || i >= MODEL_COUNTERS_MAX || d->unknown & 1u << i)
		return false;
	*value = d->counters[i];
	return true;
}

/*
 * Split the work by instructions: additional instructions at the reference's pace, and the rest as
 * slower work.
 */
static void split_work(uint32_t counter, const struct model_member *l,
		       const struct model_member *ref, uint64_t ref_ns, struct cause_parts *p)
{
	uint64_t il, ir;
	__int128 more;

	if (!instructions_of(counter, l, &il) || !instructions_of(counter, ref, &ir) || !ir || !il)
		return;
	if (il > INT64_MAX || ir > INT64_MAX || ref_ns > INT64_MAX)
		return;
	more = ((__int128)il - (__int128)ir) * (__int128)ref_ns / (__int128)ir;
	if (more > INT64_MAX / 2 || more < INT64_MIN / 2)
		return;
	p->ns[CAUSE_MORE_WORK] = (int64_t)more;
	p->ns[CAUSE_SLOWER_WORK] = (int64_t)((uint64_t)p->ns[CAUSE_WORK] - (uint64_t)more);
	p->ns[CAUSE_WORK] = 0;
}

enum cause_kind lateness_of_reason(unsigned reason)
{
	static const enum cause_kind by_reason[MODEL_BLOCKED_REASONS] = {
		[MODEL_BLOCKED_LOCK] = CAUSE_LOCK,
		[MODEL_BLOCKED_IO] = CAUSE_IO,
		[MODEL_BLOCKED_FAULT] = CAUSE_FAULT,
		[MODEL_BLOCKED_SLEEP] = CAUSE_SLEEP,
		[MODEL_BLOCKED_THROTTLED] = CAUSE_THROTTLED,
		[MODEL_BLOCKED_OTHER] = CAUSE_OTHER,
		[MODEL_BLOCKED_GIL] = CAUSE_GIL,
	};

	return reason < MODEL_BLOCKED_REASONS ? by_reason[reason] : CAUSE_NONE;
}

bool lateness_parts(uint32_t instructions, const struct model_member *l,
		    const struct model_member *ref, struct cause_parts *p)
{
	struct spent a, b;
	unsigned i;

	if (!handler_of(l, &a) || !handler_of(ref, &b))
		return false;
	memset(p, 0, sizeof(*p));
	p->lateness_ns = (int64_t)(l->arrive_ns - ref->arrive_ns);
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		p->ns[lateness_of_reason(i)] = (int64_t)(a.blocked[i] - b.blocked[i]);
	p->ns[CAUSE_FAULT] = (int64_t)(a.fault - b.fault);
	p->ns[CAUSE_CPU] = (int64_t)(a.runq - b.runq);
	p->ns[CAUSE_STEAL] = (int64_t)(a.steal - b.steal);
	p->ns[CAUSE_WORK] = (int64_t)(a.oncpu - b.oncpu);
	p->ns[CAUSE_RELEASED_LATE] = (int64_t)(a.from - b.from);
	p->ns[CAUSE_UNATTRIBUTED] = (int64_t)(a.rest - b.rest);
	split_work(instructions, l, ref, b.oncpu, p);
	return true;
}

double lateness_positive(const int64_t *parts)
{
	double sum = 0;
	unsigned k;

	for (k = 0; k < CAUSE_KINDS; k++)
		if (parts[k] > 0)
			sum += (double)parts[k];
	return sum;
}

enum cause_kind lateness_largest(const int64_t *parts, enum cause_kind but)
{
	enum cause_kind top = CAUSE_NONE;
	unsigned k;

	for (k = 0; k < CAUSE_KINDS; k++)
		if (k != but && parts[k] > 0 && (top == CAUSE_NONE || parts[k] > parts[top]))
			top = k;
	return top;
}
