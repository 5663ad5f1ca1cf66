// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check which communicator a rank uses, its number of ranks, and its episode number. */
#include "test_check.h"
#include "ingest/ranks.c"

#define WORLD 0x44000000u
#define HALF  0x84000001u
#define INC   7
#define N     4

/* These tests do not look up handles that are addresses. */
int module_offset_to_vaddr(const struct module *m, uint64_t offset, uint64_t *vaddr)
{
	return -ENOENT;
}

struct world {
	struct ranks *ranks;
	uint32_t seq[N]; /* sequence number of the last record, by rank */
};

static uint32_t pid_of(uint32_t rank)
{
	return 100 + rank;
}

static int see(struct world *w, uint32_t rank)
{
	const struct ranks_handles handles = { .addresses = false };
	const struct job job = { .key = 1, .rank = rank, .size = N, .local_size = N };

	return ranks_see(w->ranks, pid_of(rank), INC, &job, &handles);
}

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	if (!w || ranks_new(&w->ranks))
		return -1;
	for (uint32_t i = 0; i < N; i++)
		if (see(w, i) || ranks_began(w->ranks, pid_of(i), INC))
			return -1;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;

	ranks_free(w->ranks);
	free(w);
	return 0;
}

static struct model_crossing cross(struct world *w, uint32_t rank, struct sbt_crossing c)
{
	struct model_crossing m = { .flags = 0 };

	c.tgid = c.tid = pid_of(rank);
	c.inc = INC;
	c.seq = ++w->seq[rank];
	c.family = SBT_FAMILY_MPI;
	assert_int_equal(ranks_crossing(w->ranks, &c, &m), 0);
	return m;
}

static struct model_crossing meet(struct world *w, uint32_t rank, uint64_t handle)
{
	return cross(w, rank, (struct sbt_crossing){ .object = handle });
}

static struct model_crossing split(struct world *w, uint32_t rank)
{
	return cross(w, rank,
		     (struct sbt_crossing){ .object = WORLD,
					    .handle = HALF,
					    .made = rank % 2,
					    .flags = SBT_CROSSING_MAKES });
}

/*
 * One rank crosses in the new communicator before another rank has left the call that creates the
 * communicator.
 */
static void test_split(void **state)
{
	struct world *w = *state;
	struct model_crossing first, last;

	assert_int_equal(split(w, 0).count, N);
	first = meet(w, 0, HALF);
	assert_fields(&first, IS(count, 0), IS(round, 1));
	split(w, 1);
	split(w, 2);
	split(w, 3);
	last = meet(w, 2, HALF);
	assert_fields(&last, IS(count, 2), IS(round, 1));
	assert_true(last.shared == first.shared);
	/* The other half of the ranks has a different communicator with the same handle. */
	last = meet(w, 3, HALF);
	assert_true(last.shared && last.shared != first.shared);
	assert_int_equal(last.round, 1);
	assert_int_equal(meet(w, 0, HALF).round, 2);
	assert_int_equal(meet(w, 0, WORLD).round, 2);
}

/*
 * The first calls of a rank were not recorded. The rank is matched by time, and its new
 * communicators are unknown.
 */
static void test_missed(void **state)
{
	struct world *w = *state;
	struct model_crossing m;
	struct ranks_sums sums;

	assert_int_equal(ranks_missed(w->ranks, pid_of(3), INC), 0);
	/* Information that arrives later does not complete the rank's communicators. */
	assert_int_equal(ranks_began(w->ranks, pid_of(3), INC), 0);
	m = meet(w, 3, WORLD);
	assert_fields(&m, IS(count, N), IS(round, 0));
	split(w, 3);
	m = meet(w, 3, HALF);
	assert_true(!m.shared && m.flags & MODEL_CROSSING_PARTIAL);
	assert_int_equal(meet(w, 0, WORLD).round, 1);
	ranks_sums(w->ranks, &sums);
	assert_fields(&sums, IS(unknown, 1), IS(unseen, 0));
}

/* A record was lost, or a call never returned. From then on the rank is matched by time. */
static void test_lost(void **state)
{
	struct world *w = *state;

	assert_int_equal(meet(w, 0, WORLD).round, 1);
	w->seq[0]++;
	assert_int_equal(meet(w, 0, WORLD).round, 0);
	assert_int_equal(meet(w, 0, WORLD).round, 0);
	cross(w, 1, (struct sbt_crossing){ .object = WORLD, .flags = SBT_CROSSING_ABANDONED });
	assert_int_equal(meet(w, 1, WORLD).round, 0);
	assert_int_equal(meet(w, 2, WORLD).round, 1);
}

/* The process ended before its rank was known. */
static void test_gone(void **state)
{
	struct world *w = *state;
	struct sbt_crossing c = { .tgid = 99, .tid = 99, .inc = INC, .seq = 1, .object = WORLD };
	struct model_crossing m = { .flags = 0 };
	struct ranks_sums sums;

	c.family = SBT_FAMILY_MPI;
	assert_int_equal(ranks_crossing(w->ranks, &c, &m), 0);
	assert_true(!m.shared && m.flags & MODEL_CROSSING_PARTIAL);
	ranks_sums(w->ranks, &sums);
	assert_fields(&sums, IS(unseen, 1), IS(no_job, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_split, begin, end),
		cmocka_unit_test_setup_teardown(test_missed, begin, end),
		cmocka_unit_test_setup_teardown(test_lost, begin, end),
		cmocka_unit_test_setup_teardown(test_gone, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
