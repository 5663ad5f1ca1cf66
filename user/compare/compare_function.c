// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Match the functions of a site between reports. Two builds of a program usually have their sources
 * in different folders, so paths are compared from their ends.
 */
#include <string.h>

#include "base/text.h"
#include "compare/compare_internal.h"

/*
 * Return how many parts of two paths are equal, from the end, or 1 if neither is known; 0: the base
 * names differ.
 */
static uint32_t equal_parts(const char *a, const char *b)
{
	size_t na, nb, i;
	uint32_t n = 0;

	if (!a || !b)
		return a == b;
	na = strlen(a);
	nb = strlen(b);
	for (i = 1; i <= na && i <= nb && a[na - i] == b[nb - i]; i++)
		n += a[na - i] == '/';
	/* The path that ends here is a whole part of the other one, or equals it. */
	if ((i > na || a[na - i] == '/') && (i > nb || b[nb - i] == '/') && i > 1)
		n += a[na - i + 1] != '/';
	return n;
}

/*
 * Return the function of @b that is most like @f; NULL: none has its name and base name, or several
 * are equally like it. @any is whether at least one has them.
 */
static const struct report_function *most_like(const struct report_barrier *b,
					       const struct report_function *f, bool *any)
{
	const struct report_function *best = NULL;
	uint32_t most = 0, i, n;

	for (i = 0; b && i < b->nfunctions; i++) {
		if (!text_same(b->functions[i].function, f->function))
			continue;
		/* No other path is as much like a path as the path itself. */
		n = text_same(b->functions[i].file, f->file)
			    ? UINT32_MAX
			    : equal_parts(b->functions[i].file, f->file);
		if (n >= most && n) {
			best = n > most ? &b->functions[i] : NULL;
			most = n;
		}
	}
	*any = most > 0;
	return best;
}

const struct report_function *compare_function_in(const struct report_barrier *of,
						  const struct report_barrier *in,
						  const struct report_function *f, bool *unclear)
{
	const struct report_function *g = most_like(in, f, unclear);
	bool any;

	/* Another function of the same report may be more like it. */
	if (!g || most_like(of, g, &any) != f)
		return NULL;
	*unclear = false;
	return g;
}
