/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What the programs keep between events and what they are told. Shared with user space (attach/),
 * which reads and writes the same structs: keep this header free of BPF and kernel includes.
 */
#ifndef BPF_STATE_H
#define BPF_STATE_H

#include <linux/types.h>

#include "sbt/probe.h"
#include "sbt/record.h"

/* struct sbt_proc.flags */
/* looked at and not wanted (--comm, --cgroup, sbt-trace itself), or no more (--cost-limit) */
#define SBT_PROC_EXCLUDED 0x01
#define SBT_PROC_SEEN	  0x02 /* has crossed a barrier; user space was told */
#define SBT_PROC_BY_EXIT \
	0x04 /* no return probes here: departures are seen at the ret instructions */

#define SBT_PROC_FRESH 0x08 /* runs a program not seen before: its mappings are not examined yet */
#define SBT_PROC_KNOWN 0x10 /* of a verdict: examined */
#define SBT_PROC_WAITS \
	0x20 /* where its threads wait for others there are probes, if there can be */

/* Hits for nothing of probes of one kind, in one second. */
struct sbt_idle {
	__u64 since_ns;
	__u32 looks;
	__u32 pad;
};

/* One a process that is traced, or known not to be. Key: tgid. */
struct sbt_proc {
	__u32 inc;
	__u32 flags;
	__u32 mappings; /* how often its dynamic linker has told of a change: struct sbt_event */
	__u32 reported_inc; /* SBT_REC_SHARED told last of this program's mapping: */
	__u64 reported_start, reported_end, reported_offset, reported_ino;
	__u64 looks; /* hits of probes on condition variables and turns that were no crossing, in steps of SBT_LOOKS_STEP */
	struct sbt_idle conds, turns;
	__u32 tasks_inc; /* SBT_REC_TASKS was told of this program of it; 0: of none */
	/* Small, for one of these is on the stack where it counts. */
	__u16 copies; /* SBT_REC_COPY was reported so often of this program; */
	__u16 copied; /* last at that time, SBT_COPIED_AT() */
};

/*
 * Discovery looks at this many hits of a process in a second for nothing; at the next, user space is told (SBT_REC_HOT).
 * A thread adds its hits to the process's in steps.
 */
#define SBT_LOOKS_MAX  2000
#define SBT_LOOKS_STEP 16
#define SBT_LOOKS_NS   1000000000ULL

/*
 * Code that is in no file is looked at so often in a process: compilers that run in it make much. And so often where the program's own
 * code was.
 */
#define SBT_COPIES_MAX	   64
#define SBT_COPIES_OWN_MAX 1024
#define SBT_COPIED_AT(ns)  ((__u16)((ns) >> 30)) /* about seconds */

/* The last one of a process. Key: tgid. */
struct sbt_copied {
	__u64 ns, address;
};

/* What user space has found out about a process. Key: tgid. */
struct sbt_classified {
	__u64 word; /* inc << 32 | flags */
	__u64 detached; /* units */
};

/*
 * What may turn out to be a barrier: apart from the crossing under way, and from the thread's account, so
 * that the crossings of barriers that are known stay what they are.
 */
struct sbt_waiting {
	__u64 since_ns; /* on a condition variable or a futex; 0: it does not wait */
	__u64 object;
	__u64 ip;
	__u64 sp, entry;
	__u64 words;
	__u64 several; /* futex_waitv: where its words are; 0 */
	__u64 wake_sp, wake_ip, wake_entry; /* where it last woke others */
	__u64 rule_ip; /* of what `rule` is, in the incarnation rule_inc of the process */
	struct sbt_frame_rule rule;
	__u32 rule_inc;
	__u32 value; /* futex: what it is to change from; condition variable: its own count of waits */
	__u16 cpu;
	__u16 spec;
	__u8 family;
	__u8 kind;
	__u8 quiet; /* on what is no barrier: nothing is written of it */
	__u8 unread; /* `value` could not be read */
	__u32 looks; /* not yet added to those of the process */
};

/* A thread waits for its turn (SBT_ROLE_TURN), in the innermost function that no other one of them has called. */
struct sbt_for_turn {
	__u64 sp; /* there; 0: it does not wait; SBT_TURN_REGION */
	__u64 since_ns;
	__u64 oncpu_ns; /* its account's, then */
	__u32 looks; /* not yet added to those of the process: hits, */
	__u32 idle; /* and those of them that hardly waited */
};

