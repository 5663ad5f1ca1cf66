// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/activity.h"
#include "emit/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "hang/hang.h"
#include "base/array.h"
#include "base/number.h"
#include "emit/account.h"
#include "emit/outlier_threads.h"
#include "emit/table.h"

#define MOST	   10 /* largest number of processes, groups or hangs shown in most parts */
#define PIDS	   8 /* largest number of pids listed for a group */
#define FOUND	   64 /* largest number of processes of a group for which findings are shown */
#define CROWD	   32 /* up to this many threads, all are shown */
#define ADVICE_MIN 0.05 /* smallest loss that deserves advice, as a share of the threads' time */

static const char *name_of(const char *comm)
{
	return comm && *comm ? comm : "?";
}

/* --- the answer ------------------------------------------------------------------------------- */

/*
 * Print the counters that are missing for the same reason as @first, unless an earlier counter had
 * that reason.
 */
static void summary_missing(struct textout *t, const struct report *r, uint32_t first)
{
	const char *reason = r->uncounted[first].reason;
	struct buf names = { 0 };
	uint32_t i;

	for (i = 0; i < r->nuncounted; i++) {
		if (strcmp(r->uncounted[i].reason, reason) != 0)
			continue;
		if (i < first)
			return;
		buf_printf(&names, "%s%s", i > first ? ", " : "", r->uncounted[i].name);
	}
	if (names.failed)
		t->buf->failed = true;
	else
		textout_wrap(t, TEXTOUT_PLAIN, "", 2, "Not counted: %s: %s.", names.s, reason);
	buf_free(&names);
}

/*
 * Print the counters that were requested but are in no table, so that the reader does not look for
 * them.
 */
static void summary_uncounted(struct textout *t, const struct report *r)
{
	uint32_t i;

	for (i = 0; i < r->nuncounted; i++)
		summary_missing(t, r, i);
}

/* Print hangs that lasted to the end of tracing, before all figures. */
static void summary_hangs(struct textout *t, const struct report *r)
{
	char waited[TEXTOUT_CELL];
	uint32_t i;

	for (i = 0; i < r->nhangs && i < MOST; i++) {
		const struct report_hang *h = &r->hangs[i];

		textout_wrap(t, TEXTOUT_RED, "", 4,
			     r->interim ? "SBT HANG: %s (pid %u) has been waiting for %s: %s"
					: "SBT HANG: %s (pid %u) waited for %s until the end: %s",
			     name_of(h->comm), h->pid, textout_time(waited, h->waited_ns), h->text);
	}
	if (r->nhangs > MOST)
		textout_line(t, TEXTOUT_RED, "and %u more hangs (--json lists all)",
			     r->nhangs - MOST);
}

/* Print which part of the run the figures cover, if they do not cover all of it. */
static void summary_extent(struct textout *t, const struct report_extent *e)
{
	if (e->window)
		textout_wrap(
			t, TEXTOUT_PLAIN, "", 2,
			"Covers only crossings with arrivals from %.6g s to %.6g s after the start "
			"of tracing: all times, sums and shares refer to that part of the run. "
			"Lost records and sbt-trace's own CPU time refer to the whole run.",
			(double)e->from_ns / 1e9, (double)e->to_ns / 1e9);
	if (e->rows)
		textout_wrap(
			t, TEXTOUT_PLAIN, "", 2,
			"Rows are shown only for %s. Figures of processes, their efficiencies and "
			"counters, and of a barrier as a whole include all barriers and threads.",
			e->rows);
}

static void summary_headline(struct textout *t, const struct report *r)
{
	char time[TEXTOUT_CELL], procs[TEXTOUT_CELL], episodes[TEXTOUT_CELL],
		barriers[TEXTOUT_CELL];
	uint64_t n = 0;

	array_for_each (p, r->processes, r->nprocesses)
		n += p->processes > 1 ? p->processes : 1;
	if (n == 1)
		snprintf(procs, sizeof(procs), "1 process");
	else
		snprintf(procs, sizeof(procs), "%s processes", textout_count(time, n));
	textout_line(t, TEXTOUT_BOLD, "SBT %s: %s %s, %s, %s at %s",
		     r->interim ? "interim report" : "report",
		     textout_time(time, r->end_ns - r->start_ns),
		     r->extent.window ? "of the run" : "traced", procs,
		     textout_plural(episodes, r->episodes, "episode"),
		     textout_plural(barriers, r->nbarriers, "barrier"));
	summary_extent(t, &r->extent);
	summary_uncounted(t, r);
	if (r->aggregate)
		textout_wrap(t, TEXTOUT_PLAIN, "", 2,
			     "Sums from the kernel (--aggregate), only for pthread barriers: "
			     "single episodes, causes of lateness, preceding barriers, longest "
			     "phases, SerE and TE are not known.");
	if (r->left_out)
		textout_wrap(t, TEXTOUT_RED, "", 2,
			     "The traced processes also have barriers of %s, which this report "
			     "lacks. Run without --aggregate to trace them.",
			     r->left_out);
	textout_blank(t);
}

