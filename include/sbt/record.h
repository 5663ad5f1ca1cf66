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

#include "sbt/parts.h"

#define SBT_COMM_LEN 16

/* Append only: numbers end up in recordings. */
enum sbt_family {
	SBT_FAMILY_NONE = 0,
	SBT_FAMILY_PTHREAD = 1,
	SBT_FAMILY_GOMP = 2,
	SBT_FAMILY_LIBOMP = 3,
	SBT_FAMILY_MPI = 4,
	SBT_FAMILY_STD = 5, /* C++, Boost, Rust */
	SBT_FAMILY_USDT = 6, /* barriers with names: include/sbt/sbt.h */
	SBT_FAMILY_USER = 7, /* -b */
	SBT_FAMILY_COND = 8, /* found by what it does: a condition variable */
	SBT_FAMILY_FUTEX = 9, /* the same: a futex word */
	SBT_FAMILY_FORKJOIN = 10,
	SBT_FAMILIES
};

/*
 * What can be shed alone (--cost-limit), by number: functions that have a name in sites/family.c, from SBT_PROBE_GROUPS_NAMED on,
 * and those that the user named, from SBT_PROBE_GROUPS_USER on; what else there is of a family has the family's number. Sets of units
 * have a bit each.
 */
#define SBT_PROBE_GROUPS	64
#define SBT_PROBE_GROUPS_NAMED	16
#define SBT_PROBE_GROUPS_USER	32
#define SBT_PROBE_GROUP(number) (1ULL << ((number) & (SBT_PROBE_GROUPS - 1)))

/* What in the program makes threads meet. Append only. */
enum sbt_kind {
	SBT_KIND_EXPLICIT, /* the program calls the barrier itself */
	SBT_KIND_LOOP, /* the end of a loop that threads share */
	SBT_KIND_SECTIONS,
	SBT_KIND_SINGLE,
	SBT_KIND_TASK,
	SBT_KIND_JOIN, /* the end of a parallel region */
	SBT_KIND_COLLECTIVE, /* an operation of all ranks */
	SBT_KIND_PHASE, /* nobody waits: a marker in the program says that a phase ends */
	SBT_KIND_SEMAPHORE, /* of candidates of family COND: it is a semaphore that was waited on */
	SBT_KINDS
};

enum sbt_record_type {
	SBT_REC_CROSSING = 1, /* struct sbt_crossing, in the per-CPU rings */
	SBT_REC_SEEN = 2, /* the rest: struct sbt_event, in the event ring */
	SBT_REC_FORK = 3, /* a traced process made a process */
	SBT_REC_THREAD = 4, /* a traced process made a thread */
	SBT_REC_EXEC = 5, /* a traced process replaced its program */
	SBT_REC_EXIT = 6, /* a thread of a traced process ended */
	SBT_REC_MAP = 7, /* a process has other mappings than before */
	SBT_REC_TAIL =
		8, /* struct sbt_crossing: what a thread did after its last departure; it ended */
	SBT_REC_RESUME =
		9, /* struct sbt_crossing: after SBT_CROSSING_NO_DEPART; goes on at depart_ns */
	SBT_REC_LABEL = 10, /* struct sbt_label */
	SBT_REC_OUTLINED =
		11, /* struct sbt_event: a region's function, at `function`, that has no probe yet */
	/*
	 * struct sbt_crossing, of family COND or FUTEX: a thread waited, or woke others; whether that is a barrier is
	 * for user space to find out. It is not counted in seq. Of one that wakes others depart_ns is arrive_ns, here
	 * and in the crossings of what has been found to be a barrier.
	 */
	SBT_REC_CANDIDATE = 12,
	SBT_REC_CALLERS = 13, /* struct sbt_callers: no crossing, but who called one that follows */
	/*
	 * struct sbt_crossing, but no crossing: a conceptual phase of a thread begins or ends (`mark`) at `label`, at depart_ns.
	 * Parts and counters are those of its phase so far. Without a label: the thread reads or writes `bytes` bytes of the
	 * data of thread `owner`.
	 */
	SBT_REC_MARK = 14,
	/*
	 * struct sbt_event: thread `tid` fell asleep at a futex word, as in a condition variable, and its process has
	 * no probes yet where its threads wait. No news of it follows.
	 */
	SBT_REC_UNPROBED = 15,
	/*
	 * struct sbt_event: a barrier that processes may share was made in the mapping from `range_start` to `range_end`. `device`,
	 * `inode` and `file_offset` say of which file; inode 0: other processes cannot share it. An unchanged mapping is not
	 * reported again. From Linux 5.17 on.
	 */
	SBT_REC_SHARED = 16,
	/*
	 * struct sbt_event: probes of a process are hit often for nothing, those of `role`: SBT_ROLE_COND_WAIT, condition
	 * variables that are no barrier as far as is known; SBT_ROLE_TURN, turns that come at once; SBT_ROLE_SEM_WAIT, semaphores.
	 */
	SBT_REC_HOT = 17,
	/*
	 * struct sbt_event: a process makes or runs OpenMP tasks, as the probe at `probe` found. That probe has reported all
	 * that it can, and is to be removed.
	 */
	SBT_REC_TASKS = 18,
	/*
	 * struct sbt_event: a process makes code of the memory from `range_start` to `range_end`, which may be a copy of code that
	 * holds probes. `inc` is 0 if the process is not traced. On x86-64 alone.
	 */
	SBT_REC_COPY = 19,
	/*
	 * struct sbt_event: thread `tid` has waited since `since_ns` for another thread of its process to end. Only where the
	 * functions that join threads have no probes.
	 */
	SBT_REC_JOINED = 20,
};

