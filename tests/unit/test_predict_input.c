// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check how crossings become the input of the prediction, through the model. */
#include "test_model_util.h"

#include <errno.h>
#include <math.h>

#include "predict/predict_input.h"

#define A 0x1000
#define B 0x2000

struct fixture {
	struct run *run;
	struct report_env env;
	struct predict_feed *feed;
	uint32_t fed; /* number of kept episodes that were already fed */
};

static void set_up(struct fixture *f, double cost)
{
	*f = (struct fixture){ .run = run_new(0) };
	f->env.crossing_cost_ns = cost;
	f->feed = predict_feed_new(&f->env);
	assert_non_null(f->feed);
}

static void feed(struct fixture *f)
{
	for (; f->fed < f->run->nkept; f->fed++)
		assert_int_equal(
			predict_feed_episode(f->feed, f->run->model, &f->run->kept[f->fed].ep), 0);
}

static const struct predict_input *finish(struct fixture *f, uint64_t end_ns)
{
	feed(f);
	assert_int_equal(model_finish(f->run->model, end_ns), 0);
	feed(f);
	assert_int_equal(predict_feed_finish(f->feed, f->run->model), 0);
	return predict_feed_input(f->feed);
}

static void tear_down(struct fixture *f)
{
	predict_feed_free(f->feed);
	run_free(f->run);
}

static void cross_with(struct fixture *f, uint32_t tid, uint64_t object, uint64_t arrive,
		       uint64_t depart, const struct model_detail *d)
{
	struct model_crossing c = crossing(tid, object, 2, arrive, depart);

	c.flags |= MODEL_CROSSING_ACCOUNTED;
	c.detail = d;
	run_feed(f->run, c);
}

static void expect_step(const struct predict_input *in, uint32_t thread, uint32_t i,
			enum predict_op op, uint64_t ns)
{
	assert_true(thread < in->nthreads && i < in->threads[thread].n);
	assert_fields(in, IS(threads[thread].steps[i].op, op), IS(threads[thread].steps[i].ns, ns));
}

/*
 * The phase has all kinds of time parts. The input keeps 500 on a CPU, less 40 that the host took
 * and 10 that tracing took, and 100 asleep. All other parts are dropped.
 */
static void test_parts(void **state)
{
	struct model_detail d = {
		.oncpu_ns = 500, .runq_ns = 200, .steal_ns = 40, .inside_oncpu_ns = 0
	};
	const struct predict_facts *facts;
	const struct predict_input *in;
	struct fixture f CLEANUP(tear_down);

	set_up(&f, 10);
	run_launched(f.run, 0);
	d.blocked_ns[MODEL_BLOCKED_SLEEP] = 70;
	d.blocked_ns[MODEL_BLOCKED_IO] = 30;
	d.blocked_ns[MODEL_BLOCKED_LOCK] = 90;
	d.blocked_ns[MODEL_BLOCKED_THROTTLED] = 60;
	cross_with(&f, 11, A, 1000, 1100, &d);
	cross_with(&f, 12, A, 1000, 1100, NULL); /* all on a CPU */
	in = finish(&f, 1100);
	facts = predict_feed_facts(f.feed);
	assert_fields(in, IS(nthreads, 2), IS(nepisodes, 1), IS(episodes[0].n, 2), IS(nsites, 1));
	expect_step(in, 0, 0, PREDICT_DELAY, 100);
	expect_step(in, 0, 1, PREDICT_MEET, 450);
	expect_step(in, 1, 0, PREDICT_MEET, 990);
	assert_fields(facts, IS(runq_ns, 200), IS(lock_ns, 90), IS(throttled_ns, 60),
		      IS(unattributed_ns, 50), IS(steal_ns, 40), IS(cost_ns, 20),
		      IS(cost_known, true), IS(delay_ns, 100), IS(wall_ns, 0),
		      IS(computing_ns, 450 + 990), IS(recorded_ns, 1100));
}

/*
 * Threads' time was not accounted for. The input uses wall-clock time, also for tails, and the
 * report says so.
 */
