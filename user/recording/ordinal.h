/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The ordinal of a call on its communicator. MPI has every rank call the collectives of a communicator in one order: the n-th
 * calls of all ranks are one episode, whatever their clocks say. The ordinal is known for a process that was traced from its
 * beginning and of which no record was lost before. Pure.
 */
#ifndef RECORDING_ORDINAL_H
#define RECORDING_ORDINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "model/model.h"

/* Counts the calls of the processes of one recording; all zeroes: none so far. */
struct ordinals {
	struct hash
		began; /* (tgid, inc) -> 1: traced from its beginning; 2: and a record was lost since */
	struct hash seqs; /* (inc, tid) -> number of the thread's last record */
	struct hash counts; /* (tgid, inc, communicator) -> calls so far */
};

void ordinals_free(struct ordinals *ordinals);
/* Is it a crossing that has an ordinal, known or not: one of ranks that meet on a communicator? */
bool ordinal_is_due(const struct model_input *input);
/*
 * Count @input, one of all that went into the model, in their order. *ordinal is its ordinal, from 1; 0: it has none, or that is
 * not known. Returns 0 or -ENOMEM.
 */
int ordinals_take(struct ordinals *ordinals, const struct model_input *input, uint64_t *ordinal);

/*
 * The order in which calls are handed out: the n-th on a communicator come after all others that are known to be the (n-1)-th
 * there. Clocks that are not known well would have some earlier.
 */
struct ordinal_order {
	struct hash comms; /* struct ordinal_comm, by communicator */
	struct hash ended; /* (communicator, ordinal) -> processes whose last call it is */
	struct ordinal_comm *all;
};

struct ordinal_comm {
	uint64_t shared;
	uint64_t members; /* processes with calls of known ordinals */
	uint64_t done; /* of all of them the calls up to this one were handed out */
	uint64_t left; /* members with a call after that */
	uint64_t missing; /* of these: whose next call was not handed out yet */
	bool free; /* the order cannot be kept: damaged or contradicting recordings */
	struct ordinal_comm *next;
};

void ordinal_order_free(struct ordinal_order *order);
/* There is a call of @ordinal on @shared; of each process they are added in their order. Returns 0 or -ENOMEM. */
int ordinal_order_add(struct ordinal_order *order, uint64_t shared, uint64_t ordinal);
/* It was added, and there is none. Returns 0 or -ENOMEM. */
int ordinal_order_remove(struct ordinal_order *order, uint64_t shared, uint64_t ordinal);
/* Once all calls are known, and to hand them out anew. */
void ordinal_order_rewind(struct ordinal_order *order);
bool ordinal_order_is_due(const struct ordinal_order *order, uint64_t shared, uint64_t ordinal);
/* It is handed out. */
void ordinal_order_give(struct ordinal_order *order, uint64_t shared, uint64_t ordinal);
/* Calls on @shared are handed out in any order from here on. */
void ordinal_order_drop(struct ordinal_order *order, uint64_t shared);

#endif /* RECORDING_ORDINAL_H */
