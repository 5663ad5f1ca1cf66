// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check which joins end rounds. Constructed threads start and end without a kernel. */
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "model/forkjoin.h"
#include "sbt/record.h"

#define JOINS 65536
#define TGID  100
#define INC   7
#define MAIN  100
#define SITE  31

enum { UNDECIDED, TAKEN, DROPPED };

struct play {
	struct forkjoin *f;
	uint64_t now, next;
	uint32_t tgid, inc;
	uint8_t fate[JOINS];
	uint64_t taken, dropped;
	struct forkjoin_episode *last; /* the last reported episode */
	uint32_t site;
	uint64_t below; /* offset of handles below thread pointers */
};

static void take(void *ctx, uint64_t cookie, struct forkjoin_episode *episode)
{
	struct play *p = ctx;

	assert_int_equal(p->fate[cookie], UNDECIDED);
	assert_int_equal(episode->cookie, cookie);
	assert_true(episode->n >= 2);
	assert_true(episode->arrive_ns <= episode->depart_ns);
	for (uint32_t i = 0; i < episode->n; i++)
		assert_true(episode->members[i].arrive_ns <= episode->depart_ns);
	p->fate[cookie] = TAKEN;
	p->taken++;
	free(p->last);
	p->last = episode;
}

static void drop(void *ctx, uint64_t cookie)
{
	struct play *p = ctx;

	assert_int_equal(p->fate[cookie], UNDECIDED);
	p->fate[cookie] = DROPPED;
	p->dropped++;
}

static int begin(void **state)
{
	struct play *p = calloc(1, sizeof(*p));
	struct forkjoin_ops ops = { .ctx = p, .take = take, .drop = drop };

	p->f = forkjoin_new(&ops);
	p->now = 1000;
	p->tgid = TGID;
	p->inc = INC;
	p->site = SITE;
	*state = p;
	return p->f && !forkjoin_begin(p->f, TGID, INC, MAIN) ? 0 : -1;
}

/* Check that every join was decided exactly once. */
static int end(void **state)
{
	struct play *p = *state;

	forkjoin_finish(p->f);
	for (uint64_t i = 0; i < p->next; i++)
		assert_int_not_equal(p->fate[i], UNDECIDED);
	assert_int_equal(p->taken + p->dropped, p->next);
	forkjoin_free(p->f);
	free(p->last);
	free(p);
	return 0;
}

static uint64_t pointer_of(uint32_t tid)
{
	return 0x7f0000000000 + (uint64_t)tid * 0x4000;
}

static void make_by(struct play *p, uint32_t creator, uint32_t tid)
{
	p->now += 10;
	assert_int_equal(
		forkjoin_made(p->f, p->tgid, p->inc, creator, tid, pointer_of(tid), p->now), 0);
}

static void make(struct play *p, uint32_t first, uint32_t n)
{
	for (; n--; first++)
		make_by(p, MAIN, first);
}

static void stop_at(struct play *p, uint32_t tid, uint64_t t_ns)
{
	forkjoin_ended(p->f, p->tgid, p->inc, tid, t_ns, tid + 1, 3);
}

static void stop(struct play *p, uint32_t first, uint32_t n)
{
	for (; n--; first++) {
		p->now += 10;
		stop_at(p, first, p->now);
	}
}

static void attempt(struct play *p, uint32_t who, uint32_t tid, uint64_t for_ns, int result)
{
	struct forkjoin_join j = {
		.cookie = p->next++,
		.tgid = p->tgid,
		.inc = p->inc,
		.tid = who,
		.site = p->site,
		.handle = pointer_of(tid) - p->below,
		.enter_ns = p->now,
		.leave_ns = p->now + for_ns,
		.result = result,
	};

	p->now += for_ns + 10;
	assert_int_equal(forkjoin_join(p->f, &j), 0);
}

static void join(struct play *p, uint32_t first, uint32_t n)
{
	for (; n--; first++)
		attempt(p, MAIN, first, 100, 0);
}

static void episode_of(struct play *p, uint32_t first, uint32_t n)
{
	make(p, first, n);
	stop(p, first, n);
	join(p, first, n);
}

