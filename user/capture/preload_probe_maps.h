/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Map files that processes may run soon, for a moment: this gives them the device and inode numbers
 * that /proc/PID/maps will show.
 */
#ifndef CAPTURE_PRELOAD_PROBE_MAPS_H
#define CAPTURE_PRELOAD_PROBE_MAPS_H

#include <stdbool.h>
#include <stddef.h>

struct modules;

#define PRELOAD_MAPS_MAX 64

struct preload_maps {
	void *at[PRELOAD_MAPS_MAX];
	size_t n;
	bool mpi; /* the libraries of MPI are among them */
};

/* Map C libraries that programs started later may use, even if no process uses them now. */
void preload_maps_common(struct preload_maps *preload_maps);
/* Map the usual libraries of OpenMP, or of MPI. */
void preload_maps_openmp(struct preload_maps *preload_maps);
void preload_maps_mpi(struct preload_maps *preload_maps);
/*
 * Map the programs that a command names: by each word, by each word within an argument (a shell's
 * script is one argument), and by the paths in a script file. After a word that launches ranks,
 * also map the MPI libraries that the ranks need.
 */
void preload_maps_words(struct preload_maps *preload_maps, struct modules *modules,
			char *const command[]);
void preload_maps_free(struct preload_maps *preload_maps);

#endif /* CAPTURE_PRELOAD_PROBE_MAPS_H */
