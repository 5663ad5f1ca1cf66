/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Infer departures. Where a barrier gives the number of its members, only arrivals are probed
 * (SBT_ROLE_ARRIVAL), at half the cost. This stream takes such arrivals from another stream, and
 * returns ordinary crossings instead, in the order of their departures. All other records pass
 * through, in order.
 *
 * The last of as many arrivals as the barrier counts is the release. From then on:
 *
 *   - A thread that was on a CPU at the release was spinning, and departs at the release.
 *   - A thread that was off the CPU, or that a member of the barrier woke later, departs when it
 *     gets a CPU again.
 *   - The last arriver departs when it has woken the last of the other threads. If it woke none, it
 *     departs at its arrival.
 *
 * The times until a thread has then left its system call are added, as they were measured when
 * tracing began.
 *
 * In an OpenMP team, the episodes have numbers, and the number alone decides which arrivals belong
 * together. An arrival there also counts if its departure will be seen: SBT_REC_LEFT has its
 * number.
 *
 * If the release or the thread's state at that time is not known, the departure is not known
 * (SBT_CROSSING_UNTIMED): it is never guessed. A thread that arrives again before the release has
 * abandoned the barrier.
 *
 * What a thread did after its arrival is in its next record. If there is none for a while, it is
 * asked for, so that records are held back only for a short time.
 */
#ifndef INGEST_DEPARTURES_H
#define INGEST_DEPARTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/stream.h"

struct departures; /* opaque */

/* The barrier of an arrival. */
struct departures_barrier {
	uint32_t count; /* number of members; 0: unknown */
	/*
	 * number of threads that had arrived before in the present episode, according to the
	 * barrier; UINT32_MAX: unknown
	 */
	uint32_t waiting;
	uint64_t shared; /* as in struct model_crossing */
	bool may_be_shared; /* by processes; `shared` is 0 if it is not known by which */
};

struct departures_ops {
	void *ctx;
	/*
	 * Describe the barrier of @c, which has the raw word @c->raw_word, and fill in the members
	 * of @c that depend on the probe. @first_word: sbt_arrival_full.first_word. Return 0 or
	 * -errno.
	 */
	int (*barrier)(void *ctx, struct sbt_crossing *c, uint64_t first_word,
		       struct departures_barrier *out);
	/*
	 * Times (ns) that no event shows: see struct attach_delays. They are 0 if they are not
	 * known.
	 */
	uint64_t run_ns, wake_ns, wake_idle_ns;
	/* Replace the process by its parent. Return false if the parent is not known. */
	bool (*parent)(void *ctx, uint32_t *tgid, uint32_t *inc);
	/* Return whether no record was lost so far. */
	bool (*lossless)(void *ctx);
	/* Request that the next arrival of each thread shows what the barrier has counted. */
	void (*refresh)(void *ctx);
	/* See attach_offs(). */
	bool (*offs)(void *ctx, uint32_t tid, uint32_t seq, struct sbt_arrival_full *out,
		     uint64_t *out_ns);
};

/*
 * Create the stream. It takes its records from @from, which must outlive it. The caller frees it
 * with stream_free(). Return 0 and *out, or -ENOMEM.
 */
int departures_new(struct stream *from, const struct departures_ops *ops, struct departures **out);
struct stream *departures_stream(struct departures *departures);
/* Return the time before which all records have been returned, if that is before @until_ns. */
uint64_t departures_until(const struct departures *departures, uint64_t until_ns);
/*
 * At the end, after all records: call @each for every thread that is inside a barrier. Return the
 * first error of @each, or 0.
 */
int departures_each_pending(const struct departures *departures,
			    int (*each)(void *ctx, const struct sbt_crossing *c), void *ctx);
/*
 * At the end: correct the parts of what a living thread did after its last departure, since the
 * BPF programs do not know the time of that departure. Return false if the thread is inside a
 * barrier, so that there is no such time.
 */
bool departures_tail(struct departures *departures, struct sbt_crossing_full *tail);
/* Return whether the thread has arrived at a barrier and has not departed, as far as is known. */
bool departures_waits(const struct departures *departures, uint32_t inc, uint32_t tid);

#endif /* INGEST_DEPARTURES_H */
