// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check delay costs on constructed runs: every wait is charged once, to the phase that caused it.
 */
#include "test_analyse_util.h"

/* Threads 0..n-1, each with a clock, cross in the order that the test gives. */
struct play {
	struct delay *d;
	uint64_t at[MOST]; /* start of its next phase, ns */
	uint64_t waits; /* sum of waits in complete episodes, ns */
	uint32_t barriers;
	uint64_t latency; /* departure latency of thread 0, ns; the other threads leave at once */
	struct made_episode m;
};

static void begin(struct play *p)
{
	memset(p, 0, sizeof(*p));
	p->d = delay_new();
	assert_non_null(p->d);
}

static void feed(struct play *p)
{
	assert_int_equal(delay_episode(p->d, &p->m.ep), 0);
	if (p->m.ep.barrier >= p->barriers)
		p->barriers = p->m.ep.barrier + 1;
	for (uint32_t i = 0; i < p->m.ep.n; i++) {
		if (p->m.ep.state == MODEL_COMPLETE && !p->m.ep.nested)
			p->waits += p->m.members[i].wait_ns;
		p->at[p->m.members[i].thread] = p->m.members[i].depart_ns;
	}
}

/* Prepare an episode for feed(): threads[i] works for work[i]. */
static void set(struct play *p, uint32_t barrier, uint32_t n, const uint32_t *threads,
		const uint64_t *work)
{
	uint64_t from[MOST];

	for (uint32_t i = 0; i < n; i++)
		from[i] = p->at[threads[i]];
	cross_at(&p->m, barrier, n, threads, from, work);
	for (uint32_t i = 0; i < n; i++) {
		if (p->m.members[i].thread)
			continue;
		p->m.members[i].depart_ns += p->latency;
		p->m.members[i].latency_ns = p->latency;
	}
}

static void pair(struct play *p, uint32_t barrier, uint32_t a, uint64_t work_a, uint32_t b,
		 uint64_t work_b)
{
	uint32_t threads[2] = { a, b };
	uint64_t work[2] = { work_a, work_b };

	set(p, barrier, 2, threads, work);
	feed(p);
}

static void all3(struct play *p, uint32_t barrier, uint64_t a, uint64_t b, uint64_t c)
{
	static const uint32_t threads[3] = { 0, 1, 2 };
	uint64_t work[3] = { a, b, c };

	set(p, barrier, 3, threads, work);
	feed(p);
}

static void costs(const struct play *p, uint32_t barrier, uint64_t direct, uint64_t passed)
{
	uint64_t d, q;

	delay_of(p->d, barrier, &d, &q);
	if (d != direct || q != passed)
		fail_msg("barrier %u: %llu direct, %llu passed on", barrier, (unsigned long long)d,
			 (unsigned long long)q);
}

/* Return the waits in complete episodes that are charged to no barrier. */
static uint64_t unknown(const struct play *p)
{
	uint64_t sum = 0, d, q;

	for (uint32_t i = 0; i < p->barriers; i++) {
		delay_of(p->d, i, &d, &q);
		if (d != REPORT_UNKNOWN)
			sum += d + q;
	}
	assert_true(sum <= p->waits);
	return p->waits - sum;
}

static void end(struct play *p, uint64_t not_charged)
{
	assert_int_equal(unknown(p), not_charged);
	delay_free(p->d);
}

/* One team: the phase that ends at a barrier causes all time lost there. */
static void test_one_team(void **state)
{
	struct play p;

	begin(&p);
	for (uint32_t i = 0; i < 100; i++) {
		all3(&p, 0, 10, 20, 30);
		all3(&p, 1, 5, 5, 7);
	}
	costs(&p, 0, 100 * 30, 0);
	costs(&p, 1, 100 * 4, 0);
	end(&p, 0);
}

/*
 * Thread 1 is late at A, so thread 0 waits there and is late at B. Thread 2 waits at B, and the
 * cause lies before A.
 */
static void test_passed_on(void **state)
{
	struct play p;

	begin(&p);
	all3(&p, 2, 1, 1, 1);
	pair(&p, 0, 0, 25, 1, 125);
	pair(&p, 1, 0, 5, 2, 30);
	assert_fields(&p.m.members[0], IS(thread, 2), IS(wait_ns, 100));
	/*
	 * In the phase before A, thread 0 worked 25 and then waited 100 at A. Thread 2 did neither.
	 * Of these 125, 100 are a wait. So 80 % of the wait at B is passed on to the phase before A
	 * by that wait, and 20 % is due to the work.
	 */
	costs(&p, 0, 100 + 20, 80);
	costs(&p, 1, 0, 0);
	end(&p, 0);
}

/*
 * As in test_passed_on(), but after A both threads have the same work. All of the wait is passed on
 * to the earlier phase.
 */
static void test_all_passed_on(void **state)
{
	struct play p;

	begin(&p);
	all3(&p, 2, 1, 1, 1);
	pair(&p, 0, 0, 0, 1, 100);
	pair(&p, 1, 0, 5, 2, 5);
	costs(&p, 0, 100, 100);
	costs(&p, 1, 0, 0);
	/* Thread 2 waited for thread 0, and now delays thread 3. This wait is passed on, too. */
	pair(&p, 3, 2, 5, 3, 5);
	end(&p, 0);
}

