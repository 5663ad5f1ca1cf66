// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/first_screen.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/function_name.h"
#include "base/number.h"
#include "base/text.h"
#include "emit/activity.h"
#include "emit/account.h"
#include "emit/summary.h"
#include "emit/table.h"
#include "emit/why.h"
#include "hang/hang.h"

#define LABEL		  48 /* columns of a barrier in a title */
#define FINDINGS	  3 /* largest number of findings */
#define ROWS		  10 /* largest number of barriers in the table */
#define ROWS_LEAST	  3 /* rows that findings leave to the table */
#define PHASES		  3 /* largest number of phases that the user named */
/* Largest number of lines of parts that can be long. */
#define ANSWER		  3
#define ANSWER_HUNG	  2 /* below a hang */
#define HANG		  3
#define BODY_ONE	  5 /* body of the only finding */
#define BODY_MOST	  4
#define BODY_LEAST	  2
#define NOTES		  8
#define NOTES_HUNG	  4 /* below a hang */
#define REMARK		  2
#define REMARK_ALONE	  4 /* if no thread crossed a barrier, and it is not known what they did */
#define REMARK_WHAT	  3 /* if it says what the program has instead of barriers */
#define ACTIVITY_LEAST	  9 /* lines that remarks leave to that list */
#define REMARKS		  3 /* largest number of remarks above a list of what threads did */
/*
 * Lines that a finding needs at least: its title and its advice have up to 2, its body 1. The table
 * needs 4: title, headings, one row, and the number of the other rows.
 */
#define FINDING_LEAST	  5
#define TABLE_LEAST	  4
/* a barrier or fact with a gain below this share of the elapsed time is no finding */
#define GAIN_LEAST	  0.01
#define WIDE		  80 /* columns of a terminal on which no part needs more lines */
#define GLOSS_WIDTH	  94 /* columns that the line of the efficiencies has with its gloss */
#define NAME_LEAST	  16 /* columns of a name, while others can be left out */
/* Columns that a narrow table leaves out; each number includes the smaller ones. */
#define LEFT_OUT_PHASE	  1
#define LEFT_OUT_EPISODES 2

/* Lines that are counted before they are printed. */
struct part {
	struct buf buf;
	struct textout t;
};

struct screen {
	struct textout *t;
	const struct report *r;
	const struct fields_context *context;
	/* the process or group that loses most; NULL if no process crossed a barrier */
	const struct report_process *top;
	const struct report_group *group; /* NULL: `top` is a single process */
	bool many; /* several processes or groups, so that names need a pid */
	bool narrow; /* the efficiencies and the summary may take two lines each */
	uint64_t warnings, warned_ns;
	unsigned notes_most; /* largest number of lines of all notes */
	uint32_t notes, findings; /* numbers of notes and findings that only --detail shows */
};

static void part_begin(struct part *p, const struct textout *t)
{
	*p = (struct part){ .t = *t };
	p->t.buf = &p->buf;
}

static unsigned part_lines(const struct part *p)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < p->buf.len; i++)
		n += p->buf.s[i] == '\n';
	return n;
}

/* Add the lines of @p to @out, with a blank line before them if @blank, and free @p. */
static void part_end(struct part *p, struct textout *out, bool blank)
{
	if (p->buf.len && blank)
		textout_blank(out);
	if (p->buf.len)
		buf_add(out->buf, p->buf.s, p->buf.len);
	out->buf->failed |= p->buf.failed;
	buf_free(&p->buf);
}

static const char *name_of(const char *comm)
{
	return comm && *comm ? comm : "?";
}

/* Return whether a sentence is complete. */
static bool has_stop(const char *s)
{
	size_t n = strlen(s);

	return n && strchr(".!?", s[n - 1]);
}

/* --- the process that the answer is about ----------------------------------------------------- */

static uint64_t lost_by(const struct report_process *p)
{
	return p->wait_ns == REPORT_UNKNOWN ? 0 : p->wait_ns;
}

/* Choose what the answer is about. Processes and groups are ordered by lost time. */
static void choose_top(struct screen *s)
{
	const struct report *r = s->r;
	uint32_t single = 0;

	array_for_each (p, r->processes, r->nprocesses) {
		if (p->meets_others && r->ngroups)
			continue;
		if (!single++)
			s->top = p;
	}
	if (r->ngroups && (!s->top || lost_by(&r->groups[0].all) >= lost_by(s->top))) {
		s->group = &r->groups[0];
		s->top = &s->group->all;
	}
	s->many = single + r->ngroups > 1;
}

/* Return the process or group with figures that include the barrier's figures. */
static const struct report_process *owner_of(const struct report *r, const struct report_barrier *b)
{
	array_for_each (p, r->processes, r->nprocesses)
		if (p->pid == b->pid && !p->meets_others)
			return p;
	array_for_each (g, r->groups, r->ngroups)
		array_for_each (p, g->processes, g->nprocesses)
			if (p->pid == b->pid)
				return &g->all;
	return NULL;
}

/* Return the known time of the owner's threads, in ns; 0 if unknown or if nothing was lost. */
static double thread_time(const struct report_process *p)
{
	return p && p->wait_ns != REPORT_UNKNOWN && p->wait_share > 0
		       ? (double)p->wait_ns / p->wait_share
		       : 0;
}

/* --- the answer ------------------------------------------------------------------------------- */

static void answer_hangs(const struct screen *s, struct textout *t)
{
	const struct report_hang *h = s->r->hangs;
	char waited[TEXTOUT_CELL], n[TEXTOUT_CELL];

	if (!s->r->nhangs)
		return;
	textout_wrap_most(t, TEXTOUT_RED, "", 2, HANG, "SBT HANG: %s (pid %u) %s for %s%s: %s",
			  name_of(h->comm), h->pid, s->r->interim ? "has been waiting" : "waited",
			  textout_time(waited, h->waited_ns), s->r->interim ? "" : " until the end",
			  h->text);
	if (s->r->nhangs > 1)
		textout_line(t, TEXTOUT_RED, "and %s (--detail lists them)",
			     textout_plural(n, s->r->nhangs - 1, "more hang"));
}

/* Print the headline. In Markdown, it is a heading. */
static void headline(struct textout *t, unsigned most, const char *text)
{
	if (t->markdown)
		textout_line(t, TEXTOUT_BOLD, "%s", text);
	else
		textout_wrap_most(t, TEXTOUT_BOLD, "", 2, most, "%s", text);
}

/*
 * Add the verdict of the process or group, without what is about single threads. If it contains a
 * label that is too long, shorten the label instead of the end of the verdict.
 */
