// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "base/function_name.h"

/* @to NULL: nothing is certain of it. */
static void becomes(const char *from, const char *to)
{
	char *name = strdup(from);

	assert_non_null(name);
	assert_int_equal(function_name_shorten(name), to != NULL);
	if (to)
		assert_string_equal(name, to);
	free(name);
}

static void test_cxx(void **state)
{
	becomes("meet", "meet");
	becomes("app::Barrier::wait(int)", "app::Barrier::wait()");
	becomes("void app::meet<int>(int)", "app::meet<>()");
	becomes("app::Barrier<4>::operator()(std::vector<int>) const",
		"app::Barrier<>::operator()()");
	becomes("(anonymous namespace)::meet(int)", "(anonymous namespace)::meet()");
	becomes("app::operator<<(int)", "app::operator<<()");
	becomes("app::meet(int", NULL);
	becomes("app::meet<int", NULL);
	becomes("a>b", NULL);
	becomes("", NULL);
}

static void test_rust(void **state)
{
	becomes("main::run::{{closure}}", "main::run::{{closure}}");
	becomes("main::run::<u32>", "main::run::<>");
	becomes("<app::Team as app::Meet>::wait", "<app::Team as app::Meet>::wait");
	becomes("<app::Pair<u8, u16> as app::Meet<u32>>::wait",
		"<app::Pair<> as app::Meet<>>::wait");
	becomes("<app::Pair<fn() -> T as X> as app::Meet<u32>>::wait::<u8>",
		"<app::Pair<> as app::Meet<>>::wait::<>");
	becomes("<app::Pair<T>>::wait", "<app::Pair<>>::wait");
	becomes("<app::Pair<T>", NULL);
	becomes("<app::Pair<T>>", NULL);
	becomes("<>::wait", NULL);
	becomes("< as >::wait", NULL);
	becomes("<", NULL);
}

/* Whatever it is given: it gets no longer, and no byte beside it is touched. */
static void test_anything(void **state)
{
	static const char letters[] = "<<>>()() a:s*-&::as operator";
	unsigned i, k, len;
	char *name;

	srand(11);
	for (i = 0; i < 300000; i++) {
		len = (unsigned)rand() % 24;
		name = malloc(len + 1);
		assert_non_null(name);
		for (k = 0; k < len; k++)
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
