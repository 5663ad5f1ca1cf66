/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Correct the start of processes that we stopped before they ran: they began later by that time
 * than without us. If the first thread of such a process has crossed barriers before, as when the
 * process loads a library later, the thread counts as stopped for that time.
 */
#ifndef INGEST_START_ADJUST_H
#define INGEST_START_ADJUST_H

#include <stdint.h>

#include "base/hash.h"
#include "model/model.h"
#include "sbt/record.h"

/* All zero: none was stopped. */
struct start_adjust {
	struct hash held; /* tgid -> ns for which we stopped the process, until its start is fed */
	/* (inc, tid) -> ns by which its start was moved; its first parts include them */
	struct hash later;
};

void start_adjust_free(struct start_adjust *start_adjust);
/*
 * Note that a process that was stopped at @event (if SBT_EVENT_HELD is set) was resumed at @now_ns.
 * Return 0 or -ENOMEM.
 */
int start_adjust_held(struct start_adjust *start_adjust, struct model *model,
		      const struct sbt_event *event, uint64_t now_ns);
/*
 * Correct the start of a process if both its start and its stop are known by now. Called for
 * either, in whichever order they come. Return 0 or -ENOMEM.
 */
int start_adjust_fed(struct start_adjust *start_adjust, struct model *model,
		     const struct sbt_event *event);
/*
 * Subtract the time for which a thread was stopped from the parts of its first phase. @d may be
 * NULL: the parts are unknown.
 */
void start_adjust_take_off(const struct start_adjust *start_adjust, uint32_t inc, uint32_t tid,
			   struct model_detail *d);
/* Forget a thread: its first phase is over. */
void start_adjust_forget(struct start_adjust *start_adjust, uint32_t inc, uint32_t tid);

#endif /* INGEST_START_ADJUST_H */