static void add_verdict(const struct screen *s, struct buf *b)
{
	const struct report_process *p = s->top;
	size_t n = p->verdict_head ? p->verdict_head : strlen(p->verdict);
	const char *at = NULL;
	size_t label = 0;

	array_for_each (barrier, s->r->barriers, s->r->nbarriers) {
		if (at)
			break;
		label = strlen(barrier->label);
		at = label > LABEL ? memmem(p->verdict, n, barrier->label, label) : NULL;
	}
	if (!n) {
		buf_str(b, "nothing is known about its barriers.");
	} else if (at && !s->t->markdown) {
		char name[sizeof(s->r->barriers->label)], *fit;

		snprintf(name, sizeof(name), "%.*s", (int)label, at);
		fit = textout_fit(name, LABEL);
		buf_add(b, p->verdict, (size_t)(at - p->verdict));
		buf_str(b, fit ? fit : "?");
		buf_add(b, at + label, n - label - (size_t)(at - p->verdict));
		free(fit);
	} else {
		buf_add(b, p->verdict, n);
	}
	if (p->verdict_head)
		buf_char(b, '.');
}

static void answer_title(const struct screen *s, struct buf *b)
{
	const struct report_process *p = s->top;
	char n[TEXTOUT_CELL], pid[TEXTOUT_CELL];
	/* Other processes of COMMAND may run other scripts. */
	const char *script = *s->context->script && s->r->nprocesses == 1 && !p->parent
				     ? s->context->script
				     : NULL;

	if (s->group)
		buf_printf(b, "%u processes%s%s", s->group->nprocesses, p->comm ? " of " : "",
			   p->comm ? p->comm : "");
	else
		buf_printf(b, "%s%s%s", name_of(p->comm), script ? " " : "", script ? script : "");
	if (!s->group && (s->many || p->processes > 1))
		buf_printf(b, " (%s)", textout_pid(pid, p->pid, p->processes));
	buf_printf(b, ", %s%s", textout_plural(n, p->threads, "thread"), s->group ? " in all" : "");
	if (p->positions && p->positions < p->threads)
		buf_printf(b, " (%s at a time)", textout_count(n, p->positions));
	buf_printf(b, ", %s: ", textout_time(n, p->elapsed_ns));
	add_verdict(s, b);
}

static void answer(const struct screen *s, struct textout *t)
{
	char elapsed[TEXTOUT_CELL];
	struct buf text = { 0 };

	answer_hangs(s, t);
	buf_printf(&text, "SBT %s: ", s->r->interim ? "interim report" : "report");
	if (s->top)
		answer_title(s, &text);
	else
		buf_printf(&text, "no thread crossed a %sbarrier in %s.",
			   s->r->aggregate ? "pthread " : "",
			   textout_time(elapsed, s->r->end_ns - s->r->start_ns));
	if (text.failed)
		t->buf->failed = true;
	else
		headline(t, s->r->nhangs ? ANSWER_HUNG : ANSWER, text.s);
	buf_free(&text);
}

/* --- findings --------------------------------------------------------------------------------- */

/* A candidate for the list of findings. Exactly one of the pointers b, f and p is set. */
struct candidate {
	const struct report_barrier *b;
	const struct report_finding *f;
	const struct report_process *p; /* the process has an OpenMP loss */
	const struct report_process *owner; /* NULL if unknown */
	double gain_ns; /* NAN if unknown */
	bool on_cpu; /* the gain comes from less work on CPUs */
	uint32_t after; /* if not 0: gain_ns is only what it adds to so many earlier gains */
};

/* Facts about the machine or its use, and what to do about them. Other facts are notes. */
struct fact {
	const char *kind, *advice;
	const char *basis; /* what the gain assumes; NULL: the gain is unknown */
	/* Return the time that one thread loses, ns, or REPORT_UNKNOWN; NULL: unknown. */
	uint64_t (*loss)(const struct report_thread *thread);
};

static uint64_t known(uint64_t ns)
{
	return ns == REPORT_UNKNOWN ? 0 : ns;
}

static uint64_t loss_of_cpu(const struct report_thread *thread)
{
	if (thread->parts.runq_ns == REPORT_UNKNOWN)
		return REPORT_UNKNOWN;
	return thread->parts.runq_ns + known(thread->parts.late_ns);
}

static uint64_t loss_by_quota(const struct report_thread *thread)
{
	return thread->parts.blocked_ns[MODEL_BLOCKED_THROTTLED];
}

static const struct fact *fact_of(const struct report_finding *f)
{
	static const struct fact facts[] = {
		{ "oversubscribed", "Use no more threads than CPUs.", NULL, NULL },
		{ "spinning",
		  "Let waiting threads sleep at once (OMP_WAIT_POLICY=passive), or use no more "
		  "threads than CPUs.",
		  "without this wait", NULL },
		{ "pinned", "Give each thread its own CPU (affinity).",
		  "if these threads may use all CPUs", loss_of_cpu },
		{ "migrating", "Bind each thread to a CPU (affinity).", NULL, NULL },
		{ "slow_cpu", "Keep threads off this CPU, or give it less work.", NULL, NULL },
		{ "throttled",
		  "Raise the CPU quota of the cgroup, or use no more threads than it allows.",
		  "without the quota", loss_by_quota },
	};

	array_for_each (fact, facts, sizeof(facts) / sizeof(facts[0]))
		if (!strcmp(fact->kind, f->kind))
			return fact;
	return NULL;
}

static double fact_gain(const struct fact *fact, const struct report_finding *f,
			const struct report_process *p)
{
	bool is_known = false;
	uint64_t most = 0;

	/* While threads spun, one thread waited: the run lost at most this time. */
	if (!strcmp(f->kind, "spinning"))
		return f->figure * 1e9;
	if (!fact->loss || !p)
		return NAN;
	/* A member without a number is the sum of many threads that have ended. */
	array_for_each (m, p->members, p->nmembers) {
		uint64_t loss = m->tid ? fact->loss(m) : REPORT_UNKNOWN;

		if (loss == REPORT_UNKNOWN)
			continue;
		is_known = true;
		most = loss > most ? loss : most;
	}
	return is_known ? fmin((double)most, (double)p->elapsed_ns) : NAN;
}

/* The largest gain first; unknown gains last. */
static int by_gain(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (isnan(x->gain_ns) || isnan(y->gain_ns))
		return (isnan(x->gain_ns) != 0) - (isnan(y->gain_ns) != 0);
	return NUMBER_COMPARE(y->gain_ns, x->gain_ns);
}

static bool worth(const struct candidate *c)
{
	return isnan(c->gain_ns) || !c->owner || !c->owner->elapsed_ns ||
	       c->gain_ns >= GAIN_LEAST * (double)c->owner->elapsed_ns;
}

static const struct report_process *process_of(const struct report *r, uint32_t pid)
{
	array_for_each (p, r->processes, r->nprocesses)
		if (p->pid == pid)
			return p;
	return NULL;
}

