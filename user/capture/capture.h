/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* A tracing session, with its own reports or for a caller that shows the results itself. */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include <stdint.h>

#include "analyse/cause.h"
#include "analyse/report.h"
#include "attach/attach.h"
#include "base/options.h"
#include "capture/run_facts_live.h"
#include "ingest/ingest.h"
#include "model/model.h"
#include "sites/address_space.h"

/* The tracer's objects, for a caller that reads them while tracing runs. The tracer owns them. */
struct capture_view {
	struct attach *attach;
	struct address_spaces *spaces;
	struct ingest *ingest;
	struct model *model;
	struct run_facts_live *run_facts_live;
	struct causes *causes; /* NULL: thread time is not accounted for */
};

struct capture_hook {
	void *ctx;
	int fd; /* tick() is called when it is readable; -1: none */
	/* Called when tracing begins. Return 0, or -errno to end tracing. */
	int (*begin)(void *ctx, const struct capture_view *view);
	/*
	 * Called several times a second, after the model has processed all events up to @now_ns.
	 * Return 0, 1 to end tracing, or -errno.
	 */
	int (*tick)(void *ctx, uint64_t now_ns);
	/*
	 * Called after all probes are removed; the view is no longer valid. COMMAND may still be
	 * running and is waited for afterwards.
	 */
	void (*end)(void *ctx);
	/* Called by the signal handler when a second signal ends sbt-trace at once. */
	void (*rescue)(void);
};

/*
 * Trace as @options specify; the caller keeps ownership of them. With @hook NULL, print the reports
 * to the output that the options name. With a hook, print neither live output nor a report. Return
 * the exit status.
 */
int capture_run(const struct options *options, const struct capture_hook *hook);

#endif /* CAPTURE_CAPTURE_H */
