// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check the sums of the parts into which a thread's time is divided, such as on a CPU or blocked.
 * Check that a detail stays with its member in all cases. LeakSanitizer checks that dropped details
 * are freed.
 */
#include "test_model_sim.h"

#define A 0x1000

static const struct model_detail *detail_of(const struct run *r, uint32_t i, uint32_t tid)
{
	const struct model_member *mem = member_of(ep(r, i), tid);

	assert_non_null(mem);
	assert_non_null(mem->detail);
	return mem->detail;
}

static const struct model_barrier_thread *at_barrier(const struct run *r, uint32_t barrier,
						     uint32_t tid)
{
	const struct model_barrier *b = model_barrier(r->model, barrier);

	for (uint32_t i = 0; i < b->nthreads; i++)
		if (b->threads[i].thread != MODEL_NONE &&
		    model_thread(r->model, b->threads[i].thread)->tid == tid)
			return &b->threads[i];
	fail_msg("thread %u is not at barrier %u", tid, barrier);
	return NULL;
}

static uint64_t phase_parts(const struct model_detail *d)
{
	uint64_t sum = d->oncpu_ns + d->runq_ns;

	for (unsigned i = 0; i < MODEL_BLOCKED_REASONS; i++)
		sum += d->blocked_ns[i];
	return sum;
}

/* Add a crossing. The memory of the detail is invalid after the call. */
static void feed_with(struct run *r, struct model_crossing c, struct model_detail d)
{
	c.flags |= MODEL_CROSSING_ACCOUNTED;
	c.detail = &d;
	assert_int_equal(model_add_crossing(r->model, &c), 0);
	memset(&d, 0xa5, sizeof(d));
}

static void cross_with(struct run *r, uint32_t tid, uint64_t arrive, uint64_t depart,
		       struct model_detail d)
{
	struct model_crossing c = crossing(tid, A, 2, arrive, depart);

	c.seq = ++r->seq[tid % 256];
	feed_with(r, c, d);
}

/* Add an accounted crossing without a detail: the thread was on a CPU all the time. */
static void cross_whole(struct run *r, uint32_t tid, uint64_t arrive, uint64_t depart)
{
	struct model_crossing c = crossing(tid, A, 2, arrive, depart);

	c.flags |= MODEL_CROSSING_ACCOUNTED;
	run_feed(r, c);
}

/* Return a detail with the counter value @tag, by which a test recognises the detail. */
static struct model_detail tagged(uint64_t tag)
{
	return (struct model_detail){
		.oncpu_ns = MODEL_UNKNOWN,
		.inside_oncpu_ns = MODEL_UNKNOWN,
		.ncounters = 1,
		.counters = { tag },
		.inside_counters = { tag + 1 },
	};
}

static void cross_tagged(struct run *r, uint32_t tid, uint64_t arrive, uint64_t depart)
{
	cross_with(r, tid, arrive, depart, tagged(arrive));
}

/* Check that every member has its own detail, and that the phase is known for @n of them. */
static void assert_tags(const struct run *r, uint32_t n)
{
	const struct model_member *mem;
	uint32_t known = 0;

	for (uint32_t i = 0; i < r->nkept; i++) {
		for (uint32_t j = 0; j < r->kept[i].ep.n; j++) {
			mem = &r->kept[i].members[j];
			assert_non_null(mem->detail);
			assert_int_equal(mem->detail->ncounters, 1);
			if (mem->depart_ns != NEVER)
				assert_int_equal(mem->detail->inside_counters[0],
						 mem->arrive_ns + 1);
			if (mem->work_ns == MODEL_UNKNOWN) {
				assert_fields(mem->detail, IS(oncpu_ns, MODEL_UNKNOWN),
					      IS(counters[0], 0));
				continue;
			}
			known++;
			assert_fields(mem->detail, IS(oncpu_ns, mem->work_ns),
				      IS(counters[0], mem->arrive_ns));
		}
	}
	assert_int_equal(known, n);
}

static void finish(struct run *r, uint64_t end)
{
	assert_int_equal(model_finish(r->model, end), 0);
}

/* --- sums by hand ---------------------------------------------------------------------------- */

static const struct model_detail first = {
	.oncpu_ns = 60,
	.runq_ns = 10,
	.blocked_ns = { [MODEL_BLOCKED_LOCK] = 15, [MODEL_BLOCKED_SLEEP] = 5 },
	.fault_ns = 7,
	.fault_addr = 0xfa,
	.ran_ns = 9,
	.ran = 77,
	.switches = 4,
	.migrations = 1,
	.faults = 2,
	.cpus_allowed = 3,
	.inside_oncpu_ns = 40,
	.inside_runq_ns = 8,
	.inside_ran = 78,
	.interference_ns = 6,
	.inside_interference_ns = 3,
	.ncounters = 2,
	.scaled = 1,
	.block = { .ns = 12,
		   .at.futex = 0xf0,
		   .waker = 2,
		   .holder = 2,
		   .reason = MODEL_BLOCKED_LOCK },
	.counters = { 1000, 20 },
	.inside_counters = { 300, 4 },
};