/* Return "gen (pid 12)" or "4 processes gen (pids 12, 13, 15, 17)". */
static const char *title_of(struct buf *b, const struct report_process *p,
			    const struct report_group *g)
{
	uint32_t i, n = g ? g->nprocesses : 1;
	char pid[TEXTOUT_CELL];

	b->len = 0;
	if (!g)
		buf_printf(b, "%s (%s)", name_of(p->comm), textout_pid(pid, p->pid, p->processes));
	else
		buf_printf(b, "%u processes%s%s (pids ", n, p->comm ? " " : "",
			   p->comm ? p->comm : "");
	for (i = 0; g && i < n && i < PIDS; i++)
		buf_printf(b, i ? ", %u" : "%u", g->processes[i].pid);
	if (g)
		buf_printf(b, n > PIDS ? ", ...)" : ")");
	return b->s ? b->s : "?";
}

/* Print the bounds of the parallel efficiency of a process that runs tasks. */
static void summary_bounds(struct textout *t, const struct report_process *p)
{
	char least[TEXTOUT_CELL], most[TEXTOUT_CELL], oncpu[TEXTOUT_CELL], more[96] = "";

	if (isfinite(p->inside_oncpu))
		snprintf(more, sizeof(more),
			 " Its threads were on a CPU for %s of their time in barriers.",
			 textout_percent(oncpu, p->inside_oncpu));
	textout_wrap(t, TEXTOUT_PLAIN, "  ", 2,
		     "PE %s to %s, because it is unknown how much time in barriers is work.%s",
		     textout_fraction(least, p->parallel_least),
		     textout_fraction(most, p->parallel_most), more);
}

static void summary_openmp(struct textout *t, const struct report_openmp_losses *omp,
			   const char *of)
{
	char s[TEXTOUT_CELL], ro[TEXTOUT_CELL], tr[TEXTOUT_CELL], st[TEXTOUT_CELL],
		tu[TEXTOUT_CELL];

	textout_wrap(
		t, TEXTOUT_PLAIN, "  ", 2,
		"%s of %s is lost in serial parts%s%s%s, %s in parallel regions to waiting for "
		"other threads%s%s%s, %s in the runtime.",
		textout_percent(s, omp->serial), of, isfinite(omp->start) ? ", " : "",
		isfinite(omp->start) ? textout_percent(st, omp->start) : "",
		isfinite(omp->start) ? " in the start of teams" : " and in the start of teams",
		textout_percent(ro, omp->waiting), omp->turns > 0 ? ", " : "",
		omp->turns > 0 ? textout_percent(tu, omp->turns) : "",
		omp->turns > 0 ? " to waiting for a turn" : "", textout_percent(tr, omp->runtime));
}

/*
 * PE is a share of this time (see positions_efficiency()). For a group or an OpenMP team, this is
 * the elapsed time multiplied by the number of threads.
 */
static const char *unit_of(const struct report_process *p, const struct report_group *g)
{
	return g || isfinite(p->omp_serialisation) ? "elapsed time × threads" : "thread time";
}

/*
 * Print what is known about the lost time of a process besides its efficiencies, which have their
 * own part of the report.
 */
static void summary_lost(struct textout *t, const struct report_process *p,
			 const struct report_group *g)
{
	struct report_openmp_losses omp;

	if (p->tasks && isfinite(p->parallel_least))
		summary_bounds(t, p);
	else if (!isfinite(p->efficiency.parallel))
		textout_line(t, TEXTOUT_PLAIN, "  Its efficiency is unknown.");
	else if (p->processes > 1)
		textout_line(t, TEXTOUT_PLAIN,
			     "  LB, SerE and TE are not known for processes that are kept as a "
			     "sum.");
	else if (p->hung)
		textout_line(t, TEXTOUT_PLAIN, "  The time of the hang counts as lost.");
	else if (!isfinite(p->efficiency.serialisation) && isfinite(p->lost_static))
		textout_line(t, TEXTOUT_PLAIN,
			     "  Rotating imbalance and barrier overhead cannot be distinguished "
			     "here.");
	else if (report_openmp_losses(p, &omp))
		summary_openmp(t, &omp, unit_of(p, g));
}

