// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Test the first screen of the report: its limit of lines, and what it must never leave out. */
#include <stdio.h>

#include "test_check.h"
#include "base/array.h"
#include "emit/first_screen.h"
#include "test_emit_data.h"
#include "test_emit_golden.h"

#define MANY 200 /* barriers, remarks, processes */

static char *print(const struct report *r, unsigned width)
{
	const struct emit_options options = { .format = EMIT_TEXT, .width = width };
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *e = emit_new(f, &options);

	emit_report(e, r);
	assert_int_equal(emit_free(e), 0);
	fclose(f);
	return out;
}

static unsigned count_lines(const char *out)
{
	unsigned n = 0;

	for (; *out; out++)
		n += *out == '\n';
	return n;
}

/* Check the limit and the properties of all text at several widths. */
static void check_screen(const struct report *r, const char *must)
{
	static const unsigned widths[] = { 60, 80, 100, 120, 200 };

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		char *out = print(r, widths[i]);

		check_lines(out, widths[i]);
		if (count_lines(out) > FIRST_SCREEN_LINES)
			fail_msg("%u columns, %u lines:\n%s", widths[i], count_lines(out), out);
		if (must)
			assert_says(out, must);
		assert_says(out, "SBT report: ");
		free(out);
	}
}

/* Return a report in which the same thread is always late, for a known reason. */
static struct report late(void)
{
	struct report r = data_new();

	r.barriers[0].pattern = REPORT_STATIC;
	r.barriers[0].last_known = true;
	r.barriers[0].last_index = 7;
	r.processes[0].wait_share = 0.34;
	r.barriers[0].gain_ns = r.barriers[0].lost_ns / 8;
	return r;
}

static void test_report(void **state)
{
	struct report r CLEANUP(data_free) = late();
	char *out CLEANUP_PTR(free) = print(&r, 100);

	golden_check("", "first_screen", out);
	check_screen(&r, NULL);
}

/* The answer, the late thread, the reason, the advice and the gain are in the first screen. */
static void test_answers(void **state)
{
	struct report r CLEANUP(data_free) = late();
	char *out CLEANUP_PTR(free) = print(&r, 1000);

	assert_says(out, r.barriers[0].label, r.barriers[0].cause.text, r.barriers[0].advice,
		    "gain up to ", "arrives last in ", "Efficiency 0.66");
	/* Each of these is stated once. */
	assert_null(strstr(strstr(out, "0.66") + 1, "0.66"));
	assert_lacks(out, "SBT options");
}

/* On a narrow terminal, columns of the table are left out, and no number or heading is cut. */
static void test_narrow(void **state)
{
	static const unsigned widths[] = { 50, 60, 72, 80 };
	struct report r CLEANUP(data_free) = late();

	r.processes[0].verdict[0] = '\0';
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		char *out = print(&r, widths[i]), *table = strstr(out, "BARRIERS by lost time");

		assert_non_null(table);
		check_lines(out, widths[i]);
		assert_says(table, "barrier ", " lost  share  last most often");
		for (const char *cut = table; (cut = strstr(cut, "…")); cut++)
			if (cut[-1] >= '0' && cut[-1] <= '9')
				fail_msg("%u columns: a number is cut:\n%s", widths[i], out);
		assert_says(table, "Efficiency 0.66", "serialisation", "transfer", "--detail");
		free(out);
	}
}

