// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "emit/table.h"

#define MOST	 10 /* processes spoken of */
#define TELLING	 0.05 /* share of the threads' time from which a loss is worth advice */
#define COST_MAX 0.05 /* share of the phases from which tracing itself distorts them */

static const char *name_of(const char *comm)
{
	return comm && *comm ? comm : "?";
}

/* --- the answer ------------------------------------------------------------------------------- */

static void summary_headline(struct textout *t, const struct report *r)
{
	char time[TEXTOUT_CELL], procs[TEXTOUT_CELL], episodes[TEXTOUT_CELL],
		barriers[TEXTOUT_CELL];

	if (r->nprocesses == 1)
		snprintf(procs, sizeof(procs), "1 process");
	else
		snprintf(procs, sizeof(procs), "%u processes", r->nprocesses);
	textout_line(t, TEXTOUT_BOLD, "SBT %s: %s traced, %s, %s at %s",
		     r->interim ? "interim report" : "report",
		     textout_time(time, r->end_ns - r->start_ns), procs,
		     textout_plural(episodes, r->episodes, "episode"),
		     textout_plural(barriers, r->nbarriers, "barrier"));
	textout_blank(t);
}

static void summary_answer(struct textout *t, const struct report_process *p)
{
	const struct report_efficiency *e = &p->efficiency;
	char time[TEXTOUT_CELL], threads[TEXTOUT_CELL], pe[TEXTOUT_CELL], lb[TEXTOUT_CELL],
		ser[TEXTOUT_CELL], te[TEXTOUT_CELL], s[TEXTOUT_CELL], ro[TEXTOUT_CELL],
		tr[TEXTOUT_CELL];

	textout_wrap(t, TEXTOUT_BOLD, "", 2, "%s (pid %u), %s, %s: %s", name_of(p->comm), p->pid,
		     textout_plural(threads, p->threads, "thread"),
		     textout_time(time, p->elapsed_ns),
		     *p->verdict ? p->verdict : "nothing can be said of its barriers.");
	if (*p->advice)
		textout_wrap(t, TEXTOUT_PLAIN, "  -> ", 5, "%s", p->advice);
	if (!isfinite(e->parallel)) {
		textout_line(t, TEXTOUT_PLAIN, "  Its efficiency is unknown.");
		return;
	}
	textout_wrap(
		t, TEXTOUT_PLAIN, "  ", 2,
		"PE %s = LB %s × SerE %s × TE %s: of the threads' time %s is lost as the same ones "
		"have more to do, %s as another one is late each time, %s in the barriers "
		"themselves.",
		textout_fraction(pe, e->parallel), textout_fraction(lb, e->load_balance),
		textout_fraction(ser, e->serialisation), textout_fraction(te, e->transfer),
		textout_percent(s, p->lost_static), textout_percent(ro, p->lost_rotating),
		textout_percent(tr, p->lost_transfer));
}

