/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What is to be said about a run when it is over, beside the report: what was asked for and not met, what was not seen. */
#ifndef CMD_REMARKS_H
#define CMD_REMARKS_H

#include "cmd/options.h"
#include "cmd/pump.h"
#include "cmd/targets.h"

/* Whose run it was; all of it outlives this. */
struct remarks {
	const struct options *options;
	const struct attach *attach;
	struct modules *modules;
	struct spaces *spaces;
	const struct targets *targets;
	struct pump *pump;
	const struct model *model;
	uint32_t command; /* its process, if tracing ended because COMMAND did; 0 */
};

/* How the report is to be read. */
void remarks_before(const struct remarks *remarks);
/* What is not in it. */
void remarks_after(const struct remarks *remarks);

#endif /* CMD_REMARKS_H */
