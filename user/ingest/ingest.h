/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Records from the stream to the model, in order: those that may be of a barrier nobody named wait until that is known. */
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/feed.h"

struct ingest;

/* @discover: barriers that nobody named are looked for. Returns 0 and *out, or -ENOMEM. */
int ingest_new(const struct feed_options *options, struct stream *stream, bool discover,
	       struct ingest **out);
void ingest_free(struct ingest *ingest);
/* What it feeds the model with. */
struct feed *ingest_feed(const struct ingest *ingest);
/*
 * Feeds everything that happened before @until_ns; events are known to the model before the crossings that follow
 * them. Returns 0, or -errno.
 */
int ingest_run(struct ingest *ingest, uint64_t until_ns);
/* What discovery found an object to be: for the kernel side, which records fewer waits there from then on. */
struct ingest_verdict {
	uint32_t tgid, inc;
	uint32_t state; /* SBT_OBJECT_* of bpf/state.h */
	uint64_t object;
};

/* Pass each verdict since the last call to @apply, in order. */
void ingest_take_verdicts(struct ingest *ingest,
			  void (*apply)(void *ctx, const struct ingest_verdict *verdict), void *ctx);
/* What is called now and then, between two records, while that takes long. It may call ingest_run(). */
void ingest_between(struct ingest *ingest, void (*between)(void *ctx), void *ctx);
/* The process is not looked at where its threads wait on condition variables, for a while. */
void ingest_pause(struct ingest *ingest, uint32_t tgid, uint32_t inc);
/*
 * What was to be found out about a process that is traced no more, or about its barriers of these units (SBT_PROBE_GROUP()), is
 * decided with it.
 */
void ingest_end_probe_groups(struct ingest *ingest, uint32_t tgid, uint32_t inc,
			     uint64_t probe_groups);
/* Nothing more will come: what cannot be decided is no barrier. Returns 0 or -errno. */
int ingest_finish(struct ingest *ingest);
/* What looked like a barrier; NULL if it was not looked for. */
/* Of the same, where threads wait on semaphores. */
const struct turnstiles *ingest_turnstiles(const struct ingest *ingest);
const struct discover *ingest_discover(const struct ingest *ingest);
/* What nobody saw at barriers on condition variables. @pump: or NULL. */
struct discover_unseen ingest_unseen(const struct ingest *ingest);
/* Waits and wakings of processes of which it is not known whether others meet them there. @pump: or NULL. */
uint64_t ingest_unshared(const struct ingest *ingest);
/* Did this process wait there unseen? */
bool ingest_waited_unseen(const struct ingest *ingest, uint32_t tgid, uint32_t inc);

#endif /* INGEST_INGEST_H */
