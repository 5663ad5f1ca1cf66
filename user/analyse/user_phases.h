/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Conceptual phases between markers of the program; conceptual.h says what they are. For conceptual.c alone. */
#ifndef ANALYSE_USER_PHASES_H
#define ANALYSE_USER_PHASES_H

#include "analyse/phase.h"

struct marked;

/* NULL: out of memory. */
struct marked *marked_new(void);
void marked_free(struct marked *marked);
/* These return 0 or -ENOMEM. */
int marked_add(struct marked *marked, const struct conceptual_mark *mark);
/* Adds to @blames[*@nblames] one for each phase that the episode lies in, MARKED_MAX at most. */
int marked_episode(struct marked *marked, const struct model_episode *episode,
		   struct blame **blames, uint32_t *nblames);
int marked_finish(struct marked *marked);
uint64_t marked_refused(const struct marked *marked);
/* Of one process, as the model counts them. */
uint64_t marked_n(const struct marked *marked, uint32_t proc);
uint32_t marked_phases(const struct marked *marked);
/* Appends to @out's conceptual phases, where there is room for marked_phases(). */
int marked_report(const struct marked *marked, const struct phase_build *build,
		  const struct model_proc *procs, struct report *out);

#endif /* ANALYSE_USER_PHASES_H */
