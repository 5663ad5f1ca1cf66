/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The parameters of this machine, measured: what its barriers, wake-ups and memory cost. */
#ifndef CAPTURE_MEASURE_H
#define CAPTURE_MEASURE_H

#include "predict/predict.h"

struct measured {
	uint32_t cpus; /* that were to be had */
	double episode_ns; /* a pthread barrier of two threads on two CPUs, all of it; NAN: there is one CPU */
	double predicted_ns; /* the same by the parameters; NAN */
};

/*
 * Fills *m with what was measured, over what a laptop has. Takes a second; its threads are pinned, each to a CPU.
 * Returns 0 or a negative errno.
 */
int measure_machine(struct predict_machine *m, struct measured *out);

#endif /* CAPTURE_MEASURE_H */
