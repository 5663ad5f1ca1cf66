// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check constructed hangs: which threads are missing, whether they can arrive, and what is
 * reported.
 */
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "hang/hang.h"

#define PID	  100
#define TID(i)	  (101 + (i)) /* tid of thread i; the main thread has tid 100 */
#define S	  1000000000ULL
#define NOW	  (100 * S)
#define THREADS	  12
#define BARRIERS  4
#define TEAM_MOST 16

/* A process with threads 0..n-1 of a team, optionally with a main thread. */
struct scene {
	struct hang_input in;
	struct hang_thread threads[THREADS];
	struct hang_barrier barriers[BARRIERS];
	struct hang_arrival arrived[BARRIERS][THREADS];
	struct hang_member team[BARRIERS][TEAM_MOST];
	struct report_hang out;
};

static const struct hang_frame work_frame = {
	.function = "work", .file = "/src/x.c", .line = 55, .module = "/bin/x"
};

static const struct hang_frame main_frame = {
	.function = "main", .file = "/src/x.c", .line = 90, .module = "/bin/x"
};

static struct scene *scene_new(uint32_t nthreads)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->in = (struct hang_input){ .now_ns = NOW,
				     .all = true,
				     .nthreads = nthreads,
				     .threads = s->threads,
				     .barriers = s->barriers };
	for (uint32_t i = 0; i < nthreads; i++)
		s->threads[i] = (struct hang_thread){ .pid = PID,
						      .tid = TID(i),
						      .index = i,
						      .comm = "x",
						      .start_ns = S,
						      .state = HANG_RUNNING,
						      .cpu_ns = S / 10,
						      .interval_ns = S / 10,
						      .barrier = HANG_NONE,
						      .nframes = 1,
						      .frames = &work_frame };
	return s;
}

static void scene_free(struct scene *s)
{
	report_hang_free(&s->out);
	free(s);
}

DEFINE_CLEANUP_PTR(scene_free, struct scene *)

static struct hang_thread *blocked(struct scene *s, uint32_t i, enum hang_on on)
{
	struct hang_thread *t = &s->threads[i];

	t->state = HANG_BLOCKED;
	t->on = on;
	t->still = true;
	t->cpu_ns = 0;
	return t;
}

static void waits_for_lock(struct scene *s, uint32_t i, const char *lock, uint32_t holder_tid)
{
	struct hang_thread *t = blocked(s, i, HANG_ON_MUTEX);

	t->object = lock;
	t->holder = holder_tid;
}

static void joins(struct scene *s, uint32_t i, uint32_t of)
{
	blocked(s, i, HANG_ON_JOIN)->holder = TID(of);
}

/* Return barrier @b at line x.c:30 + b, with count @count. */
static struct hang_barrier *barrier(struct scene *s, uint32_t b, uint32_t count)
{
	struct hang_barrier *out = &s->barriers[b];

	*out = (struct hang_barrier){ .pid = PID,
				      .comm = "x",
				      .id = "#00000001",
				      .label = "work x.c:30",
				      .family = "pthread",
				      .count = count,
				      .arrived = s->arrived[b],
				      .team = s->team[b],
				      .team_ns = 50 * S,
				      .site = { .function = "work", .file = "/src/x.c" } };
	out->site.line = 30 + b;
	if (s->in.nbarriers < b + 1)
		s->in.nbarriers = b + 1;
	return out;
}

static void arrives(struct scene *s, uint32_t b, uint32_t i)
{
	struct hang_thread *t = blocked(s, i, HANG_ON_BARRIER);

	t->barrier = b;
	s->arrived[b][s->barriers[b].narrived++] = (struct hang_arrival){
		.tid = t->tid,
		.since_ns = NOW - 20 * S + i * S,
		.site = s->barriers[b].site,
	};
}

/* Add thread @i to the members of the last episode of barrier @b. */
static struct hang_member *was_there(struct scene *s, uint32_t b, uint32_t i)
{
	struct hang_member *m = &s->team[b][s->barriers[b].nteam++];

	*m = (struct hang_member){ .pid = PID, .tid = TID(i), .index = i, .comm = "x" };
	return m;
}

static void team(struct scene *s, uint32_t b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		was_there(s, b, i);
}

/*
 * Set up barrier @b: its last episode had @n members, all of which are needed again. The first
 * @ncome of them have arrived.
 */
static void come(struct scene *s, uint32_t b, uint32_t n, uint32_t ncome)
{
	barrier(s, b, n);
	team(s, b, n);
	for (uint32_t i = 0; i < ncome; i++)
		arrives(s, b, i);
}

static const struct report_hang *classify(struct scene *s, uint32_t b)
{
	report_hang_free(&s->out);
	assert_int_equal(hang_classify(&s->in, b, &s->out), 0);
	return &s->out;
}

static const char *name_of(enum hang_verdict verdict)
{
	static const char *const names[] = { "unknown", "deadlock", "never-fills", "long-phase",
					     "outside" };

	assert_true((unsigned)verdict < 5);
	return names[verdict];
}

static void assert_verdict(const struct report_hang *h, enum hang_verdict verdict)
{
	if (h->verdict != verdict)
		fail_msg("%s instead of %s: %s", name_of(h->verdict), name_of(verdict), h->text);
}

static void assert_text(const struct report_hang *h, const char *text)
{
	assert_string_equal(h->text, text);
}