/* Print the answer for a process, or for the sum @p of the group @g (NULL: no group). */
static void summary_answer(struct textout *t, const struct report_process *p,
			   const struct report_group *g)
{
	struct buf title = { 0 };
	char time[TEXTOUT_CELL], threads[TEXTOUT_CELL], n[TEXTOUT_CELL],
		at_once[TEXTOUT_CELL + 16] = "";

	if (p->positions && p->positions < p->threads)
		snprintf(at_once, sizeof(at_once), " (%s at a time)",
			 textout_count(n, p->positions));
	textout_wrap(t, TEXTOUT_BOLD, "", 2, "%s, %s%s, %s: %s", title_of(&title, p, g),
		     textout_plural(threads, p->threads, "thread"), at_once,
		     textout_time(time, p->elapsed_ns),
		     *p->verdict ? p->verdict : "nothing is known about its barriers.");
	buf_free(&title);
	if (*p->advice)
		textout_wrap(t, TEXTOUT_PLAIN, "  -> ", 5, "%s", p->advice);
	summary_lost(t, p, g);
}

static bool has_findings(const struct report *r, uint32_t pid)
{
	array_for_each (finding, r->findings, r->nfindings)
		if (finding->pid == pid)
			return true;
	return false;
}

/* Print the findings of a process, with @first before each. */
static void summary_findings(struct textout *t, const struct report *r, uint32_t pid,
			     const char *first)
{
	array_for_each (finding, r->findings, r->nfindings)
		if (finding->pid == pid && *finding->text)
			textout_wrap(t, TEXTOUT_PLAIN, first, 4, "%s", finding->text);
}

/* Print the findings of a group's processes, each with its pid. */
static void group_findings(struct textout *t, const struct report *r, const struct report_group *g)
{
	char first[64];
	uint32_t i;

	for (i = 0; i < g->nprocesses && i < FOUND; i++) {
		snprintf(first, sizeof(first), "  * pid %u: ", g->processes[i].pid);
		summary_findings(t, r, g->processes[i].pid, first);
	}
}

static void summary_answers(struct textout *t, const struct report *r)
{
	uint32_t i, n = r->nprocesses < MOST ? r->nprocesses : MOST;

	if (!r->nprocesses) {
		textout_line(t, TEXTOUT_BOLD, "No thread crossed a %sbarrier%s.",
			     r->aggregate ? "pthread " : "",
			     r->extent.window ? " in that time" : "");
		textout_blank(t);
	}
	for (i = 0; r->groups && i < r->ngroups && i < MOST; i++) {
		summary_answer(t, &r->groups[i].all, &r->groups[i]);
		group_findings(t, r, &r->groups[i]);
		textout_blank(t);
	}
	array_for_each (p, r->processes, n) {
		if (p->meets_others)
			continue;
		summary_answer(t, p, NULL);
		summary_findings(t, r, p->pid, "  * ");
		textout_blank(t);
	}
	if (has_findings(r, 0)) {
		textout_line(t, TEXTOUT_BOLD, "This machine:");
		summary_findings(t, r, 0, "  * ");
		textout_blank(t);
	}
}

/* Print the remarks: what the figures do not include. */
static void summary_remarks(struct textout *t, const struct report *r)
{
	bool item;

	if (!r->nremarks)
		return;
	textout_line(t, TEXTOUT_BOLD, "NOT IN THIS REPORT, or only in part");
	array_for_each (remark, r->remarks, r->nremarks) {
		item = remark_is_item(remark);
		textout_wrap(t, TEXTOUT_PLAIN, item ? "      " : "  * ", item ? 8 : 4, "%s",
			     remark->text);
	}
	textout_blank(t);
}

static void summary_processes(struct textout *t, const struct report *r,
			      const struct fields_context *context)
{
	uint32_t n = r->nprocesses < 2 * MOST ? r->nprocesses : 2 * MOST;

	if (r->nprocesses < 2)
		return;
	textout_line(t, TEXTOUT_BOLD, "PROCESSES, most lost time first");
	table_records(t, 2, &fields_rec_process, r->processes, n, context);
	if (n < r->nprocesses)
		textout_line(t, TEXTOUT_PLAIN, "  and %u more; --json and --csv list all.",
			     r->nprocesses - n);
	textout_blank(t);
}

/*
 * Print the table of threads over all barriers, unless it would repeat the table of a single
 * barrier.
 */
