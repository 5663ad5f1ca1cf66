// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/function_name.h"
#include "base/number.h"
#include "base/text.h"
#include "emit/account.h"
#include "emit/outlier_threads.h"
#include "emit/summary.h"
#include "emit/table.h"
#include "emit/why.h"
#include "sites/family.h"

/*
 * largest number of rows in lists; the first MOST barriers have a row, however little time they
 * lose
 */
#define MOST	10
/* a barrier that loses at least this share of the lost time has a row even after the first MOST */
#define WEIGHTY 0.01
#define CAP	40 /* largest number of rows in the table of barriers, including such rows */
#define CROWD	32 /* up to this many threads, all are shown */
#define FRAMES	6 /* largest number of frames shown of a stack */
/* number of rows in each list of extreme threads, if there are more than CROWD */
#define EXTREME 6

static uint64_t lost_of(const struct report_barrier *b)
{
	return b->nested || b->lost_ns == REPORT_UNKNOWN ? 0 : b->lost_ns;
}

static uint64_t lost_total(const struct report *r)
{
	uint64_t all = 0;

	array_for_each (b, r->barriers, r->nbarriers)
		all += lost_of(b);
	return all;
}

static bool weighty(const struct report_barrier *b, uint64_t total)
{
	return total && (double)lost_of(b) >= WEIGHTY * (double)total;
}

bool detail_weighty(const struct report *r, const struct report_barrier *b)
{
	return weighty(b, lost_total(r));
}

/* --- the table of barriers -------------------------------------------------------------------- */

void detail_barriers(struct textout *t, const struct report *r,
		     const struct fields_context *context)
{
	uint64_t total = lost_total(r), rest = 0;
	struct table table = { 0 };
	uint32_t i, shown = 0;
	char lost[TEXTOUT_CELL], n[TEXTOUT_CELL];

	textout_line(t, TEXTOUT_BOLD, "BARRIERS, most lost time first");
	table_fields(&table, &fields_rec_barrier, context);
	for (i = 0; i < r->nbarriers; i++) {
		if (i < MOST || (i < CAP && weighty(&r->barriers[i], total))) {
			table_row(&table, &fields_rec_barrier, &r->barriers[i], context);
			shown++;
		} else {
			rest += lost_of(&r->barriers[i]);
		}
	}
	table_print(&table, t, 2);
	if (shown < r->nbarriers)
		textout_wrap(t, TEXTOUT_PLAIN, "  ", 2,
			     "and %s, which lost %s together; --json and --csv list all.",
			     textout_plural(n, r->nbarriers - shown, "more barrier"),
			     textout_time(lost, rest));
	textout_wrap(t, TEXTOUT_DIM, "  ", 2,
		     "lost: waits for the last arriver, summed over threads. of run: time of its "
		     "phases / elapsed time. imbalance: lost share of its phases' thread time. "
		     "Shares in the answers above, also that of one thread's wait, refer to "
		     "thread time: from the start of a thread to its end.");
	textout_blank(t);
}

/* --- threads ---------------------------------------------------------------------------------- */

static int by_wait(const void *a, const void *b)
{
	const struct report_thread *x = a, *y = b;

	return NUMBER_COMPARE(y->wait_ns, x->wait_ns);
}

static int by_last(const void *a, const void *b)
{
	const struct report_thread *x = a, *y = b;

	if (x->last != y->last)
		return NUMBER_COMPARE(y->last, x->last);
	return by_wait(b, a);
}

/* Add the cells for the quantiles of @known values. This sorts @values. */
static void quantile_cells(struct table *table, uint64_t *values, uint32_t known, bool time)
{
	static const unsigned percent[] = { 0, 10, 50, 90, 100 };
	char s[TEXTOUT_CELL];
	uint32_t i;
	uint64_t q;

	qsort(values, known, sizeof(*values), number_compare_u64);
	for (i = 0; i < 5; i++) {
		q = known ? values[(uint64_t)(known - 1) * percent[i] / 100] : UINT64_MAX;
		if (time)
			table_text(table, textout_time(s, q));
		else
			table_text(table, known ? textout_count(s, q) : "?");
	}
}

static void quantile_row(struct table *table, const struct emit_field *f,
			 const struct report_thread *threads, uint32_t n, uint64_t *values,
			 const struct fields_context *context)
{
	char name[TEXTOUT_CELL];
	struct fields_value v;
	uint32_t i, known = 0;
	bool any = false;

	for (i = 0; i < n; i++) {
		v = fields_get(f, &threads[i], context);
		if (v.kind == FIELDS_UINT) {
			values[known++] = v.u;
			any |= v.u != 0;
		}
	}
	if (!any && f->flags & FIELDS_DROP)
		return;
	table_heading(f->heading, name);
	table_text(table, name);
	quantile_cells(table, values, known, f->type == EMIT_NS);
}