static void test_rounds(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 10; i++) {
		make(p, 200 + 10 * i, 3);
		stop(p, 200 + 10 * i, 3);
		join(p, 200 + 10 * i, 3);
		assert_int_equal(p->taken, i ? i + 1 : 0);
	}
	assert_fields(p->last, IS(n, 3), IS(tid, MAIN), IS(site, SITE), IS(members[0].tid, 290),
		      IS(members[2].tid, 292), IS(members[2].seq, 293), IS(members[2].cpu, 3));
	assert_int_equal(p->last->depart_ns - p->last->arrive_ns, 3 * 100 + 2 * 10);
	assert_int_equal(p->last->arrive_ns - p->last->members[2].arrive_ns, 0);
	assert_int_equal(forkjoin_unreported(p->f), 0);
}

static void test_one_episode_is_no_loop(void **state)
{
	struct play *p = *state;

	episode_of(p, 200, 4);
	assert_int_equal(p->taken + p->dropped, 3);
	forkjoin_end_process(p->f, TGID, INC);
	assert_fields(p, IS(taken, 0), IS(dropped, 4));
}

static void test_other_sites_and_processes_do_not_count(void **state)
{
	struct play *p = *state;

	episode_of(p, 200, 4);
	p->site = SITE + 1;
	episode_of(p, 210, 4);
	p->site = SITE;
	p->inc = INC + 1;
	assert_int_equal(forkjoin_begin(p->f, TGID, p->inc, MAIN), 0);
	episode_of(p, 220, 4);
	assert_int_equal(p->taken, 0);
}

static void test_single_threads(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 10; i++)
		episode_of(p, 200 + i, 1);
	assert_int_equal(p->dropped, 10);
}

static void test_ends_are_seen_later(void **state)
{
	struct play *p = *state;
	uint64_t left;

	episode_of(p, 200, 2);
	make(p, 210, 2);
	stop(p, 210, 1);
	join(p, 210, 2);
	left = p->now - 10;
	/*
	 * The first round is reported, because its two threads are known. In the second round the
	 * end of a thread has not been reported yet.
	 */
	assert_int_equal(p->taken, 1);
	stop_at(p, 211, left + 5);
	assert_int_equal(p->taken, 2);
	/* The thread had ended before the join. */
	assert_fields(p->last, IS(members[1].arrive_ns, left), IS(members[1].seq, 212));
}

static void test_an_end_is_never_seen(void **state)
{
	struct play *p = *state;

	episode_of(p, 200, 2);
	episode_of(p, 210, 2);
	make(p, 220, 2);
	stop(p, 220, 1);
	join(p, 220, 2);
	/* The thread number is reused. */
	make(p, 221, 1);
	assert_fields(p, IS(taken, 2), IS(fate[p->next - 1], DROPPED));
	assert_int_equal(forkjoin_unreported(p->f), 2);
}

static void test_handles_below_pointers(void **state)
{
	struct play *p = *state;

	p->below = 1776;
	episode_of(p, 200, 4);
	episode_of(p, 210, 4);
	assert_int_equal(p->taken, 2);
	p->below = 4096;
	episode_of(p, 220, 4);
	assert_int_equal(p->taken, 2);
}

static void test_descriptors_are_used_again(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 4; i++) {
		/* Detached threads that have ended had the same handle. */
		assert_int_equal(
			forkjoin_made(p->f, TGID, INC, MAIN, 500 + i, pointer_of(200), p->now), 0);
		stop(p, 500 + i, 1);
	}
	join(p, 200, 1);
	for (uint32_t i = 0; i < 3; i++) {
		make(p, 200, 2);
		stop(p, 200, 2);
		join(p, 200, 2);
	}
	assert_int_equal(p->taken, 3);
}

static void test_out_of_order(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 3; i++) {
		make(p, 200, 3);
		stop(p, 200, 3);
		join(p, 201, 1);
		join(p, 200, 1);
		join(p, 202, 1);
	}
	assert_int_equal(p->taken, 3);
}

static void test_detached_in_every_episode(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 10; i++) {
		make(p, 200 + 10 * i, 5);
		stop(p, 200 + 10 * i, 4);
		join(p, 200 + 10 * i, 4);
	}
	assert_int_equal(p->taken, 0);
}

static void test_one_that_stays(void **state)
{
	struct play *p = *state;

	make(p, 150, 1);
	for (uint32_t i = 0; i < 5; i++)
		episode_of(p, 200 + 10 * i, 4);
	stop(p, 150, 1);
	join(p, 150, 1);
	assert_int_equal(p->taken, 4);
	episode_of(p, 300, 4);
	assert_int_equal(p->taken, 5);
}

