// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check JSON Lines with an independent parser, and the errors of the writer. */
#include <stdio.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>
#include <jansson.h>

#include "test_check.h"
#include "emit/json.h"
#include "test_emit_data.h"

DEFINE_CLEANUP_PTR(json_decref, json_t *)

static const struct emit_options json_options = { .format = EMIT_JSON,
						  .realtime_offset_ns = 1795217495LL * 1000000000 };

/* Parse each line strictly as one object, and return all as an array. */
static json_t *parse(const char *out)
{
	json_t *all = json_array(), *one;
	const char *line = out, *end;
	json_error_t error;

	for (; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		one = json_loadb(line, (size_t)(end - line), JSON_REJECT_DUPLICATES, &error);
		if (!one)
			fail_msg("%s at column %d: %.*s", error.text, error.column,
				 (int)(end - line), line);
		assert_int_equal(strncmp(line, "{\"type\":\"", 9), 0);
		json_array_append_new(all, one);
	}
	return all;
}

/* Return the @nth record of @type. */
static json_t *record(json_t *all, const char *type, unsigned nth)
{
	json_t *one;

	for (size_t i = 0; (one = json_array_get(all, i)); i++)
		if (!strcmp(json_string_value(json_object_get(one, "type")), type) && !nth--)
			return one;
	fail_msg("no record of type %s", type);
	return NULL;
}

static json_int_t integer(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		fail_msg("%s is no integer", key);
	return json_integer_value(value);
}

static const char *string(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_string(value))
		fail_msg("%s is no string", key);
	return json_string_value(value);
}

static void is_null(json_t *object, const char *key)
{
	if (!json_is_null(json_object_get(object, key)))
		fail_msg("%s is not null", key);
}

static void test_records(void **state)
{
	json_t *all CLEANUP_PTR(json_decref), *o, *t;
	char *out CLEANUP_PTR(free);
	size_t len;
	struct report r CLEANUP(data_free) = data_new();

	out = data_all(&json_options, &r, &len);
	all = parse(out);

	o = json_array_get(all, 0);
	assert_string_equal(string(o, "type"), "session");
	assert_int_equal(integer(o, "schema"), 1);
	assert_int_equal(integer(o, "clock_start_ns"), DATA_START);
	assert_string_equal(string(json_array_get(json_object_get(o, "probes"), 0), "symbol"),
			    "pthread_barrier_wait");
	assert_int_equal(json_array_size(json_object_get(o, "counters")), 3);
	assert_int_equal(json_array_size(json_object_get(o, "counters_unavailable")), 2);
	t = json_array_get(json_object_get(o, "counters_unavailable"), 1);
	assert_string_equal(string(t, "name"), "nosuch");
	assert_string_equal(string(t, "reason"), "there is no such event");

	o = record(all, "episode", 0);
	assert_string_equal(string(o, "barrier"), "#5c1e70d2");
	assert_int_equal(integer(o, "phase"), 1071);
	assert_string_equal(string(o, "state"), "complete");
	assert_int_equal(integer(o, "t_ns"), 313047453310);
	t = json_array_get(json_object_get(o, "threads"), 0);
	assert_int_equal(integer(t, "arrive_ns"), 312999000000);
	assert_int_equal(integer(t, "depart_ns"), 313047473310);
	is_null(t, "site");

	o = record(all, "warning", 0);
	assert_int_equal(integer(o, "threshold_ns"), 10000000);
	assert_int_equal(integer(o, "barrier_ns"), 48453310);

	o = record(all, "barrier", 0);
	assert_int_equal(integer(json_object_get(o, "phase_ns"), "sum"), 4080000000);
	assert_int_equal(json_array_size(json_object_get(json_object_get(o, "phase_ns"), "hist")),
			 24);
	assert_int_equal(integer(json_array_get(json_object_get(o, "threads"), 7), "last"), 542);
	assert_string_equal(string(o, "pattern"), "static");
	assert_false(json_is_true(json_object_get(o, "interim")));
	o = record(all, "barrier", 2);
	is_null(o, "phase_ns");
	is_null(o, "lost_ns");
	is_null(o, "imbalance");
	is_null(o, "line");
	is_null(o, "last_tid");

	o = record(all, "transition", 1);
	is_null(o, "from");
	assert_string_equal(string(o, "from_label"), "start");
	o = record(all, "process", 0);
	assert_float_equal(
		json_real_value(json_object_get(json_object_get(o, "efficiency"), "load_balance")),
		0.67, 1e-6);
	o = json_array_get(all, json_array_size(all) - 1);
	assert_string_equal(string(o, "type"), "end");
	assert_int_equal(integer(json_object_get(o, "lost"), "ring_full"), 0);
	assert_true(json_is_true(json_object_get(o, "complete")));
}

