/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Map, for a short time, files that processes may execute soon. sbt-trace examines its own
 * mappings, so it probes these files in advance. Its mappings show the same device and inode
 * numbers that /proc/PID/maps will show for these processes.
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
	bool mpi; /* the MPI libraries have been mapped */
};

/* Map C libraries that programs started later may use, even if no process uses them now. */
void preload_maps_common(struct preload_maps *preload_maps);
/* Map the usual libraries of OpenMP, or of MPI. */
void preload_maps_openmp(struct preload_maps *preload_maps);
void preload_maps_mpi(struct preload_maps *preload_maps);
/*
 * Map the programs that a command may execute: each word of each argument (a shell's script is one
 * argument), and the paths in a script file. After the name of an MPI launcher, also map the MPI
 * libraries.
 */
void preload_maps_words(struct preload_maps *preload_maps, struct modules *modules,
			char *const command[]);
void preload_maps_free(struct preload_maps *preload_maps);

#endif /* CAPTURE_PRELOAD_PROBE_MAPS_H */
