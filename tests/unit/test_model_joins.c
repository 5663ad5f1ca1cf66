// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check workers at the end of a parallel region: they arrive, and their resumption is reported
 * later.
 */
#include "test_model_util.h"

#define TEAM 0x8000000000006400ULL

static struct run *team_of_three(void)
{
	struct run *r = run_new(0);

	run_launched(r, 0);
	assert_int_equal(model_add_thread(r->model, PID, INC, 1, 0), 0);
	assert_int_equal(model_add_thread(r->model, PID, INC, 2, 10), 0);
	assert_int_equal(model_add_thread(r->model, PID, INC, 3, 20), 0);
	return r;
}

static struct model_crossing team(uint32_t tid, uint32_t count, uint64_t arrive, uint64_t depart)
{
	struct model_crossing c = crossing(tid, TEAM, count, arrive, depart);

	c.flags = MODEL_CROSSING_TEAM | (depart == NEVER ? MODEL_CROSSING_STAYS : 0);
	return c;
}

static struct model_crossing resume(uint32_t tid, uint64_t at)
{
	struct model_crossing c = crossing(tid, 0, 0, at, at);

	c.flags = MODEL_CROSSING_RESUMES;
	return c;
}

static void finish(struct run *r, uint64_t end)
{
	assert_int_equal(model_finish(r->model, end), 0);
}

/* There are two regions, between which the workers are idle. The first region ends at 130. */
static void test_two_regions(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = team_of_three();
	const struct model_member *m;

	run_feed(r, team(2, 0, 110, NEVER));
	run_feed(r, team(3, 0, 120, NEVER));
	run_feed(r, team(1, 3, 130, 140));
	run_feed(r, resume(2, 200));
	run_feed(r, resume(3, 205));
	run_feed(r, team(3, 0, 230, NEVER));
	run_feed(r, team(1, 3, 240, 260));
	run_feed(r, team(2, 0, 250, NEVER));
	finish(r, 1000);

	assert_fields(r, IS(nkept, 2), IS(kept[0].ep.state, MODEL_COMPLETE),
		      IS(kept[1].ep.state, MODEL_COMPLETE));
	assert_tids(&r->kept[0].ep, "2 3 1");
	assert_tids(&r->kept[1].ep, "3 1 2");
	assert_int_equal(r->kept[0].ep.why, 0);
	m = member_of(&r->kept[0].ep, 2);
	assert_int_equal(m->wait_ns, 20);
	assert_true(m->latency_ns == MODEL_UNKNOWN);
	m = member_of(&r->kept[1].ep, 2);
	assert_int_equal(m->work_ns, 50);
	assert_int_equal(member_of(&r->kept[1].ep, 3)->work_ns, 25);
	assert_int_equal(member_of(&r->kept[1].ep, 1)->work_ns, 100);
	assert_fields(model_totals(r->model), IS(crossings, 6), IS(abandoned, 0), IS(lost, 0));
	/* Workers are idle from each join until they resume, or until the end. */
	assert_fields(thread_of(r, 2), IS(idle_ns, 90 + 750), IS(outside_ns, 100 + 50),
		      IS(unknown_ns, 0));
	assert_int_equal(thread_of(r, 1)->idle_ns, 10 + 20);
}

/* If the record of the resumption is lost, the time since the join is unknown. */
static void test_resume_lost(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = team_of_three();

	run_feed(r, team(2, 0, 110, NEVER));
	run_feed(r, team(3, 0, 120, NEVER));
	run_feed(r, team(1, 3, 130, 140));
	lose(r, 2);
	run_feed(r, resume(3, 205));
	run_feed(r, team(3, 0, 230, NEVER));
	run_feed(r, team(1, 3, 240, 260));
	run_feed(r, team(2, 0, 250, NEVER));
	finish(r, 300);

	assert_int_equal(r->nkept, 2);
	assert_int_equal(model_totals(r->model)->lost, 1);
	assert_true(member_of(&r->kept[1].ep, 2)->work_ns == MODEL_UNKNOWN);
	assert_int_equal(member_of(&r->kept[1].ep, 3)->work_ns, 25);
	assert_fields(thread_of(r, 2), IS(unknown_ns, 140), IS(idle_ns, 50));
}

