// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/emit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit/buf.h"
#include "emit/compare.h"
#include "emit/csv.h"
#include "emit/doctor.h"
#include "emit/fields.h"
#include "emit/first_screen.h"
#include "emit/hang.h"
#include "emit/json.h"
#include "emit/live_text.h"
#include "emit/prediction.h"
#include "emit/series.h"
#include "emit/summary.h"
#include "emit/textout.h"
#include "emit/threads.h"

#define EMIT_WIDTH	    100
#define EMIT_WIDTH_LEAST    40
#define EMIT_WIDTH_MARKDOWN 1000000

struct emit {
	FILE *out;
	struct emit_options options;
	struct fields_context context;
	struct buf buf;
	struct textout text;
	struct csv *csv;
	bool header; /* CSV: the header was printed */
	uint64_t warnings; /* warnings that were not printed (options.count_events) */
	uint64_t warned_ns; /* the longest of their barrier times */
	int err; /* first error */
};

struct emit *emit_new(FILE *out, const struct emit_options *options)
{
	struct emit *emit = calloc(1, sizeof(*emit));

	if (!emit)
		return NULL;
	*emit = (struct emit){
		.out = out,
		.options = *options,
		.context.realtime_offset_ns = options->realtime_offset_ns,
		.text = { .buf = &emit->buf,
			  .width = options->width ? options->width : EMIT_WIDTH,
			  .colour = options->colour,
			  .ascii = options->ascii,
			  .markdown = options->format == EMIT_MARKDOWN },
	};
	if (emit->text.width < EMIT_WIDTH_LEAST)
		emit->text.width = EMIT_WIDTH_LEAST;
	/* The program that shows the Markdown breaks its lines. */
	if (emit->text.markdown)
		emit->text.width = EMIT_WIDTH_MARKDOWN;
	if (options->format == EMIT_CSV) {
		emit->csv = csv_new(NULL);
		if (!emit->csv) {
			free(emit);
			return NULL;
		}
	}
	return emit;
}

/* Write the formatted output: complete lines, one record at a time. */
static void emit_put(struct emit *emit)
{
	if (emit->err)
		buf_clear(&emit->buf);
	else
		emit->err = buf_write(&emit->buf, emit->out);
}

static void emit_record(struct emit *emit, const struct emit_record *record, const void *rec)
{
	switch (emit->options.format) {
	case EMIT_JSON:
		jsonl_record(&emit->buf, record, rec, &emit->context);
		break;
	case EMIT_CSV:
		if (!emit->header)
			csv_header(emit->csv, &emit->buf);
		emit->header = true;
		csv_record(emit->csv, &emit->buf, record, rec, &emit->context);
		break;
	case EMIT_TEXT:
	case EMIT_MARKDOWN:
		/* These are not made of records: the callers have printed their tables. */
		break;
	}
	emit_put(emit);
}

static void emit_list(struct emit *emit, const struct emit_record *record, const void *rows,
		      uint32_t n)
{
	const char *at = rows;

	for (; n--; at += record->size)
		emit_record(emit, record, at);
}

static bool emit_is_text(const struct emit *emit)
{
	return emit->options.format == EMIT_TEXT || emit->options.format == EMIT_MARKDOWN;
}

/* Return whether live text is wanted and nothing has failed. */
static bool emit_live(const struct emit *emit)
{
	return !emit->err && emit_is_text(emit) && !emit->options.quiet;
}

/* Return the length of the word at @s. */
static size_t word(const char *s)
{
	return strcspn(s, " ");
}

/* Return the last part of the path at @s, which is one word. */
static const char *base_of(const char *s)
{
	const char *slash = memrchr(s, '/', word(s));

	return slash && word(slash + 1) ? slash + 1 : s;
}

/*
 * Set @out to the script that an interpreter runs, without its folder, or to "" if the command is
 * no known interpreter, or runs no script. Interpreters have names such as "python3.11".
 */
static void script_of(const char *command, char *out, size_t size)
{
	static const char *const interpreters[] = { "python", "pypy", "ruby",  "perl",	 "bash",
						    "sh",     "node", "julia", "Rscript" };
	const char *name, *s;
	bool known = false;
	size_t i, n;

	*out = '\0';
	if (!command)
		return;
	name = base_of(command);
	for (i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		n = strlen(interpreters[i]);
		known |= !strncmp(name, interpreters[i], n) &&
			 strspn(name + n, "0123456789.") == word(name + n);
	}
	for (s = name + word(name); known && *s; s += word(s)) {
		s++;
		if (!word(s) || !strncmp(s, "-c ", 3) || !strncmp(s, "-e ", 3))
			return;
		/* These options have an argument. */
		if (!strncmp(s, "-W ", 3) || !strncmp(s, "-X ", 3))
			s += 3;
		else if (!strncmp(s, "-m ", 3) || *s != '-') {
			s = base_of(s + (*s == '-' ? 3 : 0));
			snprintf(out, size, "%.*s", (int)word(s), s);
			return;
		}
	}
}

