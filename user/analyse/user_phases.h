/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Conceptual phases between markers of the program; conceptual.h says what they are. For conceptual.c alone. */
#ifndef ANALYSE_USER_PHASES_H
#define ANALYSE_USER_PHASES_H

#include "analyse/phase.h"

struct user_phases;

/* NULL: out of memory. */
struct user_phases *user_phases_new(void);
void user_phases_free(struct user_phases *user_phases);
/* These return 0 or -ENOMEM. */
int user_phases_add(struct user_phases *user_phases, const struct conceptual_mark *mark);
/* Adds to @blames[*@nblames] one for each phase that the episode lies in, USER_PHASES_MAX at most. */
int user_phases_episode(struct user_phases *user_phases, const struct model_episode *episode,
			struct blame **blames, uint32_t *nblames);
int user_phases_finish(struct user_phases *user_phases);
uint64_t user_phases_refused(const struct user_phases *user_phases);
/* Of one process, as the model counts them. */
uint64_t user_phases_n(const struct user_phases *user_phases, uint32_t proc);
uint32_t user_phases_phases(const struct user_phases *user_phases);
/* Appends to @out's conceptual phases, where there is room for user_phases_phases(). */
int user_phases_report(const struct user_phases *user_phases, const struct phase_build *build,
		       const struct model_proc *procs, struct report *out);

#endif /* ANALYSE_USER_PHASES_H */
