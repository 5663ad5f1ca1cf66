// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check what a wait that follows an arrival shows: the episode, the number of threads, and the
 * latest possible arrival.
 */
#include "model/waits.h"
#include "test_model_util.h"

#define BARRIER 0x1000
#define OTHER	0x2000

static int setup(void **state)
{
	*state = waits_new();
	return !*state;
}

static int teardown(void **state)
{
	waits_free(*state);
	return 0;
}

static struct model_crossing wait_at(struct waits *w, uint64_t object, struct waits_seen seen,
				     uint32_t tid, uint64_t arrive, uint64_t depart)
{
	struct model_crossing c = crossing(tid, object, 99, arrive, depart);

	assert_int_equal(waits_add(w, &seen, &c), 0);
	assert_int_equal(c.depart_ns, depart);
	return c;
}

#define IN(phase, count)   ((struct waits_seen){ .value = (phase), .words = (count) })
#define LATE(phase, count) ((struct waits_seen){ .over = true, .value = (phase), .words = (count) })
#define LATCH(left)	   ((struct waits_seen){ .latch = true, .value = (left) })
#define OPEN		   ((struct waits_seen){ .latch = true, .over = true })

static void expect(struct model_crossing c, uint32_t count, uint64_t arrive, bool bound)
{
	assert_fields(&c, IS(count, count), IS(arrive_ns, arrive));
	assert_int_equal(!!(c.flags & MODEL_CROSSING_BOUND), bound);
}

/*
 * The last arriver begins its wait only after other threads have left, so it must have arrived
 * before they left.
 */
static void last_after_departure(void **state)
{
	struct waits *w = *state;

	expect(wait_at(w, BARRIER, IN(0, 3), 1, 100, 300), 3, 100, false);
	expect(wait_at(w, BARRIER, IN(0, 3), 2, 200, 310), 3, 200, false);
	expect(wait_at(w, BARRIER, LATE(0, 3), 3, 305, 320), 3, 299, true);
	/* If no thread has left yet, the start of the wait is the latest possible arrival. */
	expect(wait_at(w, BARRIER, LATE(2, 3), 3, 400, 410), 3, 400, true);
	expect(wait_at(w, BARRIER, IN(2, 3), 1, 350, 420), 3, 350, false);
	expect(wait_at(w, BARRIER, IN(2, 3), 2, 360, 430), 3, 360, false);
}

/*
 * arrive(), work, wait(): a thread that begins its wait long after the release departed at the
 * release, and has worked since.
 */
static void work_before_the_wait(void **state)
{
	struct waits *w = *state;
	struct waits_seen late = LATE(0, 3);
	struct model_crossing c;

	expect(wait_at(w, BARRIER, IN(0, 3), 1, 100, 300), 3, 100, false);
	expect(wait_at(w, BARRIER, LATE(0, 3), 2, 20299, 20320), 3, 299, true);
	c = crossing(3, BARRIER, 99, 20300, 20330);
	assert_int_equal(waits_add(w, &late, &c), 0);
	expect(c, 3, 299, true);
	assert_int_equal(c.depart_ns, 300);
	/*
	 * No thread waited before the release, so the start of the first wait is the latest
	 * possible arrival.
	 */
	expect(wait_at(w, OTHER, LATE(0, 2), 1, 1000000, 1000010), 0, 1000000, true);
	late.words = 2;
	c = crossing(2, OTHER, 99, 2000000, 2000010);
	assert_int_equal(waits_add(w, &late, &c), 0);
	assert_fields(&c, IS(arrive_ns, 1000009), IS(depart_ns, 1000010));
	/* If the record of a wait has no departure, none is made up. */
	late.value = 2;
	wait_at(w, OTHER, IN(2, 2), 1, 3000000, 3000010);
	c = crossing(2, OTHER, 99, 4000000, MODEL_UNKNOWN);
	assert_int_equal(waits_add(w, &late, &c), 0);
	assert_int_equal(c.depart_ns, MODEL_UNKNOWN);
}

/*
 * A count that was read after the release belongs to a later phase. It is used only if the phases
 * before and after have the same count.
 */