void emit_session(struct emit *emit, const struct session *session)
{
	struct fields_session rec = {
		.schema = FIELDS_SCHEMA_VERSION,
		.session = session,
		.realtime_offset_ns = emit->options.realtime_offset_ns
					      ? emit->options.realtime_offset_ns
					      : INT64_MIN,
	};

	emit->context.clock_start_ns = session->clock_start_ns;
	script_of(session->command, emit->context.script, sizeof(emit->context.script));
	if (emit->err)
		return;
	if (!emit_is_text(emit)) {
		emit_record(emit, &fields_rec_session, &rec);
		return;
	}
	if (session->banner && emit->options.banner && !emit->options.quiet)
		live_banner(&emit->text, session);
	else if (emit->options.announce && !emit->options.quiet)
		textout_line(&emit->text, TEXTOUT_DIM,
			     "Tracing. Press ^C to end tracing and print the report.");
	if (emit->options.verbose && !emit->options.quiet)
		live_probes(&emit->text, session, &emit->context);
	emit_put(emit);
}

void emit_watched(struct emit *emit, const struct observed_episode *episode)
{
	if (emit->err)
		return;
	if (!emit_is_text(emit)) {
		emit_record(emit, &fields_rec_episode, episode);
	} else if (emit_live(emit)) {
		live_watched(&emit->text, episode, &emit->context);
		emit_put(emit);
	}
}

void emit_named(struct emit *emit, const struct observed_episode *episode)
{
	if (!emit_live(emit) || emit->options.count_events)
		return;
	live_named(&emit->text, episode, &emit->context);
	emit_put(emit);
}

void emit_warning(struct emit *emit, const struct observed_episode *episode, uint64_t threshold_ns)
{
	struct fields_warning rec = {
		.episode = episode,
		.barrier = episode->barrier,
		.threshold_ns = threshold_ns,
	};

	if (emit->err)
		return;
	if (!emit_is_text(emit)) {
		emit_record(emit, &fields_rec_warning, &rec);
	} else if (emit->options.count_events) {
		emit->warnings++;
		if (episode->barrier_ns > emit->warned_ns)
			emit->warned_ns = episode->barrier_ns;
	} else if (emit_live(emit)) {
		live_warning(&emit->text, episode, threshold_ns, &emit->context);
		emit_put(emit);
	}
}

void emit_hang(struct emit *emit, const struct report_hang *hang)
{
	if (emit->options.on_hang)
		emit->options.on_hang(emit->options.on_hang_ctx, hang);
	if (emit->err)
		return;
	if (!emit_is_text(emit)) {
		emit_record(emit, &fields_rec_hang, hang);
	} else if (emit_live(emit) && !emit->options.count_events) {
		hang_print(&emit->text, hang);
		emit_put(emit);
	}
}

void emit_no_hang(struct emit *emit, uint32_t ranks)
{
	if (!emit_live(emit))
		return;
	if (ranks)
		textout_wrap(
			&emit->text, TEXTOUT_PLAIN, "", 0,
			"No thread waits at a known barrier. %u %s in an MPI call for a message "
			"(such as MPI_Wait), but the rank that must send it cannot be read. Ranks "
			"that wait for each other this way are not detected. Each thread is at:",
			ranks, ranks == 1 ? "process waits" : "processes wait");
	else
		textout_line(&emit->text, TEXTOUT_PLAIN,
			     "No thread waits at a known barrier. Each thread is at:");
	textout_blank(&emit->text);
	emit_put(emit);
}

void emit_threads(struct emit *emit, uint32_t pid, const char *comm,
		  const struct emit_thread *threads, uint32_t n)
{
	if (emit->err)
		return;
	if (emit_is_text(emit)) {
		threads_print(&emit->text, pid, comm, threads, n);
		emit_put(emit);
	} else {
		emit_list(emit, &fields_rec_where, threads, n);
	}
}

void emit_phase_time(struct emit *emit, const struct observed_episode *episode)
{
	if (!emit_live(emit))
		return;
	live_phase_time(&emit->text, episode, &emit->context);
	emit_put(emit);
}

static void on_watched(void *ctx, const struct observed_episode *episode)
{
	emit_watched(ctx, episode);
}

static void on_named(void *ctx, const struct observed_episode *episode)
{
	emit_named(ctx, episode);
}

