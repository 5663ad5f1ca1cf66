// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/ceiling.h"

#include "base/array.h"

#include <math.h>
#include <stddef.h>

/*
 * A process is assumed to need at least this share of its time, however large the estimated saving.
 */
#define LEAST_LEFT 0.05

/* Return the cost in the interval, in ns. */
static double cost_of(const struct ceiling_process *p)
{
	return (double)p->crossings * p->price_ns + p->other_ns;
}

double ceiling_share(const struct ceiling_process *p)
{
	return p->time_ns ? cost_of(p) / (double)p->time_ns : NAN;
}

/*
 * Return the number of crossings of these probe groups, as far as they can be separated from other
 * crossings.
 */
static uint64_t crossings_of(const struct ceiling_process *p, uint64_t probe_groups)
{
	uint64_t sum = 0;

	if (probe_groups == CEILING_WHOLE)
		return p->crossings;
	array_for_each (set, p->sets, p->nsets)
		if (!(set->probe_groups & ~probe_groups))
			sum += set->crossings;
	return sum < p->crossings ? sum : p->crossings;
}

/*
 * Without the saved cost, the process makes the same crossings in less time. So divide the
 * remaining cost by this shorter time.
 */
double ceiling_share_excluded(const struct ceiling_process *p, uint64_t probe_groups)
{
	double saved = (double)crossings_of(p, probe_groups) * (p->price_ns - p->excluded_ns) +
		       (probe_groups == CEILING_WHOLE ? p->other_ns : 0);
	double left = cost_of(p) - saved;
	double time = (double)p->time_ns - saved;

	if (isnan(saved) || !p->time_ns)
		return NAN;
	/* The estimate may be too high, and some time always remains. */
	if (time < (double)p->time_ns * LEAST_LEFT)
		time = (double)p->time_ns * LEAST_LEFT;
	return time > left ? left / time : 1;
}

/*
 * Return the most expensive set that has crossings and contains a probe group that is not in
 * @probe_groups. Return NULL if there is none.
 */
static const struct ceiling_set *dearest(const struct ceiling_process *p, uint64_t probe_groups)
{
	const struct ceiling_set *most = NULL;
	uint32_t i;

	for (i = 0; i < p->nsets; i++)
		if (p->sets[i].probe_groups & ~probe_groups && p->sets[i].crossings &&
		    (!most || p->sets[i].crossings > most->crossings))
			most = &p->sets[i];
	return most;
}

/*
 * Return the cost share of all probe groups except @probe_groups, at the current rate of crossings.
 * Once the cost of @probe_groups is saved, the process may cross the other probe groups more often.
 * This function does not predict how often: the estimated saving may be nearly all of the time, and
 * then most of the small remainder is error.
 */
static double share_of_rest(const struct ceiling_process *p, uint64_t probe_groups)
{
	double crossings = (double)(p->crossings - crossings_of(p, probe_groups));

	return (crossings * p->price_ns + p->other_ns) / (double)p->time_ns;
}

uint64_t ceiling_choose(const struct ceiling_process *p, double limit)
{
	const struct ceiling_set *set;
	uint64_t probe_groups = 0;

	while ((set = dearest(p, probe_groups))) {
		probe_groups |= set->probe_groups;
		/* Without these probe groups, the process would have none left. */
		if (!(p->probe_groups & ~probe_groups))
			break;
		if (share_of_rest(p, probe_groups) <= limit)
			return probe_groups;
	}
	return CEILING_WHOLE;
}

/*
 * Return true if these probe groups can be detached from the process separately, or if the process
 * has no other probe groups.
 */
static bool is_separate(const struct ceiling_process *p, uint64_t probe_groups)
{
	uint64_t lost = p->probe_groups & probe_groups, apart = 0;

	array_for_each (set, p->sets, p->nsets)
		if (!(set->probe_groups & ~probe_groups))
			apart |= set->probe_groups;
	return lost == p->probe_groups || !(lost & ~apart);
}

/* Return true if is_separate() is true for all processes of a process group. */
static bool all_separate(const struct ceiling_process *p, uint32_t n, uint32_t group,
			 uint64_t probe_groups)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (p[i].group == group && !is_separate(&p[i], probe_groups))
			return false;
	return true;
}

/*
 * Return the probe groups that the process loses if @probe_groups are detached. Return
 * CEILING_WHOLE if it has no other probe groups.
 */
static uint64_t loss_of(const struct ceiling_process *p, uint64_t probe_groups)
{
	uint64_t lost = p->probe_groups & probe_groups;

	return probe_groups == CEILING_WHOLE || lost == p->probe_groups ? CEILING_WHOLE : lost;
}

static bool is_over(const struct ceiling_process *p, double limit)
{
	/* An unknown share is NAN, and the comparison is then false. */
	return ceiling_share(p) > limit;
}

/* Return the most expensive undecided process that exceeds the limit, or n if there is none. */
static uint32_t find_culprit(const struct ceiling_process *p, uint32_t n, double limit,
			     const struct ceiling_verdict *v)
{
	uint32_t i, worst = n;

	for (i = 0; i < n; i++)
		if (v[i].way == CEILING_KEEP && is_over(&p[i], limit) &&
		    (worst == n || ceiling_share(&p[i]) > ceiling_share(&p[worst])))
			worst = i;
	return worst;
}

