// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check inferred departures against cases that are worked out by hand. Times are in ns. */
#include "test_check.h"
#include "ingest/departures.h"

#define MOST 64
#define A    0x1000 /* a barrier object */
#define B    0x2000
#define NONE UINT64_MAX

/* A stream of given records. */
struct source {
	struct stream stream;
	union {
		struct sbt_arrival_full arrival;
		struct sbt_crossing_full full;
		struct sbt_event event;
	} records[MOST];
	struct stream_record is[MOST];
	uint32_t n, at;
};

/* A barrier with this word does not show the number of its members. */
#define UNCOUNTED 7

struct test {
	struct source source;
	struct departures *departures;
	uint32_t count; /* number of members of every barrier */
	bool may_be_shared; /* every barrier */
	uint32_t seq[10]; /* by thread */
	/* what offs() returns */
	struct sbt_arrival_full offs;
	uint64_t out_ns;
	bool has_offs;
	bool lossy;
	uint32_t refreshed; /* number of calls of refresh() */
};

static int source_next(struct stream *stream, uint64_t until_ns, struct stream_record *out)
{
	struct source *s = (struct source *)stream;

	if (s->at == s->n || s->is[s->at].key_ns > until_ns)
		return 0;
	*out = s->is[s->at++];
	return 1;
}

static void source_free(struct stream *stream)
{
	(void)stream;
}

static const struct stream_ops source_ops = { .next = source_next, .free = source_free };

static int barrier(void *ctx, struct sbt_crossing *c, uint64_t first_word,
		   struct departures_barrier *out)
{
	const struct test *t = ctx;

	c->family = SBT_FAMILY_PTHREAD;
	*out = (struct departures_barrier){ .count = c->raw_word == UNCOUNTED ? 0 : t->count,
					    .waiting = (uint32_t)first_word,
					    .may_be_shared = t->may_be_shared };
	return 0;
}

static bool no_parent(void *ctx, uint32_t *tgid, uint32_t *inc)
{
	return false;
}

static bool lossless(void *ctx)
{
	const struct test *t = ctx;

	return !t->lossy;
}

static void refresh(void *ctx)
{
	struct test *t = ctx;

	t->refreshed++;
}

static bool offs(void *ctx, uint32_t tid, uint32_t seq, struct sbt_arrival_full *out,
		 uint64_t *out_ns)
{
	const struct test *t = ctx;

	*out = tid == 1 ? t->offs : (struct sbt_arrival_full){ 0 };
	*out_ns = tid == 1 ? t->out_ns : 0;
	return t->has_offs;
}

static struct test *set_up(uint32_t count)
{
	struct test *t = calloc(1, sizeof(*t));
	struct departures_ops ops = { .ctx = t,
				      .run_ns = 3,
				      .wake_ns = 4,
				      .wake_idle_ns = 9,
				      .barrier = barrier,
				      .parent = no_parent,
				      .lossless = lossless,
				      .refresh = refresh,
				      .offs = offs };

	assert_non_null(t);
	t->count = count;
	t->has_offs = true;
	t->source.stream.ops = &source_ops;
	assert_int_equal(departures_new(&t->source.stream, &ops, &t->departures), 0);
	return t;
}

static void tear_down(struct test *t)
{
	stream_free(departures_stream(t->departures));
	free(t);
}

static struct sbt_arrival_full *record(struct test *t, uint32_t tid, uint64_t at_ns,
				       uint64_t object)
{
	struct source *s = &t->source;
	struct sbt_arrival_full *a = &s->records[s->n].arrival;

	assert_true(s->n < MOST);
	a->head = (struct sbt_arrival){
		.stamp = at_ns | SBT_ARRIVAL_STAMP,
		.object = object,
		.tgid = 1,
		.inc = 1,
		.tid = tid,
		.seq = ++t->seq[tid],
		.type = SBT_REC_ARRIVAL,
		.flags = SBT_CROSSING_ACCOUNTED,
	};
	a->first_word = UINT32_MAX;
	s->is[s->n++] = (struct stream_record){ .key_ns = at_ns, .arrival = a };
	return a;
}

/* Add an arrival of a thread that was on a CPU since its last arrival. */
static struct sbt_arrival_full *arrive(struct test *t, uint32_t tid, uint64_t at_ns)
{
	return record(t, tid, at_ns, A);
}

/* Add a time off the CPU before an arrival. */
static struct sbt_off *off(struct sbt_arrival_full *a, uint64_t out_ns, uint64_t in_ns)
{
	struct sbt_off *o = &a->off[a->noffs++];

	*o = (struct sbt_off){ .out_ns = out_ns, .in_ns = in_ns };
	a->head.length = SBT_ARRIVAL_ONE;
	return o;
}

/* The thread exits, or writes a record of another kind. */
static struct sbt_arrival_full *leave(struct test *t, uint32_t tid, uint64_t at_ns)
{
	struct sbt_arrival_full *a = record(t, tid, at_ns, A);

