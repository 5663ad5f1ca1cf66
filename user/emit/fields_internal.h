/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Macros for rows of the list of fields, and rows that several records share. */
#ifndef EMIT_FIELDS_INTERNAL_H
#define EMIT_FIELDS_INTERNAL_H

#include "emit/fields.h"

/* clang-format off */

#define AT(s, m)      .offset = offsetof(struct s, m)
#define VIA(s, p)     .via = 1 + offsetof(struct s, p)
#define LIST(s, p, c) .offset = offsetof(struct s, p), .count = offsetof(struct s, c)
#define END	      { .help = NULL }

extern const struct emit_record fields_rec_frame, fields_rec_blocked, fields_rec_value,
	fields_rec_cause, fields_rec_episode_cause;

/*
 * Rows for a place in a program: .function, .file, .line and .module of struct s. @what is the help
 * text of .function.
 */
#define FIELDS_SOURCE_OF(s, what) \
	{ "function", EMIT_STRING, AT(s, function), .help = (what) }, \
	{ "file", EMIT_STRING, AT(s, file), .help = "path of the source file" }, \
	{ "line", EMIT_U32, AT(s, line), .flags = FIELDS_ZERO, \
	  .help = "line in the source file" }, \
	{ "module", EMIT_STRING, AT(s, module), \
	  .help = "file of the program or library that contains the code" }

/* Rows for a thread: .tid, .pid, .index and .comm of struct s. */
#define FIELDS_THREAD_OF(s) \
	{ "tid", EMIT_U32, AT(s, tid), .flags = FIELDS_KEY, .help = "thread id" }, \
	{ "pid", EMIT_U32, AT(s, pid), .help = "process id" }, \
	{ "index", EMIT_U32, AT(s, index), .help = "number of the thread, as reports show it" }, \
	{ "comm", EMIT_STRING, AT(s, comm), .help = "name of the thread" }

#define PART .look = EMIT_COMMON, .views = FIELDS_PARTS, .flags = FIELDS_DROP

/* A row for one member of .parts of struct s: a time or a count that include/sbt/parts.h lists. */
#define FIELDS_PART_TIME(member, s, name_, heading_, help_) \
	{ name_, EMIT_NS, AT(s, parts.member), .heading = (heading_), PART, .help = (help_) },
#define FIELDS_PART_COUNT(member, s, name_, heading_, help_) \
	{ name_, EMIT_U64, AT(s, parts.member), .heading = (heading_), PART, .help = (help_) },

#define FIELDS_PART_REASON(suffix, s, name_, heading_, help_) \
	{ NULL, EMIT_NS, AT(s, parts.blocked_ns[MODEL_BLOCKED_##suffix]), \
	  .heading = (heading_), PART, .help = (help_) },

/* Rows for .parts of struct s, a struct report_parts. */
#define FIELDS_PARTS_OF(s) \
	SBT_PART_ONCPU(FIELDS_PART_TIME, s) \
	{ NULL, EMIT_NS, AT(s, parts.fault_ns), .heading = "in page\nfaults", PART, \
	  .help = "part of oncpu_ns in which the kernel handled page faults" }, \
	SBT_PART_RUNQ(FIELDS_PART_TIME, s) \
	{ "blocked_ns", EMIT_OBJECT, AT(s, parts.blocked_ns), .sub = &fields_rec_blocked, \
	  .flags = FIELDS_ANY, \
	  .help = "part of work_ns in which the thread was blocked, by reason" }, \
	SBT_PART_REASONS(FIELDS_PART_REASON, s) \
	{ "unattributed_ns", EMIT_NS, AT(s, parts.unattributed_ns), \
	  .heading = "unattri-\nbuted", PART, \
	  .help = "part of work_ns that is in no other part" }, \
	SBT_PART_TIMES(FIELDS_PART_TIME, s) \
	{ "spin_ns", EMIT_NS, AT(s, parts.spin_ns), .heading = "spins in\nbarrier", PART, \
	  .help = "time on a CPU inside the barrier; not part of work_ns" }, \
	{ "late_ns", EMIT_NS, AT(s, parts.late_ns), .heading = "CPU waits\ninside", PART, \
	  .help = "time ready to run, but without a CPU, inside the barrier; not part of " \
		  "work_ns" }, \
	SBT_PART_COUNTS(FIELDS_PART_COUNT, s)

/* Rows for .counters and .ncounters of struct s, an array of struct report_counter. */
#define FIELDS_COUNTERS_OF(s) \
	{ "counters", EMIT_MAP, LIST(s, counters, ncounters), .sub = &fields_rec_value, \
	  .help = "counts of events outside barriers: {name: value}" }, \
	{ "counters_inside", EMIT_MAP, LIST(s, counters, ncounters), .sub = &fields_rec_value, \
	  .value = 2, .flags = FIELDS_MORE, \
	  .help = "counts of events inside barriers: {name: value}" }, \
	{ "counters_scaled", EMIT_MAP, LIST(s, counters, ncounters), .sub = &fields_rec_value, \
	  .value = 3, .flags = FIELDS_MORE, \
	  .help = "{name: true or false}; true: the counter was multiplexed, so its count is an " \
		  "estimate" }, \
	{ "counters_least", EMIT_MAP, LIST(s, counters, ncounters), .sub = &fields_rec_value, \
	  .value = 4, .flags = FIELDS_MORE | FIELDS_HAS, \
	  .help = "for each counter with the value null: its count in the part of the " \
		  "time for which the count is known" }

/* clang-format on */
#endif /* EMIT_FIELDS_INTERNAL_H */