/* No stack pointer: it has begun a region, and does not run its function yet. */
#define SBT_TURN_REGION 1

/* A wait that is shorter is a turn that came at once: much of it would be what the probe takes. */
#define SBT_TURN_NS	  3000
/* Of one that is shorter the probe is a part that matters. */
#define SBT_TURN_WORTH_NS 50000

/* --aggregate: what a thread's sums need of it at each crossing. */
struct sbt_summing {
	__u64 born_ns; /* its first arrival; 0: none yet */
	__u64 depart_ns; /* the last; 0: none */
	__u64 release_ns; /* of its last episode; 0: not known */
	__u64 episode; /* the crossing under way: number of the episode on its object */
	__u64 sums_ip; /* the place that `sums` is of */
	__u32 sums; /* SBT_SUM_NONE */
	__u32 open_episodes; /* the object's; SBT_SUM_NONE */
	__u32 epoch; /* as of which that is so; 0: it is to be looked for */
	__u32 mappings; /* as of which `sums` is so */
	__u8 placed; /* the crossing under way is at that place; else the departure shows where */
	__u8 closes; /* it came last to that episode, unless another one came later still */
	__u8 pad[2];
};

/* Of a frame, once the call that it has made has returned to @ip. */
struct sbt_walked {
	__u64 ip, sp, fp;
};

/* A walk up the stack: where it begins, and where it has come to. */
struct sbt_walk {
	struct sbt_walked from, at;
	__u64 link; /* arm64, in a system call: where its function returns to */
	__u32 want; /* callers; wrappers do not count */
	__u32 left; /* of these */
	__u32 plain; /* one caller need not be put into a chain: it is its own name */
	__u32 pad;
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
	__u64 site, site_ip; /* --frames: the chain that was found where it came in from site_ip */
	__u64 entry; /* address of the probe: which function it is in */
	__u64 sp; /* stack pointer there */
	__u64 words;
	__u64 words_object; /* whose words they are; 0: to be read */
	__u32 words_epoch; /* when they were read */
	__u32 inc;
	__u32 seq;
	__u32 proc_flags; /* as of its first crossing, kept up to date by user space */
	__u64 detached; /* likewise: units of which no arrival is recorded any more (--cost-limit) */
	__u16 arrive_cpu;
	__u16 flags; /* SBT_CROSSING_* of the crossing under way */
	__u8 family;
	__u8 kind;
	__u16 spec;
	__u16 index;
	__u16 own_index; /* what its program said of it; 0 nothing */
	__u16 result; /* COND, FUTEX, STD: struct sbt_crossing */
	__u16 pad;
	union {
		__u32 label;
		__u32 made;
		__u32 round; /* all: struct sbt_crossing */
	};
	__u8 marked; /* it came in by a marker, in the midst of a function */
	__u8 team; /* enum sbt_team_use */
	__u8 how; /* SBT_SPEC_* of that probe */
	__u8 pad2;
	__u32 handler_ns; /* of the crossing under way: struct sbt_crossing */
	__u32 handler_last; /* the last that there was */
	struct sbt_for_turn turn;
	/* Nothing is looked for where crossings are summed. */
	union {
		struct sbt_waiting waiting;
		struct sbt_summing summing;
	};
	__u64 out_ns; /* when it last lost its CPU outside barriers, where its time is not accounted for; 0 */
	struct sbt_walk walk; /* scratch: bpf/callers.bpf.c */
};

/* One place in a program that has a name of its own; the text too, for a name may change. */
struct sbt_label_key {
	__u64 file, name; /* addresses */
	__u32 tgid, inc, line, loop;
	char text[32];
};

/* What is known of an object on which threads wait. Key of the map `objects`. */
struct sbt_object {
	__u64 address;
	__u32 tgid;
	__u32 inc;
};

/* Its value: what user space has found out, and whether a thread may wait there that nobody has woken. */
struct sbt_object_state {
	__u32 verdict; /* SBT_OBJECT_* */
	__u32 waits;
};

