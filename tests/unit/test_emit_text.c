// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check text output against golden files. */
#include <stdio.h>
#include <time.h>

#include "test_check.h"
#include "base/text.h"
#include "emit/table.h"
#include "emit/textout.h"
#include "test_emit_data.h"
#include "test_emit_golden.h"

static const struct emit_options text_options = { .format = EMIT_TEXT,
						  .detail = true,
						  .banner = true,
						  .realtime_offset_ns = 1795217495LL * 1000000000 };

struct run {
	char *out;
	size_t len;
	FILE *f;
	struct emit *emit;
};

static void run_begin(struct run *run, const struct emit_options *options)
{
	struct session session = data_session();

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
	struct observed_member members[DATA_THREADS];
	struct session session = data_session();
	struct emit_options options = text_options;
	struct observed_episode e;
	struct run run;
	struct report r CLEANUP(data_free) = data_new();

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
}

/*
 * Check a simple hang, a hang with 64 threads, a hang with unusual values, and the report that
 * includes them.
 */
static void test_hang(void **state)
{
	struct report_hang h CLEANUP(data_hang_free), crowd CLEANUP(data_hang_free);
	unsigned lines = 0;
	struct run run;
	char *c;
	struct report r CLEANUP(data_free) = data_new();

	data_hang(&h, 2);
	data_hang(&crowd, 60);
	run_begin(&run, &text_options);
	emit_hang(run.emit, &h);
	h.over = true;
	emit_hang(run.emit, &h);
	emit_hang(run.emit, &crowd);
	h.over = false;
	h.verdict = HANG_OUTSIDE;
	h.count = 0;
	h.waited_ns = h.arrived[0].waited_ns = MODEL_UNKNOWN;
	h.missing[0].state = HANG_RUNNING;
	h.missing[0].sampled = true;
	h.missing[0].blocked_on = h.missing[0].wchan = NULL;
	h.missing[1].blocked_on = "read() of a pipe";
	h.missing[1].index = HANG_NONE;
	h.missing[1].why = HANG_BY_PROCESS;
	h.file = NULL;
	strcpy(h.text, "outside: what a " DATA_HOSTILE " does");
	emit_hang(run.emit, &h);
	run_end(&run);
	check_golden("hang", run.out);
	for (c = run.out; *c; c++)
		lines += *c == '\n';
	assert_in_range(lines, 20, 60);
	free(run.out);

	/* In the final report the hang comes before all figures. */
	r.hangs = &crowd;
	r.nhangs = 1;
	run_begin(&run, &text_options);
	emit_report(run.emit, &r);
	run_end(&run);
	check_lines(run.out, 100);
	assert_says(run.out, "SBT HANG: lu_block (pid 4711) waited for 10.3 s until the end: ");
	assert_true(strstr(run.out, "SBT HANG") < strstr(run.out, "SBT report"));
	free(run.out);
	for (unsigned i = 0; i < 60; i++) {
		crowd.missing[i].tid = 77;
		data_frames(&crowd.missing[i], i % 2 ? "odd" : "even", 100 + i);
	}
	run_begin(&run, &text_options);
	emit_hang(run.emit, &crowd);
	run_end(&run);
	check_lines(run.out, 100);
	for (lines = 0, c = run.out; *c; c++)
		lines += *c == '\n';
	assert_in_range(lines, 10, 70);
	free(run.out);
}

