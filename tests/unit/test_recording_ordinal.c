// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check what the counting of calls on a communicator does if memory runs out. */
#include "test_check.h"

#include <errno.h>

#include "base/hash.h"

static int fails; /* which of the next calls of hash_put() fails, from 1; 0: none */

static int failing_put(struct hash *h, uint64_t key, uint64_t value)
{
	if (fails && !--fails)
		return -ENOMEM;
	return hash_put(h, key, value);
}

#define hash_put failing_put
#include "recording/ordinal.c"

/* Take a crossing with this sequence number, of a process traced from its beginning. */
static int take(struct ordinals *o, uint32_t seq, int failing)
{
	const struct model_crossing x = { .tgid = 1, .tid = 1, .seq = seq };
	const struct model_input process = { .type = MODEL_INPUT_PROCESS,
					     .tgid = 1,
					     .process.seen = true };
	const struct model_input in = { .type = MODEL_INPUT_CROSSING, .crossing = &x };
	uint64_t ordinal;

	fails = 0;
	assert_int_equal(ordinals_take(o, &process, &ordinal), 0);
	fails = failing;
	return ordinals_take(o, &in, &ordinal);
}

static void test_out_of_memory(void **state)
{
	struct ordinals o = { 0 };

	(void)state;
	assert_int_equal(take(&o, 1, 0), 0);
	assert_int_equal(take(&o, 2, 1), -ENOMEM);
	/*
	 * Before each of these records, another record was lost. Storing the loss takes another
	 * call of hash_put().
	 */
	assert_int_equal(take(&o, 4, 0), 0);
	assert_int_equal(take(&o, 6, 1), -ENOMEM);
	assert_int_equal(take(&o, 8, 2), -ENOMEM);
	ordinals_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
