/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The records that BPF programs pass to user space in the rings. Both sides include this header.
 * Times are nanoseconds of CLOCK_MONOTONIC (bpf_ktime_get_ns()).
 */
#ifndef SBT_RECORD_H
#define SBT_RECORD_H

#ifndef __KERNEL_SUBSET_H
#include <linux/types.h>
#endif

#include "sbt/parts.h"

#define SBT_COMM_LEN 16

/* Append only: the numbers are in recordings. */
enum sbt_family {
	SBT_FAMILY_NONE = 0,
	SBT_FAMILY_PTHREAD = 1,
	SBT_FAMILY_GOMP = 2,
	SBT_FAMILY_LIBOMP = 3,
	SBT_FAMILY_MPI = 4,
	SBT_FAMILY_STD = 5, /* C++, Boost, Rust */
	SBT_FAMILY_USDT = 6, /* named barriers: include/sbt/sbt.h */
	SBT_FAMILY_USER = 7, /* -b */
	SBT_FAMILY_COND = 8, /* discovered: a condition variable */
	SBT_FAMILY_FUTEX = 9, /* discovered: a futex word */
	SBT_FAMILY_FORKJOIN = 10,
	SBT_FAMILY_ABSL = 11, /* absl::Barrier of Abseil */
	SBT_FAMILY_PYTHON = 12, /* barriers and similar objects of Python's library */
	SBT_FAMILY_PYTHON_COND = 13, /* discovered: a condition of Python's library */
	SBT_FAMILIES
};

/*
 * Numbers of probe groups. --cost-limit can detach each group separately. Numbers of
 * SBT_PROBE_GROUPS_NAMED or more are groups of functions that sites/family.c names. Numbers of
 * SBT_PROBE_GROUPS_USER or more are functions that the user named. All other functions of a family
 * are in the group with the family's number. A set of groups has one bit for each group.
 */
#define SBT_PROBE_GROUPS	64
#define SBT_PROBE_GROUPS_NAMED	16
#define SBT_PROBE_GROUPS_USER	32
#define SBT_PROBE_GROUP(number) (1ULL << ((number) & (SBT_PROBE_GROUPS - 1)))

/* What makes threads wait for each other. Append only. */
enum sbt_kind {
	SBT_KIND_EXPLICIT, /* the program calls the barrier */
	SBT_KIND_LOOP, /* the end of a loop that threads share */
	SBT_KIND_SECTIONS,
	SBT_KIND_SINGLE,
	SBT_KIND_TASK,
	SBT_KIND_JOIN, /* the end of a parallel region */
	SBT_KIND_COLLECTIVE, /* an operation of all ranks */
	SBT_KIND_PHASE, /* a marker in the program ends a phase: no thread waits */
	SBT_KIND_SEMAPHORE, /* a candidate of family COND that is a semaphore */
	/* a join of family FORKJOIN that waits for all threads that the thread has created */
	SBT_KIND_JOIN_ALL,
	SBT_KINDS
};

