/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Waits after the arrival. Of g++'s std::barrier and of std::latch, only the wait is a function. A
 * thread that comes before the release arrives, in effect, where its wait begins. A thread that
 * comes after the release was the last arriver, or was late for its wait. The phase in which it
 * arrived identifies its episode. Pure.
 */
#ifndef MODEL_WAITS_H
#define MODEL_WAITS_H

#include "model/model.h"

struct waits;

/* What is read of the barrier when a wait begins. */
struct waits_seen {
	bool latch;
	bool over; /* released before the wait began */
	uint32_t value; /* the phase; for a latch, the number of missing arrivals */
	/* The number of threads that the barrier counts; with @over, in a later phase; 0 unknown */
	uint32_t words;
};

/* Return NULL when out of memory. */
struct waits *waits_new(void);
void waits_free(struct waits *waits);
/*
 * Complete the crossing of the next wait, in the order of departures, before it goes to the model.
 * Set its number of participants, and the latest possible arrival if the thread arrived before its
 * wait began (MODEL_CROSSING_BOUND). If the thread did something else in between, it departs when
 * the first thread did. Return 0 or -ENOMEM.
 */
int waits_add(struct waits *waits, const struct waits_seen *wait, struct model_crossing *crossing);

#endif /* MODEL_WAITS_H */
