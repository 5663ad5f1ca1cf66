// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check which crossings form one episode in the hard cases. Expected values are worked out by hand,
 * and times are in ns.
 */
#include "sbt/record.h"
#include "test_model_util.h"

#define A 0x1000
#define B 0x2000

static void finish(struct run *r, uint64_t end)
{
	assert_int_equal(model_finish(r->model, end), 0);
}

/* End the run at @end, and check that it has exactly these episodes. */
#define assert_at_end(r, end, ...)               \
	do {                                     \
		finish(r, end);                  \
		assert_episodes(r, __VA_ARGS__); \
	} while (0)

static void test_one_episode(void **state)
{
	struct run *r = *state;
	const struct model_member *mem;

	cross_all(r, { 2, A, 3, 250, 310 }, { 1, A, 3, 100, 320 });
	assert_int_equal(r->nkept, 0);
	cross(r, 3, A, 3, 300, 350);
	/* The episode is known to be complete, so the model does not wait for more records. */
	assert_episodes(r, { "1 2 3", MODEL_COMPLETE });
	assert_fields(ep(r, 0), IS(release_ns, 300), IS(barrier_ns, 200), IS(phase_ns, 300),
		      IS(phase_from, MODEL_NONE), IS(number, 0));
	mem = member_of(ep(r, 0), 1);
	assert_fields(mem, IS(wait_ns, 200), IS(latency_ns, 20), IS(work_ns, 100));
	mem = member_of(ep(r, 0), 3);
	assert_fields(mem, IS(wait_ns, 0), IS(latency_ns, 50));
	finish(r, 400);
	assert_int_equal(r->nkept, 1);
}

/*
 * Thread 1 was already inside the barrier when tracing began, so its first crossing has no record.
 */
static void test_attach_in_mid_episode(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(1000);

	cross_all(r, { 2, A, 3, 1100, 1210 }, { 3, A, 3, 1200, 1220 }, { 1, A, 3, 1300, 1410 },
		  { 3, A, 3, 1400, 1420 }, { 2, A, 3, 1350, 1430 }, { 1, A, 3, 1500, 1610 },
		  { 3, A, 3, 1450, 1620 }, { 2, A, 3, 1600, 1630 });
	assert_at_end(r, 2000, { "2 3", MODEL_INCOMPLETE, MODEL_WHY_BEFORE },
		      { "1 2 3", MODEL_COMPLETE }, { "3 1 2", MODEL_COMPLETE });
	/*
	 * The missing thread had arrived before tracing began, so it was not the last to arrive.
	 * The release is therefore known, and with it the start of the next phase.
	 */
	assert_int_equal(ep(r, 1)->phase_ns, 200);
	assert_fields(model_barrier(r->model, 0), IS(incomplete, 1), IS(episodes, 2));
	/*
	 * The incomplete episode adds nothing to the waits of the complete episodes: 100 + 50 and
	 * 150 + 100.
	 */
	assert_int_equal(model_barrier(r->model, 0)->wait.sum, 150 + 250);
}

/*
 * As in test_attach_in_mid_episode(), but thread 1 is so quick that its next arrival seems to
 * belong to the episode that lacks its record.
 */
static void test_attach_quick_thread(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(1000);

	cross_all(r, { 2, A, 3, 1100, 1210 }, { 3, A, 3, 1200, 1220 },
		  { 1, A, 3, 1205, 1410 }, /* left at 1203, unseen; arrived again before 1210 */
		  { 3, A, 3, 1400, 1420 }, { 2, A, 3, 1350, 1430 }, { 1, A, 3, 1500, 1610 },
		  { 3, A, 3, 1450, 1620 }, { 2, A, 3, 1600, 1630 });
	finish(r, 2000);
	/*
	 * This looks like a full episode until the other threads arrive again before thread 1
	 * leaves.
	 */
	assert_ep(r, 0, "2 3 1", MODEL_AMBIGUOUS, MODEL_WHY_BEFORE);
	assert_ep(r, 1, "2 3", MODEL_INCOMPLETE, MODEL_WHY_COUNT);
	assert_ep(r, 2, "3 1 2", MODEL_COMPLETE, 0);
	assert_int_equal(r->nkept, 3);
}

/*
 * Thread 2 is known to have waited at the barrier when tracing began. In each round it arrives
 * again before thread 1, which wakes it, has left. The times alone would never show which thread's
 * records are missing.
 */
static void test_attach_with_one_inside(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(1000);

	assert_int_equal(model_add_found(r->model, PID, INC, 1, 0), 0);
	assert_int_equal(model_add_found(r->model, PID, INC, 2, A), 0);
	cross(r, 1, A, 2, 1100, 1115);
	for (uint64_t t = 1100; t < 1500; t += 100) {
		cross_all(r, { 2, A, 2, t + 10, t + 105 }, { 1, A, 2, t + 100, t + 115 });
	}
	finish(r, 2000);
	assert_int_equal(r->nkept, 5);
	assert_ep(r, 0, "1", MODEL_INCOMPLETE, MODEL_WHY_BEFORE);
	for (uint64_t t = 1; t < 5; t++)
		assert_ep(r, t, "2 1", MODEL_COMPLETE, 0);
}

/*
 * Two threads waited at the barrier when tracing began. In each round they arrive again before
 * thread 1 has left. When the second episode is full, the first is still open, because these
 * threads have only now crossed for the first time. No thread is missing in the second episode.
 */
static void test_attach_with_two_inside(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(1000);

	assert_int_equal(model_add_found(r->model, PID, INC, 1, 0), 0);
	assert_int_equal(model_add_found(r->model, PID, INC, 2, A), 0);
	assert_int_equal(model_add_found(r->model, PID, INC, 3, A), 0);
	cross(r, 1, A, 3, 1100, 1115);
	for (uint64_t t = 1100; t < 1500; t += 100) {
		cross_all(r, { 2, A, 3, t + 10, t + 105 }, { 3, A, 3, t + 12, t + 106 },
			  { 1, A, 3, t + 100, t + 118 });
	}
	finish(r, 2000);
	assert_int_equal(r->nkept, 5);
	assert_ep(r, 0, "1", MODEL_INCOMPLETE, MODEL_WHY_BEFORE);
	for (uint64_t t = 1; t < 5; t++)
		assert_ep(r, t, "2 3 1", MODEL_COMPLETE, 0);
}

/*
 * As in test_attach_with_one_inside(), but a third thread lacks a record, too. It did not wait at
 * the barrier when tracing began, so its first arrival stays unknown.
 */