static void summary_threads(struct textout *t, const struct report *r,
			    const struct fields_context *context)
{
	const struct report_process *p;
	char pid[TEXTOUT_CELL];
	uint32_t i, b, own;

	for (i = 0; i < r->nprocesses && i < MOST; i++) {
		p = &r->processes[i];
		own = 0;
		for (b = 0; b < r->nbarriers; b++)
			own += r->barriers[b].pid == p->pid && detail_weighty(r, &r->barriers[b]);
		if (own < 2 || !p->nmembers)
			continue;
		textout_line(t, TEXTOUT_BOLD, "THREADS of %s (%s) over all barriers",
			     name_of(p->comm), textout_pid(pid, p->pid, p->processes));
		detail_threads(t, p->members, p->nmembers, NULL, 0, context);
		textout_blank(t);
	}
}

static uint64_t counter_value(const struct report_thread *thread, uint32_t what)
{
	return what < thread->ncounters ? thread->counters[what].value : REPORT_UNKNOWN;
}

/*
 * Of many threads, put the first, the last, and the outliers between them into @out. Return the
 * number of these threads.
 */
static uint32_t pick_counted(struct textout *t, const struct report_process *p,
			     struct report_thread *out)
{
	uint32_t odd[CROWD / 2], i, n = 0;
	int j, found = outliers_find(p->members, p->nmembers, counter_value, p->ncounters, odd,
				     CROWD / 2);

	if (found < 0)
		t->buf->failed = true;
	for (i = 0; i < p->nmembers; i++) {
		for (j = 0; j < found && odd[j] != i; j++)
			;
		if (i < CROWD / 4 || i >= p->nmembers - CROWD / 4 || j < found)
			out[n++] = p->members[i];
	}
	return n;
}

/*
 * Print the counters of the whole run, including the time before the first barrier and after the
 * last.
 */
static void summary_counters(struct textout *t, const struct report *r,
			     const struct fields_context *context)
{
	const struct report_process *p;
	struct report_thread some[CROWD];
	struct account account;
	char n[TEXTOUT_CELL];
	uint32_t i;

	for (i = 0; i < r->nprocesses && i < MOST; i++) {
		p = &r->processes[i];
		account = (struct account){ .record = &fields_rec_thread,
					    .rows = p->members,
					    .n = p->nmembers,
					    .counters = p->counters,
					    .ncounters = p->ncounters };
		if (!p->ncounters)
			continue;
		textout_line(t, TEXTOUT_BOLD, "COUNTERS of %s (%s) over the %s", name_of(p->comm),
			     textout_pid(n, p->pid, p->processes),
			     r->extent.window ? "part of the run that is shown" : "whole run");
		if (p->nmembers > CROWD) {
			account.rows = some;
			account.n = account.ends = pick_counted(t, p, some);
			textout_wrap(t, TEXTOUT_DIM, "    ", 4,
				     "%s; the first and the last %u, and up to %u outliers (--json "
				     "lists all)",
				     textout_plural(n, p->nmembers, "thread"), CROWD / 4,
				     CROWD / 2);
		}
		account_counters(t, &account, 4, context);
		textout_blank(t);
	}
}

/* --- efficiencies ----------------------------------------------------------------------------- */

static void efficiency_line(struct textout *t, const char *name, double value, double lost,
			    const char *what, const char *cause, const char *advice)
{
	char first[80], e[TEXTOUT_CELL], l[TEXTOUT_CELL];

	snprintf(first, sizeof(first), "  %-4s  %4s  ", name, textout_fraction(e, value));
	if (!isfinite(lost))
		textout_wrap(t, TEXTOUT_PLAIN, first, 14, "%s: unknown.", what);
	else
		textout_wrap(t, TEXTOUT_PLAIN, first, 14, "%s: %s lost to %s.%s%s", what,
			     textout_percent(l, lost), cause, advice ? " " : "",
			     !advice		  ? ""
			     : lost >= ADVICE_MIN ? advice
						  : "Little to gain here.");
}

static void efficiency_more(struct textout *t, const struct report_process *p)
{
	char lb[TEXTOUT_CELL], sched[TEXTOUT_CELL], start[TEXTOUT_CELL], ser[TEXTOUT_CELL],
		turns[TEXTOUT_CELL], cpu[TEXTOUT_CELL];

	if (isfinite(p->omp_load_balance) || isfinite(p->omp_scheduling) ||
	    isfinite(p->omp_serialisation))
		textout_wrap(
			t, TEXTOUT_PLAIN, "  ", 2,
			"OpenMP: load balance %s × scheduling %s × start of teams %s × "
			"serialisation %s × turns %s (TALP includes the start in serialisation, "
			"and waiting for a turn in useful time; scheduling first; %s).",
			textout_fraction(lb, p->omp_load_balance),
			textout_fraction(sched, p->omp_scheduling),
			textout_fraction(start, p->omp_start),
			textout_fraction(ser, p->omp_serialisation),
			textout_fraction(turns, p->omp_turns),
			p->start_seen ? "from the start of the process"
			: p->counted_from_ns != REPORT_UNKNOWN
				? "from its first recorded crossing, not from its start"
				: "from the start of tracing, not of the process");
	if (isfinite(p->useful_oncpu))
		textout_wrap(t, TEXTOUT_PLAIN, "  ", 2,
			     "The threads were on a CPU for %s of their time outside barriers.",
			     textout_percent(cpu, p->useful_oncpu));
}