#define SBT_OBJECT_OPEN	   0 /* as if it were not there */
#define SBT_OBJECT_BARRIER 1 /* threads meet there: whole crossings are written */
#define SBT_OBJECT_OTHER   2 /* they do not: nothing is written */

#define SBT_SPECS	     1024
/*
 * Without cookies a probe is told by the place in its page; where several have the same, by the code behind its
 * breakpoint, too. What is alike in both is refused by user space.
 */
#define SBT_PAGE_PROBE_SITES 4096
#define SBT_PROBE_SITE_SHARED \
	0xffffffff /* in place of a spec's number: the code must be looked at */
#define SBT_CODE_BYTES 8
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define SBT_BREAKPOINT_BYTES 4
#else
#define SBT_BREAKPOINT_BYTES 1
#endif

/* Key: a place in a page, and the code there. */
struct sbt_probe_site {
	__u64 code;
	__u32 place;
	__u32 pad;
};

#define SBT_THREAD_PROBES 4
/* Threads made together have numbers in a row: a second place must not be in the next row. */
#define SBT_THREAD_STRIDE 10007

/* What a thread is doing, as far as its scheduler events tell. */
enum sbt_account_state {
	ACCOUNT_NONE, /* not known */
	ACCOUNT_RUNNING,
	ACCOUNT_RUNNABLE,
	ACCOUNT_BLOCKED,
	ACCOUNT_RESTING, /* not looked at for a while: it switches too often */
};

/*
 * A thread that is switched out so often in so long a time, and crosses no barrier meanwhile, is not accounted for in the rest of that
 * time: what it waits for is unattributed. Its counters, where there are any, have to be.
 */
#define SBT_REST_SWITCHES 2000
#define SBT_REST_NS	  1000000000ULL

/* So many that ran instead of a thread are told apart in one phase. A power of two. */
#define SBT_RUNS 4

struct sbt_run {
	__u64 ns;
	__u32 tid;
	__u32 pad;
};

#define ACCOUNT_NO_CPU	  0xffffffff
#define THROTTLED_UNKNOWN (~0ULL)

/* Times of a thread, as indices: on a CPU, waiting for one, blocked by reason. */
#define SBT_TIME_ONCPU	 0
#define SBT_TIME_RUNQ	 1
#define SBT_TIME_BLOCKED 2 /* + enum sbt_blocked */
#define SBT_TIMES	 (SBT_TIME_BLOCKED + SBT_BLOCKED_REASONS)

/*
 * The programs on a thread's own path can be preempted in the midst of its account: while they are at it the
 * account is `busy`, and a switch then does not touch what they do. It adds up how long the thread was away
 * (and what others counted meanwhile), and the thread's own time and counts are taken less that.
 *
 * Where the time of a thread went: in `accounts`, at the index of its slot in `threads`. Sums run on for
 * ever; `mark` is how they stood at the last arrival or departure, `phase` what the phase before the present
 * crossing came to.
 */
/* Who had something for most of a time, of those that a log knows of: occupancy_sum(). */
struct sbt_most {
	__u32 tid; /* 0 not known */
	__u32 pad;
	__u64 ns;
	__u64 seen_ns; /* all of them */
	__u64 votes, end_ns; /* while they are added up */
};

/* The longest of the waits of late: one that is over counts for less the longer it is so. */
struct sbt_waited_for {
	__u64 ns, end_ns;
	__u32 tid; /* 0: not known */
	__u32 pad;
};

