// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check phases, sums and the longest path against exact formulas, on the examples of POP, and on
 * the LU decomposition of E. Novillo's thesis (University of Alberta, 2002, section 3.2) with block
 * and with cyclic partitioning.
 */
#include "test_model_util.h"

#define A 0x1000

/* A team in virtual time: all threads cross after each round of work. */
struct team {
	struct run *run;
	uint32_t n;
	uint64_t latency; /* latency of each departure, ns */
	uint64_t ready[64];
};

static void team_new(struct team *t, uint32_t n, uint64_t start, uint64_t latency)
{
	t->run = run_new(start);
	run_launched(t->run, start);
	t->n = n;
	t->latency = latency;
	for (uint32_t i = 0; i < n; i++)
		t->ready[i] = start;
}

static void team_round(struct team *t, const uint64_t *work)
{
	uint64_t release = 0;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->ready[i] + work[i] > release)
			release = t->ready[i] + work[i];
	for (uint32_t i = 0; i < t->n; i++) {
		cross(t->run, i + 1, A, t->n, t->ready[i] + work[i], release + t->latency);
		t->ready[i] = release + t->latency;
	}
}

struct pop {
	double lb, ser, te;
	uint64_t elapsed;
};

static struct pop team_end(struct team *t, uint64_t tail)
{
	uint64_t sum = 0, max = 0, end = t->ready[0] + tail;
	const struct model_proc *p;
	struct pop pop;

	assert_int_equal(model_finish(t->run->model, end), 0);
	for (uint32_t i = 0; i < model_nthreads(t->run->model); i++) {
		const struct model_thread *th = model_thread(t->run->model, i);

		sum += th->outside_ns;
		if (th->outside_ns > max)
			max = th->outside_ns;
		assert_int_equal(th->outside_ns + th->idle_ns, th->end_ns - th->start_ns);
	}
	p = model_proc(t->run->model, 0);
	assert_int_equal(p->nthreads_crossed, t->n);
	pop.elapsed = p->elapsed_ns;
	pop.lb = (double)sum / t->n / (double)max;
	pop.ser = (double)max / (double)p->ideal_ns;
	pop.te = (double)p->ideal_ns / (double)p->elapsed_ns;
	return pop;
}

/* Check that the phase times and the tail of one team add up to the elapsed time. */
static void assert_adds_up(const struct run *r, uint64_t elapsed, uint64_t tail)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->nkept; i++) {
		assert_int_not_equal(r->kept[i].ep.phase_ns, MODEL_UNKNOWN);
		sum += r->kept[i].ep.phase_ns;
	}
	assert_int_equal(sum + tail, elapsed);
}

/*
 * The same thread always does twice the work. Load balance is (n + 1) / 2n, and serialisation
 * efficiency is 1.
 */
static void test_static_imbalance(void **state)
{
	uint64_t work[64];
	struct team t;
	struct pop p;

	for (uint32_t n = 2; n <= 64; n *= 2) {
		team_new(&t, n, 5000, 1);
		for (uint32_t i = 0; i < n; i++)
			work[i] = i == n / 2 ? 2000 : 1000;
		for (uint32_t k = 0; k < 50; k++)
			team_round(&t, work);
		p = team_end(&t, 0);
		assert_fields(&p, NEAR(lb, (n + 1) / (2.0 * n), 1e-12), NEAR(ser, 1, 1e-12),
			      NEAR(te, 2000 / 2001.0, 1e-12));
		assert_adds_up(t.run, p.elapsed, 1);
		assert_fields(thread_of(t.run, n / 2 + 1), IS(last, 50), IS(wait_ns, 0));
		assert_int_equal(thread_of(t.run, 1)->wait_ns, 50 * 1000);
		run_free(t.run);
	}
}

/*
 * A different thread does twice the work each time. Load balance is 1, and serialisation efficiency
 * is (n + 1) / 2n.
 */
static void test_rotating_imbalance(void **state)
{
	uint64_t work[64];
	struct team t;
	struct pop p;

	for (uint32_t n = 2; n <= 64; n *= 2) {
		team_new(&t, n, 5000, 1);
		for (uint32_t k = 0; k < 3 * n; k++) {
			for (uint32_t i = 0; i < n; i++)
				work[i] = i == k % n ? 2000 : 1000;
			team_round(&t, work);
		}
		p = team_end(&t, 0);
		assert_fields(&p, NEAR(lb, 1, 1e-12), NEAR(ser, (n + 1) / (2.0 * n), 1e-12),
			      NEAR(te, 2000 / 2001.0, 1e-12));
		for (uint32_t i = 1; i <= n; i++)
			assert_int_equal(thread_of(t.run, i)->last, 3);
		run_free(t.run);
	}
}

