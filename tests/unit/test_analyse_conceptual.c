// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check conceptual phases, which lie between two barriers, against numbers worked out by hand and
 * exact formulas.
 */
#include "test_analyse_util.h"

#define ALL 4 /* maximum number of phases */

struct through {
	struct conceptual *c;
	struct model *model;
	uint32_t begins[3], ends[3]; /* bit mask of phases, by site */
	uint32_t seq[MOST];
	const char *marks; /* name of the phase that is marked next */
	struct model_proc procs[1];
	struct model_thread threads[MOST];
	struct report rep;
	struct report_env env;
};

static const char *const names[ALL] = { "first", "second", "third", "fourth" };

static void barrier(void *ctx, const struct model *model, uint32_t index, struct model_barrier *b)
{
	struct through *t = ctx;

	assert_int_equal(
		conceptual_barrier(t->c, index, t->begins[b->sites[0]], t->ends[b->sites[0]]), 0);
}

static void episode(void *ctx, const struct model *model, const struct model_episode *ep)
{
	struct through *t = ctx;

	assert_int_equal(conceptual_episode(t->c, model, ep), 0);
}

static int marked(void *ctx, const struct model *model, uint32_t thread,
		  const struct model_mark *mark)
{
	struct through *t = ctx;

	return conceptual_mark(t->c, model, thread, t->marks, mark);
}

static void begin(struct through *t, uint32_t nphases)
{
	struct model_ops ops = { .ctx = t, .barrier = barrier, .episode = episode, .mark = marked };

	memset(t, 0, sizeof(*t));
	t->c = conceptual_new(names, nphases);
	t->model = model_new(&ops, 0);
	assert_non_null(t->c);
	assert_non_null(t->model);
	assert_int_equal(model_add_process(t->model, PID, INC, 0, 0, 0, true, "form"), 0);
}

/*
 * Let @n threads leave at @from, work for work[i], cross at @site, and leave 1 later. Return the
 * time when they leave.
 */
static uint64_t meet(struct through *t, uint32_t site, uint32_t n, uint64_t from,
		     const uint64_t *work)
{
	uint64_t release = 0;

	for (uint32_t i = 0; i < n; i++)
		if (from + work[i] > release)
			release = from + work[i];
	for (uint32_t i = 0; i < n; i++) {
		struct model_crossing c = crossing(TID(i), A, n, from + work[i], release + 1);

		c.site = site;
		c.seq = ++t->seq[i];
		assert_int_equal(model_add_crossing(t->model, &c), 0);
	}
	return release + 1;
}

/* Build the rows of the report at @end. */
static void finish(struct through *t, uint64_t end)
{
	uint32_t position[64];

	assert_int_equal(model_finish(t->model, end), 0);
	assert_int_equal(conceptual_finish(t->c), 0);
	model_proc_at(t->model, 0, end, &t->procs[0]);
	for (uint32_t i = 0; i < model_nthreads(t->model); i++) {
		model_thread_at(t->model, i, end, &t->threads[i]);
		position[i] = i;
	}
	t->rep.arena = arena_new();
	assert_non_null(t->rep.arena);
	assert_int_equal(conceptual_report(t->c, &t->env, t->procs, t->threads, position,
					   t->rep.arena, &t->rep),
			 0);
}

static void over(struct through *t)
{
	report_free(&t->rep);
	conceptual_free(t->c);
	model_free(t->model);
}

/*
 * The phase lies between sites 0 and 2, with site 1 inside, and occurs twice. The time before,
 * between and after the two occurrences is in no phase. In the first occurrence, two threads work 3
 * and 5 until the inner episode, then 4 and 2 until the end. In the second, they work 6 and 6, then
 * 1 and 9.
 */
