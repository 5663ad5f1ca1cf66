// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Classify candidate barriers. Constructed programs, with and without barriers, run without a
 * kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "model/discover.h"

#define RECORDS 65536

enum { UNDECIDED, TAKEN, DROPPED };

struct play {
	struct discover *d;
	uint64_t now;
	uint64_t next;
	uint8_t fate[RECORDS];
	uint64_t arrive[RECORDS], depart[RECORDS];
	bool merged[RECORDS];
	uint32_t team; /* number of threads in the last record of a barrier; 0 if unknown */
	uint64_t taken, dropped;
	uint32_t barriers, others; /* how often each of these verdicts was given */
	uint32_t flags; /* set in every record */
	uint32_t held; /* what the functions of every wait hold */
	/* the value that waits expect: constant within an episode, and different in the next */
	uint32_t value;
	bool lock; /* all waits expect the same value */
	uint64_t object, shared;
	uint32_t tgid; /* 0 stands for process 1 */
	uint32_t verdict; /* the last verdict */
};

/*
 * Return the function of a site. Sites of the same hundred, such as 100 to 199, are in one
 * function. Below 10 the function is unknown. At sites 900 and above the inlined function is
 * unknown (*@exact is false).
 */
static uint64_t function_of(void *ctx, uint32_t site, bool *exact)
{
	*exact = site < 900;
	return site < 10 ? 0 : site / 100 + 1;
}

static void take(void *ctx, uint64_t cookie, const struct discover_member *m)
{
	struct play *p = ctx;

	assert_int_equal(p->fate[cookie], UNDECIDED);
	assert_true(m->arrive_ns <= m->depart_ns);
	p->fate[cookie] = TAKEN;
	p->arrive[cookie] = m->arrive_ns;
	p->depart[cookie] = m->depart_ns;
	p->merged[cookie] = m->merged;
	p->team = m->team;
	p->taken++;
}

static void drop(void *ctx, uint64_t cookie)
{
	struct play *p = ctx;

	assert_int_equal(p->fate[cookie], UNDECIDED);
	p->fate[cookie] = DROPPED;
	p->dropped++;
}

static void classified(void *ctx, const struct discover_object *o)
{
	struct play *p = ctx;

	p->barriers += o->verdict == DISCOVER_BARRIER;
	p->others += o->verdict == DISCOVER_OTHER;
	p->verdict = o->verdict;
}

static int set_up(void **state)
{
	struct play *p = calloc(1, sizeof(*p));
	struct discover_ops ops = { .ctx = p,
				    .function = function_of,
				    .take = take,
				    .drop = drop,
				    .classified = classified };

	p->d = discover_new(&ops);
	p->now = 1000000;
	p->object = 0x1000;
	*state = p;
	return p->d ? 0 : -1;
}

static int tear_down(void **state)
{
	struct play *p = *state;

	discover_free(p->d);
	free(p);
	return 0;
}

static uint64_t feed(struct play *p, uint32_t tid, uint32_t flags, uint32_t wakes, uint32_t site,
		     uint64_t arrive, uint64_t depart)
{
	struct discover_record r = { .cookie = p->next,
				     .tgid = p->tgid ? p->tgid : 1,
				     .inc = 7,
				     .tid = tid,
				     .flags = flags | p->flags,
				     .wakes = wakes,
				     .site = site,
				     .object = p->object,
				     .shared = p->shared,
				     .value = p->value,
				     .held = p->held,
				     .arrive_ns = arrive,
				     .depart_ns = depart };
	uint64_t id;

	assert_true(p->next < RECORDS);
	assert_int_equal(discover_add(p->d, &r, &id), 0);
	return p->next++;
}

static uint64_t wake(struct play *p, uint32_t tid, uint32_t site)
{
	p->now += 1000;
	return feed(p, tid, DISCOVER_WAKE, UINT32_MAX, site, p->now, p->now);
}

/* Add a wait that the last waking ended. */
static uint64_t waited(struct play *p, uint32_t tid, uint32_t site)
{
	p->now += 100;
	return feed(p, tid, 0, 0, site, p->now - 900, p->now);
}

/* Let threads 1 to @n cross the barrier. @last wakes the other threads. */
static void meet(struct play *p, uint32_t n, uint32_t last, uint32_t wait_site, uint32_t wake_site)
{
	wake(p, last, wake_site);
	p->value ^= !p->lock;
	for (uint32_t tid = 1; tid <= n; tid++)
		if (tid != last)
			waited(p, tid, wait_site);
}

#define IN_TURN 0

/*
 * Cross the barrier @times times. The waking thread is @last each time or, with IN_TURN, each
 * thread in turn.
 */
static void meet_often(struct play *p, uint32_t times, uint32_t n, uint32_t last,
		       uint32_t wait_site, uint32_t wake_site)
{
	for (uint32_t i = 0; i < times; i++)
		meet(p, n, last == IN_TURN ? 1 + i % n : last, wait_site, wake_site);
}

/* Like meet_often(), with 1 ms of work before each crossing. */
static void meet_slowly(struct play *p, uint32_t times, uint32_t n, uint32_t last,
			uint32_t wait_site, uint32_t wake_site)
{
	for (uint32_t i = 0; i < times; i++) {
		p->now += 1000000;
		meet(p, n, last == IN_TURN ? 1 + i % n : last, wait_site, wake_site);
	}
}

static void finish(struct play *p)
{
	discover_finish(p->d);
	assert_int_equal(p->taken + p->dropped, p->next);
}

/* Finish, and check that exactly @taken records belong to barriers. */
static void finish_taken(struct play *p, uint64_t taken)
{
	finish(p);
	assert_int_equal(p->taken, taken);
}

static void find(void *ctx, const struct discover_object *o)
{
	*(struct discover_object *)ctx = *o;
}

/* Return the last candidate in the list. */
static struct discover_object last_object(struct play *p)
{
	struct discover_object o = { 0 };

	discover_each(p->d, find, &o);
	return o;
}

/* --- barriers --------------------------------------------------------------------------------- */

static void test_rotating(void **state)
{
	struct play *p = *state;

	meet_often(p, 2, 4, IN_TURN, 100, 101);
	assert_int_equal(p->taken, 0);
	meet(p, 4, 3, 100, 101);
	/* The object is classified when the last member of the third round leaves. */
	assert_int_equal(p->taken, 12);
	for (uint32_t i = 3; i < 100; i++)
		meet(p, 4, 1 + i % 4, 100, 101);
	finish_taken(p, 400);
	assert_fields(p, IS(barriers, 1), IS(arrive[0], p->depart[0]));
}

static void test_same_waker(void **state)
{
	struct play *p = *state;

	meet_often(p, 50, 3, 2, 100, 101);
	finish_taken(p, 150);
}

static void test_first_round_irregular(void **state)
{
	struct play *p = *state;

	/* Tracing begins inside a round. */
	wake(p, 1, 101);
	waited(p, 2, 100);
	meet_often(p, 10, 4, IN_TURN, 100, 101);
	finish_taken(p, 40);
	assert_int_equal(p->dropped, 2);
}

/*
 * Another object with the same call sites is a barrier from its first round on, with any number of
 * threads.
 */
static void test_same_code(void **state)
{
	struct play *p = *state;
	uint64_t first;

	/* this object is used once, before its call sites are known to be those of a barrier */
	p->object = 0x2000;
	meet(p, 4, 1, 100, 101);
	p->object = 0x1000;
	meet_often(p, 5, 4, IN_TURN, 100, 101);
	assert_int_equal(p->fate[0], TAKEN);
	p->object = 0x3000;
	first = p->next;
	wake(p, 9, 101); /* thread 9 does not use the other objects */
	waited(p, 2, 100);
	assert_int_equal(p->fate[first], TAKEN);
	p->object = 0x4000; /* this object has other call sites */
	first = p->next;
	meet(p, 4, 1, 200, 201);
	finish(p);
	assert_int_equal(p->fate[first], DROPPED);
}