static const struct model_detail second = {
	.oncpu_ns = MODEL_UNKNOWN,
	.inside_oncpu_ns = 1,
	.ncounters = 2,
	.unknown = 2,
	.counters = { 5, 6 },
	.inside_counters = { 7, 8 },
	.switches = 1,
};

/*
 * Thread 1 begins at 0, arrives at 100, leaves at 160, arrives at 200 and leaves at 210. For thread
 * 2 these times are 0, 150, 155, 205 and 220.
 */
static void feed_by_hand(struct run *r)
{
	run_launched(r, 0);
	cross_whole(r, 2, 150, 155);
	cross_with(r, 1, 100, 160, first);
	cross_with(r, 1, 200, 210, second);
	cross_whole(r, 2, 205, 220);
}

static void test_by_hand(void **state)
{
	struct run *r = *state;
	const struct model_detail *d;
	const struct model_sums *s;

	feed_by_hand(r);
	finish(r, 300);
	assert_int_equal(r->nkept, 2);
	d = detail_of(r, 0, 1);
	assert_memory_equal(d, &first, sizeof(first));
	assert_int_equal(member_of(ep(r, 0), 1)->work_ns - phase_parts(d), 10);
	d = detail_of(r, 0, 2);
	assert_fields(d, IS(oncpu_ns, 150), IS(inside_oncpu_ns, 5), IS(ncounters, 0));
	assert_int_equal(detail_of(r, 1, 1)->oncpu_ns, 40);
	assert_int_equal(detail_of(r, 1, 2)->oncpu_ns, 50);
	s = &thread_of(r, 1)->sums;
	assert_fields(s, IS(known_ns, 140), IS(oncpu_ns, 100), IS(runq_ns, 10), IS(fault_ns, 7),
		      IS(blocked_ns[MODEL_BLOCKED_LOCK], 15), IS(blocked_ns[MODEL_BLOCKED_IO], 0),
		      IS(blocked_ns[MODEL_BLOCKED_SLEEP], 5), IS(inside_known_ns, 70),
		      IS(inside_oncpu_ns, 41), IS(inside_runq_ns, 8), IS(interference_ns, 9),
		      IS(switches, 5), IS(migrations, 1), IS(faults, 2), IS(counters[0], 1005),
		      IS(counters[1], 26), IS(inside_counters[0], 307), IS(inside_counters[1], 12),
		      IS(counted, 2), IS(scaled, 1), IS(unknown, 2));
	assert_int_equal(thread_of(r, 1)->cpus_allowed, 3);
	/* All crossings were at one barrier. */
	assert_memory_equal(&at_barrier(r, 0, 1)->sums, s, sizeof(*s));
	s = &thread_of(r, 2)->sums;
	assert_fields(s, IS(known_ns, 200), IS(oncpu_ns, 200), IS(inside_known_ns, 20),
		      IS(inside_oncpu_ns, 20), IS(counted, 0));
	assert_int_equal(thread_of(r, 2)->cpus_allowed, 0);
	assert_memory_equal(&at_barrier(r, 0, 2)->sums, s, sizeof(*s));
}

/* The time of a thread without a detail is not accounted for, which is not the same as zero. */
static void test_unaccounted(void **state)
{
	static const struct model_sums none;
	struct run *r = *state;

	cross(r, 1, A, 2, 10, 21);
	cross_whole(r, 2, 20, 22);
	finish(r, 100);
	assert_null(member_of(ep(r, 0), 1)->detail);
	assert_non_null(member_of(ep(r, 0), 2)->detail);
	assert_memory_equal(&thread_of(r, 1)->sums, &none, sizeof(none));
	assert_memory_equal(&at_barrier(r, 0, 1)->sums, &none, sizeof(none));
}

/* The parts use other time stamps, so their sum exceeds the total by some ns. */
static void test_clipped(void **state)
{
	struct model_detail d = first;
	struct run *r = *state;

	cross_with(r, 1, 85, 130, first); /* 90 ns of parts in 85 ns, and 48 ns in 45 ns */
	cross_whole(r, 2, 90, 131);
	d.blocked_ns[MODEL_BLOCKED_IO] = UINT64_MAX - 3;
	d.runq_ns = UINT64_MAX - 5;
	d.inside_runq_ns = UINT64_MAX - 7;
	d.interference_ns = d.inside_interference_ns = UINT64_MAX - 9;
	d.ncounters = 200;
	d.block.reason = d.second.reason = 99;
	cross_with(r, 1, 230, 241, d); /* invalid times */
	cross_whole(r, 2, 240, 241);
	finish(r, 300);
	assert_int_equal(detail_of(r, 0, 1)->oncpu_ns, 55);
	assert_int_equal(phase_parts(detail_of(r, 0, 1)), 85);
	assert_fields(detail_of(r, 0, 1), IS(inside_oncpu_ns, 37), IS(inside_runq_ns, 8));
	assert_int_equal(phase_parts(detail_of(r, 1, 1)), 100);
	assert_fields(detail_of(r, 1, 1), IS(oncpu_ns, 0), IS(fault_ns, 0), IS(inside_runq_ns, 11),
		      IS(inside_oncpu_ns, 0));
	/*
	 * The interference is a part of the time in the run queue, so it is limited to that time.
	 */
	assert_fields(detail_of(r, 1, 1), IS(interference_ns, detail_of(r, 1, 1)->runq_ns),
		      IS(inside_interference_ns, 11), IS(ncounters, MODEL_COUNTERS_MAX),
		      IS(block.reason, MODEL_BLOCKED_OTHER),
		      IS(second.reason, MODEL_BLOCKED_OTHER));
	assert_fields(thread_of(r, 1), IS(sums.known_ns, 185), IS(sums.oncpu_ns, 55),
		      IS(sums.inside_known_ns, 56));
}

