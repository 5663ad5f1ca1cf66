// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hang/hang.h"
#include "base/number.h"
#include "emit/account.h"
#include "emit/outlier_threads.h"
#include "emit/table.h"

#define MOST	 10 /* processes spoken of */
#define PIDS	 8 /* of a group, that are listed */
#define FOUND	 64 /* processes of a group of which findings are told */
#define CROWD	 32 /* threads up to which all are shown */
#define TELLING	 0.05 /* share of the threads' time from which a loss is worth advice */
#define COST_MAX 0.05 /* share of the phases from which tracing itself distorts them */

static const char *name_of(const char *comm)
{
	return comm && *comm ? comm : "?";
}

/* --- the answer ------------------------------------------------------------------------------- */

/* The counters that are missing for the same reason as the @first, unless one before it had that. */
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

/* What was asked for and is in no table: the reader must not look for it in vain. */
static void summary_uncounted(struct textout *t, const struct report *r)
{
	uint32_t i;

	for (i = 0; i < r->nuncounted; i++)
		summary_missing(t, r, i);
}

/* What had not ended when tracing did comes before all figures. */
static void summary_hangs(struct textout *t, const struct report *r)
{
	char waited[TEXTOUT_CELL];
	uint32_t i;

	for (i = 0; i < r->nhangs && i < MOST; i++) {
		const struct report_hang *h = &r->hangs[i];

		textout_wrap(t, TEXTOUT_RED, "", 4, "SBT HANG: %s (pid %u) %s for %s: %s",
			     name_of(h->comm), h->pid,
			     r->interim ? "has been waiting" : "waited to the end,",
			     textout_time(waited, h->waited_ns), h->text);
	}
	if (r->nhangs > MOST)
		textout_line(t, TEXTOUT_RED, "and %u more hangs (--json has all)",
			     r->nhangs - MOST);
}

/* What the figures are of, where it is not all of it. */
static void summary_extent(struct textout *t, const struct report_extent *e)
{
	if (e->window)
		textout_wrap(t, TEXTOUT_PLAIN, "", 2,
			     "Only what threads came to from %.6g s to %.6g s after the start of "
			     "tracing: all times, sums and shares are of that part of the run. "
			     "What was lost and sbt-trace's own CPU time are of all of it.",
			     (double)e->from_ns / 1e9, (double)e->to_ns / 1e9);
	if (e->rows)
		textout_wrap(t, TEXTOUT_PLAIN, "", 2,
			     "Rows are shown of %s only. What is said of processes, their "
			     "efficiencies and counters, and of a barrier as a whole, is of all "
			     "their barriers and threads.",
			     e->rows);
}

static void summary_headline(struct textout *t, const struct report *r)
{
	char time[TEXTOUT_CELL], procs[TEXTOUT_CELL], episodes[TEXTOUT_CELL],
		barriers[TEXTOUT_CELL];
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < r->nprocesses; i++)
		n += r->processes[i].processes > 1 ? r->processes[i].processes : 1;
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
		textout_wrap(
			t, TEXTOUT_PLAIN, "", 2,
			"Sums kept in the kernel (--aggregate), of pthread barriers only: single "
			"meetings, why threads were late, which barrier came before, the longest "
			"phases, SerE and TE are not known.");
	if (r->left_out)
		textout_wrap(
			t, TEXTOUT_RED, "", 2,
			"What is traced also has barriers of %s: of these there is nothing here. "
			"They need a run without --aggregate.",
			r->left_out);
	textout_blank(t);
}

