/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Between the rooms that know and the rooms that print: what the report is told beside the model. */
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
	const struct ingest *ingest; /* who finds barriers that nobody named; NULL: nobody */
	struct hot *hot; /* NULL: nothing is looked at that may be no barrier */
	uint32_t *cpu_node;
	struct report_env env;
	struct progress *progress; /* NULL: nowhere */
	struct recording *recording; /* NULL: none */
	int64_t realtime_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	struct report_loss losses[RUN_FACTS_LIVE_LOSSES];
	struct sbt_counts base; /* what the calibration produced is not the user's */
	uint64_t produced_base, consumed_base;
	uint64_t late_base, unseen_base;
	struct sbt_counts last; /* counts at the end; before: as of the last look */
	bool ended;
	struct attach_price price; /* of a crossing, by return probe on an emulated instruction */
	struct attach_price
		price_stepped; /* the same on one that is stepped; unknown: not needed */
	struct attach_price price_exit; /* by the exits */
	double price_excluded; /* ns, a hit of which nothing is recorded; NAN not needed */
	struct attach_price shown; /* of these, what stands for all where nothing was crossed */
	char left_out[FAMILY_NAMES]; /* report_env.left_out */
	uint64_t handler_ns,
		spent; /* sbt_crossing.handler_ns of all processes, as of the last look */
	bool stepped;
};

/* To be released by run_facts_live_free(). */
void run_facts_live_init(struct run_facts_live *run_facts_live, const struct options *options,
			 struct attach *attach, struct stream *stream, struct modules *modules,
			 struct address_spaces *spaces);
/* What is counted, and what is not. @counting must outlive the present. */
void run_facts_live_counting(struct run_facts_live *run_facts_live,
			     const struct counting *counting);
/* Where threads' time goes is accounted for. */
void run_facts_live_account(struct run_facts_live *run_facts_live, struct causes *causes);
void run_facts_live_free(struct run_facts_live *run_facts_live);
const struct report_env *run_facts_live_env(const struct run_facts_live *run_facts_live);
/* What one crossing costs, as measured before the start. */
void run_facts_live_prices(struct run_facts_live *run_facts_live, struct attach_price price);
/*
 * The same of all kinds of probes, at once: for who must know what tracing costs while it runs. Before any other probe is put,
 * and instead of run_facts_live_prices(). @drain as attach_calibrate() has it. Returns 0 or -ENOTSUP: our own hits are not seen.
 */
int run_facts_live_prices_all(struct run_facts_live *run_facts_live, void (*drain)(void *ctx),
			      void *ctx);
/* What tracing cost since run_facts_live_base(): the prices that are not of a process are brought up to date. */
const struct report_env *run_facts_live_priced(struct run_facts_live *run_facts_live);
/* What one crossing costs this process, as far as is known now: ns, NAN unknown. */
double run_facts_live_price(struct run_facts_live *run_facts_live, const struct model_proc *proc);
/* And what a hit costs it of which nothing is recorded. */
double run_facts_live_price_excluded(struct run_facts_live *run_facts_live,
				     const struct model_proc *proc);
/* Counting begins here. */
void run_facts_live_base(struct run_facts_live *run_facts_live);
/* The last look at the counters. */
void run_facts_live_counts(struct run_facts_live *run_facts_live);
/* Measures what is still unknown of the prices; probes must be gone. */
void run_facts_live_calibrate(struct run_facts_live *run_facts_live, bool stepped,
			      void (*drain)(void *ctx), void *ctx);
/* @from is part of the program's sum that has the numbers of @into. */
void run_facts_live_folded(struct run_facts_live *run_facts_live, const struct model_proc *from,
			   const struct model_proc *into);
/* Hangs that have not ended: for the report. @hang_monitor must outlive it. */
void run_facts_live_hangs(struct run_facts_live *run_facts_live, struct hang_monitor *hang_monitor,
			  uint64_t now_ns);
/* Names of threads that are still there. */
void run_facts_live_names(struct run_facts_live *run_facts_live);
void run_facts_live_session(struct run_facts_live *run_facts_live, struct emit *emit,
			    uint64_t start_ns, uint64_t armed_ns);
/* Builds and prints. Returns 0 or -ENOMEM. */
int run_facts_live_report(struct run_facts_live *run_facts_live, struct emit *emit, uint64_t end_ns,
			  bool interim);

#endif /* CAPTURE_RUN_FACTS_LIVE_H */
