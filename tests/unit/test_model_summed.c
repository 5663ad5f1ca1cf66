// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check that the model gives the same results for sums of crossings as for the single crossings. */
#include "test_model_util.h"

#define START 1000
#define SITE  3

/* Threads 10 and 20 cross in two episodes, and take turns to arrive first. */
static const struct {
	uint32_t tid;
	uint64_t arrive, depart;
} crossed[] = {
	{ 10, 2000, 3100 },
	{ 20, 3000, 3200 },
	{ 20, 4000, 6100 },
	{ 10, 6000, 6050 },
};

static struct model *new_model(void)
{
	struct model *m = model_new(NULL, START);

	assert_non_null(m);
	assert_int_equal(model_add_process(m, PID, INC, 0, 0, START, true, "p"), 0);
	assert_int_equal(model_add_thread(m, PID, INC, 10, START), 0);
	assert_int_equal(model_add_thread(m, PID, INC, 20, START + 100), 0);
	return m;
}

static struct model *by_crossings(void)
{
	struct model *m = new_model();
	uint32_t i, seq[32] = { 0 };

	for (i = 0; i < 4; i++) {
		struct model_crossing c = { .tgid = PID,
					    .inc = INC,
					    .tid = crossed[i].tid,
					    .seq = ++seq[crossed[i].tid],
					    .site = SITE,
					    .count = 2,
					    .object = 0x1000,
					    .arrive_ns = crossed[i].arrive,
					    .depart_ns = crossed[i].depart,
					    .family = 1 };

		assert_int_equal(model_add_crossing(m, &c), 0);
	}
	assert_int_equal(model_finish(m, 10000), 0);
	return m;
}

static struct model_summed summed_of(uint32_t tid)
{
	struct model_summed s = { .tgid = PID,
				  .inc = INC,
				  .tid = tid,
				  .site = SITE,
				  .family = 1,
				  .object = 0x1000,
				  .born_ns = 2000,
				  .team_min = UINT32_MAX };

	model_stat_init(&s.wait);
	model_stat_init(&s.release);
	model_stat_init(&s.barrier);
	model_stat_init(&s.phase);
	return s;
}

static struct model *by_sums(void)
{
	struct model_summed a = summed_of(10), b = summed_of(20);
	struct model *m = new_model();

	/* Thread 10 waited 1000, then arrived last. */
	a.first_arrive_ns = 2000;
	a.depart_ns = 6050;
	a.crossings = 2;
	a.idle_ns = 1100 + 50;
	a.work_ns = 2900;
	a.work_n = 1;
	model_stat_add(&a.wait, 1000);
	model_stat_add(&a.wait, 0);
	model_stat_add(&a.release, 100);
	model_stat_add(&a.release, 50);
	model_stat_add(&a.barrier, 2000);
	model_stat_add(&a.phase, 3000);
	a.thread_ns = 6000;
	a.team_min = a.team_max = 2;
	/* Thread 20 arrived last in the first phase, then waited 2000. */
	b.born_ns = 3000;
	b.first_arrive_ns = 3000;
	b.first_release_ns = 3000;
	b.first_team = 2;
	b.depart_ns = 6100;
	b.crossings = 2;
	b.idle_ns = 200 + 2100;
	b.work_ns = 800;
	b.work_n = 1;
	model_stat_add(&b.wait, 0);
	model_stat_add(&b.wait, 2000);
	model_stat_add(&b.release, 200);
	model_stat_add(&b.release, 100);
	model_stat_add(&b.barrier, 1000);
	b.team_min = b.team_max = 2;
	assert_int_equal(model_add_summed(m, &a), 0);
	assert_int_equal(model_add_summed(m, &b), 0);
	assert_int_equal(model_finish(m, 10000), 0);
	return m;
}

static void assert_same_stat(const struct model_stat *a, const struct model_stat *b)
{
	assert_fields(a, IS(n, b->n), IS(sum, b->sum), IS(min, b->min), IS(max, b->max));
	assert_memory_equal(a->hist, b->hist, sizeof(a->hist));
	assert_true(model_stat_stddev(a) - model_stat_stddev(b) < 1e-6 &&
		    model_stat_stddev(b) - model_stat_stddev(a) < 1e-6);
}

