/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * State that the BPF programs keep between events, and their configuration. Shared with user space
 * (attach/), which reads and writes the same structs. Keep this header free of BPF and kernel
 * includes.
 */
#ifndef SBT_STATE_H
#define SBT_STATE_H

#include <linux/types.h>

#include "sbt/probe.h"
#include "sbt/python.h"
#include "sbt/record.h"

/* struct sbt_proc.flags */
/*
 * The process is not traced: it was examined and is not wanted (--comm, --cgroup, sbt-trace
 * itself), or it was detached (--cost-limit).
 */
#define SBT_PROC_EXCLUDED 0x01
#define SBT_PROC_SEEN	  0x02 /* has crossed a barrier, and user space was notified */
/* No return probes in this process: departures are seen at the ret instructions. */
#define SBT_PROC_BY_EXIT  0x04

/* The process runs a program that was not seen before, and its mappings are not examined yet. */
#define SBT_PROC_FRESH 0x08
#define SBT_PROC_KNOWN 0x10 /* in struct sbt_verdict: the program was examined */
/*
 * The functions in which the process's threads wait for other threads have probes, where probes are
 * possible.
 */
#define SBT_PROC_WAITS 0x20

/* Number of useless hits of one kind of probe within one second. */
struct sbt_idle {
	__u64 since_ns;
	__u32 looks;
	__u32 pad;
};

/* A process that is traced, or known not to be traced. Key: tgid. */
struct sbt_proc {
	__u32 inc;
	__u32 flags;
	/*
	 * Number of changes of the mappings that the process's dynamic linker has announced:
	 * sbt_event.change.
	 */
	__u32 mappings;
	/*
	 * The mapping that SBT_REC_SHARED reported last. reported_inc: the program (`inc`) that had
	 * this mapping.
	 */
	__u32 reported_inc;
	__u64 reported_start, reported_end, reported_offset, reported_ino;
	/*
	 * Number of probe hits on condition variables and turns that were not crossings, counted in
	 * steps of SBT_LOOKS_STEP.
	 */
	__u64 looks;
	struct sbt_idle conds, turns;
	/* SBT_REC_TASKS was reported for this program (`inc`); 0: for no program */
	__u32 tasks_inc;
	/*
	 * `copies` and `copied` have 16 bits because process_admit() keeps a struct sbt_proc on its
	 * stack.
	 */
	__u16 copies; /* number of SBT_REC_COPY reported for this program */
	__u16 copied; /* SBT_COPIED_AT() of the last copy */
};

/*
 * If the useless probe hits of a process reach SBT_LOOKS_MAX within SBT_LOOKS_NS (a second), the
 * process is reported to user space (SBT_REC_HOT). A thread adds its hits to those of the process
 * in steps of SBT_LOOKS_STEP.
 */
#define SBT_LOOKS_MAX  2000
#define SBT_LOOKS_STEP 16
#define SBT_LOOKS_NS   1000000000ULL

/*
 * In a process, examine at most this many pieces of code that belong to no file. Just-in-time
 * compilers make many such pieces. For memory where the program's own code is or was,
 * SBT_COPIES_OWN_MAX applies.
 */
#define SBT_COPIES_MAX	   64
#define SBT_COPIES_OWN_MAX 1024
#define SBT_COPIED_AT(ns)  ((__u16)((ns) >> 30)) /* in units of 2^30 ns, about a second */

/* The last SBT_REC_COPY of a process. Key: tgid. */
struct sbt_copied {
	__u64 ns, address;
};

/* What user space has found out about a process. Key: tgid. */
struct sbt_classified {
	__u64 word; /* inc << 32 | flags */
	__u64 detached; /* bit mask of probe groups */
};

/*
 * A wait that may turn out to be a barrier crossing. It is kept separately from the crossing under
 * way and from the thread's account, so that a wait does not disturb crossings of known barriers.
 */
struct sbt_waiting {
	/* Start of the wait on a condition variable or a futex; 0: the thread does not wait. */
	__u64 since_ns;
	__u64 object;
	__u64 ip;
	__u64 sp, entry;
	__u64 words;
	__u64 several; /* futex_waitv: address of the array of waiters; else 0 */
	/* stack pointer, return address and probe where the thread last woke other threads */
	__u64 wake_sp, wake_ip, wake_entry;
	/* `rule` is for the return address rule_ip in the incarnation rule_inc of the process. */
	__u64 rule_ip;
	struct sbt_frame_rule rule;
	__u32 rule_inc;
	/*
	 * futex: the value that the wait expects to change; condition variable: the thread's own
	 * count of waits
	 */
	__u32 value;
	__u32 held; /* sbt_crossing.held */
	__u16 cpu;
	__u16 spec;
	__u8 family;
	__u8 kind;
	__u8 quiet; /* the object is not a barrier, so nothing is written */
	__u8 unread; /* `value` could not be read */
	__u32 looks; /* hits not yet added to those of the process */
};

/* A wait of a thread for its turn (SBT_ROLE_TURN), in the innermost such function. */
struct sbt_turn_wait {
	/* Stack pointer in that function; 0: the thread does not wait; or SBT_TURN_REGION. */
	__u64 sp;
	__u64 since_ns;
	__u64 oncpu_ns; /* CPU time in the thread's account at the start of the wait */
	__u32 looks; /* hits not yet added to those of the process */
	__u32 idle; /* number of hits in `looks` that hardly waited */
};

/* sbt_turn_wait.sp: the thread has begun a region and does not run the region's function yet. */
#define SBT_TURN_REGION 1

/* A wait shorter than this (ns) counts as no wait: most of it would be the cost of the probe. */
#define SBT_TURN_NS	  3000
/*
 * After a wait shorter than this (ns) the hit counts as useless: the probe costs too much in
 * comparison.
 */
#define SBT_TURN_WORTH_NS 50000

