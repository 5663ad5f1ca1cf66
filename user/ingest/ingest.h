/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Records from the stream to the model, in order: those that may be of a barrier nobody named wait until that is known. */
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/feed.h"

struct pump;

/* @discover: barriers that nobody named are looked for. Returns 0 and *out, or -ENOMEM. */
int pump_new(const struct feed_options *options, struct stream *stream, bool discover,
	     struct pump **out);
void pump_free(struct pump *pump);
/* What it feeds the model with. */
struct feed *pump_feed(const struct pump *pump);
/*
 * Feeds everything that happened before @until_ns; events are known to the model before the crossings that follow
 * them. Returns 0, or -errno.
 */
int pump_run(struct pump *pump, uint64_t until_ns);
/* What is called now and then, between two records, while that takes long. It may call pump_run(). */
void pump_between(struct pump *pump, void (*between)(void *ctx), void *ctx);
/* The process is not looked at where its threads wait on condition variables, for a while. */
void pump_pause(struct pump *pump, uint32_t tgid, uint32_t inc);
/*
 * What was to be found out about a process that is traced no more, or about its barriers of these units (SBT_UNIT()), is
 * decided with it.
 */
void pump_end_units(struct pump *pump, uint32_t tgid, uint32_t inc, uint64_t units);
/* Nothing more will come: what cannot be decided is no barrier. Returns 0 or -errno. */
int pump_finish(struct pump *pump);
/* What looked like a barrier; NULL if it was not looked for. */
/* Of the same, where threads wait on semaphores. */
const struct turnstiles *pump_turnstiles(const struct pump *pump);
const struct discover *pump_discover(const struct pump *pump);
/* What nobody saw at barriers on condition variables. @pump: or NULL. */
struct discover_unseen pump_unseen(const struct pump *pump);
/* Waits and wakings of processes of which it is not known whether others meet them there. @pump: or NULL. */
uint64_t pump_unshared(const struct pump *pump);
/* Did this process wait there unseen? */
bool pump_waited_unseen(const struct pump *pump, uint32_t tgid, uint32_t inc);

#endif /* INGEST_INGEST_H */