/* Add the row of the counter at index @place. */
static void quantile_counter(struct table *table, uint32_t place,
			     const struct report_thread *threads, uint32_t n, uint64_t *values)
{
	char *name = account_name(&threads[0].counters[place]);
	const struct report_counter *c;
	char s[2 * TEXTOUT_CELL];
	uint32_t i, known = 0;
	bool scaled = false;

	for (i = 0; i < n; i++) {
		c = place < threads[i].ncounters ? &threads[i].counters[place] : NULL;
		if (!c || c->value == REPORT_UNKNOWN)
			continue;
		values[known++] = c->value;
		scaled |= c->scaled;
	}
	if (!name)
		table->failed = true;
	snprintf(s, sizeof(s), "%s%s", name ? name : "?", scaled ? " ~" : "");
	table_text(table, s);
	quantile_cells(table, values, known, false);
	free(name);
}

/* Print the typical values of many threads: the quantiles of each quantity over the threads. */
static void thread_quantiles(struct textout *t, const struct report_thread *threads, uint32_t n,
			     const struct fields_context *context)
{
	static const char *const headings[] = { "least", "10 %", "median", "90 %", "most" };
	const struct emit_field *f;
	struct table table = { 0 };
	uint64_t *values = calloc(n, sizeof(*values));
	unsigned i;

	if (!values) {
		t->buf->failed = true;
		return;
	}
	table_column(&table, "per thread", EMIT_ID);
	for (i = 0; i < 5; i++)
		table_column(&table, headings[i], EMIT_NUMBER);
	for (f = fields_rec_thread.fields; f->help; f++)
		if (f->heading && f->look != EMIT_BAR &&
		    (f->type == EMIT_NS || f->type == EMIT_U64))
			quantile_row(&table, f, threads, n, values, context);
	for (i = 0; i < threads[0].ncounters; i++)
		quantile_counter(&table, i, threads, n, values);
	table_print(&table, t, 4);
	free(values);
}

static void thread_rows(struct textout *t, const struct report_thread *threads, uint32_t n,
			const struct fields_context *context)
{
	struct fields_context plain = *context;

	/* A full bar would stand for the maximum of these few rows, not of all threads. */
	plain.no_bars = true;
	table_records(t, 4, &fields_rec_thread, threads, n, &plain);
}

static uint64_t work_or_wait(const struct report_thread *thread, uint32_t what)
{
	return what ? thread->wait_ns : thread->work_ns;
}

static bool is_among(const struct report_thread *thread, const struct report_thread *threads,
		     uint32_t n)
{
	array_for_each (t, threads, n)
		if (t->tid == thread->tid && t->index == thread->index)
			return true;
	return false;
}

/*
 * Print outlier threads that are in neither of the two lists in @shown. For example, if two threads
 * are late, the less late one never arrives last and waits little, so it is in neither list.
 */
static void thread_outliers(struct textout *t, const struct report_thread *threads, uint32_t n,
			    const struct report_thread *shown, uint32_t nshown,
			    const struct fields_context *context)
{
	uint32_t places[3 * EXTREME], others = 0;
	struct report_thread rows[EXTREME];
	char s[TEXTOUT_CELL] = "another that is";
	int i, found = outliers_find(threads, n, work_or_wait, 2, places, 3 * EXTREME);

	if (found < 0)
		t->buf->failed = true;
	for (i = 0; i < found && others < EXTREME; i++)
		if (!is_among(&threads[places[i]], shown, nshown))
			rows[others++] = threads[places[i]];
	if (!others)
		return;
	if (others > 1)
		snprintf(s, sizeof(s), "%u others that are", others);
	textout_line(t, TEXTOUT_PLAIN, "    %s not like the rest:", s);
	thread_rows(t, rows, others, context);
}

/*
 * Print some of many threads: those that arrived last most often, those that waited longest, and
 * other outliers.
 */
