/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Turn records into inputs of the model: addresses into sites, raw barrier words into counts, and
 * process ids into processes.
 */
#ifndef INGEST_FEED_H
#define INGEST_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/callsite.h"
#include "ingest/departures.h"
#include "attach/attach.h"
#include "base/hash.h"
#include "ingest/ranks.h"
#include "ingest/stack_samples.h"
#include "model/discover.h"
#include "model/forkjoin.h"
#include "model/model.h"
#include "sites/address_space.h"
#include "ingest/stream.h"

struct feed; /* opaque */

/* Facts about processes, from capture/. All must outlive the feed. */
struct feed_processes {
	void *ctx;
	struct ranks *ranks; /* of MPI */
	/*
	 * Number of times that the mappings of any process were read again. When it changes,
	 * results that were cached for an address are invalid.
	 */
	const uint64_t *generation;
	/*
	 * The threads that waited when probes were attached: tid -> the address at which the thread
	 * waited, or MODEL_UNKNOWN if uncertain. The feed removes a thread at its first crossing,
	 * or when a new thread has its tid.
	 */
	struct hash *waiting;
	/*
	 * Return whether the process, created at @start_ns, may have crossed barriers before its
	 * files had probes.
	 */
	bool (*is_late)(void *ctx, uint32_t tgid, uint64_t start_ns);
};

/* All pointers must outlive the feed. */
struct feed_options {
	struct attach *attach;
	struct address_spaces *spaces;
	struct feed_processes processes;
	struct model *model;
	struct stack_samples *samples; /* NULL: threads are not sampled */
	/* --frames: attribute a barrier to its Nth caller; 0 stands for the call itself */
	uint32_t frames;
};

/* The origin of a call. Valid until the next feed_site(). */
struct feed_site {
	uint64_t ip;
	uint64_t generation;
	uint32_t tgid, inc;
	struct address_space *space;
	uint32_t site;
	bool runtime; /* the call is in a library of an OpenMP runtime */
};

/* Results for a crossing that waited in the reorder queue. */
struct feed_found {
	bool site_known;
	uint32_t site; /* found while the library of the call was still mapped */
	/* member of a discovered barrier; NULL if the barrier is known by its function */
	const struct discover_member *member;
};

/* Return 0 and *out, or -ENOMEM. */
int feed_new(const struct feed_options *options, struct feed **out);
void feed_free(struct feed *feed);

/*
 * Feed a crossing. @found is NULL if the crossing did not wait in the reorder queue. Return 0 or
 * -errno.
 */
int feed_crossing(struct feed *feed, const struct sbt_crossing *c, const struct feed_found *found);
int feed_record(struct feed *feed, const struct stream_record *record);
/*
 * Note that a process that was stopped at @event (if SBT_EVENT_HELD is set) was resumed at
 * @resumed_ns. All earlier records have been fed, except perhaps the start of the process. Return 0
 * or -ENOMEM.
 */
int feed_held(struct feed *feed, const struct sbt_event *event, uint64_t resumed_ns);
/*
 * Stop feeding a process at @t_ns. A thread that was inside a barrier at that time is noted, as at
 * the end of tracing. If @probe_groups is not MODEL_DETACHED_WHOLE, drop only crossings of these
 * groups with later arrivals. Return 0 or -ENOMEM.
 */
int feed_cut(struct feed *feed, uint32_t tgid, uint32_t inc, uint64_t probe_groups, uint64_t t_ns);
/*
 * Return whether the record belongs to a process that is no longer fed. If its thread was inside a
 * barrier when feeding ended, note this. *err: 0, or -errno if this failed.
 */
bool feed_is_cut(struct feed *feed, const struct sbt_crossing *c, int *err);
/*
 * Return whether the crossing belongs to a probe group that is no longer fed, and is later than the
 * group's end. feed_record() then feeds nothing.
 */
bool feed_is_detached(const struct feed *feed, const struct sbt_crossing *c);
/*
 * Feed the activity of a running thread after its last departure. Call this at the end, before
 * model_finish(). Return 0 or -ENOMEM.
 */
int feed_tail(struct feed *feed, const struct sbt_crossing_full *tail);
/*
 * Correct the thread's count for a crossing that the kernel side counted but that is no crossing of
 * a barrier. Return 0 or -ENOMEM.
 */
int feed_none(struct feed *feed, const struct sbt_crossing *c);
/* Feed a join (@c) that ends no fork-join episode. Return 0 or -errno. */
int feed_joined(struct feed *feed, const struct sbt_crossing *c);
/*
 * Feed a fork-join episode. @c is the creator's last join. The time since the creator's last
 * departure is not split into parts. Return 0 or -ENOMEM.
 */
int feed_round(struct feed *feed, const struct sbt_crossing *c,
	       const struct forkjoin_episode *round);

/*
 * For user/ingest/departures.h: describe the barrier of @c, an arrival without a seen departure,
 * and fill in the members of @c that depend on the probe. Return 0 or -ENOMEM.
 */
int feed_barrier(struct feed *feed, struct sbt_crossing *c, uint64_t first_word,
		 struct departures_barrier *out);
/* Return the site of @c's call, or NULL when out of memory. */
const struct feed_site *feed_site(struct feed *feed, const struct sbt_crossing *c);
/*
 * Return the site of this label (sbt_crossing.label), or ADDRESS_SPACE_SITE_NONE if it is not
 * known.
 */
uint32_t feed_label_site(const struct feed *feed, uint32_t label);
/*
 * Return a number that names @c's object in all processes that may share the object; 0: the object
 * is private to the process.
 */
uint64_t feed_shared(struct feed *feed, const struct sbt_crossing *c, struct address_space *space);
/* Return whether the process ended before it was known whether it shares @c's object. */
bool feed_shared_unknown(struct feed *feed, const struct sbt_crossing *c,
			 struct address_space *space);
/* Store the current incarnation of the process in *inc. Return false if it is not known. */
bool feed_incarnation(const struct feed *feed, uint32_t tgid, uint32_t *inc);
struct callsites *feed_callsites(const struct feed *feed);

/*
 * Return the number of threads that were busy for nearly all their life, as threads that spin at a
 * barrier are. The number is for the process with the most such threads, which is stored in *tgid.
 */
uint32_t feed_busy(struct feed *feed, uint32_t *tgid);
/* For feed_busy(), note how long a running thread has lived and how long it was busy, in ns. */
void feed_alive(struct feed *feed, uint32_t tgid, uint32_t tid, uint64_t life_ns, uint64_t busy_ns);
/* Return the number of crossings that matched the -b rule with this number (from 1). */
uint64_t feed_crossings(const struct feed *feed, uint32_t rule);
/* See callsites_unsampled(). */
uint64_t feed_unsampled(const struct feed *feed);
/* See callsites_short(). */
uint64_t feed_short_chains(const struct feed *feed, const char **why);

#endif /* INGEST_FEED_H */
