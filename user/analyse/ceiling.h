/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * --cost-limit: which processes, or which of their barriers, to stop tracing because tracing costs
 * too much, and how to remove the probes that they pay for. Pure.
 */
#ifndef ANALYSE_CEILING_H
#define ANALYSE_CEILING_H

#include <stdbool.h>
#include <stdint.h>

#define CEILING_SETS  64
#define CEILING_WHOLE UINT64_MAX /* as probe groups: all that the process crosses, now and later */

/*
 * Probe groups (SBT_PROBE_GROUP()) that can be detached separately. A set may contain another set.
 */
struct ceiling_set {
	uint64_t probe_groups;
	uint64_t crossings; /* in the interval; counted in one set of the process only */
};

/* A live, traced process over an interval. */
struct ceiling_process {
	uint32_t tgid;
	/* Processes of one group share barriers: either all of them are traced or none. */
	uint32_t group;
	uint64_t probe_groups; /* that it crosses, with all that these cannot be detached without */
	uint64_t own; /* the groups among them with probes of this process alone */
	uint64_t crossings; /* in the interval */
	uint64_t time_ns; /* of its threads, in the interval */
	uint32_t nsets;
	/* Probe groups that are in no set are detached only with the whole process. */
	struct ceiling_set sets[CEILING_SETS];
	double price_ns; /* of a crossing; NAN unknown: the process never costs too much */
	/* Cost in the interval besides crossings: ends only with the whole process */
	double other_ns;
	/* Price of a crossing that hits probes but is not recorded; NAN unknown */
	double excluded_ns;
};

enum ceiling_way {
	CEILING_KEEP, /* traced as before */
	CEILING_EXCLUDE, /* not recorded; the probes stay, for other processes */
	CEILING_OWN, /* its own probes are removed */
	/* Probes that other processes hit are removed, too; they have verdicts as well */
	CEILING_ALL,
};

struct ceiling_verdict {
	enum ceiling_way way;
	/* Index of the process that costs too much: itself, or one with its group or probes */
	uint32_t culprit;
	double share; /* cost of that process */
	uint64_t probe_groups; /* no longer traced; CEILING_WHOLE: all; 0 with CEILING_KEEP */
};

/* Return the cost of tracing as a share of the time of its threads; NAN unknown. */
double ceiling_share(const struct ceiling_process *p);
/*
 * Return the cost share of a process if @probe_groups are no longer recorded but their probes stay,
 * with the same work between crossings; NAN unknown.
 */
double ceiling_share_excluded(const struct ceiling_process *p, uint64_t probe_groups);
/*
 * Choose the probe groups to detach: sets, dearest first, as few as bring the cost to @limit or
 * below without their probes, if the others are crossed as often as now. If these are crossed more
 * often then, the next interval shows it; what was detached does not return. Return CEILING_WHOLE
 * if nothing less suffices.
 */
uint64_t ceiling_choose(const struct ceiling_process *p, double limit);

/*
 * Decide on all processes and fill @out, one entry for each. No process may cost more than @limit,
 * a share of its time. Return the probe groups to remove for all. A process loses at least what
 * costs too much; it may lose more with its group, or with probes that are removed for all. The
 * next interval shows whether it is below the limit then.
 */
uint64_t ceiling_decide(const struct ceiling_process *processes, uint32_t n, double limit,
			struct ceiling_verdict *out);

#endif /* ANALYSE_CEILING_H */
