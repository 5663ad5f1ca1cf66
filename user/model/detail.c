// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The details of a crossing say where its time went. Members are copied often, details never. Each
 * detail is in its own struct until its episode has been passed on. The struct is then reused.
 */
#include "model/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DETAILS_KEPT 1024

struct detail {
	union {
		struct model_detail pub; /* first, because members point at it */
		struct detail *free_next;
	};
};

int detail_copy(struct model *m, const struct model_detail *from, const struct model_detail **out)
{
	struct detail *d = m->free_details;

	if (d) {
		m->free_details = d->free_next;
		m->nfree_details--;
	} else {
		d = malloc(sizeof(*d));
		if (!d)
			return -ENOMEM;
	}
	d->pub = *from;
	if (d->pub.ncounters > MODEL_COUNTERS_MAX)
		d->pub.ncounters = MODEL_COUNTERS_MAX;
	if (d->pub.block.reason >= MODEL_BLOCKED_REASONS)
		d->pub.block.reason = MODEL_BLOCKED_OTHER;
	if (d->pub.second.reason >= MODEL_BLOCKED_REASONS)
		d->pub.second.reason = MODEL_BLOCKED_OTHER;
	*out = &d->pub;
	return 0;
}

void detail_release(struct model *m, const struct model_detail *detail)
{
	struct detail *d = (struct detail *)detail;

	if (!d)
		return;
	if (m->nfree_details >= DETAILS_KEPT) {
		free(d);
		return;
	}
	d->free_next = m->free_details;
	m->free_details = d;
	m->nfree_details++;
}

void details_free(struct model *m)
{
	struct detail *d;

	while (m->free_details) {
		d = m->free_details;
		m->free_details = d->free_next;
		free(d);
	}
}

/* Subtract a part from the remaining time. A part of MODEL_UNKNOWN takes all the remaining time. */
static void take(uint64_t *part, uint64_t *left)
{
	if (*part > *left)
		*part = *left;
	*left -= *part;
}

#define TAKE_PART(member, from, ...) take(&from->member, &left);

/*
 * Make the parts fit the total. The parts are measured with different timestamps from the total,
 * and their sum can exceed the total by some ns. In that case the time on a CPU is shortened to
 * what the other parts leave.
 */
static void settle_phase(struct model_detail *d, uint64_t work)
{
	uint64_t left = work;
	unsigned int i;

	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		take(&d->blocked_ns[i], &left);
	take(&d->runq_ns, &left);
	take(&d->oncpu_ns, &left);
	left = d->oncpu_ns;
	SBT_PART_ONCPU_TIMES(TAKE_PART, d)
	left = work;
	SBT_PART_WORK_TIMES(TAKE_PART, d)
	if (d->turn_oncpu_ns > d->turn_ns + d->begin_ns)
		d->turn_oncpu_ns = d->turn_ns + d->begin_ns;
	if (d->turn_oncpu_ns > d->oncpu_ns)
		d->turn_oncpu_ns = d->oncpu_ns;
	if (d->ran_ns > d->runq_ns)
		d->ran_ns = d->runq_ns;
	if (d->interference_ns > d->runq_ns)
		d->interference_ns = d->runq_ns;
	if (d->block.ns > d->blocked_ns[d->block.reason])
		d->block.ns = d->blocked_ns[d->block.reason];
	if (d->second.ns > d->blocked_ns[d->second.reason])
		d->second.ns = d->blocked_ns[d->second.reason];
}

/* Clear the parts of a phase of unknown length. */
static void forget_phase(struct model_detail *d)
{
	struct model_detail none = {
		.oncpu_ns = MODEL_UNKNOWN,
		.cpus_allowed = d->cpus_allowed,
		.inside_oncpu_ns = d->inside_oncpu_ns,
		.inside_runq_ns = d->inside_runq_ns,
		.inside_ran = d->inside_ran,
		.inside_switches = d->inside_switches,
		.inside_interference_ns = d->inside_interference_ns,
		.ncounters = d->ncounters,
		.scaled = d->scaled,
		.unknown = d->unknown,
	};

	memcpy(none.inside_counters, d->inside_counters, sizeof(none.inside_counters));
	*d = none;
}

static void settle_inside(struct model_detail *d, uint64_t wait)
{
	uint64_t left = wait;

	take(&d->inside_runq_ns, &left);
	take(&d->inside_oncpu_ns, &left);
	if (d->inside_interference_ns > d->inside_runq_ns)
		d->inside_interference_ns = d->inside_runq_ns;
}

static void forget_inside(struct model_detail *d)
{
	d->inside_oncpu_ns = MODEL_UNKNOWN;
	d->inside_runq_ns = 0;
	d->inside_ran = 0;
	d->inside_switches = 0;
	d->inside_interference_ns = 0;
	memset(d->inside_counters, 0, sizeof(d->inside_counters));
}

/*
 * Make the parts of a detail fit the two times, and convert parts of MODEL_UNKNOWN ("all of it")
 * into times. If a time is unknown, clear its parts.
 */
void detail_settle(const struct model_detail *detail, uint64_t work_ns, uint64_t inside_ns)
{
	struct model_detail *d = (struct model_detail *)detail;

	if (work_ns == MODEL_UNKNOWN)
		forget_phase(d);
	else
		settle_phase(d, work_ns);
	if (inside_ns == MODEL_UNKNOWN)
		forget_inside(d);
	else
		settle_inside(d, inside_ns);
}

#define ADD_PART(member, ...)  s->member += d->member;
#define JOIN_PART(member, ...) to->member += from->member;

