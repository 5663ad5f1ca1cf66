/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Read the recordings that the nodes or ranks of a job made of one run, as if they were one
 * recording. Times are converted to the first clock. Sites of several recordings are one site if
 * they have the same offset in the same file. A single recording is read unchanged.
 */
#ifndef RECORDING_MERGE_H
#define RECORDING_MERGE_H

#include "recording/align.h"
#include "recording/contents.h"

struct merge; /* opaque */

/* How a recording's clock was aligned with the first recording's clock. */
struct merge_clock {
	/* found.sync_points 0: the clock was aligned by the time of day, which may be wrong */
	struct align_found found;
	const char *host; /* NULL unknown */
	/*
	 * Number of MPI crossings with an unknown ordinal on the communicator, counted while they
	 * are read. These crossings are matched by time with the crossings of other recordings.
	 */
	uint64_t unnumbered;
};

/*
 * Merge @contents[@n], which belong to the merge from then on, even if this fails. Several
 * recordings are read once to compare their clocks. Return 0 and *out, or -errno.
 */
int merge_new(struct contents **contents, uint32_t n, struct merge **out);
void merge_free(struct merge *merge);
/* Return the start of the earliest recording, by the first clock. */
uint64_t merge_start(const struct merge *merge);
/*
 * Read the next item, as contents_next() does. MODEL_INPUT_FINISH is returned once, at the end of
 * the last recording.
 */
int merge_next(struct merge *merge, struct contents_item *out);
/* Start again, as contents_rewind() does. */
int merge_rewind(struct merge *merge);
/*
 * Find an answer, as contents_find() does. Return NULL if recordings have different answers,
 * because a number such as a tid means different things on different machines.
 */
const struct contents_answer *merge_find(const struct merge *merge,
					 const struct contents_question *question);
/* Return the name of a site of the merge. */
const struct site_name *merge_site_name(const struct merge *merge, uint32_t site);
/*
 * Find a stack. Store at most @max sites of the merge. Return their number, or 0 if there is no
 * answer.
 */
uint32_t merge_stack(struct merge *merge, const struct contents_question *question, uint32_t *sites,
		     uint32_t max);
uint32_t merge_count(const struct merge *merge);
const struct contents *merge_contents(const struct merge *merge, uint32_t i);
void merge_clock(const struct merge *merge, uint32_t i, struct merge_clock *out);
/* Return the worst state of the recordings. */
enum contents_state merge_state(const struct merge *merge);

#endif /* RECORDING_MERGE_H */