/* Gains say what they assume, and together they fit into the time that the work leaves. */
static void test_gains(void **state)
{
	struct report r CLEANUP(data_free) = late();
	struct report_process *p = &r.processes[0];
	struct report_finding pinned = { .kind = "pinned",
					 .pid = p->pid,
					 .text = "Threads 0 and 1 may run on CPU 0 only.",
					 .advice = "Use no more than 4 threads." };
	struct report_finding *had = r.findings;
	uint32_t n = r.nfindings;
	uint64_t gain;
	char *out;

	r.findings = &pinned;
	r.nfindings = 1;
	r.nbarriers = 1;
	p->elapsed_ns = 4 * report_gain(&r.barriers[0]);
	array_for_each (m, p->members, p->nmembers) {
		memset(&m->parts, 0xff, sizeof(m->parts));
		m->parts.runq_ns = report_gain(&r.barriers[0]) / 2;
	}
	out = print(&r, 1000);
	assert_says(out, "(25 %) without the extra waits for this lock.",
		    "(12 %) if these threads may use all CPUs.", "-> Use no more than 4 threads.");
	free(out);
	/* The work on CPUs leaves time for a part of the second gain only, or for none. */
	gain = report_gain(&r.barriers[0]);
	r.ncpus = 1;
	p->members[0].parts.oncpu_ns = p->elapsed_ns - gain - gain / 4;
	out = print(&r, 1000);
	assert_says(out, "(25 %) without the extra waits for this lock.", " more of ",
		    "(6.2 %) if these");
	free(out);
	p->members[0].parts.oncpu_ns = p->elapsed_ns - gain;
	out = print(&r, 1000);
	assert_says(out, "The gain is a part of the gain above.");
	free(out);
	/* Not even the first gain fits. */
	p->members[0].parts.oncpu_ns = p->elapsed_ns - gain / 2;
	out = print(&r, 1000);
	assert_says(out, "(12 %) without the extra waits for this lock.");
	free(out);
	/* One thread is not known to be late: the sentence has its own subject. */
	r.barriers[0].last_share = 0.1;
	r.barriers[0].pattern = REPORT_MIXED_LOSS;
	out = print(&r, 1000);
	assert_says(out, "The last thread was late mostly because it waited for the lock");
	free(out);
	r.findings = had;
	r.nfindings = n;
}

static void test_hostile(void **state)
{
	char path[4097];
	struct report r CLEANUP(data_free) = data_new();

	data_hostile(&r, path);
	check_screen(&r, NULL);
}

/* Fill @r with as much as possible of everything that the first screen shows. */
static void crowd(struct report *r, struct report_barrier *barriers, struct remark *remarks,
		  struct report_finding *findings, struct report_conceptual *phases,
		  struct report_hang *hangs)
{
	static const char *const kinds[] = { "oversubscribed", "spinning",    "pinned",
					     "migrating",      "slow_cpu",    "throttled",
					     "cost_limit",     "untraced",    "counted_from",
					     "tasks",	       "site_unknown" };
	static struct report_uncounted uncounted[MANY];

	for (unsigned i = 0; i < MANY; i++) {
		barriers[i] = r->barriers[0];
		snprintf(barriers[i].label, sizeof(barriers[i].label),
			 "a_very_long_name_of_a_"
			 "template_function_with_many_arguments_and_namespaces::instance<%u>"
			 "::operator() const at_a_long_file_name_of_a_generated_file.cpp:%u",
			 i, i);
		memset(barriers[i].cause.text, 'w', sizeof(barriers[i].cause.text) - 1);
		memset(barriers[i].advice, 'a', sizeof(barriers[i].advice) - 1);
		remarks[i] = (struct remark){ "spinning_code", 4711,
					      "process 4711 does something that no probe could "
					      "trace, and this sentence about it does not end "
					      "before it has filled several lines of a "
					      "terminal, which remarks often do" };
		findings[i] = (struct report_finding){ .kind = kinds[i % 11],
						       .pid = i % 3 ? 4711 : 0,
						       .figure = 0.5 };
		memset(findings[i].text, 'f', sizeof(findings[i].text) - 1);
		phases[i] = (struct report_conceptual){ .name = "a phase that the user named",
							.occurrences = 3,
							.share = 0.5,
							.lost_ns = 1000 };
		data_hang(&hangs[i], 1);
		data_hang_free(&hangs[i]);
		hangs[i].narrived = hangs[i].nmissing = hangs[i].ncycle = 0;
		memset(hangs[i].text, 'h', sizeof(hangs[i].text) - 1);
		uncounted[i] = (struct report_uncounted){ "no-such-counter",
							  "this machine does not have it" };
	}
	r->nbarriers = r->nremarks = r->nfindings = r->nconceptuals = r->nhangs = MANY;
	r->nuncounted = MANY;
	r->remarks = remarks;
	r->findings = findings;
	r->conceptuals = phases;
	r->hangs = hangs;
	r->uncounted = uncounted;
	r->lossless = r->complete = false;
	r->lost = 1234567;
	r->cut = r->aggregate = r->waits_unseen = true;
	r->left_out = "gomp, libomp, mpi, std, user, cond, futex and forkjoin";
	r->ndetached = r->ndetached_parts = r->ntasks = r->nuntraced = 7;
	r->unmet = r->arrivals_unseen = r->incomplete = r->ambiguous = 1000000;
	r->extent.window = true;
	r->extent.to_ns = 5;
	for (uint32_t i = 0; i < r->nprocesses; i++) {
		struct report_process *p = &r->processes[i];

		p->cost_share = 0.9;
		p->untraced = "MPI_Recv, MPI_Send, MPI_Wait, MPI_Bcast and 20 more";
		p->lost = p->abandoned = p->paused_ns = 1000000;
		memset(p->verdict, 'v', sizeof(p->verdict) - 1);
		memset(p->advice, 'a', sizeof(p->advice) - 1);
	}
}

