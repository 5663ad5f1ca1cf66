/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the hang monitor reads, and where it reports to. */
#ifndef HANG_HANG_ENV_H
#define HANG_HANG_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/report.h"
#include "attach/attach.h"
#include "ingest/ingest.h"
#include "ingest/ranks.h"
#include "model/model.h"
#include "sites/address_space.h"

/* All pointers must outlive the monitor. */
struct hang_env {
	struct attach *attach;
	struct address_spaces *spaces; /* the tracer's; used only for look-ups */
	struct ranks *ranks;
	const struct ingest *ingest;
	struct model *model;
	const struct report_env *report_env;
	/* Called with each hang that is found, and again when it is over (hang->over). */
	void (*report)(void *ctx, const struct report_hang *hang);
	void *report_ctx;
	uint64_t after_ns; /* time of --hang; 0: do not look for hangs */
	bool debuginfod;
};

#endif /* HANG_HANG_ENV_H */
