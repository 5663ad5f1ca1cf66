/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What OpenMP's threads lose, and to what, from the episodes of their teams: for TALP's efficiencies (efficiency.c).
 * Pure.
 */
#ifndef ANALYSE_OPENMP_H
#define ANALYSE_OPENMP_H

#include "model/model.h"

struct openmp;

/* Is it a barrier of an OpenMP team? */
bool openmp_is_barrier(const struct model_barrier *barrier);
/* NULL: out of memory. */
struct openmp *openmp_new(void);
void openmp_free(struct openmp *openmp);
/* The process with this index is kept as a sum from now on, and the index another one's: nothing is known of it here. */
void openmp_fold_process(struct openmp *openmp, uint32_t from);
/* Takes in one episode, in the order in which the model hands them out; of any family. Returns 0 or -ENOMEM. */
int openmp_episode(struct openmp *openmp, const struct model *model,
		   const struct model_episode *episode);

#endif /* ANALYSE_OPENMP_H */