/* Of a thousand members, only the first and the last are listed, with fewer details. */
static void test_thousand_members(void **state)
{
	struct observed_member *members CLEANUP_PTR(free) = calloc(1000, sizeof(*members));
	struct observed_episode e;
	struct run run;
	unsigned lines = 0;
	char *c;
	struct report r CLEANUP(data_free) = data_new();

	data_episode(&e, &r.barriers[0], members);
	for (unsigned i = DATA_THREADS; i < 1000; i++) {
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
	assert_in_range(lines, 16, 60);
	assert_fields(&run, HAS(out, "1,000 threads"), HAS(out, " 999  4718"));
	free(run.out);
}

static char *report_text(const struct emit_options *options, const struct report *r)
{
	struct run run;

	run_begin(&run, options);
	emit_report(run.emit, r);
	run_end(&run);
	return run.out;
}

/* With many threads, those that differ from the rest have their own rows, whatever their index. */
static void test_outliers(void **state)
{
	struct report_thread *threads CLEANUP_PTR(free) = calloc(1000, sizeof(*threads)), *had,
				      *members;
	struct report_counter *counters CLEANUP_PTR(free) = calloc(1000, sizeof(*counters));
	char *out, *at;
	struct report r CLEANUP(data_free) = data_new();

	had = r.barriers[0].threads;
	members = r.processes[0].members;
	for (unsigned i = 0; i < 1000; i++) {
		threads[i] = had[0];
		threads[i].tid = 5000 + i;
		threads[i].index = i;
		threads[i].work_ns = 500000000 + 1000 * (i % 100);
		threads[i].wait_ns = 400000000 - 1000 * (i % 100);
		threads[i].last = i >= 20 && i < 40;
		threads[i].ncounters = 1;
		counters[i] = (struct report_counter){ "page-faults", 100 + i % 4, 0, false, 0, 0 };
		threads[i].counters = &counters[i];
	}
	/* There are two late threads. The second is last no more often than any other thread. */
	threads[500].wait_ns = 1000;
	threads[500].work_ns = 900000000;
	threads[500].last = 0;
	counters[613].value = 7000;
	r.barriers[0].threads = threads;
	r.barriers[0].nthreads = 1000;
	r.processes[0].members = threads;
	r.processes[0].nmembers = 1000;
	r.processes[0].ncounters = 1;
	out = report_text(&text_options, &r);
	check_lines(out, 100);
	at = strstr(out, "another that is not like the rest:");
	assert_non_null(at);
	assert_says(at, " 5500  ");
	at = strstr(out, "COUNTERS of ");
	assert_non_null(at);
	at = strstr(at, " 5613  ");
	assert_non_null(at);
	assert_true(strstr(at, "7,000") < strstr(at, "\n"));
	assert_lacks(at, " 5614  ");
	free(out);
	/* No thread differs from the rest. */
	threads[500] = threads[499];
	threads[500].tid++;
	counters[613].value = 100;
	out = report_text(&text_options, &r);
	assert_lacks(out, "not like the rest:", " 5613  ");
	free(out);
	r.barriers[0].threads = had;
	r.barriers[0].nthreads = DATA_THREADS;
	r.processes[0].members = members;
	r.processes[0].nmembers = DATA_THREADS;
}

/* The cost for untraced processes is reported with the probes that cause the cost. */
static void test_cost_for_others(void **state)
{
	char *out CLEANUP_PTR(free);
	struct report r CLEANUP(data_free) = data_new();

	r.accounted = false;
	out = report_text(&text_options, &r);
	assert_lacks(out, "page fault of any process");
	free(out);
	r.accounted = true;
	out = report_text(&text_options, &r);
	assert_true(strstr(out, "COST OF TRACING") < strstr(out, "page fault of any process"));
	check_lines(out, 100);
}

/*
 * If threads follow each other in positions, the report says what the efficiencies refer to. With a
 * hang, it also says what they include.
 */
static void test_positions(void **state)
{
	char *out CLEANUP_PTR(free);
	struct report r CLEANUP(data_free) = data_new();

	out = report_text(&text_options, &r);
	assert_lacks(out, "at a time)");
	free(out);
	for (unsigned i = 0; i < r.nprocesses; i++) {
		r.processes[i].positions = 1;
		r.processes[i].hung = true;
	}
	out = report_text(&text_options, &r);
	check_lines(out, 100);
	assert_says(out, "threads (1 at a time), ");
	assert_lacks(out, "static imbalance", "rotating imbalance");
	assert_says(out, "hang counts");
}

/* Requested counters that have no table column are named above the tables. */
static void test_uncounted(void **state)
{
	struct report_uncounted uncounted[] = { { "cycles", "no PMU" },
						{ "\x1b[2J", "nosuch" },
						{ "branches", "no PMU" } };
	char *out CLEANUP_PTR(free), *at;
	struct report r CLEANUP(data_free) = data_new();

	out = report_text(&text_options, &r);
	assert_lacks(out, "Not counted");
	free(out);
	r.nuncounted = 3;
	r.uncounted = uncounted;
	out = report_text(&text_options, &r);
	at = strstr(out, "\nNot counted: cycles, branches: no PMU.\nNot counted: ");
	assert_non_null(at);
	assert_lacks(at + 60, "Not counted");
	assert_true(at < strstr(out, "BARRIERS"));
	assert_null(strchr(out, '\x1b'));
}

static void test_report(void **state)
{
	char *out CLEANUP_PTR(free);
	struct report r CLEANUP(data_free) = data_new();

	out = report_text(&text_options, &r);
	check_golden("report", out);
}

/*
 * Make a report in which every part of a thread's time has a value. It has more columns than fit on
 * a line, and counters that did not count.
 */
static void make_reasons(struct report *r)
{
	static const char *const names[MODEL_COUNTERS_MAX] = {
		"cycles:u",
		"instructions",
		"instructions:u",
		"L1-dcache-load-misses",
		"branch-misses",
		"page-faults",
		"cpu/event=0x3c,umask=0x01,name=a-long-one/",
		"r01c2",
	};
	struct report_barrier *b;
	struct report_counter *c;
	uint64_t work;

	data_report(r);
	b = &r->barriers[0];
	b = &r->barriers[0];
	for (unsigned i = 0; i < DATA_THREADS; i++) {
		work = b->threads[i].work_ns;
		b->threads[i].parts = (struct report_parts){
			.oncpu_ns = work / 2,
			.runq_ns = work / 10,
			.blocked_ns = { work / 11, work / 12, work / 13, work / 14, work / 15,
					work / 160 },
			.unattributed_ns = work / 150,
			.fault_ns = work / 9,
			.spin_ns = i * 30000000,
			.late_ns = 9000000,
		};
		free(b->threads[i].counters);
		b->threads[i].counters = c = calloc(MODEL_COUNTERS_MAX, sizeof(*c));
		b->threads[i].ncounters = MODEL_COUNTERS_MAX;
		for (unsigned k = 0; k < MODEL_COUNTERS_MAX; k++)
			c[k] = (struct report_counter){ names[k], work * 2 / (k * 100 + 1),
							0,	  k == 4,
							0,	  0 };
	}
	b->threads[3].parts = data_unknown();
	b->threads[3].counters[2].value = REPORT_UNKNOWN;
	b->threads[5].counters[0].value = b->threads[5].counters[2].value = 0;
	free(b->counters);
	b->counters = calloc(MODEL_COUNTERS_MAX, sizeof(*c));
	b->ncounters = MODEL_COUNTERS_MAX;
	for (unsigned k = 0; k < MODEL_COUNTERS_MAX; k++)
		b->counters[k] =
			(struct report_counter){ names[k], 9876543210 / (k + 1), 0, k == 4, 0, 0 };
	b->counters[2].value = REPORT_UNKNOWN;
	b->counters[2].least = 3123456;
	b->cause.nframes = 0;
	b->cause.frames = NULL;
	b->cause.nparts = 2;
	b->cause.parts[1] = (struct report_part){ "more work", -3 };
	b->delay_passed_ns = REPORT_UNKNOWN;
	r->nfindings = 1;
	r->processes[0].omp_load_balance = 0.91;
	r->processes[0].omp_scheduling = 0.75;
}

/* A number and its unit stay on one line, whatever the width is. */
static void test_quantities_whole(void **state)
{
	static const char text[] = "thread 0 waits 75 % of its time, thread 1 < 0.1 %. One costs "
				   "3.86 \xc2\xb5s, 12 ms, 7 s more or "
				   "1 min 05 s; 10 KiB of 20 bytes, and 4 shares (81 %), 5 minutes";
	/* Each of these texts stays on one line. */
	static const char *const whole[] = { "75 %",	 "< 0.1 %", "3.86 \xc2\xb5s", "12 ms",
					     "7 s",	 "1 min",   "05 s",	      "10 KiB",
					     "20 bytes", "81 %" };

	for (unsigned width = 14; width < 120; width++) {
		struct buf buf CLEANUP(buf_free) = { 0 };
		struct textout t = { .buf = &buf, .width = width };

		textout_wrap(&t, TEXTOUT_PLAIN, "  * ", 4, "%s", text);
		assert_false(buf.failed);
		for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
			if (!strstr(buf.s, whole[i]))
				fail_msg("%s in two at %u columns:\n%s", whole[i], width, buf.s);
	}
}

/*
 * If there is no other blank, the line is nevertheless broken between number and unit. A word that
 * only begins like a unit is not a unit.
 */
static void test_quantities_too_wide(void **state)
{
	struct buf buf CLEANUP(buf_free) = { 0 };
	struct textout t = { .buf = &buf, .width = 8 };

	textout_wrap(&t, TEXTOUT_PLAIN, "", 0, "%s", "1234567 ms");
	assert_string_equal(buf.s, "1234567\nms\n");
	buf_clear(&buf);
	textout_wrap(&t, TEXTOUT_PLAIN, "", 0, "%s", "ab 4 sheep");
	assert_string_equal(buf.s, "ab 4\nsheep\n");
}

static void test_reasons(void **state)
{
	struct report r CLEANUP(data_free);
	char *out CLEANUP_PTR(free);

	make_reasons(&r);
	out = report_text(&text_options, &r);
	check_golden("reasons", out);
	/*
	 * If there is only one part, there is no table of parts. Without findings about the machine
	 * there is no heading for them.
	 */
	assert_lacks(out, "part of lateness", "This machine");
}

/* Without accounted time and counters the report has no sentence about them, and shows no zeros. */
static void test_unaccounted(void **state)
{
	struct observed_member members[DATA_THREADS];
	static const char *const never[] = { "Why",	 "on CPU",    "time went", "ounted",
					     "COUNTERS", "by thread", "on a CPU",  "  at " };
	struct observed_episode e;
	struct run run;
	struct report r CLEANUP(data_free) = data_new();

	for (unsigned i = 0; i < DATA_THREADS; i++) {
		r.barriers[0].threads[i].parts = data_unknown();
		r.processes[0].members[i].parts = data_unknown();
		r.barriers[0].threads[i].ncounters = r.processes[0].members[i].ncounters = 0;
	}
	r.barriers[0].cause.nparts = 0;
	r.barriers[0].delay_direct_ns = REPORT_UNKNOWN;
	r.barriers[0].ncounters = r.processes[0].ncounters = r.nfindings = 0;
	r.processes[0].useful_oncpu = NAN;
	data_episode(&e, &r.barriers[0], members);
	for (unsigned i = 0; i < DATA_THREADS; i++) {
		members[i].parts = data_unknown();
		members[i].ncounters = 0;
	}
	e.ncounters = e.cause.nparts = 0;
	run_begin(&run, &text_options);
	emit_warning(run.emit, &e, 10);
	emit_watched(run.emit, &e);
	emit_report(run.emit, &r);
	run_end(&run);
	for (unsigned i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (strstr(run.out, never[i]))
			fail_msg("%s: %s", never[i], strstr(run.out, never[i]));
	free(run.out);
}

static void test_ascii(void **state)
{
	struct emit_options options = text_options;
	struct report r CLEANUP(data_free);
	char *out CLEANUP_PTR(free), *c;

	options.ascii = true;
	data_report(&r);
	out = report_text(&options, &r);
	for (c = out; *c; c++)
		assert_true((unsigned char)*c < 0x80);
	check_lines(out, 100);
}

/*
 * Make a report with a thousand threads, forty barriers, three processes, lost records, and
 * expensive tracing.
 */
static void make_large(struct report *r)
{
	struct report_thread *threads;
	struct report_barrier *b;

	data_report(r);
	threads = calloc(1000, sizeof(*threads));
	for (unsigned i = 0; i < 1000; i++)
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
			.parts = i == 17 ? data_unknown() : data_parts(3000000000 + i * 1000003ULL),
			.ncounters = DATA_COUNTERS,
			.counters = calloc(DATA_COUNTERS, sizeof(struct report_counter)),
		};
	for (unsigned i = 0; i < 1000; i++)
		data_counters(threads[i].counters, 3000000000 + i * 1000003ULL);
	threads[17].counters[1].value = REPORT_UNKNOWN;
	data_free_threads(r->barriers[0].threads, DATA_THREADS);
	r->barriers[0].threads = threads;
	r->barriers[0].nthreads = 1000;
	r->barriers[0].participants_min = 992;
	r->barriers[0].participants = 1000;
	r->barriers[0].last_tid = 5999;
	r->barriers[0].ambiguous = 2;
	r->barriers = realloc(r->barriers, 40 * sizeof(*b));
	for (unsigned i = 3; i < 40; i++) {
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
	for (unsigned i = 1; i < 3; i++) {
		r->processes[i] = r->processes[0];
		r->processes[i].pid += i;
		r->processes[i].members = NULL;
		r->processes[i].nmembers = 0;
		r->processes[i].counters = NULL;
		r->processes[i].ncounters = 0;
		r->processes[i].useful_oncpu = NAN;
		r->processes[i].efficiency = (struct report_efficiency){ NAN, NAN, NAN, NAN, NAN };
		r->processes[i].lost_static = r->processes[i].lost_rotating =
			r->processes[i].lost_transfer = NAN;
		r->processes[i].cost_ns = REPORT_UNKNOWN;
		r->processes[i].cost_share = NAN;
		r->processes[i].verdict[0] = r->processes[i].advice[0] = '\0';
	}
	r->processes[2].detached_ns = r->start_ns + 1250000000;
	r->processes[2].detached_cost = 0.071;
	r->processes[2].detached_limit = 0.05;
	r->ndetached = 1;
	r->ndetached_parts = 2;
	r->nprocesses = 3;
	r->consumed = r->produced - 812;
	r->lost = 812;
	r->losses[0].count = 812;
	r->complete = r->lossless = false;
	r->ambiguous = 2;
	r->interim = true;
}

static void test_large(void **state)
{
	struct report r CLEANUP(data_free);
	char *out;

	make_large(&r);
	out = report_text(&text_options, &r);
	assert_says(out, "INCOMPLETE");
	assert_true(strlen(strrchr(out, 'I')) < 100);
	check_golden("large", out);
	free(out);
	r.losses[0].count = 0;
}

/*
 * Not only crossings can be lost. The sum includes other losses, so the report does not call them
 * records.
 */
static void test_lost_beside(void **state)
{
	struct report r CLEANUP(data_free);
	char *out;

	make_large(&r);
	r.consumed = r.produced;
	r.lost = 0;
	r.losses[0].count = 0;
	r.losses[1].count = 4;
	out = report_text(&text_options, &r);
	assert_says(out, "No record lost, but not all was traced");
	assert_lacks(out, "No record lost: ", " 0 records lost");
	free(out);
	r.losses[1].count = 0;
}

static void test_nothing(void **state)
{
	struct report r = { .start_ns = DATA_START,
			    .end_ns = DATA_START + 1000000,
			    .crossing_cost_ns = NAN,
			    .switch_cost_ns = NAN,
			    .tracer_cpu_ns = REPORT_UNKNOWN,
			    .lossless = true,
			    .complete = true };
	char *out CLEANUP_PTR(free);

	out = report_text(&text_options, &r);
	check_golden("nothing", out);
}

static void test_hostile(void **state)
{
	struct emit_options options = text_options;
	char path[4097];
	char *out;
	size_t len;
	struct report r CLEANUP(data_free) = data_new();

	data_hostile(&r, path);
	for (options.width = 1; options.width < 200; options.width += 33) {
		out = data_all(&options, &r, &len);
		assert_int_equal(len, strlen(out));
		check_lines(out, options.width < 40 ? 40 : options.width);
		free(out);
	}
}

static void test_quiet(void **state)
{
	struct emit_options options = text_options;
	char *all CLEANUP_PTR(free), *quiet CLEANUP_PTR(free);
	size_t len;
	struct report r CLEANUP(data_free) = data_new();

	options.quiet = true;
	quiet = data_all(&options, &r, &len);
	all = report_text(&text_options, &r);
	assert_string_equal(quiet, all);
}

static void test_colour(void **state)
{
	struct emit_options options = text_options;
	char *plain CLEANUP_PTR(free), *colour CLEANUP_PTR(free), *from, *to;
	struct report r CLEANUP(data_free) = data_new();

	options.colour = true;
	colour = report_text(&options, &r);
	assert_says(colour, "\033[1m");
	for (from = to = colour; *from;) {
		if (*from == '\033')
			from = strchr(from, 'm') + 1;
		else
			*to++ = *from++;
	}
	*to = '\0';
	plain = report_text(&text_options, &r);
	assert_string_equal(colour, plain);
}

/* All digits equal those of printf(), also near a tie. */
static void test_decimal(void **state)
{
	static const double near[] = { 0,      0.5,   1.5,   0.0005, 0.0015,
				       1.0005, 2.675, 9.995, 99.95,  999.5 };
	char s[TEXTOUT_CELL], expected[TEXTOUT_CELL];
	uint64_t seed = 1;
	double v;

	for (size_t i = 0; i < 200000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		v = i < sizeof(near) / sizeof(near[0])
			    ? near[i]
			    : (double)(seed >> 33) / (double)(1u << seed % 30);
		for (int d = 0; d <= 3; d++) {
			textout_decimal(s, v, d, "ms");
			snprintf(expected, sizeof(expected), "%.*f ms", d, v);
			assert_string_equal(s, expected);
		}
	}
	textout_decimal(s, 1e18, 3, "s");
	assert_string_equal(s, "1000000000000000000.000 s");
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

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
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
		{ "abcdef", 6, "abcdef" },
		{ "abcdefg", 6, "a…defg" },
		{ "漢字漢字", 7, "漢…漢字" },
		{ "abc", 2, "ab" },
		{ "a\nb", 10, "a\\x0ab" },
		/* Names lose scopes, and the functions around them, before words are cut. */
		{ "app::Team::meet a.cc:12", 23, "app::Team::meet a.cc:12" },
		{ "app::Team::meet a.cc:12", 22, "…Team::meet a.cc:12" },
		{ "app::Team::meet a.cc:12", 18, "…meet a.cc:12" },
		{ "q1::main::{{closure}} q.rs:7", 22, "…{{closure}} q.rs:7" },
		{ "main::{lambda} in app::run<>::{lambda} a.cc:16", 24, "main::{lambda}… a.cc:16" },
		{ "sim::main::{lambda} in app::run() a.cc:16", 24, "…main::{lambda}… a.cc:16" },
		{ "meet in app::run() a.cc:16", 20, "meet… a.cc:16" },
		{ "app::f(a::b, c)", 13, "…f(a::b, c)" },
		/* No name of a function. */
		{ "/tmp/a::b/file.c:12", 12, "/tm…ile.c:12" },
	};
	char *s;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s = textout_fit(cases[i].s, cases[i].columns);
		assert_string_equal(s, cases[i].fit);
		free(s);
	}
	assert_int_equal(textout_columns("é漢e\xcc\x81"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_uncounted),
		cmocka_unit_test(test_cost_for_others),
		cmocka_unit_test(test_outliers),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_lost_beside),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_colour),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_decimal),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_thousand_members),
		cmocka_unit_test(test_quantities_whole),
		cmocka_unit_test(test_quantities_too_wide),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_unaccounted),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