#define SAME_THREADS   "static imbalance (the same threads take longer)"
#define DISTRIBUTE     "If they have more work, distribute it differently: by cost, or cyclically."
#define FEWER_BARRIERS "Use fewer barriers (join phases), or distribute the work dynamically."

/* Texts for load balance and serialisation: what time is lost to, and advice. */
struct efficiency_text {
	const char *lb, *lb_advice, *ser, *ser_advice;
};

static void summary_efficiency(struct textout *t, const struct report_process *p,
			       const struct report_group *g)
{
	static const struct efficiency_text hung = {
		.lb = "imbalance, including the hang",
		.ser = "imbalance, including the hang",
	};
	static const struct efficiency_text openmp = {
		.lb = "static imbalance, which includes serial parts",
		.lb_advice = "Move more of the serial parts into parallel regions, or distribute "
			     "the work differently: see the OpenMP figures below.",
		.ser = "rotating imbalance",
		.ser_advice = FEWER_BARRIERS,
	};
	static const struct efficiency_text by_barrier = {
		.lb = SAME_THREADS,
		.lb_advice = DISTRIBUTE,
		.ser = "rotating imbalance (a different thread is late at each barrier)",
		.ser_advice = "Distribute the work of each phase differently.",
	};
	static const struct efficiency_text other = {
		.lb = SAME_THREADS,
		.lb_advice = DISTRIBUTE,
		.ser = "rotating imbalance (a different thread is late each time)",
		.ser_advice = FEWER_BARRIERS,
	};
	const struct efficiency_text *text;
	const struct report_efficiency *e = &p->efficiency;
	struct buf title = { 0 };
	char v[TEXTOUT_CELL];

	if (!isfinite(e->parallel))
		return;
	textout_line(t, TEXTOUT_BOLD, "EFFICIENCY of %s, losses as shares of %s",
		     title_of(&title, p, g), unit_of(p, g));
	buf_free(&title);
	text = p->hung				? &hung
	       : isfinite(p->omp_serialisation) ? &openmp
	       : p->by_barrier			? &by_barrier
						: &other;
	efficiency_line(t, "LB", e->load_balance, p->lost_static, "load balance", text->lb,
			text->lb_advice);
	efficiency_line(t, "SerE", e->serialisation, p->lost_rotating, "serialisation", text->ser,
			text->ser_advice);
	efficiency_line(t, "TE", e->transfer, p->lost_transfer, "transfer",
			"barrier overhead and waking up",
			"Use fewer or cheaper barriers: spinning ones, or a CPU for every thread.");
	textout_wrap(t, TEXTOUT_PLAIN, "  PE    ", 14,
		     "%4s  parallel efficiency, the product of the three%s",
		     textout_fraction(v, e->parallel),
		     p->untraced ? ": an upper limit, see above" : "");
	efficiency_more(t, p);
	textout_blank(t);
}

static void summary_efficiencies(struct textout *t, const struct report *r)
{
	uint32_t i;

	for (i = 0; i < r->ngroups && i < MOST; i++)
		summary_efficiency(t, &r->groups[i].all, &r->groups[i]);
	for (i = 0; i < r->nprocesses && i < MOST; i++)
		if (!r->processes[i].meets_others)
			summary_efficiency(t, &r->processes[i], NULL);
	if (r->nprocesses > MOST) {
		textout_line(t, TEXTOUT_DIM,
			     "Efficiencies of %u more processes: see --json or --csv.",
			     r->nprocesses - MOST);
		textout_blank(t);
	}
}

/* --- what is missing, and the cost of tracing ------------------------------------------------- */

static void lost_of(struct textout *t, const struct report_process *p)
{
	char lost[TEXTOUT_CELL], abandoned[TEXTOUT_CELL], pid[TEXTOUT_CELL];

	textout_pid(pid, p->pid, p->processes);
	if (p->lost)
		textout_line(t, TEXTOUT_PLAIN, "  %s (%s): %s known to be missing.",
			     name_of(p->comm), pid, textout_plural(lost, p->lost, "crossing"));
	if (p->abandoned)
		textout_line(t, TEXTOUT_PLAIN, "  %s (%s): %s never returned from the barrier.",
			     name_of(p->comm), pid,
			     textout_plural(abandoned, p->abandoned, "crossing"));
}

