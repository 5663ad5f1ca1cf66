// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check the output of diff: text against golden files (UPDATE_GOLDEN=1 updates them), JSON and CSV
 * read back.
 */
#include <stdio.h>
#include <jansson.h>

#include "test_check.h"
#include "emit/compare.h"
#include "emit/emit.h"
#include "test_emit_golden.h"
#include "test_recordings.h"

DEFINE_CLEANUP_PTR(json_decref, json_t *)

#define HOSTILE "\033[31mred\033]0;t\007\n\r\t\"',;\\ <script>\xff\xc3\x28 \xe2\x80\xae"

static const struct compare_options plain = { .confidence = 0.95, .fail_above = NAN };
static const struct compare_input inputs[] = {
	{ "cont-1.sbt", true, false, false }, { "cont-2.sbt", true, false, false },
	{ "cont-3.sbt", true, false, false }, { "cont-4.sbt", true, false, false },
	{ "cont-5.sbt", true, false, false }, { "non-1.sbt", true, false, false },
	{ "non-2.sbt", true, false, false },  { "non-3.sbt", false, true, false },
	{ "non-4.sbt", true, false, true },   { "non-5.sbt", true, false, false },
};

static char *print(const struct compare *c, const struct compare_input *in, enum emit_format format,
		   unsigned width)
{
	struct emit_options options = { .format = format, .width = width };
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *emit = emit_new(f, &options);

	assert_non_null(emit);
	emit_compare(emit, c, in);
	assert_int_equal(emit_free(emit), 0);
	fclose(f);
	return out;
}

/* Compare @na runs of contiguous blocks with @nb runs of non-contiguous blocks. */
static struct recording *lu(unsigned na, unsigned nb, const struct compare_options *o,
			    struct compare *c)
{
	struct recording *r = calloc(na + nb, sizeof(*r));
	const struct batches *batches[16];
	struct compare_options with = *o;
	const struct report *all[16];

	for (unsigned i = 0; i < na + nb; i++) {
		recording_lu(&r[i], i < na ? i : i - na, i >= na);
		recording_batches(&r[i], 0.05, i);
		all[i] = &r[i].report;
		batches[i] = &r[i].batches;
	}
	with.batches = batches;
	assert_int_equal(compare_reports(all, na, all + na, nb, &with, c), 0);
	return r;
}

static void golden(const char *name, const struct compare *c, const struct compare_input *in)
{
	char *out CLEANUP_PTR(free) = print(c, in, EMIT_TEXT, 0);

	check_golden(name, out);
}

/*
 * Five runs on each side, of two versions of a program, with a limit that most differences exceed.
 */
static void test_several(void **state)
{
	struct compare_options o = plain;
	struct recording *r CLEANUP_PTR(free);
	struct compare c CLEANUP(compare_free);

	o.fail_above = 0.1;
	r = lu(5, 5, &o, &c);
	golden("diff", &c, inputs);
}

/* With one run on each side, the output has statements about noise. */
static void test_one(void **state)
{
	struct compare_options o = plain;
	struct recording *r CLEANUP_PTR(free);
	struct compare c CLEANUP(compare_free);

	o.fail_above = 0.02;
	r = lu(1, 1, &o, &c);
	golden("diff_one", &c, inputs + 4);
}

/*
 * Compare three runs with a single run that differs only by noise. Then select one quantity only.
 */
static void test_single(void **state)
{
	static const char *const phase = "phase";
	struct compare_options o = plain;
	struct recording *r CLEANUP_PTR(free);
	struct compare c CLEANUP(compare_free);

	o.nquantities = 1;
	o.quantities = &phase;
	o.fail_above = 0.5;
	r = lu(4, 0, &o, &c);
	compare_free(&c);
	assert_int_equal(compare_reports((const struct report *[]){ &r[0].report, &r[1].report,
								    &r[2].report },
					 3, (const struct report *[]){ &r[3].report }, 1, &o, &c),
			 0);
	golden("diff_single", &c, inputs);
}

