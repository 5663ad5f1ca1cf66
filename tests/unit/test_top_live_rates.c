// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check rates between two looks at the model: barriers that appear and disappear, waits in
 * progress, reused numbers.
 */
#include "test_model_util.h"

#include <math.h>

#include "top/live_rates.h"

#define MS  1000000ULL
#define SEC 1000000000ULL
#define A   0x1000
#define B   0x2000

struct fixture {
	struct run *run;
	struct live_rates *live_rates;
};

static struct fixture set_up(void)
{
	struct fixture f = { 0 };

	f.run = run_new(0);
	f.live_rates = live_rates_new();
	assert_non_null(f.live_rates);
	run_launched(f.run, 0);
	return f;
}

static void tear_down(struct fixture *f)
{
	live_rates_free(f->live_rates);
	run_free(f->run);
}

static void look(struct fixture *f, uint64_t now)
{
	assert_int_equal(model_advance(f->run->model, now), 0);
	assert_int_equal(live_rates_look(f->live_rates, f->run->model, NULL, now), 0);
}

/*
 * Add @n episodes of two threads, one every @period, starting at @from. Thread 11 arrives @wait
 * before thread 12.
 */
static void meet(struct fixture *f, uint64_t object, uint32_t site, uint64_t from, uint32_t n,
		 uint64_t period, uint64_t wait)
{
	struct model_crossing c;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t release = from + (i + 1) * period;

		c = crossing(11, object, 2, release - wait, release + 1000);
		c.site = site;
		run_feed(f->run, c);
		c = crossing(12, object, 2, release, release + 1000);
		c.site = site;
		run_feed(f->run, c);
	}
}

/*
 * Return a state in which two threads have crossed ten times, every 100 ms. The look is shortly
 * after.
 */
static struct fixture set_up_ten(void)
{
	struct fixture f = set_up();

	meet(&f, A, 1, 0, 10, 100 * MS, 30 * MS);
	look(&f, SEC + 10 * MS);
	return f;
}

/*
 * Return a state in which two threads have crossed once, after half a second. The look is after a
 * second.
 */
static struct fixture set_up_one(void)
{
	struct fixture f = set_up();

	meet(&f, A, 1, 0, 1, 500 * MS, 100 * MS);
	look(&f, SEC);
	return f;
}

static void waits(struct fixture *f, uint32_t tid, uint64_t object, uint32_t site, uint64_t since)
{
	struct live_rates_waiting w = { PID, INC, tid, site, object, since };

	assert_int_equal(live_rates_add_waiting(f->live_rates, &w), 0);
}

static const struct live_rates_thread *thread_at(const struct live_rates_row *row, uint32_t tid)
{
	for (uint32_t i = 0; i < row->nthreads; i++)
		if (row->threads[i].tid == tid)
			return &row->threads[i];
	return NULL;
}

static void test_one_interval(void **state)
{
	const struct live_rates_row *row;
	struct fixture f CLEANUP(tear_down) = set_up_ten();

	assert_int_equal(live_rates_nbarriers(f.live_rates), 1);
	row = live_rates_barrier(f.live_rates, 0);
	assert_fields(row, IS(episodes, 10), IS(lost_ns, 300 * MS), IS(team, 2),
		      IS(last_count, 10));
	assert_int_equal(model_thread(f.run->model, row->last_thread)->tid, 12);
	assert_near(live_rates_per_second(f.live_rates, row->episodes), 10 / 1.01, 1e-6);
	/* Imbalance 0.15: one of two threads lost 30 of 100 ms. */
	assert_near(live_rates_imbalance(row), 0.15, 1e-6);
	assert_int_equal(thread_at(row, 11)->lost_ns, 300 * MS);
	assert_fields(thread_at(row, 12), IS(lost_ns, 0), IS(last, 10));
	assert_int_equal(thread_at(row, 11)->waiting_ns, MODEL_UNKNOWN);
}

/* Rates count only events since the last look. A finished barrier stays as a row of zeros. */
static void test_differences(void **state)
{
	const struct live_rates_row *row;
	struct fixture f CLEANUP(tear_down) = set_up_ten();

	meet(&f, A, 1, SEC, 5, 200 * MS, 100 * MS);
	look(&f, 2 * SEC + 10 * MS);
	row = live_rates_barrier(f.live_rates, 0);
	assert_int_equal(live_rates_interval_ns(f.live_rates), SEC);
	assert_fields(row, IS(episodes, 5), IS(crossings, 10), IS(lost_ns, 500 * MS),
		      IS(sum_lost_ns, 800 * MS));
	assert_near(live_rates_imbalance(row), 0.25, 1e-6);
	assert_fields(row, IS(phase_n, 5), IS(phase_ns, 1000 * MS), IS(quiet_ns, 0));
	look(&f, 3 * SEC);
	row = live_rates_barrier(f.live_rates, 0);
	assert_fields(row, IS(episodes, 0), IS(lost_ns, 0), IS(last_thread, MODEL_NONE));
	assert_true(isnan(live_rates_imbalance(row)));
	assert_int_equal(thread_at(row, 11)->lost_ns, 0);
	assert_int_equal(row->quiet_ns, 3 * SEC - (2 * SEC + 10 * MS));
}

