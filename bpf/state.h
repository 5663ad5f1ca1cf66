/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What the programs keep between events and what they are told. Shared with user space (attach/),
 * which reads and writes the same structs: keep this header free of BPF and kernel includes.
 */
#ifndef BPF_STATE_H
#define BPF_STATE_H

#include <linux/types.h>

#include "sbt/record.h"

/* struct sbt_proc.flags */
#define SBT_PROC_EXCLUDED 0x01 /* looked at and not wanted (--comm, --cgroup, sbt-trace itself) */
#define SBT_PROC_SEEN	  0x02 /* has crossed a barrier; user space was told */
#define SBT_PROC_BY_EXIT \
	0x04 /* no return probes here: departures are seen at the ret instructions */

#define SBT_PROC_KNOWN 0x10 /* of a verdict: examined */
#define SBT_PROC_FRESH 0x08 /* runs a program not seen before: its mappings are not examined yet */

/* One a process that is traced, or known not to be. Key: tgid. */
struct sbt_proc {
	__u32 inc;
	__u32 flags;
};

/*
 * One a thread that has crossed a barrier; arrive_ns != 0: it is inside. A slot of the array `threads`,
 * found at the thread's number or one of the SBT_THREAD_PROBES after it: a look-up in an array is
 * part of the program, one in a hash is a call that costs as much as the rest. Who owns a slot is settled in the
 * hash `owners`.
 */
struct sbt_thread {
	__u32 tid; /* 0: free */
	__u32 tgid;
	__u64 arrive_ns;
	__u64 object;
	__u64 ip;
	__u64 entry; /* address of the probe: which function it is in */
	__u64 sp; /* stack pointer there */
	__u64 words;
	__u64 words_object; /* whose words they are; 0: to be read */
	__u32 words_epoch; /* when they were read */
	__u32 inc;
	__u32 seq;
	__u32 proc_flags; /* as of its first crossing, kept up to date by user space */
	__u16 arrive_cpu;
	__u8 family;
	__u8 flags; /* SBT_CROSSING_* of the crossing under way */
	__u32 inner; /* barriers entered and left inside this one */
};

#define SBT_THREAD_PROBES 4
/* Threads made together have numbers in a row: a second place must not be in the next row. */
#define SBT_THREAD_STRIDE 10007

/* A file by the numbers that /proc/PID/maps shows. Value: nothing. Files that user space has examined. */
struct sbt_file {
	__u64 ino;
	__u32 dev;
	__u32 pad;
};

/* What user space found out about a program. */
struct sbt_verdict {
	__u64 ns; /* when */
	__u32 flags; /* SBT_PROC_KNOWN, SBT_PROC_EXCLUDED, SBT_PROC_BY_EXIT; 0: it was only asked about */
	__u32 pad;
};

/* How long a program that was examined is taken to run with the same libraries. */
#define SBT_VERDICT_NS 50000000ULL

/* Set before load. */
struct sbt_config {
	__u8 system; /* -a: whoever comes is traced */
	__u8 follow; /* children of traced processes are traced */
	__u8 hold; /* stop a traced process that runs an unknown program until user space has looked */
	__u8 by_comm; /* -a: only processes of this name */
	__u8 by_cgroup; /* -a: only processes in or below this cgroup */
	__u8 cgroup_level;
	__u8 by_exit; /* no return probes at all: every process is SBT_PROC_BY_EXIT */
	__u8 pad;
	__u32 thread_mask; /* size of `threads`, a power of two, minus one */
	__u32 self; /* tgid of sbt-trace: never traced, but for the calibration */
	__u32 nrings;
	__u32 pad2;
	__u64 cgroup_id;
	char comm[SBT_COMM_LEN];
};

/* Everything that is counted, in slots so that CPUs do not meet; user space adds them up. */
struct sbt_counts {
	__u64 gone; /* crossings by threads that have ended: those of the living are in their slots */
	__u64 refused; /* crossings for which there was no slot: all lost */
	__u64 lost_ring; /* no room in any ring tried */
	__u64 lost_thread; /* of those refused: no slot for the thread */
	__u64 lost_process; /* of those refused: no slot for the process */
	__u64 lost_early; /* of those refused: by programs not examined yet (-a) */
	__u64 events; /* events that should reach user space */
	__u64 lost_event; /* no room in the event ring */
	__u64 strangers; /* hits by processes that are not traced */
	__u64 inner; /* crossings inside another: a wrapper around the function */
	__u64 unmatched; /* departures whose arrival was not seen: inside when tracing began */
};

/* armed: nothing is recorded, only sbt-trace itself (calibration), everything */
#define ARMED_SELF 1
#define ARMED_ALL  2

#define SBT_COUNT_SLOTS 64

#endif /* BPF_STATE_H */