static void test_attach_with_one_inside_of_two(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(1000);

	assert_int_equal(model_add_found(r->model, PID, INC, 1, 0), 0);
	assert_int_equal(model_add_found(r->model, PID, INC, 2, A), 0);
	cross(r, 1, A, 3, 1100, 1115);
	for (uint64_t t = 1100; t < 1500; t += 100) {
		cross_all(r, { 2, A, 3, t + 10, t + 105 }, { 3, A, 3, t + 16, t + 106 },
			  { 1, A, 3, t + 100, t + 118 });
	}
	finish(r, 2000);
	assert_ep(r, 0, "1", MODEL_INCOMPLETE, MODEL_WHY_BEFORE);
	assert_ep(r, 1, "2 3 1", MODEL_AMBIGUOUS, MODEL_WHY_BEFORE);
}

static void cross_numbered(struct run *r, uint32_t tid, uint64_t arrive, uint64_t depart,
			   uint32_t number)
{
	struct model_crossing c = crossing(tid, A, 3, arrive, depart);

	c.round = number;
	run_feed(r, c);
}

/*
 * As in test_attach_with_two_inside(), but thread 1 may have been anywhere when tracing began, and
 * it is not known that the others waited. Numbers of the first two episodes decide.
 */
static void test_attach_with_numbers(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(1000);

	cross_numbered(r, 1, 1100, 1115, 7);
	for (uint64_t t = 1100; t < 1500; t += 100) {
		uint32_t number = t == 1100 ? 8 : 0;

		cross_numbered(r, 2, t + 10, t + 105, number);
		cross_numbered(r, 3, t + 12, t + 106, number);
		cross_numbered(r, 1, t + 100, t + 118, number);
	}
	finish(r, 2000);
	assert_int_equal(r->nkept, 5);
	assert_ep(r, 0, "1", MODEL_INCOMPLETE, MODEL_WHY_BEFORE);
	for (uint64_t t = 1; t < 5; t++)
		assert_ep(r, t, "2 3 1", MODEL_COMPLETE, 0);
}

static void rounds(struct run *r, uint64_t from, unsigned n)
{
	for (unsigned i = 0; i < n; i++, from += 100) {
		cross_all(r, { 1, A, 3, from + 10, from + 32 }, { 2, A, 3, from + 20, from + 34 },
			  { 3, A, 3, from + 30, from + 36 });
	}
}

static void test_lost_record(void **state)
{
	struct run *r = *state;
	const struct model_thread *t;

	rounds(r, 0, 1);
	cross(r, 1, A, 3, 110, 132);
	lose(r, 2); /* the lost crossing: 120 - 134 */
	cross(r, 3, A, 3, 130, 136);
	rounds(r, 200, 2);
	assert_at_end(r, 500, { "1 2 3", MODEL_COMPLETE },
		      { "1 3", MODEL_INCOMPLETE, MODEL_WHY_LOST }, { "1 2 3", MODEL_COMPLETE },
		      { "1 2 3", MODEL_COMPLETE });
	assert_int_equal(member_of(ep(r, 2), 2)->work_ns, MODEL_UNKNOWN);
	/* The missing thread may have arrived last, so the start of the next phase is unknown. */
	assert_int_equal(ep(r, 2)->phase_ns, MODEL_UNKNOWN);
	assert_int_equal(ep(r, 3)->phase_ns, 100);
	t = thread_of(r, 2);
	assert_fields(t, IS(lost, 1), IS(unknown_ns, 220 - 34),
		      IS(outside_ns, 20 + (320 - 234) + (500 - 334)), IS(idle_ns, 3 * 14));
	assert_int_equal(model_totals(r->model)->lost, 1);
	/* In each of the 3 complete episodes, the waits are 20 and 10. */
	assert_int_equal(model_barrier(r->model, 0)->wait.sum, 90);
}

/*
 * The thread of a lost record is so quick that its next arrival seems to belong to the episode that
 * lacks the record.
 */
static void test_lost_record_quick_thread(void **state)
{
	struct run *r = *state;

	rounds(r, 0, 1);
	lose(r, 1); /* the lost crossing: 110 - 131 */
	cross_all(r, { 2, A, 3, 120, 134 }, { 3, A, 3, 130, 136 },
		  { 1, A, 3, 133, 240 }, /* belongs to the next episode, but arrives before 134 */
		  { 2, A, 3, 220, 234 }, { 3, A, 3, 230, 236 });
	rounds(r, 300, 2);
	finish(r, 600);
	assert_ep(r, 0, "1 2 3", MODEL_COMPLETE, 0);
	assert_ep(r, 1, "2 3 1", MODEL_AMBIGUOUS, MODEL_WHY_LOST);
	assert_ep(r, 2, "2 3", MODEL_INCOMPLETE, MODEL_WHY_LOST);
	assert_ep(r, 3, "1 2 3", MODEL_COMPLETE, 0);
	assert_ep(r, 4, "1 2 3", MODEL_COMPLETE, 0);
	assert_int_equal(r->nkept, 5);
	for (uint32_t i = 0; i < r->nkept; i++)
		assert_int_equal(ep(r, i)->number, i);
}

/* A record that arrives a little after its successor is not lost. */
static void test_out_of_order(void **state)
{
	struct run *r = *state;
	struct model_crossing first, second;

	first = crossing(1, A, 2, 10, 30);
	first.seq = 1;
	second = crossing(1, A, 2, 40, 60);
	second.seq = 2;
	cross(r, 2, A, 2, 20, 31);
	assert_int_equal(model_add_crossing(r->model, &second), 0);
	cross(r, 2, A, 2, 50, 61);
	assert_int_equal(model_add_crossing(r->model, &first), 0);
	assert_at_end(r, 100, { "1 2", MODEL_COMPLETE }, { "1 2", MODEL_COMPLETE });
	assert_int_equal(model_totals(r->model)->lost, 0);
}

/*
 * Once the watermark has passed, missing records count as lost at once. If such a record arrives
 * after all, it no longer counts as lost.
 */
static void test_later_than_the_watermark(void **state)
{
	struct run *r = *state;
	struct model_crossing first, second;

	first = crossing(1, A, 1, 10, 30);
	first.seq = 1;
	second = crossing(1, A, 1, 40, 60);
	second.seq = 2;
	assert_int_equal(model_add_crossing(r->model, &second), 0);
	assert_int_equal(model_totals(r->model)->lost, 0);
	assert_int_equal(model_advance(r->model, 70), 0);
	assert_int_equal(model_totals(r->model)->lost, 1);
	assert_int_equal(model_add_crossing(r->model, &first), 0);
	assert_int_equal(model_totals(r->model)->lost, 0);
	finish(r, 100);
	assert_fields(thread_of(r, 1), IS(lost, 0), IS(idle_ns, 40));
	assert_int_equal(thread_of(r, 1)->outside_ns + thread_of(r, 1)->unknown_ns, 60);
}

