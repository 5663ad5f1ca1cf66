/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Shared by the files of series_build() only. */
#ifndef COMPARE_SERIES_INTERNAL_H
#define COMPARE_SERIES_INTERNAL_H

#include <stdbool.h>

#include "analyse/internal.h"
#include "compare/series.h"

struct series_making {
	struct series *s;
	const struct series_input *inputs;
	struct arena *arena;
	uint32_t *point; /* indexed by input: index of its point */
	double *values; /* indexed by input: scratch */
	bool bare; /* all programs are in the same directory, which labels leave out */
	uint32_t words; /* number of words of each command; 0 if it differs, or is too large */
	uint64_t same; /* bit mask of the words that are the same in all commands */
};

/* A site, the first report that has it, and the site's index in that report. */
struct series_first {
	uint32_t slot, report, index;
};

/* --- series_label.c */

/* Return the number of threads that crossed a barrier, or SERIES_NONE if none did. */
uint32_t series_threads(const struct report *r);
/*
 * Create the points of @n inputs, with label, row and column, and fill k->point. Return 0 or
 * -ENOMEM.
 */
int series_label(struct series_making *k, uint32_t n, enum series_by by);

/* --- series_part.c */

struct series_time series_time_of(const double *values, uint32_t n);
/* Fill the counters and sites of point @index. Both return 0 or -ENOMEM. */
int series_counters(struct series_making *k, uint32_t index);
int series_sites(struct series_making *k, uint32_t index, const struct series_first *order);
/*
 * Return all sites in the order of their first reports, or NULL when out of memory. The caller
 * frees the array.
 */
struct series_first *series_order(const struct episode_match *m);

#endif /* COMPARE_SERIES_INTERNAL_H */