enum sbt_record_type {
	SBT_REC_CROSSING = 1, /* struct sbt_crossing, in the per-CPU rings */
	/*
	 * the first crossing (or candidate) of a process: struct sbt_event in the event ring, like
	 * all types below that name no other struct
	 */
	SBT_REC_SEEN = 2,
	SBT_REC_FORK = 3, /* a traced process created a process */
	SBT_REC_THREAD = 4, /* a traced process created a thread */
	SBT_REC_EXEC = 5, /* a traced process replaced its program */
	SBT_REC_EXIT = 6, /* a thread of a traced process ended */
	SBT_REC_MAP = 7, /* the mappings of a process have changed */
	/*
	 * struct sbt_crossing: what a thread that ended did after its last departure or, if its
	 * `seq` is 0, since its start. In the latter case `inc` may be 0.
	 */
	SBT_REC_TAIL = 8,
	/*
	 * struct sbt_crossing: after a crossing with SBT_CROSSING_NO_DEPART, the thread continues
	 * at depart_ns
	 */
	SBT_REC_RESUME = 9,
	SBT_REC_LABEL = 10, /* struct sbt_label */
	SBT_REC_OUTLINED = 11, /* struct sbt_event: the function of a region has no probe yet */
	/*
	 * struct sbt_crossing of family COND or FUTEX: a thread waited, or woke other threads. User
	 * space finds out whether that was at a barrier. `seq` does not count this record. For a
	 * wake-up depart_ns equals arrive_ns, also in crossings of discovered barriers.
	 */
	SBT_REC_CANDIDATE = 12,
	/* struct sbt_callers: a stack sample that shows the callers of a crossing that follows */
	SBT_REC_CALLERS = 13,
	/*
	 * struct sbt_crossing, but not a crossing: a conceptual phase of a thread begins or ends
	 * (`mark`) at `label`, at depart_ns. Its parts and counters are those of the thread's phase
	 * so far. Without a label: the thread reads or writes `bytes` bytes of the data of thread
	 * `owner`.
	 */
	SBT_REC_MARK = 14,
	/*
	 * struct sbt_event: thread `tid` fell asleep at a futex word, as on a condition variable,
	 * and its process has no probes on such waits yet. There is no record of the end of the
	 * wait.
	 */
	SBT_REC_UNPROBED = 15,
	/*
	 * struct sbt_event: a barrier that processes may share was created in the mapping from
	 * `range_start` to `range_end`. `device`, `inode` and `file_offset` identify the file;
	 * inode 0: other processes cannot share it. An unchanged mapping is not reported again.
	 * Written only on Linux 5.17 and later.
	 */
	SBT_REC_SHARED = 16,
	/*
	 * struct sbt_event: probes with `role` have many useless hits. SBT_ROLE_COND_WAIT: at
	 * condition variables that are not known to be barriers; SBT_ROLE_TURN: by threads that get
	 * their turn at once; SBT_ROLE_SEM_WAIT: at semaphores.
	 */
	SBT_REC_HOT = 17,
	/*
	 * struct sbt_event: a process creates or runs OpenMP tasks, as the probe at `probe` found.
	 * That probe is no longer needed.
	 */
	SBT_REC_TASKS = 18,
	/*
	 * struct sbt_event: the memory from `range_start` to `range_end` became code of a process.
	 * It may be a copy of code with probes. `inc` is 0 if the process is not traced. Written
	 * only on x86-64.
	 */
	SBT_REC_COPY = 19,
	/*
	 * struct sbt_event: thread `tid` waited from `since_ns` on for the end of another thread of
	 * its process. Written only if the functions that join threads have no probes.
	 */
	SBT_REC_JOINED = 20,
	/*
	 * struct sbt_sample: a sample of a thread on a CPU, taken at arrive_ns. depart_ns is
	 * earlier; it is only the record's place in the order. `ip` is the thread's position, not a
	 * return address.
	 */
	SBT_REC_SAMPLE = 21,
	SBT_REC_PYTHON = 22, /* struct sbt_python_site */
	/* struct sbt_python_site: a function that samples have (sbt_python_at.function) */
	SBT_REC_PYTHON_CODE = 23,
	/* struct sbt_arrival: a thread arrived at a barrier, and its departure is not seen */
	SBT_REC_ARRIVAL = 24,
	/*
	 * struct sbt_arrival: the thread has left the barrier of its last SBT_REC_ARRIVAL, or it
	 * exits.
	 * This is written before the first other record with parts. `seq` does not count it.
	 */
	SBT_REC_LEFT = 25,
	/*
	 * struct sbt_event, written once: a thread arrived at a barrier of an OpenMP team, and its
	 * departure cannot be inferred. The end of the barrier has no probe (SBT_TEAM_ARRIVALS).
	 */
	SBT_REC_ENDS = 26,
};

/*
 * sbt_crossing.passed of a wait that follows the arrival (SBT_SPEC_PHASE, SBT_SPEC_LATCH); 0:
 * nothing is known. Without SBT_RESULT_OVER the episode was not released yet when the wait began,
 * and `team` belongs to this episode. With SBT_RESULT_OVER the thread arrived last or began to wait
 * late, and `team` belongs to a later episode.
 */
#define SBT_RESULT_PASSED 0x8000
#define SBT_RESULT_LATCH  0x4000
#define SBT_RESULT_OVER	  0x2000
/* std::barrier: the phase; latch: at least this many threads had not arrived when the wait began */
#define SBT_RESULT_VALUE  0x1fff

