// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check that tracing can end for a single process. */
#include "test_model_util.h"
#include "sbt/record.h"

#define A     0x1000
#define UNTIL 1000
#define LATER 1000000

static void other_crosses(struct run *r, uint32_t tid, uint64_t arrive, uint64_t depart)
{
	struct model_crossing c = crossing(tid, A, 2, arrive, depart);

	c.tgid = PID + 1;
	c.inc = INC + 1;
	run_feed(r, c);
}

/* Return a run with three episodes of threads 1 and 2. Thread 1 has arrived at a fourth. */
static struct run *process_runs(void)
{
	struct run *r = run_new(0);

	run_launched(r, 0);
	cross_all(r, { 1, A, 2, 100, 201 }, { 2, A, 2, 200, 202 }, { 1, A, 2, 400, 411 },
		  { 2, A, 2, 410, 412 }, { 2, A, 2, 700, 801 }, { 1, A, 2, 800, 802 });
	assert_int_equal(model_add_pending(r->model, PID, INC, 1, A, 950), 0);
	return r;
}

static const struct model_detached detached = {
	.t_ns = UNTIL,
	.cost_ppm = 80000,
	.limit_ppm = 50000,
	.because = 77,
	.probed = true,
	.probe_groups = MODEL_DETACHED_WHOLE,
};

static void test_ends_there(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = process_runs(),
		      *plain CLEANUP_PTR(run_free) = process_runs();
	const struct model_proc *p, *q;

	assert_int_equal(model_detached(r->model, PID, INC, &detached), 0);
	/*
	 * Another process continues. One of its threads has the same number as a thread of this
	 * process.
	 */
	other_crosses(r, 11, 2000, 2011);
	other_crosses(r, 12, 2010, 2012);
	assert_int_equal(model_advance(r->model, LATER), 0);
	assert_int_equal(model_finish(r->model, LATER), 0);
	assert_int_equal(model_finish(plain->model, UNTIL), 0);
	p = model_proc(r->model, 0);
	q = model_proc(plain->model, 0);
	assert_fields(p, IS(detached.t_ns, UNTIL), IS(detached.cost_ppm, 80000),
		      IS(detached.limit_ppm, 50000), IS(detached.because, 77),
		      IS(detached.probed, true));
	assert_int_equal(q->detached.t_ns, MODEL_UNKNOWN);
	assert_fields(model_proc(r->model, 1), IS(detached.t_ns, MODEL_UNKNOWN), IS(episodes, 1));
	assert_fields(p, IS(end_ns, UNTIL), IS(episodes, 3), IS(elapsed_ns, q->elapsed_ns),
		      IS(ideal_ns, q->ideal_ns), IS(episodes, q->episodes),
		      IS(incomplete, q->incomplete), IS(crossings, q->crossings), IS(abandoned, 0));
	for (uint32_t tid = 1; tid <= 2; tid++) {
		const struct model_thread *t = thread_of(r, tid), *u = thread_of(plain, tid);

		assert_fields(t, IS(end_ns, UNTIL), IS(outside_ns, u->outside_ns),
			      IS(idle_ns, u->idle_ns), IS(wait_ns, u->wait_ns),
			      IS(unknown_ns, u->unknown_ns));
	}
}

/*
 * A crossing from before the detachment may arrive late. The end of the process is reported later,
 * and does not change the time until which it was traced.
 */
static void test_late(void **state)
{
	struct run *r = *state;

	cross_all(r, { 1, A, 2, 100, 201 }, { 2, A, 2, 200, 202 }, { 1, A, 2, 400, 411 });
	assert_int_equal(model_detached(r->model, PID, INC, &detached), 0);
	assert_int_equal(model_end_process(r->model, PID, INC, 5000), 0);
	cross(r, 2, A, 2, 410, 412);
	assert_int_equal(model_finish(r->model, LATER), 0);
	assert_fields(model_proc(r->model, 0), IS(episodes, 2), IS(end_ns, UNTIL));
	assert_int_equal(model_nthreads(r->model), 2);
}

/* The process has ended or is unknown, so it is not marked as detached. */
static void test_gone(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = process_runs();

	assert_int_equal(model_end_process(r->model, PID, INC, 900), 0);
	assert_int_equal(model_detached(r->model, PID, INC, &detached), 0);
	assert_int_equal(model_detached(r->model, 12345, INC, &detached), 0);
	assert_int_equal(model_proc(r->model, 0)->detached.t_ns, MODEL_UNKNOWN);
	assert_int_equal(model_nprocs(r->model), 1);
}

/*
 * A model with a process and one episode, and a second model that gets the same input through the
 * tap, as a recording does.
 */
struct copied {
	struct run *run;
	struct model *copy;
	uint32_t whole, parts; /* number of reports about whole processes and about parts */
};

static void copy_input(void *ctx, const struct model_input *in)
{
	struct copied *c = ctx;

	c->whole += in->type == MODEL_INPUT_DETACHED;
	c->parts += in->type == MODEL_INPUT_DETACHED_PART;
	assert_int_equal(model_take(c->copy, in), 0);
}

