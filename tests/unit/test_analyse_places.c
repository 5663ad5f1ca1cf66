// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check where late threads spend their time, as samples show: the times and their intervals, and
 * that no place is named without enough samples, or in a balanced program.
 */
#include "test_analyse_util.h"

#include "analyse/places.h"

DEFINE_CLEANUP_PTR(arena_free, struct arena *)

#define TICK (4 * MS)

/* The keys of stacks. */
enum { COMMON = 1, RELAX, LIBRARY, VECTOR, NAMELESS, SPIN, NAMELESS_COMMON, NAMELESS_RELAX };

static const struct site_frame frames[] = {
	{ "common", "/src/a.c", 10, 0 },
	{ "relax", "/src/ocean.c", 212, 0 },
	{ "sin", NULL, 0, 0 },
	{ "std::vector<int>::operator[]", "/usr/include/c++/12/bits/stl_vector.h", 1043, 0 },
	{ "wait_here", "/src/bar.c", 5, 0 },
};

static const struct site_name names[] = {
	{ 1, &frames[0], "/home/a", 0x10, .build_id = NULL },
	{ 1, &frames[1], "/home/a", 0x20, .build_id = NULL },
	{ 1, &frames[2], "/usr/lib/libm.so.6", 0x30, .build_id = NULL },
	{ 1, &frames[3], "/home/a", 0x40, .build_id = NULL },
	{ 0, NULL, "/home/plain", 0x50, .build_id = NULL },
	{ 1, &frames[4], "/home/a", 0x60, .build_id = NULL },
	{ 0, NULL, "/home/plain", 0x84, .function = 0x80 },
	{ 0, NULL, "/home/plain", 0xc4, .function = 0xc0 },
};

static const struct site_name *site(void *ctx, uint32_t n)
{
	return n < sizeof(names) / sizeof(names[0]) ? &names[n] : NULL;
}

static uint32_t stack(void *ctx, uint32_t tgid, uint32_t inc, uint64_t key, uint32_t *sites,
		      uint32_t max)
{
	static const struct {
		uint32_t n, sites[2];
	} stacks[] = {
		[COMMON] = { 1, { 0 } },	  [RELAX] = { 2, { 1, 0 } },
		[LIBRARY] = { 2, { 2, 1 } },	  [VECTOR] = { 2, { 3, 1 } },
		[NAMELESS] = { 1, { 4 } },	  [SPIN] = { 1, { 5 } },
		[NAMELESS_COMMON] = { 1, { 6 } }, [NAMELESS_RELAX] = { 1, { 7 } },
	};

	assert_true(key < sizeof(stacks) / sizeof(stacks[0]) && max >= 2);
	memcpy(sites, stacks[key].sites, sizeof(stacks[key].sites));
	return stacks[key].n;
}

static const struct cause_env env = {
	.stack = stack,
	.instructions = MODEL_NONE,
	.cycles = MODEL_NONE,
};

static const struct report_env renv = { .site = site };

struct bench {
	struct run *r;
	struct causes *causes;
	struct made_episode m;
	struct arena *arena;
	struct report_places out;
	uint64_t now;
	bool alike;
};

static struct bench *bench_new(void)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->r = known_threads(4);
	b->causes = causes_new(&env, &renv);
	b->arena = arena_new();
	assert_non_null(b->causes);
	assert_non_null(b->arena);
	b->now = 1000 * MS;
	return b;
}

static void bench_free(struct bench *b)
{
	causes_free(b->causes);
	arena_free(b->arena);
	run_free(b->r);
	free(b);
}

DEFINE_CLEANUP_PTR(bench_free, struct bench *)

/* Sample a thread at each tick from @from to @to. */
static void sample(struct bench *b, uint32_t thread, uint64_t key, uint64_t from, uint64_t to)
{
	struct model_sample s = { .tgid = PID, .inc = INC, .tid = TID(thread), .stack = key };

	for (s.t_ns = (from / TICK + 1) * TICK; s.t_ns <= to; s.t_ns += TICK)
		assert_int_equal(causes_sample(b->causes, b->r->model, thread, &s), 0);
}

