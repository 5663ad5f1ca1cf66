/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * When --cost-limit stopped tracing processes, or some of their barriers. Records of later
 * crossings were already under way when the kernel stopped; they are not fed. Pure.
 */
#ifndef INGEST_CUTOFFS_H
#define INGEST_CUTOFFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "sbt/record.h"

/* All zero: nothing is cut off. */
struct cutoffs {
	struct hash all; /* (tgid, inc) -> struct cutoff */
};

/* What to do with a record of a process that is no longer traced. */
enum cutoff_fate {
	CUTOFF_FED, /* feed it: it is from before, or nothing was cut off */
	CUTOFF_INSIDE, /* the thread was inside a barrier then: note that */
	CUTOFF_GONE, /* feed nothing */
};

void cutoffs_free(struct cutoffs *cutoffs);
/*
 * Cut off the whole process at @t_ns (@probe_groups is MODEL_DETACHED_WHOLE), or these probe
 * groups. The first time counts for each. Return 0 or -ENOMEM.
 */
int cutoffs_add(struct cutoffs *cutoffs, uint32_t tgid, uint32_t inc, uint64_t probe_groups,
		uint64_t t_ns);
/* Return whether anything of the process was cut off, so that some of its crossings are missing. */
bool cutoffs_any(const struct cutoffs *cutoffs, const struct sbt_crossing *c);
enum cutoff_fate cutoffs_fate(const struct cutoffs *cutoffs, const struct sbt_crossing *c);
/*
 * Return whether the crossing is later than the end of its probe group. The kernel has then
 * numbered the crossing, but it is not fed.
 */
bool cutoffs_is_detached(const struct cutoffs *cutoffs, const struct sbt_crossing *c,
			 uint8_t probe_group);
/*
 * Return whether the crossing's probe group was cut off at all. A thread that had arrived by then
 * did not abandon the barrier, though no departure was seen: when it left is unknown.
 */
bool cutoffs_of_part(const struct cutoffs *cutoffs, const struct sbt_crossing *c,
		     uint8_t probe_group);

#endif /* INGEST_CUTOFFS_H */
