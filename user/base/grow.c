// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define LEAST 4 /* minimum number of elements */

struct grown grow_array(struct grown from, size_t n, size_t size, int zeroed)
{
	struct grown to = { .cap = from.cap < LEAST ? LEAST : from.cap };

	while (to.cap < n)
		to.cap *= 2;
	to.array = reallocarray(from.array, to.cap, size);
	if (to.array && zeroed)
		memset((char *)to.array + from.cap * size, 0, (to.cap - from.cap) * size);
	return to;
}
