// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check how records of a process that is no longer traced are handled, before and after the cutoff.
 */
#include "test_check.h"
#include "ingest/cutoffs.c"

#define PID	100
#define INC	7
#define UNTIL	1000
#define PTHREAD SBT_PROBE_GROUP(SBT_FAMILY_PTHREAD)
#define COND	SBT_PROBE_GROUP(SBT_FAMILY_COND)
#define HOT	(SBT_PROBE_GROUPS_USER + 1)

/* Return a crossing. If @depart is 0, the departure was not seen. */
static struct sbt_crossing crossing(uint8_t family, uint64_t arrive, uint64_t depart,
				    uint16_t flags)
{
	return (struct sbt_crossing){
		.tgid = PID,
		.inc = INC,
		.family = family,
		.type = SBT_REC_CROSSING,
		.arrive_ns = arrive,
		.depart_ns = depart,
		.flags = flags,
	};
}

static int add(void **state, uint64_t probe_groups, uint64_t t_ns)
{
	return cutoffs_add(*state, PID, INC, probe_groups, t_ns);
}

static enum cutoff_fate fate(void **state, uint64_t arrive, uint64_t depart, uint16_t flags)
{
	struct sbt_crossing c = crossing(SBT_FAMILY_PTHREAD, arrive, depart, flags);

	return cutoffs_fate(*state, &c);
}

static bool is_detached(void **state, uint8_t probe_group, uint64_t arrive)
{
	struct sbt_crossing c = crossing(SBT_FAMILY_NONE, arrive, arrive + 5, 0);

	return cutoffs_is_detached(*state, &c, probe_group);
}

static int begin(void **state)
{
	*state = calloc(1, sizeof(struct cutoffs));
	return *state ? 0 : -1;
}

static int end(void **state)
{
	cutoffs_free(*state);
	free(*state);
	return 0;
}

static void test_whole(void **state)
{
	struct sbt_crossing other = crossing(SBT_FAMILY_PTHREAD, UNTIL + 1, UNTIL + 2, 0);

	assert_int_equal(fate(state, UNTIL + 1, UNTIL + 2, 0), CUTOFF_FED);
	assert_int_equal(add(state, MODEL_DETACHED_WHOLE, UNTIL), 0);
	assert_int_equal(fate(state, 900, UNTIL, 0), CUTOFF_FED);
	assert_int_equal(fate(state, UNTIL, UNTIL + 1, 0), CUTOFF_INSIDE);
	assert_int_equal(fate(state, UNTIL + 1, UNTIL + 2, 0), CUTOFF_GONE);
	/*
	 * The thread abandoned the wait before or after the cutoff. The record has the time when
	 * the tracer detected this.
	 */
	assert_int_equal(fate(state, 900, 950, SBT_CROSSING_ABANDONED), CUTOFF_FED);
	assert_int_equal(fate(state, 900, UNTIL + 1, SBT_CROSSING_ABANDONED), CUTOFF_INSIDE);
	/* At the end of a region the departure is never seen. */
	assert_int_equal(fate(state, 900, 0, SBT_CROSSING_NO_DEPART), CUTOFF_FED);
	/* The same process runs another program. */
	other.inc++;
	assert_int_equal(cutoffs_fate(*state, &other), CUTOFF_FED);
	/* If a cutoff is repeated, the first time counts. */
	assert_int_equal(add(state, MODEL_DETACHED_WHOLE, UNTIL + 100), 0);
	assert_int_equal(fate(state, UNTIL + 1, UNTIL + 2, 0), CUTOFF_GONE);
}

static void test_parts(void **state)
{
	struct sbt_crossing c = crossing(SBT_FAMILY_COND, 900, 0, SBT_CROSSING_ABANDONED);

	assert_int_equal(add(state, PTHREAD, UNTIL), 0);
	assert_false(cutoffs_of_part(*state, &c, c.family));
	assert_int_equal(add(state, PTHREAD | COND, UNTIL + 100), 0);
	assert_true(cutoffs_of_part(*state, &c, c.family));
	assert_false(is_detached(state, SBT_FAMILY_PTHREAD, UNTIL));
	assert_true(is_detached(state, SBT_FAMILY_PTHREAD, UNTIL + 1));
	assert_false(is_detached(state, SBT_FAMILY_COND, UNTIL + 100));
	assert_true(is_detached(state, SBT_FAMILY_COND, UNTIL + 101));
	assert_false(is_detached(state, SBT_FAMILY_GOMP, UNTIL + 101));
	/* Only a probe group was cut off: the process itself is still traced. */
	assert_int_equal(fate(state, UNTIL + 1, UNTIL + 2, 0), CUTOFF_FED);
	assert_int_equal(add(state, MODEL_DETACHED_WHOLE, UNTIL + 200), 0);
	assert_int_equal(fate(state, UNTIL + 201, UNTIL + 202, 0), CUTOFF_GONE);
	assert_true(is_detached(state, SBT_FAMILY_PTHREAD, UNTIL + 1));
}

/* One function of a family is detached. The other functions of its family stay. */
static void test_functions(void **state)
{
	struct sbt_crossing c = crossing(SBT_FAMILY_USER, 900, 0, SBT_CROSSING_ABANDONED);

	assert_int_equal(add(state, SBT_PROBE_GROUP(HOT), UNTIL), 0);
	assert_false(is_detached(state, HOT, UNTIL));
	assert_true(is_detached(state, HOT, UNTIL + 1));
	assert_false(is_detached(state, HOT + 1, UNTIL + 1));
	assert_false(is_detached(state, SBT_PROBE_GROUPS - 1, UNTIL + 1));
	assert_false(is_detached(state, SBT_FAMILY_USER, UNTIL + 1));
	assert_true(cutoffs_of_part(*state, &c, HOT));
	assert_false(cutoffs_of_part(*state, &c, HOT + 1));
	assert_int_equal(add(state, SBT_PROBE_GROUP(SBT_PROBE_GROUPS - 1), UNTIL + 10), 0);
	assert_true(is_detached(state, SBT_PROBE_GROUPS - 1, UNTIL + 11));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, begin, end),
		cmocka_unit_test_setup_teardown(test_parts, begin, end),
		cmocka_unit_test_setup_teardown(test_functions, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
