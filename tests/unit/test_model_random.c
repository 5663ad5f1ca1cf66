// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Random barrier programs, run in virtual time, their crossings delivered a little out of order: every
 * meeting is recovered exactly. With records lost at random no meeting is ever shown complete that
 * was not, and what was lost is counted.
 */
#include "test_model_util.h"

#define THREADS_MAX 12
#define OBJECTS_MAX 6

struct rec {
	struct model_crossing c;
	uint64_t deliver;
	uint32_t meeting;
	bool dropped;
};

struct meeting {
	uint32_t n;
	uint64_t object;
	uint64_t release;
	uint64_t phase; /* NEVER: two came last at once */
	uint64_t arrive[THREADS_MAX]; /* by thread; 0: not in it */
};

struct sim {
	uint64_t seed;
	uint32_t nthreads;
	uint32_t nobjects;
	uint32_t team[OBJECTS_MAX]; /* bit sets */
	uint64_t work, latency; /* at most */
	uint64_t window; /* of delivery */
	bool counted;
	bool launched;
	unsigned loss; /* per mille */
	uint32_t nrecs, cap_recs;
	struct rec *recs;
	uint32_t nmeetings, cap_meetings;
	struct meeting *meetings;
	uint64_t end;
	uint64_t ideal; /* end of the same program with free barriers */
};

static struct rec *add_rec(struct sim *s)
{
	if (s->nrecs == s->cap_recs) {
		s->cap_recs = s->cap_recs ? 2 * s->cap_recs : 256;
		s->recs = realloc(s->recs, s->cap_recs * sizeof(*s->recs));
		assert_non_null(s->recs);
	}
	memset(&s->recs[s->nrecs], 0, sizeof(*s->recs));
	return &s->recs[s->nrecs++];
}

static struct meeting *add_meeting(struct sim *s)
{
	if (s->nmeetings == s->cap_meetings) {
		s->cap_meetings = s->cap_meetings ? 2 * s->cap_meetings : 64;
		s->meetings = realloc(s->meetings, s->cap_meetings * sizeof(*s->meetings));
		assert_non_null(s->meetings);
	}
	memset(&s->meetings[s->nmeetings], 0, sizeof(*s->meetings));
	return &s->meetings[s->nmeetings++];
}

/* Mostly short, sometimes long: slow departers are what makes this hard. */
static uint64_t jitter(struct sim *s, uint64_t most)
{
	uint64_t v = rnd_to(&s->seed, most);

	return rnd_to(&s->seed, 8) ? v / 16 + 1 : v + 1;
}

static void play(struct sim *s, uint32_t rounds)
{
	uint64_t ready[THREADS_MAX], before[THREADS_MAX], clock[THREADS_MAX], release, joined;
	uint32_t seq[THREADS_MAX] = { 0 }, i, t, k;
	struct meeting *mt;
	struct rec *r;

	for (t = 0; t < s->nthreads; t++) {
		ready[t] = 1000000 + rnd_to(&s->seed, 1000);
		before[t] = 1000000;
		clock[t] = ready[t];
	}
	for (i = 0; i < rounds; i++) {
		k = rnd_to(&s->seed, s->nobjects);
		mt = add_meeting(s);
		mt->object = 0x1000 + 64 * k;
		release = joined = 0;
		for (t = 0; t < s->nthreads; t++) {
			if (!(s->team[k] & 1u << t))
				continue;
			mt->n++;
			mt->arrive[t] = ready[t] + jitter(s, s->work);
			if (mt->arrive[t] > release)
				release = mt->arrive[t];
			clock[t] += mt->arrive[t] - ready[t];
			if (clock[t] > joined)
				joined = clock[t];
		}
		mt->release = release;
		for (t = 0; t < s->nthreads; t++)
			if (mt->arrive[t] == release)
				mt->phase = mt->phase ? NEVER : release - before[t];
		for (t = 0; t < s->nthreads; t++)
			if (mt->arrive[t])
				before[t] = release;
		for (t = 0; t < s->nthreads; t++) {
			if (!mt->arrive[t])
				continue;
			r = add_rec(s);
			ready[t] = release + jitter(s, s->latency);
			clock[t] = joined;
			r->c = crossing(t + 1, mt->object, s->counted ? mt->n : 0, mt->arrive[t],
					ready[t]);
			r->c.seq = ++seq[t];
			r->meeting = s->nmeetings - 1;
			r->deliver = ready[t] + rnd_to(&s->seed, s->window + 1);
			r->dropped = rnd_to(&s->seed, 1000) < s->loss;
			if (ready[t] > s->end)
				s->end = ready[t];
		}
	}
	s->end += 1000;
	for (t = 0; t < s->nthreads; t++)
		if (seq[t] && clock[t] + s->end - ready[t] > s->ideal)
			s->ideal = clock[t] + s->end - ready[t];
}