/* --aggregate: the state of a thread that is needed to add its crossings to its sums. */
struct sbt_summing {
	__u64 born_ns; /* its first arrival; 0: none yet */
	__u64 depart_ns; /* its last departure; 0: none */
	__u64 release_ns; /* release of its last episode; 0: not known */
	/* number of the present crossing's episode among the episodes of its object */
	__u64 episode;
	__u64 sums_ip; /* the call site that `sums` belongs to */
	__u32 sums; /* index in `sums`, or SBT_SUM_NONE */
	__u32 open_episodes; /* index of the object in `meetings`, or SBT_SUM_NONE */
	__u32 epoch; /* value of `epoch` when open_episodes was found; 0: look it up */
	__u32 mappings; /* value of `mappings` when `sums` was found */
	/* 1: the call site of the crossing under way is known. 0: the departure will show it. */
	__u8 site_known;
	/* 1: the thread is the last arriver of `episode` so far. */
	__u8 closes;
	__u8 pad[2];
};

/* The registers of a frame as they will be when the function that it has called returns to @ip. */
struct sbt_frame {
	__u64 ip, sp, fp;
};

/* A walk up the stack: where it begins, and the frame that it has reached. */
struct sbt_walk {
	struct sbt_frame from, at;
	/* arm64, at a system call: return address of the function that makes the call */
	__u64 link;
	__u32 want; /* number of callers wanted, wrappers not counted */
	__u32 left; /* number of callers still wanted */
	__u32 plain; /* 1: a single caller is named by its address, without a chain */
	__u32 deep; /* 1: search as much of the stack as with --frames */
};

/* A process that runs a Python interpreter. Key: tgid. */
struct sbt_python {
	__u32 inc; /* incarnation of the process */
	__u32 pad;
	__u64 runtime; /* address of _PyRuntime */
	struct sbt_python_layout layout;
};

/* Key of `python_codes`. The texts distinguish code objects that were at the same address. */
struct sbt_python_code {
	__u64 code, name, file;
	__u32 tgid;
	__u32 pad;
};

/* Key of `python_sent`. */
struct sbt_python_function {
	__u64 code;
	__u32 number; /* sbt_python_at.function */
	__u32 tgid, inc; /* the process, and its incarnation */
	__u32 pad;
};

struct sbt_python_part {
	__u32 part; /* enum code_part of bpf/python.bpf.c */
	/* where the function waits for other threads; ~0: not known */
	__u32 wait_at;
};

/* What the Python frames of a thread show, when python_look() has read them. */
struct sbt_python_view {
	__u64 state; /* the interpreter's state of the thread; 0: not found yet */
	__u64 object; /* the condition at which the thread waits or notifies; 0: none */
	/* the object at which the thread last notified other threads, and when */
	__u64 woke_object, woke_ns;
	/* number of threads that waited there before the last of them was woken */
	__u32 woke_waiters;
	__u32 pad3;
	/* scratch memory: the code object of the call site, and the distance of the call in it */
	__u64 code, name, file;
	__u64 barrier; /* scratch memory: the barrier that contains `object`; 0: none */
	__u32 at;
	__u32 parties; /* number of threads that the barrier waits for; 0: unknown */
	__u32 seen; /* scratch memory: bits of enum code_part */
	__u32 label; /* sbt_crossing.label of the call site */
	__u8 what; /* enum sbt_python_what */
	__u8 wakes; /* 1: the thread notifies; 0: it waits */
	__u8 shared; /* 1: several processes use the object */
	__u8 notified; /* 1: another thread has woken the thread in its present wait for an event */
	__u8 releasing; /* 1: the last thread has arrived at the barrier */
	__u8 native; /* 1: `holder` is a thread's number; 0: it may be any number */
	__u8 pad[2];
	/*
	 * scratch memory: number of the thread that holds the GIL, in the program's PID namespace;
	 * 0: unknown
	 */
	__u32 holder;
	__u32 waiters; /* scratch memory: number of threads that wait where the thread notifies */
	__u32 held; /* scratch memory: sbt_crossing.held */
	__u32 within; /* a condition: label of the call to its wait() or notify_all() */
	__u64 left_ns; /* when the thread last ceased to wait */
};

/*
 * A traced thread. If arrive_ns is not 0, the thread is inside a barrier. The struct is a slot of
 * the array `threads`, at the thread's number or at one of SBT_THREAD_PROBES - 1 other positions.
 * The compiler inlines a look-up in an array; a look-up in a hash is a call that costs as much as
 * all other work. The hash `owners` decides which thread owns a slot.
 */
struct sbt_thread {
	__u32 tid; /* 0: free */
	__u32 tgid;
	__u64 arrive_ns;
	__u64 object;
	__u64 ip;
	/* --frames: name of the chain of callers that was found for the return address site_ip */
	__u64 site, site_ip;
	__u64 entry; /* address of the probe, which identifies the function */
	__u64 sp; /* stack pointer at that probe */
	__u64 words;
	__u64 words_object; /* the object that `words` were read from; 0: not read yet */
	__u32 words_epoch; /* value of `epoch` when `words` were read */
	__u32 inc;
	__u32 seq;
	/* flags of its process, copied at its first crossing and then updated by user space */
	__u32 proc_flags;
	/*
	 * Bit mask of the probe groups for which no arrivals are recorded any more (--cost-limit).
	 * Updated by user space, like proc_flags.
	 */
	__u64 detached;
	__u16 arrive_cpu;
	__u16 flags; /* SBT_CROSSING_* of the crossing under way */
	__u8 family;
	__u8 kind;
	__u16 spec;
	__u16 index;
	/*
	 * number that the program has given to the thread (SBT_ROLE_MARK_THREAD), plus 1; 0: none
	 */
	__u16 own_index;
	__u16 result; /* COND, FUTEX, STD: sbt_crossing.result */
	__u16 pad;
	/* These members have the same meaning as in struct sbt_crossing. */
	union {
		__u32 label;
		__u32 made;
		__u32 round;
	};
	__u8 marked; /* the thread arrived at a marker, not at the entry of a function */
	__u8 team; /* enum sbt_team_use */
	__u8 how; /* SBT_SPEC_* of the probe at `entry` */
	__u8 pad2;
	__u32 handler_ns; /* handler time of the crossing under way: sbt_crossing.handler_ns */
	__u32 handler_last; /* handler time of the last crossing for which it was measured */
	struct sbt_turn_wait turn;
	/* With --aggregate discovery is off, so only one of the two is needed. */
	union {
		struct sbt_waiting waiting;
		struct sbt_summing summing;
	};
	/*
	 * without accounting: when the thread last lost its CPU outside barriers; 0: it did not
	 * lose its CPU
	 */
	__u64 out_ns;
	struct sbt_walk walk; /* scratch memory of bpf/callers.bpf.c */
	struct sbt_python_view python;
};

