/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Of threads too many to be shown, those that are not like the others. */
#ifndef EMIT_OUTLIER_THREADS_H
#define EMIT_OUTLIER_THREADS_H

#include "analyse/report.h"

/* A quantity of a thread, the @what'th; REPORT_UNKNOWN where it is not known. */
typedef uint64_t outliers_value(const struct report_thread *thread, uint32_t what);

/*
 * The threads that stand out in one of @nwhat quantities, most first: beyond Tukey's outer fences
 * (Exploratory Data Analysis, 1977: three times the distance of the quartiles from the nearer of them), and by
 * more than a tenth of the median. At most @max of their places go to @out. Returns how many, or -ENOMEM.
 */
int outliers_outliers(const struct report_thread *threads, uint32_t n, outliers_value *value,
		      uint32_t nwhat, uint32_t *out, uint32_t max);

#endif /* EMIT_OUTLIER_THREADS_H */
