/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the call site of a hand-written barrier. Among the calls on the way up from a wait, this is
 * the call that the program would name as its barrier.
 *
 * Let F be the innermost function that contains both the waits and the waking. The barrier is
 * written in F. Its call sites are in the callers of F, unless one of these conditions holds:
 * - F is the first function of a thread: the barrier is written in the code where threads work.
 * - F is called from fewer call sites than it has waits: its waits distinguish more than its
 *   callers.
 * - F is called from one call site, and the wait is in a function that was inlined into F. The
 *   barrier was then inlined, too.
 * - F waits and wakes on one line of the source: the barrier is a macro, and F uses the macro.
 * - F is large: it contains more than a barrier.
 * In these cases the call sites are the calls in F that wait and wake. A decision about F is final.
 */
#ifndef MODEL_ENCLOSE_H
#define MODEL_ENCLOSE_H

#include <stdbool.h>
#include <stdint.h>

/* A call on the way from a wait or a waking outwards. */
struct enclose_step {
	uint64_t function; /* the function that contains the call; 0 if not known */
	uint32_t site; /* opaque number that identifies the call site */
	bool through; /* the call is in a library's wrapper, not in a function of the program */
	/* the call is in a runtime library: for example, it calls the first function of a thread */
	bool outer;
	bool inlined; /* the call is in a function that was inlined into `function` */
	bool large; /* the function has more code than a barrier */
	uint64_t line; /* source line, opaque; 0 if not known */
};

struct enclose;

/* Return a new instance, or NULL when out of memory. */
struct enclose *enclose_new(void);
void enclose_free(struct enclose *e);

/*
 * Note that a thread waited or, with @wake, woke other threads. @steps are the calls from the
 * innermost one outwards. @helpers: between the call and the barrier there may be a function that
 * only waits or only wakes. Return 0 or -ENOMEM.
 */
int enclose_note(struct enclose *e, const struct enclose_step *steps, uint32_t n, bool wake,
		 bool helpers);
/*
 * Return the index of the step that is the call site, from the waits and wakings noted so far.
 * *through is true if the call site is in the caller of F, false if it is in F itself.
 */
uint32_t enclose_site(struct enclose *e, const struct enclose_step *steps, uint32_t n, bool helpers,
		      bool *through);

#endif /* MODEL_ENCLOSE_H */
