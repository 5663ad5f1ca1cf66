/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Collect the facts that a report needs in addition to the model. */
#ifndef CAPTURE_RUN_FACTS_LIVE_H
#define CAPTURE_RUN_FACTS_LIVE_H

#include "analyse/report.h"
#include "attach/attach.h"
#include "capture/counting.h"
#include "hang/hang_monitor.h"
#include "capture/hot.h"
#include "base/options.h"
#include "ingest/ingest.h"
#include "recording/recording.h"
#include "analyse/observer.h"
#include "emit/emit.h"
#include "model/model.h"
#include "sites/address_space.h"
#include "ingest/stream.h"

#define RUN_FACTS_LIVE_LOSSES 17

struct run_facts_live {
	const struct options *options;
	struct attach *attach;
	const struct tracker *tracker;
	struct stream *stream;
	struct modules *modules;
	struct address_spaces *spaces;
	struct model *model;
	struct observer *observer;
	const struct counting *counting;
	const struct ingest *ingest; /* discovers barriers; NULL: discovery is off */
	struct hot *hot; /* NULL: no probes are paused */
	uint32_t *cpu_node;
	struct report_env env;
	struct progress *progress; /* NULL: no progress is printed */
	struct recording *recording; /* NULL: none */
	int64_t realtime_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	struct report_loss losses[RUN_FACTS_LIVE_LOSSES];
	/* counts when tracing began, which are subtracted from all later counts */
	struct sbt_counts base;
	uint64_t produced_base, consumed_base;
	uint64_t late_base, unseen_base;
	/* counts when they were last read; the final read is at the end of tracing */
	struct sbt_counts last;
	bool ended;
	/* price of a crossing, by return probe on an emulated instruction */
	struct attach_price price;
	/* price by return probe on a single-stepped instruction; unknown: not needed */
	struct attach_price price_stepped;
	struct attach_price price_exit; /* price by probes on exits */
	/* price of an arrival, if departures are inferred; unknown: not needed */
	struct attach_price price_arrival;
	double price_excluded; /* cost of a hit that records nothing, ns; NAN: not needed */
	struct attach_price shown; /* the price that the report shows if there are no crossings */
	char left_out[FAMILY_NAMES]; /* text for report_env.left_out */
	/*
	 * Sum of the measured handler times of all processes (sbt_crossing.handler_ns), and their
	 * number, when they were last read.
	 */
	uint64_t handler_ns, spent;
	/*
	 * Some probed instruction is single-stepped; until run_facts_live_calibrate(), with
	 * --cost-limit: it may be.
	 */
	bool stepped;
};

/* Release with run_facts_live_free(). */
void run_facts_live_init(struct run_facts_live *run_facts_live, const struct options *options,
			 struct attach *attach, struct stream *stream, struct modules *modules,
			 struct address_spaces *spaces);
/*
 * Set the counters that are available, and the counters that are not. @counting must outlive
 * @run_facts_live.
 */
void run_facts_live_counting(struct run_facts_live *run_facts_live,
			     const struct counting *counting);
/* Set the causes that account for thread time. */
void run_facts_live_account(struct run_facts_live *run_facts_live, struct causes *causes);
void run_facts_live_free(struct run_facts_live *run_facts_live);
const struct report_env *run_facts_live_env(const struct run_facts_live *run_facts_live);
/* Set the cost of one crossing, as measured before the start. */
void run_facts_live_prices(struct run_facts_live *run_facts_live, struct attach_price price);
/* Set the price of an arrival. Only for inferred departures. */
void run_facts_live_price_arrival(struct run_facts_live *run_facts_live, struct attach_price price);
/*
 * Measure the cost of all kinds of probes at once, for --cost-limit. Call it before any other probe
 * is attached, instead of run_facts_live_prices(). @drain as for attach_calibrate(). Return 0, or
 * -ENOTSUP if probes on sbt-trace itself report no hits.
 */
int run_facts_live_prices_all(struct run_facts_live *run_facts_live, void (*drain)(void *ctx),
			      void *ctx);
/*
 * Update and return the facts. The costs, such as the mean cost of a crossing, are those of all
 * processes together since run_facts_live_base().
 */
const struct report_env *run_facts_live_priced(struct run_facts_live *run_facts_live);
/* Return the known cost of one crossing for this process in ns; NAN: unknown. */
double run_facts_live_price(struct run_facts_live *run_facts_live, const struct model_proc *proc);
/* Return the cost in ns of a hit that records nothing, for this process; NAN: unknown. */
double run_facts_live_price_excluded(struct run_facts_live *run_facts_live,
				     const struct model_proc *proc);
/* Start counting: from now on, the present counts are subtracted from all counts that are read. */
void run_facts_live_base(struct run_facts_live *run_facts_live);
/* Read the counters for the last time. */
void run_facts_live_counts(struct run_facts_live *run_facts_live);
/* Measure the costs that are still unknown. All probes must have been removed. */
void run_facts_live_calibrate(struct run_facts_live *run_facts_live, bool stepped,
			      void (*drain)(void *ctx), void *ctx);
/* Merge the figures of @from into @into, which sums processes of the same program. */
void run_facts_live_folded(struct run_facts_live *run_facts_live, const struct model_proc *from,
			   const struct model_proc *into);
/* Add the hangs that have not ended to the report. @hang_monitor must outlive @run_facts_live. */
void run_facts_live_hangs(struct run_facts_live *run_facts_live, struct hang_monitor *hang_monitor,
			  uint64_t now_ns);
/* Read the names of running threads. */
void run_facts_live_names(struct run_facts_live *run_facts_live);
void run_facts_live_session(struct run_facts_live *run_facts_live, struct emit *emit,
			    uint64_t start_ns, uint64_t armed_ns);
/* Build and print the report. Return 0 or -ENOMEM. */
int run_facts_live_report(struct run_facts_live *run_facts_live, struct emit *emit, uint64_t end_ns,
			  bool interim);

#endif /* CAPTURE_RUN_FACTS_LIVE_H */