/* --- what is not known ----------------------------------------------------------------------- */

/* After a loss the start of the phase is unknown, but the time inside is known. */
static void test_lost(void **state)
{
	struct run *r = *state;
	const struct model_detail *d;

	lose(r, 1);
	cross_with(r, 1, 100, 160, first);
	cross_whole(r, 2, 150, 155);
	finish(r, 300);
	d = detail_of(r, 0, 1);
	assert_int_equal(member_of(ep(r, 0), 1)->work_ns, MODEL_UNKNOWN);
	assert_fields(d, IS(oncpu_ns, MODEL_UNKNOWN), IS(runq_ns, 0), IS(block.ns, 0),
		      IS(counters[0], 0), IS(inside_oncpu_ns, 40), IS(inside_runq_ns, 8),
		      IS(inside_ran, 78), IS(inside_counters[0], 300));
	assert_fields(thread_of(r, 1), IS(sums.known_ns, 0), IS(sums.oncpu_ns, 0),
		      IS(sums.counters[0], 0), IS(sums.inside_known_ns, 60),
		      IS(sums.inside_oncpu_ns, 40), IS(sums.counted, 1));
}

/* A record that was counted as lost arrives. It does not count twice. */
static void test_late(void **state)
{
	struct model_crossing late = crossing(1, A, 2, 50, 60);
	const struct model_thread *t;
	struct run *r = *state;

	cross_tagged(r, 1, 10, 21);
	cross_tagged(r, 2, 20, 22);
	late.seq = ++r->seq[1];
	assert_int_equal(model_advance(r->model, 300), 0);
	cross_tagged(r, 1, 100, 160);
	feed_with(r, late, tagged(50));
	cross_tagged(r, 1, 180, 190);
	finish(r, 400);
	t = thread_of(r, 1);
	assert_fields(t, IS(lost, 0), IS(sums.known_ns, 10 + 20), IS(sums.counters[0], 10 + 180),
		      IS(sums.inside_known_ns, 11 + 10 + 60 + 10),
		      IS(sums.inside_known_ns, t->idle_ns),
		      IS(sums.inside_counters[0], 11 + 51 + 101 + 181));
}

/* A thread never left, so its time inside is unknown, and so is its next phase. */
static void test_abandoned(void **state)
{
	struct run *r = *state;
	const struct model_detail *d;

	cross_with(r, 1, 100, NEVER, first);
	cross_whole(r, 2, 150, 155);
	cross_tagged(r, 1, 200, 210);
	finish(r, 300);
	d = detail_of(r, 0, 1);
	assert_fields(d, IS(oncpu_ns, 60), IS(inside_oncpu_ns, MODEL_UNKNOWN),
		      IS(inside_runq_ns, 0), IS(inside_counters[0], 0));
	assert_fields(thread_of(r, 1), IS(sums.known_ns, 100), IS(sums.counters[0], 1000),
		      IS(sums.inside_known_ns, 10), IS(sums.inside_counters[0], 201));
}

/* Nested crossings are not included in any sum. */
static void test_nested(void **state)
{
	struct model_crossing c = crossing(1, A + 64, 1, 110, 120);
	static const struct model_sums none;
	struct run *r = *state;
	struct model_sums before;

	cross_with(r, 1, 100, 160, first);
	before = thread_of(r, 1)->sums;
	c.depth = 1;
	c.seq = ++r->seq[1];
	feed_with(r, c, first);
	c.flags = MODEL_CROSSING_ACCOUNTED;
	run_feed(r, c);
	finish(r, 300);
	assert_memory_equal(&thread_of(r, 1)->sums, &before, sizeof(before));
	assert_true(ep(r, 0)->nested || ep(r, 1)->nested);
	assert_memory_equal(
		&at_barrier(r, ep(r, 0)->nested ? ep(r, 0)->barrier : ep(r, 1)->barrier, 1)->sums,
		&none, sizeof(none));
}

/*
 * The sums of a barrier include only complete episodes. The sums of a thread include all of its
 * crossings.
 */