static void test_an_older_one_among_them(void **state)
{
	struct play *p = *state;

	episode_of(p, 200, 2);
	episode_of(p, 210, 2);
	make(p, 150, 1);
	make(p, 220, 1);
	stop(p, 150, 1);
	stop(p, 220, 1);
	join(p, 220, 1);
	make(p, 230, 2);
	stop(p, 230, 2);
	join(p, 150, 1);
	join(p, 230, 2);
	assert_int_equal(p->taken, 2);
	episode_of(p, 240, 2);
	assert_int_equal(p->taken, 3);
}

static void test_window(void **state)
{
	struct play *p = *state;

	make(p, 200, 4);
	for (uint32_t i = 0; i < 50; i++) {
		stop(p, 200 + i, 1);
		join(p, 200 + i, 1);
		make(p, 204 + i, 1);
	}
	stop(p, 250, 4);
	join(p, 250, 4);
	assert_int_equal(p->taken, 0);
}

static void test_window_by_twos(void **state)
{
	struct play *p = *state;

	make(p, 200, 4);
	for (uint32_t i = 0; i < 50; i += 2) {
		stop(p, 200 + i, 2);
		join(p, 200 + i, 2);
		make(p, 204 + i, 2);
	}
	assert_int_equal(p->taken, 0);
}

static void test_joined_by_another(void **state)
{
	struct play *p = *state;

	make(p, 199, 1);
	for (uint32_t i = 0; i < 10; i++) {
		make(p, 200 + 10 * i, 3);
		stop(p, 200 + 10 * i, 3);
		attempt(p, 199, 200 + 10 * i, 100, 0);
		attempt(p, 199, 201 + 10 * i, 100, 0);
		attempt(p, 199, 202 + 10 * i, 100, 0);
	}
	assert_int_equal(p->taken, 0);
}

static void test_nested(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 3; i++) {
		make(p, 200, 2);
		for (uint32_t j = 200; j < 202; j++) {
			make_by(p, j, j + 100);
			make_by(p, j, j + 110);
		}
		stop(p, 300, 2);
		stop(p, 310, 2);
		p->site = SITE + 1;
		for (uint32_t j = 200; j < 202; j++) {
			attempt(p, j, j + 100, 100, 0);
			attempt(p, j, j + 110, 100, 0);
		}
		p->site = SITE;
		stop(p, 200, 2);
		join(p, 200, 2);
	}
	assert_int_equal(p->taken, 3 * 3);
}

static void test_a_creator_ends(void **state)
{
	struct play *p = *state;

	make(p, 200, 2);
	make_by(p, 200, 300);
	make_by(p, 200, 301);
	stop(p, 300, 1);
	stop(p, 200, 1);
	stop(p, 301, 1);
	stop(p, 201, 1);
	join(p, 200, 2);
	episode_of(p, 210, 2);
	assert_int_equal(p->taken, 2);
}

static void test_attempts_that_fail(void **state)
{
	struct play *p = *state;
	uint64_t first = 0;

	for (uint32_t i = 0; i < 3; i++) {
		make(p, 200, 2);
		first = p->now;
		attempt(p, MAIN, 200, 100, 110);
		attempt(p, MAIN, 200, 100, 110);
		stop(p, 200, 2);
		attempt(p, MAIN, 201, 100, 22);
		join(p, 200, 2);
	}
	assert_fields(p, IS(taken, 3), IS(last->arrive_ns, first));
}

static void test_works_between_joins(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 5; i++) {
		make(p, 200, 3);
		stop(p, 200, 3);
		for (uint32_t j = 200; j < 203; j++) {
			join(p, j, 1);
			p->now += 1000000;
		}
	}
	assert_int_equal(p->taken, 0);
	/*
	 * The creator is preempted between two joins of a round. After another round, both rounds
	 * are reported.
	 */
	make(p, 210, 4);
	stop(p, 210, 4);
	join(p, 210, 2);
	p->now += 8000000;
	join(p, 212, 2);
	episode_of(p, 220, 3);
	assert_int_equal(p->taken, 2);
	/* Now that the call site is known, the creator may be preempted between its joins. */
	make(p, 200, 3);
	stop(p, 200, 3);
	join(p, 200, 1);
	p->now += 4000000;
	join(p, 201, 2);
	assert_int_equal(p->taken, 3);
}