/*
 * Two steps: thread 1 delays thread 0 at A, thread 0 delays thread 2 at B, and thread 2 delays
 * thread 3 at C. All of the delay began before A.
 */
static void test_two_steps(void **state)
{
	static const uint32_t four[4] = { 0, 1, 2, 3 };
	static const uint64_t ones[4] = { 1, 1, 1, 1 };
	struct play p;

	begin(&p);
	set(&p, 3, 4, four, ones);
	feed(&p);
	pair(&p, 0, 0, 0, 1, 100);
	pair(&p, 1, 0, 7, 2, 7);
	pair(&p, 2, 2, 9, 3, 16);
	assert_fields(&p.m, IS(members[1].thread, 2), IS(members[0].wait_ns, 100));
	/*
	 * Thread 2 waited 100 at B and worked 7 in the phase before B. Thread 3 did neither. Of the
	 * excess of 107, 100 belong to A.
	 */
	costs(&p, 0, 100, 100 + 100 * 100 / 107 + 1);
	costs(&p, 1, 100 * 7 / 107, 0);
	costs(&p, 2, 0, 0);
	end(&p, 0);
}

/*
 * Half of the wait at B began before A. The other half began in the last arriver's phase before B.
 */
static void test_both(void **state)
{
	struct play p;

	begin(&p);
	all3(&p, 2, 1, 1, 1);
	pair(&p, 0, 0, 0, 1, 50);
	pair(&p, 1, 0, 60, 2, 10);
	assert_int_equal(p.m.members[0].wait_ns, 100);
	costs(&p, 0, 50, 50);
	costs(&p, 1, 50, 0);
	end(&p, 0);
}

/*
 * Both threads had waited before. Only the time that the last arriver waited longer is passed on to
 * the earlier phase.
 */
static void test_both_had_waited(void **state)
{
	static const uint32_t four[4] = { 0, 1, 2, 3 };
	static const uint64_t ones[4] = { 1, 1, 1, 1 };
	struct play p;

	begin(&p);
	set(&p, 4, 4, four, ones);
	feed(&p);
	pair(&p, 0, 0, 10, 1, 40); /* thread 0 waits 30 */
	pair(&p, 1, 2, 10, 3, 20); /* thread 2 waits 10 */
	pair(&p, 2, 0, 10, 2, 10); /* thread 2 waits 20, all of it because thread 0 waited before */
	assert_int_equal(p.m.members[0].wait_ns, 20);
	/*
	 * In the phase before barrier 0, thread 0 worked 10, and thread 2 did not work. So the
	 * excess of thread 0 is 10 of work and 20 of waits.
	 */
	costs(&p, 0, 30 + 20 * 10 / 30 + 1, 20 * 20 / 30);
	costs(&p, 1, 10, 0);
	costs(&p, 2, 0, 0);
	end(&p, 0);
}

/*
 * A thread is late because it was released late. The wait is charged to the phase that begins with
 * this release.
 */
static void test_left_late(void **state)
{
	struct play p;

	begin(&p);
	p.latency = 40;
	all3(&p, 0, 5, 5, 5);
	p.latency = 0;
	pair(&p, 1, 0, 10, 1, 20); /* thread 0 arrives at 50, thread 1 at 20 */
	costs(&p, 1, 30, 0);
	all3(&p, 0, 10, 10, 60);
	end(&p, 0);
}

/* A record was lost: the work between the known records is unknown, and is not guessed. */
static void test_unknown_work(void **state)
{
	static const uint32_t threads[3] = { 0, 1, 2 };
	static const uint64_t work[3] = { 10, 10, 50 };
	struct play p;

	begin(&p);
	all3(&p, 0, 10, 20, 30);
	set(&p, 0, 3, threads, work);
	p.m.members[0].work_ns = MODEL_UNKNOWN;
	feed(&p);
	assert_int_equal(unknown(&p), 40);
	costs(&p, 0, 30 + 40, 0);
	/* After an episode of all three threads, the work is known again. */
	all3(&p, 0, 10, 20, 30);
	assert_int_equal(unknown(&p), 40);
	costs(&p, 0, 30 + 40 + 30, 0);
	/* The work of the last arriver is unknown, so the origin of no wait is known. */
	set(&p, 0, 3, threads, work);
	p.m.members[2].work_ns = MODEL_UNKNOWN;
	feed(&p);
	end(&p, 40 + 80);
}

