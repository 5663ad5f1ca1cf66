// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Text output against golden files, from the repository's root; UPDATE_GOLDEN=1 makes them anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

#include "base/text.h"
#include "emit/table.h"
#include "emit/textout.h"
#include "test_emit_data.h"

static const struct emit_options text_options = { .format = EMIT_TEXT,
						  .realtime_offset_ns = 1795217495LL * 1000000000 };

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *s = NULL;
	size_t cap = 0;

	if (!f)
		return NULL;
	if (getdelim(&s, &cap, '\0', f) < 0) {
		free(s);
		s = NULL;
	}
	fclose(f);
	return s;
}

/* What every text output must keep: no line past the width, nothing a terminal could act on. */
static void check_lines(const char *out, unsigned width)
{
	const char *line, *end;
	char copy[1024];
	char *safe;

	for (line = out; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		assert_true((size_t)(end - line) < sizeof(copy));
		memcpy(copy, line, (size_t)(end - line));
		copy[end - line] = '\0';
		if (textout_columns(copy) > width)
			fail_msg("%u columns: %s", textout_columns(copy), copy);
		safe = text_printable(copy);
		assert_string_equal(copy, safe);
		free(safe);
		if (end > line && end[-1] == ' ')
			fail_msg("blank at the end: %s", copy);
	}
}

static void check_golden(const char *name, const char *out)
{
	const char *update = getenv("UPDATE_GOLDEN");
	char path[256];
	char *expected;
	FILE *f;

	check_lines(out, 100);
	snprintf(path, sizeof(path), "tests/unit/golden/%s.txt", name);
	if (update && *update == '1') {
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(out, f);
		assert_int_equal(fclose(f), 0);
		return;
	}
	expected = slurp(path);
	if (!expected)
		fail_msg("%s is missing: UPDATE_GOLDEN=1 makes it", path);
	assert_string_equal(out, expected);
	free(expected);
}

struct run {
	char *out;
	size_t len;
	FILE *f;
	struct emit *emit;
};

static void run_begin(struct run *run, const struct emit_options *options)
{
	struct emit_session session = data_session();

	run->f = open_memstream(&run->out, &run->len);
	run->emit = emit_new(run->f, options);
	assert_non_null(run->emit);
	session.banner = false;
	emit_session(run->emit, &session);
}

static void run_end(struct run *run)
{
	assert_int_equal(emit_free(run->emit), 0);
	fclose(run->f);
}

static void test_live(void **state)
{
	struct emit_member members[DATA_THREADS];
	struct emit_session session = data_session();
	struct emit_options options = text_options;
	struct emit_episode e;
	struct report r;
	struct run run;

	(void)state;
	data_report(&r);
	options.verbose = true;
	run_begin(&run, &text_options);
	emit_session(run.emit, &session);
	data_episode(&e, &r.barriers[1], members);
	e.number = 1;
	emit_named(run.emit, &e);
	e.number = 1071;
	e.barrier = &r.barriers[0];
	emit_phase_time(run.emit, &e);
	emit_warning(run.emit, &e, 10000000);
	emit_watched(run.emit, &e);
	e.barrier = &r.barriers[2];
	e.state = MODEL_INCOMPLETE;
	e.why = MODEL_WHY_LOST | MODEL_WHY_COUNT;
	e.phase_ns = MODEL_UNKNOWN;
	e.nmembers = e.participants = 3;
	members[1].work_ns = MODEL_UNKNOWN;
	members[1].site = "spin lu.c:190";
	emit_watched(run.emit, &e);
	e.state = MODEL_AMBIGUOUS;
	e.why = MODEL_WHY_SWAP;
	emit_named(run.emit, &e);
	run_end(&run);
	check_golden("live", run.out);
	free(run.out);

	run_begin(&run, &options);
	run_end(&run);
	check_golden("probes", run.out);
	free(run.out);
	data_free(&r);
}

