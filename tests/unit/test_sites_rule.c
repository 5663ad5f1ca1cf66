// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_sites_fixture.h"

#include <elf.h>
#include <errno.h>

#include "sites/rule.h"

static const struct rule *take(struct rules *rules, const char *spec)
{
	char why[256];

	assert_int_equal(rules_add(rules, spec, why, sizeof(why)), 0);
	assert_string_equal(rules->all[rules->n - 1]->text, spec);
	return rules->all[rules->n - 1];
}

static void refuse(const char *spec, const char *part)
{
	struct rules rules = { .n = 0 };
	char why[256] = "";

	assert_int_equal(rules_add(&rules, spec, why, sizeof(why)), -EINVAL);
	assert_int_equal(rules.n, 0);
	if (!strstr(why, part))
		fail_msg("%s: \"%s\" does not say \"%s\"", spec, why, part);
}

static void test_names(void **state)
{
	struct rules rules CLEANUP(rules_free) = { .n = 0 };
	const struct rule *r = take(&rules, "my_barrier");

	assert_fields(r, IS(file, NULL), TEXT(at[0].name, "my_barrier"), IS(at[0].pattern, false),
		      IS(pair, false), IS(object, RULE_OBJECT_AUTO),
		      IS(by_argument.family, SBT_FAMILY_USER), IS(by_argument.flags, SBT_SPEC_RETS),
		      IS(by_argument.words.how, SBT_ARG_NONE));

	r = take(&rules, "/opt/a b/libx.so:ns::Barrier<int, 4>::wait(int, char)@2,count=8");
	assert_fields(r, TEXT(file, "/opt/a b/libx.so"),
		      TEXT(at[0].name, "ns::Barrier<int, 4>::wait(int, char)"),
		      TEXT(at[0].needle, "wait"), IS(object, RULE_OBJECT_ARGUMENT),
		      IS(by_argument.object.number, 1), IS(by_argument.words.how, SBT_ARG_CONST),
		      IS(by_argument.words.value, 8));

	r = take(&rules, "libx.so*:begin_*..end_*@all");
	assert_fields(r, TEXT(file, "libx.so*"), IS(pair, true), TEXT(at[0].name, "begin_*"),
		      TEXT(at[1].name, "end_*"), IS(at[1].pattern, true),
		      IS(object, RULE_OBJECT_ALL),
		      IS(for_all.flags, SBT_SPEC_RETS | SBT_SPEC_PAIR));

	r = take(&rules, "../bin/app:0x401a20");
	assert_fields(r, TEXT(file, "../bin/app"), IS(at[0].name, NULL), IS(at[0].vaddr, 0x401a20));
	r = take(&rules, "app:0x10..0x20");
	assert_int_equal(r->at[1].vaddr, 0x20);
}

/*
 * The specs of two rules differ even if everything else is the same, so the BPF programs can
 * distinguish them.
 */
static void test_rows(void **state)
{
	struct rules rules CLEANUP(rules_free) = { .n = 0 };
	const struct rule *a = take(&rules, "f@all"), *b = take(&rules, "g@all");
	struct sbt_spec x, y;

	assert_int_equal(family_spec(&a->for_all, EM_X86_64, &x), 0);
	assert_int_equal(family_spec(&b->for_all, EM_X86_64, &y), 0);
	assert_int_equal(x.object.how, SBT_ARG_CONST);
	assert_int_not_equal(x.object.disp, y.object.disp);
	assert_int_equal(family_spec(&a->by_argument, EM_X86_64, &x), 0);
	assert_int_equal(family_spec(&b->by_argument, EM_X86_64, &y), 0);
	assert_int_equal(x.object.how, SBT_ARG_FIRST);
	assert_int_not_equal(x.rule, y.rule);
	assert_int_equal(x.flags, SBT_SPEC_RETS);
}

static void test_wrong(void **state)
{
	struct rules rules CLEANUP(rules_free) = { .n = 0 };
	char why[256];

	check_cases(refuse, { "", "the function is missing" },
		    { "app:", "the function is missing" }, { ":f", "no file" },
		    { "f..", "after .. is missing" }, { "f@", "neither @all nor" },
		    { "f@0", "neither @all nor" }, { "f@65", "neither @all nor" },
		    { "f@first", "\"@first\" is neither" },
		    { "f,count=0", "not a number from 1 to 2147483647" },
		    { "f,count=99999999999", "not a number from 1 to 2147483647" },
		    { "f,count=", "not a number from 1 to 2147483647" },
		    { "f,count=2,count=3", "twice" }, { "f,n=2", "no option \"n=2\"" },
		    { "0x1234", "an address needs its file" }, { "app:0x", "not an address" },
		    { "app:0x12g", "not an address" }, { "1234", "neither" },
		    { "*", "every function" }, { "app:f..**", "every function" });
	for (int i = 0; i < RULES_MAX; i++)
		assert_int_equal(rules_add(&rules, "f", why, sizeof(why)), 0);
	assert_int_equal(rules_add(&rules, "f", why, sizeof(why)), -E2BIG);
}

