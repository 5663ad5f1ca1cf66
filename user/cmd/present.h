/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Between the rooms that know and the rooms that print: what the report is told beside the model. */
#ifndef CMD_PRESENT_H
#define CMD_PRESENT_H

#include "analyse/report.h"
#include "attach/attach.h"
#include "cmd/options.h"
#include "cmd/watch.h"
#include "emit/emit.h"
#include "model/model.h"
#include "sites/space.h"
#include "stream/stream.h"

#define PRESENT_LOSSES 5

struct present {
	const struct options *options;
	struct attach *attach;
	struct stream *stream;
	struct modules *modules;
	struct spaces *spaces;
	struct model *model;
	struct watch *watch;
	struct report_env env;
	struct report_loss losses[PRESENT_LOSSES];
	struct sbt_counts base; /* what the calibration produced is not the user's */
	uint64_t produced_base, consumed_base;
	struct sbt_counts last; /* counts at the end; before: as of the last look */
	bool ended;
	double price; /* ns a crossing, by return probe on an emulated instruction */
	double price_stepped; /* the same on one that is stepped; NAN not needed */
	double price_exit; /* by the exits */
	bool stepped;
};

void present_init(struct present *present, const struct options *options, struct attach *attach,
		  struct stream *stream, struct modules *modules, struct spaces *spaces);
void present_free(struct present *present);
const struct report_env *present_env(const struct present *present);
/* What one crossing costs, as measured before the start. */
void present_prices(struct present *present, double price);
/* Counting begins here. */
void present_base(struct present *present);
/* The last look at the counters. */
void present_counts(struct present *present);
/* Measures what is still unknown of the prices; probes must be gone. */
void present_calibrate(struct present *present, bool stepped, void (*drain)(void *ctx), void *ctx);
/* Names of threads that are still there. */
void present_names(struct present *present);
void present_session(struct present *present, struct emit *emit, uint64_t start_ns,
		     uint64_t armed_ns);
/* Builds and prints. Returns 0 or -ENOMEM. */
int present_report(struct present *present, struct emit *emit, uint64_t end_ns, bool interim);

#endif /* CMD_PRESENT_H */
