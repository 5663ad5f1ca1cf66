// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check names, efficiencies and verdicts of the report, on programs with known answers. */
#include "test_model_util.h"

#include <math.h>

#include "analyse/cause.h"
#include "analyse/internal.h"
#include "analyse/report.h"
#include "base/array.h"
#include "sbt/record.h"

DEFINE_CLEANUP_PTR(report_arena_free, void *)
DEFINE_CLEANUP_PTR(report_namer_free, struct report_namer *)

#define A 0x1000

/* --- input of the report ---------------------------------------------------------------------- */

static const struct site_frame lu_frame = { "lu", "/src/lu.c", 42, 0 };
static const struct site_frame inlined[2] = { { "wait_all", "/src/sync.h", 7, 0 },
					      { "solve", "/src/solve.c", 99, 0 } };
static const struct site_frame hostile = { "a\x1b[31m\n", "/src/\xe2\x80\xae.c", 3, 0 };

static const struct site_name sites[] = {
	{ 1, &lu_frame, "/usr/bin/lu", 0x1234, .build_id = "abcd" },
	{ 2, inlined, "/usr/bin/lu", 0x2000, .build_id = "abcd" },
	{ 0, NULL, "/usr/lib/libx.so.1", 0x3456, .build_id = NULL },
	{ 1, &hostile, "/tmp/x", 0x10, .build_id = NULL },
	{ 1, &lu_frame, "/usr/bin/lu", 0x1260,
	  .build_id = "abcd" }, /* another call on the same line */
	{ 0, NULL, NULL, 0x7f0012345678, .build_id = NULL },
	{ 1, &lu_frame, "/opt/copy/lu", 0x9999,
	  .build_id = "ffff" }, /* another build of the same program */
};

static const struct site_name *site(void *ctx, uint32_t n)
{
	return n < sizeof(sites) / sizeof(sites[0]) ? &sites[n] : NULL;
}

/* Return the name of a site, and count the calls. */
static const struct site_name *counted_site(void *ctx, uint32_t n)
{
	++*(uint64_t *)ctx;
	return site(NULL, n % (sizeof(sites) / sizeof(sites[0])));
}

static const char *family_name(uint8_t family)
{
	return family == 1 ? "pthread" : NULL;
}

static const char *given_name(void *ctx, const struct model_barrier *b)
{
	return ctx;
}

static struct report_env env(uint64_t end_ns)
{
	return (struct report_env){
		.site = site,
		.family_name = family_name,
		.crossing_cost_ns = NAN,
		.tracer_cpu_ns = REPORT_UNKNOWN,
		.end_ns = end_ns,
	};
}

static void build(struct run *r, uint64_t end_ns, struct report *out)
{
	struct report_env e = env(end_ns);

	assert_int_equal(model_finish(r->model, end_ns), 0);
	assert_int_equal(report_build(r->model, &e, out), 0);
}

static struct report built(struct run *r, uint64_t end_ns)
{
	struct report rep;

	build(r, end_ns, &rep);
	return rep;
}

/* Run a team of @n threads, with tids from 101: thread i works for work(i, k) in round k. */
static uint64_t play(struct run *r, uint32_t n, uint32_t rounds, uint32_t at, uint64_t latency,
		     uint64_t (*work)(uint32_t i, uint32_t k))
{
	uint64_t ready = 0, release;
	struct model_crossing c;

	for (uint32_t k = 0; k < rounds; k++) {
		release = 0;
		for (uint32_t i = 0; i < n; i++)
			if (ready + work(i, k) > release)
				release = ready + work(i, k);
		for (uint32_t i = 0; i < n; i++) {
			c = crossing(101 + i, A, n, ready + work(i, k), release + latency);
			c.site = at;
			run_feed(r, c);
		}
		ready = release + latency;
	}
	return ready;
}

static uint64_t even(uint32_t i, uint32_t k)
{
	return 1000000 + i;
}

static uint64_t one_slow(uint32_t i, uint32_t k)
{
	return i == 2 ? 2000000 : 1000000;
}

static uint64_t rotating(uint32_t i, uint32_t k)
{
	return i == k % 4 ? 2000000 : 1000000;
}

/* --- verdicts -------------------------------------------------------------------------------- */

static void test_static(void **state)
{
	struct run *r = *state;
	struct report_process *p;
	struct report_barrier *b;
	struct report rep CLEANUP(report_free) = built(r, play(r, 4, 20, 0, 10, one_slow));

	assert_int_equal(rep.nprocesses, 1);
	p = &rep.processes[0];
	assert_fields(p, IS(pid, PID), TEXT(comm, "prog"),
		      NEAR(efficiency.load_balance, 5 / 8.0, 1e-9),
		      NEAR(efficiency.serialisation, 1, 1e-9),
		      NEAR(efficiency.parallel,
			   p->efficiency.load_balance * p->efficiency.communication, 1e-12));
	assert_near(1 - p->lost_static - p->lost_rotating - p->lost_transfer,
		    p->efficiency.parallel, 1e-12);
	assert_fields(p, IS(pattern, REPORT_STATIC), HAS(verdict, "the same threads always"),
		      HAS(advice, "Redistribute the work"));
	assert_int_equal(rep.nbarriers, 1);
	b = &rep.barriers[0];
	assert_fields(b, IS(pattern, REPORT_STATIC), IS(last_tid, 103), IS(last_count, 20),
		      NEAR(last_share, 1, 1e-12), IS(lost_ns, 20 * 3 * 1000000ULL),
		      IS(gain_ns, 20 * 3 * 1000000ULL / 4), NEAR(load_balance, 5 / 8.0, 1e-9),
		      NEAR(serialisation, 1, 1e-9), NEAR(imbalance, 3 / 8.0, 1e-4),
		      HAS(verdict, "37 %"), /* 3 of 8, minus the cost of the barrier */
		      HAS(verdict, "thread 2"), HAS(verdict, "100 %"),
		      HAS(verdict, "threads 0, 1, 3 wait 50 %"), IS(nthreads, 4));
	assert_fields(p, IS(nmembers, 4), IS(wait_ns, b->lost_ns), IS(release_ns, 20 * 4 * 10));
	assert_int_equal(b->participants, 4);
}

static uint64_t one_of_many(uint32_t i, uint32_t k)
{
	return i == 70 ? 3000000 : 1000000 + 1000 * ((i + k) % 5);
}

/*
 * One thread of many differs from the rest and is named. Random differences do not split the rest.
 */
static void test_outlier(void **state)
{
	struct run *r = *state;
	struct report rep CLEANUP(report_free) = built(r, play(r, 140, 20, 0, 10, one_of_many));

	assert_fields(&rep, IS(barriers[0].pattern, REPORT_STATIC),
		      HAS(barriers[0].verdict,
			  "threads 0-69, 71-139 wait 67 % of their time there, "
			  "thread 70 only 0 %."),
		      HAS(processes[0].verdict, "thread 70 only 0 %"));
}

