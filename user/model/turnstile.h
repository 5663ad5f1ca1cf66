/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Semaphores that threads may meet at, as at the turnstiles of text books: pure. Who posts is not looked at, so that nothing is
 * taken for a barrier: a pool whose threads are started by one looks the same. What is known is who waits together: at a
 * turnstile all wait at once, and all have left before anybody comes again. At a lock or a queue one leaves at a time, and comes
 * again meanwhile.
 */
#ifndef MODEL_TURNSTILE_H
#define MODEL_TURNSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turnstiles;

/* A thread waited on a semaphore, and not for nothing. In the order of depart_ns. */
struct turnstile_wait {
	uint32_t tgid, inc, tid;
	uint32_t site; /* the call, not in a function that does nothing else */
	uint32_t above; /* the call of the function that this one is in */
	uint64_t object; /* address in the process */
	uint64_t arrive_ns, depart_ns;
};

/* What is known of one semaphore. */
struct turnstile {
	uint32_t tgid, inc;
	uint64_t object;
	uint32_t site, above; /* of the last wait */
	uint32_t threads; /* that waited; a few at most */
	const uint32_t *tid; /* which */
	uint32_t
		batches; /* of two waits or more that began before the first ended, and all ended before the next began */
	uint32_t loose; /* waits that are in none */
};

/* NULL: out of memory. */
struct turnstiles *turnstiles_new(void);
void turnstiles_free(struct turnstiles *turnstiles);
/* Note a wait. Return false if nothing more need be told of the semaphore: it is none, or all is known. */
bool turnstiles_add(struct turnstiles *turnstiles, const struct turnstile_wait *wait);
/* Each semaphore that has been seen, of those of which too much is not forgotten. */
void turnstiles_each(const struct turnstiles *turnstiles,
		     void (*each)(void *ctx, const struct turnstile *turnstile), void *ctx);
/* Do threads wait at one that do at the other? */
bool turnstile_shares(const struct turnstile *a, const struct turnstile *b);
/* May threads meet there? */
bool turnstile_is(const struct turnstile *turnstile);

#endif /* MODEL_TURNSTILE_H */
