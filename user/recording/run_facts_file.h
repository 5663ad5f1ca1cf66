/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The facts of a run from its recordings: the answers to the report's questions, and how the run
 * ended.
 */
#ifndef RECORDING_RUN_FACTS_FILE_H
#define RECORDING_RUN_FACTS_FILE_H

#include <stdint.h>

#include "analyse/cause.h"
#include "analyse/report.h"
#include "analyse/observer.h"
#include "recording/merge.h"

struct run_facts_file {
	struct merge *merge;
	const struct model *model; /* set by the caller before the first question, like observer */
	const struct observer *observer;
	struct report_env env; /* the facts */
	struct cause_env cause_env;
	struct causes *causes;
	const char *counters[MODEL_COUNTERS_MAX];
	struct report_loss *losses; /* losses of all recordings */
	/* hangs of all recordings; the objects to which they point belong to the recordings */
	struct report_hang *hangs;
	/* remarks of all recordings; their texts belong to the recordings or to the caller */
	struct remark *remarks;
	size_t cap_losses, cap_hangs, cap_remarks;
};

/*
 * Provide the facts that are known before the run is read. @merge must outlive @run_facts_file.
 * Return 0 or -ENOMEM.
 */
int run_facts_file_begin(struct run_facts_file *run_facts_file, struct merge *merge);
/*
 * Provide the facts that are known after the run was read up to @end_ns, with its number of
 * @crossings. Hangs that began at @to_ns or later are left out. Return 0 or -ENOMEM.
 */
int run_facts_file_end(struct run_facts_file *run_facts_file, uint64_t end_ns, uint64_t crossings,
		       uint64_t to_ns);
/* Add @n remarks, which must outlive @run_facts_file. Return 0 or -ENOMEM. */
int run_facts_file_remarks(struct run_facts_file *run_facts_file, const struct remark *more,
			   uint32_t n);
void run_facts_file_free(struct run_facts_file *run_facts_file);

#endif /* RECORDING_RUN_FACTS_FILE_H */