static void test_two_objects(void **state)
{
	struct run *r = *state;

	/*
	 * Threads 1 and 2 cross A, and threads 3 and 4 cross B. The episodes of the two objects
	 * overlap in time.
	 */
	cross_all(r, { 3, B, 2, 15, 21 }, { 1, A, 2, 10, 22 }, { 4, B, 2, 20, 23 },
		  { 2, A, 2, 18, 24 }, { 3, B, 2, 30, 41 }, { 2, A, 2, 35, 42 },
		  { 4, B, 2, 40, 43 }, { 1, A, 2, 38, 44 });
	finish(r, 100);
	assert_int_equal(r->nkept, 4);
	/* Episodes are reported in the order of releases: 18, 20, 38, 40. */
	assert_ep(r, 0, "1 2", MODEL_COMPLETE, 0);
	assert_ep(r, 1, "3 4", MODEL_COMPLETE, 0);
	assert_ep(r, 2, "2 1", MODEL_COMPLETE, 0);
	assert_ep(r, 3, "3 4", MODEL_COMPLETE, 0);
	assert_int_equal(ep(r, 0)->number, 0);
	assert_int_equal(ep(r, 3)->number, 3);
	assert_int_equal(ep(r, 2)->phase_ns, 20);
	assert_int_equal(ep(r, 3)->phase_ns, 20);
}

/*
 * One object with two call sites is two barriers. Members from different call sites form a third,
 * mixed barrier.
 */
static void test_sites(void **state)
{
	struct run *r = *state;
	const struct model_barrier *b;

	cross_all(r, { 1, A, 2, 10, 21, .site = 7 }, { 2, A, 2, 20, 22, .site = 7 },
		  { 1, A, 2, 30, 41, .site = 5 }, { 2, A, 2, 40, 42, .site = 5 },
		  { 1, A, 2, 50, 61, .site = 7 }, { 2, A, 2, 60, 62, .site = 5 },
		  { 1, A, 2, 70, 81, .site = 5 }, { 2, A, 2, 80, 82, .site = 7 },
		  { 1, A, 2, 90, 101, .site = 7 }, { 2, A, 2, 100, 102, .site = 7 });
	finish(r, 200);
	assert_int_equal(r->nbarriers, 3);
	assert_int_equal(ep(r, 0)->barrier, 0);
	assert_int_equal(ep(r, 1)->barrier, 1);
	assert_int_equal(ep(r, 2)->barrier, 2);
	assert_int_equal(ep(r, 3)->barrier, 2);
	assert_int_equal(ep(r, 4)->barrier, 0);
	b = model_barrier(r->model, 2);
	assert_fields(b, IS(nsites, 2), IS(sites[0], 5), IS(sites[1], 7), IS(episodes, 2));
	assert_int_equal(member_of(ep(r, 2), 1)->site, 7);
	assert_int_equal(member_of(ep(r, 2), 2)->site, 5);
	/* The phase that ends at the second barrier began at the first. */
	assert_int_equal(ep(r, 1)->phase_from, 0);
	assert_int_equal(ep(r, 4)->phase_from, 2);
}

/*
 * pthread_barrier_destroy() and _init() set another count. Crossings before and after the call
 * never form one episode.
 */
static void test_made_again(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 3, 10, 31 }, { 2, A, 3, 20, 32 }, { 3, A, 3, 30, 33 },
		  { 2, A, 2, 40, 51 }, { 1, A, 2, 50, 52 }, { 1, A, 2, 60, 71 },
		  { 2, A, 2, 70, 72 }, { 1, A, 3, 80, 101 }, { 3, A, 3, 90, 102 },
		  { 2, A, 3, 100, 103 });
	assert_at_end(r, 200, { "1 2 3", MODEL_COMPLETE }, { "2 1", MODEL_COMPLETE },
		      { "1 2", MODEL_COMPLETE }, { "1 3 2", MODEL_COMPLETE });
}

/*
 * A thread abandoned the old barrier, so its last episode never ended. A new barrier at this
 * address begins nevertheless.
 */
static void test_made_again_unfinished(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 3, 10, NEVER }, { 1, A, 2, 40, 51 }, { 2, A, 2, 50, 52 });
	finish(r, 200);
	assert_int_equal(r->nkept, 2);
	assert_ep(r, 0, "1", MODEL_INCOMPLETE, MODEL_WHY_ABANDONED | MODEL_WHY_COUNT);
	assert_int_equal(ep(r, 0)->number, MODEL_UNKNOWN); /* never released */
	assert_ep(r, 1, "1 2", MODEL_COMPLETE, 0);
	assert_int_equal(ep(r, 1)->number, 0);
}

/*
 * Thread 3 arrived last and is slow to leave. Meanwhile the other threads have crossed the next
 * barrier at this address.
 */
static void test_made_again_late(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 3, 10, 31 }, { 2, A, 3, 20, 32 }, { 2, A, 2, 40, 51 },
		  { 1, A, 2, 50, 52 });
	assert_int_equal(model_advance(r->model, 52), 0);
	cross_all(r, { 3, A, 3, 30, 75 }, { 1, A, 2, 60, 81 }, { 2, A, 2, 70, 82 });
	assert_at_end(r, 200, { "1 2 3", MODEL_COMPLETE }, { "2 1", MODEL_COMPLETE },
		      { "1 2", MODEL_COMPLETE });
}

/*
 * Thread 3, which arrived last, is never seen to leave. Only the episode that lacks this thread is
 * uncertain.
 */
static void test_made_again_without(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 3, 10, 31 }, { 2, A, 3, 20, 32 }, { 2, A, 2, 40, 51 },
		  { 1, A, 2, 50, 52 }, { 1, A, 2, 60, 71 }, { 2, A, 2, 70, 72 },
		  { 1, A, 3, 80, 101 }, { 3, A, 3, 90, 102 }, { 2, A, 3, 100, 103 });
	assert_int_equal(model_advance(r->model, 103), 0);
	assert_at_end(r, 200, { "1 2", MODEL_INCOMPLETE, MODEL_WHY_COUNT },
		      { "2 1", MODEL_COMPLETE }, { "1 2", MODEL_COMPLETE },
		      { "1 3 2", MODEL_COMPLETE });
}

/*
 * When the late thread leaves the old barrier, the new barrier is crossed by more threads than its
 * count. This adds no members to the old episode.
 */
