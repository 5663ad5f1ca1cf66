/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Executable mappings of the machine's processes, as perf reports them. Reading these reports needs
 * no probes. A probe in the dynamic linker would be a breakpoint in every process, which kills
 * programs that run in an emulator.
 */
#ifndef ATTACH_MAPPINGS_H
#define ATTACH_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mappings;

/*
 * A process has mapped code, or has made a mapping executable. With `exec`, the process has
 * executed a program, and its later mappings belong to that program.
 */
struct mappings_event {
	uint64_t t_ns; /* CLOCK_MONOTONIC */
	uint32_t tgid, tid;
	uint64_t start, bytes;
	uint64_t offset; /* file offset, bytes */
	uint64_t ino;
	uint32_t dev; /* as in struct maps_entry */
	/* the process executed a program: only `t_ns`, `tgid`, `tid` and `comm` are known */
	bool exec;
	char comm[16]; /* with `exec`: name of the process */
	bool file; /* a mapping of a file; else anonymous */
	bool deleted; /* the file was deleted */
	/* path of the file, else ""; valid only during the call of @each; untrusted */
	const char *path;
	size_t text; /* offset of the path in a buffer; used only by mappings_read() */
};

/*
 * Open the events. @execs: also report when processes execute programs. Return 0, or -errno if the
 * kernel does not permit it. The events begin disabled.
 */
int mappings_open(bool execs, struct mappings **out);
void mappings_enable(struct mappings *mappings, bool on);
/*
 * Return the @i-th descriptor to poll (one per CPU that exists), from 0, or -1 if there are no
 * more.
 */
int mappings_fd(const struct mappings *mappings, uint32_t i);
/*
 * Call @each for the events since the last call, in order of time. Events that are newer than the
 * start of the call are kept for the next call, because older events of other CPUs may still
 * follow. Return how many events were lost.
 */
uint64_t mappings_read(struct mappings *mappings,
		       void (*each)(void *ctx, const struct mappings_event *event), void *ctx);
void mappings_free(struct mappings *mappings);

#endif /* ATTACH_MAPPINGS_H */
