// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Labels of different barriers of a process that would be the same: one source line can have
 * several calls. What distinguishes them is appended: the symbol of the object, or which of the
 * calls it is, or the id.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/internal.h"
#include "base/number.h"

#define OBJECT 40 /* maximum size of an object's symbol in a label */

/* Order barriers with the same label by address of their calls. */
static int by_label(const void *x, const void *y)
{
	const struct report_barrier *a = *(struct report_barrier *const *)x;
	const struct report_barrier *b = *(struct report_barrier *const *)y;
	int order = NUMBER_COMPARE(a->pid, b->pid);

	if (!order)
		order = strcmp(a->label, b->label);
	if (!order)
		order = NUMBER_COMPARE(a->offset, b->offset);
	return order ? order : NUMBER_COMPARE(a->index, b->index);
}

/* Return whether the object's symbol is known. An address differs from run to run. */
static bool has_symbol(const struct report_barrier *b)
{
	return strncmp(b->object, "0x", 2) != 0 && strcmp(b->object, "none") != 0 && *b->object &&
	       !strstr(b->object, " and others");
}

static bool all_symbols_differ(struct report_barrier *const *same, uint32_t n)
{
	uint32_t i, j;

	/* So many symbols would be a long comparison, and no help. */
	if (n > 64)
		return false;
	for (i = 0; i < n; i++) {
		if (!has_symbol(same[i]))
			return false;
		for (j = 0; j < i; j++)
			if (!strcmp(same[i]->object, same[j]->object))
				return false;
	}
	return true;
}

/* @same is ordered by offset. */
static bool all_calls_differ(struct report_barrier *const *same, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (same[i]->ncallsites != 1 || (i && same[i]->offset == same[i - 1]->offset))
			return false;
	return true;
}

/* Append @what to a label, which is shortened if there is no room. */
static void append(struct report_barrier *b, const char *what)
{
	char label[sizeof(b->label)], begin[sizeof(b->label) - OBJECT - 3];

	snprintf(label, sizeof(label), "%s", b->label);
	name_copy(begin, sizeof(begin), label);
	snprintf(b->label, sizeof(b->label), "%s (%s)", begin, what);
}

static void tell_apart(struct report_barrier **same, uint32_t n)
{
	bool symbols = all_symbols_differ(same, n), calls = all_calls_differ(same, n);
	char what[OBJECT];
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (symbols)
			name_copy(what, sizeof(what), same[i]->object);
		else if (calls)
			snprintf(what, sizeof(what), "call %u", i + 1);
		else
			snprintf(what, sizeof(what), "%s", same[i]->id);
		append(same[i], what);
	}
}

int name_tell_apart(struct report_barrier *barriers, uint32_t n)
{
	struct report_barrier **all = calloc(n ? n : 1, sizeof(struct report_barrier *));
	uint32_t i, k;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		all[i] = &barriers[i];
	qsort(all, n, sizeof(*all), by_label);
	for (i = 0; i < n; i += k) {
		for (k = 1; i + k < n && all[i]->pid == all[i + k]->pid &&
			    !strcmp(all[i]->label, all[i + k]->label);
		     k++)
			;
		if (k > 1)
			tell_apart(all + i, k);
	}
	free(all);
	return 0;
}
