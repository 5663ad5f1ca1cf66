/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The list of parts that are measured for a thread's phase, in addition to its times on a CPU, in
 * the run queue and blocked (SBT_TIME_* in sbt/state.h). The accounts and records of the BPF
 * programs, the model's sums, the report and its fields are made from this list. A new metric is a
 * row here, the statement in bpf/ that counts it, and a row at the end of the list in
 * recording/inputs.c.
 *
 * X(member, arg, name in JSON and CSV, heading of its column in the table of parts or NULL, help)
 */
#ifndef SBT_PARTS_H
#define SBT_PARTS_H

/* Times in ns. */
#define SBT_PART_TIMES(X, arg)                                                                     \
	X(fault_ns, arg, "fault_ns", NULL, "part of oncpu_ns: handling page faults")               \
	X(steal_ns, arg, "stolen_ns", "stolen\nby host",                                           \
	  "part of oncpu_ns: the host of this guest ran something else, as the guest's ticks "     \
	  "show")                                                                                  \
	X(turn_ns, arg, "turn_ns", "waits\nfor turn",                                              \
	  "part of work_ns, spinning or blocked: waits for a turn in OpenMP's critical, ordered "  \
	  "or locks; not counted as work in the efficiencies")                                     \
	X(begin_ns, arg, "begin_ns", "waits\nfor team",                                            \
	  "part of work_ns, not of turn_ns: the thread had begun an OpenMP region and waited for " \
	  "its team; not counted as work in the efficiencies")

/* Numbers of events. */
#define SBT_PART_COUNTS(X, arg)                                        \
	X(switches, arg, "switches", NULL, "context switches")         \
	X(migrations, arg, "migrations", NULL, "moves to another CPU") \
	X(faults, arg, "faults", NULL, "page faults")                  \
	X(voluntary, arg, "voluntary_switches", NULL, "part of switches: the thread blocked")

/* Times and numbers. */
#define SBT_PARTS(X, arg) SBT_PART_TIMES(X, arg) SBT_PART_COUNTS(X, arg)

/* A member of a struct, of type @arg. */
#define SBT_PART_MEMBER(member, arg, ...) arg member;

#endif /* SBT_PARTS_H */