/* sbt_crossing.flags */
/* the call never returned: longjmp, exception, cancellation or exit */
#define SBT_CROSSING_ABANDONED 0x01
#define SBT_CROSSING_NO_WORDS  0x02 /* the barrier object could not be read: the count is unknown */
/* the return address could not be read: the call site is unknown */
#define SBT_CROSSING_NO_IP     0x04
/*
 * The thread's time since its last departure (or start) is accounted for. Without
 * SBT_CROSSING_PARTS the thread was on a CPU during its whole phase. Without SBT_CROSSING_INSIDE it
 * was on a CPU during its whole wait.
 */
#define SBT_CROSSING_ACCOUNTED 0x08
#define SBT_CROSSING_INSIDE    0x10 /* the record is followed by struct sbt_inside */
#define SBT_CROSSING_PARTS     0x20 /* then by struct sbt_parts */
#define SBT_CROSSING_COUNTERS  0x40 /* then by struct sbt_counters */
/*
 * The departure cannot be seen (a worker at the end of a parallel region): depart_ns is 0. A record
 * of type SBT_REC_RESUME reports when the thread runs its next region. `begun_ns` of that record is
 * the time at which the creator of the next region began it.
 */
#define SBT_CROSSING_NO_DEPART 0x80
/*
 * The call also created an object, which `handle` names. SBT_CROSSING_NO_WORDS: the handle could
 * not be read. The handle is invalid if the call never returned. `made` distinguishes the objects
 * that one call created, or is SBT_WHAT_UNKNOWN.
 */
#define SBT_CROSSING_MAKES     0x100
/* `round` is known: GOMP, LIBOMP; with SBT_CROSSING_INFERRED, also other barriers. */
#define SBT_CROSSING_ROUND     0x200
/* depart_ns was inferred from the release and from the times when the thread was off the CPU. */
#define SBT_CROSSING_INFERRED  0x400
/* The time of the departure could not be inferred: depart_ns is an upper bound. */
#define SBT_CROSSING_UNTIMED   0x800

/*
 * One crossing of a barrier by a thread, written at its departure. An arrival without a departure
 * is written when the thread arrives again or exits: with SBT_CROSSING_ABANDONED, and with the time
 * of that event as depart_ns. The records of a thread are in the order of depart_ns.
 */
struct sbt_crossing {
	__u64 arrive_ns;
	__u64 depart_ns;
	union {
		__u64 object; /* address of the barrier or candidate in the process */
		__u64 joined; /* FORKJOIN, SBT_KIND_JOIN: pthread_t of the joined thread */
		__u64 begun_ns; /* SBT_REC_RESUME: when the region was begun; 0 unknown */
		/*
		 * SBT_REC_MARK without a label: the program's own number of the thread that owns
		 * the data
		 */
		__u64 owner;
		__u64 sample; /* SBT_REC_CALLERS: name of the sample */
	};
	__u64 ip; /* return address of the call: its call site */
	union {
		__u64 raw_word; /* pthread: 8 bytes of the object; family_read_words() decodes it */
		__u64 team; /* other barriers: how many threads they wait for; 0 unknown */
		/*
		 * COND, FUTEX: the caller of the function that contains `ip`: an address, or the
		 * name of a chain or of a struct sbt_callers; 0 unknown.
		 */
		__u64 callers;
		/* PYTHON_COND: label of the call to wait() or notify_all() */
		__u64 within;
		__u64 handle; /* SBT_CROSSING_MAKES: handle of the created object */
		__u64 bytes; /* SBT_REC_MARK without a label: size of the access */
		__u64 wanted; /* SBT_REC_CALLERS: number of callers to find */
	};
	__u32 tgid;
	__u32 tid;
	__u32 inc; /* incarnation of the process: distinguishes reuses of a PID, and execs */
	__u32 seq; /* number among the thread's crossings; a gap means a lost record */
	__u16 arrive_cpu;
	__u16 depart_cpu;
	__u8 type; /* SBT_REC_CROSSING */
	__u8 family; /* enum sbt_family */
	__u8 kind; /* enum sbt_kind */
	__u8 depth; /* 0: outermost; counts nested waits */
	__u16 flags;
	__u16 spec; /* number of the probe's struct sbt_spec */
	__u16 index; /* rank, OpenMP thread number or the program's own number, plus 1; 0 unknown */
	union {
		__u16 result; /* 0, or one of the following */
		__u16 error; /* COND, FUTEX, FORKJOIN: the errno that the wait returned; 0 none */
		/*
		 * FUTEX, for a wake-up: maximum number of threads to wake; 65535: that many or more
		 */
		__u16 wakes;
		__u16 passed; /* STD: SBT_RESULT_* */
		__u16 mark; /* SBT_REC_MARK: SBT_MARK_* */
	};
	union {
		__u32 label; /* marks, PYTHON, PYTHON_COND: sbt_label.label; 0 none */
		__u32 made; /* SBT_CROSSING_MAKES: which of the objects that one call created */
		__u32 expected; /* SBT_REC_CANDIDATE, FUTEX: the value that the wait expected */
		/*
		 * SBT_REC_CANDIDATE, COND: number of earlier waits on the object, as glibc counts
		 * them (SBT_CROSSING_NO_WORDS: it could not be read).
		 */
		__u32 earlier_waits;
		__u32 value; /* to copy `expected` or `earlier_waits`, whichever is valid */
		/*
		 * SBT_CROSSING_ROUND: number of the team's episode. Upper half: number of regions
		 * that the creator of this region has begun. Lower half: number of the barrier in
		 * the region; SBT_ROUND_JOIN: the region's end. Not in a team: number of an
		 * episode with certain members (user/ingest/departures.c).
		 */
		__u32 round;
	};
	union {
		/*
		 * Handler time (ns) of the BPF program at the arrival, up to arrive_ns, without the
		 * code that differs between families. Measured for some crossings only, and never
		 * at joins, condition variables, futexes and marks; 0: not measured.
		 */
		__u32 handler_ns;
		/*
		 * SBT_REC_CANDIDATE, a wait on a condition variable: hash of what the waiting
		 * functions keep in registers and on the stack. It is equal if the thread waits
		 * again in the same call, and nearly always different in another call. 0: unknown.
		 */
		__u32 held;
	};
};

