/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Arithmetic that is defined for all numbers: with a damaged recording, any sum or product may
 * occur.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <math.h>
#include <stdint.h>

/* Convert a time in ns or a count to an integer from 0 to 2^63. NAN becomes 0. */
static inline uint64_t number_whole(double x)
{
	return x > 0 ? (uint64_t)fmin(x, 0x1p63) : 0;
}

/* Convert a difference to an integer from -2^62 to 2^62. NAN becomes 0. */
static inline int64_t number_signed(double x)
{
	return isnan(x) ? 0 : (int64_t)fmax(-0x1p62, fmin(x, 0x1p62));
}

/* Return @a - @b, or 0 if the difference is negative. */
static inline uint64_t number_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Return -1, 0 or 1 if @a is less than, equal to or greater than @b. */
#define NUMBER_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Compare two numbers for qsort(). */
static inline int number_compare_u32(const void *a, const void *b)
{
	return NUMBER_COMPARE(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int number_compare_u64(const void *a, const void *b)
{
	return NUMBER_COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

static inline int number_compare_double(const void *a, const void *b)
{
	return NUMBER_COMPARE(*(const double *)a, *(const double *)b);
}

#endif /* BASE_NUMBER_H */
