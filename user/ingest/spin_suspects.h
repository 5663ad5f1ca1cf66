/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Threads that were busy for nearly all their life and crossed no barrier, as threads that wait by
 * spinning do.
 */
#ifndef INGEST_SPIN_SUSPECTS_H
#define INGEST_SPIN_SUSPECTS_H

#include <stdint.h>

#include "base/hash.h"
#include "model/model.h"

/* All zero: no threads. */
struct spin_suspects {
	struct hash threads; /* (tgid, tid) */
};

void spin_suspects_free(struct spin_suspects *spin_suspects);
/*
 * Note how long a thread without crossings has lived, and how long it was on a CPU or waited for
 * one. Call this when the thread ends, and optionally before. If memory runs out, the thread is not
 * reported.
 */
void spin_suspects_note(struct spin_suspects *spin_suspects, uint32_t tgid, uint32_t tid,
			uint64_t life_ns, uint64_t busy_ns);
/*
 * Return the number of noted threads that may wait by spinning, for the process with the most such
 * threads, and store this process in *tgid. Threads that crossed a barrier in @model do not count.
 */
uint32_t spin_suspects_most(struct spin_suspects *spin_suspects, const struct model *model,
			    uint32_t *tgid);

#endif /* INGEST_SPIN_SUSPECTS_H */