static void test_wall(void **state)
{
	const struct predict_input *in;
	struct fixture f CLEANUP(tear_down);

	set_up(&f, NAN);
	run_launched(f.run, 0);
	cross_all(f.run, { 11, A, 2, 1000, 1100 }, { 12, A, 2, 1050, 1100 });
	in = finish(&f, 1400);
	expect_step(in, 0, 0, PREDICT_MEET, 1000);
	expect_step(in, 0, 1, PREDICT_END, 300);
	expect_step(in, 1, 0, PREDICT_MEET, 1050);
	assert_fields(predict_feed_facts(f.feed), IS(wall_ns, 2050 + 600), IS(cost_known, false));
}

/* With accounted time, the tail is the total of the thread minus its phases. */
static void test_tail(void **state)
{
	struct model_detail tail = { .oncpu_ns = 120, .runq_ns = 180 };
	const struct predict_input *in;
	struct fixture f CLEANUP(tear_down);

	set_up(&f, NAN);
	run_launched(f.run, 0);
	cross_with(&f, 11, A, 1000, 1100, NULL);
	cross_with(&f, 12, A, 1000, 1100, NULL);
	assert_int_equal(model_advance(f.run->model, 1200), 0);
	assert_int_equal(model_add_tail(f.run->model, PID, INC, 11, 1400, &tail), 0);
	assert_int_equal(model_end_thread(f.run->model, PID, INC, 11, 1400, NULL), 0);
	in = finish(&f, 1400);
	expect_step(in, 0, 1, PREDICT_END, 120);
}

/* The members of an episode are unknown. The episode is left out, but the work remains. */
static void test_incomplete(void **state)
{
	const struct predict_input *in;
	struct fixture f CLEANUP(tear_down);

	set_up(&f, NAN);
	run_launched(f.run, 0);
	cross_with(&f, 11, A, 1000, 1100, NULL);
	cross_with(&f, 12, A, 1000, 1100, NULL);
	/* The record of thread 12 is lost. */
	lose(f.run, 12);
	cross_with(&f, 11, A, 1600, 1700, NULL);
	assert_int_equal(model_advance(f.run->model, 2000), 0);
	cross_with(&f, 11, A, 2000, 2100, NULL);
	cross_with(&f, 12, A, 2050, 2100, NULL);
	in = finish(&f, 2100);
	assert_int_equal(predict_feed_facts(f.feed)->left_out, 1);
	assert_int_equal(in->nepisodes, 2);
	expect_step(in, 0, 1, PREDICT_MEET, 500 + 300);
	/* The phase of thread 12 is unknown. */
	expect_step(in, 1, 1, PREDICT_MEET, 0);
	assert_int_equal(predict_feed_facts(f.feed)->unknown, 1);
}

/* The first thread computes 600 before it creates the other thread, which cannot begin earlier. */
static void test_made(void **state)
{
	const struct predict_input *in;
	struct fixture f CLEANUP(tear_down);
	double ideal;

	set_up(&f, NAN);
	run_launched(f.run, 0);
	assert_int_equal(model_add_thread(f.run->model, PID, INC, 11, 600), 0);
	cross_with(&f, PID, A, 1000, 1510, NULL); /* 600 + 400 */
	cross_with(&f, 11, A, 1500, 1510, NULL); /* 900 */
	in = finish(&f, 1510);
	assert_int_equal(predict_feed_facts(f.feed)->forks, 1);
	assert_fields(in, IS(nepisodes, 2), IS(nsites, 2), IS(episodes[0].site, 1),
		      IS(episodes[1].site, 0));
	assert_int_equal(predict_translate(in, NULL, &ideal), 0);
	assert_int_equal((int)ideal, 600 + 900);
}

/*
 * Add the wait of a thread at the end of a region. @begun is the start of the region in which the
 * thread resumes, or 0 if unknown.
 */
