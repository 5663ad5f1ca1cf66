/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Conceptual phases between markers of the program: see conceptual.h. For conceptual.c only. */
#ifndef ANALYSE_USER_PHASES_H
#define ANALYSE_USER_PHASES_H

#include "analyse/phase.h"

struct user_phases;

/* Return NULL when out of memory. */
struct user_phases *user_phases_new(void);
void user_phases_free(struct user_phases *user_phases);
/* Add a mark by a thread of the process, with the phase's name. Return 0 or -ENOMEM. */
int user_phases_add(struct user_phases *user_phases, uint32_t proc, uint32_t thread,
		    const char *name, const struct model_mark *mark);
/*
 * Append to @blames[*@nblames] the blame of each phase that contains the episode. Return 0 or
 * -ENOMEM.
 */
int user_phases_episode(struct user_phases *user_phases, const struct model_episode *episode,
			struct blame **blames, uint32_t *nblames);
/* Use the marks that are still queued. Return 0 or -ENOMEM. */
int user_phases_finish(struct user_phases *user_phases);
uint64_t user_phases_refused(const struct user_phases *user_phases);
/* Return the number of marks of a process of the model. */
uint64_t user_phases_n(const struct user_phases *user_phases, uint32_t proc);
uint32_t user_phases_phases(const struct user_phases *user_phases);
/* Append to the conceptual phases of @out, which has room for user_phases_phases() more. */
int user_phases_report(const struct user_phases *user_phases, const struct phase_build *build,
		       const struct model_proc *procs, struct report *out);

#endif /* ANALYSE_USER_PHASES_H */