	a->head.type = SBT_REC_LEFT;
	a->head.seq = --t->seq[tid];
	return a;
}

/* Return the next crossing, copied, up to @until_ns. */
static struct sbt_crossing_full next_until(struct test *t, uint64_t until_ns)
{
	struct sbt_crossing_full full = { 0 };
	struct stream_record r = { 0 };

	assert_int_equal(stream_next(departures_stream(t->departures), until_ns, &r), 1);
	assert_non_null(r.crossing);
	assert_int_equal(r.crossing->type, SBT_REC_CROSSING);
	full.crossing = *r.crossing;
	if (full.crossing.flags & SBT_CROSSING_INSIDE)
		full.inside = ((const struct sbt_crossing_full *)r.crossing)->inside;
	if (full.crossing.flags & SBT_CROSSING_PARTS)
		full.parts = ((const struct sbt_crossing_full *)r.crossing)->parts;
	return full;
}

static struct sbt_crossing_full next(struct test *t)
{
	return next_until(t, NONE);
}

/* Check the next crossing. */
static struct sbt_crossing_full check_next(struct test *t, uint32_t tid, uint64_t arrive_ns,
					   uint64_t depart_ns, uint16_t flags)
{
	struct sbt_crossing_full f = next(t);

	assert_int_equal(f.crossing.tid, tid);
	assert_int_equal(f.crossing.arrive_ns, arrive_ns);
	assert_int_equal(f.crossing.depart_ns, depart_ns);
	assert_true(f.crossing.flags & SBT_CROSSING_INFERRED);
	assert_int_equal(f.crossing.flags & (SBT_CROSSING_UNTIMED | SBT_CROSSING_ABANDONED), flags);
	return f;
}

static void check_end(struct test *t)
{
	struct stream_record r;

	assert_int_equal(stream_next(departures_stream(t->departures), NONE, &r), 0);
}

/* The arrival says how many threads the barrier has counted in the present episode. */
static struct sbt_arrival_full *counted(struct sbt_arrival_full *a, uint32_t waiting)
{
	a->has_words = 1;
	a->first_word = waiting;
	return a;
}

/* Check an episode of the threads 3, 1 and 2, with these arrivals. */
static void check_three(struct test *t, uint64_t third_ns, uint64_t first_ns, uint64_t second_ns,
			uint64_t depart_ns)
{
	const uint64_t arrive_ns[] = { 0, first_ns, second_ns, third_ns };
	struct sbt_crossing_full f;
	uint32_t i, seen = 0;

	for (i = 0; i < 3; i++) {
		f = next(t);
		assert_int_equal(f.crossing.depart_ns, depart_ns);
		assert_int_equal(f.crossing.arrive_ns, arrive_ns[f.crossing.tid]);
		assert_int_equal(f.crossing.flags & SBT_CROSSING_UNTIMED, 0);
		seen |= 1u << f.crossing.tid;
	}
	assert_int_equal(seen, 0xe);
}

/* Add an arrival at a barrier of an OpenMP team. @round: number of the episode. */
static struct sbt_arrival_full *arrive_in_team(struct test *t, uint32_t tid, uint64_t at_ns,
					       uint32_t round)
{
	struct sbt_arrival_full *a = record(t, tid, at_ns, A);

	a->head.flags |= SBT_CROSSING_ROUND;
	a->head.length = SBT_ARRIVAL_TEAM;
	a->round = round;
	a->kind = SBT_KIND_LOOP;
	return a;
}

/* A thread that never slept departs just after the last arrival. */
static void test_spinning(void **unused)
{
	struct test *t = set_up(2);

	arrive(t, 1, 100);
	arrive(t, 2, 200);
	arrive(t, 1, 300);
	arrive(t, 2, 400);
	check_next(t, 1, 100, 201, 0);
	check_next(t, 2, 200, 201, 0);
	check_next(t, 2, 400, 401, 0);
	check_next(t, 1, 300, 401, 0);
	check_end(t);
	tear_down(t);
}

/* A sleeper departs when it has a CPU again, plus the time to leave its system call. */
static void test_asleep(void **unused)
{
	struct test *t = set_up(3);
	struct sbt_crossing_full f;
	struct sbt_off *o;

	arrive(t, 1, 100);
	arrive(t, 2, 110);
	arrive(t, 3, 200);
	o = off(arrive(t, 1, 300), 120, 220);
	o->oncpu_ns = 20;
	o->runq_ns = 7;
	/* It slept at another time only: it was on a CPU at the release. */
	off(arrive(t, 2, 400), 120, 180)->oncpu_ns = 10;
	arrive(t, 3, 500);
	f = check_next(t, 2, 110, 201, 0);
	assert_int_equal(f.inside.oncpu_ns, 10 + 21);
	check_next(t, 3, 200, 201, 0);
	f = check_next(t, 1, 100, 223, 0);
	assert_int_equal(f.inside.oncpu_ns, 20 + 3);
	assert_int_equal(f.inside.runq_ns, 7);
	assert_int_equal(f.inside.switches, 1);
	check_next(t, 3, 500, 501, 0);
	check_next(t, 2, 400, 501, 0);
	check_next(t, 1, 300, 501, 0);
	check_end(t);
	tear_down(t);
}

