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
	{ HANG_BY_PAST, "past", "it took part in the last episode" },
	{ HANG_BY_CALL, "call", "the call names it" },
	{ HANG_BY_TEAM, "team", "the runtime lists it in the team" },
	{ HANG_BY_COUNT, "count", "the barrier's count equals the number of threads" },
	{ HANG_BY_PROCESS, "process", "it is a thread of the process (a guess)" },
	{ 0, NULL, NULL },
};

/* An unknown state has no name. */
static const struct emit_names thread_state_names[] = {
	{ HANG_RUNNING, "running", NULL },
	{ HANG_RUNNABLE, "runnable", "waits for a CPU" },
	{ HANG_BLOCKED, "blocked", NULL },
	{ HANG_STOPPED, "stopped", NULL },
	{ HANG_GONE, "exited", "has exited" },
	{ 0, NULL, NULL },
};

const struct emit_names *const fields_hang_known = known_names;
const struct emit_names *const fields_hang_states = thread_state_names;

#define F(m) AT(hang_frame, m)
static const struct emit_field frame_fields[] = {
	FIELDS_SOURCE_OF(hang_frame, "name of the function"),
	{ "inlined", EMIT_STRING, F(inlined),
	  .help = "function into which this function was inlined" },
	{ "address", EMIT_U64, F(address), .flags = FIELDS_ZERO,
	  .help = "address of the instruction in the process" },
	END
};
const struct emit_record fields_rec_frame = {
	"frame", sizeof(struct hang_frame), frame_fields, "One frame of a stack"
};

#define A(m) AT(report_hang_arrived, m)
static const struct emit_field arrived_fields[] = {
	FIELDS_THREAD_OF(report_hang_arrived),
	{ "arrive_ns", EMIT_T_NS, A(arrive_ns),
	  .help = "time of the thread's arrival, relative to clock_start_ns" },
	{ "waited_ns", EMIT_NS, A(waited_ns),
	  .help = "time that the thread has waited since its arrival" },
	FIELDS_SOURCE_OF(report_hang_arrived, "function that contains the call site"),
	END
};
static const struct emit_record rec_arrived = {
	"arrived", sizeof(struct report_hang_arrived), arrived_fields,
	"One thread that has arrived at the barrier"
};

#define M(m) AT(report_hang_missing, m)
static const struct emit_field missing_fields[] = {
	FIELDS_THREAD_OF(report_hang_missing),
	{ "why", EMIT_ENUM, M(why), .names = known_names,
	  .help = "why the thread is expected at the barrier. past: it took part in the last "
		  "episode. call: an MPI call waits for its rank. team: the runtime lists it in "
		  "the team. count: the barrier's count equals the number of threads of the "
		  "process. process: a guess, because it is a thread of the process" },
	{ "state", EMIT_ENUM, M(state), .names = thread_state_names,
	  .help = "state of the thread: running (on a CPU), runnable (waits for a CPU), blocked "
		  "(waits for anything else), stopped (by a signal or a debugger) or exited" },
	{ "blocked_on", EMIT_STRING, M(blocked_on),
	  .help = "what the thread is blocked on, in words" },
	{ "holder", EMIT_U32, M(holder), .flags = FIELDS_ZERO,
	  .help = "thread id of the thread that holds the lock for which this thread waits, or "
		  "that must exit before this thread can continue" },
	{ "syscall", EMIT_STRING, M(syscall), .help = "system call in which the thread is" },
	{ "wchan", EMIT_STRING, M(wchan), .help = "kernel function in which the thread waits" },
	{ "sampled", EMIT_BOOL, M(sampled),
	  .help = "true: the thread was running, so its stack is one sample" },
	{ "stack", EMIT_ARRAY, LIST(report_hang_missing, frames, nframes), .sub = &fields_rec_frame,
	  .help = "frames of the thread's stack, innermost first" },
	END
};
static const struct emit_record rec_missing = {
	"missing", sizeof(struct report_hang_missing), missing_fields,
	"One missing thread"
};

#define L(m) AT(report_hang_link, m)
static const struct emit_field link_fields[] = {
	FIELDS_THREAD_OF(report_hang_link),
	{ "waits_for", EMIT_STRING, L(waits_for),
	  .help = "what the thread waits for: a lock, a barrier, or another thread's end" },
	{ "next", EMIT_U32, L(next),
	  .help = "thread id of the next thread in the cycle: it holds the lock, is missing at the "
		  "barrier, or has to end" },
	END
};
static const struct emit_record rec_link = {
	"link", sizeof(struct report_hang_link), link_fields,
	"One step of a cycle of waits; the last step leads to the first"
};

