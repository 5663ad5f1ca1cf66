// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/cutoffs.h"

#include <errno.h>
#include <string.h>

#include "model/model.h"

/* Times when tracing of a process, and of its probe groups, ended. MODEL_UNKNOWN: not ended. */
struct cutoff {
	uint64_t whole_ns;
	uint64_t group_ns[SBT_PROBE_GROUPS];
};

static uint64_t key_of(uint32_t tgid, uint32_t inc)
{
	return (uint64_t)tgid << 32 | inc;
}

void cutoffs_free(struct cutoffs *cutoffs)
{
	hash_free_ptrs(&cutoffs->all);
}

/* Return NULL when out of memory. */
static struct cutoff *cutoff_new(struct cutoffs *cutoffs, uint64_t key)
{
	struct cutoff *cut = hash_new_ptr(&cutoffs->all, key, sizeof(*cut));

	if (cut)
		memset(cut, 0xff, sizeof(*cut)); /* all MODEL_UNKNOWN */
	return cut;
}

int cutoffs_add(struct cutoffs *cutoffs, uint32_t tgid, uint32_t inc, uint64_t probe_groups,
		uint64_t t_ns)
{
	struct cutoff *cut = hash_get_ptr(&cutoffs->all, key_of(tgid, inc));
	uint32_t i;

	if (!cut)
		cut = cutoff_new(cutoffs, key_of(tgid, inc));
	if (!cut)
		return -ENOMEM;
	if (probe_groups == MODEL_DETACHED_WHOLE) {
		if (cut->whole_ns == MODEL_UNKNOWN)
			cut->whole_ns = t_ns;
		return 0;
	}
	for (i = 0; i < SBT_PROBE_GROUPS; i++)
		if (probe_groups & SBT_PROBE_GROUP(i) && cut->group_ns[i] == MODEL_UNKNOWN)
			cut->group_ns[i] = t_ns;
	return 0;
}

static const struct cutoff *cutoff_of(const struct cutoffs *cutoffs, const struct sbt_crossing *c)
{
	return hash_count(&cutoffs->all) ? hash_get_ptr(&cutoffs->all, key_of(c->tgid, c->inc))
					 : NULL;
}

bool cutoffs_any(const struct cutoffs *cutoffs, const struct sbt_crossing *c)
{
	return cutoff_of(cutoffs, c) != NULL;
}

enum cutoff_fate cutoffs_fate(const struct cutoffs *cutoffs, const struct sbt_crossing *c)
{
	const struct cutoff *cut = cutoff_of(cutoffs, c);
	bool gave_up = c->flags & SBT_CROSSING_ABANDONED, left = c->depart_ns && !gave_up;
	uint64_t end = cut ? cut->whole_ns : MODEL_UNKNOWN;

	if (end == MODEL_UNKNOWN || c->type == SBT_REC_CALLERS || c->type == SBT_REC_SAMPLE)
		return CUTOFF_FED;
	if (c->arrive_ns > end)
		return CUTOFF_GONE;
	/*
	 * The departure of a worker that waits at the end of a region is not seen. Its arrival is
	 * fed unchanged.
	 */
	if (left ? c->depart_ns <= end : c->flags & SBT_CROSSING_NO_DEPART)
		return CUTOFF_FED;
	if (c->type == SBT_REC_CROSSING && !(gave_up && c->depart_ns <= end))
		return CUTOFF_INSIDE;
	return c->depart_ns <= end ? CUTOFF_FED : CUTOFF_GONE;
}

static uint64_t part_end(const struct cutoffs *cutoffs, const struct sbt_crossing *c,
			 uint8_t probe_group)
{
	const struct cutoff *cut = cutoff_of(cutoffs, c);

	return cut ? cut->group_ns[probe_group % SBT_PROBE_GROUPS] : MODEL_UNKNOWN;
}

bool cutoffs_is_detached(const struct cutoffs *cutoffs, const struct sbt_crossing *c,
			 uint8_t probe_group)
{
	return c->arrive_ns > part_end(cutoffs, c, probe_group);
}

bool cutoffs_of_part(const struct cutoffs *cutoffs, const struct sbt_crossing *c,
		     uint8_t probe_group)
{
	return part_end(cutoffs, c, probe_group) != MODEL_UNKNOWN;
}
