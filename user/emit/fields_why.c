// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The list of fields, continued: parts of time, counters, and causes of lateness. */
#include "analyse/cause.h"
#include "emit/fields_internal.h"

/* clang-format off */

#define BLOCKED(suffix, arg, name_, heading_, help_) \
	{ name_, EMIT_NS, .offset = MODEL_BLOCKED_##suffix * sizeof(uint64_t), .help = (help_) },
static const struct emit_field blocked_fields[] = {
	SBT_PART_REASONS(BLOCKED, )
	END
};
const struct emit_record fields_rec_blocked = {
	"blocked", sizeof(uint64_t[MODEL_BLOCKED_REASONS]), blocked_fields,
	"Time blocked in ns, by reason"
};

#define V(m) AT(report_counter, m)
static const struct emit_field value_fields[] = {
	{ "name", EMIT_STRING, V(name), .help = "name of the counter" },
	{ "value", EMIT_U64, V(value),
	  .help = "number of events that the threads caused outside barriers" },
	{ "inside", EMIT_U64, V(inside),
	  .help = "number of events that the threads caused inside barriers" },
	{ "scaled", EMIT_BOOL, V(scaled),
	  .help = "true: the counter was multiplexed, so the values are estimates" },
	{ "least", EMIT_U64, V(least), .flags = FIELDS_ZERO,
	  .help = "lower limit of value, if value is null because it is unknown" },
	END
};
const struct emit_record fields_rec_value = {
	"counter", sizeof(struct report_counter), value_fields, "One counter's values"
};

#define S(m) AT(report_callsite, m)
static const struct emit_field frame_fields[] = {
	FIELDS_SOURCE_OF(report_callsite, "name of the function"),
	{ "offset", EMIT_U64, S(offset), .flags = FIELDS_ZERO,
	  .help = "offset of the instruction in the module" },
	{ "inlined", EMIT_STRING, S(inlined),
	  .help = "functions into which this function was inlined" },
	END
};
static const struct emit_record rec_frame = {
	"frame", sizeof(struct report_callsite), frame_fields, "One frame of a stack"
};

#define P(m) AT(report_part, m)
static const struct emit_field part_fields[] = {
	{ "name", EMIT_STRING, P(name), .help = "name of the part" },
	{ "ns", EMIT_I64, P(ns),
	  .help = "time of the last arriver in this part, minus the time of the median arriver in "
		  "this part" },
	END
};
static const struct emit_record rec_part = {
	"part", sizeof(struct report_part), part_fields, "One part of the lateness"
};

static const char *part_key(unsigned k)
{
	return k < CAUSE_KINDS ? cause_name((enum cause_kind)k) : NULL;
}

#define C(m) AT(report_cause, m)
#define CAUSE_WHAT \
	{ "dominant", EMIT_STRING, VIA(report_cause, dominant), AT(cause_row, name), \
	  .help = "name of the part that explains most of the lateness; null: no part does" }, \
	{ "share", EMIT_RATIO, C(share), \
	  .help = "the dominant part, divided by the sum of all positive parts" }, \
	{ "parts", EMIT_MAP, LIST(report_cause, parts, nparts), .sub = &rec_part, \
	  .flags = FIELDS_HERE, .keys = part_key, \
	  .help = "parts of the lateness: {name: ns}, largest first. A part is negative if the " \
		  "last arriver spent less time in it than the median arriver" }, \
	{ "lateness_ns", EMIT_NS, C(lateness_ns), \
	  .help = "lateness of the last arriver: the sum of the parts" }
#define CAUSE_CULPRIT \
	{ "culprit", EMIT_STRING, C(culprit), \
	  .help = "thread, lock, file or task that delayed the last arriver" }, \
	{ "text", EMIT_CHARS, C(text), .help = "the cause in a sentence" }, \
	{ "stack", EMIT_ARRAY, LIST(report_cause, frames, nframes), .sub = &rec_frame, \
	  .help = "stack of the last arriver where it was blocked longest, innermost frame first" }

static const struct emit_field cause_fields[] = {
	CAUSE_WHAT,
	{ "episodes", EMIT_U64, C(episodes),
	  .help = "number of episodes from which the cause was computed" },
	{ "dominated", EMIT_U64, C(dominated),
	  .help = "number of these episodes in which the dominant part was the largest part" },
	CAUSE_CULPRIT,
	END
};
const struct emit_record fields_rec_cause = {
	"cause", sizeof(struct report_cause), cause_fields,
	"Why the last arrivers were late, compared with the lower-median arrivers"
};

static const struct emit_field episode_cause_fields[] = { CAUSE_WHAT, CAUSE_CULPRIT, END };
const struct emit_record fields_rec_episode_cause = {
	"cause", sizeof(struct report_cause), episode_cause_fields,
	"Why the last arriver was late, compared with the lower-median arriver"
};
/* clang-format on */