/* The lower half of sbt_crossing.round at the end of a region. */
#define SBT_ROUND_JOIN 0xffff

/* sbt_crossing.mark, as in include/sbt/sbt.h. */
#define SBT_MARK_BEGIN 1
#define SBT_MARK_END   2
#define SBT_MARK_READ  3
#define SBT_MARK_WRITE 4

/* Why a thread was blocked. Append only. */
enum sbt_blocked { SBT_PART_REASONS(SBT_PART_REASON, SBT_BLOCKED_) SBT_BLOCKED_REASONS };

/* What the holder of a lock, or the waker, did during most of the wait. */
enum sbt_doing {
	SBT_DOING_UNKNOWN,
	SBT_DOING_ONCPU,
	SBT_DOING_RUNQ, /* waited for a CPU itself */
	SBT_DOING_BLOCKED, /* + enum sbt_blocked */
};

/* What a thread waited for if the reason is SBT_BLOCKED_OTHER. Append only. */
enum sbt_other {
	SBT_OTHER_UNKNOWN,
	SBT_OTHER_STOPPED, /* by a signal or a debugger */
	SBT_OTHER_CHILD, /* for a child process to end */
	SBT_OTHER_SIGNAL, /* for a signal */
};

/*
 * Keys of files that are no key of a name. A name's key has the number of its device in the upper
 * bits, so it is larger.
 */
enum sbt_file_key {
	SBT_FILE_UNKNOWN,
	SBT_FILE_SEVERAL, /* one of several files, with a call such as poll() */
};

/*
 * The kind of object that the thread waited at. It is derived from the system call or, for a futex,
 * from the operation and the expected value. Append only.
 */
enum sbt_waited {
	SBT_WAITED_UNKNOWN,
	SBT_WAITED_LOCK, /* a mutex or read-write lock, as its word shows; a lock of a file */
	/*
	 * the end of thread `holder`: the kernel wakes the waiters at a word that belongs to that
	 * thread
	 */
	SBT_WAITED_JOIN,
	SBT_WAITED_EVENT, /* glibc's semaphores and condition variables */
	SBT_WAITED_SEMAPHORE, /* a System V semaphore */
	/* SBT_BLOCKED_IO: thread `waker` ended the wait, for example by writing to the pipe */
	SBT_WAITED_WAKER,
};

/* The object that a thread was blocked on. The reason (enum sbt_blocked) is the tag. */
union sbt_blocked_at {
	/* the value of whichever member below is valid, to copy or compare it; 0 unknown */
	__u64 key;
	__u64 futex; /* SBT_BLOCKED_LOCK: address of the futex */
	/* SBT_BLOCKED_IO: key of the file's name in the map `file_names`, or enum sbt_file_key */
	__u64 file;
	__u64 fault_addr; /* SBT_BLOCKED_FAULT: address that the thread accessed */
	__u64 other; /* SBT_BLOCKED_OTHER: enum sbt_other */
	/*
	 * SBT_BLOCKED_GIL: code object of the Python function that `holder` executed; if that is
	 * unknown, address of the GIL
	 */
	__u64 gil;
};