static void thread_extremes(struct textout *t, const struct report_thread *threads, uint32_t n,
			    const struct fields_context *context)
{
	struct report_thread *sorted = calloc(n, sizeof(*sorted)), shown[2 * EXTREME];

	if (!sorted) {
		t->buf->failed = true;
		return;
	}
	memcpy(sorted, threads, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_last);
	memcpy(shown, sorted, EXTREME * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_wait);
	memcpy(shown + EXTREME, sorted, EXTREME * sizeof(*sorted));
	free(sorted);
	textout_line(t, TEXTOUT_PLAIN, "    the %d that arrived last most often:", EXTREME);
	thread_rows(t, shown, EXTREME, context);
	textout_line(t, TEXTOUT_PLAIN, "    the %d that waited longest:", EXTREME);
	thread_rows(t, shown + EXTREME, EXTREME, context);
	thread_outliers(t, threads, n, shown, 2 * EXTREME, context);
}

/* Print what the threads did in their phases, below the table of waits. */
static void thread_accounts(struct textout *t, const struct account *account,
			    const struct fields_context *context)
{
	if (account_known(account, context)) {
		textout_line(t, TEXTOUT_PLAIN, "    How the work time was spent:");
		account_parts(t, account, 4, context);
	}
	if (account->ncounters) {
		textout_line(t, TEXTOUT_PLAIN, "    Counted outside barriers:");
		account_counters(t, account, 4, context);
	}
}

void detail_threads(struct textout *t, const struct report_thread *threads, uint32_t n,
		    const struct report_counter *counters, uint32_t ncounters,
		    const struct fields_context *context)
{
	struct account account = { .record = &fields_rec_thread,
				   .rows = threads,
				   .n = n,
				   .counters = counters,
				   .ncounters = ncounters };
	char s[TEXTOUT_CELL];

	if (n > CROWD) {
		textout_line(t, TEXTOUT_PLAIN, "    %s (--json lists all)",
			     textout_plural(s, n, "thread"));
		thread_quantiles(t, threads, n, context);
		thread_extremes(t, threads, n, context);
		/*
		 * The quantiles above stand for the rows of single threads. Below them, print only
		 * the sums of the counters.
		 */
		account.n = 0;
		thread_accounts(t, &account, context);
		return;
	}
	table_records(t, 4, &fields_rec_thread, threads, n, context);
	thread_accounts(t, &account, context);
}

/*
 * Return whether the barrier was found by the behaviour of its threads, and not by a known
 * function.
 */
static bool is_found(const struct report_barrier *b)
{
	return family_has(family_by_name(b->family), FAMILY_DISCOVERED);
}

/* --- one barrier ------------------------------------------------------------------------------ */

static void barrier_episodes(struct textout *t, const struct report_barrier *b)
{
	struct buf s = { 0 };
	char n[TEXTOUT_CELL];

	buf_printf(&s, "%s", textout_plural(n, b->episodes, "episode"));
	if (b->participants && b->participants_min != b->participants)
		buf_printf(&s, " of %u to %u threads", b->participants_min, b->participants);
	else if (b->participants)
		buf_printf(&s, " of %u thread%s", b->participants, b->participants == 1 ? "" : "s");
	if (b->incomplete)
		buf_printf(&s, ", %s incomplete (not in any figure here)",
			   textout_count(n, b->incomplete));
	if (b->ambiguous)
		buf_printf(&s, ", %s ambiguous", textout_count(n, b->ambiguous));
	if (b->family)
		buf_printf(&s, "; %s%s%s%s", b->family, b->kind ? ", " : "", b->kind ? b->kind : "",
			   is_found(b) ? ", found by behaviour" : "");
	if (*b->object)
		buf_printf(&s, ", object %s", b->object);
	if (b->shared)
		buf_str(&s, ", shared by several processes");
	if (b->nested)
		buf_str(&s, ", inside another barrier's wait: not included in the process's "
			    "totals");
	if (s.s)
		textout_wrap(t, TEXTOUT_DIM, "    ", 4, "%s", s.s);
	t->buf->failed |= s.failed;
	buf_free(&s);
}

static void barrier_quantities(struct textout *t, const struct report_barrier *b,
			       const struct fields_context *context)
{
	static const struct {
		const char *field, *heading;
	} rows[] = {
		{ "phase_ns", "phase time" },
		{ "barrier_ns", "barrier time" },
		{ "wait_ns", "wait of a thread" },
		{ "release_ns", "release latency" },
	};
	struct table table = { 0 };
	struct fields_value v;

	/* For a single episode, the table of barriers already shows everything. */
	if (b->episodes < 2)
		return;
	table_column(&table, "", EMIT_ID);
	table_fields(&table, &fields_rec_times, context);
	array_for_each (r, rows, sizeof(rows) / sizeof(rows[0])) {
		v = fields_get(fields_find(&fields_rec_barrier, r->field), b, context);
		if (v.kind != FIELDS_OBJECT)
			continue;
		table_text(&table, r->heading);
		table_row(&table, &fields_rec_times, v.base, context);
	}
	table_print(&table, t, 4);
}

