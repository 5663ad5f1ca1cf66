/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Shared by the files of compare_reports() only. */
#ifndef COMPARE_COMPARE_INTERNAL_H
#define COMPARE_COMPARE_INTERNAL_H

#include <stdbool.h>

#include "analyse/batches.h"
#include "compare/compare.h"
#include "analyse/stats.h"

/* --- compare_value.c: the quantities */

/* Which batches of a barrier add up to a quantity. */
enum compare_batches { COMPARE_NO_BATCHES, COMPARE_PHASE_BATCHES, COMPARE_BARRIER_BATCHES };

struct compare_quantity {
	const char *name; /* NULL after the last entry */
	const char *words; /* the name in a sentence; NULL if it is the same as .name */
	enum compare_unit unit;
	bool gate; /* --fail-above checks it by default */
	double (*of)(const void *in); /* value for a report, process or barrier; NAN if unknown */
	enum compare_batches batches; /* the barrier's batches with this quantity */
};

extern const struct compare_quantity compare_run_quantities[], compare_process_quantities[],
	compare_site_quantities[];

/* --- compare_significance.c: the tests */

/* The data of a row's test. */
struct compare_evidence {
	struct stats a, b; /* over the recordings of each side */
	/* Batches of the only recording of each side; NULL if its spread is unknown. */
	const struct batches_times *batches_a, *batches_b;
};

/* Fill the results of the row's tests, except results that depend on all rows. */
void compare_test_row(struct compare_row *row, const struct compare_evidence *e, double confidence,
		      double fail_above);
/* Adjust the p values, and classify all rows. Return 0 or -ENOMEM. */
int compare_classify(struct compare *c, const struct compare_options *o);

/* --- compare_function.c: the functions of a site */

/*
 * Return the function of @in that is function @f of @of: it has the same name, and its file has the
 * same base name. Among several, the one with the most similar path is taken. Return NULL if there
 * is none; *unclear: there are such functions, but it is not known which one it is. @in may be
 * NULL.
 */
const struct report_function *compare_function_in(const struct report_barrier *of,
						  const struct report_barrier *in,
						  const struct report_function *f, bool *unclear);

#endif /* COMPARE_COMPARE_INTERNAL_H */
