// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Run random programs that repeatedly make barriers at one address, each with another count than
 * the previous barrier. Some threads are slow to leave. The records are complete, so exactly the
 * episodes of the program must be found.
 */
#include "test_model_util.h"

#define A	 0x1000
#define STEP_NS	 10000 /* maximum difference of the clocks of two CPUs, ns */
#define PROGRAMS 400
#define THREADS	 8
#define EPISODES 40
#define RECORDS	 (EPISODES * THREADS)

struct record {
	uint32_t tid, count;
	uint64_t arrive, depart;
};

struct made_episode {
	uint64_t release;
	uint32_t n;
	bool is_in[THREADS + 1];
};

struct program {
	struct record records[RECORDS];
	struct made_episode episodes[EPISODES];
	uint32_t nrecords;
	uint64_t left[THREADS + 1]; /* time when the thread last left, ns */
};

static uint64_t state = 88172645463325252ull;

static uint64_t chance(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static bool is_in(const uint32_t *team, uint32_t n, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < n && team[i] != tid; i++)
		;
	return i < n;
}

static void choose(uint32_t *team, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		do
			team[i] = 1 + (uint32_t)chance(THREADS);
		while (is_in(team, i, team[i]));
}

/* Add an episode. All arrivals are after @from, because the barrier does not exist before. */
static uint64_t cross_together(struct program *p, struct made_episode *episode,
			       const uint32_t *team, uint32_t n, uint64_t from)
{
	struct record *r = &p->records[p->nrecords];
	uint64_t release = 0;

	*episode = (struct made_episode){ .n = n };
	for (uint32_t i = 0; i < n; i++) {
		r[i] = (struct record){ .tid = team[i], .count = n };
		r[i].arrive = (p->left[team[i]] > from ? p->left[team[i]] : from) +
			      STEP_NS * (1 + chance(50));
		if (r[i].arrive > release)
			release = r[i].arrive;
		episode->is_in[team[i]] = true;
	}
	episode->release = release;
	for (uint32_t i = 0; i < n; i++) {
		/*
		 * Only one member may be slow. If all were slow, two episodes with the same count
		 * would look alike.
		 */
		r[i].depart = release + STEP_NS * (1 + chance(i || chance(4) ? 5 : 2000));
		p->left[team[i]] = r[i].depart;
	}
	p->nrecords += n;
	return release;
}

static void make(struct program *p)
{
	uint32_t team[THREADS], i = 0, n = 0, was;
	uint64_t release = 0;

	memset(p, 0, sizeof(*p));
	while (i < EPISODES) {
		was = n;
		do
			n = 2 + (uint32_t)chance(4);
		while (n == was);
		choose(team, n);
		for (uint32_t k = 1 + (uint32_t)chance(5); k && i < EPISODES; k--)
			release = cross_together(p, &p->episodes[i++], team, n, release);
	}
}

static int by_departure(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return x->depart < y->depart ? -1 : x->depart > y->depart;
}

/* Feed the crossings in the order of departures, as the merge does. */
static void feed(struct run *r, struct program *p)
{
	qsort(p->records, p->nrecords, sizeof(p->records[0]), by_departure);
	for (uint32_t i = 0; i < p->nrecords; i++) {
		const struct record *c = &p->records[i];

		cross(r, c->tid, A, c->count, c->arrive, c->depart);
		if (!chance(10))
			assert_int_equal(model_advance(r->model, c->depart), 0);
	}
	assert_int_equal(model_finish(r->model, UINT64_MAX / 2), 0);
}

static void check(const struct made_episode *m, const struct model_episode *ep)
{
	assert_fields(ep, IS(state, MODEL_COMPLETE), IS(n, m->n));
	for (uint32_t i = 0; i < ep->n; i++)
		assert_true(m->is_in[ep->members[i].tid]);
}

static void test_every_episode_is_found(void **unused)
{
	static struct program p;
	uint32_t k;

	for (uint32_t i = 0; i < PROGRAMS; i++) {
		struct run *r CLEANUP_PTR(run_free) = run_new(0);

		run_launched(r, 0);
		make(&p);
		feed(r, &p);
		assert_int_equal(r->nkept, EPISODES);
		for (uint32_t j = 0; j < EPISODES; j++) {
			for (k = 0;
			     k < r->nkept && r->kept[k].ep.release_ns != p.episodes[j].release; k++)
				;
			assert_int_not_equal(k, r->nkept);
			check(&p.episodes[j], &r->kept[k].ep);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_episode_is_found) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
