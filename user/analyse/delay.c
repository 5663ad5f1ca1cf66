// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Delay costs (Boehme, Geimer, Wolf et al., "Identifying the root causes of wait states", 2010;
 * Scalasca). Every wait is charged to the phases in which it began. For the last thread l of an
 * episode and a waiting thread i, the wait is the time by which l took longer than i since their
 * last common episode. The time by which l's own phases were longer is a direct cost of these
 * phases. The time by which l itself waited longer is charged to the phases in which l's waits
 * began, as a passed-on cost. The shares are scaled so that all of i's wait is charged exactly
 * once.
 *
 * Each thread keeps a bounded history of its recent episodes. The history is not needed in the
 * usual case, in which the previous episode had the same members.
 */
#include "analyse/internal.h"
#include "base/array.h"
#include "base/grow.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * maximum number of segments of a thread's history; to make room, adjacent segments at one barrier
 * are folded first
 */
#define SEGMENTS 16
/* maximum number of origins of one wait; smaller origins are not passed on further */
#define ORIGINS	 4
#define ROWS	 (2 * SEGMENTS + 2)

struct origin {
	uint64_t ns;
	uint32_t barrier;
};

/*
 * A thread's phase and its time in the episode that ends the phase, or the sums over several
 * successive episodes at one barrier.
 */
struct segment {
	uint64_t first, last; /* serial numbers of its first and last episode */
	uint64_t work_ns, wait_ns, latency_ns;
	uint32_t barrier;
	uint32_t norigins;
	/* origins of wait_ns; if their sum is less than wait_ns, the rest is unknown */
	struct origin origins[ORIGINS];
};

struct history {
	uint32_t tid;
	bool dropped; /* older segments were dropped */
	uint32_t head, n; /* ring buffer, oldest segment first */
	struct segment segments[SEGMENTS];
};

struct row {
	uint64_t direct_ns, passed_ns;
	bool any;
};

struct delay {
	struct history **threads; /* indexed as in the model */
	struct row *rows; /* indexed by barrier */
	uint32_t nthreads, nrows;
	uint64_t serial; /* serial number of the latest episode, from 1 */
};

/* The part of one wait that is charged to the phases that end at one barrier. */
struct charge {
	uint32_t barrier;
	uint64_t direct_ns, passed_ns;
};

struct charges {
	uint32_t n;
	struct charge of[ROWS + SEGMENTS * ORIGINS];
};

struct delay *delay_new(void)
{
	return calloc(1, sizeof(struct delay));
}

void delay_free(struct delay *d)
{
	uint32_t i;

	if (!d)
		return;
	for (i = 0; i < d->nthreads; i++)
		free(d->threads[i]);
	free(d->threads);
	free(d->rows);
	free(d);
}

void delay_of(const struct delay *d, uint32_t barrier, uint64_t *direct_ns, uint64_t *passed_ns)
{
	bool known = barrier < d->nrows && d->rows[barrier].any;

	*direct_ns = known ? d->rows[barrier].direct_ns : REPORT_UNKNOWN;
	*passed_ns = known ? d->rows[barrier].passed_ns : REPORT_UNKNOWN;
}

int delay_fold(struct delay *d, uint32_t from, uint32_t into)
{
	int err;

	if (from >= d->nrows)
		return 0;
	err = grow_zeroed(d->rows, d->nrows, into + 1);
	if (err)
		return err;
	d->rows[into].any |= d->rows[from].any;
	d->rows[into].direct_ns += d->rows[from].direct_ns;
	d->rows[into].passed_ns += d->rows[from].passed_ns;
	d->rows[from] = (struct row){ 0 };
	return 0;
}

/*
 * --- histories ----------------------------------------------------------------------------------
 */

static struct segment *seg_at(struct history *h, uint32_t i)
{
	return &h->segments[(h->head + i) % SEGMENTS];
}

/* Return the k-th newest segment. */
static struct segment *newest(struct history *h, uint32_t k)
{
	return seg_at(h, h->n - 1 - k);
}

static uint64_t last_serial(struct history *h)
{
	return h->n ? newest(h, 0)->last : 0;
}

