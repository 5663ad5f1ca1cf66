/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Feed a model from a recording in the same way as during the run. The rest of sbt-trace need not
 * know whether a model is fed from a recording.
 */
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
	/* barriers to watch, names, phases; must outlive the replay */
	const struct options *options;
	/* Show only this part of the run, in ns since the start. to_ns UINT64_MAX: to the end. */
	uint64_t from_ns, to_ns;
	/* Report only these rows as they happen. Must outlive the replay. Optional. */
	const struct observer_rows *rows;
	/* Called with each episode, after it was reported. Optional. */
	void (*episode)(void *ctx, const struct model *model, const struct model_episode *episode);
	/*
	 * Called when a thread of the model accessed another thread's data. Returns 0, or -errno,
	 * which ends the replay. Optional.
	 */
	int (*message)(void *ctx, const struct model *model, uint32_t thread,
		       const struct model_message *message);
	void *ctx;
	struct progress *progress; /* shows the progress of reading; NULL: none */
	/* read the recording once before, so that the stacks of all episodes are known */
	bool stacks;
	bool folds; /* keep at most --keep-processes exited processes, and fold the others */
};

/*
 * Open several recordings of one run, of its nodes or ranks, and align their clocks
 * (recording/merge.h). @paths must outlive the replay. Return 0 and *out, or -errno after an error
 * message.
 */
int replay_open_all(const char *const *paths, uint32_t n, const struct replay_options *options,
		    struct replay **out);
/* Do the same for one recording. */
int replay_open(const char *path, const struct replay_options *options, struct replay **out);
/*
 * Pass the output that the run showed to @output. Call this before replay_run(). Without this call
 * nothing is shown.
 */
void replay_show(struct replay *replay, const struct observer_output *output);
/*
 * Feed the model with all items, once. A truncated recording is reported. Return 0, or -errno after
 * an error message.
 */
int replay_run(struct replay *replay);
/* Build the report, after replay_run(). Release it by report_free(). Return 0 or -ENOMEM. */
int replay_report(struct replay *replay, struct report *out);
/* All three belong to the replay. The session is that of the first recording. */
const struct contents_session *replay_session(const struct replay *replay);
const struct model *replay_model(const struct replay *replay);
const struct report_env *replay_env(const struct replay *replay);
/* Let replay_report() also fill report_barrier.functions. */
void replay_want_functions(struct replay *replay);
/* Return whether @spec, in the form of -w, names the barrier. */
bool replay_is(const struct replay *replay, const struct report_barrier *barrier, const char *spec);
/*
 * Add a remark for each -w, --name and --phase that matched no barrier. With @say, also print the
 * remarks. Return 0 or -ENOMEM.
 */
int replay_unmet(struct replay *replay, bool say);
void replay_free(struct replay *replay);

#endif /* RECORDING_REPLAY_H */
