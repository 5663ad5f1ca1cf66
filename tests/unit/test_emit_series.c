// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check the output of series: tables of E. Novillo's thesis (University of Alberta, 2002) against
 * golden files, JSON and CSV by reading them back.
 */
#include <stdio.h>
#include <jansson.h>

#include "test_check.h"
#include "emit/emit.h"
#include "test_emit_golden.h"
#include "test_many.h"

DEFINE_CLEANUP_PTR(json_decref, json_t *)

#define HOSTILE "\033[31mred\033]0;t\007\n\r\t\"',;\\ <script>\xff\xc3\x28 \xe2\x80\xae"

static char *print(const struct series *s, enum emit_format format, unsigned width)
{
	struct emit_options options = { .format = format, .width = width };
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *emit = emit_new(f, &options);

	assert_non_null(emit);
	emit_series(emit, s);
	assert_int_equal(emit_free(emit), 0);
	fclose(f);
	return out;
}

static void golden(const char *name, const struct many *t)
{
	char *out CLEANUP_PTR(free) = print(&t->s, EMIT_TEXT, 0);

	check_golden(name, out);
}

/* Table 5.5: block sizes, times and cache misses, relative to the fastest. */
static void test_table_5_5(void **state)
{
	static const struct {
		const char *label;
		uint64_t ms, l1, l2;
	} rows[] = {
		{ "16x16", 60780, 27902098, 2386933 },
		{ "32x32", 55720, 17321724, 1278722 },
		{ "64x64", 56410, 42798289, 737524 },
		{ "128x128", 64720, 186519978, 487020 },
	};
	struct many *t CLEANUP_PTR(many_free) = many_new();

	for (unsigned i = 0; i < 4; i++) {
		many_add(t, rows[i].label, rows[i].ms);
		recording_counter(&t->r[i], false, "L1 misses", rows[i].l1 * RECORDING_THREADS);
		recording_counter(&t->r[i], false, "L2 misses", rows[i].l2 * RECORDING_THREADS);
	}
	many_build(t, SERIES_FASTEST, NULL);
	golden("series", t);
}

/* Table 5.4: two variants, their ratio, and its average. One cell of the table is empty. */
static void test_table_5_4(void **state)
{
	static const struct {
		const char *label;
		uint64_t ms;
	} rows[] = {
		{ "512x512/contiguous", 700 },	     { "512x512/non-contiguous", 1000 },
		{ "1024x1024/contiguous", 6000 },    { "1024x1024/non-contiguous", 8000 },
		{ "2048x2048/contiguous", 50800 },   { "2048x2048/non-contiguous", 66700 },
		{ "4096x4096/contiguous", 414500 },  { "4096x4096/non-contiguous", 535100 },
		{ "8192x8192/contiguous", 3300000 },
	};
	struct many *t CLEANUP_PTR(many_free) = many_new();

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		many_add(t, rows[i].label, rows[i].ms);
	t->r[8].report.lossless = false;
	many_build(t, SERIES_ROW, NULL);
	golden("series_across", t);
}

/* Table 3.3: speedups relative to a program without barriers, with two runs each. */
static void test_table_3_3(void **state)
{
	static const struct {
		const char *label;
		uint64_t ms;
	} rows[] = {
		{ "2/block", 38168 },  { "2/cyclic", 37313 }, { "4/block", 24155 },
		{ "4/cyclic", 17986 }, { "8/block", 12361 },  { "8/cyclic", 10730 },
	};
	struct many *t CLEANUP_PTR(many_free) = many_new();
	struct recording *r;

	r = many_add(t, "sequential", 0);
	r->report.end_ns = r->report.start_ns + 100000 * MS;
	for (unsigned i = 0; i < 12; i++) {
		r = many_add(t, rows[i % 6].label, rows[i % 6].ms + (i < 6 ? 100 : 0));
		r->processes[0].threads = (uint32_t)atoi(rows[i % 6].label);
	}
	many_build(t, SERIES_LABEL, "sequential");
	golden("series_speedup", t);
}

/* Make table 5.3 and figures 5.8 and 5.14: the phases of radix, and the idle times of threads. */
static struct many *radix(void)
{
	static const uint64_t phase[3][3] = { { 940, 20, 6770 },
					      { 1840, 10, 13130 },
					      { 3630, 20, 23640 } };
	static const uint64_t barrier[3][3] = { { 210, 10, 900 },
						{ 360, 0, 610 },
						{ 740, 10, 2220 } };
	static const char *const labels[] = { "16M", "32M", "64M" };
	static const char *const names[] = { "Local histograms", "Global histogram", "Permute" };
	struct many *t = many_new();
	struct report_barrier *b;
	struct recording *r;
	char id[8];

	for (unsigned i = 0; i < 3; i++) {
		r = many_add(t, labels[i], (phase[i][0] + phase[i][1] + phase[i][2]) * 21 / 20);
		for (unsigned j = 0; j < 3; j++) {
			snprintf(id, sizeof(id), "#%u", j & 7);
			b = recording_site(r, id, "sort", 10 + j, 3, phase[i][j] * MS, 0);
			snprintf(b->label, sizeof(b->label), "%s radix.c:%u", names[j], b->line);
			b->barrier_ns.sum = barrier[i][j] * MS;
			b->index = j;
			recording_counter(r, true, "PAPI_TLB_DM", 1000 * phase[i][j]);
		}
	}
	many_build(t, SERIES_FIRST, NULL);
	return t;
}

static void test_phases(void **state)
{
	struct many *t CLEANUP_PTR(many_free) = radix();

	golden("series_sites", t);
}

