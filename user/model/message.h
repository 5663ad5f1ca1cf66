/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Accesses to data of another thread, as reported by markers in the program. */
#ifndef MODEL_MESSAGE_H
#define MODEL_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

/* One access of a thread to another thread's data. */
struct model_message {
	uint32_t tgid, inc, tid; /* the thread that accessed the data */
	uint64_t t_ns;
	uint64_t oncpu_ns; /* its time on a CPU in the phase up to the access, or MODEL_UNKNOWN */
	/*
	 * Number of the thread that owns the data, as the program counts. Predictions leave out
	 * numbers from PREDICT_THREADS_MAX on.
	 */
	uint32_t owner;
	uint32_t bytes;
	bool write;
};

#endif /* MODEL_MESSAGE_H */
