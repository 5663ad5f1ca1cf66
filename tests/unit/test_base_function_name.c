// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "base/function_name.h"

/* Check that @from becomes @to. If @to is NULL, the function refuses @from. */
static void becomes(const char *from, const char *to)
{
	char *name CLEANUP_PTR(free) = strdup(from);

	assert_non_null(name);
	assert_int_equal(function_name_shorten(name), to != NULL);
	if (to)
		assert_string_equal(name, to);
}

static void test_cxx(void **state)
{
	check_cases(becomes, { "meet", "meet" },
		    { "app::Barrier::wait(int)", "app::Barrier::wait()" },
		    { "void app::meet<int>(int)", "app::meet<>()" },
		    { "app::Barrier<4>::operator()(std::vector<int>) const",
		      "app::Barrier<>::operator()()" },
		    { "(anonymous namespace)::meet(int)", "(anonymous namespace)::meet()" },
		    { "app::operator<<(int)", "app::operator<<()" }, { "app::meet(int", NULL },
		    { "app::meet<int", NULL }, { "a>b", NULL }, { "", NULL });
}

static void test_rust(void **state)
{
	check_cases(becomes, { "main::run::{{closure}}", "main::run::{{closure}}" },
		    { "main::run::<u32>", "main::run::<>" },
		    { "<app::Team as app::Meet>::wait", "<app::Team as app::Meet>::wait" },
		    { "<app::Pair<u8, u16> as app::Meet<u32>>::wait",
		      "<app::Pair<> as app::Meet<>>::wait" },
		    { "<app::Pair<fn() -> T as X> as app::Meet<u32>>::wait::<u8>",
		      "<app::Pair<> as app::Meet<>>::wait::<>" },
		    { "<app::Pair<T>>::wait", "<app::Pair<>>::wait" }, { "<app::Pair<T>", NULL },
		    { "<app::Pair<T>>", NULL }, { "<>::wait", NULL }, { "< as >::wait", NULL },
		    { "<", NULL });
}

/* For any input the text does not become longer, and the bytes around it do not change. */
static void test_anything(void **state)
{
	static const char letters[] = "<<>>()() a:s*-&::as operator";
	unsigned len;
	char *name;

	srand(11);
	for (unsigned i = 0; i < 300000; i++) {
		len = (unsigned)rand() % 24;
		name = malloc(len + 1);
		assert_non_null(name);
		for (unsigned k = 0; k < len; k++)
			name[k] = letters[(unsigned)rand() % (sizeof(letters) - 1)];
		if (len > 8 && rand() % 2)
			memcpy(name + 1, "a as b", 6);
		if (len && rand() % 2)
			name[0] = '<';
		name[len] = '\0';
		if (function_name_shorten(name))
			assert_true(strlen(name) <= len);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_rust),
		cmocka_unit_test(test_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