struct sbt_account {
	__u32 tid; /* 0: free */
	__u32 tgid;
	__u8 state; /* enum sbt_account_state */
	__u8 reason; /* ACCOUNT_BLOCKED: enum sbt_blocked */
	__u8 inside; /* a barrier: what it is blocked by is known */
	__u8 changed; /* it was switched out, or had a fault, since the mark */
	__u8 phase_changed; /* the same of the phase: `phase` holds its parts */
	__u8 blocks_changed;
	__u8 was_throttled; /* when it became runnable */
	__u8 busy; /* one of its own programs is at it */
	__u8 last_reason; /* of the block before, unless it was stopped in that */
	__u8 missed; /* a switch was not told of: others' counts are among its CPU's */
	__u8 event; /* it waits as on a condition variable: not for a lock, nor for a thread to end */
	__u8 unprobed; /* how often it was told that it did so, and no probe saw it */
	__u8 off; /* ACCOUNT_RESTING: it is on no CPU, since since_ns */
	__u32 away_seq; /* how often it was preempted then */
	__u16 cpus_allowed;
	__u32 fault_tries; /* to name what is mapped where the longest fault was; 0: it is named */
	__u32 cpu;
	__u32 out_ran; /* who took it when this thread lost it */
	__u32 often; /* so many switches since often_ns */
	__u32 wait_cpu; /* the one that it waits for */
	struct sbt_most most; /* who had what the last wait was for */
	struct sbt_run runs[SBT_RUNS]; /* who had the CPU while it waited, since the mark */
	__u64 since_ns; /* when `state` began */
	__u64 clock_ns; /* how far the scheduler's clock is behind; 0 unknown */
	__u64 exec_ns; /* the kernel's own sum of its time on a CPU, when it was switched out last */
	__u64 woken_ns; /* when it was woken up though it seemed to run */
	__u64 run_ns; /* running: up to when it is accounted for, less away_ns */
	__u64 away_ns; /* all that it was away while busy */
	__u64 away_at_ns; /* away since then; 0 not */
	__u64 often_ns; /* since when its switches are counted to see whether they are too many */
	__u64 rest_ns; /* it rests, or did, until then; 0 never */
	__u64 ticks_from; /* ACCOUNT_RESTING: the clock's time when the kernel counted no ticks yet */
	__u64 fault_since_ns; /* in a page fault since then; 0 not */
	__u64 fault_addr; /* of the fault under way */
	__u64 fault_place; /* and where the program was then: user_place() */
	__u64 fault_max_ns; /* the longest since the mark, and */
	__u64 fault_max_addr;
	__u64 capture_ns; /* when its stack was copied last */
	__u64 stack_seen, stack_ns; /* the key of the last that was found kept, and when */
	__u64 file_seen,
		file_ns; /* what the last file was that it waited for, and when its name was read; */
	__u64 file_key; /* under which key that is kept */
	__u64 steal_at; /* where the kernel keeps what was stolen from the CPU that it runs on; 0: not known */
	__u64 steal_base; /* that, when it began to run there or was last looked at */
	__u64 throttled_mark; /* its cgroups' throttled time when it became runnable */
	__u64 times[SBT_TIMES];
	SBT_PART_TIMES(SBT_PART_MEMBER, __u64)
	__u64 turn_oncpu_ns; /* as in struct sbt_parts */
	/* faults: those that were handled. A switch is counted for the thread that loses the CPU. */
	SBT_PART_COUNTS(SBT_PART_MEMBER, __u32)
	__u32 faults_begun; /* all that began */
	struct {
		__u64 times[SBT_TIMES];
		SBT_PART_TIMES(SBT_PART_MEMBER, __u64)
		__u64 turn_oncpu_ns;
		SBT_PART_COUNTS(SBT_PART_MEMBER, __u32)
	} mark, phase;
	__u64 phase_ran_ns;
	__u32 phase_ran;
	__u32 holder; /* the block under way */
	__u32 pidns; /* the PID namespace that its program knows its threads' numbers of; 0: the first */
	__u32 waited; /* enum sbt_waited */
	__u64 block_addr;
	__u64 block_stack;
	__u64 tried_ns; /* since when it waits for that, again after each time-out; 0: it does not */
	__u64 holder_times[SBT_TIMES]; /* of the holder, when it began */
	/* For those whom this one holds up: for a lock, and for a CPU. */
	struct sbt_waited_for for_lock, for_cpu;
	struct sbt_block
		blocks[SBT_BLOCKED_REASONS]; /* the longest of the phase, by whom most was lost */
	__u64 votes[SBT_BLOCKED_REASONS]; /* for those: see block_end() */
};

/* So many threads have a past (past.h): what they did while another waited for them. A power of two. */
#define SBT_PASTS 4096

/* What a counter has counted, and for how much of the time that it was asked to it did: ns. */
struct sbt_counted {
	__u64 counter, enabled, running; /* as in struct bpf_perf_event_value */
};

