// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check the losses of OpenMP threads against numbers worked out by hand. */
#include "test_analyse_util.h"

#include "analyse/openmp.h"
#include "sbt/record.h"

#define TEAM 0x8000000000006400ULL

struct through {
	struct openmp *openmp;
	struct model *model;
	uint32_t seq[4];
};

static void take(void *ctx, const struct model *model, const struct model_episode *ep)
{
	struct through *t = ctx;

	assert_int_equal(openmp_episode(t->openmp, model, ep), 0);
}

static void begin(struct through *t)
{
	struct model_ops ops = { .ctx = t, .episode = take };

	memset(t, 0, sizeof(*t));
	t->openmp = openmp_new();
	t->model = model_new(&ops, 0);
	assert_non_null(t->openmp);
	assert_non_null(t->model);
	assert_int_equal(model_add_process(t->model, PID, INC, 0, 0, 0, true, "team"), 0);
	assert_int_equal(model_add_thread(t->model, PID, INC, 1, 0), 0);
	assert_int_equal(model_add_thread(t->model, PID, INC, 2, 10), 0);
	assert_int_equal(model_add_thread(t->model, PID, INC, 3, 20), 0);
}

static void end(struct through *t)
{
	openmp_free(t->openmp);
	model_free(t->model);
}

static void feed(struct through *t, struct model_crossing c)
{
	c.seq = ++t->seq[c.tid];
	assert_int_equal(model_add_crossing(t->model, &c), 0);
}

static void at_barrier(struct through *t, uint32_t tid, uint64_t arrive, uint64_t depart)
{
	struct model_crossing c = crossing(tid, TEAM, 3, arrive, depart);

	c.flags = MODEL_CROSSING_TEAM;
	c.family = SBT_FAMILY_GOMP;
	c.kind = SBT_KIND_EXPLICIT;
	feed(t, c);
}

/* Add a crossing of a join. For a worker, @depart is NEVER. */
static void at_join(struct through *t, uint32_t tid, uint64_t arrive, uint64_t depart)
{
	struct model_crossing c = crossing(tid, TEAM, depart == NEVER ? 0 : 3, arrive, depart);

	c.flags = MODEL_CROSSING_TEAM | (depart == NEVER ? MODEL_CROSSING_STAYS : 0);
	c.family = SBT_FAMILY_GOMP;
	c.kind = SBT_KIND_JOIN;
	c.site = 7;
	feed(t, c);
}

/* Resume a worker at @at. @begun is the time when the region began. */
static void resume(struct through *t, uint32_t tid, uint64_t begun, uint64_t at)
{
	struct model_crossing c = crossing(tid, 0, 0, begun, at);

	c.flags = MODEL_CROSSING_RESUMES;
	feed(t, c);
}

static bool times_at(struct through *t, uint64_t at, struct efficiency_omp *out)
{
	struct model_thread threads[3];
	uint32_t i, of_proc[3] = { 0, 1, 2 };

	for (i = 0; i < 3; i++)
		model_thread_at(t->model, i, at, &threads[i]);
	return openmp_times(t->openmp, 0, threads, of_proc, 3, 3, at, out);
}

/*
 * Threads cross a barrier at 60 and the join at 130..140. A region begins at 150, and its workers
 * resume at 200 and 205. A second join is at 250..260.
 */
static void two_regions(struct through *t)
{
	at_barrier(t, 1, 60, 61);
	at_barrier(t, 2, 40, 62);
	at_barrier(t, 3, 50, 63);
	at_join(t, 2, 110, NEVER);
	at_join(t, 3, 120, NEVER);
	at_join(t, 1, 130, 140);
	resume(t, 2, 150, 200);
	resume(t, 3, 150, 205);
	at_join(t, 3, 230, NEVER);
	at_join(t, 1, 240, 260);
	at_join(t, 2, 250, NEVER);
}

static void test_by_hand(void **state)
{
	struct efficiency_omp out;
	struct through t;

	begin(&t);
	two_regions(&t);
	assert_int_equal(model_finish(t.model, 300), 0);
	assert_true(times_at(&t, 300, &out));
	/* Waits of threads 1, 2, 3: 1+10, 22+30, 13+20 in the first region, then 20, 10, 30. */
	assert_fields(&out, IS(scheduling_ns, 3 * 11 + 3 * 10),
		      IS(imbalance_ns, 41 + 22 + 10 + 20));
	/*
	 * Threads 2 and 3 begin at 10 and 20. They are in no region from 140 to 150, and from 260
	 * to the end.
	 */
	assert_fields(&out, IS(start_ns, 50 + 55),
		      IS(serialisation_ns, 10 + 20 + 10 + 10 + 40 + 40),
		      IS(useful_ns, 269 + 128 + 112));
	/* All time of the three threads is in one of the five parts. */
	assert_int_equal(out.useful_ns + out.scheduling_ns + out.imbalance_ns + out.start_ns +
				 out.serialisation_ns,
			 3 * 300);
	end(&t);
}

/* Time in a barrier of another library is a wait for other threads. */
static void test_other_barriers(void **state)
{
	struct efficiency_omp out;
	struct model_crossing c;
	struct through t;

	begin(&t);
	two_regions(&t);
	c = crossing(1, A, 1, 270, 290);
	feed(&t, c);
	assert_int_equal(model_finish(t.model, 300), 0);
	assert_true(times_at(&t, 300, &out));
	assert_fields(
		&out, IS(start_ns, 50 + 55), IS(serialisation_ns, 10 + 20 + 10 + 10 + 40 + 40),
		IS(imbalance_ns, 41 + 22 + 10 + 20 + 20), IS(useful_ns, 269 + 128 + 112 - 20));
	end(&t);
}

static void test_unknown(void **state)
{
	struct efficiency_omp out;
	struct through t;

	/* There are no teams at all. */
	begin(&t);
	feed(&t, crossing(1, A, 1, 10, 20));
	assert_int_equal(model_finish(t.model, 300), 0);
	assert_false(times_at(&t, 300, &out));
	end(&t);
	/* The departure of the master from the only region is unknown. */
	begin(&t);
	at_join(&t, 2, 110, NEVER);
	at_join(&t, 3, 120, NEVER);
	assert_int_equal(model_finish(t.model, 300), 0);
	assert_false(times_at(&t, 300, &out));
	end(&t);
	/*
	 * Waits in a region that has not ended are not attributed to a loss yet. They take most of
	 * the time, so there is no result.
	 */
	begin(&t);
	two_regions(&t);
	resume(&t, 2, 300, 300);
	resume(&t, 3, 300, 300);
	at_barrier(&t, 1, 310, 2300);
	at_barrier(&t, 2, 320, 2310);
	at_barrier(&t, 3, 2300, 2300);
	assert_int_equal(model_finish(t.model, 2400), 0);
	assert_false(times_at(&t, 2400, &out));
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_other_barriers),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