static void test_barriers_appear(void **state)
{
	uint64_t key;
	struct fixture f CLEANUP(tear_down) = set_up();

	look(&f, SEC / 2);
	assert_int_equal(live_rates_nbarriers(f.live_rates), 0);
	assert_int_equal(live_rates_nprocesses(f.live_rates), 0);
	meet(&f, A, 1, SEC / 2, 4, 100 * MS, 10 * MS);
	look(&f, SEC);
	assert_int_equal(live_rates_nbarriers(f.live_rates), 1);
	key = live_rates_barrier(f.live_rates, 0)->key;
	meet(&f, B, 2, SEC, 4, 100 * MS, 20 * MS);
	look(&f, 2 * SEC);
	assert_int_equal(live_rates_nbarriers(f.live_rates), 2);
	assert_int_equal(live_rates_barrier(f.live_rates, 0)->key, key);
	assert_int_not_equal(live_rates_barrier(f.live_rates, 1)->key, key);
	assert_int_equal(live_rates_barrier(f.live_rates, 1)->lost_ns, 80 * MS);
	/* The row of the process sums its barriers, and counts its threads once. */
	assert_int_equal(live_rates_nprocesses(f.live_rates), 1);
	assert_fields(live_rates_process(f.live_rates, 0), IS(lost_ns, 80 * MS),
		      IS(sum_lost_ns, 120 * MS), IS(nthreads, 2));
	assert_int_equal(thread_at(live_rates_process(f.live_rates, 0), 11)->crossings, 4);
}

/*
 * The rows of a process disappear some seconds after its end, and another process that reuses its
 * number has its own rows.
 */
static void test_pid_again(void **state)
{
	struct model_crossing c;
	const struct live_rates_row *row;
	uint64_t key;
	struct fixture f CLEANUP(tear_down) = set_up();

	meet(&f, A, 1, 0, 5, 100 * MS, 10 * MS);
	look(&f, SEC);
	key = live_rates_process(f.live_rates, 0)->key;
	assert_int_equal(model_end_process(f.run->model, PID, INC, SEC + 1), 0);
	assert_int_equal(model_add_process(f.run->model, PID, INC + 1, 0, 0, SEC + 2, true, "next"),
			 0);
	c = crossing(11, A, 2, SEC + 100 * MS, SEC + 201 * MS);
	c.inc = INC + 1;
	c.seq = 1;
	assert_int_equal(model_add_crossing(f.run->model, &c), 0);
	c = crossing(12, A, 2, SEC + 200 * MS, SEC + 201 * MS);
	c.inc = INC + 1;
	c.seq = 1;
	assert_int_equal(model_add_crossing(f.run->model, &c), 0);
	look(&f, 2 * SEC);
	assert_int_equal(live_rates_nprocesses(f.live_rates), 2);
	assert_fields(live_rates_process(f.live_rates, 0), IS(exited, true), IS(lost_ns, 0));
	row = live_rates_process(f.live_rates, 1);
	assert_int_not_equal(row->key, key);
	assert_fields(row, IS(exited, false), IS(lost_ns, 100 * MS));
	look(&f, 20 * SEC);
	assert_int_equal(live_rates_nprocesses(f.live_rates), 1);
	assert_int_equal(live_rates_nbarriers(f.live_rates), 1);
	assert_int_not_equal(live_rates_process(f.live_rates, 0)->key, key);
}

static void test_no_time(void **state)
{
	struct fixture f CLEANUP(tear_down) = set_up();

	meet(&f, A, 1, 0, 5, 100 * MS, 10 * MS);
	look(&f, SEC);
	look(&f, SEC);
	assert_int_equal(live_rates_interval_ns(f.live_rates), 0);
	assert_true(isnan(live_rates_per_second(f.live_rates, 5)));
	assert_int_equal(live_rates_barrier(f.live_rates, 0)->lost_ns, 0);
	/* A clock that goes back counts as standing still. */
	look(&f, SEC / 2);
	assert_int_equal(live_rates_interval_ns(f.live_rates), 0);
}