static void test_hang(void **state)
{
	json_t *all CLEANUP_PTR(json_decref), *o, *t, *f;
	char *out CLEANUP_PTR(free);
	size_t len;
	struct report r CLEANUP(data_free) = data_new();

	out = data_all(&json_options, &r, &len);
	all = parse(out);
	o = record(all, "hang", 0);
	assert_string_equal(string(o, "barrier"), "#5c1e70d2");
	assert_string_equal(string(o, "verdict"), "deadlock");
	assert_int_equal(integer(o, "waited_ns"), 10300000000);
	assert_int_equal(integer(o, "t_ns"), 25000000000);
	assert_false(json_is_true(json_object_get(o, "over")));
	assert_int_equal(json_array_size(json_object_get(o, "arrived")), 4);
	t = json_array_get(json_object_get(o, "arrived"), 3);
	assert_int_equal(integer(t, "tid"), 4714);
	assert_int_equal(integer(t, "arrive_ns"), 14700003000);
	assert_int_equal(integer(t, "line"), 214);
	t = json_array_get(json_object_get(o, "missing"), 1);
	assert_string_equal(string(t, "why"), "past");
	assert_string_equal(string(t, "state"), "blocked");
	assert_string_equal(string(t, "blocked_on"), "the mutex `pivots` held by thread 3");
	f = json_array_get(json_object_get(t, "stack"), 0);
	assert_string_equal(string(f, "inlined"), "__lll_lock_wait");
	f = json_array_get(json_object_get(t, "stack"), 2);
	assert_int_equal(integer(f, "line"), 88);
	is_null(f, "inlined");
	f = json_array_get(json_object_get(t, "stack"), 3);
	is_null(f, "function");
	is_null(f, "line");
	t = json_array_get(json_object_get(o, "cycle"), 1);
	assert_string_equal(string(t, "waits_for"), "the barrier at lu_block.c:214");
	assert_int_equal(integer(t, "next"), 4715);
}

/* Counters, parts and causes have known values, or null for unknown values. */
static void test_accounts(void **state)
{
	json_t *all CLEANUP_PTR(json_decref), *o, *t;
	char *out CLEANUP_PTR(free);
	size_t len;
	struct report r CLEANUP(data_free) = data_new();

	r.barriers[0].threads[0].parts = data_unknown();
	r.barriers[0].threads[1].counters[1].value = REPORT_UNKNOWN;
	r.barriers[0].threads[1].counters[1].least = 5000;
	r.barriers[0].threads[2].counters[1].name = "cycles";
	r.processes[0].omp_scheduling = 0.75;
	out = data_all(&json_options, &r, &len);
	all = parse(out);

	o = record(all, "barrier", 0);
	t = json_object_get(o, "cause");
	assert_string_equal(string(t, "dominant"), "lock");
	assert_int_equal(integer(json_object_get(t, "parts"), "released late"), -1500000);
	assert_int_equal(integer(json_object_get(t, "parts"), "lock"), 39000000);
	assert_int_equal(integer(t, "dominated"), 873);
	assert_int_equal(json_array_size(json_object_get(t, "stack")), 7);
	assert_string_equal(string(json_array_get(json_object_get(t, "stack"), 2), "inlined"),
			    "next_block");
	assert_int_equal(integer(o, "delay_passed_ns"), 612000000);
	assert_int_equal(integer(json_object_get(o, "counters_inside"), "cycles"), 35290);
	assert_true(json_is_true(
		json_object_get(json_object_get(o, "counters_scaled"), "PAPI_L2_TCM")));
	assert_true(
		json_is_false(json_object_get(json_object_get(o, "counters_scaled"), "cycles")));
	is_null(json_array_get(json_object_get(o, "threads"), 0), "blocked_ns");
	is_null(json_array_get(json_object_get(o, "threads"), 0), "oncpu_ns");
	t = json_array_get(json_object_get(o, "threads"), 7);
	assert_int_equal(integer(t, "runq_ns"), 4080000000 / 50);
	assert_int_equal(integer(json_object_get(t, "blocked_ns"), "lock"), 4080000000 / 200);
	assert_int_equal(integer(json_object_get(t, "blocked_ns"), "io"), 0);
	assert_int_equal(integer(json_object_get(t, "counters"), "cycles"), 12240000000);
	t = json_object_get(json_array_get(json_object_get(o, "threads"), 1), "counters");
	is_null(t, "instructions");
	t = json_object_get(json_array_get(json_object_get(o, "threads"), 1), "counters_least");
	assert_int_equal(integer(t, "instructions"), 5000);
	assert_int_equal(json_object_size(t), 1);
	/* A counter that was requested twice has one key. */
	t = json_object_get(json_array_get(json_object_get(o, "threads"), 2), "counters");
	assert_int_equal(json_object_size(t), 2);
	is_null(record(all, "barrier", 1), "cause");
	is_null(record(all, "barrier", 1), "delay_direct_ns");

	t = json_object_get(record(all, "episode", 0), "cause");
	assert_null(json_object_get(t, "episodes"));
	assert_int_equal(integer(t, "lateness_ns"), 46500011);
	assert_int_equal(strncmp(string(t, "text"), "Thread 7 came", 13), 0);
	t = json_object_get(record(all, "warning", 0), "cause");
	assert_string_equal(string(t, "culprit"), "the lock `queue`, held by thread 2");
	o = record(all, "process", 0);
	t = json_object_get(o, "omp_efficiency");
	is_null(t, "load_balance");
	assert_float_equal(json_real_value(json_object_get(t, "scheduling")), 0.75, 1e-9);
	assert_float_equal(json_real_value(json_object_get(o, "useful_oncpu")), 0.975, 1e-9);
	o = record(all, "finding", 0);
	assert_int_equal(integer(o, "pid"), 4711);
	assert_string_equal(string(o, "kind"), "oversubscribed");
	is_null(record(all, "finding", 1), "pid");
	json_decref(all);
	free(out);

	r.processes[0].omp_scheduling = NAN;
	out = data_all(&json_options, &r, &len);
	all = parse(out);
	is_null(record(all, "process", 0), "omp_efficiency");
}