/*
 * Classify the wait at barrier 0, and check the verdict. If the text is not NULL, check the whole
 * text.
 */
static const struct report_hang *assert_hang(struct scene *s, enum hang_verdict verdict,
					     const char *text)
{
	const struct report_hang *h = classify(s, 0);

	assert_verdict(h, verdict);
	if (text)
		assert_text(h, text);
	return h;
}

static void assert_missing(const struct report_hang *h, uint32_t at, uint32_t i,
			   enum hang_known why)
{
	assert_true(at < h->nmissing);
	assert_fields(h, IS(missing[at].tid, TID(i)), IS(missing[at].why, why));
}

/* --- verdicts --------------------------------------------------------------------------------- */

static void test_long_phase(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(4);
	const struct report_hang *h;

	come(s, 0, 4, 3);
	h = assert_hang(s, HANG_LONG_PHASE,
			"long phase: the barrier at x.c:30 waits for thread 3 (tid 104), which is "
			"running in work() at x.c:55");
	assert_fields(h, IS(waited_ns, 20 * S), IS(narrived, 3), IS(arrived[2].waited_ns, 18 * S),
		      IS(arrived[2].line, 30), IS(nmissing, 1));
	assert_missing(h, 0, 3, HANG_BY_PAST);
	assert_fields(h, IS(missing[0].blocked_on, NULL), IS(missing[0].frames[0].line, 55),
		      IS(guess, false), IS(ncycle, 0));

	/* A runnable thread counts as working, and so does a thread that sleeps only briefly. */
	s->threads[3].state = HANG_RUNNABLE;
	assert_hang(s, HANG_LONG_PHASE, NULL);
	blocked(s, 3, HANG_ON_SLEEP)->cpu_ns = S / 50;
	s->threads[3].still = false;
	assert_hang(s, HANG_LONG_PHASE, NULL);
	s->threads[3].cpu_ns = S / 200;
	assert_hang(s, HANG_OUTSIDE, NULL);
	s->threads[3].cpu_ns = MODEL_UNKNOWN;
	assert_hang(s, HANG_OUTSIDE, NULL);
}

static void test_outside(void **state)
{
	static const enum hang_on ways[] = { HANG_ON_IO, HANG_ON_SLEEP, HANG_ON_CHILD,
					     HANG_ON_DISK };
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(4);
	const struct report_hang *h;

	come(s, 0, 4, 3);
	for (uint32_t i = 0; i < 4; i++) {
		blocked(s, 3, ways[i])->waits_for = "read() of a pipe";
		h = assert_hang(
			s, HANG_OUTSIDE,
			"outside: the barrier at x.c:30 waits for thread 3 (tid 104), which "
			"waits in read() of a pipe, in work() at x.c:55");
		assert_string_equal(h->missing[0].blocked_on, "read() of a pipe");
	}
	s->threads[3].state = HANG_STOPPED;
	assert_hang(s, HANG_OUTSIDE, NULL);
}

static void test_unknown(void **state)
{
	static const enum hang_on ways[] = { HANG_ON_UNKNOWN, HANG_ON_COND, HANG_ON_SEM,
					     HANG_ON_FUTEX, HANG_ON_OTHER };
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(2);

	come(s, 0, 2, 1);
	for (uint32_t i = 0; i < 5; i++) {
		blocked(s, 1, ways[i])->waits_for = "a condition variable";
		assert_hang(s, HANG_UNKNOWN, NULL);
	}
	assert_text(&s->out, "unknown: the barrier at x.c:30 waits for thread 1 (tid 102), which "
			     "waits for a condition variable, in work() at x.c:55");
	s->threads[1].state = HANG_STATE_UNKNOWN;
	assert_hang(s, HANG_UNKNOWN, NULL);
	/*
	 * The number of threads that have arrived equals the barrier's count: the barrier is about
	 * to open.
	 */
	arrives(s, 0, 1);
	assert_hang(s, HANG_UNKNOWN, NULL);
	assert_int_equal(s->out.nmissing, 0);
}

/*
 * If several threads are missing, the least likely to arrive decides the verdict: a thread that
 * waits for outside input outweighs running threads.
 */
static void test_several(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(8);
	const struct report_hang *h;

	come(s, 0, 8, 1);
	h = assert_hang(s, HANG_LONG_PHASE, NULL);
	assert_says(h->text, "; 6 more are missing");
	for (uint32_t i = 0; i < 7; i++)
		assert_missing(h, i, i + 1, HANG_BY_PAST);
	blocked(s, 5, HANG_ON_IO)->waits_for = "read() of a pipe";
	h = assert_hang(s, HANG_OUTSIDE, NULL);
	assert_says(h->text, "thread 5");
}

/* --- members that ended ----------------------------------------------------------------------- */

static void test_gone(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(4);
	const struct report_hang *h;

	come(s, 0, 4, 3);
	s->in.nthreads = 3;
	s->team[0][3].gone = true;
	h = assert_hang(s, HANG_NEVER_FILLS,
			"never fills: the barrier at x.c:30 needs thread 3 (tid 104), which was "
			"in the last episode and has ended");
	assert_missing(h, 0, 3, HANG_BY_PAST);
	assert_fields(h, IS(missing[0].state, HANG_GONE), IS(missing[0].index, 3));

	/* There is also a main thread, which existed from the start. This changes nothing. */
	s->in.nthreads = 4;
	s->threads[3].tid = PID;
	joins(s, 3, 0);
	assert_hang(s, HANG_NEVER_FILLS, NULL);
	/* A thread that began after the member ended may be its replacement. */
	s->threads[3] = s->threads[2];
	s->threads[3].tid = TID(9);
	s->threads[3].state = HANG_RUNNING;
	s->threads[3].on = HANG_ON_UNKNOWN;
	s->threads[3].start_ns = 60 * S;
	h = assert_hang(s, HANG_LONG_PHASE, NULL);
	assert_true(h->guess);
}