static int copied_begin(void **state)
{
	struct copied *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	c->run = run_new(0);
	c->copy = model_new(NULL, 0);
	assert_non_null(c->copy);
	model_tap(c->run->model, copy_input, c);
	run_launched(c->run, 0);
	cross_all(c->run, { 1, A, 2, 100, 201 }, { 2, A, 2, 200, 202 });
	*state = c;
	return 0;
}

static int copied_end(void **state)
{
	struct copied *c = *state;

	model_free(c->copy);
	run_free(c->run);
	free(c);
	return 0;
}

static const struct model_proc *copied_detached(struct copied *c, const struct model_detached *what)
{
	assert_int_equal(model_detached(c->run->model, PID, INC, what), 0);
	return model_proc(c->run->model, 0);
}

/* In the second model, which gets the same input, tracing of the process ends at the same time. */
static void test_tapped(void **state)
{
	struct copied *c = *state;
	const struct model_proc *p = copied_detached(c, &detached), *q = model_proc(c->copy, 0);

	assert_int_equal(c->whole, 1);
	assert_memory_equal(&q->detached, &p->detached, sizeof(detached));
	assert_int_equal(q->end_ns, UNTIL);
}

/*
 * Some barriers of the process are detached. The process continues, and each barrier is reported
 * once.
 */
static void test_parts(void **state)
{
	struct copied *c = *state;
	struct model_detached part = detached;
	const struct model_proc *p;

	part.probe_groups = SBT_PROBE_GROUP(SBT_FAMILY_PTHREAD);
	copied_detached(c, &part);
	part.t_ns = UNTIL + 100;
	part.probe_groups |=
		SBT_PROBE_GROUP(SBT_PROBE_GROUPS_USER + 3) | SBT_PROBE_GROUP(SBT_FAMILY_COND);
	part.because = 0;
	copied_detached(c, &part);
	p = copied_detached(c, &part);
	assert_int_equal(model_detached(c->run->model, PID + 1, INC, &part), 0);
	assert_fields(p, IS(exited, false), IS(detached.t_ns, MODEL_UNKNOWN), IS(nparts, 2),
		      IS(parts[0].probe_groups, SBT_PROBE_GROUP(SBT_FAMILY_PTHREAD)),
		      IS(parts[0].t_ns, UNTIL), IS(parts[0].because, 77),
		      IS(parts[1].probe_groups, SBT_PROBE_GROUP(SBT_PROBE_GROUPS_USER + 3) |
							SBT_PROBE_GROUP(SBT_FAMILY_COND)),
		      IS(parts[1].t_ns, UNTIL + 100));
	assert_true(c->parts >= 2);
	assert_int_equal(model_proc(c->copy, 0)->nparts, 2);
	assert_memory_equal(model_proc(c->copy, 0)->parts, p->parts, 2 * sizeof(*p->parts));
	/* After that, the whole process is detached. */
	p = copied_detached(c, &detached);
	assert_fields(p, IS(detached.t_ns, UNTIL), IS(nparts, 2));
}

#define HOT  (SBT_PROBE_GROUPS_USER + 3)
#define COLD (SBT_PROBE_GROUPS_USER + 4)

static void meet_by(struct run *r, uint8_t probe_group, uint32_t tid, uint64_t arrive,
		    uint64_t depart)
{
	struct model_crossing c = crossing(tid, A, 2, arrive, depart);

	c.family = SBT_FAMILY_USER;
	c.probe_group = probe_group;
	run_feed(r, c);
}

/*
 * Threads cross one object through two functions. One function is detached after one thread has
 * arrived through it, and before the other thread arrives.
 */
static void test_function(void **state)
{
	struct run *r = *state;
	struct model_detached part = detached;
	const struct model_proc *p;

	part.probe_groups = SBT_PROBE_GROUP(HOT);
	run_launched(r, 0);
	meet_by(r, HOT, 1, 100, 201);
	meet_by(r, HOT, 2, 200, 202);
	meet_by(r, COLD, 2, 400, 411);
	meet_by(r, COLD, 1, 410, 412);
	assert_int_equal(model_detached(r->model, PID, INC, &part), 0);
	/*
	 * Thread 2 arrived too late to be seen, and left at once. It arrived at the next episode
	 * before thread 1 did.
	 */
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t at = UNTIL + 1000 * (uint64_t)i;

		if (!i)
			meet_by(r, HOT, 1, UNTIL - 10, UNTIL + 100);
		meet_by(r, COLD, 1, at + 200, at + 212);
		meet_by(r, COLD, 2, at + 50, at + 211);
	}
	assert_int_equal(model_finish(r->model, LATER), 0);
	p = model_proc(r->model, 0);
	assert_fields(p, IS(episodes, 5), IS(incomplete, 1), IS(ambiguous, 0), IS(nparts, 1));
	assert_true(p->parts[0].probe_groups == SBT_PROBE_GROUP(HOT));
}