/* "gen (pid 12)", "4 processes gen (pids 12, 13, 15, 17)". */
static const char *who_of(struct buf *b, const struct report_process *p,
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

/* Of a process that runs tasks. */
static void summary_bounds(struct textout *t, const struct report_process *p)
{
	char least[TEXTOUT_CELL], most[TEXTOUT_CELL], oncpu[TEXTOUT_CELL], more[96] = "";

	if (isfinite(p->inside_oncpu))
		snprintf(more, sizeof(more), " They were on a CPU for %s of their time there.",
			 textout_percent(oncpu, p->inside_oncpu));
	textout_wrap(t, TEXTOUT_PLAIN, "  ", 2,
		     "PE %s to %s: nothing or all of what its threads do in barriers is work.%s",
		     textout_fraction(least, p->parallel_least),
		     textout_fraction(most, p->parallel_most), more);
}

static void summary_openmp(struct textout *t, const struct report_process *p,
			   const struct report_openmp_losses *omp, const char *at_most,
			   const char *of)
{
	const struct report_efficiency *e = &p->efficiency;
	char pe[TEXTOUT_CELL], lb[TEXTOUT_CELL], ser[TEXTOUT_CELL], te[TEXTOUT_CELL],
		s[TEXTOUT_CELL], ro[TEXTOUT_CELL], tr[TEXTOUT_CELL], st[TEXTOUT_CELL],
		tu[TEXTOUT_CELL];

	textout_wrap(
		t, TEXTOUT_PLAIN, "  ", 2,
		"PE %s%s = LB %s × SerE %s × TE %s: of %s, %s is lost in "
		"serial parts%s%s%s, %s in waiting for others in parallel regions%s%s%s, "
		"%s in the runtime.",
		at_most, textout_fraction(pe, e->parallel), textout_fraction(lb, e->load_balance),
		textout_fraction(ser, e->serialisation), textout_fraction(te, e->transfer), of,
		textout_percent(s, omp->serial), isfinite(omp->start) ? ", " : "",
		isfinite(omp->start) ? textout_percent(st, omp->start) : "",
		isfinite(omp->start) ? " in the start of the teams"
				     : " and in the start of the teams",
		textout_percent(ro, omp->waiting), omp->turns > 0 ? ", " : "",
		omp->turns > 0 ? textout_percent(tu, omp->turns) : "",
		omp->turns > 0 ? " in waiting for a turn" : "", textout_percent(tr, omp->runtime));
}

/* @g: of which @p is the sum; or NULL. */
static void summary_answer(struct textout *t, const struct report_process *p,
			   const struct report_group *g)
{
	const struct report_efficiency *e = &p->efficiency;
	const char *at_most = p->untraced ? "at most " : "";
	/* What PE is a share of: see positions_efficiency(). A group and an OpenMP team are there throughout. */
	const char *of = g || isfinite(p->omp_serialisation) ? "elapsed time × threads"
							     : "the threads' lives";
	struct buf who = { 0 };
	struct report_openmp_losses omp;
	char time[TEXTOUT_CELL], threads[TEXTOUT_CELL], pe[TEXTOUT_CELL], lb[TEXTOUT_CELL],
		ser[TEXTOUT_CELL], te[TEXTOUT_CELL], s[TEXTOUT_CELL], ro[TEXTOUT_CELL],
		tr[TEXTOUT_CELL], at_once[TEXTOUT_CELL + 16] = "";

	if (p->positions && p->positions < p->threads)
		snprintf(at_once, sizeof(at_once), " (%s at a time)",
			 textout_count(pe, p->positions));
	textout_wrap(t, TEXTOUT_BOLD, "", 2, "%s, %s%s, %s: %s", who_of(&who, p, g),
		     textout_plural(threads, p->threads, "thread"), at_once,
		     textout_time(time, p->elapsed_ns),
		     *p->verdict ? p->verdict : "nothing can be said of its barriers.");
	buf_free(&who);
	if (*p->advice)
		textout_wrap(t, TEXTOUT_PLAIN, "  -> ", 5, "%s", p->advice);
	if (p->tasks && isfinite(p->parallel_least)) {
		summary_bounds(t, p);
		return;
	}
	if (!isfinite(e->parallel)) {
		textout_line(t, TEXTOUT_PLAIN, "  Its efficiency is unknown.");
		return;
	}
	if (p->processes > 1) {
		textout_wrap(t, TEXTOUT_PLAIN, "  ", 2,
			     "PE %s%s; LB, SerE and TE are not known of processes that are kept as "
			     "a sum.",
			     at_most, textout_fraction(pe, e->parallel));
		return;
	}
	if (p->hung) {
		textout_wrap(
			t, TEXTOUT_PLAIN, "  ", 2,
			"PE %s%s = LB %s × SerE %s × TE %s, in which the time of the hang counts "
			"as lost.",
			at_most, textout_fraction(pe, e->parallel),
			textout_fraction(lb, e->load_balance),
			textout_fraction(ser, e->serialisation), textout_fraction(te, e->transfer));
		return;
	}
	if (!isfinite(e->serialisation) && isfinite(p->lost_static)) {
		textout_wrap(
			t, TEXTOUT_PLAIN, "  ", 2,
			"PE %s%s, LB %s: of %s, %s is lost as the same ones take "
			"longer; what goes into the barriers themselves is not told from what is "
			"lost as another one is late each time.",
			at_most, textout_fraction(pe, e->parallel),
			textout_fraction(lb, e->load_balance), of,
			textout_percent(s, p->lost_static));
		return;
	}
	if (report_openmp_losses(p, &omp)) {
		summary_openmp(t, p, &omp, at_most, of);
		return;
	}
	textout_wrap(t, TEXTOUT_PLAIN, "  ", 2,
		     "PE %s%s = LB %s × SerE %s × TE %s: of %s, %s is lost as the "
		     "same ones take longer, %s as another one is late %s, %s in the barriers "
		     "themselves.",
		     at_most, textout_fraction(pe, e->parallel),
		     textout_fraction(lb, e->load_balance), textout_fraction(ser, e->serialisation),
		     textout_fraction(te, e->transfer), of, textout_percent(s, p->lost_static),
		     textout_percent(ro, p->lost_rotating),
		     p->by_barrier ? "at each barrier" : "each time",
		     textout_percent(tr, p->lost_transfer));
}

static void summary_finding(struct textout *t, const struct report_finding *f, const char *first)
{
	if (*f->text)
		textout_wrap(t, TEXTOUT_PLAIN, first, 4, "%s", f->text);
}

static bool has_findings(const struct report *r, uint32_t pid)
{
	uint32_t i;

	for (i = 0; i < r->nfindings; i++)
		if (r->findings[i].pid == pid)
			return true;
	return false;
}

static void summary_findings(struct textout *t, const struct report *r, uint32_t pid)
{
	uint32_t i;

	for (i = 0; i < r->nfindings; i++)
		if (r->findings[i].pid == pid)
			summary_finding(t, &r->findings[i], "  * ");
}

/* Those of its processes, by whose they are. */
static void group_findings(struct textout *t, const struct report *r, const struct report_group *g)
{
	char first[64];
	uint32_t i, k;

	for (k = 0; k < g->nprocesses && k < FOUND; k++) {
		snprintf(first, sizeof(first), "  * pid %u: ", g->processes[k].pid);
		for (i = 0; i < r->nfindings; i++)
			if (r->findings[i].pid == g->processes[k].pid)
				summary_finding(t, &r->findings[i], first);
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
	for (i = 0; i < n; i++) {
		if (r->processes[i].meets_others)
			continue;
		summary_answer(t, &r->processes[i], NULL);
		summary_findings(t, r, r->processes[i].pid);
		textout_blank(t);
	}
	if (has_findings(r, 0)) {
		textout_line(t, TEXTOUT_BOLD, "This machine:");
		summary_findings(t, r, 0);
		textout_blank(t);
	}
}

/* What is not in the figures. */
static void summary_remarks(struct textout *t, const struct report *r)
{
	uint32_t i;
	bool item;

	if (!r->nremarks)
		return;
	textout_line(t, TEXTOUT_BOLD, "NOT IN THIS REPORT, or only in part");
	for (i = 0; i < r->nremarks; i++) {
		item = remark_is_item(&r->remarks[i]);
		textout_wrap(t, TEXTOUT_PLAIN, item ? "      " : "  * ", item ? 8 : 4, "%s",
			     r->remarks[i].text);
	}
	textout_blank(t);
}

static void summary_processes(struct textout *t, const struct report *r,
			      const struct fields_context *context)
{
	struct table table = { 0 };
	uint32_t i, n = r->nprocesses < 2 * MOST ? r->nprocesses : 2 * MOST;

	if (r->nprocesses < 2)
		return;
	textout_line(t, TEXTOUT_BOLD, "PROCESSES, most lost time first");
	table_fields(&table, &fields_rec_process, context);
	for (i = 0; i < n; i++)
		table_row(&table, &fields_rec_process, &r->processes[i], context);
	table_print(&table, t, 2);
	if (n < r->nprocesses)
		textout_line(t, TEXTOUT_PLAIN, "  and %u more; --json and --csv list all.",
			     r->nprocesses - n);
	textout_blank(t);
}

/* Of use only where a barrier's own table does not already show it. */
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

/* Of many threads the first and the last, and between them those that are not like the others. */
static uint32_t pick_counted(struct textout *t, const struct report_process *p,
			     struct report_thread *out)
{
	uint32_t odd[CROWD / 2], i, n = 0;
	int j, found = outliers_outliers(p->members, p->nmembers, counter_value, p->ncounters, odd,
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

/* Of the whole run, the time before the first barrier and after the last included (figure 3.6). */
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
				     "%s; the first and the last %u, and up to %u that are not "
				     "like the rest (--json lists all)",
				     textout_plural(n, p->nmembers, "thread"), CROWD / 4,
				     CROWD / 2);
		}
		account_counters(t, &account, 4, context);
		textout_blank(t);
	}
}

