/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The ordinal of a call on its communicator. All ranks of MPI call the collectives of a
 * communicator in the same order: the n-th calls of all ranks form one episode, whatever their
 * clocks say. The ordinal is known if the process was traced from its beginning and no earlier
 * record was lost. This code does no I/O.
 */
#ifndef RECORDING_ORDINAL_H
#define RECORDING_ORDINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "model/model.h"

/* Counters for the processes of one recording. All zero: no calls yet. */
struct ordinals {
	struct hash began; /* (tgid, inc) -> STATE_* */
	struct hash seqs; /* (inc, tid) -> number of the thread's last record */
	struct hash counts; /* (tgid, inc, communicator) -> number of calls so far */
};

void ordinals_free(struct ordinals *ordinals);
/*
 * Return whether the input is a crossing of ranks on a communicator. Such a crossing has an
 * ordinal, even if unknown.
 */
bool ordinal_is_due(const struct model_input *input);
/*
 * Count @input. All inputs must be passed in order. *ordinal is the ordinal from 1, or 0 if there
 * is none or it is unknown. Return 0 or -ENOMEM.
 */
int ordinals_take(struct ordinals *ordinals, const struct model_input *input, uint64_t *ordinal);

/*
 * Keeps calls in order: the n-th calls on a communicator follow all known (n-1)-th calls. If the
 * order were taken from inexact clocks, some n-th calls would precede (n-1)-th calls.
 */
struct ordinal_order {
	struct hash comms; /* communicator -> struct ordinal_comm */
	/*
	 * (communicator, ordinal) -> number of processes that make their last call with this
	 * ordinal
	 */
	struct hash ended;
};

struct ordinal_comm {
	uint64_t members; /* number of processes with known ordinals */
	uint64_t done; /* up to this ordinal, the calls of all members have been handed out */
	uint64_t left; /* number of members with later calls */
	uint64_t missing; /* number of `left` members that have not made the next call */
	/* the order is not kept, because recordings are damaged or contradict each other */
	bool free;
};

void ordinal_order_free(struct ordinal_order *order);
/* Note a call. Calls of one process must be added in order. Return 0 or -ENOMEM. */
int ordinal_order_add(struct ordinal_order *order, uint64_t shared, uint64_t ordinal);
/* Undo ordinal_order_add(). Return 0 or -ENOMEM. */
int ordinal_order_remove(struct ordinal_order *order, uint64_t shared, uint64_t ordinal);
/*
 * Start handing out calls from the first one. Call this after all calls have been added, and again
 * before the calls are handed out once more.
 */
void ordinal_order_rewind(struct ordinal_order *order);
bool ordinal_order_is_due(const struct ordinal_order *order, uint64_t shared, uint64_t ordinal);
/* Note that the call was handed out. */
void ordinal_order_give(struct ordinal_order *order, uint64_t shared, uint64_t ordinal);
/* Stop keeping the order on @shared. */
void ordinal_order_drop(struct ordinal_order *order, uint64_t shared);

#endif /* RECORDING_ORDINAL_H */
