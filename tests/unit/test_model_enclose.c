// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check which function contains a barrier. The call chains of waits and wakings are from real
 * programs.
 */
#include "test_model_util.h"

#include "model/enclose.h"

DEFINE_CLEANUP_PTR(enclose_free, struct enclose *)

#define WAY_MAX 5

/*
 * Parse a call chain. A letter is a function, and a letter with a digit is a site. A leading "*"
 * marks the runtime, "~" a wrapper, "!" an inlined function.
 */
static uint32_t way(const char *text, struct enclose_step *steps)
{
	uint32_t n = 0;

	while (*text && n < WAY_MAX) {
		struct enclose_step *s = &steps[n++];

		memset(s, 0, sizeof(*s));
		for (; !(*text >= 'a' && *text <= 'z') && *text != '?'; text++) {
			s->outer |= *text == '*';
			s->through |= *text == '~';
			s->inlined |= *text == '!';
		}
		if (*text != '?')
			s->function = (uint64_t)*text;
		s->site = (uint32_t)text[0] << 8 | (uint32_t)text[1];
		text += 2;
		while (*text == ' ')
			text++;
	}
	return n;
}

static void seen(struct enclose *e, const char *text, bool wake, bool helpers)
{
	struct enclose_step steps[WAY_MAX];
	uint32_t n = way(text, steps);

	assert_int_equal(enclose_note(e, steps, n, wake, helpers), 0);
}

/*
 * Check that the barrier's call site is step @index of the chain @text. @up says whether that call
 * site is in a caller of the function that contains the barrier.
 */
static void site_is(struct enclose *e, const char *text, bool helpers, uint32_t index, bool up)
{
	struct enclose_step steps[WAY_MAX];
	uint32_t n = way(text, steps);
	bool through;

	assert_int_equal(enclose_site(e, steps, n, helpers, &through), index);
	assert_int_equal(through, up);
}

/*
 * The wait and the waking of a macro are on one line. The function that contains the line is a
 * phase of the program, not the barrier.
 */
static void test_macro_on_one_line(void **state)
{
	struct enclose_step wait[WAY_MAX], wakes[WAY_MAX];
	struct enclose *e CLEANUP_PTR(enclose_free) = enclose_new();
	uint32_t n = way("b1 w1", wait);
	bool through;

	way("b2 w1", wakes);
	wait[0].line = wakes[0].line = 77;
	assert_int_equal(enclose_note(e, wait, n, false, false), 0);
	assert_int_equal(enclose_note(e, wakes, n, true, false), 0);
	assert_int_equal(enclose_site(e, wait, n, false, &through), 0);
	assert_false(through);
}

/* A function with more code than a barrier also contains other code. */
static void test_large_function(void **state)
{
	struct enclose_step wait[WAY_MAX], wakes[WAY_MAX];
	struct enclose *e CLEANUP_PTR(enclose_free) = enclose_new();
	uint32_t n = way("b1 w1", wait);
	bool through;

	way("b2 w1", wakes);
	wait[0].large = wakes[0].large = true;
	assert_int_equal(enclose_note(e, wait, n, false, false), 0);
	assert_int_equal(enclose_note(e, wakes, n, true, false), 0);
	assert_int_equal(enclose_site(e, wait, n, false, &through), 0);
	assert_false(through);
}

static void test_called_from_several(void **state)
{
	struct enclose *e CLEANUP_PTR(enclose_free) = enclose_new();

	seen(e, "b1 w1", false, false);
	seen(e, "b2 w1", true, false);
	seen(e, "b1 w2", false, false);
	seen(e, "b2 w2", true, false);
	site_is(e, "b1 w1", false, 1, true);
	site_is(e, "b2 w2", false, 1, true);
}

static void test_called_from_one(void **state)
{
	struct enclose *e CLEANUP_PTR(enclose_free) = enclose_new();

	seen(e, "b1 w1", false, false);
	seen(e, "b2 w1", true, false);
	site_is(e, "b1 w1", false, 1, true);
}

/*
 * One thread began in function w, which main() calls in the main thread. So w is where the threads
 * work, and does not count as the barrier.
 */
