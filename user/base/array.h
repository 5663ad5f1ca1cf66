/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

/*
 * Let @at, which the macro declares, point to each of the @n elements of @array in turn. @array is
 * evaluated only once, and @n only before the first element, so the body must not move or resize
 * the array. @array may be NULL if @n is 0.
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): @at is a name to declare. */
#define array_for_each(at, array, n) \
	for (typeof((array) + 0) at = (array), at##_end = (n) ? at + (n) : at; at < at##_end; at++)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif /* BASE_ARRAY_H */