static void test_left_region(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(4);
	const struct report_hang *h;

	barrier(s, 0, 0)->team_declared = true;
	team(s, 0, 4);
	arrives(s, 0, 0);
	arrives(s, 0, 1);
	arrives(s, 0, 3);
	s->team[0][2].left = true;
	blocked(s, 2, HANG_ON_FUTEX);
	h = assert_hang(s, HANG_NEVER_FILLS, NULL);
	assert_says(h->text, "thread 2 (tid 103), which has left the parallel region");
	assert_missing(h, 0, 2, HANG_BY_TEAM);
}

/* Only stacks are known: a worker is in no region, and the number of members is unknown. */
static void test_idle_worker(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(4);
	const struct report_hang *h;

	barrier(s, 0, 0)->of_regions = true;
	arrives(s, 0, 0);
	arrives(s, 0, 1);
	arrives(s, 0, 3);
	blocked(s, 2, HANG_ON_FUTEX)->idle = true;
	h = assert_hang(s, HANG_NEVER_FILLS, NULL);
	assert_says(h->text, "thread 2 (tid 103), which has left the parallel region");
	/* A worker in no region may arrive at other barriers. */
	s->barriers[0].of_regions = false;
	assert_hang(s, HANG_UNKNOWN, NULL);
}

static void test_finalized(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(2);
	const struct report_hang *h;

	come(s, 0, 2, 1);
	s->threads[1].left = "MPI_Finalize";
	h = assert_hang(s, HANG_NEVER_FILLS,
			"never fills: the barrier at x.c:30 needs thread 1 (tid 102), which is in "
			"MPI_Finalize");
	assert_fields(h, TEXT(missing[0].blocked_on, "MPI_Finalize"),
		      IS(missing[0].state, HANG_RUNNING));
}

/* --- counts ----------------------------------------------------------------------------------- */

static void test_count_too_large(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(5);
	const struct report_hang *h;

	barrier(s, 0, 5);
	for (uint32_t i = 0; i < 4; i++)
		arrives(s, 0, i);
	s->threads[4].tid = PID;
	s->threads[4].index = HANG_NONE;
	s->threads[4].frames = &main_frame;
	joins(s, 4, 0);
	h = classify(s, 0);
	assert_int_equal(h->nmissing, 0);
	assert_verdict(h, HANG_NEVER_FILLS);
	assert_text(
		h, "never fills: the barrier at x.c:30 needs 5 threads, 4 have arrived, and no "
		   "others can: the main thread (tid 100) waits for the end of thread 0 (tid 101), "
		   "which waits at the barrier at x.c:30");
	/* The process has no other thread. */
	s->in.nthreads = 4;
	assert_hang(s, HANG_NEVER_FILLS, NULL);
	assert_int_equal(s->out.nmissing, 0);
	/* Other threads may arrive from code that is unknown. */
	s->barriers[0].open = true;
	assert_hang(s, HANG_UNKNOWN, NULL);
	s->barriers[0].open = false;
	/* Only some of the threads were inspected, so nothing is proven. */
	s->in.all = false;
	assert_hang(s, HANG_UNKNOWN, NULL);
}

/*
 * The count equals the number of threads in the process, so each thread is needed, though none was
 * seen at this barrier before.
 */
static void test_by_count(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(3);
	const struct report_hang *h;

	barrier(s, 0, 3);
	arrives(s, 0, 0);
	h = assert_hang(s, HANG_LONG_PHASE, NULL);
	assert_false(h->guess);
	assert_missing(h, 0, 1, HANG_BY_COUNT);
	blocked(s, 2, HANG_ON_IO);
	assert_hang(s, HANG_OUTSIDE, NULL);
}

static void test_guess(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(4);
	const struct report_hang *h;

	barrier(s, 0, 2);
	arrives(s, 0, 0);
	blocked(s, 1, HANG_ON_IO);
	blocked(s, 2, HANG_ON_IO);
	h = classify(s, 0);
	/* The barrier needs one of three other threads, and one of the three works. */
	assert_verdict(h, HANG_LONG_PHASE);
	assert_true(h->guess);
	assert_missing(h, 0, 3, HANG_BY_PROCESS);
	assert_says(h->text, "a guess");
	blocked(s, 3, HANG_ON_COND);
	assert_hang(s, HANG_OUTSIDE, NULL);
	/* The count is unknown. */
	s->barriers[0].count = 0;
	assert_hang(s, HANG_OUTSIDE, NULL);
	/* Other threads of the process do not belong to the barrier. */
	s->threads[1].pid = s->threads[2].pid = 7;
	assert_hang(s, HANG_UNKNOWN, NULL);
	assert_int_equal(s->out.nmissing, 1);
}