/*
 * Run @teams teams of four new threads each, one after the other. Each team crosses @rounds times,
 * and its third thread has more work.
 */
static void play_teams(struct run *r, uint32_t teams, uint32_t rounds, struct report *rep)
{
	struct model_crossing c;
	uint64_t now = 0;
	uint32_t tid;

	for (uint32_t n = 0; n < teams; n++) {
		for (uint32_t i = 0; i < 4; i++) {
			tid = 101 + 4 * n + i;
			r->seq[tid % 256] = 0;
			assert_int_equal(model_add_thread(r->model, PID, INC, tid, now), 0);
		}
		for (uint32_t k = 0; k < rounds; k++) {
			for (uint32_t i = 0; i < 4; i++) {
				c = crossing(101 + 4 * n + i, A, 4, now + one_slow(i, k),
					     now + 2000010);
				c.site = 0;
				run_feed(r, c);
			}
			now += 2000010;
		}
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(
				model_end_thread(r->model, PID, INC, 101 + 4 * n + i, now, NULL),
				0);
	}
	build(r, now, rep);
}

/*
 * Only a thread that is known to work longer is reported to have more work. The advice follows the
 * cause of the lateness.
 */
static void test_headline_by_cause(void **state)
{
	static const struct {
		enum cause_kind dominant;
		double share;
		const char *says, *advice;
	} cases[] = {
		{ CAUSE_WORK, 0.9, "the same threads always have more work",
		  "Redistribute the work" },
		{ CAUSE_MORE_WORK, 0.6, "the same threads always have more work",
		  "Redistribute the work" },
		{ CAUSE_WORK, 0.4, "the same threads always arrive late", "Redistribute the work" },
		{ CAUSE_NONE, NAN, "the same threads always arrive late", "Redistribute the work" },
		{ CAUSE_UNATTRIBUTED, 0.9, "always arrive late", "Redistribute the work" },
		{ CAUSE_OTHER, 0.9, "always arrive late", "see what they wait for" },
		{ CAUSE_SLEEP, 0.9, "always arrive late", "late threads sleep" },
		{ CAUSE_IO, 0.9, "always arrive late", "input and output" },
		{ CAUSE_STEAL, 0.9, "always arrive late", "host" },
	};
	struct run *r = *state;
	struct report_barrier *b;
	struct report_process *p;
	struct report rep CLEANUP(report_free) = built(r, play(r, 4, 20, 0, 10, one_slow));

	b = &rep.barriers[0];
	p = &rep.processes[0];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		b->cause.dominant = cause_row(cases[i].dominant);
		b->cause.share = cases[i].share;
		p->verdict[0] = b->verdict[0] = '\0';
		verdict_barrier(b);
		verdict_process(p, b, &(struct verdict_shares){ 1, verdict_by_work(b) ? 1 : 0, 1 });
		assert_fields(p, IS(pattern, REPORT_STATIC), HAS(verdict, cases[i].says),
			      HAS(advice, cases[i].advice));
		assert_says(b->advice, cases[i].advice);
	}
}

/*
 * A process hung until the end. The headline says so, and that the efficiencies count the hang as
 * lost time.
 */
static void test_hung(void **state)
{
	struct run *r = *state;
	struct report_process *p;
	struct report rep CLEANUP(report_free) = built(r, play(r, 4, 20, 0, 10, one_slow));

	p = &rep.processes[0];
	p->hung = true;
	verdict_process(p, &rep.barriers[0], &(struct verdict_shares){ 1, 1, 1 });
	assert_fields(p, HAS(verdict, "It hung, see above. Before that, "),
		      HAS(verdict, "The efficiencies below count the hang as lost time."));
}

/* A serial part of OpenMP is neither lateness of a thread nor barrier overhead. */
static void test_serial_parts(void **state)
{
	struct report_openmp_losses l;
	struct run *r = *state;
	struct report_process *p;
	struct report rep CLEANUP(report_free) = built(r, play(r, 4, 20, 0, 10, one_slow));

	p = &rep.processes[0];
	assert_false(report_openmp_losses(p, &l));
	p->omp_scheduling = 0.9;
	p->omp_load_balance = 0.8;
	p->omp_serialisation = 0.5;
	assert_true(report_openmp_losses(p, &l));
	assert_fields(&l, NEAR(runtime, 0.1, 1e-12), NEAR(waiting, 0.18, 1e-12),
		      NEAR(serial, 0.36, 1e-12));
	assert_true(isnan(l.start));
	/* The start of the teams takes part of the serial time. */
	p->omp_start = 0.75;
	p->omp_serialisation = 0.5 / 0.75;
	assert_true(report_openmp_losses(p, &l));
	assert_fields(&l, NEAR(start, 0.18, 1e-12), NEAR(serial, 0.18, 1e-12));
	p->omp_start = 0.5;
	p->omp_serialisation = 0.9;
	verdict_process(p, &rep.barriers[0], &(struct verdict_shares){ 1, 1, 1 });
	assert_fields(p,
		      HAS(verdict, "36 % of thread time is lost at the start of parallel regions"),
		      LACKS(verdict, "lost in serial"));
	p->omp_start = 1;
	p->omp_serialisation = 0.5;
	/* The verdict names the serial parts, whatever the losses at barriers are. */
	p->lost_transfer = 0.75;
	p->lost_static = 0.01;
	p->lost_rotating = 0;
	verdict_process(p, &rep.barriers[0], &(struct verdict_shares){ 1, 1, 1 });
	assert_fields(p, IS(pattern, REPORT_STATIC),
		      HAS(verdict, "36 % of thread time is lost in serial parts"),
		      HAS(verdict, "18 % waiting for other threads"),
		      HAS(advice, "parallel regions"), LACKS(verdict, "barriers themselves"));
	/* The verdict also reports waits for a turn, because they cause waits at the barrier. */
	p->omp_serialisation = 1;
	p->omp_turns = 0.8;
	assert_true(report_openmp_losses(p, &l));
	assert_fields(&l, NEAR(turns, 0.144, 1e-12), NEAR(serial, 0, 1e-12));
	verdict_process(p, &rep.barriers[0], &(struct verdict_shares){ 1, 1, 1 });
	assert_fields(
		p, IS(pattern, REPORT_ROTATING),
		HAS(verdict, "14 % of thread time is lost because threads work one after another"),
		HAS(advice, "Do less in critical and ordered sections"));
	p->omp_turns = 1;
	/* If the waits cost more than the serial part, the verdict reports the waits. */
	p->omp_serialisation = 0.9;
	verdict_process(p, &rep.barriers[0], &(struct verdict_shares){ 1, 1, 1 });
	assert_lacks(p->verdict, "serial");
}

/*
 * A thread that exists for a few episodes only is not reported as the thread that is always late.
 */