static void test_made_again_for_more(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 4, 5, 31 }, { 2, A, 4, 10, 32 }, { 3, A, 4, 20, 33 });
	for (uint64_t at = 40; at < 100; at += 20) {
		cross_all(r, { 1, A, 2, at, at + 6 }, { 2, A, 2, at + 5, at + 7 },
			  { 3, A, 2, at + 10, at + 16 }, { 1, A, 2, at + 15, at + 17 });
	}
	cross(r, 4, A, 4, 30, 99);
	finish(r, 200);
	assert_int_equal(r->nkept, 7);
	assert_ep(r, 0, "1 2 3 4", MODEL_COMPLETE, 0);
	assert_ep(r, 1, "1 2", MODEL_COMPLETE, 0);
	assert_ep(r, 6, "3 1", MODEL_COMPLETE, 0);
}

/*
 * A thread that abandoned an earlier barrier, and never left it, is not a member of the episodes of
 * a later barrier with the same count.
 */
static void test_made_again_twice(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 3, 10, NEVER }, { 1, A, 2, 40, 51 }, { 2, A, 2, 50, 52 },
		  { 1, A, 3, 60, 81 }, { 2, A, 3, 70, 82 }, { 3, A, 3, 80, 83 },
		  { 3, A, 3, 90, 111 }, { 1, A, 3, 100, 112 }, { 2, A, 3, 110, 113 });
	assert_at_end(r, 200, { "1", MODEL_INCOMPLETE, MODEL_WHY_ABANDONED | MODEL_WHY_COUNT },
		      { "1 2", MODEL_COMPLETE }, { "1 2 3", MODEL_COMPLETE },
		      { "3 1 2", MODEL_COMPLETE });
}

/*
 * A thread that never left may belong to an earlier barrier. The episode is not certain even if it
 * has as many members as the count.
 */
static void test_made_again_leftover(void **state)
{
	struct run *r = *state;

	cross_all(r, { 9, A, 3, 5, NEVER }, { 1, A, 3, 10, 31 }, { 4, A, 2, 40, 51 },
		  { 1, A, 2, 50, 52 }, { 2, A, 3, 20, 75 }, { 3, A, 3, 30, 76 });
	assert_at_end(r, 200, { "9 1 2", MODEL_AMBIGUOUS, MODEL_WHY_ABANDONED },
		      { "4 1", MODEL_COMPLETE }, { "3", MODEL_INCOMPLETE, MODEL_WHY_COUNT });
}

/* The count becomes known only after the first thread has left. The barrier is still the same. */
static void test_count_known_late(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 0, 10, 21 }, { 3, A, 2, 30, 41 }, { 4, A, 2, 40, 42 },
		  { 2, A, 2, 20, 60 });
	finish(r, 200);
	assert_int_equal(r->nkept, 2);
	assert_tids(ep(r, 0), "1 2");
	assert_tids(ep(r, 1), "3 4");
}

/*
 * A new count of an existing barrier also becomes known late: one thread has dropped out of a
 * std::barrier.
 */
static void test_new_count_known_late(void **state)
{
	struct run *r = *state;

	cross_all(r, { 3, A, 3, 15, 16 }, { 1, A, 3, 5, 17 }, { 2, A, 3, 10, 18 },
		  { 3, A, 0, 30, 31 }, { 1, A, 2, 20, 32 }, { 3, A, 2, 50, 51 },
		  { 1, A, 2, 40, 52 });
	assert_at_end(r, 200, { "1 2 3", MODEL_COMPLETE }, { "1 3", MODEL_COMPLETE },
		      { "1 3", MODEL_COMPLETE });
}

/*
 * The threads were not seen before. The next episode of some threads shows that they were not in
 * another episode, although its count differs.
 */
static void test_made_again_unseen(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 1, 10, 20 }, { 4, A, 2, 30, 50 }, { 2, A, 2, 40, 60 },
		  { 2, A, 3, 90, 100 }, { 3, A, 3, 80, 110 }, { 4, A, 3, 70, 120 });
	finish(r, 200);
	assert_int_equal(r->nkept, 3);
	assert_tids(ep(r, 1), "4 2");
	assert_int_equal(ep(r, 1)->state, MODEL_COMPLETE);
}

/*
 * The first arrivals of the newest barrier are missing. A thread that was slow to leave the
 * previous barrier is still a member of that barrier.
 */
static void test_made_again_lost(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 2, 10, 21 }, { 2, A, 2, 20, 22 }, { 1, A, 3, 30, 51 },
		  { 2, A, 3, 40, 52 });
	/*
	 * Thread 3 arrives at 50 and is slow to leave. The next barrier, of two threads, begins at
	 * 60.
	 */
	for (uint64_t at = 60; at < 120; at += 20) {
		cross_all(r, { 1, A, 2, at, at + 11 }, { 2, A, 2, at + 10, at + 12 });
	}
	cross_all(r, { 3, A, 3, 50, 125 }, { 1, A, 2, 130, 141 }, { 2, A, 2, 140, 142 });
	finish(r, 200);
	assert_int_equal(r->nkept, 6);
	assert_ep(r, 0, "1 2", MODEL_COMPLETE, 0);
	assert_ep(r, 1, "1 2 3", MODEL_COMPLETE, 0);
	assert_ep(r, 5, "1 2", MODEL_COMPLETE, 0);
}

/* Thread 1 already waits in the next episode before thread 2 has left the last one. */
static void test_slow_departure(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 3, 10, 31 }, { 3, A, 3, 30, 32 },
		  { 2, A, 3, 20, 90 }, /* slow; threads 1 and 3 arrived again at 40 and 50 */
		  { 2, A, 3, 95, 96 }, { 1, A, 3, 40, 97 }, { 3, A, 3, 50, 98 });
	finish(r, 200);
	assert_int_equal(r->nkept, 2);
	assert_ep(r, 0, "1 2 3", MODEL_COMPLETE, 0);
	assert_int_equal(member_of(ep(r, 0), 2)->latency_ns, 60);
	assert_ep(r, 1, "1 3 2", MODEL_COMPLETE, 0);
}

/*
 * As in test_slow_departure(), but without a count. The next episode opens only after all threads
 * have left.
 */
