// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check which probes can be distinguished if the kernel passes no number with a probe. */
#include <errno.h>
#include <string.h>

#include "test_check.h"
#include "attach/probe_sites.h"

#define AT(page, probe_site) ((page)*4096ULL + (probe_site))

static int add(struct probe_sites *p, uint64_t ino, uint64_t offset, uint64_t code, uint32_t number,
	       bool *shared)
{
	struct probe_sites_probe probe = { .dev = 1,
					   .ino = ino,
					   .offset = offset,
					   .code = code,
					   .has_code = probe_sites_code_fits(offset),
					   .number = number };

	return probe_sites_add(p, &probe, shared);
}

static uint32_t asked_for(const struct probe_sites *p, uint64_t offset)
{
	uint32_t at = 0, n = 0;

	while (probe_sites_next(p, offset, &at))
		n++;
	return n;
}

static void test_probe_site_alone(void **state)
{
	struct probe_sites p CLEANUP(probe_sites_free) = { .n = 0 };
	bool shared;

	assert_int_equal(add(&p, 10, AT(3, 0x120), 1, 0, &shared), 0);
	assert_false(shared);
	/* A probe at another position, and a probe for the same purpose in another file. */
	assert_int_equal(add(&p, 10, AT(7, 0x180), 2, 4, &shared), 0);
	assert_false(shared);
	assert_int_equal(add(&p, 11, AT(9, 0x120), 3, 0, &shared), 0);
	assert_false(shared);
	/* A probe that is requested again is the same probe. */
	assert_int_equal(add(&p, 10, AT(3, 0x120), 1, 0, &shared), 0);
	assert_int_equal(asked_for(&p, AT(0, 0x120)), 2);
	assert_int_equal(asked_for(&p, AT(0, 0x180)), 1);
	assert_int_equal(asked_for(&p, AT(0, 0x181)), 0);
}

static void test_code_of_each_probe(void **state)
{
	struct probe_sites p CLEANUP(probe_sites_free) = { .n = 0 };
	uint32_t at = 0, seen = 0;
	const struct probe_sites_probe *probe;
	bool shared;

	assert_int_equal(add(&p, 10, AT(3, 0x120), 1, 0, &shared), 0);
	assert_int_equal(add(&p, 11, AT(5, 0x120), 2, 4, &shared), 0);
	assert_true(shared);
	assert_int_equal(add(&p, 12, AT(5, 0x120), 3, 4, &shared), 0);
	assert_true(shared);
	while ((probe = probe_sites_next(&p, AT(0, 0x120), &at)))
		seen |= 1u << probe->code;
	assert_int_equal(seen, 1 << 1 | 1 << 2 | 1 << 3);
	/*
	 * The same code in a third file is allowed for the same purpose, and refused for another
	 * purpose.
	 */
	assert_int_equal(add(&p, 13, AT(5, 0x120), 2, 4, &shared), 0);
	assert_int_equal(add(&p, 14, AT(5, 0x120), 2, 0, &shared), -EADDRINUSE);
	assert_int_equal(add(&p, 10, AT(3, 0x120), 1, 9, &shared), -EADDRINUSE);
	assert_int_equal(asked_for(&p, AT(0, 0x120)), 4);
}

static void test_end_of_page(void **state)
{
	struct probe_sites p CLEANUP(probe_sites_free) = { .n = 0 };
	uint32_t last = SBT_PAGE_PROBE_SITES - SBT_BREAKPOINT_BYTES - SBT_CODE_BYTES;
	bool shared;

	assert_true(probe_sites_code_fits(AT(2, last)));
	assert_false(probe_sites_code_fits(AT(2, last + 1)));
	assert_int_equal(add(&p, 10, AT(1, last + 1), 0, 0, &shared), 0);
	assert_int_equal(add(&p, 11, AT(1, last + 1), 0, 0, &shared), 0);
	/* The next page may be unreadable. */
	assert_int_equal(add(&p, 12, AT(1, last + 1), 0, 1, &shared), -EADDRINUSE);
	assert_int_equal(add(&p, 12, AT(2, last), 7, 1, &shared), 0);
	assert_int_equal(add(&p, 13, AT(1, last), 8, 2, &shared), 0);
	assert_true(shared);
}

/* A breakpoint in the code of another probe would change that code. */
static void test_neighbours(void **state)
{
	uint32_t reach = SBT_BREAKPOINT_BYTES + SBT_CODE_BYTES;
	struct probe_sites p CLEANUP(probe_sites_free) = { .n = 0 };
	bool shared;

	/*
	 * If their positions distinguish the probes, they may be as close to each other as they
	 * like.
	 */
	assert_int_equal(add(&p, 10, AT(3, 0x120), 1, 0, &shared), 0);
	assert_int_equal(add(&p, 10, AT(3, 0x121), 2, 1, &shared), 0);
	assert_int_equal(add(&p, 11, AT(3, 0x120), 3, 2, &shared), -EADDRINUSE);
	assert_int_equal(add(&p, 11, AT(3, 0x121), 3, 2, &shared), 0);
	assert_true(shared);
	/*
	 * A probe at an exit must not change the code of another probe either. It is accepted
	 * before that code, after it, or in another file.
	 */
	assert_int_equal(add(&p, 10, AT(3, 0x121 + reach - 1), 0, PROBE_SITES_NONE, &shared),
			 -EADDRINUSE);
	assert_int_equal(add(&p, 10, AT(3, 0x121 + reach), 0, PROBE_SITES_NONE, &shared), 0);
	assert_int_equal(add(&p, 11, AT(3, 0x11f), 0, PROBE_SITES_NONE, &shared), 0);
	assert_int_equal(add(&p, 12, AT(3, 0x124), 0, PROBE_SITES_NONE, &shared), 0);
	assert_false(shared);
	/* The conflicting probe may be the one that was added first. */
	assert_int_equal(add(&p, 13, AT(3, 0x203), 0, PROBE_SITES_NONE, &shared), 0);
	assert_int_equal(add(&p, 13, AT(3, 0x200), 5, 3, &shared), 0);
	assert_int_equal(add(&p, 14, AT(3, 0x200), 6, 4, &shared), -EADDRINUSE);
}

static void test_many(void **state)
{
	struct probe_sites p = { .n = 0 };
	bool shared;

	for (uint32_t i = 0; i < 300; i++)
		assert_int_equal(add(&p, i, AT(i, 0x40), i + 1, i, &shared), 0);
	assert_int_equal(asked_for(&p, 0x40), 300);
	probe_sites_free(&p);
	assert_int_equal(asked_for(&p, 0x40), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe_site_alone),
		cmocka_unit_test(test_code_of_each_probe),
		cmocka_unit_test(test_end_of_page),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