static void test_come_and_go(void **state)
{
	static const uint32_t rounds[] = { 1, 3 };
	const struct report_process *p;
	const struct report_barrier *b;
	struct report rep CLEANUP(report_free);
	struct run *r CLEANUP_PTR(run_free);

	for (uint32_t i = 0; i < 2; i++) {
		r = run_new(0);
		run_launched(r, 0);
		play_teams(r, 30, rounds[i], &rep);
		b = &rep.barriers[0];
		p = &rep.processes[0];
		assert_fields(b, IS(episodes, 30 * rounds[i]), IS(pattern, REPORT_MIXED_LOSS),
			      HAS(verdict, "no thread is known to be always late."),
			      HAS(advice, "each team"), LACKS(verdict, "same thread"),
			      LACKS(verdict, "thread 2"));
		/*
		 * Threads that follow each other in one position are compared as if they were one
		 * thread. The load balance is 5/8.
		 */
		assert_fields(p, IS(positions, 4), IS(threads, 120), IS(pattern, REPORT_STATIC),
			      NEAR(efficiency.load_balance, 5 / 8.0, 1e-3));
		assert_fields(b, NEAR(load_balance, 5 / 8.0, 1e-9), NEAR(serialisation, 1, 1e-9));
		assert_fields(p, LACKS(verdict, "same threads"),
			      HAS(verdict, "the same positions"));
		report_free(&rep);
		run_free(r);
	}
	/* Threads that exist for long are named. */
	r = run_new(0);
	run_launched(r, 0);
	play_teams(r, 1, 30, &rep);
	assert_fields(&rep, IS(barriers[0].pattern, REPORT_STATIC),
		      HAS(barriers[0].verdict, "thread 2 arrives last in 100 %"),
		      IS(processes[0].positions, 4), HAS(processes[0].verdict, "the same threads"));
}

/*
 * Return the work of thread @i in round @k: thread 0 is late in 7 of 12 rounds, and thread 1 is as
 * late in the other 5.
 */
static uint64_t by_chance(uint32_t i, uint32_t k)
{
	return 10000000 + (i == (k * 7 % 12 >= 7) ? 10000000 : 0);
}

/*
 * Return work that makes the two threads late in turn. Thread 0 is late by a little more, so thread
 * 1 waits a little longer in total.
 */
static uint64_t a_little(uint32_t i, uint32_t k)
{
	return 10000000 + (i == k % 2 ? 2000000 + (i ? 0 : 400000) : 0);
}

/* Return work that makes the same thread late in each of 12 rounds. */
static uint64_t for_certain(uint32_t i, uint32_t k)
{
	return 10000000 + (i ? 0 : 10000000) + k % 3;
}

/*
 * A verdict says that the same threads are always late only if their difference is significant and
 * large enough to matter.
 */
static void test_chance(void **state)
{
	static const struct {
		uint64_t (*work)(uint32_t i, uint32_t k);
		enum report_pattern pattern;
	} ways[] = {
		{ by_chance, REPORT_ROTATING },
		{ a_little, REPORT_ROTATING },
		{ for_certain, REPORT_STATIC },
	};
	const struct report_process *p;
	const struct report_barrier *b;
	struct report rep;
	struct run *r;

	for (uint32_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		r = run_new(0);
		run_launched(r, 0);
		build(r, play(r, 2, 12, 0, 10, ways[i].work), &rep);
		b = &rep.barriers[0];
		p = &rep.processes[0];
		assert_int_equal(b->pattern, ways[i].pattern);
		assert_int_equal(p->pattern, ways[i].pattern);
		if (ways[i].pattern == REPORT_ROTATING) {
			assert_lacks(b->verdict, "waits ");
			assert_fields(p, LACKS(verdict, "the same threads"),
				      HAS(verdict, "a different thread is late each time"));
		} else {
			assert_says(b->verdict,
				    "thread 1 waits 50 % of its time there, thread 0 only 0 %");
		}
		report_free(&rep);
		run_free(r);
	}
}

static void test_rotating(void **state)
{
	struct run *r = *state;
	struct report rep CLEANUP(report_free) = built(r, play(r, 4, 20, 0, 10, rotating));

	assert_fields(&rep, NEAR(processes[0].efficiency.load_balance, 1, 1e-9),
		      NEAR(processes[0].efficiency.serialisation, 5 / 8.0, 1e-9),
		      IS(processes[0].pattern, REPORT_ROTATING),
		      IS(barriers[0].pattern, REPORT_ROTATING),
		      HAS(barriers[0].verdict, "a different thread each time"),
		      HAS(barriers[0].advice, "fewer barriers"),
		      NEAR(barriers[0].last_share, 0.25, 1e-12));
}

/*
 * All threads have the same work, and the same thread always has the last turn. The verdict does
 * not say that a different thread is late each time.
 */
static void test_last_by_turn(void **state)
{
	struct report_thread threads[2] = {
		{ .tid = 101, .index = 0, .crossings = 30, .wait_ns = 400, .work_ns = 1000 },
		{ .tid = 102, .index = 1, .crossings = 30, .wait_ns = 10, .work_ns = 1000 },
	};
	struct report_barrier b = { .episodes = 30,
				    .participants = 2,
				    .processes = 1,
				    .imbalance = 0.2,
				    .load_balance = 0.99,
				    .serialisation = 0.8,
				    .lost_ns = 410,
				    .last_tid = 102,
				    .last_share = 1,
				    .threads = threads,
				    .nthreads = 2 };

	verdict_barrier(&b);
	assert_fields(&b, IS(pattern, REPORT_STATIC),
		      HAS(verdict, "thread 1 arrives last in 100 % of the episodes"),
		      HAS(advice, "Redistribute the work"));
	threads[1].parts.turn_ns = 500;
	verdict_barrier(&b);
	assert_says(b.advice, "Do less in critical");
	b.last_share = 0.5;
	verdict_barrier(&b);
	assert_int_equal(b.pattern, REPORT_ROTATING);
}

/*
 * Two barriers alternate. Thread 0 is late at one and thread 1 at the other. The difference is
 * significant, though each thread is late at half of all episodes.
 */
static void test_others_at_others(void **state)
{
	struct run *r = *state;
	const struct report_process *p;
	uint64_t ready = 0, work;
	struct model_crossing c;
	struct report rep CLEANUP(report_free);

	for (uint32_t k = 0; k < 40; k++, ready += 2000010) {
		for (uint32_t i = 0; i < 2; i++) {
			work = i == k % 2 ? 2000000 : 1000000;
			c = crossing(101 + i, A, 2, ready + work, ready + 2000010);
			c.site = 2 * (k % 2);
			run_feed(r, c);
		}
	}
	build(r, ready, &rep);
	p = &rep.processes[0];
	assert_fields(&rep, IS(nbarriers, 2), IS(barriers[0].pattern, REPORT_STATIC),
		      IS(barriers[1].pattern, REPORT_STATIC));
	assert_fields(p, IS(pattern, REPORT_ROTATING), IS(by_barrier, true),
		      HAS(verdict, "each barrier has its own late threads"),
		      HAS(advice, "Redistribute the work of each phase"),
		      LACKS(advice, "new shares will not help"));
}