/*
 * A named location in a program. The key includes the text, because the program may change the text
 * at an address. In Python code: the code object and the number of the function.
 */
struct sbt_label_key {
	__u64 file, name; /* addresses of the two texts */
	__u32 tgid, inc, line, loop;
	char text[32];
};

/* An object on which threads wait. Key of the map `objects`. */
struct sbt_object {
	__u64 address;
	__u32 tgid;
	__u32 inc;
};

/*
 * Value in `objects`: whether user space has classified the object, and whether a thread may have
 * begun to wait at it since the last wake-up.
 */
struct sbt_object_state {
	__u32 verdict; /* SBT_OBJECT_* */
	__u32 waits;
};

#define SBT_OBJECT_OPEN	   0 /* not classified: handled as if the object had no entry */
#define SBT_OBJECT_BARRIER 1 /* a barrier: its crossings are recorded like those of any barrier */
#define SBT_OBJECT_OTHER   2 /* no barrier: nothing is recorded */

#define SBT_SPECS	      1024
/*
 * Without cookies a probe is identified by its offset in its page. Where several probes have the
 * same offset, the code after the breakpoint identifies them. User space refuses a probe if another
 * probe has the same offset and the same code.
 */
#define SBT_PAGE_PROBE_SITES  4096
/*
 * In `page_places`, instead of a spec's number: several probes have this offset, so the code must
 * be compared.
 */
#define SBT_PROBE_SITE_SHARED 0xffffffff
#define SBT_CODE_BYTES	      8
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define SBT_BREAKPOINT_BYTES 4
#else
#define SBT_BREAKPOINT_BYTES 1
#endif

/* Key: an offset in a page, and the code there. */
struct sbt_probe_site {
	__u64 code;
	__u32 place;
	__u32 pad;
};

#define SBT_THREAD_PROBES 4
/*
 * Distance between the slots that a thread may have. It is large, because threads that are created
 * together have consecutive numbers: the second slot of one thread must not be the first slot of
 * another.
 */
#define SBT_THREAD_STRIDE 10007

/* The state of a thread, as its scheduler events show it. */
enum sbt_account_state {
	ACCOUNT_NONE, /* not known */
	ACCOUNT_RUNNING,
	ACCOUNT_RUNNABLE,
	ACCOUNT_BLOCKED,
	ACCOUNT_RESTING, /* not accounted for at the moment: it switches too often */
};

/*
 * A thread that is switched out SBT_REST_SWITCHES times within SBT_REST_NS, and crosses no barrier
 * meanwhile, is not accounted for until the end of these SBT_REST_NS. During this rest its waits
 * are not attributed to reasons. With counters no thread rests, because a counter needs every
 * switch.
 */
#define SBT_REST_SWITCHES 2000
#define SBT_REST_NS	  1000000000ULL

/*
 * While a thread waits for a CPU, other tasks run. In one phase, at most this many of them are
 * distinguished. A power of two.
 */
#define SBT_RUNS 4

struct sbt_run {
	__u64 ns;
	__u32 tid;
	__u32 pad;
};

#define ACCOUNT_NO_CPU	  0xffffffff
#define THROTTLED_UNKNOWN (~0ULL)

/* Indices of a thread's times: on a CPU, waiting for a CPU, blocked by reason. */
#define SBT_TIME_ONCPU	 0
#define SBT_TIME_RUNQ	 1
#define SBT_TIME_BLOCKED 2 /* + enum sbt_blocked */
#define SBT_TIMES	 (SBT_TIME_BLOCKED + SBT_BLOCKED_REASONS)

/*
 * The thread that had a CPU or a lock for most of a wait, and for how long (ns), according to the
 * log of the CPU or lock: occupancy_sum().
 */
struct sbt_most {
	__u32 tid; /* 0: not known */
	__u32 pad;
	__u64 ns;
	__u64 seen_ns; /* the part of the wait (ns) that the log covers, for all threads */
	__u64 votes, end_ns; /* scratch memory of occupancy_sum() */
};

/* The longest recent wait. The longer ago a wait ended, the less it counts: waited_longest(). */
struct sbt_waited_for {
	__u64 ns, end_ns;
	__u32 tid; /* 0: not known */
	__u32 pad;
};

/*
 * The account of a thread's time, in `accounts`, at the index of the thread's slot in `threads`.
 * The sums in it only grow. `mark` holds the values of the sums at the last arrival or departure.
 * `phase` holds the sums of the phase that the present crossing ended.
 *
 * The programs on a thread's own path can be preempted while they update its account. The account
 * is `busy` then, and a switch does not change the fields that they update. Instead, the code for
 * the switch adds up how long the thread was off its CPU, and how much the CPU's counters counted
 * for other threads meanwhile. These sums are subtracted from the thread's own time and counts.
 */
