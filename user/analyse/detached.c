// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* --cost-limit in the report: the times until which processes and barriers were traced. */
#include "analyse/internal.h"

#include <errno.h>
#include <math.h>

#include "base/array.h"
#include "sbt/record.h"

void detached_barrier(const struct model_proc *p, const struct model_barrier *b,
		      struct report_barrier *out)
{
	uint64_t beside = REPORT_UNKNOWN, own = p->detached.t_ns;

	array_for_each (part, p->parts, p->nparts) {
		/*
		 * If several parts were detached, use the earliest time: from then on, the data are
		 * incomplete.
		 */
		if (!(part->probe_groups & b->probe_groups))
			beside = part->t_ns < beside ? part->t_ns : beside;
		else if (part->t_ns < own)
			own = part->t_ns;
	}
	out->detached_ns = own;
	out->detached_beside_ns = beside < own ? beside : REPORT_UNKNOWN;
}

static void whole_process(const struct model_proc *p, struct report_process *out)
{
	bool detached = p->detached.t_ns != MODEL_UNKNOWN;

	out->detached_ns = p->detached.t_ns;
	out->detached_cost = detached ? p->detached.cost_ppm / 1e6 : NAN;
	out->detached_limit = detached ? p->detached.limit_ppm / 1e6 : NAN;
	out->detached_because = p->detached.because;
	out->detached_probed = p->detached.probed;
}

static uint8_t family_of(const struct report_env *env, uint8_t probe_group)
{
	return env->probe_group_family ? env->probe_group_family(probe_group) : probe_group;
}

/*
 * Return true if the probe group is reported with its family, because the whole family was
 * detached.
 */
static bool is_within(const struct report_env *env, uint64_t probe_groups, uint8_t probe_group)
{
	uint8_t family = family_of(env, probe_group);

	return family != probe_group && probe_groups & SBT_PROBE_GROUP(family);
}

static void add_part(const struct report_env *env, const struct model_proc *p,
		     const struct model_detached *part, struct report_process *out)
{
	uint8_t probe_group;

	for (probe_group = 0; probe_group < SBT_PROBE_GROUPS; probe_group++)
		if (part->probe_groups & SBT_PROBE_GROUP(probe_group) &&
		    !is_within(env, part->probe_groups, probe_group))
			out->detached_groups[out->ndetached_groups++] = (struct report_detached){
				.family = report_family(env, family_of(env, probe_group)),
				.function =
					env->probe_group_name
						? env->probe_group_name(env->ctx, p, probe_group)
						: NULL,
				.t_ns = part->t_ns,
				.cost = part->cost_ppm / 1e6,
				.limit = part->limit_ppm / 1e6,
				.because = part->because,
				.probed = part->probed,
			};
}

int detached_process(struct arena *arena, const struct report_env *env, const struct model_proc *p,
		     struct report_process *out)
{
	uint32_t i, n = 0;

	whole_process(p, out);
	array_for_each (part, p->parts, p->nparts)
		n += (uint32_t)__builtin_popcountll(part->probe_groups);
	out->detached_some = n > 0;
	out->detached_groups = NULL;
	if (!n)
		return 0;
	out->detached_groups = arena_alloc(arena, n * sizeof(*out->detached_groups));
	if (!out->detached_groups)
		return -ENOMEM;
	for (i = 0; i < p->nparts; i++)
		add_part(env, p, &p->parts[i], out);
	return 0;
}
