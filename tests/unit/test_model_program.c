// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Processes that exited are combined into one entry for their program if there are more than the
 * maximum. Sums are worked out by hand.
 */
#include "test_model_util.h"

#define MS	 1000000ULL
#define S	 1000000000ULL
#define A	 0x1000
#define B	 0x2000
#define D	 1000ULL /* time that a thread takes to leave a barrier, ns */
#define EVERY_NS (10 * MS) /* interval between process starts, ns */

struct folded {
	uint32_t barriers, processes;
};

static void on_barrier(void *ctx, const struct model *m, uint32_t from, uint32_t into)
{
	struct folded *f = ctx;

	assert_int_not_equal(from, into);
	assert_fields(model_barrier(m, from), IS(family, model_barrier(m, into)->family),
		      IS(sites[0], model_barrier(m, into)->sites[0]));
	f->barriers++;
}

static void on_process(void *ctx, const struct model *m, uint32_t from, uint32_t into)
{
	struct folded *f = ctx;

	assert_int_not_equal(from, into);
	assert_string_equal(model_proc(m, from)->comm, model_proc(m, into)->comm);
	f->processes++;
}

static struct model *model_with(struct folded *f, uint32_t keep)
{
	struct model_ops ops = { .ctx = f,
				 .barrier_folded = on_barrier,
				 .process_folded = on_process };
	struct model *m = model_new(&ops, 0);

	assert_non_null(m);
	model_keep(m, keep);
	return m;
}

static void put(struct model *m, uint32_t i, uint32_t tid, uint32_t seq, uint64_t object,
		uint32_t site, uint64_t arrive, uint64_t depart)
{
	struct model_crossing c = crossing(tid, object, 2, arrive, depart);

	c.tgid = 1000 + i;
	c.inc = i + 1;
	c.seq = seq;
	c.site = site;
	c.flags |= MODEL_CROSSING_ACCOUNTED;
	assert_int_equal(model_add_crossing(m, &c), 0);
}

static uint64_t begin_of(uint32_t i)
{
	return i * EVERY_NS;
}

static void begin(struct model *m, uint32_t i, uint64_t program, const char *comm)
{
	uint64_t t = begin_of(i);

	assert_int_equal(model_add_process(m, 1000 + i, i + 1, 0, 0, t, true, comm), 0);
	assert_int_equal(model_add_thread(m, 1000 + i, i + 1, 1000 + i, t), 0);
	assert_int_equal(model_add_thread(m, 1000 + i, i + 1, 5000 + i, t), 0);
	assert_int_equal(model_add_program(m, 1000 + i, i + 1, program), 0);
}

static void end(struct model *m, uint32_t i, uint64_t t)
{
	assert_int_equal(model_end_thread(m, 1000 + i, i + 1, 5000 + i, t, NULL), 0);
	assert_int_equal(model_end_process(m, 1000 + i, i + 1, t), 0);
}

/*
 * The first thread waits 2 ms + @more at A, and the second waits 1 ms at B. The two phases take 3
 * ms + @more and 2 ms. The life of a thread is 6 ms + @more, and it leaves two barriers.
 */
static void live(struct model *m, uint32_t i, uint64_t program, const char *comm, uint64_t more)
{
	uint64_t t = begin_of(i);

	begin(m, i, program, comm);
	put(m, i, 1000 + i, 1, A, 1, t + 1 * MS, t + 3 * MS + more + D);
	put(m, i, 5000 + i, 1, A, 1, t + 3 * MS + more, t + 3 * MS + more + D);
	put(m, i, 1000 + i, 2, B, 2, t + 5 * MS + more, t + 5 * MS + more + D);
	put(m, i, 5000 + i, 2, B, 2, t + 4 * MS + more, t + 5 * MS + more + D);
	end(m, i, t + 6 * MS + more);
}

static const struct model_proc *program_of(const struct model *m, const char *comm, uint32_t *index)
{
	for (uint32_t i = 0; i < model_nprocs(m); i++)
		if (model_proc(m, i)->processes > 1 && !strcmp(model_proc(m, i)->comm, comm)) {
			*index = i;
			return model_proc(m, i);
		}
	return NULL;
}

static const struct model_barrier *barrier_of(const struct model *m, uint32_t proc, uint32_t site)
{
	for (uint32_t i = 0; i < model_nbarriers(m); i++)
		if (model_barrier(m, i)->proc == proc && model_barrier(m, i)->sites[0] == site)
			return model_barrier(m, i);
	return NULL;
}

