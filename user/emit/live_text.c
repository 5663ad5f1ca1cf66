// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/live_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "emit/account.h"
#include "emit/table.h"
#include "emit/why.h"

#define LIVE_ALL    32 /* up to this many threads, all are shown */
#define LIVE_PLACE  60 /* largest width of a place, so that the rest of its line fits */
#define LIVE_FRAMES 3 /* largest number of frames shown of a stack */
/*
 * if there are more than LIVE_ALL threads: number of first arrivers, and of last arrivers, that are
 * shown
 */
#define LIVE_ENDS   8

void live_banner(struct textout *t, const struct session *session)
{
	const struct session_probe *p = session->probes;
	char families[80] = "";
	size_t n = 0;
	uint32_t i;
	int width = 0;

	for (i = 0; i < session->nprobes && n < sizeof(families) - 1; i++)
		if (p[i].family && (!n || !strstr(families, p[i].family)))
			n += (size_t)snprintf(families + n, sizeof(families) - n, "%s%s",
					      n ? ", " : " for ", p[i].family);
	textout_line(t, TEXTOUT_BOLD, "SBT options (version %s%s)",
		     session->version ? session->version : "?", families);
	array_for_each (setting, session->settings, session->nsettings)
		if ((int)strlen(setting->name) > width)
			width = (int)strlen(setting->name);
	for (i = 0; i < session->nsettings; i++)
		textout_line(t, TEXTOUT_PLAIN, "    %-*s  %s", width, session->settings[i].name,
			     session->settings[i].value ? session->settings[i].value : "(none)");
	for (i = 0; i < session->ncounters; i++)
		textout_line(t, TEXTOUT_PLAIN, "    counter %u: %s", i,
			     session->counters[i].name ? session->counters[i].name : "?");
	for (i = 0; i < session->nuncounted; i++)
		textout_wrap(t, TEXTOUT_PLAIN, "    ", 8, "not counted: %s: %s",
			     session->uncounted[i].name, session->uncounted[i].reason);
	textout_blank(t);
}

void live_probes(struct textout *t, const struct session *session,
		 const struct fields_context *context)
{
	textout_line(t, TEXTOUT_BOLD, "Probes (%u)", session->nprobes);
	table_records(t, 4, &fields_rec_probe, session->probes, session->nprobes, context);
	textout_blank(t);
}

/*
 * Return the place of a barrier: FILE:LINE "name" as in the thesis, FILE:LINE (function) if it has
 * no name, or the label of the report if the line is unknown. The caller frees the result. Return
 * NULL when out of memory.
 */
static char *live_place(const struct report_barrier *b)
{
	const char *file = text_base_name(b->file);
	char *s = NULL, *fit;
	int n;

	if (file && b->line && b->name)
		n = asprintf(&s, "%s:%u \"%s\"", file, b->line, b->name);
	else if (file && b->line && b->function)
		n = asprintf(&s, "%s:%u (%s)", file, b->line, b->function);
	else if (file && b->line)
		n = asprintf(&s, "%s:%u", file, b->line);
	else
		n = asprintf(&s, "%s", *b->label ? b->label : b->id);
	if (n < 0)
		return NULL;
	fit = textout_fit(s, LIVE_PLACE);
	free(s);
	return fit;
}

static uint64_t since_start(uint64_t t_ns, const struct fields_context *context)
{
	if (t_ns == UINT64_MAX || t_ns < context->clock_start_ns)
		return UINT64_MAX;
	return t_ns - context->clock_start_ns;
}

/* Print why an episode is not complete, and what that means. */
static void live_state(struct textout *t, const struct observed_episode *e)
{
	const struct emit_names *why;
	struct buf reasons = { 0 };

	if (e->state == MODEL_COMPLETE && !e->why)
		return;
	for (why = fields_why; why->name; why++)
		if (e->why & why->value)
			buf_printf(&reasons, "%s%s", reasons.len ? "; " : "", why->text);
	if (e->state == MODEL_COMPLETE)
		textout_wrap(t, TEXTOUT_RED, "    Note: ", 10, "%s", reasons.s ? reasons.s : "?");
	else
		textout_wrap(
			t, TEXTOUT_RED,
			e->state == MODEL_INCOMPLETE ? "    INCOMPLETE: " : "    AMBIGUOUS: ", 10,
			"%s.%s", reasons.s ? reasons.s : "reason unknown",
			e->state == MODEL_INCOMPLETE
				? " The times below cover only the threads that were seen, and "
				  "no sum includes these times."
				: " A thread may belong to this episode or to the next.");
	buf_free(&reasons);
}

static void live_members(struct textout *t, const struct observed_episode *e,
			 const struct fields_context *context)
{
	uint32_t n = e->nmembers, ends = n > LIVE_ALL ? LIVE_ENDS : n, i;
	struct table table = { 0 };
	char s[TEXTOUT_CELL];

	textout_line(t, TEXTOUT_PLAIN, "    Order of arrival:");
	if (ends < n)
		textout_line(t, TEXTOUT_DIM,
			     "      %s; the first %u and the last %u (--json lists all)",
			     textout_plural(s, n, "thread"), ends, ends);
	table_fields(&table, &fields_rec_member, context);
	for (i = 0; i < n; i++)
		if (i < ends || i >= n - ends)
			table_row(&table, &fields_rec_member, &e->members[i], context);
	table_print(&table, t, 6);
}