/* Work is equal and the barrier is expensive: only transfer efficiency suffers. */
static void test_transfer(void **state)
{
	uint64_t work[4] = { 900, 900, 900, 900 };
	struct team t;
	struct pop p;

	team_new(&t, 4, 0, 100);
	for (uint32_t k = 0; k < 20; k++)
		team_round(&t, work);
	p = team_end(&t, 500);
	assert_fields(&p, IS(elapsed, 20 * 1000 + 500), NEAR(lb, 1, 1e-12), NEAR(ser, 1, 1e-12),
		      NEAR(te, (20 * 900 + 500) / 20500.0, 1e-12));
	/* The time from the last release to the end is the last latency and the tail. */
	assert_adds_up(t.run, p.elapsed, 100 + 500);
	run_free(t.run);
}

/* --- LU -------------------------------------------------------------------------------------- */

#define BLOCK  0
#define CYCLIC 1

static bool owns(uint32_t kind, uint32_t n, uint32_t threads, uint32_t thread, uint32_t row)
{
	return kind == BLOCK ? row * threads / n == thread : row % threads == thread;
}

/*
 * Iteration k eliminates column k: the cost of every row below k is its number of columns right of
 * k. There is one barrier before the first iteration, and one in each of the N - 1 iterations.
 */
static struct pop lu(uint32_t kind, uint32_t n, uint32_t threads, struct team *t)
{
	uint64_t work[64], none[64] = { 0 };

	team_new(t, threads, 0, 1);
	for (uint32_t i = 0; i < threads; i++)
		none[i] = 1;
	team_round(t, none);
	for (uint32_t k = 0; k + 1 < n; k++) {
		for (uint32_t i = 0; i < threads; i++) {
			work[i] = 0;
			for (uint32_t row = k + 1; row < n; row++)
				work[i] += owns(kind, n, threads, i, row) ? n - 1 - k : 0;
		}
		team_round(t, work);
	}
	return team_end(t, 0);
}

/*
 * Row r is updated in iterations 0 to r - 1, and iteration k costs N - 1 - k. The sum of these
 * costs is r (N - 1) - r (r - 1) / 2.
 */
static uint64_t row_cost(uint64_t n, uint64_t r)
{
	return r * (n - 1) - r * (r - 1) / 2;
}

static void lu_block(uint32_t n, uint32_t threads, double limit)
{
	uint64_t own, sum = 0, max = 0;
	uint32_t early = 0;
	struct team t;
	struct pop p = lu(BLOCK, n, threads, &t);

	for (uint32_t i = 0; i < threads; i++) {
		own = 1;
		for (uint32_t row = 0; row < n; row++)
			own += owns(BLOCK, n, threads, i, row) ? row_cost(n, row) : 0;
		assert_int_equal(thread_of(t.run, i + 1)->outside_ns, own);
		sum += own;
		if (own > max)
			max = own;
	}
	/* The first expected value is exact for this N. With growing N it tends to the limit. */
	assert_fields(&p, NEAR(lb, (double)sum / threads / (double)max, 1e-12),
		      NEAR(lb, limit, 3.0 / n));
	/* The imbalance is entirely static: the last thread arrives last in every iteration. */
	assert_near(p.ser, 1, 1e-12);
	assert_int_equal(t.run->nkept, n);
	assert_int_equal(thread_of(t.run, threads)->wait_ns, 0);
	/* Past the middle, half of the threads have no work left and arrive at once. */
	for (uint32_t i = 0; i < threads / 2; i++)
		early += member_of(&t.run->kept[n / 2 + 2].ep, i + 1)->work_ns == 0;
	assert_int_equal(early, threads / 2);
	assert_adds_up(t.run, p.elapsed, 1);
	run_free(t.run);
}

static void test_lu_block(void **state)
{
	static const uint32_t share[8] = { 23, 65, 101, 131, 155, 173, 185, 191 };
	const uint32_t n = 512;
	uint64_t total = 0;
	struct team t;

	lu_block(256, 2, 8 / 11.0);
	lu_block(256, 4, 32 / 47.0);
	lu_block(512, 8, 128 / 191.0);
	lu(BLOCK, n, 8, &t);
	for (uint32_t i = 1; i <= 8; i++)
		total += thread_of(t.run, i)->outside_ns;
	for (uint32_t i = 1; i <= 8; i++)
		assert_near((double)thread_of(t.run, i)->outside_ns / (double)total,
			    share[i - 1] / 1024.0, 1.0 / n);
	run_free(t.run);
}

