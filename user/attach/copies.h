/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Copies of probed code. A program that copies code also copies the breakpoints in it, but the
 * kernel knows of no probe there. The original code around each probe is kept, so that a copied
 * breakpoint can be found and replaced.
 */
#ifndef ATTACH_COPIES_H
#define ATTACH_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "sbt/state.h"

/* Number of bytes of the file that are kept before a breakpoint, and also after it. */
#define COPIES_AROUND 32
/*
 * Number of bytes around a breakpoint that must equal the file's bytes. With fewer equal bytes, the
 * breakpoint is not considered a copy.
 */
#define COPIES_SAME   15
#define COPIES_MAX    65536

/* A probe and the code around it. */
struct copies_probe {
	uint64_t dev, ino, offset; /* the file, and the offset in it */
	/* next probe with the same byte after the breakpoint; COPIES_NONE: this is the last */
	uint32_t next;
	uint8_t before, after; /* number of valid bytes of `code` before and after the breakpoint */
	uint8_t code[COPIES_AROUND + SBT_BREAKPOINT_BYTES + COPIES_AROUND];
};

#define COPIES_NONE UINT32_MAX

/* All zero: no probes. */
struct copies {
	struct copies_probe *probes;
	uint32_t n, max;
	struct hash of_probe_site; /* file and offset -> 1 + the number of the probe there */
	/*
	 * by the byte after the breakpoint: 1 + the number of the first probe in the list (`next`)
	 * with this byte; 0: none
	 */
	uint32_t first[256];
};

void copies_free(struct copies *copies);
/*
 * Record probes at @offsets of a file. If memory runs out, copies of these probes are not found
 * later.
 */
void copies_note(struct copies *copies, int fd, const uint64_t *offsets, uint32_t n);
/*
 * Return whether breakpoints in mappings of this file may be ours. @dev: its device, as in
 * stat(); NULL: any device.
 */
bool copies_in_file(const struct copies *copies, const uint64_t *dev, uint64_t inode);
/*
 * Return the original bytes of the copied breakpoint at @bytes[@at] (SBT_BREAKPOINT_BYTES), or NULL
 * if there is no breakpoint, or if the bytes around it do not identify one of our probes.
 */
const uint8_t *copies_at(const struct copies *copies, const uint8_t *bytes, size_t n, size_t at);
/*
 * Return the index of the first copied breakpoint at or after @at, and set *@original to its
 * original bytes. Return @n if there is none.
 */
size_t copies_next(const struct copies *copies, const uint8_t *bytes, size_t n, size_t at,
		   const uint8_t **original);

#endif /* ATTACH_COPIES_H */