static uint32_t processes(const struct model *m, uint32_t *entries)
{
	uint32_t n = 0;

	*entries = 0;
	for (uint32_t i = 0; i < model_nprocs(m); i++) {
		n += model_proc(m, i)->processes;
		*entries += model_proc(m, i)->processes != 0;
	}
	return n;
}

static void test_sums(void **state)
{
	struct folded f = { 0 };
	struct model *m = model_with(&f, 2);
	const struct model_barrier *a, *b;
	const struct model_proc *p;
	uint32_t at, entries;

	/* Process 4 loses the most time, and process 7 the second most. */
	for (uint32_t i = 0; i < 10; i++)
		live(m, i, 1, "job", i == 4 ? 8 * MS : i == 7 ? 4 * MS : 0);
	assert_int_equal(model_advance(m, 10 * S), 0);
	assert_int_equal(model_finish(m, 11 * S), 0);
	assert_int_equal(processes(m, &entries), 10);
	assert_int_equal(entries, 3);
	assert_fields(&f, IS(processes, 7), IS(barriers, 14));
	assert_int_equal(model_totals(m)->episodes, 20);

	p = program_of(m, "job", &at);
	assert_non_null(p);
	assert_fields(p, IS(tgid, 1000), IS(processes, 8), IS(exited, true), IS(episodes, 16),
		      IS(episodes_joined, 16), IS(crossings, 32), IS(nthreads_crossed, 16),
		      IS(folded.threads, 16), IS(folded.wait_ns, 8 * 3 * MS),
		      IS(folded.idle_ns, 8 * (3 * MS + 4 * D)),
		      IS(folded.outside_ns, 8 * (9 * MS - 4 * D)), IS(folded.life_ns, 8 * 12 * MS),
		      IS(folded.outside_max_ns, 5 * MS - 2 * D), IS(life_ns, 8 * 6 * MS),
		      IS(elapsed_ns, 8 * 6 * MS));
	/*
	 * The ideal time of a process follows the last arriver: 3 ms to A, 2 ms to B and 1 ms to
	 * the end, without the time D that it takes to leave each barrier.
	 */
	assert_fields(p, IS(ideal_ns, 8 * (6 * MS - 2 * D)), IS(start_ns, begin_of(0)),
		      IS(end_ns, begin_of(9) + 6 * MS));

	a = barrier_of(m, at, 1);
	b = barrier_of(m, at, 2);
	assert_non_null(a);
	assert_non_null(b);
	assert_fields(a, IS(episodes, 8), IS(crossings, 16), IS(wait.n, 16),
		      IS(wait.sum, 8 * 2 * MS), IS(wait.max, 2 * MS), IS(phase.n, 8),
		      IS(phase.sum, 8 * 3 * MS), IS(team_min, 2), IS(team_max, 2), IS(nphases, 1),
		      IS(phases[0].from, MODEL_NONE));
	assert_fields(b, IS(wait.sum, 8 * 1 * MS), IS(nphases, 1));
	assert_ptr_equal(model_barrier(m, b->phases[0].from), a);
	assert_fields(b, IS(phases[0].time.sum, 8 * 2 * MS), IS(phases[0].wait_ns, 8 * 1 * MS),
		      IS(phases[0].thread_ns, 8 * 4 * MS));
	assert_fields(a, IS(longest[0].phase_ns, 0), IS(nthreads, 1),
		      IS(threads[0].thread, MODEL_NONE), IS(threads[0].crossings, 16),
		      IS(threads[0].wait_ns, 8 * 2 * MS), IS(threads[0].last, 8),
		      IS(threads[0].sums.known_ns, 8 * 4 * MS));

	/* The two processes that lost most time are not combined with the others. */
	for (uint32_t i = 0; i < model_nprocs(m); i++) {
		p = model_proc(m, i);
		if (p->processes != 1)
			continue;
		assert_true(p->tgid == 1004 || p->tgid == 1007);
		assert_int_equal(p->folded.threads, 0);
		assert_int_equal(barrier_of(m, i, 1)->nthreads, 2);
	}
	model_free(m);
}

/*
 * Processes with different programs or names are not combined. Barriers at different sites are not
 * combined, either.
 */