struct sbt_account {
	__u32 tid; /* 0: free */
	__u32 tgid;
	__u8 state; /* enum sbt_account_state */
	__u8 reason; /* ACCOUNT_BLOCKED: enum sbt_blocked */
	/* enum sbt_inside_how. Inside a barrier there is no need to find out why it blocks. */
	__u8 inside;
	__u8 changed; /* the thread was switched out or had a page fault since the mark */
	/* the thread was switched out or had a page fault in the phase: `phase` holds its parts */
	__u8 phase_changed;
	__u8 blocks_changed;
	__u8 was_throttled; /* its cgroup was throttled when it became runnable */
	__u8 busy; /* one of the thread's own programs is updating the account */
	/*
	 * Reason of the wait that a stop signal or debugger interrupted: the thread may continue
	 * that wait afterwards (restart_syscall).
	 */
	__u8 last_reason;
	/*
	 * No event was delivered for a switch of the thread, so the CPU's counters include counts
	 * of other threads.
	 */
	__u8 missed;
	/*
	 * The futex operation of the wait is that of a condition variable, and the thread waits
	 * neither for a lock nor for another thread's end.
	 */
	__u8 event;
	__u8 unprobed; /* number of SBT_REC_UNPROBED that were sent for the thread */
	__u8 off; /* ACCOUNT_RESTING: the thread is off the CPU, since since_ns */
	/*
	 * Since the last arrival without a seen departure, the thread was off the CPU at a time
	 * that is not known.
	 */
	__u8 unsure;
	__u32 away_seq; /* number of times that the thread was switched out while `busy` */
	__u16 cpus_allowed;
	/*
	 * Number of remaining attempts to find the mapping of the longest fault; 0: it was found,
	 * or all attempts have failed.
	 */
	__u32 fault_tries;
	__u32 cpu;
	/* the task that had the CPU when this thread began to wait for it; 0: not known */
	__u32 out_ran;
	__u32 recent_switches; /* number of switches since recent_from_ns */
	__u32 wait_cpu; /* the CPU that the thread waits for */
	__u32 steal_tick; /* the kernel's tick in which its steal time was last read at a barrier */
	/* the thread that had the CPU or lock for which this thread waited last */
	struct sbt_most most;
	/* The tasks that had the CPU while the thread waited for it, since the mark. */
	struct sbt_run runs[SBT_RUNS];
	__u64 since_ns; /* when `state` began */
	__u64 clock_ns; /* CLOCK_MONOTONIC minus the scheduler's clock; 0: not known */
	__u64 exec_ns; /* CPU time according to the kernel when the thread was switched out last */
	/* when it was woken although its account says that it runs; 0: this did not happen */
	__u64 woken_ns;
	/* ACCOUNT_RUNNING: the CPU time is added up to this time (in own time: less away_ns) */
	__u64 run_ns;
	__u64 away_ns; /* total time for which the thread was off the CPU while `busy` */
	__u64 away_at_ns; /* when the thread was switched out while `busy`; 0: it is on its CPU */
	__u64 last_away_ns, last_back_ns; /* the last such time */
	__u64 recent_from_ns; /* start of the time in which `recent_switches` counts its switches */
	__u64 rest_ns; /* end of the present or last rest; 0: it never rested */
	/* ACCOUNT_RESTING: time that corresponds to 0 ticks of the kernel: rest_clock() */
	__u64 ticks_from;
	__u64 fault_since_ns; /* start of the page fault under way; 0: none */
	__u64 fault_addr; /* address of the page fault under way */
	__u64 fault_place; /* location of the thread at that fault: user_place() */
	/* The longest fault since the mark. */
	__u64 fault_max_ns;
	__u64 fault_max_addr;
	__u64 capture_ns; /* when the thread's stack was copied last */
	/* Key of the stack last found in the map, and when it was found. */
	__u64 stack_seen, stack_ns;
	/*
	 * The file that the thread waited for last: a value that identifies it, when its name was
	 * read, and the key of the name.
	 */
	__u64 file_seen, file_ns;
	__u64 file_key;
	/* Kernel address of the steal time of the CPU that the thread runs on; 0: not known. */
	__u64 steal_at;
	__u64 steal_base; /* that steal time when it was last read for this thread */
	__u64 throttled_mark; /* throttled time of its cgroups when it became runnable */
	__u64 times[SBT_TIMES];
	SBT_PART_TIMES(SBT_PART_MEMBER, __u64)
	__u64 turn_oncpu_ns; /* as in struct sbt_parts */
	/*
	 * Numbers of events. Of page faults, only handled faults count. A switch is counted for the
	 * thread that loses the CPU.
	 */
	SBT_PART_COUNTS(SBT_PART_MEMBER, __u32)
	__u32 faults_begun; /* all faults that began */
	struct {
		__u64 times[SBT_TIMES];
		SBT_PART_TIMES(SBT_PART_MEMBER, __u64)
		__u64 turn_oncpu_ns;
		SBT_PART_COUNTS(SBT_PART_MEMBER, __u32)
	} mark, phase;
	__u64 phase_ran_ns;
	__u32 phase_ran;
	__u32 holder; /* the holder of the lock in the present wait; 0: not known */
	/* PID namespace of the thread's program; 0: the initial one */
	__u32 pidns;
	__u32 waited; /* enum sbt_waited */
	/* the object of the present or last wait; `reason` is the tag */
	union sbt_blocked_at block_at;
	__u64 block_stack;
	/*
	 * When the thread began to wait at block_at. A wait that is repeated after a time-out
	 * does not change this time. 0: the thread does not wait.
	 */
	__u64 tried_ns;
	__u64 holder_times[SBT_TIMES]; /* times of the holder when the block began */
	/* The longest recent waits of this thread: for a lock, and for a CPU. */
	struct sbt_waited_for for_lock, for_cpu;
	/*
	 * For each reason, the longest wait at one object in this phase. The object is the one for
	 * which the thread has waited most in total, as far as a vote shows: block_leads().
	 */
	struct sbt_block blocks[SBT_BLOCKED_REASONS];
	__u64 votes[SBT_BLOCKED_REASONS]; /* votes for `blocks`: block_end() */
};

/* sbt_account.inside */
enum sbt_inside_how {
	ACCOUNT_OUTSIDE,
	ACCOUNT_INSIDE, /* the thread has arrived at a barrier, and its departure will be seen */
	/*
	 * the thread has arrived at a barrier of SBT_ROLE_ARRIVAL, and nothing shows that it has
	 * left
	 */
	ACCOUNT_MAYBE_INSIDE,
};

/*
 * What happened to a thread since its last arrival at a barrier of SBT_ROLE_ARRIVAL, in `offs` at
 * the index of the thread's slot.
 */
