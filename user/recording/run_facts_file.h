/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What recordings know of their run beside what happened in it: the answers to what a report asks, and how it ended. */
#ifndef RECORDING_RUN_FACTS_FILE_H
#define RECORDING_RUN_FACTS_FILE_H

#include <stdint.h>

#include "analyse/cause.h"
#include "analyse/report.h"
#include "analyse/observer.h"
#include "recording/merge.h"

struct run_facts_file {
	struct merge *merge;
	const struct model *model; /* both are to be set before anything is asked */
	const struct observer *observer;
	struct report_env env; /* for everybody who asks */
	struct cause_env cause_env;
	struct causes *causes;
	const char *counters[MODEL_COUNTERS_MAX];
	struct report_loss *losses; /* of all recordings */
	struct report_hang *hangs; /* likewise; what they point to is the tapes' */
	struct remark *remarks; /* likewise */
};

/* All that can be known before the run is read; @merge must outlive it. Returns 0 or -ENOMEM. */
int run_facts_file_begin(struct run_facts_file *run_facts_file, struct merge *merge);
/*
 * What is known once it has been read: up to @end_ns, so many @crossings; hangs since @to_ns are of later. Returns 0 or
 * -ENOMEM.
 */
int run_facts_file_end(struct run_facts_file *run_facts_file, uint64_t end_ns, uint64_t crossings,
		       uint64_t to_ns);
/* Those, and @n more, which must outlive it. Returns 0 or -ENOMEM. */
int run_facts_file_remarks(struct run_facts_file *run_facts_file, const struct remark *more,
			   uint32_t n);
void run_facts_file_free(struct run_facts_file *run_facts_file);

#endif /* RECORDING_RUN_FACTS_FILE_H */