static void origin_add(struct segment *s, uint32_t barrier, uint64_t ns)
{
	uint32_t i, least = 0;

	for (i = 0; i < s->norigins; i++) {
		if (s->origins[i].barrier == barrier) {
			s->origins[i].ns += ns;
			return;
		}
		if (s->origins[i].ns < s->origins[least].ns)
			least = i;
	}
	if (!ns)
		return;
	if (s->norigins < ORIGINS)
		least = s->norigins++;
	else if (s->origins[least].ns >= ns)
		return;
	s->origins[least] = (struct origin){ .barrier = barrier, .ns = ns };
}

static void fold(struct segment *into, const struct segment *older)
{
	into->first = older->first;
	into->work_ns += older->work_ns;
	into->wait_ns += older->wait_ns;
	into->latency_ns += older->latency_ns;
	array_for_each (origin, older->origins, older->norigins)
		origin_add(into, origin->barrier, origin->ns);
}

/*
 * Make room for a segment: fold the two oldest consecutive segments at one barrier. If there are
 * none, drop the oldest segment.
 */
static void make_room(struct history *h)
{
	uint32_t i, j;

	for (i = 0; i + 1 < h->n; i++) {
		if (seg_at(h, i)->barrier != seg_at(h, i + 1)->barrier)
			continue;
		fold(seg_at(h, i + 1), seg_at(h, i));
		for (j = i; j > 0; j--)
			*seg_at(h, j) = *seg_at(h, j - 1);
		break;
	}
	if (i + 1 >= h->n)
		h->dropped = true;
	h->head = (h->head + 1) % SEGMENTS;
	h->n--;
}

static struct segment *push(struct history *h, const struct model_member *m, uint64_t serial,
			    uint32_t barrier)
{
	struct segment *s;

	if (m->work_ns == MODEL_UNKNOWN) {
		/* The thread may have taken part in unrecorded episodes since its last segment. */
		h->n = 0;
		h->dropped = true;
	}
	if (h->n == SEGMENTS)
		make_room(h);
	s = seg_at(h, h->n++);
	*s = (struct segment){
		.first = serial,
		.last = serial,
		.work_ns = m->work_ns == MODEL_UNKNOWN ? 0 : m->work_ns,
		.wait_ns = m->wait_ns,
		.latency_ns = m->latency_ns == MODEL_UNKNOWN ? 0 : m->latency_ns,
		.barrier = barrier,
	};
	return s;
}

/*
 * Count the segments of both threads after their last common episode, or after their start. Return
 * false if unknown.
 */
static bool since_common(struct history *l, struct history *i, uint32_t *nl, uint32_t *ni)
{
	uint32_t a = 0, b = 0;

	while (a < l->n && b < i->n) {
		const struct segment *x = newest(l, a), *y = newest(i, b);

		if (x->last == y->last) {
			*nl = a;
			*ni = b;
			return true;
		}
		/*
		 * A folded segment covers several episodes. If the segments overlap, it is unknown
		 * which of these episodes, if any, was the last common one.
		 */
		if (x->last > y->last ? x->first <= y->last : y->first <= x->last)
			return false;
		if (x->last > y->last)
			a++;
		else
			b++;
	}
	*nl = l->n;
	*ni = i->n;
	return !l->dropped && !i->dropped;
}

/* --- the parts of a wait --- */

struct excess {
	uint32_t n;
	struct {
		uint32_t barrier;
		uint64_t l_ns, i_ns;
	} rows[ROWS]; /* work in the phases that end at the barrier */
	uint64_t l_wait_ns, i_wait_ns;
	/* time to leave barriers, and difference of starting times */
	uint64_t l_other_ns, i_other_ns;
	uint32_t other_barrier;
};

static void excess_work(struct excess *x, uint32_t barrier, uint64_t l_ns, uint64_t i_ns)
{
	uint32_t k;

	for (k = 0; k < x->n && x->rows[k].barrier != barrier; k++)
		;
	if (k == x->n) {
		x->rows[x->n].barrier = barrier;
		x->rows[x->n].l_ns = x->rows[x->n].i_ns = 0;
		x->n++;
	}
	x->rows[k].l_ns += l_ns;
	x->rows[k].i_ns += i_ns;
}

