/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Arrays that grow. */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <errno.h>
#include <stddef.h>

/* An array with room for @cap elements. */
struct grown {
	void *array;
	size_t cap;
};

/*
 * Return the array @from, moved if necessary, with room for at least @n elements of @size bytes. If
 * out of memory, return NULL as the array; @from stays valid. Only for grow() and grow_zeroed().
 * These are macros that call this function only if the array must grow, because the model uses them
 * for each crossing.
 */
struct grown grow_array(struct grown from, size_t n, size_t size, int zeroed);

#define GROW(to_array, to_cap, n, zeroed)                                                 \
	({                                                                                \
		struct grown grown = { (to_array), (to_cap) };                            \
		size_t grow_n = (n);                                                      \
                                                                                          \
		if (!grown.array || grow_n > grown.cap) {                                 \
			grown = grow_array(grown, grow_n, sizeof(*(to_array)), (zeroed)); \
			if (grown.array) {                                                \
				(to_array) = grown.array;                                 \
				(to_cap) = (__typeof__(to_cap))grown.cap;                 \
			}                                                                 \
		}                                                                         \
		grown.array ? 0 : -ENOMEM;                                                \
	})

/*
 * Make room for @n elements in @array, which now has room for @cap elements. If the array must
 * grow, double its size as often as necessary. So a capacity that began as 0 is always a power of
 * two. Return 0 or -ENOMEM.
 */
#define grow(array, cap, n)	   GROW(array, cap, n, 0)
/* Do the same as grow(), but set the new elements to zero. */
#define grow_zeroed(array, cap, n) GROW(array, cap, n, 1)

#endif /* BASE_GROW_H */