static void stay(struct fixture *f, uint32_t tid, uint64_t arrive, uint64_t begun, uint64_t resumes)
{
	struct model_crossing c = crossing(tid, A, 2, arrive, NEVER);

	c.flags = MODEL_CROSSING_STAYS | MODEL_CROSSING_ACCOUNTED;
	run_feed(f->run, c);
	c = crossing(tid, A, 2, begun, resumes);
	c.flags = MODEL_CROSSING_RESUMES | MODEL_CROSSING_ACCOUNTED;
	run_feed(f->run, c);
}

/*
 * A region ends at 110. In the next region the master finishes its part at 600. The worker resumes
 * at 410 and finishes at 650. @begun is the time when that region began. Return the run time with
 * free barriers.
 */
static int two_regions(uint64_t begun)
{
	const struct predict_input *in;
	struct fixture f;
	double ideal;

	set_up(&f, NAN);
	assert_int_equal(model_add_process(f.run->model, PID, INC, 0, 0, 0, true, "prog"), 0);
	stay(&f, 12, 90, begun, 410);
	cross_with(&f, PID, A, 100, 110, NULL);
	stay(&f, 12, 650, 0, 900);
	cross_with(&f, PID, A, 600, 660, NULL);
	in = finish(&f, 1000);
	assert_int_equal(predict_feed_facts(f.feed)->forks, 1);
	assert_int_equal(predict_translate(in, NULL, &ideal), 0);
	tear_down(&f);
	return (int)ideal;
}

static void test_regions(void **state)
{
	/*
	 * Serial work takes 300, and the region takes 240, the longer of 190 and 240. No tail was
	 * reported.
	 */
	assert_int_equal(two_regions(0), 100 + 300 + 240);
}

/*
 * The time that the worker needs to wake up is not work. Serial work takes 10, and the region takes
 * 480, the longer of 480 and 240.
 */
static void test_start_of_team(void **state)
{
	assert_int_equal(two_regions(120), 100 + 10 + 480);
}

static void say_touched(struct fixture *f, uint32_t tid, uint64_t t_ns, uint64_t oncpu_ns,
			uint32_t owner)
{
	struct model_message m = { .tgid = PID,
				   .inc = INC,
				   .tid = tid,
				   .t_ns = t_ns,
				   .oncpu_ns = oncpu_ns,
				   .owner = owner,
				   .bytes = 64 };
	uint32_t thread = model_find_thread(f->run->model, PID, INC, tid);

	assert_true(thread != MODEL_NONE);
	assert_int_equal(predict_feed_message(f->feed, f->run->model, thread, &m), 0);
}

static void numbered(struct fixture *f, uint32_t tid, uint16_t number, uint64_t arrive,
		     uint64_t depart, const struct model_detail *d)
{
	struct model_crossing c = crossing(tid, A, 2, arrive, depart);

	c.flags |= MODEL_CROSSING_ACCOUNTED;
	c.detail = d;
	c.place = number + 1;
	run_feed(f->run, c);
}

/*
 * In the program's own numbering, thread 11 is number 5 and thread 12 is number 7. Thread 11
 * accesses data of number 7 after 100 and 250 of its 400 ns on a CPU. Each marker costs 10 ns, half
 * of a crossing. After that, thread 11 accesses data of a number that no thread has. Accesses after
 * the last episode are in the input, too.
 */
static void test_messages(void **state)
{
	struct model_detail d = { .oncpu_ns = 400, .runq_ns = 600 };
	const struct predict_facts *facts;
	const struct predict_input *in;
	struct fixture f CLEANUP(tear_down);

	set_up(&f, 20);
	run_launched(f.run, 0);
	assert_int_equal(model_add_thread(f.run->model, PID, INC, 11, 0), 0);
	assert_int_equal(model_add_thread(f.run->model, PID, INC, 12, 0), 0);
	say_touched(&f, 11, 300, 100, 7);
	say_touched(&f, 11, 600, 250, 7);
	say_touched(&f, 11, 700, 280, 9);
	say_touched(&f, 11, 701, 280, UINT32_MAX);
	numbered(&f, 11, 5, 1000, 1100, &d);
	numbered(&f, 12, 7, 1000, 1100, &d);
	say_touched(&f, 11, 1150, MODEL_UNKNOWN, 7);
	in = finish(&f, 1300);
	facts = predict_feed_facts(f.feed);
	assert_fields(facts, IS(messages, 3), IS(strangers, 2));
	expect_step(in, 0, 0, PREDICT_READ, 100 - 10);
	expect_step(in, 0, 1, PREDICT_READ, 150 - 10);
	assert_fields(in, IS(threads[0].steps[0].what, 1), IS(threads[0].steps[1].bytes, 64));
	expect_step(in, 0, 2, PREDICT_MEET, 150 - 20);
	assert_fields(in, IS(threads[0].steps[3].op, PREDICT_READ), IS(threads[0].n, 5));
	expect_step(in, 1, 0, PREDICT_MEET, 400 - 20);
}