/* A wait of 2.5 s is lost time in the seconds of the wait, and counts only once. */
static void test_long_wait(void **state)
{
	const struct live_rates_row *row;
	uint64_t sum = 0;
	struct fixture f CLEANUP(tear_down) = set_up_one();

	sum += live_rates_barrier(f.live_rates, 0)->lost_ns;
	waits(&f, 11, A, 1, SEC + 250 * MS);
	look(&f, 2 * SEC);
	row = live_rates_barrier(f.live_rates, 0);
	assert_fields(row, IS(lost_ns, 750 * MS), IS(waiting, 1), IS(waiting_ns, 750 * MS),
		      IS(episodes, 0));
	assert_fields(thread_at(row, 11), IS(waiting_ns, 750 * MS), IS(lost_ns, 750 * MS));
	sum += row->lost_ns;
	waits(&f, 11, A, 1, SEC + 250 * MS);
	look(&f, 3 * SEC);
	row = live_rates_barrier(f.live_rates, 0);
	assert_int_equal(row->lost_ns, SEC);
	assert_int_equal(thread_at(row, 11)->lost_ns, SEC);
	sum += row->lost_ns;
	cross_all(f.run, { 11, A, 2, SEC + 250 * MS, 3751 * MS },
		  { 12, A, 2, 3750 * MS, 3751 * MS });
	look(&f, 4 * SEC);
	row = live_rates_barrier(f.live_rates, 0);
	assert_int_equal(row->lost_ns, 750 * MS);
	assert_int_equal(thread_at(row, 11)->lost_ns, 750 * MS);
	assert_int_equal(row->waiting, 0);
	sum += row->lost_ns;
	assert_int_equal(sum, 2600 * MS);
}

/*
 * The thread has left, but its record arrives only after the next look at the model. The wait still
 * counts only once.
 */
static void test_late_record(void **state)
{
	struct fixture f CLEANUP(tear_down) = set_up_one();

	waits(&f, 11, A, 1, SEC);
	look(&f, 3 * SEC);
	assert_int_equal(live_rates_barrier(f.live_rates, 0)->lost_ns, 2 * SEC);
	look(&f, 4 * SEC);
	assert_int_equal(live_rates_barrier(f.live_rates, 0)->lost_ns, 0);
	cross_all(f.run, { 11, A, 2, SEC, 4 * SEC }, { 12, A, 2, 4 * SEC - MS, 4 * SEC });
	look(&f, 5 * SEC);
	assert_int_equal(live_rates_barrier(f.live_rates, 0)->lost_ns, SEC - MS);
}

/* The records of these waits never arrive. Later losses are still counted in full. */
static void test_dropped(void **state)
{
	struct fixture f CLEANUP(tear_down) = set_up_one();

	waits(&f, 11, A, 1, SEC);
	look(&f, 60 * SEC);
	look(&f, 61 * SEC);
	look(&f, 62 * SEC);
	assert_int_equal(live_rates_barrier(f.live_rates, 0)->lost_ns, 0);
	meet(&f, A, 1, 62 * SEC, 1, 500 * MS, 100 * MS);
	look(&f, 63 * SEC);
	assert_int_equal(live_rates_barrier(f.live_rates, 0)->lost_ns, 100 * MS);
}

/*
 * No thread has left the barrier yet. The wait has its own row, which later becomes the row of the
 * barrier.
 */
static void test_unmet(void **state)
{
	const struct live_rates_row *row;
	struct fixture f CLEANUP(tear_down) = set_up();

	look(&f, SEC);
	waits(&f, 11, A, 1, SEC);
	waits(&f, 12, A, 1, SEC + 500 * MS);
	look(&f, 2 * SEC);
	assert_int_equal(live_rates_nbarriers(f.live_rates), 1);
	row = live_rates_barrier(f.live_rates, 0);
	assert_fields(row, IS(barrier, MODEL_NONE), IS(site, 1), IS(waiting, 2),
		      IS(waiting_ns, SEC), IS(lost_ns, 1500 * MS), IS(nthreads, 2));
	assert_int_equal(thread_at(row, 12)->waiting_ns, 500 * MS);
	assert_fields(live_rates_process(f.live_rates, 0), IS(lost_ns, 1500 * MS), IS(waiting, 2));
	waits(&f, 11, A, 1, SEC);
	waits(&f, 12, A, 1, SEC + 500 * MS);
	look(&f, 3 * SEC);
	assert_int_equal(live_rates_barrier(f.live_rates, 0)->lost_ns, 2 * SEC);
	cross_all(f.run, { 11, A, 3, SEC, 3501 * MS }, { 12, A, 3, SEC + 500 * MS, 3501 * MS },
		  { 13, A, 3, 3500 * MS, 3501 * MS });
	look(&f, 4 * SEC);
	assert_int_equal(live_rates_nbarriers(f.live_rates), 1);
	row = live_rates_barrier(f.live_rates, 0);
	assert_int_not_equal(row->barrier, MODEL_NONE);
	assert_fields(row, IS(episodes, 1), IS(lost_ns, SEC), IS(sum_lost_ns, 4500 * MS));
}