static void add_phase(struct model_sums *s, const struct model_detail *d, uint64_t work)
{
	unsigned i;

	s->known_ns += work;
	s->interference_ns += d->interference_ns;
	SBT_PARTS_ALL(ADD_PART, )
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		s->blocked_ns[i] += d->blocked_ns[i];
	for (i = 0; i < d->ncounters; i++)
		s->counters[i] += d->counters[i];
}

static void add_inside(struct model_sums *s, const struct model_detail *d, uint64_t inside)
{
	unsigned i;

	s->inside_known_ns += inside;
	s->inside_oncpu_ns += d->inside_oncpu_ns;
	s->inside_runq_ns += d->inside_runq_ns;
	s->interference_ns += d->inside_interference_ns;
	s->inside_switches += d->inside_switches;
	s->slept += d->inside_switches > 0;
	for (i = 0; i < d->ncounters; i++)
		s->inside_counters[i] += d->inside_counters[i];
}

void model_sums_add(struct model_sums *s, const struct model_detail *d, uint64_t work_ns,
		    uint64_t inside_ns)
{
	bool work = work_ns != MODEL_UNKNOWN, inside = inside_ns != MODEL_UNKNOWN;

	if (!d) {
		s->known_ns += work ? work_ns : 0;
		s->oncpu_ns += work ? work_ns : 0;
		s->inside_known_ns += inside ? inside_ns : 0;
		s->inside_oncpu_ns += inside ? inside_ns : 0;
		return;
	}
	if (work)
		add_phase(s, d, work_ns);
	if (inside)
		add_inside(s, d, inside_ns);
	if (!d->ncounters || !(work || inside))
		return;
	s->counted++;
	s->scaled |= d->scaled;
	s->unknown |= d->unknown;
}

/* Subtract @ns from the sums, because the first phase began @ns later than was assumed. */
void sums_shorten(struct model_sums *s, uint64_t ns)
{
	uint64_t left;
	unsigned i;

	s->known_ns = number_less(s->known_ns, ns);
	left = number_less(s->known_ns, s->runq_ns);
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		left = number_less(left, s->blocked_ns[i]);
	if (s->oncpu_ns > left)
		s->oncpu_ns = left;
	left = s->oncpu_ns;
	SBT_PART_ONCPU_TIMES(TAKE_PART, s)
	left = s->known_ns;
	SBT_PART_WORK_TIMES(TAKE_PART, s)
}

void model_sums_join(struct model_sums *to, const struct model_sums *from)
{
	unsigned i;

	to->known_ns += from->known_ns;
	SBT_PARTS_ALL(JOIN_PART, )
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		to->blocked_ns[i] += from->blocked_ns[i];
	to->inside_known_ns += from->inside_known_ns;
	to->inside_oncpu_ns += from->inside_oncpu_ns;
	to->inside_runq_ns += from->inside_runq_ns;
	to->inside_switches += from->inside_switches;
	to->interference_ns += from->interference_ns;
	to->slept += from->slept;
	for (i = 0; i < MODEL_COUNTERS_MAX; i++) {
		to->counters[i] += from->counters[i];
		to->inside_counters[i] += from->inside_counters[i];
	}
	to->counted += from->counted;
	to->scaled |= from->scaled;
	to->unknown |= from->unknown;
}

/* --- tails ----------------------------------------------------------------------------------- */

/*
 * Add to @sums the activity of @t from its last departure to the end of its tail, but at most until
 * @until. The tail is added to the sums of @t itself only when all records of @t have been fed,
 * because the record of an earlier crossing may arrive after the tail.
 */
void tail_add(const struct thread *t, uint64_t until, struct model_sums *sums)
{
	struct model_detail d;
	uint64_t work;

	if (!t->tail_ns || t->tail_done || !t->known_sure)
		return;
	work = number_less(number_less(until < t->tail_ns ? until : t->tail_ns, t->known_ns),
			   t->joined_ns);
	if (!t->tail) {
		model_sums_add(sums, NULL, work, MODEL_UNKNOWN);
		return;
	}
	d = *t->tail;
	d.blocked_ns[MODEL_BLOCKED_LOCK] =
		number_less(d.blocked_ns[MODEL_BLOCKED_LOCK], t->joined_ns);
	settle_phase(&d, work);
	model_sums_add(sums, &d, work, MODEL_UNKNOWN);
}

/* Put the detail of @t's tail back into the pool. */
void tail_drop(struct model *m, struct thread *t)
{
	list_del(&t->tail_link);
	detail_release(m, t->tail);
	t->tail = NULL;
}

/*
 * Add the tails of threads that ended before the watermark, because all of their records have been
 * fed.
 */
void tails_settle(struct model *m)
{
	struct list *l, *next;
	struct thread *t;

	for (l = m->tails.next; l != &m->tails; l = next) {
		next = l->next;
		t = container_of(l, struct thread, tail_link);
		if (!t->pub.exited || t->pub.end_ns > m->watermark || t->nparked)
			continue;
		tail_add(t, thread_until(t, t->pub.end_ns), &t->pub.sums);
		t->tail_done = true;
		tail_drop(m, t);
	}
}

int take_tail(struct model *m, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
	      const struct model_detail *detail)
{
	struct thread *t = thread_find(m, tgid, inc, tid);
	int err;

	if (!t || t->tail_done || t_ns < t->pub.start_ns || (t->pub.exited && t_ns > t->pub.end_ns))
		return 0;
	tail_drop(m, t);
	t->tail_ns = t_ns;
	if (!detail)
		return 0;
	err = detail_copy(m, detail, &t->tail);
	if (err)
		return err;
	list_add_tail(&m->tails, &t->tail_link);
	if (detail->cpus_allowed)
		t->pub.cpus_allowed = detail->cpus_allowed;
	return 0;
}
