// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The list of fields: the record of series. */
#include <math.h>
#include <stdio.h>

#include "compare/series.h"
#include "emit/compare.h"
#include "emit/fields_internal.h"

/* --- cells ------------------------------------------------------------------------------------ */

static void cell_normalised(const void *rec, char *out, size_t size)
{
	double v = ((const struct fields_series *)rec)->point->normalised;

	if (isfinite(v))
		snprintf(out, size, "%.3f", v);
	else
		snprintf(out, size, "?");
}

static void cell_threads(const void *rec, char *out, size_t size)
{
	uint32_t n = ((const struct fields_series *)rec)->point->threads;

	if (n == SERIES_NONE)
		snprintf(out, size, "?");
	else
		snprintf(out, size, "%u", n);
}

/* A single run has no spread: show nothing, not "unknown". */
static void spread(const void *rec, char *out, uint64_t ns)
{
	*out = '\0';
	if (((const struct fields_series *)rec)->point->time.n > 1)
		textout_time(out, ns);
}

static void cell_stddev(const void *rec, char *out, size_t size)
{
	(void)size;
	spread(rec, out, ((const struct fields_series *)rec)->point->time.stddev);
}

static void cell_min(const void *rec, char *out, size_t size)
{
	(void)size;
	spread(rec, out, ((const struct fields_series *)rec)->point->time.min);
}

static void cell_max(const void *rec, char *out, size_t size)
{
	(void)size;
	spread(rec, out, ((const struct fields_series *)rec)->point->time.max);
}

/* clang-format off */

#define CO(m) AT(series_counter, m)
static const struct emit_field counter_fields[] = {
	{ "name", EMIT_STRING, CO(name), .help = "name of the counter, as the user wrote it" },
	{ "mean", EMIT_DOUBLE, CO(mean), .help = "mean over the runs of the count of all threads" },
	{ "stddev", EMIT_DOUBLE, CO(stddev),
	  .help = "sample standard deviation of this value over the runs" },
	{ "per_thread", EMIT_DOUBLE, CO(per_thread),
	  .help = "mean, divided by the number of threads that crossed barriers" },
	{ "to_base", EMIT_DOUBLE, CO(normalised),
	  .help = "mean, divided by the mean of the base" },
	END
};
static const struct emit_record rec_counter = {
	"counter", sizeof(struct series_counter), counter_fields, "One counter"
};

#define SI(m) AT(series_site, m)
static const struct emit_field site_fields[] = {
	{ "barrier", EMIT_STRING, SI(id), .flags = FIELDS_KEY, .help = "id of the barrier" },
	{ "where", EMIT_STRING, SI(label), .heading = "site", .look = EMIT_NAME,
	  .help = "label of the call site in text output" },
	{ "phase_ns", EMIT_NS, SI(phase.mean), .heading = "phase", .look = EMIT_MEAN,
	  .help = "sum of the phase times in a run, as the mean over the runs" },
	{ "phase_stddev_ns", EMIT_NS, SI(phase.stddev),
	  .help = "sample standard deviation of this value over the runs" },
	{ "work_ns", EMIT_NS, SI(work_ns),
	  .help = "phase_ns - barrier_ns: the part of the phases before the first arrival" },
	{ "barrier_ns", EMIT_NS, SI(barrier.mean), .heading = "of it\nbarrier", .look = EMIT_MEAN,
	  .help = "sum of the barrier times in a run, as the mean over the runs" },
	{ "barrier_stddev_ns", EMIT_NS, SI(barrier.stddev),
	  .help = "sample standard deviation of this value over the runs" },
	{ "lost_ns", EMIT_NS, SI(lost.mean),
	  .help = "sum of the waits of all threads in a run, as the mean over the runs" },
	{ "lost_stddev_ns", EMIT_NS, SI(lost.stddev),
	  .help = "sample standard deviation of this value over the runs" },
	{ "share", EMIT_RATIO, SI(share), .heading = "of\nall", .look = EMIT_NUMBER,
	  .help = "phase_ns, divided by the sum of phase_ns over all sites" },
	{ "barrier_share", EMIT_RATIO, SI(barrier_share), .heading = "of it\nbarrier",
	  .look = EMIT_NUMBER,
	  .help = "barrier_ns, divided by the sum of phase_ns over all sites" },
	{ "idle_min_ns", EMIT_NS, SI(idle.min), .heading = "threads'\nwait: min", .look = EMIT_MEAN,
	  .help = "idle time of the least idle thread: the sum of its waits in a run, as the mean "
		  "over the runs" },
	{ "idle_mean_ns", EMIT_NS, SI(idle.mean), .heading = "mean", .look = EMIT_MEAN,
	  .help = "mean idle time of a thread: the sum of its waits in a run, as the mean over the "
		  "runs" },
	{ "idle_max_ns", EMIT_NS, SI(idle.max), .heading = "max", .look = EMIT_MEAN,
	  .help = "idle time of the most idle thread: the sum of its waits in a run, as the mean "
		  "over the runs" },
	{ "idle_stddev_ns", EMIT_NS, SI(idle.stddev), .heading = "stddev", .look = EMIT_MEAN,
	  .help = "standard deviation of the threads' idle times (the sum of a thread's waits in a "
		  "run, as the mean over the runs)" },
	{ "counters", EMIT_ARRAY, LIST(series_site, counters, ncounters), .sub = &rec_counter,
	  .help = "counters, added up over the phases that end at the site" },
	END
};
const struct emit_record fields_rec_series_site = {
	"site", sizeof(struct series_site), site_fields, "One call site in the runs of one point"
};

