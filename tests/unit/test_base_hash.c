// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "base/hash.h"

static void test_empty(void **state)
{
	struct hash h CLEANUP(hash_free);
	struct hash_entry zero;
	uint64_t v = 42;
	size_t pos = 0;

	hash_init(&h);
	assert_false(hash_get(&h, 1, &v));
	assert_false(hash_get(&h, 0, &v));
	assert_int_equal(v, 42);
	assert_false(hash_del(&h, 1));
	assert_false(hash_del(&h, 0));
	assert_int_equal(hash_count(&h), 0);
	assert_null(hash_next(&h, &pos, &zero));
	assert_null(hash_get_ptr(&h, 5));
}

static void test_put_replaces(void **state)
{
	struct hash h = { 0 };
	uint64_t v;

	assert_int_equal(hash_put(&h, 7, 1), 0);
	assert_int_equal(hash_put(&h, 7, 2), 0);
	assert_int_equal(hash_count(&h), 1);
	assert_true(hash_get(&h, 7, &v));
	assert_int_equal(v, 2);
	hash_free(&h);
	assert_int_equal(hash_count(&h), 0);
}

/* 0 marks a free slot of the table, and still works as a key. */
static void test_zero_key(void **state)
{
	struct hash h CLEANUP(hash_free) = { 0 };
	struct hash_entry zero;
	const struct hash_entry *e;
	uint64_t v;
	size_t pos = 0;

	assert_int_equal(hash_put(&h, 0, 9), 0);
	assert_true(hash_get(&h, 0, &v));
	assert_int_equal(v, 9);
	assert_int_equal(hash_put(&h, UINT64_MAX, 8), 0);
	assert_int_equal(hash_count(&h), 2);
	e = hash_next(&h, &pos, &zero);
	assert_non_null(e);
	assert_int_equal(e->key, 0);
	e = hash_next(&h, &pos, &zero);
	assert_non_null(e);
	assert_true(e->key == UINT64_MAX);
	assert_null(hash_next(&h, &pos, &zero));
	assert_true(hash_del(&h, 0));
	assert_false(hash_get(&h, 0, &v));
}

static void test_pointers(void **state)
{
	struct hash h CLEANUP(hash_free) = { 0 };
	int x;

	assert_int_equal(hash_put_ptr(&h, 3, &x), 0);
	assert_ptr_equal(hash_get_ptr(&h, 3), &x);
}

#define KEYS 512

/*
 * Compare the table with a plain array, with many deletions: entries after a hole are still found.
 */
static void test_random_against_array(void **state)
{
	static uint64_t value[KEYS];
	static bool there[KEYS];
	struct hash h CLEANUP(hash_free) = { 0 };
	struct hash_entry zero;
	uint64_t x = 12345, v;
	size_t n = 0, pos, walked;
	unsigned k;

	memset(there, 0, sizeof(there));
	for (unsigned i = 0; i < 200000; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		k = (x >> 33) % KEYS;
		if ((x >> 60) < 9) {
			assert_int_equal(hash_put(&h, k, x), 0);
			n += !there[k];
			there[k] = true;
			value[k] = x;
		} else {
			assert_int_equal(hash_del(&h, k), there[k]);
			n -= there[k];
			there[k] = false;
		}
		assert_int_equal(hash_count(&h), n);
		k = (x >> 20) % KEYS;
		assert_int_equal(hash_get(&h, k, &v), there[k]);
		if (there[k])
			assert_int_equal(v, value[k]);
	}
	for (k = 0; k < KEYS; k++)
		assert_int_equal(hash_get(&h, k, &v), there[k]);
	for (pos = 0, walked = 0; hash_next(&h, &pos, &zero); walked++)
		;
	assert_int_equal(walked, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_put_replaces),
		cmocka_unit_test(test_zero_key),
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_random_against_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
