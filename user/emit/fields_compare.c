// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The list of fields: the records of diff. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/compare.h"
#include "base/function_name.h"
#include "emit/compare.h"
#include "emit/fields_internal.h"

/* --- cells ------------------------------------------------------------------------------------ */

static void cell_quantity(const void *rec, char *out, size_t size)
{
	const struct compare_row *r = rec;
	size_t n = strlen(r->quantity);

	if (r->function) {
		snprintf(out, size, "in %s%s", r->function, function_name_call(r->function));
		return;
	}
	/* The cells show the unit, so leave it out of the name. */
	if (!r->counter && n > 3 && !strcmp(r->quantity + n - 3, "_ns"))
		n -= 3;
	snprintf(out, size, "%.*s", (int)n, r->quantity);
}

static void cell_a(const void *rec, char *out, size_t size)
{
	const struct compare_row *r = rec;

	(void)size;
	compare_value(out, r->a, r->unit);
}

static void cell_b(const void *rec, char *out, size_t size)
{
	const struct compare_row *r = rec;

	(void)size;
	compare_value(out, r->b, r->unit);
}

static void cell_change(const void *rec, char *out, size_t size)
{
	(void)size;
	compare_percent(out, ((const struct compare_row *)rec)->ratio);
}

/* Write the confidence interval of the difference in per cent of A, like the change. */
static void cell_interval(const void *rec, char *out, size_t size)
{
	const struct compare_row *r = rec;
	double low = r->low / r->a * 100, high = r->high / r->a * 100;
	int decimals = high - low < 9.95 ? 1 : 0;

	*out = '\0';
	/*
	 * Print nothing for an unknown interval, and only "wide" for an interval that is too wide
	 * to be useful. This can happen with only two recordings.
	 */
	if (!isfinite(low) || !isfinite(high) || !(r->a > 0) || low == high)
		return;
	if (high - low > 2000)
		snprintf(out, size, "wide");
	else
		snprintf(out, size, "%+.*f to %+.*f %%", decimals, low, decimals, high);
}

static void cell_p(const void *rec, char *out, size_t size)
{
	double p = ((const struct compare_row *)rec)->p_holm;

	if (isnan(p))
		*out = '\0';
	else if (p < 0.0005)
		snprintf(out, size, "<0.001");
	else
		snprintf(out, size, "%.3f", p);
}

static void cell_verdict(const void *rec, char *out, size_t size)
{
	static const char *const changes[] = { "noise", "worse", "better", "more", "less" };
	const struct compare_row *r = rec;
	const char *s = changes[r->change];

	if (r->only != COMPARE_BOTH)
		s = r->only == COMPARE_ONLY_A ? "only in A" : "only in B";
	else if (r->regression == 1)
		s = "REGRESSION";
	else if (r->significant > 1)
		s = "?";
	else if (r->difference == 0)
		s = "same";
	snprintf(out, size, "%s", s);
}

/* clang-format off */

/* --- comparison ------------------------------------------------------------------------------- */

#define IN(m) AT(compare_input, m)
static const struct emit_field input_fields[] = {
	{ "file", EMIT_STRING, IN(file), .help = "path of the recording" },
	{ "complete", EMIT_BOOL, IN(complete), .help = "true: the recording lost no records" },
	{ "shed", EMIT_BOOL, IN(detached),
	  .help = "true: a process was not traced to its end because of --cost-limit, so the sums "
		  "of this process are unknown" },
	{ "shed_parts", EMIT_BOOL, IN(detached_parts),
	  .help = "true: some barriers of a process were not traced to the end because of "
		  "--cost-limit, so the sums of these barriers, and sums over all barriers, are "
		  "unknown" },
	END
};
static const struct emit_record rec_a = {
	"a", sizeof(struct compare_input), input_fields, "One recording of side A"
};
static const struct emit_record rec_b = {
	"b", sizeof(struct compare_input), input_fields, "One recording of side B"
};

