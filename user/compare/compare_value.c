// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The value of each compared quantity in one recording. */
#include <math.h>

#include "compare/compare_internal.h"

#include "base/array.h"

static double of_ns(uint64_t ns)
{
	return ns == REPORT_UNKNOWN ? NAN : (double)ns;
}

static double of_times(const struct report_times *t)
{
	return t->n && t->sum != REPORT_UNKNOWN ? (double)t->sum : NAN;
}

/*
 * Return whether the barrier was traced for only a part of the run. In that case, its sums cannot
 * be compared.
 */
static bool is_part(const struct report_barrier *b)
{
	return b->detached_ns != REPORT_UNKNOWN;
}

/*
 * Return whether the barrier's phases contain time at other barriers, which were not traced to the
 * end.
 */
static bool is_beside(const struct report_barrier *b)
{
	return b->detached_beside_ns != REPORT_UNKNOWN;
}

static double site_phase(const void *in)
{
	return is_part(in) || is_beside(in)
		       ? NAN
		       : of_times(&((const struct report_barrier *)in)->phase_ns);
}

static double site_barrier(const void *in)
{
	return is_part(in) ? NAN : of_times(&((const struct report_barrier *)in)->barrier_ns);
}

static double site_lost(const void *in)
{
	return is_part(in) ? NAN : of_ns(((const struct report_barrier *)in)->lost_ns);
}

static double site_release(const void *in)
{
	const struct report_times *t = &((const struct report_barrier *)in)->release_ns;

	return is_part(in) ? NAN : of_ns(t->n ? t->sum : REPORT_UNKNOWN);
}

static double site_episodes(const void *in)
{
	return is_part(in) ? NAN : of_ns(((const struct report_barrier *)in)->episodes);
}

static double process_elapsed(const void *in)
{
	const struct report_process *p = in;

	return p->detached_ns != REPORT_UNKNOWN ? NAN : of_ns(p->elapsed_ns);
}

static double process_lost(const void *in)
{
	const struct report_process *p = in;

	return p->detached_ns != REPORT_UNKNOWN || p->ndetached_groups ? NAN : of_ns(p->wait_ns);
}

#define FIELD(function, type, field)                     \
	static double function(const void *in)           \
	{                                                \
		return ((const struct type *)in)->field; \
	}

FIELD(site_load_balance, report_barrier, load_balance)
FIELD(site_serialisation, report_barrier, serialisation)
FIELD(process_threads, report_process, threads)
FIELD(process_parallel, report_process, efficiency.parallel)
FIELD(process_load_balance, report_process, efficiency.load_balance)
FIELD(process_serialisation, report_process, efficiency.serialisation)
FIELD(process_transfer, report_process, efficiency.transfer)
FIELD(process_communication, report_process, efficiency.communication)

static double run_elapsed(const void *in)
{
	return compare_elapsed(in);
}

const struct compare_quantity compare_run_quantities[] = {
	{ "elapsed_ns", "elapsed time", COMPARE_NS, true, run_elapsed, COMPARE_NO_BATCHES },
	{ 0 },
};

const struct compare_quantity compare_process_quantities[] = {
	{ "elapsed_ns", "elapsed time", COMPARE_NS, false, process_elapsed, COMPARE_NO_BATCHES },
	{ "lost_ns", "lost time", COMPARE_NS, false, process_lost, COMPARE_NO_BATCHES },
	{ "parallel", NULL, COMPARE_RATIO, false, process_parallel, COMPARE_NO_BATCHES },
	{ "load_balance", "load balance", COMPARE_RATIO, false, process_load_balance,
	  COMPARE_NO_BATCHES },
	{ "serialisation", NULL, COMPARE_RATIO, false, process_serialisation, COMPARE_NO_BATCHES },
	{ "transfer", NULL, COMPARE_RATIO, false, process_transfer, COMPARE_NO_BATCHES },
	{ "communication", NULL, COMPARE_RATIO, false, process_communication, COMPARE_NO_BATCHES },
	{ "nthreads", NULL, COMPARE_COUNT, false, process_threads, COMPARE_NO_BATCHES },
	{ 0 },
};

const struct compare_quantity compare_site_quantities[] = {
	{ "phase_ns", "phase time", COMPARE_NS, true, site_phase, COMPARE_PHASE_BATCHES },
	{ "barrier_ns", "barrier time", COMPARE_NS, false, site_barrier, COMPARE_BARRIER_BATCHES },
	{ "lost_ns", "lost time", COMPARE_NS, false, site_lost, COMPARE_NO_BATCHES },
	{ "release_ns", "release latency", COMPARE_NS, false, site_release, COMPARE_NO_BATCHES },
	{ "load_balance", "load balance", COMPARE_RATIO, false, site_load_balance,
	  COMPARE_NO_BATCHES },
	{ "serialisation", NULL, COMPARE_RATIO, false, site_serialisation, COMPARE_NO_BATCHES },
	{ "episodes", NULL, COMPARE_COUNT, false, site_episodes, COMPARE_NO_BATCHES },
	{ 0 },
};

double compare_elapsed(const struct report *r)
{
	double longest = NAN;
	uint32_t i;

	if (r->ndetached)
		return NAN;
	/* life_ns includes the time before the first crossing of a process and after its last. */
	array_for_each (p, r->processes, r->nprocesses) {
		if (p->life_ns && p->life_ns != REPORT_UNKNOWN)
			longest = fmax(longest, (double)p->life_ns);
		else if (p->elapsed_ns != REPORT_UNKNOWN)
			longest = fmax(longest, (double)p->elapsed_ns);
	}
	for (i = 0; i < r->ngroups; i++)
		if (r->groups[i].all.elapsed_ns != REPORT_UNKNOWN)
			longest = fmax(longest, (double)r->groups[i].all.elapsed_ns);
	return longest;
}
