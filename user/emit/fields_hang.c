// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The list of fields: hangs. */
#include "emit/emit.h"
#include "emit/fields_internal.h"

/* clang-format off */

static const struct emit_names verdict_names[] = {
	{ HANG_UNKNOWN, "unknown", NULL },
	{ HANG_DEADLOCK, "deadlock", NULL },
	{ HANG_NEVER_FILLS, "never-fills", NULL },
	{ HANG_LONG_PHASE, "long-phase", NULL },
	{ HANG_OUTSIDE, "outside", NULL },
	{ 0, NULL, NULL },
};

static const struct emit_names known_names[] = {
	{ HANG_BY_PAST, "past", "it was there the last time" },
	{ HANG_BY_CALL, "call", "the call names it" },
	{ HANG_BY_TEAM, "team", "the runtime has it in the team" },
	{ HANG_BY_COUNT, "count", "the barrier counts all threads there are" },
	{ HANG_BY_PROCESS, "process", "it is a thread of the process: a guess" },
	{ 0, NULL, NULL },
};

/* Of an unknown state there is no name. */
static const struct emit_names thread_state_names[] = {
	{ HANG_RUNNING, "running", NULL },
	{ HANG_RUNNABLE, "runnable", "waits for a CPU" },
	{ HANG_BLOCKED, "blocked", NULL },
	{ HANG_STOPPED, "stopped", NULL },
	{ HANG_GONE, "exited", "has ended" },
	{ 0, NULL, NULL },
};

const struct emit_names *const fields_hang_known = known_names;
const struct emit_names *const fields_hang_states = thread_state_names;

#define F(m) AT(hang_frame, m)
static const struct emit_field frame_fields[] = {
	FIELDS_SOURCE_OF(hang_frame, "its name"),
	{ "inlined", EMIT_STRING, F(inlined), .help = "the function it was inlined into" },
	{ "address", EMIT_U64, F(address), .flags = FIELDS_ZERO, .help = "in the process" },
	END
};
const struct emit_record fields_rec_frame = {
	"frame", sizeof(struct hang_frame), frame_fields, "One frame of a stack"
};

#define A(m) AT(report_hang_arrived, m)
static const struct emit_field arrived_fields[] = {
	FIELDS_THREAD_OF(report_hang_arrived),
	{ "arrive_ns", EMIT_T_NS, A(arrive_ns), .help = "arrival, from clock_start_ns" },
	{ "waited_ns", EMIT_NS, A(waited_ns), .help = "since then" },
	FIELDS_SOURCE_OF(report_hang_arrived, "that waits"),
	END
};
static const struct emit_record rec_arrived = {
	"arrived", sizeof(struct report_hang_arrived), arrived_fields,
	"One thread that has come to the barrier"
};

#define M(m) AT(report_hang_missing, m)
static const struct emit_field missing_fields[] = {
	FIELDS_THREAD_OF(report_hang_missing),
	{ "why", EMIT_ENUM, M(why), .names = known_names,
	  .help = "why it is believed to be missing: past (it was there the last time), team, count "
		  "or process (a guess)" },
	{ "state", EMIT_ENUM, M(state), .names = thread_state_names,
	  .help = "running, runnable, blocked, stopped or exited" },
	{ "blocked_on", EMIT_STRING, M(blocked_on), .help = "in words" },
	{ "holder", EMIT_U32, M(holder), .flags = FIELDS_ZERO,
	  .help = "the thread that has what it waits for, or whose end that is" },
	{ "syscall", EMIT_STRING, M(syscall), .help = "that it is in" },
	{ "wchan", EMIT_STRING, M(wchan), .help = "where in the kernel it waits" },
	{ "sampled", EMIT_BOOL, M(sampled), .help = "it ran: the stack is a sample of where" },
	{ "stack", EMIT_ARRAY, LIST(report_hang_missing, frames, nframes), .sub = &fields_rec_frame,
	  .help = "innermost first" },
	END
};
static const struct emit_record rec_missing = {
	"missing", sizeof(struct report_hang_missing), missing_fields,
	"One thread that has not come"
};