static void test_programs(void **state)
{
	struct folded f = { 0 };
	struct model *m CLEANUP_PTR(model_free) = model_with(&f, 0);
	uint32_t at, entries, n = 0;

	for (uint32_t i = 0; i < 12; i++)
		live(m, i, i % 2, i % 3 ? "job" : "other", 0);
	assert_int_equal(model_advance(m, 10 * S), 0);
	assert_int_equal(model_finish(m, 11 * S), 0);
	assert_int_equal(processes(m, &entries), 12);
	assert_int_equal(entries, 4);
	assert_int_equal(program_of(m, "other", &at)->processes, 2);
	assert_int_equal(program_of(m, "job", &at)->processes, 4);
	assert_int_equal(model_totals(m)->episodes, 24);
	for (uint32_t i = 0; i < model_nbarriers(m); i++)
		n += model_barrier(m, i)->episodes;
	assert_int_equal(n, 24);
}

/* With any number of processes, entries are reused, and all processes are counted. */
static void test_places(void **state)
{
	struct folded f = { 0 };
	struct model *m CLEANUP_PTR(model_free) = model_with(&f, 16);
	uint32_t entries, procs = 0, barriers = 0, threads = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 3900; i++) {
		live(m, i, 1 + i % 3, "job", 0);
		assert_int_equal(model_advance(m, begin_of(i)), 0);
		if (i == 1950) {
			procs = model_nprocs(m);
			barriers = model_nbarriers(m);
			threads = model_nthreads(m);
		}
	}
	assert_true(model_nprocs(m) <= procs + 2);
	assert_true(model_nbarriers(m) <= barriers + 4);
	assert_true(model_nthreads(m) <= threads + 4);
	/*
	 * The entries that remain are for processes of the last three seconds, and for those that
	 * exited since the last check.
	 */
	assert_true(procs < 500);
	assert_int_equal(model_finish(m, 60 * S), 0);
	assert_int_equal(processes(m, &entries), 3900);
	assert_fields(model_totals(m), IS(episodes, 7800), IS(incomplete, 0));
	for (uint32_t i = 0; i < model_nprocs(m); i++)
		sum += model_proc(m, i)->episodes;
	assert_int_equal(sum, 7800);
}

/*
 * The model does not wait for a thread that was killed at a barrier. Open episodes are closed and
 * counted, as at the end of tracing.
 */
static void test_unfinished(void **state)
{
	struct folded f = { 0 };
	struct model *m CLEANUP_PTR(model_free) = model_with(&f, 0);
	uint32_t at;

	for (uint32_t i = 0; i < 4; i++) {
		begin(m, i, 1, "job");
		put(m, i, 1000 + i, 1, A, 1, begin_of(i) + 1 * MS, NEVER);
		end(m, i, begin_of(i) + 2 * MS);
	}
	assert_int_equal(model_advance(m, 10 * S), 0);
	assert_fields(program_of(m, "job", &at), IS(processes, 4), IS(incomplete, 4),
		      IS(abandoned, 4));
	assert_int_equal(model_finish(m, 11 * S), 0);
	assert_int_equal(model_totals(m)->incomplete, 4);
}

/*
 * Processes that crossed a shared barrier are not combined. Without model_keep(), no processes are
 * combined.
 */
static void test_kept(void **state)
{
	struct folded f = { 0 };
	struct model *m CLEANUP_PTR(model_free) = model_with(&f, 0);
	struct model_crossing c;
	uint32_t entries;

	for (uint32_t i = 0; i < 4; i++)
		begin(m, i, 1, "job");
	for (uint32_t i = 0; i < 4; i++) {
		c = crossing(1000 + i, A, 4, S + i, S + 4);
		c.tgid = 1000 + i;
		c.inc = i + 1;
		c.seq = 1;
		c.shared = 77;
		assert_int_equal(model_add_crossing(m, &c), 0);
	}
	for (uint32_t i = 0; i < 4; i++)
		end(m, i, S + 10);
	assert_int_equal(model_advance(m, 10 * S), 0);
	assert_int_equal(model_advance(m, 20 * S), 0);
	assert_int_equal(processes(m, &entries), 4);
	assert_int_equal(entries, 4);
	assert_int_equal(model_finish(m, 21 * S), 0);
	assert_int_equal(model_totals(m)->episodes, 1);
	model_free(m);

	m = model_new(NULL, 0);
	for (uint32_t i = 0; i < 10; i++)
		live(m, i, 1, "job", 0);
	assert_int_equal(model_advance(m, 10 * S), 0);
	assert_int_equal(model_nprocs(m), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),   cmocka_unit_test(test_programs),
		cmocka_unit_test(test_places), cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
