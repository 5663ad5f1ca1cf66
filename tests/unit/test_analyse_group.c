// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check that processes that cross barriers together are classified as one team. */
#include "test_analyse_util.h"

#include "sbt/record.h"

#define RANKS  4
#define ROUNDS 40
#define UNIT   (2 * MS)

static void meet(struct model *m, uint32_t rank, uint64_t object, uint64_t shared, uint32_t count,
		 uint32_t seq, uint64_t arrive, uint64_t depart, bool ranked)
{
	struct model_crossing c = crossing(TID(rank), object, count, arrive, depart);

	c.tgid = PID + rank;
	c.inc = INC + rank;
	c.shared = shared;
	c.seq = seq;
	c.family = ranked ? SBT_FAMILY_MPI : SBT_FAMILY_PTHREAD;
	c.place = ranked ? (uint16_t)(rank + 1) : 0;
	assert_int_equal(model_add_crossing(m, &c), 0);
}

static struct model *processes(uint32_t n)
{
	struct model *m = model_new(NULL, 0);

	assert_non_null(m);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(model_add_process(m, PID + i, INC + i, 0, 0, 0, true, "rank"), 0);
	return m;
}

/*
 * Run @n ranks. Either rank 1 has twice the work of the other ranks, or each rank in turn has.
 * Ranks leave @latency after the last arrival.
 */
static void run_with(uint64_t latency, uint32_t n, bool rotate, bool ranked, struct report *rep)
{
	struct report_env env = { .crossing_cost_ns = NAN, .tracer_cpu_ns = REPORT_UNKNOWN };
	struct model *m CLEANUP_PTR(model_free) = processes(n);
	uint64_t now = 0;

	for (uint32_t k = 0; k < ROUNDS; k++) {
		for (uint32_t i = 0; i < n; i++)
			meet(m, i, A, 1, n, k + 1,
			     now + (i == (rotate ? k % n : 1) ? 2 * UNIT : UNIT),
			     now + 2 * UNIT + latency, ranked);
		now += 2 * UNIT + latency;
	}
	assert_int_equal(model_finish(m, now), 0);
	env.end_ns = now;
	assert_int_equal(report_build(m, &env, rep), 0);
}

static void run(uint32_t n, bool rotate, bool ranked, struct report *rep)
{
	run_with(1, n, rotate, ranked, rep);
}

/*
 * Ranks take long to leave. That time is not a wait, but counts as part of the total time when the
 * share of waits is computed. The result for all ranks and the result for each rank use the same
 * definition.
 */
static void test_one_definition(void **state)
{
	const struct report_process *all;
	struct report rep CLEANUP(report_free);

	run_with(UNIT, 3, false, true, &rep);
	all = &rep.groups[0].all;
	assert_near(all->wait_share, 2.0 / 9, 1e-9);
	assert_non_null(
		strstr(all->verdict, "ranks 0, 2 wait 33 % of their time, rank 1 only 0 %"));
	for (uint32_t i = 0; i < rep.nprocesses; i++) {
		const struct report_process *p = &rep.processes[i];
		bool late = p->pid == PID + 1;

		assert_near(p->wait_share, late ? 0 : 1.0 / 3, 1e-9);
		if (!late)
			assert_says(p->verdict, "33 %");
	}
}

/*
 * The first crossings of one rank were not recorded. No figure includes the time before its first
 * recorded crossing.
 */
static void test_seen_late(void **state)
{
	struct report_env env = { .crossing_cost_ns = NAN, .tracer_cpu_ns = REPORT_UNKNOWN };
	const struct report_process *all;
	struct report rep;

	for (uint32_t late = 0; late < 3; late++) {
		/* The rank is not late, late by a negligible time, or late by half of the run. */
		uint64_t at = late == 0 ? 0 : late == 1 ? UNIT / 100 : ROUNDS * UNIT, now = 0;
		struct model *m CLEANUP_PTR(model_free) = processes(3);

		assert_int_equal(
			model_add_process(m, PID + 2, INC + 2, 0, 0, at, late == 0, "rank"), 0);
		for (uint32_t k = 0; k < ROUNDS; k++, now += 2 * UNIT + 1)
			for (uint32_t i = 0; i < 3; i++)
				if (i < 2 || now >= at || late < 2)
					meet(m, i, A, 1, 3, k + 1, now + (i == 1 ? 2 * UNIT : UNIT),
					     now + 2 * UNIT + 1, true);
		assert_int_equal(model_finish(m, now), 0);
		env.end_ns = now;
		assert_int_equal(report_build(m, &env, &rep), 0);
		assert_int_equal(rep.ngroups, 1);
		all = &rep.groups[0].all;
		assert_int_equal(all->counted_from_ns, late ? at : REPORT_UNKNOWN);
		assert_int_equal(isnan(all->efficiency.parallel), late == 2);
		assert_int_equal(strstr(all->verdict,
					"The first crossings of some of its processes") != NULL,
				 late > 0);
		report_free(&rep);
	}
}

