// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "base/text.h"

static void shows(const char *in, const char *out)
{
	char *s CLEANUP_PTR(free) = text_printable(in);

	assert_non_null(s);
	assert_string_equal(s, out);
	assert_int_equal(text_is_printable(in), !strcmp(in, out));
}

static void test_plain(void **state)
{
	check_cases(shows, { "", "" }, { "lu_block main.c:42", "lu_block main.c:42" },
		    { "B\xc3\xa4rlauch \xe2\x82\xac \xf0\x9f\x98\x80",
		      "B\xc3\xa4rlauch \xe2\x82\xac \xf0\x9f\x98\x80" });
}

static void test_control(void **state)
{
	check_cases(shows, { "\x1b[31mred", "\\x1b[31mred" }, { "a\nb\r\tc", "a\\x0ab\\x0d\\x09c" },
		    { "\x7f", "\\x7f" });
	/* U+009B, a C1 control character: some terminals treat it like ESC [. */
	shows("\xc2\x9b"
	      "31m",
	      "\\xc2\\x9b31m");
}

static void test_debris(void **state)
{
	check_cases(shows, { "\x80", "\\x80" }, { "\xff\xfe", "\\xff\\xfe" },
		    { "x\xc3", "x\\xc3" }, /* cut off */
		    { "\xe2\x82y", "\\xe2\\x82y" }, /* cut off, then text */
		    { "\xc0\xaf", "\\xc0\\xaf" }, /* an overlong "/" */
		    { "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },
		    { "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf" },
		    { "\xed\xa0\x80", "\\xed\\xa0\\x80" }, /* a surrogate */
		    { "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* above U+10FFFF */
		    { "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80" });
}

static void test_bidi(void **state)
{
	check_cases(shows,
		    { "a\xe2\x80\xae"
		      "b",
		      "a\\xe2\\x80\\xae"
		      "b" }, /* U+202E, right-to-left override */
		    { "\xe2\x81\xa6", "\\xe2\\x81\\xa6" }, /* U+2066 */
		    { "\xe2\x80\x8b", "\\xe2\\x80\\x8b" }, /* U+200B, zero width */
		    { "\xef\xbb\xbf", "\\xef\\xbb\\xbf" }); /* U+FEFF */
}

static void test_utf8(void **state)
{
	uint32_t cp = 0;

	assert_int_equal(text_utf8((const uint8_t *)"A", 1, &cp), 1);
	assert_int_equal(cp, 'A');
	assert_int_equal(text_utf8((const uint8_t *)"\xe2\x82\xac", 3, &cp), 3);
	assert_int_equal(cp, 0x20ac);
	assert_int_equal(text_utf8((const uint8_t *)"\xe2\x82\xac", 2, &cp), 0);
	assert_int_equal(text_utf8((const uint8_t *)"\xf4\x8f\xbf\xbf", 4, &cp), 4);
	assert_int_equal(cp, 0x10ffff);
	assert_int_equal(text_utf8((const uint8_t *)"", 0, &cp), 0);
}

/* The published vectors of FNV-1a, 64 bits. */
static void test_hash(void **state)
{
	assert_true(text_hash(TEXT_HASH_INIT, "", 0) == 0xcbf29ce484222325ULL);
	assert_true(text_hash(TEXT_HASH_INIT, "a", 1) == 0xaf63dc4c8601ec8cULL);
	assert_true(text_hash(TEXT_HASH_INIT, "foobar", 6) == 0x85944171f73967e8ULL);
	assert_true(text_hash(text_hash(TEXT_HASH_INIT, "foo", 3), "bar", 3) ==
		    0x85944171f73967e8ULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),  cmocka_unit_test(test_control),
		cmocka_unit_test(test_debris), cmocka_unit_test(test_bidi),
		cmocka_unit_test(test_utf8),   cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
