/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Code that processes of the machine map, as perf reports it. Nothing has to be put into a program for that: a breakpoint in the
 * dynamic linker, which every process has, ends each program that an emulator runs.
 */
#ifndef ATTACH_MAPPINGS_H
#define ATTACH_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mappings;

/*
 * A process has mapped code, or what it has mapped has become code; or it executes a program (@exec), and what it maps from then on is
 * of that one.
 */
struct mappings_event {
	uint64_t t_ns; /* CLOCK_MONOTONIC */
	uint32_t tgid, tid;
	uint64_t start, bytes;
	uint64_t offset; /* in the file, bytes */
	uint64_t ino;
	uint32_t dev; /* as in struct maps_entry */
	bool exec; /* of the rest only the process and its name are known */
	char comm[16]; /* of @exec */
	bool file; /* of a file; else anonymous */
	bool deleted; /* the file has no name any more */
	const char *path; /* of a file, else ""; valid during the call; untrusted */
	size_t text; /* where the path is: for mappings_read() alone */
};

/*
 * @execs: programs that are executed are reported, too. Returns 0 or -errno: the kernel does not let us see them. Nothing is seen until
 * they are enabled.
 */
int mappings_open(bool execs, struct mappings **out);
void mappings_enable(struct mappings *mappings, bool on);
/* To be waited for, one for each CPU: the number @i, or -1 after the last. */
int mappings_fd(const struct mappings *mappings, uint32_t i);
/*
 * Calls @each for what was mapped since, in order of time but for what is being mapped now. Returns how many the kernel had no room
 * for.
 */
uint64_t mappings_read(struct mappings *mappings,
		       void (*each)(void *ctx, const struct mappings_event *event), void *ctx);
void mappings_free(struct mappings *mappings);

#endif /* ATTACH_MAPPINGS_H */
