/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The observer of a model receives every episode that the model finishes. It passes each episode to
 * the analyses that need all episodes (causes, OpenMP, user-named phases). It passes the episodes
 * that the user selected to an output.
 */
#ifndef ANALYSE_OBSERVER_H
#define ANALYSE_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/conceptual.h"
#include "analyse/report.h"
#include "base/options.h"
#include "model/model.h"

struct observer;

/*
 * One thread of an observed episode. arrive_ns and depart_ns are times of CLOCK_MONOTONIC, the
 * other times are durations, in ns. inter_ns is the time since the preceding member arrived.
 * MODEL_UNKNOWN means unknown.
 */
struct observed_member {
	uint32_t tid, index;
	const char *comm; /* NULL if unknown */
	const char *site; /* label of the call site; NULL if the barrier has a single call site */
	uint32_t order; /* rank by arrival, from 0 */
	uint64_t arrive_ns, inter_ns, wait_ns, depart_ns, work_ns;
	uint32_t cpu;
	/* parts of the phase that ends at this barrier, and of the time in the barrier */
	struct report_parts parts;
	uint32_t ncounters;
	const struct report_counter *counters;
};

/*
 * An episode during tracing: the model's data with names. release_ns is a time of CLOCK_MONOTONIC,
 * the other times are durations, in ns.
 */
struct observed_episode {
	const struct report_barrier *barrier; /* only the naming fields are set */
	uint32_t pid;
	uint64_t seq, number;
	uint64_t release_ns, phase_ns, barrier_ns;
	uint32_t participants;
	enum model_state state;
	uint32_t why;
	bool nested;
	const char *departures; /* "seen" or "inferred" */
	uint32_t nmembers;
	const struct observed_member *members; /* in the order of arrival */
	struct report_cause cause; /* unknown if its nparts is 0 */
	uint32_t ncounters; /* counters, summed over the members */
	const struct report_counter *counters;
};

/*
 * Functions that print output while the program runs. Episodes are valid during the call. A
 * function that is NULL is not called.
 */
struct observer_output {
	void (*watched)(void *ctx, const struct observed_episode *episode); /* -w */
	void (*named)(void *ctx, const struct observed_episode *episode); /* --name, markers */
	/* An episode with a barrier time of @threshold_ns or more. */
	void (*warning)(void *ctx, const struct observed_episode *episode, uint64_t threshold_ns);
	void (*phase_time)(void *ctx, const struct observed_episode *episode);
	void (*hang)(void *ctx, const struct report_hang *hang);
	void *ctx;
};

/*
 * Filter of rows. If nsites is 0, all barriers are shown. If nthreads is 0, all threads are shown.
 * The filter must outlive the observer.
 */
struct observer_rows {
	char *const *sites; /* barriers, in the form that -w takes */
	size_t nsites;
	/*
	 * tids; only episodes with one of these threads are shown, and only the rows of these
	 * threads
	 */
	const uint32_t *threads;
	size_t nthreads;
};

/* @options, @env and @output must outlive the observer. Return 0 and *out, or -ENOMEM. */
int observer_new(const struct options *options, const struct report_env *env,
		 const struct observer_output *output, struct observer **out);
void observer_free(struct observer *observer);
/*
 * Let the observer add a thread's name to @model when it first shows the thread. Only for the model
 * of a live run.
 */
void observer_name_threads(struct observer *observer, struct model *model);
/* Set the filter. Call it before the first episode. */
void observer_show_only(struct observer *observer, const struct observer_rows *rows);
/* Return the OpenMP teams, for report_env. The observer owns them. */
struct openmp *observer_openmp(const struct observer *observer);
/*
 * Return the phases that --phase and the program's markers name, for report_env. The observer owns
 * them.
 */
struct conceptual *observer_conceptual(const struct observer *observer);
/* Callbacks for model_ops, with the observer as ctx. */
void observer_barrier(void *ctx, const struct model *model, uint32_t index,
		      struct model_barrier *barrier);
void observer_episode(void *ctx, const struct model *model, const struct model_episode *episode);
int observer_mark(void *ctx, const struct model *model, uint32_t thread,
		  const struct model_mark *mark);
int observer_sample(void *ctx, const struct model *model, uint32_t thread,
		    const struct model_sample *sample);
int observer_activity(void *ctx, const struct model *model, uint32_t thread,
		      const struct model_activity *activity);
/* Callbacks for model_ops about processes that are folded into the sum of their program. */
bool observer_may_fold(void *ctx, const struct model *model, uint32_t proc);
void observer_barrier_folded(void *ctx, const struct model *model, uint32_t from, uint32_t into);
void observer_process_folded(void *ctx, const struct model *model, uint32_t from, uint32_t into);
/* Called for each process that is folded, with the sum of its program. */
typedef void (*observer_folded)(void *ctx, const struct model_proc *from,
				const struct model_proc *into);
void observer_on_folded(struct observer *observer, observer_folded folded, void *ctx);
/* Return the name that --name or the program gave a barrier, or NULL. For report_env. */
const char *observer_barrier_name(const struct observer *observer,
				  const struct model_barrier *barrier);
/* Return true if @spec, in the form that -w takes, names the barrier with this id. */
bool observer_is(const struct observer *observer, const struct model_barrier *barrier,
		 const char *id, const char *spec);
/* Add a remark for each -w, --name and --phase with a barrier that was never crossed. */
void observer_unmet(const struct observer *observer);

#endif /* ANALYSE_OBSERVER_H */