static void excess_between(struct excess *x, struct history *hl, uint32_t nl, struct history *hi,
			   uint32_t ni, const struct model_member *l, const struct model_member *i,
			   uint32_t barrier)
{
	uint64_t l_from = l->arrive_ns - l->work_ns, i_from = i->arrive_ns - i->work_ns;
	const struct segment *s;
	uint32_t k;

	excess_work(x, barrier, l->work_ns, i->work_ns);
	x->other_barrier = barrier;
	for (k = 0; k < nl; k++) {
		s = newest(hl, k);
		excess_work(x, s->barrier, s->work_ns, 0);
		x->l_wait_ns += s->wait_ns;
		x->l_other_ns += s->latency_ns;
		l_from -= s->work_ns + s->wait_ns + s->latency_ns;
		x->other_barrier = s->barrier;
	}
	for (k = 0; k < ni; k++) {
		s = newest(hi, k);
		excess_work(x, s->barrier, 0, s->work_ns);
		x->i_wait_ns += s->wait_ns;
		x->i_other_ns += s->latency_ns;
		i_from -= s->work_ns + s->wait_ns + s->latency_ns;
	}
	/*
	 * The thread that left the common episode later, or was created later, had less time than
	 * the other thread. Add the difference to its time.
	 */
	if (l_from > i_from)
		x->l_other_ns += l_from - i_from;
	else
		x->i_other_ns += i_from - l_from;
}

/* Return @ns x @part / @whole. */
static uint64_t scaled(uint64_t ns, uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)ns * part / whole) : 0;
}

static struct charge *charge_to(struct charges *c, uint32_t barrier)
{
	uint32_t k;

	for (k = 0; k < c->n && c->of[k].barrier != barrier; k++)
		;
	if (k == c->n)
		c->of[c->n++] = (struct charge){ .barrier = barrier };
	return &c->of[k];
}

/*
 * @ns is the part of the wait that exists because the last thread itself had waited earlier.
 * @waited is the sum of its earlier waits. Charge @ns to the phases in which the earlier waits
 * began, as far as they are known.
 */
static void pass_on(struct charges *c, struct history *hl, uint32_t nl, uint64_t waited,
		    uint64_t ns)
{
	uint64_t part, given = 0, known = 0;
	struct charge *largest = NULL, *to;
	const struct segment *s;
	uint32_t k, j;

	for (k = 0; k < nl; k++) {
		s = newest(hl, k);
		for (j = 0; j < s->norigins; j++) {
			part = scaled(ns, s->origins[j].ns, waited);
			known += s->origins[j].ns;
			if (!part)
				continue;
			to = charge_to(c, s->origins[j].barrier);
			to->passed_ns += part;
			given += part;
			if (!largest || to->passed_ns > largest->passed_ns)
				largest = to;
		}
	}
	/*
	 * If all origins are known, the rest is only a rounding error. Add it to the largest
	 * origin.
	 */
	if (largest && known == waited)
		largest->passed_ns += ns - given;
}

/* Charge @wait_ns to phases in proportion to the last thread's excess in them. */
static void distribute(const struct excess *x, struct history *hl, uint32_t nl, uint64_t wait_ns,
		       struct charges *out)
{
	uint64_t wait = number_less(x->l_wait_ns, x->i_wait_ns);
	uint64_t other = number_less(x->l_other_ns, x->i_other_ns), total = wait + other;
	uint64_t part, given = 0;
	struct charge *largest = NULL, *to;
	uint32_t k;

