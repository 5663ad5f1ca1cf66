// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Convert the model's sums of times and counters into the form of the report. */
#include "analyse/internal.h"
#include "base/number.h"

#include <errno.h>
#include <string.h>

#define COPY_PART(member, ...) p.member = s->member;

struct report_parts parts_of(const struct model_sums *s)
{
	struct report_parts p;
	uint64_t known = s->oncpu_ns + s->runq_ns;
	unsigned i;

	if (!s->known_ns && !s->inside_known_ns) {
		/* Every field is a u64. If all bits are set, the value is unknown. */
		memset(&p, 0xff, sizeof(p));
		return p;
	}
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++) {
		p.blocked_ns[i] = s->blocked_ns[i];
		known += s->blocked_ns[i];
	}
	p.unattributed_ns = number_less(s->known_ns, known);
	SBT_PARTS_ALL(COPY_PART, )
	p.spin_ns = s->inside_known_ns ? s->inside_oncpu_ns : REPORT_UNKNOWN;
	p.late_ns = s->inside_known_ns ? s->inside_runq_ns : REPORT_UNKNOWN;
	return p;
}

struct report_counter report_counter(const char *name, uint64_t value, uint64_t inside, bool known,
				     bool scaled)
{
	return (struct report_counter){
		.name = name,
		.value = known ? value : REPORT_UNKNOWN,
		.inside = known ? inside : REPORT_UNKNOWN,
		.scaled = scaled,
		.least = known ? 0 : value,
		.inside_least = known ? 0 : inside,
	};
}

void report_counter_add(struct report_counter *sum, const struct report_counter *c)
{
	bool known = sum->value != REPORT_UNKNOWN, more = c->value != REPORT_UNKNOWN;
	uint64_t value = (known ? sum->value : sum->least) + (more ? c->value : c->least);
	uint64_t inside =
		(known ? sum->inside : sum->inside_least) + (more ? c->inside : c->inside_least);

	*sum = report_counter(c->name, value, inside, known && more, sum->scaled || c->scaled);
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

	if (!n)
		return NULL;
	c = arena_alloc(a, n * sizeof(*c));
	if (!c) {
		*err = -ENOMEM;
		return NULL;
	}
	for (i = 0; i < n; i++)
		c[i] = report_counter(env->counters[i], s->counters[i], s->inside_counters[i],
				      s->counted && !(s->unknown & 1u << i), s->scaled & 1u << i);
	return c;
}