static void test_incomplete(void **state)
{
	struct run *r = *state;

	cross_tagged(r, 1, 10, 21);
	cross_tagged(r, 2, 20, 22);
	cross_tagged(r, 1, 30, 40);
	finish(r, 100);
	assert_int_equal(ep(r, 1)->state, MODEL_INCOMPLETE);
	assert_tags(r, 3);
	assert_fields(thread_of(r, 1), IS(sums.known_ns, 19), IS(sums.counters[0], 40));
	assert_fields(at_barrier(r, 0, 1), IS(sums.known_ns, 10), IS(sums.counters[0], 10),
		      IS(work_ns, 10));
}

/*
 * The start of a thread is reported after its first crossing. Until then, the model assumed a
 * longer first phase.
 */
static void test_late_news(void **state)
{
	struct model_detail d = first;
	struct run *r = *state;
	const struct model_thread *t;

	cross_whole(r, 1, 100, 160);
	cross_with(r, 2, 150, 155, d);
	assert_int_equal(model_add_thread(r->model, PID, INC, 1, 30), 0);
	assert_int_equal(model_add_thread(r->model, PID, INC, 2, 65), 0);
	finish(r, 300);
	t = thread_of(r, 1);
	assert_fields(t, IS(sums.known_ns, 70), IS(sums.oncpu_ns, 70));
	t = thread_of(r, 2);
	assert_fields(t, IS(sums.known_ns, 85), IS(sums.oncpu_ns, 55), IS(sums.runq_ns, 10));
}

/* --- details stay with their members --------------------------------------------------------- */

/*
 * Records arrive out of the order of their sequence numbers. The model parks them with their
 * details.
 */
static void test_parked(void **state)
{
	static const uint8_t order[] = { 0, 3, 1, 2, 9, 8, 7, 6, 5, 4 };
	struct model_crossing c;
	struct run *r = *state;

	for (uint32_t i = 0; i < 10; i++) {
		for (uint32_t t = 1; t <= 2; t++) {
			c = crossing(t, A, 2, 100 * order[i] + 10 * t, 100 * order[i] + 30 + t);
			c.seq = order[i] + 1;
			feed_with(r, c, tagged(c.arrive_ns));
		}
	}
	finish(r, 2000);
	assert_int_equal(r->nkept, 10);
	assert_int_equal(model_totals(r->model)->episodes, 10);
	assert_tags(r, 20);
}

/* There are more details than the model can park. Tracing ends while some are parked. */
static void test_parked_left(void **state)
{
	struct model_crossing c;
	struct run *r;

	for (uint32_t end = 0; end < 2; end++) {
		r = run_new(0);
		run_launched(r, 0);
		for (uint32_t i = 0; i < 25; i++) {
			c = crossing(1, A, 1, 100 * i + 100, 100 * i + 110);
			c.seq = 2 * i + 2;
			feed_with(r, c, tagged(c.arrive_ns));
		}
		assert_true(r->nkept < 25);
		if (end) {
			finish(r, 5000);
			assert_int_equal(r->nkept, 25);
			assert_tags(r, 0);
		}
		run_free(r);
	}
}

/* A member that never left is replaced by the right member while the episode is open. */
static void test_pending(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(0);

	run_launched(r, 0);
	cross_tagged(r, 1, 10, NEVER);
	cross_tagged(r, 1, 30, 51);
	cross_tagged(r, 2, 40, 52);
	cross_tagged(r, 1, 60, 71);
	cross_tagged(r, 2, 70, 72);
	finish(r, 200);
	assert_int_equal(r->nkept, 3);
	assert_tags(r, 4);
	run_free(r);
	/* Only the replacing member has a detail. */
	r = run_new(0);
	run_launched(r, 0);
	cross_all(r, { 1, A, 2, 10, NEVER }, { 1, A, 2, 30, 51 });
	cross_tagged(r, 2, 40, 52);
	finish(r, 200);
	assert_int_equal(r->nkept, 2);
	assert_tids(ep(r, 1), "1 2");
	assert_int_equal(detail_of(r, 1, 2)->counters[0], 40);
	run_free(r);
	/* Free the model before the replacement has arrived. */
	r = run_new(0);
	run_launched(r, 0);
	cross_tagged(r, 1, 10, NEVER);
	cross_tagged(r, 1, 30, 51);
	cross_tagged(r, 2, 40, NEVER);
}

/*
 * A record of thread 2 arrives long after its episode was closed. The thread's sums include it, but
 * it is a member of no episode.
 */
static void test_stray(void **state)
{
	struct model_crossing late = crossing(2, A, 2, 12, 23);
	struct run *r = *state;
	uint32_t n = 0;

	cross_tagged(r, 1, 10, 22);
	lose(r, 2);
	cross_tagged(r, 1, 30, 42);
	cross_tagged(r, 2, 40, 43);
	assert_int_equal(model_advance(r->model, 5000000000), 0);
	late.seq = 1;
	feed_with(r, late, tagged(12));
	finish(r, 6000000000);
	for (uint32_t i = 0; i < r->nkept; i++)
		n += r->kept[i].ep.n;
	assert_int_equal(n, 3);
	assert_fields(thread_of(r, 2), IS(sums.known_ns, 0), IS(sums.inside_known_ns, 11 + 3),
		      IS(sums.inside_counters[0], 13 + 41));
}