/* The team has changed. Threads that were not members before count, too. */
static void test_other_team(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(4);
	const struct report_hang *h;

	barrier(s, 0, 3);
	was_there(s, 0, 0);
	was_there(s, 0, 1);
	was_there(s, 0, 2)->gone = true;
	s->threads[2].tid = TID(8);
	arrives(s, 0, 0);
	arrives(s, 0, 2);
	h = assert_hang(s, HANG_LONG_PHASE, NULL);
	assert_fields(h, IS(guess, true), IS(nmissing, 2));
	assert_missing(h, 0, 1, HANG_BY_PAST);
	assert_missing(h, 1, 3, HANG_BY_PROCESS);
}

/* --- cycles ----------------------------------------------------------------------------------- */

static void test_self(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(2);
	const struct report_hang *h;

	come(s, 0, 2, 1);
	waits_for_lock(s, 1, "the mutex `m`", TID(1));
	h = assert_hang(s, HANG_DEADLOCK, NULL);
	assert_int_equal(h->ncycle, 1);
	assert_text(h, "deadlock: thread 1 (tid 102) waits for the mutex `m`, which it holds "
		       "itself; the barrier at x.c:30 waits for it");
	assert_string_equal(h->missing[0].blocked_on, "the mutex `m`, which it holds itself");
}

static void test_rings(void **state)
{
	static const char *const locks[] = { "the mutex `a`", "the mutex `b`", "the mutex `c`",
					     "the mutex `d`" };

	for (uint32_t len = 2; len <= 4; len++) {
		struct scene *s CLEANUP_PTR(scene_free) = scene_new(len + 2);
		const struct report_hang *h;

		barrier(s, 0, len + 2);
		team(s, 0, len + 2);
		arrives(s, 0, len);
		arrives(s, 0, len + 1);
		for (uint32_t i = 0; i < len; i++)
			waits_for_lock(s, i, locks[i], TID((i + 1) % len));
		h = assert_hang(s, HANG_DEADLOCK, NULL);
		assert_int_equal(h->ncycle, len);
		for (uint32_t i = 0; i < len; i++) {
			assert_fields(h, IS(cycle[i].next, h->cycle[(i + 1) % len].tid),
				      TEXT(cycle[i].waits_for, locks[h->cycle[i].tid - TID(0)]));
		}
		if (len == 2)
			assert_text(h,
				    "deadlock: thread 0 (tid 101) waits for the mutex `a` held by "
				    "thread 1 (tid 102), which waits for the mutex `b` held by "
				    "thread 0; the barrier at x.c:30 waits for them");
		/*
		 * A thread released its lock between the two snapshots, or made progress, so no
		 * cycle is proven.
		 */
		s->threads[len - 1].still = false;
		assert_hang(s, HANG_UNKNOWN, NULL);
		assert_int_equal(s->out.ncycle, 0);
		s->threads[len - 1].state = HANG_RUNNING;
		assert_hang(s, HANG_LONG_PHASE, NULL);
	}
}

/* A missing thread waits for a lock. The thread that holds the lock has arrived at the barrier. */
static void test_through_barrier(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(3);
	const struct report_hang *h;

	come(s, 0, 3, 2);
	waits_for_lock(s, 2, "the mutex `lock_a`", TID(1));
	h = assert_hang(
		s, HANG_DEADLOCK,
		"deadlock: thread 2 (tid 103) waits for the mutex `lock_a` held by thread 1 "
		"(tid 102), which waits at the barrier at x.c:30 for thread 2");
	assert_fields(h, IS(ncycle, 2), TEXT(cycle[1].waits_for, "the barrier at x.c:30"),
		      TEXT(missing[0].blocked_on, "the mutex `lock_a` held by thread 1"));

	/* The earlier members are unknown, but there are no other threads. */
	s->barriers[0].nteam = 0;
	assert_hang(s, HANG_DEADLOCK, NULL);
	/* Another thread exists, and may arrive instead of the missing thread. */
	s->in.nthreads = 4;
	s->threads[3] = s->threads[0];
	s->threads[3].tid = TID(3);
	s->threads[3].state = HANG_RUNNING;
	s->threads[3].on = HANG_ON_UNKNOWN;
	s->threads[3].barrier = HANG_NONE;
	assert_hang(s, HANG_LONG_PHASE, NULL);
	assert_int_equal(s->out.ncycle, 0);
	/* The other thread may arrive even if the same threads have always crossed until now. */
	team(s, 0, 3);
	h = assert_hang(s, HANG_UNKNOWN, NULL);
	assert_text(h,
		    "perhaps a deadlock: thread 2 (tid 103) waits for the mutex `lock_a` held by "
		    "thread 1 (tid 102), which waits at the barrier at x.c:30 for thread 2; unless "
		    "a thread arrives that was not in the last episode");
	assert_fields(h, IS(ncycle, 2), IS(guess, true));
	/*
	 * If the runtime declares the members of the team, no other thread may arrive. A thread
	 * that waits for the end of a member does not arrive, either.
	 */
	s->barriers[0].team_declared = true;
	assert_hang(s, HANG_DEADLOCK, NULL);
	s->barriers[0].team_declared = false;
	s->threads[3].state = s->threads[0].state;
	s->threads[3].still = true;
	s->threads[3].on = HANG_ON_JOIN;
	s->threads[3].holder = TID(0);
	assert_hang(s, HANG_DEADLOCK, NULL);
}