static void test_by_hand(void **state)
{
	const struct report_conceptual *p;
	struct through t;
	uint64_t now;

	begin(&t, 1);
	t.begins[0] = t.ends[2] = 1;
	now = meet(&t, 1, 2, 0, (uint64_t[]){ 50, 70 });
	now = meet(&t, 0, 2, now, (uint64_t[]){ 10, 20 });
	now = meet(&t, 1, 2, now, (uint64_t[]){ 3, 5 });
	now = meet(&t, 2, 2, now, (uint64_t[]){ 4, 2 });
	now = meet(&t, 2, 2, now, (uint64_t[]){ 100, 100 });
	now = meet(&t, 0, 2, now, (uint64_t[]){ 30, 40 });
	now = meet(&t, 1, 2, now, (uint64_t[]){ 6, 6 });
	now = meet(&t, 2, 2, now, (uint64_t[]){ 1, 9 });
	finish(&t, now + 1000);

	assert_int_equal(t.rep.nconceptuals, 1);
	p = &t.rep.conceptuals[0];
	assert_fields(p, TEXT(name, "first"), IS(occurrences, 2), IS(unfinished, 0),
		      IS(episodes, 4), IS(phase_ns.sum, 11 + 17), IS(phase_ns.min, 11),
		      IS(phase_ns.max, 17), IS(lost_ns, 2 + 2 + 0 + 8), IS(gain_ns, 6),
		      IS(nthreads, 2), IS(threads[0].work_ns, 3 + 4 + 6 + 1),
		      IS(threads[1].work_ns, 5 + 2 + 6 + 9), IS(threads[0].wait_ns, 2 + 0 + 0 + 8),
		      IS(threads[0].wait_max_ns, 8), IS(threads[1].wait_ns, 2),
		      IS(threads[0].last, 1), IS(threads[0].crossings, 4));
	/*
	 * The mean work is 18, the longest work 22, the longest path 24 and the time 28. The
	 * efficiencies are the ratios of these.
	 */
	assert_fields(p, NEAR(efficiency.load_balance, 18.0 / 22, 1e-12),
		      NEAR(efficiency.serialisation, 22.0 / 24, 1e-12),
		      NEAR(efficiency.transfer, 24.0 / 28, 1e-12),
		      NEAR(efficiency.parallel, 18.0 / 28, 1e-12),
		      NEAR(imbalance, 12.0 / 56, 1e-12));
	over(&t);
}

/*
 * One of n threads has twice the work: always the same thread, or each thread in turn. Compare with
 * the exact formulas.
 */
static void test_closed_forms(void **state)
{
	const struct report_conceptual *p;
	uint64_t work[MOST], now;
	struct through t;

	for (uint32_t n = 2; n <= MOST; n *= 2) {
		double form = (n + 1) / (2.0 * n);

		for (int rotate = 0; rotate < 2; rotate++) {
			begin(&t, 1);
			t.begins[0] = t.ends[2] = 1;
			for (uint32_t i = now = 0; i < 3; i++) {
				memset(work, 0, sizeof(work));
				work[0] = 7;
				now = meet(&t, 0, n, now, work);
				for (uint32_t k = 0; k < 3 * n; k++) {
					for (uint32_t j = 0; j < n; j++)
						work[j] = j == (rotate ? k % n : 0) ? 2000 : 1000;
					now = meet(&t, k + 1 < 3 * n ? 1 : 2, n, now, work);
				}
			}
			finish(&t, now);
			p = &t.rep.conceptuals[0];
			assert_fields(p, IS(occurrences, 3), IS(episodes, 9 * n),
				      IS(phase_ns.sum, 9 * n * 2001),
				      NEAR(efficiency.load_balance, rotate ? 1 : form, 1e-12),
				      NEAR(efficiency.serialisation, rotate ? form : 1, 1e-12),
				      NEAR(efficiency.parallel, form * 2000 / 2001, 1e-12));
			over(&t);
		}
	}
}

/*
 * One phase lies inside another, two phases overlap, and one begins with the program. Each has its
 * own times.
 */
