/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Find outliers among threads, for output that cannot show all threads. */
#ifndef EMIT_OUTLIER_THREADS_H
#define EMIT_OUTLIER_THREADS_H

#include "analyse/report.h"

/* Return quantity @what of a thread, REPORT_UNKNOWN if it is not known. */
typedef uint64_t outliers_value(const struct report_thread *thread, uint32_t what);

/*
 * Find the threads that are outliers in one of @nwhat quantities, most extreme first. An outlier
 * lies beyond Tukey's outer fences (Exploratory Data Analysis, 1977: three times the interquartile
 * range from the nearer quartile) and differs from the median by more than a tenth of the median
 * and by more than 4. Put the indices of at most @max outliers into @out. Return their number, or
 * -ENOMEM.
 */
int outliers_find(const struct report_thread *threads, uint32_t n, outliers_value *value,
		  uint32_t nwhat, uint32_t *out, uint32_t max);

#endif /* EMIT_OUTLIER_THREADS_H */