static void count_of_late(void **state)
{
	struct waits *w = *state;

	expect(wait_at(w, BARRIER, IN(252, 2), 1, 100, 130), 2, 100, false);
	expect(wait_at(w, BARRIER, LATE(252, 2), 2, 120, 140), 2, 120, true);
	expect(wait_at(w, BARRIER, LATE(254, 2), 1, 200, 210), 2, 200, true);
	expect(wait_at(w, BARRIER, LATE(254, 2), 2, 201, 211), 2, 201, true);
	/* The phase number wraps around. One thread has dropped out by the end of this phase. */
	expect(wait_at(w, BARRIER, LATE(0, 1), 1, 300, 310), 0, 300, true);
	/* The phase between this one and the last was not seen. */
	expect(wait_at(w, BARRIER, LATE(4, 1), 1, 400, 410), 0, 400, true);
}

/*
 * Another barrier reuses the memory. Its waits belong neither to an episode that was full, nor to
 * one that threads had already left.
 */
static void made_again(void **state)
{
	struct waits *w = *state;

	wait_at(w, BARRIER, IN(0, 2), 1, 100, 200);
	expect(wait_at(w, BARRIER, LATE(0, 2), 2, 190, 210), 2, 190, true);
	expect(wait_at(w, BARRIER, LATE(0, 2), 3, 500, 510), 0, 500, true);
	expect(wait_at(w, BARRIER, IN(0, 3), 4, 450, 520), 3, 450, false);
	expect(wait_at(w, BARRIER, IN(0, 3), 5, 600, 620), 3, 600, false);
	expect(wait_at(w, BARRIER, LATE(0, 3), 5, 700, 710), 0, 700, true);
	expect(wait_at(w, OTHER, LATE(0, 3), 6, 800, 810), 0, 800, true);
}

/* The same address in another process is another barrier. */
static void processes(void **state)
{
	struct waits *w = *state;
	struct waits_seen late = LATE(0, 2);
	struct model_crossing c = crossing(9, BARRIER, 99, 300, 310);

	wait_at(w, BARRIER, IN(0, 2), 1, 100, 200);
	c.inc = INC + 1;
	assert_int_equal(waits_add(w, &late, &c), 0);
	expect(c, 0, 300, true);
}

static void latches(void **state)
{
	struct waits *w = *state;
	struct model_crossing c;

	/* The last arriver leaves first. */
	c = wait_at(w, BARRIER, OPEN, 3, 290, 300);
	expect(c, 0, 290, true);
	assert_int_equal(c.rest, 1);
	c = wait_at(w, BARRIER, LATCH(2), 1, 100, 310);
	expect(c, 0, 100, false);
	assert_int_equal(c.rest, 3);
	c = wait_at(w, BARRIER, LATCH(1), 2, 200, 320);
	assert_int_equal(c.rest, 2);
	/*
	 * The episode before was full, so another thread begins a new one, whether it arrives soon
	 * or much later.
	 */
	expect(wait_at(w, BARRIER, OPEN, 4, 330, 340), 0, 330, true);
	wait_at(w, OTHER, LATCH(5), 1, 1000, 2000);
	expect(wait_at(w, OTHER, OPEN, 2, 2500, 2600), 0, 1999, true);
	expect(wait_at(w, OTHER, OPEN, 3, 900000000, 900000100), 0, 900000000, true);
	c = wait_at(w, OTHER, LATCH(1000000), 1, 910000000, 920000000);
	assert_int_equal(c.rest, UINT16_MAX);
}

/* The number of objects is not limited. */
static void many(void **state)
{
	struct waits *w = *state;

	for (uint64_t i = 1; i < 20000; i++)
		expect(wait_at(w, i * 64, IN(0, 2), 1, 10 * i, 10 * i + 5), 2, 10 * i, false);
	for (uint64_t i = 1; i < 100; i++)
		wait_at(w, BARRIER, IN(0, 200), (uint32_t)i, 1000 + i, 5000 + i);
	expect(wait_at(w, BARRIER, LATE(0, 200), 100, 6000, 6100), 200, 5000, true);
}