static void test_several(void **state)
{
	uint64_t even[] = { 10, 10 }, now;
	const struct report_conceptual *p;
	struct through t;

	begin(&t, ALL);
	t.begins[0] = 0x1; /* the first phase, from barrier 0 to barrier 2 */
	/* the second phase, from 1 to 2, is inside the first; the third, from 1 to 0, overlaps */
	t.begins[1] = 0x6;
	t.ends[2] = 0x3;
	t.ends[0] = 0x4 | 0x8; /* the fourth phase, from the start of the program to barrier 0 */
	conceptual_from_start(t.c, 3);
	now = meet(&t, 0, 2, 0, even); /* 10 */
	now = meet(&t, 1, 2, now, even);
	now = meet(&t, 1, 2, now, even); /* this crossing is inside a phase and begins no new one */
	now = meet(&t, 2, 2, now, even);
	now = meet(&t, 0, 2, now, even); /* 50 */
	finish(&t, now + 5);
	p = t.rep.conceptuals;
	assert_int_equal(t.rep.nconceptuals, 4);
	assert_int_equal(p[0].phase_ns.sum, 33);
	assert_int_equal(p[1].phase_ns.sum, 22);
	assert_int_equal(p[2].phase_ns.sum, 33);
	assert_int_equal(p[3].phase_ns.sum, 10);
	/*
	 * The last episode began another occurrence of phase 0. An open occurrence counts as
	 * unfinished only if an episode followed its start, so this one does not count.
	 */
	assert_int_equal(p[0].unfinished, 0);
	assert_int_equal(p[3].occurrences, 1);
	over(&t);
}

static void test_unfinished(void **state)
{
	uint64_t even[] = { 10, 10 }, now;
	const struct report_conceptual *p;
	struct model_crossing c;
	struct through t;

	/* The end barrier is never crossed. */
	begin(&t, 1);
	t.begins[0] = t.ends[2] = 1;
	now = meet(&t, 0, 2, 0, even);
	now = meet(&t, 1, 2, now, even);
	finish(&t, now);
	p = t.rep.conceptuals;
	assert_fields(p, IS(occurrences, 0), IS(unfinished, 1), IS(episodes, 0));
	assert_true(p->phase_ns.sum == REPORT_UNKNOWN);
	assert_true(isnan(p->efficiency.parallel));
	over(&t);

	/* The start barrier is never crossed. */
	begin(&t, 1);
	t.begins[0] = t.ends[2] = 1;
	now = meet(&t, 2, 2, 0, even);
	finish(&t, now);
	assert_int_equal(t.rep.nconceptuals, 0);
	over(&t);

	/* A record of the first inner episode is lost: the time is known, the work is not. */
	begin(&t, 1);
	t.begins[0] = t.ends[2] = 1;
	now = meet(&t, 0, 2, 0, even);
	c = crossing(TID(0), A, 2, now + 10, now + 11);
	c.site = 1;
	c.seq = ++t.seq[0];
	assert_int_equal(model_add_crossing(t.model, &c), 0);
	t.seq[1]++;
	now = meet(&t, 2, 2, now + 11, even);
	finish(&t, now);
	p = t.rep.conceptuals;
	assert_fields(p, IS(occurrences, 1), IS(phase_ns.sum, 22), IS(incomplete, 1));
	assert_true(isnan(p->efficiency.parallel));
	over(&t);
}

/* --- marked by the program ------------------------------------------------------------------- */

/* Let @thread mark a phase at @t_ns. It was on a CPU for @oncpu since its last departure. */
static void mark(struct through *t, uint32_t thread, const char *name, bool begins, uint64_t t_ns,
		 uint64_t oncpu)
{
	struct model_detail d = { .oncpu_ns = oncpu, .switches = 1 };
	struct model_mark m = {
		.tgid = PID,
		.inc = INC,
		.tid = TID(thread),
		.begins = begins,
		.seq = t->seq[thread],
		.t_ns = t_ns,
		.detail = &d,
	};

	t->marks = name;
	if (model_find_thread(t->model, PID, INC, TID(thread)) == MODEL_NONE)
		assert_int_equal(model_add_found(t->model, PID, INC, TID(thread), 0), 0);
	assert_int_equal(model_add_mark(t->model, &m), 0);
}

/*
 * Two threads cross at 100 and at 200, and leave 1 later. Thread 0 marks a phase from 50 to 150. At
 * its two marks it has been on a CPU for 30 and 40 since its last departure. Thread 1 marks a phase
 * from 80 to 250.
 */
