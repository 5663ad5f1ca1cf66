/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* A recording goes into the model as the run did, and the rest of the house does not see the difference. */
#ifndef RECORDING_REPLAY_H
#define RECORDING_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/observer.h"
#include "analyse/report.h"
#include "base/options.h"
#include "model/message.h"
#include "model/model.h"
#include "recording/contents.h"

struct replay;

struct replay_options {
	const struct options *
		options; /* what to see: barriers watched, named, phases; must outlive the replay */
	/* Only what threads came to from there on and before that, in ns since the start; UINT64_MAX: to the end. */
	uint64_t from_ns, to_ns;
	/* Of what is told as it happens, only this; must outlive the replay. Optional. */
	const struct observer_rows *rows;
	/* Is shown every episode, after all that is said of it. Optional. */
	void (*episode)(void *ctx, const struct model *model, const struct model_episode *episode);
	/* Is shown what a thread of the model touched of others' data. Returns 0 or -errno, which ends it. Optional. */
	int (*message)(void *ctx, const struct model *model, uint32_t thread,
		       const struct model_message *message);
	void *ctx;
	struct progress *progress; /* NULL: nowhere */
	bool folds; /* of processes that have exited only so many are kept as they are (--keep-processes) */
};

/*
 * Several recordings of one run, of its nodes or ranks, are put together by their clocks (recording/merge.h). @paths must outlive the
 * replay. Returns 0 and *out, or a negative errno, told.
 */
int replay_open_all(const char *const *paths, uint32_t n, const struct replay_options *options,
		    struct replay **out);
/* Of one. */
int replay_open(const char *path, const struct replay_options *options, struct replay **out);
/* Before replay_run(): pass what the program showed while it ran to @output. Without an output it is shown nowhere. */
void replay_show(struct replay *replay, const struct observer_output *output);
/* Feeds the model with all of it, once. Returns 0, or a negative errno, told. A recording that was cut short is said to be. */
int replay_run(struct replay *replay);
/* After replay_run(). To be released by report_free(). Returns 0 or -ENOMEM. */
int replay_report(struct replay *replay, struct report *out);
/* All three are the replay's; the session is the first recording's. */
const struct contents_session *replay_session(const struct replay *replay);
const struct model *replay_model(const struct replay *replay);
const struct report_env *replay_env(const struct replay *replay);
/* Is the report's barrier what the user calls @spec, as -w takes it? */
bool replay_is(const struct replay *replay, const struct report_barrier *barrier, const char *spec);
/* Says which -w, --name and --phase never met their barrier. */
int replay_unmet(struct replay *replay, bool say);
void replay_free(struct replay *replay);

#endif /* RECORDING_REPLAY_H */
