/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Handle barriers with separate steps for the arrival and the wait. In g++'s std::barrier and in
 * std::latch, only the wait is a function that can be probed. If a thread begins its wait before
 * the release, the beginning of its wait counts as its arrival. A thread that begins its wait after
 * the release either arrived last, or did other work before its wait. The phase number that it got
 * when it arrived identifies its episode.
 */
#ifndef MODEL_WAITS_H
#define MODEL_WAITS_H

#include "model/model.h"

struct waits;

/* The state of the barrier when a wait begins. */
struct waits_seen {
	bool latch;
	bool over; /* the barrier was released before the wait began */
	uint32_t value; /* the phase or, for a latch, the number of missing arrivals */
	/*
	 * the number of threads that the barrier counts, in a later phase if `over` is set; 0 if
	 * unknown
	 */
	uint32_t words;
};

/* Return a new instance, or NULL when out of memory. */
struct waits *waits_new(void);
void waits_free(struct waits *waits);
/*
 * Complete the crossing of a wait before the model gets it. Call this in the order of departures.
 * Set the crossing's number of participants. If the thread arrived before its wait began
 * (MODEL_CROSSING_BOUND), also set the latest possible arrival. If the thread did other work
 * between its arrival and its wait, its departure is set to the departure of the first thread.
 * Return 0 or -ENOMEM.
 */
int waits_add(struct waits *waits, const struct waits_seen *wait, struct model_crossing *crossing);

#endif /* MODEL_WAITS_H */
