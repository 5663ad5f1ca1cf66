/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files that put many recordings together share. Nobody else includes it. */
#ifndef COMPARE_SERIES_INTERNAL_H
#define COMPARE_SERIES_INTERNAL_H

#include <stdbool.h>

#include "analyse/internal.h"
#include "compare/series.h"

struct series_making {
	struct series *s;
	const struct series_input *inputs;
	struct arena *arena;
	uint32_t *point; /* by input */
	double *values; /* by input: room for a sum */
	bool bare; /* all programs lie in the same directory, which then is left out */
	/* Words of a command, where all have as many; 0: they have not. And those that are the same in all: a bit each. */
	uint32_t words;
	uint64_t same;
};

/* A site, and where it is first met. */
struct series_met {
	uint32_t slot, report, index;
};

/* --- series_label.c */

/* Threads that crossed a barrier; SERIES_NONE: none did. */
uint32_t series_threads(const struct report *r);
/* Makes the points of @n inputs: label, row and column; and says which input is of which. Returns 0 or -ENOMEM. */
int series_label(struct series_making *k, uint32_t n, enum series_by by);

/* --- series_part.c */

struct series_time series_time_of(const double *values, uint32_t n);
/* Those of point @index. Both return 0 or -ENOMEM. */
int series_counters(struct series_making *k, uint32_t index);
int series_sites(struct series_making *k, uint32_t index, const struct series_met *order);
/* All sites in the order in which they are met; to be freed; NULL: out of memory. */
struct series_met *series_order(const struct episode_match *m);

#endif /* COMPARE_SERIES_INTERNAL_H */
