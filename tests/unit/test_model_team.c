// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check the query for the threads that last crossed an object, while the model is fed. */
#include "test_model_util.h"

#define A    0x1000
#define B    0x2000
#define MOST 8

/*
 * Check that the team of the object is these tids, in any order. If the list is NULL, the team is
 * unknown.
 */
static struct model_team assert_team(const struct run *r, const struct model_crossing *at,
				     const char *expected)
{
	struct model_team_member members[MOST];
	struct model_team team;
	char words[128], one[16];
	uint32_t i, n = 0;
	bool known = model_team(r->model, at, members, MOST, &team);
	char *word, *save;

	assert_true(known == (expected != NULL));
	if (!known || !expected)
		return team;
	snprintf(words, sizeof(words), "%s", expected);
	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save), n++) {
		for (i = 0; i < team.n; i++) {
			snprintf(one, sizeof(one), "%u", members[i].tid);
			if (!strcmp(one, word))
				break;
		}
		if (i == team.n)
			fail_msg("%s is not of the team", word);
		assert_int_equal(model_thread(r->model, members[i].thread)->tid, members[i].tid);
	}
	assert_int_equal(team.n, n);
	return team;
}

static void test_last_episode(void **state)
{
	struct model_crossing at = crossing(1, A, 0, 0, 0), other = crossing(1, B, 0, 0, 0);
	struct run *r = *state;
	struct model_team team;

	assert_team(r, &at, NULL);
	cross(r, 2, A, 3, 250, 310);
	/* Some threads have arrived and left, but not all are known yet. */
	assert_team(r, &at, "");
	cross_all(r, { 1, A, 3, 100, 320 }, { 3, A, 3, 300, 350 });
	team = assert_team(r, &at, "1 2 3");
	assert_int_equal(team.release_ns, 300);
	assert_int_not_equal(team.barrier, MODEL_NONE);
	assert_false(team.changes);
	assert_team(r, &other, NULL);
	/* Until the next episode is full, the team is unchanged. */
	cross(r, 1, A, 3, 400, 450);
	assert_int_equal(assert_team(r, &at, "1 2 3").release_ns, 300);
	cross_all(r, { 2, A, 3, 410, 450 }, { 3, A, 3, 420, 450 });
	assert_int_equal(assert_team(r, &at, "1 2 3").release_ns, 420);
	/* At the same address, another family or another process has another object. */
	at.family++;
	assert_team(r, &at, NULL);
	at.family--;
	at.inc++;
	assert_team(r, &at, NULL);
}

/*
 * The count is unknown. Threads that left together have crossed together, though only the next
 * arrivals close the episode.
 */
static void test_unknown_count(void **state)
{
	struct model_crossing at = crossing(1, A, 0, 0, 0);
	struct run *r = *state;

	cross_uncounted(r, A);
	assert_int_equal(r->nkept, 0);
	assert_int_equal(assert_team(r, &at, "1 2 3").release_ns, 30);
}

static void test_gone(void **state)
{
	struct model_crossing at = crossing(1, A, 0, 0, 0);
	struct run *r = *state;
	struct model_team_member members[MOST];
	struct model_team team;

	cross_and_replace(r, A);
	assert_true(model_team(r->model, &at, members, MOST, &team));
	assert_int_equal(team.n, 2);
	/* The member is the former thread, not the thread that now has its number. */
	for (uint32_t i = 0; i < 2; i++)
		assert_true(model_thread(r->model, members[i].thread)->exited ==
			    (members[i].tid == 2));
	/* The result has no more tids than fit. */
	memset(members, 0xff, sizeof(members));
	assert_true(model_team(r->model, &at, members, 1, &team));
	assert_int_equal(team.n, 2);
	assert_int_equal(members[1].tid, UINT32_MAX);
}

/* There are more threads than the count, so the next arrival may be another thread. */
static void test_changes(void **state)
{
	struct model_crossing at = crossing(1, A, 0, 0, 0);
	struct run *r = *state;

	cross_all(r, { 1, A, 2, 1, 4 }, { 3, A, 2, 3, 5 }, { 2, A, 2, 20, 25 }, { 1, A, 2, 10, 30 },
		  { 1, A, 2, 40, 45 }, { 3, A, 2, 24, 46 }, { 3, A, 2, 60, 65 },
		  { 2, A, 2, 50, 66 });
	{
		struct model_team_member members[MOST];
		struct model_team team;

		assert_true(model_team(r->model, &at, members, MOST, &team));
		assert_true(team.changes);
	}
}

static void test_shared(void **state)
{
	struct model_crossing at = crossing(10, 0x5000, 0, 0, 0), c;
	struct run *r = *state;

	assert_int_equal(model_add_process(r->model, 10, 1, 0, 0, 0, true, "one"), 0);
	assert_int_equal(model_add_process(r->model, 20, 2, 10, 1, 5, true, "two"), 0);
	c = crossing(20, 0x7000, 2, 15, 31);
	c.tgid = 20;
	c.inc = 2;
	c.shared = 99;
	run_feed(r, c);
	c = crossing(10, 0x5000, 2, 30, 32);
	c.tgid = 10;
	c.inc = 1;
	c.shared = 99;
	run_feed(r, c);
	at.tgid = 10;
	at.inc = 1;
	at.shared = 99;
	assert_team(r, &at, "10 20");
	at.object = 0x9999;
	assert_team(r, &at, "10 20");
	at.shared = 0;
	assert_team(r, &at, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		launched_test(test_last_episode), launched_test(test_unknown_count),
		launched_test(test_gone),	  launched_test(test_changes),
		empty_run_test(test_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
