// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check the merge order of rings: it finds the same next ring as a linear search, for any number of
 * rings ("players").
 */
#include <stdlib.h>

#include "test_check.h"
#include "ingest/merge_order.h"

#define MOST 70

struct player {
	uint32_t source;
	uint64_t key_ns;
	unsigned int left; /* number of keys that still follow */
};

static uint64_t state = 88172645463325252ull;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Return the player with the earliest key. In a tie, return the last of these players. */
static struct player *find_first(struct player *p, uint32_t n)
{
	struct player *first = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (p[i].left && (!first || p[i].key_ns <= first->key_ns))
			first = &p[i];
	return first;
}

static void play(struct merge_order *t, uint32_t n)
{
	struct player p[MOST], *first;
	uint32_t source;

	merge_order_clear(t);
	for (uint32_t i = 0; i < n; i++) {
		p[i] = (struct player){ 3 * i + 1, rnd() % 16, 1 + (unsigned int)(rnd() % 9) };
		/* Sometimes use the largest possible key, which is valid, too. */
		if (rnd() % 8 == 0)
			p[i].key_ns = UINT64_MAX;
		merge_order_add(t, p[i].source, p[i].key_ns);
	}
	merge_order_begin(t);
	while ((first = find_first(p, n))) {
		assert_true(merge_order_first(t, &source));
		assert_int_equal(source, first->source);
		if (--first->left) {
			/* Ties are common, and a player's clock may go back. */
			first->key_ns += rnd() % 3;
			first->key_ns -= first->key_ns && rnd() % 10 == 0;
			merge_order_next(t, first->key_ns);
		} else {
			merge_order_leave(t);
		}
	}
	assert_false(merge_order_first(t, &source));
}

static void test_as_by_looking(void **unused)
{
	struct merge_order t CLEANUP(merge_order_free);

	assert_int_equal(merge_order_init(&t, MOST), 0);
	for (uint32_t n = 0; n <= MOST; n++)
		for (uint32_t again = 0; again < 50; again++)
			play(&t, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_as_by_looking) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