/* No thread crossed a barrier. */
static void test_nothing(void **state)
{
	struct recording r[2];
	struct compare c CLEANUP(compare_free);

	recording_init(&r[0]);
	recording_init(&r[1]);
	assert_int_equal(compare_reports((const struct report *[]){ &r[0].report }, 1,
					 (const struct report *[]){ &r[1].report }, 1, &plain, &c),
			 0);
	golden("diff_nothing", &c, inputs);
}

/*
 * Compare two recordings with hostile names. Some sites are in one recording only, and there are
 * more sites than are shown.
 */
static void hostile(struct recording r[2], struct compare *c)
{
	const struct report *all[] = { &r[0].report, &r[1].report };
	struct report_barrier *b;
	char id[16];

	for (unsigned i = 0; i < 2; i++) {
		recording_init(&r[i]);
		recording_process(&r[i], HOSTILE, 1000 * MS);
		recording_counter(&r[i], false, HOSTILE, 1 + i);
		for (unsigned s = 0; s < RECORDING_SITES - i; s++) {
			snprintf(id, sizeof(id), "#%u", s + (s > 2 && i ? 100 : 0));
			b = recording_site(&r[i], id, HOSTILE, s < 3 ? 7 : 0, 10,
					   (s + 1) * MS * (i + 1), 1e5);
			snprintf(b->label, sizeof(b->label), "%s", HOSTILE);
		}
	}
	assert_int_equal(compare_reports(all, 1, all + 1, 1, &plain, c), 0);
}

static void test_hostile(void **state)
{
	static const struct compare_input in[] = { { HOSTILE, true, false, false },
						   { NULL, false, false, false } };
	static const unsigned widths[] = { 0, 40, 60, 80, 100, 200 };
	struct recording *r CLEANUP_PTR(free) = calloc(2, sizeof(*r));
	struct compare c CLEANUP(compare_free);
	char *out;

	hostile(r, &c);
	assert_true(c.only_a > 0);
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		out = print(&c, in, EMIT_TEXT, widths[i]);
		check_lines(out, widths[i] ? widths[i] : 100);
		assert_says(out, "only in A");
		free(out);
	}
}

static json_t *row_of(json_t *lines, const char *scope, const char *quantity, const char *barrier)
{
	json_t *one;
	size_t i;

	json_array_foreach(
		lines, i,
		one) if (!strcmp(json_string_value(json_object_get(one, "scope"))
					 ? json_string_value(json_object_get(one, "scope"))
					 : "",
				 scope) &&
			 !strcmp(json_string_value(json_object_get(one, "quantity")), quantity) &&
			 (!barrier || !strcmp(json_string_value(json_object_get(one, "barrier")),
					      barrier))) return one;
	return NULL;
}

