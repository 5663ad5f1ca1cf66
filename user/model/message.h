/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What markers in the program report: phases, and accesses to data of another thread. */
#ifndef MODEL_MESSAGE_H
#define MODEL_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

struct model_detail;

/* A marker with which a thread begins or ends a phase that the user named. */
struct model_mark {
	uint32_t tgid, inc, tid; /* the thread */
	uint32_t site; /* call site of the marker; the label of the site is the name of the phase */
	/* number of the thread's crossings before the mark, as counted by the kernel side */
	uint32_t seq;
	bool begins;
	uint64_t t_ns;
	const struct model_detail *detail; /* detail of its phase so far; NULL if unknown */
};

/* One access of a thread to another thread's data. */
struct model_message {
	uint32_t tgid, inc, tid; /* the thread that accessed the data */
	uint64_t t_ns;
	uint64_t oncpu_ns; /* its time on a CPU in the phase up to the access, or MODEL_UNKNOWN */
	/*
	 * Number of the thread that owns the data, as the program numbers its threads. Predictions
	 * leave out numbers that are PREDICT_THREADS_MAX or more.
	 */
	uint32_t owner;
	uint32_t bytes;
	bool write;
};

#endif /* MODEL_MESSAGE_H */
