/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Files that processes may run soon, mapped for a moment: so they have the numbers that /proc/PID/maps will show for them. */
#ifndef CAPTURE_PRELOAD_PROBE_MAPS_H
#define CAPTURE_PRELOAD_PROBE_MAPS_H

#include <stdbool.h>
#include <stddef.h>

struct modules;

#define MAPPED_MAX 64

struct mapped {
	void *at[MAPPED_MAX];
	size_t n;
	bool mpi; /* its libraries are among them */
};

/* C libraries that programs started later may use, though nobody runs one now. */
void mapped_common(struct mapped *mapped);
/* The usual libraries of OpenMP. */
void mapped_openmp(struct mapped *mapped);
void mapped_mpi(struct mapped *mapped);
/*
 * Programs named by each word of a command, and by each word within one, for a shell's script is one argument; and by their paths in
 * a script that is a file. Behind a word that
 * launches ranks also the MPI that they need.
 */
void mapped_words(struct mapped *mapped, struct modules *modules, char *const command[]);
void mapped_free(struct mapped *mapped);

#endif /* CAPTURE_PRELOAD_PROBE_MAPS_H */
