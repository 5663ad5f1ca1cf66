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
	  .help = "stack of the last arriver where it was blocked longest, innermost frame " \
		  "first; if dominant is gil: where the thread that held the GIL was in Python " \
		  "code" }

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

static const struct emit_names place_kinds[] = {
	{ REPORT_PLACE_WORK, "work", NULL },
	{ REPORT_PLACE_SPIN, "spin", NULL },
	{ 0, NULL, NULL },
};

#define PL(m) AT(report_place, m)
static const struct emit_field place_fields[] = {
	{ "barrier", EMIT_STRING, PL(barrier), .flags = FIELDS_KEY, .help = "id of the barrier" },
	{ "pid", EMIT_U32, PL(pid), .flags = FIELDS_KEY, .help = "process" },
	{ "kind", EMIT_ENUM, PL(kind), .names = place_kinds,
	  .help = "work: late threads spent more time here than the threads with which they are "
		  "compared, in the phases that end at the barrier; spin: threads spun here, "
		  "inside the barrier" },
	{ "function", EMIT_STRING, PL(function), .heading = "function", .look = EMIT_NAME,
	  .help = "innermost function of the program's own code; null: the code has no name" },
	{ "file", EMIT_STRING, PL(file), .help = "source file of this function" },
	{ "line", EMIT_U32, PL(line), .flags = FIELDS_ZERO,
	  .help = "line of this function with the largest difference" },
	{ "module", EMIT_STRING, PL(module), .help = "file that contains the code" },
	{ "offset", EMIT_U64, PL(offset), .help = "file offset of one position at this place" },
	{ "callee", EMIT_STRING, PL(callee), .heading = "calls", .look = EMIT_NAME,
	  .help = "function of a library that was called here, and in which samples fell; null: "
		  "none" },
	{ "last_ns", EMIT_NS, PL(last_ns), .heading = "late\nthreads", .look = EMIT_MEAN,
	  .help = "work: time on a CPU that the last arrivers spent here, summed over the late "
		  "episodes; spin: time that all threads spent here, summed over all episodes" },
	{ "reference_ns", EMIT_NS, PL(reference_ns), .heading = "refer-\nences",
	  .look = EMIT_MEAN,
	  .help = "the same time of the threads with which the last arrivers are compared; null: "
		  "spin" },
	{ "low_ns", EMIT_I64, PL(low_ns),
	  .help = "lower end of the 95 % interval of last_ns - reference_ns (spin: of last_ns)" },
	{ "high_ns", EMIT_I64, PL(high_ns), .help = "upper end of this interval" },
	{ "episodes", EMIT_U64, PL(episodes),
	  .help = "number of episodes in these sums" },
	{ "oncpu_last_ns", EMIT_NS, PL(oncpu_last_ns),
	  .help = "all time on a CPU of the last arrivers in these phases, of which last_ns is a "
		  "part; spin: of all threads, inside the barrier" },
	{ "oncpu_reference_ns", EMIT_NS, PL(oncpu_reference_ns),
	  .help = "the same time of the threads with which they are compared; null: spin" },
	{ "samples", EMIT_U64, PL(samples), .heading = "samples",
	  .help = "number of samples that fell here" },
	{ "stack", EMIT_ARRAY, LIST(report_place, stack, nstack), .sub = &rec_frame,
	  .help = "the most frequent stack, innermost frame first" },
	END
};
const struct emit_record fields_rec_place = {
	"place", sizeof(struct report_place), place_fields,
	"A function in which late threads spent significantly more time on a CPU, or in which "
	"threads spun in a barrier. Times are estimated from samples"
};

#define AC(m) AT(report_activity, m)
#define AF(m) AT(report_activity_function, m)
static const struct emit_field function_fields[] = {
	{ "function", EMIT_STRING, AF(where.function),
	  .help = "innermost function of the program's own code; null: the code has no name" },
	{ "share", EMIT_RATIO, AF(share),
	  .help = "its share of the thread's samples; if a thread has more than 32 different "
		  "stacks, a share may be too large, but not too small" },
	{ "file", EMIT_STRING, AF(where.file), .help = "source file" },
	{ "line", EMIT_U32, AF(where.line), .flags = FIELDS_ZERO, .help = "one line in it" },
	{ "module", EMIT_STRING, AF(where.module), .help = "file that contains the code" },
	{ "offset", EMIT_U64, AF(where.offset), .help = "one file offset of the code" },
	END
};
static const struct emit_record rec_function = {
	"function", sizeof(struct report_activity_function), function_fields,
	"A function in which a thread was on a CPU"
};

