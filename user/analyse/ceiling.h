/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * --cost-limit: which processes are to be traced no more, or which of their barriers, for tracing costs them too
 * much, and how the probes that they pay for are to go. Pure.
 */
#ifndef ANALYSE_CEILING_H
#define ANALYSE_CEILING_H

#include <stdbool.h>
#include <stdint.h>

#define CEILING_SETS  64
#define CEILING_WHOLE UINT64_MAX /* of units: all that the process crosses, now and later */

/* Units (SBT_PROBE_GROUP()) that can be shed without the others of the process. One set may hold another. */
struct ceiling_set {
	uint64_t probe_groups;
	uint64_t crossings; /* in the interval; in no other set of the process */
};

/* One that is traced and lives, over an interval. */
struct ceiling_process {
	uint32_t tgid;
	uint32_t
		group; /* processes of one group meet one another: they are traced together or not at all */
	uint64_t probe_groups; /* that it crosses, with all that these cannot be shed without */
	uint64_t own; /* of these units the probes are its own */
	uint64_t crossings; /* in the interval */
	uint64_t time_ns; /* of its threads, in the interval */
	uint32_t nsets;
	struct ceiling_set
		sets[CEILING_SETS]; /* what is in none of them goes with the whole process only */
	double price_ns; /* of a crossing; NAN unknown: it never costs too much */
	double other_ns; /* in the interval, whatever it crosses: goes with the whole process only */
	double excluded_ns; /* the same where nothing is recorded, and the probes are still there; NAN unknown */
};

enum ceiling_way {
	CEILING_KEEP, /* traced as before */
	CEILING_EXCLUDE, /* nothing is recorded of it; the probes stay, for others */
	CEILING_OWN, /* its own probes go */
	CEILING_ALL, /* probes that others meet as well go: these are told of below */
};

struct ceiling_verdict {
	enum ceiling_way way;
	uint32_t
		culprit; /* index of the process that costs too much: itself, or of its group or probes */
	double share; /* that process's cost */
	uint64_t
		probe_groups; /* that are traced no more; CEILING_WHOLE: nothing is; 0 with CEILING_KEEP */
};

/* The share of its threads' time that tracing costs it; NAN unknown. */
double ceiling_share(const struct ceiling_process *p);
/*
 * What it would still cost with the same work done between crossings, if nothing were recorded of @units of it any more,
 * whose probes stay; NAN unknown.
 */
double ceiling_share_excluded(const struct ceiling_process *p, uint64_t probe_groups);
/*
 * The units of the process to shed: sets, the dearest first, as few as bring its cost to @limit or below once their probes
 * are gone, if the others are crossed as often as now. Where they are crossed more often then, the next interval will show it:
 * what is shed for nothing does not come back. CEILING_WHOLE where nothing less does.
 */
uint64_t ceiling_choose(const struct ceiling_process *p, double limit);

/*
 * Decides on all of them, whose cost is to be @limit (a share) at most. Fills @out, one for each. Returns the units
 * whose probes are to be removed for all. What a process loses by that, or by whom it meets, is at least what costs too much:
 * whether that brings it below the limit, too, the next interval will show.
 */
uint64_t ceiling_decide(const struct ceiling_process *processes, uint32_t n, double limit,
			struct ceiling_verdict *out);

#endif /* ANALYSE_CEILING_H */
