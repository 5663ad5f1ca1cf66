/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Write a prediction as a recording. report and diff read the recording as if the program had run
 * on the predicted machine.
 */
#ifndef PREDICT_PREDICT_AS_RECORDING_H
#define PREDICT_PREDICT_AS_RECORDING_H

#include <stdint.h>

#include "predict/predict.h"
#include "predict/predict_input.h"
#include "recording/replay.h"

/*
 * Simulate @feed, which was fed from the finished @replay, on @processors processors of the machine
 * @m, and write the result to @path. In the result, a thread computes or waits for a processor. All
 * its other time (sleep, remote data, a parallel part that has not begun) is recorded as blocked.
 * Return 0, or -errno after an error message.
 */
int predict_as_recording_record(const char *path, const struct replay *replay,
				const struct predict_feed *feed, const struct predict_machine *m,
				uint32_t processors);

/*
 * Return the number of processors if predict_as_recording_record() wrote the recording, or 0 if the
 * recording was measured.
 */
uint32_t predict_as_recording_processors(const struct replay *replay);

#endif /* PREDICT_PREDICT_AS_RECORDING_H */