static void summary_losses(struct textout *t, const struct report *r)
{
	char a[TEXTOUT_CELL], b[TEXTOUT_CELL], c[TEXTOUT_CELL];
	uint32_t i;

	textout_line(t, TEXTOUT_BOLD, "LOST");
	if (r->lossless)
		textout_line(t, TEXTOUT_PLAIN, "  No record lost: %s produced, %s consumed.",
			     textout_count(a, r->produced), textout_count(b, r->consumed));
	else if (!r->lost)
		textout_line(t, TEXTOUT_RED,
			     "  No record lost, but not all was traced: %s produced, %s consumed.",
			     textout_count(a, r->produced), textout_count(b, r->consumed));
	else
		textout_line(t, TEXTOUT_RED, "  %s records lost: %s produced, %s consumed.",
			     textout_count(a, r->lost), textout_count(b, r->produced),
			     textout_count(c, r->consumed));
	array_for_each (l, r->losses, r->nlosses)
		if (l->count)
			textout_wrap(t, TEXTOUT_PLAIN, "    ", 16, "%10s  %s",
				     textout_count(a, l->count), l->text ? l->text : l->cause);
	for (i = 0; i < r->nprocesses && i < MOST; i++)
		lost_of(t, &r->processes[i]);
	if (r->incomplete)
		textout_line(t, TEXTOUT_PLAIN, "  %s incomplete: not in any figure of imbalance.",
			     textout_plural(a, r->incomplete, "episode"));
	if (r->ntasks)
		textout_line(t, TEXTOUT_PLAIN,
			     "  Processes that run OpenMP tasks: %s. Their work inside barriers is "
			     "not known.",
			     textout_count(a, r->ntasks));
	if (r->ambiguous)
		textout_line(t, TEXTOUT_PLAIN, "  %s ambiguous: their threads are uncertain.",
			     textout_plural(a, r->ambiguous, "episode"));
	textout_blank(t);
}

/* Tracer interference is reported if it exceeds 1/20 of the cost. */
#define INTERFERENCE_REPORTED 20

static void cost_of(struct textout *t, const struct report_process *p)
{
	bool high = isfinite(p->cost_share) && p->cost_share > SUMMARY_COST_MAX, taken;
	char cost[TEXTOUT_CELL], share[TEXTOUT_CELL], had[TEXTOUT_CELL], pid[TEXTOUT_CELL];

	textout_pid(pid, p->pid, p->processes);
	if (p->cost_ns == REPORT_UNKNOWN) {
		textout_line(t, TEXTOUT_PLAIN, "  %s (%s): unknown", name_of(p->comm), pid);
		return;
	}
	taken = p->cost_interference_ns != REPORT_UNKNOWN &&
		p->cost_interference_ns > p->cost_ns / INTERFERENCE_REPORTED;
	textout_wrap(t, high ? TEXTOUT_RED : TEXTOUT_PLAIN, "  ", 4,
		     "%s%s (%s): %s%s, %s of its thread time%s%s%s%s", high ? "WARNING: " : "",
		     name_of(p->comm), pid, p->cost_limited ? "at most " : "",
		     textout_time(cost, p->cost_ns), textout_percent(share, p->cost_share),
		     taken ? "; tracer interference " : "",
		     taken ? textout_time(had, p->cost_interference_ns) : "",
		     p->exit_detection ? "; exit detection by " : "",
		     p->exit_detection ? p->exit_detection : "");
	if (p->paused_ns)
		textout_wrap(t, TEXTOUT_PLAIN, "    ", 4,
			     "The program's condition variables were busy and were not barriers, "
			     "so they were not watched for %s in all. A hand-written barrier that "
			     "was used only then is not found.",
			     textout_time(had, p->paused_ns));
	if (p->cost_limited)
		textout_wrap(t, TEXTOUT_RED, "    ", 4,
			     "How much less it is, is unknown: the measured prices add up to more "
			     "than the time in which its threads had CPUs. Other programs may have "
			     "disturbed the measurement of the prices.");
	if (p->cost_rough)
		textout_wrap(t, high ? TEXTOUT_RED : TEXTOUT_PLAIN, "    ", 4,
			     "Its threads work less than %u µs between barriers. If they sleep "
			     "there, tracing may change the CPU on which they wake. The cost may "
			     "then be nothing, or many times this estimate.",
			     REPORT_ROUGH_NS / 1000);
	if (high)
		textout_wrap(t, TEXTOUT_RED, "    ", 4,
			     "Short phases look longer than without tracing: trust the order of "
			     "the barriers, not their figures.");
}