static void on_warning(void *ctx, const struct observed_episode *episode, uint64_t threshold_ns)
{
	emit_warning(ctx, episode, threshold_ns);
}

static void on_phase_time(void *ctx, const struct observed_episode *episode)
{
	emit_phase_time(ctx, episode);
}

static void on_hang(void *ctx, const struct report_hang *hang)
{
	emit_hang(ctx, hang);
}

struct observer_output emit_output(struct emit *emit)
{
	return (struct observer_output){ .watched = on_watched,
					 .named = on_named,
					 .warning = on_warning,
					 .phase_time = on_phase_time,
					 .hang = on_hang,
					 .ctx = emit };
}

static void emit_records(struct emit *emit, const struct report *report)
{
	struct fields_end end = {
		.report = report,
		.elapsed_ns = report->end_ns - report->start_ns,
	};
	const struct emit_field *f;
	struct fields_value list;

	for (f = fields_of_report; f->help; f++) {
		list = fields_get(f, report, &emit->context);
		/* Hangs were printed when they were found. */
		if (f->sub != &fields_rec_hang)
			emit_list(emit, f->sub, list.base, list.n);
	}
	emit_record(emit, report->interim ? &fields_rec_interim : &fields_rec_end, &end);
}

void emit_report(struct emit *emit, const struct report *report)
{
	if (emit->err)
		return;
	emit->context.interim = report->interim;
	emit->context.many = report->nprocesses > 1;
	if (emit_is_text(emit)) {
		if (emit->options.detail)
			summary_print(&emit->text, report, &emit->context);
		else
			first_screen_print(&emit->text, report, &emit->context, emit->warnings,
					   emit->warned_ns);
		emit_put(emit);
	} else {
		emit_records(emit, report);
	}
	emit->context.interim = false;
	emit_flush(emit);
}

void emit_doctor(struct emit *emit, const struct doctor *doctor)
{
	if (emit->err)
		return;
	if (emit_is_text(emit)) {
		doctor_print(&emit->text, doctor);
		emit_put(emit);
	} else {
		emit_record(emit, &fields_rec_doctor, &doctor->verdict);
		emit_list(emit, &fields_rec_doctor, doctor->features, doctor->n);
	}
}

/* Restrict the CSV columns to these records, unless something was written already. */
static void emit_only(struct emit *emit, const struct emit_record *const *records)
{
	if (emit->options.format != EMIT_CSV || emit->header)
		return;
	csv_free(emit->csv);
	emit->csv = csv_new(records);
	if (!emit->csv && !emit->err)
		emit->err = -ENOMEM;
}

void emit_compare(struct emit *emit, const struct compare *compare,
		  const struct compare_input *inputs)
{
	struct fields_comparison rec = {
		.compare = compare,
		.a = inputs,
		.b = inputs + compare->a.n,
		.na = compare->a.n,
		.nb = compare->b.n,
	};

	emit_only(emit, fields_of_diff);
	if (emit->err)
		return;
	if (emit_is_text(emit)) {
		compare_print(&emit->text, &rec, &emit->context);
		emit_put(emit);
	} else {
		emit_record(emit, &fields_rec_comparison, &rec);
		emit_list(emit, &fields_rec_difference, compare->rows, compare->nrows);
	}
}

void emit_predictions(struct emit *emit, const struct predictions *p)
{
	emit_only(emit, fields_of_predict);
	if (emit->err)
		return;
	if (emit_is_text(emit)) {
		prediction_print(&emit->text, p, &emit->context);
		emit_put(emit);
	} else {
		emit_list(emit, &fields_rec_prediction, p->all, p->n);
		emit_list(emit, &fields_rec_assumption, p->notes, p->nnotes);
	}
}

void emit_machine(struct emit *emit, const struct predict_machine *m, const char *comment)
{
	if (emit->err)
		return;
	prediction_print_machine(&emit->buf, m, comment);
	emit_put(emit);
}

void emit_series(struct emit *emit, const struct series *series)
{
	struct fields_series rec;
	uint32_t i;

	emit_only(emit, fields_of_series);
	if (emit->err)
		return;
	if (emit_is_text(emit)) {
		series_print(&emit->text, series, &emit->context);
		emit_put(emit);
		return;
	}
	for (i = 0; i < series->npoints; i++) {
		rec = fields_series_of(series, i);
		emit_record(emit, &fields_rec_series, &rec);
	}
}

int emit_flush(struct emit *emit)
{
	if (!emit->err)
		emit->err = buf_flush(emit->out);
	return emit->err;
}

int emit_free(struct emit *emit)
{
	int err;

	if (!emit)
		return 0;
	err = emit_flush(emit);
	csv_free(emit->csv);
	buf_free(&emit->buf);
	free(emit);
	return err;
}
