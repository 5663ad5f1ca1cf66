/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Times when --cost-limit stopped tracing processes, or some of their barriers. The kernel side
 * stops recording a little later, so it may still write records of crossings after these times.
 * Such records are not fed. This code does no I/O.
 */
#ifndef INGEST_CUTOFFS_H
#define INGEST_CUTOFFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "sbt/record.h"

/* All zero: there is no cutoff. */
struct cutoffs {
	struct hash all; /* (tgid, inc) -> struct cutoff */
};

/* What to do with a record of a process that is no longer traced. */
enum cutoff_fate {
	CUTOFF_FED, /* feed the record: it precedes the cutoff, or there is no cutoff */
	CUTOFF_INSIDE, /* the thread was inside a barrier at the cutoff; note this */
	CUTOFF_GONE, /* feed nothing */
};

void cutoffs_free(struct cutoffs *cutoffs);
/*
 * Cut off the whole process at @t_ns if @probe_groups is MODEL_DETACHED_WHOLE, or only these probe
 * groups. If called again for the same process or probe group, the first time counts. Return 0 or
 * -ENOMEM.
 */
int cutoffs_add(struct cutoffs *cutoffs, uint32_t tgid, uint32_t inc, uint64_t probe_groups,
		uint64_t t_ns);
/*
 * Return whether the process of the crossing has any cutoff. If so, some of its crossings may be
 * missing.
 */
bool cutoffs_any(const struct cutoffs *cutoffs, const struct sbt_crossing *c);
enum cutoff_fate cutoffs_fate(const struct cutoffs *cutoffs, const struct sbt_crossing *c);
/*
 * Return whether the crossing is later than the cutoff of its probe group. The kernel side has
 * counted such a crossing among the crossings of its thread, but the crossing is not fed.
 */
bool cutoffs_is_detached(const struct cutoffs *cutoffs, const struct sbt_crossing *c,
			 uint8_t probe_group);
/*
 * Return whether the crossing's probe group has a cutoff. If so, a crossing without a departure
 * does not mean that the thread abandoned the barrier: perhaps its departure was just not recorded.
 * The time of the departure is then unknown.
 */
bool cutoffs_of_part(const struct cutoffs *cutoffs, const struct sbt_crossing *c,
		     uint8_t probe_group);

#endif /* INGEST_CUTOFFS_H */