/* Three threads cross a barrier for two in turn, until one of them ends. */
static void test_cyclic(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(0);
	uint64_t t = 1000;

	run_launched(r, 0);
	for (uint32_t i = 0; i < 300; i++, t += 1000000) {
		cross_tagged(r, 1 + i % 3, t, t + 200);
		cross_tagged(r, 1 + (i + 1) % 3, t + 100, t + 201);
		if (i % 8 == 7)
			assert_int_equal(model_advance(r->model, t), 0);
	}
	/* Thread 3 has ended: two remain. */
	assert_int_equal(model_end_thread(r->model, PID, INC, 3, t, NULL), 0);
	for (uint32_t i = 0; i < 300; i++, t += 1000000) {
		cross_tagged(r, 1, t, t + 200);
		cross_tagged(r, 2, t + 100, t + 201);
		if (i % 8 == 7)
			assert_int_equal(model_advance(r->model, t), 0);
	}
	finish(r, t);
	assert_tags(r, 1200);
	run_free(r);
	/* Free the model while some details are in the buffer. */
	r = run_new(0);
	run_launched(r, 0);
	for (uint32_t i = 0; i < 9; i++)
		cross_tagged(r, 1 + i % 3, 1000 * i, 1000 * i + 5000);
}

/* Evicted objects take no details of other objects with them. */
static void test_evicted(void **state)
{
	const uint32_t n = 66000;
	struct model_crossing c;
	struct run *r = *state;

	for (uint32_t i = 0; i < n; i++) {
		c = crossing(1, A + 64ULL * i, 2, 10 * i + 1, 10 * i + 5);
		c.seq = i + 1;
		feed_with(r, c, tagged(c.arrive_ns));
	}
	assert_true(r->nkept >= n - 65536);
	assert_tags(r, r->nkept);
}

/* The sums of the process and of the barrier include threads that are only stored as a sum. */
static void test_folded(void **state)
{
	const uint32_t n = 100000;
	struct model_detail tail = {
		.oncpu_ns = 2, .runq_ns = 3, .ncounters = 1, .counters = { 1 }
	};
	struct model_sums all = { 0 }, barrier = { 0 };
	const struct model_thread *t;
	const struct model_proc *p;
	struct run *r = *state;
	struct model_crossing c;
	uint32_t tid;

	for (uint32_t i = 0; i < n; i++) {
		tid = 1000 + i;
		assert_int_equal(model_add_thread(r->model, PID, INC, tid, 100 * i), 0);
		c = crossing(tid, A, 2, 100 * i + 10, 100 * i + 31);
		c.seq = 1;
		feed_with(r, c, tagged(c.arrive_ns));
		c = crossing(1, A, 2, 100 * i + 30, 100 * i + 32);
		c.seq = i + 1;
		assert_int_equal(model_add_crossing(r->model, &c), 0);
		assert_int_equal(model_add_tail(r->model, PID, INC, tid, 100 * i + 40, &tail), 0);
		assert_int_equal(model_end_thread(r->model, PID, INC, tid, 100 * i + 40, NULL), 0);
		if (i % 5000 == 0)
			assert_int_equal(model_advance(r->model, 100 * i), 0);
	}
	finish(r, 100ULL * n);
	p = model_proc(r->model, 0);
	assert_true(p->folded.threads > 0);
	all = p->folded.sums;
	for (uint32_t i = 0; i < model_nthreads(r->model); i++) {
		t = model_thread(r->model, i);
		if (t->proc == MODEL_NONE)
			continue;
		all.known_ns += t->sums.known_ns;
		all.oncpu_ns += t->sums.oncpu_ns;
		all.runq_ns += t->sums.runq_ns;
		all.counters[0] += t->sums.counters[0];
		all.inside_known_ns += t->sums.inside_known_ns;
		all.counted += t->sums.counted;
	}
	assert_fields(&all, IS(known_ns, 19ULL * n), /* 10 ns, and 9 ns of the tail */
		      IS(oncpu_ns, 12ULL * n), IS(runq_ns, 3ULL * n),
		      IS(inside_known_ns, 21ULL * n), IS(counted, 2ULL * n),
		      IS(counters[0], 50ULL * n * (n - 1) + 11ULL * n));
	for (uint32_t i = 0; i < model_barrier(r->model, 0)->nthreads; i++) {
		const struct model_barrier_thread *bt = &model_barrier(r->model, 0)->threads[i];

		barrier.known_ns += bt->sums.known_ns;
		barrier.oncpu_ns += bt->sums.oncpu_ns;
		barrier.counters[0] += bt->sums.counters[0];
	}
	assert_fields(&barrier, IS(known_ns, 10ULL * n), IS(oncpu_ns, 10ULL * n),
		      IS(counters[0], 50ULL * n * (n - 1) + 10ULL * n));
}

/* --- tails ----------------------------------------------------------------------------------- */

