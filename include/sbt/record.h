/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The ABI between the BPF programs and user space: what travels in the rings.
 * Both sides are built from this header, so layouts are fixed by it alone.
 * Times are nanoseconds of CLOCK_MONOTONIC (bpf_ktime_get_ns()).
 */
#ifndef SBT_RECORD_H
#define SBT_RECORD_H

#ifndef __KERNEL_SUBSET_H
#include <linux/types.h>
#endif

#define SBT_COMM_LEN 16

/* Append only: numbers end up in recordings. */
enum sbt_family {
	SBT_FAMILY_NONE = 0,
	SBT_FAMILY_PTHREAD = 1,
};

enum sbt_record_type {
	SBT_REC_CROSSING = 1, /* struct sbt_crossing, in the per-CPU rings */
	SBT_REC_SEEN = 2, /* the rest: struct sbt_event, in the event ring */
	SBT_REC_FORK = 3, /* a traced process made a process */
	SBT_REC_THREAD = 4, /* a traced process made a thread */
	SBT_REC_EXEC = 5, /* a traced process replaced its program */
	SBT_REC_EXIT = 6, /* a thread of a traced process ended */
	SBT_REC_MAP = 7, /* a process has other mappings than before */
};

/* sbt_crossing.flags */
#define SBT_CROSSING_ABANDONED 0x01 /* never returned: longjmp, exception, cancellation, exit */
#define SBT_CROSSING_NO_WORDS  0x02 /* the barrier object could not be read: count unknown */
#define SBT_CROSSING_NO_IP     0x04 /* the return address could not be read: call site unknown */

/*
 * One thread passing one barrier once. Written at the departure; an arrival
 * that never departs is written when its thread arrives again or exits, with
 * depart_ns 0 and SBT_CROSSING_ABANDONED.
 */
struct sbt_crossing {
	__u64 arrive_ns;
	__u64 depart_ns;
	__u64 object; /* address of the barrier in the process */
	__u64 ip; /* return address of the call: the call site */
	__u64 words; /* 8 bytes of the object where its family keeps the count */
	__u32 tgid;
	__u32 tid;
	__u32 inc; /* incarnation of the process: tells PID reuse and exec apart */
	__u32 seq; /* crossings of this thread so far: a gap is a lost record */
	__u16 arrive_cpu;
	__u16 depart_cpu;
	__u8 type; /* SBT_REC_CROSSING */
	__u8 family;
	__u8 flags;
	__u8 depth; /* 0: outermost; nested waits count up */
};

/* sbt_event.flags */
#define SBT_EVENT_HELD	  0x01 /* SBT_REC_EXEC, _MAP: the process was stopped and waits for SIGCONT */
#define SBT_EVENT_LEADER  0x02 /* SBT_REC_EXIT: the whole process ended */
#define SBT_EVENT_PENDING 0x04 /* SBT_REC_EXIT: the thread was inside a barrier */

/* What happens to processes and threads: rare, never mixed with crossings. */
struct sbt_event {
	__u64 t_ns;
	__u32 type;
	__u32 flags;
	__u32 tgid;
	__u32 tid;
	__u32 inc;
	__u32 parent_tgid; /* SBT_REC_FORK */
	__u32 parent_inc;
	__u32 pad;
	__u64 start_ns; /* SBT_REC_SEEN: when the process was made */
	char comm[SBT_COMM_LEN];
};

#endif /* SBT_RECORD_H */