#define H(m) AT(report_hang, m)
static const struct emit_field hang_fields[] = {
	{ "barrier", EMIT_CHARS, H(id), .flags = FIELDS_KEY, .help = "id of the barrier" },
	{ "label", EMIT_CHARS, H(label), .help = "label of the barrier in text output" },
	{ "pid", EMIT_U32, H(pid), .flags = FIELDS_KEY,
	  .help = "process id of the thread that arrived first" },
	{ "comm", EMIT_STRING, H(comm), .help = "name of the process" },
	{ "family", EMIT_STRING, H(family),
	  .help = "family of the barrier: pthread, gomp and so on" },
	FIELDS_SOURCE_OF(report_hang, "function that contains the call site"),
	{ "count", EMIT_U32, H(count), .flags = FIELDS_ZERO,
	  .help = "number of threads that must arrive before the barrier opens" },
	{ "t_ns", EMIT_T_NS, H(t_ns), .flags = FIELDS_KEY,
	  .help = "time when the barrier was examined for this report, relative to "
		  "clock_start_ns" },
	{ "waited_ns", EMIT_NS, H(waited_ns),
	  .help = "time from the first arrival at the barrier to t_ns" },
	{ "told", EMIT_U32, H(reported), .help = "number of earlier reports of this hang" },
	{ "over", EMIT_BOOL, H(over),
	  .help = "true: the barrier has opened, so the hang is over; the other fields are those "
		  "of the previous report" },
	{ "verdict", EMIT_ENUM, H(verdict), .names = verdict_names,
	  .help = "verdict. deadlock: a proven cycle of waits. never-fills: a missing thread has "
		  "exited, or waits forever. long-phase: a missing thread is on a CPU or waits for "
		  "a CPU. outside: a missing thread waits for a file, a child process or a "
		  "timeout. unknown: none of these is known to be true" },
	{ "guess", EMIT_BOOL, H(guess),
	  .help = "true: it is uncertain which threads must arrive" },
	{ "arrived", EMIT_ARRAY, LIST(report_hang, arrived, narrived), .sub = &rec_arrived,
	  .help = "threads that have arrived, in the order of arrival" },
	{ "missing", EMIT_ARRAY, LIST(report_hang, missing, nmissing), .sub = &rec_missing,
	  .help = "threads that have not arrived; the threads that best explain the hang are "
		  "first" },
	{ "cycle", EMIT_ARRAY, LIST(report_hang, cycle, ncycle), .sub = &rec_link,
	  .help = "cycle of waits, if the verdict is deadlock" },
	{ "text", EMIT_CHARS, H(text), .help = "the hang in a sentence" },
	END
};
const struct emit_record fields_rec_hang = {
	"hang", sizeof(struct report_hang), hang_fields,
	"A barrier at which threads have waited for long, with the missing threads"
};

#define T(m) AT(emit_thread, m)
static const struct emit_field thread_fields[] = {
	{ "pid", EMIT_U32, T(pid), .flags = FIELDS_KEY, .help = "process id" },
	{ "tid", EMIT_U32, T(tid), .flags = FIELDS_KEY, .help = "thread id" },
	{ "comm", EMIT_STRING, T(comm), .help = "name of the thread" },
	{ "state", EMIT_ENUM, T(state), .names = thread_state_names,
	  .help = "state of the thread: running (on a CPU), runnable (waits for a CPU), blocked "
		  "(waits for anything else), stopped (by a signal or a debugger) or exited" },
	{ "blocked_on", EMIT_STRING, T(blocked_on),
	  .help = "what the thread is blocked on, in words" },
	{ "syscall", EMIT_STRING, T(syscall), .help = "system call in which the thread is" },
	{ "wchan", EMIT_STRING, T(wchan), .help = "kernel function in which the thread waits" },
	{ "oncpu_ns", EMIT_NS, T(oncpu_ns),
	  .help = "time that the thread has spent on a CPU since it started" },
	{ "runq_ns", EMIT_NS, T(runq_ns),
	  .help = "time that the thread has been ready to run without a CPU since it started" },
	{ "registers", EMIT_STRING, T(registers),
	  .help = "how the thread's registers were read: iterator (BPF iterator over tasks), proc "
		  "(only stack pointer and instruction pointer, from /proc) or sample (the thread "
		  "was running)" },
	{ "sampled", EMIT_BOOL, T(sampled),
	  .help = "true: the thread was running, so its stack is one sample" },
	{ "truncated", EMIT_BOOL, T(truncated),
	  .help = "true: the stack is cut short: it does not reach the outermost function" },
	{ "stack", EMIT_ARRAY, LIST(emit_thread, frames, nframes), .sub = &fields_rec_frame,
	  .help = "frames of the thread's stack, innermost first" },
	END
};
const struct emit_record fields_rec_where = {
	"thread", sizeof(struct emit_thread), thread_fields,
	"sbt-trace hang: the state and the stack of one thread"
};
/* clang-format on */