/* A wait in an incomplete episode is not included in any sum, and its origin is unknown. */
static void test_incomplete(void **state)
{
	static const uint32_t threads[2] = { 0, 1 };
	static const uint64_t work[2] = { 0, 100 };
	struct play p;

	begin(&p);
	all3(&p, 2, 1, 1, 1);
	set(&p, 0, 2, threads, work);
	p.m.ep.state = MODEL_INCOMPLETE;
	feed(&p);
	pair(&p, 1, 0, 5, 2, 5);
	assert_int_equal(p.m.members[0].wait_ns, 100);
	costs(&p, 0, REPORT_UNKNOWN, REPORT_UNKNOWN);
	costs(&p, 1, 0, 0);
	end(&p, 100);
	/* A nested crossing is part of the outer crossing. */
	begin(&p);
	set(&p, 0, 2, threads, work);
	p.m.ep.nested = true;
	feed(&p);
	costs(&p, 0, REPORT_UNKNOWN, REPORT_UNKNOWN);
	end(&p, 0);
}

/*
 * A long series of episodes at one barrier, between two episodes of all threads, is stored as one
 * entry.
 */
static void test_long_run(void **state)
{
	struct play p;

	begin(&p);
	all3(&p, 2, 1, 1, 1);
	for (uint32_t i = 0; i < 1000; i++)
		pair(&p, 0, 0, 0, 1, 10); /* thread 0 waits 10 each time */
	pair(&p, 1, 0, 5, 2, 5);
	assert_int_equal(p.m.members[0].wait_ns, 10000);
	costs(&p, 0, 10000, 10000);
	end(&p, 0);
	/*
	 * A long series that alternates between two barriers has too many entries to be stored. The
	 * origin of its waits is unknown, and is not guessed.
	 */
	begin(&p);
	all3(&p, 2, 1, 1, 1);
	for (uint32_t i = 0; i < 1000; i++)
		pair(&p, i % 2, 0, 0, 1, 10);
	pair(&p, 3, 0, 5, 2, 5);
	end(&p, 10000);
}

/* In random episodes of random threads, every wait is charged exactly once. */
static void test_random_episodes(void **state)
{
	uint64_t seed = 99, work[MOST];
	uint32_t n, threads[MOST], swap, j;
	struct play p;

	begin(&p);
	for (uint32_t i = 0; i < 20000; i++) {
		for (uint32_t k = 0; k < MOST; k++)
			threads[k] = k;
		for (uint32_t k = 0; k < MOST - 1; k++) {
			j = k + (uint32_t)rnd_to(&seed, MOST - k);
			swap = threads[k];
			threads[k] = threads[j];
			threads[j] = swap;
		}
		n = 1 + (uint32_t)rnd_to(&seed, MOST);
		for (uint32_t k = 0; k < n; k++)
			work[k] = rnd_to(&seed, 1000000);
		p.latency = rnd_to(&seed, 1000);
		set(&p, (uint32_t)rnd_to(&seed, 12), n, threads, work);
		if (!rnd_to(&seed, 50))
			p.m.members[rnd_to(&seed, n)].work_ns = MODEL_UNKNOWN;
		if (!rnd_to(&seed, 50))
			p.m.ep.state = MODEL_INCOMPLETE;
		feed(&p);
	}
	/* The origin of most of the wait is known. */
	assert_true(unknown(&p) < p.waits / 2);
	delay_free(p.d);
}

/* --- through the model ----------------------------------------------------------------------- */

struct through {
	struct delay *d;
	uint64_t waits;
	uint32_t why;
};

static void take(void *ctx, const struct model *model, const struct model_episode *ep)
{
	struct through *t = ctx;

	assert_int_equal(delay_episode(t->d, ep), 0);
	t->why |= ep->why;
	for (uint32_t i = 0; i < ep->n; i++)
		t->waits += ep->members[i].wait_ns;
}

/*
 * A member that left before the last arrival contradicts causality. Its wait is limited to its
 * crossing, and only that much is charged.
 */
static void test_causality(void **state)
{
	struct through t = { .d = delay_new() };
	struct model_ops ops = { .ctx = &t, .episode = take };
	struct model *m CLEANUP_PTR(model_free) = model_new(&ops, 0);
	static const uint64_t arrive[2] = { 50, 10 }, depart[2] = { 60, 47 };
	struct model_crossing c;
	uint64_t direct, passed;

	assert_non_null(t.d);
	assert_non_null(m);
	assert_int_equal(model_add_process(m, PID, INC, 0, 0, 0, true, NULL), 0);
	for (uint32_t i = 0; i < 2; i++) {
		c = crossing(TID(i), A, 2, arrive[i], depart[i]);
		c.seq = 1;
		assert_int_equal(model_add_crossing(m, &c), 0);
	}
	assert_int_equal(model_finish(m, 1000), 0);
	assert_true(t.why & MODEL_WHY_CAUSALITY);
	assert_int_equal(t.waits, 37); /* not 40 */
	delay_of(t.d, 0, &direct, &passed);
	assert_int_equal(direct, 37);
	assert_int_equal(passed, 0);
	delay_free(t.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_team),
		cmocka_unit_test(test_passed_on),
		cmocka_unit_test(test_all_passed_on),
		cmocka_unit_test(test_two_steps),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_both_had_waited),
		cmocka_unit_test(test_left_late),
		cmocka_unit_test(test_unknown_work),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_long_run),
		cmocka_unit_test(test_random_episodes),
		cmocka_unit_test(test_causality),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
