// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_sites_fixture.h"

#include <pthread.h>

#include "sites/family.h"

static uint64_t words_of(uint32_t third, uint32_t fourth)
{
	return (uint64_t)fourth << 32 | third;
}

static struct family_team read_pthread(enum family_flavour flavour, uint32_t third, uint32_t fourth)
{
	return family_read_words(SBT_FAMILY_PTHREAD, flavour, words_of(third, fourth));
}

static void test_table(void **state)
{
	const struct sites_family *rows;
	size_t n, i;

	(void)state;
	rows = family_table(&n);
	assert_true(n >= 1);
	for (i = 0; i < n; i++) {
		assert_ptr_equal(family_find(rows[i].family), &rows[i]);
		assert_non_null(rows[i].symbols[0]);
		assert_non_null(rows[i].name);
		assert_non_null(rows[i].kind);
	}
	assert_null(family_find(SBT_FAMILY_NONE));
	assert_string_equal(family_find(SBT_FAMILY_PTHREAD)->symbols[0], "pthread_barrier_wait");
	assert_int_equal(family_find(SBT_FAMILY_PTHREAD)->argument, 0);
}

static void test_glibc_now(void **state)
{
	struct family_team t;

	(void)state;
	t = read_pthread(FAMILY_FLAVOUR_GLIBC, 4, 0);
	assert_true(t.known && t.sharing_known && !t.process_shared);
	assert_int_equal(t.count, 4);
	t = read_pthread(FAMILY_FLAVOUR_GLIBC, 300, 128);
	assert_true(t.known && t.sharing_known && t.process_shared);
	assert_int_equal(t.count, 300);
	assert_false(read_pthread(FAMILY_FLAVOUR_GLIBC, 0, 0).known);
	assert_false(read_pthread(FAMILY_FLAVOUR_GLIBC, 0x80000000u, 0).known);
	assert_true(read_pthread(FAMILY_FLAVOUR_GLIBC, 0x7fffffffu, 0).known);
}

static void test_glibc_before_2_25(void **state)
{
	struct family_team t;

	(void)state;
	t = read_pthread(FAMILY_FLAVOUR_GLIBC, 3, 4);
	assert_true(t.known && !t.sharing_known);
	assert_int_equal(t.count, 4);
	t = read_pthread(FAMILY_FLAVOUR_GLIBC, 0, 2);
	assert_true(t.known);
	assert_int_equal(t.count, 2);
	/* More left than there are: no barrier. */
	assert_false(read_pthread(FAMILY_FLAVOUR_GLIBC, 5, 4).known);
	assert_false(read_pthread(FAMILY_FLAVOUR_GLIBC, 1, 0x80000000u).known);
}

static void test_musl(void **state)
{
	struct family_team t;

	(void)state;
	t = read_pthread(FAMILY_FLAVOUR_MUSL, 3, 77);
	assert_true(t.known && t.sharing_known && !t.process_shared);
	assert_int_equal(t.count, 4);
	t = read_pthread(FAMILY_FLAVOUR_MUSL, 0x80000007u, 0);
	assert_true(t.known && t.process_shared);
	assert_int_equal(t.count, 8);
	assert_int_equal(read_pthread(FAMILY_FLAVOUR_MUSL, 0, 0).count, 1);
	assert_false(read_pthread(FAMILY_FLAVOUR_MUSL, 0xffffffffu, 0).known);
}

static void test_unknown(void **state)
{
	(void)state;
	assert_false(read_pthread(FAMILY_FLAVOUR_UNKNOWN, 4, 0).known);
	assert_false(family_read_words(SBT_FAMILY_NONE, FAMILY_FLAVOUR_GLIBC, 4).known);
	assert_int_equal(family_flavour_of(true, false), FAMILY_FLAVOUR_GLIBC);
	assert_int_equal(family_flavour_of(false, true), FAMILY_FLAVOUR_MUSL);
	assert_int_equal(family_flavour_of(false, false), FAMILY_FLAVOUR_UNKNOWN);
	assert_int_equal(family_flavour_of(true, true), FAMILY_FLAVOUR_UNKNOWN);
}

/* The C library that this test runs with is the independent witness. */
static void test_live_barrier(void **state)
{
	uint32_t at = family_find(SBT_FAMILY_PTHREAD)->words_offset;
	pthread_barrierattr_t attr;
	pthread_barrier_t barrier;
	struct family_team t;
	uint64_t words;
	int shared;

	(void)state;
	for (shared = 0; shared < 2; shared++) {
		pthread_barrierattr_init(&attr);
		pthread_barrierattr_setpshared(&attr, shared ? PTHREAD_PROCESS_SHARED
							     : PTHREAD_PROCESS_PRIVATE);
		assert_int_equal(pthread_barrier_init(&barrier, &attr, 37), 0);
		memcpy(&words, (const char *)&barrier + at, sizeof(words));
		t = family_read_words(SBT_FAMILY_PTHREAD, FAMILY_FLAVOUR_GLIBC, words);
		assert_true(t.known && t.sharing_known);
		assert_int_equal(t.count, 37);
		assert_int_equal(t.process_shared, shared);
		pthread_barrier_destroy(&barrier);
	}
}

/* The same with musl, whose program prints the bytes. */
static void test_live_musl(void **state)
{
	const struct fixture *f = *state;
	struct family_team t;
	char out[64];

	if (!fixture_has(f, "musl-gcc"))
		skip();
	fixture_write(f, "m.c",
		      "#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n"
		      "int main(void) { pthread_barrier_t b; unsigned long long w;\n"
		      "pthread_barrier_init(&b, 0, 9); memcpy(&w, (char *)&b + 8, 8);\n"
		      "printf(\"%llx\\n\", w); return 0; }\n");
	fixture_run(f, "musl-gcc -static -o m m.c");
	fixture_output(f, out, sizeof(out), "./m");
	t = family_read_words(SBT_FAMILY_PTHREAD, FAMILY_FLAVOUR_MUSL, strtoull(out, NULL, 16));
	assert_true(t.known && !t.process_shared);
	assert_int_equal(t.count, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_glibc_now),
		cmocka_unit_test(test_glibc_before_2_25),
		cmocka_unit_test(test_musl),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_live_barrier),
		cmocka_unit_test(test_live_musl),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