/* The last arriver departs when it has woken the other threads. */
static void test_last(void **unused)
{
	struct test *t = set_up(2);
	struct sbt_arrival_full *a;

	arrive(t, 1, 100);
	arrive(t, 2, 200);
	off(arrive(t, 1, 300), 120, 220);
	a = arrive(t, 2, 320);
	a->woke_ns = 210;
	arrive(t, 1, 400);
	a = arrive(t, 2, 500);
	a->woke_ns = 340;
	a->woke_idle = 1;
	check_next(t, 2, 200, 214, 0);
	check_next(t, 1, 100, 223, 0);
	/* The wake-up of a thread on an idle CPU takes longer. */
	check_next(t, 1, 300, 321, 0);
	check_next(t, 2, 320, 349, 0);
	check_next(t, 2, 500, 501, 0);
	check_next(t, 1, 400, 501, 0);
	check_end(t);
	tear_down(t);
}

/*
 * A thread that fell asleep just after the last arrival was woken by the last arriver. If a thread
 * loses its CPU in the system call that wakes the others, it departs when it gets a CPU again.
 */
static void test_after_release(void **unused)
{
	struct test *t = set_up(2);
	struct sbt_arrival_full *a;

	arrive(t, 1, 190);
	arrive(t, 2, 200);
	off(arrive(t, 1, 500), 205, 230)->waker = 2;
	a = arrive(t, 2, 600);
	a->woke_ns = 210;
	off(a, 211, 260)->inside = 1;
	check_next(t, 1, 190, 233, 0);
	check_next(t, 2, 200, 263, 0);
	check_next(t, 2, 600, 601, 0);
	check_next(t, 1, 500, 601, 0);
	check_end(t);
	tear_down(t);
}

/* Times off the CPU after the departure belong to the next phase. */
static void test_phase(void **unused)
{
	struct test *t = set_up(2);
	struct sbt_crossing_full f;
	struct sbt_arrival_full *a;

	arrive(t, 1, 100);
	arrive(t, 2, 200);
	a = arrive(t, 1, 1000);
	off(a, 120, 220)->oncpu_ns = 20;
	*off(a, 500, 600) =
		(struct sbt_off){ .out_ns = 500, .in_ns = 600, .oncpu_ns = 280, .runq_ns = 30 };
	a->head.length = SBT_ARRIVAL_ALL;
	a->head.flags |= SBT_CROSSING_PARTS;
	a->parts.oncpu_ns = 350;
	a->parts.blocked_ns[SBT_BLOCKED_LOCK] = 50;
	a->parts.switches = 1;
	arrive(t, 2, 1100);
	arrive(t, 1, 1200);
	arrive(t, 2, 1300);
	check_next(t, 2, 200, 201, 0);
	check_next(t, 1, 100, 223, 0);
	f = check_next(t, 1, 1000, 1101, 0);
	/* On a CPU from the departure at 223 to 500, and then 350. */
	assert_int_equal(f.parts.oncpu_ns, 277 + 350);
	assert_int_equal(f.parts.runq_ns, 30);
	assert_int_equal(f.parts.blocked_ns[SBT_BLOCKED_OTHER], 70);
	assert_int_equal(f.parts.blocked_ns[SBT_BLOCKED_LOCK], 50);
	assert_int_equal(f.parts.switches, 2);
	check_next(t, 2, 1100, 1101, 0);
	check_next(t, 2, 1300, 1301, 0);
	check_next(t, 1, 1200, 1301, 0);
	check_end(t);
	tear_down(t);
}

/* More times off the CPU than are kept: nothing is guessed. */
static void test_too_many(void **unused)
{
	struct test *t = set_up(2);
	struct sbt_crossing_full f;
	struct sbt_arrival_full *a;
	uint32_t i;

	arrive(t, 1, 100);
	arrive(t, 2, 200);
	a = arrive(t, 1, 1000);
	for (i = 0; i < SBT_OFFS; i++)
		off(a, 110 + 10 * i, 115 + 10 * i);
	a->off[SBT_OFFS - 1] = (struct sbt_off){ .out_ns = 250, .in_ns = 260 };
	a->merged = 1;
	arrive(t, 2, 1100);
	check_next(t, 2, 200, 201, 0);
	check_next(t, 1, 100, 1000, SBT_CROSSING_UNTIMED);
	arrive(t, 1, 1200);
	f = check_next(t, 1, 1000, 1101, 0);
	/* The next phase is not known either. */
	assert_false(f.crossing.flags & SBT_CROSSING_ACCOUNTED);
	tear_down(t);
}