static int by_delivery(const void *a, const void *b)
{
	const struct rec *x = a, *y = b;

	return x->deliver < y->deliver ? -1 : x->deliver > y->deliver;
}

static void deliver(struct sim *s, struct run *r)
{
	uint32_t i;

	qsort(s->recs, s->nrecs, sizeof(*s->recs), by_delivery);
	for (i = 0; i < s->nrecs; i++) {
		if (!s->recs[i].dropped)
			assert_int_equal(model_add_crossing(r->model, &s->recs[i].c), 0);
		/* Whatever left a window ago has been delivered. */
		if (i % 7 == 0 && s->recs[i].deliver > s->window)
			assert_int_equal(model_advance(r->model, s->recs[i].deliver - s->window),
					 0);
	}
	assert_int_equal(model_finish(r->model, s->end), 0);
}

static const struct meeting *find(const struct sim *s, const struct model_episode *ep)
{
	uint32_t i, j;

	for (i = 0; i < s->nmeetings; i++) {
		const struct meeting *mt = &s->meetings[i];

		if (mt->object != ep->object || mt->n != ep->n || mt->release != ep->release_ns)
			continue;
		for (j = 0; j < ep->n; j++)
			if (mt->arrive[ep->members[j].tid - 1] != ep->members[j].arrive_ns)
				break;
		if (j == ep->n)
			return mt;
	}
	return NULL;
}

/* Losses that a later record of the thread shows. */
static uint64_t visible_losses(const struct sim *s)
{
	uint32_t last[THREADS_MAX + 1] = { 0 }, i, t;
	uint64_t n = 0;

	for (i = 0; i < s->nrecs; i++) {
		t = s->recs[i].c.tid;
		if (!s->recs[i].dropped && s->recs[i].c.seq > last[t])
			last[t] = s->recs[i].c.seq;
	}
	for (i = 0; i < s->nrecs; i++)
		n += s->recs[i].dropped && s->recs[i].c.seq < last[s->recs[i].c.tid];
	return n;
}

static void check_accounts(const struct sim *s, const struct run *r)
{
	const struct model_totals *tot = model_totals(r->model);
	uint64_t lost = 0, fed = 0;
	uint32_t i;

	for (i = 0; i < s->nrecs; i++)
		fed += !s->recs[i].dropped;
	assert_int_equal(tot->crossings, fed);
	assert_int_equal(tot->lost, visible_losses(s));
	for (i = 0; i < model_nthreads(r->model); i++) {
		const struct model_thread *t = model_thread(r->model, i);

		lost += t->lost;
		/* All of a thread's time is accounted for. */
		assert_int_equal(t->outside_ns + t->idle_ns + t->unknown_ns,
				 t->end_ns - t->start_ns);
	}
	assert_int_equal(lost, tot->lost);
}

static void sim_setup(struct sim *s, uint64_t seed)
{
	uint32_t k;

	memset(s, 0, sizeof(*s));
	s->seed = seed * 0x9e3779b97f4a7c15ULL + 1;
	s->nthreads = 2 + rnd_to(&s->seed, THREADS_MAX - 1);
	s->nobjects = 1 + rnd_to(&s->seed, OBJECTS_MAX);
	for (k = 0; k < s->nobjects; k++)
		do {
			s->team[k] = rnd_to(&s->seed, 3)
					     ? (1u << s->nthreads) - 1
					     : rnd(&s->seed) & ((1u << s->nthreads) - 1);
		} while (__builtin_popcount(s->team[k]) < 2);
	s->work = 10 + rnd_to(&s->seed, 5000);
	s->latency = 10 + rnd_to(&s->seed, 5000);
	s->window = rnd_to(&s->seed, 2) ? 0 : rnd_to(&s->seed, 300);
	s->counted = true;
	s->launched = true;
}

static void sim_free(struct sim *s)
{
	free(s->recs);
	free(s->meetings);
}

static struct run *sim_run(struct sim *s, uint32_t rounds)
{
	struct run *r = run_new(1000000);

	if (s->launched)
		run_launched(r, 1000000);
	play(s, rounds);
	deliver(s, r);
	return r;
}

