// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* --cost-limit, as a report has it: up to when what was traced. */
#include "analyse/internal.h"

#include <errno.h>
#include <math.h>

void shed_barrier(const struct model_proc *p, uint8_t family, struct report_barrier *out)
{
	uint64_t beside = REPORT_UNKNOWN, own = p->shed.t_ns;
	uint32_t i;

	for (i = 0; i < p->nparts; i++) {
		const struct model_shed *part = &p->parts[i];

		if (family < 32 && part->families & 1u << family)
			own = part->t_ns;
		else if (part->t_ns < beside)
			beside = part->t_ns;
	}
	out->shed_ns = own;
	out->shed_beside_ns = beside < own ? beside : REPORT_UNKNOWN;
}

static void whole_process(const struct model_proc *p, struct report_process *out)
{
	bool shed = p->shed.t_ns != MODEL_UNKNOWN;

	out->shed_ns = p->shed.t_ns;
	out->shed_cost = shed ? p->shed.cost_ppm / 1e6 : NAN;
	out->shed_limit = shed ? p->shed.limit_ppm / 1e6 : NAN;
	out->shed_because = p->shed.because;
	out->shed_probed = p->shed.probed;
}

int shed_process(struct arena *arena, const struct report_env *env, const struct model_proc *p,
		 struct report_process *out)
{
	uint32_t i, family, n = 0;

	whole_process(p, out);
	for (i = 0; i < p->nparts; i++)
		n += (uint32_t)__builtin_popcount(p->parts[i].families);
	out->shed_some = n > 0;
	out->sheds = n ? arena_alloc(arena, n * sizeof(*out->sheds)) : NULL;
	if (n && !out->sheds)
		return -ENOMEM;
	for (i = 0; i < p->nparts; i++) {
		const struct model_shed *part = &p->parts[i];

		for (family = 0; family < 32; family++)
			if (part->families & 1u << family)
				out->sheds[out->nsheds++] = (struct report_shed){
					.family = report_family(env, (uint8_t)family),
					.t_ns = part->t_ns,
					.cost = part->cost_ppm / 1e6,
					.limit = part->limit_ppm / 1e6,
					.because = part->because,
					.probed = part->probed,
				};
	}
	return 0;
}