enum sbt_scaled { SBT_COUNT_EXACT, SBT_COUNT_SCALED, SBT_COUNT_UNKNOWN };

/* What ran for less of the time than one in so many is no measure of the rest: that may have been all of the work. */
#define SBT_COUNT_PART 8

/*
 * Counters that share the PMU take turns. One that ran for a part of the time is scaled by enabled over running; of
 * one that hardly got its turn nothing is known.
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
	/* In two steps, for it to fit: counts are below 2^44 here. */
	return c->counter * ((c->enabled << 10) / c->running) >> 10;
}

/* Counters of a thread, at the same index; only where there are any. */
struct sbt_counting {
	struct sbt_counted sum[SBT_COUNTERS_MAX];
	struct sbt_counted mark[SBT_COUNTERS_MAX]; /* the sums at the last arrival or departure */
	struct sbt_counted base
		[SBT_COUNTERS_MAX]; /* its CPU's less away, when it began to run or was last looked at */
	__u64 phase[SBT_COUNTERS_MAX];
	__u64 away[SBT_COUNTERS_MAX]; /* what others counted while it was away, busy */
	__u64 out[SBT_COUNTERS_MAX]; /* its CPU's when it went */
	__u8 scaled, unknown; /* a bit each, since the last departure */
	__u8 pad[6];
};

/* What the crossing under way has to do with an OpenMP team (sbt_thread.team). */
enum sbt_team_use {
	TEAM_NONE,
	TEAM_BARRIER, /* in a region: how many meet is known at the departure */
	TEAM_JOIN, /* the end of a region, of the thread that began it */
	TEAM_RESUME, /* a worker goes on: SBT_REC_RESUME */
};

/* A parallel region that is run now. Key in `regions`; fn 0: the process was found in the midst of some. */
struct sbt_region_key {
	__u64 fn; /* address of its outlined function */
	__u64 data; /* what that is given: tells regions of one function apart */
	__u32 tgid;
	__u32 pad;
};

/* sbt_region.flags */
#define SBT_REGION_SEEN 0x01 /* the outlined function has a probe: all members are counted */
#define SBT_REGION_AMBIGUOUS \
	0x02 /* another one of the same key is run: nobody knows who is whose */

struct sbt_region {
	__u64 object; /* of its team */
	__u64 begun_ns; /* when its thread came to the call that begins it */
	__u32 members; /* threads that entered */
	__u32 masters; /* that began one of this key */
	__u32 flags;
	__u16 number; /* of those that its thread has begun: sbt_crossing.round */
	__u16 pad;
};

/* What a thread is in, outermost first. */
struct sbt_team {
	__u64 object; /* 0: no team, or not known which */
	__u64 fn, data;
	__u64 region_sp; /* its stack pointer where it began the region; 0: it did not */
	__u64 outlined_sp; /* the same where it entered the outlined function; 0: not yet, or no more */
	__u16 index; /* its number in the team, plus 1; 0 not known */
	__u8 family;
	__u8 flags; /* SBT_TEAM_* */
	__u16 number; /* of the region; 0 not known */
	__u16 barriers; /* that its thread has come to in it */
};

#define SBT_TEAM_ALONE	   0x01 /* the region is run by one thread */
#define SBT_TEAM_AMBIGUOUS 0x02 /* the key does not say whose it is */
#define SBT_TEAM_UNSEEN	   0x04 /* the outlined function had no probe when it began */

#define SBT_TEAM_DEPTH 4

/* The regions of a thread, at the index of its slot in `threads`. */
struct sbt_teams {
	__u32 tid; /* whose; another's: nothing */
	__u32 depth;
	__u32 flags; /* SBT_TEAMS_* */
	__u16 begun; /* regions that it began, never 0 after the first */
	__u16 pad;
	__u64 mark_oncpu; /* as struct sbt_account had it before the join under way */
	struct sbt_team stack[SBT_TEAM_DEPTH];
};

#define SBT_TEAMS_JOINED 0x01 /* at the end of a region: SBT_REC_RESUME is due */
#define SBT_TEAMS_SEEN	 0x02 /* it was in a region since it was found: its teams are known */
#define SBT_TEAMS_REDUCE \
	0x04 /* it met its team in __kmpc_reduce: in __kmpc_end_reduce it does not */

