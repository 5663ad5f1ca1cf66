/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * How the clocks of several machines differ, by the meetings that their ranks had in common: nobody leaves a meeting before
 * the last has come to it, on whatever machine, so that each bounds the difference from both sides. As clocks drift, the
 * difference is taken in up to ALIGN_PARTS parts of the run, and between their middles in proportion. Pure.
 */
#ifndef RECORDING_ALIGN_H
#define RECORDING_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

#define ALIGN_PARTS 8

struct align; /* opaque */

/* Of @n clocks, the first of which is the one that all are told by. NULL: out of memory. */
struct align *align_new(uint32_t n);
void align_free(struct align *align);
/* A crossing by that clock, of MPI, and the ordinal of the call on its communicator, from 1. Returns 0 or -ENOMEM. */
int align_crossing(struct align *align, uint32_t clock, const struct model_crossing *crossing,
		   uint64_t ordinal);
/* The ordinals that were given for that clock are wrong: forget them. */
void align_drop(struct align *align, uint32_t clock);

struct align_found {
	uint64_t meetings; /* in common with clocks that are known; 0: this one is not */
	uint64_t uncertain_ns; /* how far off the difference may be, at worst */
	bool contradicts; /* the bounds left nothing between them somewhere: clocks that jump, or records that were lost */
};

/* Returns 0 or -ENOMEM. */
int align_solve(struct align *align);
void align_look(const struct align *align, uint32_t clock, struct align_found *out);
/* @t_ns by that clock, as the first clock has it. Of a clock that is not known it is @t_ns. */
uint64_t align_time(const struct align *align, uint32_t clock, uint64_t t_ns);

#endif /* RECORDING_ALIGN_H */
