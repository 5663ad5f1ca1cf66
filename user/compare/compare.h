/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Compare two sets of recordings, A and B: what changed, by how much, and whether that is more than
 * noise. This code does no I/O. Table 5.4 of the SBT thesis (Novillo, University of Alberta, 2002)
 * shows the ratio of the phase_ns rows.
 *
 * The value of a quantity on a side (A or B) is its mean over the recordings of that side in which
 * it is known.
 *
 * The test depends on the number of recordings. With at least two on both sides, it is Welch's t on
 * the recordings' values. If one side has a single recording, its value is tested against the other
 * side's spread (stats_single()). If both sides have a single recording, phase time and barrier
 * time are tested by how much the change varies along the runs (stats_spread() of
 * batches_changes()). This test does not see differences between complete runs, and the report says
 * so. In this case, no other quantity is tested, and the significance of other changes is unknown.
 *
 * Each additional row is another chance of an error. Holm's method adjusts the p values over all
 * rows of one quantity and one scope. The complete answer to "which sites' phase time changed?"
 * then has the requested confidence.
 *
 * A regression is a row that is proven to be worse by more than fail_above. It is found by the same
 * test, one-sided, against A's value made worse by fail_above. Holm's method adjusts the p values
 * over all rows that count (see fail_above), because a single regression fails the comparison.
 */
#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/batches.h"
#include "analyse/episode_match.h"
#include "analyse/report.h"

/* A compared recording. Strings are untrusted. */
struct compare_input {
	const char *file;
	bool complete; /* no records were lost */
	bool detached; /* a process was not traced to its end (--cost-limit) */
	bool detached_parts; /* some barriers of a process were not traced to its end */
};

enum compare_scope {
	COMPARE_RUN, /* a run, by its longest process or group */
	COMPARE_GROUP, /* processes with common barriers */
	COMPARE_PROCESS,
	COMPARE_BARRIER,
};

enum compare_unit { COMPARE_NS, COMPARE_RATIO, COMPARE_COUNT };

enum compare_test {
	COMPARE_UNTESTED,
	COMPARE_WELCH, /* several recordings on each side */
	COMPARE_SINGLE, /* one recording against several */
	COMPARE_EPISODES, /* parts of one run on each side, without noise between runs */
};

enum compare_change {
	COMPARE_NO_CHANGE, /* not significant, or not tested */
	COMPARE_WORSE, /* more time, or less efficiency */
	COMPARE_BETTER,
	COMPARE_MORE, /* for counters and episodes, where more is neither worse nor better */
	COMPARE_LESS,
};

enum compare_only { COMPARE_BOTH, COMPARE_ONLY_A, COMPARE_ONLY_B };

#define COMPARE_UNKNOWN 2 /* for fields that are otherwise 0 or 1 */

/*
 * One quantity of a run, process, group or site. Values are in ns, ratios or counts; NAN if
 * unknown.
 */
struct compare_row {
	enum compare_scope scope;
	/* indices in match.sites and match.processes; EPISODE_MATCH_NONE if none */
	uint32_t site, process;
	/* pid in the first recording that has the process; UINT32_MAX if none */
	uint32_t pid_a, pid_b;
	const char *comm;
	const char *id; /* id of the barrier in A, or in B if A has no such barrier */
	/* id of the barrier in B if it differs from the id in A; otherwise NULL */
	const char *id_b;
	const char *label;
	enum episode_match_how how; /* how a barrier was matched */
	enum compare_only only; /* which sides have such a barrier or process */
	const char *quantity; /* "phase_ns", ..., or a counter's name */
	const char *words; /* the quantity in a sentence: "phase time" */
	bool counter;
	/* time on a CPU in this function, as samples show; NULL: the row is about no function */
	const char *function;
	bool gate; /* --fail-above checks the quantity by default */
	enum compare_unit unit;
	uint32_t runs_a, runs_b; /* number of recordings in which the quantity is known */
	double a, b, stddev_a, stddev_b; /* mean and standard deviation over recordings */
	double difference, ratio; /* b - a, b / a */
	double low, high; /* confidence interval of the difference */
	double t, df, p, p_holm;
	/*
	 * p value of the hypothesis that B is worse than A by at most fail_above; adjusted if the
	 * row counts for --fail-above
	 */
	double p_worse;
	enum compare_test test;
	uint8_t significant; /* 0, 1 or COMPARE_UNKNOWN */
	enum compare_change change;
	/* 0 or 1; COMPARE_UNKNOWN without fail_above, or if the row does not count */
	uint8_t regression;
};

struct compare_options {
	double confidence; /* confidence level, for example 0.95 */
	uint32_t nquantities; /* number of chosen quantities; 0 for all quantities */
	/*
	 * Names with or without "_ns"; "counters" stands for all counters, and "efficiency" for all
	 * efficiencies.
	 */
	const char *const *quantities;
	/*
	 * A proven change for the worse by more than this share is a regression. If NAN, there are
	 * no regressions. The rows that count are the sites' phase time and the run's elapsed time.
	 * If .quantities is set, the chosen quantities that can get worse count instead. A chosen
	 * counter gets worse if it increases.
	 */
	double fail_above;
	const struct batches *const *batches; /* indexed by report, A's first; NULL if unknown */
};

struct compare_side {
	uint32_t n; /* number of recordings */
	uint32_t lossy; /* recordings that lost records */
	double elapsed_ns; /* elapsed time of the run, mean over the recordings */
};

struct compare {
	struct compare_side a, b;
	double confidence, fail_above;
	uint32_t nrows;
	/* Run, groups, processes, then sites with the greatest difference of phase time first. */
	struct compare_row *rows;
	uint32_t tested, significant, regressions;
	uint32_t suspects; /* rows that are worse by more than fail_above, but not provably */
	uint32_t moved; /* sites not matched by their id */
	uint32_t only_a, only_b; /* number of sites that only A (only B) has */
	const char *unknown; /* the first of options.quantities that no row has; NULL if none */
	struct episode_match match; /* match of all reports: A's, then B's */
};

/*
 * Fill *out, which compare_free() frees. The reports and options must outlive it. Return 0 or
 * -ENOMEM.
 */
int compare_reports(const struct report *const *a, uint32_t na, const struct report *const *b,
		    uint32_t nb, const struct compare_options *options, struct compare *out);
void compare_free(struct compare *c);

/*
 * Return the elapsed time of a recording, which is the time of its longest process or group, in ns.
 * Return NAN if no thread crossed a barrier, or if a process was not traced to its end.
 */
double compare_elapsed(const struct report *r);

#endif /* COMPARE_COMPARE_H */