/*
 * Some threads of a known barrier cross another object with the same call sites. The others may
 * have spun there and left no record, so the number of threads is unknown until several rounds had
 * the same threads, or until all threads were seen. At the end, what was seen counts.
 */
static void test_same_code_with_fewer_threads(void **state)
{
	struct play *p = *state;
	uint64_t first;

	meet_often(p, 5, 4, IN_TURN, 100, 101);
	p->object = 0x2000; /* a thread is missing in the first round only */
	first = p->next;
	meet(p, 3, 1, 100, 101);
	assert_int_equal(p->fate[first], UNDECIDED);
	meet(p, 4, 2, 100, 101);
	assert_int_equal(p->fate[first], TAKEN);
	/* Each of the two rounds has four members, so one is missing. */
	assert_int_equal(p->team, 4);
	p->object = 0x3000; /* really used by three threads */
	first = p->next;
	meet_often(p, 2, 3, IN_TURN, 100, 101);
	assert_int_equal(p->fate[first], UNDECIDED);
	meet(p, 3, 1, 100, 101);
	assert_int_equal(p->fate[first], TAKEN);
	assert_int_equal(p->team, 3);
	p->object = 0x4000; /* by two threads, once */
	first = p->next;
	meet(p, 2, 1, 100, 101);
	assert_int_equal(p->fate[first], UNDECIDED);
	finish_taken(p, 5 * 4 + 3 + 4 + 3 * 3 + 2);
}

/* An object that is undecided, because threads may be missing, is a barrier in the end. */
static void test_fewer_threads_until_the_end(void **state)
{
	struct discover_record r = { .tgid = 1,
				     .inc = 7,
				     .tid = 1,
				     .flags = DISCOVER_WAKE,
				     .wakes = UINT32_MAX,
				     .site = 101,
				     .object = 0x2000 };
	struct play *p = *state;
	uint64_t first, id;

	meet_often(p, 5, 4, IN_TURN, 100, 101);
	p->object = 0x2000;
	first = p->next;
	meet(p, 3, 1, 100, 101);
	r.cookie = p->next++;
	r.arrive_ns = r.depart_ns = p->now += 1000;
	assert_int_equal(discover_add(p->d, &r, &id), 0);
	assert_int_equal(p->fate[first], UNDECIDED);
	discover_give_up(p->d, id);
	assert_int_equal(p->fate[first], TAKEN);
	p->object = 0x3000;
	first = p->next;
	meet(p, 3, 1, 100, 101);
	assert_int_equal(p->fate[first], UNDECIDED);
	discover_end_process(p->d, 1, 7);
	assert_int_equal(p->fate[first], TAKEN);
	finish(p);
}

/*
 * Two threads cross objects before the code is known to be that of a barrier. Once it is known,
 * those crossings are reported, too, as far as their records are still stored.
 */
static void test_pair_of_known_code(void **state)
{
	struct play *p = *state;

	for (uint32_t k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < (k ? 12 : 3); i++) {
			p->object = 0x2000 + 64 * k;
			meet(p, 2, 1, 100, 101);
		}
	}
	p->object = 0x1000;
	meet_often(p, 3, 4, 1, 100, 101);
	/*
	 * Of the twelve rounds at the second object, only the last four were still stored, and are
	 * reported.
	 */
	assert_int_equal(p->taken, 3 * 2 + 4 * 2 + 3 * 4);
	p->object = 0x2000 + 64;
	meet(p, 2, 1, 100, 101);
	assert_int_equal(p->taken, 3 * 2 + 5 * 2 + 3 * 4);
	finish(p);
	assert_int_equal(p->barriers, 3);

	const struct discover_object o = last_object(p);

	assert_int_equal(o.unreported, 8);
}

/*
 * At the root of a tree barrier, the threads differ each time. At a leaf they are the same each
 * time, and the leaf uses the same code. So the leaf shows that this is the code of a barrier.
 */
static void test_members_differ_in_known_code(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 3; i++) {
		p->object = 0x2000;
		wake(p, 1 + i, 101);
		waited(p, 9, 100);
		p->object = 0x1000;
		meet(p, 4, 1, 100, 101);
	}
	finish_taken(p, 3 * 2 + 3 * 4);
}

static void test_spurious(void **state)
{
	struct play *p = *state;
	uint64_t half, rest, from;

	meet_often(p, 5, 3, 1, 100, 101);
	p->now += 5000;
	from = p->now - 900;
	half = waited(p, 2, 100); /* not woken */
	wake(p, 1, 101);
	rest = waited(p, 2, 100);
	waited(p, 3, 100);
	finish(p);
	assert_fields(p, IS(fate[half], DROPPED), IS(fate[rest], TAKEN), IS(merged[rest], true),
		      IS(arrive[rest], from + 100));
}

/* A thread waits repeatedly with a timeout. These waits are one arrival, at the first wait. */
static void test_timeouts(void **state)
{
	struct play *p = *state;
	uint64_t from, last = 0;

	for (uint32_t i = 0; i < 10; i++) {
		p->now += 10000;
		from = p->now;
		for (uint32_t k = 0; k < 5; k++, p->now += 1000)
			feed(p, 2, DISCOVER_OVER, 0, 100, p->now, p->now + 900);
		wake(p, 1, 101);
		last = feed(p, 2, 0, 0, 100, p->now - 900, p->now + 50);
		waited(p, 3, 100);
		p->now += 100;
		if (i > 2)
			assert_int_equal(p->arrive[last], from);
	}
	finish_taken(p, 30);
	assert_int_equal(p->merged[last], true);
}

static void test_only_timeouts(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 65535; i++, p->now += 1000)
		feed(p, 1 + i % 4, DISCOVER_OVER, 0, 100, p->now, p->now + 900);
	assert_int_equal(p->others, 0);
	feed(p, 1, DISCOVER_OVER, 0, 100, p->now, p->now + 900);
	finish(p);
	assert_int_equal(p->others, 1);
}

/* The number of threads changes: the object remains a barrier. */
static void test_team_changes(void **state)
{
	struct play *p = *state;

	meet_often(p, 5, 4, 1, 100, 101);
	meet_often(p, 5, 6, 6, 100, 101);
	finish_taken(p, 50);
}

static void test_slow_to_leave(void **state)
{
	struct play *p = *state;
	uint64_t slow, woken;

	meet_often(p, 5, 3, 1, 100, 101);
	wake(p, 1, 101);
	woken = p->now;
	waited(p, 2, 100);
	/*
	 * Thread 3 leaves after the other threads have ended the next round. Its record has the
	 * times of its own round.
	 */
	wake(p, 1, 101);
	slow = feed(p, 3, 0, 0, 100, woken - 500, p->now + 10);
	finish(p);
	assert_int_equal(p->fate[slow], TAKEN);
}

/* --- futexes --------------------------------------------------------------------------------- */

static void test_futex_same_function(void **state)
{
	struct play *p = *state;

	p->flags = DISCOVER_FUTEX;
	meet_often(p, 10, 4, 1, 100, 101);
	finish_taken(p, 40);
}