/* What a failure needs to be understood. */
static void explain(const struct sim *s, const struct model_episode *ep)
{
	uint32_t i, k;

	print_message("episode at %#llx, n %u of %u, released %llu, why %#x:\n",
		      (unsigned long long)ep->object, ep->n, ep->count,
		      (unsigned long long)ep->release_ns, ep->why);
	for (k = 0; k < ep->n; k++)
		for (i = 0; i < s->nrecs; i++)
			if (s->recs[i].c.tid == ep->members[k].tid &&
			    s->recs[i].c.arrive_ns == ep->members[k].arrive_ns)
				print_message("  tid %u seq %u meeting %u: %llu - %llu\n",
					      s->recs[i].c.tid, s->recs[i].c.seq,
					      s->recs[i].meeting,
					      (unsigned long long)s->recs[i].c.arrive_ns,
					      (unsigned long long)s->recs[i].c.depart_ns);
	print_message("records there about that time, as delivered:\n");
	for (i = 0; i < s->nrecs; i++)
		if (s->recs[i].c.object == ep->object &&
		    s->recs[i].c.depart_ns + 2 * s->latency + s->work > ep->release_ns &&
		    s->recs[i].c.arrive_ns < ep->release_ns + 2 * s->latency)
			print_message("  tid %u seq %u meeting %u: %llu - %llu%s\n",
				      s->recs[i].c.tid, s->recs[i].c.seq, s->recs[i].meeting,
				      (unsigned long long)s->recs[i].c.arrive_ns,
				      (unsigned long long)s->recs[i].c.depart_ns,
				      s->recs[i].dropped ? " lost" : "");
}

static void check_exact(struct sim *s, struct run *r)
{
	const struct meeting *mt;
	uint32_t i;

	for (i = 0; i < r->nkept; i++) {
		assert_int_equal(r->kept[i].ep.state, MODEL_COMPLETE);
		assert_int_equal(r->kept[i].ep.why, 0);
		mt = find(s, &r->kept[i].ep);
		if (!mt) {
			explain(s, &r->kept[i].ep);
			fail_msg("a meeting that never was");
		}
		assert_int_equal(r->kept[i].ep.number, i);
		if (mt->phase != NEVER)
			assert_int_equal(r->kept[i].ep.phase_ns, mt->phase);
	}
	assert_int_equal(r->nkept, s->nmeetings);
	assert_int_equal(model_proc(r->model, 0)->ideal_ns, s->ideal - 1000000);
	check_accounts(s, r);
}

static void test_exact(void **state)
{
	struct sim s;
	struct run *r;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 400; seed++) {
		sim_setup(&s, seed);
		r = sim_run(&s, 120);
		check_exact(&s, r);
		run_free(r);
		sim_free(&s);
	}
}

/* The same when the count cannot be read. */
static void test_exact_uncounted(void **state)
{
	struct sim s;
	struct run *r;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 400; seed++) {
		sim_setup(&s, seed);
		s.counted = false;
		r = sim_run(&s, 120);
		check_exact(&s, r);
		run_free(r);
		sim_free(&s);
	}
}

/* @known: from when on all threads have been seen. */
static uint32_t check_no_lies(struct sim *s, struct run *r, uint64_t known)
{
	uint32_t i, good = 0;

	for (i = 0; i < r->nkept; i++) {
		if (r->kept[i].ep.state != MODEL_COMPLETE || r->kept[i].ep.release_ns < known)
			continue;
		good++;
		if (!find(s, &r->kept[i].ep)) {
			explain(s, &r->kept[i].ep);
			fail_msg("a meeting that never was");
		}
	}
	check_accounts(s, r);
	return good;
}

static void test_loss(void **state)
{
	uint32_t good = 0, all = 0;
	struct sim s;
	struct run *r;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 1500; seed++) {
		sim_setup(&s, seed);
		s.loss = 1 + rnd_to(&s.seed, seed % 3 ? 20 : 400);
		r = sim_run(&s, 120);
		good += check_no_lies(&s, r, 0);
		all += s.nmeetings;
		run_free(r);
		sim_free(&s);
	}
	/* Caution must not throw away what is plain. */
	print_message("loss: %u of %u meetings complete\n", good, all);
	assert_true(good > all / 3);
}

/* Tracing begins while the program runs: records of before are missing without a trace. */
static void test_attach(void **state)
{
	uint32_t i, cut, good = 0, all = 0;
	uint64_t from;
	struct sim s;
	struct run *r;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 600; seed++) {
		uint32_t seq[THREADS_MAX + 1] = { 0 };

		sim_setup(&s, seed);
		s.launched = false;
		play(&s, 60);
		qsort(s.recs, s.nrecs, sizeof(*s.recs), by_delivery);
		from = s.recs[s.nrecs / 3].c.arrive_ns;
		/* In the order of each thread's crossings: delivery keeps to it where it matters. */
		for (i = 0; i < s.nrecs; i++)
			s.recs[i].dropped = s.recs[i].c.arrive_ns < from;
		for (i = 0; i < s.nrecs; i++)
			if (s.recs[i].dropped && s.recs[i].c.seq > seq[s.recs[i].c.tid])
				seq[s.recs[i].c.tid] = s.recs[i].c.seq;
		for (i = 0, cut = 0; i < s.nrecs; i++) {
			s.recs[i].c.seq -= seq[s.recs[i].c.tid];
			if (!s.recs[i].dropped)
				s.recs[cut++] = s.recs[i];
		}
		s.nrecs = cut;
		r = run_new(from);
		deliver(&s, r);
		good += check_no_lies(&s, r, 0);
		for (i = 0; i < s.nmeetings; i++)
			all += s.meetings[i].release >= from;
		run_free(r);
		sim_free(&s);
	}
	print_message("attach: %u of %u meetings complete\n", good, all);
	assert_true(good > all * 8 / 10);
}

