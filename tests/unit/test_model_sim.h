/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Random barrier programs in virtual time, with crossings delivered a little out of order. */
#ifndef TEST_MODEL_SIM_H
#define TEST_MODEL_SIM_H

#include "test_model_util.h"

#define THREADS_MAX 12
#define OBJECTS_MAX 6

struct rec {
	struct model_crossing c;
	struct model_detail detail; /* passed with the crossing if c.detail is not NULL */
	struct model_detail parts; /* the parts that the model should report */
	uint64_t deliver;
	uint32_t episode;
	bool dropped;
};

struct sim_episode {
	uint32_t n;
	uint64_t object;
	uint64_t release;
	uint64_t phase;
	uint64_t arrive[THREADS_MAX]; /* by thread, ns; 0: not a member */
};

struct sim {
	uint64_t seed;
	uint32_t nthreads;
	uint32_t nobjects;
	uint32_t team[OBJECTS_MAX]; /* bit sets of threads, by object */
	uint64_t work, latency; /* maximum values, ns */
	uint64_t window; /* how late a record may be delivered, ns */
	bool counted;
	bool launched;
	unsigned loss; /* probability that a record is lost, per mille */
	uint32_t nrecs, cap_recs;
	struct rec *recs;
	uint32_t nepisodes, cap_episodes;
	struct sim_episode *episodes;
	uint64_t end;
	uint64_t ideal; /* end of the same program if its barriers took no time */
};

static inline struct rec *add_rec(struct sim *s)
{
	if (s->nrecs == s->cap_recs) {
		s->cap_recs = s->cap_recs ? 2 * s->cap_recs : 256;
		s->recs = realloc(s->recs, s->cap_recs * sizeof(*s->recs));
		assert_non_null(s->recs);
	}
	memset(&s->recs[s->nrecs], 0, sizeof(*s->recs));
	return &s->recs[s->nrecs++];
}

static inline struct sim_episode *add_episode(struct sim *s)
{
	if (s->nepisodes == s->cap_episodes) {
		s->cap_episodes = s->cap_episodes ? 2 * s->cap_episodes : 64;
		s->episodes = realloc(s->episodes, s->cap_episodes * sizeof(*s->episodes));
		assert_non_null(s->episodes);
	}
	memset(&s->episodes[s->nepisodes], 0, sizeof(*s->episodes));
	return &s->episodes[s->nepisodes++];
}

/* Return whether @a has all members of @b. */
static inline bool has_all_members(const struct sim_episode *a, const struct sim_episode *b)
{
	for (uint32_t t = 0; t < THREADS_MAX; t++)
		if (b->arrive[t] && !a->arrive[t])
			return false;
	return true;
}

/* Return a delay that is mostly short and sometimes long: slow departures are the hard case. */
static inline uint64_t jitter(struct sim *s, uint64_t most)
{
	uint64_t v = rnd_to(&s->seed, most);

	return rnd_to(&s->seed, 8) ? v / 16 + 1 : v + 1;
}

static inline void play(struct sim *s, uint32_t rounds)
{
	uint64_t ready[THREADS_MAX], clock[THREADS_MAX], release, joined;
	uint32_t seq[THREADS_MAX] = { 0 }, i, t, k, last;
	struct sim_episode *mt;
	struct rec *r;

	for (t = 0; t < s->nthreads; t++) {
		ready[t] = 1000000 + rnd_to(&s->seed, 1000);
		clock[t] = ready[t];
	}
	for (i = 0; i < rounds; i++) {
		k = rnd_to(&s->seed, s->nobjects);
		mt = add_episode(s);
		mt->object = 0x1000 + 64 * k;
		release = joined = 0;
		for (t = 0; t < s->nthreads; t++) {
			if (!(s->team[k] & 1u << t))
				continue;
			mt->n++;
			mt->arrive[t] = ready[t] + jitter(s, s->work);
			if (mt->arrive[t] > release)
				release = mt->arrive[t];
			clock[t] += mt->arrive[t] - ready[t];
			if (clock[t] > joined)
				joined = clock[t];
		}
		mt->release = release;
		/*
		 * The phase begins at the last episode with all of these threads, or at the start.
		 */
		for (last = i; last > 0 && !has_all_members(&s->episodes[last - 1], mt); last--)
			;
		mt->phase = release - (last ? s->episodes[last - 1].release : 1000000);
		for (t = 0; t < s->nthreads; t++) {
			if (!mt->arrive[t])
				continue;
			r = add_rec(s);
			ready[t] = release + jitter(s, s->latency);
			clock[t] = joined;
			r->c = crossing(t + 1, mt->object, s->counted ? mt->n : 0, mt->arrive[t],
					ready[t]);
			r->c.seq = ++seq[t];
			r->episode = s->nepisodes - 1;
			r->deliver = ready[t] + rnd_to(&s->seed, s->window + 1);
			r->dropped = rnd_to(&s->seed, 1000) < s->loss;
			if (ready[t] > s->end)
				s->end = ready[t];
		}
	}
	s->end += 1000;
	for (t = 0; t < s->nthreads; t++)
		if (seq[t] && clock[t] + s->end - ready[t] > s->ideal)
			s->ideal = clock[t] + s->end - ready[t];
}