/* The longest time for which the thread was blocked for one reason, in one phase. */
struct sbt_block {
	__u64 ns; /* 0: none */
	union sbt_blocked_at at; /* `reason` is the tag */
	/*
	 * key of the user stack (struct sbt_stack); or, up to 32 bits, label of a position in
	 * Python code (struct sbt_python_site): where the thread waits, or for SBT_BLOCKED_GIL
	 * what the holder executed; 0 none
	 */
	__u64 stack;
	__u64 doing_ns; /* how long the holder, or else the waker, was in the state `doing` */
	__u32 waker; /* the thread that ended the wait; 0: a timer or device ended it, or unknown */
	/*
	 * the thread that held the lock longest, or the GIL when the wait began, or the thread that
	 * was waited for to end; 0 unknown
	 */
	__u32 holder;
	/*
	 * the thread that ran instead of the holder or waker, or that held what the holder or waker
	 * waited for; 0 none
	 */
	__u32 culprit;
	__u8 reason; /* enum sbt_blocked */
	__u8 doing; /* enum sbt_doing */
	__u8 among; /* threads other than `holder` held the lock for over a quarter of the wait */
	__u8 waited; /* enum sbt_waited */
};

/* The waits of a thread in one call path that another thread of the process ended. */
struct sbt_waker {
	__u32 tid; /* the thread that ended the waits; 0: this entry is free */
	__u32 waits;
	__u64 ns; /* sum of the waits */
	__u64 stack; /* as in struct sbt_block */
};

#define SBT_WAKERS 16

/*
 * Which threads ended a thread's waits outside barriers, for semaphores, condition variables and
 * other futexes that are no locks.
 */
struct sbt_wakers {
	__u32 tgid; /* process of the thread that waited */
	__u32 more; /* number of waits without an entry */
	struct sbt_waker wakers[SBT_WAKERS];
};

/* How the thread spent the time between its arrival and its departure. Times in ns. */
struct sbt_inside {
	__u64 oncpu_ns; /* time on a CPU, spinning */
	__u64 runq_ns; /* time during which the thread was ready to run, but had no CPU */
	__u64 ran_ns; /* part of runq_ns while `ran` had the CPU */
	__u32 ran; /* the task that had the CPU for most of runq_ns; 0 none */
	__u32 switches;
};

/*
 * How the thread spent the time between its last departure (or its start) and its arrival. Times in
 * ns.
 */
struct sbt_parts {
	SBT_PART_STATES(SBT_PART_MEMBER, __u64)
	__u64 blocked_ns[SBT_BLOCKED_REASONS];
	SBT_PART_TIMES(SBT_PART_MEMBER, __u64)
	__u64 fault_addr; /* address of the longest page fault */
	/* part of turn_ns and begin_ns during which the thread was on a CPU, spinning */
	__u64 turn_oncpu_ns;
	__u64 ran_ns; /* part of runq_ns while `ran` had the CPU */
	SBT_PART_COUNTS(SBT_PART_MEMBER, __u32)
	__u32 ran;
	__u32 cpus_allowed;
	/*
	 * the longest block for the reason with the longest total time, and for the reason with the
	 * second longest
	 */
	struct sbt_block block, second;
};

#define SBT_COUNTERS_MAX 8

/*
 * Counts in the phase and inside the barrier, in the order in which the user named the counters.
 * Elements n and above are unset.
 */
struct sbt_counters {
	__u64 phase[SBT_COUNTERS_MAX];
	__u64 inside[SBT_COUNTERS_MAX];
	__u8 scaled; /* bit set: multiplexed, scaled by enabled / running time */
	__u8 unknown; /* bit set: not counted for part of the time, so the value is unknown */
	__u8 n;
	__u8 pad[5];
};

/* The largest crossing record. */
struct sbt_crossing_full {
	struct sbt_crossing crossing;
	struct sbt_inside inside;
	struct sbt_parts parts;
	struct sbt_counters counters;
};

/* --- arrivals without a seen departure -------------------------------------------------------- */

