/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What is told while the program runs: watched barriers, named ones, warnings, phase times. */
#ifndef CAPTURE_LIVE_OUTPUT_H
#define CAPTURE_LIVE_OUTPUT_H

#include "analyse/conceptual.h"
#include "analyse/report.h"
#include "base/options.h"
#include "emit/emit.h"
#include "model/model.h"

struct watch;

/* Of what is told only this; nothing given of one kind: all of it. Not the watch's own, and must outlive it. */
struct watch_rows {
	char *const *sites; /* barriers, as -w has them */
	size_t nsites;
	const uint32_t *threads; /* numbers: episodes that one of them came to, and its rows */
	size_t nthreads;
};

int watch_new(const struct options *options, const struct report_env *env, struct emit *emit,
	      struct watch **out);
void watch_free(struct watch *watch);
/* The model that calls, so that a thread's name can be added to it when it is first shown; of a run that goes on. */
void watch_set_model(struct watch *watch, struct model *model);
/* Before anything is shown to it. */
void watch_only(struct watch *watch, const struct watch_rows *rows);
/* What its episodes say of OpenMP's teams, for report_env; the watch's own. */
struct openmp *watch_openmp(const struct watch *watch);
/* The phases that --phase and the program's marks name, for report_env. The watch's own. */
struct conceptual *watch_conceptual(const struct watch *watch);
/* For model_ops, with the watch as ctx. */
void watch_barrier(void *ctx, const struct model *model, uint32_t index,
		   struct model_barrier *barrier);
void watch_episode(void *ctx, const struct model *model, const struct model_episode *episode);
/* For model_ops, as these are called there: of processes that are folded into their program. */
bool watch_may_fold(void *ctx, const struct model *model, uint32_t proc);
void watch_barrier_folded(void *ctx, const struct model *model, uint32_t from, uint32_t into);
void watch_process_folded(void *ctx, const struct model *model, uint32_t from, uint32_t into);
/* Has @folded told, too, of each process that is folded, and of its program. */
typedef void (*watch_folded)(void *ctx, const struct model_proc *from,
			     const struct model_proc *into);
void watch_on_folded(struct watch *watch, watch_folded folded, void *ctx);
/* For feed_options, with the watch as mark_ctx. */
int watch_mark(void *ctx, uint32_t site, const struct conceptual_mark *mark);
/* The name that --name gave a barrier, or NULL: for report_env. */
const char *watch_name(const struct watch *watch, const struct model_barrier *barrier);
/* Is the barrier with this id what the user calls @spec, as -w takes it? */
bool watch_is(const struct watch *watch, const struct model_barrier *barrier, const char *id,
	      const char *spec);
/* Says which -w, --name and --phase never met their barrier. */
void watch_unmet(const struct watch *watch);

#endif /* CAPTURE_LIVE_OUTPUT_H */