/* --- efficiencies ----------------------------------------------------------------------------- */

static void efficiency_line(struct textout *t, const char *name, double value, double lost,
			    const char *what, const char *advice)
{
	char first[80], e[TEXTOUT_CELL], l[TEXTOUT_CELL];

	snprintf(first, sizeof(first), "  %-4s  %4s  ", name, textout_fraction(e, value));
	if (!isfinite(lost))
		textout_wrap(t, TEXTOUT_PLAIN, first, 14, "%s: unknown.", what);
	else if (!advice)
		textout_wrap(t, TEXTOUT_PLAIN, first, 14, "%s: takes %s.", what,
			     textout_percent(l, lost));
	else
		textout_wrap(t, TEXTOUT_PLAIN, first, 14, "%s: takes %s. %s", what,
			     textout_percent(l, lost),
			     lost >= TELLING ? advice : "Little to gain here.");
}

static void efficiency_more(struct textout *t, const struct report_process *p)
{
	char lb[TEXTOUT_CELL], sched[TEXTOUT_CELL], start[TEXTOUT_CELL], ser[TEXTOUT_CELL],
		turns[TEXTOUT_CELL], cpu[TEXTOUT_CELL];

	if (isfinite(p->omp_load_balance) || isfinite(p->omp_scheduling) ||
	    isfinite(p->omp_serialisation))
		textout_wrap(
			t, TEXTOUT_PLAIN, "  ", 2,
			"OpenMP: load balance %s × scheduling %s × start of the teams %s × "
			"serialisation %s × turns %s (TALP has the start in the serialisation, "
			"and waits for a turn in useful time; scheduling peeled first; %s).",
			textout_fraction(lb, p->omp_load_balance),
			textout_fraction(sched, p->omp_scheduling),
			textout_fraction(start, p->omp_start),
			textout_fraction(ser, p->omp_serialisation),
			textout_fraction(turns, p->omp_turns),
			p->start_seen ? "from the start of the process"
			: p->counted_from_ns != REPORT_UNKNOWN
				? "from its first recorded crossing on, not from its start"
				: "from the start of tracing on, not of the process");
	if (isfinite(p->useful_oncpu))
		textout_wrap(t, TEXTOUT_PLAIN, "  ", 2,
			     "Of the time outside barriers the threads were on a CPU for %s.",
			     textout_percent(cpu, p->useful_oncpu));
}

