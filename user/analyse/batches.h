/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Each barrier's phase and barrier times in blocks of consecutive episodes: how much a run varies along itself, for
 * what has no second run to be told from. Episodes follow one another, and what slows one slows the next: means of
 * blocks hang together less than episodes do. Pure, and of constant size for each barrier.
 */
#ifndef ANALYSE_BATCHES_H
#define ANALYSE_BATCHES_H

#include <stdint.h>

#include "model/model.h"

#define BLOCKS	      64 /* at most; as they get full, two become one: from half of it on */
#define BATCHES_PARTS 16 /* that runs are compared by */
#define BATCHES_LEAST 8 /* parts: fewer say nothing of how much they vary */

struct batches_times {
	uint32_t n; /* blocks that are full */
	uint64_t per; /* episodes of each; 0: none was added */
	uint64_t fill; /* of the one that is not */
	double open; /* its sum, ns */
	double sum[BLOCKS]; /* ns */
};

struct batches_barrier {
	struct batches_times phase, within;
};

/* Zeroed to begin with; released by batches_free(). */
struct batches {
	uint32_t n;
	struct batches_barrier *barriers; /* by the model's index */
	int err; /* -ENOMEM: it is not complete, and holds nothing */
};

/* What the report's times are of: complete episodes. */
void batches_episode(struct batches *b, const struct model_episode *e);
void batches_free(struct batches *b);

/*
 * Both runs cut into as many parts of equal numbers of episodes: the changes from @a to @b, part by part in the order of
 * time, as logarithms of the ratio, into out[BATCHES_PARTS]. Returns how many; parts of no length are left out.
 */
uint32_t batches_changes(const struct batches_times *a, const struct batches_times *b, double *out);

#endif /* ANALYSE_BATCHES_H */