/* A thousand members: the first and the last of them, on one screen. */
static void test_crowd(void **state)
{
	struct emit_member *members = calloc(1000, sizeof(*members));
	struct emit_episode e;
	struct report r;
	struct run run;
	unsigned i, lines = 0;
	char *c;

	(void)state;
	data_report(&r);
	data_episode(&e, &r.barriers[0], members);
	for (i = DATA_THREADS; i < 1000; i++) {
		members[i] = members[DATA_THREADS - 1];
		members[i].index = i;
	}
	e.nmembers = e.participants = 1000;
	run_begin(&run, &text_options);
	emit_watched(run.emit, &e);
	run_end(&run);
	check_lines(run.out, 100);
	for (c = run.out; *c; c++)
		lines += *c == '\n';
	assert_in_range(lines, 16, 30);
	assert_non_null(strstr(run.out, "1,000 threads"));
	assert_non_null(strstr(run.out, " 999  4718"));
	free(run.out);
	free(members);
	data_free(&r);
}

static char *report_text(const struct emit_options *options, const struct report *r)
{
	struct run run;

	run_begin(&run, options);
	emit_report(run.emit, r);
	run_end(&run);
	return run.out;
}

static void test_report(void **state)
{
	struct report r;
	char *out;

	(void)state;
	data_report(&r);
	out = report_text(&text_options, &r);
	check_golden("report", out);
	free(out);
	data_free(&r);
}

static void test_ascii(void **state)
{
	struct emit_options options = text_options;
	struct report r;
	char *out, *c;

	(void)state;
	options.ascii = true;
	data_report(&r);
	out = report_text(&options, &r);
	for (c = out; *c; c++)
		assert_true((unsigned char)*c < 0x80);
	check_lines(out, 100);
	free(out);
	data_free(&r);
}

/* A thousand threads, forty barriers, three processes, records lost, tracing dear. */
static void make_large(struct report *r)
{
	struct report_thread *threads;
	struct report_barrier *b;
	unsigned i;

	data_report(r);
	threads = calloc(1000, sizeof(*threads));
	for (i = 0; i < 1000; i++)
		threads[i] = (struct report_thread){
			.tid = 5000 + i,
			.index = i,
			.comm = i % 2 ? "worker" : "a-name-of-15-ch",
			.crossings = 1023,
			.work_ns = i == 17 ? REPORT_UNKNOWN : 3000000000 + i * 1000003ULL,
			.wait_ns = 1100000000 - i * 1000003ULL,
			.idle_ns = 1107000000 - i * 1000003ULL,
			.wait_max_ns = 20000000 + i * 1000,
			.last = i > 990 ? i : 0,
			.last_share = i > 990 ? 0.1 : 0,
		};
	free(r->barriers[0].threads);
	r->barriers[0].threads = threads;
	r->barriers[0].nthreads = 1000;
	r->barriers[0].participants_min = 992;
	r->barriers[0].participants = 1000;
	r->barriers[0].last_tid = 5999;
	r->barriers[0].ambiguous = 2;
	r->barriers = realloc(r->barriers, 40 * sizeof(*b));
	for (i = 3; i < 40; i++) {
		b = &r->barriers[i];
		*b = r->barriers[1];
		snprintf(b->id, sizeof(b->id), "#%08x", 0x11111111 + i);
		b->pid = i % 2 ? 4711 : 4712;
		b->lost_ns = i < 20 ? 160000000 - i * 1000000 : 90000 - i;
		snprintf(b->label, sizeof(b->label),
			 "solver::detail::exchange_boundaries_with_all_neighbours<%u, double> "
			 "boundary_exchange_kernel.cpp:%u",
			 i, 100 + i);
	}
	r->nbarriers = 40;
	r->processes = realloc(r->processes, 3 * sizeof(*r->processes));
	r->processes[0].cost_share = 0.071;
	r->processes[0].cost_ns = 1600000000;
	for (i = 1; i < 3; i++) {
		r->processes[i] = r->processes[0];
		r->processes[i].pid += i;
		r->processes[i].members = NULL;
		r->processes[i].nmembers = 0;
		r->processes[i].efficiency = (struct report_efficiency){ NAN, NAN, NAN, NAN, NAN };
		r->processes[i].lost_static = r->processes[i].lost_rotating =
			r->processes[i].lost_transfer = NAN;
		r->processes[i].cost_ns = REPORT_UNKNOWN;
		r->processes[i].cost_share = NAN;
		r->processes[i].verdict[0] = r->processes[i].advice[0] = '\0';
	}
	r->nprocesses = 3;
	r->consumed = r->produced - 812;
	r->lost = 812;
	r->losses[0].count = 812;
	r->complete = false;
	r->ambiguous = 2;
	r->interim = true;
}

