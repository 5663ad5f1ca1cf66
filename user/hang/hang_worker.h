/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The thread that looks at programs in which a barrier hangs, so that the reading of records never waits for it. One errand
 * at a time; all is asked of it, and taken back, by one other thread.
 */
#ifndef HANG_HANG_WORKER_H
#define HANG_HANG_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "hang/hang.h"
#include "hang/hang_collect.h"

struct looker;

/* What it is asked, and what it has found. */
struct errand {
	struct hang_collect_question question;
	uint32_t n; /* barriers to be judged: */
	uint32_t *which; /* of the question */
	uint32_t *known; /* the asker's own note of each */
	struct report_hang *out;
	int *err; /* 0, or -errno of each */
	int look_err; /* of the look as a whole */
};

/* With room for @nbarriers in all its arrays, none of which is in use. Returns 0 or -ENOMEM. */
int errand_new(uint32_t nbarriers, struct errand **out);
/* With all that it was asked and has found; NULL is nothing. */
void errand_free(struct errand *errand);

/* The thread itself begins with the first errand. @debuginfod: names may be asked for there. Returns 0 or -ENOMEM. */
int looker_new(bool debuginfod, struct looker **out);
/* Ends the look that is under way. */
void looker_free(struct looker *looker);
/* Not while it has one. The errand is its own from then on. Returns 0, or -errno: no thread could be made. */
int looker_start(struct looker *looker, struct errand *errand);
/* It has been given an errand and nobody has taken it back. */
bool looker_has(const struct looker *looker);
/* The errand, when it is done, or NULL; @wait: until it is. To be freed by the caller. */
struct errand *looker_take(struct looker *looker, bool wait);

#endif /* HANG_HANG_WORKER_H */