/*
 * sbt_crossing.passed of a wait that comes after the arrival (SBT_SPEC_PHASE, SBT_SPEC_LATCH); 0: nothing is known.
 * Without OVER the meeting was still to be released: the thread had come, and `words` is of this meeting. With it the
 * thread may have been the last to come or merely late, and `words` is of a later meeting.
 */
#define SBT_RESULT_PASSED 0x8000
#define SBT_RESULT_LATCH  0x4000
#define SBT_RESULT_OVER	  0x2000
#define SBT_RESULT_VALUE  0x1fff /* which phase; latch: how many were still to come, this or more */

/* sbt_crossing.flags */
#define SBT_CROSSING_ABANDONED 0x01 /* never returned: longjmp, exception, cancellation, exit */
#define SBT_CROSSING_NO_WORDS  0x02 /* the barrier object could not be read: count unknown */
#define SBT_CROSSING_NO_IP     0x04 /* the return address could not be read: call site unknown */
/*
 * The thread's time is accounted for since its last departure (its start, if it has none). Without
 * SBT_CROSSING_PARTS all of its phase was on a CPU, without SBT_CROSSING_INSIDE all of its wait.
 */
#define SBT_CROSSING_ACCOUNTED 0x08
#define SBT_CROSSING_INSIDE    0x10 /* followed by struct sbt_inside */
#define SBT_CROSSING_PARTS     0x20 /* that followed by struct sbt_parts */
#define SBT_CROSSING_COUNTERS  0x40 /* those that are there followed by struct sbt_counters */
/*
 * Where its thread goes on cannot be seen (a worker at the end of a parallel region): depart_ns is 0, and a
 * record of type SBT_REC_RESUME says when it next does what it is told. Its
 * `begun_ns` is the time at which the thread that began the region arrived at the call that begins it.
 */
#define SBT_CROSSING_NO_DEPART 0x80
/*
 * The call also made an object: `handle` names it. SBT_CROSSING_NO_WORDS: the handle could not be read. It means nothing if the
 * call never returned. `made` distinguishes the objects that one call made, or is SBT_WHAT_UNKNOWN.
 */
#define SBT_CROSSING_MAKES     0x100
/* `round` is known: GOMP, LIBOMP. */
#define SBT_CROSSING_ROUND     0x200

/*
 * One thread passing one barrier once. Written at the departure; an arrival
 * that never departs is written when its thread arrives again or exits, with
 * SBT_CROSSING_ABANDONED and that time as depart_ns: records are in the order
 * of depart_ns, and what it came to is told after all that was before.
 */
