/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What is told while the program runs: watched barriers, named ones, warnings, phase times. */
#ifndef CMD_WATCH_H
#define CMD_WATCH_H

#include "analyse/report.h"
#include "cmd/options.h"
#include "emit/emit.h"
#include "model/model.h"

struct watch;

int watch_new(const struct options *options, const struct report_env *env, struct emit *emit,
	      struct watch **out);
void watch_free(struct watch *watch);
/* The model that calls, so that a thread's name can be added to it when it is first shown. */
void watch_set_model(struct watch *watch, struct model *model);
/* For model_ops, with the watch as ctx. */
void watch_barrier(void *ctx, const struct model *model, uint32_t index,
		   struct model_barrier *barrier);
void watch_episode(void *ctx, const struct model *model, const struct model_episode *episode);
/* The name that --name gave a barrier, or NULL: for report_env. */
const char *watch_name(const struct watch *watch, const struct model_barrier *barrier);
/* Says which -w and --name never met their barrier. */
void watch_unmet(const struct watch *watch);

#endif /* CMD_WATCH_H */