static void test_unknown_count(void **state)
{
	struct run *r = *state;

	cross_uncounted(r, A);
	assert_int_equal(model_advance(r->model, 91), 0);
	assert_int_equal(r->nkept, 0);
	cross_all(r, { 2, A, 0, 95, 96 }, { 1, A, 0, 40, 97 });
	assert_int_equal(model_advance(r->model, 98), 0);
	assert_int_equal(r->nkept, 1); /* the next episode has opened */
	cross(r, 3, A, 0, 50, 98);
	assert_int_equal(model_advance(r->model, 1000000096), 0);
	assert_int_equal(r->nkept, 1);
	assert_int_equal(model_advance(r->model, 1000000097), 0);
	assert_int_equal(r->nkept, 2); /* a second has passed since the episode */
	assert_ep(r, 0, "1 2 3", MODEL_COMPLETE, 0);
	assert_ep(r, 1, "1 3 2", MODEL_COMPLETE, 0);
	assert_int_equal(ep(r, 0)->count, 0);
	finish(r, 2000000000);
	assert_int_equal(r->nkept, 2);
}

/* Two processes have the same memory at different addresses. */
static void test_process_shared(void **state)
{
	struct run *r = *state;
	const struct model_barrier *b;

	assert_int_equal(model_add_process(r->model, 10, 1, 0, 0, 0, true, "one"), 0);
	assert_int_equal(model_add_process(r->model, 20, 2, 10, 1, 5, true, "two"), 0);
	cross_all(r, { 20, 0x7000, 2, 15, 31, .tgid = 20, .inc = 2, .shared = 99 },
		  { 10, 0x5000, 2, 30, 32, .tgid = 10, .inc = 1, .shared = 99 },
		  { 10, 0x5000, 2, 40, 61, .tgid = 10, .inc = 1, .shared = 99 },
		  { 20, 0x7000, 2, 60, 62, .tgid = 20, .inc = 2, .shared = 99 });
	/* The address is the same, but private: there is no episode with the other process. */
	cross_all(r, { 10, 0x9000, 2, 70, 81, .tgid = 10, .inc = 1 },
		  { 20, 0x9000, 2, 80, 82, .tgid = 20, .inc = 2 });
	finish(r, 100);
	assert_int_equal(r->nkept, 4);
	assert_ep(r, 0, "20 10", MODEL_COMPLETE, 0);
	assert_ep(r, 1, "10 20", MODEL_COMPLETE, 0);
	assert_int_equal(ep(r, 2)->state, MODEL_INCOMPLETE);
	assert_int_equal(ep(r, 3)->state, MODEL_INCOMPLETE);
	b = model_barrier(r->model, ep(r, 0)->barrier);
	assert_true(b->shared);
	/*
	 * The barrier belongs to the process that was seen first. The sums of threads belong to
	 * their own processes.
	 */
	assert_int_equal(model_proc(r->model, b->proc)->tgid, 20);
	assert_fields(ep(r, 1), IS(number, 1), IS(phase_ns, 30));
	assert_int_equal(thread_of(r, 10)->wait_ns, 20);
	assert_int_equal(thread_of(r, 20)->wait_ns, 15);
	assert_int_equal(model_proc(r->model, 1)->parent, 0);
	assert_int_equal(model_nprocs(r->model), 2);
}

/*
 * Processes may share memory. A thread that was alone at a shared barrier may have crossed it with
 * other processes. This is ruled out if an episode at that barrier had enough threads of the same
 * process. So only the crossing at 0x7000 counts.
 */
static void test_unmet(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, 0x5000, 2, 10, 31, .flags = MODEL_CROSSING_UNMET },
		  { 2, 0x5000, 2, 30, 32, .flags = MODEL_CROSSING_UNMET },
		  { 1, 0x5000, 2, 40, 61, .flags = MODEL_CROSSING_UNMET },
		  { 2, 0x7000, 2, 50, 62, .flags = MODEL_CROSSING_UNMET });
	finish(r, 100);
	assert_int_equal(r->nkept, 3);
	assert_ep(r, 0, "1 2", MODEL_COMPLETE, 0);
	assert_int_equal(ep(r, 1)->state, MODEL_INCOMPLETE);
	assert_int_equal(ep(r, 2)->state, MODEL_INCOMPLETE);
	assert_int_equal(model_barrier(r->model, 0)->unmet, 1);
	assert_int_equal(model_proc(r->model, 0)->unmet, 1);
}

/* Three threads use a barrier of two. */
static void test_more_threads_than_count(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 2, 1, 4 }, { 3, A, 2, 3, 5 });
	/*
	 * The episodes, by arrival, have threads 1 and 2, 3 and 1, 2 and 3, 1 and 2. Thread 3
	 * arrives before threads 1 and 2 have left.
	 */
	cross_all(r, { 2, A, 2, 20, 25 }, { 1, A, 2, 10, 30 }, { 1, A, 2, 40, 45 },
		  { 3, A, 2, 24, 46 }, { 3, A, 2, 60, 65 }, { 2, A, 2, 50, 66 },
		  { 1, A, 2, 70, 85 }, { 2, A, 2, 80, 86 });
	assert_at_end(r, 200, { "1 3", MODEL_COMPLETE }, { "1 2", MODEL_COMPLETE },
		      { "3 1", MODEL_COMPLETE }, { "2 3", MODEL_COMPLETE },
		      { "1 2", MODEL_COMPLETE });
}

/*
 * The third thread arrives between the last arrival and the first departure, and no thread leaves
 * early enough to show which two threads were the members.
 */
static void test_cyclic_swap(void **state)
{
	struct run *r = *state;

	cross_all(r, { 3, A, 2, 5, 8 }, { 1, A, 2, 4, 9 });
	/*
	 * Thread 1 arrives at 10, thread 2 at 20, and thread 3 at 21. Thread 1 leaves at 25, and
	 * arrives again at 40. Threads 2 and 3 leave only after that.
	 */
	cross_all(r, { 1, A, 2, 10, 25 }, { 1, A, 2, 40, 45 }, { 2, A, 2, 20, 50 },
		  { 3, A, 2, 21, 51 });
	/* The next episodes are unambiguous. */
	cross_all(r, { 2, A, 2, 60, 75 }, { 1, A, 2, 70, 76 }, { 3, A, 2, 80, 95 },
		  { 1, A, 2, 90, 96 });
	finish(r, 200);
	assert_int_equal(r->nkept, 5);
	assert_ep(r, 0, "1 3", MODEL_COMPLETE, 0);
	assert_fields(ep(r, 1), IS(state, MODEL_AMBIGUOUS), IS(why, MODEL_WHY_SWAP));
	assert_fields(ep(r, 2), IS(state, MODEL_AMBIGUOUS), IS(why, MODEL_WHY_SWAP));
	assert_ep(r, 3, "2 1", MODEL_COMPLETE, 0);
	assert_ep(r, 4, "3 1", MODEL_COMPLETE, 0);
	assert_int_equal(model_totals(r->model)->ambiguous, 2);
	assert_int_equal(model_barrier(r->model, 0)->wait.sum, 1 + 10 + 10);
}

