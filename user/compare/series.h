/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Many recordings of one program - sizes, versions, thread counts, repeated runs - as one table. Pure.
 *
 * Recordings of the same label are runs of the same thing: a point, with means and deviations over them. A label of
 * the user's that has a slash, ROW/COLUMN, puts its point into a table of two ways. What makes the tables and figures
 * of the thesis (in the command's words SERIES_ROW is --base row, and so on):
 *
 *   figure 5.2        labels SIZE-DISTRIBUTION/RADIX: time
 *   figure 5.4        labels BLOCK/ALLOCATION: time
 *   table 5.2         labels SIZE/VERSION, five runs each: time; figure 5.7: SERIES_ROW, normalised
 *   table 3.3         labels PROCESSORS/DISTRIBUTION, and SERIES_LABEL with the sequential program's: speedup
 *   table 5.4         labels SIZE/ALLOCATION, SERIES_ROW: normalised, less 1; its average is series_average()
 *   table 5.5         labels BLOCK, with counters: time, and counters per thread
 *   figure 5.21       the same, SERIES_FASTEST: normalised
 *   table 5.3         labels SIZE: each site's phase_ns and barrier_ns
 *   figure 5.8        the same: work_ns and barrier_ns stacked, and as shares
 *   figure 5.14       labels SIZE, five runs each: each site's idle
 *
 * The thesis's idle time is our wait (the design's model). Its phase times begin at the barrier before, as ours do, so
 * that the barrier time is part of them: work_ns is what lies before the first arrival.
 */
#ifndef COMPARE_SERIES_H
#define COMPARE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/episode_match.h"
#include "analyse/report.h"

#define SERIES_NONE UINT32_MAX

/* What recordings without a label of the user's are labelled by. */
enum series_by {
	SERIES_BY_RUN, /* command line and number of threads, as far as they differ */
	SERIES_BY_COMMAND,
	SERIES_BY_THREADS,
	SERIES_BY_FILE, /* the file's name, without directories and what follows the last dot */
};

/* What a point is normalised to. */
enum series_base {
	SERIES_FIRST,
	SERIES_FASTEST,
	SERIES_ROW, /* the first of its row */
	SERIES_COLUMN, /* the first of its column */
	SERIES_LABEL, /* the point of a label */
};

struct series_input {
	const struct report *report;
	const char *label; /* the user's; NULL: none */
	const char *file, *command; /* NULL unknown */
};

struct series_options {
	enum series_by by;
	enum series_base base;
	const char *base_label; /* SERIES_LABEL */
};

/* In ns, over recordings or threads; REPORT_UNKNOWN. */
struct series_time {
	uint32_t n;
	uint64_t mean, stddev, min, max;
};

struct series_counter {
	const char *name;
	double mean, stddev; /* of all threads; over recordings */
	double per_thread; /* mean over the threads that crossed barriers */
	double normalised; /* of a point: to that of its base */
};

/* A site in the runs of a point. */
struct series_site {
	const char *id, *label;
	uint32_t slot; /* of the match */
	struct series_time phase, barrier, lost; /* of a whole run */
	uint64_t work_ns; /* phase less barrier time */
	double share, barrier_share; /* of the point's sum of phase times */
	struct series_time
		idle; /* of threads' cumulative waits, each the mean of its runs; deviation of the population */
	uint32_t ncounters;
	struct series_counter *counters;
};

struct series_point {
	const char *label, *row, *column; /* column NULL: none */
	uint32_t runs;
	uint32_t lossy; /* of them lost records */
	uint32_t
		detached; /* of them have a process that was not traced to its end: their time is unknown */
	uint32_t detached_parts; /* of them have a process of which some barriers were not */
	uint32_t
		threads; /* that crossed barriers; SERIES_NONE: not the same in all its runs, or none did */
	struct series_time
		time; /* of the longest process, from its beginning to its end where both were seen, or group */
	bool whole; /* nobody crossed a barrier in some: their time is the recording's length */
	uint32_t base; /* the point it is normalised to; SERIES_NONE: there is none */
	double normalised; /* its time over the base's */
	double speedup; /* the reverse */
	double efficiency; /* speedup over how many times the base's threads it has */
	uint32_t nsites;
	struct series_site *sites; /* in the order in which they are first met */
	uint32_t ncounters;
	struct series_counter *counters;
};

struct series {
	uint32_t ninputs, npoints, nrows, ncolumns;
	struct series_point *points; /* in the order of their first recordings */
	const char **rows, **columns; /* likewise; columns: of two ways only */
	uint32_t fastest, slowest; /* SERIES_NONE */
	const char *base_label; /* one that no point has; NULL: all is well */
	struct episode_match match;
	void *arena;
};

/* Returns 0 and fills *out (to be released by series_free(), and outlived by the inputs), or -ENOMEM. */
int series_build(const struct series_input *inputs, uint32_t n,
		 const struct series_options *options, struct series *out);
void series_free(struct series *s);

/* The point in that place of the table of two ways; NULL: there is none. */
const struct series_point *series_at(const struct series *s, uint32_t row, uint32_t column);
/* The mean over the rows of how much more time points of a column take than their bases; NAN: none is known. */
double series_average(const struct series *s, uint32_t column);

#endif /* COMPARE_SERIES_H */