static void test_futex_functions_unknown(void **state)
{
	struct play *p = *state;

	p->flags = DISCOVER_FUTEX;
	meet_often(p, 10, 4, 1, 1, 2);
	/*
	 * nothing is taken, because the waker is always the same and may be the master of a thread
	 * pool
	 */
	assert_int_equal(p->taken, 0);
	meet_often(p, 10, 4, IN_TURN, 1, 2);
	finish_taken(p, 80);
	assert_int_equal(p->team, 4);
}

/*
 * All waits and wakings go through one wrapper. If different threads wake at an object, it is a
 * barrier. If always the same thread wakes, the object may be a mutex, so it is not taken for a
 * barrier.
 */
static void test_futex_wrapper(void **state)
{
	struct play *p = *state;

	p->flags = DISCOVER_FUTEX;
	meet_often(p, 10, 4, 1, 100, 100);
	assert_int_equal(p->taken, 0);
	meet(p, 4, 2, 100, 100);
	assert_int_equal(p->taken, 44);
	p->object = 0x2000;
	meet_often(p, 10, 4, 1, 100, 100);
	finish_taken(p, 44);
}

/*
 * The unlocking thread wakes all waiters. One waiter gets the lock, and the other threads wait
 * again. The waits always expect the same value.
 */
static void test_futex_convoy(void **state)
{
	struct play *p = *state;

	p->flags = DISCOVER_FUTEX;
	p->lock = true;
	p->value = 2;
	for (uint32_t j = 0; j < 3; j++, p->object += 0x1000)
		meet_often(p, 20, 4, IN_TURN, j ? 900 : 1, j == 2 ? 100 : 2);
	for (uint32_t i = 0; i < 20; i++, p->object += 0x1000)
		meet(p, 4, 1 + i % 4, 100, 101);
	meet_often(p, 20, 4, IN_TURN, 100, 101);
	finish_taken(p, 0);
	assert_int_equal(p->barriers, 0);
}

/*
 * An object is a barrier only if the expected value differs between the rounds that count as
 * evidence. A different value in an earlier round is not enough.
 */
static void test_futex_convoy_after(void **state)
{
	struct play *p = *state;

	p->flags = DISCOVER_FUTEX;
	p->lock = true;
	p->value = 1;
	meet(p, 5, 1, 1, 2);
	p->value = 2;
	meet_often(p, 20, 4, IN_TURN, 1, 2);
	finish_taken(p, 0);
}

/*
 * Each thread waits until the count that it wrote changes. So the waits of a round expect different
 * values, but all rounds are alike.
 */
static void test_futex_counting_down(void **state)
{
	struct play *p = *state;

	p->flags = DISCOVER_FUTEX;
	for (uint32_t i = 0; i < 10; i++) {
		wake(p, 4, 101);
		for (uint32_t tid = 1; tid <= 3; tid++) {
			p->value = 4 - tid;
			waited(p, tid, 100);
		}
	}
	finish_taken(p, 40);
}

static void test_futex_again(void **state)
{
	struct play *p = *state;
	uint64_t early, late, waker;

	p->flags = DISCOVER_FUTEX;
	meet_often(p, 5, 3, 1, 100, 101);
	/*
	 * Thread 2 finds the value changed before the waking call, and thread 3 finds it changed
	 * after the call.
	 */
	p->now += 1000;
	early = feed(p, 2, DISCOVER_AGAIN, 0, 100, p->now, p->now + 10);
	waker = wake(p, 1, 101);
	late = feed(p, 3, DISCOVER_AGAIN, 0, 100, p->now + 50, p->now + 60);
	meet(p, 3, 1, 100, 101);
	finish(p);
	assert_fields(p, IS(fate[early], TAKEN), IS(fate[late], TAKEN),
		      IS(arrive[waker], p->depart[early]));
	assert_int_equal(p->arrive[late] - p->depart[early], 990);
	assert_int_equal(p->taken, 21);
}

/*
 * Add a wait that fails at once because the word has changed. On a busy machine a thread may be
 * preempted for long between reading the word and waiting on it.
 */
static uint64_t comes_late(struct play *p, uint32_t tid)
{
	p->now += 6000000;
	return feed(p, tid, DISCOVER_AGAIN, 0, 100, p->now, p->now + 50);
}

/* Let threads 1 to 4 except @missing cross the barrier. Thread 1 wakes the other threads. */
static void meet_without(struct play *p, uint32_t missing)
{
	wake(p, 1, 101);
	p->value ^= 1;
	for (uint32_t tid = 2; tid <= 4; tid++)
		if (tid != missing)
			waited(p, tid, 100);
}

/*
 * A thread is late for one episode and arrives last at the next. The number of threads stays the
 * same.
 */
static void test_futex_late_wakes_next(void **state)
{
	struct play *p = *state;
	uint64_t late, woken;

	p->flags = DISCOVER_FUTEX;
	meet_often(p, 5, 4, IN_TURN, 100, 101);
	woken = p->next;
	meet_without(p, 3);
	late = comes_late(p, 3);
	for (uint32_t i = 0; i < 5; i++)
		meet(p, 4, 3 + i % 2, 100, 101);
	assert_int_equal(p->team, 4);
	finish(p);
	assert_fields(p, IS(fate[late], TAKEN), IS(arrive[late], p->arrive[woken]), IS(taken, 44));
	assert_int_equal(discover_unseen(p->d).given_up, 0);
}

/*
 * As in test_futex_late_wakes_next(), but the record of the late thread comes before the other
 * threads have left.
 */
static void test_futex_late_before_others_leave(void **state)
{
	struct play *p = *state;
	uint64_t late, woken, wake_ns;

	p->flags = DISCOVER_FUTEX;
	meet_often(p, 5, 4, IN_TURN, 100, 101);
	woken = wake(p, 1, 101);
	wake_ns = p->now;
	p->value ^= 1;
	late = comes_late(p, 3);
	p->now += 100;
	feed(p, 2, 0, 0, 100, wake_ns - 10, p->now);
	feed(p, 4, 0, 0, 100, wake_ns - 10, p->now + 10);
	for (uint32_t i = 0; i < 5; i++)
		meet(p, 4, 2 + i % 3, 100, 101);
	assert_int_equal(p->team, 4);
	finish(p);
	assert_fields(p, IS(fate[late], TAKEN), IS(arrive[late], p->arrive[woken]), IS(taken, 44));
	assert_int_equal(discover_unseen(p->d).given_up, 0);
}

/*
 * While the object is not yet known to be a barrier, a late thread does not break the series of
 * rounds.
 */
static void test_futex_late_at_first(void **state)
{
	struct play *p = *state;

	p->flags = DISCOVER_FUTEX;
	for (uint32_t i = 0; i < 3; i++) {
		meet_without(p, 3);
		comes_late(p, 3);
	}
	meet(p, 4, 3, 100, 101);
	assert_fields(p, IS(barriers, 1), IS(team, 4));
	finish_taken(p, 16);
}

/*
 * A thread has no record of the last episode, and finds the word changed again. The record belongs
 * to the next episode, because the other threads of that episode expect the same value.
 */
static void test_futex_early_not_late(void **state)
{
	struct play *p = *state;
	uint64_t early;

	p->flags = DISCOVER_FUTEX;
	meet_often(p, 5, 4, IN_TURN, 100, 101);
	meet_without(p, 3);
	p->value ^= 1;
	early = comes_late(p, 3);
	p->value ^= 1;
	meet_without(p, 3);
	finish(p);
	assert_fields(p, IS(fate[early], TAKEN), IS(arrive[early], p->depart[early] - 50),
		      IS(team, 4));
}