static void add_tail(struct run *r, uint32_t tid, uint64_t t_ns, const struct model_detail *d)
{
	assert_int_equal(model_add_tail(r->model, PID, INC, tid, t_ns, d), 0);
}

static void test_tail(void **state)
{
	struct run *r = *state;
	struct model_thread th;

	feed_by_hand(r);
	add_tail(r, 1, 290, &first);
	assert_int_equal(model_end_thread(r->model, PID, INC, 1, 290, NULL), 0);
	add_tail(r, 2, 300, NULL);
	add_tail(r, 9, 300, &first); /* an unknown thread */
	model_thread_at(r->model, 1, 300, &th);
	assert_fields(&th, IS(tid, 1), IS(sums.known_ns, 140 + 80));
	/* The result is the same whether the detail is still pending or already in the sums. */
	assert_int_equal(model_advance(r->model, 295), 0);
	model_thread_at(r->model, 1, 300, &th);
	assert_int_equal(th.sums.known_ns, 140 + 80);
	finish(r, 300);
	assert_null(thread_of(r, 9));
	th = *thread_of(r, 1);
	assert_fields(&th.sums, IS(known_ns, 140 + 80), IS(known_ns, th.outside_ns),
		      IS(oncpu_ns, 100 + 50), /* 90 ns of parts in 80 */
		      IS(runq_ns, 20), IS(counters[0], 2005), IS(inside_counters[0], 307),
		      IS(inside_known_ns, 70), IS(counted, 3));
	th = *thread_of(r, 2);
	assert_fields(&th.sums, IS(known_ns, 200 + 80), IS(oncpu_ns, 280));
	/* A tail does not belong to a barrier. */
	assert_int_equal(at_barrier(r, 0, 1)->sums.known_ns, 140);
}

/* The last crossing of a thread is reported after its tail, and no time counts twice. */
static void test_tail_first(void **state)
{
	struct model_crossing c = crossing(1, A, 2, 200, 210);
	struct model_detail d = { .oncpu_ns = 30, .runq_ns = 50 };
	struct run *r = run_new(0);

	for (uint32_t parked = 0; parked < 2; parked++) {
		r = parked ? run_new(0) : r;
		run_launched(r, 0);
		cross_tagged(r, 1, 100, 160);
		cross_tagged(r, 2, 150, 161);
		c.seq = 2 + parked;
		if (parked)
			feed_with(r, c, tagged(200));
		add_tail(r, 1, 290, &d);
		assert_int_equal(model_end_thread(r->model, PID, INC, 1, 290, NULL), 0);
		if (!parked)
			feed_with(r, c, tagged(200));
		assert_int_equal(model_advance(r->model, 295), 0);
		finish(r, 300);
		assert_fields(thread_of(r, 1), IS(sums.known_ns, parked ? 180 : 220),
			      IS(sums.oncpu_ns, parked ? 130 : 170), IS(sums.runq_ns, 50),
			      IS(sums.known_ns, thread_of(r, 1)->outside_ns));
		run_free(r);
	}
}

/* If a crossing arrives after the tail was added, the time of the tail is not added again. */
static void test_tail_settled(void **state)
{
	struct run *r = *state;

	cross_tagged(r, 1, 100, 160);
	add_tail(r, 1, 290, &first);
	assert_int_equal(model_end_thread(r->model, PID, INC, 1, 290, NULL), 0);
	assert_int_equal(model_advance(r->model, 295), 0);
	cross_tagged(r, 1, 200, 210);
	finish(r, 300);
	assert_fields(thread_of(r, 1), IS(sums.known_ns, 100 + 130),
		      IS(sums.counters[0], 100 + 1000), IS(sums.inside_known_ns, 60 + 10));
}

/*
 * A thread that is inside a barrier at the end has no tail after its arrival. If a thread never
 * left a barrier, its tail is unknown.
 */
static void test_tail_inside(void **state)
{
	struct run *r = *state;

	feed_by_hand(r);
	add_tail(r, 1, 300, NULL);
	assert_int_equal(model_add_pending(r->model, PID, INC, 1, A, 250), 0);
	cross_with(r, 2, 250, NEVER, first);
	add_tail(r, 2, 300, &first);
	finish(r, 300);
	assert_fields(thread_of(r, 1), IS(sums.known_ns, 140 + 40),
		      IS(sums.known_ns, thread_of(r, 1)->outside_ns));
	assert_fields(thread_of(r, 2), IS(sums.known_ns, 200 + 30),
		      IS(sums.known_ns, thread_of(r, 2)->outside_ns));
}

/*
 * Tails are reported twice, after the end of the thread, or before the start of another thread with
 * the same number.
 */
