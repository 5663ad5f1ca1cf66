// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/function_name.h"
#include "base/array.h"
#include "compare/compare.h"
#include "emit/table.h"

#define PLACES	  20 /* largest number of call sites in the table */
#define FILES	  8 /* largest number of files listed per side */
#define FUNCTIONS 3 /* largest number of functions that are named in sentences */

/* --- values ----------------------------------------------------------------------------------- */

static const char *count_value(char out[TEXTOUT_CELL], double v)
{
	static const char *const units[] = { "", " k", " M", " G", " T", " P" };
	unsigned u = 0;

	/*
	 * Print all digits before the point if the number is below a million, otherwise three
	 * digits.
	 */
	if (v < 999999.5) {
		snprintf(out, TEXTOUT_CELL, v < 99.95 && v != floor(v) ? "%.1f" : "%.0f", v);
		return out;
	}
	while (v >= 999.5 && u + 1 < sizeof(units) / sizeof(units[0])) {
		v /= 1000;
		u++;
	}
	snprintf(out, TEXTOUT_CELL, "%.*f%s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[u]);
	return out;
}

const char *compare_value(char out[TEXTOUT_CELL], double v, enum compare_unit unit)
{
	if (!(v >= 0 && (v < 0x1p63 || unit != COMPARE_NS)))
		snprintf(out, TEXTOUT_CELL, "?");
	else if (unit == COMPARE_NS)
		textout_time(out, (uint64_t)llround(v));
	else if (unit == COMPARE_RATIO)
		textout_fraction(out, v);
	else
		count_value(out, v);
	return out;
}

const char *compare_percent(char out[TEXTOUT_CELL], double ratio)
{
	double p = (ratio - 1) * 100;

	if (!isfinite(p))
		snprintf(out, TEXTOUT_CELL, "?");
	else if (p > 999.5)
		snprintf(out, TEXTOUT_CELL, "x %.3g", ratio);
	else if (fabs(p) < 0.05)
		snprintf(out, TEXTOUT_CELL, ratio == 1 ? "0 %%" : "0.0 %%");
	else
		snprintf(out, TEXTOUT_CELL, "%+.*f %%", fabs(p) < 9.95 ? 1 : 0, p);
	return out;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* Return the only row of the whole run, which compares the elapsed times. */
static const struct compare_row *find_run(const struct compare *c)
{
	array_for_each (r, c->rows, c->nrows)
		if (r->scope == COMPARE_RUN)
			return r;
	return NULL;
}

static const char *proof_of(const struct compare_row *run)
{
	switch (run->significant) {
	case 0:
		return "not more than noise";
	case 1:
		return "more than noise";
	default:
		return "with one recording per side, only call sites can be tested";
	}
}

static void print_headline(struct textout *t, const struct compare *c)
{
	const struct compare_row *run = find_run(c);
	char a[TEXTOUT_CELL], b[TEXTOUT_CELL], change[TEXTOUT_CELL];
	double ratio = c->b.elapsed_ns / c->a.elapsed_ns;

	compare_value(a, c->a.elapsed_ns, COMPARE_NS);
	compare_value(b, c->b.elapsed_ns, COMPARE_NS);
	if (!isfinite(ratio)) {
		textout_line(t, TEXTOUT_BOLD, "SBT diff: the elapsed time of A or B is not known");
		return;
	}
	snprintf(change, sizeof(change), "%.*f %%", fabs(ratio - 1) < 0.0995 ? 1 : 0,
		 fabs(ratio - 1) * 100);
	textout_wrap(t, TEXTOUT_BOLD, "SBT diff: ", 2, "B takes %s%s A: %s against %s%s%s",
		     !strcmp(change, "0.0 %") ? "as long" : change,
		     !strcmp(change, "0.0 %") ? " as"
		     : ratio > 1	      ? " longer than"
					      : " less time than",
		     b, a, run ? "; " : "", run ? proof_of(run) : "");
}

static const char *where_of(const struct compare_row *r)
{
	return r->scope == COMPARE_RUN ? "the whole run"
	       : r->label	       ? r->label
	       : r->comm	       ? r->comm
				       : "?";
}

static void print_regressions(struct textout *t, const struct compare *c)
{
	char limit[TEXTOUT_CELL], a[TEXTOUT_CELL], b[TEXTOUT_CELL], change[TEXTOUT_CELL];

	if (isnan(c->fail_above))
		return;
	snprintf(limit, sizeof(limit), "%.4g %%", c->fail_above * 100);
	if (!c->regressions)
		textout_wrap(t, TEXTOUT_BOLD, "", 2, "No regression above %s is proven.", limit);
	array_for_each (r, c->rows, c->nrows) {
		if (r->regression != 1)
			continue;
		textout_wrap(
			t, TEXTOUT_RED, "", 2,
			"SBT REGRESSION: %s of %s is %s (%s against %s): more than %s is proven",
			r->words, where_of(r), compare_percent(change, r->ratio),
			compare_value(b, r->b, r->unit), compare_value(a, r->a, r->unit), limit);
	}
	if (c->suspects)
		textout_wrap(t, TEXTOUT_PLAIN, "", 2,
			     "%u change%s for the worse above %s %s not proven: %s.", c->suspects,
			     c->suspects == 1 ? "" : "s", limit, c->suspects == 1 ? "is" : "are",
			     c->a.n > 1 && c->b.n > 1
				     ? "noise may explain this"
				     : "a proof needs several recordings per side");
}

/* --- the data behind it ----------------------------------------------------------------------- */

static void print_side(struct textout *t, const char *name, const struct compare_input *in,
		       uint32_t n)
{
	struct buf names = { 0 };
	uint32_t i;

	for (i = 0; i < n && i < FILES; i++)
		buf_printf(&names, "%s%s%s%s%s", i ? ", " : "", in[i].file ? in[i].file : "?",
			   in[i].complete ? "" : " (records lost)",
			   in[i].detached ? " (a process was not traced to its end because of "
					    "--cost-limit: its sums are unknown)"
					  : "",
			   in[i].detached_parts ? " (some barriers were not traced to the end "
						  "because of --cost-limit: their sums are unknown)"
						: "");
	if (n > FILES)
		buf_printf(&names, ", and %u more", n - FILES);
	if (names.failed)
		t->buf->failed = true;
	else
		textout_wrap(t, TEXTOUT_PLAIN, "", 3, "%s: %s", name,
			     names.s ? names.s : "nothing");
	buf_free(&names);
}

static bool tests_by(const struct compare *c, enum compare_test test)
{
	array_for_each (r, c->rows, c->nrows)
		if (r->test == test)
			return true;
	return false;
}

static void print_method(struct textout *t, const struct compare *c)
{
	double level = c->confidence * 100;

	if (tests_by(c, COMPARE_WELCH))
		textout_wrap(t, TEXTOUT_DIM, "", 2,
			     "Tested with Welch's t-test over the recordings.");
	if (tests_by(c, COMPARE_SINGLE))
		textout_wrap(t, TEXTOUT_DIM, "", 2,
			     "Values that one side has in only one recording are tested against "
			     "the variation among the other side's recordings.");
	if (tests_by(c, COMPARE_EPISODES))
		textout_wrap(
			t, TEXTOUT_DIM, "", 2,
			"One recording per side: phase and barrier times are tested by how much "
			"their changes vary within the runs, in 16 parts. This does not include "
			"differences between whole runs. To include them, record several runs.");
	if (c->tested)
		textout_wrap(t, TEXTOUT_DIM, "", 2,
			     "%u of %u tested differences are more than noise at %.4g %%; p is "
			     "adjusted (Holm) over all rows of a quantity.",
			     c->significant, c->tested, level);
}

static void print_remarks(struct textout *t, const struct compare *c)
{
	bool by_order = false;

	if (c->moved)
		textout_wrap(
			t, TEXTOUT_PLAIN, "", 2,
			"%u call site%s moved: matched by name, place or order in the function.",
			c->moved, c->moved == 1 ? "" : "s");
	array_for_each (p, c->match.processes, c->match.nprocesses)
		by_order |= p->by_order;
	if (by_order)
		textout_wrap(t, TEXTOUT_PLAIN, "", 2,
			     "Processes of A and B have different names. They are matched in the "
			     "order in which they began.");
	if (c->only_a || c->only_b)
		textout_wrap(t, TEXTOUT_PLAIN, "", 2, "%u call site%s only in A, %u only in B.",
			     c->only_a, c->only_a == 1 ? " is" : "s are", c->only_b);
}

/* --- the changes ------------------------------------------------------------------------------ */

/*
 * Return whether the row is not worth printing. This is true if both values are 0. A number of
 * episodes or threads is also not worth printing if it is unchanged, or known on one side only.
 */
static bool is_idle(const struct compare_row *r)
{
	if (r->unit == COMPARE_COUNT && !r->counter)
		return r->a == r->b || r->only != COMPARE_BOTH;
	return !(r->a > 0) && !(r->b > 0);
}

static bool same_place(const struct compare_row *a, const struct compare_row *b)
{
	return a && a->scope == b->scope && a->site == b->site && a->process == b->process;
}

static void print_rows(struct textout *t, const struct compare *c, bool sites,
		       const struct fields_context *context)
{
	const struct compare_row *before = NULL;
	uint32_t places = 0;
	struct table table = { 0 };
	struct compare_row row;

	table_fields(&table, &fields_rec_difference, context);
	array_for_each (r, c->rows, c->nrows) {
		if ((r->scope == COMPARE_BARRIER) != sites || is_idle(r))
			continue;
		places += !same_place(before, r);
		row = *r;
		/* Print a name only in the first of its rows. */
		row.label = same_place(before, r) ? "" : where_of(r);
		before = r;
		if (places <= PLACES)
			table_row(&table, &fields_rec_difference, &row, context);
	}
	if (!places) {
		table_drop(&table);
		return;
	}
	textout_blank(t);
	textout_line(t, TEXTOUT_BOLD,
		     sites ? "Call sites, largest change of phase time first"
			   : "The run and its processes");
	table_print(&table, t, 0);
	if (places > PLACES)
		textout_line(t, TEXTOUT_PLAIN, "and %u more (--json lists all)", places - PLACES);
}

/* Return whether the function of @a changed more than that of @b. Equal changes: the first row. */
static bool changed_more(const struct compare_row *a, const struct compare_row *b)
{
	double x = fabs(a->difference), y = fabs(b->difference);

	return x > y || (!(x < y) && a < b);
}

/* Return the function with the largest change after @before (NULL: of all), or NULL. */
static const struct compare_row *next_function(const struct compare *c,
					       const struct compare_row *before)
{
	const struct compare_row *top = NULL;

	array_for_each (r, c->rows, c->nrows)
		if (r->function && r->significant == 1 && (!before || changed_more(before, r)) &&
		    (!top || changed_more(r, top)))
			top = r;
	return top;
}

/* Print the functions that became slower or faster, largest change first. */
static void print_functions(struct textout *t, const struct compare *c)
{
	char a[TEXTOUT_CELL], b[TEXTOUT_CELL], change[TEXTOUT_CELL];
	const struct compare_row *row = next_function(c, NULL);
	uint32_t n;

	for (n = 0; row && n < FUNCTIONS; n++, row = next_function(c, row))
		textout_wrap(t, TEXTOUT_PLAIN, "", 2, "%s%s takes %s: %s against %s (%s), at %s",
			     row->function, function_name_call(row->function),
			     row->difference > 0 ? "longer" : "less time",
			     compare_value(b, row->b, row->unit),
			     compare_value(a, row->a, row->unit),
			     compare_percent(change, row->ratio), where_of(row));
}

void compare_sentences(struct textout *t, const struct fields_comparison *rec)
{
	const struct compare *c = rec->compare;

	print_headline(t, c);
	print_regressions(t, c);
	print_functions(t, c);
	print_side(t, "A", rec->a, rec->na);
	print_side(t, "B", rec->b, rec->nb);
	print_remarks(t, c);
	print_method(t, c);
}

void compare_print(struct textout *t, const struct fields_comparison *rec,
		   const struct fields_context *context)
{
	const struct compare *c = rec->compare;

	compare_sentences(t, rec);
	print_rows(t, c, false, context);
	print_rows(t, c, true, context);
}
