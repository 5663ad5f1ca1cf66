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

struct hang_worker;

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
int hang_worker_new(bool debuginfod, struct hang_worker **out);
/* Ends the look that is under way. */
void hang_worker_free(struct hang_worker *hang_worker);
/* Not while it has one. The errand is its own from then on. Returns 0, or -errno: no thread could be made. */
int hang_worker_start(struct hang_worker *hang_worker, struct errand *errand);
/* It has been given an errand and nobody has taken it back. */
bool hang_worker_has(const struct hang_worker *hang_worker);
/* The errand, when it is done, or NULL; @wait: until it is. To be freed by the caller. */
struct errand *hang_worker_take(struct hang_worker *hang_worker, bool wait);

#endif /* HANG_HANG_WORKER_H */
