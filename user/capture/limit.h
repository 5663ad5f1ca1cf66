/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * --cost-limit: compare the overhead of tracing with the thread time of each process. Above the
 * limit, detach the barriers that are crossed most often, or stop tracing the process. The report
 * names what was detached.
 */
#ifndef CAPTURE_LIMIT_H
#define CAPTURE_LIMIT_H

#include "attach/attach.h"
#include "capture/run_facts_live.h"
#include "ingest/ingest.h"
#include "model/model.h"

struct limit;

struct limit_env {
	double limit; /* share of the process's thread time */
	struct attach *attach;
	struct model *model;
	struct ingest *ingest;
	struct run_facts_live *run_facts_live;
};

/*
 * @env is copied; the objects to which it points must outlive the limit. @now_ns: when tracing
 * begins. Return 0 and *out, or -ENOMEM.
 */
int limit_new(const struct limit_env *env, uint64_t now_ns, struct limit **out);
void limit_free(struct limit *limit);
/* Check costs after ingest has run up to @until_ns. NULL @limit: do nothing. Return 0 or -errno. */
int limit_step(struct limit *limit, uint64_t until_ns);
/*
 * Complete pending detachments at the end of tracing. Call this after all events are processed and
 * before model_finish(). NULL @limit: do nothing. Return 0 or -errno.
 */
int limit_settle(struct limit *limit);

#endif /* CAPTURE_LIMIT_H */
