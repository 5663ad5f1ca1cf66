/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Records become what the model takes: addresses become sites, raw words become counts, numbers become processes. */
#ifndef INGEST_FEED_H
#define INGEST_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/conceptual.h"
#include "model/message.h"
#include "ingest/callsite.h"
#include "attach/attach.h"
#include "ingest/ranks.h"
#include "model/discover.h"
#include "model/forkjoin.h"
#include "model/model.h"
#include "sites/address_space.h"
#include "ingest/stream.h"

struct feed; /* opaque */

/* Facts about processes, which capture/ finds out. All must outlive the feed. */
struct feed_processes {
	void *ctx;
	struct ranks *ranks; /* of MPI */
	/* Counts up each time that the mappings of a process were read anew: an address may mean something else from then on. */
	const uint64_t *generation;
	/*
	 * Where a thread waited when probes were put in: an address, 0 if it did not wait, MODEL_UNKNOWN if that is not certain. Is asked
	 * once a thread: the note is gone afterwards.
	 */
	uint64_t (*was_waiting)(void *ctx, uint32_t tid);
	/* May the process, made at @start_ns, have crossed barriers before the probes of its files were there? */
	bool (*is_late)(void *ctx, uint32_t tgid, uint64_t start_ns);
};

/* All of these must outlive it. */
struct feed_options {
	struct attach *attach;
	struct address_spaces *spaces;
	struct feed_processes processes;
	struct model *model;
	uint32_t frames; /* --frames: sites are so many callers further up */
	/* A conceptual phase that the program marks begins or ends at a site with a label. Returns 0 or -errno. */
	int (*mark)(void *ctx, uint32_t site, const struct conceptual_mark *mark);
	/* A thread touched another one's data. */
	void (*message)(void *ctx, const struct model_message *message);
	void *mark_ctx; /* of both */
};

/* Where a call comes from: valid until the next question. */
struct feed_site {
	uint64_t ip;
	uint64_t generation;
	uint32_t tgid, inc;
	struct address_space *space;
	uint32_t site;
	bool runtime; /* in a library of OpenMP's */
};

/* What was found out of a crossing that had to wait. */
struct feed_found {
	bool site_known;
	uint32_t site; /* if so: from when its library was still there */
	const struct discover_member
		*member; /* of a barrier that nobody named; NULL: of one known by its function */
};

/* Returns 0 and *out, or -ENOMEM. */
int feed_new(const struct feed_options *options, struct feed **out);
void feed_free(struct feed *feed);

/* Each returns 0 or -errno. @found: NULL for a crossing that did not wait. */
int feed_crossing(struct feed *feed, const struct sbt_crossing *c, const struct feed_found *found);
int feed_record(struct feed *feed, const struct stream_record *record);
/*
 * A process that @event says is held has been let go @now_ns; what happened before the event has been fed, but for its own
 * beginning perhaps. Returns 0 or -ENOMEM.
 */
int feed_held(struct feed *feed, const struct sbt_event *event, uint64_t now_ns);
/*
 * Of this process nothing is fed any more that came later than @t_ns: who was inside of a barrier then is noted to have
 * been, as at the end of tracing. Of @units (SBT_PROBE_GROUP()), unless they are MODEL_DETACHED_WHOLE, no crossing whose arrival
 * was later. Returns 0 or -ENOMEM.
 */
int feed_cut(struct feed *feed, uint32_t tgid, uint32_t inc, uint64_t probe_groups, uint64_t t_ns);
/* Is the record of a process of which nothing is fed any more? *err: of noting it. */
bool feed_is_cut(struct feed *feed, const struct sbt_crossing *c, int *err);
/* Is the crossing of a unit that is fed no more, and later than that? Then feed_record() feeds nothing of it. */
bool feed_is_detached(const struct feed *feed, const struct sbt_crossing *c);
/* What a thread that lives did after its last departure: at the end, before model_finish(). */
int feed_tail(struct feed *feed, const struct sbt_crossing_full *tail);
/* The kernel counted a crossing that is none. */
int feed_none(struct feed *feed, const struct sbt_crossing *c);
/* @c: a join that ends no round. */
int feed_joined(struct feed *feed, const struct sbt_crossing *c);
/* @c: the creator's last join. What it did since its last departure is not known in parts. */
int feed_round(struct feed *feed, const struct sbt_crossing *c, const struct forkjoin_episode *round);

/* NULL: out of memory. */
const struct feed_site *feed_site(struct feed *feed, const struct sbt_crossing *c);
/* The name of @c's object among all processes that may share it. */
uint64_t feed_shared(struct feed *feed, const struct sbt_crossing *c, struct address_space *space);
/* Did the process end before anybody could know whether it shares @c's object? */
bool feed_shared_unknown(struct feed *feed, const struct sbt_crossing *c,
			 struct address_space *space);
/* The program that the process runs now: false if it is not known. */
bool feed_incarnation(const struct feed *feed, uint32_t tgid, uint32_t *inc);
struct callsites *feed_callsites(const struct feed *feed);

/*
 * Of the process that had most of them: threads that were busy for nearly all their life, as those that wait for one
 * another by spinning. *tgid: that process.
 */
uint32_t feed_busy(struct feed *feed, uint32_t *tgid);
/* Note how long a thread that still runs has lived, and for how much of that it was busy: for feed_busy(). */
void feed_alive(struct feed *feed, uint32_t tgid, uint32_t tid, uint64_t life_ns,
		uint64_t busy_ns);
/* How many crossings there were by the rule of this number (from 1) of the user's. */
uint64_t feed_crossings(const struct feed *feed, uint32_t rule);
/* As callsites_unsampled(). */
uint64_t feed_unsampled(const struct feed *feed);
/* --frames: how often fewer could be told, and why the first time: half a sentence, "" if not known. */
uint64_t feed_short_chains(const struct feed *feed, const char **why);

#endif /* INGEST_FEED_H */
