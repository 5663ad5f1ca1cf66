/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Barriers written by hand: of the calls on the way up from a wait, the one that the program would name as its barrier.
 * Pure.
 *
 * The function F that a barrier is written in is the innermost one that has both the waits and the waking. Its callers are
 * the sites, unless
 * - F is the first function of a thread, or any of the threads came into it as such: the barrier is written where the
 *   threads work;
 * - F is called from fewer places than it waits at: its callers would tell less apart than its waits do;
 * - F is called from one place, and the wait is in a function that was inlined into F: so was the barrier.
 * - F waits and wakes on one line of the source: the barrier is a macro, and F a function that uses it.
 * - F is large: it holds more than a barrier.
 * Then the sites are the calls that wait and wake in F. What has been decided of F once remains.
 */
#ifndef MODEL_ENCLOSE_H
#define MODEL_ENCLOSE_H

#include <stdbool.h>
#include <stdint.h>

/* A call on the way up. */
struct enclose_step {
	uint64_t function; /* that it is in; 0 not known */
	uint32_t site; /* opaque, the same number for the same place */
	bool through; /* of a wrapper's, which is none of the program's own functions */
	bool outer; /* of the runtime's: what it calls is the first function of a thread, or the like */
	bool inlined; /* of a function that was inlined there */
	bool large; /* the function has more code than a barrier's */
	uint64_t line; /* of the source: opaque; 0 not known */
};

struct enclose;

/* NULL: out of memory. */
struct enclose *enclose_new(void);
void enclose_free(struct enclose *e);

/* The program's own innermost call: the index of its step, of @n. */
uint32_t enclose_own(const struct enclose_step *steps, uint32_t n);
/*
 * A thread waited, or with @wake woke others; @helpers: a function that only waits, or only wakes, may be between it and
 * the barrier. Returns 0 or -ENOMEM.
 */
int enclose_note(struct enclose *e, const struct enclose_step *steps, uint32_t n, bool wake,
		 bool helpers);
/* Of what has been noted: the index of the step that is the site. *through: it called F, which was step *through - 1. */
uint32_t enclose_site(struct enclose *e, const struct enclose_step *steps, uint32_t n, bool helpers,
		      bool *through);

#endif /* MODEL_ENCLOSE_H */