static void test_closed_forms(void **state)
{
	const struct report_process *all;
	struct report rep;

	for (uint32_t n = 2; n <= RANKS; n *= 2) {
		double form = (n + 1) / (2.0 * n);

		run(n, false, true, &rep);
		assert_fields(&rep, IS(ngroups, 1), IS(groups[0].nprocesses, n));
		all = &rep.groups[0].all;
		assert_fields(all, IS(threads, n), IS(nmembers, n),
			      NEAR(efficiency.load_balance, form, 1e-12),
			      NEAR(efficiency.serialisation, 1, 1e-12),
			      NEAR(efficiency.parallel, form, 1e-6),
			      IS(wait_ns, ROUNDS * (n - 1) * UNIT), IS(pattern, REPORT_STATIC),
			      NEAR(members[1].last_share, 1, 1e-12),
			      NEAR(members[0].last_share, 0, 1e-12));
		/* The efficiencies of a single rank are unknown. */
		assert_int_equal(all->episodes, ROUNDS);
		for (uint32_t i = 0; i < rep.nprocesses; i++) {
			/* Each episode counts for each rank, and once for the group. */
			assert_fields(&rep.processes[i], IS(episodes, ROUNDS),
				      IS(meets_others, true));
			assert_true(isnan(rep.processes[i].efficiency.parallel));
			assert_true(rep.processes[i].members[0].last_share <= 1);
			assert_says(rep.processes[i].verdict, "see its group");
		}
		report_free(&rep);

		run(n, true, true, &rep);
		all = &rep.groups[0].all;
		assert_fields(all, NEAR(efficiency.load_balance, 1, 1e-12),
			      NEAR(efficiency.serialisation, form, 1e-12),
			      IS(pattern, REPORT_ROTATING));
		report_free(&rep);
	}
}

/* MPI ranks are named by rank. For other processes, the report names the tids of their threads. */
static void test_names(void **state)
{
	struct report rep CLEANUP(report_free);

	run(3, false, true, &rep);
	assert_fields(&rep, IS(barriers[0].ranked, true), IS(groups[0].all.ranked, true),
		      HAS(barriers[0].verdict, "rank 1 arrives last in 100 %"),
		      HAS(groups[0].all.verdict, "ranks 0, 2 wait 50 %"));
	report_free(&rep);

	run(3, false, false, &rep);
	assert_fields(&rep, IS(barriers[0].ranked, false), IS(groups[0].all.ranked, false),
		      HAS(barriers[0].verdict, "thread 102 arrives last in 100 %"),
		      HAS(groups[0].all.verdict, "threads 101, 103 wait 50 %"));
}

/* There are two pairs of processes, and one process that crosses barriers alone. */
static void test_processes_of_each_group(void **state)
{
	struct report_env env = { .crossing_cost_ns = NAN, .tracer_cpu_ns = REPORT_UNKNOWN };
	struct model *m CLEANUP_PTR(model_free) = processes(5);
	struct report rep CLEANUP(report_free);

	for (uint32_t k = 1; k <= 10; k++) {
		for (uint32_t i = 0; i < 4; i++)
			meet(m, i, A, 1 + i / 2, 2, k, 100 * k + i, 100 * k + 10, false);
		meet(m, 4, A, 0, 1, k, 100 * k, 100 * k + 10, false);
	}
	assert_int_equal(model_finish(m, 2000), 0);
	env.end_ns = 2000;
	assert_int_equal(report_build(m, &env, &rep), 0);
	assert_fields(&rep, IS(nprocesses, 5), IS(ngroups, 2), IS(groups[0].nprocesses, 2),
		      IS(groups[1].nprocesses, 2));
	assert_int_equal(rep.groups[0].processes[0].pid / 2, rep.groups[0].processes[1].pid / 2);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(rep.processes[i].meets_others, rep.processes[i].pid != PID + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_forms),
		cmocka_unit_test(test_one_definition),
		cmocka_unit_test(test_seen_late),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_processes_of_each_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
