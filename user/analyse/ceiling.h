/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * --cost-limit: if tracing costs too much, choose which processes, or which of their barriers, are
 * no longer traced. Also choose how to remove the probes that these processes hit. This code does
 * no I/O.
 */
#ifndef ANALYSE_CEILING_H
#define ANALYSE_CEILING_H

#include <stdbool.h>
#include <stdint.h>

#define CEILING_SETS  64
/* value for a set of probe groups: all probe groups that the process crosses, now and later */
#define CEILING_WHOLE UINT64_MAX

/*
 * Probe groups (SBT_PROBE_GROUP()) that can be detached together, without the other probe groups. A
 * set may contain another set.
 */
struct ceiling_set {
	uint64_t probe_groups;
	/* crossings in the interval; each crossing is counted in one set only */
	uint64_t crossings;
};

/* A live, traced process over an interval. */
struct ceiling_process {
	uint32_t tgid;
	/*
	 * Process group: its processes share barriers, so either all of them are traced, or none.
	 */
	uint32_t group;
	/*
	 * probe groups that the process crosses, and all probe groups that can only be detached
	 * together with them
	 */
	uint64_t probe_groups;
	uint64_t own; /* the members of `probe_groups` with probes that only this process hits */
	uint64_t crossings; /* in the interval */
	uint64_t time_ns; /* time of all threads in the interval, ns */
	uint32_t nsets;
	/* Probe groups outside of all sets are detached only with the whole process. */
	struct ceiling_set sets[CEILING_SETS];
	/* price of a crossing, ns; if NAN (unknown), the process never exceeds the limit */
	double price_ns;
	/*
	 * Cost in the interval that crossings do not cause, ns. Only detaching the whole process
	 * saves this cost.
	 */
	double other_ns;
	/* Price of a crossing that hits probes but is not recorded, ns; NAN if unknown. */
	double excluded_ns;
};

enum ceiling_way {
	CEILING_KEEP, /* traced as before */
	CEILING_EXCLUDE, /* not recorded; the probes stay for other processes */
	CEILING_OWN, /* its own probes are removed */
	/* Probes that other processes hit are removed, too. These processes also have verdicts. */
	CEILING_ALL,
};

struct ceiling_verdict {
	enum ceiling_way way;
	/*
	 * Index of the process that costs too much: this process, a process of its process group,
	 * or a process that hits the same probes.
	 */
	uint32_t culprit;
	double share; /* cost of tracing the culprit, as a share of the culprit's thread time */
	/* probe groups that are no longer traced; CEILING_WHOLE for all; 0 with CEILING_KEEP */
	uint64_t probe_groups;
};

/* Return the cost of tracing a process as a share of its thread time, or NAN if unknown. */
double ceiling_share(const struct ceiling_process *p);
/*
 * Return the cost share of a process if @probe_groups are no longer recorded but their probes stay.
 * The work between crossings is assumed to stay the same. Return NAN if unknown.
 */
double ceiling_share_excluded(const struct ceiling_process *p, uint64_t probe_groups);
/*
 * Choose the probe groups to detach. Take sets, the most expensive first, until the cost is at most
 * @limit. This assumes that the remaining probe groups are crossed as often as now. If they are
 * crossed more often afterwards, the next interval shows this. A detached probe group is not
 * attached again. Return CEILING_WHOLE if nothing less suffices.
 */
uint64_t ceiling_choose(const struct ceiling_process *p, double limit);

/*
 * Decide on all processes and fill @out, one entry for each. No process may cost more than @limit,
 * a share of its time. Return the probe groups to remove for all processes. A process loses at
 * least the probe groups that cost too much. It may lose more together with its process group, or
 * if probes are removed for all processes. The next interval shows whether the process's cost is
 * then below the limit.
 */
uint64_t ceiling_decide(const struct ceiling_process *processes, uint32_t n, double limit,
			struct ceiling_verdict *out);

#endif /* ANALYSE_CEILING_H */