static void test_found_in_the_midst(void **state)
{
	struct play *p = *state;

	/* The start of the process was not seen, so two of its threads are unknown. */
	p->tgid = p->inc = 50;
	for (uint32_t i = 0; i < 3; i++) {
		make_by(p, 50, 202);
		make_by(p, 50, 203);
		stop(p, 202, 2);
		attempt(p, 50, 203, 100, 0);
		attempt(p, 50, 202, 100, 0);
		if (!i) {
			attempt(p, 50, 201, 100, 0);
			attempt(p, 50, 200, 100, 0);
		}
	}
	assert_int_equal(p->taken, 2);
}

static void test_given_up(void **state)
{
	struct play *p = *state;

	episode_of(p, 200, 2);
	forkjoin_give_up(p->f, p->next - 1);
	assert_int_equal(p->fate[p->next - 1], DROPPED);
	assert_int_equal(forkjoin_unreported(p->f), 0);
	episode_of(p, 210, 2);
	assert_int_equal(p->taken, 1);
	assert_int_equal(forkjoin_unreported(p->f), 2);
	episode_of(p, 220, 2);
	assert_int_equal(p->taken, 2);
	assert_int_equal(forkjoin_unreported(p->f), 2);
	forkjoin_give_up(p->f, 12345);
}

/* --- waiting for all threads at once ---------------------------------------------------------- */

#define MS 1000000u

static void wait_for_all(struct play *p, uint64_t for_ns)
{
	struct forkjoin_join j = {
		.cookie = p->next++,
		.tgid = p->tgid,
		.inc = p->inc,
		.tid = MAIN,
		.site = p->site,
		.all = true,
		.enter_ns = p->now,
		.leave_ns = p->now + for_ns,
	};

	p->now += for_ns;
	assert_int_equal(forkjoin_join(p->f, &j), 0);
}

/*
 * Run three threads, and wait for all of them. They end after 3, 5 and 7 ms. The end of the last
 * thread is reported after the wait is over.
 */
static void scope(struct play *p, uint32_t first)
{
	uint64_t began;

	make(p, first, 3);
	began = p->now;
	stop_at(p, first, began + 3 * MS);
	stop_at(p, first + 1, began + 5 * MS);
	wait_for_all(p, 7 * MS);
	stop_at(p, first + 2, began + 7 * MS + 200);
	p->now += MS / 100;
}

static void test_all_at_once(void **state)
{
	struct play *p = *state;

	scope(p, 200);
	scope(p, 210);
	assert_int_equal(p->taken, 2);
	scope(p, 220);
	assert_fields(p, IS(taken, 3), IS(last->n, 3));
	assert_int_equal(p->last->depart_ns - p->last->arrive_ns, 7 * MS);
	assert_int_equal(p->last->members[0].arrive_ns - p->last->arrive_ns, 3 * MS);
	/*
	 * This thread ends after the wait is over. Its arrival time is set to the departure time,
	 * because it cannot be later.
	 */
	assert_int_equal(p->last->members[2].arrive_ns, p->last->depart_ns);
	assert_int_equal(forkjoin_unreported(p->f), 0);
}

/*
 * A scope may wait several times. A wait that returns while its threads still run does not end the
 * round. Only the last wait ends the round.
 */
static void test_all_with_leftovers(void **state)
{
	struct play *p = *state;
	uint64_t began;

	scope(p, 200);
	scope(p, 210);
	make(p, 220, 2);
	began = p->now;
	wait_for_all(p, 5);
	assert_int_equal(p->taken, 2);
	stop_at(p, 220, began + 2 * MS);
	wait_for_all(p, 4 * MS);
	assert_int_equal(p->taken, 2);
	stop_at(p, 221, p->now + 100);
	assert_fields(p, IS(taken, 3), IS(last->arrive_ns, began));
	assert_int_equal(p->last->depart_ns - began, 4 * MS + 5);
	assert_int_equal(p->last->members[0].arrive_ns - began, 2 * MS);
	assert_int_equal(p->last->members[1].arrive_ns - began, 4 * MS + 5);
	/* A wait when there are no threads to join has another purpose, and is not a round. */
	wait_for_all(p, 10);
	assert_int_equal(p->fate[p->next - 1], DROPPED);
}

/*
 * If the creating thread arrives last at the end of a scope, it does not wait, so the scope's round
 * is not reported. The threads of the scope are counted, and are not members of the next round.
 */