static void summary_efficiency(struct textout *t, const struct report_process *p,
			       const struct report_group *g)
{
	const struct report_efficiency *e = &p->efficiency;
	struct buf who = { 0 };
	char v[TEXTOUT_CELL];

	if (!isfinite(e->parallel))
		return;
	textout_line(t, TEXTOUT_BOLD, "EFFICIENCY of %s", who_of(&who, p, g));
	buf_free(&who);
	if (p->hung) {
		efficiency_line(t, "LB", e->load_balance, p->lost_static,
				"load balance: the time of the hang counts as lost", NULL);
		efficiency_line(t, "SerE", e->serialisation, p->lost_rotating,
				"serialisation: so it does here", NULL);
	} else if (isfinite(p->omp_serialisation)) {
		efficiency_line(t, "LB", e->load_balance, p->lost_static,
				"load balance, the same threads always take longer: serial parts "
				"are the work of one",
				"Put more of the serial parts into parallel regions, or divide the "
				"work anew: see OpenMP's own figures below.");
		efficiency_line(t, "SerE", e->serialisation, p->lost_rotating,
				"serialisation, another thread is late each time",
				"Fewer barriers (join phases), or hand out the work dynamically.");
	} else {
		efficiency_line(t, "LB", e->load_balance, p->lost_static,
				"load balance, the same threads always take longer",
				"Where it is their work, divide that anew: by cost, or dealt out "
				"in turn.");
		efficiency_line(
			t, "SerE", e->serialisation, p->lost_rotating,
			p->by_barrier ? "serialisation, at each barrier another thread is late"
				      : "serialisation, another thread is late each time",
			p->by_barrier ? "Divide the work of each phase anew."
				      : "Fewer barriers (join phases), or hand out the work "
					"dynamically.");
	}
	efficiency_line(
		t, "TE", e->transfer, p->lost_transfer,
		"transfer, the barriers themselves and waking up",
		"Fewer barriers, or cheaper ones: that spin, or with a CPU for every thread.");
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
		textout_line(t, TEXTOUT_DIM, "Efficiencies of %u more processes: --json, --csv.",
			     r->nprocesses - MOST);
		textout_blank(t);
	}
}

