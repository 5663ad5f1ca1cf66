/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Arrays that grow. */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <errno.h>
#include <stddef.h>

/*
 * Return @array, or a copy of it at another address, with room for at least @n elements of @size
 * bytes. Set *@cap to the number of elements that fit. If out of memory, return NULL and leave both
 * unchanged. Only for grow() and grow_zeroed().
 */
void *grow_array(void *array, size_t *cap, size_t n, size_t size, int zeroed);

#define GROW(array, cap, n, zeroed)                                                      \
	({                                                                               \
		size_t grow_cap = (cap);                                                 \
		__typeof__(array) grow_new =                                             \
			grow_array((array), &grow_cap, (n), sizeof(*(array)), (zeroed)); \
		if (grow_new) {                                                          \
			(array) = grow_new;                                              \
			(cap) = (__typeof__(cap))grow_cap;                               \
		}                                                                        \
		grow_new ? 0 : -ENOMEM;                                                  \
	})

/*
 * Make room for @n elements in @array, which now has room for @cap elements. If the array must
 * grow, double its size. Return 0 or -ENOMEM.
 */
#define grow(array, cap, n)	   GROW(array, cap, n, 0)
/* Do the same as grow(), but set the new elements to zero. */
#define grow_zeroed(array, cap, n) GROW(array, cap, n, 1)

#endif /* BASE_GROW_H */
