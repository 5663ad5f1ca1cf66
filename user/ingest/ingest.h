/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Pass the stream of records to the model, in order. Records that may belong to a discovered
 * barrier wait in the reorder queue until the barrier is classified.
 */
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/feed.h"

struct ingest;

/*
 * @discover: look for barriers that the user did not name. @delays: for inferred departures. Return
 * 0 and *out, or -ENOMEM.
 */
int ingest_new(const struct feed_options *options, struct stream *stream, bool discover,
	       const struct attach_delays *delays, struct ingest **out);
void ingest_free(struct ingest *ingest);
/* Return the feed, which lives as long as @ingest. */
struct feed *ingest_feed(const struct ingest *ingest);
/*
 * Call @each for every thread that is inside a barrier now: its departure was not seen, or its
 * barrier was not released. @thread->arrive_ns is 0 if it has left meanwhile.
 */
void ingest_each_inside(const struct ingest *ingest,
			void (*each)(void *ctx, uint32_t tid, const struct sbt_thread *thread),
			void *ctx);
/* Return whether the thread is one of those. */
bool ingest_is_inside(const struct ingest *ingest, uint32_t inc, uint32_t tid);
/*
 * Feed all records from before @until_ns. The model gets an event before the crossings that follow
 * the event. Return 0, or -errno, or 1 after a few milliseconds if the caller has to call again
 * for the rest.
 */
int ingest_run(struct ingest *ingest, uint64_t until_ns);
/*
 * The classification of an object by discovery. The kernel side then records fewer waits at the
 * object.
 */
struct ingest_verdict {
	uint32_t tgid, inc;
	uint32_t state; /* SBT_OBJECT_* of sbt/state.h */
	uint64_t object;
};

/* Pass to @apply, in order, each verdict since the last call. */
void ingest_take_verdicts(struct ingest *ingest,
			  void (*apply)(void *ctx, const struct ingest_verdict *verdict),
			  void *ctx);
/* Notify discovery that probes on condition variables are off for a while in this process. */
void ingest_pause(struct ingest *ingest, uint32_t tgid, uint32_t inc);
/*
 * Decide about all candidates of the process, or of these probe groups in it, because their tracing
 * has ended.
 */
void ingest_end_probe_groups(struct ingest *ingest, uint32_t tgid, uint32_t inc,
			     uint64_t probe_groups);
/*
 * At the end of tracing, decide about all candidates. A candidate that is still undecided then
 * counts as no barrier. Return 0 or -errno.
 */
int ingest_finish(struct ingest *ingest);
/*
 * Feed what the kernel side still holds. ingest_pending(): the threads that are inside a barrier.
 * Call it before the last records are fed. ingest_rest(): the activity of the threads after their
 * last records, and with --aggregate their sums, up to @end_ns. ingest_exited_sums(), at any time:
 * the sums of exited threads, to free their slots in the kernel's map. Return 0 or -errno.
 */
int ingest_pending(struct ingest *ingest);
int ingest_rest(struct ingest *ingest, uint64_t end_ns);
int ingest_exited_sums(struct ingest *ingest);
/* Return the semaphores that threads may use as barriers, or NULL if discovery is off. */
const struct turnstiles *ingest_turnstiles(const struct ingest *ingest);
const struct discover *ingest_discover(const struct ingest *ingest);
/* Return the numbers of unseen waits at condition-variable barriers. @ingest may be NULL. */
struct discover_unseen ingest_unseen(const struct ingest *ingest);
/*
 * Return the number of waits and wake-ups for which it is unknown whether other processes share the
 * object. @ingest may be NULL.
 */
uint64_t ingest_unshared(const struct ingest *ingest);
/*
 * Return whether the process waited on a condition variable without a record of the wait. @ingest
 * may be NULL.
 */
bool ingest_waited_unseen(const struct ingest *ingest, uint32_t tgid, uint32_t inc);

#endif /* INGEST_INGEST_H */
