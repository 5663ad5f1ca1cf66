/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Threads that were busy for nearly all their life and crossed nothing, as those that wait for one another by spinning. */
#ifndef CMD_BUSY_H
#define CMD_BUSY_H

#include <stdint.h>

#include "base/hash.h"
#include "model/model.h"
#include "sbt/record.h"

/* All zero: none. */
struct busy {
	struct hash threads; /* (tgid, tid) */
};

void busy_free(struct busy *busy);
/* A thread has ended. Kept for want of anything better to tell: where there is no memory for it, it is not told. */
void busy_note(struct busy *busy, const struct sbt_event *exit);
/* Of the process that had most of them, how many, and *tgid. Who met anybody in @model is none of them. */
uint32_t busy_most(struct busy *busy, const struct model *model, uint32_t *tgid);

#endif /* CMD_BUSY_H */