/* The kernel lost an event of the thread. */
static void test_unsure(void **unused)
{
	struct test *t = set_up(2);

	arrive(t, 1, 100);
	arrive(t, 2, 200);
	arrive(t, 1, 300)->unsure = 1;
	arrive(t, 2, 400);
	check_next(t, 2, 200, 201, 0);
	check_next(t, 1, 100, 300, SBT_CROSSING_UNTIMED);
	check_next(t, 2, 400, 401, 0);
	check_next(t, 1, 300, 401, 0);
	check_end(t);
	tear_down(t);
}

/*
 * A record was lost: the others' departures are not known. The episodes after the next one are in
 * step again.
 */
static void test_lost(void **unused)
{
	struct test *t = set_up(3);

	arrive(t, 1, 10);
	arrive(t, 2, 20);
	arrive(t, 3, 30);
	arrive(t, 1, 100);
	arrive(t, 2, 110);
	t->seq[3]++; /* thread 3 arrived at 120 */
	t->lossy = true;
	arrive(t, 1, 200);
	arrive(t, 2, 210);
	/* The barrier has counted two, so this one is the last. */
	counted(arrive(t, 3, 220), 2);
	arrive(t, 1, 300);
	arrive(t, 2, 310);
	arrive(t, 3, 320);
	arrive(t, 1, 400);
	arrive(t, 2, 410);
	arrive(t, 3, 420);
	check_three(t, 30, 10, 20, 31);
	check_next(t, 1, 100, 200, SBT_CROSSING_UNTIMED);
	check_next(t, 2, 110, 210, SBT_CROSSING_UNTIMED);
	check_next(t, 3, 220, 221, 0);
	check_next(t, 1, 200, 300, SBT_CROSSING_UNTIMED);
	check_next(t, 2, 210, 310, SBT_CROSSING_UNTIMED);
	check_three(t, 320, 300, 310, 321);
	assert_int_equal(t->refreshed, 0);
	tear_down(t);
}

/*
 * A record of a thread was lost, and the thread arrives first in the next episode. That episode
 * would seem to be the end of the last one, and all later episodes would be shifted. No departure
 * is known until an arrival shows how many threads the barrier has counted.
 */
static void test_lost_first(void **unused)
{
	const uint64_t b = 20000000;
	struct test *t = set_up(3);

	arrive(t, 3, b + 10);
	arrive(t, 1, b + 20);
	arrive(t, 2, b + 30);
	arrive(t, 1, b + 100);
	arrive(t, 2, b + 110);
	t->seq[3]++; /* thread 3 arrived at 120 */
	t->lossy = true;
	arrive(t, 3, b + 200);
	arrive(t, 1, b + 210);
	arrive(t, 2, b + 220);
	arrive(t, 3, b + 300);
	counted(arrive(t, 1, b + 310), 1);
	counted(arrive(t, 2, b + 320), 2);
	arrive(t, 1, b + 400);
	arrive(t, 2, b + 410);
	arrive(t, 3, b + 420);
	arrive(t, 1, b + 500);
	arrive(t, 2, b + 510);
	arrive(t, 3, b + 520);
	check_three(t, b + 10, b + 20, b + 30, b + 31);
	check_next(t, 1, b + 100, b + 210, SBT_CROSSING_UNTIMED);
	check_next(t, 2, b + 110, b + 220, SBT_CROSSING_UNTIMED);
	check_next(t, 3, b + 200, b + 300, SBT_CROSSING_UNTIMED);
	check_next(t, 1, b + 210, b + 310, SBT_CROSSING_UNTIMED);
	check_next(t, 2, b + 220, b + 320, SBT_CROSSING_UNTIMED);
	check_next(t, 1, b + 310, b + 321, 0);
	check_next(t, 2, b + 320, b + 321, 0);
	check_next(t, 3, b + 300, b + 420, SBT_CROSSING_UNTIMED);
	check_three(t, b + 420, b + 400, b + 410, b + 421);
	assert_int_equal(t->refreshed, 1);
	tear_down(t);
}

/*
 * The count that the barrier gave was wrong: a thread that was not the last one has woken others.
 * This shows where the next episode begins.
 */
static void test_contradiction(void **unused)
{
	const uint64_t b = 20000000;
	struct test *t = set_up(2);

	counted(arrive(t, 1, b + 10), 1);
	arrive(t, 2, b + 20);
	arrive(t, 1, b + 30);
	/* Thread 2 has woken thread 1, so its arrival at 20 was the last one. */
	arrive(t, 2, b + 40)->woke_ns = b + 25;
	arrive(t, 1, b + 50);
	arrive(t, 2, b + 60);
	arrive(t, 1, b + 70);
	arrive(t, 2, b + 80);
	check_next(t, 1, b + 10, b + 11, 0);
	check_next(t, 2, b + 20, b + 40, SBT_CROSSING_UNTIMED);
	check_next(t, 2, b + 40, b + 41, 0);
	check_next(t, 1, b + 30, b + 50, SBT_CROSSING_UNTIMED);
	check_next(t, 1, b + 50, b + 61, 0);
	check_next(t, 2, b + 60, b + 61, 0);
	assert_int_equal(t->refreshed, 0);
	tear_down(t);
}