struct sbt_offs {
	__u32 tid; /* 0: free */
	__u32 seq; /* number of the arrival */
	__u64 arrive_ns;
	__u64 object;
	__u64 ip, sp, entry; /* as in struct sbt_thread */
	__u64 out_ns; /* when the thread left its CPU; 0: it is on a CPU, or has left the barrier */
	__u64 oncpu_ns; /* as in struct sbt_off, if out_ns is not 0 */
	__u64 woke_ns; /* these members are as in struct sbt_arrival_full */
	__u64 left_ns;
	__u64 first_word;
	__u32 waker; /* as in struct sbt_off, if out_ns is not 0 */
	__u8 noffs;
	__u8 merged;
	__u8 open; /* no record with these data was written yet */
	__u8 futex; /* threads that wait at the barrier wait at a futex within the object */
	__u8 inside; /* as in struct sbt_off, if out_ns is not 0 */
	__u8 woke_idle;
	__u16 index; /* of the last arrival */
	__u8 pad[4];
	struct sbt_off off[SBT_OFFS];
};

/*
 * Number of threads for which the recent past is kept (past.h). The past shows what a thread did
 * while another thread waited for it. A power of two.
 */
#define SBT_PASTS 4096

/*
 * The count of a counter, for how long (ns) the counter was enabled, and for how long it really
 * counted.
 */
struct sbt_counted {
	__u64 counter, enabled, running; /* as in struct bpf_perf_event_value */
};

enum sbt_scaled { SBT_COUNT_EXACT, SBT_COUNT_SCALED, SBT_COUNT_UNKNOWN };

/*
 * A counter that ran for less than 1/SBT_COUNT_PART of the time says too little about the remaining
 * time, in which the thread may have done all of its work.
 */
#define SBT_COUNT_PART 8

/*
 * Return a counter's count, scaled by enabled over running where it counted for only part of the
 * time. Counters that share the PMU take turns. If a counter ran for less than 1/SBT_COUNT_PART of
 * the time, return 0 with SBT_COUNT_UNKNOWN.
 */
static inline __u64 sbt_count_scale(const struct sbt_counted *c, enum sbt_scaled *how)
{
	*how = SBT_COUNT_EXACT;
	if (c->running >= c->enabled)
		return c->counter;
	*how = SBT_COUNT_UNKNOWN;
	if (!c->running || c->running * SBT_COUNT_PART < c->enabled)
		return 0;
	*how = SBT_COUNT_SCALED;
	/*
	 * Multiply by a factor in units of 1/1024, at most 2^13. Counts below 2^51 do not overflow.
	 */
	return c->counter * ((c->enabled << 10) / c->running) >> 10;
}

/*
 * The counters of a thread, at the same index as its account. Without counters the array has one
 * entry, which is not used.
 */
struct sbt_counting {
	struct sbt_counted sum[SBT_COUNTERS_MAX];
	struct sbt_counted mark[SBT_COUNTERS_MAX]; /* the sums at the last arrival or departure */
	/*
	 * The counts of the thread's CPU, less `away`, when the thread began to run there or when
	 * its counters were read last.
	 */
	struct sbt_counted base[SBT_COUNTERS_MAX];
	__u64 phase[SBT_COUNTERS_MAX];
	/*
	 * what the CPUs counted for other threads in the times when this thread was switched out
	 * while its account was `busy`
	 */
	__u64 away[SBT_COUNTERS_MAX];
	__u64 out[SBT_COUNTERS_MAX]; /* the CPU's counts when the thread was switched out */
	/* one bit per counter, as in struct sbt_counters, since the last departure */
	__u8 scaled, unknown;
	__u8 pad[6];
};

/* The role of the present crossing in an OpenMP team (sbt_thread.team). */
enum sbt_team_use {
	TEAM_NONE,
	TEAM_BARRIER, /* in a region: the departure shows the team's size */
	TEAM_JOIN, /* the end of a region, for the thread that began it */
	TEAM_RESUME, /* a worker continues: SBT_REC_RESUME */
};

/*
 * Key in `regions`: a parallel region that is running. fn 0: tracing began while the process was in
 * regions.
 */
struct sbt_region_key {
	__u64 fn; /* address of its outlined function */
	__u64 data; /* its argument, which distinguishes regions of one function */
	__u32 tgid;
	__u32 pad;
};

/* sbt_region.flags */
/* the outlined function has a probe, so `members` counts all members */
#define SBT_REGION_SEEN	     0x01
/* Another region with the same key is running: members cannot be assigned to either region. */
#define SBT_REGION_AMBIGUOUS 0x02

struct sbt_region {
	__u64 object; /* the object of its team */
	__u64 begun_ns; /* when the thread that began the region reached the call that begins it */
	__u32 members; /* number of threads that entered */
	__u32 masters; /* number of threads that began a region with this key */
	__u32 flags;
	__u16 number; /* number among the regions that its thread has begun: sbt_crossing.round */
	__u16 pad;
};

/* One of the regions that a thread is in. In sbt_teams.stack the outermost region is first. */
struct sbt_team {
	__u64 object; /* 0: no team, or it is not known which */
	__u64 fn, data;
	/*
	 * Stack pointer of the thread where it began the region; 0: another thread began the
	 * region.
	 */
	__u64 region_sp;
	/*
	 * Stack pointer of the thread where it entered the outlined function; 0: it has not entered
	 * yet, or has left.
	 */
	__u64 outlined_sp;
	__u16 index; /* its number in the team, plus 1; 0: not known */
	__u8 family;
	__u8 flags; /* SBT_TEAM_* */
	__u16 number; /* number of the region; 0: not known */
	__u16 barriers; /* number of barriers that the thread has arrived at in the region */
	__u32 members; /* number of members, if it is known to be final; else 0 */
	__u32 pad;
};

#define SBT_TEAM_ALONE	   0x01 /* one thread runs the region */
#define SBT_TEAM_AMBIGUOUS 0x02 /* the key does not identify the region */
#define SBT_TEAM_UNSEEN	   0x04 /* the outlined function had no probe when the region began */

