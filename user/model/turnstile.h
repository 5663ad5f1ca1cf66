/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find semaphores that may be barriers ("turnstiles" in textbooks). Posts are not examined, so a
 * semaphore is never classified as a barrier: a pool that starts its threads one by one looks the
 * same. Only waits are examined. At a turnstile all threads wait at the same time, and all leave
 * before any returns. At a lock or a queue, one thread leaves at a time and returns while others
 * wait.
 */
#ifndef MODEL_TURNSTILE_H
#define MODEL_TURNSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turnstiles;

/*
 * A wait of a thread that had to sleep on a semaphore. Waits are added in the order of depart_ns.
 */
struct turnstile_wait {
	uint32_t tgid, inc, tid;
	uint32_t site; /* the innermost call that is not in a wrapper function */
	uint32_t above; /* call site of the function that contains `site` */
	uint64_t object; /* address in the process */
	uint64_t arrive_ns, depart_ns;
};

/* The state of one semaphore. */
struct turnstile {
	uint32_t tgid, inc;
	uint64_t object;
	uint32_t site, above; /* sites of the last wait */
	uint32_t threads; /* number of threads that waited, counted only up to 64 */
	const uint32_t *tid; /* tids of these threads */
	/*
	 * Number of groups of at least two overlapping waits that all end before the next wait
	 * begins.
	 */
	uint32_t batches;
	uint32_t loose; /* number of waits outside of the groups of `batches` */
};

/* Return a new instance, or NULL when out of memory. */
struct turnstiles *turnstiles_new(void);
void turnstiles_free(struct turnstiles *turnstiles);
/* Add a wait. Return false if no more waits of this semaphore are needed. */
bool turnstiles_add(struct turnstiles *turnstiles, const struct turnstile_wait *wait);
/* Call @each for every semaphore that was not forgotten. */
void turnstiles_each(const struct turnstiles *turnstiles,
		     void (*each)(void *ctx, const struct turnstile *turnstile), void *ctx);
/* Return true if a thread waits at both semaphores. */
bool turnstile_shares(const struct turnstile *a, const struct turnstile *b);
/* Return true if the semaphore may be a barrier. */
bool turnstile_is(const struct turnstile *turnstile);

#endif /* MODEL_TURNSTILE_H */