/* --- what is missing, and what it cost -------------------------------------------------------- */

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
		textout_line(t, TEXTOUT_PLAIN, "  Nothing lost: %s records produced, %s consumed.",
			     textout_count(a, r->produced), textout_count(b, r->consumed));
	else if (!r->lost)
		textout_line(
			t, TEXTOUT_RED,
			"  Not all was seen, though no record was lost: %s produced, %s consumed.",
			textout_count(a, r->produced), textout_count(b, r->consumed));
	else
		textout_line(t, TEXTOUT_RED, "  %s records lost: %s produced, %s consumed.",
			     textout_count(a, r->lost), textout_count(b, r->produced),
			     textout_count(c, r->consumed));
	for (i = 0; i < r->nlosses; i++)
		if (r->losses[i].count)
			textout_wrap(t, TEXTOUT_PLAIN, "    ", 16, "%10s  %s",
				     textout_count(a, r->losses[i].count),
				     r->losses[i].text ? r->losses[i].text : r->losses[i].cause);
	for (i = 0; i < r->nprocesses && i < MOST; i++)
		lost_of(t, &r->processes[i]);
	if (r->incomplete)
		textout_line(t, TEXTOUT_PLAIN,
			     "  %s incomplete: left out of every figure of imbalance.",
			     textout_plural(a, r->incomplete, "episode"));
	if (r->ntasks)
		textout_line(
			t, TEXTOUT_PLAIN,
			"  What is work in barriers is not known of processes that run tasks: %s.",
			textout_count(a, r->ntasks));
	if (r->ambiguous)
		textout_line(t, TEXTOUT_PLAIN, "  %s ambiguous: their members are not certain.",
			     textout_plural(a, r->ambiguous, "episode"));
	textout_blank(t);
}

/* What is less than this share of the cost is not worth a word. */
#define TAKEN_REPORTED 20

static void cost_of(struct textout *t, const struct report_process *p)
{
	bool high = isfinite(p->cost_share) && p->cost_share > COST_MAX, taken;
	char cost[TEXTOUT_CELL], share[TEXTOUT_CELL], had[TEXTOUT_CELL], pid[TEXTOUT_CELL];

	textout_pid(pid, p->pid, p->processes);
	if (p->cost_ns == REPORT_UNKNOWN) {
		textout_line(t, TEXTOUT_PLAIN, "  %s (%s): unknown", name_of(p->comm), pid);
		return;
	}
	taken = p->cost_interference_ns != REPORT_UNKNOWN &&
		p->cost_interference_ns > p->cost_ns / TAKEN_REPORTED;
	textout_wrap(t, high ? TEXTOUT_RED : TEXTOUT_PLAIN, "  ", 4,
		     "%s%s (%s): %s, %s of its phases%s%s%s%s", high ? "WARNING: " : "",
		     name_of(p->comm), pid, textout_time(cost, p->cost_ns),
		     textout_percent(share, p->cost_share),
		     taken ? "; sbt-trace itself had its threads' CPUs for " : "",
		     taken ? textout_time(had, p->cost_interference_ns) : "",
		     p->exit_detection ? "; departures by " : "",
		     p->exit_detection ? p->exit_detection : "");
	if (p->paused_ns)
		textout_wrap(
			t, TEXTOUT_PLAIN, "    ", 4,
			"Its condition variables are hot and were no barriers where they were "
			"looked at: for %s in all they were not, and a barrier by hand that it "
			"used then only is not found.",
			textout_time(had, p->paused_ns));
	if (p->cost_rough)
		textout_wrap(
			t, high ? TEXTOUT_RED : TEXTOUT_PLAIN, "    ", 4,
			"Its threads do less than %u µs of work between barriers. Where they sleep "
			"at them, tracing may change on which CPUs they wake, and what it costs "
			"may "
			"be nothing, or many times this.",
			REPORT_ROUGH_NS / 1000);
	if (high)
		textout_wrap(
			t, TEXTOUT_RED, "    ", 4,
			"Short phases look longer than they are without tracing: trust the order "
			"of the barriers, not their figures.");
}

