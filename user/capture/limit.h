/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * --cost-limit: looks now and then at what tracing costs each process. Where that is too much it sheds those of its barriers
 * that are crossed most, or lets go of all of the process. As far as these are concerned tracing ends then, and the report says
 * so.
 */
#ifndef CAPTURE_LIMIT_H
#define CAPTURE_LIMIT_H

#include "attach/attach.h"
#include "capture/run_facts_live.h"
#include "ingest/ingest.h"
#include "model/model.h"

struct limit;

struct limit_env {
	double limit; /* share of a process's threads' time */
	struct attach *attach;
	struct model *model;
	struct ingest *ingest;
	struct run_facts_live *run_facts_live;
};

/* @env is copied; what it points to must outlive the limit. @now_ns: tracing begins. Returns 0 and *out, or -ENOMEM. */
int limit_new(const struct limit_env *env, uint64_t now_ns, struct limit **out);
void limit_free(struct limit *limit);
/* After the pump has run up to @until_ns, each round. NULL: nothing to be done. Returns 0 or -errno. */
int limit_step(struct limit *limit, uint64_t until_ns);
/* At the end, when all has been fed and before model_finish(). NULL as above. Returns 0 or -errno. */
int limit_settle(struct limit *limit);

#endif /* CAPTURE_LIMIT_H */