	array_for_each (r, x->rows, x->n)
		total += number_less(r->l_ns, r->i_ns);
	if (!total)
		return;
	array_for_each (row, x->rows, x->n) {
		part = scaled(wait_ns, number_less(row->l_ns, row->i_ns), total);
		if (!part)
			continue;
		to = charge_to(out, row->barrier);
		to->direct_ns += part;
		given += part;
	}
	part = scaled(wait_ns, other, total);
	if (part)
		charge_to(out, x->other_barrier)->direct_ns += part;
	given += part;
	part = scaled(wait_ns, wait, total);
	if (part)
		pass_on(out, hl, nl, x->l_wait_ns, part);
	given += part;
	for (k = 0; k < out->n; k++)
		if (!largest || out->of[k].direct_ns + out->of[k].passed_ns >
					largest->direct_ns + largest->passed_ns)
			largest = &out->of[k];
	if (!largest)
		return;
	if (largest->direct_ns)
		largest->direct_ns += wait_ns - given;
	else
		largest->passed_ns += wait_ns - given;
}

/* --- an episode ------------------------------------------------------------------------------ */

static int prepare(struct delay *d, const struct model_episode *ep)
{
	const struct model_member *m;
	struct history *h;
	uint32_t i, most = 0;
	int err = grow_zeroed(d->rows, d->nrows, ep->barrier + 1);

	array_for_each (member, ep->members, ep->n)
		if (member->thread >= most)
			most = member->thread + 1;
	if (!err)
		err = grow_zeroed(d->threads, d->nthreads, most);
	for (i = 0; i < ep->n && !err; i++) {
		m = &ep->members[i];
		h = d->threads[m->thread];
		if (!h) {
			h = calloc(1, sizeof(*h));
			d->threads[m->thread] = h;
		}
		if (!h)
			return -ENOMEM;
		/* Empty the history if another thread now has this index. */
		if (h->tid != m->tid) {
			h->tid = m->tid;
			h->n = h->head = 0;
			h->dropped = false;
		}
	}
	return err;
}

static void charge_all(struct delay *d, const struct charges *c, struct segment *s)
{
	struct row *r;
	uint32_t k;

	for (k = 0; k < c->n; k++) {
		r = &d->rows[c->of[k].barrier];
		r->direct_ns += c->of[k].direct_ns;
		r->passed_ns += c->of[k].passed_ns;
		r->any = true;
		origin_add(s, c->of[k].barrier, c->of[k].direct_ns + c->of[k].passed_ns);
	}
}

/* Set @out to the charges of one waiting thread's wait, as far as they are known. */
static void charge_wait(struct history *hl, struct history *hi, const struct model_member *l,
			const struct model_member *i, uint32_t barrier, struct charges *out)
{
	struct excess x;
	uint32_t nl, ni;

	out->n = 0;
	if (l->work_ns == MODEL_UNKNOWN || i->work_ns == MODEL_UNKNOWN)
		return;
	if (last_serial(hl) == last_serial(hi) && (hl->n || (!hl->dropped && !hi->dropped))) {
		charge_to(out, barrier)->direct_ns = i->wait_ns;
		return;
	}
	if (!since_common(hl, hi, &nl, &ni))
		return;
	x.n = 0;
	x.l_wait_ns = x.i_wait_ns = x.l_other_ns = x.i_other_ns = 0;
	excess_between(&x, hl, nl, hi, ni, l, i, barrier);
	distribute(&x, hl, nl, i->wait_ns, out);
}

int delay_episode(struct delay *d, const struct model_episode *ep)
{
	const struct model_member *l;
	struct history *hl, *h;
	struct charges charges;
	struct segment *s;
	int err;

	if (ep->nested || !ep->n)
		return 0;
	err = prepare(d, ep);
	if (err)
		return err;
	d->serial++;
	l = &ep->members[ep->n - 1];
	hl = d->threads[l->thread];
	if (ep->state == MODEL_COMPLETE)
		d->rows[ep->barrier].any = true;
	array_for_each (m, ep->members, ep->n - 1) {
		h = d->threads[m->thread];
		charges.n = 0;
		/*
		 * Waits in incomplete or ambiguous episodes are not charged, so their origins stay
		 * unknown.
		 */
		if (ep->state == MODEL_COMPLETE && m->wait_ns)
			charge_wait(hl, h, l, m, ep->barrier, &charges);
		s = push(h, m, d->serial, ep->barrier);
		if (ep->state == MODEL_COMPLETE)
			charge_all(d, &charges, s);
	}
	push(hl, l, d->serial, ep->barrier);
	return 0;
}