static void test_futex_wakes_one(void **state)
{
	struct play *p = *state;

	p->flags = DISCOVER_FUTEX;
	for (uint32_t i = 0; i < 100; i++) {
		p->now += 1000;
		feed(p, 1 + i % 3, DISCOVER_WAKE, 1, 101, p->now, p->now);
		waited(p, 1 + (i + 1) % 3, 100);
		waited(p, 1 + (i + 2) % 3, 100);
	}
	finish_taken(p, 0);
	assert_int_equal(p->others, 1);
}

/* --- no barriers ----------------------------------------------------------------------------- */

static void test_two_threads(void **state)
{
	struct play *p = *state;

	meet_often(p, 100, 2, IN_TURN, 100, 101);
	finish_taken(p, 0);
	assert_int_equal(p->others, 0);
}

static void test_two_are_a_candidate(void **state)
{
	struct play *p = *state;

	test_two_threads(state);

	const struct discover_object o = last_object(p);

	assert_fields(&o, IS(members, 2), IS(rounds, 100), IS(verdict, DISCOVER_OPEN),
		      IS(wait_site, 100));
}

/*
 * The workers of a pool wait in one function, and its master wakes them in another. Each round has
 * the same threads.
 */
static void test_pool(void **state)
{
	struct play *p = *state;

	meet_often(p, 100, 5, 1, 100, 201);
	finish_taken(p, 0);
	assert_int_equal(p->others, 1);
}

/*
 * One thread may publish data and wake all readers. The functions that wait and wake may have been
 * inlined into one. So the object is taken for a barrier only once another thread wakes.
 */
static void test_inlining_unknown(void **state)
{
	struct play *p = *state;

	meet_often(p, 20, 5, 1, 900, 901);
	assert_int_equal(p->taken, 0);
	meet(p, 5, 2, 900, 901);
	finish_taken(p, 105);
}

static void test_functions_unknown(void **state)
{
	struct play *p = *state;

	meet_often(p, 100, 5, IN_TURN, 1, 2);
	finish_taken(p, 0);
}

/*
 * The waits and wakings of a queue are in one function. Each thread that arrives either waits or
 * wakes, and the rounds have different members.
 */
static void test_queue(void **state)
{
	struct play *p = *state;
	uint32_t first, n;

	srand(1);
	for (uint32_t i = 0; i < 500; i++) {
		first = (uint32_t)rand() % 8;
		n = 1 + (uint32_t)rand() % 5;
		wake(p, 1 + first, 101);
		for (uint32_t k = 1; k <= n; k++)
			waited(p, 1 + (first + k) % 8, 100);
	}
	finish_taken(p, 0);
	assert_int_equal(p->others, 1);
}

/*
 * Threads are woken one by one. The probes do not see pthread_cond_signal, so waits end without a
 * waking.
 */
static void test_signalled(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 100; i++)
		waited(p, 1 + i % 4, 100);
	finish_taken(p, 0);
	assert_int_equal(p->others, 1);
}

/* A thread wakes all waiters, and also waits during the round that it wakes. */
static void test_waker_waits(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 60; i++) {
		meet(p, 4, 1, 100, 101);
		feed(p, 1, 0, 0, 100, p->now - 2000, p->now);
	}
	finish_taken(p, 0);
}

static void test_broadcast_to_nobody(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 100; i++)
		wake(p, 1, 101);
	finish_taken(p, 0);
	assert_int_equal(p->others, 1);
}

static void test_once(void **state)
{
	struct play *p = *state;

	meet(p, 8, 1, 100, 101);
	meet(p, 8, 1, 100, 101);
	finish_taken(p, 0);
}

/* An object that looked like a barrier in three rounds turns out to be none, and is given up. */
static void test_error_is_undone(void **state)
{
	struct play *p = *state;

	meet_often(p, 4, 4, 1, 100, 101);
	assert_int_equal(p->barriers, 1);
	meet_often(p, 40, 4, 1, 300, 201);
	assert_int_equal(p->others, 1);
	finish_taken(p, 16);
	/* The dropped records of the object are counted, including those after it was given up. */
	assert_int_equal(discover_unseen(p->d).given_up, 160);
}

/* A barrier in a macro waits and wakes in many functions, but each episode is in one of them. */
static void test_many_functions(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 100; i++)
		meet(p, 4, 1 + i % 4, 100 * (1 + i % 7), 100 * (1 + i % 7) + 1);
	finish_taken(p, 400);
	assert_int_equal(discover_unseen(p->d).given_up, 0);
}

/*
 * Once all functions of a barrier are known, the threads of one episode may be in several of them.
 */
static void test_episode_in_two_functions(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 10; i++)
		meet(p, 4, 1 + i % 4, 100 * (1 + i % 2), 100 * (1 + i % 2) + 1);
	meet_often(p, 40, 4, IN_TURN, 100, 201);
	finish_taken(p, 200);
}

/*
 * Fewer threads cross than before. The usual number of threads is passed on, so that the episode
 * does not count as complete.
 */
static void test_one_is_missing(void **state)
{
	struct play *p = *state;

	meet_often(p, 10, 4, IN_TURN, 100, 101);
	assert_int_equal(p->team, 0);
	meet(p, 3, 1, 100, 101);
	wake(p, 2, 101);
	assert_int_equal(p->team, 4);
	finish_taken(p, 44);
}

/*
 * Run an episode with two wakings: the first when all threads have arrived, the second when all
 * have left. @back threads arrive again before the last thread has left.
 */
static void meet_twice(struct play *p, uint32_t n, uint32_t last, uint32_t leaves, uint32_t back)
{
	p->now += 1000000;
	wake(p, last, 101);
	for (uint32_t tid = 1; tid <= n; tid++)
		if (tid != last && tid != leaves)
			waited(p, tid, 100);
	waited(p, leaves, 100);
	wake(p, leaves, 103);
	for (uint32_t tid = 1; tid <= back; tid++)
		if (tid != leaves)
			waited(p, tid, 102);
}

static void test_two_phases(void **state)
{
	struct play *p = *state;

	/* By the second waking, 0 to 4 threads have arrived again. */
	for (uint32_t back = 0; back <= 4; back++) {
		p->object += 0x1000;
		for (uint32_t i = 0; i < 40; i++)
			meet_twice(p, 4, 1 + i % 4, 1 + (i + 1 + i % 3) % 4, back);
	}
	finish_taken(p, 5 * 40 * 4);
	assert_int_equal(p->barriers, 5);
}

/*
 * Cross with two wakings that are both made without the mutex, on a busy machine. The waking thread
 * runs again long after the other threads have begun the second wait, and arrives last there, too.
 * @outside is the time that threads work between two episodes.
 */
static void meet_twice_late(struct play *p, uint32_t n, uint32_t last, uint64_t outside)
{
	uint64_t woken, left = p->now + outside;

	p->now = left + 3000000;
	woken = p->now;
	feed(p, last, DISCOVER_WAKE, UINT32_MAX, 101, woken, woken);
	for (uint32_t tid = 1; tid <= n; tid++)
		if (tid != last)
			feed(p, tid, 0, 0, 100, left + tid, woken + 10000 * tid);
	p->now += 9000000;
	feed(p, last, DISCOVER_WAKE, UINT32_MAX, 103, p->now, p->now);
	for (uint32_t tid = 1; tid <= n; tid++)
		if (tid != last)
			feed(p, tid, 0, 0, 102, woken + 10000 * tid + 5000, p->now + tid);
	p->now += n;
}

static void test_two_phases_late(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 40; i++)
		meet_twice_late(p, 4, 1, 500000);
	finish_taken(p, 40 * 4);
	assert_int_equal(p->barriers, 1);
}