static void test_the_same(void **state)
{
	struct model *one CLEANUP_PTR(model_free) = by_crossings(),
			  *two CLEANUP_PTR(model_free) = by_sums();
	const struct model_barrier *x = model_barrier(one, 0), *y = model_barrier(two, 0);

	assert_int_equal(model_nbarriers(one), 1);
	assert_int_equal(model_nbarriers(two), 1);
	assert_int_equal(x->episodes, 2);
	assert_fields(y, IS(episodes, 2), IS(crossings, x->crossings), IS(incomplete, 0),
		      IS(team_min, x->team_min), IS(team_max, x->team_max));
	assert_same_stat(&y->wait, &x->wait);
	assert_same_stat(&y->release, &x->release);
	assert_same_stat(&y->barrier, &x->barrier);
	/*
	 * The second thread began 100 ns after the first. Its first phase has the same length as in
	 * the model that gets single crossings.
	 */
	assert_fields(y, IS(phase.n, x->phase.n), IS(phase.sum, x->phase.sum));
	assert_false(x->summed);
	assert_fields(y, IS(summed, true), IS(nphases, 0));
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t tid = i ? 20 : 10;
		const struct model_thread *s =
			model_thread(one, model_find_thread(one, PID, INC, tid));
		const struct model_thread *t =
			model_thread(two, model_find_thread(two, PID, INC, tid));

		assert_fields(t, IS(crossings, s->crossings), IS(wait_ns, s->wait_ns),
			      IS(idle_ns, s->idle_ns), IS(outside_ns, s->outside_ns),
			      IS(last, s->last), IS(ordinal, s->ordinal));
		assert_true(t->ideal_ns == MODEL_UNKNOWN);
	}
	assert_int_equal(model_proc(two, 0)->elapsed_ns, model_proc(one, 0)->elapsed_ns);
	assert_true(model_proc(two, 0)->ideal_ns == MODEL_UNKNOWN);
	assert_true(model_proc(one, 0)->ideal_ns != MODEL_UNKNOWN);
	assert_fields(model_totals(two), IS(episodes, 2), IS(crossings, 4));
}

/*
 * A thread without later crossings does not work while it waits for threads to end. Waits before
 * its last crossing belong to the phase that this crossing ends.
 */
static void test_joins(void **state)
{
	struct model *m CLEANUP_PTR(model_free) = new_model();
	struct model_summed a = summed_of(10), b = summed_of(20);
	struct model_thread t;

	assert_int_equal(model_add_joined(m, PID, INC, 10, 300, 4000, 3000), 0);
	assert_int_equal(model_add_joined(m, PID, INC, 10, 500, 9000, 8000), 0);
	assert_int_equal(model_add_joined(m, PID, INC, 10, 200, 9500, 8000), 0);
	assert_int_equal(model_add_joined(m, PID, INC, 20, 400, 5000, 4000), 0);
	a.crossings = b.crossings = 2;
	a.depart_ns = b.depart_ns = 8000;
	assert_int_equal(model_add_summed(m, &a), 0);
	assert_int_equal(model_add_summed(m, &b), 0);
	assert_int_equal(model_finish(m, 10000), 0);
	t = *model_thread(m, model_find_thread(m, PID, INC, 10));
	assert_int_equal(t.away_ns, 700);
	t = *model_thread(m, model_find_thread(m, PID, INC, 20));
	assert_int_equal(t.away_ns, 0);
}

/*
 * A thread number is reused. Sums with this number are added to the thread that had it at that
 * time.
 */
static void test_numbers_come_again(void **state)
{
	struct model *m = new_model();
	struct model_summed a = summed_of(10), b = summed_of(10);
	uint32_t found = 0;

	assert_int_equal(model_end_thread(m, PID, INC, 10, 5000, NULL), 0);
	assert_int_equal(model_add_thread(m, PID, INC, 10, 6000), 0);
	a.born_ns = 2000;
	a.crossings = 3;
	a.depart_ns = 4000;
	b.born_ns = 7000;
	b.crossings = 5;
	b.depart_ns = 8000;
	assert_int_equal(model_add_summed(m, &b), 0);
	assert_int_equal(model_add_summed(m, &a), 0);
	assert_int_equal(model_finish(m, 10000), 0);
	for (uint32_t i = 0; i < model_nthreads(m); i++) {
		const struct model_thread *t = model_thread(m, i);

		if (t->tid != 10)
			continue;
		found++;
		assert_int_equal(t->crossings, t->start_ns < 5000 ? 3 : 5);
	}
	assert_int_equal(found, 2);
	model_free(m);
}

static void test_joined_stats(void **state)
{
	struct model_stat a, b, all;

	model_stat_init(&a);
	model_stat_init(&b);
	model_stat_init(&all);
	model_stat_join(&a, &b);
	assert_int_equal(a.n, 0);
	for (uint64_t i = 1; i < 200; i++) {
		model_stat_add(i % 3 ? &a : &b, i * i);
		model_stat_add(&all, i * i);
	}
	model_stat_join(&a, &b);
	assert_same_stat(&a, &all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same),
		cmocka_unit_test(test_joins),
		cmocka_unit_test(test_numbers_come_again),
		cmocka_unit_test(test_joined_stats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