/*
 * As before, with four members. Three of them have arrived for the next episode when the thread
 * that woke the others arrives there.
 */
static void test_contradiction_of_four(void **unused)
{
	struct test *t = set_up(4);
	uint32_t i;

	/* Thread 4 was inside as well, but had not been counted. */
	counted(arrive(t, 1, 10), 0);
	arrive(t, 2, 20);
	arrive(t, 3, 30);
	arrive(t, 4, 110);
	arrive(t, 1, 120);
	arrive(t, 2, 130);
	arrive(t, 3, 140)->woke_ns = 35;
	for (i = 1; i <= 4; i++)
		arrive(t, i, 200 + i);
	for (i = 1; i <= 4; i++)
		arrive(t, i, 300 + i);
	check_next(t, 1, 10, 111, 0);
	check_next(t, 2, 20, 111, 0);
	check_next(t, 3, 30, 140, SBT_CROSSING_UNTIMED);
	check_next(t, 3, 140, 141, 0);
	check_next(t, 1, 120, 201, SBT_CROSSING_UNTIMED);
	check_next(t, 2, 130, 202, SBT_CROSSING_UNTIMED);
	check_next(t, 4, 110, 204, SBT_CROSSING_UNTIMED);
	for (i = 1; i <= 4; i++)
		assert_int_equal(next(t).crossing.depart_ns, 205);
	assert_int_equal(t->refreshed, 0);
	tear_down(t);
}

/* A record is missing since the thread that woke others arrived, so it does not show the step. */
static void test_contradiction_and_lost(void **unused)
{
	const uint64_t b = 20000000;
	struct test *t = set_up(3);

	arrive(t, 1, b + 10);
	arrive(t, 2, b + 20);
	arrive(t, 3, b + 30);
	t->seq[2]++; /* thread 2 arrived at 40 */
	t->lossy = true;
	arrive(t, 1, b + 50);
	arrive(t, 2, b + 60);
	arrive(t, 3, b + 70)->woke_ns = b + 35;
	counted(arrive(t, 1, b + 80), 2);
	check_next(t, 1, b + 10, b + 31, 0);
	check_next(t, 2, b + 20, b + 31, 0);
	check_next(t, 3, b + 30, b + 39, 0);
	check_next(t, 1, b + 50, b + 80, SBT_CROSSING_UNTIMED);
	check_next(t, 1, b + 80, b + 81, 0);
	check_end(t); /* threads 2 and 3 are inside, as far as is known */
	assert_int_equal(t->refreshed, 1);
	tear_down(t);
}

/*
 * Three threads use a barrier of two. Then a thread that did not sleep until the release of its
 * episode may have been counted in an earlier one, though it arrived after its last arriver.
 */
static void test_crowded(void **unused)
{
	uint32_t asleep;

	for (asleep = 0; asleep < 2; asleep++) {
		struct test *t = set_up(2);
		struct sbt_arrival_full *a;

		arrive(t, 1, 100);
		arrive(t, 2, 200);
		arrive(t, 3, 210);
		arrive(t, 1, 50000);
		a = arrive(t, 3, 60000);
		if (asleep)
			off(a, 300, 50010)->inside = 1;
		arrive(t, 2, 60100);
		check_next(t, 1, 100, 201, 0);
		check_next(t, 2, 200, 201, 0);
		check_next(t, 1, 50000, 50001, 0);
		if (asleep)
			check_next(t, 3, 210, 50013, 0);
		else
			check_next(t, 3, 210, 60000, SBT_CROSSING_UNTIMED);
		tear_down(t);
	}
}

/* There, a last arriver that lost its CPU at once, and woke none, may not have been counted yet. */
static void test_crowded_and_cut(void **unused)
{
	uint32_t woke;

	for (woke = 0; woke < 2; woke++) {
		struct test *t = set_up(2);
		struct sbt_arrival_full *a;

		arrive(t, 1, 100);
		arrive(t, 2, 200);
		arrive(t, 3, 210);
		arrive(t, 1, 220);
		a = arrive(t, 1, 60000);
		off(a, 230, 50000);
		a->woke_ns = woke ? 225 : 0;
		arrive(t, 2, 60100);
		check_next(t, 1, 100, 201, 0);
		check_next(t, 2, 200, 201, 0);
		check_next(t, 3, 210, 221, 0);
		if (woke)
			check_next(t, 1, 220, 229, 0);
		else
			check_next(t, 1, 220, 60000, SBT_CROSSING_UNTIMED);
		tear_down(t);
	}
}

