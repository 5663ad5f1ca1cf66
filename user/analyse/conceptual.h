/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Conceptual phases (see "conceptual phase" in docs/glossary.md): from a release of one barrier to
 * the next release of another, including all barriers inside. The user names both barriers. This
 * code does no I/O.
 *
 * An occurrence begins at the first release of its start barrier after the previous occurrence has
 * ended; further releases of the start barrier inside it are ignored. Several phases may be open at
 * once, nested or overlapping. The figures of an occurrence come from the episodes inside it,
 * including the end barrier's.
 *
 * Other phases are marked by the program (include/sbt/sbt.h). An occurrence of such a phase begins
 * when the first thread begins the phase, and ends when all threads that began it have ended it. A
 * thread that has ended the phase and begins it again begins another occurrence, even if other
 * threads are still in the previous occurrence. A thread's share is its activity between its own
 * two marks, exact to the nanosecond. For a thread that never marks this phase, the share is its
 * activity at barriers during the occurrence.
 */
#ifndef ANALYSE_CONCEPTUAL_H
#define ANALYSE_CONCEPTUAL_H

#include "model/model.h"

#define CONCEPTUAL_MAX	32 /* maximum number of phases of one run */
#define USER_PHASES_MAX 64 /* maximum number of names of marked phases in one process */

struct blame;
struct conceptual;

/*
 * Return NULL when out of memory. @names holds the names of @n phases, at most CONCEPTUAL_MAX, and
 * must outlive the result.
 */
struct conceptual *conceptual_new(const char *const *names, uint32_t n);
void conceptual_free(struct conceptual *conceptual);
/* In each process, begin the phase with this index once, at the start of the process. */
void conceptual_from_start(struct conceptual *conceptual, uint32_t phase);
/* Set the phases that begin and end at a barrier, one bit each. Return 0 or -ENOMEM. */
int conceptual_barrier(struct conceptual *conceptual, uint32_t barrier, uint32_t begins,
		       uint32_t ends);
/* Add an episode, in the order of model_ops.episode. Return 0 or -ENOMEM. */
int conceptual_episode(struct conceptual *conceptual, const struct model *model,
		       const struct model_episode *episode);

/*
 * Add a mark of a thread of the model, in the order of time. A mark may be added even if an earlier
 * episode has not been added yet. The name of the phase and the detail are copied. Return 0 or
 * -ENOMEM.
 */
int conceptual_mark(struct conceptual *conceptual, const struct model *model, uint32_t thread,
		    const char *name, const struct model_mark *mark);
/* Use the marks that are still queued, after the last episode and mark. Return 0 or -ENOMEM. */
int conceptual_finish(struct conceptual *conceptual);
/*
 * Return the number of marks of a process, by its index in the model, or 0 if @conceptual is NULL.
 * The cost estimate charges each mark.
 */
uint64_t conceptual_marks(const struct conceptual *conceptual, uint32_t proc);
/*
 * Return the number of ignored marks, which are marks of phases beyond the first USER_PHASES_MAX of
 * a process.
 */
uint64_t conceptual_refused(const struct conceptual *conceptual);
/*
 * Return the blames of the phases that contain the last episode, for causes_episode(). They are
 * valid until the next episode.
 */
struct blame *const *conceptual_blames(const struct conceptual *conceptual, uint32_t *n);

#endif /* ANALYSE_CONCEPTUAL_H */
