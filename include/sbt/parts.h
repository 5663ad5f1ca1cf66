/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The list of the parts into which the time of a thread's phase is split, and of the events that
 * are counted in it. The accounts and records of the BPF programs, the model's sums and their
 * bounds, the report and its fields are generated from this list. To add a metric, add three
 * things: a row here, a statement in bpf/ that counts the metric (scripts/parts finds a row without
 * one), and a row at the end of the list in user/recording/inputs.c (an assertion fails without
 * it).
 *
 * X(member, arg, name in JSON and CSV, heading of its column in the table of parts or NULL, help)
 */
#ifndef SBT_PARTS_H
#define SBT_PARTS_H

/*
 * Times (ns) that the thread spends in each state during its phase. At any moment the thread is on
 * a CPU, or ready to run, or blocked. The BPF programs keep these times as an array (SBT_TIME_* in
 * sbt/state.h).
 */
#define SBT_PART_ONCPU(X, arg) \
	X(oncpu_ns, arg, "oncpu_ns", "on CPU", "part of work_ns: on a CPU, including fault_ns")
#define SBT_PART_RUNQ(X, arg)                        \
	X(runq_ns, arg, "runq_ns", "waits\nfor CPU", \
	  "part of work_ns: ready to run, but without a CPU")
#define SBT_PART_STATES(X, arg) SBT_PART_ONCPU(X, arg) SBT_PART_RUNQ(X, arg)
/* Reasons why a thread is blocked: X(suffix of the enumerators, arg, name, heading, help). */
#define SBT_PART_REASONS(X, arg)                                                              \
	X(LOCK, arg, "lock", "waits\nfor lock", "blocked on a lock or condition")             \
	X(IO, arg, "io", "waits\nfor I/O", "blocked on I/O: files, pipes, sockets")           \
	X(FAULT, arg, "fault", "waits\nfor page", "blocked in a page fault: a page was read") \
	X(SLEEP, arg, "sleep", "asleep", "asleep at its own request")                         \
	X(THROTTLED, arg, "throttled", "throt-\ntled", "stopped at its cgroup's CPU quota")   \
	X(OTHER, arg, "other", "blocked\nelse", "blocked for another reason")                 \
	X(GIL, arg, "gil", "waits\nfor GIL", "blocked until the GIL of Python was free")

/* Times in ns that are part of oncpu_ns, and do not overlap. */
#define SBT_PART_ONCPU_TIMES(X, arg)                                                           \
	X(fault_ns, arg, "fault_ns", NULL, "part of oncpu_ns: handling page faults")           \
	X(steal_ns, arg, "stolen_ns", "stolen\nby host",                                       \
	  "part of oncpu_ns: the host of this guest ran something else, as the guest's ticks " \
	  "show")

/* Times in ns that are part of the work, whatever the thread's state is, and do not overlap. */
#define SBT_PART_WORK_TIMES(X, arg)                                                                \
	X(turn_ns, arg, "turn_ns", "waits\nfor turn",                                              \
	  "part of work_ns, spinning or blocked: waits for a turn in OpenMP's critical, ordered "  \
	  "or locks; not counted as work in the efficiencies")                                     \
	X(begin_ns, arg, "begin_ns", "waits\nfor team",                                            \
	  "part of work_ns, not of turn_ns: the thread had begun an OpenMP region and waited for " \
	  "its team; not counted as work in the efficiencies")

#define SBT_PART_TIMES(X, arg) SBT_PART_ONCPU_TIMES(X, arg) SBT_PART_WORK_TIMES(X, arg)

/* Numbers of events in the phase. */
#define SBT_PART_COUNTS(X, arg)                                        \
	X(switches, arg, "switches", NULL, "context switches")         \
	X(migrations, arg, "migrations", NULL, "moves to another CPU") \
	X(faults, arg, "faults", NULL, "page faults")                  \
	X(voluntary, arg, "voluntary_switches", NULL, "part of switches: the thread blocked")

/* The parts that are separate members in the BPF programs: all except the times of the states. */
#define SBT_PARTS(X, arg)     SBT_PART_TIMES(X, arg) SBT_PART_COUNTS(X, arg)
#define SBT_PARTS_ALL(X, arg) SBT_PART_STATES(X, arg) SBT_PARTS(X, arg)

/* A member of a struct, of type @arg. */
#define SBT_PART_MEMBER(member, arg, ...) arg member;
/* An enumerator for a reason, with prefix @arg. */
#define SBT_PART_REASON(suffix, arg, ...) arg##suffix,

#endif /* SBT_PARTS_H */
