/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Put many recordings of one program (sizes, versions, thread counts, repeated runs) into one
 * table. This code does no I/O.
 *
 * Recordings with the same label are the runs of one point, with means and deviations over these
 * runs. A user's label with a slash, ROW/COLUMN, puts its point into a two-way table. These labels
 * and options give the tables and figures of the SBT thesis (Novillo, University of Alberta, 2002).
 * SERIES_ROW is --base row, and so on:
 *
 *   figure 5.2        labels SIZE-DISTRIBUTION/RADIX: time
 *   figure 5.4        labels BLOCK/ALLOCATION: time
 *   table 5.2         labels SIZE/VERSION, five runs each: time; figure 5.7: SERIES_ROW, normalised
 *   table 3.3         labels PROCESSORS/DISTRIBUTION, SERIES_LABEL with the label of the
 *                     sequential program: speedup
 *   table 5.4         labels SIZE/ALLOCATION, SERIES_ROW: normalised, minus 1; its average is
 *                     series_average()
 *   table 5.5         labels BLOCK, with counters: time, and counters per thread
 *   figure 5.21       labels as for table 5.5, SERIES_FASTEST: normalised
 *   table 5.3         labels SIZE: phase_ns and barrier_ns of each site
 *   figure 5.8        labels as for table 5.3: work_ns and barrier_ns stacked, and as shares
 *   figure 5.14       labels SIZE, five runs each: idle of each site
 *
 * Idle time in the thesis is the wait here. In the thesis and here, phase times begin at the
 * previous barrier, so they include the barrier time. work_ns is the time before the first arrival.
 */
#ifndef COMPARE_SERIES_H
#define COMPARE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/episode_match.h"
#include "analyse/report.h"

#define SERIES_NONE UINT32_MAX

/* The default label of a recording. */
enum series_by {
	/*
	 * command line and number of threads, each only if it differs between recordings; the
	 * command line if neither differs
	 */
	SERIES_BY_RUN,
	SERIES_BY_COMMAND,
	SERIES_BY_THREADS,
	SERIES_BY_FILE, /* the file's name, without directories and extension */
};

/* The base: the point to which other points are normalised. */
enum series_base {
	SERIES_FIRST,
	SERIES_FASTEST,
	SERIES_ROW, /* the first point of its row */
	SERIES_COLUMN, /* the first point of its column */
	SERIES_LABEL, /* the point with a given label */
};

struct series_input {
	const struct report *report;
	const char *label; /* given by the user; NULL if none */
	const char *file, *command; /* NULL if unknown */
};

struct series_options {
	enum series_by by;
	enum series_base base;
	const char *base_label; /* for SERIES_LABEL */
};

/* Statistics of times over recordings or threads, ns; REPORT_UNKNOWN if unknown. */
struct series_time {
	uint32_t n;
	uint64_t mean, stddev, min, max;
};

struct series_counter {
	const char *name;
	double mean, stddev; /* over the recordings, of the counter's sum over all threads */
	double per_thread; /* mean / number of threads that crossed barriers */
	double normalised; /* for a point: .mean divided by its base's mean */
};

/* A site in the runs of a point. */
struct series_site {
	const char *id, *label;
	uint32_t slot; /* index in series.match.sites */
	struct series_time phase, barrier, lost; /* statistics of the sums over each run */
	uint64_t work_ns; /* phase time minus barrier time */
	/* phase and barrier time as shares of the sum of the point's phase times */
	double share, barrier_share;
	/*
	 * Total wait of each thread, averaged over the runs. The statistics are over the threads.
	 * The threads are the complete population, not a sample, so the deviation divides by n.
	 */
	struct series_time idle;
	uint32_t ncounters;
	struct series_counter *counters;
};

struct series_point {
	const char *label, *row, *column; /* column is NULL if there is none */
	uint32_t runs;
	uint32_t lossy; /* runs that lost records */
	uint32_t detached; /* runs with a process not traced to its end: their time is unknown */
	uint32_t detached_parts; /* runs with some barriers of a process not traced to its end */
	/* Number of threads that crossed barriers; SERIES_NONE if none, or if the runs differ. */
	uint32_t threads;
	/*
	 * Time of the longest process or group. For a process with a recorded start and end, this
	 * is the time from start to end.
	 */
	struct series_time time;
	bool whole; /* a run had no crossings, so the length of its recording is its time */
	/* index of the point to which this point is normalised; SERIES_NONE if none */
	uint32_t base;
	double normalised; /* this point's time / the base's time */
	double speedup; /* the base's time / this point's time */
	double efficiency; /* speedup / (this point's threads / the base's threads) */
	uint32_t nsites;
	struct series_site *sites; /* in the order of their first recordings */
	uint32_t ncounters;
	struct series_counter *counters;
};

struct series {
	uint32_t ninputs, npoints, nrows, ncolumns;
	struct series_point *points; /* in the order of their first recordings */
	const char **rows, **columns; /* in the same order; columns exist only in a two-way table */
	uint32_t fastest, slowest; /* indexes of points; SERIES_NONE if none */
	const char *base_label; /* requested label that no point has; otherwise NULL */
	struct episode_match match;
	void *arena;
};

/* Fill *out, which series_free() frees. The inputs must outlive it. Return 0 or -ENOMEM. */
int series_build(const struct series_input *inputs, uint32_t n,
		 const struct series_options *options, struct series *out);
void series_free(struct series *s);

/* Return the point in this row and column of the two-way table, or NULL. */
const struct series_point *series_at(const struct series *s, uint32_t row, uint32_t column);
/* Return the mean of a column's normalised times, minus 1, or NAN if none is known. */
double series_average(const struct series *s, uint32_t column);

#endif /* COMPARE_SERIES_H */