static void barrier_longest(struct textout *t, const struct report_barrier *b)
{
	char phase[TEXTOUT_CELL], at[TEXTOUT_CELL];
	struct buf s = { 0 };
	uint32_t i;

	if (b->nlongest < 2)
		return;
	for (i = 0; i < b->nlongest && i < MODEL_LONGEST; i++)
		buf_printf(&s, "%s%s (phase %llu, to %s)", i ? "; " : "",
			   textout_time(phase, b->longest[i].phase_ns),
			   (unsigned long long)b->longest[i].number,
			   textout_clock(at, b->longest[i].release_ns));
	if (s.s)
		textout_wrap(t, TEXTOUT_DIM, "    longest phases: ", 6, "%s", s.s);
	t->buf->failed |= s.failed;
	buf_free(&s);
}

static void barrier_callsites(struct textout *t, const struct report_barrier *b)
{
	char *place;
	int n;

	array_for_each (c, b->callsites, b->ncallsites) {
		if (b->ncallsites == 1 && !c->through)
			break;
		if (c->file && c->line)
			n = asprintf(&place, "%s%s %s:%u", c->function ? c->function : "?",
				     c->function ? function_name_call(c->function) : "", c->file,
				     c->line);
		else if (c->module)
			n = asprintf(&place, "%s%s%s+0x%llx", c->function ? c->function : "",
				     c->function ? " " : "", c->module,
				     (unsigned long long)c->offset);
		else
			n = asprintf(&place, "an unknown call site");
		if (n < 0)
			continue;
		textout_line(t, TEXTOUT_DIM, "    called from: %s%s%s%s%s", place,
			     c->inlined ? ", inlined into " : "", c->inlined ? c->inlined : "",
			     c->through ? ", through " : "", c->through ? c->through : "");
		free(place);
	}
}

static void barrier_delays(struct textout *t, const struct report_barrier *b)
{
	char direct[TEXTOUT_CELL], passed[TEXTOUT_CELL];

	if (b->delay_direct_ns == REPORT_UNKNOWN || b->delay_passed_ns == REPORT_UNKNOWN ||
	    !(b->delay_direct_ns + b->delay_passed_ns))
		return;
	textout_wrap(
		t, TEXTOUT_DIM, "    ", 4,
		"waits at all barriers caused by imbalance in phases that end here: %s directly, "
		"%s passed on by threads that were late because they had waited themselves",
		textout_time(direct, b->delay_direct_ns), textout_time(passed, b->delay_passed_ns));
}

/*
 * With --cost-limit, print until when the barrier and the other barriers of its process were
 * traced.
 */
static void barrier_detached(struct textout *t, const struct report *r,
			     const struct report_barrier *b)
{
	if (b->detached_ns != REPORT_UNKNOWN)
		textout_wrap(t, TEXTOUT_RED, "    ", 4,
			     "Traced only until %.3f s (--cost-limit): all figures here end at "
			     "that time.",
			     (double)(b->detached_ns - r->start_ns) / 1e9);
	if (b->detached_beside_ns != REPORT_UNKNOWN)
		textout_wrap(
			t, TEXTOUT_RED, "    ", 4,
			"From %.3f s on, other barriers of its process were not traced "
			"(--cost-limit): later phases and work include the time at those barriers.",
			(double)(b->detached_beside_ns - r->start_ns) / 1e9);
}

/* Return the advice about the barrier's process or group, or "". */
static const char *advice_above(const struct report *r, const struct report_barrier *b)
{
	array_for_each (g, r->groups, r->ngroups)
		array_for_each (p, g->processes, g->nprocesses)
			if (p->pid == b->pid)
				return g->all.advice;
	array_for_each (p, r->processes, r->nprocesses)
		if (p->pid == b->pid)
			return p->advice;
	return "";
}

/* Print the advice, unless the same advice is above, and what it may gain. */
static void barrier_advice(struct textout *t, const struct report *r,
			   const struct report_barrier *b)
{
	uint64_t gain = b->nested ? REPORT_UNKNOWN : report_gain(b);
	char time[TEXTOUT_CELL];

	if (*b->advice && strcmp(b->advice, advice_above(r, b)) != 0)
		textout_wrap(t, TEXTOUT_PLAIN, "    -> ", 7, "%s", b->advice);
	if (gain != REPORT_UNKNOWN && gain)
		textout_line(t, TEXTOUT_PLAIN, "    Gain: up to %s of the elapsed time %s.",
			     textout_time(time, gain), report_gain_basis(b, NULL));
}