/* Here such a thread arrives again, before the barrier has as many arrivals as it needs. */
static void test_crowded_and_earlier(void **unused)
{
	struct test *t = set_up(2);

	arrive(t, 1, 100);
	arrive(t, 2, 110);
	arrive(t, 3, 120);
	arrive(t, 3, 200);
	arrive(t, 1, 300);
	arrive(t, 2, 400);
	check_next(t, 1, 100, 111, 0);
	check_next(t, 2, 110, 111, 0);
	check_next(t, 3, 120, 200, SBT_CROSSING_UNTIMED);
	tear_down(t);
}

/* Two of four threads were inside when tracing began: the barrier says so. */
static void test_begun(void **unused)
{
	struct test *t = set_up(4);
	struct sbt_arrival_full *a;

	a = arrive(t, 1, 100);
	a->has_words = 1;
	a->first_word = 2;
	a = arrive(t, 2, 110);
	a->has_words = 1;
	a->first_word = 3;
	a = arrive(t, 3, 150);
	a->has_words = 1;
	a->first_word = 0;
	arrive(t, 4, 160);
	arrive(t, 1, 170);
	arrive(t, 2, 200);
	arrive(t, 3, 300);
	check_next(t, 1, 100, 111, 0);
	check_next(t, 2, 110, 111, 0);
	check_next(t, 3, 150, 201, 0);
	tear_down(t);
}

/* More threads than members: the order of arrival decides. */
static void test_cyclic(void **unused)
{
	struct test *t = set_up(2);

	arrive(t, 1, 100);
	arrive(t, 2, 200);
	arrive(t, 3, 300);
	arrive(t, 1, 400);
	arrive(t, 2, 500);
	arrive(t, 3, 600);
	arrive(t, 1, 700);
	check_next(t, 1, 100, 201, 0);
	check_next(t, 2, 200, 201, 0);
	check_next(t, 3, 300, 401, 0);
	check_next(t, 1, 400, 401, 0);
	tear_down(t);
}

/* Check the number of the next crossing's episode. */
static struct sbt_crossing check_number(struct test *t, uint32_t tid, uint64_t arrive_ns,
					uint32_t number)
{
	struct sbt_crossing c = next(t).crossing;

	assert_int_equal(c.tid, tid);
	assert_int_equal(c.arrive_ns, arrive_ns);
	assert_int_equal(!!(c.flags & SBT_CROSSING_ROUND), number != 0);
	assert_int_equal(c.round, number);
	return c;
}

/*
 * Threads 2 and 3 were inside when tracing began, and the barrier had counted them when thread 1
 * arrived. So thread 1 was the last arriver, and the others arrive for the next episode. They do so
 * before thread 1, which lost its CPU, has departed: no times show this, so the episodes have
 * numbers.
 */
static void test_numbers(void **unused)
{
	struct test *t = set_up(3);

	counted(arrive(t, 1, 100), 2);
	counted(arrive(t, 2, 110), 0);
	counted(arrive(t, 3, 120), 1);
	off(arrive(t, 1, 200), 105, 130)->inside = 1;
	arrive(t, 2, 210);
	arrive(t, 3, 220);
	arrive(t, 1, 300);
	arrive(t, 2, 310);
	arrive(t, 3, 320);
	assert_int_equal(check_number(t, 1, 100, 1).depart_ns, 133);
	check_number(t, 2, 110, 2);
	check_number(t, 3, 120, 2);
	check_number(t, 1, 200, 2);
	/* An episode with all its members was numbered: this is enough. */
	check_number(t, 2, 210, 0);
	check_number(t, 3, 220, 0);
	check_number(t, 1, 300, 0);
	tear_down(t);
}

/*
 * Thread 2 was about to be counted when thread 1 arrived, so no arrival shows that all others were
 * counted. No episode has a number until one does.
 */
static void test_no_numbers(void **unused)
{
	const uint64_t b = 20000000;
	struct test *t = set_up(2);

	counted(arrive(t, 1, b + 100), 0);
	counted(arrive(t, 2, b + 110), 0);
	arrive(t, 1, b + 200);
	arrive(t, 2, b + 210);
	counted(arrive(t, 1, b + 300), 0);
	counted(arrive(t, 2, b + 310), 1);
	arrive(t, 1, b + 400);
	arrive(t, 2, b + 410);
	check_number(t, 1, b + 100, 0);
	check_number(t, 2, b + 110, 0);
	check_number(t, 1, b + 200, 0);
	check_number(t, 2, b + 210, 0);
	check_number(t, 1, b + 300, 1);
	check_number(t, 2, b + 310, 1);
	assert_int_equal(t->refreshed, 1);
	tear_down(t);
}