/*
 * Set in sbt_arrival.stamp, to distinguish the struct from struct sbt_crossing: no time has this
 * bit.
 */
#define SBT_ARRIVAL_STAMP (1ULL << 63)

/* sbt_arrival.length: how much of struct sbt_arrival_full the record has. */
enum sbt_arrival_length {
	SBT_ARRIVAL_SHORT, /* only `head`: the thread was on a CPU since its last record */
	SBT_ARRIVAL_TEAM, /* the same in an OpenMP team: the members up to `kind` follow */
	SBT_ARRIVAL_ONE, /* up to the first element of `off`; no parts: see SBT_CROSSING_PARTS */
	SBT_ARRIVAL_ALL,
};

/*
 * An arrival at a barrier with a known number of members. User space infers the departure: see
 * user/ingest/departures.h. Most arrivals need no more than this struct.
 */
struct sbt_arrival {
	__u64 stamp; /* time of the arrival, or of SBT_REC_LEFT, and SBT_ARRIVAL_STAMP */
	__u64 object;
	__u64 ip; /* as in struct sbt_crossing, down to `spec` */
	__u32 tgid;
	__u32 tid;
	__u32 inc;
	__u32 seq;
	__u16 cpu;
	__u16 spec;
	__u16 flags; /* SBT_CROSSING_* */
	__u8 type; /* SBT_REC_ARRIVAL or SBT_REC_LEFT */
	__u8 length; /* enum sbt_arrival_length */
};

#define SBT_OFFS 4

/*
 * A time during which a thread was off the CPU, after its last arrival and perhaps inside the
 * barrier. The sums (ns) begin where those of the previous element end, or at the arrival.
 */
struct sbt_off {
	__u64 out_ns, in_ns; /* when it left its CPU, and when it got a CPU again */
	__u64 oncpu_ns; /* time on a CPU before out_ns */
	__u64 runq_ns; /* time during which it was ready to run, but had no CPU */
	__u64 ran_ns; /* part of runq_ns while `ran` had the CPU */
	__u32 ran; /* 0: none */
	/* thread that woke it and was itself at the same barrier; 0: none */
	__u32 waker;
	__u32 cpu; /* on which it continued */
	__u32 inside; /* 1: its system call shows that it was inside the barrier */
};

struct sbt_arrival_full {
	struct sbt_arrival head;
	__u64 raw_word; /* as in struct sbt_crossing, if .has_words, and in a team */
	/*
	 * As in struct sbt_crossing. SBT_REC_LEFT: if `flags` has SBT_CROSSING_ROUND, the thread
	 * arrives now in this episode of the same team, and its departure will be seen.
	 */
	__u32 round;
	__u16 index; /* as in struct sbt_crossing; a shorter record follows one with the same */
	__u8 kind; /* as in struct sbt_crossing, in a team */
	__u8 pad;
	__u64 first_word; /* pthread: the first 8 bytes of the object, if .has_words */
	/*
	 * when the thread last woke a thread that waited at the barrier of its last arrival; 0:
	 * never
	 */
	__u64 woke_ns;
	/* when the thread was seen to have left that barrier; 0: it was not seen */
	__u64 left_ns;
	__u32 handler_ns; /* as in struct sbt_crossing */
	__u8 noffs; /* number of elements of `off`, since the last arrival */
	/* Elements were merged into the last one, because there were more than SBT_OFFS. */
	__u8 merged;
	__u8 unsure; /* the thread was off the CPU at another time, which is not known */
	__u8 has_words;
	__u8 woke_idle; /* at woke_ns, the other thread's CPU was another one, and idle */
	__u8 pad2[7];
	struct sbt_off off[SBT_OFFS];
	struct sbt_parts parts; /* since off[noffs - 1].in_ns, or since the last arrival */
};

#define SBT_CALLERS_BYTES 512
#define SBT_CALLERS_DEEP  2048 /* the same limit with --frames */

/*
 * A sample of a thread's stack. SBT_REC_CALLERS: no rule is known yet to find the callers of a
 * call, and the crossing that names this sample follows later. In `head` only the process, `ip`,
 * `wanted` and `sample` are set. SBT_REC_SAMPLE: in `head` only the thread, the times, the CPU and
 * `ip` are set.
 */