/*
 * More threads than the count: the barrier takes them as they come. The probe's stamp may be up to @skew
 * before the barrier's own order.
 */
static void play_cyclic(struct sim *s, uint32_t count, uint32_t rounds, uint64_t skew)
{
	uint64_t ready[THREADS_MAX], enter[THREADS_MAX];
	uint32_t seq[THREADS_MAX] = { 0 }, waiting = 0, n = 0, i, t, next;
	struct meeting *mt = NULL;
	struct rec *r;

	for (t = 0; t < s->nthreads; t++)
		enter[t] = 1000000 + jitter(s, s->work);
	for (i = 0; i < rounds * count; i++) {
		for (t = 0, next = THREADS_MAX; t < s->nthreads; t++)
			if (!(waiting & 1u << t) && (next == THREADS_MAX || enter[t] < enter[next]))
				next = t;
		if (!n) {
			mt = add_meeting(s);
			mt->object = 0x1000;
			mt->n = count;
		}
		waiting |= 1u << next;
		mt->arrive[next] = enter[next] - rnd_to(&s->seed, skew + 1);
		if (mt->arrive[next] > mt->release)
			mt->release = mt->arrive[next];
		if (++n < count)
			continue;
		n = 0;
		for (t = 0; t < s->nthreads; t++) {
			if (!(waiting & 1u << t))
				continue;
			ready[t] = enter[next] + jitter(s, s->latency);
			r = add_rec(s);
			r->c = crossing(t + 1, 0x1000, count, mt->arrive[t], ready[t]);
			r->c.seq = ++seq[t];
			r->meeting = s->nmeetings - 1;
			r->deliver = ready[t] + rnd_to(&s->seed, s->window + 1);
			r->dropped = rnd_to(&s->seed, 1000) < s->loss;
			if (ready[t] + 1000 > s->end)
				s->end = ready[t] + 1000;
			enter[t] = ready[t] + skew + jitter(s, s->work);
		}
		waiting = 0;
	}
	if (n)
		s->nmeetings--;
}

static uint32_t cyclic(uint64_t seed, unsigned loss, uint64_t skew, uint32_t *all)
{
	uint32_t seen[THREADS_MAX + 1] = { 0 };
	uint32_t good, count, i;
	uint64_t known = 0;
	struct sim s;
	struct run *r = run_new(1000000);

	run_launched(r, 1000000);
	sim_setup(&s, seed);
	s.nthreads = 3 + rnd_to(&s.seed, THREADS_MAX - 2);
	count = 2 + rnd_to(&s.seed, s.nthreads - 2);
	s.loss = loss;
	/* Long enough to see beyond the time in which nothing is decided. */
	s.work *= 1000;
	s.latency *= 1000;
	s.window *= 1000;
	play_cyclic(&s, count, 600, skew);
	deliver(&s, r);
	/*
	 * That a barrier of n is used by more than n cannot be known before the last of them has left it
	 * for the first time (a few times, if records are missing).
	 */
	for (i = 0; i < s.nrecs; i++)
		if (!s.recs[i].dropped && ++seen[s.recs[i].c.tid] <= 4 &&
		    s.recs[i].c.depart_ns > known)
			known = s.recs[i].c.depart_ns;
	good = check_no_lies(&s, r, known);
	*all += s.nmeetings;
	run_free(r);
	sim_free(&s);
	return good;
}

static void test_cyclic(void **state)
{
	uint32_t good = 0, all = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 100; seed++)
		good += cyclic(seed, 0, 0, &all);
	print_message("cyclic: %u of %u meetings complete\n", good, all);
	assert_true(good > all / 2);
}

static void test_cyclic_loss(void **state)
{
	uint32_t good = 0, all = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 100; seed++)
		good += cyclic(seed, 1 + seed % 50, 0, &all);
	print_message("cyclic with loss: %u of %u meetings complete\n", good, all);
	assert_true(good > all / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),  cmocka_unit_test(test_exact_uncounted),
		cmocka_unit_test(test_loss),   cmocka_unit_test(test_attach),
		cmocka_unit_test(test_cyclic), cmocka_unit_test(test_cyclic_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
