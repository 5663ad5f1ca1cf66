/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Inlined waits of libstdc++'s std::barrier and std::latch. An inlined wait is not a function, but
 * its code has a known form. It begins with an atomic addition, which counts the thread as a
 * waiter, and ends with the matching subtraction. Between the two, the thread only spins, yields
 * and sleeps. Probes next to both instructions see every arrival and departure. The kernel refuses
 * probes on the two instructions themselves because of their lock prefix.
 */
#ifndef ELF_INLINE_WAIT_H
#define ELF_INLINE_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sbt/probe.h"

#define INLINE_WAIT_LEAVES 8

enum inline_wait_kind {
	/* waits for one byte to change, as std::barrier and std::atomic_flag do */
	INLINE_WAIT_BARRIER,
	INLINE_WAIT_LATCH, /* waits for a number to become 0 */
	INLINE_WAIT_OTHER, /* std::atomic::wait() of another type: no barrier */
	INLINE_WAIT_UNKNOWN, /* the object cannot be read at the beginning of the wait */
};

/* One wait. Offsets are from the start of the function, in bytes. */
struct inline_wait {
	enum inline_wait_kind kind;
	/*
	 * Offset of the probe next to the addition. A thread may hit this probe several times in
	 * one wait.
	 */
	uint32_t enter;
	uint32_t nleaves;
	uint32_t leaves[INLINE_WAIT_LEAVES]; /* offsets of the probes after the subtractions */
	struct sbt_arg object; /* at `enter`: the address of the object that the thread waits for */
	/* barrier: the old value of the byte; the thread waits until the byte changes */
	struct sbt_arg old;
};

/*
 * Find the waits in a function. Write up to @max to @out. Return the number written, or -ENOTSUP
 * (not x86-64, or @len is 0 or above 64 KiB) or -ENOMEM.
 */
int inline_waits_find(uint16_t machine, const uint8_t *bytes, size_t len, struct inline_wait *out,
		      int max);

/*
 * Return the offset, at or after @from, of an instruction that may begin such a wait, or @len.
 * Fast: it only compares bytes.
 */
size_t inline_wait_hint(const uint8_t *bytes, size_t len, size_t from);

#endif /* ELF_INLINE_WAIT_H */
