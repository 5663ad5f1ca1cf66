/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Functions in which a thread may wait for other threads or processes, and which are not traced.
 * Time inside them counts as work, so a report names the functions of this kind that a program
 * calls.
 */
#ifndef SITES_UNTRACED_H
#define SITES_UNTRACED_H

#include <stdbool.h>
#include <stdint.h>

#define UNTRACED_WORDS 2

/* Functions that a program's code calls, one bit each. */
struct untraced {
	uint64_t mpi[UNTRACED_WORDS]; /* functions of MPI */
	uint64_t openmp; /* functions of an OpenMP runtime */
	bool tasks; /* at least one function that creates OpenMP tasks */
	/* at least one function that waits on semaphores, for an unknown purpose */
	bool semaphores;
	/*
	 * Inlined waits of C++20 in code that could not be analysed. They may be waits of a
	 * std::barrier.
	 */
	bool in_line;
};

/*
 * Add the function @symbol if it is a function of MPI (in C, or in any Fortran spelling) or of
 * OpenMP. @symbol is untrusted and may have a version ("name@VERSION").
 */
void untraced_add(struct untraced *calls, const char *symbol);
/* Return whether the function jumps to another function that waits and is in @probed. */
bool untraced_jumps(const char *symbol, const struct untraced *probed);
/*
 * Return whether @calls contains functions in which threads wait for their turn (SBT_ROLE_TURN).
 * Such functions are traced if they have probes.
 */
bool untraced_has_turns(const struct untraced *calls);
/*
 * Remove from @calls the functions with SBT_ROLE_TURN, except those in @unseen, which have no
 * probes.
 */
void untraced_drop_turns(struct untraced *calls, const struct untraced *unseen);
/* Return whether @calls contains functions of MPI. */
bool untraced_has_mpi(const struct untraced *calls);
void untraced_join(struct untraced *to, const struct untraced *from);

/*
 * Write a few names of the functions to @out: "MPI_Recv, MPI_Send and 3 more", or "" for none.
 * Inlined waits are first, as IN_LINE_NAMES. Return @out.
 */
#define UNTRACED_NAMES 256
const char *untraced_names(const struct untraced *calls, char out[UNTRACED_NAMES]);

#endif /* SITES_UNTRACED_H */
