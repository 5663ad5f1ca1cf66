/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * --cost-limit: up to when crossings of a process, or of some of its barriers, are fed. What came later was on its way
 * when the kernel was told. Pure.
 */
#ifndef INGEST_CUTOFFS_H
#define INGEST_CUTOFFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "sbt/record.h"

/* Zeroed: nothing is cut. */
struct cutoffs {
	struct hash all; /* (tgid, inc) -> struct cutoff */
};

/* What becomes of a record of a process that is traced no more. */
enum cutoff_fate {
	CUTOFF_FED, /* of before, or nothing was cut */
	CUTOFF_INSIDE, /* who was inside of a barrier then is noted to have been */
	CUTOFF_GONE, /* nothing of it is fed */
};

void cutoffs_free(struct cutoffs *cutoffs);
/*
 * From @t_ns on all of the process (@units MODEL_DETACHED_WHOLE), or these (SBT_PROBE_GROUP()); for each the first time counts.
 * Returns 0 or -ENOMEM.
 */
int cutoffs_add(struct cutoffs *cutoffs, uint32_t tgid, uint32_t inc, uint64_t probe_groups,
		uint64_t t_ns);
/* Has anything of its process been cut, so that its crossings are not all there? */
bool cutoffs_any(const struct cutoffs *cutoffs, const struct sbt_crossing *c);
enum cutoff_fate cutoffs_fate(const struct cutoffs *cutoffs, const struct sbt_crossing *c);
/* Of a unit (its number) that is fed no more, and later than that: the kernel has numbered it, and that is all. */
bool cutoffs_is_detached(const struct cutoffs *cutoffs, const struct sbt_crossing *c,
			 uint8_t probe_group);
/*
 * Of such a unit at all: who had come when its probes went, and was not seen to leave for that, did not give up. When it left
 * nobody knows.
 */
bool cutoffs_of_part(const struct cutoffs *cutoffs, const struct sbt_crossing *c,
		     uint8_t probe_group);

#endif /* INGEST_CUTOFFS_H */