/* The second waking is recognised as a part of each episode before the machine becomes busy. */
static void test_two_phases_late_at_last(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 4; i++)
		meet_twice(p, 4, 1 + i % 4, 1 + (i + 1) % 4, 3);
	for (uint32_t i = 0; i < 40; i++)
		meet_twice_late(p, 4, 1, 500000);
	finish_taken(p, 44 * 4);
}

/*
 * Threads arrive again as soon as they have left. It is unknown which of the two wakings ends an
 * episode, so no episode is reported.
 */
static void test_two_phases_in_a_tight_loop(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 40; i++)
		meet_twice_late(p, 4, 1, 5000);
	finish_taken(p, 0);

	const struct discover_object o = last_object(p);

	assert_true(o.rounds > 0);
}

/*
 * Two barriers are in one function. Threads work between them, so the second barrier is not a
 * second phase of the first.
 */
static void test_no_second_phase(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 40; i++) {
		p->now += 1000000;
		meet(p, 4, 1 + i % 4, 100, 101);
		p->now += 1000000;
		meet(p, 4, 1 + i % 4, 102, 103);
	}
	finish_taken(p, 320);
}

/*
 * Return the line of a site at the inlining depth @depth. All sites are in code that was inlined at
 * the same call. In that code, sites 100 and 101 are on one line, and sites 102 and 103 on another.
 */
static uint64_t line_of(void *ctx, uint32_t site, uint32_t depth)
{
	return depth == 0 ? 1 : depth == 1 || depth == DISCOVER_INNERMOST ? site / 2 : 0;
}

/*
 * An inlined function uses a macro twice. Threads go directly from one barrier to the other, and
 * wait at the second for a thread that works.
 */
static void test_no_second_phase_in_line(void **state)
{
	struct play *p = *state;
	struct discover_ops ops = {
		.ctx = p, .function = function_of, .line = line_of, .take = take, .drop = drop
	};

	discover_free(p->d);
	p->d = discover_new(&ops);
	for (uint32_t i = 0; i < 40; i++)
		meet_twice_late(p, 4, 1, 500000);
	finish_taken(p, 2 * 40 * 4);
}

/*
 * Cross two barriers that are in the same function. Threads go directly from one to the other, but
 * the last arriver of the second barrier works for @work in between.
 */
static void meet_at_both(struct play *p, uint32_t n, uint32_t first, uint32_t last, uint64_t work)
{
	uint64_t left = p->now + 500000, woken;

	p->now = woken = left + 1000000;
	feed(p, first, DISCOVER_WAKE, UINT32_MAX, 101, woken, woken);
	for (uint32_t tid = 1; tid <= n; tid++)
		if (tid != first)
			feed(p, tid, 0, 0, 100, left + tid, woken + 1000 * tid);
	p->now += work;
	feed(p, last, DISCOVER_WAKE, UINT32_MAX, 103, p->now, p->now);
	for (uint32_t tid = 1; tid <= n; tid++)
		if (tid != last)
			feed(p, tid, 0, 0, 102, woken + 1000 * tid + 5000, p->now + tid);
	p->now += n;
}

/*
 * The second waking comes after a thread has worked, so it is not a second phase of the same
 * episode. Records that were dropped before the classification are counted as given up.
 */
static void test_no_second_phase_of_a_thread_that_works(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 40; i++)
		meet_at_both(p, 4, 1 + i % 3, 4, 3000000);
	finish(p);
	assert_true(p->taken >= 70 * 4);
	assert_int_equal(p->taken + discover_unseen(p->d).given_up, 2 * 40 * 4);
}

/*
 * The thread that makes the first waking also makes the second. Between the two, it may have been
 * preempted or have worked.
 */
static void test_second_phase_that_lasts(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 40; i++)
		meet_at_both(p, 4, 4, 4, 3000000);
	finish_taken(p, 40 * 4);
	assert_int_equal(discover_unseen(p->d).given_up, 40 * 4);

	const struct discover_object o = last_object(p);

	assert_true(o.echo);
	assert_true(o.echo_ns > 2900000 && o.echo_ns < 3000000);
}

/* In the second phase, threads wait only for as long as threads take to leave. */
static void test_second_phase_that_is_short(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 40; i++)
		meet_at_both(p, 4, 4, 4, 200000);
	finish_taken(p, 40 * 4);
	assert_int_equal(discover_unseen(p->d).given_up, 0);

	const struct discover_object o = last_object(p);

	assert_fields(&o, IS(echo, true), IS(echo_ns, 0));
}

/*
 * In the first episode only, threads wait for a second waking. So it stays undecided which waking
 * ended that episode, but all later episodes are reported.
 */
static void test_second_phase_waited_for_once(void **state)
{
	struct play *p = *state;

	meet_twice(p, 4, 1, 2, 4);
	meet_slowly(p, 60, 4, IN_TURN, 100, 101);
	finish(p);
	assert_int_equal(p->barriers, 1);
	assert_true(p->taken >= 60 * 4);
}

/*
 * The threads wait for the second waking only after the barrier is known, and the waking thread
 * runs late. No episode counts twice.
 */
static void test_second_phase_late_after_all(void **state)
{
	struct play *p = *state;

	meet_slowly(p, 20, 4, IN_TURN, 100, 101);
	for (uint32_t i = 0; i < 10; i++)
		meet_twice_late(p, 4, 1, 500000);
	finish_taken(p, 30 * 4);
}

/*
 * Two barriers are in one function. Threads reach the second only after the first was recognised.
 */
static void test_other_barrier_of_the_function(void **state)
{
	struct play *p = *state;

	meet_slowly(p, 20, 4, IN_TURN, 100, 101);
	meet_slowly(p, 10, 4, IN_TURN, 102, 103);
	finish_taken(p, 30 * 4);
}

/*
 * There is no debug information, and the late thread is the same each time. If several functions
 * wait and wake on one object, the barrier is a macro.
 */
static void test_many_functions_same_waker(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 40; i++)
		meet(p, 4, 1, 1000 + 100 * (i % 4), 1001 + 100 * (i % 4));
	finish_taken(p, 160);
	assert_int_equal(p->barriers, 1);
}

/* A single function may contain inlined functions in which one thread starts the others. */
static void test_one_function_same_waker(void **state)
{
	struct play *p = *state;

	meet_often(p, 40, 4, 1, 1000, 1001);
	finish_taken(p, 0);

	const struct discover_object o = last_object(p);

	assert_true(o.rounds > 0);
}

static bool not_compact(void *ctx, uint32_t wait, uint32_t wake)
{
	return false;
}

/*
 * One thread starts the others in the function where they wait. This is not a barrier, but it is
 * reported as possible.
 */
static void test_start_signal(void **state)
{
	struct play *p = *state;
	struct discover_ops ops = { .ctx = p,
				    .function = function_of,
				    .compact = not_compact,
				    .take = take,
				    .drop = drop };

	discover_free(p->d);
	p->d = discover_new(&ops);
	meet_often(p, 40, 4, 1, 100, 101);
	finish_taken(p, 0);

	const struct discover_object o = last_object(p);

	assert_true(o.one_waker);
}

static uint64_t in_one(void *ctx, uint32_t site)
{
	return site < 10 ? 0 : 1;
}

/* Set up @p for a program in which all functions are inlined into one. */
static struct play *in_line(struct play *p)
{
	struct discover_ops ops = {
		.ctx = p, .function = function_of, .outer = in_one, .take = take, .drop = drop
	};

	discover_free(p->d);
	p->d = discover_new(&ops);
	return p;
}

/*
 * The compiler merged the equal ends of two inlined functions. The debug information attributes the
 * waking to either of them.
 */