#define CV VIA(fields_comparison, compare)
#define CM(m) CV, AT(compare, m)
static const struct emit_field comparison_fields[] = {
	{ "a", EMIT_ARRAY, LIST(fields_comparison, a, na), .sub = &rec_a,
	  .help = "recordings of side A" },
	{ "b", EMIT_ARRAY, LIST(fields_comparison, b, nb), .sub = &rec_b,
	  .help = "recordings of side B" },
	{ "elapsed_a", EMIT_DOUBLE, CM(a.elapsed_ns),
	  .help = "mean elapsed time of A's runs, in ns" },
	{ "elapsed_b", EMIT_DOUBLE, CM(b.elapsed_ns),
	  .help = "mean elapsed time of B's runs, in ns" },
	{ "confidence", EMIT_RATIO, CM(confidence),
	  .help = "confidence level of the tests and intervals" },
	{ "fail_above", EMIT_DOUBLE, CM(fail_above),
	  .help = "limit of --fail-above: share by which a value may become worse; null: no limit "
		  "was given" },
	{ "differences", EMIT_U32, CM(nrows),
	  .help = "number of records of type difference that follow" },
	{ "tested", EMIT_U32, CM(tested), .help = "number of differences that were tested" },
	{ "significant_count", EMIT_U32, CM(significant),
	  .help = "number of tested differences that are significant" },
	{ "regressions", EMIT_U32, CM(regressions),
	  .help = "number of values that are worse by more than fail_above, with statistical "
		  "significance" },
	{ "suspects", EMIT_U32, CM(suspects),
	  .help = "number of values that are worse by more than fail_above, but without "
		  "statistical significance" },
	{ "moved", EMIT_U32, CM(moved),
	  .help = "number of call sites that were not matched by their id" },
	{ "only_a", EMIT_U32, CM(only_a), .help = "number of call sites that exist only in A" },
	{ "only_b", EMIT_U32, CM(only_b), .help = "number of call sites that exist only in B" },
	END
};
const struct emit_record fields_rec_comparison = {
	"comparison", sizeof(struct fields_comparison), comparison_fields,
	"sbt-trace diff: the inputs and the result"
};

/* --- difference ------------------------------------------------------------------------------- */

static const struct emit_names scopes[] = {
	{ COMPARE_RUN, "run", NULL }, { COMPARE_GROUP, "group", NULL },
	{ COMPARE_PROCESS, "process", NULL }, { COMPARE_BARRIER, "barrier", NULL },
	{ 0, NULL, NULL },
};

static const struct emit_names hows[] = {
	{ EPISODE_MATCH_ID, "id", NULL }, { EPISODE_MATCH_NAME, "name", NULL },
	{ EPISODE_MATCH_PLACE, "place", NULL }, { EPISODE_MATCH_FUNCTION, "function", NULL },
	{ 0, NULL, NULL },
};

static const struct emit_names sides[] = {
	{ COMPARE_ONLY_A, "a", NULL }, { COMPARE_ONLY_B, "b", NULL }, { 0, NULL, NULL },
};

static const struct emit_names units[] = {
	{ COMPARE_NS, "ns", NULL }, { COMPARE_RATIO, "ratio", NULL },
	{ COMPARE_COUNT, "count", NULL }, { 0, NULL, NULL },
};

static const struct emit_names tests[] = {
	{ COMPARE_WELCH, "welch", NULL }, { COMPARE_SINGLE, "single", NULL },
	{ COMPARE_EPISODES, "episodes", NULL }, { 0, NULL, NULL },
};

static const struct emit_names changes[] = {
	{ COMPARE_WORSE, "worse", NULL }, { COMPARE_BETTER, "better", NULL },
	{ COMPARE_MORE, "more", NULL }, { COMPARE_LESS, "less", NULL }, { 0, NULL, NULL },
};