/* Return the time, in ns, that the work of the threads of a process or group needs on the CPUs. */
static double work_least(const struct report *r, const struct report_process *p)
{
	double sum = 0;

	array_for_each (m, p->members, p->nmembers)
		sum += (double)known(m->parts.oncpu_ns);
	return r->ncpus ? sum / r->ncpus : 0;
}

/*
 * The run cannot become shorter than the work on its CPUs takes. Limit each gain to what is left of
 * this after the gains of earlier candidates of the same process or group.
 */
static void limit_gains(const struct report *r, struct candidate *all, uint32_t n)
{
	uint32_t i, j;

	for (i = 0; i < n; i++) {
		struct candidate *c = &all[i];
		const struct report_process *p = c->owner;
		double room;

		if (!p || p->processes > 1 || !p->elapsed_ns || isnan(c->gain_ns))
			continue;
		room = (double)p->elapsed_ns - (c->on_cpu ? 0 : work_least(r, p));
		for (j = 0; j < i; j++)
			if (all[j].owner == p && (c->on_cpu || !all[j].on_cpu))
				room -= all[j].gain_ns;
		room = fmax(room, 0);
		if (c->gain_ns <= room)
			continue;
		for (j = 0; j < i; j++)
			c->after += all[j].owner == p;
		c->gain_ns = room;
	}
}

/* Collect what deserves a finding into @all, sorted. Return the number. */
static uint32_t collect(const struct report *r, struct candidate *all)
{
	uint32_t n = 0;

	array_for_each (b, r->barriers, r->nbarriers) {
		uint64_t gain = b->nested ? REPORT_UNKNOWN : report_gain(b);

		all[n] = (struct candidate){ .b = b,
					     .owner = owner_of(r, b),
					     .gain_ns = (double)gain };
		report_gain_basis(b, &all[n].on_cpu);
		n += gain != REPORT_UNKNOWN && gain && worth(&all[n]);
	}
	array_for_each (p, r->processes, r->nprocesses)
		if (p->openmp_where)
			all[n++] = (struct candidate){ .p = p,
						       .owner = p,
						       .gain_ns = p->openmp_lost *
								  (double)p->elapsed_ns };
	array_for_each (f, r->findings, r->nfindings) {
		const struct fact *fact = fact_of(f);
		const struct report_process *p = f->pid ? process_of(r, f->pid) : NULL;

		if (!fact)
			continue;
		all[n] = (struct candidate){ .f = f, .owner = p, .gain_ns = fact_gain(fact, f, p) };
		n += worth(&all[n]);
	}
	qsort(all, n, sizeof(*all), by_gain);
	limit_gains(r, all, n);
	return n;
}

static void add_gain(struct buf *b, const struct candidate *c)
{
	char gain[TEXTOUT_CELL], all[TEXTOUT_CELL], share[TEXTOUT_CELL];
	const struct report_process *p = c->owner;

	if (isnan(c->gain_ns)) {
		buf_str(b, "gain unknown");
		return;
	}
	if (c->after && !worth(c)) {
		buf_printf(b, "the gain is a part of the gain%s above", c->after == 1 ? "" : "s");
		return;
	}
	buf_printf(b, "gain up to %s%s", textout_time(gain, number_whole(c->gain_ns)),
		   c->after ? " more" : "");
	/* The elapsed time of processes that are kept as a sum is a sum, too. */
	if (p && p->processes <= 1 && p->elapsed_ns)
		buf_printf(b, " of %s (%s)", textout_time(all, p->elapsed_ns),
			   textout_percent(share, c->gain_ns / (double)p->elapsed_ns));
	buf_printf(b, " %s",
		   c->b	  ? report_gain_basis(c->b, NULL)
		   : c->f ? fact_of(c->f)->basis
			  : "without this loss");
}

/* Return whether the last arriver's number identifies it: not if processes share the barrier. */
static bool is_numbered(const struct report_barrier *b)
{
	return b->last_known && b->last_index != MODEL_NONE && (!b->shared || b->ranked);
}

/* Return whether one thread arrives last so often that it is not chance. */
static bool often_last(const struct report_barrier *at)
{
	return at->last_tid && at->participants &&
	       (at->last_share * at->participants > 1.5 || at->last_share >= 0.9);
}

/* Return whether add_late() names a late thread. */
static bool names_late(const struct report_barrier *at)
{
	return often_last(at) || at->pattern == REPORT_ROTATING;
}

/* Add which thread is late. */
static void add_late(struct buf *b, const struct report_barrier *at)
{
	bool rotating = at->pattern == REPORT_ROTATING;
	bool often = often_last(at);
	const char *comm = text_same(at->last_comm, at->comm) ? NULL : at->last_comm;
	char last[TEXTOUT_CELL], n[TEXTOUT_CELL], number[TEXTOUT_CELL] = "";

	if (is_numbered(at))
		snprintf(number, sizeof(number), " %u", at->last_index);
	if (rotating)
		buf_printf(b, "A different %s arrives last each time%s",
			   at->ranked ? "rank" : "thread", often ? ", most often " : ". ");
	if (!often && !rotating)
		buf_printf(b, "%s of %u %s%s. ", textout_plural(n, at->episodes, "episode"),
			   at->participants, at->ranked ? "rank" : "thread",
			   at->participants == 1 ? "" : "s");
	if (!often)
		return;
	buf_printf(b, "%s%s (tid %u%s%s)%s in %s of %s. ",
		   at->ranked ? rotating ? "rank" : "Rank"
		   : rotating ? "thread"
			      : "Thread",
		   number, at->last_tid, comm ? ", " : "", comm ? comm : "",
		   rotating ? "," : " arrives last", textout_count(last, at->last_count),
		   textout_plural(n, at->episodes, "episode"));
}

/* Add @before and a place, "relax() ocean.c:12", and @after; nothing if the place is unknown. */
static void add_place(struct buf *b, const char *before, const char *function, const char *file,
		      uint32_t line, const char *after)
{
	const char *name = function ? function : "?";

	if (file && line)
		buf_printf(b, "%s%s%s %s:%u%s", before, name, function_name_call(name),
			   text_base_name(file), line, after);
	else if (function)
		buf_printf(b, "%s%s%s%s", before, name, function_name_call(name), after);
}

/* Add where the late thread was blocked, if a stack is known. */
static void add_stack(struct buf *b, const struct report_cause *cause)
{
	const struct report_callsite *f = why_place(cause);

	if (f)
		add_place(b, " At ", f->function, f->file, f->line, ".");
}

/*
 * Return the barrier's phase that lost at least half of the barrier's lost time, or NULL: without
 * it, the phase can only be named after the barrier at its end.
 */