/* The join itself is lost. Before the resumption it is unknown whether the thread was idle. */
static void test_join_lost(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = team_of_three();

	lose(r, 2);
	run_feed(r, team(3, 0, 120, NEVER));
	run_feed(r, team(1, 3, 130, 140));
	run_feed(r, resume(2, 200));
	run_feed(r, resume(3, 205));
	run_feed(r, team(3, 0, 230, NEVER));
	run_feed(r, team(1, 3, 240, 260));
	run_feed(r, team(2, 0, 250, NEVER));
	finish(r, 300);

	assert_int_equal(model_totals(r->model)->lost, 1);
	assert_int_equal(thread_of(r, 2)->unknown_ns, 190);
	assert_int_equal(member_of(&r->kept[r->nkept - 1].ep, 2)->work_ns, 50);
}

/* A worker that ends after its last join delayed no thread, and did not work after the join. */
static void test_worker_exits(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = team_of_three();

	run_feed(r, team(2, 0, 110, NEVER));
	run_feed(r, team(3, 0, 120, NEVER));
	run_feed(r, team(1, 3, 130, 140));
	assert_int_equal(model_end_thread(r->model, PID, INC, 2, 500, "worker"), 0);
	finish(r, 1000);

	assert_fields(r, IS(nkept, 1), IS(kept[0].ep.state, MODEL_COMPLETE));
	assert_fields(thread_of(r, 2), IS(abandoned, 0), IS(idle_ns, 390), IS(outside_ns, 100));
	assert_int_equal(thread_of(r, 3)->idle_ns, 880);
}

/* The teams of one master may differ in size and threads. */
static void test_sizes_change(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = team_of_three();
	uint64_t t = 100;

	assert_int_equal(model_add_thread(r->model, PID, INC, 4, 30), 0);
	for (uint32_t i = 0; i < 20; i++, t += 100) {
		uint32_t n = 2 + i % 3, w;

		for (w = 2; w <= n; w++) {
			if (r->seq[w])
				run_feed(r, resume(w, t));
			run_feed(r, team(w, 0, t + w, NEVER));
		}
		run_feed(r, team(1, n, t + 50, t + 60));
	}
	finish(r, t);
	assert_int_equal(r->nkept, 20);
	for (uint32_t i = 0; i < 20; i++) {
		assert_fields(r, IS(kept[i].ep.state, MODEL_COMPLETE), IS(kept[i].ep.n, 2 + i % 3),
			      IS(kept[i].ep.why, 0));
	}
}

/*
 * Tracing began inside an episode. In each round the worker arrives last, and resumes long after
 * the other threads. By times alone, its arrival could belong to the next episode. If @counted, the
 * records have the team's number of the episode, which shows that the arrival belongs to this one.
 */
static void test_found_and_late(bool counted, uint32_t complete)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(0);
	uint64_t t = 1000;
	uint32_t n = 0;

	assert_int_equal(model_add_process(r->model, PID, INC, 0, 0, 0, false, "found"), 0);
	assert_int_equal(model_add_found(r->model, PID, INC, 1, MODEL_UNKNOWN), 0);
	assert_int_equal(model_add_found(r->model, PID, INC, 2, MODEL_UNKNOWN), 0);
	for (uint32_t i = 1; i <= 6; i++, t += 100) {
		struct model_crossing one = team(1, 2, t + 10, t + 55),
				      two = team(2, 0, t + 50, NEVER);

		one.round = two.round = counted ? i << 16 | 0xffff : 0;
		if (i > 1)
			run_feed(r, resume(2, t + 30));
		run_feed(r, two);
		run_feed(r, one);
	}
	finish(r, t);
	for (uint32_t i = 0; i < r->nkept; i++)
		n += r->kept[i].ep.state == MODEL_COMPLETE;
	assert_int_equal(n, complete);
}

static void test_found(void **state)
{
	test_found_and_late(false, 0);
	test_found_and_late(true, 6);
}

/*
 * Thread 3 has no record of the first episode. Its record of the second episode does not fill the
 * first, because it has the team's number of the second episode.
 */
static void test_other_number_of_the_team(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = team_of_three();
	struct model_crossing c;

	c = team(1, 3, 130, 140);
	c.round = 1 << 16 | 1;
	run_feed(r, c);
	c = team(2, 3, 120, 141);
	c.round = 1 << 16 | 1;
	run_feed(r, c);
	/* According to the clocks, the thread arrives before the other threads have left. */
	c = team(3, 3, 135, 260);
	c.round = 1 << 16 | 2;
	run_feed(r, c);
	finish(r, 300);
	assert_fields(r, IS(nkept, 2), IS(kept[0].ep.state, MODEL_INCOMPLETE), IS(kept[0].ep.n, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_regions),
		cmocka_unit_test(test_resume_lost),
		cmocka_unit_test(test_join_lost),
		cmocka_unit_test(test_worker_exits),
		cmocka_unit_test(test_sizes_change),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_other_number_of_the_team),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
