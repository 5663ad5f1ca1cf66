// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "recording/align.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"

/*
 * Keep all of the first 2^KEPT_BITS episodes, every second episode up to twice that number, every
 * fourth up to four times that number, and so on.
 */
#define KEPT_BITS  10
/* A part of the run has at least this many episodes, if there are several parts. */
#define PART_LEAST 8
/*
 * The largest drift between two clocks, as a share of time. A clock that is slewed at full speed is
 * 500 millionths too fast or too slow, so two clocks may differ by twice this.
 */
#define DRIFT_MOST 0.001

/* An episode as one clock sees it. */
struct sync_point {
	uint64_t key; /* hash of the communicator and the ordinal */
	uint64_t last_ns, first_ns; /* the last arrival, and the first departure */
};

/* The offset of a clock to the first clock, in one part of the run. */
struct part {
	uint64_t at_ns; /* the middle of the part, by this clock */
	int64_t offset_ns;
};

struct clock {
	struct hash by_key; /* key -> index in sync_points[] */
	struct sync_point *sync_points;
	uint32_t n, cap;
	bool solved;
	struct part parts[ALIGN_PARTS];
	uint32_t nparts;
	struct align_found found;
};

struct align {
	uint32_t n;
	struct clock clocks[];
};

/* Bounds of the offset of the second clock, from one episode that two clocks saw. */
struct bound {
	uint64_t at_ns; /* time of the episode by the second clock */
	int64_t low_ns, high_ns;
};

struct align *align_new(uint32_t n)
{
	struct align *a = calloc(1, sizeof(*a) + n * sizeof(a->clocks[0]));

	if (!a)
		return NULL;
	a->n = n;
	if (n)
		a->clocks[0].solved = true;
	return a;
}

void align_free(struct align *a)
{
	uint32_t i;

	for (i = 0; a && i < a->n; i++) {
		hash_free(&a->clocks[i].by_key);
		free(a->clocks[i].sync_points);
	}
	free(a);
}

/* --- episodes -------------------------------------------------------------------------------- */

static bool is_kept(uint64_t number)
{
	unsigned int bits = number ? 64 - (unsigned int)__builtin_clzll(number) : 0;

	return bits <= KEPT_BITS || !(number & ((1ull << (bits - KEPT_BITS)) - 1));
}

static int add_sync_point(struct clock *c, uint64_t key, const struct model_crossing *x)
{
	struct sync_point *m;
	uint64_t at;

	if (hash_get(&c->by_key, key, &at)) {
		m = &c->sync_points[at];
		if (x->arrive_ns > m->last_ns)
			m->last_ns = x->arrive_ns;
		if (x->depart_ns < m->first_ns)
			m->first_ns = x->depart_ns;
		return 0;
	}
	if (grow(c->sync_points, c->cap, c->n + 1))
		return -ENOMEM;
	c->sync_points[c->n] = (struct sync_point){ key, x->arrive_ns, x->depart_ns };
	return hash_put(&c->by_key, key, c->n++);
}

int align_crossing(struct align *a, uint32_t clock, const struct model_crossing *x,
		   uint64_t ordinal)
{
	if (x->depart_ns == MODEL_UNKNOWN || !is_kept(ordinal - 1))
		return 0;
	return add_sync_point(&a->clocks[clock], hash_mix(x->shared ^ hash_mix(ordinal)), x);
}

void align_drop(struct align *a, uint32_t clock)
{
	struct clock *c = &a->clocks[clock];

	hash_free(&c->by_key);
	hash_init(&c->by_key);
	c->n = 0;
}

/* --- offsets --------------------------------------------------------------------------------- */

static uint64_t to_first(const struct clock *c, uint64_t t)
{
	const struct part *p = c->parts;
	uint32_t i = 1;
	double share;

	if (!c->nparts || t == MODEL_UNKNOWN)
		return t;
	if (c->nparts == 1 || t <= p[0].at_ns)
		return t + (uint64_t)p[0].offset_ns;
	while (i < c->nparts && p[i].at_ns < t)
		i++;
	if (i == c->nparts)
		return t + (uint64_t)p[i - 1].offset_ns;
	share = (double)(t - p[i - 1].at_ns) / (double)(p[i].at_ns - p[i - 1].at_ns);
	return t + (uint64_t)p[i - 1].offset_ns +
	       (uint64_t)number_signed(share * (double)(int64_t)((uint64_t)p[i].offset_ns -
								 (uint64_t)p[i - 1].offset_ns));
}

uint64_t align_time(const struct align *a, uint32_t clock, uint64_t t_ns)
{
	return to_first(&a->clocks[clock], t_ns);
}

static int by_time(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;

	return NUMBER_COMPARE(x->at_ns, y->at_ns);
}

/*
 * Compare the episodes that both clocks saw, and store the bounds in @out[] if not NULL. Return the
 * number of these episodes.
 */
static uint32_t compare(const struct clock *known, const struct clock *c, struct bound *out)
{
	uint32_t i, n = 0;
	uint64_t at;

	for (i = 0; i < c->n; i++) {
		const struct sync_point *there = &c->sync_points[i], *here;

		if (!hash_get(&known->by_key, there->key, &at))
			continue;
		here = &known->sync_points[at];
		if (out)
			out[n] = (struct bound){
				.at_ns = there->last_ns,
				.low_ns =
					(int64_t)(to_first(known, here->last_ns) - there->first_ns),
				.high_ns =
					(int64_t)(to_first(known, here->first_ns) - there->last_ns),
			};
		n++;
	}
	return n;
}