static void test_through_join(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(3);
	const struct report_hang *h;

	come(s, 0, 3, 2);
	joins(s, 2, 0);
	h = assert_hang(s, HANG_DEADLOCK,
			"deadlock: thread 2 (tid 103) waits for the end of thread 0 (tid 101), "
			"which waits at the barrier at x.c:30 for thread 2");
	assert_string_equal(h->cycle[0].waits_for, "the end of thread 0");
	/* A thread that waits for the end of a thread that has ended will soon continue. */
	s->threads[2].holder = TID(7);
	assert_hang(s, HANG_UNKNOWN, NULL);
}

/*
 * The missing thread was never seen at the barrier, but is in the function from which the other
 * threads called the barrier.
 */
static void test_join_within(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(3);

	barrier(s, 0, 3);
	arrives(s, 0, 1);
	arrives(s, 0, 2);
	s->threads[0].tid = PID;
	s->threads[0].index = HANG_NONE;
	joins(s, 0, 1);
	assert_hang(s, HANG_DEADLOCK,
		    "deadlock: the main thread (tid 100) waits for the end of thread 1 (tid "
		    "102), which waits at the barrier at x.c:30 for the main thread");
	s->threads[0].frames = &main_frame;
	assert_hang(s, HANG_NEVER_FILLS, NULL);
}

/* A missing thread waits for the deadlocked threads, but is itself in no cycle. */
static void test_behind_cycle(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(4);
	const struct report_hang *h;

	barrier(s, 0, 2);
	was_there(s, 0, 0);
	was_there(s, 0, 1);
	arrives(s, 0, 0);
	waits_for_lock(s, 1, "the mutex `a`", TID(2));
	waits_for_lock(s, 2, "the mutex `b`", TID(3));
	waits_for_lock(s, 3, "the mutex `a`", TID(2));
	h = assert_hang(s, HANG_DEADLOCK, NULL);
	assert_fields(h, IS(ncycle, 2),
		      HAS(text, "the barrier at x.c:30 waits for thread 1 (tid 102), which "
				"waits for the mutex `a` held by thread 2"));
}

static void test_dead_holder(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(2);

	come(s, 0, 2, 1);
	waits_for_lock(s, 1, "the mutex `m`", TID(7));
	assert_hang(s, HANG_NEVER_FILLS, NULL);
	assert_says(s->out.text, "the mutex `m`: its holder, thread 108, has ended");
}

/* In a chain of threads that wait for each other's locks, the state of the last holder decides. */
static void test_chains(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(5);
	const struct report_hang *h;

	barrier(s, 0, 2);
	was_there(s, 0, 0);
	was_there(s, 0, 1);
	arrives(s, 0, 0);
	waits_for_lock(s, 1, "the mutex `a`", TID(2));
	waits_for_lock(s, 2, "the mutex `b`", TID(3));
	joins(s, 3, 4);
	assert_hang(s, HANG_LONG_PHASE, NULL);
	blocked(s, 4, HANG_ON_IO)->waits_for = "read() of a socket";
	h = assert_hang(s, HANG_OUTSIDE,
			"outside: the barrier at x.c:30 waits for thread 1 (tid 102), which waits "
			"for the mutex `a` held by thread 2 (tid 103), which waits for the mutex "
			"`b` held by thread 3 (tid 104), which waits for the end of thread 4 (tid "
			"105), which waits in read() of a socket, in work() at x.c:55");
	s->threads[3].holder = 0;
	assert_hang(s, HANG_UNKNOWN, NULL);
	/* Readers hold the lock, and it is unknown which threads they are. */
	blocked(s, 1, HANG_ON_RWLOCK)->holder = 0;
	s->threads[1].object = "the read-write lock `r`";
	h = assert_hang(s, HANG_UNKNOWN, NULL);
	assert_string_equal(h->missing[0].blocked_on, "the read-write lock `r`");
}

/* --- several barriers ------------------------------------------------------------------------- */

/*
 * One thread took another branch, so threads wait at two barriers. The threads at each barrier wait
 * for the threads at the other barrier. No lock is involved.
 */
static void test_two_barriers(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(4);
	const struct report_hang *h;

	for (uint32_t b = 0; b < 2; b++) {
		barrier(s, b, 4);
		team(s, b, 4);
	}
	for (uint32_t i = 0; i < 3; i++)
		arrives(s, 0, i);
	arrives(s, 1, 3);
	h = assert_hang(s, HANG_NEVER_FILLS, NULL);
	assert_fields(h, IS(nmissing, 1), TEXT(missing[0].blocked_on, "the barrier at x.c:31"),
		      HAS(text, "thread 3 (tid 104) waits at the barrier at x.c:31 for"));
	assert_verdict(classify(s, 1), HANG_NEVER_FILLS);
	/*
	 * If the main thread waits for the end of one of these threads, the verdict is still not a
	 * deadlock.
	 */
	s->barriers[1].nteam = 0;
	s->in.nthreads = 5;
	s->threads[4] = s->threads[0];
	s->threads[4].tid = PID;
	s->threads[4].barrier = HANG_NONE;
	s->threads[4].frames = &main_frame;
	joins(s, 4, 0);
	assert_hang(s, HANG_NEVER_FILLS, NULL);
	assert_verdict(classify(s, 1), HANG_NEVER_FILLS);
	/* At a barrier that other threads can fill, the missing thread is only late. */
	s->barriers[1].nteam = 0;
	s->barriers[1].count = 2;
	s->in.nthreads = 5;
	s->threads[4] = s->threads[0];
	s->threads[4].tid = TID(4);
	s->threads[4].state = HANG_RUNNING;
	s->threads[4].barrier = HANG_NONE;
	assert_hang(s, HANG_UNKNOWN, NULL);
}

