/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Functions in which a thread may wait for other threads or processes, and which are not traced: the time inside them
 * counts as work. A report must say so of each program whose code calls them.
 */
#ifndef SITES_UNTRACED_H
#define SITES_UNTRACED_H

#include <stdint.h>

/*
 * The bit of the function that @symbol names, in C or in any spelling of a Fortran compiler; 0: no such function.
 * @symbol is untrusted and may carry a version ("name@VERSION").
 */
uint64_t untraced_bit(const char *symbol);

/* Write the names of the functions in @bits, "MPI_Recv, MPI_Send and 3 more", at most a few, to @out. Return @out. */
#define UNTRACED_NAMES 192
const char *untraced_names(uint64_t bits, char out[UNTRACED_NAMES]);

#endif /* SITES_UNTRACED_H */
