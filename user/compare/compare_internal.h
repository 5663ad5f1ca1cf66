/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files that compare recordings share. Nobody else includes it. */
#ifndef COMPARE_COMPARE_INTERNAL_H
#define COMPARE_COMPARE_INTERNAL_H

#include <stdbool.h>

#include "analyse/batches.h"
#include "compare/compare.h"
#include "analyse/stats.h"

/* --- compare_value.c: what is compared */

/* Which of a barrier's batches a quantity is the sum of. */
enum compare_batches { COMPARE_NO_BATCHES, COMPARE_PHASE_BATCHES, COMPARE_BARRIER_BATCHES };

struct compare_quantity {
	const char *name; /* NULL: after the last */
	enum compare_unit unit;
	bool gate; /* of those that --fail-above looks at unless told otherwise */
	double (*of)(const void *in); /* a report, process or barrier; NAN unknown */
	enum compare_batches batches; /* of a barrier's */
};

extern const struct compare_quantity compare_run_quantities[], compare_process_quantities[],
	compare_site_quantities[];

/* --- compare_test.c: whether it is more than noise */

/* What a row's test rests on. */
struct compare_evidence {
	struct stats a, b; /* over the recordings of each side */
	/* Of the one recording that each side has, in batches; NULL: its spread is not known. */
	const struct batches_times *batches_a, *batches_b;
};

/* Fills what the row says of its tests; but for what depends on all rows. */
void compare_test_row(struct compare_row *row, const struct compare_evidence *e, double confidence,
		      double fail_above);
/* Adjusts the p values, and says what all rows mean. Returns 0 or -ENOMEM. */
int compare_classify(struct compare *c, const struct compare_options *o);

#endif /* COMPARE_COMPARE_INTERNAL_H */