static void test_marked(void **state)
{
	const struct report_conceptual *p;
	struct through t;

	begin(&t, 0);
	mark(&t, 0, "a", true, 50, 30);
	mark(&t, 1, "a", true, 80, 80);
	meet(&t, 0, 2, 0, (uint64_t[]){ 90, 100 });
	mark(&t, 0, "a", false, 150, 40);
	meet(&t, 0, 2, 101, (uint64_t[]){ 99, 79 });
	mark(&t, 1, "a", false, 250, 20);
	mark(&t, 1, "b", false, 260, 20); /* never begun */
	mark(&t, 0, "c", true, 270, 30); /* never ended */
	finish(&t, 300);

	/* Each mark was a probe hit, and is charged the price of a hit. */
	assert_int_equal(conceptual_marks(t.c, 0), 6);
	assert_int_equal(conceptual_marks(t.c, 1), 0);
	assert_int_equal(conceptual_marks(NULL, 0), 0);
	assert_int_equal(t.rep.nconceptuals, 3);
	p = &t.rep.conceptuals[0];
	assert_fields(p, TEXT(name, "a"), IS(occurrences, 1), IS(unfinished, 0),
		      IS(phase_ns.sum, 200), IS(episodes, 2), IS(nthreads, 2),
		      IS(threads[0].work_ns, 40 + 49), IS(threads[0].wait_ns, 10),
		      IS(threads[0].idle_ns, 11), IS(threads[0].crossings, 1),
		      IS(threads[1].work_ns, 20 + 79 + 49), IS(threads[1].wait_ns, 20),
		      IS(threads[1].idle_ns, 1 + 21));
	/*
	 * Only the time on a CPU that a mark measured is known, because the test's crossings have
	 * no accounted time.
	 */
	assert_fields(p, IS(threads[0].parts.oncpu_ns, 40), IS(threads[1].parts.oncpu_ns, 20),
		      IS(threads[0].parts.unattributed_ns, 49),
		      IS(threads[1].parts.unattributed_ns, 128));
	/*
	 * Relative to the start of the phase, thread 0 begins at 0 and thread 1 at 30. They cross
	 * at 50, and at the end thread 1 runs alone.
	 */
	assert_fields(p, NEAR(efficiency.load_balance, (89 + 148) / 2.0 / 148, 1e-12),
		      NEAR(efficiency.serialisation, 148.0 / (50 + 79 + 49), 1e-12),
		      NEAR(efficiency.parallel, (89 + 148) / 2.0 / 200, 1e-12));
	p = &t.rep.conceptuals[1];
	assert_string_equal(p->name, "b");
	assert_int_equal(p->occurrences + p->unfinished, 0);
	p = &t.rep.conceptuals[2];
	assert_fields(p, IS(occurrences, 0), IS(unfinished, 1));
	assert_true(p->phase_ns.sum == REPORT_UNKNOWN);
	over(&t);
}

/*
 * A thread that begins again starts a new phase, even while other threads are still in the last
 * phase. A second begin inside the phase adds no phase.
 */
static void test_marked_anew(void **state)
{
	const struct report_conceptual *p;
	struct through t;

	begin(&t, 0);
	mark(&t, 0, "a", true, 0, 0);
	mark(&t, 1, "a", true, 1, 0);
	meet(&t, 0, 2, 0, (uint64_t[]){ 9, 10 });
	mark(&t, 0, "a", false, 12, 1);
	mark(&t, 0, "a", true, 13, 2);
	mark(&t, 0, "a", true, 14, 3); /* recursion */
	mark(&t, 1, "a", false, 15, 4);
	mark(&t, 1, "a", true, 16, 5);
	mark(&t, 0, "a", false, 17, 6);
	meet(&t, 0, 2, 11, (uint64_t[]){ 9, 8 });
	mark(&t, 0, "a", false, 22, 1);
	mark(&t, 1, "a", false, 23, 1);
	mark(&t, 0, "a", false, 24, 1); /* one end too many */
	finish(&t, 30);

	assert_int_equal(t.rep.nconceptuals, 1);
	p = &t.rep.conceptuals[0];
	assert_fields(p, IS(occurrences, 2), IS(unfinished, 0), IS(episodes, 2),
		      IS(phase_ns.sum, 15 + 10), IS(phase_ns.min, 10),
		      IS(threads[0].work_ns, 9 + 1 + 7 + 1), IS(threads[1].work_ns, 9 + 4 + 3 + 2));
	over(&t);
}