static void test_one_end(void **state)
{
	struct play *p = in_line(*state);

	for (uint32_t i = 0; i < 40; i++)
		meet(p, 4, 1 + i % 4, i & 1 ? 100 : 200, 101);
	finish_taken(p, 40 * 4);
}

/*
 * Threads take from a queue and put into the queue, and both are inlined in one function. This is
 * not a barrier, whichever thread wakes.
 */
static void test_one_code(void **state)
{
	struct play *p = in_line(*state);

	meet_often(p, 40, 4, IN_TURN, 200, 101);
	finish_taken(p, 0);
}

/*
 * As in test_one_end(), but always with the same waker. At the first object, some waits are known
 * to be in the function that wakes, so it is a barrier. At the second object, no wait is known to
 * be in that function.
 */
static void test_one_end_one_waker(void **state)
{
	struct play *p = in_line(*state);

	p->object = 0x1000;
	for (uint32_t i = 0; i < 40; i++)
		meet(p, 4, 1, i & 1 ? 100 : 200, 101);
	p->object = 0x2000;
	meet_often(p, 40, 4, 1, 300, 401);
	finish_taken(p, 40 * 4);
}

/* --- bounds ---------------------------------------------------------------------------------- */

static void test_give_up(void **state)
{
	struct play *p = *state;
	struct discover_record r = { .tgid = 1,
				     .inc = 7,
				     .tid = 1,
				     .flags = DISCOVER_WAKE,
				     .wakes = UINT32_MAX,
				     .site = 101,
				     .object = 0x1000 };
	uint64_t id;

	meet(p, 4, 1, 100, 101);
	meet(p, 4, 1, 100, 101);
	p->now += 1000;
	r.cookie = p->next++;
	r.arrive_ns = r.depart_ns = p->now;
	assert_int_equal(discover_add(p->d, &r, &id), 0);
	assert_true(id != 0);
	assert_int_equal(discover_team(p->d, id), 4);
	discover_give_up(p->d, id);
	assert_int_equal(p->dropped, 9);
	meet_often(p, 5, 4, 1, 100, 101);
	finish_taken(p, 20);

	const struct discover_object o = last_object(p);

	assert_int_equal(o.unreported, 2);
}

static void test_many_objects(void **state)
{
	struct play *p = *state;

	for (uint32_t i = 0; i < 20000; i++) {
		p->object = 0x1000 + 64 * i;
		wake(p, 1, 101);
		waited(p, 2, 100);
	}
	discover_end_process(p->d, 1, 7);
	assert_int_equal(p->dropped, p->next);
	finish(p);
}

/* Every record is decided exactly once, whatever the input. */
static void test_random(void **state)
{
	struct play *p = *state;
	uint64_t from;
	uint32_t tid;

	srand(7);
	for (uint32_t i = 0; i < 60000; i++) {
		p->object = 0x1000 + 64 * ((uint32_t)rand() % 3);
		p->flags = p->object == 0x1000 ? DISCOVER_FUTEX : 0;
		p->now += (uint32_t)rand() % 300;
		from = p->now - (uint32_t)rand() % 2000;
		tid = 1 + (uint32_t)rand() % 5;
		if (rand() % 4 == 0)
			feed(p, tid, DISCOVER_WAKE, (uint32_t)rand() % 4 * 2, 100, p->now, p->now);
		else
			feed(p, tid, rand() % 3 ? 0 : DISCOVER_AGAIN, 0, 100, from, p->now);
		if (rand() % 10000 == 0)
			discover_end_process(p->d, 1, 7);
	}
	finish(p);
}

/* --- reported without being barriers ---------------------------------------------------------- */

static void reported(void *ctx, const struct discover_object *o)
{
	*(struct discover_object *)ctx = *o;
}

/*
 * Let four threads cross 12 times. They wait in one function and wake in another. Each thread in
 * turn wakes the rest or, with @master, always the same thread.
 */
static struct discover_object apart(struct play *p, bool master)
{
	struct discover_object found = { 0 };
	uint32_t waker;
	uint64_t t;

	for (uint32_t round = 0; round < 12; round++) {
		t = p->now += 1000;
		waker = master ? 0 : round % 4;
		feed(p, 10 + waker, DISCOVER_WAKE, UINT32_MAX, 300, t + 50, t + 50);
		for (uint32_t i = 0; i < 4; i++)
			if (i != waker)
				feed(p, 10 + i, 0, 0, 100, t + i, t + 60 + i);
	}
	discover_finish(p->d);
	discover_each(p->d, reported, &found);
	return found;
}

static void test_two_functions(void **state)
{
	struct discover_object o = apart(*state, false);
	struct play *p = *state;

	assert_fields(p, IS(taken, 0), IS(barriers, 0));
	assert_fields(&o, IS(split, 12), IS(members, 4), IS(wait_site, 100), IS(wake_site, 300));
}

/*
 * This may be a pool with a master that hands out work and never waits, or a barrier at which the
 * same thread always arrives last.
 */
static void test_two_functions_of_a_pool(void **state)
{
	struct discover_object o = apart(*state, true);

	assert_fields(&o, IS(split, 0), IS(led, 12));
}

/* No thread wakes all waiters. This is a queue, or threads are woken one by one. */
static void test_woken_one_by_one(void **state)
{
	struct discover_object found = { 0 };
	struct play *p = *state;
	uint64_t t;

	for (uint32_t round = 0; round < 3; round++) {
		t = p->now += 1000;
		for (uint32_t i = 0; i < 3; i++)
			feed(p, 10 + i, 0, 0, 100, t + i, t + 60 + i);
	}
	discover_finish(p->d);
	discover_each(p->d, reported, &found);
	assert_int_equal(p->taken, 0);
	assert_fields(&found, IS(alone, 3), IS(batches, 2), IS(loose, 0), IS(split, 0),
		      IS(wait_site, 100));
}

/*
 * This is the lock of an interpreter: one thread leaves, and arrives again before all other threads
 * have left.
 */
static void test_lock_on_a_condition(void **state)
{
	struct discover_object found = { 0 };
	struct play *p = *state;

	for (uint32_t i = 0; i < 60; i++, p->now += 1000)
		feed(p, 10 + i % 4, 0, 0, 100, p->now, p->now + 2900);
	discover_finish(p->d);
	discover_each(p->d, reported, &found);
	assert_true(found.batches <= 2 * found.loose);
}

/*
 * Threads take turns: each wakes all others, of which all but one wait again in the same call.
 * Their records are those of a barrier, but for what the waiting functions hold.
 */
static void test_turns(void **state)
{
	struct play *p = *state;

	p->held = 5;
	meet_often(p, 40, 4, IN_TURN, 100, 101);
	finish_taken(p, 0);
	assert_int_equal(p->barriers, 0);
}

/* The same, if a woken thread waits for a lock before it finds out why it was woken. */
static void test_slow_turns(void **state)
{
	struct play *p = *state;

	p->held = 5;
	p->flags = DISCOVER_SLOW;
	meet_slowly(p, 40, 4, IN_TURN, 100, 101);
	finish_taken(p, 0);
	assert_int_equal(p->barriers, 0);
}

/* At a barrier, the functions hold other values in the next round, or the threads work between. */
static void test_rounds_are_no_turns(void **state)
{
	struct play *p = *state;
	uint32_t i;

	for (i = 0; i < 20; i++, p->held++)
		meet_often(p, 1, 4, 1 + i % 4, 100, 101);
	p->object += 64;
	meet_slowly(p, 20, 4, IN_TURN, 100, 101);
	finish_taken(p, 2 * 20 * 4);
}

/* --- what was not seen ----------------------------------------------------------------------- */

