// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#ifndef WORKLOADS_MEDIAN_H
#define WORKLOADS_MEDIAN_H

#include <stdlib.h>

static inline int compare_samples(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sort the samples, so that the first is the minimum and the middle one is the median. */
static inline void sort_samples(double *samples, size_t n)
{
	qsort(samples, n, sizeof(*samples), compare_samples);
}

#endif
