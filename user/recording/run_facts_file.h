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

struct recalled {
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
int recalled_begin(struct recalled *recalled, struct merge *merge);
/*
 * What is known once it has been read: up to @end_ns, so many @crossings; hangs since @to_ns are of later. Returns 0 or
 * -ENOMEM.
 */
int recalled_end(struct recalled *recalled, uint64_t end_ns, uint64_t crossings, uint64_t to_ns);
/* Those, and @n more, which must outlive it. Returns 0 or -ENOMEM. */
int recalled_remarks(struct recalled *recalled, const struct remark *more, uint32_t n);
void recalled_free(struct recalled *recalled);

#endif /* RECORDING_RUN_FACTS_FILE_H */
