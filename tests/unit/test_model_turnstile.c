// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_check.h"
#include "model/turnstile.h"

static struct turnstiles *all;
static uint64_t now;

static int set_up(void **state)
{
	all = turnstiles_new();
	now = 1000000;
	return all ? 0 : -1;
}

static int tear_down(void **state)
{
	turnstiles_free(all);
	return 0;
}

static bool waited(uint64_t object, uint32_t tid, uint64_t arrive, uint64_t depart)
{
	return turnstiles_add(all, &(struct turnstile_wait){ .tgid = 1,
							     .inc = 7,
							     .tid = tid,
							     .site = 5,
							     .object = object,
							     .arrive_ns = arrive,
							     .depart_ns = depart });
}

static void find(void *ctx, const struct turnstile *o)
{
	*(struct turnstile *)ctx = *o;
}

static struct turnstile the_one(void)
{
	struct turnstile o = { 0 };

	turnstiles_each(all, find, &o);
	return o;
}

/*
 * Let threads 1 to @n except @last wait, and leave one after the other. If @through, the last
 * thread has to wait as well.
 */
static void meet(uint64_t object, uint32_t n, uint32_t last, bool through)
{
	uint64_t open = now + 10000;

	for (uint32_t tid = 1; tid <= n; tid++)
		if (tid != last)
			waited(object, tid, now + tid, open + 100 * tid);
	if (through)
		waited(object, last, open + 150, open + 100 * (n + 1));
	now = open + 100 * (n + 2);
}

static void test_episodes(void **state)
{
	struct turnstile o;

	for (uint32_t i = 0; i < 20; i++)
		meet(0x1000, 4, 1 + i % 4, i % 2);
	o = the_one();
	assert_fields(&o, IS(batches, 19), IS(loose, 0), IS(threads, 4));
	assert_true(turnstile_is(&o));
}

/*
 * In each episode only two threads wait, as two threads that take from a queue often do. So
 * recognition needs more episodes than if more threads wait.
 */
static void test_two_wait(void **state)
{
	struct turnstile o;

	for (uint32_t i = 0; i < 8; i++)
		meet(0x1000, 3, 3, false);
	o = the_one();
	assert_false(turnstile_is(&o));
	meet(0x1000, 3, 3, false);
	o = the_one();
	assert_true(turnstile_is(&o));
}

static void count_kept(void *ctx, const struct turnstile *o)
{
	*(uint32_t *)ctx += turnstile_is(o);
}

/* Each thread gets the lock from its predecessor, and at once waits for the lock again. */
static void test_lock(void **state)
{
	uint32_t kept = 0;

	for (uint32_t n = 2; n <= 6; n++)
		for (uint32_t i = 0; i < 40; i++)
			waited(0x1000ULL * n, 1 + i % n, i < n ? 0 : 1000ULL * (i - n + 1) + 10,
			       1000ULL * (i + 1));
	turnstiles_each(all, count_kept, &kept);
	assert_int_equal(kept, 0);
}

/* Threads leave one at a time, as at a queue. */
static void test_queue(void **state)
{
	struct turnstile o;

	for (uint32_t i = 0; i < 40; i++, now += 1000)
		waited(0x1000, 1 + i % 2, now, now + 900);
	o = the_one();
	assert_int_equal(o.batches, 0);
	assert_false(turnstile_is(&o));
}

static void test_enough(void **state)
{
	uint32_t i;
	bool more = true;

	for (i = 0; i < 1000 && more; i++, now += 1000)
		more = waited(0x1000, 1, now, now + 900);
	assert_false(more);
	assert_in_range(i, 64, 999);
}

/* There are too many objects. Objects without evidence are discarded. */
static void test_many(void **state)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < 20; i++)
		meet(0x10, 4, 1 + i % 4, true);
	for (uint32_t i = 0; i < 100000; i++)
		waited(0x1000 + 16ULL * i, 1, now, now + 900);
	turnstiles_each(all, count_kept, &kept);
	assert_int_equal(kept, 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_episodes), TEST(test_two_wait), TEST(test_lock),
		TEST(test_queue),    TEST(test_enough),	  TEST(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