struct sbt_crossing {
	__u64 arrive_ns;
	__u64 depart_ns;
	union {
		__u64 object; /* address of the barrier, or of what a candidate waits at, in the process */
		__u64 joined; /* FORKJOIN: pthread_t of the thread that is joined, or SBT_JOIN_ALL */
		__u64 begun_ns; /* SBT_REC_RESUME: when the region's creator called its beginning; 0 unknown */
		__u64 owner; /* SBT_REC_MARK without a label: number of the thread that owns the data */
		__u64 sample; /* SBT_REC_CALLERS: name of the sample */
	};
	__u64 ip; /* return address of the call: the call site */
	union {
		__u64 raw_word; /* pthread: 8 bytes of the object; family_read_words() decodes it */
		__u64 team; /* other barriers: how many threads they wait for; 0 unknown */
		/*
		 * COND, FUTEX: the caller of the function that `ip` is in: an address, or the name of a chain or of a struct
		 * sbt_callers; 0 unknown.
		 */
		__u64 callers;
		__u64 handle; /* SBT_CROSSING_MAKES: of the object that was made */
		__u64 bytes; /* SBT_REC_MARK without a label: how many bytes the thread touches */
		__u64 wanted; /* SBT_REC_CALLERS: how many callers are wanted */
	};
	__u32 tgid;
	__u32 tid;
	__u32 inc; /* incarnation of the process: tells PID reuse and exec apart */
	__u32 seq; /* crossings of this thread so far: a gap is a lost record */
	__u16 arrive_cpu;
	__u16 depart_cpu;
	__u8 type; /* SBT_REC_CROSSING */
	__u8 family; /* enum sbt_family */
	__u8 kind; /* enum sbt_kind */
	__u8 depth; /* 0: outermost; nested waits count up */
	__u16 flags;
	__u16 spec; /* of the probe: struct sbt_spec */
	__u16 index; /* rank, OpenMP thread number or the program's own number, plus 1; 0 not known */
	union {
		__u16 result; /* 0, or one of the following */
		__u16 error; /* COND, FUTEX, FORKJOIN: the errno that the wait returned; 0: none */
		__u16 wakes; /* FUTEX that wakes: how many threads at most; 65535: that many or more */
		__u16 passed; /* STD: SBT_RESULT_* */
		__u16 mark; /* SBT_REC_MARK: SBT_MARK_* */
	};
	union {
		__u32 label; /* markers: struct sbt_label; 0 none */
		__u32 made; /* SBT_CROSSING_MAKES: which of those made by one call */
		/*
		 * SBT_REC_CANDIDATE. Of FUTEX, a wait: what the word was to change from. Of COND: how many waits had begun
		 * there before, as glibc counts them (SBT_CROSSING_NO_WORDS: it could not be read).
		 */
		__u32 value;
		/*
		 * SBT_CROSSING_ROUND: which of the team's meetings it is. The upper half counts the regions that the thread which
		 * began this one has begun, the lower half the barriers in the region; SBT_ROUND_JOIN is its end.
		 */
		__u32 round;
	};
	/*
	 * How long our program took at the arrival, until arrive_ns, without what differs between families. Of some crossings
	 * only, and of none at joins, condition variables, futexes and markers; 0: not of this one.
	 */
	__u32 handler_ns;
};

/* Not one thread, but all that the thread has made. */
#define SBT_JOIN_ALL 1

/* The lower half of sbt_crossing.round at the end of a region. */
#define SBT_ROUND_JOIN 0xffff

/* sbt_crossing.mark, as include/sbt/sbt.h has them. */
#define SBT_MARK_BEGIN 1
#define SBT_MARK_END   2
#define SBT_MARK_READ  3
#define SBT_MARK_WRITE 4

/* Why a thread was not on a CPU though it had not asked to be: append only. */
enum sbt_blocked {
	SBT_BLOCKED_LOCK, /* futexes and other locks */
	SBT_BLOCKED_IO, /* files, pipes, sockets; waiting for any of them */
	SBT_BLOCKED_FAULT, /* a page was fetched */
	SBT_BLOCKED_SLEEP, /* it asked for time to pass */
	SBT_BLOCKED_THROTTLED, /* its cgroup had used up its CPU time */
	SBT_BLOCKED_OTHER,
	SBT_BLOCKED_REASONS
};

/* What the holder of a lock, or the thread that ended the wait, did most of the time while another waited for it. */
enum sbt_doing {
	SBT_DOING_UNKNOWN,
	SBT_DOING_ONCPU,
	SBT_DOING_RUNQ, /* it waited for a CPU itself */
	SBT_DOING_BLOCKED, /* + enum sbt_blocked */
};

/* What it waited for where none of the reasons fits: append only. */
enum sbt_other {
	SBT_OTHER_UNKNOWN,
	SBT_OTHER_STOPPED, /* by a signal or a debugger */
	SBT_OTHER_CHILD, /* for a child process to end */
	SBT_OTHER_SIGNAL, /* for a signal */
};

