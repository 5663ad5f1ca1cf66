/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Probes on condition variables that are not barriers, and on turns that threads rarely wait for,
 * can be hit very often. If a process has more than SBT_LOOKS_MAX useless hits in a second (no
 * crossing, or no wait for a turn), these probes are paused for 1 s. Each further pause of probes
 * on turns and semaphores is twice as long as the last.
 */
#ifndef CAPTURE_HOT_H
#define CAPTURE_HOT_H

#include <stdint.h>

#include "attach/attach.h"
#include "ingest/ingest.h"
#include "capture/process_tracker.h"
#include "sbt/record.h"

struct hot; /* opaque */

/*
 * Return NULL if out of memory. All arguments must outlive the result. @ingest discovers barriers.
 */
struct hot *hot_new(struct attach *attach, struct tracker *tracker, struct ingest *ingest,
		    int verbose);
void hot_free(struct hot *hot);

/* Note an event at once; hot_step() acts on it. Return 0 or -ENOMEM. */
int hot_event(struct hot *hot, const struct sbt_event *event);
/*
 * Remove hot probes, and attach paused ones again after their pause. All events up to @fed_ns have
 * been processed. Return 0 or -ENOMEM.
 */
int hot_step(struct hot *hot, uint64_t now_ns, uint64_t fed_ns);
/*
 * Return the time of the oldest report of hot probes that hot_step() has not handled; 0: none.
 * hot_step() handles a report once all events up to the time of the report have been processed.
 * @hot may be NULL.
 */
uint64_t hot_reported_ns(const struct hot *hot);

struct hot_name {
	uint32_t tgid, inc;
};

/* Merge @from into @into. Both processes have ended. Return 0 or -ENOMEM. */
int hot_fold(struct hot *hot, const struct hot_name *from, const struct hot_name *into);
/* Return how many of the process's probe hits were no crossings. @hot may be NULL. */
uint64_t hot_looks(const struct hot *hot, uint32_t tgid, uint32_t inc);
/*
 * Return for how many ns, up to @until_ns, the process's probes on condition variables were
 * removed. @hot may be NULL.
 */
uint64_t hot_paused_ns(const struct hot *hot, uint32_t tgid, uint32_t inc, uint64_t until_ns);

#endif /* CAPTURE_HOT_H */
