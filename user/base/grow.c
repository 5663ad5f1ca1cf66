// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define LEAST 8 /* minimum number of elements */

void *grow_array(void *array, size_t *cap, size_t n, size_t size, int zeroed)
{
	size_t more = *cap < LEAST ? LEAST : *cap;
	char *grown;

	if (array && n <= *cap)
		return array;
	while (more < n)
		more *= 2;
	if (array && more == *cap)
		more *= 2;
	grown = reallocarray(array, more, size);
	if (!grown)
		return NULL;
	if (zeroed)
		memset(grown + *cap * size, 0, (more - *cap) * size);
	*cap = more;
	return grown;
}
