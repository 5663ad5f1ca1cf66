/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Numbers from where nothing is sure: of what a recording says any sum or product may come out. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <math.h>
#include <stdint.h>

/* A time in ns, or a count, that was worked out with doubles: 0 to 2^63; of NAN 0. */
static inline uint64_t number_whole(double x)
{
	return x > 0 ? (uint64_t)fmin(x, 0x1p63) : 0;
}

/* The same of a difference: at most 2^62 either way. */
static inline int64_t number_signed(double x)
{
	return isnan(x) ? 0 : (int64_t)fmax(-0x1p62, fmin(x, 0x1p62));
}

/* @a less @b, at least 0. */
static inline uint64_t number_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

#endif /* BASE_NUMBER_H */