static const struct report_phase *main_phase(const struct report *r, const struct report_barrier *b)
{
	const struct report_phase *most = NULL;

	array_for_each (p, r->phases, r->nphases)
		if (p->pid == b->pid && !strcmp(p->to_id, b->id) && p->lost_ns != REPORT_UNKNOWN &&
		    (!most || p->lost_ns > most->lost_ns))
			most = p;
	return most && b->lost_ns != REPORT_UNKNOWN && 2 * most->lost_ns >= b->lost_ns ? most
										       : NULL;
}

/* Add a label in at most LABEL columns. In Markdown it is not shortened. */
static void add_label(const struct screen *s, struct buf *b, const char *label)
{
	char *fit = textout_fit(label, s->t->markdown ? UINT_MAX : LABEL);

	buf_str(b, fit ? fit : "?");
	free(fit);
}

static void barrier_title(const struct screen *s, struct buf *b, const struct candidate *c)
{
	const struct report_phase *p = main_phase(s->r, c->b);

	if (s->many)
		buf_printf(b, "%s (pid %u): phase ", name_of(c->b->comm), c->b->pid);
	else
		buf_str(b, "Phase ");
	if (p && !strcmp(p->from_id, p->to_id)) {
		buf_str(b, "from one ");
		add_label(s, b, c->b->label);
		buf_str(b, " to the next");
	} else {
		buf_str(b, !p ? "before " : *p->from_id ? "from " : "from the ");
		if (p) {
			add_label(s, b, p->from);
			buf_str(b, " to ");
		}
		add_label(s, b, c->b->label);
	}
	buf_str(b, ": ");
	add_gain(b, c);
	buf_char(b, '.');
}

static void barrier_body(struct buf *b, const struct report_barrier *at)
{
	static const char late[] = "Late ";
	char release[TEXTOUT_CELL], share[TEXTOUT_CELL];

	if (at->pattern == REPORT_COSTLY) {
		buf_printf(b, "A crossing takes %s after the last arrival: %s of the phase time%s.",
			   textout_time(release, number_whole(at->release_ns.mean)),
			   textout_percent(share, at->release_share),
			   report_released_without_cpu(at)
				   ? ", mostly because released threads wait for a CPU"
				   : "");
		return;
	}
	add_late(b, at);
	/* The cause contains the function in which a late thread spent more time, if known. */
	if (at->cause.nparts && *at->cause.text) {
		if (!names_late(at) && !strncmp(at->cause.text, late, strlen(late)))
			buf_printf(b, "The last %s was l%s", at->ranked ? "rank" : "thread",
				   at->cause.text + 1);
		else
			buf_str(b, at->cause.text);
		add_stack(b, &at->cause);
	}
}

/* Return the barrier of the process with the most phase time; NULL if it has none. */
static const struct report_barrier *main_barrier(const struct report *r, uint32_t pid)
{
	const struct report_barrier *most = NULL;

	array_for_each (b, r->barriers, r->nbarriers)
		if (b->pid == pid && (!most || b->phase_ns.sum > most->phase_ns.sum))
			most = b;
	return most;
}

/* Return the advice of a finding; "": none. */
static const char *advice_of(const struct candidate *c)
{
	if (c->b)
		return c->b->advice;
	if (c->f)
		return c->f->advice ? c->f->advice : fact_of(c->f)->advice;
	return c->p->pattern == REPORT_FEW ? c->p->openmp_advice : c->p->advice;
}

/* Print the advice of finding number @i, unless an earlier finding has the same. */
static void print_advice(struct textout *t, const struct candidate *all, unsigned i)
{
	const char *advice = advice_of(&all[i]);
	unsigned j;

	if (!*advice)
		return;
	for (j = 0; j < i && strcmp(advice_of(&all[j]), advice) != 0; j++)
		;
	if (j < i)
		textout_line(t, TEXTOUT_PLAIN, "   -> The same as for finding %u.", j + 1);
	else
		textout_wrap_most(t, TEXTOUT_PLAIN, "   -> ", 6, 2, "%s", advice);
}

/* Print finding number @i with a body of at most @most lines. */
static void print_finding(const struct screen *s, struct textout *t, unsigned i,
			  const struct candidate *all, unsigned most)
{
	const struct candidate *c = &all[i];
	const struct report_barrier *at;
	struct buf title = { 0 }, body = { 0 };
	char first[16];

	if (c->b) {
		barrier_title(s, &title, c);
		barrier_body(&body, c->b);
	} else if (c->p) {
		at = main_barrier(s->r, c->p->pid);
		buf_printf(&title, "Time is lost %s: ", c->p->openmp_where);
		add_gain(&title, c);
		buf_char(&title, '.');
		if (at)
			buf_printf(&body, "The parallel region with the most time ends at %s.",
				   at->label);
	} else {
		if (c->f->pid && s->many)
			buf_printf(&title, "pid %u: ", c->f->pid);
		buf_str(&title, c->f->text);
		if (!isnan(c->gain_ns) || !c->f->advice) {
			add_gain(&body, c);
			if (body.s)
				body.s[0] = (char)toupper((unsigned char)body.s[0]);
			buf_char(&body, '.');
		}
	}
	snprintf(first, sizeof(first), "%u. ", i + 1);
	if (title.s)
		textout_wrap_most(t, TEXTOUT_BOLD, first, 3, 2, "%s", title.s);
	if (body.s)
		textout_wrap_most(t, TEXTOUT_PLAIN, "   ", 3, most, "%s", body.s);
	print_advice(t, all, i);
	t->buf->failed |= title.failed || body.failed;
	buf_free(&title);
	buf_free(&body);
}

/*
 * Print the first @n findings to @out, each with a body of at most @most lines. The first finding
 * has more: its reason and its place in the program should not be cut.
 */
static void print_first(const struct screen *s, struct part *out, const struct candidate *all,
			uint32_t n, unsigned most)
{
	uint32_t i;

	part_begin(out, s->t);
	for (i = 0; i < n; i++)
		print_finding(s, &out->t, i, all, i || most < BODY_LEAST ? most : BODY_MOST);
}

/*
 * Print findings in at most @room lines. Shorten their bodies to BODY_LEAST lines, then leave the
 * last findings out.
 */