static void test_where_threads_work(void **state)
{
	struct enclose *e CLEANUP_PTR(enclose_free) = enclose_new();

	seen(e, "w1 m1", false, false);
	seen(e, "w1 *s1", false, false);
	seen(e, "w2 m1", true, false);
	site_is(e, "w1 m1", false, 0, false);
	site_is(e, "w2 *s1", false, 0, false);
}

/*
 * lu() contains three waits and is called from one site. So the sites of the waits distinguish more
 * barriers than the site of the call.
 */
static void test_fewer_callers_than_waits(void **state)
{
	struct enclose *e CLEANUP_PTR(enclose_free) = enclose_new();
	const char *const waits[] = { "l1 s1", "l2 s1", "l3 s1" };

	for (unsigned i = 0; i < 3; i++)
		seen(e, waits[i], false, false);
	seen(e, "l4 s1", true, false);
	for (unsigned i = 0; i < 3; i++)
		site_is(e, waits[i], false, 0, false);
}

static void test_inlined(void **state)
{
	struct enclose *e CLEANUP_PTR(enclose_free) = enclose_new();

	seen(e, "!l1 s1", false, false);
	seen(e, "!l4 s1", true, false);
	site_is(e, "!l1 s1", false, 0, false);
	/*
	 * Function k is inlined into a function with several callers. The two count as one
	 * function.
	 */
	seen(e, "!k1 s1", false, false);
	seen(e, "!k1 s2", false, false);
	site_is(e, "!k1 s2", false, 1, true);
}

static void test_decided_once(void **state)
{
	struct enclose *e CLEANUP_PTR(enclose_free) = enclose_new();

	seen(e, "b1 w1", false, false);
	site_is(e, "b1 w1", false, 1, true);
	seen(e, "b3 w1", false, false);
	seen(e, "b1 *s1", false, false);
	site_is(e, "b1 w1", false, 1, true);
	/* The runtime is not a site. */
	site_is(e, "b1 *s1", false, 0, false);
}

static void test_wrappers(void **state)
{
	struct enclose *e CLEANUP_PTR(enclose_free) = enclose_new();

	seen(e, "~c1 b1 w1", false, false);
	seen(e, "b2 w1", true, false);
	site_is(e, "~c1 b1 w1", false, 2, true);
	/* The chain ends at the wrapper. */
	site_is(e, "~c1", false, 0, false);
}

static void test_helpers(void **state)
{
	struct enclose *e CLEANUP_PTR(enclose_free) = enclose_new();

	/* One function calls the barrier. */
	seen(e, "~y1 f1 b1 w1", false, true);
	seen(e, "~y1 f1 b2 w2", true, true);
	seen(e, "~y1 f1 b1 w2", false, true);
	site_is(e, "~y1 f1 b1 w1", true, 3, true);
	site_is(e, "~y1 f1 b2 w2", true, 3, true);
	/* Each thread's own function calls the barrier. */
	seen(e, "p1 k1 w1", false, true);
	seen(e, "q1 k2 w1", true, true);
	site_is(e, "p1 k1 w1", true, 2, true);
	site_is(e, "q1 k2 w1", true, 2, true);
	/* The call is directly in the threads' functions. */
	seen(e, "u1 t1 *s1", false, true);
	seen(e, "v1 t2 *s1", true, true);
	site_is(e, "u1 t1 *s1", true, 1, false);
}

static void test_unknown(void **state)
{
	struct enclose *e CLEANUP_PTR(enclose_free) = enclose_new();

	seen(e, "?1", false, false);
	site_is(e, "?1", false, 0, false);
	seen(e, "b1", false, false);
	site_is(e, "b1", false, 0, false);
	seen(e, "g1 ?2", false, false);
	site_is(e, "g1 ?2", false, 0, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_macro_on_one_line),
		cmocka_unit_test(test_large_function),
		cmocka_unit_test(test_called_from_several),
		cmocka_unit_test(test_called_from_one),
		cmocka_unit_test(test_where_threads_work),
		cmocka_unit_test(test_fewer_callers_than_waits),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_decided_once),
		cmocka_unit_test(test_wrappers),
		cmocka_unit_test(test_helpers),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