struct sbt_callers {
	struct sbt_crossing head;
	/* address of bytes[0]; SBT_REC_CALLERS: stack pointer after the call has returned */
	__u64 sp;
	__u64 fp;
	__u64 link; /* arm64: the link register at a system call or of a sample; else 0 */
	__u32 len; /* number of bytes that could be read */
	__u32 pad;
	__u8 bytes[SBT_CALLERS_DEEP]; /* shorter without --frames */
};

#define SBT_SAMPLE_PYTHON 16

/* A function of Python that a thread executes. */
struct sbt_python_at {
	__u64 code; /* address of the code object; 0: a C function */
	__u32 at; /* distance of the instruction from the first one in bytes */
	/*
	 * number by which this function differs from others that were at its address, as in
	 * SBT_REC_PYTHON_CODE; 0: unknown
	 */
	__u32 function;
};

/* A sample of a thread on a CPU. */
struct sbt_sample {
	struct sbt_callers callers;
	__u32 npython; /* number of Python functions, 0 if the thread executes none */
	__u32 pad;
	struct sbt_python_at python[SBT_SAMPLE_PYTHON]; /* innermost first */
};

/* number of words, enough for struct pt_regs (x86-64) or user_pt_regs (arm64) */
#define SBT_STACK_REGS	34
#define SBT_STACK_BYTES 8192

/* The stack of a thread when it blocked, to be unwound later. */
struct sbt_stack {
	__u64 regs[SBT_STACK_REGS]; /* in the layout of the kernel on this architecture */
	__u64 sp; /* address of bytes[0] */
	__u32 len; /* number of bytes that could be read */
	__u32 tgid;
	__u8 bytes[SBT_STACK_BYTES];
};

/* sbt_event.flags */
#define SBT_EVENT_HELD \
	0x01 /* SBT_REC_EXEC, _MAP, _COPY: the process was stopped and waits for SIGCONT */
#define SBT_EVENT_LEADER  0x02 /* SBT_REC_EXIT: the whole process ended */
#define SBT_EVENT_PENDING 0x04 /* SBT_REC_EXIT: the thread was inside a barrier */
#define SBT_EVENT_UNSEEN  0x08 /* SBT_REC_SHARED: what the page at `range_start` maps is unknown */
#define SBT_EVENT_TRAPPED 0x10 /* SBT_REC_EXIT: SIGTRAP ended it */

/* An event of a process or thread. Events are rare, and never in the rings of crossings. */
struct sbt_event {
	__u64 t_ns;
	__u32 type;
	__u32 flags;
	__u32 tgid;
	__u32 tid;
	__u32 inc;
	__u32 parent_tgid; /* SBT_REC_FORK: the process that forked */
	__u32 parent_inc;
	__u32 creator; /* SBT_REC_THREAD: the thread that created it */
	union {
		/*
		 * SBT_REC_SEEN: when the process was created. SBT_REC_EXIT, SBT_REC_THREAD: when
		 * the thread was created (0: at t_ns)
		 */
		__u64 start_ns;
		__u64 since_ns; /* SBT_REC_JOINED: when the wait began */
	};
	__u64 busy_ns; /* SBT_REC_EXIT: time on a CPU or waiting for one; 0 unknown */
	union {
		__u64 code_start; /* SBT_REC_EXEC, _SEEN: start of the program's code; 0 unknown */
		__u64 range_start; /* SBT_REC_SHARED: start of the mapping; _COPY: of the code */
		/*
		 * SBT_REC_THREAD: the thread pointer. The thread's pthread_t is equal to it, or
		 * just below it.
		 */
		__u64 thread_pointer;
		__u64 function; /* SBT_REC_OUTLINED: address of the function */
		__u64 probe; /* SBT_REC_TASKS: address of the probe */
		/* SBT_REC_JOINED with --aggregate: the thread's last departure; else 0 */
		__u64 departed_ns;
	};
	union {
		/* SBT_REC_EXEC, _SEEN: inode of the program; _SHARED: of the mapped file */
		__u64 inode;
		__u64 return_ip; /* SBT_REC_OUTLINED: return address of the region's beginning */
		__u64 looks; /* SBT_REC_EXIT of the process: sbt_proc.looks */
		__u64 replaces; /* SBT_REC_COPY: 1 if the range replaced other memory */
	};
	union {
		__u64 code_end; /* SBT_REC_EXEC, _SEEN: end of the program's code */
		__u64 range_end; /* SBT_REC_SHARED, _COPY: end of the range */
	};
	union {
		__u64 stack_start; /* SBT_REC_EXEC, _SEEN: start of the first thread's stack */
		__u64 file_offset; /* SBT_REC_SHARED: offset of the mapping */
		/* SBT_REC_COPY: 1 if the range is where the program's own code is */
		__u64 own_code;
	};
	union {
		__u32 family; /* SBT_REC_OUTLINED: enum sbt_family */
		__u32 device; /* SBT_REC_EXEC, _SEEN, _SHARED: as /proc/PID/maps shows it */
		__u32 role; /* SBT_REC_HOT: enum sbt_role */
	};
	union {
		__u32 crossings; /* SBT_REC_EXIT: number of the thread's crossings */
		__u32 refused; /* SBT_REC_SEEN: crossings of the process that were refused before */
		/* SBT_REC_MAP: the value of sbt_proc.mappings after the change; 0 unknown */
		__u32 change;
	};
	__u32 cpu; /* SBT_REC_EXIT: CPU on which the thread ended */
	__u32 pad;
	char comm[SBT_COMM_LEN];
};

