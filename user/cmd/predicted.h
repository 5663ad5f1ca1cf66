/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* A prediction as a recording: what report and diff read as if the program had run there. */
#ifndef CMD_PREDICTED_H
#define CMD_PREDICTED_H

#include <stdint.h>

#include "analyse/predict.h"
#include "analyse/predict_input.h"
#include "cmd/replay.h"

/*
 * Simulates what @feed has of @replay, which has been run, on @processors of @m, and writes it to @path. Where the
 * threads' time went is in it: computing, waiting for a processor, and the rest (sleep, remote data, a parallel
 * part that has not begun) as blocked. Returns 0 or a negative errno, told.
 */
int predicted_record(const char *path, const struct replay *replay, const struct predict_feed *feed,
		     const struct predict_machine *m, uint32_t processors);

/* Of a recording that predicted_record() has made: for how many processors; 0: it was measured. */
uint32_t predicted_processors(const struct replay *replay);

#endif /* CMD_PREDICTED_H */