/*
 * These phases begin and end between the same two barriers. Phase "a" occurs twice there. One
 * thread marks no phase.
 */
static void test_marked_within(void **state)
{
	const struct report_conceptual *p;
	struct through t;

	begin(&t, 0);
	meet(&t, 0, 2, 0, (uint64_t[]){ 10, 10 });
	mark(&t, 0, "a", true, 20, 4);
	mark(&t, 0, "a", false, 30, 12);
	mark(&t, 0, "a", true, 40, 20);
	mark(&t, 0, "a", false, 45, 23);
	mark(&t, 0, "b", true, 50, 23);
	meet(&t, 0, 2, 11, (uint64_t[]){ 89, 69 });
	mark(&t, 0, "b", false, 101, 0);
	finish(&t, 110);
	p = &t.rep.conceptuals[0];
	assert_fields(p, IS(occurrences, 2), IS(phase_ns.sum, 15), IS(nthreads, 1),
		      IS(threads[0].work_ns, 15), IS(threads[0].parts.oncpu_ns, 8 + 3),
		      IS(episodes, 0));
	p = &t.rep.conceptuals[1];
	assert_fields(p, IS(phase_ns.sum, 51), IS(nthreads, 2), IS(threads[0].work_ns, 50),
		      IS(threads[1].work_ns, 30), IS(threads[1].wait_ns, 20));
	over(&t);
}

/*
 * All time is accounted for, but the marked phase begins inside a barrier phase of a thread that
 * marks no phase.
 */
static void test_marked_by_one(void **state)
{
	const struct report_parts *parts;
	struct model_detail d = { .oncpu_ns = 60 };
	struct through t;

	begin(&t, 0);
	mark(&t, 0, "a", true, 50, 40);
	for (uint32_t i = 0; i < 2; i++) {
		struct model_crossing c = crossing(TID(i), A, 2, 90 + 10 * i, 101);

		c.seq = ++t.seq[i];
		c.detail = &d;
		c.flags |= MODEL_CROSSING_ACCOUNTED;
		assert_int_equal(model_add_crossing(t.model, &c), 0);
	}
	mark(&t, 0, "a", false, 151, 30);
	finish(&t, 200);

	/*
	 * There is no record of the parts at the start of the marked phase. So the parts inside it
	 * are unknown, but their sum is known.
	 */
	parts = &t.rep.conceptuals[0].threads[1].parts;
	assert_int_equal(t.rep.conceptuals[0].threads[1].work_ns, 50);
	assert_fields(parts, IS(oncpu_ns, 0), IS(unattributed_ns, 50));
	parts = &t.rep.conceptuals[0].threads[0].parts;
	assert_int_equal(t.rep.conceptuals[0].threads[0].work_ns, 40 + 50);
	assert_fields(parts, IS(oncpu_ns, 20 + 30), IS(unattributed_ns, 40));
	over(&t);
}

/*
 * Names beyond the maximum are refused. Marks are applied even if no episode follows, so their
 * queue stays bounded.
 */
static void test_marked_many(void **state)
{
	const struct report_conceptual *p;
	struct through t;
	char name[16];

	begin(&t, 0);
	for (uint32_t i = 0; i < USER_PHASES_MAX + 5; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		mark(&t, 0, name, true, i, i);
	}
	assert_int_equal(conceptual_refused(t.c), 5);
	for (uint32_t i = 0; i < 100000; i++)
		mark(&t, 1, "n0", i % 2 == 0, 1000 + i, i);
	finish(&t, 200000);
	assert_int_equal(t.rep.nconceptuals, USER_PHASES_MAX);
	p = &t.rep.conceptuals[0];
	/* Thread 0 never leaves the first phase. */
	assert_fields(p, IS(unfinished, 1), IS(occurrences, 49999), IS(phase_ns.sum, 49999));
	over(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),	      cmocka_unit_test(test_closed_forms),
		cmocka_unit_test(test_several),	      cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_marked),	      cmocka_unit_test(test_marked_anew),
		cmocka_unit_test(test_marked_within), cmocka_unit_test(test_marked_many),
		cmocka_unit_test(test_marked_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