/*
 * The process began 200 before its threads, and ended 90 after them, so for this time one thread
 * was alone. If the input is a time window, it has no such part.
 */
static void test_alone(void **state)
{
	const struct predict_input *in;
	struct fixture f;

	for (int windowed = 0; windowed < 2; windowed++) {
		set_up(&f, NAN);
		if (windowed)
			predict_feed_window(f.feed, 1100, 5000);
		run_launched(f.run, 100);
		assert_int_equal(model_add_thread(f.run->model, PID, INC, 11, 300), 0);
		assert_int_equal(model_add_thread(f.run->model, PID, INC, 12, 310), 0);
		cross_with(&f, 11, A, 1200, 1300, NULL);
		cross_with(&f, 12, A, 1200, 1300, NULL);
		cross_with(&f, 11, A, 1500, 1600, NULL);
		cross_with(&f, 12, A, 1550, 1600, NULL);
		feed(&f);
		assert_int_equal(model_end_thread(f.run->model, PID, INC, 11, 1610, NULL), 0);
		assert_int_equal(model_end_thread(f.run->model, PID, INC, 12, 1620, NULL), 0);
		assert_int_equal(model_end_process(f.run->model, PID, INC, 1710), 0);
		in = finish(&f, 2000);
		assert_fields(in, IS(before_ns, windowed ? 0 : 200),
			      IS(after_ns, windowed ? 0 : 90));
		assert_int_equal(predict_feed_facts(f.feed)->cut, windowed ? 2 : 0);
		expect_step(in, 0, 0, PREDICT_MEET, windowed ? 0 : 900);
		expect_step(in, 0, 1, PREDICT_MEET, 200);
		assert_int_equal(predict_feed_facts(f.feed)->recorded_ns,
				 windowed ? 1620 - 1100 : 1620 - 300);
		tear_down(&f);
	}
}

/*
 * The time predicted for many episodes, with as many processors as threads, equals the model's
 * ideal time.
 */
static void test_same_as_model(void **state)
{
	uint64_t x = 88172645463325252ull, at[4] = { 0 };
	const struct predict_input *in;
	struct fixture f CLEANUP(tear_down);
	double ideal;

	set_up(&f, NAN);
	run_launched(f.run, 0);
	for (int e = 0; e < 50; e++) {
		uint64_t last = 0;

		for (int i = 0; i < 4; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			at[i] += x % 1000;
			last = at[i] > last ? at[i] : last;
		}
		for (int i = 0; i < 4; i++) {
			struct model_crossing c = crossing(11 + (uint32_t)i, A, 4, at[i], last + 5);

			c.flags = MODEL_CROSSING_ACCOUNTED;
			run_feed(f.run, c);
			at[i] = last + 5;
		}
	}
	in = finish(&f, at[0]);
	assert_int_equal(predict_translate(in, NULL, &ideal), 0);
	assert_int_equal((uint64_t)ideal, model_proc(f.run->model, 0)->ideal_ns);
	assert_int_equal(predict_feed_facts(f.feed)->crossings, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),	      cmocka_unit_test(test_wall),
		cmocka_unit_test(test_tail),	      cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_made),	      cmocka_unit_test(test_regions),
		cmocka_unit_test(test_start_of_team), cmocka_unit_test(test_same_as_model),
		cmocka_unit_test(test_messages),      cmocka_unit_test(test_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