static void test_files(void **state)
{
	struct rules rules CLEANUP(rules_free) = { .n = 0 };
	const struct rule *any = take(&rules, "f"), *name = take(&rules, "libx.so.1:f"),
			  *path = take(&rules, "/opt/libx.so:f"), *glob = take(&rules, "libx*:f");

	assert_true(rule_takes_file(any, "/bin/true", ""));
	assert_true(rule_takes_file(name, "/lib/libx.so.1", ""));
	assert_true(rule_takes_file(name, "/lib/libx.so.1.2.3", "libx.so.1"));
	assert_false(rule_takes_file(name, "/lib/libx.so.1.2.3", ""));
	assert_true(rule_takes_file(path, "/opt/libx.so", ""));
	assert_false(rule_takes_file(path, "/usr/opt/libx.so", "libx.so"));
	assert_true(rule_takes_file(glob, "/a/libx-2.so", ""));
	assert_false(rule_takes_file(glob, "/a/liby.so", ""));
}

static const struct {
	const char *raw, *source;
} sources[] = {
	{ "_ZN3app7Barrier4waitEi", "app::Barrier::wait(int)" },
	{ "_ZN3app7BarrierILi4EE4waitEPFiiE", "app::Barrier<4>::wait(int (*)(int))" },
	{ "_ZN3app4meetIiEEvT_", "void app::meet<int>(int)" },
	{ "_ZN12_GLOBAL__N_14meetEv", "(anonymous namespace)::meet()" },
	{ "_ZNK3app7BarrierclEv", "app::Barrier::operator()() const" },
};

static int asked;

static bool demangle(void *ctx, const char *raw, char *name, size_t size)
{
	asked++;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (strcmp(sources[i].raw, raw) != 0)
			continue;
		snprintf(name, size, "%s", sources[i].source);
		return true;
	}
	return false;
}

static bool takes(const char *spec, const char *raw)
{
	struct rules rules = { .n = 0 };
	const struct rule *r = take(&rules, spec);
	bool yes = rule_takes_symbol(&r->at[0], raw, demangle, NULL);

	rules_free(&rules);
	return yes;
}

static void test_symbols(void **state)
{
	assert_true(takes("f", "f"));
	assert_true(takes("f", "f@@VERS_1"));
	assert_false(takes("f", "ff"));
	assert_false(takes("f", "F"));
	assert_true(takes("f*r", "foo_bar"));
	assert_false(takes("f*r", "foo_bars"));
	assert_true(takes("a?c*", "abc"));
	assert_false(takes("a?c", "ac"));
	assert_true(takes("_ZN3app*wait*", "_ZN3app7Barrier4waitEi"));
	assert_true(takes("app::Barrier::wait", "_ZN3app7Barrier4waitEi"));
	assert_true(takes("app::Barrier::wait(int)", "_ZN3app7Barrier4waitEi"));
	assert_false(takes("app::Barrier::wait(long)", "_ZN3app7Barrier4waitEi"));
	assert_false(takes("Barrier::wait", "_ZN3app7Barrier4waitEi"));
	assert_true(takes("*Barrier*::wait", "_ZN3app7BarrierILi4EE4waitEPFiiE"));
	assert_true(takes("app::Barrier<4>::wait", "_ZN3app7BarrierILi4EE4waitEPFiiE"));
	assert_true(takes("app::meet<int>", "_ZN3app4meetIiEEvT_"));
	assert_true(takes("(anonymous namespace)::meet", "_ZN12_GLOBAL__N_14meetEv"));
	assert_true(takes("app::Barrier::operator()", "_ZNK3app7BarrierclEv"));
	assert_false(takes("f", ""));
	assert_false(takes("f", "@x"));
	/* A demangler is expensive, so it is not called for text that cannot be a mangled name. */
	asked = 0;
	assert_false(takes("app::Barrier::arrive", "_ZN3app7Barrier4waitEi"));
	assert_false(takes("app::Barrier::wait", "app_Barrier_wait"));
	assert_int_equal(asked, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	cmocka_unit_test(test_rows),
		cmocka_unit_test(test_wrong),	cmocka_unit_test(test_files),
		cmocka_unit_test(test_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