#define BARRIER (SBT_PROBE_GROUPS_NAMED + 9)

/*
 * Add an arrival of a team of two at a barrier of @probe_group. If @probe_group is 0, which stands
 * for the group of the family, the arrival is at the end of a region.
 */
static void team_comes(struct run *r, uint8_t probe_group, uint32_t tid, uint64_t arrive,
		       uint64_t depart)
{
	struct model_crossing c = crossing(tid, A, depart == NEVER ? 0 : 2, arrive, depart);

	c.family = SBT_FAMILY_GOMP;
	c.kind = probe_group ? SBT_KIND_EXPLICIT : SBT_KIND_JOIN;
	c.probe_group = probe_group;
	c.flags = MODEL_CROSSING_TEAM | (depart == NEVER ? MODEL_CROSSING_STAYS : 0);
	run_feed(r, c);
}

static void goes_on(struct run *r, uint32_t tid, uint64_t at)
{
	struct model_crossing c = crossing(tid, 0, 0, at, at);

	c.flags = MODEL_CROSSING_RESUMES;
	run_feed(r, c);
}

/*
 * The barriers of a team are detached during an episode. The arrival of the other thread was not
 * seen. The ends of the team's regions remain certain.
 */
static void test_team(void **state)
{
	struct run *r = *state;
	struct model_detached part = detached;
	const struct model_proc *p;

	part.probe_groups = SBT_PROBE_GROUP(BARRIER);
	run_launched(r, 0);
	team_comes(r, BARRIER, 1, 100, 201);
	team_comes(r, BARRIER, 2, 200, 202);
	team_comes(r, 0, 2, 300, NEVER);
	team_comes(r, 0, 1, 310, 320);
	goes_on(r, 2, 400);
	assert_int_equal(model_detached(r->model, PID, INC, &part), 0);
	team_comes(r, BARRIER, 1, UNTIL - 30, UNTIL + 30);
	team_comes(r, BARRIER, 2, UNTIL - 20, UNTIL - 15);
	team_comes(r, BARRIER, 2, UNTIL - 10, UNTIL + 40);
	for (uint64_t at = UNTIL; at < 10 * UNTIL; at += UNTIL) {
		if (at > UNTIL)
			goes_on(r, 2, at + 100);
		team_comes(r, 0, 2, at + 210, NEVER);
		team_comes(r, 0, 1, at + 200, at + 220);
	}
	assert_int_equal(model_finish(r->model, LATER), 0);
	p = model_proc(r->model, 0);
	assert_fields(p, IS(episodes, 3 + 9), IS(incomplete, 1), IS(ambiguous, 0));
}

/*
 * The count is unknown. If an episode is open when its probes are detached, it is unknown which
 * threads had not arrived.
 */
static void test_uncounted(void **state)
{
	struct run *r = *state;
	struct model_detached part = detached;
	struct model_crossing c;
	const struct model_proc *p;

	part.probe_groups = SBT_PROBE_GROUP(HOT);
	run_launched(r, 0);
	for (uint32_t i = 0; i < 5; i++) {
		c = crossing(1 + i % 2, A, 0, i < 4 ? 100 + 100 * (i / 2) + i : UNTIL - 10,
			     i < 4 ? 150 + 100 * (i / 2) + i : UNTIL + 10);
		c.family = SBT_FAMILY_USER;
		c.probe_group = HOT;
		run_feed(r, c);
	}
	assert_int_equal(model_detached(r->model, PID, INC, &part), 0);
	assert_int_equal(model_finish(r->model, LATER), 0);
	p = model_proc(r->model, 0);
	assert_fields(p, IS(episodes, 2), IS(incomplete, 1));
}

/*
 * Check the probe groups through which threads arrived at a barrier. A crossing with probe group 0
 * counts for the group of its family.
 */
static void test_probe_groups(void **state)
{
	struct run *r = *state;

	meet_by(r, HOT, 1, 100, 201);
	meet_by(r, COLD, 2, 200, 202);
	meet_by(r, 0, 1, 400, 411);
	meet_by(r, HOT, 2, 410, 412);
	assert_int_equal(model_finish(r->model, LATER), 0);
	assert_int_equal(model_nbarriers(r->model), 1);
	assert_int_equal(model_barrier(r->model, 0)->episodes, 2);
	assert_true(
		model_barrier(r->model, 0)->probe_groups ==
		(SBT_PROBE_GROUP(HOT) | SBT_PROBE_GROUP(COLD) | SBT_PROBE_GROUP(SBT_FAMILY_USER)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_there),
		launched_test(test_late),
		cmocka_unit_test(test_gone),
		empty_run_test(test_function),
		empty_run_test(test_team),
		empty_run_test(test_uncounted),
		launched_test(test_probe_groups),
		cmocka_unit_test_setup_teardown(test_parts, copied_begin, copied_end),
		cmocka_unit_test_setup_teardown(test_tapped, copied_begin, copied_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
