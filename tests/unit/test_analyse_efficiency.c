// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check efficiencies against numbers worked out by hand, and against closed forms through the
 * model.
 */
#include "test_analyse_util.h"

DEFINE_CLEANUP_PTR(arena_free, struct arena *)

/* --- OpenMP ---------------------------------------------------------------------------------- */

/*
 * A program for which TALP gives load balance 0.83, serialisation efficiency 0.58, scheduling
 * efficiency 0.99 and parallel efficiency 0.48. Its two threads run for 10 s. Scheduling takes 0.1
 * s of each thread, so 9.9 s remain. Waits at the end of worksharing take 17 % of these: 1.683 s.
 * While one thread runs a serial part, 42 % of the remaining 8.217 s pass: 3.45114 s. The rest,
 * 4.76586 s, is useful.
 */
static void test_talp(void **state)
{
	struct efficiency_omp t = {
		.scheduling_ns = 100000,
		.imbalance_ns = 1683000,
		.serialisation_ns = 3451140,
		.useful_ns = 4765860,
	};
	struct efficiency_omp_ratios r;

	r = efficiency_openmp(&t);
	assert_fields(&r, NEAR(load_balance, 0.83, 1e-9), NEAR(serialisation, 0.58, 1e-9),
		      NEAR(scheduling, 0.99, 1e-9), NEAR(parallel, 0.48, 0.005));
	assert_near(r.load_balance * r.scheduling * r.serialisation, r.parallel, 1e-12);
	assert_near(r.start, 1, 1e-12);
	/*
	 * The start of the teams takes a third of the serial time, so the efficiency of the start
	 * is (8.217 - 1.15038) / 8.217.
	 */
	t.start_ns = 1150380;
	t.serialisation_ns -= 1150380;
	r = efficiency_openmp(&t);
	assert_fields(&r, NEAR(load_balance, 0.83, 1e-9), NEAR(start, 7.06662 / 8.217, 1e-9),
		      NEAR(serialisation, 4.76586 / 7.06662, 1e-9));
	assert_near(r.load_balance * r.scheduling * r.start * r.serialisation, r.parallel, 1e-12);
	/* The start of the teams is unknown, so it counts as serial time. */
	t.start_ns = MODEL_UNKNOWN;
	t.serialisation_ns += 1150380;
	r = efficiency_openmp(&t);
	assert_true(isnan(r.start));
	assert_near(r.serialisation, 0.58, 1e-9);
	/* A fifth of the useful time becomes waits for a turn. The other losses stay the same. */
	t.useful_ns -= t.useful_ns / 5;
	t.turns_ns = t.useful_ns / 4;
	r = efficiency_openmp(&t);
	assert_fields(&r, NEAR(turns, 0.8, 1e-5), NEAR(load_balance, 0.83, 1e-5),
		      NEAR(serialisation, 0.58, 1e-5));
	assert_near(r.load_balance * r.scheduling * r.serialisation * r.turns, r.parallel, 1e-12);
	/*
	 * The order in which the factors are split off matters: if imbalance came first, the load
	 * balance would be 0.8317.
	 */
	assert_true(fabs(r.load_balance - (1 - 0.1683)) > 0.001);
}

static void test_openmp_edges(void **state)
{
	struct efficiency_omp t = { 0 };
	struct efficiency_omp_ratios r;

	r = efficiency_openmp(&t);
	assert_true(isnan(r.load_balance) && isnan(r.scheduling) && isnan(r.serialisation) &&
		    isnan(r.parallel));
	t.useful_ns = 5;
	r = efficiency_openmp(&t);
	assert_fields(&r, NEAR(load_balance, 1, 1e-12), NEAR(scheduling, 1, 1e-12),
		      NEAR(serialisation, 1, 1e-12), NEAR(parallel, 1, 1e-12));
}

/* --- through the model ----------------------------------------------------------------------- */

struct through {
	struct causes *causes;
	uint64_t waits;
};

static void take(void *ctx, const struct model *model, const struct model_episode *ep)
{
	struct through *t = ctx;

	for (uint32_t i = 0; i < ep->n; i++)
		t->waits += ep->members[i].wait_ns;
	assert_int_equal(causes_episode(t->causes, model, ep, NULL, 0, NULL), 0);
}

static const struct cause_env cause_env = {
	.instructions = MODEL_NONE,
	.cycles = MODEL_NONE,
};

#define ROUNDS 40
#define UNIT   (2 * MS)