/* --- through the model ------------------------------------------------------------------------ */

static void feed(struct run *r, struct waits *w, uint64_t object, struct waits_seen seen,
		 uint32_t tid, uint64_t arrive, uint64_t depart)
{
	run_feed(r, wait_at(w, object, seen, tid, arrive, depart));
}

static void episodes(void **state)
{
	struct waits *w = *state;
	struct run *r CLEANUP_PTR(run_free) = run_new(0);

	run_launched(r, 0);
	feed(r, w, BARRIER, LATE(0, 3), 3, 290, 300);
	feed(r, w, BARRIER, IN(0, 3), 1, 100, 310);
	feed(r, w, BARRIER, IN(0, 3), 2, 200, 320);
	/* Two threads were late, and either may have arrived last. */
	feed(r, w, BARRIER, IN(2, 3), 3, 400, 500);
	feed(r, w, BARRIER, LATE(2, 3), 1, 480, 510);
	feed(r, w, BARRIER, LATE(2, 3), 2, 505, 520);
	/* One thread drops out, and no record shows it. */
	feed(r, w, BARRIER, IN(4, 3), 1, 600, 700);
	feed(r, w, BARRIER, LATE(4, 2), 2, 690, 710);
	feed(r, w, BARRIER, IN(6, 2), 1, 800, 900);
	feed(r, w, BARRIER, LATE(6, 2), 2, 890, 910);
	assert_int_equal(model_finish(r->model, 2000), 0);
	assert_int_equal(r->nkept, 4);
	assert_fields(ep(r, 0), IS(state, MODEL_COMPLETE), IS(why, MODEL_WHY_BOUND),
		      IS(release_ns, 290));
	assert_fields(ep(r, 1), IS(state, MODEL_COMPLETE),
		      IS(why, MODEL_WHY_BOUND | MODEL_WHY_RIVALS), IS(release_ns, 499),
		      IS(members[2].tid, 2));
	assert_fields(ep(r, 2), IS(state, MODEL_INCOMPLETE), IS(n, 2), IS(count, 3));
	assert_int_equal(ep(r, 3)->state, MODEL_COMPLETE);
}

/*
 * A thread that counts down a latch without waiting leaves no record. But a thread that waits shows
 * how many were missing.
 */
static void releases(void **state)
{
	struct waits *w = *state;
	struct run *r CLEANUP_PTR(run_free) = run_new(0);

	run_launched(r, 0);
	feed(r, w, BARRIER, OPEN, 3, 290, 300);
	feed(r, w, BARRIER, LATCH(2), 1, 100, 310);
	feed(r, w, BARRIER, LATCH(1), 2, 200, 320);
	feed(r, w, BARRIER, LATCH(2), 1, 400, 600);
	feed(r, w, BARRIER, LATCH(1), 2, 500, 610);
	/* The latch has been open for long. */
	feed(r, w, BARRIER, OPEN, 3, 900000000, 900000100);
	assert_int_equal(model_finish(r->model, 1000000000), 0);
	assert_int_equal(r->nkept, 3);
	assert_fields(ep(r, 0), IS(state, MODEL_COMPLETE), IS(release_ns, 290));
	assert_fields(ep(r, 1), IS(state, MODEL_INCOMPLETE), IS(why, MODEL_WHY_OTHERS));
	assert_fields(ep(r, 2), IS(state, MODEL_INCOMPLETE),
		      IS(why, MODEL_WHY_OTHERS | MODEL_WHY_BOUND));
	/*
	 * Two threads waited for an arrival without a record. The thread that found the latch open
	 * did not wait, so it is not counted.
	 */
	assert_int_equal(model_proc(r->model, 0)->arrivals_unseen, 2);
}

#define WAITS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WAITS_TEST(last_after_departure),
		WAITS_TEST(work_before_the_wait),
		WAITS_TEST(count_of_late),
		WAITS_TEST(made_again),
		WAITS_TEST(processes),
		WAITS_TEST(latches),
		WAITS_TEST(many),
		WAITS_TEST(episodes),
		WAITS_TEST(releases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