/*
 * Add an episode: all threads work 40 ms in common(); thread @late works @more longer at @key. The
 * others spin until it arrives, at SPIN.
 */
static void late_episode(struct bench *b, uint32_t late, uint64_t more, uint64_t key)
{
	uint64_t work[4], from[4], i;

	for (i = 0; i < 4; i++) {
		from[i] = b->now;
		work[i] = 40 * MS + (i == late ? more : i * 1000);
		sample(b, (uint32_t)i, COMMON, b->now, b->now + 40 * MS);
		if (i == late)
			sample(b, late, key, b->now + 40 * MS, b->now + work[i]);
		else
			sample(b, (uint32_t)i, SPIN, b->now + work[i], b->now + 40 * MS + more);
	}
	cross_at(&b->m, 0, 4, NULL, from, work);
	for (i = 0; i < 4; i++)
		b->m.details[i].inside_oncpu_ns = b->m.members[i].wait_ns;
	b->now = b->m.ep.release_ns + 1;
	assert_int_equal(causes_episode(b->causes, b->r->model, &b->m.ep, NULL, 0, NULL), 0);
}

static void places(struct bench *b)
{
	assert_int_equal(places_of(causes_places(b->causes), 0, b->alike, &renv, b->arena, &b->out),
			 0);
}

static void test_more_time(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	const struct report_place *p;
	struct places_words words;

	for (int i = 0; i < 20; i++)
		late_episode(b, 2, 30 * MS, RELAX);
	places(b);
	assert_fields(&b->out, IS(late, 20), IS(last_ns, 20 * 70 * MS));
	assert_int_equal(b->out.n, 2);
	p = &b->out.places[0];
	assert_fields(p, IS(kind, REPORT_PLACE_WORK), TEXT(function, "relax"),
		      TEXT(file, "/src/ocean.c"), IS(line, 212), IS(callee, NULL), IS(nstack, 2));
	/* 30 ms in each of 20 episodes, by samples each 4 ms. */
	assert_true(p->last_ns > 560 * MS && p->last_ns < 640 * MS);
	assert_int_equal(p->reference_ns, 0);
	assert_true(p->low_ns < (int64_t)(600 * MS) && p->high_ns > (int64_t)(600 * MS));
	assert_true(p->low_ns > (int64_t)(400 * MS));
	p = &b->out.places[1];
	assert_fields(p, IS(kind, REPORT_PLACE_SPIN), TEXT(function, "wait_here"),
		      IS(reference_ns, REPORT_UNKNOWN));
	/* Three threads spin for 30 ms, less what they come later than the first. */
	assert_true(p->last_ns > 1700 * MS && p->last_ns < 1800 * MS);
	places_words(&b->out, &words);
	assert_non_null(strstr(words.clause, " ms more in relax() ocean.c:212"));
	assert_string_equal(words.at, "relax() ocean.c:212");
	assert_true(words.more_ns > 560 * MS && words.more_ns < 640 * MS);
	assert_int_equal(places_left(causes_places(b->causes)), 0);
}

/* Return why the member that arrived as number @i in the last episode was late. */
static struct cause_member why_of(const struct bench *b, uint32_t i)
{
	const struct model_episode *e = &b->m.ep;

	return cause_of_member(b->causes, b->r->model, e,
			       cause_reference(b->causes, b->r->model, e), &e->members[i]);
}

/*
 * A late thread spends most of its time where all threads do. What makes it late is known after
 * some episodes, and only of the last arriver.
 */
static void test_more_in_one_episode(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	struct cause_member why;

	late_episode(b, 2, 30 * MS, RELAX);
	why = why_of(b, 3);
	assert_fields(&why, IS(dominant, CAUSE_WORK), IS(site, 0), IS(more_site, MODEL_NONE));
	for (int i = 0; i < 19; i++)
		late_episode(b, 2, 30 * MS, RELAX);
	why = why_of(b, 3);
	assert_fields(&why, IS(dominant, CAUSE_WORK), IS(site, 0), IS(more_site, 1));
	why = why_of(b, 2);
	assert_int_equal(why.more_site, MODEL_NONE);
	/* So short a time more that the episode itself has no sample of it. */
	late_episode(b, 2, 1 * MS, RELAX);
	late_episode(b, 3, 3 * MS, RELAX);
	why = why_of(b, 3);
	assert_int_equal(why.more_site, 1);
}

