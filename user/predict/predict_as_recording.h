/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* A prediction as a recording: what report and diff read as if the program had run there. */
#ifndef PREDICT_PREDICT_AS_RECORDING_H
#define PREDICT_PREDICT_AS_RECORDING_H

#include <stdint.h>

#include "predict/predict.h"
#include "predict/predict_input.h"
#include "recording/replay.h"

/*
 * Simulates what @feed has of @replay, which has been run, on @processors of @m, and writes it to @path. Where the
 * threads' time went is in it: computing, waiting for a processor, and the rest (sleep, remote data, a parallel
 * part that has not begun) as blocked. Returns 0 or a negative errno, told.
 */
int predict_as_recording_record(const char *path, const struct replay *replay,
				const struct predict_feed *feed, const struct predict_machine *m,
				uint32_t processors);

/* Of a recording that predict_as_recording_record() has made: for how many processors; 0: it was measured. */
uint32_t predict_as_recording_processors(const struct replay *replay);

#endif /* PREDICT_PREDICT_AS_RECORDING_H */
