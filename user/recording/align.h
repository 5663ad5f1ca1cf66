/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Compute the offsets between the clocks of several machines, from the episodes that their ranks
 * share. No rank on any machine leaves an episode before the last rank has arrived, so each episode
 * gives a lower and an upper bound of the offset. Clocks drift, so the offset is computed for up to
 * ALIGN_PARTS parts of the run, and interpolated between their middles. This code does no I/O.
 */
#ifndef RECORDING_ALIGN_H
#define RECORDING_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

#define ALIGN_PARTS 8

struct align; /* opaque */

/* Prepare for @n clocks. Times are converted to the first clock. Return NULL if out of memory. */
struct align *align_new(uint32_t n);
void align_free(struct align *align);
/*
 * Add an MPI crossing with times of this clock. @ordinal is the ordinal of the call on its
 * communicator, from 1. Return 0 or -ENOMEM.
 */
int align_crossing(struct align *align, uint32_t clock, const struct model_crossing *crossing,
		   uint64_t ordinal);
/* Forget the crossings of this clock, as their ordinals are wrong. */
void align_drop(struct align *align, uint32_t clock);

struct align_found {
	/*
	 * number of episodes shared with clocks of known offset; 0: the offset of this clock is
	 * unknown
	 */
	uint64_t sync_points;
	uint64_t uncertain_ns; /* the largest possible error of the offset */
	bool contradicts; /* no offset fits: a clock jumped, or records were lost */
};

/* Work out the offsets of all clocks. Return 0 or -ENOMEM. */
int align_solve(struct align *align);
void align_look(const struct align *align, uint32_t clock, struct align_found *out);
/*
 * Convert a time of this clock to the first clock. Return the time unchanged if the clock's offset
 * is unknown.
 */
uint64_t align_time(const struct align *align, uint32_t clock, uint64_t t_ns);

#endif /* RECORDING_ALIGN_H */
