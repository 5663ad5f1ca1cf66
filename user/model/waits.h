/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Waits that come after the arrival: of g++'s std::barrier and of std::latch only the wait is a function. Who comes before
 * the release arrives where the wait begins, as good as; who comes after it was the last to arrive, or was late for its
 * wait. Which meeting it is of is told by the phase that it arrived in. Pure.
 */
#ifndef MODEL_WAITS_H
#define MODEL_WAITS_H

#include "model/model.h"

struct waits;

struct waits_seen {
	bool latch;
	bool over; /* released before the wait began */
	uint32_t value; /* the phase; latch: how many were still to come */
	uint32_t
		words; /* how many the barrier waited for when this was read: @over in a later phase; 0 not known */
};

/* NULL: out of memory. */
struct waits *waits_new(void);
void waits_free(struct waits *waits);
/*
 * The next wait, in the order of departures, before it goes to the model: says how many meet there, and when at the
 * latest it arrived if that was before the wait began (MODEL_CROSSING_BOUND). One that did something else since then departs when
 * the first did. Returns 0 or -ENOMEM.
 */
int waits_add(struct waits *waits, const struct waits_seen *wait, struct model_crossing *crossing);

#endif /* MODEL_WAITS_H */