/* If a lock is part of the cycle, the verdict is a deadlock. */
static void test_two_barriers_and_lock(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(4);
	const struct report_hang *h;

	barrier(s, 0, 2);
	was_there(s, 0, 0);
	was_there(s, 0, 1);
	barrier(s, 1, 2);
	was_there(s, 1, 2);
	was_there(s, 1, 3);
	arrives(s, 0, 0);
	waits_for_lock(s, 1, "the mutex `a`", TID(2));
	arrives(s, 1, 2);
	waits_for_lock(s, 3, "the mutex `b`", TID(0));
	h = assert_hang(s, HANG_DEADLOCK, NULL);
	assert_int_equal(h->ncycle, 4);
	assert_verdict(classify(s, 1), HANG_DEADLOCK);
}

/* --- processes -------------------------------------------------------------------------------- */

static void test_ranks(void **state)
{
	static const uint32_t pids[] = { 100, 200, 300 };
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(6);
	const struct report_hang *h;
	struct hang_barrier *b = barrier(s, 0, 3);

	b->of_processes = true;
	b->pids = pids;
	b->npids = 3;
	/* Each process has a main thread and a helper thread of the MPI library. */
	for (uint32_t i = 0; i < 6; i++) {
		struct hang_thread *t = &s->threads[i];

		t->pid = pids[i / 2];
		t->tid = t->pid + i % 2;
		t->index = i % 2 ? HANG_NONE : i / 2;
		t->ranked = i % 2 == 0;
		if (i % 2)
			blocked(s, i, HANG_ON_IO);
	}
	arrives(s, 0, 0);
	arrives(s, 0, 2);
	blocked(s, 4, HANG_ON_SLEEP)->waits_for = "sleep";
	h = assert_hang(s, HANG_OUTSIDE, NULL);
	assert_fields(h, IS(nmissing, 1), IS(missing[0].pid, 300), HAS(text, "rank 2 (pid 300)"));
	/* The main thread of rank 2 has ended. It was a member of the last episode. */
	was_there(s, 0, 0)->tid = 100;
	was_there(s, 0, 1)->tid = 200;
	s->team[0][1].pid = 200;
	*was_there(s, 0, 2) = (struct hang_member){
		.pid = 300, .tid = 300, .index = 2, .ranked = true, .gone = true
	};
	s->in.nthreads = 4;
	h = assert_hang(s, HANG_NEVER_FILLS, NULL);
	assert_says(h->text, "rank 2 (pid 300), which was in the last episode and has ended");
}

/*
 * With several processes, threads have no index. The text names a thread by its tid and its
 * process.
 */
static void test_processes(void **state)
{
	static const uint32_t pids[] = { 100, 200 };
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(3);
	struct hang_barrier *b = barrier(s, 0, 3);

	b->pids = pids;
	b->npids = 2;
	for (uint32_t i = 0; i < 3; i++) {
		s->threads[i].index = HANG_NONE;
		s->threads[i].pid = pids[i / 2];
		s->threads[i].tid = pids[i / 2] + i % 2;
	}
	arrives(s, 0, 0);
	arrives(s, 0, 2);
	waits_for_lock(s, 1, "the mutex `m`", 200);
	assert_hang(s, HANG_DEADLOCK,
		    "deadlock: thread 101 of process 100 waits for the mutex `m` held by "
		    "process 200, which waits at the barrier at x.c:30 for thread 101");
}

/* --- text ------------------------------------------------------------------------------------- */

static void test_user_frame(void **state)
{
	struct hang_frame f[] = {
		{ .module = "/usr/lib/libc.so.6" },
		{ .module = "/usr/lib/libc.so.6", .function = "pthread_mutex_lock" },
		{ .module = "/usr/lib/libstdc++.so.6", .function = "std::mutex::lock()" },
		{ .module = "/bin/x", .function = "std::lock_guard::lock_guard()" },
		{ .module = "/bin/x", .function = "work" },
	};

	assert_null(hang_user_frame(f, 0));
	assert_ptr_equal(hang_user_frame(f, 3), &f[0]);
	assert_ptr_equal(hang_user_frame(f, 5), &f[4]);
}

/* Names may contain anything. The report cuts them and makes them printable. */
static void test_hostile(void **state)
{
	static char huge[5000];
	struct scene *s CLEANUP_PTR(scene_free) = scene_new(2);
	const struct report_hang *h;
	const char *p;

	memset(huge, 'x', sizeof(huge) - 1);
	huge[17] = '\033';
	barrier(s, 0, 2)->name = huge;
	team(s, 0, 2);
	arrives(s, 0, 0);
	waits_for_lock(s, 1, huge, TID(1));
	s->barriers[0].comm = s->threads[1].comm = "\033[31m";
	memset(s->barriers[0].label, 'y', sizeof(s->barriers[0].label));
	memset(s->barriers[0].id, 'z', sizeof(s->barriers[0].id));
	h = assert_hang(s, HANG_DEADLOCK, NULL);
	for (p = h->text; *p; p++)
		assert_true((unsigned char)*p >= ' ' && *p != 0x7f);
	s->barriers[0].name = NULL;
	s->barriers[0].site = (struct hang_frame){ 0 };
	s->threads[1].object = NULL;
	assert_hang(s, HANG_DEADLOCK, NULL);
}