/*
 * Key in `outlined`. Value: SBT_OUTLINED_KNOWN: it has a probe; else user space was asked for one. Steps of SBT_OUTLINED_ALONE: how
 * often it has been entered, since a region was last begun with it, without a region to belong to.
 */
#define SBT_OUTLINED_KNOWN     0x1
#define SBT_OUTLINED_ALONE     0x2
/*
 * So often, and it is a task's and no region's. A region that began before tracing has one such entry a thread.
 */
#define SBT_OUTLINED_ALONE_MAX 4096
/*
 * Of a function of the program itself, whichever process runs it: `fn` is this and `tgid` is 0. @place: its address less that
 * of the program's code (mm.start_code).
 */
#define SBT_OUTLINED_PROGRAM(dev, ino, place) \
	((((__u64)(dev) << 32) ^ (__u64)(ino)) * 0x9e3779b97f4a7c15ULL + (place))
struct sbt_outlined {
	__u64 fn;
	__u32 tgid;
	__u32 pad;
};

/* Object of a team: of the thread that begins it, by level; of a process where teams are not known. */
#define SBT_TEAM_OBJECT(tid, level) (1ULL << 63 | (__u64)(tid) << 8 | (level))
#define SBT_TEAM_UNKNOWN	    0xff

/* So many callers up, --frames. */
#define SBT_FRAMES_MAX	8
/* With the function that a hand-written barrier is in, one that it waits by, and wrappers. */
#define SBT_CHAIN_MAX	(SBT_FRAMES_MAX + 5)
/* No address in a process has these bits: sbt_crossing.ip or .callers names a chain, or a struct sbt_callers. */
#define SBT_CHAIN_NAME	(1ULL << 63)
#define SBT_SAMPLE_NAME (1ULL << 62)

/* Return addresses, none of them trusted but the first. */
struct sbt_chain {
	__u64 n;
	__u64 ip[SBT_CHAIN_MAX];
};

/* Key in `frame_rules`: where in which process a call returns to. */
struct sbt_frame_key {
	__u64 ip;
	__u32 tgid;
	__u32 inc;
};

/* Slots of `marks`: whether any traced thread's number ends so. One look spares strangers the rest. */
#define SBT_MARKS 16384

/* The name of a task that held somebody up. Key: its thread number. */
struct sbt_name {
	char comm[SBT_COMM_LEN];
	__u32 tgid;
};

/*
 * The name of a file that somebody waited for. Key: its inode number. And of what is mapped where a page fault
 * was. Key: SBT_MAPPING_KEY.
 */
struct sbt_file_name {
	char name[40];
	__u32 mode; /* S_IFMT; of a mapping: SBT_MAPPING_* */
};

#define SBT_MAPPING_FILE 1
#define SBT_MAPPING_HEAP 2
#define SBT_MAPPING_ANON 3

#define SBT_MAPPING_KEY(tgid, addr) ((addr) >> 12 ^ (__u64)(tgid) << 40)

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

/* -a: when a process executed its program, and first made a thread and a child with memory of its own after that. 0: it has not. */
struct sbt_forked {
	__u64 exec_ns; /* the first one's is not noted */
	__u64 thread_ns; /* before exec_ns: the program before made it */
	__u64 child_ns; /* the same */
};

/* How long a program that was examined is taken to run with the same libraries. */
#define SBT_VERDICT_NS 50000000ULL

/* --- sums kept here (--aggregate) -------------------------------------------------------------------- */

#define SBT_SUM_BUCKETS \
	48 /* of log-2 histograms: the last takes what is longer than 39 hours, too */
#define SBT_SUM_MEETINGS 16384 /* barrier objects */
#define SBT_SUM_PLACES	 16384 /* threads x the places where they meet */
#define SBT_SUM_KEPT	 4 /* barrier objects that a thread finds at once; a power of two */
#define SBT_SUM_NEAR	 8 /* the same of places */
#define SBT_SUM_OPEN	 8 /* episodes of one object whose times are kept at a time; a power of two */
#define SBT_SUM_NONE	 0xffffffff

