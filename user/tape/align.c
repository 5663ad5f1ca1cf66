// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "tape/align.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/number.h"
#include "sbt/record.h"

/* Of the first so many meetings all are kept, of so many after these every other one, and so on. */
#define KEPT_BITS  10
/* Meetings that a part of the run has at least, if there are several. */
#define PART_LEAST 8

/* One clock's view of a meeting. */
struct meeting {
	uint64_t key; /* which, by object and number */
	uint64_t last_ns, first_ns; /* arrival, departure */
};

/* The difference from the first clock. */
struct part {
	uint64_t at_ns; /* the part's middle, by this clock */
	int64_t offset_ns;
};

struct clock {
	struct hash by_key; /* -> number of the meeting + 1 */
	struct meeting *meetings;
	uint32_t n, cap;
	struct hash
		began; /* (tgid, inc) -> 1: seen from the beginning; 2: and records were lost since */
	struct hash seqs; /* (inc, tid) -> last number */
	struct hash counts; /* (tgid, inc, tid, object) -> meetings there so far */
	bool solved;
	struct part parts[ALIGN_PARTS];
	uint32_t nparts;
	struct align_found found;
};

struct align {
	uint32_t n;
	struct clock clocks[];
};

/* What two clocks say of one meeting: bounds of what is to be added to the second's. */
struct bound {
	uint64_t at_ns; /* by the second clock */
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
		hash_free(&a->clocks[i].began);
		hash_free(&a->clocks[i].seqs);
		hash_free(&a->clocks[i].counts);
		free(a->clocks[i].meetings);
	}
	free(a);
}

/* --- meetings ---------------------------------------------------------------------------------------- */

static bool is_kept(uint64_t number)
{
	unsigned int bits = number ? 64 - (unsigned int)__builtin_clzll(number) : 0;

	return bits <= KEPT_BITS || !(number & ((1ull << (bits - KEPT_BITS)) - 1));
}

static int add_meeting(struct clock *c, uint64_t key, const struct model_crossing *x)
{
	struct meeting *m, *more;
	uint64_t at;

	if (hash_get(&c->by_key, key, &at)) {
		m = &c->meetings[at];
		if (x->arrive_ns > m->last_ns)
			m->last_ns = x->arrive_ns;
		if (x->depart_ns < m->first_ns)
			m->first_ns = x->depart_ns;
		return 0;
	}
	if (c->n == c->cap) {
		more = realloc(c->meetings, ((size_t)c->cap * 2 + 64) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		c->meetings = more;
		c->cap = c->cap * 2 + 64;
	}
	c->meetings[c->n] = (struct meeting){ key, x->arrive_ns, x->depart_ns };
	return hash_put(&c->by_key, key, c->n++);
}

/* Has it been seen from its beginning, and nothing of it been lost? */
static bool is_counted(struct clock *c, const struct model_crossing *x, int *err)
{
	uint64_t process = (uint64_t)x->tgid << 32 | x->inc,
		 thread = (uint64_t)x->inc << 32 | x->tid;
	uint64_t state = 0, seq = 0;

	if (!hash_get(&c->began, process, &state) || state != 1)
		return false;
	hash_get(&c->seqs, thread, &seq);
	*err = hash_put(&c->seqs, thread, x->seq);
	if (x->seq == seq + 1)
		return true;
	*err = hash_put(&c->began, process, 2);
	return false;
}

static int add_crossing(struct clock *c, const struct model_crossing *x)
{
	uint64_t object, count = 0, key;
	int err = 0;
	bool counted = is_counted(c, x, &err);

	if (err || !counted || x->family != SBT_FAMILY_MPI || !x->shared || x->depth ||
	    x->depart_ns == MODEL_UNKNOWN)
		return err;
	object = hash_mix(x->shared ^ hash_mix((uint64_t)x->tgid << 32 | x->inc)) ^ x->tid;
	hash_get(&c->counts, object, &count);
	err = hash_put(&c->counts, object, count + 1);
	if (err || !is_kept(count))
		return err;
	key = hash_mix(x->shared) ^ hash_mix(count + 1);
	return add_meeting(c, key, x);
}

int align_input(struct align *a, uint32_t clock, const struct model_input *in)
{
	struct clock *c = &a->clocks[clock];

	if (in->type == MODEL_INPUT_CROSSING)
		return add_crossing(c, in->crossing);
	if (in->type == MODEL_INPUT_PROCESS && in->seen)
		return hash_put(&c->began, (uint64_t)in->tgid << 32 | in->inc, 1);
	return 0;
}

/* --- differences ------------------------------------------------------------------------------------- */

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

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* What the meetings that both had say, into @out[] if it is not NULL. Returns their number. */
static uint32_t compare(const struct clock *known, const struct clock *c, struct bound *out)
{
	uint32_t i, n = 0;
	uint64_t at;

	for (i = 0; i < c->n; i++) {
		const struct meeting *there = &c->meetings[i], *here;

		if (!hash_get(&known->by_key, there->key, &at))
			continue;
		here = &known->meetings[at];
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

static void solve_part(struct clock *c, const struct bound *bounds, uint32_t n)
{
	int64_t low = bounds[0].low_ns, high = bounds[0].high_ns, half;
	uint32_t i;

	for (i = 1; i < n; i++) {
		low = bounds[i].low_ns > low ? bounds[i].low_ns : low;
		high = bounds[i].high_ns < high ? bounds[i].high_ns : high;
	}
	half = high / 2 - low / 2;
	c->found.contradicts |= half < 0;
	if (half < 0)
		half = -half;
	if ((uint64_t)half > c->found.uncertain_ns)
		c->found.uncertain_ns = (uint64_t)half;
	c->parts[c->nparts++] = (struct part){
		.at_ns = bounds[0].at_ns + (bounds[n - 1].at_ns - bounds[0].at_ns) / 2,
		.offset_ns = low / 2 + high / 2,
	};
}

static int solve(struct clock *c, const struct clock *known, uint32_t n)
{
	struct bound *bounds = calloc(n, sizeof(*bounds));
	uint32_t parts = n / PART_LEAST, i, from, to;

	if (!bounds)
		return -ENOMEM;
	parts = parts > ALIGN_PARTS ? ALIGN_PARTS : parts ? parts : 1;
	compare(known, c, bounds);
	qsort(bounds, n, sizeof(*bounds), by_time);
	c->found.meetings = n;
	c->found.uncertain_ns = known->found.uncertain_ns;
	for (i = 0; i < parts; i++) {
		from = (uint32_t)((uint64_t)n * i / parts);
		to = (uint32_t)((uint64_t)n * (i + 1) / parts);
		solve_part(c, bounds + from, to - from);
	}
	c->solved = true;
	free(bounds);
	return 0;
}

int align_solve(struct align *a)
{
	uint32_t i, j, n, most, of, by;
	int err = 0;

	/* First who has most in common with one that is known already. */
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