/* Add a crossing of a user-defined barrier. */
static void cross_by_hand(struct run *r, uint32_t tid, uint32_t count, uint64_t arrive,
			  uint64_t depart)
{
	struct model_crossing c = crossing(tid, A, count, arrive, depart);

	c.family = SBT_FAMILY_COND;
	run_feed(r, c);
}

/*
 * Two threads were seen at a user-defined barrier with a reported count of two. Then a third thread
 * crosses with them. So the count was wrong: the threads do not take turns to cross in pairs.
 */
static void test_more_than_were_seen(void **state)
{
	struct run *r = *state;

	cross_by_hand(r, 1, 2, 10, 25);
	cross_by_hand(r, 2, 2, 20, 20);
	for (uint64_t t = 100; t < 1000; t += 100) {
		cross_by_hand(r, 1, 0, t + 10, t + 35);
		cross_by_hand(r, 2, 0, t + 20, t + 36);
		cross_by_hand(r, 3, 0, t + 30, t + 30);
	}
	finish(r, 2000);
	assert_int_equal(r->nkept, 10);
	assert_ep(r, 0, "1 2", MODEL_COMPLETE, 0);
	assert_ep(r, 1, "1 2 3", MODEL_COMPLETE, 0);
	assert_ep(r, 9, "1 2 3", MODEL_COMPLETE, 0);
}

/*
 * The probes saw thread 3 arrive before thread 2. But thread 2 left before the next release, so
 * thread 2, not thread 3, was a member of the earlier episode.
 */
static void test_cyclic_forced_swap(void **state)
{
	struct run *r = *state;

	cross_all(r, { 3, A, 2, 5, 8 }, { 1, A, 2, 4, 9 }, { 1, A, 2, 10, 25 }, { 2, A, 2, 21, 26 },
		  { 1, A, 2, 40, 45 }, { 3, A, 2, 20, 50 }, { 2, A, 2, 60, 75 },
		  { 1, A, 2, 70, 76 });
	finish(r, 200);
	assert_int_equal(r->nkept, 4);
	assert_ep(r, 1, "1 2", MODEL_COMPLETE, 0);
	assert_ep(r, 2, "3 1", MODEL_COMPLETE, 0);
	assert_ep(r, 3, "2 1", MODEL_COMPLETE, 0);
}

/*
 * The clocks make no sense: threads that have crossed cross again at an earlier time, repeatedly,
 * and never leave. The model nevertheless terminates.
 */
static void test_cyclic_again_and_again(void **state)
{
	struct run *r = *state;
	uint64_t members = 0;

	cross_all(r, { 1, 0x1000, 2, 100, 200 }, { 2, 0x1000, 2, 110, 200 },
		  { 1, 0x1000, 2, 300, 400 }, { 2, 0x1000, 2, 310, 400 });
	for (uint32_t i = 0; i < 3; i++) {
		cross_all(r, { 1, 0x1000, 2, 350, NEVER }, { 2, 0x1000, 2, 350, NEVER });
	}
	for (uint32_t i = 1; i < 20; i++)
		assert_int_equal(model_advance(r->model, i * 100000000ULL), 0);
	assert_int_equal(model_finish(r->model, 2000000000), 0);
	for (uint32_t i = 0; i < r->nkept; i++)
		members += r->kept[i].ep.n;
	assert_int_equal(model_totals(r->model)->crossings, 10);
	assert_in_range(members, 4, 10);
}

/* Another thread reuses the number of a thread that ended. */
static void test_tid_reuse(void **state)
{
	struct run *r = *state;
	uint32_t found = 0;

	cross_and_replace(r, A);
	r->seq[2] = 0;
	cross_all(r, { 1, A, 2, 70, 81 }, { 2, A, 2, 80, 82 });
	finish(r, 100);
	assert_int_equal(r->nkept, 2);
	assert_ep(r, 1, "1 2", MODEL_COMPLETE, 0);
	assert_int_not_equal(member_of(ep(r, 0), 2)->thread, member_of(ep(r, 1), 2)->thread);
	assert_fields(ep(r, 1), IS(phase_ns, 80 - 60), IS(phase_from, MODEL_NONE));
	for (uint32_t i = 0; i < model_nthreads(r->model); i++) {
		const struct model_thread *t = model_thread(r->model, i);

		if (t->tid != 2)
			continue;
		found++;
		if (t->exited) {
			assert_fields(t, TEXT(comm, "old"), IS(end_ns, 50),
				      IS(outside_ns, 20 + 28));
		} else {
			assert_fields(t, IS(start_ns, 60), IS(outside_ns, 20 + 18));
		}
		assert_int_equal(t->crossings, 1);
	}
	assert_int_equal(found, 2);
	assert_int_equal(model_totals(r->model)->lost, 0);
	assert_int_equal(model_proc(r->model, 0)->nthreads_crossed, 3);
}

/* The exit event arrives before the thread's last record. */
static void test_record_after_exit(void **state)
{
	struct run *r = *state;

	cross(r, 1, A, 2, 10, 21);
	assert_int_equal(model_end_thread(r->model, PID, INC, 2, 50, "late"), 0);
	cross(r, 2, A, 2, 20, 22);
	assert_int_equal(model_end_thread(r->model, PID, INC, 2, 50, "late"), 0);
	cross(r, 2, A, 2, 60, 71);
	finish(r, 100);
	assert_ep(r, 0, "1 2", MODEL_COMPLETE, 0);
	assert_int_equal(model_nthreads(r->model), 3);
}

/* PIDs are reused and programs exec: the numbers are the same, the incarnation differs. */
static void test_incarnations(void **state)
{
	struct run *r = *state;

	assert_int_equal(model_add_process(r->model, 10, 1, 0, 0, 0, true, "sh"), 0);
	cross_all(r, { 10, A, 2, 10, 21, .tgid = 10, .inc = 1 },
		  { 11, A, 2, 20, 22, .tgid = 10, .inc = 1 });
	/* Thread 10 arrives and execs: the barrier and its waiters no longer exist. */
	cross_all(r, { 10, A, 2, 30, NEVER, .tgid = 10, .inc = 1 });
	assert_int_equal(model_end_process(r->model, 10, 1, 40), 0);
	assert_int_equal(model_add_process(r->model, 10, 2, 10, 1, 40, true, "prog"), 0);
	r->seq[10] = r->seq[11] = 0;
	cross_all(r, { 11, A, 2, 50, 61, .tgid = 10, .inc = 2 },
		  { 10, A, 2, 60, 62, .tgid = 10, .inc = 2 });
	finish(r, 100);
	assert_int_equal(model_nprocs(r->model), 2);
	assert_int_equal(r->nkept, 3);
	assert_ep(r, 0, "10 11", MODEL_COMPLETE, 0);
	/* The two incarnations are two processes, each with its own episodes. */
	assert_fields(model_proc(r->model, 0), IS(episodes, 1), IS(incomplete, 1),
		      IS(abandoned, 1));
	assert_int_equal(model_proc(r->model, 1)->episodes, 1);
	assert_fields(model_proc(r->model, 0), IS(end_ns, 40), TEXT(comm, "sh"));
	assert_fields(model_proc(r->model, 1), TEXT(comm, "prog"), IS(elapsed_ns, 60));
}