#define SBT_TEAM_DEPTH 4

/* The regions of a thread, at the index of its slot in `threads`. */
struct sbt_teams {
	/* the thread that this entry belongs to; for any other thread, the entry counts as empty */
	__u32 tid;
	__u32 depth;
	__u32 flags; /* SBT_TEAMS_* */
	__u16 begun; /* number of regions that the thread has begun; wraps, but skips 0 */
	__u16 pad;
	/*
	 * the CPU time in sbt_account.mark before the present arrival: crossing_drop() restores it
	 */
	__u64 mark_oncpu;
	struct sbt_team stack[SBT_TEAM_DEPTH];
};

/* the thread waits at the end of a region: write SBT_REC_RESUME when it continues */
#define SBT_TEAMS_JOINED 0x01
/* the thread has entered a region since it was first seen, so its teams are known */
#define SBT_TEAMS_SEEN	 0x02
/*
 * The thread has waited for its team in __kmpc_reduce, so it does not wait again in
 * __kmpc_end_reduce.
 */
#define SBT_TEAMS_REDUCE 0x04

/*
 * Key in `outlined`: an outlined function. Its value has two parts. Bit SBT_OUTLINED_KNOWN: the
 * function has a probe; if the bit is not set, user space was asked for a probe. The upper bits, in
 * steps of SBT_OUTLINED_ALONE: how often a thread entered the function outside any region since a
 * region was last begun with this function.
 */
#define SBT_OUTLINED_KNOWN     0x1
#define SBT_OUTLINED_ALONE     0x2
/*
 * After this many entries outside any region, the function counts as the function of a task. A
 * region that began before tracing causes only one such entry per thread.
 */
#define SBT_OUTLINED_ALONE_MAX 4096
/*
 * Value of `fn` in the key of a function of the program itself. The key is for every process that
 * runs the program, so its `tgid` is 0. @place: its address less that of the program's code
 * (mm.start_code).
 */
#define SBT_OUTLINED_PROGRAM(dev, ino, place) \
	((((__u64)(dev) << 32) ^ (__u64)(ino)) * 0x9e3779b97f4a7c15ULL + (place))
struct sbt_outlined {
	__u64 fn;
	__u32 tgid;
	__u32 pad;
};

/*
 * Object of a team. It is made of the number of the thread that begins the team, and of the nesting
 * level. Where teams are not known, it is made of the process's number and SBT_TEAM_UNKNOWN.
 */
#define SBT_TEAM_OBJECT(tid, level) (1ULL << 63 | (__u64)(tid) << 8 | (level))
#define SBT_TEAM_UNKNOWN	    0xff

/* The largest number of callers for --frames. */
#define SBT_FRAMES_MAX	8
/*
 * The largest number of addresses in a chain. In addition to the callers, a chain may have the
 * function of a hand-written barrier, the function in which it waits, and wrappers. Unoptimised C++
 * joins a thread through a dozen functions of the library.
 */
#define SBT_CHAIN_MAX	(SBT_FRAMES_MAX + 12)
/*
 * No address in a process has these bits: they mark sbt_crossing.ip or .callers as the name of a
 * chain or of a struct sbt_callers.
 */
#define SBT_CHAIN_NAME	(1ULL << 63)
#define SBT_SAMPLE_NAME (1ULL << 62)

/* A chain of return addresses. Only the first is certain to be a return address. */
struct sbt_chain {
	__u64 n;
	__u64 ip[SBT_CHAIN_MAX];
};

/* Key in `frame_rules`: the return address of a call, and the process. */
struct sbt_frame_key {
	__u64 ip;
	__u32 tgid;
	__u32 inc;
};

/*
 * Number of slots of `marks`, which count the traced threads by the low bits of their numbers. For
 * most untraced threads, no other map needs to be looked up.
 */
#define SBT_MARKS 16384

/* The name of a task for which another task waited. Key: its thread number. */
struct sbt_name {
	char comm[SBT_COMM_LEN];
	__u32 tgid;
};

/*
 * The name of a file for which a thread waited (key: from its inode number and device), or of the
 * mapping at the address of a page fault (key: SBT_MAPPING_KEY).
 */
struct sbt_file_name {
	char name[40];
	__u32 mode; /* S_IFMT bits of the file; of a mapping: SBT_MAPPING_* */
};

#define SBT_MAPPING_FILE 1
#define SBT_MAPPING_HEAP 2
#define SBT_MAPPING_ANON 3

#define SBT_MAPPING_KEY(tgid, addr) ((addr) >> 12 ^ (__u64)(tgid) << 40)

/*
 * A file by the numbers that /proc/PID/maps shows. Key of the files that user space has examined.
 */
struct sbt_file {
	__u64 ino;
	__u32 dev;
	__u32 pad;
};

/* What user space has found out about a program. */
struct sbt_verdict {
	__u64 ns; /* when the flags were written */
	/*
	 * SBT_PROC_KNOWN, SBT_PROC_EXCLUDED, SBT_PROC_BY_EXIT; 0: user space was asked to examine
	 * the program, and has not done so yet
	 */
	__u32 flags;
	__u32 pad;
};

/*
 * -a: times at which a process executed its program, first created a thread, and first created a
 * child with its own memory. 0: never.
 */
struct sbt_forked {
	/* when the process last executed a program, if it had created a thread or child before */
	__u64 exec_ns;
	__u64 thread_ns; /* if before exec_ns, the previous program created the thread */
	__u64 child_ns; /* if before exec_ns, the previous program created the child */
};

/* For this long (ns) a program that was examined is assumed to run with the same libraries. */
#define SBT_VERDICT_NS 50000000ULL

/* --- sums kept in the kernel (--aggregate) ---------------------------------------------------- */

