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
#include "model/model.h"
#include "sites/address_space.h"

/* What can be looked at while tracing goes on; all of it is the tracer's. */
struct capture_view {
	struct attach *attach;
	struct address_spaces *spaces;
	struct model *model;
	struct run_facts_live *run_facts_live;
	struct causes *causes; /* NULL: nobody's time is accounted for */
};

struct capture_hook {
	void *ctx;
	int fd; /* tick() is called when there is something to read; -1 none */
	/* Tracing has begun. Returns 0 or -errno, which ends it. */
	int (*begin)(void *ctx, const struct capture_view *view);
	/* Several times a second, everything up to now is in the model. Returns 0; 1: enough; or -errno. */
	int (*tick)(void *ctx, uint64_t now_ns);
	/* No probe is left, and the view is no longer valid; COMMAND may still be running, and is then waited for. */
	void (*end)(void *ctx);
	/* A second signal ends us at once: called by its handler. */
	void (*rescue)(void);
};

/*
 * Trace as @options, which stay the caller's, ask for. @hook NULL: reports go to the output that the options name; else nothing is
 * written there, neither live nor at the end. Return the exit status.
 */
int capture_run(const struct options *options, const struct capture_hook *hook);

#endif /* CAPTURE_CAPTURE_H */
