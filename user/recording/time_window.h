/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Part of a run: a model of its own takes what threads came to from one time on and before another, and calls them by the
 * numbers that they have in the whole run. A meeting that began before is not in it. For both the run is gone through
 * twice: first to learn the numbers, and who met whom.
 */
#ifndef RECORDING_TIME_WINDOW_H
#define RECORDING_TIME_WINDOW_H

#include <stdint.h>

#include "model/model.h"

struct time_window; /* opaque */

/* @to_ns: UINT64_MAX: to the end. NULL: out of memory. */
struct time_window *time_window_new(uint64_t from_ns, uint64_t to_ns);
void time_window_free(struct time_window *time_window);
/* All of the run, from @start_ns on, one after the other. Returns 0 or a negative errno. */
int time_window_learn(struct time_window *time_window, uint64_t start_ns,
		      const struct model_input *input);
/* The run again: what of it is in the window goes into @model. Returns 0 or a negative errno. */
int time_window_take(struct time_window *time_window, struct model *model,
		     const struct model_input *input);
/* For model_ops.number of that model, with the window as ctx. */
uint32_t time_window_number(void *time_window, const struct model *model, uint32_t thread,
			    uint32_t next);

#endif /* RECORDING_TIME_WINDOW_H */