/* Of a quantity in ns. */
struct sbt_sum {
	__u64 zero; /* so many were nothing, and are in none of these: */
	__u64 n, sum, min, max; /* min: 0 while n is */
	__u64 squares, squares_high; /* their sum, 128 bits */
	__u32 hist[SBT_SUM_BUCKETS];
	__u32 bucket; /* of the last value: often that of the next */
	__u32 pad;
};

/* Who a sum is of. Key of the map that finds them. */
struct sbt_sums_key {
	__u64 ip;
	__u64 born_ns; /* its thread's first arrival: numbers come again */
	__u64 ino; /* of the file that is mapped there, as in /proc/PID/maps: addresses come again, too; 0: of none */
	__u64 offset; /* of ip, in the file */
	__u32 tgid, inc, tid;
	__u32 dev;
};

/*
 * sbt_sums_key.dev where mappings were being changed, so that nobody could look; `offset` is as of which ones
 * (`mappings`), for what is there then may still be there.
 */
#define SBT_SUM_UNSEEN 0xffffffff

/*
 * One thread at one place, over all its crossings there. Its own thread alone writes it. What is of whole episodes is with the
 * thread that came last: barrier.n is how often that was this one.
 */
struct sbt_sums {
	struct sbt_sums_key key;
	__u64 object; /* the last */
	__u64 objects; /* 1; 2: several */
	__u64 first_arrive_ns; /* of the thread at all, if it was here; 0 */
	__u64 first_release_ns; /* likewise, if it came last then: what its phase has no beginning for yet; 0 */
	__u64 depart_ns; /* the last */
	__u64 abandoned;
	__u64 partial; /* crossings of episodes whose members were not all seen, abandoned ones too; of others: `wait` */
	__u64 unmet; /* of these, crossings at barriers of which nobody here knows who meets: processes share them */
	__u64 incomplete; /* such episodes */
	__u64 ambiguous; /* those of which it is not certain who was in them; in the sums, all but who left too early */
	__u64 idle_other_ns; /* not in whole episodes: there it is `wait` and `release` */
	__u64 unknown_ns; /* in what it abandoned */
	__u64 work_ns, work_n; /* of phases that ended here in whole episodes */
	__u64 thread_ns; /* phase times x members, of those in `phase` */
	__u64 handler_ns,
		spent; /* sbt_crossing.handler_ns of those of which it is known; how many */
	__u32 team_min, team_max, team; /* the last */
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

/* Where a thread has been lately, at the index of its slot in `threads`. */
struct sbt_lately {
	__u64 born_ns; /* whose: struct sbt_summing */
	struct {
		__u64 address;
		__u32 epoch;
		__u32 open_episodes;
	} kept[SBT_SUM_KEPT];
	struct {
		__u64 ip;
		__u32 sums; /* 1 + index; 0: free */
		__u32 mappings; /* as of which that is so */
	} near[SBT_SUM_NEAR];
};

/*
 * A barrier object: who comes is arrival number `arrivals`, of episode arrivals / count. Of an episode the latest and the earliest
 * are kept, with its number in the upper bits: they only grow, and need no resetting (but `early`: it is not written in every episode).
 */
struct sbt_open_episodes {
	__u64 address;
	__u32 count;
	__u32 begun; /* so many were inside when it was first seen: they are not in its first episode */
	__u64 arrivals;
	__u64 partial; /* 1 + the last episode that was left before all had come; 0 none */
	__u32 row; /* so many of these in a row */
	__u32 whole; /* an episode has been seen from first to last */
	__u32 shift; /* log2 of count; SBT_SUM_NONE: it is no power of two */
	__u32 counts; /* its first word is how many have come */
	__u32 look; /* there: it does not agree */
	__u32 off; /* by how many */
	__u64 off_ns; /* since when */
	__u64 torn; /* 1 + the first of two episodes that became one another; 0 none */
	__u32 doubted; /* somebody came and never left: who seems to be the last to come may wait */
	__u32 pad;
	__u64 owner; /* the process, inc << 32 | tgid; 0: the slot is free */
	struct {
		__u64 last; /* SBT_SUM_LAST(): of who was counted last, or who has read the clock after that one */
		__u64 first; /* SBT_SUM_FIRST(): of who was counted first */
		__u64 early; /* SBT_SUM_FIRST(): of who was counted later and read the clock before that */
	} episodes[SBT_SUM_OPEN];
};

#define SBT_SUM_NS_BITS		   48
#define SBT_SUM_NS_MASK		   ((1ULL << SBT_SUM_NS_BITS) - 1)
/* Never that of a word which nobody has written yet. */
#define SBT_SUM_EPISODE(episode)   ((__u64)((episode) + 1) << SBT_SUM_NS_BITS)
#define SBT_SUM_LAST(episode, ns)  (SBT_SUM_EPISODE(episode) | ((__u64)(ns)&SBT_SUM_NS_MASK))
/* The earlier the larger, and a later episode's larger than any of one before. */
#define SBT_SUM_FIRST(episode, ns) (SBT_SUM_EPISODE(episode) | (~(__u64)(ns)&SBT_SUM_NS_MASK))

/* Set before load. */
struct sbt_config {
	__u8 system; /* -a: whoever comes is traced */
	__u8 follow; /* children of traced processes are traced */
	__u8 hold; /* stop a traced process that runs an unknown program until user space has looked */
	__u8 by_comm; /* -a: only processes of this name */
	__u8 by_cgroup; /* -a: only processes in or below this cgroup */
	__u8 cgroup_level;
	__u8 by_exit; /* no return probes at all: every process is SBT_PROC_BY_EXIT */
	__u8 account; /* where threads' time goes is accounted for */
	__u8 cookies; /* the kernel keeps a number for each probe (Linux 5.15; with uprobe.multi 6.6) */
	__u8 discover; /* barriers that nobody named are looked for */
	__u8 frames; /* the site is that many callers up; 0: the call itself */
	__u8 aggregate; /* crossings are summed in maps (aggregate.h); none is written */
	__u8 page_shift; /* log2 of the size of a page */
	__u32 thread_mask; /* size of `threads`, a power of two, minus one */
	__u32 tick_ns; /* from one tick of the kernel's to the next */
	__u32 self; /* tgid of sbt-trace: never traced, but for the calibration */
	__u32 nrings;
	__u16 ncounters;
	__u16 plain_counters; /* a bit each: software, which count all the time: never scaled */
	__u16 switch_counters; /* a bit each, plain: context switches, which the account is told of anyway */
	__u16 fault_counters; /* the same: page faults */
	__u64 cgroup_id;
	char comm[SBT_COMM_LEN];
};

#define SBT_TIMED_EACH 32 /* a power of two */

/* Everything that is counted, in slots so that CPUs do not meet; user space adds them up. */
struct sbt_counts {
	__u64 gone; /* crossings by threads that have ended: those of the living are in their slots */
	__u64 refused; /* crossings for which there was no slot: all lost */
	__u64 lost_ring; /* no room in any ring tried */
	__u64 lost_thread; /* of those refused: no slot for the thread */
	__u64 lost_process; /* of those refused: no slot for the process */
	__u64 lost_early; /* of those refused: by programs not examined yet (-a) */
	__u64 lost_tail; /* no room in any ring tried for an SBT_REC_TAIL, which is no crossing */
	__u64 lost_mark; /* the same for an SBT_REC_MARK */
	__u64 events; /* events that should reach user space */
	__u64 lost_event; /* no room in the event ring */
	__u64 lost_team; /* barriers of OpenMP teams that cannot be told apart: not crossings */
	__u64 candidates; /* of what may be a barrier */
	__u64 lost_candidate; /* of those: no slot, or no room in any ring tried */
	__u64 lost_candidate_early; /* of those: by programs not examined yet (-a) */
	__u64 lost_sum; /* crossings for whose thread, place or barrier there was no slot in the sums */
	__u64 lost_untold; /* never left, of who came last: the sums are told of their place only then */
	/* What accounting for switches and wakings of traced threads takes, of one in SBT_TIMED_EACH: not of all. */
	__u64 timed_ns;
	__u64 timed; /* how often a thread lost a CPU or got one in those */
	__u64 rested_ns; /* threads that switched too often were not accounted for: all of their time */
};

/* armed: nothing is recorded, only sbt-trace itself (calibration), everything */
#define ARMED_SELF 1
#define ARMED_ALL  2

#define SBT_COUNT_SLOTS 64

#endif /* BPF_STATE_H */
