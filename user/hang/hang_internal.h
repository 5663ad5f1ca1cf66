/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files about hangs share: who waits for whom. */
#ifndef HANG_HANG_INTERNAL_H
#define HANG_HANG_INTERNAL_H

#include "hang/hang.h"
#include "analyse/internal.h"

/* How a candidate goes on: what tells most first. */
enum { RANK_LOST, RANK_STUCK, RANK_BUSY, RANK_OUTSIDE, RANK_REST, RANK_BARRED };

/* Somebody who may be missing at a barrier. */
struct candidate {
	uint32_t thread; /* index; HANG_NONE: it is not there any more */
	const struct hang_member *member; /* NULL: it was not there before */
	enum hang_known why;
	bool lost; /* it has ended, or has left the team */
	bool barred; /* it waits for the end of one that has arrived, and was never seen there */
	uint32_t rank; /* RANK_* */
};

/* What a barrier waits for. */
struct need {
	bool exact; /* all candidates must come; else .k of them, whichever */
	uint32_t odd,
		even; /* MPI: of the arrived, one that is in another collective than this one; HANG_NONE */
	bool unclear; /* as many have come as are counted: it is about to open */
	uint32_t k;
	uint32_t n;
	struct candidate *candidates;
	uint32_t able; /* of these: neither lost nor barred */
	bool fills; /* it can */
};

/* A step along a cycle. */
struct step {
	uint32_t thread; /* index */
	uint32_t barrier; /* where it waits; HANG_NONE: at none */
};

struct graph {
	const struct hang_input *in;
	struct arena *arena; /* the report's */
	struct hash by_tid; /* tid -> index */
	struct need *needs; /* by barrier */
	bool *can; /* by thread: it may go on some day */
	bool strict; /* whoever may come to a barrier may come in place of one who was there the last time */
	uint32_t *at; /* by thread: the barrier that it has come to; HANG_NONE */
	bool several; /* processes are concerned */
	uint32_t nsteps;
	struct step *steps; /* the cycle, if there is one */
	bool locked; /* a lock or a join is part of it */
};

/* hang_graph.c */
/* The index of the thread with this number; HANG_NONE. */
uint32_t graph_thread(const struct graph *g, uint32_t tid);
/*
 * For whom thread @i waits, as its index: the holder of a lock, the thread to end. HANG_NONE:
 * nobody, or not known.
 */
uint32_t graph_holder(const struct graph *g, uint32_t i);
/* Where the chain of holders that begins at thread @i ends; in a circle: anywhere in it. */
uint32_t graph_end(const struct graph *g, uint32_t i);
/* Is it blocked until another thread, whose number is known, does something? */
bool thread_waits_for_holder(const struct hang_thread *t);
/* The barrier of the communicator of which thread @i is in another collective, for good as far as is known; HANG_NONE. */
uint32_t graph_crossed(const struct graph *g, uint32_t i);
/* Does it use a CPU? */
bool thread_is_busy(const struct hang_thread *t);
/* Does it wait for something outside of the program? */
bool thread_is_outside(const struct hang_thread *t);

/*
 * Fills .can and each need's .fills: the least that holds, nobody can go on but for a reason. Both
 * begin as false, or as what is known already.
 */
void graph_find_who_can(struct graph *g);
/*
 * The shortest cycle that a candidate of this barrier is in, or waits for: .steps. Returns 0 or
 * -ENOMEM.
 */
int graph_find_cycle(struct graph *g, uint32_t barrier);

/* Makes .steps the two ranks that are in different collectives of one communicator. */
void graph_cross(struct graph *g, uint32_t barrier);

/* hang_need.c */
/* Fills what this barrier waits for. Returns 0 or -ENOMEM. */
int need_find(struct graph *g, uint32_t barrier);
/* Is everybody that may come to it among the threads? */
bool need_knows_all(const struct graph *g, const struct hang_barrier *b);
/* How many threads that were not there the last time could come in place of those that were. */
uint32_t need_outsiders(const struct graph *g, uint32_t barrier);
/* Might somebody who can go on come to this barrier, or make a thread that does? */
bool need_somebody_may_come(const struct graph *g, const struct hang_barrier *b);

/* hang_fill.c: these return 0 or -ENOMEM. */
int hang_fill_barrier(const struct graph *g, const struct hang_barrier *b, struct report_hang *out);
int hang_fill_arrived(const struct graph *g, const struct hang_barrier *b, struct report_hang *out);
/* Ranks the candidates and sorts them by that. */
int hang_fill_missing(const struct graph *g, uint32_t barrier, struct report_hang *out);
int hang_fill_cycle(const struct graph *g, struct report_hang *out);

/* hang_say.c */
/* What thread @i waits for, as words in the report's arena; NULL: nothing, or not known. */
const char *say_blocked(const struct graph *g, uint32_t i);
/* "the barrier at x.c:30" */
void say_barrier(const struct hang_barrier *b, char *out, size_t size);
/* "the barrier at x.c:30", "the mutex `m`", "the end of thread 3" */
const char *say_step(const struct graph *g, const struct step *step, const struct step *next);
/* Fills out->text; everything else is there. @likely: the verdict, or what it would be if it were proven. */
void say_hang(const struct graph *g, uint32_t barrier, enum hang_verdict likely,
	      struct report_hang *out);

#endif /* HANG_HANG_INTERNAL_H */
