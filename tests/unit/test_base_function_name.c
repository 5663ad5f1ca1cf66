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

/* Check that function_name_lambda() makes @to of @from. If @to is NULL, the name stays the same. */
static void lambda_becomes(const char *from, const char *to)
{
	char *name CLEANUP_PTR(free) = strdup(from);

	assert_non_null(name);
	assert_int_equal(function_name_lambda(name), to != NULL);
	assert_string_equal(name, to ? to : from);
}

static void test_lambda(void **state)
{
	check_cases(
		lambda_becomes, { "main::{lambda()#1}::operator()() const", "main::{lambda}" },
		{ "main::$_0::operator()(int) const", "main::{lambda}" },
		{ "main::{lambda}::operator()", "main::{lambda}" },
		{ "main::{lambda(int)#2}::_FUN(int)", "main::{lambda}" },
		{ "main::$_1::__invoke(int)", "main::{lambda}" },
		{ "{lambda()#1}::operator()() const", "{lambda}" },
		{ "$_0::operator()() const", "{lambda}" },
		{ "auto {lambda(auto:1)#1}::operator()<int>(int) const", "{lambda}" },
		{ "auto Team::lam()::{lambda(auto:1)#1}::operator()<int>(int) const",
		  "Team::lam::{lambda}" },
		{ "Team::lam() const::{lambda()#1}::operator()() const", "Team::lam::{lambda}" },
		{ "void ns::(anonymous namespace)::run<$_0>($_0)::{lambda()#2}::operator()()",
		  "ns::(anonymous namespace)::run<>::{lambda}" },
		{ "main::$_3::operator()() const::{lambda(int)#1}::operator()(int) const",
		  "main::{lambda}::{lambda}" },
		{ "main::{lambda()#1}::operator()() const::Local::run(int)",
		  "main::{lambda}::Local::run(int)" },
		{ "Worker::operator()()::{lambda()#1}::operator()() const",
		  "Worker::operator()::{lambda}" },
		{ "run::{lambda(int)#1}::operator()(int) const [clone ._omp_fn.0]",
		  "run::{lambda} [clone ._omp_fn.0]" },
		{ "ns::operator<<(int)::{lambda()#1}::operator()() const",
		  "ns::operator<<::{lambda}" });
	/* No lambda contains these functions. */
	check_cases(lambda_becomes, { "main", NULL }, { "", NULL }, { "operator()", NULL },
		    { "Worker::operator()()", NULL }, { "main::run::{{closure}}", NULL },
		    { "std::thread::_State_impl<std::tuple<main::{lambda()#1}> >::_M_run()", NULL },
		    { "run(main::{lambda()#1})", NULL }, { "$_0::~$_0()", NULL },
		    { "main::$_x::operator()()", NULL }, { "main::{lambda()#1", NULL },
		    { "main(::{lambda()#1}::operator()()", NULL },
		    { "f()::{default arg#1}::{lambda()#1}::operator()() const", NULL });
}

static void whole_becomes(const char *from, const char *to)
{
	char *name CLEANUP_PTR(free) = strdup(from);

	assert_non_null(name);
	function_name_whole(name);
	assert_string_equal(name, to);
}

static void test_whole(void **state)
{
	check_cases(
		whole_becomes, { "work", "work" }, { "work.cold", "work" },
		{ "work.cold.3", "work" }, { "work.part.0", "work" },
		{ "work.isra.0.part.12.cold", "work" }, { "work.constprop.0", "work" },
		{ "work.lto_priv.0", "work" }, { "work.llvm.123", "work" },
		{ "app::work(int) [clone .cold]", "app::work(int)" },
		{ "app::work(int) [clone .isra.0] [clone .cold]", "app::work(int)" },
		{ "app::work(int) [clone .constprop.0.isra.0]", "app::work(int)" },
		{ "work._omp_fn.0", "work._omp_fn.0" }, { "work._omp_fn.0.cold", "work._omp_fn.0" },
		{ "work(int) [clone ._omp_fn.0] [clone .cold]", "work(int) [clone ._omp_fn.0]" },
		{ "work.part", "work.part" }, { "work.part.x", "work.part.x" },
		{ "work.cold.x", "work.cold.x" }, { "work.colder", "work.colder" },
		{ ".cold", ".cold" }, { ".part.0", ".part.0" },
		{ " [clone .cold]", " [clone .cold]" }, { "", "" }, { "0", "0" },
		{ "work [clone ]", "work [clone ]" });
}