/* What the estimate is made of. */
static void cost_prices(struct textout *t, const struct report *r)
{
	char cpu[TEXTOUT_CELL], one[TEXTOUT_CELL], away[TEXTOUT_CELL];
	bool with_switch = isfinite(r->switch_cost_ns);

	textout_wrap(t, TEXTOUT_DIM, "  ", 2,
		     "One crossing costs %s%s%s%s; sbt-trace itself used %s of CPU time.",
		     isfinite(r->crossing_cost_ns)
			     ? textout_time(one, number_whole(r->crossing_cost_ns))
			     : "an unknown time",
		     with_switch ? ", a thread's sleeping and waking " : "",
		     with_switch ? textout_time(away, number_whole(r->switch_cost_ns)) : "",
		     with_switch ? " more" : "", textout_time(cpu, r->tracer_cpu_ns));
}

/* From which share of a CPU on it is worth a word, and a warning. */
#define SWITCHES_REPORTED 0.01
#define SWITCHES_MAX	  0.1

/* Of who crosses no barrier, too. */
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
			"%sThat threads sleep and wake was looked at for %s in all, those that "
			"crossed no barrier too: %s of one CPU.",
			high ? "WARNING: " : "", textout_time(cost, r->switches_cost_ns),
			textout_percent(part, share));
	if (r->rested_ns && r->rested_ns != REPORT_UNKNOWN)
		textout_wrap(
			t, TEXTOUT_PLAIN, "  ", 4,
			"Threads that slept and woke 2,000 times in a second and crossed no "
			"barrier "
			"meanwhile were left alone for the rest of it, to spare them the cost: "
			"why they slept is not known for %s of their time (unattributed). Such "
			"threads switch more often while they are traced, which is in no "
			"estimate: they may take half as long again; --no-causes spares them "
			"that.",
			textout_time(rested, r->rested_ns));
}

static void summary_cost(struct textout *t, const struct report *r)
{
	uint32_t i;

	textout_line(t, TEXTOUT_BOLD, "COST OF TRACING, estimated");
	for (i = 0; i < r->nprocesses && i < MOST; i++)
		cost_of(t, &r->processes[i]);
	if (r->nprocesses > MOST)
		textout_line(t, TEXTOUT_DIM, "  %u more processes: --json, --csv.",
			     r->nprocesses - MOST);
	cost_prices(t, r);
	cost_switches(t, r);
	if (r->for_all && (r->nprocesses || r->nremarks))
		textout_wrap(
			t, TEXTOUT_DIM, "  ", 2,
			"Probes on barrier functions, with -a --discover on condition variables "
			"and "
			"the joining of threads, too, were in every process that ran the probed "
			"files: there each call took longer, too, and a program that reached one "
			"under an "
			"emulator (valgrind, qemu-user) died of SIGTRAP. With --no-children they "
			"are "
			"in the traced processes alone, where the kernel can do that (sbt-trace "
			"doctor).");
	/* As measured by tests/bench; nobody who pays it appears above. */
	if (r->accounted)
		textout_wrap(
			t, TEXTOUT_DIM, "  ", 2,
			"While it ran, a page fault of any process of this machine took 0.06 to "
			"0.1 µs longer (not so with --no-causes).");
}