static void test_lu_cyclic(void **state)
{
	struct team t;
	struct pop p;

	p = lu(CYCLIC, 512, 8, &t);
	assert_true(p.lb > 0.98);
	assert_true(p.ser > 0.98);
	assert_adds_up(t.run, p.elapsed, 1);
	run_free(t.run);
}

/* --- other sums ------------------------------------------------------------------------------ */

/*
 * Two teams share a thread, and the longest path runs through it. The values are worked out by
 * hand.
 */
static void test_longest_path(void **state)
{
	struct run *r = *state;

	/* Threads 1 and 2 cross A at 100 (thread 2 arrives at 10), and leave at 110. */
	cross_all(r, { 1, A, 2, 100, 110 }, { 2, A, 2, 10, 110 });
	/* Threads 2 and 3 cross B at 200 (thread 3 arrives last), and leave at 230. */
	cross_all(r, { 2, 0x2000, 2, 160, 230 }, { 3, 0x2000, 2, 200, 230 });
	/* Thread 1 has a tail to 130, where it exits. Threads 2 and 3 have tails to 300. */
	assert_int_equal(model_end_thread(r->model, PID, INC, 1, 130, "one"), 0);
	assert_int_equal(model_finish(r->model, 300), 0);
	/*
	 * In ideal time, barriers take no time. The paths of threads 1 and 2 join at 100. Thread 2
	 * works 50 more, until 150. Thread 3 works 200. Their paths join at 200, and then they work
	 * 70 more.
	 */
	assert_fields(model_proc(r->model, 0), IS(ideal_ns, 270), IS(elapsed_ns, 300));
	assert_int_equal(thread_of(r, 1)->ideal_ns, 120);
	assert_int_equal(thread_of(r, 2)->outside_ns, 10 + 50 + 70);
	/*
	 * The phase is that of the last arriver. Thread 3 had no episode before, so its phase began
	 * when it started.
	 */
	assert_int_equal(r->kept[1].ep.phase_ns, 200);
}

/* The state that an interim report uses equals the state of a run that ended then. */
static void test_interim(void **state)
{
	uint64_t work[3] = { 100, 300, 200 };
	struct model_thread at;
	struct model_proc now;
	struct team t, whole;

	team_new(&t, 3, 50, 7);
	team_new(&whole, 3, 50, 7);
	for (uint32_t k = 0; k < 10; k++) {
		team_round(&t, work);
		team_round(&whole, work);
	}
	model_proc_at(t.run->model, 0, t.ready[0] + 40, &now);
	team_end(&whole, 40);
	assert_fields(&now, IS(elapsed_ns, model_proc(whole.run->model, 0)->elapsed_ns),
		      IS(ideal_ns, model_proc(whole.run->model, 0)->ideal_ns));
	for (uint32_t i = 0; i < 3; i++) {
		model_thread_at(t.run->model, i, t.ready[0] + 40, &at);
		assert_fields(&at, IS(outside_ns, model_thread(whole.run->model, i)->outside_ns),
			      IS(end_ns, t.ready[0] + 40));
	}
	/* The interim report changed nothing. */
	for (uint32_t k = 0; k < 5; k++)
		team_round(&t, work);
	team_end(&t, 0);
	assert_int_equal(t.run->nkept, 15);
	run_free(t.run);
	run_free(whole.run);
}

static void test_barrier_sums(void **state)
{
	const struct model_barrier *b;
	struct run *r = *state;
	uint64_t at[3] = { 0 };

	/* The phases take 100, 200 and 300 ns. Thread 2 arrives last, 10 ns after thread 1. */
	for (uint32_t k = 1; k <= 3; k++) {
		uint64_t release = at[0] + 100 * k;

		cross_all(r, { 1, A, 2, release - 10, release + 2 },
			  { 2, A, 2, release, release + 4 });
		at[0] = release;
	}
	assert_int_equal(model_finish(r->model, 700), 0);
	b = model_barrier(r->model, 0);
	assert_fields(b, IS(episodes, 3), IS(crossings, 6), IS(phase.sum, 600), IS(phase.min, 100),
		      IS(phase.max, 300), NEAR(phase.mean, 200, 1e-9));
	assert_near(model_stat_stddev(&b->phase), 81.649658092772603, 1e-9);
	assert_fields(b, IS(barrier.sum, 30), IS(wait.n, 6), IS(wait.sum, 30),
		      IS(release.sum, 3 * 6), IS(margin_ns, 30), IS(team_min, 2), IS(team_max, 2),
		      IS(nphases, 2), /* phases from the start, and phases from this barrier */
		      IS(phases[0].from, MODEL_NONE), IS(phases[1].from, 0),
		      IS(phases[1].time.sum, 500), IS(phases[1].thread_ns, 1000),
		      IS(phases[1].wait_ns, 20), IS(longest[0].phase_ns, 300),
		      IS(longest[0].number, 2), IS(longest[0].release_ns, 600),
		      IS(longest[2].phase_ns, 100));
	/* The longest work is 100 in the first round, then 200 - 4 and 300 - 4. */
	assert_int_equal(b->max_work_ns, 100 + 196 + 296);
	assert_int_equal(b->threads[1].last + b->threads[0].last, 3);
}