static void summary_answers(struct textout *t, const struct report *r)
{
	uint32_t i, n = r->nprocesses < MOST ? r->nprocesses : MOST;

	if (!r->nprocesses) {
		textout_line(t, TEXTOUT_BOLD, "No thread crossed a barrier.");
		textout_blank(t);
	}
	for (i = 0; i < n; i++) {
		summary_answer(t, &r->processes[i]);
		textout_blank(t);
	}
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
	uint32_t i, b, own;

	for (i = 0; i < r->nprocesses && i < MOST; i++) {
		p = &r->processes[i];
		own = 0;
		for (b = 0; b < r->nbarriers; b++)
			own += r->barriers[b].pid == p->pid && detail_weighty(r, &r->barriers[b]);
		if (own < 2 || !p->nmembers)
			continue;
		textout_line(t, TEXTOUT_BOLD, "THREADS of %s (pid %u) over all barriers",
			     name_of(p->comm), p->pid);
		detail_threads(t, p->members, p->nmembers, context);
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
	else
		textout_wrap(t, TEXTOUT_PLAIN, first, 14, "%s: takes %s. %s", what,
			     textout_percent(l, lost),
			     lost >= TELLING ? advice : "Little to gain here.");
}

static void summary_efficiency(struct textout *t, const struct report_process *p)
{
	const struct report_efficiency *e = &p->efficiency;
	char v[TEXTOUT_CELL];

	if (!isfinite(e->parallel))
		return;
	textout_line(t, TEXTOUT_BOLD, "EFFICIENCY of %s (pid %u)", name_of(p->comm), p->pid);
	efficiency_line(
		t, "LB", e->load_balance, p->lost_static,
		"load balance, the same threads always have more to do",
		"Divide the work anew: by cost rather than by count, or dealt out in turn.");
	efficiency_line(t, "SerE", e->serialisation, p->lost_rotating,
			"serialisation, another thread is late each time",
			"Fewer barriers (join phases), or hand out the work dynamically.");
	efficiency_line(
		t, "TE", e->transfer, p->lost_transfer,
		"transfer, the barriers themselves and waking up",
		"Fewer barriers, or cheaper ones: that spin, or with a CPU for every thread.");
	textout_wrap(t, TEXTOUT_PLAIN, "  PE    ", 14,
		     "%4s  parallel efficiency, the product of the three",
		     textout_fraction(v, e->parallel));
	textout_blank(t);
}

static void summary_efficiencies(struct textout *t, const struct report *r)
{
	uint32_t i;

	for (i = 0; i < r->nprocesses && i < MOST; i++)
		summary_efficiency(t, &r->processes[i]);
	if (r->nprocesses > MOST) {
		textout_line(t, TEXTOUT_DIM, "Efficiencies of %u more processes: --json, --csv.",
			     r->nprocesses - MOST);
		textout_blank(t);
	}
}

/* --- what is missing, and what it cost -------------------------------------------------------- */

static void lost_of(struct textout *t, const struct report_process *p)
{
	char lost[TEXTOUT_CELL], abandoned[TEXTOUT_CELL];

	if (p->lost)
		textout_line(t, TEXTOUT_PLAIN, "  %s (pid %u): %s known to be missing.",
			     name_of(p->comm), p->pid, textout_plural(lost, p->lost, "crossing"));
	if (p->abandoned)
		textout_line(t, TEXTOUT_PLAIN, "  %s (pid %u): %s never returned from the barrier.",
			     name_of(p->comm), p->pid,
			     textout_plural(abandoned, p->abandoned, "crossing"));
}

static void summary_losses(struct textout *t, const struct report *r)
{
	char a[TEXTOUT_CELL], b[TEXTOUT_CELL], c[TEXTOUT_CELL];
	uint32_t i;

	textout_line(t, TEXTOUT_BOLD, "LOST");
	if (r->complete && !r->lost)
		textout_line(t, TEXTOUT_PLAIN, "  Nothing lost: %s records produced, %s consumed.",
			     textout_count(a, r->produced), textout_count(b, r->consumed));
	else
		textout_line(t, TEXTOUT_RED, "  %s records lost: %s produced, %s consumed.",
			     textout_count(a, r->lost), textout_count(b, r->produced),
			     textout_count(c, r->consumed));
	for (i = 0; i < r->nlosses; i++)
		if (r->losses[i].count)
			textout_line(t, TEXTOUT_PLAIN, "    %10s  %s",
				     textout_count(a, r->losses[i].count),
				     r->losses[i].text ? r->losses[i].text : r->losses[i].cause);
	for (i = 0; i < r->nprocesses && i < MOST; i++)
		lost_of(t, &r->processes[i]);
	if (r->incomplete)
		textout_line(t, TEXTOUT_PLAIN,
			     "  %s incomplete: left out of every figure of imbalance.",
			     textout_plural(a, r->incomplete, "episode"));
	if (r->ambiguous)
		textout_line(t, TEXTOUT_PLAIN, "  %s ambiguous: their members are not certain.",
			     textout_plural(a, r->ambiguous, "episode"));
	textout_blank(t);
}

static void cost_of(struct textout *t, const struct report_process *p)
{
	bool high = isfinite(p->cost_share) && p->cost_share > COST_MAX;
	char cost[TEXTOUT_CELL], share[TEXTOUT_CELL];

	if (p->cost_ns == REPORT_UNKNOWN) {
		textout_line(t, TEXTOUT_PLAIN, "  %s (pid %u): unknown", name_of(p->comm), p->pid);
		return;
	}
	textout_wrap(t, high ? TEXTOUT_RED : TEXTOUT_PLAIN, "  ", 4,
		     "%s%s (pid %u): %s, %s of its phases%s%s", high ? "WARNING: " : "",
		     name_of(p->comm), p->pid, textout_time(cost, p->cost_ns),
		     textout_percent(share, p->cost_share), p->departures ? "; departures by " : "",
		     p->departures ? p->departures : "");
	if (high)
		textout_wrap(
			t, TEXTOUT_RED, "    ", 4,
			"Short phases look longer than they are without tracing: trust the order "
			"of the barriers, not their figures.");
}

static void summary_cost(struct textout *t, const struct report *r)
{
	char cpu[TEXTOUT_CELL], one[TEXTOUT_CELL];
	uint32_t i;

	textout_line(t, TEXTOUT_BOLD, "COST OF TRACING, estimated");
	for (i = 0; i < r->nprocesses && i < MOST; i++)
		cost_of(t, &r->processes[i]);
	if (r->nprocesses > MOST)
		textout_line(t, TEXTOUT_DIM, "  %u more processes: --json, --csv.",
			     r->nprocesses - MOST);
	textout_line(
		t, TEXTOUT_DIM, "  One crossing costs %s; sbt-trace itself used %s of CPU time.",
		isfinite(r->crossing_cost_ns) ? textout_time(one, (uint64_t)r->crossing_cost_ns)
					      : "an unknown time",
		textout_time(cpu, r->tracer_cpu_ns));
}

void summary_print(struct textout *t, const struct report *r, const struct fields_context *context)
{
	char n[TEXTOUT_CELL];

	summary_headline(t, r);
	summary_answers(t, r);
	summary_processes(t, r, context);
	if (r->nbarriers) {
		detail_barriers(t, r, context);
		summary_threads(t, r, context);
		detail_each(t, r, context);
	}
	detail_transitions(t, r, context);
	summary_efficiencies(t, r);
	summary_losses(t, r);
	summary_cost(t, r);
	if (r->lost || !r->complete) {
		textout_blank(t);
		textout_line(t, TEXTOUT_RED,
			     "INCOMPLETE: %s lost; the figures above are without them.",
			     r->lost ? textout_plural(n, r->lost, "record")
				     : "an unknown number of records");
	}
}