_Static_assert(sizeof(struct sbt_crossing) == 80, "the rings are sized for this");
_Static_assert(sizeof(struct sbt_event) == 120, "the same");

#define SBT_LABEL_LEN 128

/*
 * The name that a program gives to a barrier or a phase. It is sent once, before the first crossing
 * at that marker. The text is untrusted.
 */
struct sbt_label {
	struct sbt_event event;
	__u32 label; /* sbt_crossing.label */
	__u32 line; /* 0 unknown */
	__u32 loop; /* nonzero: a loop barrier */
	__u32 pad;
	__u64 ip; /* address of the marker */
	__u64 file_at, name_at; /* addresses of the texts; 0 none */
	char file[SBT_LABEL_LEN]; /* cut to this size; "" if its page was not in memory */
	char name[SBT_LABEL_LEN]; /* like `file` */
};

/* What a thread of a Python program waits at. Append only. */
enum sbt_python_what {
	SBT_PYTHON_NOTHING, /* nothing that is reported */
	SBT_PYTHON_BARRIER, /* threading.Barrier or multiprocessing.Barrier */
	SBT_PYTHON_EVENT, /* threading.Event */
	SBT_PYTHON_QUEUE, /* queue.Queue.join() */
	SBT_PYTHON_FUTURES, /* concurrent.futures.wait() */
	SBT_PYTHON_POOL, /* multiprocessing.pool.Pool.map() and similar */
	/* threading.Condition in the program's own code: a barrier only if discovered as one */
	SBT_PYTHON_CONDITION,
	SBT_PYTHON_WHATS
};

#define SBT_PYTHON_FILE_LEN  256
#define SBT_PYTHON_NAME_LEN  128
#define SBT_PYTHON_LINES_LEN 4096

/* A text of the interpreter: its characters as they are in memory. Untrusted. */
struct sbt_python_text {
	__u32 n; /* number of characters that were copied; 0: the text could not be read */
	__u32 width; /* bytes of a character: 1, 2 or 4 */
};

/*
 * SBT_REC_PYTHON: the call by which Python code waits at an object, or wakes the threads that wait
 * there. It is sent before the first crossing with this label. SBT_REC_PYTHON_CODE: a function in
 * samples. It is sent at about the time of the first such sample if there is room, and sometimes
 * again. `label` is the function's number; `at` and `what` are 0.
 */
struct sbt_python_site {
	struct sbt_event event;
	__u64 code; /* address of the code object that contains the call */
	__u64 lines_at; /* address of the contents of its line table */
	__u64 lines_size; /* size of the table in bytes; only the beginning may be in `lines` */
	__u32 label; /* sbt_crossing.label */
	__u32 at; /* distance of the call from the first instruction in bytes */
	__u32 first_line;
	__u32 lines_len; /* number of bytes in `lines` */
	__u8 minor; /* version: minor number of Python 3 */
	__u8 what; /* enum sbt_python_what */
	__u16 pad;
	__u32 pad2;
	struct sbt_python_text file, name; /* a longer file name lacks its beginning */
	__u8 file_chars[SBT_PYTHON_FILE_LEN];
	__u8 name_chars[SBT_PYTHON_NAME_LEN];
	__u8 lines[SBT_PYTHON_LINES_LEN];
};

#endif /* SBT_RECORD_H */