/*
 * Let threads cross as in meet(), at a condition variable that counts waits: *@count waits have
 * begun so far. Threads with a number below @from have no records.
 */
static void meet_counted(struct play *p, uint32_t n, uint32_t last, uint32_t from, uint32_t *count)
{
	uint32_t old = p->flags;

	p->flags = old | DISCOVER_COUNT;
	p->value = *count + n - 1;
	if (last >= from)
		wake(p, last, 101);
	else
		p->now += 1000;
	for (uint32_t tid = 1; tid <= n; tid++) {
		if (tid == last)
			continue;
		p->value = (*count)++;
		p->now += 100;
		if (tid >= from)
			feed(p, tid, 0, 0, 100, p->now - 900, p->now);
	}
	p->flags = old;
}

/* Let four threads cross @times times. Each in turn wakes the others. */
static void meet_often_counted(struct play *p, uint32_t times, uint32_t *count)
{
	for (uint32_t i = 0; i < times; i++)
		meet_counted(p, 4, 1 + i % 4, 0, count);
}

static void check_unseen(struct play *p, uint64_t waits, uint32_t uncounted)
{
	finish(p);
	assert_int_equal(discover_unseen(p->d).waits, waits);
	assert_int_equal(discover_unseen(p->d).uncounted, uncounted);
	/* All unseen waits are attributed to the process that owns the objects. */
	assert_int_equal(discover_waited_unseen(p->d, p->tgid ? p->tgid : 1, 7),
			 waits || uncounted);
}

/*
 * Run a barrier of four threads at which @count waits began unseen. The barrier is found, and
 * crossed until these waits are reported.
 */
static void found_and_settled(struct play *p, uint32_t count)
{
	meet_often_counted(p, 3, &count);
	assert_int_equal(p->barriers, 1);
	assert_int_equal(discover_unseen(p->d).waits, 0);
	p->flags = DISCOVER_KNOWN;
	meet_often(p, 5, 4, IN_TURN, 100, 101);
}

static void test_all_seen(void **state)
{
	struct play *p = *state;
	uint32_t count = 0;

	meet_often_counted(p, 10, &count);
	check_unseen(p, 0, 0);
	assert_int_equal(p->taken, 40);
}

/* Two rounds of four threads are unseen, with three waits each. */
static void test_first_rounds_unseen(void **state)
{
	struct play *p = *state;
	uint32_t count = 2 * 3;

	meet_often_counted(p, 10, &count);
	check_unseen(p, 6, 0);
}

/* The object may be older than the trace. Waits before tracing began do not count as unseen. */
static void test_older_object(void **state)
{
	struct play *p = *state;
	uint32_t count = 1000;

	p->flags = DISCOVER_OLDER;
	meet_often_counted(p, 10, &count);
	check_unseen(p, 0, 0);
}

/*
 * The object may be older than the trace, and its process ran for some time without probes. Some of
 * the earlier waits may belong to that time, so it is reported that unseen waits could not be
 * counted.
 */
static void test_older_and_blind(void **state)
{
	struct play *p = *state;
	uint32_t count = 1000;

	p->flags = DISCOVER_OLDER | DISCOVER_BLIND;
	meet_often_counted(p, 10, &count);
	check_unseen(p, 0, 1);
}

/*
 * Only the first record of a private object says whether the object is older than the trace. After
 * a fork, a later record may be about the parent's own copy at the same address.
 */
static void test_original_comes_later(void **state)
{
	struct play *p = *state;
	uint32_t count = 3;

	for (uint32_t i = 0; i < 10; i++) {
		p->flags = i ? DISCOVER_OLDER : 0;
		meet_counted(p, 4, 1 + i % 4, 0, &count);
	}
	check_unseen(p, 3, 0);
}

/* The object was not a barrier, so nothing is missing. */
static void test_unseen_of_no_barrier(void **state)
{
	struct play *p = *state;

	found_and_settled(p, 6);
	assert_int_equal(discover_unseen(p->d).waits, 6);
	/* Wakings from another function end no wait, so they do not belong to the barrier. */
	for (uint32_t i = 0; i < 20; i++)
		wake(p, 1, 301);
	assert_int_equal(p->verdict, DISCOVER_BARRIER);
	meet_often(p, 20, 4, 1, 300, 201);
	assert_int_equal(p->verdict, DISCOVER_OTHER);
	check_unseen(p, 0, 0);
}

/* After discover_end_kind() for futexes, barriers on condition variables are still known. */
static void test_end_of_futexes(void **state)
{
	struct play *p = *state;

	meet_often(p, 5, 4, IN_TURN, 100, 101);
	discover_end_kind(p->d, 1, 7, true);
	assert_true(discover_has(p->d, 1, 7, p->object));
	discover_end_kind(p->d, 1, 7, false);
	assert_false(discover_has(p->d, 1, 7, p->object));
	finish(p);
}

/*
 * One of several processes has no probes at first. Its waits are gaps in the sequence of counts,
 * and waits that it ends seem to end without a waking.
 */
static void test_some_unseen(void **state)
{
	struct play *p = *state;
	uint32_t count = 0;

	meet_counted(p, 4, 4, 3, &count); /* threads 1 and 2 wait unseen */
	/* thread 1 waits unseen, and the unseen thread 2 wakes threads 3 and 4 */
	meet_counted(p, 4, 2, 3, &count);
	meet_often_counted(p, 10, &count);
	check_unseen(p, 2 + 1 + 2, 0);
}

/*
 * An object that is known by its code is a barrier from the first wait on. Waits in progress at
 * that time do not count as unseen.
 */
static void test_unseen_of_known_code(void **state)
{
	struct play *p = *state;
	uint32_t count = 0, other = 0;

	meet_often_counted(p, 5, &count);
	p->object = 0x2000;
	p->flags = DISCOVER_COUNT;
	wake(p, 1, 101);
	p->value = 2;
	waited(p, 4, 100);
	p->value = 0;
	waited(p, 2, 100);
	p->value = 1;
	waited(p, 3, 100);
	p->flags = 0;
	assert_int_equal(p->barriers, 2);
	/*
	 * waits of another process, which begin after the object was found and continue its count
	 */
	other = 9;
	meet_counted(p, 4, 2, 0, &other);
	check_unseen(p, 0, 0);
}

/*
 * In musl the values always begin with the same number. Such values, and values that occur twice,
 * are no count.
 */
static void test_no_count(void **state)
{
	struct play *p = *state;

	p->flags = DISCOVER_COUNT | DISCOVER_BLIND;
	p->lock = true;
	p->value = UINT32_MAX;
	meet_often(p, 10, 4, IN_TURN, 100, 101);
	check_unseen(p, 0, 1);
}

static void test_unread(void **state)
{
	struct play *p = *state;
	uint32_t count = 3;

	/* A probe cannot read a page that was never touched. */
	meet(p, 4, 1, 100, 101);
	for (uint32_t i = 1; i < 10; i++)
		meet_counted(p, 4, 1 + i % 4, 0, &count);
	check_unseen(p, 0, 0);
}

/*
 * Unseen waits are reported during tracing, as soon as the waits that began before the barrier was
 * found are over.
 */
static void test_unseen_in_time(void **state)
{
	struct play *p = *state;

	found_and_settled(p, 3);
	assert_int_equal(discover_unseen(p->d).waits, 3);
	check_unseen(p, 3, 0);
}

static void test_spurious_is_seen(void **state)
{
	struct play *p = *state;

	meet_often(p, 5, 3, 1, 100, 101);
	p->now += 5000;
	waited(p, 2, 100); /* not woken */
	waited(p, 2, 100);
	wake(p, 1, 101);
	waited(p, 2, 100);
	waited(p, 3, 100);
	check_unseen(p, 0, 0);
}