#define L(m) AT(report_hang_link, m)
static const struct emit_field link_fields[] = {
	FIELDS_THREAD_OF(report_hang_link),
	{ "waits_for", EMIT_STRING, L(waits_for), .help = "a lock, a barrier, a thread's end" },
	{ "next", EMIT_U32, L(next), .help = "the thread that has it, or is missing there" },
	END
};
static const struct emit_record rec_link = {
	"link", sizeof(struct report_hang_link), link_fields,
	"One step of a cycle of waits; the last leads to the first"
};

#define H(m) AT(report_hang, m)
static const struct emit_field hang_fields[] = {
	{ "barrier", EMIT_CHARS, H(id), .flags = FIELDS_KEY, .help = "id of the barrier" },
	{ "label", EMIT_CHARS, H(label), .help = "what text output calls it" },
	{ "pid", EMIT_U32, H(pid), .flags = FIELDS_KEY, .help = "process of the first that came" },
	{ "comm", EMIT_STRING, H(comm), .help = "the process's name" },
	{ "family", EMIT_STRING, H(family), .help = "pthread, gomp, ..." },
	FIELDS_SOURCE_OF(report_hang, "that waits"),
	{ "count", EMIT_U32, H(count), .flags = FIELDS_ZERO, .help = "how many must come" },
	{ "t_ns", EMIT_T_NS, H(t_ns), .flags = FIELDS_KEY,
	  .help = "when it was looked at, from clock_start_ns" },
	{ "waited_ns", EMIT_NS, H(waited_ns), .help = "since the first arrival" },
	{ "told", EMIT_U32, H(reported), .help = "how often before" },
	{ "over", EMIT_BOOL, H(over), .help = "it has opened after all; the rest is as of before" },
	{ "verdict", EMIT_ENUM, H(verdict), .names = verdict_names,
	  .help = "deadlock (a proven cycle), never-fills, long-phase, outside or unknown" },
	{ "guess", EMIT_BOOL, H(guess), .help = "who must come is not known for certain" },
	{ "arrived", EMIT_ARRAY, LIST(report_hang, arrived, narrived), .sub = &rec_arrived,
	  .help = "by arrival" },
	{ "missing", EMIT_ARRAY, LIST(report_hang, missing, nmissing), .sub = &rec_missing,
	  .help = "what tells most first" },
	{ "cycle", EMIT_ARRAY, LIST(report_hang, cycle, ncycle), .sub = &rec_link,
	  .help = "of a deadlock: who waits for whom" },
	{ "text", EMIT_CHARS, H(text), .help = "it in a sentence" },
	END
};
const struct emit_record fields_rec_hang = {
	"hang", sizeof(struct report_hang), hang_fields,
	"A barrier that some have reached and others have not, for long"
};

#define T(m) AT(emit_thread, m)
static const struct emit_field thread_fields[] = {
	{ "pid", EMIT_U32, T(pid), .flags = FIELDS_KEY, .help = "its process" },
	{ "tid", EMIT_U32, T(tid), .flags = FIELDS_KEY, .help = "thread" },
	{ "comm", EMIT_STRING, T(comm), .help = "the thread's name" },
	{ "state", EMIT_ENUM, T(state), .names = thread_state_names,
	  .help = "running, runnable, blocked, stopped or exited" },
	{ "blocked_on", EMIT_STRING, T(blocked_on), .help = "in words" },
	{ "syscall", EMIT_STRING, T(syscall), .help = "that it is in" },
	{ "wchan", EMIT_STRING, T(wchan), .help = "where in the kernel it waits" },
	{ "oncpu_ns", EMIT_NS, T(oncpu_ns), .help = "on a CPU since it began" },
	{ "runq_ns", EMIT_NS, T(runq_ns), .help = "ready to run, without a CPU, since it began" },
	{ "registers", EMIT_STRING, T(registers),
	  .help = "how they are known: iterator, proc (stack pointer and place alone) or sample" },
	{ "sampled", EMIT_BOOL, T(sampled), .help = "it ran: the stack is a sample of where" },
	{ "truncated", EMIT_BOOL, T(truncated),
	  .help = "the outermost function is not in the stack" },
	{ "stack", EMIT_ARRAY, LIST(emit_thread, frames, nframes), .sub = &fields_rec_frame,
	  .help = "innermost first" },
	END
};
const struct emit_record fields_rec_where = {
	"thread", sizeof(struct emit_thread), thread_fields,
	"hang: where one thread of a process is"
};
/* clang-format on */