static inline int by_delivery(const void *a, const void *b)
{
	const struct rec *x = a, *y = b;

	return x->deliver < y->deliver ? -1 : x->deliver > y->deliver;
}

/* Deliver one record. The memory that the detail points to is invalid after the call. */
static inline void deliver_one(const struct rec *rec, struct run *r)
{
	struct model_crossing c = rec->c;
	struct model_detail d = rec->detail;

	if (c.detail)
		c.detail = &d;
	assert_int_equal(model_add_crossing(r->model, &c), 0);
	memset(&d, 0xa5, sizeof(d));
}

static inline void deliver(struct sim *s, struct run *r)
{
	qsort(s->recs, s->nrecs, sizeof(*s->recs), by_delivery);
	for (uint32_t i = 0; i < s->nrecs; i++) {
		if (!s->recs[i].dropped)
			deliver_one(&s->recs[i], r);
		/* All departures from before the window have been delivered. */
		if (i % 7 == 0 && s->recs[i].deliver > s->window)
			assert_int_equal(model_advance(r->model, s->recs[i].deliver - s->window),
					 0);
	}
	assert_int_equal(model_finish(r->model, s->end), 0);
}

static inline void sim_setup(struct sim *s, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->seed = seed * 0x9e3779b97f4a7c15ULL + 1;
	s->nthreads = 2 + rnd_to(&s->seed, THREADS_MAX - 1);
	s->nobjects = 1 + rnd_to(&s->seed, OBJECTS_MAX);
	for (uint32_t k = 0; k < s->nobjects; k++)
		do {
			s->team[k] = rnd_to(&s->seed, 3)
					     ? (1u << s->nthreads) - 1
					     : rnd(&s->seed) & ((1u << s->nthreads) - 1);
		} while (__builtin_popcount(s->team[k]) < 2);
	s->work = 10 + rnd_to(&s->seed, 5000);
	s->latency = 10 + rnd_to(&s->seed, 5000);
	s->window = rnd_to(&s->seed, 2) ? 0 : rnd_to(&s->seed, 300);
	s->counted = true;
	s->launched = true;
}

static inline void sim_free(struct sim *s)
{
	free(s->recs);
	free(s->episodes);
}

static inline struct run *sim_run(struct sim *s, uint32_t rounds)
{
	struct run *r = run_new(1000000);

	if (s->launched)
		run_launched(r, 1000000);
	play(s, rounds);
	deliver(s, r);
	return r;
}

/*
 * Play a program with more threads than the count. The barrier takes them in the order of arrival.
 * The probe's time stamp may precede the arrival at the barrier by up to @skew.
 */
static inline void play_cyclic(struct sim *s, uint32_t count, uint32_t rounds, uint64_t skew)
{
	uint64_t ready[THREADS_MAX], enter[THREADS_MAX];
	uint32_t seq[THREADS_MAX] = { 0 }, waiting = 0, n = 0, i, t, next;
	struct sim_episode *mt = NULL;
	struct rec *r;

	for (t = 0; t < s->nthreads; t++)
		enter[t] = 1000000 + jitter(s, s->work);
	for (i = 0; i < rounds * count; i++) {
		for (t = 0, next = THREADS_MAX; t < s->nthreads; t++)
			if (!(waiting & 1u << t) && (next == THREADS_MAX || enter[t] < enter[next]))
				next = t;
		if (!n) {
			mt = add_episode(s);
			mt->object = 0x1000;
			mt->n = count;
		}
		waiting |= 1u << next;
		mt->arrive[next] = enter[next] - rnd_to(&s->seed, skew + 1);
		if (mt->arrive[next] > mt->release)
			mt->release = mt->arrive[next];
		if (++n < count)
			continue;
		n = 0;
		for (t = 0; t < s->nthreads; t++) {
			if (!(waiting & 1u << t))
				continue;
			ready[t] = enter[next] + jitter(s, s->latency);
			r = add_rec(s);
			r->c = crossing(t + 1, 0x1000, count, mt->arrive[t], ready[t]);
			r->c.seq = ++seq[t];
			r->episode = s->nepisodes - 1;
			r->deliver = ready[t] + rnd_to(&s->seed, s->window + 1);
			r->dropped = rnd_to(&s->seed, 1000) < s->loss;
			if (ready[t] + 1000 > s->end)
				s->end = ready[t] + 1000;
			enter[t] = ready[t] + skew + jitter(s, s->work);
		}
		waiting = 0;
	}
	if (n)
		s->nepisodes--;
}

#endif /* TEST_MODEL_SIM_H */
