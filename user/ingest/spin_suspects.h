/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Threads that were busy for nearly all their life and crossed nothing, as those that wait for one another by spinning. */
#ifndef INGEST_SPIN_SUSPECTS_H
#define INGEST_SPIN_SUSPECTS_H

#include <stdint.h>

#include "base/hash.h"
#include "model/model.h"

/* All zero: none. */
struct spin_suspects {
	struct hash threads; /* (tgid, tid) */
};

void spin_suspects_free(struct spin_suspects *spin_suspects);
/*
 * Note how long a thread that crossed nothing has lived, and for how much of that it was on a CPU or waited for one: when it ends,
 * or, as often as is wanted, while it lives. Where there is no memory for it, it is not reported.
 */
void spin_suspects_note(struct spin_suspects *spin_suspects, uint32_t tgid, uint32_t tid,
			uint64_t life_ns, uint64_t busy_ns);
/* Of the process that had most of them, how many, and *tgid. Who met anybody in @model is none of them. */
uint32_t spin_suspects_most(struct spin_suspects *spin_suspects, const struct model *model,
			    uint32_t *tgid);

#endif /* INGEST_SPIN_SUSPECTS_H */