/* A rank with a team of threads has one number among the ranks and another in its team. */
static void test_two_numbers(void **state)
{
	struct run *r = *state;
	struct model_crossing c;
	struct report rep CLEANUP(report_free);

	for (uint32_t k = 0; k < 5; k++) {
		for (uint32_t i = 0; i < 2; i++) {
			c = crossing(101 + i, A, 2, 100 * k + 10 + i, 100 * k + 12);
			c.place = i + 1;
			run_feed(r, c);
		}
		c = crossing(101, A + 64, 1, 100 * k + 50, 100 * k + 51);
		c.site = 2;
		c.shared = 0x77;
		c.family = SBT_FAMILY_MPI;
		c.place = 8;
		run_feed(r, c);
	}
	build(r, 1000, &rep);
	assert_int_equal(rep.nbarriers, 2);
	for (uint32_t k = 0; k < 2; k++) {
		const struct report_barrier *b = &rep.barriers[k];

		if (b->nthreads == 1) {
			assert_fields(b, IS(threads[0].index, 7), IS(threads[0].ranked, true));
		} else {
			assert_fields(b, IS(threads[0].index, 0), IS(threads[1].index, 1));
		}
	}
	assert_fields(&rep.processes[0], IS(members[0].index, 0), IS(members[1].index, 1));
}

static void test_costly(void **state)
{
	struct run *r = *state;
	struct report rep CLEANUP(report_free) = built(r, play(r, 4, 20, 0, 500000, even));

	char lost[64];

	assert_fields(&rep, IS(processes[0].pattern, REPORT_COSTLY),
		      IS(barriers[0].pattern, REPORT_COSTLY), HAS(barriers[0].verdict, "500.0 µs"),
		      HAS(barriers[0].advice, "cheaper"));
	/* The lost share is that of all other views. */
	snprintf(lost, sizeof(lost), "lost waiting for other threads (%.0f %%)",
		 100 * rep.processes[0].wait_share);
	assert_says(rep.processes[0].verdict, lost);
}

/* A barrier is not expensive because its released threads wait for a CPU. */
static void test_released_without_cpu(void **state)
{
	struct run *r = *state;
	struct report rep CLEANUP(report_free) = built(r, play(r, 4, 20, 0, 500000, even));
	struct report_barrier *b = &rep.barriers[0];
	uint64_t each = (uint64_t)b->release_ns.sum / b->nthreads;

	array_for_each (t, b->threads, b->nthreads) {
		t->parts.late_ns = each * 2 / 3;
		t->parts.spin_ns = each / 10;
	}
	verdict_barrier(b);
	assert_fields(b, IS(pattern, REPORT_COSTLY), HAS(advice, "wait for a CPU"),
		      HAS(verdict, "Waiting for a CPU to leave the barrier takes"));
	/* A third of the time is not the reason. */
	array_for_each (t, b->threads, b->nthreads)
		t->parts.late_ns = each / 3;
	verdict_barrier(b);
	assert_fields(b, HAS(advice, "cheaper"), HAS(verdict, "The barrier itself takes"));
	/* Threads that spin may have lost their CPU before the release. */
	array_for_each (t, b->threads, b->nthreads)
		t->parts.late_ns = t->parts.spin_ns = each;
	verdict_barrier(b);
	assert_fields(b, HAS(advice, "cheaper"));
}

/* A thread with more work is late, and other tasks use its CPU: the work matters as well. */
static void test_cpu_and_work(void **state)
{
	struct run *r = *state;
	struct report rep CLEANUP(report_free) = built(r, play(r, 4, 20, 0, 10, one_slow));
	struct report_barrier *b = &rep.barriers[0];

	b->cause = (struct report_cause){ .dominant = cause_row(CAUSE_CPU),
					  .share = 0.5,
					  .nparts = 2,
					  .parts = { { cause_name(CAUSE_CPU), 50 },
						     { cause_name(CAUSE_WORK), 40 } } };
	verdict_barrier(b);
	assert_fields(b, IS(pattern, REPORT_STATIC), HAS(advice, "redistribute the work, and"));
	assert_true(report_gain(b) == b->gain_ns);
	b->cause.parts[1].ns = 20;
	verdict_barrier(b);
	assert_fields(b, HAS(advice, "will not help"));
}

static void test_balanced_and_few(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(0);
	struct report rep CLEANUP(report_free);

	run_launched(r, 0);
	build(r, play(r, 4, 20, 0, 10, even), &rep);
	assert_fields(&rep.barriers[0], IS(pattern, REPORT_BALANCED), HAS(verdict, "Balanced"),
		      TEXT(advice, ""));
	report_free(&rep);
	run_free(r);

	r = run_new(0);
	run_launched(r, 0);
	build(r, play(r, 4, 3, 0, 10, one_slow), &rep);
	assert_fields(&rep.barriers[0], IS(pattern, REPORT_FEW),
		      HAS(verdict, "only 3 complete episodes"));
}

#define LU_N 256

/*
 * Block partitioning with 8 threads: a thread works on the rows of its block below k. The work per
 * row is the number of columns right of k.
 */
static uint64_t lu_block(uint32_t i, uint32_t k)
{
	uint32_t first = i * (LU_N / 8), end = first + LU_N / 8;

	if (first <= k)
		first = k + 1;
	return first < end ? (uint64_t)(end - first) * (LU_N - 1 - k) * 10 : 0;
}

static void test_lu_block(void **state)
{
	struct run *r = *state;
	struct report_barrier *b;
	struct report rep CLEANUP(report_free) = built(r, play(r, 8, LU_N - 1, 0, 1, lu_block));

	b = &rep.barriers[0];
	assert_fields(b, IS(episodes, LU_N - 1), NEAR(load_balance, 128 / 191.0, 0.01));
	assert_fields(&rep.processes[0].efficiency, NEAR(load_balance, 128 / 191.0, 0.01),
		      NEAR(serialisation, 1, 0.01));
	assert_int_equal(b->pattern, REPORT_STATIC);
	/*
	 * The work of threads 0 to 2 is 23, 65 and 101. This is below the mean of 128; the largest
	 * work is 191.
	 */
	assert_fields(b, HAS(verdict, "thread 7"), HAS(verdict, "threads 0-2 wait"),
		      HAS(verdict, "threads 3-7 only 0-32"));
	assert_says(rep.processes[0].verdict, "threads 0-2 wait");
}

/* --- names ----------------------------------------------------------------------------------- */

static void meet(struct run *r, uint32_t at1, uint32_t at2, uint64_t *t)
{
	struct model_crossing c = crossing(1, A, 2, *t + 10, *t + 31);

	c.site = at1;
	run_feed(r, c);
	c = crossing(2, A, 2, *t + 30, *t + 32);
	c.site = at2;
	run_feed(r, c);
	*t += 100;
}