/* In a library, and in a template of one, the place is the program's function that called it. */
static void test_own_code(void **state)
{
	static const uint64_t keys[] = { LIBRARY, VECTOR };

	for (int k = 0; k < 2; k++) {
		struct bench *b CLEANUP_PTR(bench_free) = bench_new();

		for (int i = 0; i < 20; i++)
			late_episode(b, 1, 40 * MS, keys[k]);
		places(b);
		assert_fields(&b->out.places[0], TEXT(function, "relax"), IS(line, 212),
			      TEXT(callee, k ? "std::vector<int>::operator[]" : "sin"));
	}
}

static void test_without_names(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	struct places_words words;

	for (int i = 0; i < 20; i++)
		late_episode(b, 1, 40 * MS, NAMELESS);
	places(b);
	assert_fields(&b->out.places[0], IS(function, NULL), TEXT(module, "/home/plain"));
	places_words(&b->out, &words);
	assert_non_null(strstr(words.clause, "more in plain+0x50"));
}

/* Functions without names are not added up if the unwind tables distinguish them. */
static void test_two_without_names(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	uint64_t begin;

	for (int i = 0; i < 20; i++) {
		begin = b->now;
		for (uint32_t thread = 0; thread < 4; thread++)
			sample(b, thread, NAMELESS_COMMON, begin, begin + 40 * MS);
		late_episode(b, 1, 40 * MS, NAMELESS_RELAX);
	}
	places(b);
	assert_fields(&b->out.places[0], IS(function, NULL), TEXT(module, "/home/plain"),
		      IS(offset, 0xc0), IS(reference_ns, 0));
}

/* Samples with an unknown stack are a part of the whole: other places do not get their time. */
static void test_unknown_code(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	const struct report_place *p;

	for (int i = 0; i < 40; i++)
		late_episode(b, 2, 60 * MS, i % 2 ? RELAX : 0);
	places(b);
	p = &b->out.places[0];
	assert_fields(p, TEXT(function, "relax"));
	/* 60 ms in each second episode. */
	assert_true(p->last_ns > 1100 * MS && p->last_ns < 1300 * MS);
	assert_int_equal(places_left(causes_places(b->causes)), 0);
}

/* With fewer than 30 samples of the last arrivers, no place is known. */
static void test_few(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	uint32_t i, work = 0;

	late_episode(b, 2, 30 * MS, RELAX);
	places(b);
	for (i = 0; i < b->out.n; i++)
		work += b->out.places[i].kind == REPORT_PLACE_WORK;
	assert_int_equal(work, 0);
	late_episode(b, 2, 80 * MS, RELAX);
	places(b);
	assert_fields(&b->out.places[0], TEXT(function, "relax"));
}

/* All threads do the same, and another one is a little late each time. */
static void test_balanced(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	struct places_words words;

	for (uint32_t i = 0; i < 100; i++)
		late_episode(b, i % 4, MS, COMMON);
	places(b);
	assert_int_equal(b->out.late, 0);
	places_words(&b->out, &words);
	assert_string_equal(words.clause, "");
	assert_string_equal(words.at, "");
}

/*
 * Chance decides which thread is late, and the same work took it longer. Its function is named only
 * if threads are late in turn because they do much more.
 */