static void test_tail_senseless(void **state)
{
	struct run *r = *state;

	feed_by_hand(r);
	add_tail(r, 1, 240, &first);
	add_tail(r, 1, 250, NULL);
	add_tail(r, 2, 250, NULL);
	add_tail(r, 2, 230, &first);
	assert_int_equal(model_end_thread(r->model, PID, INC, 1, 250, NULL), 0);
	add_tail(r, 1, 280, &first);
	assert_int_equal(model_add_thread(r->model, PID, INC, 1, 270), 0);
	add_tail(r, 1, 260, &first);
	assert_int_equal(model_thread(r->model, 1)->tid, 1);
	finish(r, 300);
	assert_fields(model_thread(r->model, 1), IS(sums.known_ns, 140 + 40),
		      IS(sums.oncpu_ns, 100 + 40));
	assert_int_equal(thread_of(r, 2)->sums.known_ns, 200 + 10);
	assert_fields(thread_of(r, 1), IS(start_ns, 270), IS(sums.known_ns, 0));
}

/* --- random programs ------------------------------------------------------------------------- */

/* Return a random part of *@left. */
static uint64_t part(uint64_t *seed, uint64_t *left)
{
	uint64_t v = rnd_to(seed, 3) ? 0 : rnd_to(seed, *left + 1);

	*left -= v;
	return v;
}

/* Give a record a random detail, and compute what the model should report. */
static void invent(uint64_t *seed, struct rec *rec, uint64_t work)
{
	uint64_t left = work, wait = rec->c.depart_ns - rec->c.arrive_ns;
	struct model_detail *d = &rec->detail;

	rec->c.flags |= MODEL_CROSSING_ACCOUNTED;
	rec->c.detail = rnd_to(seed, 4) ? d : NULL;
	if (rec->c.detail) {
		for (unsigned i = 0; i < MODEL_BLOCKED_REASONS; i++)
			d->blocked_ns[i] = part(seed, &left);
		d->runq_ns = part(seed, &left);
		d->oncpu_ns = rnd_to(seed, 2) ? left : part(seed, &left);
		d->ncounters = 2;
		d->counters[0] = rnd_to(seed, 1000);
		d->counters[1] = rec->c.arrive_ns;
		d->inside_counters[1] = rec->c.depart_ns;
		d->switches = rnd_to(seed, 5);
		d->inside_switches = rnd_to(seed, 3);
		d->inside_runq_ns = part(seed, &wait);
		d->inside_oncpu_ns = part(seed, &wait);
		rec->parts = *d;
		/*
		 * Sometimes pass the time on a CPU as unknown, which means the rest of the time, or
		 * as slightly too long, as if it was measured with other timestamps.
		 */
		if (phase_parts(d) == work)
			d->oncpu_ns =
				rnd_to(seed, 2) ? MODEL_UNKNOWN : d->oncpu_ns + rnd_to(seed, 20);
	} else {
		rec->parts.oncpu_ns = work;
		rec->parts.inside_oncpu_ns = wait;
	}
}

static int by_seq(const void *a, const void *b)
{
	const struct rec *x = a, *y = b;

	return x->c.tid != y->c.tid ? (x->c.tid < y->c.tid ? -1 : 1)
				    : (x->c.seq < y->c.seq ? -1 : x->c.seq > y->c.seq);
}

static void add_parts(struct model_sums *s, const struct rec *rec, uint64_t work)
{
	s->inside_known_ns += rec->c.depart_ns - rec->c.arrive_ns;
	s->inside_oncpu_ns += rec->parts.inside_oncpu_ns;
	s->inside_runq_ns += rec->parts.inside_runq_ns;
	s->inside_switches += rec->parts.inside_switches;
	s->slept += rec->parts.inside_switches > 0;
	s->inside_counters[1] += rec->parts.inside_counters[1];
	s->counted += rec->parts.ncounters > 0;
	if (work == MODEL_UNKNOWN)
		return;
	s->known_ns += work;
	s->oncpu_ns += rec->parts.oncpu_ns;
	s->runq_ns += rec->parts.runq_ns;
	for (unsigned i = 0; i < MODEL_BLOCKED_REASONS; i++)
		s->blocked_ns[i] += rec->parts.blocked_ns[i];
	s->counters[0] += rec->parts.counters[0];
	s->counters[1] += rec->parts.counters[1];
	s->switches += rec->parts.switches;
}

/* Give most records details, and compute the expected sums of each thread. */
static void invent_all(struct sim *s, struct model_sums want[THREADS_MAX + 1])
{
	uint64_t from = 0;
	bool known = false;
	struct rec *rec;

	memset(want, 0, (THREADS_MAX + 1) * sizeof(*want));
	qsort(s->recs, s->nrecs, sizeof(*s->recs), by_seq);
	for (uint32_t i = 0; i < s->nrecs; i++) {
		rec = &s->recs[i];
		if (rec->c.seq == 1) {
			from = 1000000;
			known = true;
		}
		if (rnd_to(&s->seed, 8)) {
			invent(&s->seed, rec, rec->c.arrive_ns - from);
			if (!rec->dropped)
				add_parts(&want[rec->c.tid], rec,
					  known ? rec->c.arrive_ns - from : MODEL_UNKNOWN);
		}
		from = rec->c.depart_ns;
		known = !rec->dropped;
	}
}

