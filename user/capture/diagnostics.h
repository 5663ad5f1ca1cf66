/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Remarks that a report shows beside its figures: what was requested but not seen, and what may be
 * missing.
 */
#ifndef CAPTURE_DIAGNOSTICS_H
#define CAPTURE_DIAGNOSTICS_H

#include "base/options.h"
#include "ingest/ingest.h"
#include "capture/process_tracker.h"

/* Processes that COMMAND started and left running. */
struct diagnostics_left {
	uint32_t n;
	uint32_t pid; /* process id of one of these processes */
};

/* The sources of the remarks; all of them must outlive this struct. */
struct diagnostics {
	const struct options *options;
	const struct attach *attach;
	struct modules *modules;
	struct address_spaces *spaces;
	const struct tracker *tracker;
	struct ingest *ingest;
	const struct model *model;
	struct diagnostics_left left; /* when COMMAND ended */
	uint64_t elapsed_ns; /* since tracing began */
	/* Tracing ended early on a write error, so there may be crossings that were not seen. */
	bool cut;
};

/*
 * Return the processes that COMMAND left running. Call it as tracing ends: they may have ended by
 * the time of the report. @command: COMMAND's process.
 */
struct diagnostics_left diagnostics_left(const struct attach *attach, uint32_t command);
/* Add all remarks that can be made now to the list of base/remark.h. */
void diagnostics_find(const struct diagnostics *remarks);
/* Add remarks on files without names. Call it after all names have been looked up. */
void diagnostics_unnamed(const struct address_spaces *spaces);

#endif /* CAPTURE_DIAGNOSTICS_H */