static const struct report_barrier *at_site(const struct report *rep, uint32_t offset)
{
	for (uint32_t i = 0; i < rep->nbarriers; i++)
		if (rep->barriers[i].offset == offset && rep->barriers[i].ncallsites == 1)
			return &rep->barriers[i];
	fail_msg("no barrier at %#x", offset);
	return NULL;
}

static void test_names(void **state)
{
	const struct report_barrier *b;
	struct run *r = *state;
	struct report rep CLEANUP(report_free);
	uint64_t t = 0;

	for (uint32_t i = 0; i < 6; i++)
		meet(r, i, i, &t);
	meet(r, 1, 0, &t);
	build(r, t, &rep);
	assert_int_equal(rep.nbarriers, 7);
	b = at_site(&rep, 0x1234);
	assert_fields(b, TEXT(label, "lu() lu.c:42 (call 1)"), TEXT(function, "lu"),
		      TEXT(file, "/src/lu.c"), IS(line, 42), TEXT(family, "pthread"),
		      TEXT(kind, "explicit"), TEXT(object, "0x1000"),
		      IS(callsites[0].inlined, NULL));
	assert_fields(at_site(&rep, 0x1260), TEXT(label, "lu() lu.c:42 (call 2)"));
	b = at_site(&rep, 0x2000);
	assert_fields(b, TEXT(label, "wait_all() in solve() sync.h:7"),
		      TEXT(callsites[0].inlined, "solve"));
	b = at_site(&rep, 0x3456);
	assert_fields(b, TEXT(label, "libx.so.1+0x3456"), IS(function, NULL));
	b = at_site(&rep, 0x10);
	assert_string_equal(b->label, "a\\x1b[31m\\x0a \\xe2\\x80\\xae.c:3");
	for (uint32_t i = 0; i < rep.nbarriers; i++) {
		assert_int_equal(rep.barriers[i].id[0], '#');
		assert_int_equal(strlen(rep.barriers[i].id), 9);
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(rep.barriers[i].id, rep.barriers[j].id);
		if (rep.barriers[i].ncallsites == 2)
			assert_string_equal(rep.barriers[i].label, "lu() lu.c:42 and 1 more");
	}
}

static const char *symbol_of(void *ctx, const struct model_barrier *b)
{
	const char *const *symbols = ctx;

	return symbols[b->sites[0]];
}

/* Build a report of two barriers: one is crossed at site @one, the other one at site @two. */
static void two_alike(const char *const *symbols, uint32_t one, uint32_t two, struct report *rep)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(0);
	struct report_env e = env(1000);
	uint64_t t = 0;

	run_launched(r, 0);
	e.object_name = symbols ? symbol_of : NULL;
	e.ctx = (void *)symbols;
	meet(r, one, one, &t);
	meet(r, two, two, &t);
	assert_int_equal(model_finish(r->model, 1000), 0);
	assert_int_equal(report_build(r->model, &e, rep), 0);
	assert_int_equal(rep->nbarriers, 2);
}

/* Barriers with one printed name are distinguished by the object, by the call, or by the id. */
static void test_same_names(void **state)
{
	const char *const symbols[] = { "b1", NULL, NULL, NULL, "b2", NULL, NULL };
	const char *const equal[] = { "b", NULL, NULL, NULL, "b", NULL, NULL };
	struct report rep CLEANUP(report_free);
	struct report_barrier two[2] = { 0 };

	two_alike(symbols, 0, 4, &rep);
	assert_fields(at_site(&rep, 0x1234), TEXT(label, "lu() lu.c:42 (b1)"));
	assert_fields(at_site(&rep, 0x1260), TEXT(label, "lu() lu.c:42 (b2)"));
	for (uint32_t i = 0; i < rep.nphases; i++)
		assert_says(rep.phases[i].to, "(b");
	report_free(&rep);
	two_alike(equal, 4, 0, &rep);
	assert_fields(at_site(&rep, 0x1234), TEXT(label, "lu() lu.c:42 (call 1)"));
	assert_fields(at_site(&rep, 0x1260), TEXT(label, "lu() lu.c:42 (call 2)"));
	report_free(&rep);
	two_alike(NULL, 0, 1, &rep);
	assert_fields(at_site(&rep, 0x1234), TEXT(label, "lu() lu.c:42"));
	/* Long labels keep what distinguishes them. Other processes do not matter. */
	for (uint32_t i = 0; i < 2; i++) {
		memset(two[i].label, 'x', sizeof(two[i].label) - 1);
		snprintf(two[i].id, sizeof(two[i].id), "#%u", i);
	}
	assert_int_equal(name_tell_apart(two, 2), 0);
	assert_says(two[0].label, "... (#0)");
	assert_says(two[1].label, "... (#1)");
	strcpy(two[0].label, "same");
	strcpy(two[1].label, "same");
	two[1].pid = 2;
	assert_int_equal(name_tell_apart(two, 2), 0);
	assert_string_equal(two[0].label, "same");
}

/* One call in the source that was compiled into two calls has one name. */
static void test_one_name(void **state)
{
	struct run *r = *state;
	struct report rep CLEANUP(report_free);
	uint64_t t = 0;

	meet(r, 0, 4, &t);
	build(r, t, &rep);
	assert_fields(&rep.barriers[0], IS(ncallsites, 2), TEXT(label, "lu() lu.c:42"));
}

static void id_of(uint32_t pid_skew, const uint32_t *order, uint32_t n, uint32_t offset,
		  char id[17])
{
	struct run *r CLEANUP_PTR(run_free) = run_new(pid_skew);
	struct report rep CLEANUP(report_free);
	uint64_t t = pid_skew;

	run_launched(r, pid_skew);
	for (uint32_t i = 0; i < n; i++)
		meet(r, order[i], order[i], &t);
	build(r, t, &rep);
	memcpy(id, at_site(&rep, offset)->id, 17);
}

/* The id depends on the source position alone, not on the time of discovery or the installation. */
static void test_ids_are_stable(void **state)
{
	static const uint32_t one[] = { 0, 1, 2 }, two[] = { 2, 1, 0 }, copy[] = { 6 };
	char a[17], b[17], c[17];

	id_of(0, one, 3, 0x1234, a);
	id_of(5000, two, 3, 0x1234, b);
	id_of(0, copy, 1, 0x9999, c);
	assert_string_equal(a, b);
	assert_string_equal(a, c); /* same function and line in another build */
	id_of(0, one, 3, 0x2000, b);
	assert_string_not_equal(a, b);
}

/* During tracing a barrier has the same name as in the report. */
static void test_name_while_it_runs(void **state)
{
	struct run *r = *state;
	struct report_env e = env(10000);
	struct report_barrier live;
	struct report rep CLEANUP(report_free);
	uint64_t t = 0;
	void *arena;
	char id[17];

	meet(r, 0, 0, &t);
	meet(r, 4, 4, &t);
	assert_int_equal(report_barrier_name(r->model, &e, 1, &live, &arena), 0);
	assert_string_equal(live.label, "lu() lu.c:42");
	memcpy(id, live.id, 17);
	report_arena_free(arena);
	e.ctx = (void *)(uintptr_t) "my barrier";
	e.barrier_name = given_name;
	assert_int_equal(report_barrier_name(r->model, &e, 1, &live, &arena), 0);
	assert_string_equal(live.label, "my barrier");
	report_arena_free(arena);
	meet(r, 2, 2, &t);
	build(r, t, &rep);
	assert_string_equal(at_site(&rep, 0x1260)->id, id);
}