/*
 * Run @n threads that sleep for half of their work. One thread has twice the work: always the same
 * thread, or with @rotate each thread in turn. Barriers cost almost nothing.
 */
static void run_form(uint32_t n, bool rotate, struct report *rep)
{
	struct report_env env = { .crossing_cost_ns = NAN, .tracer_cpu_ns = REPORT_UNKNOWN };
	struct through t = { 0 };
	struct model_ops ops = { .ctx = &t, .episode = take };
	struct model *m CLEANUP_PTR(model_free) = model_new(&ops, 0);
	struct model_detail d;
	struct model_crossing c;
	uint64_t now = 0, work;

	assert_non_null(m);
	t.causes = causes_new(&cause_env, &env);
	assert_non_null(t.causes);
	assert_int_equal(model_add_process(m, PID, INC, 0, 0, 0, true, "form"), 0);
	for (uint32_t k = 0; k < ROUNDS; k++) {
		for (uint32_t i = 0; i < n; i++) {
			work = i == (rotate ? k % n : 1) ? 2 * UNIT : UNIT;
			memset(&d, 0, sizeof(d));
			d.oncpu_ns = work / 2;
			d.blocked_ns[MODEL_BLOCKED_SLEEP] = work / 2;
			c = crossing(TID(i), A, n, now + work, now + 2 * UNIT + 1);
			c.seq = k + 1;
			c.flags = MODEL_CROSSING_ACCOUNTED;
			c.detail = &d;
			assert_int_equal(model_add_crossing(m, &c), 0);
		}
		now += 2 * UNIT + 1;
	}
	assert_int_equal(model_finish(m, now), 0);
	env.causes = t.causes;
	env.end_ns = now;
	assert_int_equal(report_build(m, &env, rep), 0);
	assert_int_equal(t.waits, ROUNDS * (n - 1) * UNIT);
	/* There is one team, so the phases that end at its barrier cause all waits. */
	assert_fields(rep, IS(nbarriers, 1), IS(barriers[0].delay_direct_ns, t.waits),
		      IS(barriers[0].delay_passed_ns, 0), IS(barriers[0].gain_ns, t.waits / n));
	causes_free(t.causes);
}

static void test_closed_forms(void **state)
{
	struct report_process *p;
	struct report rep;

	for (uint32_t n = 2; n <= 8; n++) {
		double form = (n + 1) / (2.0 * n);

		run_form(n, false, &rep);
		p = &rep.processes[0];
		assert_fields(p, NEAR(efficiency.load_balance, form, 1e-12),
			      NEAR(efficiency.serialisation, 1, 1e-12),
			      NEAR(efficiency.transfer, 1, 1e-6),
			      NEAR(efficiency.parallel, form, 1e-6));
		assert_near(rep.barriers[0].load_balance, form, 1e-12);
		assert_near(p->useful_oncpu, 0.5, 1e-12);
		assert_true(isnan(p->omp_load_balance) && isnan(p->omp_scheduling) &&
			    isnan(p->omp_serialisation));
		report_free(&rep);
	}
	/* A different thread has twice the work in each round. */
	for (uint32_t n = 2; n <= 8; n *= 2) {
		double form = (n + 1) / (2.0 * n);

		run_form(n, true, &rep);
		p = &rep.processes[0];
		assert_fields(p, NEAR(efficiency.load_balance, 1, 1e-12),
			      NEAR(efficiency.serialisation, form, 1e-12),
			      NEAR(efficiency.parallel, form, 1e-6));
		assert_near(rep.barriers[0].serialisation, form, 1e-12);
		assert_near(p->useful_oncpu, 0.5, 1e-12);
		report_free(&rep);
	}
}

/* Half of the additional work is on a CPU and half is asleep. The report names this cause. */
static void test_cause_in_report(void **state)
{
	const struct report_cause *c;
	const struct report_parts *parts;
	struct report rep CLEANUP(report_free);

	run_form(4, true, &rep);
	c = &rep.barriers[0].cause;
	assert_fields(c, IS(episodes, ROUNDS), IS(lateness_ns, ROUNDS * UNIT), IS(nparts, 2),
		      NEAR(share, 0.5, 1e-12));
	parts = &rep.barriers[0].threads[0].parts;
	assert_fields(parts, IS(oncpu_ns, rep.barriers[0].threads[0].work_ns / 2),
		      IS(blocked_ns[MODEL_BLOCKED_SLEEP], parts->oncpu_ns), IS(unattributed_ns, 0));
}

