/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Copies of code that holds probes. A program that copies code copies the breakpoints in it, where the kernel knows of no
 * probe. What the code is around each probe is kept, so that a copied breakpoint can be found and replaced.
 */
#ifndef ATTACH_COPIES_H
#define ATTACH_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../bpf/state.h"
#include "base/hash.h"

/* So many bytes of the file are kept before and after a breakpoint. */
#define COPIES_AROUND 32
/* So many in a row, beside the breakpoint, must be those of the file: else it is taken for something else. */
#define COPIES_SAME   15
#define COPIES_MAX    65536

/* A probe, and the file around it. */
struct copies_probe {
	uint64_t dev, ino, offset; /* file, and where in it */
	uint32_t next; /* of those whose code goes on with the same byte; COPIES_NONE: the last */
	uint8_t before, after; /* how many bytes of `code` are known on each side */
	uint8_t code[COPIES_AROUND + SBT_BREAKPOINT_BYTES + COPIES_AROUND];
};

#define COPIES_NONE UINT32_MAX

/* All zero: no probe yet. */
struct copies {
	struct copies_probe *probes;
	uint32_t n, max;
	struct hash of_probe_site; /* file and offset -> the number + 1 of the probe there */
	uint32_t first[256]; /* by the byte after the breakpoint: a number + 1; 0: none */
};

void copies_free(struct copies *copies);
/* Note that probes are put into a file at @offsets. What there is no memory for is not found later. */
void copies_note(struct copies *copies, int fd, const uint64_t *offsets, uint32_t n);
/* May breakpoints in mappings of this file be probes of ours? @dev: its device, as of stat(); NULL: of any device. */
bool copies_in_file(const struct copies *copies, const uint64_t *dev, uint64_t inode);
/*
 * What the breakpoint at @bytes[@at] stands for (SBT_BREAKPOINT_BYTES); NULL: there is none, or it is not certain that it is
 * ours.
 */
const uint8_t *copies_at(const struct copies *copies, const uint8_t *bytes, size_t n, size_t at);
/* The first such breakpoint at or after @at, or @n. */
size_t copies_next(const struct copies *copies, const uint8_t *bytes, size_t n, size_t at,
		   const uint8_t **original);

#endif /* ATTACH_COPIES_H */
