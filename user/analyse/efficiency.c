// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The POP efficiencies, by the formulas of the design's model ("Efficiencies"). */
#include "analyse/internal.h"

#include <math.h>

/* A ratio that is at most 1; NAN where there is nothing to divide by. */
static double ratio(double a, double b)
{
	if (!(b > 0))
		return NAN;
	return a < b ? a / b : 1.0;
}

struct report_efficiency efficiency_of(const struct efficiency_sums *s)
{
	double mean = s->n ? (double)s->sum_ns / (double)s->n : NAN;
	struct report_efficiency e;

	e.load_balance = ratio(mean, (double)s->max_ns);
	e.serialisation = ratio((double)s->max_ns, (double)s->ideal_ns);
	e.transfer = ratio((double)s->ideal_ns, (double)s->elapsed_ns);
	e.communication = e.serialisation * e.transfer;
	e.parallel = e.load_balance * e.communication;
	return e;
}

/* Peeled in this order; what is left is the parallel efficiency. */
void efficiency_losses(const struct report_efficiency *e, double *lost_static,
		       double *lost_rotating, double *lost_transfer)
{
	*lost_static = 1 - e->load_balance;
	*lost_rotating = e->load_balance * (1 - e->serialisation);
	*lost_transfer = e->load_balance * e->serialisation * (1 - e->transfer);
}

void efficiency_barrier(const struct model_barrier *b, double *load_balance, double *serialisation)
{
	uint64_t sum = 0, max = 0, n = 0;
	uint32_t i;

	for (i = 0; i < b->nthreads; i++) {
		/* Threads kept only as a sum have no maximum of their own. */
		if (!b->threads[i].work_n || b->threads[i].thread == MODEL_NONE)
			continue;
		n++;
		sum += b->threads[i].work_ns;
		if (b->threads[i].work_ns > max)
			max = b->threads[i].work_ns;
	}
	*load_balance = n ? ratio((double)sum / (double)n, (double)max) : NAN;
	*serialisation = ratio((double)max, (double)b->max_work_ns);
}