/* Thread 1 seems to arrive as the last one, but its episode has no number. */
static void check_no_numbers(struct test *t)
{
	counted(arrive(t, 1, 100), 1);
	counted(arrive(t, 2, 110), 0);
	arrive(t, 1, 200);
	arrive(t, 2, 210);
	check_number(t, 1, 100, 0);
	check_number(t, 2, 110, 0);
	check_number(t, 1, 200, 0);
}

/* After a loss, threads may lack records of which nothing is known yet: there are no numbers. */
static void test_no_numbers_and_lost(void **unused)
{
	struct test *t = set_up(2);

	t->lossy = true;
	check_no_numbers(t);
	tear_down(t);
}

/*
 * After a contradiction, arrivals may be known in another order than the barrier's: there are no
 * numbers, although an arrival seems to be the last one.
 */
static void test_no_numbers_and_contradiction(void **unused)
{
	struct test *t = set_up(2);
	uint32_t i;

	arrive(t, 1, 10);
	arrive(t, 2, 20);
	arrive(t, 1, 30);
	arrive(t, 2, 40)->woke_ns = 15;
	counted(arrive(t, 1, 50), 0);
	counted(arrive(t, 2, 60), 1);
	arrive(t, 1, 70);
	arrive(t, 2, 80);
	for (i = 0; i < 6; i++)
		assert_int_equal(next(t).crossing.flags & SBT_CROSSING_ROUND, 0);
	tear_down(t);
}

/* A process that is not traced may have arrived before: there are no numbers. */
static void test_no_numbers_and_shared(void **unused)
{
	struct test *t = set_up(2);

	t->may_be_shared = true;
	check_no_numbers(t);
	tear_down(t);
}

/* A thread leaves by longjmp, and arrives at another barrier. Its team waits on. */
static void test_abandoned(void **unused)
{
	struct test *t = set_up(2);

	counted(arrive(t, 1, 100), 0);
	record(t, 1, 200, B);
	arrive(t, 2, 300);
	record(t, 2, 400, B);
	arrive(t, 1, 500);
	arrive(t, 2, 600);
	check_next(t, 1, 100, 200, SBT_CROSSING_ABANDONED);
	check_next(t, 2, 300, 301, 0);
	check_next(t, 1, 200, 401, 0);
	check_next(t, 2, 400, 401, 0);
	tear_down(t);
}

/* The barrier is created again at the same address while a thread has not left it. */
static void test_created_again(void **unused)
{
	struct test *t = set_up(2);

	counted(arrive(t, 1, 100), 0);
	leave(t, 1, 200);
	counted(arrive(t, 2, 10000), 0);
	arrive(t, 3, 10100);
	arrive(t, 2, 10200);
	check_next(t, 1, 100, 200, SBT_CROSSING_ABANDONED);
	check_next(t, 2, 10000, 10101, 0);
	tear_down(t);
}

/* A thread exits inside a barrier; there is no time after its departure. */
static void test_exit_inside(void **unused)
{
	struct test *t = set_up(2);

	counted(arrive(t, 1, 100), 0);
	leave(t, 1, 200);
	check_next(t, 1, 100, 200, SBT_CROSSING_ABANDONED);
	check_end(t);
	assert_false(departures_waits(t->departures, 1, 1));
	tear_down(t);
}

/* At the end, threads are inside. */
static int count_pending(void *ctx, const struct sbt_crossing *c)
{
	uint32_t *n = ctx;

	*n += c->tid;
	return 0;
}

static void test_pending(void **unused)
{
	struct sbt_crossing_full tail = { .crossing = { .tid = 3, .inc = 1 } };
	struct test *t = set_up(3);
	uint32_t sum = 0;

	arrive(t, 3, 100);
	arrive(t, 4, 200);
	check_end(t);
	assert_true(departures_waits(t->departures, 1, 3));
	assert_int_equal(departures_each_pending(t->departures, count_pending, &sum), 0);
	assert_int_equal(sum, 7);
	assert_false(departures_tail(t->departures, &tail));
	tear_down(t);
}

/* A thread with no further record is asked for, and holds no other record back for long. */
static void test_look(void **unused)
{
	struct test *t = set_up(2);
	struct sbt_crossing_full f;
	struct stream_record r;

	arrive(t, 1, 100);
	arrive(t, 2, 200);
	/* Nothing is returned while the departures are not known. */
	assert_int_equal(stream_next(departures_stream(t->departures), 1000, &r), 0);
	assert_int_equal(departures_until(t->departures, 1000), 200);
	/* Thread 1 is still off the CPU. */
	t->out_ns = 150;
	f = next_until(t, 50000000);
	assert_int_equal(f.crossing.depart_ns, 201);
	assert_int_equal(departures_until(t->departures, 50000000), 50000000);
	/* It got a CPU. */
	t->out_ns = 0;
	t->offs.noffs = 1;
	t->offs.off[0] = (struct sbt_off){ .out_ns = 150, .in_ns = 60000000 };
	f = next_until(t, 90000000);
	assert_int_equal(f.crossing.depart_ns, 60000003);
	tear_down(t);
}