/* --- random input ----------------------------------------------------------------------------- */

static uint32_t rnd(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

/*
 * Return whether thread @from may wait for @to. A thread that waits for a lock waits for the
 * holder; a thread at a barrier may wait for any thread.
 */
static bool may_reach(const struct scene *s, const uint32_t *at, uint32_t from, uint32_t to)
{
	const struct hang_thread *t = &s->threads[from];

	if (at[from] != HANG_NONE)
		return true;
	return t->state == HANG_BLOCKED && t->still &&
	       (t->on == HANG_ON_MUTEX || t->on == HANG_ON_RWLOCK || t->on == HANG_ON_JOIN) &&
	       t->holder == s->threads[to].tid;
}

/* Return whether any cycle of waits contains a lock or a join. Use Warshall's closure. */
static bool has_circle(const struct scene *s)
{
	uint32_t n = s->in.nthreads, at[THREADS];
	bool reach[THREADS][THREADS];

	for (uint32_t i = 0; i < n; i++)
		at[i] = HANG_NONE;
	for (uint32_t i = 0; i < s->in.nbarriers; i++)
		for (uint32_t j = 0; j < s->barriers[i].narrived; j++)
			for (uint32_t k = 0; k < n; k++)
				if (s->threads[k].tid == s->barriers[i].arrived[j].tid)
					at[k] = i;
	for (uint32_t i = 0; i < n; i++)
		if (s->threads[i].on == HANG_ON_BARRIER && s->threads[i].barrier < s->in.nbarriers)
			at[i] = s->threads[i].barrier;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			reach[i][j] = may_reach(s, at, i, j);
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				reach[i][j] |= reach[i][k] && reach[k][j];
	for (uint32_t i = 0; i < n; i++)
		if (at[i] == HANG_NONE && reach[i][i])
			return true;
	return false;
}

static void scramble(struct scene *s, uint32_t *seed)
{
	uint32_t n = s->in.nthreads;

	for (uint32_t i = 0; i < n; i++) {
		struct hang_thread *t = &s->threads[i];

		t->pid = PID + rnd(seed, 8) / 7;
		t->tid = rnd(seed, 16) ? TID(i) : rnd(seed, THREADS + 2);
		t->state = rnd(seed, 3) ? HANG_BLOCKED : (enum hang_state)rnd(seed, 6);
		t->on = rnd(seed, 2) ? HANG_ON_MUTEX : (enum hang_on)rnd(seed, 13);
		t->still = rnd(seed, 5) != 0;
		t->holder = rnd(seed, 6) ? TID(rnd(seed, n + 1)) : rnd(seed, 3);
		t->barrier = rnd(seed, 4) ? HANG_NONE : rnd(seed, BARRIERS + 1);
		t->cpu_ns = rnd(seed, 3) ? 0 : rnd(seed, 2) ? MODEL_UNKNOWN : S;
		t->start_ns = rnd(seed, 2) * 70 * S;
		t->index = rnd(seed, 2) ? i : HANG_NONE;
		t->object = rnd(seed, 2) ? "the mutex `m`" : NULL;
		t->nframes = rnd(seed, 2);
	}
	for (uint32_t b = 0; b < BARRIERS; b++) {
		struct hang_barrier *to = barrier(s, b, rnd(seed, n + 2));

		to->team_declared = !rnd(seed, 4);
		to->open = !rnd(seed, 6);
		to->of_processes = !rnd(seed, 6);
		for (uint32_t i = rnd(seed, n + 1); i; i--)
			s->arrived[b][to->narrived++] =
				(struct hang_arrival){ .tid = TID(rnd(seed, n + 1)),
						       .since_ns = rnd(seed, 9) ? S * i
										: MODEL_UNKNOWN };
		for (uint32_t i = rnd(seed, 2) * rnd(seed, n + 2); i; i--) {
			struct hang_member *m = was_there(s, b, rnd(seed, n + 2));

			m->gone = !rnd(seed, 6);
			m->left = !rnd(seed, 9);
		}
	}
	s->in.all = rnd(seed, 6) != 0;
}

static void test_random(void **state)
{
	uint32_t seed = 20260, deadlocks = 0;
	struct scene *s;

	for (uint32_t round = 0; round < 20000; round++) {
		s = scene_new(1 + rnd(&seed, THREADS));
		scramble(s, &seed);
		for (uint32_t b = 0; b < BARRIERS; b++) {
			const struct report_hang *h = classify(s, b);

			assert_non_null(name_of(h->verdict));
			assert_true(strlen(h->text) > 8);
			if (h->verdict == HANG_DEADLOCK) {
				deadlocks++;
				assert_true(h->ncycle > 0);
				if (!has_circle(s))
					fail_msg("round %u: no circle: %s", round, h->text);
			}
			for (uint32_t i = 0; i < h->ncycle; i++)
				assert_int_equal(h->cycle[i].next,
						 h->cycle[(i + 1) % h->ncycle].tid);
		}
		scene_free(s);
	}
	assert_true(deadlocks > 1000);
}

/*
 * A random scene in which every thread can continue is not a deadlock, whatever is known about the
 * team.
 */
static void test_healthy(void **state)
{
	uint32_t seed = 7;
	struct scene *s;

	for (uint32_t round = 0; round < 5000; round++) {
		uint32_t n = 2 + rnd(&seed, THREADS - 2), first = 1 + rnd(&seed, n - 1);

		s = scene_new(n);
		barrier(s, 0, rnd(&seed, 2) ? n : 0);
		if (rnd(&seed, 2))
			team(s, 0, n);
		for (uint32_t i = 0; i < first; i++)
			arrives(s, 0, i);
		/*
		 * The last thread works. Each other thread works or waits for a lock that a later
		 * thread holds.
		 */
		for (uint32_t i = first; i + 1 < n; i++)
			if (rnd(&seed, 2))
				waits_for_lock(s, i, "the mutex `m`",
					       TID(i + 1 + rnd(&seed, n - i - 1)));
		assert_hang(s, HANG_LONG_PHASE, NULL);
		scene_free(s);
	}
}

/* --- MPI ------------------------------------------------------------------------------------- */

/* Let rank @i spin in an MPI call. */
static struct hang_thread *calls(struct scene *s, uint32_t i, const char *name, enum hang_on on)
{
	struct hang_thread *t = &s->threads[i];

	t->call = name;
	t->call_frame = 0;
	t->peer = HANG_NONE;
	t->world = true;
	t->on = on;
	t->still = true;
	return t;
}

/*
 * Return three processes of one thread each. The first two have arrived at a barrier of
 * MPI_COMM_WORLD.
 */
static struct scene *ranks_new(void)
{
	struct scene *s = scene_new(3);

	for (uint32_t i = 0; i < 3; i++) {
		s->threads[i].pid = TID(i);
		s->threads[i].ranked = true;
	}
	come(s, 0, 3, 2);
	s->barriers[0].of_processes = s->barriers[0].world = true;
	return s;
}

static void test_other_collective(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = ranks_new();

	calls(s, 2, "MPI_Bcast", HANG_ON_COLLECTIVE);
	assert_hang(s, HANG_DEADLOCK,
		    "deadlock: rank 2 (pid 103) is in MPI_Bcast at x.c:55, a different "
		    "collective on the same "
		    "communicator; rank 0 (pid 101) waits at the barrier at x.c:30 for rank 2");
	/* The communicator differs or is unknown, so nothing is proven. */
	s->threads[2].world = false;
	assert_hang(s, HANG_UNKNOWN, NULL);
	/* The rank may have returned from the call since it was examined. */
	s->threads[2].world = true;
	s->threads[2].still = false;
	assert_hang(s, HANG_UNKNOWN, NULL);
}

/*
 * A rank waits in another collective operation. It may wait there for a rank that still works,
 * although the other ranks have done their part.
 */
static void test_other_collective_waits_for_work(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = ranks_new();

	s->barriers[0].narrived = 1;
	s->threads[1].state = HANG_RUNNING;
	s->threads[1].on = HANG_ON_UNKNOWN;
	s->threads[1].still = false;
	calls(s, 2, "MPI_Bcast", HANG_ON_COLLECTIVE);
	assert_int_not_equal(classify(s, 0)->verdict, HANG_DEADLOCK);
}

/* All ranks have arrived, but in different operations. */
static void test_odd_one(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = ranks_new();
	const struct report_hang *h;

	arrives(s, 0, 2);
	for (uint32_t i = 0; i < 3; i++)
		s->threads[i].call = i == 2 ? "MPI_Allreduce" : "MPI_Barrier";
	h = assert_hang(s, HANG_DEADLOCK, NULL);
	assert_fields(h, HAS(text, "rank 2 (pid 103) is in MPI_Allreduce"),
		      HAS(text, "rank 0 (pid 101) is in MPI_Barrier"));
	s->threads[2].call = "MPI_Barrier";
	assert_hang(s, HANG_UNKNOWN, NULL);
}

static void test_message(void **state)
{
	struct scene *s CLEANUP_PTR(scene_free) = ranks_new();

	calls(s, 2, "MPI_Recv", HANG_ON_MESSAGE)->holder = TID(0);
	assert_hang(s, HANG_DEADLOCK,
		    "deadlock: rank 2 (pid 103) waits in MPI_Recv at x.c:55 for rank 0 (pid "
		    "101), which waits at the barrier at x.c:30 for rank 2");
	/*
	 * If a thread keeps exchanging messages, it is not known to wait for another thread
	 * forever.
	 */
	s->threads[2].still = false;
	assert_int_not_equal(classify(s, 0)->verdict, HANG_DEADLOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_phase),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_left_region),
		cmocka_unit_test(test_idle_worker),
		cmocka_unit_test(test_finalized),
		cmocka_unit_test(test_count_too_large),
		cmocka_unit_test(test_by_count),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_other_team),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_through_barrier),
		cmocka_unit_test(test_through_join),
		cmocka_unit_test(test_join_within),
		cmocka_unit_test(test_behind_cycle),
		cmocka_unit_test(test_dead_holder),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_two_barriers),
		cmocka_unit_test(test_two_barriers_and_lock),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_user_frame),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_healthy),
		cmocka_unit_test(test_other_collective),
		cmocka_unit_test(test_other_collective_waits_for_work),
		cmocka_unit_test(test_odd_one),
		cmocka_unit_test(test_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