#define AWK(m) AT(report_waker, m)
static const struct emit_field waker_fields[] = {
	{ "tid", EMIT_U32, AWK(tid), .help = "the thread that ended the waits" },
	{ "waits", EMIT_U64, AWK(waits), .help = "number of waits that it ended" },
	{ "wait_ns", EMIT_NS, AWK(wait_ns), .help = "sum of these waits" },
	END
};
static const struct emit_record rec_waker = {
	"waker", sizeof(struct report_waker), waker_fields, "A thread that ended waits of another"
};

#define AW(m) AT(report_woken, m)
static const struct emit_field woken_fields[] = {
	{ "function", EMIT_STRING, AW(where.function),
	  .help = "innermost function of the program's own code; null: unknown" },
	{ "file", EMIT_STRING, AW(where.file), .help = "source file" },
	{ "line", EMIT_U32, AW(where.line), .flags = FIELDS_ZERO, .help = "line of the wait" },
	{ "module", EMIT_STRING, AW(where.module), .help = "file that contains the code" },
	{ "waits", EMIT_U64, AW(waits), .help = "number of these waits" },
	{ "wait_ns", EMIT_NS, AW(wait_ns), .help = "sum of these waits" },
	{ "by", EMIT_ARRAY, LIST(report_woken, by, nby), .sub = &rec_waker,
	  .help = "the threads that ended them, most waits first" },
	END
};
static const struct emit_record rec_woken = {
	"woken", sizeof(struct report_woken), woken_fields,
	"Waits of a thread at one place, outside locks, that other threads of its process ended"
};

static const struct emit_field activity_fields[] = {
	{ "pid", EMIT_U32, AC(pid), .flags = FIELDS_KEY, .help = "process" },
	{ "tid", EMIT_U32, AC(tid), .flags = FIELDS_KEY, .help = "thread" },
	{ "comm", EMIT_STRING, AC(comm), .help = "name of the thread" },
	{ "elapsed_ns", EMIT_NS, AC(elapsed_ns),
	  .help = "time from the start of the thread, or of tracing, to its end, or that of "
		  "tracing" },
	FIELDS_PARTS_OF(report_activity)
	{ "samples", EMIT_U64, AC(samples), .help = "number of samples of the thread" },
	{ "functions", EMIT_ARRAY, LIST(report_activity, functions, nfunctions),
	  .sub = &rec_function, .help = "functions in which it was on a CPU, most frequent first" },
	{ "wait_ns", EMIT_NS, AC(wait_ns), .flags = FIELDS_ZERO, 
	  .help = "its longest wait; if its waits for one reason have a tenth of its time, the "
		  "longest of them" },
	{ "stack", EMIT_ARRAY, LIST(report_activity, frames, nframes), .sub = &rec_frame,
	  .help = "stack of this wait, innermost frame first" },
	{ "woken", EMIT_ARRAY, LIST(report_activity, woken, nwoken), .sub = &rec_woken,
	  .help = "its waits for conditions, and not for locks, in which it slept and which other "
		  "threads of the process ended, by place, longest first. This needs Linux 5.11 or "
		  "later" },
	{ "woken_more", EMIT_U64, AC(woken_more),
	  .help = "number of such waits that are not in `woken`" },
	{ "partners", EMIT_U32, AC(partners),
	  .help = "number of threads that ended its waits at the first place of `woken` and had "
		  "waits that it ended, as in a thread pool" },
	END
};
const struct emit_record fields_rec_activity = {
	"activity", sizeof(struct report_activity), activity_fields,
	"What a thread did; only if no barrier was crossed"
};

static const struct emit_field episode_cause_fields[] = { CAUSE_WHAT, CAUSE_CULPRIT, END };
const struct emit_record fields_rec_episode_cause = {
	"cause", sizeof(struct report_cause), episode_cause_fields,
	"Why the last arriver was late, compared with the lower-median arriver"
};
/* clang-format on */