static void test_large(void **state)
{
	struct report r;
	char *out;

	(void)state;
	make_large(&r);
	out = report_text(&text_options, &r);
	assert_non_null(strstr(out, "INCOMPLETE"));
	assert_true(strlen(strrchr(out, 'I')) < 100);
	check_golden("large", out);
	free(out);
	r.losses[0].count = 0;
	data_free(&r);
}

static void test_nothing(void **state)
{
	struct report r = { .start_ns = DATA_START,
			    .end_ns = DATA_START + 1000000,
			    .crossing_cost_ns = NAN,
			    .tracer_cpu_ns = REPORT_UNKNOWN,
			    .complete = true };
	char *out;

	(void)state;
	out = report_text(&text_options, &r);
	check_golden("nothing", out);
	free(out);
}

static void test_hostile(void **state)
{
	struct emit_options options = text_options;
	struct report r;
	char path[4097];
	char *out;
	size_t len;

	(void)state;
	data_report(&r);
	data_hostile(&r, path);
	for (options.width = 1; options.width < 200; options.width += 33) {
		out = data_all(&options, &r, &len);
		assert_int_equal(len, strlen(out));
		check_lines(out, options.width < 40 ? 40 : options.width);
		free(out);
	}
	data_free(&r);
}

static void test_quiet(void **state)
{
	struct emit_options options = text_options;
	struct report r;
	char *all, *quiet;
	size_t len;

	(void)state;
	data_report(&r);
	options.quiet = true;
	quiet = data_all(&options, &r, &len);
	all = report_text(&text_options, &r);
	assert_string_equal(quiet, all);
	free(all);
	free(quiet);
	data_free(&r);
}

static void test_colour(void **state)
{
	struct emit_options options = text_options;
	struct report r;
	char *plain, *colour, *from, *to;

	(void)state;
	data_report(&r);
	options.colour = true;
	colour = report_text(&options, &r);
	assert_non_null(strstr(colour, "\033[1m"));
	for (from = to = colour; *from;) {
		if (*from == '\033')
			from = strchr(from, 'm') + 1;
		else
			*to++ = *from++;
	}
	*to = '\0';
	plain = report_text(&text_options, &r);
	assert_string_equal(colour, plain);
	free(plain);
	free(colour);
	data_free(&r);
}

static void test_time(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 µs" },
		{ 12345, "12.3 µs" },
		{ 999400, "999 µs" },
		{ 999600, "1.00 ms" },
		{ 999600000, "1.00 s" },
		{ 15651000000, "15.7 s" },
		{ 599400000000, "599 s" },
		{ 599600000000, "10 min 00 s" },
		{ 7199600000000, "2 h 00 min" },
		{ UINT64_MAX - 1, "5124095 h 34 min" },
		{ UINT64_MAX, "?" },
	};
	char s[TEXTOUT_CELL];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(textout_time(s, cases[i].ns), cases[i].text);
	assert_string_equal(textout_clock(s, 21727345999), "21.727345 s");
	assert_string_equal(textout_percent(s, 0.5), "50 %");
	assert_string_equal(textout_percent(s, 0.034), "3.4 %");
	assert_string_equal(textout_percent(s, 0), "0 %");
	assert_string_equal(textout_percent(s, NAN), "?");
	assert_string_equal(textout_count(s, 1234567), "1,234,567");
	assert_string_equal(textout_count(s, 100), "100");
}

static void test_fit(void **state)
{
	static const struct {
		const char *s;
		unsigned columns;
		const char *fit;
	} cases[] = {
		{ "abcdef", 6, "abcdef" }, { "abcdefg", 6, "a…defg" }, { "漢字漢字", 7, "漢…漢字" },
		{ "abc", 2, "ab" },	   { "a\nb", 10, "a\\x0ab" },
	};
	unsigned i;
	char *s;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s = textout_fit(cases[i].s, cases[i].columns);
		assert_string_equal(s, cases[i].fit);
		free(s);
	}
	assert_int_equal(textout_columns("é漢e\xcc\x81"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),	cmocka_unit_test(test_report),
		cmocka_unit_test(test_ascii),	cmocka_unit_test(test_large),
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_quiet),	cmocka_unit_test(test_colour),
		cmocka_unit_test(test_time),	cmocka_unit_test(test_fit),
		cmocka_unit_test(test_crowd),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