static const struct rec *rec_of(const struct sim *s, const struct model_member *mem)
{
	for (uint32_t i = 0; i < s->nrecs; i++)
		if (s->recs[i].c.tid == mem->tid && s->recs[i].c.arrive_ns == mem->arrive_ns)
			return &s->recs[i];
	return NULL;
}

static void check_member(const struct model_member *mem, const struct rec *rec)
{
	const struct model_detail *d = mem->detail;

	assert_non_null(rec);
	if (!(rec->c.flags & MODEL_CROSSING_ACCOUNTED)) {
		assert_null(d);
		return;
	}
	assert_non_null(d);
	assert_fields(d, IS(inside_oncpu_ns, rec->parts.inside_oncpu_ns),
		      IS(inside_runq_ns, rec->parts.inside_runq_ns),
		      IS(inside_counters[1], rec->parts.inside_counters[1]));
	if (mem->work_ns == MODEL_UNKNOWN) {
		assert_int_equal(d->oncpu_ns, MODEL_UNKNOWN);
		return;
	}
	assert_true(phase_parts(d) <= mem->work_ns);
	assert_memory_equal(d, &rec->parts, sizeof(*d));
}

/* Check the sums of each thread at each barrier against the members of complete episodes. */
static void check_barriers(const struct sim *s, const struct run *r)
{
	const struct model_barrier_thread *bt;
	const struct model_barrier *b;
	const struct model_member *mem;
	struct model_sums want;

	for (uint32_t i = 0; i < model_nbarriers(r->model); i++) {
		b = model_barrier(r->model, i);
		for (uint32_t k = 0; k < b->nthreads; k++) {
			bt = &b->threads[k];
			memset(&want, 0, sizeof(want));
			for (uint32_t e = 0; e < r->nkept; e++) {
				mem = member_of(&r->kept[e].ep,
						model_thread(r->model, bt->thread)->tid);
				if (mem && mem->detail && r->kept[e].ep.barrier == i &&
				    r->kept[e].ep.state == MODEL_COMPLETE)
					add_parts(&want, rec_of(s, mem), mem->work_ns);
			}
			assert_memory_equal(&bt->sums, &want, sizeof(want));
		}
	}
}

static void check_all(struct sim *s, struct run *r, const struct model_sums *want)
{
	const struct model_thread *t;

	for (uint32_t i = 0; i < model_nthreads(r->model); i++) {
		t = model_thread(r->model, i);
		assert_memory_equal(&t->sums, &want[t->tid], sizeof(t->sums));
		assert_true(t->sums.known_ns <= t->outside_ns);
		assert_true(t->sums.inside_known_ns <= t->idle_ns);
	}
	for (uint32_t i = 0; i < r->nkept; i++)
		for (uint32_t k = 0; k < r->kept[i].ep.n; k++)
			check_member(&r->kept[i].members[k], rec_of(s, &r->kept[i].members[k]));
	check_barriers(s, r);
}

static void random_run(uint64_t seed, unsigned loss, bool cyclic)
{
	struct model_sums want[THREADS_MAX + 1];
	struct run *r CLEANUP_PTR(run_free) = run_new(1000000);
	struct sim s CLEANUP(sim_free);

	run_launched(r, 1000000);
	sim_setup(&s, seed);
	s.loss = loss;
	if (cyclic) {
		s.nthreads = 3 + rnd_to(&s.seed, THREADS_MAX - 2);
		s.work *= 1000;
		s.latency *= 1000;
		s.window *= 1000;
		play_cyclic(&s, 2 + rnd_to(&s.seed, s.nthreads - 2), 60, 0);
	} else {
		s.counted = rnd_to(&s.seed, 2);
		play(&s, 40);
	}
	invent_all(&s, want);
	deliver(&s, r);
	check_all(&s, r, want);
}

static void test_random(void **state)
{
	for (uint64_t seed = 1; seed <= 100; seed++)
		random_run(seed, 0, false);
	for (uint64_t seed = 101; seed <= 300; seed++)
		random_run(seed, seed % 200 + 1, false);
}

static void test_random_cyclic(void **state)
{
	for (uint64_t seed = 1; seed <= 30; seed++)
		random_run(seed, 0, true);
	for (uint64_t seed = 31; seed <= 90; seed++)
		random_run(seed, seed, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		empty_run_test(test_by_hand),
		launched_test(test_unaccounted),
		launched_test(test_clipped),
		launched_test(test_lost),
		launched_test(test_late),
		launched_test(test_abandoned),
		launched_test(test_nested),
		launched_test(test_incomplete),
		launched_test(test_late_news),
		launched_test(test_parked),
		cmocka_unit_test(test_parked_left),
		cmocka_unit_test(test_pending),
		launched_test(test_stray),
		cmocka_unit_test(test_cyclic),
		launched_test(test_evicted),
		launched_test(test_folded),
		empty_run_test(test_tail),
		cmocka_unit_test(test_tail_first),
		launched_test(test_tail_settled),
		empty_run_test(test_tail_inside),
		empty_run_test(test_tail_senseless),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_random_cyclic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