static json_t *read_lines(char *out)
{
	json_t *lines = json_array(), *one;
	char *line, *save;

	for (line = strtok_r(out, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		one = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(one);
		json_array_append_new(lines, one);
	}
	return lines;
}

/* Check the fields that scripts rely on: barrier, quantity, a, b, ratio, significant. */
static void test_json(void **state)
{
	struct recording *r CLEANUP_PTR(free);
	struct compare c CLEANUP(compare_free);
	json_t *lines CLEANUP_PTR(json_decref), *one;
	char *out CLEANUP_PTR(free);

	r = lu(5, 5, &plain, &c);
	out = print(&c, inputs, EMIT_JSON, 0);
	lines = read_lines(out);
	one = json_array_get(lines, 0);
	assert_string_equal(json_string_value(json_object_get(one, "type")), "comparison");
	assert_int_equal(json_array_size(json_object_get(one, "a")), 5);
	assert_true(json_is_false(
		json_object_get(json_array_get(json_object_get(one, "b"), 2), "complete")));
	assert_true(json_is_null(json_object_get(one, "fail_above")));
	assert_int_equal(json_array_size(lines), c.nrows + 1);
	one = row_of(lines, "barrier", "phase_ns", "#03");
	assert_non_null(one);
	assert_string_equal(json_string_value(json_object_get(one, "barrier_b")), "#f3");
	assert_string_equal(json_string_value(json_object_get(one, "matched")), "function");
	assert_true(json_is_true(json_object_get(one, "significant")));
	assert_true(fabs(json_real_value(json_object_get(one, "ratio")) - 1.31) < 0.01);
	assert_true(json_number_value(json_object_get(one, "b")) >
		    json_number_value(json_object_get(one, "a")));
	one = row_of(lines, "process", "serialisation", NULL);
	assert_true(json_is_false(json_object_get(one, "significant")));
	json_decref(lines);
	free(out);
	compare_free(&c);
	free(r);

	/* A result that was not tested is null, not false. */
	r = lu(1, 1, &plain, &c);
	out = print(&c, inputs, EMIT_JSON, 0);
	lines = read_lines(out);
	one = row_of(lines, "run", "elapsed_ns", NULL);
	assert_true(json_is_null(json_object_get(one, "significant")));
	assert_true(json_is_null(json_object_get(one, "p")));
	assert_true(json_is_null(json_object_get(one, "test")));
	assert_true(json_is_null(json_object_get(one, "barrier")));
}

/* There is one header, with the columns of this command alone. Every row has as many cells. */
static void test_csv(void **state)
{
	struct recording *r CLEANUP_PTR(free) = calloc(2, sizeof(*r));
	static const struct compare_input in[] = { { "a,b", true, false, false },
						   { "=cmd", true, false, false } };
	struct compare c CLEANUP(compare_free);
	char *out CLEANUP_PTR(free), *line, *save;
	unsigned commas, columns = 0, rows = 0;
	bool quoted;
	char *s;

	hostile(r, &c);
	out = print(&c, in, EMIT_CSV, 0);
	assert_int_equal(strncmp(out, "type,elapsed_a,", 15), 0);
	assert_lacks(out, "clock_start_ns");
	assert_says(out, "\"'=cmd\"");
	for (line = strtok_r(out, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		for (s = line, commas = 0, quoted = false; *s; s++) {
			quoted ^= *s == '"';
			commas += *s == ',' && !quoted;
		}
		assert_false(quoted);
		columns = rows ? columns : commas;
		assert_int_equal(commas, columns);
		rows++;
	}
	/*
	 * There is one header, the rows of compared values, one row about the whole comparison, and
	 * one row for each of the two files.
	 */
	assert_int_equal(rows, c.nrows + 4);
}

static void test_values(void **state)
{
	char s[TEXTOUT_CELL];

	assert_string_equal(compare_value(s, 1278722, COMPARE_COUNT), "1.28 M");
	assert_string_equal(compare_value(s, 999999, COMPARE_COUNT), "999999");
	assert_string_equal(compare_value(s, 186519978, COMPARE_COUNT), "187 M");
	assert_string_equal(compare_value(s, 999.6e6, COMPARE_COUNT), "1.00 G");
	assert_string_equal(compare_value(s, 12.5, COMPARE_COUNT), "12.5");
	assert_string_equal(compare_value(s, 0, COMPARE_COUNT), "0");
	assert_string_equal(compare_value(s, 7e8, COMPARE_NS), "700 ms");
	assert_string_equal(compare_value(s, 0.664, COMPARE_RATIO), "0.66");
	assert_string_equal(compare_value(s, NAN, COMPARE_NS), "?");
	assert_string_equal(compare_value(s, 1e30, COMPARE_NS), "?");
	assert_string_equal(compare_value(s, INFINITY, COMPARE_NS), "?");
	assert_string_equal(compare_value(s, -1, COMPARE_RATIO), "?");
	assert_string_equal(compare_percent(s, 1.4286), "+43 %");
	assert_string_equal(compare_percent(s, 0.95), "-5.0 %");
	assert_string_equal(compare_percent(s, 1), "0 %");
	assert_string_equal(compare_percent(s, 14), "x 14");
	assert_string_equal(compare_percent(s, NAN), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_several), cmocka_unit_test(test_one),
		cmocka_unit_test(test_single),	cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),	cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