static void inner_is(const char *name, const char *inner)
{
	const char *found = function_name_inner(name);

	assert_int_equal(found != NULL, inner != NULL);
	if (inner)
		assert_string_equal(found, inner);
}

static void end_is(const char *name, const char *end)
{
	const char *found = function_name_end(name);

	assert_int_equal(found != NULL, end != NULL);
	if (end)
		assert_string_equal(found, end);
}

static void test_scopes(void **state)
{
	check_cases(inner_is, { "Team::run a.cc:3", "run a.cc:3" }, { "run a.cc::3", NULL },
		    { "(anonymous namespace)::run<a::b>(c::d)", "run<a::b>(c::d)" },
		    { "main::{lambda(a::b)#1}::x", "{lambda(a::b)#1}::x" },
		    { "<a::B as c::D>::run", "run" }, { "run(a::b)", NULL }, { "run(::x", NULL },
		    { "", NULL });
	check_cases(end_is, { "Team::run a.cc:3", " a.cc:3" }, { "run", "" },
		    { "(anonymous namespace)::f in g", " in g" }, { "f(int, int) a.c", " a.c" },
		    { "a::{b c}::d::e f", " f" }, { "f(", NULL }, { "", "" });
}

static void of_library(const char *name, const char *expected)
{
	assert_int_equal(function_name_of_cxx_library(name), expected != NULL);
}

static void test_library(void **state)
{
	check_cases(of_library, { "std::thread::_M_run", "" },
		    { "void std::__invoke_impl<void, main()::<lambda()> >", "" },
		    { "std::call_once<>::{lambda}", "" }, { "__gnu_cxx::f()", "" },
		    { "main::{lambda}", NULL }, { "run(std::thread)", NULL },
		    { "run<std::thread>", NULL }, { "mystd::run", NULL }, { "", NULL });
}

/* For any input the text does not become longer, and the bytes around it do not change. */
static void test_anything(void **state)
{
	static const char letters[] = "<<>>()() a:s*-&::as operator";
	static const char *const words[] = { "::",	   "{lambda(",	"}", "$_0",
					     "operator()", " [clone .", "]", ".cold",
					     "main",	   "(",		")", "<",
					     ">",	   " const" };
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
	for (unsigned i = 0; i < 300000; i++) {
		char text[160] = "";

		for (unsigned k = (unsigned)rand() % 12; k; k--)
			strcat(text, words[(unsigned)rand() % (sizeof(words) / sizeof(words[0]))]);
		len = (unsigned)strlen(text);
		name = strdup(text);
		assert_non_null(name);
		if (!function_name_lambda(name))
			assert_string_equal(name, text);
		function_name_whole(name);
		assert_true(strlen(name) <= len);
		function_name_of_cxx_library(name);
		function_name_inner(name);
		function_name_end(name);
		free(name);
	}
}

static void calls(const char *name, const char *to)
{
	assert_string_equal(function_name_call(name), to);
}

/* Names of functions get parentheses, and other names do not. */
static void test_call(void **state)
{
	check_cases(calls, { "work", "()" }, { "main._omp_fn.0", "()" }, { "Team::wait", "()" },
		    { "app::meet<int>", "()" }, { "std::move(int)", "" }, { "operator()", "" },
		    { "(anonymous namespace)::work", "()" }, { "meet(app::T) const", "" },
		    { "app::meet(int) const", "" }, { "main::run::{{closure}}", "()" },
		    { "<app::Team as app::Meet>::wait", "()" }, { "<module>", "" },
		    { "<lambda>", "" }, { "?", "" }, { "", "" }, { "f\xc3\xbcr", "()" });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cxx),	 cmocka_unit_test(test_rust),
		cmocka_unit_test(test_lambda),	 cmocka_unit_test(test_whole),
		cmocka_unit_test(test_library),	 cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_anything), cmocka_unit_test(test_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
