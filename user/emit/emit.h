/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Data output: text for people, JSON Lines, CSV. The list of fields in emit/fields.c drives all
 * three. A writer remembers the first error of its stream, returns it from emit_flush() and
 * emit_free(), and writes nothing after that error. Only emit_report(), emit_flush() and
 * emit_free() flush. With live output, the caller flushes whenever a reader should see the output.
 * The caller ignores SIGPIPE.
 *
 * "Figure" below means a figure of Ernesto Novillo's thesis on the SBT library (University of
 * Alberta, 2002). Text output has the format of these figures.
 */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/options.h"
#include "compare/compare.h"
#include "doctor/doctor.h"
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
	/* text: use colour; the caller has checked the terminal and NO_COLOR */
	bool colour;
	unsigned width; /* columns; 0: 100 */
	bool ascii; /* text: ASCII only ("us", "~", "#") */
	bool verbose; /* text: print the probes below the banner */
	/* text: print the whole report, not only its first screen (emit/first_screen.h) */
	bool detail;
	bool banner; /* text: print the session's settings first, unless session.banner is false */
	bool announce; /* text: print that tracing has begun, unless the banner shows it */
	/*
	 * text: print no warnings, no hangs and no episodes of named barriers when they occur; the
	 * report counts the warnings
	 */
	bool count_events;
	/* text: print only the report at the end, no banner and no live reports */
	bool quiet;
	int64_t realtime_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC; 0: no time of day */
	/* Called for every hang, whether it is printed or not. Optional. */
	void (*on_hang)(void *ctx, const struct report_hang *hang);
	void *on_hang_ctx;
};

struct emit; /* opaque */

/* The caller owns @out, which is flushed but not closed. Return NULL when out of memory. */
struct emit *emit_new(FILE *out, const struct emit_options *options);
/* Print the start: the session record, or the banner of options (figure 3.6, lines 1 to 10). */
void emit_session(struct emit *emit, const struct session *session);
/*
 * Print an episode of a watched barrier in full (figure 3.6, lines 15 to 24; figure 3.10, lines 16
 * to 30).
 */
void emit_watched(struct emit *emit, const struct observed_episode *episode);
/*
 * Print two short lines for an episode of a named barrier that is not watched (figure 3.6, lines 12
 * and 13). Text only.
 */
void emit_named(struct emit *emit, const struct observed_episode *episode);
/*
 * Print a warning about a barrier time that reached the threshold (figure 3.10, lines 12 and 13).
 */
void emit_warning(struct emit *emit, const struct observed_episode *episode, uint64_t threshold_ns);
/*
 * Print a barrier at which threads are still missing, or, if hang->over, that all threads have
 * arrived after all.
 */
void emit_hang(struct emit *emit, const struct report_hang *hang);
/*
 * For hang: print that no thread waits at a barrier, and that @ranks processes wait for messages
 * from MPI ranks that are not known. Text only.
 */
void emit_no_hang(struct emit *emit, uint32_t ranks);
/*
 * Print the positions of the threads of one process; @comm is the process's name. Text output
 * groups threads with equal positions.
 */
void emit_threads(struct emit *emit, uint32_t pid, const char *comm,
		  const struct emit_thread *threads, uint32_t n);
/* For --phase-times: print one line per episode. Text only. */
void emit_phase_time(struct emit *emit, const struct observed_episode *episode);
/* Return the functions of @emit as the output of an observer, valid as long as @emit is. */
struct observer_output emit_output(struct emit *emit);
/* Print the report at the end, or an interim report. */
void emit_report(struct emit *emit, const struct report *report);
/*
 * Print what tracing can do on this machine: the verdict, then a row per feature. In JSON the
 * verdict is the feature "trace". There is no CSV.
 */
void emit_doctor(struct emit *emit, const struct doctor *doctor);
/* For diff: print the answer, then the changes. @inputs has A's recordings, then B's. */
void emit_compare(struct emit *emit, const struct compare *compare,
		  const struct compare_input *inputs);
/*
 * For predict: print a record for each number of processors, then one for each assumption and
 * warning.
 */
void emit_predictions(struct emit *emit, const struct predictions *predictions);
/* Print a machine's parameters in the format of a parameter file, whatever the output format. */
void emit_machine(struct emit *emit, const struct predict_machine *machine, const char *comment);
/* For series: print all points; text prints the tables that they form. */
void emit_series(struct emit *emit, const struct series *series);
/* Print the list of fields as a JSON Schema. */
int emit_json_schema(FILE *out);
/* Return 0, or the first error as -errno (-EPIPE, -ENOSPC, ...). */
int emit_flush(struct emit *emit);
int emit_free(struct emit *emit);

#endif /* EMIT_EMIT_H */
