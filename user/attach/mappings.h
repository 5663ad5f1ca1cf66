/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Executable mappings of the machine's processes, as perf reports them. Needs no probe in programs:
 * a breakpoint in the dynamic linker, which every process has, would end each program that runs in
 * an emulator.
 */
#ifndef ATTACH_MAPPINGS_H
#define ATTACH_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mappings;

/*
 * A process has mapped code, or made a mapping executable; or it executes a program (@exec), to
 * which later mappings belong.
 */
struct mappings_event {
	uint64_t t_ns; /* CLOCK_MONOTONIC */
	uint32_t tgid, tid;
	uint64_t start, bytes;
	uint64_t offset; /* file offset, bytes */
	uint64_t ino;
	uint32_t dev; /* as in struct maps_entry */
	bool exec; /* exec: only the process and its name are known */
	char comm[16]; /* name of the process, if @exec */
	bool file; /* a mapping of a file; else anonymous */
	bool deleted; /* the file was deleted */
	const char *path; /* path of the file, else ""; valid during the call; untrusted */
	size_t text; /* offset of the path: only for mappings_read() */
};

/*
 * Open the events, including executions of programs if @execs. Return 0, or -errno if the kernel
 * does not permit it. The events begin disabled.
 */
int mappings_open(bool execs, struct mappings **out);
void mappings_enable(struct mappings *mappings, bool on);
/* Return the fd to poll for CPU number @i, or -1 after the last. */
int mappings_fd(const struct mappings *mappings, uint32_t i);
/*
 * Call @each for the events since the last call, in order of time, except events that are still
 * arriving. Return how many the kernel lost.
 */
uint64_t mappings_read(struct mappings *mappings,
		       void (*each)(void *ctx, const struct mappings_event *event), void *ctx);
void mappings_free(struct mappings *mappings);

#endif /* ATTACH_MAPPINGS_H */
