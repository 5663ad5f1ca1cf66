/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Several recordings of one run, of the nodes or ranks of a job, as if it had been recorded in one: by the first one's
 * clock, their sites one and the same where they are the same place of the same file. Of one alone nothing is changed.
 */
#ifndef RECORDING_MERGE_H
#define RECORDING_MERGE_H

#include "recording/align.h"
#include "recording/contents.h"

struct merge; /* opaque */

/* How a recording's clock was put together with the first's. */
struct merge_clock {
	struct align_found found; /* meetings 0: by the time of day, as far as that was right */
	const char *host; /* NULL unknown */
	/*
	 * Crossings of MPI whose ordinal on the communicator is not known: they are matched with those of other recordings by
	 * time. Counted while they are read.
	 */
	uint64_t unnumbered;
};

/*
 * Of @tapes[@n], which are the merge's from here on, also on failure; of several, all are read to compare their clocks.
 * Returns 0 and *out, -ENOMEM or -errno.
 */
int merge_new(struct contents **tapes, uint32_t n, struct merge **out);
void merge_free(struct merge *merge);
/* When the first of them began, by the first's clock. */
uint64_t merge_start(const struct merge *merge);
/* As contents_next(). Of all that ends, the model's input of type MODEL_INPUT_FINISH comes once, at the end of the last. */
int merge_next(struct merge *merge, struct contents_item *out);
/* As contents_rewind(). */
int merge_rewind(struct merge *merge);
/*
 * As contents_find(). What a number means on one machine says nothing of another: where several have an answer, and not the same,
 * there is none.
 */
const struct contents_answer *merge_find(const struct merge *merge,
					 const struct contents_question *question);
/* By the merge's number of the site. */
const struct site_name *merge_site_name(const struct merge *merge, uint32_t site);
/* The same of a stack: its sites by the merge's numbers, at most @max of them. Returns how many; 0: there is no answer. */
uint32_t merge_stack(struct merge *merge, const struct contents_question *question, uint32_t *sites,
		     uint32_t max);
uint32_t merge_count(const struct merge *merge);
const struct contents *merge_tape(const struct merge *merge, uint32_t i);
void merge_clock(const struct merge *merge, uint32_t i, struct merge_clock *out);
/* The worst of them. */
enum contents_state merge_state(const struct merge *merge);

#endif /* RECORDING_MERGE_H */
