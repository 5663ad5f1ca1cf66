/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Phase and barrier times of each barrier in batches of consecutive episodes. They show how much
 * the times vary within one run, for a comparison without repeated runs. Single episodes are
 * correlated, because a delay of one episode also delays the next. The means of batches are less
 * correlated. This code does no I/O, and takes constant memory per barrier.
 */
#ifndef ANALYSE_BATCHES_H
#define ANALYSE_BATCHES_H

#include <stdint.h>

#include "model/model.h"

#define BLOCKS	      64 /* maximum number of batches; when all are full, pairs are merged */
#define BATCHES_PARTS 16 /* maximum number of parts into which a run is cut for a comparison */
#define BATCHES_LEAST 8 /* minimum number of parts; with fewer parts, their variation is unknown */

struct batches_times {
	uint32_t n; /* full batches */
	uint64_t per; /* episodes per batch; 0 if no episode was added */
	uint64_t fill; /* episodes in the open batch */
	double open; /* time of the open batch, ns */
	double sum[BLOCKS]; /* time of each full batch, ns */
};

struct batches_barrier {
	struct batches_times phase, within;
};

/* All zero initially; freed by batches_free(). */
struct batches {
	uint32_t n;
	struct batches_barrier *barriers; /* by the model's index */
	int err; /* -ENOMEM after a failed allocation, which also frees all batches; otherwise 0 */
};

/* Add an episode if it is complete. */
void batches_episode(struct batches *b, const struct model_episode *e);
void batches_free(struct batches *b);

/*
 * Cut the episodes of each run into the same number of parts. All parts of one run have equally
 * many episodes. For each part, write the change from @a to @b to out[BATCHES_PARTS], in
 * chronological order. A change is the logarithm of the ratio. Parts that take no time in @a or @b
 * are skipped. Return the number of written changes.
 */
uint32_t batches_changes(const struct batches_times *a, const struct batches_times *b, double *out);

#endif /* ANALYSE_BATCHES_H */
