/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Condition variables that are hot and are no barriers, and turns that hardly are waited for: a process that hits their probes more
 * than SBT_LOOKS_MAX times in a second for little loses these probes, and gets them back a second later (of turns: then after
 * two, four, ...).
 */
#ifndef CAPTURE_HOT_H
#define CAPTURE_HOT_H

#include <stdint.h>

#include "attach/attach.h"
#include "ingest/ingest.h"
#include "capture/process_tracker.h"
#include "sbt/record.h"

struct hot; /* opaque */

/* NULL: out of memory. All must outlive it. @ingest finds the barriers. */
struct hot *hot_new(struct attach *attach, struct tracker *tracker, struct ingest *ingest,
		    int verbose);
void hot_free(struct hot *hot);

/* The moment it is known; hot_step() acts on it. Returns 0 or -ENOMEM. */
int hot_event(struct hot *hot, const struct sbt_event *event);
/*
 * Removes probes, and puts back those that have been away long enough. @fed_ns: up to when what was recorded has been looked at. Returns
 * 0 or -ENOMEM.
 */
int hot_step(struct hot *hot, uint64_t now_ns, uint64_t fed_ns);
/* Since when hot_step() has something to act on, once what was recorded by then has been looked at; 0: nothing. @hot may be NULL. */
uint64_t hot_reported_ns(const struct hot *hot);

struct hot_name {
	uint32_t tgid, inc;
};

/* Both have ended: what is known of @from goes to @into. Returns 0 or -ENOMEM. */
int hot_fold(struct hot *hot, const struct hot_name *from, const struct hot_name *into);
/* How often probes of the process were hit for what was no crossing. @hot may be NULL. */
uint64_t hot_looks(const struct hot *hot, uint32_t tgid, uint32_t inc);
/* For how long up to @until_ns it was not looked at where its threads wait on condition variables. Likewise. */
uint64_t hot_paused_ns(const struct hot *hot, uint32_t tgid, uint32_t inc, uint64_t until_ns);

#endif /* CAPTURE_HOT_H */