/*
 * Finding a name takes the same time for any number of names. The name equals that in the report,
 * even if two names clash.
 */
static void test_many_names(void **state)
{
	enum { MANY = 3000 };
	struct run *r = *state;
	struct report_env e = env(10000);
	struct report_namer *namer CLEANUP_PTR(report_namer_free) = report_namer_new();
	struct report_barrier live, alone;
	uint64_t t = 0, asked = 0, before;
	void *arena, *other;

	assert_non_null(namer);
	run_launched(r, 0);
	for (uint32_t i = 0; i < MANY; i++)
		meet(r, i, i, &t);
	e.site = counted_site;
	e.ctx = &asked;
	for (uint32_t i = 0; i < MANY; i++) {
		before = asked;
		assert_int_equal(report_namer_name(namer, r->model, &e, i, &live, &arena), 0);
		assert_true(asked - before < 20);
		/*
		 * Compare only some names, because report_barrier_name() takes longer with each
		 * barrier.
		 */
		if (i % 97 == 0) {
			assert_int_equal(report_barrier_name(r->model, &e, i, &alone, &other), 0);
			assert_fields(&live, TEXT(id, alone.id), TEXT(label, alone.label));
			report_arena_free(other);
		}
		report_arena_free(arena);
	}
}

/* The headline has the longest label unchanged, and the text after the label is complete. */
static void test_long_label_in_headline(void **state)
{
	static const double shares[] = { 1, 0.93, 0.6 };
	struct run *r = *state;
	struct report_barrier *b;
	struct report_process *p;
	struct report rep CLEANUP(report_free) = built(r, play(r, 4, 20, 0, 10, one_slow));

	b = &rep.barriers[0];
	p = &rep.processes[0];
	memset(b->label, 'x', sizeof(b->label) - 1);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		verdict_process(p, b, &(struct verdict_shares){ shares[i], 0, 1 });
		assert_fields(p, HAS(verdict, b->label),
			      HAS(verdict, ": the same threads always arrive late; threads "));
		assert_string_equal(p->verdict + strlen(p->verdict) - 3, " %.");
	}
}

/* A text that does not fit ends after a word, and shows that it was cut. */
static void test_cut(void **state)
{
	char text[32];

	strcpy(text, "threads 1, 2");
	name_append(text, sizeof(text), " wait 69 %% of their time");
	assert_string_equal(text, "threads 1, 2 wait 69 % of...");
	strcpy(text, "a");
	name_append(text, sizeof(text), "%s", "bcdefghijklmnopqrstuvwxyzabcdefghijklmnop");
	assert_string_equal(text, "abcdefghijklmnopqrstuvwxyzab...");
	strcpy(text, "");
	name_append(text, sizeof(text), "1234567890123456789012345678901");
	assert_string_equal(text, "1234567890123456789012345678901");
}