/*
 * Print the counters and how the phase was spent, by thread (figure 3.10, lines 32 to 41). If there
 * are many threads, show fewer of them than live_members() does.
 */
static void live_accounts(struct textout *t, const struct observed_episode *e,
			  const struct fields_context *context)
{
	struct account account = { .record = &fields_rec_member,
				   .rows = e->members,
				   .n = e->nmembers,
				   .ends = e->nmembers > LIVE_ALL ? LIVE_ENDS / 2 : 0,
				   .counters = e->counters,
				   .ncounters = e->ncounters };

	if (!e->ncounters && !account_known(&account, context))
		return;
	textout_line(t, TEXTOUT_PLAIN, "    Phase %llu, by thread:", (unsigned long long)e->number);
	account_both(t, &account, 6, context);
}

void live_watched(struct textout *t, const struct observed_episode *e,
		  const struct fields_context *context)
{
	const struct report_barrier *b = e->barrier;
	char *place = live_place(b);
	char s[TEXTOUT_CELL], label[32];

	textout_line(t, TEXTOUT_BOLD, "SBT barrier watch in %s", place ? place : b->id);
	textout_line(t, TEXTOUT_DIM, "    %s, %s (pid %u), episode %llu of this barrier%s", b->id,
		     b->comm ? b->comm : "?", e->pid, (unsigned long long)e->seq,
		     e->nested ? ", inside another barrier's wait: not included in totals" : "");
	live_state(t, e);
	textout_line(t, TEXTOUT_PLAIN, "    %-18s %s",
		     "Barrier time:", textout_time(s, e->barrier_ns));
	snprintf(label, sizeof(label), "Phase (%llu) time:", (unsigned long long)e->number);
	textout_line(t, TEXTOUT_PLAIN, "    %-18s %s", label, textout_time(s, e->phase_ns));
	textout_line(t, TEXTOUT_PLAIN, "    %-18s %s",
		     "Total time:", textout_clock(s, since_start(e->release_ns, context)));
	live_members(t, e, context);
	live_accounts(t, e, context);
	why_sentence(t, TEXTOUT_BOLD, &e->cause, 4);
	why_stack(t, &e->cause, 8, LIVE_FRAMES);
	textout_blank(t);
	free(place);
}

static void live_times(struct textout *t, enum textout_style style,
		       const struct observed_episode *e, const char *past,
		       const struct fields_context *context)
{
	char barrier[TEXTOUT_CELL], phase[TEXTOUT_CELL], total[TEXTOUT_CELL];

	textout_line(t, style, "    (barrier: %s%s, phase %llu: %s, from start: %s)%s",
		     textout_time(barrier, e->barrier_ns), past, (unsigned long long)e->number,
		     textout_time(phase, e->phase_ns),
		     textout_clock(total, since_start(e->release_ns, context)),
		     e->state == MODEL_COMPLETE	    ? ""
		     : e->state == MODEL_INCOMPLETE ? " incomplete"
						    : " ambiguous");
}

void live_named(struct textout *t, const struct observed_episode *e,
		const struct fields_context *context)
{
	char *place = live_place(e->barrier);

	textout_line(t, TEXTOUT_PLAIN, "SBT: %s", place ? place : e->barrier->id);
	live_times(t, TEXTOUT_PLAIN, e, "", context);
	free(place);
}

void live_warning(struct textout *t, const struct observed_episode *e, uint64_t threshold_ns,
		  const struct fields_context *context)
{
	const struct report_barrier *b = e->barrier;
	char *place = live_place(b);
	char past[TEXTOUT_CELL + 8], s[TEXTOUT_CELL];

	snprintf(past, sizeof(past), " > %s", textout_time(s, threshold_ns));
	textout_line(t, TEXTOUT_RED, "SBT WARNING: barrier in %s  %s (pid %u)",
		     place ? place : b->id, b->comm ? b->comm : "?", e->pid);
	live_times(t, TEXTOUT_PLAIN, e, threshold_ns ? past : "", context);
	why_sentence(t, TEXTOUT_PLAIN, &e->cause, 4);
	free(place);
}

void live_phase_time(struct textout *t, const struct observed_episode *e,
		     const struct fields_context *context)
{
	char *place = live_place(e->barrier);
	char phase[TEXTOUT_CELL], barrier[TEXTOUT_CELL], total[TEXTOUT_CELL];
	char times[4 * TEXTOUT_CELL];
	unsigned used;
	char *fit;

	snprintf(times, sizeof(times), "SBT phase %llu: %s, barrier: %s, from start: %s, at ",
		 (unsigned long long)e->number, textout_time(phase, e->phase_ns),
		 textout_time(barrier, e->barrier_ns),
		 textout_clock(total, since_start(e->release_ns, context)));
	/* Shorten the place rather than the times. */
	used = textout_columns(times);
	fit = textout_fit(place ? place : e->barrier->id, used < t->width ? t->width - used : 1);
	textout_line(t, TEXTOUT_PLAIN, "%s%s", times, fit ? fit : "");
	free(fit);
	free(place);
}
