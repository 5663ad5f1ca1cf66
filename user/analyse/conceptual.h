/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Conceptual phases (section 6.2 of the thesis; the design's model): from the release of one barrier that the user
 * names to the next release of another, whatever barriers lie inside. Pure.
 *
 * An occurrence begins at the first release of its start barrier after the one before has ended; of start barriers
 * inside of it there is no more to say. Several phases may be open at once, nested or overlapping. What the threads
 * of the process did in it comes from the episodes inside, the end barrier's included.
 *
 * Others the program marks itself (include/sbt/sbt.h). An occurrence begins when the first thread begins it and ends
 * when the last of those that have begun it has ended it; a thread that has ended it and begins anew begins another one,
 * though others may still be in the last. A thread's share is what it did between its own two marks, to the
 * nanosecond; of threads that never mark this phase, what they did at the barriers meanwhile.
 */
#ifndef ANALYSE_CONCEPTUAL_H
#define ANALYSE_CONCEPTUAL_H

#include "model/model.h"

#define CONCEPTUAL_MAX	32 /* phases of one run */
#define USER_PHASES_MAX 64 /* names of marked phases, in one process */

struct blame;
struct conceptual;

/* NULL: out of memory. @names: of @n phases, at most CONCEPTUAL_MAX; they must outlive it. */
struct conceptual *conceptual_new(const char *const *names, uint32_t n);
void conceptual_free(struct conceptual *conceptual);
/* The phase with this index begins where its process does, once. */
void conceptual_from_start(struct conceptual *conceptual, uint32_t phase);
/* A bit a phase: those that begin and those that end at the barrier with this index. Returns 0 or -ENOMEM. */
int conceptual_barrier(struct conceptual *conceptual, uint32_t barrier, uint32_t begins,
		       uint32_t ends);
/* Takes in one episode, in the order in which the model hands them out. Returns 0 or -ENOMEM. */
int conceptual_episode(struct conceptual *conceptual, const struct model *model,
		       const struct model_episode *episode);

/* A marker of the program's: a thread begins a phase here, or ends it. */
struct conceptual_mark {
	const char *name; /* copied */
	bool begins;
	uint32_t proc, thread; /* indices of the model's */
	uint32_t tid;
	uint32_t seq; /* the thread's crossings before it, as the kernel counts */
	uint64_t t_ns;
	const struct model_detail *detail; /* of its phase so far; copied; NULL: nothing is known */
};

/* In the order of time among marks; it may be ahead of the episodes. Returns 0 or -ENOMEM. */
int conceptual_mark(struct conceptual *conceptual, const struct conceptual_mark *mark);
/* All episodes and marks have come. Returns 0 or -ENOMEM. */
int conceptual_finish(struct conceptual *conceptual);
/* How many marks a process has passed, as the model counts processes; each has its price. NULL: 0. */
uint64_t conceptual_marks(const struct conceptual *conceptual, uint32_t proc);
/* Marks of phases beyond the first USER_PHASES_MAX names of a process: nothing is known of those phases. */
uint64_t conceptual_refused(const struct conceptual *conceptual);
/* What blames the causes of that episode, too, have to be added to (causes_episode()); until the next one. */
struct blame *const *conceptual_blames(const struct conceptual *conceptual, uint32_t *n);

#endif /* ANALYSE_CONCEPTUAL_H */