/* Names of any length fit. */
static void test_long_name(void **state)
{
	struct run *r = *state;
	struct report_env e = env(10000);
	struct report_barrier live;
	char name[1001];
	uint64_t t = 0;
	void *arena CLEANUP_PTR(report_arena_free);

	for (size_t i = 0; i < 1000; i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	name[1000] = 0;
	run_launched(r, 0);
	meet(r, 0, 0, &t);
	e.ctx = name;
	e.barrier_name = given_name;
	assert_int_equal(report_barrier_name(r->model, &e, 0, &live, &arena), 0);
	assert_true(strlen(live.label) < sizeof(live.label));
	assert_int_equal(strlen(live.label) % 2, 1); /* whole characters and "..." */
	assert_string_equal(live.label + strlen(live.label) - 3, "...");
}

/* C++ function names are too long for a sentence: the least informative parts are removed first. */
static void test_function_names(void **state)
{
	static const struct {
		const char *from, *to;
	} names[] = {
		{ "void std::__atomic_wait_address_v<int, std::__atomic_base<int>::wait(int, "
		  "std::memory_order) const::{lambda()#1}>(int const*, int, {lambda()#1})",
		  "std::__atomic_wait_address_v<>()" },
		{ "std::__barrier<std::__empty_completion>::wait(arrival_token&&) const",
		  "std::__barrier<>::wait()" },
		{ "bool (anonymous namespace)::a<int>::operator<< <char>(b<c>, d) const",
		  "<>()" }, /* a blank before <: rare and harmless */
		{ "(anonymous namespace)::team<4>::operator()(unsigned long)",
		  "(anonymous namespace)::team<>::operator()()" },
		{ "main::{lambda(int)#2}::operator()(int) const",
		  "main::{lambda()#2}::operator()()" },
		{ "x<(a)1>::operator->(std::vector<int>)", "x<>::operator->()" },
		/* Names that cannot be parsed stay unchanged. */
		{ "broken<a(b>)", "broken<a(b>)" },
		{ "f(int) [clone .part.0]", "f(int) [clone .part.0]" },
		{ "solve", "solve" },
		{ "", "" },
	};
	char out[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		name_function(out, sizeof(out), names[i].from, 4);
		assert_string_equal(out, names[i].to);
		name_function(out, sizeof(out), names[i].from, 255);
		assert_string_equal(out, names[i].from);
		name_function(out, 12, names[i].from, 11);
		assert_true(strlen(out) < 12);
	}
}

/* --- the rest -------------------------------------------------------------------------------- */

static void test_phases(void **state)
{
	struct run *r = *state;
	struct report rep CLEANUP(report_free);
	uint64_t t = 0;

	for (uint32_t i = 0; i < 10; i++) {
		meet(r, 0, 0, &t);
		t += 50;
		meet(r, 2, 2, &t);
	}
	build(r, t, &rep);
	assert_int_equal(rep.nphases, 3);
	/*
	 * The phase from the first barrier to the second takes 150, and the phase from the second
	 * to the first takes 100.
	 */
	assert_fields(&rep, TEXT(phases[0].from, "lu() lu.c:42"),
		      TEXT(phases[0].to, "libx.so.1+0x3456"), IS(phases[0].occurrences, 10),
		      IS(phases[0].phase_ns.sum, 1500), IS(phases[0].lost_ns, 200),
		      NEAR(phases[0].share, 1500.0 / t, 1e-12), IS(phases[1].phase_ns.sum, 900),
		      TEXT(phases[2].from, "start"), TEXT(phases[2].from_id, ""),
		      IS(phases[2].phase_ns.sum, 30));
}

static void test_loss(void **state)
{
	static const struct report_uncounted uncounted[] = { { "cycles", "no PMU" } };
	static const struct report_loss losses[] = { { "ring_full", "no room", 3 },
						     { "thread_slot", "no slot", 0 } };
	struct run *r = *state;
	struct report_env e = env(1000);
	struct report rep CLEANUP(report_free);
	uint64_t t = 0;

	meet(r, 0, 0, &t);
	assert_int_equal(model_finish(r->model, 1000), 0);
	e.produced = e.consumed = 2;
	assert_int_equal(report_build(r->model, &e, &rep), 0);
	assert_fields(&rep, IS(complete, true), IS(crossings, 2));
	report_free(&rep);
	e.produced = 5;
	e.losses = losses;
	e.nlosses = 2;
	e.uncounted = uncounted;
	e.nuncounted = 1;
	assert_int_equal(report_build(r->model, &e, &rep), 0);
	assert_fields(&rep, IS(complete, false), IS(lost, 3), IS(nlosses, 2), IS(nuncounted, 1),
		      IS(accounted, false), TEXT(uncounted[0].reason, "no PMU"),
		      TEXT(losses[0].cause, "ring_full"));
}

static void test_cost(void **state)
{
	struct run *r = *state;
	struct report_env e = env(0);
	struct report rep CLEANUP(report_free);

	e.end_ns = play(r, 4, 20, 0, 10, even);
	e.crossing_cost_ns = 1000;
	assert_int_equal(model_finish(r->model, e.end_ns), 0);
	assert_int_equal(report_build(r->model, &e, &rep), 0);
	assert_fields(&rep.processes[0], IS(cost_ns, 80 * 1000), NEAR(cost_share, 0.001, 1e-5));
	report_free(&rep);
	e.crossing_cost_ns = NAN;
	assert_int_equal(report_build(r->model, &e, &rep), 0);
	assert_true(rep.processes[0].cost_ns == REPORT_UNKNOWN);
	report_free(&rep);
	/*
	 * The four threads share two CPUs. The cost of tracing one thread also makes the thread on
	 * the same CPU wait.
	 */
	e.crossing_cost_ns = 1000;
	e.ncpus = 2;
	assert_int_equal(report_build(r->model, &e, &rep), 0);
	assert_near(rep.processes[0].cost_share, 0.002, 1e-5);
}

/*
 * The reported cost of tracing never exceeds the total time. If it exceeds the lost time, the
 * verdict names only the cost.
 */
static void test_cost_above_all(void **state)
{
	static const struct {
		double crossing_ns, share;
		bool advised, limited;
	} ways[] = {
		{ 10000, 0.005, false, false },
		{ 1000000, 0.5, true, false },
		{ 3000000, 1, true, true },
	};
	const struct report_process *p;
	struct report_env e = env(0);
	struct report rep;
	struct run *r;

	for (uint32_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		r = run_new(0);
		run_launched(r, 0);
		e.end_ns = play(r, 4, 20, 0, 10, one_slow);
		e.crossing_cost_ns = ways[i].crossing_ns;
		assert_int_equal(model_finish(r->model, e.end_ns), 0);
		assert_int_equal(report_build(r->model, &e, &rep), 0);
		p = &rep.processes[0];
		assert_near(p->cost_share, ways[i].share, 1e-4);
		assert_true(p->cost_ns <= 4 * e.end_ns);
		assert_int_equal(p->cost_limited, ways[i].limited);
		if (ways[i].advised) {
			assert_says(p->advice, "do not act on these figures");
			assert_says(rep.barriers[0].advice, "do not act on these figures");
		} else {
			assert_lacks(p->advice, "racing");
			assert_lacks(rep.barriers[0].advice, "racing");
			assert_int_equal(p->pattern, REPORT_STATIC);
		}
		report_free(&rep);
		run_free(r);
	}
}

static uint64_t little(uint32_t i, uint32_t k)
{
	return 4000 + i;
}

static bool is_rough(uint32_t threads, uint64_t (*work)(uint32_t i, uint32_t k))
{
	struct run *r = run_new(0);
	struct report_env e = env(0);
	struct report rep;
	bool rough;

	run_launched(r, 0);
	e.end_ns = play(r, threads, 20, 0, 10, work);
	e.crossing_cost_ns = 1000;
	assert_int_equal(model_finish(r->model, e.end_ns), 0);
	assert_int_equal(report_build(r->model, &e, &rep), 0);
	rough = rep.processes[0].cost_rough;
	report_free(&rep);
	run_free(r);
	return rough;
}

/*
 * If several threads cross after little work, the order of wake-ups determines the cost, so the
 * cost is only a rough estimate.
 */
static void test_cost_rough(void **state)
{
	assert_true(is_rough(4, little));
	assert_false(is_rough(4, even));
	assert_false(is_rough(1, little));
}

/*
 * The number of threads in an episode counts, not the number of all threads that ever crossed. If
 * many teams of two follow each other, a crossing delays only two threads.
 */
static void test_members_of_an_episode(void **state)
{
	struct model_proc p = { .crossings = 2000,
				.episodes_joined = 1000,
				.nthreads_crossed = 2000 };

	assert_int_equal(report_members(&p), 2);
	p.crossings = 2600;
	assert_int_equal(report_members(&p), 3);
	/* Crossings outside of episodes do not make the team larger than the number of threads. */
	p.episodes_joined = 1;
	p.nthreads_crossed = 4;
	assert_int_equal(report_members(&p), 4);
	p.episodes_joined = 0;
	assert_int_equal(report_members(&p), 4);
}

/* An interim report has the same figures as a report of a run that ended at that time. */
static void test_interim(void **state)
{
	struct run *r CLEANUP_PTR(run_free) = run_new(0), *whole CLEANUP_PTR(run_free) = run_new(0);
	struct report_env e = env(0);
	struct report now CLEANUP(report_free), end CLEANUP(report_free);

	run_launched(r, 0);
	run_launched(whole, 0);
	e.end_ns = play(r, 4, 12, 0, 10, one_slow) + 500000;
	play(whole, 4, 12, 0, 10, one_slow);
	e.interim = true;
	assert_int_equal(report_build(r->model, &e, &now), 0);
	build(whole, e.end_ns, &end);
	assert_fields(
		&now, IS(interim, true),
		NEAR(processes[0].efficiency.parallel, end.processes[0].efficiency.parallel, 1e-12),
		IS(processes[0].elapsed_ns, end.processes[0].elapsed_ns),
		IS(processes[0].members[1].work_ns, end.processes[0].members[1].work_ns),
		TEXT(barriers[0].verdict, end.barriers[0].verdict));
}

/* Without any records the report claims nothing. */
static void test_empty(void **state)
{
	struct run *r = *state;
	struct report rep CLEANUP(report_free) = built(r, 1000);

	assert_fields(&rep, IS(nprocesses, 0), IS(nbarriers, 0), IS(nphases, 0),
		      IS(complete, true));
}

/*
 * The run has incomplete episodes only. The report shows and counts them, but no figure includes
 * them.
 */
static void test_only_incomplete(void **state)
{
	struct run *r = *state;
	struct report rep CLEANUP(report_free);

	cross_all(r, { 1, A, 3, 10, 21 }, { 2, A, 3, 20, 22 });
	build(r, 100, &rep);
	assert_fields(&rep, IS(nbarriers, 1), IS(barriers[0].incomplete, 1),
		      IS(barriers[0].episodes, 0), IS(barriers[0].participants_min, 0));
	assert_true(rep.barriers[0].phase_ns.sum == REPORT_UNKNOWN);
	assert_true(isnan(rep.barriers[0].phase_ns.mean));
	assert_true(isnan(rep.barriers[0].imbalance));
	assert_fields(&rep.barriers[0], HAS(verdict, "No complete episode"), IS(lost_ns, 0));
}

/*
 * One thread was recorded, but more threads should have arrived. The report does not call the
 * thread a team of one.
 */
static void test_one_of_others(void **state)
{
	struct run *r = *state;
	struct report rep CLEANUP(report_free);

	cross(r, 1, A, 2, 10, 80);
	build(r, 100, &rep);
	assert_fields(&rep.processes[0], IS(threads, 1), IS(pattern, REPORT_FEW),
		      HAS(verdict, "No complete episode"));
}

/* At a barrier that processes share, the waiting time of a single process is unknown, not zero. */
static void test_unmet(void **state)
{
	struct model_summed s = { .tgid = PID,
				  .inc = INC,
				  .tid = 1,
				  .family = 1,
				  .object = A,
				  .born_ns = 10,
				  .depart_ns = 90,
				  .crossings = 7,
				  .unmet = 7,
				  .idle_other_ns = 40,
				  .team_min = UINT32_MAX };
	struct run *r = *state;
	struct report_env e = env(100);
	struct report rep CLEANUP(report_free);

	model_stat_init(&s.wait);
	model_stat_init(&s.release);
	model_stat_init(&s.barrier);
	model_stat_init(&s.phase);
	assert_int_equal(model_add_summed(r->model, &s), 0);
	assert_int_equal(model_finish(r->model, 100), 0);
	e.aggregate = true;
	assert_int_equal(report_build(r->model, &e, &rep), 0);
	assert_fields(&rep, IS(unmet, 7), IS(lossless, true), IS(complete, false),
		      IS(barriers[0].unmet, 7));
	assert_true(rep.barriers[0].lost_ns == REPORT_UNKNOWN);
	assert_true(rep.barriers[0].threads[0].wait_ns == REPORT_UNKNOWN);
	assert_true(rep.barriers[0].threads[0].idle_ns == REPORT_UNKNOWN);
	assert_fields(&rep, HAS(barriers[0].verdict, "processes share this barrier"),
		      IS(processes[0].unmet, 7));
	assert_true(rep.processes[0].wait_ns == REPORT_UNKNOWN);
	assert_true(isnan(rep.processes[0].efficiency.parallel));
	assert_says(rep.processes[0].verdict, "do not show the waits there");
	report_free(&rep);
	/* A probe group that was left out makes the report incomplete, too. */
	e.left_out = "gomp";
	assert_int_equal(report_build(r->model, &e, &rep), 0);
	assert_string_equal(rep.left_out, "gomp");
}

/*
 * A thread at barriers of one thread waits for no other thread. If a barrier needs several threads
 * and only one was recorded, the waits are unknown.
 */
static void test_one_thread(void **state)
{
	static const uint32_t needed[] = { 1, 2 };
	struct run *r;
	struct report rep;
	uint64_t t;
	uint32_t k;

	for (uint32_t i = 0; i < 2; i++) {
		r = run_new(0);
		for (t = 0, k = 0; needed[i] == 2 && k < 3; k++, t += 1000000)
			run_feed(r, crossing(101, A, 2, t + 600000, t + 900000));
		if (needed[i] == 1)
			t = play(r, 1, 20, 7, 10, even);
		build(r, t, &rep);
		assert_fields(&rep.processes[0], IS(threads, 1),
			      IS(episodes, needed[i] == 1 ? 20 : 0));
		if (needed[i] == 1) {
			assert_says(rep.processes[0].verdict, "waits for no other");
		} else {
			assert_fields(&rep.processes[0], LACKS(verdict, "waits for no other"),
				      HAS(verdict, "no verdict is possible"),
				      IS(pattern, REPORT_FEW));
		}
		report_free(&rep);
		run_free(r);
	}
}

/* A remark about untraced waits marks the report as incomplete; other remarks do not. */
static void test_waits_unseen(void **state)
{
	struct remark remarks[] = { { "ranks", 0, "one" }, { "untraced", 5, "two" } };
	struct run *r = *state;
	struct report_env e;
	struct report rep CLEANUP(report_free);
	uint64_t t = play(r, 2, 20, 7, 10, even);

	assert_int_equal(model_finish(r->model, t), 0);
	e = env(t);
	e.remarks = remarks;
	e.nremarks = 1;
	assert_int_equal(report_build(r->model, &e, &rep), 0);
	assert_true(!rep.waits_unseen && rep.complete == rep.lossless);
	report_free(&rep);
	e.nremarks = 2;
	assert_int_equal(report_build(r->model, &e, &rep), 0);
	assert_fields(&rep, IS(waits_unseen, true), IS(complete, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		launched_test(test_static),
		launched_test(test_outlier),
		launched_test(test_headline_by_cause),
		launched_test(test_hung),
		launched_test(test_serial_parts),
		cmocka_unit_test(test_come_and_go),
		launched_test(test_rotating),
		cmocka_unit_test(test_last_by_turn),
		launched_test(test_others_at_others),
		launched_test(test_two_numbers),
		cmocka_unit_test(test_chance),
		launched_test(test_costly),
		launched_test(test_released_without_cpu),
		launched_test(test_cpu_and_work),
		cmocka_unit_test(test_balanced_and_few),
		launched_test(test_lu_block),
		launched_test(test_names),
		cmocka_unit_test(test_ids_are_stable),
		launched_test(test_name_while_it_runs),
		empty_run_test(test_many_names),
		launched_test(test_long_label_in_headline),
		cmocka_unit_test(test_same_names),
		launched_test(test_one_name),
		cmocka_unit_test(test_cut),
		empty_run_test(test_long_name),
		cmocka_unit_test(test_function_names),
		launched_test(test_phases),
		launched_test(test_loss),
		launched_test(test_cost),
		cmocka_unit_test(test_cost_above_all),
		cmocka_unit_test(test_members_of_an_episode),
		cmocka_unit_test(test_cost_rough),
		cmocka_unit_test(test_interim),
		launched_test(test_empty),
		launched_test(test_only_incomplete),
		launched_test(test_one_of_others),
		launched_test(test_unmet),
		cmocka_unit_test(test_one_thread),
		empty_run_test(test_waits_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