static void print_findings(struct screen *s, struct part *out, unsigned room)
{
	const struct report *r = s->r;
	struct candidate *all =
		calloc((size_t)r->nbarriers + r->nprocesses + r->nfindings + 1, sizeof(*all));
	struct part some = { 0 };
	uint32_t n, shown;
	unsigned most;

	if (!all) {
		out->t.buf->failed = true;
		return;
	}
	n = collect(r, all);
	shown = n < FINDINGS ? n : FINDINGS;
	most = shown == 1 ? BODY_ONE : BODY_MOST;
	while (shown) {
		print_first(s, &some, all, shown, most);
		if (s->t->markdown || part_lines(&some) <= room || (shown == 1 && most == 1))
			break;
		buf_free(&some.buf);
		if (most > BODY_LEAST || shown == 1) {
			most--;
		} else {
			shown--;
			most = BODY_MOST;
		}
	}
	part_end(&some, &out->t, false);
	s->findings = n - shown;
	if (!n && s->top && *s->top->advice)
		textout_wrap_most(&out->t, TEXTOUT_PLAIN, "-> ", 3, 2, "%s", s->top->advice);
	free(all);
}

/* --- missing threads of a hang ---------------------------------------------------------------- */

/* Print where the first missing thread of the first hang is. */
static void print_missing(const struct screen *s, struct textout *t)
{
	const struct report_hang *h = s->r->nhangs ? s->r->hangs : NULL;
	const struct report_hang_missing *m = h && h->nmissing ? h->missing : NULL;
	const struct hang_frame *f = NULL;
	struct buf text = { 0 };

	if (!m)
		return;
	array_for_each (frame, m->frames, m->nframes)
		if (!f && !(frame->module && hang_is_runtime(frame->module)))
			f = frame;
	if (m->index != HANG_NONE)
		buf_printf(&text, "Missing: thread %u (tid %u)", m->index, m->tid);
	else
		buf_printf(&text, "Missing: thread %u", m->tid);
	if (m->blocked_on)
		buf_printf(&text, ", blocked on %s", m->blocked_on);
	if (f)
		add_place(&text, ", at ", f->function, f->file, f->line, "");
	if (h->nmissing > 1)
		buf_printf(&text, "; %u more are missing", h->nmissing - 1);
	if (text.s)
		textout_wrap_most(t, TEXTOUT_PLAIN, "", 2, 1, "%s.", text.s);
	t->buf->failed |= text.failed;
	buf_free(&text);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Format the sum of lost times. @unknown: some of them are unknown. */
static const char *sum_text(char out[TEXTOUT_CELL], uint64_t ns, bool unknown)
{
	char time[TEXTOUT_CELL];

	if (unknown && !ns)
		snprintf(out, TEXTOUT_CELL, "an unknown time");
	else
		snprintf(out, TEXTOUT_CELL, "%s%.30s", unknown ? "at least " : "",
			 textout_time(time, ns));
	return out;
}

static void last_cell(char *out, size_t size, const struct report_barrier *b)
{
	char share[TEXTOUT_CELL];

	if (!b->last_tid || !b->episodes)
		snprintf(out, size, "-");
	else if (is_numbered(b))
		snprintf(out, size, "%s %u, %s", b->ranked ? "rank" : "thread", b->last_index,
			 textout_percent(share, b->last_share));
	else
		snprintf(out, size, "tid %u, %s", b->last_tid,
			 textout_percent(share, b->last_share));
}

static void table_barrier(const struct screen *s, struct table *table,
			  const struct report_barrier *b, unsigned left_out)
{
	double time = thread_time(owner_of(s->r, b));
	double share = 0;
	bool lost = b->lost_ns != REPORT_UNKNOWN;
	char cell[2 * TEXTOUT_CELL];

	if (s->many) {
		snprintf(cell, sizeof(cell), "%u", b->pid);
		table_text(table, cell);
	}
	table_text(table, b->label);
	if (left_out < LEFT_OUT_EPISODES)
		table_text(table, textout_count(cell, b->episodes));
	if (left_out < LEFT_OUT_PHASE)
		table_text(table, b->phase_ns.n ? textout_time(cell, number_whole(b->phase_ns.mean))
						: "?");
	table_text(table, textout_time(cell, b->lost_ns));
	if (!lost)
		share = NAN;
	else if (b->lost_ns)
		share = time > 0 ? (double)b->lost_ns / time : NAN;
	table_text(table, textout_percent(cell, share));
	last_cell(cell, sizeof(cell), b);
	table_text(table, cell);
}

/* Make the table of the first @rows barriers. */
static void make_table(const struct screen *s, struct table *table, uint32_t rows,
		       unsigned left_out)
{
	if (s->many)
		table_column(table, "pid", EMIT_NUMBER);
	table_column(table, "barrier", EMIT_NAME);
	if (left_out < LEFT_OUT_EPISODES)
		table_column(table, "episodes", EMIT_NUMBER);
	if (left_out < LEFT_OUT_PHASE)
		table_column(table, "mean phase", EMIT_NUMBER);
	table_column(table, "lost", EMIT_NUMBER);
	table_column(table, "share", EMIT_NUMBER);
	table_column(table, "last most often", EMIT_ID);
	array_for_each (b, s->r->barriers, rows)
		table_barrier(s, table, b, left_out);
}

/*
 * Print the table of the first @rows barriers. On a narrow terminal, columns are left out, so that
 * names can be recognised and no number is cut.
 */
static void fit_table(const struct screen *s, struct textout *t, uint32_t rows)
{
	struct table table = { 0 };
	unsigned left_out;

	for (left_out = 0; left_out < LEFT_OUT_EPISODES; left_out++) {
		table.name_least = NAME_LEAST;
		make_table(s, &table, rows, left_out);
		if (t->markdown || table_fits(&table, t, 2))
			break;
		table_drop(&table);
	}
	if (left_out == LEFT_OUT_EPISODES)
		make_table(s, &table, rows, left_out);
	table_print(&table, t, 2);
}

/* Print the barriers that lose most, in at most @room lines. */
static void print_table(struct screen *s, struct textout *t, unsigned room)
{
	static const char title[] = "BARRIERS by lost time (waits for the last arriver), as a "
				    "share of thread time";
	const struct report *r = s->r;
	uint32_t rows = r->nbarriers < ROWS ? r->nbarriers : ROWS;
	char lost[TEXTOUT_CELL], n[TEXTOUT_CELL];
	bool unknown = false;
	uint64_t rest = 0;

	if (!r->nbarriers)
		return;
	/* The title and the headings take two lines, and the number of the other barriers one. */
	if (!t->markdown && rows + 2 + (rows < r->nbarriers) > room)
		rows = room > TABLE_LEAST ? room - 3 : 1;
	textout_line(t, TEXTOUT_BOLD, "%s",
		     t->markdown || t->width >= sizeof(title) - 1
			     ? title
			     : "BARRIERS by lost time, as a share of thread time");
	fit_table(s, t, rows);
	if (rows == r->nbarriers)
		return;
	array_for_each (b, r->barriers + rows, r->nbarriers - rows)
		if (!b->nested) {
			rest += known(b->lost_ns);
			unknown |= b->lost_ns == REPORT_UNKNOWN;
		}
	textout_line(t, TEXTOUT_PLAIN, "  and %s, which lost %s together",
		     textout_plural(n, r->nbarriers - rows, "more barrier"),
		     sum_text(lost, rest, unknown));
}

/* Print the phases that the user named, in at most @room lines. */
static void print_phases(struct screen *s, struct textout *t, unsigned room)
{
	const struct report *r = s->r;
	uint32_t n = r->nconceptuals < PHASES ? r->nconceptuals : PHASES;
	char count[TEXTOUT_CELL], sum[TEXTOUT_CELL], share[TEXTOUT_CELL], lost[TEXTOUT_CELL];

	if (!t->markdown && n + (n < r->nconceptuals) > room)
		n = room > 1 ? room - 1 : 0;
	array_for_each (c, r->conceptuals, n)
		textout_wrap_most(t, TEXTOUT_PLAIN, "", 2, 1,
				  "Phase %s: %s, %s (%s of the run), %s lost", c->name,
				  textout_plural(count, c->occurrences, "time"),
				  textout_time(sum, c->phase_ns.n ? c->phase_ns.sum : 0),
				  textout_percent(share, c->share), textout_time(lost, c->lost_ns));
	if (n < r->nconceptuals && n)
		textout_line(t, TEXTOUT_PLAIN, "and %s that you named",
			     textout_plural(count, r->nconceptuals - n, "more phase"));
	s->notes += n ? 0 : r->nconceptuals;
}

/* --- notes ------------------------------------------------------------------------------------ */

/* Add a note of at most @most lines, or count it if there is no room. */
#define NOTE(s, p, style, most, ...)                                                 \
	do {                                                                         \
		if (part_lines(p) + (most) <= (s)->notes_most || (p)->t.markdown)    \
			textout_wrap_most(&(p)->t, style, "", 2, most, __VA_ARGS__); \
		else                                                                 \
			(s)->notes++;                                                \
	} while (0)

static void clause(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void clause(struct buf *b, const char *fmt, ...)
{
	char text[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	buf_printf(b, "%s%s", b->len ? "; " : "", text);
}

/* Say what is not complete. Lost records come first, so that they are always shown. */
static void note_incomplete(struct screen *s, struct part *out)
{
	const struct report *r = s->r;
	uint64_t lost = summary_lost_records(r);
	struct buf b = { 0 };
	char n[TEXTOUT_CELL];

	if (!r->lossless && !r->cut)
		clause(&b, "%s lost%s",
		       lost ? textout_plural(n, lost, "record") : "an unknown number of records",
		       !r->lost && lost ? ", none of them a crossing" : "");
	if (r->cut)
		clause(&b, "the recording ends before the run did");
	if (r->ndetached)
		clause(&b, "%s not traced to the end (--cost-limit)",
		       textout_plural(n, r->ndetached, "process"));
	if (r->ndetached_parts)
		clause(&b, "some barriers not traced to the end (--cost-limit)");
	if (r->unmet)
		clause(&b, "%s of shared barriers in no figure of imbalance",
		       textout_plural(n, r->unmet, "crossing"));
	if (r->arrivals_unseen)
		clause(&b, "%s waited for arrivals that are not traced",
		       textout_plural(n, r->arrivals_unseen, "crossing"));
	if (r->departures_unknown)
		clause(&b, "the departures of %s could not be inferred",
		       textout_plural(n, r->departures_unknown, "crossing"));
	if (r->nuntraced)
		clause(&b, "inlined C++ barriers may be untraced in %u process%s", r->nuntraced,
		       r->nuntraced == 1 ? "" : "es");
	if (r->waits_unseen)
		clause(&b, "waits of processes that crossed no barrier may be untraced");
	if (b.len)
		NOTE(s, out, TEXTOUT_RED, s->notes_most < 4 ? s->notes_most : 4, "INCOMPLETE: %s.",
		     b.s);
	out->t.buf->failed |= b.failed;
	buf_free(&b);
}

/* Say which crossings and episodes are in no figure. */
static void note_missing(struct screen *s, struct part *out)
{
	const struct report *r = s->r;
	uint64_t lost = 0, abandoned = 0, paused = 0;
	struct buf b = { 0 };
	char n[TEXTOUT_CELL];

	array_for_each (p, r->processes, r->nprocesses) {
		lost += p->lost;
		abandoned += p->abandoned;
		paused += p->paused_ns;
	}
	if (lost)
		clause(&b, "%s missing", textout_plural(n, lost, "crossing"));
	if (abandoned)
		clause(&b, "%s never returned", textout_plural(n, abandoned, "crossing"));
	if (r->incomplete)
		clause(&b, "%s incomplete", textout_plural(n, r->incomplete, "episode"));
	if (r->ambiguous)
		clause(&b, "%s ambiguous", textout_plural(n, r->ambiguous, "episode"));
	if (b.len)
		NOTE(s, out, TEXTOUT_PLAIN, 2, "Not in every figure: %s.", b.s);
	if (paused)
		NOTE(s, out, TEXTOUT_PLAIN, 2,
		     "Condition variables were not watched for %s, because they were busy: a "
		     "barrier used only then is not found.",
		     textout_time(n, paused));
	out->t.buf->failed |= b.failed;
	buf_free(&b);
}

/* Say which part of the run the report covers. */
static void note_extent(struct screen *s, struct part *out)
{
	const struct report *r = s->r;

	if (r->extent.window)
		NOTE(s, out, TEXTOUT_PLAIN, 2,
		     "Covers only arrivals from %.6g s to %.6g s after the start of tracing.",
		     (double)r->extent.from_ns / 1e9, (double)r->extent.to_ns / 1e9);
	if (r->aggregate)
		NOTE(s, out, TEXTOUT_PLAIN, 2,
		     "Sums from the kernel (--aggregate), only for pthread barriers: causes are "
		     "not known.");
	if (r->left_out)
		NOTE(s, out, TEXTOUT_RED, 2,
		     "Barriers of %s are missing. Run without --aggregate to trace them.",
		     r->left_out);
	if (r->nuncounted)
		NOTE(s, out, TEXTOUT_PLAIN, 2, "Not counted: %s: %s.%s", r->uncounted[0].name,
		     r->uncounted[0].reason,
		     r->nuncounted > 1 ? " --detail lists more counters." : "");
}

static void note_counters(struct screen *s, struct part *out)
{
	struct buf b = { 0 };
	char n[TEXTOUT_CELL];

	if (!s->top)
		return;
	array_for_each (c, s->top->counters, s->top->ncounters) {
		char *name = account_name(c);

		buf_printf(&b, "%s%s %s", b.len ? ", " : "", name ? name : "?",
			   c->value == REPORT_UNKNOWN ? "?" : textout_count(n, c->value));
		free(name);
	}
	if (b.len)
		NOTE(s, out, TEXTOUT_PLAIN, 2, "Counted outside barriers: %s.", b.s);
	out->t.buf->failed |= b.failed;
	buf_free(&b);
}

/* Print the findings that limit what the figures mean. */
static void note_caveats(struct screen *s, struct part *out)
{
	array_for_each (f, s->r->findings, s->r->nfindings) {
		const struct report_process *p = process_of(s->r, f->pid);

		if (!strcmp(f->kind, "untraced"))
			NOTE(s, out, TEXTOUT_PLAIN, 2,
			     "pid %u: waits in %s count as work, so the efficiency is an upper "
			     "limit.",
			     f->pid,
			     p && p->untraced && !(s->top && strstr(s->top->verdict, p->untraced))
				     ? p->untraced
				     : "untraced calls");
		else if (!strcmp(f->kind, "counted_from"))
			NOTE(s, out, TEXTOUT_PLAIN, 2,
			     "pid %u: figures count from its first recorded crossing, %.3f s after "
			     "tracing began.",
			     f->pid, f->figure);
		else if (!strcmp(f->kind, "tasks"))
			NOTE(s, out, TEXTOUT_PLAIN, 2,
			     "pid %u runs OpenMP tasks inside its barriers: the time lost there "
			     "includes them.",
			     f->pid);
		else if (!strcmp(f->kind, "site_unknown"))
			NOTE(s, out, TEXTOUT_PLAIN, 2,
			     "pid %u: the call sites of %.0f crossings are known only by address.",
			     f->pid, f->figure);
	}
}

/* Return the number of items that follow the remark at index @i. */
static uint32_t items_after(const struct report *r, uint32_t i)
{
	uint32_t n = 0;

	while (i + 1 + n < r->nremarks && remark_is_item(&r->remarks[i + 1 + n]))
		n++;
	return n;
}

/* Write the remark at index @i as one sentence: instead of a list, it has the number of items. */
static void remark_words(const struct report *r, uint32_t i, struct buf *b)
{
	const char *text = r->remarks[i].text;
	uint32_t items = items_after(r, i);
	size_t n = strlen(text);

	buf_clear(b);
	if (items && n && text[n - 1] == ':')
		buf_printf(b, "%.*s (--detail lists them).", (int)(n - 1), text);
	else if (n && text[n - 1] == ':')
		buf_printf(b, "%.*s.", (int)(n - 1), text);
	else
		buf_printf(b, "%s%s", text, has_stop(text) ? "" : ".");
}

static void note_remarks(struct screen *s, struct part *out)
{
	struct buf b = { 0 };
	uint32_t i;

	for (i = 0; i < s->r->nremarks; i += 1 + items_after(s->r, i)) {
		remark_words(s->r, i, &b);
		if (b.s)
			NOTE(s, out, TEXTOUT_PLAIN, REMARK, "Not in this report: %s", b.s);
	}
	out->t.buf->failed |= b.failed;
	buf_free(&b);
}

static void note_others(struct screen *s, struct part *out)
{
	const struct report *r = s->r;
	char n[TEXTOUT_CELL], lost_time[TEXTOUT_CELL];
	uint64_t lost = 0, others = 0;
	bool unknown = false;

	if (!s->many)
		return;
	array_for_each (p, r->processes, r->nprocesses) {
		bool in_group = false;

		if (s->group)
			array_for_each (g, s->group->processes, s->group->nprocesses)
				in_group |= g->pid == p->pid;
		if (p == s->top || in_group)
			continue;
		others += p->processes ? p->processes : 1;
		lost += lost_by(p);
		unknown |= p->wait_ns == REPORT_UNKNOWN;
	}
	if (others)
		NOTE(s, out, TEXTOUT_PLAIN, 1, "%s more process%s crossed barriers and lost %s.",
		     textout_count(n, others), others == 1 ? "" : "es",
		     sum_text(lost_time, lost, unknown));
}

static void note_warnings(struct screen *s, struct part *out)
{
	char n[TEXTOUT_CELL], longest[TEXTOUT_CELL];

	if (s->warnings)
		NOTE(s, out, TEXTOUT_PLAIN, 1,
		     "%s above the limit of --warn-time; the longest: %s.",
		     textout_plural(n, s->warnings, "barrier time"),
		     textout_time(longest, s->warned_ns));
}

/* Print the cost of tracing as a warning if it is high. Return the highest known share. */
static double note_cost(struct screen *s, struct part *out)
{
	const struct report_process *worst = NULL;
	char cost[TEXTOUT_CELL], share[TEXTOUT_CELL];

	array_for_each (p, s->r->processes, s->r->nprocesses)
		if (isfinite(p->cost_share) && (!worst || p->cost_share > worst->cost_share))
			worst = p;
	if (!worst)
		return NAN;
	if (worst->cost_share > SUMMARY_COST_MAX)
		NOTE(s, out, TEXTOUT_RED, 2,
		     "WARNING: tracing cost %s %s of the thread time of %s (pid %u), %s: short "
		     "phases look too long.",
		     worst->cost_limited ? "at most" : "about",
		     textout_percent(share, worst->cost_share), name_of(worst->comm), worst->pid,
		     textout_time(cost, worst->cost_ns));
	return worst->cost_share;
}

static void efficiency(const struct screen *s, struct textout *t)
{
	char pe[TEXTOUT_CELL], lb[TEXTOUT_CELL], ser[TEXTOUT_CELL], te[TEXTOUT_CELL];
	const struct report_process *p = s->top;
	const struct report_efficiency *e;
	bool wide = t->markdown || t->width >= GLOSS_WIDTH;

	if (!p)
		return;
	e = &p->efficiency;
	if (p->tasks && isfinite(p->parallel_least))
		textout_wrap_most(t, TEXTOUT_PLAIN, "", 2, 2,
				  "Efficiency %s to %s: how much time in barriers is work is "
				  "unknown.",
				  textout_fraction(pe, p->parallel_least),
				  textout_fraction(lb, p->parallel_most));
	else if (isfinite(e->parallel))
		textout_wrap_most(t, TEXTOUT_PLAIN, "", 2, s->narrow ? 2 : 1,
				  "Efficiency %s%s%s = load balance %s × serialisation %s × "
				  "transfer %s",
				  p->untraced ? "at most " : "", textout_fraction(pe, e->parallel),
				  wide		? " (1: no loss)"
				  : p->untraced ? ""
						: " of 1",
				  textout_fraction(lb, e->load_balance),
				  textout_fraction(ser, e->serialisation),
				  textout_fraction(te, e->transfer));
}

/* Print one line: whether no record was lost, a low cost of tracing, and what --detail adds. */
static void harmless(const struct screen *s, struct textout *t, double cost)
{
	char share[TEXTOUT_CELL], n[TEXTOUT_CELL],
		cost_text[2 * TEXTOUT_CELL] = "",
			      more[2 * TEXTOUT_CELL] = "--detail: more figures.";
	uint32_t left = s->findings + s->notes;

	if (cost <= SUMMARY_COST_MAX)
		snprintf(cost_text, sizeof(cost_text), "Tracing cost %s%s. ",
			 textout_percent(share, cost), s->narrow ? "" : " of thread time");
	else if (isnan(cost) && s->top)
		snprintf(cost_text, sizeof(cost_text), "The cost of tracing is unknown. ");
	if (left)
		snprintf(more, sizeof(more), "--detail: %s.",
			 textout_plural(n, left, s->notes ? "more note" : "more finding"));
	textout_wrap_most(t, left ? TEXTOUT_PLAIN : TEXTOUT_DIM, "", 2, s->narrow ? 2 : 1, "%s%s%s",
			  s->r->lossless ? "No record lost. " : "", cost_text, more);
}

/* --- together --------------------------------------------------------------------------------- */

/* Print what as many threads did as fit into @room lines. If none fits, --detail has them. */
static void print_activities(struct screen *s, struct part *out, unsigned room)
{
	uint32_t most = s->r->nactivities;
	struct part all;
	unsigned lines;

	for (; most; most--) {
		part_begin(&all, s->t);
		activity_print(&all.t, s->r, most);
		lines = part_lines(&all);
		if (lines <= room || s->t->markdown)
			break;
		buf_free(&all.buf);
	}
	if (most)
		part_end(&all, &out->t, false);
	else
		s->notes += s->r->nactivities != 0;
}

/*
 * If no thread crossed a barrier, remarks are printed in this order: what the program has instead
 * of barriers, what to do, and general reasons.
 */
static unsigned remark_rank(const struct remark *m)
{
	if (!strcmp(m->kind, "runtime_unseen") || !strcmp(m->kind, "own_threads"))
		return 0;
	return strcmp(m->kind, "elsewhere") ? 2 : 1;
}

/*
 * No thread crossed a barrier: print why, from the remarks, and what the threads did all the same,
 * in at most @room lines.
 */
static void print_nothing(struct screen *s, struct part *out, unsigned room)
{
	bool did = s->r->nactivities != 0;
	unsigned used, most, shown = 0, all = 0, rank;
	struct buf b = { 0 };
	uint32_t i;

	for (rank = 0; rank <= 2; rank++) {
		shown = 0;
		for (i = 0; i < s->r->nremarks; i += 1 + items_after(s->r, i)) {
			if (remark_rank(&s->r->remarks[i]) != rank)
				continue;
			used = part_lines(out);
			most = did			    ? rank ? REMARK : REMARK_WHAT
			       : used + REMARK_ALONE < room ? REMARK_ALONE
							    : room - used;
			remark_words(s->r, i, &b);
			if (b.s && (out->t.markdown ||
				    (did ? all < REMARKS && (rank != 1 || !shown) &&
						     (!all || used + most + ACTIVITY_LEAST <= room)
					 : used < room))) {
				textout_wrap_most(&out->t, TEXTOUT_PLAIN, "* ", 2, most, "%s", b.s);
				shown++;
				all++;
			} else {
				s->notes++;
			}
		}
	}
	used = part_lines(out);
	print_activities(s, out, room > used ? room - used : 0);
	out->t.buf->failed |= b.failed;
	buf_free(&b);
}

/* Return how many lines a part takes with the blank line before it. */
static unsigned with_blank(const struct part *p)
{
	return part_lines(p) + (p->buf.len != 0);
}

/* Print all notes. Return the highest cost of tracing; see note_cost(). */
static double print_notes(struct screen *s, struct part *out)
{
	double cost;

	note_incomplete(s, out);
	cost = note_cost(s, out);
	note_missing(s, out);
	note_extent(s, out);
	note_others(s, out);
	note_warnings(s, out);
	note_counters(s, out);
	note_caveats(s, out);
	if (s->top)
		note_remarks(s, out);
	return cost;
}

/* Return how many of @room lines findings may take, with the blank line before them. */
static unsigned room_for_findings(const struct report *r, unsigned room)
{
	uint32_t rows = r->nbarriers < ROWS_LEAST ? r->nbarriers : ROWS_LEAST;
	unsigned table = r->nbarriers ? 1 + 2 + rows + (rows < r->nbarriers) : 0;

	if (room >= table + 1 + FINDING_LEAST)
		return room - table;
	return room > 1 + TABLE_LEAST ? room - 1 - TABLE_LEAST : 0;
}

void first_screen_print(struct textout *t, const struct report *r,
			const struct fields_context *context, uint64_t warnings, uint64_t warned_ns)
{
	struct screen s = { .t = t,
			    .r = r,
			    .context = context,
			    .narrow = !t->markdown && t->width < WIDE,
			    .warnings = warnings,
			    .warned_ns = warned_ns };
	struct part head, findings, phases, table, notes, efficiencies;
	unsigned room = FIRST_SCREEN_LINES, least, used;
	double cost;

	s.notes_most = (r->nhangs ? NOTES_HUNG : NOTES) - (s.narrow ? 2 : 0);
	choose_top(&s);
	part_begin(&head, t);
	part_begin(&findings, t);
	part_begin(&phases, t);
	part_begin(&table, t);
	part_begin(&notes, t);
	part_begin(&efficiencies, t);
	answer(&s, &head.t);
	print_missing(&s, &head.t);
	cost = print_notes(&s, &notes);
	efficiency(&s, &efficiencies.t);
	/* The last lines are a blank line, the efficiencies, the notes, and a summary. */
	room -= part_lines(&head) + 1 + part_lines(&efficiencies) + part_lines(&notes) +
		(s.narrow ? 2 : 1);
	least = s.top ? 1 + FINDING_LEAST + (r->nbarriers ? 1 + TABLE_LEAST : 0) : 0;
	print_phases(&s, &phases.t, room > least + 1 ? room - least - 1 : 0);
	room -= with_blank(&phases);
	used = room_for_findings(r, room);
	if (!s.top)
		print_nothing(&s, &findings, room - 1);
	else
		print_findings(&s, &findings, used ? used - 1 : 0);
	room -= with_blank(&findings);
	print_table(&s, &table.t, room ? room - 1 : 0);
	part_end(&head, t, false);
	part_end(&findings, t, true);
	part_end(&phases, t, true);
	part_end(&table, t, true);
	textout_blank(t);
	part_end(&efficiencies, t, false);
	part_end(&notes, t, false);
	harmless(&s, t, cost);
}
