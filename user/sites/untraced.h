/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Functions in which a thread may wait for other threads or processes, and which are not traced: the time inside them
 * counts as work. A report must say so of each program whose code calls them.
 */
#ifndef SITES_UNTRACED_H
#define SITES_UNTRACED_H

#include <stdbool.h>
#include <stdint.h>

#define UNTRACED_WORDS 2

/* Functions that a program's code calls, a bit each. */
struct untraced {
	uint64_t mpi[UNTRACED_WORDS]; /* of MPI */
	uint64_t openmp; /* of an OpenMP runtime */
	bool tasks; /* some that make OpenMP tasks */
	bool semaphores; /* waits on semaphores: what they are for is not known */
	bool in_line; /* waits of C++20 in line, in code that is not known: a std::barrier's may be among them */
};

/*
 * Add the function that @symbol names, if it is such a function: one of MPI in C or in any spelling of a Fortran compiler, or
 * one of OpenMP. @symbol is untrusted and may carry a version ("name@VERSION").
 */
void untraced_add(struct untraced *calls, const char *symbol);
/* Does the function's wait lie in another one, which is in @probed? */
bool untraced_jumps(const char *symbol, const struct untraced *probed);
/* Are there functions whose waits are measured where they have probes (SBT_ROLE_TURN)? */
bool untraced_has_turns(const struct untraced *calls);
/* Drop these, but for those that have no probes. */
void untraced_drop_turns(struct untraced *calls, const struct untraced *unseen);
/* Are there functions of MPI? */
bool untraced_has_mpi(const struct untraced *calls);
void untraced_join(struct untraced *to, const struct untraced *from);

/*
 * Write the names of the functions, "MPI_Recv, MPI_Send and 3 more", at most a few, to @out. Return @out; "": there are none.
 * Waits in line come first, as IN_LINE_NAMES.
 */
#define UNTRACED_NAMES 256
const char *untraced_names(const struct untraced *calls, char out[UNTRACED_NAMES]);

#endif /* SITES_UNTRACED_H */