/* The same with threads that crossed no barrier, and have long names and many wakers. */
static void check_activities(struct report *r)
{
	static char name[256];
	struct report_waker by[8] = { { .tid = 4000000, .waits = 1000000 } };
	struct report_woken woken = {
		.where.function = name, .waits = 1000000, .wait_ns = 2000000000, .nby = 8, .by = by
	};
	struct report_activity_function f = { { .function = name, .file = "/a.c", .line = 7 }, 1 };
	struct report_activity all[3];

	memset(name, 'f', sizeof(name) - 1);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		all[i] = (struct report_activity){ .comm = "prog",
						   .tid = 4000001,
						   .elapsed_ns = 3000000000,
						   .samples = 100,
						   .functions = &f,
						   .nfunctions = 1,
						   .wait_ns = 2000000000,
						   .wait_reason = MODEL_BLOCKED_IO,
						   .nframes = 1,
						   .frames = &woken.where,
						   .nwoken = 1,
						   .woken = &woken,
						   .partners = 7 };
	r->activities = all;
	r->nactivities = 3;
	check_screen(r, "INCOMPLETE: the recording ends before");
	r->activities = NULL;
	r->nactivities = 0;
}

/* With everything at once, the limit holds, and the loss is shown. */
static void test_crowd(void **state)
{
	struct report_barrier *barriers CLEANUP_PTR(free) = calloc(MANY, sizeof(*barriers)), *had;
	struct remark *remarks CLEANUP_PTR(free) = calloc(MANY, sizeof(*remarks));
	struct report_finding *findings CLEANUP_PTR(free) = calloc(MANY, sizeof(*findings));
	struct report_conceptual *phases CLEANUP_PTR(free) = calloc(MANY, sizeof(*phases));
	struct report_hang *hangs CLEANUP_PTR(free) = calloc(MANY, sizeof(*hangs));
	struct report r CLEANUP(data_free) = late();
	uint32_t n = r.nbarriers;

	crowd(&r, barriers, remarks, findings, phases, hangs);
	had = r.barriers;
	r.barriers = barriers;
	r.cut = false;
	check_screen(&r, "INCOMPLETE: 1,234,567 records lost");
	r.nhangs = 0;
	check_screen(&r, "INCOMPLETE: 1,234,567 records lost");
	r.cut = true;
	check_screen(&r, "INCOMPLETE: the recording ends before");
	r.nprocesses = 0;
	r.nbarriers = 0;
	check_screen(&r, "INCOMPLETE: the recording ends before");
	check_activities(&r);
	r.nprocesses = 1;
	r.barriers = had;
	r.nbarriers = n;
	r.nconceptuals = 0;
	r.conceptuals = NULL;
}

/* At most ten barriers have a row. The others are counted. */
static void test_many_barriers(void **state)
{
	struct report_barrier *barriers CLEANUP_PTR(free) = calloc(MANY, sizeof(*barriers)), *had;
	struct report r CLEANUP(data_free) = data_new();
	uint32_t n = r.nbarriers;
	char *out CLEANUP_PTR(free);

	had = r.barriers;
	for (unsigned i = 0; i < MANY; i++) {
		barriers[i] = r.barriers[0];
		barriers[i].pattern = REPORT_BALANCED;
	}
	r.barriers = barriers;
	r.nbarriers = MANY;
	r.nfindings = 0;
	out = print(&r, 100);
	assert_says(out, "and 190 more barriers, which lost ");
	check_screen(&r, NULL);
	r.barriers = had;
	r.nbarriers = n;
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
	char *out CLEANUP_PTR(free) = print(&r, 100);

	assert_says(out, "SBT report: no thread crossed a barrier in 1.00 ms.", "No record lost.");
	check_screen(&r, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),	      cmocka_unit_test(test_answers),
		cmocka_unit_test(test_narrow),	      cmocka_unit_test(test_gains),
		cmocka_unit_test(test_hostile),	      cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_many_barriers), cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
