// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/nearest.h"

#include <limits.h>
#include <string.h>

#define LENGTH_MAX 63

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned nearest_distance(const char *a, const char *b)
{
	/* rows of the distance matrix for the current character of @a and for the two before it */
	unsigned rows[3][LENGTH_MAX + 1];
	size_t la = strlen(a), lb = strlen(b), i, j;

	if (la > LENGTH_MAX || lb > LENGTH_MAX)
		return UINT_MAX;
	for (i = 0; i <= la; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *above = rows[(i + 2) % 3];
		const unsigned *above_that = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (j = 1; j <= lb; j++) {
			row[j] = row[j - 1] + 1;
			if (!i)
				continue;
			row[j] = least(row[j], above[j] + 1);
			row[j] = least(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], above_that[j - 2] + 1);
		}
	}
	return rows[la % 3][lb];
}

struct nearest nearest_to(const char *word)
{
	size_t allowed = strlen(word) / 3;

	return (struct nearest){ .word = word, .distance = (allowed ? (unsigned)allowed : 1) + 1 };
}

void nearest_try(struct nearest *nearest, const char *candidate)
{
	unsigned distance = nearest_distance(nearest->word, candidate);

	if (distance >= nearest->distance)
		return;
	nearest->best = candidate;
	nearest->distance = distance;
}
