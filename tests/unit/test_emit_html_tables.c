// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check the data of the pages of series, diff and predict with an independent parser. */
#include <stdio.h>
#include <errno.h>
#include <jansson.h>

#include "test_check.h"
#include "emit/html.h"
#include "emit/html_tables.h"
#include "test_many.h"

DEFINE_CLEANUP_PTR(json_decref, json_t *)

#define HOSTILE "</script><img src=x onerror=1>\"\\\n\033[31m"

/*
 * Return the data between the tags of the page's script element. Nothing in the data may end the
 * element.
 */
static json_t *data_of(const char *page)
{
	static const char tag[] = "<script type=\"application/json\" id=\"data\">";
	const char *from = strstr(page, tag), *to;
	json_error_t error;
	json_t *o;

	assert_non_null(from);
	from += strlen(tag);
	to = strchr(from, '<');
	assert_int_equal(strncmp(to, "</script>", 9), 0);
	o = json_loadb(from, (size_t)(to - from), JSON_REJECT_DUPLICATES, &error);
	if (!o)
		fail_msg("%s at %d", error.text, error.position);
	return o;
}

static const char *text_at(json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	assert_non_null(s);
	return s;
}

static json_t *drawn_series(const struct series *s)
{
	char *page = NULL;
	size_t n;
	FILE *f = open_memstream(&page, &n);
	json_t *o;

	assert_int_equal(html_series(f, s, HOSTILE), 0);
	fclose(f);
	o = data_of(page);
	free(page);
	return o;
}

static void test_series(void **state)
{
	struct many *t CLEANUP_PTR(many_free) = many_new();
	json_t *o CLEANUP_PTR(json_decref), *records, *sentences;

	many_add(t, HOSTILE, 300);
	many_add(t, HOSTILE, 500);
	many_add(t, "b", 200);
	many_build(t, SERIES_FIRST, NULL);
	o = drawn_series(&t->s);
	assert_string_equal(text_at(o, "title"), HOSTILE);
	sentences = json_object_get(o, "sentences");
	assert_int_equal(json_array_size(sentences), 1);
	assert_int_equal(strncmp(json_string_value(json_array_get(sentences, 0)),
				 "SBT series: 2 points from 3 recordings; fastest: b, ", 51),
			 0);
	records = json_object_get(o, "records");
	assert_int_equal(json_array_size(records), 2);
	assert_string_equal(text_at(json_array_get(records, 0), "label"), HOSTILE);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(records, 0), "time_ns")),
			 400 * MS);
}

static void test_compare(void **state)
{
	const struct compare_input inputs[] = { { HOSTILE, true, false, false },
						{ "b", false, false, false } };
	struct compare_options options = { .confidence = 0.95, .fail_above = NAN };
	const struct report *a, *b;
	struct recording r[2];
	struct compare c CLEANUP(compare_free);
	char *page CLEANUP_PTR(free) = NULL;
	size_t n;
	FILE *f;
	json_t *o CLEANUP_PTR(json_decref), *records;

	recording_lu(&r[0], 1, 0);
	recording_lu(&r[1], 1, 1);
	a = &r[0].report;
	b = &r[1].report;
	assert_int_equal(compare_reports(&a, 1, &b, 1, &options, &c), 0);
	f = open_memstream(&page, &n);
	assert_int_equal(html_compare(f, &c, inputs, HOSTILE), 0);
	fclose(f);
	o = data_of(page);
	records = json_object_get(o, "records");
	assert_int_equal(json_array_size(records), 1 + c.nrows);
	assert_string_equal(
		text_at(json_array_get(json_object_get(json_array_get(records, 0), "a"), 0),
			"file"),
		HOSTILE);
}

static void test_predictions(void **state)
{
	struct prediction_phase phase = { .id = "x", .label = HOSTILE, .time_ns = 5, .share = 1 };
	struct prediction all[] = { { .machine = HOSTILE,
				      .barrier_model = "linear",
				      .processors = 1,
				      .threads = 2,
				      .time_ns = 10,
				      .speedup = 1,
				      .efficiency = 1,
				      .limit_label = HOSTILE,
				      .because = "work",
				      .nphases = 1,
				      .phases = &phase } };
	struct prediction_note note = { "warning", HOSTILE };
	const struct predictions p = { .n = 1, .all = all, .nnotes = 1, .notes = &note };
	const struct predictions none = { 0 };
	char *page CLEANUP_PTR(free) = NULL;
	size_t n;
	FILE *f = open_memstream(&page, &n);
	json_t *o CLEANUP_PTR(json_decref), *records;

	assert_int_equal(html_predictions(f, &p, "t"), 0);
	fclose(f);
	o = data_of(page);
	records = json_object_get(o, "records");
	assert_int_equal(json_array_size(records), 2);
	assert_string_equal(text_at(json_array_get(records, 1), "text"), HOSTILE);
	json_decref(o);
	free(page);
	f = open_memstream(&page, &n);
	assert_int_equal(html_predictions(f, &none, NULL), 0);
	fclose(f);
	o = data_of(page);
	assert_int_equal(json_array_size(json_object_get(o, "records")), 0);
}

/* A failed write is reported. */
static void test_full(void **state)
{
	struct many *t CLEANUP_PTR(many_free) = many_new();
	FILE *f CLEANUP_PTR(fclose) = fopen("/dev/full", "w");

	assert_non_null(f);
	many_add(t, "a", 300);
	many_build(t, SERIES_FIRST, NULL);
	assert_int_equal(html_series(f, &t->s, "t"), -ENOSPC);
}

/* A build without the charting library reports that it has none. */
static void test_without(void **state)
{
	const struct predictions none = { 0 };

	assert_int_equal(html_predictions(stdout, &none, NULL), -ENOSYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_predictions),
		cmocka_unit_test(test_full),
	};
	const struct CMUnitTest without[] = {
		cmocka_unit_test(test_without),
	};

	return html_available() ? cmocka_run_group_tests(tests, NULL, NULL)
				: cmocka_run_group_tests(without, NULL, NULL);
}