/* The numbers of the episodes decide which arrivals belong together, also after a loss. */
static void test_team(void **unused)
{
	struct test *t = set_up(2);
	struct sbt_crossing_full f;

	arrive_in_team(t, 1, 100, 2);
	arrive_in_team(t, 2, 200, 2);
	arrive_in_team(t, 1, 300, 3);
	t->seq[2]++; /* the arrival of thread 2 is lost */
	arrive_in_team(t, 1, 500, 4);
	arrive_in_team(t, 2, 600, 4);
	t->lossy = true;
	f = check_next(t, 1, 100, 201, 0);
	assert_int_equal(f.crossing.round, 2);
	assert_int_equal(f.crossing.kind, SBT_KIND_LOOP);
	assert_true(f.crossing.flags & SBT_CROSSING_ROUND);
	check_next(t, 2, 200, 201, 0);
	f = check_next(t, 1, 300, 500, SBT_CROSSING_UNTIMED);
	assert_int_equal(f.crossing.round, 3);
	check_next(t, 2, 600, 601, 0);
	f = check_next(t, 1, 500, 601, 0);
	assert_int_equal(f.crossing.round, 4);
	check_end(t);
	tear_down(t);
}

/* A member counts when it arrives, first or last, also if its departure will be seen. */
static void test_team_seen(void **unused)
{
	struct test *t = set_up(2);
	struct sbt_arrival_full *a;

	arrive_in_team(t, 1, 100, 2);
	arrive_in_team(t, 2, 200, 2);
	arrive_in_team(t, 1, 300, 3);
	a = leave(t, 2, 400);
	a->head.flags |= SBT_CROSSING_ROUND;
	a->round = 3;
	a = leave(t, 1, 700);
	a->head.flags |= SBT_CROSSING_ROUND;
	a->round = 4;
	check_next(t, 1, 100, 201, 0);
	check_next(t, 2, 200, 201, 0);
	check_next(t, 1, 300, 401, 0);
	check_end(t);
	tear_down(t);
}

/*
 * The number of members cannot be read: the departures in this episode are unknown, and no thread
 * has abandoned the barrier. Episodes with a known number follow.
 */
static void test_team_unknown(void **unused)
{
	struct test *t = set_up(2);

	arrive_in_team(t, 1, 100, 2);
	arrive_in_team(t, 2, 200, 2);
	arrive_in_team(t, 1, 300, 3);
	arrive_in_team(t, 2, 400, 3)->raw_word = UNCOUNTED;
	arrive_in_team(t, 1, 500, 4);
	arrive_in_team(t, 2, 600, 4);
	check_next(t, 1, 100, 201, 0);
	check_next(t, 2, 200, 201, 0);
	check_next(t, 1, 300, 500, SBT_CROSSING_UNTIMED);
	check_next(t, 2, 400, 600, SBT_CROSSING_UNTIMED);
	check_next(t, 2, 600, 601, 0);
	check_next(t, 1, 500, 601, 0);
	check_end(t);
	tear_down(t);
}

/* A program that uses many barriers, one after the other, needs no more memory for each of them. */
static void test_many_barriers(void **unused)
{
	struct test *t = set_up(1);
	struct stream_record r;
	uint64_t i;

	for (i = 1; i <= 70000; i++) {
		t->source.n = t->source.at = 0;
		memset(t->source.records, 0, sizeof(t->source.records[0]));
		counted(record(t, 1, 1000 * i, 64 * i), 0);
		stream_next(departures_stream(t->departures), 1000 * i, &r);
	}
	assert_int_equal(t->refreshed, 1);
	tear_down(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_barriers),
		cmocka_unit_test(test_spinning),
		cmocka_unit_test(test_asleep),
		cmocka_unit_test(test_last),
		cmocka_unit_test(test_after_release),
		cmocka_unit_test(test_phase),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_unsure),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_first),
		cmocka_unit_test(test_contradiction),
		cmocka_unit_test(test_contradiction_of_four),
		cmocka_unit_test(test_contradiction_and_lost),
		cmocka_unit_test(test_begun),
		cmocka_unit_test(test_crowded),
		cmocka_unit_test(test_crowded_and_cut),
		cmocka_unit_test(test_crowded_and_earlier),
		cmocka_unit_test(test_cyclic),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_no_numbers),
		cmocka_unit_test(test_no_numbers_and_lost),
		cmocka_unit_test(test_no_numbers_and_shared),
		cmocka_unit_test(test_no_numbers_and_contradiction),
		cmocka_unit_test(test_abandoned),
		cmocka_unit_test(test_created_again),
		cmocka_unit_test(test_exit_inside),
		cmocka_unit_test(test_pending),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_team),
		cmocka_unit_test(test_team_seen),
		cmocka_unit_test(test_team_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
