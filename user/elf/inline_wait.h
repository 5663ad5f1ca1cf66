/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Waits of libstdc++'s std::barrier and std::latch that the compiler put in line. No function is left, but each wait
 * begins with the same atomic addition, which counts the thread as a waiter, and ends with the subtraction. Between them
 * the thread spins, yields and sleeps, and does nothing else. Probes beside both see every arrival and every departure.
 * The kernel refuses probes on the two instructions themselves, because of their lock prefix.
 */
#ifndef ELF_INLINE_WAIT_H
#define ELF_INLINE_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sbt/probe.h"

#define INLINE_WAIT_LEAVES 8

enum inline_wait_kind {
	INLINE_WAIT_BARRIER, /* waits for one byte to change, as std::barrier and std::atomic_flag do */
	INLINE_WAIT_LATCH, /* waits for a number to become 0 */
	INLINE_WAIT_OTHER, /* std::atomic::wait() of another type: no barrier */
	INLINE_WAIT_UNKNOWN, /* what it waits for cannot be read at its beginning */
};

/* One wait. Offsets are from the start of the function. */
struct inline_wait {
	enum inline_wait_kind kind;
	/* Of the probe beside the addition. A thread may come there again before it leaves the wait. */
	uint32_t enter;
	uint32_t nleaves;
	uint32_t leaves[INLINE_WAIT_LEAVES]; /* of the probes behind the subtractions */
	struct sbt_arg object; /* at @enter: the address of what it waits for */
	struct sbt_arg old; /* barrier: the value that it waits to change from */
};

/*
 * Find the waits in a function. Writes up to @max to @out. Returns how many there are, or -ENOTSUP (another machine, or
 * @len is 0 or above 64 KiB) or -ENOMEM.
 */
int inline_waits_find(uint16_t machine, const uint8_t *bytes, size_t len, struct inline_wait *out,
		      int max);

/*
 * Return the offset, at or after @from, of an instruction that may begin such a wait; @len if there is none. Quick: it
 * looks at bytes alone.
 */
size_t inline_wait_hint(const uint8_t *bytes, size_t len, size_t from);

#endif /* ELF_INLINE_WAIT_H */