static void detail_one(struct textout *t, const struct report *r, const struct report_barrier *b,
		       const struct fields_context *context)
{
	char *head = NULL, pid[TEXTOUT_CELL];

	if (asprintf(&head, "%s  %s  %s (%s)", b->id, b->label, b->comm ? b->comm : "?",
		     textout_pid(pid, b->pid, b->processes)) < 0)
		head = NULL;
	textout_line(t, TEXTOUT_BOLD, "%s", head ? head : b->id);
	free(head);
	barrier_detached(t, r, b);
	if (*b->verdict)
		textout_wrap(t, TEXTOUT_PLAIN, "    ", 4, "%s", b->verdict);
	barrier_advice(t, r, b);
	why_sentence(t, TEXTOUT_PLAIN, &b->cause, 4);
	why_stack(t, &b->cause, 8, FRAMES);
	why_parts(t, &b->cause, 6);
	barrier_episodes(t, b);
	barrier_delays(t, b);
	barrier_callsites(t, b);
	barrier_quantities(t, b, context);
	barrier_longest(t, b);
	if (b->nthreads)
		detail_threads(t, b->threads, b->nthreads, b->counters, b->ncounters, context);
	textout_blank(t);
}

void detail_each(struct textout *t, const struct report *r, const struct fields_context *context)
{
	uint64_t total = lost_total(r);
	uint32_t i, left = 0;
	char n[TEXTOUT_CELL];

	for (i = 0; i < r->nbarriers; i++) {
		/*
		 * Always show the first barrier: in a balanced program, there may be no other to
		 * show.
		 */
		if (!i || (i < MOST && weighty(&r->barriers[i], total)))
			detail_one(t, r, &r->barriers[i], context);
		else
			left++;
	}
	if (!left)
		return;
	textout_line(t, TEXTOUT_DIM,
		     "%s with less lost time not shown in detail: see --json or --csv.",
		     textout_plural(n, left, "barrier"));
	textout_blank(t);
}

/* --- phases ----------------------------------------------------------------------------------- */

static void conceptual_one(struct textout *t, const struct report_conceptual *p,
			   const struct fields_context *context)
{
	char n[TEXTOUT_CELL];
	char *name = text_printable(p->name);

	textout_line(t, TEXTOUT_BOLD, "%s  (%s, pid %u)", name ? name : "?",
		     p->comm ? p->comm : "?", p->pid);
	free(name);
	if (p->unfinished)
		textout_wrap(t, TEXTOUT_PLAIN, "    ", 4,
			     "%s without a traced end: not in any figure.",
			     textout_plural(n, p->unfinished, "occurrence"));
	if (p->incomplete)
		textout_wrap(t, TEXTOUT_PLAIN, "    ", 4,
			     "Incomplete inside: %s, included in the times but not in lost time.",
			     textout_plural(n, p->incomplete, "episode"));
	why_sentence(t, TEXTOUT_PLAIN, &p->cause, 4);
	why_parts(t, &p->cause, 6);
	if (p->nthreads)
		detail_threads(t, p->threads, p->nthreads, p->counters, p->ncounters, context);
	textout_blank(t);
}

void detail_conceptuals(struct textout *t, const struct report *r,
			const struct fields_context *context)
{
	uint32_t n = r->nconceptuals < MOST ? r->nconceptuals : MOST;
	char s[TEXTOUT_CELL];

	if (!n)
		return;
	textout_line(t, TEXTOUT_BOLD, "PHASES YOU NAMED");
	table_records(t, 2, &fields_rec_conceptual, r->conceptuals, n, context);
	if (n < r->nconceptuals)
		textout_line(t, TEXTOUT_PLAIN, "  and %s; --json and --csv list all.",
			     textout_plural(s, r->nconceptuals - n, "more phase"));
	textout_blank(t);
	array_for_each (c, r->conceptuals, n)
		if (c->occurrences || c->unfinished)
			conceptual_one(t, c, context);
}

void detail_transitions(struct textout *t, const struct report *r,
			const struct fields_context *context)
{
	uint32_t n = r->nphases < MOST ? r->nphases : MOST;
	char s[TEXTOUT_CELL];

	if (!n)
		return;
	textout_line(t, TEXTOUT_BOLD, "PHASES, most time first");
	table_records(t, 2, &fields_rec_transition, r->phases, n, context);
	if (n < r->nphases)
		textout_line(t, TEXTOUT_PLAIN, "  and %s; --json and --csv list all.",
			     textout_plural(s, r->nphases - n, "more pair"));
	textout_blank(t);
}
