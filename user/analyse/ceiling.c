// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/ceiling.h"

#include <math.h>

double ceiling_share(const struct ceiling_process *p)
{
	return p->time_ns ? (double)p->crossings * p->price_ns / (double)p->time_ns : NAN;
}

/* Without what recording costs it crosses more often: so many crossings take less time. */
double ceiling_share_excluded(const struct ceiling_process *p)
{
	double saved = (double)p->crossings * (p->price_ns - p->excluded_ns);
	double left = (double)p->crossings * p->excluded_ns;
	double time = (double)p->time_ns - saved;

	if (isnan(saved) || !p->time_ns)
		return NAN;
	return time > left ? left / time : 1;
}

static bool is_over(const struct ceiling_process *p, double limit)
{
	/* False where it is not known. */
	return ceiling_share(p) > limit;
}

/* The dearest of those that nothing has been decided about; n: there is none. */
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

/* Would it be enough that nothing is recorded of this group any more? */
static bool exclusion_does(const struct ceiling_process *p, uint32_t n, uint32_t group,
			   double limit)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (p[i].group == group && is_over(&p[i], limit) &&
		    !(ceiling_share_excluded(&p[i]) <= limit))
			return false;
	return true;
}

/* Does anybody else cross what this group does? */
static bool has_company(const struct ceiling_process *p, uint32_t n, uint32_t group,
			uint32_t families, const struct ceiling_verdict *v)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (p[i].group != group && !p[i].own && v[i].way == CEILING_KEEP &&
		    p[i].families & families)
			return true;
	return false;
}

static void decide_group(const struct ceiling_process *p, uint32_t n, uint32_t culprit,
			 enum ceiling_way way, struct ceiling_verdict *v)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (p[i].group == p[culprit].group && v[i].way < way)
			v[i] = (struct ceiling_verdict){ way, culprit, ceiling_share(&p[culprit]) };
}

/* Everybody who meets these probes, and whoever meets them at barriers. Returns all families that are concerned. */
static uint32_t decide_all(const struct ceiling_process *p, uint32_t n, uint32_t culprit,
			   uint32_t families, struct ceiling_verdict *v)
{
	bool more = true;
	uint32_t i, j;

	while (more) {
		more = false;
		for (i = 0; i < n; i++) {
			if (v[i].way == CEILING_ALL || p[i].own || !(p[i].families & families))
				continue;
			/* Its own cost is what is told of it, where that is too much. */
			for (j = 0; j < n; j++)
				if (p[j].group == p[i].group && v[j].way != CEILING_ALL)
					v[j] = (struct ceiling_verdict){
						CEILING_ALL, culprit, ceiling_share(&p[culprit])
					};
			more = true;
		}
	}
	return families;
}

static bool all_own(const struct ceiling_process *p, uint32_t n, uint32_t group)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (p[i].group == group && !p[i].own)
			return false;
	return true;
}

static uint32_t families_of(const struct ceiling_process *p, uint32_t n, uint32_t group)
{
	uint32_t families = 0, i;

	for (i = 0; i < n; i++)
		if (p[i].group == group && !p[i].own)
			families |= p[i].families;
	return families;
}

uint32_t ceiling_decide(const struct ceiling_process *p, uint32_t n, double limit,
			struct ceiling_verdict *v)
{
	uint32_t removed = 0, families, culprit, i;

	for (i = 0; i < n; i++)
		v[i] = (struct ceiling_verdict){ CEILING_KEEP, i, ceiling_share(&p[i]) };
	while ((culprit = find_culprit(p, n, limit, v)) < n) {
		uint32_t group = p[culprit].group;

		families = families_of(p, n, group);
		if (all_own(p, n, group))
			decide_group(p, n, culprit, CEILING_OWN, v);
		else if (!families || (has_company(p, n, group, families, v) &&
				       exclusion_does(p, n, group, limit)))
			decide_group(p, n, culprit, CEILING_EXCLUDE, v);
		else
			removed |= decide_all(p, n, culprit, families, v);
	}
	for (i = 0; i < n; i++)
		if (v[i].way != CEILING_KEEP && is_over(&p[i], limit)) {
			v[i].culprit = i;
			v[i].share = ceiling_share(&p[i]);
		}
	return removed;
}
