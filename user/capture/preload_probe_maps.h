/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Files that processes may run soon, mapped for a moment: so they have the numbers that /proc/PID/maps will show for them. */
#ifndef CAPTURE_PRELOAD_PROBE_MAPS_H
#define CAPTURE_PRELOAD_PROBE_MAPS_H

#include <stdbool.h>
#include <stddef.h>

struct modules;

#define PRELOAD_MAPS_MAX 64

struct preload_maps {
	void *at[PRELOAD_MAPS_MAX];
	size_t n;
	bool mpi; /* its libraries are among them */
};

/* C libraries that programs started later may use, though nobody runs one now. */
void preload_maps_common(struct preload_maps *preload_maps);
/* The usual libraries of OpenMP. */
void preload_maps_openmp(struct preload_maps *preload_maps);
void preload_maps_mpi(struct preload_maps *preload_maps);
/*
 * Programs named by each word of a command, and by each word within one, for a shell's script is one argument; and by their paths in
 * a script that is a file. Behind a word that
 * launches ranks also the MPI that they need.
 */
void preload_maps_words(struct preload_maps *preload_maps, struct modules *modules,
			char *const command[]);
void preload_maps_free(struct preload_maps *preload_maps);

#endif /* CAPTURE_PRELOAD_PROBE_MAPS_H */
