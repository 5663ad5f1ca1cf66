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
#include "sites/space.h"
#include "ingest/stream.h"

#define PRESENT_LOSSES 17

struct present {
	const struct options *options;
	struct attach *attach;
	const struct tracker *tracker;
	struct stream *stream;
	struct modules *modules;
	struct spaces *spaces;
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
	struct report_loss losses[PRESENT_LOSSES];
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
	uint64_t spent_ns, spent; /* sbt_crossing.spent_ns of all processes, as of the last look */
	bool stepped;
};

/* To be released by present_free(). */
void present_init(struct present *present, const struct options *options, struct attach *attach,
		  struct stream *stream, struct modules *modules, struct spaces *spaces);
/* What is counted, and what is not. @counting must outlive the present. */
void present_counting(struct present *present, const struct counting *counting);
/* Where threads' time goes is accounted for. */
void present_account(struct present *present, struct causes *causes);
void present_free(struct present *present);
const struct report_env *present_env(const struct present *present);
/* What one crossing costs, as measured before the start. */
void present_prices(struct present *present, struct attach_price price);
/*
 * The same of all kinds of probes, at once: for who must know what tracing costs while it runs. Before any other probe is put,
 * and instead of present_prices(). @drain as attach_calibrate() has it. Returns 0 or -ENOTSUP: our own hits are not seen.
 */
int present_prices_all(struct present *present, void (*drain)(void *ctx), void *ctx);
/* What tracing cost since present_base(): the prices that are not of a process are brought up to date. */
const struct report_env *present_priced(struct present *present);
/* What one crossing costs this process, as far as is known now: ns, NAN unknown. */
double present_price(struct present *present, const struct model_proc *proc);
/* And what a hit costs it of which nothing is recorded. */
double present_price_excluded(struct present *present, const struct model_proc *proc);
/* Counting begins here. */
void present_base(struct present *present);
/* The last look at the counters. */
void present_counts(struct present *present);
/* Measures what is still unknown of the prices; probes must be gone. */
void present_calibrate(struct present *present, bool stepped, void (*drain)(void *ctx), void *ctx);
/* @from is part of the program's sum that has the numbers of @into. */
void present_folded(struct present *present, const struct model_proc *from,
		    const struct model_proc *into);
/* Hangs that have not ended: for the report. @hanging must outlive it. */
void present_hangs(struct present *present, struct hanging *hanging, uint64_t now_ns);
/* Names of threads that are still there. */
void present_names(struct present *present);
void present_session(struct present *present, struct emit *emit, uint64_t start_ns,
		     uint64_t armed_ns);
/* Builds and prints. Returns 0 or -ENOMEM. */
int present_report(struct present *present, struct emit *emit, uint64_t end_ns, bool interim);

#endif /* CAPTURE_RUN_FACTS_LIVE_H */