static void test_interim(void **state)
{
	json_t *all CLEANUP_PTR(json_decref);
	char *out CLEANUP_PTR(free);
	size_t len;
	struct report r CLEANUP(data_free) = data_new();

	r.interim = true;
	out = data_all(&json_options, &r, &len);
	all = parse(out);
	assert_true(json_is_true(json_object_get(record(all, "barrier", 0), "interim")));
	assert_true(json_is_true(json_object_get(record(all, "process", 0), "interim")));
	record(all, "interim", 0);
	assert_lacks(out, "{\"type\":\"end\"");
}

static void check_string(const char *in, const char *expected)
{
	struct buf buf CLEANUP(buf_free) = { 0 };
	json_t *value CLEANUP_PTR(json_decref);

	jsonl_string(&buf, in);
	value = json_loads(buf.s, JSON_DECODE_ANY, NULL);
	if (!value)
		fail_msg("%s", buf.s);
	assert_string_equal(json_string_value(value), expected);
	assert_fields(&buf, LACKS(s, "</"), LACKS(s, "<!"));
}

static void test_strings(void **state)
{
	char all[256];

	check_cases(check_string, { "", "" },
		    { "a\"b\\c/d\n\t\r\033[2J\x7f", "a\"b\\c/d\n\t\r\033[2J\x7f" },
		    { "µ 漢字 \xf0\x9f\x98\x80", "µ 漢字 \xf0\x9f\x98\x80" },
		    { "\xe2\x80\xae\xc2\x9b\xe2\x80\xa8", "\xe2\x80\xae\xc2\x9b\xe2\x80\xa8" },
		    { "</script><!--", "</script><!--" }, { "a<</b<!c<d", "a<</b<!c<d" },
		    { "\xff", "\xef\xbf\xbd" }, { "a\xc3", "a\xef\xbf\xbd" },
		    { "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },
		    { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		    { "<\xff/", "<\xef\xbf\xbd/" });
	for (unsigned i = 1; i < 128; i++)
		all[i - 1] = (char)i;
	all[127] = '\0';
	check_string(all, all);
}

static void test_numbers(void **state)
{
	struct buf buf CLEANUP(buf_free) = { 0 };

	buf_uint(&buf, 0);
	buf_char(&buf, ' ');
	buf_uint(&buf, 100);
	buf_char(&buf, ' ');
	buf_uint(&buf, UINT64_MAX);
	buf_char(&buf, ' ');
	buf_int(&buf, INT64_MIN);
	buf_char(&buf, ' ');
	buf_int(&buf, -1);
	buf_char(&buf, ' ');
	buf_int(&buf, INT64_MAX);
	assert_string_equal(buf.s, "0 100 18446744073709551615 -9223372036854775808 -1 "
				   "9223372036854775807");
	/* Text longer than the buffer, and text that just fits, equals text written in pieces. */
	for (size_t n = 0; n < 600; n++) {
		buf_clear(&buf);
		buf_pad(&buf, n);
		buf_printf(&buf, "<%*s>", (int)n, "x");
		assert_fields(&buf, IS(len, strlen(buf.s)), IS(len, 2 * n + 2 + !n));
		assert_int_equal(strcspn(buf.s, "<"), n);
		assert_string_equal(buf.s + buf.len - 2, "x>");
		if (n % 7 == 0)
			buf_free(&buf);
	}
}

static void test_hostile(void **state)
{
	char path[4097];
	json_t *all CLEANUP_PTR(json_decref);
	char *out CLEANUP_PTR(free), *c;
	size_t len;
	struct report r CLEANUP(data_free) = data_new();

	data_hostile(&r, path);
	out = data_all(&json_options, &r, &len);
	assert_int_equal(len, strlen(out));
	for (c = out; *c; c++)
		assert_true((unsigned char)*c >= 0x20 || *c == '\n');
	assert_lacks(out, "</");
	all = parse(out);
	assert_int_equal(json_array_size(all), 4 + 1 + 3 + 3 + 1 + 1);
	assert_int_equal(strlen(string(record(all, "barrier", 0), "file")), 4096 + 2);
}

/* Times before the start of the clock, and infinities, are null. */
static void test_unknown(void **state)
{
	struct observed_member member = { .comm = NULL,
					  .arrive_ns = DATA_START - 1,
					  .depart_ns = MODEL_UNKNOWN,
					  .inter_ns = MODEL_UNKNOWN,
					  .wait_ns = UINT64_MAX - 1,
					  .work_ns = 0,
					  .index = MODEL_NONE };
	struct report_efficiency e = { NAN, INFINITY, -INFINITY, 0, 1 };
	struct fields_context context = { .clock_start_ns = DATA_START };
	struct buf buf CLEANUP(buf_free) = { 0 };

	jsonl_record(&buf, &fields_rec_member, &member, &context);
	assert_fields(&buf, HAS(s, "\"arrive_ns\":null"), HAS(s, "\"depart_ns\":null"),
		      HAS(s, "\"index\":null"), HAS(s, "\"wait_ns\":18446744073709551614"),
		      HAS(s, "\"work_ns\":0"));
	buf_clear(&buf);
	jsonl_record(&buf, fields_sub(fields_find(&fields_rec_process, "efficiency")), &e,
		     &context);
	assert_string_equal(buf.s,
			    "{\"type\":\"efficiency\",\"parallel\":null,\"load_balance\":null,"
			    "\"serialisation\":null,\"transfer\":0,\"communication\":1}\n");
}

static int write_to(const char *path, enum emit_format format)
{
	struct emit_options options = { .format = format };
	struct session session = data_session();
	FILE *f = fopen(path, "w");
	struct emit *emit;
	struct report r;
	int err;

	assert_non_null(f);
	emit = emit_new(f, &options);
	data_report(&r);
	emit_session(emit, &session);
	for (int i = 0; i < 100; i++)
		emit_report(emit, &r);
	err = emit_flush(emit);
	assert_int_equal(emit_free(emit), err);
	fclose(f);
	data_free(&r);
	return err;
}

static void test_full_disk(void **state)
{
	assert_int_equal(write_to("/dev/full", EMIT_JSON), -ENOSPC);
	assert_int_equal(write_to("/dev/full", EMIT_CSV), -ENOSPC);
	assert_int_equal(write_to("/dev/full", EMIT_TEXT), -ENOSPC);
	assert_int_equal(write_to("/dev/null", EMIT_JSON), 0);
}

static void test_pipe(void **state)
{
	struct session session = data_session();
	struct emit *emit;
	int fds[2];
	FILE *f CLEANUP_PTR(fclose);

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	f = fdopen(fds[1], "w");
	emit = emit_new(f, &json_options);
	emit_session(emit, &session);
	assert_int_equal(emit_flush(emit), -EPIPE);
	/* The first error stays, and nothing is written after it. */
	emit_session(emit, &session);
	assert_int_equal(emit_free(emit), -EPIPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hang),	  cmocka_unit_test(test_records),
		cmocka_unit_test(test_interim),	  cmocka_unit_test(test_strings),
		cmocka_unit_test(test_hostile),	  cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_full_disk), cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_accounts),  cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