/* Print the costs of single events, on which the estimate is based. */
static void cost_prices(struct textout *t, const struct report *r)
{
	char cpu[TEXTOUT_CELL], one[TEXTOUT_CELL], away[TEXTOUT_CELL];
	bool with_switch = isfinite(r->switch_cost_ns);

	textout_wrap(t, TEXTOUT_DIM, "  ", 2,
		     "One crossing costs %s%s%s%s; sbt-trace used %s of CPU time.",
		     isfinite(r->crossing_cost_ns)
			     ? textout_time(one, number_whole(r->crossing_cost_ns))
			     : "an unknown time",
		     with_switch ? ", and " : "",
		     with_switch ? textout_time(away, number_whole(r->switch_cost_ns)) : "",
		     with_switch ? " more if the thread sleeps" : "",
		     textout_time(cpu, r->tracer_cpu_ns));
}

/*
 * The cost of accounting is reported if it exceeds this share of one CPU (SWITCHES_REPORTED), and
 * is a warning if it exceeds SWITCHES_MAX.
 */
#define SWITCHES_REPORTED 0.01
#define SWITCHES_MAX	  0.1

/* Print the cost of accounting. It includes threads that cross no barrier. */
static void cost_switches(struct textout *t, const struct report *r)
{
	double share = (double)r->switches_cost_ns / (double)(r->end_ns - r->start_ns);
	char cost[TEXTOUT_CELL], part[TEXTOUT_CELL], rested[TEXTOUT_CELL];
	bool high = share > SWITCHES_MAX;

	if (r->switches_cost_ns == REPORT_UNKNOWN)
		return;
	if (share > SWITCHES_REPORTED)
		textout_wrap(
			t, high ? TEXTOUT_RED : TEXTOUT_PLAIN, "  ", 4,
			"%sRecording when threads sleep and wake, including threads that cross "
			"no barrier, took %s in all: %s of one CPU.",
			high ? "WARNING: " : "", textout_time(cost, r->switches_cost_ns),
			textout_percent(part, share));
	if (r->rested_ns && r->rested_ns != REPORT_UNKNOWN)
		textout_wrap(
			t, TEXTOUT_PLAIN, "  ", 4,
			"Threads that slept and woke 2,000 times in a second without crossing a "
			"barrier were not watched for the rest of that second, to limit the cost. "
			"Why they slept is not known for %s of their time (unattributed). Such "
			"threads switch more often while traced, which no estimate includes: they "
			"may take 50 %% longer. --no-causes avoids that.",
			textout_time(rested, r->rested_ns));
}

static void summary_cost(struct textout *t, const struct report *r)
{
	uint32_t i;

	textout_line(t, TEXTOUT_BOLD, "COST OF TRACING, estimated");
	for (i = 0; i < r->nprocesses && i < MOST; i++)
		cost_of(t, &r->processes[i]);
	if (r->nprocesses > MOST)
		textout_line(t, TEXTOUT_DIM, "  %u more processes: see --json or --csv.",
			     r->nprocesses - MOST);
	cost_prices(t, r);
	cost_switches(t, r);
	if (r->for_all && (r->nprocesses || r->nremarks))
		textout_wrap(t, TEXTOUT_DIM, "  ", 2,
			     "Probes on barrier functions, and with -a --discover on condition "
			     "variables and thread joins, were in every process that ran the "
			     "probed files. Each call of these functions took longer there, too, "
			     "and a program that "
			     "reached a probe under an emulator (valgrind, qemu-user) died of "
			     "SIGTRAP. With --no-children probes affect only the traced processes, "
			     "if the kernel supports it (see sbt-trace doctor).");
	/*
	 * tests/bench measured these numbers. The processes that pay this cost are not in the
	 * tables above.
	 */
	if (r->accounted)
		textout_wrap(t, TEXTOUT_DIM, "  ", 2,
			     "While tracing, a page fault of any process on this machine took 0.06 "
			     "to 0.1 µs longer (not with --no-causes).");
}

/*
 * Print loop barriers as the SBT library prints them at the end (figure 5.15 of the thesis that
 * emit/emit.h names). The library calls the waits idle times.
 */