static void test_chance(void **state)
{
	static const struct {
		uint64_t more;
		uint32_t key;
		bool named;
	} cases[] = { { 12 * MS, COMMON, false },
		      { 32 * MS, COMMON, true },
		      { 12 * MS, RELAX, true } };
	uint32_t c, i;

	for (c = 0; c < 3; c++) {
		struct bench *b CLEANUP_PTR(bench_free) = bench_new();

		for (i = 0; i < 100; i++)
			late_episode(b, i % 4, cases[c].more, cases[c].key);
		places(b);
		assert_true(b->out.n && b->out.places[0].kind == REPORT_PLACE_WORK);
		b->alike = true;
		places(b);
		assert_int_equal(b->out.n && b->out.places[0].kind == REPORT_PLACE_WORK,
				 cases[c].named);
		/* Threads spin in the barrier in any case. */
		assert_int_equal(b->out.places[b->out.n - 1].kind, REPORT_PLACE_SPIN);
	}
}

/* Samples outside all phases are counted, and those of another thread with the same index. */
static void test_left(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	struct model_sample s = { .tgid = PID, .inc = INC, .tid = TID(9), .stack = COMMON };

	sample(b, 2, COMMON, b->now - 20 * MS, b->now - 1);
	late_episode(b, 2, 30 * MS, RELAX);
	assert_int_equal(places_left(causes_places(b->causes)), 4);
	s.t_ns = b->now;
	assert_int_equal(causes_sample(b->causes, b->r->model, 1, &s), 0);
	s.stack = 0;
	assert_int_equal(causes_sample(b->causes, b->r->model, 1, &s), 0);
	assert_int_equal(places_left(causes_places(b->causes)), 6);
}

static void test_fold(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();

	for (int i = 0; i < 10; i++)
		late_episode(b, 2, 30 * MS, RELAX);
	assert_int_equal(causes_fold_barrier(b->causes, 0, 7), 0);
	places(b);
	assert_int_equal(b->out.n, 0);
	for (int i = 0; i < 10; i++)
		late_episode(b, 2, 30 * MS, RELAX);
	assert_int_equal(causes_fold_barrier(b->causes, 0, 7), 0);
	assert_int_equal(places_of(causes_places(b->causes), 7, false, &renv, b->arena, &b->out),
			 0);
	assert_fields(&b->out, IS(late, 20));
	assert_fields(&b->out.places[0], TEXT(function, "relax"));
	assert_true(b->out.places[0].last_ns > 560 * MS && b->out.places[0].last_ns < 640 * MS);
}

/* Hand-worked: in each of 16 batches, 8 of 10 samples in 100 ms; the reference has 3 of 10. */
static void test_estimate(void **state)
{
	struct places_side last = { 0 }, reference = { 0 };
	struct places_estimate e;
	double half;

	for (int k = 0; k < PLACES_BATCHES; k++) {
		last.at[k] = 8;
		reference.at[k] = 3;
		last.all[k] = reference.all[k] = 10;
		last.oncpu_ns[k] = reference.oncpu_ns[k] = 100;
	}
	places_estimate(&last, &reference, &e);
	assert_true(fabs(e.last_ns - 1280) < 1e-6 && fabs(e.reference_ns - 480) < 1e-6);
	/* No spread: sqrt(1600^2 (p (1-p) + q (1-q)) / 164), p = 130/164, q = 50/164. */
	half = 1.96 * 1600 * sqrt((130. / 164 * 34 / 164 + 50. / 164 * 114 / 164) / 164);
	assert_true(fabs(e.high_ns - e.low_ns - 2 * half) < 1e-6);
	/* One batch has all of it: the interval is far wider. */
	for (int k = 0; k < PLACES_BATCHES; k++)
		last.at[k] = k ? 0 : 128;
	last.all[0] = 128;
	places_estimate(&last, NULL, &e);
	assert_true(e.high_ns - e.low_ns > 4 * half);
	/* Without a sample, the share may be anything. */
	memset(&last, 0, sizeof(last));
	last.oncpu_ns[0] = 100;
	places_estimate(&last, NULL, &e);
	assert_true(e.low_ns <= 10 && e.high_ns >= 90);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_time),
		cmocka_unit_test(test_more_in_one_episode),
		cmocka_unit_test(test_own_code),
		cmocka_unit_test(test_without_names),
		cmocka_unit_test(test_two_without_names),
		cmocka_unit_test(test_unknown_code),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_balanced),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_fold),
		cmocka_unit_test(test_estimate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