/* Buckets of log-2 histograms. The last one includes everything longer than 39 hours. */
#define SBT_SUM_BUCKETS 48
#define SBT_SUM_OBJECTS 16384 /* maximum number of barrier objects */
#define SBT_SUM_PLACES	16384 /* maximum number of pairs of a thread and a call site */
/* Number of barrier objects that a thread finds without searching a hash map; a power of two. */
#define SBT_SUM_KEPT	4
/* number of call sites that a thread finds without searching a hash map; a power of two */
#define SBT_SUM_NEAR	8
/* Number of episodes of one object for which times are kept at the same time; a power of two. */
#define SBT_SUM_OPEN	8
#define SBT_SUM_NONE	0xffffffff

/* Sums of a quantity in ns. */
struct sbt_sum {
	__u64 zero; /* number of values that were 0; the other members do not include them */
	__u64 n, sum, min, max; /* min: 0 while n is 0 */
	__u64 squares, squares_high; /* sum of the squares, 128 bits */
	__u32 hist[SBT_SUM_BUCKETS];
	__u32 bucket; /* bucket of the last value, and often of the next */
	__u32 pad;
};

/* Identifies a thread at a call site. Key of the map `sums_at`. */
struct sbt_sums_key {
	__u64 ip;
	__u64 born_ns; /* first arrival of the thread; needed because thread numbers are reused */
	/*
	 * Inode of the file that contains the code at `ip`, as in /proc/PID/maps; 0: no file. The
	 * address alone is not enough, because addresses are reused.
	 */
	__u64 ino;
	__u64 offset; /* offset of `ip` in the file */
	__u32 tgid, inc, tid;
	__u32 dev;
};

/*
 * Value of sbt_sums_key.dev if the mappings could not be read because they were changing. `offset`
 * is then the value of `mappings`: what was mapped when `mappings` had this value may still be
 * mapped.
 */
#define SBT_SUM_UNSEEN 0xffffffff

/*
 * The sums of one thread at one call site. Only that thread writes them. Times of whole episodes
 * are kept with the last arriver: `barrier` has one value for each time that this thread arrived
 * last.
 */
struct sbt_sums {
	struct sbt_sums_key key;
	__u64 object; /* the object used last */
	__u64 objects; /* number of objects used; 2: two or more */
	/* first arrival of the thread, if it was at this call site; else 0 */
	__u64 first_arrive_ns;
	/*
	 * Release of the episode of that arrival, if the thread was its last arriver; else 0. The
	 * start of that episode's phase is not known here.
	 */
	__u64 first_release_ns;
	__u64 depart_ns; /* the last departure */
	__u64 abandoned;
	/*
	 * Number of crossings of episodes with members that were not seen, and of abandoned
	 * crossings. Crossings of other episodes are in `wait`.
	 */
	__u64 partial;
	/*
	 * Number of crossings in `partial` at barriers with unknown members: processes share the
	 * barrier, or it could not be read, or it had no slot.
	 */
	__u64 unmet;
	/* number of incomplete episodes that this thread was the first to leave */
	__u64 incomplete;
	/*
	 * Number of ambiguous episodes that this thread was the first to leave. The other members'
	 * crossings of such an episode are in the sums if all had arrived when they left.
	 */
	__u64 ambiguous;
	/*
	 * Time inside the barrier in incomplete episodes; for complete episodes that time is in
	 * `wait` and `release`.
	 */
	__u64 idle_other_ns;
	__u64 unknown_ns; /* time in abandoned crossings */
	/*
	 * work (ns) in phases that ended here with a complete episode, and the number of these
	 * phases
	 */
	__u64 work_ns, work_n;
	__u64 thread_ns; /* sum of (phase time x number of members), for the episodes in `phase` */
	/* Sum of sbt_crossing.handler_ns where it is known, and the number of these crossings. */
	__u64 handler_ns, spent;
	/* smallest, largest and last size of the barrier's team */
	__u32 team_min, team_max, team;
	__u8 family, kind;
	__u8 pad[2];
	struct sbt_sum wait, release, barrier, phase;
};

static inline __u64 sbt_sum_values(const struct sbt_sum *s)
{
	return s->n + s->zero;
}

static inline __u64 sbt_sums_crossings(const struct sbt_sums *s)
{
	return s->partial + sbt_sum_values(&s->wait);
}

/*
 * Barrier objects and call sites that a thread has used recently, at the index of its slot in
 * `threads`.
 */
struct sbt_recent {
	__u64 born_ns; /* identifies the thread: struct sbt_summing */
	struct {
		__u64 address;
		__u32 epoch;
		__u32 open_episodes;
	} kept[SBT_SUM_KEPT];
	struct {
		__u64 ip;
		__u32 sums; /* 1 + index; 0: free */
		__u32 mappings; /* value of `mappings` when it was found */
	} near[SBT_SUM_NEAR];
};

/*
 * A barrier object. The thread with arrival number `arrivals` belongs to episode arrivals / count.
 * For each episode, the latest and the earliest arrival are kept in one word each, with the
 * episode's number in the upper bits. So the words only grow and need no reset. `early` is written
 * only if a thread that was counted later read the clock earlier.
 */
struct sbt_open_episodes {
	__u64 address;
	__u32 count;
	/*
	 * Number of threads that were inside the barrier when the object was first seen. Their
	 * arrivals were not seen, so the first episode is incomplete.
	 */
	__u32 begun;
	__u64 arrivals;
	/* 1 + the last episode that a thread left before all members had arrived; 0: none */
	__u64 partial;
	__u32 row; /* number of such episodes in direct succession */
	__u32 whole; /* not 0: an episode was seen from its first arrival to its last */
	__u32 shift; /* log2 of count; SBT_SUM_NONE: count is not a power of two */
	__u32 counts; /* not 0: the object's first word counts arrivals (glibc 2.25 and later) */
	__u32 look; /* not 0: compare that word with `arrivals`, which may be wrong */
	__u32 off; /* by how much `arrivals` and that word differ */
	__u64 off_ns; /* since when they differ by that much (ns) */
	__u64 torn; /* 1 + the first of two episodes that were merged; 0: none */
	/*
	 * not 0: a thread arrived and never left, so an apparent last arriver may not be the last
	 */
	__u32 doubted;
	__u32 pad;
	__u64 owner; /* the process, inc << 32 | tgid; 0: the slot is free */
	struct {
		/*
		 * SBT_SUM_LAST() of the thread counted last, or of a thread that read the clock
		 * after it
		 */
		__u64 last;
		__u64 first; /* SBT_SUM_FIRST() of the thread counted first */
		/* SBT_SUM_FIRST() of a thread counted later that read the clock earlier */
		__u64 early;
	} episodes[SBT_SUM_OPEN];
};

