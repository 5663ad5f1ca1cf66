/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What a report says beside its figures: what was asked for and not met, what was not seen. Noted in base/remark.h's list. */
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
	uint64_t elapsed_ns; /* since tracing began */
	bool cut; /* it ended early, as nothing could be written: what was not crossed then says nothing of the program */
};

/* Note all that is known now. */
void remarks_find(const struct remarks *remarks);
/* And which files could not be read for names: known once all have been looked up. */
void remarks_unnamed(const struct spaces *spaces);

#endif /* CMD_REMARKS_H */