/* Loop barriers as the SBT library sums them up at the end (figure 5.15); its idle time is our wait. */
static void summary_loops(struct textout *t, const struct report *r)
{
	char barrier[TEXTOUT_CELL], phase[TEXTOUT_CELL];
	const struct report_barrier *b;
	struct buf waits = { 0 };
	const char *file;
	uint32_t i, j;

	for (i = 0; i < r->nbarriers; i++) {
		b = &r->barriers[i];
		if (!b->loop)
			continue;
		file = b->file ? strrchr(b->file, '/') : NULL;
		file = file ? file + 1 : b->file;
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
		for (j = 0; j < b->nthreads; j++)
			buf_printf(&waits, "%s ", textout_time(phase, b->threads[j].wait_ns));
		textout_wrap(t, TEXTOUT_PLAIN, "    Thread idle times: ", 23, "[ %s]",
			     waits.s ? waits.s : "");
		textout_blank(t);
	}
	buf_free(&waits);
}

/* What was lost beside crossings: beginnings and ends of threads and phases, and what came after the last barrier. */
static uint64_t lost_beside(const struct report *r)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < r->nlosses; i++)
		sum += r->losses[i].count;
	return sum > r->lost ? sum - r->lost : 0;
}

/* Why the figures are not those of all that was there. */
static void summary_incomplete(struct textout *t, const struct report *r)
{
	char n[TEXTOUT_CELL];

	if (r->cut) {
		textout_blank(t);
		textout_line(t, TEXTOUT_RED,
			     "INCOMPLETE: the recording ends before the run did; what came then is "
			     "not there.");
	}
	if (r->ndetached) {
		textout_blank(t);
		textout_wrap(
			t, TEXTOUT_RED, "", 2,
			"INCOMPLETE: %s %s not traced to the end (--cost-limit); all figures of "
			"%s are of the time before.",
			textout_count(n, r->ndetached),
			r->ndetached == 1 ? "process was" : "processes were",
			r->ndetached == 1 ? "it" : "them");
	}
	if (r->ndetached_parts) {
		textout_blank(t);
		textout_wrap(t, TEXTOUT_RED, "", 2,
			     "INCOMPLETE: of %s process%s some barriers were not traced to the end "
			     "(--cost-limit); all figures of these are of the time before, and "
			     "sums over %s are "
			     "without what came there later.",
			     textout_count(n, r->ndetached_parts),
			     r->ndetached_parts == 1 ? "" : "es",
			     r->ndetached_parts == 1 ? "it" : "them");
	}
	if (r->unmet) {
		textout_blank(t);
		textout_wrap(t, TEXTOUT_RED, "", 2,
			     "INCOMPLETE: %s at barriers that processes share %s in no figure of "
			     "imbalance%s.",
			     textout_plural(n, r->unmet, "crossing"), r->unmet == 1 ? "is" : "are",
			     r->aggregate ? " (--aggregate)" : ": who met there is not known");
	}
	if (r->arrivals_unseen) {
		textout_blank(t);
		textout_wrap(t, TEXTOUT_RED, "", 2,
			     "INCOMPLETE: %s waited for threads that came without a trace: in no "
			     "figure of what is lost.",
			     textout_plural(n, r->arrivals_unseen, "crossing"));
	}
	if (r->nuntraced) {
		textout_blank(t);
		textout_wrap(t, TEXTOUT_RED, "", 2,
			     "INCOMPLETE: %s process%s may wait at C++ barriers that are not "
			     "traced: the compiler put them in line.",
			     textout_count(n, r->nuntraced), r->nuntraced == 1 ? "" : "es");
	}
	if (r->waits_unseen) {
		textout_blank(t);
		textout_wrap(t, TEXTOUT_RED, "", 2,
			     "INCOMPLETE: processes may wait in calls that are not traced, and are "
			     "in no figure, for they crossed no barrier.");
	}
	if (!r->lossless && !r->cut) {
		uint64_t others = lost_beside(r);

		textout_blank(t);
		textout_line(t, TEXTOUT_RED,
			     "INCOMPLETE: %s lost%s; the figures above are without them.",
			     r->lost  ? textout_plural(n, r->lost, "record")
			     : others ? textout_plural(n, others, "record")
				      : "an unknown number of records",
			     !r->lost && others ? ", none of them a crossing's" : "");
	}
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
	summary_counters(t, r, context);
	detail_transitions(t, r, context);
	summary_efficiencies(t, r);
	summary_losses(t, r);
	summary_cost(t, r);
	summary_incomplete(t, r);
}
