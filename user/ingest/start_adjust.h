/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Correct the start of processes that sbt-trace stopped before they ran. The start of such a
 * process is moved later by the time for which it was stopped. A process that loads a library later
 * is stopped again. If its first thread has crossed barriers by then, its start is not moved, and
 * the time of this stop is not subtracted.
 */
#ifndef INGEST_START_ADJUST_H
#define INGEST_START_ADJUST_H

#include <stdint.h>

#include "base/hash.h"
#include "model/model.h"
#include "sbt/record.h"

/* All zero: no process was stopped. */
struct start_adjust {
	/* tgid -> ns for which sbt-trace stopped the process, until its start is fed */
	struct hash held;
	/*
	 * (inc, tid) -> ns by which the thread's start was moved; its first parts include this time
	 */
	struct hash later;
};

void start_adjust_free(struct start_adjust *start_adjust);
/*
 * Note that a process that was stopped at @event (if SBT_EVENT_HELD is set) was resumed at
 * @resumed_ns. Return 0 or -ENOMEM.
 */
int start_adjust_held(struct start_adjust *start_adjust, struct model *model,
		      const struct sbt_event *event, uint64_t resumed_ns);
/*
 * Correct the start of a process if both its start and its stop are known. Call this when either of
 * them becomes known. Return 0 or -ENOMEM.
 */
int start_adjust_fed(struct start_adjust *start_adjust, struct model *model,
		     const struct sbt_event *event);
/*
 * Subtract the time for which a thread was stopped from the parts of its first phase. If @d is
 * NULL, the parts are unknown.
 */
void start_adjust_take_off(const struct start_adjust *start_adjust, uint32_t inc, uint32_t tid,
			   struct model_detail *d);
/* Forget a thread, because its first phase is over. */
void start_adjust_forget(struct start_adjust *start_adjust, uint32_t inc, uint32_t tid);

#endif /* INGEST_START_ADJUST_H */
