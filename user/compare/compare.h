/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Two sets of recordings, A and B, against each other: what changed, by how much, and whether that is more than
 * noise. Pure. The thesis's table 5.4 is the ratio of the rows phase_ns.
 *
 * The value of a quantity on a side is its mean over the recordings in which it is known.
 *
 * The test. With two recordings and more on both sides: Welch's t on the recordings' values. With one on one side: that
 * value against the other side's spread (stats_single()). With one on both: phase time and barrier time are tested by
 * how much the change varies along the runs (stats_spread() of batches_changes()): what makes whole runs differ does not
 * show in them, which is said. In all else nothing is tested, and significant is unknown.
 *
 * Several rows are several chances to be wrong: p values are adjusted by Holm's method over all rows of one quantity
 * and one scope, so that of "which sites' phase time changed?" the whole answer holds at the confidence asked for.
 *
 * A regression is a row of which it is proven that it is worse by more than fail_above: the same test, one-sided,
 * against A's value made worse by that much; p values by Holm's method over all rows that count, of which one alone
 * fails the whole.
 */
#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/batches.h"
#include "analyse/episode_match.h"
#include "analyse/report.h"

/* A recording that others are compared with. Strings are untrusted. */
struct compare_input {
	const char *file;
	bool complete; /* nothing was lost */
	bool detached; /* a process was not traced to its end (--cost-limit) */
	bool detached_parts; /* some barriers of a process were not */
};

enum compare_scope {
	COMPARE_RUN, /* the longest of its processes and groups */
	COMPARE_GROUP, /* processes that meet one another */
	COMPARE_PROCESS,
	COMPARE_BARRIER,
};

enum compare_unit { COMPARE_NS, COMPARE_RATIO, COMPARE_COUNT };

enum compare_test {
	COMPARE_UNTESTED,
	COMPARE_WELCH, /* over recordings */
	COMPARE_SINGLE, /* one recording against several */
	COMPARE_EPISODES, /* parts of one run each: noise between runs is not in it */
};

enum compare_change {
	COMPARE_NO_CHANGE, /* none that is significant, or not tested */
	COMPARE_WORSE, /* more time, less efficiency */
	COMPARE_BETTER,
	COMPARE_MORE, /* of what is neither: counters, episodes */
	COMPARE_LESS,
};

enum compare_only { COMPARE_BOTH, COMPARE_ONLY_A, COMPARE_ONLY_B };

#define COMPARE_UNKNOWN 2 /* of those that are 0 or 1 */

/* Strings are the reports' or this file's. Values in ns, as ratios or as counts; NAN unknown. */
struct compare_row {
	enum compare_scope scope;
	uint32_t site, process; /* slots of the match; EPISODE_MATCH_NONE: none */
	uint32_t pid_a, pid_b; /* in the first recording that has it; UINT32_MAX: none */
	const char *comm;
	const char *id,
		*id_b; /* the barrier's in A (in B if A has it not), and in B where that is another; NULL */
	const char *label;
	enum episode_match_how how; /* of a barrier: what it was known by */
	enum compare_only only; /* a side has no such barrier or process */
	const char *quantity; /* "phase_ns", ..., or a counter's name */
	bool counter;
	enum compare_unit unit;
	uint32_t runs_a, runs_b; /* recordings in which it is known */
	double a, b, stddev_a, stddev_b; /* over recordings */
	double difference, ratio; /* b - a, b / a */
	double low, high; /* confidence interval of the difference */
	double t, df, p, p_holm;
	double p_worse; /* that it is worse by no more than fail_above; adjusted if it counts */
	enum compare_test test;
	uint8_t significant; /* 0, 1 or COMPARE_UNKNOWN */
	enum compare_change change;
	uint8_t regression; /* 0, 1, or COMPARE_UNKNOWN: none was asked about, or it does not count */
};

struct compare_options {
	double confidence; /* 0.95 */
	uint32_t nquantities; /* 0: all */
	/* By name, with or without "_ns"; "counters" and "efficiency" are all of them. */
	const char *const *quantities;
	/*
	 * Share above which a change for the worse is a regression if it is proven; NAN: none is. Counted are the sites' phase
	 * time and the run's elapsed time, or, with quantities chosen, those of them that can be worse, and counters, of
	 * which more is.
	 */
	double fail_above;
	const struct batches *const
		*batches; /* by report, A's then B's, each may be NULL; NULL: none */
};

/* What a side is made of. */
struct compare_side {
	uint32_t n;
	uint32_t lossy; /* of them lost records */
	double elapsed_ns; /* of the run; mean */
};

struct compare {
	struct compare_side a, b;
	double confidence, fail_above;
	uint32_t nrows;
	struct compare_row *
		rows; /* run, groups, processes; then sites, greatest difference of phase time first */
	uint32_t tested, significant, regressions;
	uint32_t suspects; /* worse by more than fail_above, which is not proven */
	uint32_t moved; /* sites not known by their id */
	uint32_t only_a, only_b; /* sites */
	const char *unknown; /* the first of options.quantities that nothing has; NULL */
	struct episode_match match; /* A's reports, then B's */
};

/* Returns 0 and fills *out (to be released by compare_free(), and outlived by the reports and options), or -ENOMEM. */
int compare_reports(const struct report *const *a, uint32_t na, const struct report *const *b,
		    uint32_t nb, const struct compare_options *options, struct compare *out);
void compare_free(struct compare *c);

/* T of a whole recording: of the longest of its processes and groups, in ns; NAN: nobody crossed a barrier. */
double compare_elapsed(const struct report *r);

#endif /* COMPARE_COMPARE_H */