static int64_t max_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Bounds of the offset from one part of the episodes. */
struct span {
	uint64_t from_ns, to_ns; /* times of the first and the last episode */
	int64_t low_ns, high_ns;
};

static struct span span_of(const struct bound *bounds, uint32_t n)
{
	struct span s = { bounds[0].at_ns, bounds[n - 1].at_ns, bounds[0].low_ns,
			  bounds[0].high_ns };
	uint32_t i;

	for (i = 1; i < n; i++) {
		s.low_ns = bounds[i].low_ns > s.low_ns ? bounds[i].low_ns : s.low_ns;
		s.high_ns = bounds[i].high_ns < s.high_ns ? bounds[i].high_ns : s.high_ns;
	}
	return s;
}

static uint64_t middle(const struct span *s)
{
	return s->from_ns + (s->to_ns - s->from_ns) / 2;
}

static uint64_t farthest(const struct span *s, uint64_t at)
{
	uint64_t before = at > s->from_ns ? at - s->from_ns : s->from_ns - at,
		 after = at > s->to_ns ? at - s->to_ns : s->to_ns - at;

	return before > after ? before : after;
}

/*
 * Narrow the bounds of one part by the bounds of the other parts, allowing for a drift of @drift
 * between their times. This helps if the same rank arrives last at all episodes of a part: one of
 * the part's own bounds is then wide. Return false if no offset is left.
 */
static bool narrow(const struct span *all, uint32_t n, uint32_t which, double drift,
		   struct span *out)
{
	uint32_t i;

	*out = all[which];
	for (i = 0; i < n; i++) {
		int64_t by = number_signed(drift * (double)farthest(&all[i], middle(out)));

		if (i == which)
			continue;
		out->low_ns = max_of(out->low_ns, all[i].low_ns - by);
		out->high_ns = -max_of(-out->high_ns, -all[i].high_ns - by);
	}
	return out->low_ns <= out->high_ns;
}

/*
 * Return the smallest drift with which the bounds of all parts agree, because this is the likeliest
 * drift. Return a negative value if they agree with no drift up to DRIFT_MOST.
 */
static double drift_of(const struct span *all, uint32_t n)
{
	static const double drifts[] = { 0, 1e-6, 1e-5, 5e-5, 2e-4, DRIFT_MOST };
	struct span s;
	uint32_t i, k;

	for (k = 0; k < sizeof(drifts) / sizeof(drifts[0]); k++) {
		for (i = 0; i < n && narrow(all, n, i, drifts[k], &s); i++)
			;
		if (i == n)
			return drifts[k];
	}
	return -1;
}

static void solve_part(struct clock *c, const struct span *all, uint32_t n, uint32_t which,
		       double drift)
{
	struct span likely = all[which], sure = all[which];
	int64_t offset, off;

	if (drift >= 0) {
		narrow(all, n, which, drift, &likely);
		narrow(all, n, which, DRIFT_MOST, &sure);
	}
	offset = likely.low_ns / 2 + likely.high_ns / 2;
	off = max_of(offset - sure.low_ns, sure.high_ns - offset);
	/* The bounds exclude each other: no offset is within them. */
	if (sure.low_ns > sure.high_ns) {
		c->found.contradicts = true;
		off = sure.low_ns - sure.high_ns;
	}
	c->found.uncertain_ns = (uint64_t)max_of((int64_t)c->found.uncertain_ns, off);
	c->parts[c->nparts++] = (struct part){ .at_ns = middle(&likely), .offset_ns = offset };
}

static int solve(struct clock *c, const struct clock *known, uint32_t n)
{
	struct bound *bounds = calloc(n, sizeof(*bounds));
	struct span spans[ALIGN_PARTS];
	uint32_t parts = n / PART_LEAST, i, from, to;

	if (!bounds)
		return -ENOMEM;
	parts = parts > ALIGN_PARTS ? ALIGN_PARTS : parts ? parts : 1;
	compare(known, c, bounds);
	qsort(bounds, n, sizeof(*bounds), by_time);
	c->found.sync_points = n;
	c->found.uncertain_ns = known->found.uncertain_ns;
	for (i = 0; i < parts; i++) {
		from = (uint32_t)((uint64_t)n * i / parts);
		to = (uint32_t)((uint64_t)n * (i + 1) / parts);
		spans[i] = span_of(bounds + from, to - from);
	}
	for (i = 0; i < parts; i++)
		solve_part(c, spans, parts, i, drift_of(spans, parts));
	c->solved = true;
	free(bounds);
	return 0;
}

int align_solve(struct align *a)
{
	uint32_t i, j, n, most, of, by;
	int err = 0;

	/*
	 * In each round, solve the clock that shares the most episodes with a clock of known
	 * offset.
	 */
	do {
		for (i = 0, most = 0, of = 0, by = 0; i < a->n; i++)
			for (j = 0; !a->clocks[i].solved && j < a->n; j++) {
				n = a->clocks[j].solved
					    ? compare(&a->clocks[j], &a->clocks[i], NULL)
					    : 0;
				if (n <= most)
					continue;
				most = n;
				of = i;
				by = j;
			}
		if (most)
			err = solve(&a->clocks[of], &a->clocks[by], most);
	} while (most && !err);
	return err;
}

void align_look(const struct align *a, uint32_t clock, struct align_found *out)
{
	*out = a->clocks[clock].found;
}