#define R(m) AT(compare_row, m)
static const struct emit_field difference_fields[] = {
	{ "scope", EMIT_ENUM, R(scope), .names = scopes,
	  .help = "what the quantity belongs to: run, group, process or barrier" },
	{ "barrier", EMIT_STRING, R(id),
	  .help = "id of the barrier in A, or, if the barrier exists only in B, its id in B; null: "
		  "the record is not about a barrier" },
	{ "barrier_b", EMIT_STRING, R(id_b),
	  .help = "id of the barrier in B, if it differs from the id in A" },
	{ "label", EMIT_STRING, R(label), .heading = "where", .look = EMIT_NAME,
	  .help = "label of the barrier, process, group or run in text output" },
	{ "matched", EMIT_ENUM, R(how), .names = hows,
	  .help = "how the barriers of A and B were matched: by id, name, place (function, file "
		  "and line) or function (order in the function)" },
	{ "only", EMIT_ENUM, R(only), .names = sides,
	  .help = "a: exists only in A; b: exists only in B; null: exists in both" },
	{ "pid_a", EMIT_U32, R(pid_a),
	  .help = "process id in A, in its first recording that contains the process" },
	{ "pid_b", EMIT_U32, R(pid_b),
	  .help = "process id in B, in its first recording that contains the process" },
	{ "comm", EMIT_STRING, R(comm), .help = "name of the process" },
	{ "quantity", EMIT_STRING, R(quantity), .heading = "quantity", .look = EMIT_ID,
	  .cell = cell_quantity,
	  .help = "name of the quantity: phase_ns, barrier_ns, lost_ns or release_ns (sums over "
		  "a run), elapsed_ns, an efficiency, episodes, nthreads, function_ns (time on a "
		  "CPU in `function`), or a counter" },
	{ "function", EMIT_STRING, R(function),
	  .help = "quantity function_ns: the function; the values are estimated from samples, and "
		  "summed over all threads; null: other quantities" },
	{ "counter", EMIT_BOOL, R(counter), .help = "true: the quantity is a counter" },
	{ "unit", EMIT_ENUM, R(unit), .names = units,
	  .help = "unit of the quantity: ns, ratio or count" },
	{ "a", EMIT_DOUBLE, R(a), .heading = "A", .look = EMIT_NUMBER, .cell = cell_a,
	  .help = "value of A: the mean over A's recordings in which the value is known" },
	{ "b", EMIT_DOUBLE, R(b), .heading = "B", .look = EMIT_NUMBER, .cell = cell_b,
	  .help = "value of B: the mean over B's recordings in which the value is known" },
	{ "difference", EMIT_DOUBLE, R(difference), .help = "value of B minus value of A" },
	{ "ratio", EMIT_DOUBLE, R(ratio), .heading = "change", .look = EMIT_NUMBER,
	  .cell = cell_change, .help = "value of B divided by value of A" },
	{ "significant", EMIT_MAYBE, R(significant),
	  .help = "true: the difference is larger than the noise (p_adjusted is below 1 - "
		  "confidence); null: not tested" },
	{ "low", EMIT_DOUBLE, R(low), .heading = "interval", .look = EMIT_NUMBER,
	  .cell = cell_interval, .help = "lower end of the confidence interval of the difference" },
	{ "high", EMIT_DOUBLE, R(high),
	  .help = "upper end of the confidence interval of the difference" },
	{ "p", EMIT_DOUBLE, R(p),
	  .help = "two-sided p value of this test, not adjusted for the number of tests" },
	{ "p_adjusted", EMIT_DOUBLE, R(p_holm), .heading = "p", .look = EMIT_NUMBER, .cell = cell_p,
	  .help = "p value, adjusted by Holm's method for the number of tests of this quantity in "
		  "this scope" },
	{ "t", EMIT_DOUBLE, R(t),
	  .help = "t statistic of the test; null: not tested, or no value varies" },
	{ "df", EMIT_DOUBLE, R(df), .help = "degrees of freedom of the test" },
	{ "test", EMIT_ENUM, R(test), .names = tests,
	  .help = "test that was made: welch (several recordings on each side), single (one "
		  "recording on one side) or episodes (one recording on each side: parts of the "
		  "runs are compared, so differences between runs are not seen); null: not "
		  "tested" },
	{ "runs_a", EMIT_U32, R(runs_a),
	  .help = "number of A's recordings in which the value is known" },
	{ "runs_b", EMIT_U32, R(runs_b),
	  .help = "number of B's recordings in which the value is known" },
	{ "stddev_a", EMIT_DOUBLE, R(stddev_a),
	  .help = "sample standard deviation of the value over A's recordings" },
	{ "stddev_b", EMIT_DOUBLE, R(stddev_b),
	  .help = "sample standard deviation of the value over B's recordings" },
	{ "change", EMIT_ENUM, R(change), .names = changes, .heading = "", .look = EMIT_ID,
	  .cell = cell_verdict,
	  .help = "direction of a significant difference: worse or better; for quantities that are "
		  "neither good nor bad, more or less" },
	{ "regression", EMIT_MAYBE, R(regression),
	  .help = "true: the value is worse by more than fail_above, with statistical "
		  "significance; null: --fail-above does not test this value" },
	{ "p_worse", EMIT_DOUBLE, R(p_worse),
	  .help = "one-sided p value of the hypothesis that the value is not worse by more than "
		  "fail_above, adjusted by Holm's method for the number of values that "
		  "--fail-above tests" },
	END
};
const struct emit_record fields_rec_difference = {
	"difference", sizeof(struct compare_row), difference_fields,
	"sbt-trace diff: one quantity in A and in B, at one barrier or in one process, group or run"
};

const struct emit_record *const fields_of_diff[] = {
	&fields_rec_comparison, &fields_rec_difference, NULL,
};
/* clang-format on */
