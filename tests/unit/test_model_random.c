// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Run random barrier programs in virtual time, and deliver crossings slightly out of order. The
 * model must recover every episode exactly. If records are lost at random, it must not show an
 * incomplete episode as complete, and must count the losses.
 */
#include "test_model_sim.h"

static const struct sim_episode *find(const struct sim *s, const struct model_episode *ep)
{
	uint32_t j;

	for (uint32_t i = 0; i < s->nepisodes; i++) {
		const struct sim_episode *mt = &s->episodes[i];

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

/* Return the number of losses that a later record of the thread shows. */
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

	for (uint32_t i = 0; i < s->nrecs; i++)
		fed += !s->recs[i].dropped;
	assert_fields(tot, IS(crossings, fed), IS(lost, visible_losses(s)));
	for (uint32_t i = 0; i < model_nthreads(r->model); i++) {
		const struct model_thread *t = model_thread(r->model, i);

		lost += t->lost;
		/* All of a thread's time is accounted for. */
		assert_int_equal(t->outside_ns + t->idle_ns + t->unknown_ns,
				 t->end_ns - t->start_ns);
	}
	assert_int_equal(lost, tot->lost);
}

/* Print the state of an episode, to explain a failure. */
static void explain(const struct sim *s, const struct model_episode *ep)
{
	print_message("episode at %#llx, n %u of %u, released %llu, why %#x:\n",
		      (unsigned long long)ep->object, ep->n, ep->count,
		      (unsigned long long)ep->release_ns, ep->why);
	for (uint32_t k = 0; k < ep->n; k++)
		for (uint32_t i = 0; i < s->nrecs; i++)
			if (s->recs[i].c.tid == ep->members[k].tid &&
			    s->recs[i].c.arrive_ns == ep->members[k].arrive_ns)
				print_message("  tid %u seq %u episode %u: %llu - %llu\n",
					      s->recs[i].c.tid, s->recs[i].c.seq,
					      s->recs[i].episode,
					      (unsigned long long)s->recs[i].c.arrive_ns,
					      (unsigned long long)s->recs[i].c.depart_ns);
	print_message("records there about that time, as delivered:\n");
	for (uint32_t i = 0; i < s->nrecs; i++)
		if (s->recs[i].c.object == ep->object &&
		    s->recs[i].c.depart_ns + 2 * s->latency + s->work > ep->release_ns &&
		    s->recs[i].c.arrive_ns < ep->release_ns + 2 * s->latency)
			print_message("  tid %u seq %u episode %u: %llu - %llu%s\n",
				      s->recs[i].c.tid, s->recs[i].c.seq, s->recs[i].episode,
				      (unsigned long long)s->recs[i].c.arrive_ns,
				      (unsigned long long)s->recs[i].c.depart_ns,
				      s->recs[i].dropped ? " lost" : "");
}

static void check_exact(struct sim *s, struct run *r)
{
	const struct sim_episode *mt;

	for (uint32_t i = 0; i < r->nkept; i++) {
		assert_fields(r, IS(kept[i].ep.state, MODEL_COMPLETE), IS(kept[i].ep.why, 0));
		mt = find(s, &r->kept[i].ep);
		if (!mt) {
			explain(s, &r->kept[i].ep);
			fail_msg("an episode that the program did not have");
		}
		assert_fields(r, IS(kept[i].ep.number, i), IS(kept[i].ep.phase_ns, mt->phase));
	}
	assert_int_equal(r->nkept, s->nepisodes);
	assert_int_equal(model_proc(r->model, 0)->ideal_ns, s->ideal - 1000000);
	check_accounts(s, r);
}

static void test_exact(void **state)
{
	struct sim s;
	struct run *r;

	for (uint64_t seed = 1; seed <= 400; seed++) {
		sim_setup(&s, seed);
		r = sim_run(&s, 120);
		check_exact(&s, r);
		run_free(r);
		sim_free(&s);
	}
}

/* Like test_exact(), with counts that cannot be read. */
static void test_exact_uncounted(void **state)
{
	struct sim s;
	struct run *r;

	for (uint64_t seed = 1; seed <= 400; seed++) {
		sim_setup(&s, seed);
		s.counted = false;
		r = sim_run(&s, 120);
		check_exact(&s, r);
		run_free(r);
		sim_free(&s);
	}
}

/*
 * Check that no complete episode is wrong. @known is the time from which all threads have been
 * seen.
 */
static uint32_t check_no_lies(struct sim *s, struct run *r, uint64_t known)
{
	uint32_t good = 0;

	for (uint32_t i = 0; i < r->nkept; i++) {
		if (r->kept[i].ep.state != MODEL_COMPLETE || r->kept[i].ep.release_ns < known)
			continue;
		good++;
		if (!find(s, &r->kept[i].ep)) {
			explain(s, &r->kept[i].ep);
			fail_msg("an episode that the program did not have");
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

	for (uint64_t seed = 1; seed <= 1500; seed++) {
		sim_setup(&s, seed);
		s.loss = 1 + rnd_to(&s.seed, seed % 3 ? 20 : 400);
		r = sim_run(&s, 120);
		good += check_no_lies(&s, r, 0);
		all += s.nepisodes;
		run_free(r);
		sim_free(&s);
	}
	/* The model must not be so cautious that it drops clear episodes. */
	print_message("loss: %u of %u episodes complete\n", good, all);
	assert_true(good > all / 3);
}

/* Tracing begins while the program runs, so earlier records are missing without any indication. */
static void test_attach(void **state)
{
	uint32_t i, cut, good = 0, all = 0;
	uint64_t from;
	struct sim s;
	struct run *r;

	for (uint64_t seed = 1; seed <= 600; seed++) {
		uint32_t seq[THREADS_MAX + 1] = { 0 };

		sim_setup(&s, seed);
		s.launched = false;
		play(&s, 60);
		qsort(s.recs, s.nrecs, sizeof(*s.recs), by_delivery);
		from = s.recs[s.nrecs / 3].c.arrive_ns;
		/*
		 * Drop all crossings before `from`, and number the remaining crossings of each
		 * thread anew.
		 */
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
		for (i = 0; i < s.nepisodes; i++)
			all += s.episodes[i].release >= from;
		run_free(r);
		sim_free(&s);
	}
	print_message("attach: %u of %u episodes complete\n", good, all);
	assert_true(good > all * 8 / 10);
}

static uint32_t cyclic(uint64_t seed, unsigned loss, uint64_t skew, uint32_t *all)
{
	uint32_t seen[THREADS_MAX + 1] = { 0 };
	uint32_t good, count;
	uint64_t known = 0;
	struct sim s;
	struct run *r = run_new(1000000);

	run_launched(r, 1000000);
	sim_setup(&s, seed);
	s.nthreads = 3 + rnd_to(&s.seed, THREADS_MAX - 2);
	count = 2 + rnd_to(&s.seed, s.nthreads - 2);
	s.loss = loss;
	/* Run for longer than the initial period in which the model makes no decisions. */
	s.work *= 1000;
	s.latency *= 1000;
	s.window *= 1000;
	play_cyclic(&s, count, 600, skew);
	deliver(&s, r);
	/*
	 * Until the last of the threads has left a barrier for n threads for the first time, the
	 * model cannot know that more than n threads use it. If records are missing, this takes a
	 * few rounds.
	 */
	for (uint32_t i = 0; i < s.nrecs; i++)
		if (!s.recs[i].dropped && ++seen[s.recs[i].c.tid] <= 4 &&
		    s.recs[i].c.depart_ns > known)
			known = s.recs[i].c.depart_ns;
	good = check_no_lies(&s, r, known);
	*all += s.nepisodes;
	run_free(r);
	sim_free(&s);
	return good;
}

static void test_cyclic(void **state)
{
	uint32_t good = 0, all = 0;

	for (uint64_t seed = 1; seed <= 100; seed++)
		good += cyclic(seed, 0, 0, &all);
	print_message("cyclic: %u of %u episodes complete\n", good, all);
	assert_true(good > all / 2);
}

static void test_cyclic_loss(void **state)
{
	uint32_t good = 0, all = 0;

	for (uint64_t seed = 1; seed <= 100; seed++)
		good += cyclic(seed, 1 + seed % 50, 0, &all);
	print_message("cyclic with loss: %u of %u episodes complete\n", good, all);
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
