/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What the model only passes on: samples of threads, and what markers in the program report, which
 * are phases and accesses to data of another thread.
 */
#ifndef MODEL_MESSAGE_H
#define MODEL_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

struct model_detail;

/* A thread was on a CPU. */
struct model_sample {
	uint32_t tgid, inc, tid; /* the thread */
	uint64_t t_ns;
	uint64_t stack; /* opaque key of its stack; 0: unknown */
};

/*
 * Waits of a thread in one call path, for conditions and not for locks, that another thread of the
 * process ended.
 */
struct model_waker {
	uint32_t tid; /* the thread that ended the waits */
	uint32_t waits;
	uint64_t ns; /* sum of the waits */
	uint64_t stack; /* opaque key of the waiting thread's stack; 0: unknown */
};

#define MODEL_WAKERS 16

/* What a thread did that crossed no barrier, from its start or the start of tracing to its end. */
struct model_activity {
	uint32_t tgid, inc, tid; /* the thread */
	uint64_t end_ns;
	const struct model_detail *detail; /* as in the model's input; NULL: unknown */
	uint32_t nwakers;
	struct model_waker wakers[MODEL_WAKERS];
	uint64_t woken_more; /* number of such waits that are not in `wakers` */
};

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