/*
 * The first crossings of a process were not recorded, whether the process was known before (exec)
 * or not. The figures of the process begin when its crossings are recorded, at 100.
 */
static void test_found_late(void **state)
{
	bool known;

	for (known = false;; known = true) {
		struct run *r = run_new(0);
		struct model_thread t;
		struct model_proc p;

		if (known) {
			run_launched(r, 5);
			assert_int_equal(model_add_thread(r->model, PID, INC, 1, 5), 0);
		}
		assert_int_equal(model_add_process(r->model, PID, INC, 0, 0, 100, false, "prog"),
				 0);
		/* One thread began before the first recorded crossing, and one later. */
		assert_int_equal(model_add_thread(r->model, PID, INC, 2, 50), 0);
		assert_int_equal(model_add_thread(r->model, PID, INC, 3, 110), 0);
		cross_all(r, { 1, A, 3, 101, 131 }, { 2, A, 3, 120, 132 }, { 3, A, 3, 130, 133 });
		finish(r, 200);
		assert_ep(r, 0, "1 2 3", MODEL_COMPLETE, 0);
		model_proc_at(r->model, 0, 200, &p);
		assert_fields(&p, IS(start_seen, false), IS(start_ns, 100), IS(elapsed_ns, 100));
		model_thread_at(r->model, model_find_thread(r->model, PID, INC, 1), 200, &t);
		assert_fields(&t, IS(outside_ns, 1 + 69), IS(start_seen, false));
		model_thread_at(r->model, model_find_thread(r->model, PID, INC, 2), 200, &t);
		assert_fields(&t, IS(outside_ns, 20 + 68), IS(start_seen, false));
		model_thread_at(r->model, model_find_thread(r->model, PID, INC, 3), 200, &t);
		assert_fields(&t, IS(outside_ns, 20 + 67), IS(start_seen, true));
		run_free(r);
		if (known)
			break;
	}
}

/*
 * A thread leaves the wait by cancellation, longjmp or an exception. The barrier counted it, so the
 * episode is full.
 */
static void test_abandoned(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 3, 20, 31 }, { 3, A, 3, 30, 32 });
	/*
	 * Thread 2 arrived at 10. The abandoned wait is reported when thread 2 arrives again, at
	 * 40.
	 */
	cross_all(r, { 2, A, 3, 10, NEVER }, { 1, A, 3, 50, 61 }, { 2, A, 3, 40, 62 },
		  { 3, A, 3, 60, 63 });
	finish(r, 100);
	assert_int_equal(r->nkept, 2);
	assert_ep(r, 0, "2 1 3", MODEL_COMPLETE, MODEL_WHY_ABANDONED);
	assert_fields(member_of(ep(r, 0), 2), IS(wait_ns, 20), IS(latency_ns, MODEL_UNKNOWN));
	assert_ep(r, 1, "2 1 3", MODEL_COMPLETE, 0);
	assert_int_equal(member_of(ep(r, 1), 2)->work_ns, MODEL_UNKNOWN);
	assert_fields(thread_of(r, 2), IS(abandoned, 1),
		      IS(unknown_ns, 30), /* perhaps inside, perhaps outside */
		      IS(outside_ns, 10 + 38));
	assert_fields(model_barrier(r->model, 0), IS(wait.sum, 20 + 10 + 20 + 10),
		      IS(release.n, 5));
}

/* All threads abandoned their waits, so there was no episode and no release. */
static void test_abandoned_by_all(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 2, 10, NEVER }, { 2, A, 2, 20, NEVER });
	finish(r, 100);
	assert_int_equal(r->nkept, 1);
	assert_int_equal(ep(r, 0)->state, MODEL_INCOMPLETE);
	assert_true(ep(r, 0)->why & MODEL_WHY_ABANDONED);
	assert_int_equal(ep(r, 0)->number, MODEL_UNKNOWN);
	assert_fields(model_totals(r->model), IS(episodes, 0), IS(abandoned, 2));
}

/*
 * An arrival that was abandoned before the barrier was made again does not displace a real member.
 */
static void test_abandoned_leftover(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 3, 10, NEVER }, { 2, A, 3, 50, 61 }, { 3, A, 3, 60, 62 },
		  { 1, A, 3, 55, 63 }, { 2, A, 3, 70, 91 }, { 3, A, 3, 80, 92 },
		  { 1, A, 3, 90, 93 });
	assert_at_end(r, 100, { "1", MODEL_INCOMPLETE, MODEL_WHY_ABANDONED },
		      { "2 1 3", MODEL_COMPLETE }, { "2 3 1", MODEL_COMPLETE });
}

/*
 * A thread that abandoned its arrival and arrives again is counted twice, by the barrier and by the
 * model.
 */
static void test_abandoned_counted_twice(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 3, 10, NEVER }, { 1, A, 3, 20, 31 }, { 2, A, 3, 30, 32 });
	assert_at_end(r, 100, { "1 1 2", MODEL_COMPLETE, MODEL_WHY_ABANDONED });
}

/*
 * The count is unknown, and all threads leave the second episode by a jump. The jumps are reported
 * when these threads arrive again. They are no evidence about a thread that is still in the first
 * episode: thread 3 is slow to leave it.
 */
static void test_abandoned_without_a_count(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 0, 10, 31 }, { 2, A, 0, 20, 32 }, { 1, A, 0, 40, NEVER });
	assert_int_equal(model_advance(r->model, 45), 0);
	cross_all(r, { 3, A, 0, 30, 46 }, { 3, A, 0, 50, NEVER }, { 2, A, 0, 44, NEVER });
	assert_int_equal(model_advance(r->model, 70), 0);
	cross_all(r, { 1, A, 0, 60, 81 }, { 2, A, 0, 70, 82 });
	assert_int_equal(model_advance(r->model, 85), 0);
	cross(r, 3, A, 0, 80, 90);
	assert_at_end(r, 100, { "1 2 3", MODEL_COMPLETE },
		      { "1 2 3", MODEL_INCOMPLETE, MODEL_WHY_ABANDONED },
		      { "1 2 3", MODEL_COMPLETE });
}