static void test_all_come_last(void **state)
{
	struct play *p = *state;

	scope(p, 200);
	scope(p, 210);
	make(p, 220, 4);
	stop(p, 220, 4);
	p->now += 20 * MS;
	scope(p, 230);
	assert_fields(p, IS(taken, 3), IS(last->n, 3), IS(last->members[0].tid, 230));
	assert_int_equal(forkjoin_unreported(p->f), 4);
	/*
	 * No pause separates these two scopes. The number of threads shows that there were two, so
	 * no round is reported.
	 */
	make(p, 240, 3);
	stop(p, 240, 3);
	scope(p, 250);
	assert_fields(p, IS(taken, 3), IS(fate[p->next - 1], DROPPED));
	assert_int_equal(forkjoin_unreported(p->f), 4 + 6);
	scope(p, 260);
	assert_int_equal(p->taken, 4);
}

/*
 * A thread runs on after a scope. It is not a member of a later scope. The scope that it outlives
 * is not reported.
 */
static void test_all_but_one(void **state)
{
	struct play *p = *state;

	scope(p, 200);
	scope(p, 210);
	make(p, 220, 1);
	scope(p, 230);
	assert_int_equal(p->taken, 2);
	scope(p, 240);
	assert_fields(p, IS(taken, 3), IS(last->members[0].tid, 240));
}

static void test_too_many(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 5000; i++)
		make(p, 200 + i, 1);
	stop(p, 200, 5000);
	/* There are too many threads to store all of them, so the round is not reported. */
	for (uint32_t i = 5000; i--;)
		join(p, 200 + i, 1);
	assert_int_equal(p->taken, 0);
	episode_of(p, 200, 4000);
	episode_of(p, 200, 4000);
	assert_int_equal(p->taken, 2);
	/* These threads are never joined. */
	for (uint32_t i = 0; i < 20000; i++) {
		make(p, 10000 + i, 1);
		stop(p, 10000 + i, 1);
	}
	make(p, 200, 2);
	stop(p, 200, 2);
	join(p, 200, 2);
	assert_int_equal(p->taken, 2);
	episode_of(p, 210, 2);
	assert_int_equal(p->taken, 3);
}

static void test_anything(void **state)
{
	struct play *p = *state;
	uint32_t seed = 1, tid;

	/* The input makes no sense. No check fails, and each join is decided once. */
	for (uint32_t i = 0; i < 60000; i++) {
		seed = seed * 1103515245 + 12345;
		tid = 100 + (seed >> 16) % 24;
		switch ((seed >> 8) % 8) {
		case 0:
		case 1:
		case 2:
			make_by(p, 100 + (seed >> 21) % 12, tid);
			break;
		case 3:
			stop(p, tid, 1);
			break;
		case 4:
			attempt(p, 100 + (seed >> 21) % 12, tid, seed % 2000000,
				seed % 5 ? 0 : 110);
			break;
		case 5:
			if (seed % 977 == 0)
				forkjoin_end_process(p->f, p->tgid, p->inc);
			p->below = (seed >> 12) % 2 ? 0 : 1776;
			break;
		case 6:
			p->inc = INC + (seed >> 13) % 2;
			break;
		default:
			forkjoin_give_up(p->f, p->next - (seed >> 18) % 4);
			break;
		}
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(test_rounds),
		TEST(test_one_episode_is_no_loop),
		TEST(test_other_sites_and_processes_do_not_count),
		TEST(test_single_threads),
		TEST(test_ends_are_seen_later),
		TEST(test_an_end_is_never_seen),
		TEST(test_handles_below_pointers),
		TEST(test_descriptors_are_used_again),
		TEST(test_out_of_order),
		TEST(test_detached_in_every_episode),
		TEST(test_one_that_stays),
		TEST(test_an_older_one_among_them),
		TEST(test_window),
		TEST(test_window_by_twos),
		TEST(test_joined_by_another),
		TEST(test_nested),
		TEST(test_a_creator_ends),
		TEST(test_attempts_that_fail),
		TEST(test_works_between_joins),
		TEST(test_found_in_the_midst),
		TEST(test_given_up),
		TEST(test_all_at_once),
		TEST(test_all_with_leftovers),
		TEST(test_all_come_last),
		TEST(test_all_but_one),
		TEST(test_too_many),
		TEST(test_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