/* What it waited at, by the call, and at a futex by how it was waited for: append only. */
enum sbt_waited {
	SBT_WAITED_UNKNOWN,
	SBT_WAITED_LOCK, /* a mutex or a read-write lock: the word says so; a file's lock */
	SBT_WAITED_JOIN, /* for thread `holder` to end, which the kernel tells at its word */
	SBT_WAITED_EVENT, /* glibc's semaphores and condition variables */
	SBT_WAITED_SEMAPHORE, /* System V's */
	SBT_WAITED_WAKER, /* SBT_BLOCKED_IO: it is certain that `waker` ended it, as the other end of a pipe does */
};

/* The longest block of a phase, among those of one reason. */
struct sbt_block {
	__u64 ns; /* 0: there was none */
	__u64 addr; /* lock: of the futex; fault: what was touched; I/O: of the inode; other: enum sbt_other */
	__u64 stack; /* key of the user stack (struct sbt_stack); 0 none */
	__u64 doing_ns; /* how long of it the holder, or where there is none the waker, did what `doing` says */
	__u32 waker; /* thread that ended it; 0: none, as a timer or a device */
	__u32 holder; /* lock: the thread that held it for most of that time, or whose end it waited for; 0 not known */
	__u32 culprit; /* the thread that ran instead of that one, or held what it waited for; 0 none */
	__u8 reason; /* enum sbt_blocked */
	__u8 doing; /* enum sbt_doing */
	__u8 among; /* others held it, too */
	__u8 waited; /* enum sbt_waited */
};

/* Between arrival and departure. */
struct sbt_inside {
	__u64 oncpu_ns; /* spinning */
	__u64 runq_ns; /* released, and waiting for a CPU */
	__u64 ran_ns; /* of runq_ns: while `ran` had the CPU */
	__u32 ran; /* the task that had it for most of that time; 0 none */
	__u32 switches;
};

/* Between the last departure (or the start) and the arrival. Times in ns. */
struct sbt_parts {
	__u64 oncpu_ns; /* fault_ns included */
	__u64 runq_ns; /* runnable, not running */
	__u64 blocked_ns[SBT_BLOCKED_REASONS];
	SBT_PART_TIMES(SBT_PART_MEMBER, __u64)
	__u64 fault_addr; /* that of the longest page fault */
	__u64 turn_oncpu_ns; /* of turn_ns and begin_ns: spinning */
	__u64 ran_ns; /* of runq_ns: while `ran` had the CPU */
	SBT_PART_COUNTS(SBT_PART_MEMBER, __u32)
	__u32 ran;
	__u32 cpus_allowed;
	struct sbt_block block, second; /* of the reason that cost most; of the next */
};

#define SBT_COUNTERS_MAX 8

/* By the order in which they were asked for; beyond n nothing is filled in. */
struct sbt_counters {
	__u64 phase[SBT_COUNTERS_MAX];
	__u64 inside[SBT_COUNTERS_MAX];
	__u8 scaled; /* a bit each: multiplexed, scaled by enabled / running time */
	__u8 unknown; /* a bit each: did not count at all for part of the time */
	__u8 n;
	__u8 pad[5];
};

/* The largest record: what a reader must be ready for. */
struct sbt_crossing_full {
	struct sbt_crossing crossing;
	struct sbt_inside inside;
	struct sbt_parts parts;
	struct sbt_counters counters;
};

#define SBT_CALLERS_BYTES 512
#define SBT_CALLERS_DEEP  2048 /* with --frames */

/*
 * The stack of a thread at a call of which it is not known yet how to find the caller: goes before the crossing that
 * has its name. Of `head` only the process, `ip`, `wanted` and `sample` mean
 * something.
 */
struct sbt_callers {
	struct sbt_crossing head;
	__u64 sp; /* address of bytes[0]; as when the call has returned */
	__u64 fp;
	__u64 link; /* arm64: the link register, of a system call; 0 */
	__u32 len; /* bytes that could be read */
	__u32 pad;
	__u8 bytes[SBT_CALLERS_DEEP]; /* shorter without --frames */
};

#define SBT_STACK_REGS	34 /* room for struct pt_regs (x86-64) and struct user_pt_regs (arm64) */
#define SBT_STACK_BYTES 8192

