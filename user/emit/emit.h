/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Everything that is printed as data: text for people, JSON Lines, CSV. All three are driven by the
 * list of fields in emit/fields.c. A writer owns its stream's errors: the first failed write is kept
 * and returned by emit_flush() and emit_free(); nothing after it is written. Only emit_report() and
 * these two flush: with live output the caller does, as often as somebody may be looking. SIGPIPE
 * is the caller's to ignore.
 */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/options.h"
#include "compare/compare.h"
#include "analyse/doctor.h"
#include "analyse/observer.h"
#include "hang/hang.h"
#include "predict/predict_report.h"
#include "analyse/report.h"
#include "analyse/session.h"
#include "compare/series.h"
#include "emit/threads.h"
#include "model/model.h"

struct emit_options {
	enum emit_format format;
	bool colour; /* text only; the caller has looked at the terminal and NO_COLOR */
	unsigned width; /* columns; 0: 100 */
	bool ascii; /* text: nothing but ASCII ("us", "~", "#") */
	bool verbose; /* text: the probes, below the banner */
	bool quiet; /* text: no banner, no live reports; the report at the end still comes */
	int64_t realtime_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC; 0: no time of day */
	/* Is told of every hang that is printed, too. Optional. */
	void (*on_hang)(void *ctx, const struct report_hang *hang);
	void *on_hang_ctx;
};

struct emit; /* opaque */

/* @out stays the caller's (it is flushed, not closed). NULL when out of memory. */
struct emit *emit_new(FILE *out, const struct emit_options *options);
/* The start: session record, or the banner of options (figure 3.6, lines 1 to 10). */
void emit_session(struct emit *emit, const struct session *session);
/* A watched barrier in full (figure 3.6, lines 15 to 24; figure 3.10, lines 16 to 30). */
void emit_watched(struct emit *emit, const struct observed_episode *episode);
/* A named one that is not watched: two short lines (figure 3.6, lines 12 and 13). Text only. */
void emit_named(struct emit *emit, const struct observed_episode *episode);
/* Any past the threshold (figure 3.10, lines 12 and 13). */
void emit_warning(struct emit *emit, const struct observed_episode *episode, uint64_t threshold_ns);
/* A barrier that does not fill; or that has, in the end (hang->over). */
void emit_hang(struct emit *emit, const struct report_hang *hang);
/* hang: no thread waits at a barrier; @ranks wait for messages of ranks that cannot be told. Text only. */
void emit_no_hang(struct emit *emit, uint32_t ranks);
/* Where the threads of one process are, @comm the process's name; text tells those together that are at one place. */
void emit_threads(struct emit *emit, uint32_t pid, const char *comm,
		  const struct emit_thread *threads, uint32_t n);
/* --phase-times: one line an episode. Text only. */
void emit_phase_time(struct emit *emit, const struct observed_episode *episode);
/* What @emit does as the output of an observer; valid as long as @emit is. */
struct observer_output emit_output(struct emit *emit);
/* The end, or an interim report. */
void emit_report(struct emit *emit, const struct report *report);
/* What can be done here: the verdict, then a row a feature. JSON has the verdict as the feature "trace". No CSV. */
void emit_doctor(struct emit *emit, const struct doctor *doctor);
/* diff: the answer, then what changed. @inputs: A's, then B's. */
void emit_compare(struct emit *emit, const struct compare *compare,
		  const struct compare_input *inputs);
/* predict: a record for each number of processors, then one for each assumption and warning. */
void emit_predictions(struct emit *emit, const struct predictions *predictions);
/* A file of a machine's parameters, whatever the format. */
void emit_machine(struct emit *emit, const struct predict_machine *machine, const char *comment);
/* series: all points; text has the tables that they make. */
void emit_series(struct emit *emit, const struct series *series);
/* Prints what the field list says of itself as a JSON Schema. */
int emit_json_schema(FILE *out);
/* 0, or the first error as -errno (-EPIPE, -ENOSPC, ...). */
int emit_flush(struct emit *emit);
int emit_free(struct emit *emit);

#endif /* EMIT_EMIT_H */
