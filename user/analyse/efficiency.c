// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The POP efficiencies. docs/reference/report.md explains them. */
#include "analyse/internal.h"

#include "base/array.h"

#include <math.h>

/* Return a ratio of at most 1, or NAN if the divisor is 0. */
static double ratio(double a, double b)
{
	if (!(b > 0))
		return NAN;
	return a < b ? a / b : 1.0;
}

uint64_t efficiency_useful(uint64_t outside_ns, uint64_t turn_ns, uint64_t begin_ns)
{
	uint64_t waits = (turn_ns == REPORT_UNKNOWN ? 0 : turn_ns) +
			 (begin_ns == REPORT_UNKNOWN ? 0 : begin_ns);

	return waits < outside_ns ? outside_ns - waits : 0;
}

struct report_efficiency efficiency_of(const struct efficiency_sums *s)
{
	double mean = s->n ? (double)s->sum_ns / (double)s->n : NAN;
	struct report_efficiency e;

	e.load_balance = ratio(mean, (double)s->max_ns);
	if (s->ideal_ns == MODEL_UNKNOWN) {
		/* Without the time of the longest path, serialisation and transfer are unknown. */
		e.serialisation = e.transfer = NAN;
		e.communication = ratio((double)s->max_ns, (double)s->elapsed_ns);
		e.parallel = ratio(mean, (double)s->elapsed_ns);
		return e;
	}
	e.serialisation = ratio((double)s->max_ns, (double)s->ideal_ns);
	e.transfer = ratio((double)s->ideal_ns, (double)s->elapsed_ns);
	e.communication = e.serialisation * e.transfer;
	e.parallel = e.load_balance * e.communication;
	return e;
}

/*
 * The parallel efficiency is a product of factors. The loss of a factor is the amount by which it
 * reduces the product of the preceding factors. 1 minus the sum of the losses is the parallel
 * efficiency.
 */
void efficiency_losses(const struct report_efficiency *e, double *lost_static,
		       double *lost_rotating, double *lost_transfer)
{
	*lost_static = 1 - e->load_balance;
	*lost_rotating = e->load_balance * (1 - e->serialisation);
	*lost_transfer = e->load_balance * e->serialisation * (1 - e->transfer);
}

void efficiency_barrier(const struct model_barrier *b, const uint32_t *position,
			struct efficiency_work *scratch, double *load_balance,
			double *serialisation)
{
	double sum = 0, all = 0, most = 0, rate;
	bool folded = false;
	uint64_t often = 0;
	uint32_t i;

	array_for_each (t, b->threads, b->nthreads) {
		struct efficiency_work *w;
		uint64_t ns;

		/* For threads that are kept only as a sum, the maximum is unknown. */
		folded |= t->work_n && t->thread == MODEL_NONE;
		if (!t->work_n || t->thread == MODEL_NONE)
			continue;
		w = &scratch[position[t->thread]];
		ns = efficiency_useful(t->team_work_ns, t->sums.turn_ns, t->sums.begin_ns);
		w->ns += ns;
		w->n += t->work_n;
		if (w->n > often)
			often = w->n;
		sum += (double)ns;
		all += (double)t->work_n;
	}
	for (i = 0; i < b->nthreads; i++) {
		struct efficiency_work *w;

		if (b->threads[i].thread == MODEL_NONE)
			continue;
		w = &scratch[position[b->threads[i].thread]];
		/*
		 * If the team changes, extrapolate as if each position had arrived in every
		 * episode. Leave out positions with few arrivals, because the sample is too small.
		 */
		rate = w->n && w->n >= often / 2 ? (double)w->ns / (double)w->n : 0;
		if (rate > most)
			most = rate;
		*w = (struct efficiency_work){ 0 };
	}
	*load_balance = all > 0 ? ratio(sum, most * all) : NAN;
	*serialisation = folded ? NAN : ratio(most * (double)often, (double)b->max_work_ns);
}

double efficiency_oncpu(const struct model_sums *s)
{
	return ratio((double)s->oncpu_ns, (double)s->known_ns);
}

bool report_openmp_losses(const struct report_process *p, struct report_openmp_losses *out)
{
	double balanced = p->omp_scheduling * p->omp_load_balance;
	double started = balanced * (isfinite(p->omp_start) ? p->omp_start : 1);

	if (!isfinite(balanced) || !isfinite(p->omp_serialisation))
		return false;
	*out = (struct report_openmp_losses){
		.runtime = 1 - p->omp_scheduling,
		.waiting = p->omp_scheduling - balanced,
		.start = isfinite(p->omp_start) ? balanced - started : NAN,
		.serial = started * (1 - p->omp_serialisation),
		.turns = isfinite(p->omp_turns)
				 ? started * p->omp_serialisation * (1 - p->omp_turns)
				 : NAN,
	};
	return true;
}

struct efficiency_omp_ratios efficiency_openmp(const struct efficiency_omp *t)
{
	bool known = t->start_ns != MODEL_UNKNOWN;
	double useful = (double)t->useful_ns, region = useful + (double)t->turns_ns;
	double serial = region + (double)t->serialisation_ns;
	double started = serial + (known ? (double)t->start_ns : 0);
	double balanced = started + (double)t->imbalance_ns;
	double all = balanced + (double)t->scheduling_ns;

	return (struct efficiency_omp_ratios){
		.scheduling = ratio(balanced, all),
		.load_balance = ratio(started, balanced),
		.start = known ? ratio(serial, started) : NAN,
		.serialisation = ratio(region, serial),
		.turns = ratio(useful, region),
		.parallel = ratio(useful, all),
	};
}