#define MS 1000000ULL

static void advance_to(struct run *r, uint64_t from_ms, uint64_t to_ms)
{
	for (; from_ms <= to_ms; from_ms += 50)
		assert_int_equal(model_advance(r->model, from_ms * MS), 0);
}

/*
 * Attach while @inside of @n threads wait. The first, partly seen episode ends at 100 ms, the next
 * at 1100 ms. If @last_first, the last arriver leaves first. The episodes are ordered by release.
 */
static void attach_in_the_middle(uint32_t n, uint32_t inside, bool last_first)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(0);

	assert_int_equal(model_add_process(r->model, PID, INC, 0, 0, 0, false, "prog"), 0);
	for (uint32_t t = 1; t <= n; t++)
		assert_int_equal(model_add_found(r->model, PID, INC, t, t <= inside ? A : 0), 0);
	for (uint32_t t = inside + 1; t <= n; t++)
		cross(r, t, A, n, 100 * MS - 10 * (n - t), 101 * MS + (last_first ? n - t : t));
	advance_to(r, 150, 1050);
	for (uint32_t round = 1; round <= 3; round++) {
		for (uint32_t t = 1; t <= n; t++)
			cross(r, t, A, n, (1000 * round + 100) * MS - 10 * (n - t),
			      (1000 * round + 101) * MS + (last_first ? n - t : t));
		advance_to(r, 1000 * round + 150, 1000 * round + 1050);
	}
	assert_int_equal(model_finish(r->model, 5000 * MS), 0);
	assert_fields(r, IS(nkept, 4), IS(kept[0].ep.state, MODEL_INCOMPLETE),
		      IS(kept[0].ep.why, MODEL_WHY_BEFORE), IS(kept[0].ep.n, n - inside));
	for (uint32_t round = 0; round <= 3; round++)
		assert_int_equal(r->kept[round].ep.number, round);
	for (uint32_t round = 1; round <= 3; round++) {
		assert_fields(r, IS(kept[round].ep.state, MODEL_COMPLETE),
			      IS(kept[round].ep.phase_ns, 1000 * MS),
			      IS(kept[round].ep.release_ns, (1000 * round + 100) * MS));
	}
}

static void test_attach_long_phases(void **state)
{
	for (uint32_t i = 0; i < 2; i++) {
		attach_in_the_middle(2, 1, i);
		attach_in_the_middle(4, 1, i);
		attach_in_the_middle(4, 3, i);
	}
}

/*
 * Two teams of two threads cross three times each, then all four cross. This is repeated. The outer
 * phase covers all of the crossings.
 */
