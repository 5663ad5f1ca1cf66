/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Losses of OpenMP threads by kind, from the episodes of their teams, for efficiency.c. This code
 * does no I/O.
 */
#ifndef ANALYSE_OPENMP_H
#define ANALYSE_OPENMP_H

#include "model/model.h"

struct openmp;

/* Return true if the barrier belongs to an OpenMP team. */
bool openmp_is_barrier(const struct model_barrier *barrier);
/* Return NULL when out of memory. */
struct openmp *openmp_new(void);
void openmp_free(struct openmp *openmp);
/* Forget process @from, which is now part of a sum. Its index may be reused. */
void openmp_fold_process(struct openmp *openmp, uint32_t from);
/* Add an episode of any family, in the order of model_ops.episode. Return 0 or -ENOMEM. */
int openmp_episode(struct openmp *openmp, const struct model *model,
		   const struct model_episode *episode);

#endif /* ANALYSE_OPENMP_H */