/* The threads left without records, so the row disappears. */
static void test_unmet_goes(void **state)
{
	struct fixture f CLEANUP(tear_down) = set_up();

	waits(&f, 11, A, 1, 0);
	look(&f, SEC);
	assert_int_equal(live_rates_nbarriers(f.live_rates), 1);
	look(&f, 2 * SEC);
	assert_int_equal(live_rates_nbarriers(f.live_rates), 0);
	assert_int_equal(live_rates_nprocesses(f.live_rates), 0);
}

/* If one object has two barriers, the call site shows the barrier at which threads wait. */
static void test_which_barrier(void **state)
{
	struct fixture f CLEANUP(tear_down) = set_up();

	meet(&f, A, 1, 0, 2, 100 * MS, 10 * MS);
	meet(&f, A, 2, 500 * MS, 2, 100 * MS, 10 * MS);
	look(&f, SEC);
	waits(&f, 11, A, 1, SEC);
	waits(&f, 12, A, MODEL_NONE, SEC);
	look(&f, 2 * SEC);
	assert_int_equal(live_rates_nbarriers(f.live_rates), 2);
	assert_int_equal(live_rates_barrier(f.live_rates, 0)->waiting +
				 live_rates_barrier(f.live_rates, 1)->waiting,
			 2);
	assert_non_null(thread_at(live_rates_barrier(f.live_rates, 0), 11));
	assert_int_equal(thread_at(live_rates_barrier(f.live_rates, 0), 11)->waiting_ns, SEC);
	/* A process that the model does not know has no row. */
	{
		struct live_rates_waiting w = { 4711, 1, 99, 1, A, SEC };

		assert_int_equal(live_rates_add_waiting(f.live_rates, &w), 0);
	}
	look(&f, 3 * SEC);
	assert_int_equal(live_rates_nbarriers(f.live_rates), 2);
}

/* The row shows the cause of most of the lost time in the interval. */
static void test_cause(void **state)
{
	struct live_rates_row row = { .weighed = 100, .weighed_thread_ns = 1000 };
	double share = NAN;
	bool balanced;

	assert_null(live_rates_cause(&row, &share, &balanced));
	row.weight[CAUSE_LOCK] = 60;
	row.weight[CAUSE_IO] = 30;
	assert_string_equal(live_rates_cause(&row, &share, &balanced), cause_name(CAUSE_LOCK));
	assert_near(share, 0.6, 1e-9);
	assert_false(balanced);
	/* A site with almost no loss has no cause. */
	row.weighed_thread_ns = 10000;
	assert_null(live_rates_cause(&row, &share, &balanced));
	assert_true(balanced);
}

/*
 * So many threads end that the model folds them into a sum. No figure in any row changes because of
 * this.
 */
static void test_folded(void **state)
{
	struct model_crossing c;
	const struct live_rates_row *row;
	uint64_t t = 0, before;
	struct fixture f CLEANUP(tear_down) = set_up();

	for (uint32_t i = 0; i < 70000; i++, t += 100) {
		uint32_t tid = 1000 + i;

		assert_int_equal(model_add_thread(f.run->model, PID, INC, tid, t), 0);
		c = crossing(11, A, 2, t + 10, t + 51);
		c.seq = i + 1;
		assert_int_equal(model_add_crossing(f.run->model, &c), 0);
		c = crossing(tid, A, 2, t + 50, t + 51);
		c.seq = 1;
		assert_int_equal(model_add_crossing(f.run->model, &c), 0);
		assert_int_equal(model_end_thread(f.run->model, PID, INC, tid, t + 60, "x"), 0);
		if (i % 10000 == 9999) {
			look(&f, t + 90);
			row = live_rates_barrier(f.live_rates, 0);
			assert_fields(row, IS(episodes, 10000), IS(lost_ns, 400000));
			assert_fields(thread_at(row, 11), IS(crossings, 10000),
				      IS(lost_ns, 400000));
		}
	}
	before = live_rates_barrier(f.live_rates, 0)->nthreads;
	assert_true(before <= 10001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_interval),	cmocka_unit_test(test_differences),
		cmocka_unit_test(test_barriers_appear), cmocka_unit_test(test_pid_again),
		cmocka_unit_test(test_no_time),		cmocka_unit_test(test_long_wait),
		cmocka_unit_test(test_late_record),	cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_unmet),		cmocka_unit_test(test_unmet_goes),
		cmocka_unit_test(test_which_barrier),	cmocka_unit_test(test_cause),
		cmocka_unit_test(test_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