#define PV VIA(fields_series, point)
#define PO(m) PV, AT(series_point, m)
static const struct emit_field series_fields[] = {
	{ "label", EMIT_STRING, PO(label), .flags = FIELDS_KEY, .heading = "point",
	  .look = EMIT_NAME,
	  .help = "label that the user gave to the recordings; otherwise what distinguishes them "
		  "from the other recordings" },
	{ "row", EMIT_STRING, PO(row),
	  .help = "ROW, if the label is ROW/COLUMN; otherwise the label" },
	{ "column", EMIT_STRING, PO(column),
	  .help = "COLUMN, if the label is ROW/COLUMN; otherwise null" },
	{ "runs", EMIT_U32, PO(runs), .heading = "runs", .look = EMIT_NUMBER,
	  .help = "number of recordings with this label" },
	{ "lossy", EMIT_U32, PO(lossy), .help = "number of recordings that lost records" },
	{ "shed_parts", EMIT_U32, PO(detached_parts),
	  .help = "number of recordings in which some barriers were not traced to the end because "
		  "of --cost-limit; their sums over sites do not cover the whole run" },
	{ "shed", EMIT_U32, PO(detached),
	  .help = "number of recordings in which a process was not traced to its end because of "
		  "--cost-limit; the time of these recordings is unknown" },
	{ "nthreads", EMIT_U32, PO(threads), .heading = "threads", .look = EMIT_NUMBER,
	  .cell = cell_threads,
	  .help = "number of threads that crossed barriers; null: it is not the same in all runs" },
	{ "time_ns", EMIT_NS, PO(time.mean), .heading = "time", .look = EMIT_MEAN,
	  .help = "time of a run, as the mean over the runs: the time of the longest process or "
		  "group. For a process that was traced from start to end, this is its whole "
		  "life" },
	{ "time_stddev_ns", EMIT_NS, PO(time.stddev), .heading = "stddev", .look = EMIT_NUMBER,
	  .cell = cell_stddev, .help = "sample standard deviation of this value over the runs" },
	{ "time_min_ns", EMIT_NS, PO(time.min), .heading = "min", .look = EMIT_NUMBER,
	  .cell = cell_min, .help = "time of the fastest run" },
	{ "time_max_ns", EMIT_NS, PO(time.max), .heading = "max", .look = EMIT_NUMBER,
	  .cell = cell_max, .help = "time of the slowest run" },
	{ "recording_time", EMIT_BOOL, PO(whole),
	  .help = "true: in at least one of the recordings no barrier was crossed; the time of "
		  "such a recording is its length" },
	{ "base", EMIT_STRING, AT(fields_series, base),
	  .help = "label of the base: the point to which normalised, speedup and efficiency "
		  "refer" },
	{ "normalised", EMIT_DOUBLE, PO(normalised), .heading = "to\nbase", .look = EMIT_NUMBER,
	  .cell = cell_normalised, .help = "time_ns, divided by the time_ns of the base" },
	{ "speedup", EMIT_DOUBLE, PO(speedup), .heading = "speedup", .look = EMIT_FRACTION,
	  .help = "time_ns of the base, divided by time_ns" },
	{ "efficiency", EMIT_DOUBLE, PO(efficiency), .heading = "effi-\nciency",
	  .look = EMIT_FRACTION,
	  .help = "speedup, divided by the ratio of the number of threads to that of the base" },
	{ "counters", EMIT_ARRAY, PV, LIST(series_point, counters, ncounters), .sub = &rec_counter,
	  .help = "counters, added up over all processes" },
	{ "sites", EMIT_ARRAY, PV, LIST(series_point, sites, nsites),
	  .sub = &fields_rec_series_site,
	  .help = "call sites, in the order of their first episodes" },
	END
};
const struct emit_record fields_rec_series = {
	"series", sizeof(struct fields_series), series_fields,
	"sbt-trace series: one point, that is, the averages over the recordings with one label"
};

const struct emit_record *const fields_of_series[] = { &fields_rec_series, NULL };
/* clang-format on */