/*
 * Each round has a new object with an unknown count. The end of its episode is known only after
 * some time. Until then, later episodes of other barriers are held back, so that all are reported
 * in the order of releases.
 */
static void test_fresh_without_a_count(void **state)
{
	uint64_t ms = 1000000, at = 0;
	struct run *r = *state;

	for (uint32_t i = 0; i < 10; i++) {
		at += 150 * ms;
		cross_all(r, { 1, A + 64 * i, 0, at - 20 * ms, at + 1 },
			  { 2, A + 64 * i, 0, at, at + 2 });
		at += 150 * ms;
		cross_all(r, { 1, B, 2, at - 10 * ms, at + 1 }, { 2, B, 2, at, at + 2 });
		assert_int_equal(model_advance(r->model, at + 3), 0);
	}
	finish(r, at + 10);
	assert_int_equal(r->nkept, 20);
	for (uint32_t i = 0; i < 20; i++) {
		assert_fields(ep(r, i), IS(release_ns, (i + 1) * 150 * ms), IS(number, i),
			      IS(phase_ns, 150 * ms));
	}
}

/* Tracing ends while a thread is still inside a barrier. */
static void test_pending_at_the_end(void **state)
{
	struct run *r = *state;

	rounds(r, 0, 1);
	cross_all(r, { 1, A, 3, 110, 132 }, { 2, A, 3, 120, 134 });
	assert_int_equal(model_add_pending(r->model, PID, INC, 3, A, 130), 0);
	finish(r, 135);
	assert_int_equal(r->nkept, 2);
	assert_ep(r, 1, "1 2", MODEL_INCOMPLETE, MODEL_WHY_END);
	assert_fields(thread_of(r, 3), IS(outside_ns, 30 + (130 - 36)), IS(pending_ns, 130));
}

/* Fewer threads arrived than the barrier counts, for no known reason. The episode shows this. */
static void test_count_mismatch(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 3, 10, 21 }, { 2, A, 3, 20, 22 });
	finish(r, 100);
	assert_ep(r, 0, "1 2", MODEL_INCOMPLETE, MODEL_WHY_COUNT);
	assert_int_equal(model_barrier(r->model, 0)->wait.n, 0);
}

/* Clocks disagree: thread 1 leaves 3 ns before the last arrival. */
static void test_causality(void **state)
{
	struct run *r = *state;

	cross_all(r, { 2, A, 2, 50, 60 }, { 1, A, 2, 10, 47 });
	assert_at_end(r, 100, { "1 2", MODEL_COMPLETE, MODEL_WHY_CAUSALITY });
	assert_fields(member_of(ep(r, 0), 1), IS(wait_ns, 37), /* until it left */
		      IS(latency_ns, 0));
}

/*
 * A barrier function waits at another barrier inside. The inner wait is in no sum, because the
 * outer wait includes it.
 */
static void test_nested(void **state)
{
	struct run *r = *state;
	struct model_crossing c;

	for (uint32_t tid = 1; tid <= 2; tid++) {
		c = crossing(tid, B, 2, 10 * tid + 1, 22 + tid);
		c.depth = 1;
		c.site = 9;
		run_feed(r, c);
		cross(r, tid, A, 2, 10 * tid, 25 + tid);
	}
	finish(r, 100);
	assert_int_equal(r->nkept, 2);
	assert_true(ep(r, 0)->nested || ep(r, 1)->nested);
	assert_int_equal(r->nbarriers, 2);
	assert_int_equal(model_totals(r->model)->episodes, 1);
	assert_fields(thread_of(r, 1), IS(crossings, 1), IS(wait_ns, 10), IS(idle_ns, 16));
	assert_int_equal(model_proc(r->model, 0)->crossings, 4);
	assert_int_equal(model_totals(r->model)->lost, 0);
}

/*
 * The record of an inner crossing comes before that of the outer crossing, in either order of
 * numbers.
 */
static void test_nested_order_of_records(void **state)
{
	struct run *r = *state;
	struct model_crossing outer = crossing(1, A, 1, 10, 40), inner = crossing(1, B, 1, 20, 30);

	outer.seq = 1;
	inner.seq = 2;
	inner.depth = 1;
	assert_int_equal(model_add_crossing(r->model, &inner), 0);
	assert_int_equal(model_add_crossing(r->model, &outer), 0);
	finish(r, 100);
	assert_int_equal(model_totals(r->model)->lost, 0);
	assert_int_equal(thread_of(r, 1)->outside_ns, 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		launched_test(test_one_episode),
		cmocka_unit_test(test_attach_in_mid_episode),
		cmocka_unit_test(test_attach_quick_thread),
		cmocka_unit_test(test_attach_with_one_inside),
		cmocka_unit_test(test_attach_with_two_inside),
		cmocka_unit_test(test_attach_with_one_inside_of_two),
		cmocka_unit_test(test_attach_with_numbers),
		launched_test(test_lost_record),
		launched_test(test_lost_record_quick_thread),
		launched_test(test_out_of_order),
		launched_test(test_later_than_the_watermark),
		launched_test(test_two_objects),
		launched_test(test_sites),
		launched_test(test_made_again),
		launched_test(test_made_again_unfinished),
		launched_test(test_made_again_late),
		launched_test(test_made_again_without),
		launched_test(test_made_again_for_more),
		launched_test(test_made_again_twice),
		launched_test(test_made_again_leftover),
		launched_test(test_count_known_late),
		launched_test(test_made_again_lost),
		empty_run_test(test_made_again_unseen),
		launched_test(test_new_count_known_late),
		launched_test(test_slow_departure),
		launched_test(test_unknown_count),
		empty_run_test(test_process_shared),
		launched_test(test_unmet),
		launched_test(test_more_threads_than_count),
		launched_test(test_cyclic_swap),
		launched_test(test_more_than_were_seen),
		launched_test(test_cyclic_forced_swap),
		launched_test(test_cyclic_again_and_again),
		launched_test(test_tid_reuse),
		launched_test(test_record_after_exit),
		empty_run_test(test_incarnations),
		cmocka_unit_test(test_found_late),
		launched_test(test_abandoned),
		launched_test(test_abandoned_by_all),
		launched_test(test_abandoned_leftover),
		launched_test(test_abandoned_counted_twice),
		launched_test(test_abandoned_without_a_count),
		launched_test(test_fresh_without_a_count),
		launched_test(test_pending_at_the_end),
		launched_test(test_count_mismatch),
		launched_test(test_causality),
		launched_test(test_nested),
		launched_test(test_nested_order_of_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
