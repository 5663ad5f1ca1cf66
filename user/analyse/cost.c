// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/cost.h"

#include <math.h>

/* A crossing hits two probes, and other hits of probes hit one. */
#define PROBES_OF_CROSSING 2

uint64_t cost_available(uint64_t threads_ns, uint64_t elapsed_ns, uint32_t ncpus)
{
	uint64_t cpus_ns;

	if (!ncpus || __builtin_mul_overflow(elapsed_ns, ncpus, &cpus_ns))
		return threads_ns;
	return threads_ns < cpus_ns ? threads_ns : cpus_ns;
}

/*
 * Return the number of context switches that lengthen phases. Count two for each sleep in a
 * barrier, because other threads then wait for the woken thread and its probes, but at most one for
 * each crossing.
 */
static double switches_of(const struct cost_input *in)
{
	uint64_t slept = 2 * in->slept < in->crossings ? 2 * in->slept : in->crossings;

	return (double)(slept + in->switches);
}

/*
 * Return the time in which the threads either had a CPU or waited for each other or for an event,
 * ns. All probes were hit in this time. Other programs that use the CPUs lengthen the rest of the
 * time, and they lengthen it in proportion to the CPU time that the process needs.
 */
static double own_ns(const struct cost_input *in, double left_ns)
{
	double own = (double)in->threads_ns - (double)in->no_cpu_ns;

	return own < left_ns ? own : left_ns;
}

struct cost cost_estimate(const struct cost_input *in)
{
	uint32_t held = in->ncpus && in->ncpus < in->members ? in->ncpus : in->members;
	double available = (double)cost_available(in->threads_ns, in->elapsed_ns, in->ncpus);
	struct cost c = { NAN, NAN, NAN, NAN, false };
	double left, own, added;

	if (isnan(in->crossing_ns) || in->crossing_ns < 0)
		return c;
	c.probes_ns =
		in->crossing_ns * ((double)in->crossings + (double)in->looks / PROBES_OF_CROSSING);
	c.switches_ns = in->samples_ns + (double)in->faults * COST_FAULT_NS;
	if (!isnan(in->switch_ns))
		c.switches_ns += in->switch_ns * switches_of(in);
	/*
	 * While one thread waits for the CPU that sbt-trace has, the other members of its episode
	 * wait for this thread. Several threads may wait for the same CPU at the same time, and a
	 * thread may wait in a phase in which another thread is late anyway.
	 */
	c.interference_ns = fmin((double)in->interference_ns * held, available);
	left = available - c.interference_ns;
	own = own_ns(in, left);
	added = c.probes_ns + c.switches_ns;
	c.limited = added > own;
	/* Of the time without interference, the cost is the same share as of the time on CPUs. */
	c.ns = c.interference_ns + (c.limited ? left : added > 0 ? left * (added / own) : 0);
	return c;
}