/* Time was not accounted for, so the report does not say how threads spent it. */
static void test_unaccounted(void **state)
{
	struct report_env env = { .crossing_cost_ns = NAN, .tracer_cpu_ns = REPORT_UNKNOWN };
	struct run *r CLEANUP_PTR(run_free) = known_threads(2);
	struct report rep CLEANUP(report_free);

	assert_int_equal(model_finish(r->model, 1000), 0);
	env.end_ns = 1000;
	assert_int_equal(report_build(r->model, &env, &rep), 0);
	assert_true(isnan(rep.processes[0].useful_oncpu));
	assert_true(rep.processes[0].members[0].parts.oncpu_ns == REPORT_UNKNOWN);
	assert_true(rep.processes[0].members[0].parts.faults == REPORT_UNKNOWN);
	assert_true(rep.barriers[0].delay_direct_ns == REPORT_UNKNOWN);
	assert_true(isnan(rep.barriers[0].cause.share));
	assert_fields(&rep.barriers[0], IS(cause.dominant, NULL), IS(counters, NULL));
}

/* --- sums ------------------------------------------------------------------------------------ */

static void test_counters(void **state)
{
	static const char *const names[] = { "cycles", "instructions", "page-faults" };
	struct report_env env = { .ncounters = 3, .counters = names };
	struct model_sums a = { .counted = 2,
				.counters = { 10, 20, 30 },
				.inside_counters = { 1, 2, 3 },
				.scaled = 1 };
	struct model_sums b = { .counted = 1, .counters = { 5, 5, 5 }, .unknown = 2 };
	struct arena *arena CLEANUP_PTR(arena_free) = arena_new();
	struct report_counter *c;
	int err = 0;

	c = counters_of(arena, &env, &a, &err);
	assert_int_equal(err, 0);
	assert_fields(&c[1], TEXT(name, "instructions"), IS(value, 20), IS(inside, 2));
	assert_true(c[0].scaled);
	assert_false(c[1].scaled);
	model_sums_join(&a, &b);
	c = counters_of(arena, &env, &a, &err);
	assert_int_equal(c[0].value, 15);
	assert_true(c[1].value == REPORT_UNKNOWN);
	assert_true(c[1].inside == REPORT_UNKNOWN);
	assert_fields(&c[1], IS(least, 25), IS(inside_least, 2));
	assert_int_equal(c[0].least, 0);
	assert_int_equal(c[2].value, 35);
	memset(&a, 0, sizeof(a));
	c = counters_of(arena, &env, &a, &err);
	assert_true(c[0].value == REPORT_UNKNOWN);
	env.ncounters = 0;
	assert_null(counters_of(arena, &env, &a, &err));
	assert_int_equal(err, 0);
}

/*
 * One member of an episode has no counter value. It arrives first, last or between the others. The
 * sum is at least the sum of the known values.
 */
static void test_counter_sum(void **state)
{
	for (int first = 0; first < 3; first++) {
		struct report_counter sum = { 0 };

		for (int i = 0; i < 3; i++) {
			int who = (first + i) % 3;
			struct report_counter c = report_counter("cycles", 100u << who, 1u << who,
								 who != 0, who == 2);

			assert_true((sum.value == REPORT_UNKNOWN) == (i > (3 - first) % 3));
			report_counter_add(&sum, &c);
		}
		assert_fields(&sum, TEXT(name, "cycles"), IS(scaled, true));
		assert_true(sum.value == REPORT_UNKNOWN && sum.inside == REPORT_UNKNOWN);
		assert_fields(&sum, IS(least, 700), IS(inside_least, 7));
	}
}

static void test_parts(void **state)
{
	struct model_sums s = { .known_ns = 100,
				.oncpu_ns = 50,
				.runq_ns = 20,
				.fault_ns = 7,
				.blocked_ns = { 1, 2, 3, 4, 5, 6 },
				.switches = 9 };
	struct report_parts p = parts_of(&s);

	assert_fields(&p, IS(unattributed_ns, 100 - 50 - 20 - 21), IS(fault_ns, 7),
		      IS(switches, 9));
	assert_true(p.spin_ns == REPORT_UNKNOWN); /* the time inside the barrier is unknown */
	s.oncpu_ns = 90;
	s.inside_known_ns = 10;
	p = parts_of(&s);
	assert_fields(&p, IS(unattributed_ns, 0), IS(spin_ns, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_talp),	     cmocka_unit_test(test_openmp_edges),
		cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_cause_in_report),
		cmocka_unit_test(test_unaccounted),  cmocka_unit_test(test_counters),
		cmocka_unit_test(test_counter_sum),  cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
