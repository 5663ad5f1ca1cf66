/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What a report says beside its figures: what was asked for and not met, what was not seen. Noted in base/remark.h's list. */
#ifndef CAPTURE_DIAGNOSTICS_H
#define CAPTURE_DIAGNOSTICS_H

#include "base/options.h"
#include "ingest/ingest.h"
#include "capture/process_tracker.h"

/* Processes that COMMAND started and left running. */
struct diagnostics_left {
	uint32_t n;
	uint32_t pid; /* one of them */
};

/* Whose run it was; all of it outlives this. */
struct diagnostics {
	const struct options *options;
	const struct attach *attach;
	struct modules *modules;
	struct address_spaces *spaces;
	const struct tracker *tracker;
	struct ingest *ingest;
	const struct model *model;
	struct diagnostics_left left; /* as COMMAND ended, and tracing with it */
	uint64_t elapsed_ns; /* since tracing began */
	bool cut; /* it ended early, as nothing could be written: what was not crossed then says nothing of the program */
};

/* Which are there now. To be asked as tracing ends: by the time of the report they may have ended, too. @command: COMMAND's process. */
struct diagnostics_left diagnostics_left(const struct attach *attach, uint32_t command);
/* Note all that is known now. */
void diagnostics_find(const struct diagnostics *remarks);
/* And which files could not be read for names: known once all have been looked up. */
void diagnostics_unnamed(const struct address_spaces *spaces);

#endif /* CAPTURE_DIAGNOSTICS_H */
