// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "base/text.h"
#include "symbols/rust_name.h"

#define HASH "17h0123456789abcdefE"

static void reads(const char *raw, const char *expected)
{
	char name[512] = "untouched";

	assert_int_equal(rust_name_legacy(raw, name, sizeof(name)), expected != NULL);
	assert_string_equal(name, expected ? expected : "untouched");
}

static void test_paths(void **state)
{
	check_cases(
		reads, { "_ZN4main3run" HASH, "main::run" },
		{ "_ZN3std4sync7barrier7Barrier4wait" HASH, "std::sync::barrier::Barrier::wait" },
		{ "_ZN4main4main28_$u7b$$u7b$closure$u7d$$u7d$" HASH, "main::main::{{closure}}" },
		{ "_ZN4core3ops8function6FnOnce40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$" HASH,
		  "core::ops::function::FnOnce::call_once{{vtable.shim}}" },
		{ "_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
		  "4drop" HASH,
		  "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop" },
		{ "_ZN39_$LT$$RF$T$u20$as$u20$$LP$A$C$B$RP$$GT$1f" HASH, "<&T as (A,B)>::f" },
		{ "_ZN9$BP$const1f" HASH, "*const::f" });
}

static void test_suffixes(void **state)
{
	check_cases(reads, { "_ZN4main3run" HASH ".llvm.1234567", "main::run" },
		    { "_ZN4main3run" HASH "v", NULL });
}

static void test_what_is_no_such_name(void **state)
{
	check_cases(reads, { "", NULL }, { "_ZN", NULL }, { "_ZNE", NULL }, { "main", NULL },
		    { "_ZN3app7Barrier4waitEi", NULL }, { "_ZN3app7Barrier4waitE", NULL });
	/* Names that have only a hash, or no hash. */
	check_cases(reads, { "_ZN" HASH, NULL }, { "_ZN3app17h0000000000000000E", NULL },
		    { "_ZN3app17h0123456789ABCDEFE", NULL },
		    { "_ZN3app16h0123456789abcdeE", NULL });
	/* Names that are cut short, and wrong lengths. */
	check_cases(reads, { "_ZN3app17h0123456789abcde", NULL },
		    { "_ZN99999999999999999999999app" HASH, NULL }, { "_ZN65536a" HASH, NULL },
		    { "_ZN0" HASH, NULL }, { "_ZN03app" HASH, NULL },
		    { "_ZN3a\x1b"
		      "b" HASH,
		      NULL });
}

static void test_escapes_that_are_not_known(void **state)
{
	check_cases(reads, { "_ZN4a$bc1f" HASH, "a$bc::f" }, { "_ZN5a$QX$1f" HASH, "a$QX$::f" });
	/*
	 * Escapes of a control character, half of a surrogate pair, a number that is too large, and
	 * no number.
	 */
	check_cases(reads, { "_ZN5$u1b$1f" HASH, "$u1b$::f" },
		    { "_ZN7$ud800$1f" HASH, "$ud800$::f" },
		    { "_ZN9$uffffff$1f" HASH, "$uffffff$::f" }, { "_ZN3$u$1f" HASH, "$u$::f" },
		    { "_ZN5$uzz$1f" HASH, "$uzz$::f" }, { "_ZN1$1f" HASH, "$::f" },
		    { "_ZN2_$1f" HASH, "$::f" }, { "_ZN5$ue9$1f" HASH, "\xc3\xa9::f" },
		    { "_ZN8$u1f600$1f" HASH, "\xf0\x9f\x98\x80::f" },
		    { "_ZN3a.b1f" HASH, "a.b::f" }, { "_ZN1.1f" HASH, ".::f" });
}

static void test_cut(void **state)
{
	char name[8];

	assert_true(rust_name_legacy("_ZN4main3run" HASH, name, sizeof(name)));
	assert_string_equal(name, "main::r");
	assert_true(rust_name_legacy("_ZN6abcdef5$ue9$1f" HASH, name, sizeof(name)));
	assert_string_equal(name, "abcdef");
	assert_true(rust_name_legacy("_ZN4main3run" HASH, name, 1));
	assert_string_equal(name, "");
	assert_false(rust_name_legacy("_ZN4main3run" HASH, name, 0));
}

/* For any input the function stays within bounds, and the output is printable. */
static void test_anything(void **state)
{
	static const char letters[] = "_ZNE$$..0123456789hulLTGRFCSP7bd\x01\xff";
	static const char *const good[] = {
		"_ZN4main4main28_$u7b$$u7b$closure$u7d$$u7d$" HASH,
		"_ZN39_$LT$$RF$T$u20$as$u20$$LP$A$C$B$RP$$GT$1f" HASH ".llvm.12",
	};
	char *raw, *name;
	unsigned len;
	size_t size;

	srand(7);
	for (unsigned i = 0; i < 200000; i++) {
		len = (unsigned)strlen(good[i % 2]);
		/* Allocate the exact length, so that the sanitizers detect reads after it. */
		raw = strdup(good[i % 2]);
		assert_non_null(raw);
		for (unsigned k = (unsigned)rand() % 4; k; k--)
			raw[(unsigned)rand() % len] =
				letters[(unsigned)rand() % (sizeof(letters) - 1)];
		if (rand() % 4 == 0)
			raw[(unsigned)rand() % len] = '\0';
		size = (size_t)rand() % 40;
		name = malloc(size ? size : 1);
		assert_non_null(name);
		if (rust_name_legacy(raw, name, size)) {
			assert_true(strlen(name) < size);
			assert_true(text_is_printable(name));
		}
		free(name);
		free(raw);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_suffixes),
		cmocka_unit_test(test_what_is_no_such_name),
		cmocka_unit_test(test_escapes_that_are_not_known),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