static void test_phase_of_the_outer_team(void **state)
{
	const struct model_barrier *outer, *inner;
	uint64_t t0 = 0, at;
	struct run *r = *state;

	for (uint32_t round = 0; round < 3; round++, t0 += 1000) {
		for (uint32_t k = 1; k <= 3; k++) {
			at = t0 + 300 * k;
			cross_all(r, { 1, 0x2000, 2, at - 10, at + 1 },
				  { 2, 0x2000, 2, at, at + 1 });
			/* Threads 3 and 4 are quicker. */
			at = t0 + 200 * k;
			cross_all(r, { 3, 0x3000, 2, at - 10, at + 1 },
				  { 4, 0x3000, 2, at, at + 1 });
		}
		run_feed(r, (struct model_crossing){ .tgid = PID,
						     .inc = INC,
						     .tid = 3,
						     .site = 2,
						     .count = 4,
						     .object = 0x4000,
						     .family = 1,
						     .arrive_ns = t0 + 700,
						     .depart_ns = t0 + 1001 });
		for (uint32_t k = 1; k <= 4; k++)
			if (k != 3)
				run_feed(r, (struct model_crossing){ .tgid = PID,
								     .inc = INC,
								     .tid = k,
								     .site = 2,
								     .count = 4,
								     .object = 0x4000,
								     .family = 1,
								     .arrive_ns =
									     t0 + (k == 4   ? 700
										   : k == 1 ? 990
											    : 1000),
								     .depart_ns = t0 + 1001 });
	}
	assert_int_equal(model_finish(r->model, t0 + 100), 0);
	assert_int_equal(model_nbarriers(r->model), 2);
	inner = model_barrier(r->model, 0);
	outer = model_barrier(r->model, 1);
	assert_fields(outer, IS(episodes, 3), IS(phase.n, 3), IS(phase.min, 1000),
		      IS(phase.max, 1000), IS(wait.sum, 3 * (300 + 300 + 10)));
	/*
	 * The phase begins at the last episode of all four threads: first at the start, then at the
	 * previous outer episode.
	 */
	assert_fields(outer, IS(nphases, 2), IS(phases[0].from, MODEL_NONE), IS(phases[1].from, 1),
		      IS(phases[1].thread_ns, 2 * 4 * 1000));
	/*
	 * Each inner phase begins at the previous inner episode. The first begins at the outer
	 * episode.
	 */
	assert_int_equal(inner->phase.sum, 3 * (3 * 300 + 3 * 200));
	/*
	 * Of the work since the outer episode, without the waits at inner episodes, thread 2 always
	 * has the most.
	 */
	assert_int_equal(outer->max_work_ns, 3 * 1000 - 3 * 3 - 2);
}

/* The members of an incomplete episode are unknown, and may have been the whole team. */
static void test_phase_after_an_incomplete_one(void **state)
{
	struct run *r = *state;

	for (uint32_t tid = 1; tid <= 3; tid++)
		cross(r, tid, 0x1000, 3, 10 * tid, 31 + tid);
	cross(r, 1, 0x1000, 3, 110, 131);
	lose(r, 2);
	cross(r, 3, 0x1000, 3, 130, 133);
	for (uint32_t tid = 1; tid <= 3; tid++)
		cross(r, tid, 0x1000, 3, 200 + 10 * tid, 231 + tid);
	for (uint32_t tid = 1; tid <= 3; tid++)
		cross(r, tid, 0x1000, 3, 300 + 10 * tid, 331 + tid);
	assert_int_equal(model_finish(r->model, 1000), 0);
	assert_fields(r, IS(nkept, 4), IS(kept[0].ep.phase_ns, 30),
		      IS(kept[1].ep.state, MODEL_INCOMPLETE),
		      IS(kept[2].ep.phase_ns, MODEL_UNKNOWN), IS(kept[3].ep.phase_ns, 100));
}

/* A tracer may stop a program before it runs. Its run time begins when the tracer resumes it. */
static void test_held_before_it_ran(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(100);
	const struct model_thread *t;

	run_launched(r, 100);
	assert_int_equal(model_add_thread(r->model, PID, INC, PID, 100), 0);
	run_launched(r, 600);
	assert_int_equal(model_add_thread(r->model, PID, INC, PID, 600), 0);
	assert_int_equal(model_add_thread(r->model, PID, INC, PID + 1, 700), 0);
	cross(r, PID + 1, A, 2, 900, 1010);
	/* The start is not adjusted if a thread has already crossed with others. */
	run_launched(r, 950);
	cross(r, PID, A, 2, 1000, 1010);
	assert_int_equal(model_finish(r->model, 1100), 0);
	assert_fields(r, IS(nkept, 1), IS(kept[0].members[0].work_ns, 200),
		      IS(kept[0].members[1].work_ns, 400));
	assert_int_equal(model_proc(r->model, 0)->start_ns, 600);
	t = model_thread(r->model, model_find_thread(r->model, PID, INC, PID));
	assert_fields(t, IS(start_ns, 600), IS(outside_ns, 400 + 90), IS(unknown_ns, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held_before_it_ran),
		launched_test(test_phase_of_the_outer_team),
		launched_test(test_phase_after_an_incomplete_one),
		cmocka_unit_test(test_static_imbalance),
		cmocka_unit_test(test_rotating_imbalance),
		cmocka_unit_test(test_transfer),
		cmocka_unit_test(test_lu_block),
		cmocka_unit_test(test_lu_cyclic),
		launched_test(test_longest_path),
		cmocka_unit_test(test_interim),
		launched_test(test_barrier_sums),
		cmocka_unit_test(test_attach_long_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