/*
 * Return true if no process of this process group would exceed the limit without recording these
 * probe groups.
 */
static bool exclusion_does(const struct ceiling_process *p, uint32_t n, uint32_t group,
			   uint64_t probe_groups, double limit)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (p[i].group == group && is_over(&p[i], limit) &&
		    !(ceiling_share_excluded(&p[i], probe_groups) <= limit))
			return false;
	return true;
}

/* Return the probe groups with probes that other processes also hit. */
static uint64_t shared_of(const struct ceiling_process *p)
{
	return p->probe_groups & ~p->own;
}

/*
 * Return true if a process outside the process group is still traced and hits the probes of these
 * probe groups.
 */
static bool has_company(const struct ceiling_process *p, uint32_t n, uint32_t group,
			uint64_t probe_groups, const struct ceiling_verdict *v)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (p[i].group != group && v[i].way == CEILING_KEEP &&
		    shared_of(&p[i]) & probe_groups)
			return true;
	return false;
}

/*
 * Stop tracing @probe_groups in all processes of a process group that have them. Otherwise the
 * other processes would still be traced, and would wait for members that are no longer traced. If
 * @probe_groups cannot be detached separately from one of these processes, stop tracing all of
 * these processes completely.
 */
static void decide_group(const struct ceiling_process *p, uint32_t n, uint32_t group,
			 uint64_t probe_groups, enum ceiling_way way, uint32_t culprit,
			 struct ceiling_verdict *v)
{
	uint32_t i;

	if (!all_separate(p, n, group, probe_groups))
		probe_groups = CEILING_WHOLE;
	for (i = 0; i < n; i++) {
		if (p[i].group != group || v[i].way >= way ||
		    (probe_groups != CEILING_WHOLE && !(p[i].probe_groups & probe_groups)))
			continue;
		v[i] = (struct ceiling_verdict){ way, culprit, ceiling_share(&p[culprit]),
						 loss_of(&p[i], probe_groups) | v[i].probe_groups };
	}
}

/*
 * Decide on all processes that hit these probes, and on all processes that share barriers with
 * them.
 */
static void decide_all(const struct ceiling_process *p, uint32_t n, uint32_t culprit,
		       uint64_t probe_groups, struct ceiling_verdict *v)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (v[i].way != CEILING_ALL && shared_of(&p[i]) & probe_groups)
			decide_group(p, n, p[i].group, probe_groups, CEILING_ALL, culprit, v);
}

/*
 * Set *shared to those of @probe_groups with probes that several processes hit, and *own to those
 * with probes that one process hits. A probe group may be in both.
 */
static void probes_of(const struct ceiling_process *p, uint32_t n, uint32_t group,
		      uint64_t probe_groups, uint64_t *shared, uint64_t *own)
{
	uint32_t i;

	*shared = *own = 0;
	for (i = 0; i < n; i++) {
		if (p[i].group != group)
			continue;
		*shared |= shared_of(&p[i]) & probe_groups;
		*own |= p[i].probe_groups & p[i].own & probe_groups;
	}
}

/*
 * Decide on a process that costs too much, and on all processes that depend on this decision.
 * Return the probe groups to remove for all processes.
 */
static uint64_t decide(const struct ceiling_process *p, uint32_t n, uint32_t culprit, double limit,
		       struct ceiling_verdict *v)
{
	uint64_t probe_groups = ceiling_choose(&p[culprit], limit), shared, own;
	uint32_t group = p[culprit].group;

	if (!all_separate(p, n, group, probe_groups))
		probe_groups = CEILING_WHOLE;
	probes_of(p, n, group, probe_groups, &shared, &own);
	if (!shared) {
		/* No other process hits these probes. */
		decide_group(p, n, group, probe_groups, own ? CEILING_OWN : CEILING_EXCLUDE,
			     culprit, v);
		return 0;
	}
	if (has_company(p, n, group, shared, v) &&
	    exclusion_does(p, n, group, probe_groups, limit)) {
		decide_group(p, n, group, probe_groups, CEILING_EXCLUDE, culprit, v);
		return 0;
	}
	decide_group(p, n, group, probe_groups, CEILING_ALL, culprit, v);
	decide_all(p, n, culprit, shared, v);
	return shared;
}

uint64_t ceiling_decide(const struct ceiling_process *p, uint32_t n, double limit,
			struct ceiling_verdict *v)
{
	uint64_t removed = 0;
	uint32_t culprit, i;

	for (i = 0; i < n; i++)
		v[i] = (struct ceiling_verdict){ CEILING_KEEP, i, ceiling_share(&p[i]), 0 };
	while ((culprit = find_culprit(p, n, limit, v)) < n)
		removed |= decide(p, n, culprit, limit, v);
	for (i = 0; i < n; i++)
		if (v[i].way != CEILING_KEEP && is_over(&p[i], limit)) {
			v[i].culprit = i;
			v[i].share = ceiling_share(&p[i]);
		}
	return removed;
}