#define SBT_SUM_NS_BITS		   48
#define SBT_SUM_NS_MASK		   ((1ULL << SBT_SUM_NS_BITS) - 1)
/*
 * The upper bits of a word: the episode's number plus 1. So they differ from those of a word that
 * was not written yet, which is 0.
 */
#define SBT_SUM_EPISODE(episode)   ((__u64)((episode) + 1) << SBT_SUM_NS_BITS)
#define SBT_SUM_LAST(episode, ns)  (SBT_SUM_EPISODE(episode) | ((__u64)(ns)&SBT_SUM_NS_MASK))
/*
 * The word of a first arrival. Within an episode, an earlier arrival gives a larger word. A later
 * episode gives a larger word than any earlier episode.
 */
#define SBT_SUM_FIRST(episode, ns) (SBT_SUM_EPISODE(episode) | (~(__u64)(ns)&SBT_SUM_NS_MASK))

/* Configuration, set before the programs are loaded. */
struct sbt_config {
	__u8 system; /* -a: every process is traced */
	__u8 follow; /* children of traced processes are traced */
	/* Stop a traced process that runs an unknown program, until user space has examined it. */
	__u8 hold;
	__u8 by_comm; /* -a: only processes of this name */
	__u8 by_cgroup; /* -a: only processes in or below this cgroup */
	__u8 cgroup_level;
	__u8 by_exit; /* no return probes at all: every process is SBT_PROC_BY_EXIT */
	__u8 account; /* account for where threads' time goes */
	/*
	 * The kernel passes each probe's cookie to the program (Linux 5.15 and later; with
	 * uprobe.multi, 6.6 and later).
	 */
	__u8 cookies;
	__u8 discover; /* look for barriers without markers or --barrier */
	/*
	 * --frames: the call site is the caller this many levels above the barrier call; 0: the
	 * call itself
	 */
	__u8 frames;
	__u8 aggregate; /* sum up crossings in maps (aggregate.h) instead of writing records */
	__u8 page_shift; /* log2 of the size of a page */
	__u8 infer; /* there are probes of SBT_ROLE_ARRIVAL; only with `account` */
	__u32 thread_mask; /* size of `threads`, a power of two, minus one */
	__u32 tick_ns; /* interval between ticks of the kernel */
	__u32 self; /* tgid of sbt-trace: never traced, except for calibration */
	__u32 nrings;
	__u16 ncounters;
	/*
	 * One bit per plain counter, that is, software counter. These count all the time and are
	 * never scaled.
	 */
	__u16 plain_counters;
	/* One bit per plain counter of context switches, which the account knows anyway. */
	__u16 switch_counters;
	/* one bit per plain counter of page faults, which the account counts, too */
	__u16 fault_counters;
	__u64 cgroup_id;
	__u64 tick_function; /* address of the kernel's function for the tick of a CPU */
	char comm[SBT_COMM_LEN];
};

#define SBT_TIMED_EACH 32 /* a power of two */

/*
 * One of the SBT_COUNT_SLOTS slots of counts. CPUs use different slots, as far as possible, so that
 * they do not contend for cache lines. User space adds the slots up.
 */
struct sbt_counts {
	/*
	 * Crossings of threads that have exited; crossings of running threads are counted in their
	 * slots.
	 */
	__u64 gone;
	/*
	 * crossings that were lost because there was no slot, or because the program was not
	 * examined yet: the sum of lost_thread, lost_process and lost_early
	 */
	__u64 refused;
	__u64 lost_ring; /* crossings for which no ring that was tried had room */
	__u64 lost_thread; /* crossings in `refused` without a slot for the thread */
	__u64 lost_process; /* crossings in `refused` without a slot for the process */
	__u64 lost_early; /* crossings in `refused` of programs or regions not examined yet */
	/* records of type SBT_REC_TAIL or SBT_REC_LEFT (no crossings) for which no ring had room */
	__u64 lost_tail;
	__u64 lost_mark; /* records of type SBT_REC_MARK for which no ring had room */
	__u64 samples; /* samples that were taken, or lost */
	__u64 sampling_ns; /* time (ns) that the BPF programs took for them */
	__u64 lost_sample; /* samples that were not sent, because the reader was late */
	__u64 events; /* events that should reach user space */
	__u64 lost_event; /* events for which the event ring had no room */
	/* crossings by OpenMP teams that cannot be distinguished; they do not count as crossings */
	__u64 lost_team;
	__u64 candidates; /* waits that may be barrier crossings */
	/* Candidates in `candidates` without a slot, or without room in any ring that was tried. */
	__u64 lost_candidate;
	/* candidates in `candidates` of programs not examined yet (-a) */
	__u64 lost_candidate_early;
	/* Crossings without a slot in the sums for their thread, call site or barrier. */
	__u64 lost_sum;
	/*
	 * Crossings of last arrivers that never departed: their call site would be known only at
	 * the departure.
	 */
	__u64 lost_no_site;
	/*
	 * Time (ns) that the BPF programs took to account for switches and wake-ups of traced
	 * threads, in those runs that were measured: one in SBT_TIMED_EACH.
	 */
	__u64 timed_ns;
	__u64 timed; /* how often a traced thread lost or got a CPU in the measured runs */
	/*
	 * Total time (ns) for which threads were not accounted for because they switched too often.
	 */
	__u64 rested_ns;
};

/*
 * Values of `armed`. 0: nothing is recorded. ARMED_SELF: only sbt-trace itself is recorded
 * (calibration). ARMED_ALL: everything is recorded.
 */
#define ARMED_SELF 1
#define ARMED_ALL  2

#define SBT_COUNT_SLOTS 64

#endif /* SBT_STATE_H */
