// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check many threads. Each thread is found by its number, even if many thread numbers end in the
 * same digits. The members of large episodes are in order.
 */
#include "test_model_util.h"

#define A      0x1000
#define MOST   1000
#define ROUNDS 3

static void put(struct run *r, uint32_t inc, uint32_t tid, uint32_t seq, uint64_t arrive,
		uint64_t depart, uint32_t count)
{
	struct model_crossing c = crossing(tid, A, count, arrive, depart);

	c.inc = inc;
	c.seq = seq;
	/* A hint changes nothing, whichever thread it names. */
	model_expect(r->model, tid);
	model_expect(r->model, tid * 7919 + inc);
	assert_int_equal(model_add_crossing(r->model, &c), 0);
}

/*
 * Return the number of thread @i. The numbers of odd @i have the same last 20 bits, so they collide
 * in any hash table with fewer entries than a million. The other numbers are consecutive.
 */
static uint32_t tid_of(uint32_t i)
{
	return i % 2 ? 1 + (i << 20) : 5000 + i;
}

static void test_numbers(void **state)
{
	struct run *r = *state;
	const struct model_thread *t;
	uint32_t index;

	for (uint32_t inc = 1; inc <= 2; inc++)
		assert_int_equal(model_add_process(r->model, PID, inc, 0, 0, 0, true, "p"), 0);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < MOST; i++)
			for (uint32_t inc = 1; inc <= 2; inc++)
				put(r, inc, tid_of(i), round + 1, 100 + 1000 * round,
				    500 + 1000 * round, MOST);
	for (uint32_t i = 0; i < MOST; i++)
		for (uint32_t inc = 1; inc <= 2; inc++) {
			index = model_find_thread(r->model, PID, inc, tid_of(i));
			assert_int_not_equal(index, MODEL_NONE);
			t = model_thread(r->model, index);
			assert_int_equal(t->tid, tid_of(i));
			assert_int_equal(model_proc(r->model, t->proc)->inc, inc);
			assert_int_equal(t->crossings, ROUNDS);
		}
	assert_int_equal(model_nthreads(r->model), 2 * MOST);
	assert_int_equal(model_totals(r->model)->lost, 0);
	assert_int_equal(model_find_thread(r->model, PID, 1, 4999), MODEL_NONE);
	assert_int_equal(model_find_thread(r->model, PID, 3, 5000), MODEL_NONE);
	assert_int_equal(model_find_thread(r->model, PID + 1, 1, 5000), MODEL_NONE);
}

/* A reused number belongs to the new thread, however many threads follow. */
static void test_number_again(void **state)
{
	struct run *r = *state;
	const struct model_thread *t;
	uint32_t old, index;

	put(r, INC, 64, 1, 10, 20, 1);
	old = model_find_thread(r->model, PID, INC, 64);
	assert_int_equal(model_end_thread(r->model, PID, INC, 64, 30, NULL), 0);
	assert_int_equal(model_add_thread(r->model, PID, INC, 64, 40), 0);
	for (uint32_t i = 0; i < MOST; i++) {
		put(r, INC, 64, i + 1, 50 + 10 * i, 55 + 10 * i, 1);
		/* More and more thread numbers end in the same digits. */
		put(r, INC, 64 + ((i + 1) << 12), 1, 50 + 10 * i, 55 + 10 * i, 1);
		index = model_find_thread(r->model, PID, INC, 64);
		assert_int_not_equal(index, old);
	}
	t = model_thread(r->model, index);
	assert_int_equal(t->crossings, MOST);
	assert_int_equal(model_thread(r->model, old)->crossings, 1);
	assert_int_equal(model_totals(r->model)->lost, 0);
}

/*
 * Members are ordered by arrival. Members that arrived at the same instant are ordered by
 * departure.
 */
static void meet(uint32_t n, uint64_t within)
{
	uint64_t random = 88172645463325252ull + n, arrive[MOST];
	const struct model_member *mem;
	struct run *r = run_new(0);

	run_launched(r, 0);
	for (uint32_t i = 0; i < n; i++) {
		arrive[i] = 1000 + rnd_to(&random, within);
		put(r, INC, 1 + i, 1, arrive[i], 100000 + i, n);
	}
	assert_int_equal(model_finish(r->model, 200000), 0);
	assert_fields(r, IS(nkept, 1), IS(kept[0].ep.n, n), IS(kept[0].ep.state, MODEL_COMPLETE));
	mem = r->kept[0].members;
	for (uint32_t i = 0; i < n; i++) {
		assert_fields(&mem[i], IS(arrive_ns, arrive[mem[i].tid - 1]),
			      IS(depart_ns, 100000 + mem[i].tid - 1));
		if (!i)
			continue;
		assert_true(mem[i - 1].arrive_ns <= mem[i].arrive_ns);
		if (mem[i - 1].arrive_ns == mem[i].arrive_ns)
			assert_true(mem[i - 1].tid < mem[i].tid);
	}
	run_free(r);
}

static void test_order(void **state)
{
	for (uint32_t n = 1; n <= 130; n++) {
		meet(n, 5000);
		meet(n, 8);
	}
	meet(MOST, 5000);
	meet(MOST, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		empty_run_test(test_numbers),
		launched_test(test_number_again),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
