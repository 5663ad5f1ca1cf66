/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Measure the parameters of this machine: the costs of its barriers, wake-ups and memory accesses.
 */
#ifndef CAPTURE_MEASURE_H
#define CAPTURE_MEASURE_H

#include "predict/predict.h"

struct measured {
	uint32_t cpus; /* number of CPUs that were available */
	/*
	 * Measured time of an episode of a pthread barrier with 2 threads on 2 CPUs; NAN: there is
	 * only one CPU.
	 */
	double episode_ns;
	/* predicted time of such an episode, from the parameters; NAN: there is only one CPU */
	double predicted_ns;
};

/*
 * Fill in *m: the parameters of a laptop, replaced by measured parameters where possible. This
 * takes about a second. Each measuring thread is pinned to a CPU. Return 0 or a negative errno.
 */
int measure_machine(struct predict_machine *m, struct measured *out);

#endif /* CAPTURE_MEASURE_H */
