/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A window of a run. A separate model takes the crossings inside the window, and its threads have
 * the numbers that they have in the whole run. Episodes that began before the window are left out.
 * The run is read twice. The first pass learns the threads' numbers, and finds the crossings of the
 * episodes that began before the window. The second pass feeds the separate model.
 */
#ifndef RECORDING_TIME_WINDOW_H
#define RECORDING_TIME_WINDOW_H

#include <stdint.h>

#include "model/model.h"

struct time_window; /* opaque */

/* @to_ns UINT64_MAX: to the end. Return NULL if out of memory. */
struct time_window *time_window_new(uint64_t from_ns, uint64_t to_ns);
void time_window_free(struct time_window *time_window);
/* First pass: learn from each input of the run, which began at @start_ns. Return 0 or -errno. */
int time_window_learn(struct time_window *time_window, uint64_t start_ns,
		      const struct model_input *input);
/* Second pass: feed @model with the input if it is in the window. Return 0 or -errno. */
int time_window_take(struct time_window *time_window, struct model *model,
		     const struct model_input *input);
/* For model_ops.number of that model, with the window as ctx. */
uint32_t time_window_number(void *time_window, const struct model *model, uint32_t thread,
			    uint32_t next);

#endif /* RECORDING_TIME_WINDOW_H */