/*
 * For a long time the tracer does not see the other processes, so the rounds of this process alone
 * follow no rule. The object is classified anew as soon as the other processes are traced.
 */
static void test_process_that_comes_late(void **state)
{
	struct play *p = *state;
	uint64_t before;

	p->shared = 77;
	for (uint32_t i = 0; i < 40; i++)
		waited(p, 1, 100);
	assert_int_equal(p->verdict, DISCOVER_OTHER);
	p->tgid = 2;
	before = p->taken;
	meet_often(p, 10, 3, IN_TURN, 100, 101);
	assert_int_equal(p->verdict, DISCOVER_BARRIER);
	finish(p);
	assert_int_equal(p->taken - before, 30);
}

/*
 * A process gets its probes on waits before its probes on wakings. So the rounds that it ends until
 * then have no waking, and follow no rule. The object is classified anew at the first waking of the
 * process.
 */
static void test_wakings_seen_later(void **state)
{
	struct play *p = *state;

	p->shared = 77;
	for (uint32_t i = 0; i < 40; i++)
		waited(p, 1, 100);
	p->tgid = 2;
	for (uint32_t i = 0; i < 40; i++) {
		waited(p, 2, 100);
		p->tgid = 1;
		waited(p, 1, 100);
		p->tgid = 2;
	}
	assert_int_equal(p->verdict, DISCOVER_OTHER);
	meet_often(p, 10, 3, IN_TURN, 100, 101);
	assert_int_equal(p->verdict, DISCOVER_BARRIER);
	finish_taken(p, 30);
}

/*
 * More threads cross than when the barrier was found. The current episode has already begun, so the
 * new number of threads is reported only for the next episode.
 */
static void test_more_come(void **state)
{
	struct play *p = *state;

	meet_often(p, 4, 3, IN_TURN, 100, 101);
	assert_int_equal(p->team, 0);
	/* The new thread is the last of the waiting threads to arrive. */
	meet(p, 4, 1, 100, 101);
	assert_int_equal(p->team, 0);
	meet(p, 4, 2, 100, 101);
	assert_int_equal(p->team, 4);
	meet(p, 4, 3, 100, 101);
	assert_int_equal(p->team, 0);
	finish_taken(p, 24);
}

/*
 * As in test_more_come(), but the new thread's record comes before the other threads have left. So
 * the number of threads is known when the episode is over.
 */
static void test_more_come_at_once(void **state)
{
	struct play *p = *state;
	uint64_t before;

	meet_often(p, 4, 3, IN_TURN, 100, 101);
	before = p->taken;
	wake(p, 1, 101);
	waited(p, 4, 100);
	waited(p, 2, 100);
	waited(p, 3, 100);
	assert_int_equal(p->taken, before);
	wake(p, 2, 101);
	assert_fields(p, IS(taken, before + 4), IS(team, 4));
	waited(p, 1, 100);
	waited(p, 3, 100);
	waited(p, 4, 100);
	assert_int_equal(p->team, 0);
	finish_taken(p, before + 8);
}

/*
 * At an upper node of a tree the number of threads stays the same, but the threads change. The
 * number of threads is passed on for all rounds, or for none.
 */
static void test_others_come(void **state)
{
	struct play *p = *state;
	uint64_t before;

	meet_often(p, 4, 3, IN_TURN, 100, 101);
	p->object = 0x2000;
	before = p->taken;
	for (uint32_t i = 0; i < 9; i++) {
		wake(p, 1 + i % 3, 101);
		for (uint32_t k = 1; k < 3; k++)
			waited(p, 1 + 3 * k + (i + k) % 3, 100);
		assert_int_equal(p->team, 0);
	}
	finish(p);
	assert_int_equal(p->team, 0);
	assert_int_equal(p->taken - before, 27);
}

static void test_more_come_to_a_futex(void **state)
{
	struct play *p = *state;

	p->flags = DISCOVER_FUTEX;
	meet_often(p, 6, 3, IN_TURN, 100, 101);
	assert_int_equal(p->team, 3);
	meet_often(p, 3, 4, IN_TURN, 100, 101);
	assert_int_equal(p->team, 4);
	finish_taken(p, 30);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_two_functions),
		TEST(test_two_functions_of_a_pool),
		TEST(test_woken_one_by_one),
		TEST(test_lock_on_a_condition),
		TEST(test_turns),
		TEST(test_slow_turns),
		TEST(test_rounds_are_no_turns),
		TEST(test_all_seen),
		TEST(test_first_rounds_unseen),
		TEST(test_older_object),
		TEST(test_older_and_blind),
		TEST(test_original_comes_later),
		TEST(test_unseen_of_no_barrier),
		TEST(test_end_of_futexes),
		TEST(test_some_unseen),
		TEST(test_unseen_of_known_code),
		TEST(test_no_count),
		TEST(test_unread),
		TEST(test_unseen_in_time),
		TEST(test_spurious_is_seen),
		TEST(test_process_that_comes_late),
		TEST(test_wakings_seen_later),
		TEST(test_more_come),
		TEST(test_more_come_at_once),
		TEST(test_others_come),
		TEST(test_more_come_to_a_futex),
		TEST(test_rotating),
		TEST(test_same_waker),
		TEST(test_first_round_irregular),
		TEST(test_same_code),
		TEST(test_same_code_with_fewer_threads),
		TEST(test_fewer_threads_until_the_end),
		TEST(test_pair_of_known_code),
		TEST(test_members_differ_in_known_code),
		TEST(test_spurious),
		TEST(test_timeouts),
		TEST(test_only_timeouts),
		TEST(test_team_changes),
		TEST(test_slow_to_leave),
		TEST(test_futex_same_function),
		TEST(test_futex_functions_unknown),
		TEST(test_futex_wrapper),
		TEST(test_futex_convoy),
		TEST(test_futex_convoy_after),
		TEST(test_futex_counting_down),
		TEST(test_futex_again),
		TEST(test_futex_late_wakes_next),
		TEST(test_futex_late_before_others_leave),
		TEST(test_futex_late_at_first),
		TEST(test_futex_early_not_late),
		TEST(test_futex_wakes_one),
		TEST(test_two_threads),
		TEST(test_two_are_a_candidate),
		TEST(test_pool),
		TEST(test_inlining_unknown),
		TEST(test_functions_unknown),
		TEST(test_queue),
		TEST(test_signalled),
		TEST(test_waker_waits),
		TEST(test_broadcast_to_nobody),
		TEST(test_once),
		TEST(test_error_is_undone),
		TEST(test_many_functions),
		TEST(test_episode_in_two_functions),
		TEST(test_one_is_missing),
		TEST(test_two_phases),
		TEST(test_two_phases_late),
		TEST(test_two_phases_late_at_last),
		TEST(test_two_phases_in_a_tight_loop),
		TEST(test_no_second_phase_in_line),
		TEST(test_no_second_phase),
		TEST(test_no_second_phase_of_a_thread_that_works),
		TEST(test_second_phase_that_lasts),
		TEST(test_second_phase_that_is_short),
		TEST(test_second_phase_waited_for_once),
		TEST(test_second_phase_late_after_all),
		TEST(test_other_barrier_of_the_function),
		TEST(test_many_functions_same_waker),
		TEST(test_one_function_same_waker),
		TEST(test_start_signal),
		TEST(test_one_end),
		TEST(test_one_end_one_waker),
		TEST(test_one_code),
		TEST(test_give_up),
		TEST(test_many_objects),
		TEST(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
