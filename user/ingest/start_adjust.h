/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What we held before it ran began later by that, as it would have without us. Of a process whose first thread has met others
 * before, as where it loads a library in their midst, that thread was stopped, and is said to have been.
 */
#ifndef INGEST_START_ADJUST_H
#define INGEST_START_ADJUST_H

#include <stdint.h>

#include "base/hash.h"
#include "model/model.h"
#include "sbt/record.h"

/* All zero: nobody was held. */
struct start_adjust {
	struct hash held; /* tgid -> ns for which we held it, until its beginning is fed */
	struct hash later; /* (inc, tid) -> by so many ns, which are among its first parts */
};

void start_adjust_free(struct start_adjust *start_adjust);
/* A process that @event says is held, if it does, has been let go @now_ns. Returns 0 or -ENOMEM. */
int start_adjust_held(struct start_adjust *start_adjust, struct model *model,
		      const struct sbt_event *event, uint64_t now_ns);
/* The beginning of a process is fed: here or there, whichever comes last, its start is put right. Returns 0 or -ENOMEM. */
int start_adjust_fed(struct start_adjust *start_adjust, struct model *model,
		     const struct sbt_event *event);
/* Takes off the parts of a thread's first phase what it was held. @d: NULL, they are not known. */
void start_adjust_take_off(const struct start_adjust *start_adjust, uint32_t inc, uint32_t tid,
			   struct model_detail *d);
/* A thread's first phase is over. */
void start_adjust_forget(struct start_adjust *start_adjust, uint32_t inc, uint32_t tid);

#endif /* INGEST_START_ADJUST_H */
