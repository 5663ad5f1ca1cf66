/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Tracing for somebody else who shows what comes of it: sbt-trace trace without its output. */
#ifndef CMD_TRACE_H
#define CMD_TRACE_H

#include <stdint.h>

#include "analyse/cause.h"
#include "analyse/report.h"
#include "attach/attach.h"
#include "capture/run_facts_live.h"
#include "model/model.h"
#include "sites/space.h"

/* What can be looked at while tracing goes on; all of it is the tracer's. */
struct trace_view {
	struct attach *attach;
	struct spaces *spaces;
	struct model *model;
	struct present *present;
	struct causes *causes; /* NULL: nobody's time is accounted for */
};

struct trace_hook {
	void *ctx;
	int fd; /* tick() is called when there is something to read; -1 none */
	/* Tracing has begun. Returns 0 or -errno, which ends it. */
	int (*begin)(void *ctx, const struct trace_view *view);
	/* Several times a second, everything up to now is in the model. Returns 0; 1: enough; or -errno. */
	int (*tick)(void *ctx, uint64_t now_ns);
	/* No probe is left, and the view is no longer valid; COMMAND may still be running, and is then waited for. */
	void (*end)(void *ctx);
	/* A second signal ends us at once: called by its handler. */
	void (*rescue)(void);
};

/*
 * As cmd_trace(), but nothing is written to the output that the options name: no live reports, and none at the end.
 * @hook NULL: it is cmd_trace().
 */
int trace_run(int argc, char **argv, const struct trace_hook *hook);

#endif /* CMD_TRACE_H */