/*
 * Labels that are made from commands can be long. They are listed once in full, and the tables show
 * their numbers, so that no label is cut.
 */
static void test_long_labels(void **state)
{
	static const char *const labels[] = {
		"lu --partition block --size 1024 --threads 2, 2 threads",
		"lu --partition block --size 1024 --threads 4, 4 threads",
		"lu --partition cyclic --size 1024 --threads 4, 4 threads"
	};
	struct many *t CLEANUP_PTR(many_free) = many_new();
	struct report_barrier *b;
	struct recording *r;
	char *out;

	for (unsigned i = 0; i < 3; i++) {
		r = many_add(t, labels[i], 1000 - 100 * i);
		b = recording_site(r, "#1", "lu_cyclic", 90, 1000, (900 - 100 * i) * MS, 0);
		snprintf(b->label, sizeof(b->label), "%s",
			 i < 2 ? "lu_block lu.c:77" : "lu_cyclic lu.c:90");
	}
	many_build(t, SERIES_FIRST, NULL);
	out = print(&t->s, EMIT_TEXT, 100);
	assert_lacks(out, "\xe2\x80\xa6");
	for (unsigned i = 0; i < 3; i++)
		assert_says(strstr(out, "\n\n"), labels[i]);
	free(out);
	golden("series_labels", t);
}

static void test_nothing(void **state)
{
	struct many *t CLEANUP_PTR(many_free) = many_new();
	char *out CLEANUP_PTR(free);

	many_build(t, SERIES_FIRST, NULL);
	out = print(&t->s, EMIT_TEXT, 0);
	assert_string_equal(
		out,
		"SBT series: 0 points from 0 recordings; the times of all points are unknown\n");
	free(out);
	series_free(&t->s);
	many_add(t, "empty", 0);
	many_build(t, SERIES_FIRST, NULL);
	out = print(&t->s, EMIT_TEXT, 0);
	assert_says(out, "the times of all points are unknown");
}

/* Check hostile names in every field, more columns than fit, and all widths. */
static void test_hostile(void **state)
{
	static const unsigned widths[] = { 0, 40, 60, 80, 100, 200 };
	struct many *t CLEANUP_PTR(many_free) = many_new();
	struct report_barrier *b;
	char label[INPUTS][128], *out CLEANUP_PTR(free);

	for (unsigned i = 0; i < INPUTS; i++) {
		snprintf(label[i], sizeof(label[i]), "%s%u/%s%u", HOSTILE, i % 3, HOSTILE, i);
		many_add(t, label[i], 10 + i);
		b = recording_site(&t->r[i], "#1", HOSTILE, 1, 2, 5 * MS, 0);
		snprintf(b->label, sizeof(b->label), "%s", HOSTILE);
		recording_counter(&t->r[i], false, HOSTILE, i);
		recording_counter(&t->r[i], true, HOSTILE, i);
	}
	many_build(t, SERIES_ROW, NULL);
	for (unsigned i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		out = print(&t->s, EMIT_TEXT, widths[i]);
		check_lines(out, widths[i] ? widths[i] : 100);
		free(out);
	}
	out = print(&t->s, EMIT_CSV, 0);
	assert_null(strchr(out, '\033'));
}

static void test_json(void **state)
{
	struct many *t CLEANUP_PTR(many_free) = radix();
	char *out CLEANUP_PTR(free) = print(&t->s, EMIT_JSON, 0), *line, *save;
	json_t *one CLEANUP_PTR(json_decref) = NULL, *site, *counter;
	unsigned n = 0;

	for (line = strtok_r(out, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		json_decref(one);
		one = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(one);
		assert_string_equal(json_string_value(json_object_get(one, "type")), "series");
		n++;
	}
	assert_int_equal(n, 3);
	assert_string_equal(json_string_value(json_object_get(one, "label")), "64M");
	assert_string_equal(json_string_value(json_object_get(one, "base")), "16M");
	assert_true(json_is_null(json_object_get(one, "column")));
	assert_true(json_is_null(json_object_get(one, "time_stddev_ns")));
	assert_int_equal(json_integer_value(json_object_get(one, "nthreads")), RECORDING_THREADS);
	site = json_array_get(json_object_get(one, "sites"), 2);
	assert_int_equal(json_integer_value(json_object_get(site, "phase_ns")), 23640 * MS);
	assert_int_equal(json_integer_value(json_object_get(site, "work_ns")), 21420 * MS);
	assert_int_equal(json_integer_value(json_object_get(site, "idle_max_ns")), 23640 * MS / 4);
	counter = json_array_get(json_object_get(site, "counters"), 0);
	assert_true(json_number_value(json_object_get(counter, "per_thread")) == 23640000.0 / 4);
}

/* There is one header. The rows are points, sites of points, and counters of sites. */
static void test_csv(void **state)
{
	struct many *t CLEANUP_PTR(many_free) = radix();
	char *out CLEANUP_PTR(free) = print(&t->s, EMIT_CSV, 0), *line, *save;
	unsigned points = 0, sites = 0, counters = 0;

	assert_int_equal(strncmp(out, "type,label,row,column,", 22), 0);
	assert_lacks(out, "elapsed");
	for (line = strtok_r(out, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		points += !strncmp(line, "series,\"", 8);
		sites += !strncmp(line, "series.site,\"", 13);
		counters += !strncmp(line, "series.site.counter,\"", 21);
	}
	assert_int_equal(points, 3);
	assert_int_equal(sites, 9);
	assert_int_equal(counters, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_5_5),   cmocka_unit_test(test_table_5_4),
		cmocka_unit_test(test_table_3_3),   cmocka_unit_test(test_phases),
		cmocka_unit_test(test_long_labels), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_hostile),	    cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