static void summary_loops(struct textout *t, const struct report *r)
{
	char barrier[TEXTOUT_CELL], phase[TEXTOUT_CELL];
	struct buf waits = { 0 };
	const char *file;

	array_for_each (b, r->barriers, r->nbarriers) {
		if (!b->loop)
			continue;
		file = text_base_name(b->file);
		textout_line(t, TEXTOUT_BOLD, "SBT loop barrier in %s:%u%s%s%s", file ? file : "?",
			     b->line, b->name ? " \"" : "", b->name ? b->name : "",
			     b->name ? "\"" : "");
		textout_line(t, TEXTOUT_PLAIN, "    %-18s %s",
			     "Barrier time:", textout_time(barrier, b->barrier_ns.sum));
		textout_line(t, TEXTOUT_PLAIN, "    %-18s %s",
			     "Phase time:", textout_time(phase, b->phase_ns.sum));
		textout_line(t, TEXTOUT_PLAIN, "    %-18s %llu",
			     "Subphase count:", (unsigned long long)b->episodes);
		waits.len = 0;
		array_for_each (thread, b->threads, b->nthreads)
			buf_printf(&waits, "%s ", textout_time(phase, thread->wait_ns));
		textout_wrap(t, TEXTOUT_PLAIN, "    Thread idle times: ", 23, "[ %s]",
			     waits.s ? waits.s : "");
		textout_blank(t);
	}
	buf_free(&waits);
}

/*
 * Besides crossings, these are starts and ends of threads and phases, and time after the last
 * barrier.
 */
uint64_t summary_lost_records(const struct report *r)
{
	uint64_t sum = 0;

	if (r->lost)
		return r->lost;
	array_for_each (l, r->losses, r->nlosses)
		sum += l->count;
	return sum;
}

/* Print a reason why the figures do not cover everything. */
#define INCOMPLETE(t, ...) \
	(textout_blank(t), textout_wrap(t, TEXTOUT_RED, "", 2, "INCOMPLETE: " __VA_ARGS__))

static void summary_incomplete(struct textout *t, const struct report *r)
{
	uint64_t n_lost = summary_lost_records(r);
	bool one = r->ndetached == 1, one_part = r->ndetached_parts == 1;
	char n[TEXTOUT_CELL];

	if (r->cut)
		INCOMPLETE(t, "the recording ends before the run did.");
	if (r->ndetached)
		INCOMPLETE(t,
			   "%s %s not traced to the end (--cost-limit); %s figures cover only the "
			   "traced time.",
			   textout_count(n, r->ndetached), one ? "process was" : "processes were",
			   one ? "its" : "their");
	if (r->ndetached_parts)
		INCOMPLETE(
			t,
			"in %s %s some barriers were not traced to the end (--cost-limit); their "
			"figures cover only the traced time, and sums over %s do not include the "
			"rest.",
			textout_count(n, r->ndetached_parts), one_part ? "process" : "processes",
			one_part ? "this process" : "these processes");
	if (r->unmet)
		INCOMPLETE(t, "%s of barriers that processes share %s in no figure of imbalance%s.",
			   textout_plural(n, r->unmet, "crossing"), r->unmet == 1 ? "is" : "are",
			   r->aggregate ? " (--aggregate)" : ": their episodes are not known");
	if (r->arrivals_unseen)
		INCOMPLETE(t,
			   "%s waited for arrivals that are not traced, and %s in no figure of "
			   "lost time.",
			   textout_plural(n, r->arrivals_unseen, "crossing"),
			   r->arrivals_unseen == 1 ? "is" : "are");
	if (r->departures_unknown)
		INCOMPLETE(t,
			   "the departures of %s could not be inferred: the time inside the "
			   "barrier and the next phase are unknown (--departures seen).",
			   textout_plural(n, r->departures_unknown, "crossing"));
	if (r->nuntraced)
		INCOMPLETE(t,
			   "%s process%s may wait at C++ barriers that are not traced, because the "
			   "compiler inlined them.",
			   textout_count(n, r->nuntraced), r->nuntraced == 1 ? "" : "es");
	if (r->waits_unseen)
		INCOMPLETE(t, "processes that crossed no barrier may wait in calls that are not "
			      "traced. They are in no figure.");
	if (!r->lossless && !r->cut)
		INCOMPLETE(t, "%s lost%s; the figures above lack them.",
			   n_lost ? textout_plural(n, n_lost, "record")
				  : "an unknown number of records",
			   !r->lost && n_lost ? ", none of them a crossing" : "");
}

void summary_print(struct textout *t, const struct report *r, const struct fields_context *context)
{
	summary_loops(t, r);
	summary_hangs(t, r);
	summary_headline(t, r);
	summary_answers(t, r);
	summary_remarks(t, r);
	summary_processes(t, r, context);
	detail_conceptuals(t, r, context);
	if (r->nbarriers) {
		detail_barriers(t, r, context);
		summary_threads(t, r, context);
		detail_each(t, r, context);
	}
	activity_print(t, r, UINT32_MAX);
	summary_counters(t, r, context);
	detail_transitions(t, r, context);
	summary_efficiencies(t, r);
	summary_losses(t, r);
	summary_cost(t, r);
	summary_incomplete(t, r);
}
