/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The graph of waiting threads that the files of hang_classify() share. */
#ifndef HANG_HANG_INTERNAL_H
#define HANG_HANG_INTERNAL_H

#include "hang/hang.h"
#include "analyse/internal.h"

/* The state of a candidate. States that explain more are first. */
enum { RANK_LOST, RANK_STUCK, RANK_BUSY, RANK_OUTSIDE, RANK_REST, RANK_BARRED };

/* A thread that may be missing at a barrier. */
struct candidate {
	uint32_t thread; /* index of the thread; HANG_NONE: it has ended, or was not examined */
	/* its entry in the last episode; NULL: it was not in that episode */
	const struct hang_member *member;
	enum hang_known why;
	bool lost; /* the thread has ended, or has left the team */
	/* the thread joins a thread that has arrived, and was never seen at this barrier */
	bool barred;
	uint32_t rank; /* RANK_* */
};

/* The threads that a barrier waits for. */
struct need {
	bool exact; /* all candidates must arrive; otherwise any .k of them */
	/*
	 * MPI: indexes of two arrivals in different collectives; .odd is in the collective that
	 * fewer ranks called. HANG_NONE if there are none.
	 */
	uint32_t odd, even;
	bool unclear; /* as many threads as the barrier's count have arrived: it should open */
	uint32_t k;
	uint32_t n;
	struct candidate *candidates;
	uint32_t able; /* number of candidates that are not lost and not barred */
	bool fills; /* the barrier can fill */
};

/* One step of a cycle. */
struct step {
	uint32_t thread; /* index */
	uint32_t barrier; /* index of the barrier at which the thread waits; HANG_NONE: none */
};

struct graph {
	const struct hang_input *in;
	struct arena *arena; /* the report's */
	struct hash by_tid; /* tid -> index */
	struct need *needs; /* by barrier */
	bool *can; /* by thread: the thread may eventually continue */
	bool strict; /* any thread may replace a thread of the last episode */
	uint32_t *at; /* by thread: index of the barrier at which it has arrived; HANG_NONE: none */
	bool several; /* there are threads of more than one process */
	uint32_t nsteps;
	struct step *steps; /* the cycle, if there is one */
	bool locked; /* a lock or a join is part of the cycle */
};

/* hang_graph.c */
/* Return the index of the thread with this tid, or HANG_NONE. */
uint32_t graph_thread(const struct graph *g, uint32_t tid);
/*
 * Return the index of the thread that thread @i waits for: the holder of a lock, or the joined
 * thread. HANG_NONE: none, or unknown.
 */
uint32_t graph_holder(const struct graph *g, uint32_t i);
/*
 * Return the last thread of the chain of holders from thread @i; in a cycle: any thread of the
 * cycle.
 */
uint32_t graph_chain_end(const struct graph *g, uint32_t i);
/* Return whether the thread is blocked until another, known thread does something. */
bool thread_waits_for_holder(const struct hang_thread *t);
/*
 * Return whether the thread uses a CPU, or wants one. A thread in an MPI call is not busy, because
 * MPI libraries spin while they wait.
 */
bool thread_is_busy(const struct hang_thread *t);
/* Return whether the thread is stopped, or waits for something outside of the program. */
bool thread_is_outside(const struct hang_thread *t);

/*
 * Fill .can and each need's .fills. On entry both must be false, or hold earlier results. The
 * result is the least fixed point: a thread counts as able to continue only if something shows that
 * it is.
 */
void graph_find_able(struct graph *g);
/*
 * Fill .steps with the shortest cycle that a candidate of this barrier is in or waits for. Return 0
 * or -ENOMEM.
 */
int graph_find_cycle(struct graph *g, uint32_t barrier);

/* Fill .steps with the two ranks that are in different collectives on one communicator. */
void graph_cross_ranks(struct graph *g, uint32_t barrier);

/* hang_need.c */
/* Find the threads that this barrier waits for, and fill its need. Return 0 or -ENOMEM. */
int need_find(struct graph *g, uint32_t barrier);
/* Return whether .threads has all threads that may arrive at the barrier. */
bool need_knows_all(const struct graph *g, const struct hang_barrier *b);
/* Count the threads that can continue and could replace threads of the last episode. */
uint32_t need_outsiders(const struct graph *g, uint32_t barrier);
/* Return whether a thread that can continue might arrive, or create a thread that arrives. */
bool need_thread_may_come(const struct graph *g, const struct hang_barrier *b);

/* hang_fill.c: these return 0 or -ENOMEM. */
int hang_fill_barrier(const struct graph *g, const struct hang_barrier *b, struct report_hang *out);
int hang_fill_arrived(const struct graph *g, const struct hang_barrier *b, struct report_hang *out);
/* Assign the candidates' ranks, and sort the candidates by rank. */
int hang_fill_missing(const struct graph *g, uint32_t barrier, struct report_hang *out);
int hang_fill_cycle(const struct graph *g, struct report_hang *out);

/* hang_text.c: the strings are in the report's arena. */
/*
 * Return what thread @i waits for, in words; NULL: the thread does not wait, or what it waits for
 * is unknown.
 */
const char *text_blocked_on(const struct graph *g, uint32_t i);
/* Return "the barrier at x.c:30", "the mutex `m`" or "the end of thread 3". */
const char *text_step(const struct graph *g, const struct step *step, const struct step *next);
/*
 * Fill in out->text after all other fields. @likely is the verdict, proven or not. out->verdict is
 * the same verdict if it is proven, and otherwise HANG_UNKNOWN.
 */
void text_fill(const struct graph *g, uint32_t barrier, enum hang_verdict likely,
	       struct report_hang *out);

#endif /* HANG_HANG_INTERNAL_H */