/* Where a thread was when it blocked: for its stack to be unwound later. */
struct sbt_stack {
	__u64 regs[SBT_STACK_REGS]; /* as the kernel of this architecture lays them out */
	__u64 sp; /* address of bytes[0] */
	__u32 len; /* bytes that could be read */
	__u32 tgid;
	__u8 bytes[SBT_STACK_BYTES];
};

/* sbt_event.flags */
#define SBT_EVENT_HELD \
	0x01 /* SBT_REC_EXEC, _MAP, _COPY: the process was stopped and waits for SIGCONT */
#define SBT_EVENT_LEADER  0x02 /* SBT_REC_EXIT: the whole process ended */
#define SBT_EVENT_PENDING 0x04 /* SBT_REC_EXIT: the thread was inside a barrier */
#define SBT_EVENT_UNSEEN \
	0x08 /* SBT_REC_SHARED: of the page at `range_start` it is not known what it is of */
#define SBT_EVENT_TRAPPED 0x10 /* SBT_REC_EXIT: SIGTRAP ended it */

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
	__u32 creator; /* SBT_REC_THREAD: the thread that made it */
	union {
		/* SBT_REC_SEEN: when the process was made; _EXIT: the thread; _THREAD: the thread, if before t_ns, else 0. */
		__u64 start_ns;
		__u64 since_ns; /* SBT_REC_JOINED: when the wait began */
	};
	__u64 busy_ns; /* SBT_REC_EXIT: how long it was on a CPU, or waited for one; 0 not known */
	union {
		__u64 code_start; /* SBT_REC_EXEC, _SEEN: where the program's code begins; 0 unknown */
		__u64 range_start; /* SBT_REC_SHARED: of the mapping; _COPY: of the code */
		/* SBT_REC_THREAD: the thread pointer: the pthread_t of the thread is equal to it, or just below it. */
		__u64 thread_pointer;
		__u64 function; /* SBT_REC_OUTLINED */
		__u64 probe; /* SBT_REC_TASKS: address of the probe */
		__u64 departed_ns; /* SBT_REC_JOINED, where sums are kept: the thread's last departure; else 0 */
	};
	union {
		__u64 inode; /* SBT_REC_EXEC, _SEEN: of the program's file; _SHARED: of the mapped file */
		__u64 return_ip; /* SBT_REC_OUTLINED: where the call that begins the region returns to */
		__u64 looks; /* SBT_REC_EXIT of the process: sbt_proc.looks */
		__u64 replaces; /* SBT_REC_COPY: 1 where other memory was before */
	};
	union {
		__u64 code_end; /* SBT_REC_EXEC, _SEEN: where the program's code ends */
		__u64 range_end; /* SBT_REC_SHARED, _COPY */
	};
	union {
		__u64 stack_start; /* SBT_REC_EXEC, _SEEN: where the stack of its first thread began */
		__u64 file_offset; /* SBT_REC_SHARED: of the mapping */
		__u64 own_code; /* SBT_REC_COPY: 1 where the program's own code is */
	};
	union {
		__u32 family; /* SBT_REC_OUTLINED: enum sbt_family */
		__u32 device; /* SBT_REC_EXEC, _SEEN, _SHARED: of the file, as /proc/PID/maps shows it */
		__u32 role; /* SBT_REC_HOT: enum sbt_role */
	};
	union {
		__u32 crossings; /* SBT_REC_EXIT: of the thread */
		__u32 refused; /* SBT_REC_SEEN: crossings of the process that were refused before */
		__u32 change; /* SBT_REC_MAP: its number among those of the process, from 1; 0 unknown */
	};
	__u32 cpu; /* _EXIT */
	__u32 pad;
	char comm[SBT_COMM_LEN];
};

_Static_assert(sizeof(struct sbt_crossing) == 80, "the rings are sized for this");
_Static_assert(sizeof(struct sbt_event) == 120, "the same");

#define SBT_LABEL_LEN 128

/* What a program calls one of its barriers. Told once, before the first crossing there. Untrusted. */
struct sbt_label {
	struct sbt_event event;
	__u32 label; /* sbt_crossing.label */
	__u32 line; /* 0 not known */
	__u32 loop; /* not 0: a loop barrier */
	__u32 pad;
	__u64 ip; /* of the marker */
	__u64 file_at, name_at; /* where the texts are; 0: there is none */
	char file[SBT_LABEL_LEN]; /* ""; or its page was not in memory; cut */
	char name[SBT_LABEL_LEN]; /* likewise */
};

#endif /* SBT_RECORD_H */
