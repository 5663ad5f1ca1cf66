/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* From the stream to the model: addresses become sites, raw words become counts, numbers become processes. */
#ifndef CMD_PUMP_H
#define CMD_PUMP_H

#include "cmd/targets.h"
#include "model/model.h"
#include "sites/space.h"
#include "stream/stream.h"

struct pump;

int pump_new(struct stream *stream, struct spaces *spaces, struct targets *targets,
	     struct model *model, struct pump **out);
void pump_free(struct pump *pump);
/*
 * Feeds everything that happened before @until_ns; events are known to the model before the crossings that follow
 * them. Returns 0, or -errno.
 */
int pump_run(struct pump *pump, uint64_t until_ns);

#endif /* CMD_PUMP_H */
