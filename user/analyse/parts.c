// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Where time went, and counters: the model's sums as the report has them. */
#include "analyse/internal.h"

#include <errno.h>
#include <string.h>

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

struct report_parts parts_of(const struct model_sums *s)
{
	struct report_parts p;
	uint64_t known = s->oncpu_ns + s->runq_ns;
	unsigned i;

	if (!s->known_ns && !s->inside_known_ns) {
		/* Every field is a u64, and all bits set is unknown. */
		memset(&p, 0xff, sizeof(p));
		return p;
	}
	p.oncpu_ns = s->oncpu_ns;
	p.runq_ns = s->runq_ns;
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++) {
		p.blocked_ns[i] = s->blocked_ns[i];
		known += s->blocked_ns[i];
	}
	p.unattributed_ns = minus(s->known_ns, known);
	p.fault_ns = s->fault_ns;
	p.stolen_ns = s->stolen_ns;
	p.spin_ns = s->inside_known_ns ? s->inside_oncpu_ns : REPORT_UNKNOWN;
	p.late_ns = s->inside_known_ns ? s->inside_runq_ns : REPORT_UNKNOWN;
	p.switches = s->switches;
	p.migrations = s->migrations;
	p.faults = s->faults;
	return p;
}

uint32_t parts_counters_n(const struct report_env *env)
{
	return env->ncounters < MODEL_COUNTERS_MAX ? env->ncounters : MODEL_COUNTERS_MAX;
}

struct report_counter *counters_of(struct arena *a, const struct report_env *env,
				   const struct model_sums *s, int *err)
{
	uint32_t i, n = parts_counters_n(env);
	struct report_counter *c;
	bool known;

	if (!n)
		return NULL;
	c = arena_alloc(a, n * sizeof(*c));
	if (!c) {
		*err = -ENOMEM;
		return NULL;
	}
	for (i = 0; i < n; i++) {
		known = s->counted && !(s->unknown & 1u << i);
		c[i].name = env->counters[i];
		c[i].value = known ? s->counters[i] : REPORT_UNKNOWN;
		c[i].inside = known ? s->inside_counters[i] : REPORT_UNKNOWN;
		c[i].scaled = s->scaled & 1u << i;
		c[i].least = known ? 0 : s->counters[i];
		c[i].inside_least = known ? 0 : s->inside_counters[i];
	}
	return c;
}
