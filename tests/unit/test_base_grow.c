// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <stdint.h>
#include <stdlib.h>

#include "test_check.h"
#include "base/grow.h"

/* After each step, the array has room for at least that many elements and keeps its contents. */
static void test_room(void **state)
{
	static const struct {
		size_t n, cap;
	} steps[] = { { 0, 4 }, { 4, 4 }, { 5, 8 }, { 3, 8 }, { 9, 16 }, { 100, 128 } };
	uint64_t *a = NULL;
	uint32_t cap = 0;
	size_t i, k, kept = 0;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		assert_int_equal(grow(a, cap, steps[i].n), 0);
		assert_int_equal(cap, steps[i].cap);
		for (k = 0; k < kept; k++)
			assert_int_equal(a[k], k);
		for (; kept < cap; kept++)
			a[kept] = kept;
	}
	free(a);
}

static void test_zeroed(void **state)
{
	uint16_t *a = NULL;
	size_t cap = 0, i;

	assert_int_equal(grow_zeroed(a, cap, 3), 0);
	a[0] = 7;
	assert_int_equal(grow_zeroed(a, cap, 1000), 0);
	assert_int_equal(cap, 1024);
	for (i = 0; i < cap; i++)
		assert_int_equal(a[i], i ? 0 : 7);
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_zeroed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
