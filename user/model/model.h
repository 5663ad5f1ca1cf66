/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Assign crossings to episodes, and add the episodes up to phases and barriers. This code does no
 * I/O, calls no kernel interface and reads no clock. Times are nanoseconds of CLOCK_MONOTONIC.
 *
 * Crossings are fed in the order of their departures, as far as this order is known. Events of
 * threads and processes are fed in the order of time. Within a process, finished episodes are
 * passed to a callback in the order of their releases.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/message.h"
#include "sbt/parts.h"

#define MODEL_UNKNOWN UINT64_MAX /* the time is not known; it must not be shown as 0 */
#define MODEL_NONE    UINT32_MAX /* an index that does not exist */

struct model;

/* --- input ----------------------------------------------------------------------------------- */

/* model_crossing.flags */
/* depart_ns is MODEL_UNKNOWN because the thread never returned */
#define MODEL_CROSSING_ABANDONED 0x01
/* Processes that are not known may share the object, so members may be missing. */
#define MODEL_CROSSING_UNMET	 0x02
/* It is known how the crossing's time was spent. If `detail` is NULL, all of it was on a CPU. */
#define MODEL_CROSSING_ACCOUNTED 0x04
/*
 * The departure cannot be seen, because the thread is a worker at the end of a parallel region.
 * depart_ns is MODEL_UNKNOWN, but the crossing is not abandoned. The next record of the thread
 * (MODEL_CROSSING_RESUMES) gives the time when it continued. That record is not a crossing: apart
 * from its ids, only depart_ns, begun_ns and the parts of the time inside are valid. The thread was
 * idle until depart_ns.
 */
#define MODEL_CROSSING_STAYS	 0x08
#define MODEL_CROSSING_RESUMES	 0x10
/*
 * All threads that arrive belong to the current team. The team's size may change between episodes.
 */
#define MODEL_CROSSING_TEAM	 0x20
/* The other members cannot be known: no episode of the object is complete. */
#define MODEL_CROSSING_PARTIAL	 0x40
/* The thread arrived at arrive_ns or earlier. The exact time was not seen. */
#define MODEL_CROSSING_BOUND	 0x80
/*
 * The crossing of a thread that only waits for other threads of its team to end, such as a creator
 * that joins them. The thread is not a member, and its time inside is counted in
 * model_thread.away_ns, not in idle_ns. It departs when the episode ends. MODEL_CROSSING_TEAM is
 * also set.
 */
#define MODEL_CROSSING_JOINS	 0x100
/* The departure was inferred: it was not seen. */
#define MODEL_CROSSING_INFERRED	 0x200
/*
 * The thread has returned, at depart_ns or earlier. The exact time could not be inferred, so the
 * time inside and the following phase are unknown.
 */
#define MODEL_CROSSING_UNTIMED	 0x400

/* Reasons why a thread was blocked: indices of blocked_ns, in the order of include/sbt/record.h. */
enum model_blocked { SBT_PART_REASONS(SBT_PART_REASON, MODEL_BLOCKED_) MODEL_BLOCKED_REASONS };

/*
 * What the holder of a lock, or the waker, did during the wait. If that thread was itself blocked,
 * the value is MODEL_DOING_BLOCKED + enum model_blocked.
 */
enum model_doing {
	MODEL_DOING_UNKNOWN,
	MODEL_DOING_ONCPU,
	MODEL_DOING_RUNQ,
	MODEL_DOING_BLOCKED,
};

/* What a thread waited for if the reason is MODEL_BLOCKED_OTHER. */
enum model_other {
	MODEL_OTHER_UNKNOWN,
	MODEL_OTHER_STOPPED, /* by a signal or a debugger */
	MODEL_OTHER_CHILD, /* for the end of a child process */
	MODEL_OTHER_SIGNAL, /* for a signal */
};

/* A file that has no name. Keys of names are larger. */
enum model_file {
	MODEL_FILE_UNKNOWN,
	MODEL_FILE_SEVERAL, /* one of several files */
};

/* The kind of object that a thread waited for. */
enum model_waited {
	MODEL_WAITED_UNKNOWN,
	MODEL_WAITED_LOCK,
	MODEL_WAITED_JOIN, /* the end of thread `holder` */
	MODEL_WAITED_EVENT, /* a semaphore or a condition variable */
	MODEL_WAITED_SEMAPHORE,
	MODEL_WAITED_WAKER, /* with MODEL_BLOCKED_IO: it is certain that `waker` ended the wait */
};

#define MODEL_COUNTERS_MAX 8

/* The longest block of a phase among the blocks with one reason. */
struct model_block {
	uint64_t ns; /* 0: none */
	/* The object that the thread was blocked on. `reason` says which member is valid. */
	union {
		uint64_t key; /* any of the following, to be copied or compared; 0: unknown */
		uint64_t futex; /* MODEL_BLOCKED_LOCK: address of the futex */
		uint64_t file; /* MODEL_BLOCKED_IO: key of the file's name, or enum model_file */
		uint64_t fault_addr; /* MODEL_BLOCKED_FAULT: address that the thread accessed */
		uint64_t other; /* MODEL_BLOCKED_OTHER: enum model_other */
		/* MODEL_BLOCKED_GIL: the function in which `holder` held it; else the GIL */
		uint64_t gil;
	} at;
	/* opaque; MODEL_BLOCKED_GIL: the position in that function; 0: none */
	uint64_t stack;
	uint64_t doing_ns; /* how long the activity `doing` of the holder or waker took */
	uint32_t waker, holder, culprit; /* tids; 0 if none or unknown */
	uint8_t reason; /* enum model_blocked */
	uint8_t doing; /* enum model_doing */
	uint8_t among; /* other threads also held the lock */
	uint8_t waited; /* enum model_waited */
};

/*
 * How the time of one crossing was spent, both in its phase and inside the barrier.
 *
 * In the model's input, oncpu_ns and inside_oncpu_ns may be MODEL_UNKNOWN, which means all of the
 * time. In its output both are times. The parts of the phase do not exceed work_ns, the parts of
 * the time inside do not exceed departure minus arrival, and the differences are unattributed. If
 * work_ns is not known, oncpu_ns is MODEL_UNKNOWN in the output, and the other parts and the
 * counters of the phase are 0 and have no meaning. If the time inside is not known, the same holds
 * for inside_oncpu_ns and the other members of the time inside.
 */
struct model_detail {
	SBT_PART_STATES(SBT_PART_MEMBER, uint64_t)
	uint64_t blocked_ns[MODEL_BLOCKED_REASONS];
	SBT_PART_TIMES(SBT_PART_MEMBER, uint64_t)
	/*
	 * time (ns) in turn_ns and begin_ns during which the thread spun on a CPU; also part of
	 * oncpu_ns
	 */
	uint64_t turn_oncpu_ns;
	uint64_t fault_addr;
	uint64_t ran_ns; /* part of runq_ns during which the task `ran` had the CPU */
	uint32_t ran;
	SBT_PART_COUNTS(SBT_PART_MEMBER, uint32_t)
	uint32_t cpus_allowed; /* 0: unknown */
	uint64_t inside_oncpu_ns; /* time on a CPU inside the barrier, spinning */
	uint64_t inside_runq_ns; /* time between the release and running on a CPU */
	uint32_t inside_ran; /* the task that had the CPU for most of inside_runq_ns */
	/*
	 * Parts of runq_ns and of inside_runq_ns during which sbt-trace itself had the CPU, as far
	 * as known.
	 */
	uint64_t interference_ns, inside_interference_ns;
	uint32_t inside_switches;
	uint32_t ncounters;
	uint8_t scaled; /* one bit for each counter that was multiplexed */
	uint8_t unknown; /* one bit for each counter that was not counted for part of the time */
	/*
	 * the longest block of the reason with the longest total time, and of the reason with the
	 * second longest
	 */
	struct model_block block, second;
	uint64_t counters[MODEL_COUNTERS_MAX]; /* counts in the phase */
	uint64_t inside_counters[MODEL_COUNTERS_MAX];
};

struct model_crossing {
	uint32_t tgid;
	uint32_t inc; /* incarnation of the process */
	uint32_t tid;
	/* number of the thread's record, from 1 (0 is accepted); a gap means a lost record */
	uint32_t seq;
	uint32_t site; /* call site: opaque number, equal for the same call */
	uint32_t count; /* number of threads that the barrier waits for; 0 if unknown */
	uint64_t object; /* address in the process */
	uint64_t shared; /* identifies memory that processes share; 0 if private to the process */
	union {
		/* the record begins at this time: arrive_ns of a crossing, or begun_ns */
		uint64_t first_ns;
		uint64_t arrive_ns;
		/*
		 * MODEL_CROSSING_RESUMES: when the region began in which the thread continues;
		 * depart_ns if unknown
		 */
		uint64_t begun_ns;
	};
	uint64_t depart_ns; /* or MODEL_UNKNOWN */
	uint16_t arrive_cpu;
	uint16_t depart_cpu;
	uint16_t flags; /* MODEL_CROSSING_* */
	uint8_t family;
	uint8_t kind; /* the program's construct, enum sbt_kind; opaque */
	/* above 0 if nested; the times of a nested crossing are in no sum of its thread */
	uint8_t depth;
	uint8_t probe_group; /* number of the probe group, below 64; 0 for the group of `family` */
	/* the thread's number in its team, as the program counts, plus 1; 0 if not known */
	uint16_t place;
	/*
	 * Number of threads that were still missing when the thread began to wait, plus 1; 0 if not
	 * known. If the wait was over at once (MODEL_CROSSING_BOUND), no thread was missing, and
	 * the value is 1. If some of the missing threads leave no record, the episode is
	 * incomplete.
	 */
	uint16_t rest;
	/*
	 * Number of the episode at the object, as its members count. Members of one episode have
	 * the same number. Members of neighbouring episodes have different numbers. 0 if not known.
	 */
	uint32_t round;
	/*
	 * `round` is the ordinal of the call on the object, which is the same for all members.
	 * Crossings with equal ordinals are one episode, whatever their times are. This is for
	 * recordings of several machines, which have different clocks. Crossings of one ordinal are
	 * fed before those of the next ordinal.
	 */
	bool ordinal;
	/* NULL: see MODEL_CROSSING_ACCOUNTED; the model copies the detail */
	const struct model_detail *detail;
};

/* --- distributions --------------------------------------------------------------------------- */

/*
 * Sum, extremes, mean and deviation (Welford), and a log-2 histogram: bucket i counts [2^i,
 * 2^(i+1)), and bucket 0 also counts 0.
 */
struct model_stat {
	uint64_t n;
	uint64_t sum;
	uint64_t min; /* MODEL_UNKNOWN while n is 0 */
	uint64_t max;
	double mean;
	double m2;
	uint32_t hist[64];
};

void model_stat_init(struct model_stat *s);
void model_stat_add(struct model_stat *s, uint64_t value);
/* Add the values of @from to @to. */
void model_stat_join(struct model_stat *to, const struct model_stat *from);
/* Return the standard deviation of the population, or 0 for fewer than two values. */
double model_stat_stddev(const struct model_stat *s);

/* --- state ----------------------------------------------------------------------------------- */

/*
 * Sums of how time was spent: by a thread over all its phases and its tail, or by one thread at one
 * barrier. known_ns is the total time for which the parts are known. What remains of known_ns after
 * all parts is unattributed. Nested crossings and phases of unknown length are not included.
 */
struct model_sums {
	uint64_t known_ns;
	uint64_t inside_known_ns; /* time inside barriers with known parts */
	uint64_t inside_oncpu_ns; /* part of inside_known_ns that the thread spun on a CPU */
	SBT_PARTS_ALL(SBT_PART_MEMBER, uint64_t)
	uint64_t blocked_ns[MODEL_BLOCKED_REASONS];
	uint64_t inside_runq_ns;
	uint64_t inside_switches;
	/* the part of runq_ns and inside_runq_ns during which sbt-trace itself had the CPU */
	uint64_t interference_ns;
	uint64_t slept; /* number of crossings in which the thread was switched out inside */
	uint64_t counters[MODEL_COUNTERS_MAX]; /* counts in phases */
	uint64_t inside_counters[MODEL_COUNTERS_MAX];
	uint64_t counted; /* number of crossings and tails with counters */
	uint8_t scaled, unknown; /* one bit for each counter, as in struct model_detail */
};

/*
 * Add a phase with a length of @work_ns, and @inside_ns spent inside the barrier. @d contains the
 * parts of both times, as in the model's output. A time of MODEL_UNKNOWN is not added. If @d is
 * NULL, all time was on a CPU.
 */
void model_sums_add(struct model_sums *s, const struct model_detail *d, uint64_t work_ns,
		    uint64_t inside_ns);
/* Add the sums of @from to @to. */
void model_sums_join(struct model_sums *to, const struct model_sums *from);

/* A thread. The members that every crossing and episode changes come first, in one cache line. */
struct model_thread {
	uint32_t tid;
	uint32_t proc; /* index of its process */
	uint32_t barrier; /* index of the barrier of its last episode, or MODEL_NONE */
	bool start_seen; /* created while tracing */
	bool exited;
	uint64_t crossings; /* number of crossings of depth 0 that were seen */
	uint64_t outside_ns; /* time outside barriers (u_i), including phase 0 and the tail */
	uint64_t idle_ns; /* time inside barriers */
	uint64_t wait_ns;
	uint64_t last; /* number of episodes in which the thread was the last arriver */
	uint64_t release_ns; /* release of its last episode, or MODEL_UNKNOWN if there is none */
	/* last departure; MODEL_UNKNOWN if there is none, or if it was not seen */
	uint64_t depart_ns;

	struct model_sums sums;

	/*
	 * Number within the process, or MODEL_NONE if the thread has no number yet. Threads that
	 * get their numbers in the same episode are numbered in the order of their creation.
	 */
	uint32_t ordinal;
	/*
	 * The last known model_crossing.place, minus 1, or MODEL_NONE. A number within its process
	 * has precedence over a number that counts the threads of all processes.
	 */
	uint32_t place;
	/* when the thread was created; if it existed when tracing began, the start of tracing */
	uint64_t start_ns;
	/*
	 * Time of its exit. While the thread lives: MODEL_UNKNOWN or, after model_finish(), the end
	 * of tracing.
	 */
	uint64_t end_ns;
	char comm[16]; /* "" unknown; untrusted */

	uint64_t lost; /* number of crossings that are missing according to gaps in seq */
	uint64_t abandoned;
	/* time that is known neither as work nor as idle (a lost record, an unseen departure) */
	uint64_t unknown_ns;
	/*
	 * after model_finish(): length (ns) of the longest path that ends with this thread; see
	 * model_proc.ideal_ns; MODEL_UNKNOWN if that is unknown
	 */
	uint64_t ideal_ns;
	/*
	 * when the thread arrived, if it was inside a barrier at the end of tracing; MODEL_UNKNOWN
	 * if it was not
	 */
	uint64_t pending_ns;
	uint32_t cpus_allowed; /* last known value; 0 if unknown */
	/* time that it waited for other threads to end; part of neither outside_ns nor idle_ns */
	uint64_t away_ns;
	uint64_t waits; /* number of complete episodes in wait_ns */
	double wait_squares; /* sum of the squared waits of these episodes, ns^2 */
};

/*
 * The phases that end at one barrier and began at another barrier, or at the start (from ==
 * MODEL_NONE).
 */
struct model_phase {
	uint32_t from;
	struct model_stat time; /* phase times */
	uint64_t wait_ns; /* time lost at the end of these phases */
	uint64_t thread_ns; /* sum of phase time x members; includes wait_ns */
};

struct model_barrier_thread {
	uint32_t thread; /* index of the thread; MODEL_NONE for the sum of folded threads */
	uint64_t crossings;
	uint64_t wait_ns;
	uint64_t wait_max_ns;
	uint64_t waits; /* number of complete episodes in wait_ns */
	double wait_squares; /* sum of the squared waits of these episodes, ns^2 */
	uint64_t idle_ns;
	/* number of crossings with an unknown departure, which are not in idle_ns */
	uint64_t undeparted;
	uint64_t work_ns; /* work in phases that ended at this barrier */
	uint64_t work_n; /* number of these phases with known work */
	/* the last known model_crossing.place at this barrier, minus 1, or MODEL_NONE */
	uint32_t place;
	/*
	 * sum over episodes: time outside barriers since the previous episode of all members; work
	 * of the phase if there was no such episode
	 */
	uint64_t team_work_ns;
	uint64_t last;
	struct model_sums sums; /* sums of these phases and crossings */
};

struct model_longest {
	uint64_t phase_ns;
	uint64_t number; /* phase number */
	uint64_t release_ns;
};

#define MODEL_LONGEST 3

/*
 * A call site within a process, which is one row of the report. Only complete episodes are in the
 * sums.
 */
struct model_barrier {
	/*
	 * index of the process; for an object that processes share, the process that was seen there
	 * first
	 */
	uint32_t proc;
	/*
	 * index of the barrier that was added before this one for the same process, or MODEL_NONE
	 */
	uint32_t before;
	uint8_t family;
	uint8_t kind; /* kind of the first member of its first episode */
	bool shared; /* has members of several processes */
	bool nested; /* depth > 0: the barrier is in no sum of the process */
	bool has_user; /* ops.barrier was called */
	/* from model_add_summed(): max_work_ns, margin_ns, longest and phases are not known */
	bool summed;
	/*
	 * number of call sites: 1; more for the sorted set of a mixed barrier; 0 for the row that
	 * is shared by the call sites above the maximum number of rows
	 */
	uint32_t nsites;
	const uint32_t *sites;
	uint64_t object; /* the last object that was seen */
	uint32_t objects; /* 1 if there is one object, 2 if there are two or more */
	uint32_t flags; /* the caller's own flags (watched, named), which ops.barrier sets */
	/* probe groups of all crossings, one bit each, as in struct model_detached */
	uint64_t probe_groups;

	uint64_t episodes; /* number of complete episodes */
	uint64_t incomplete;
	uint64_t ambiguous;
	uint64_t crossings;
	uint64_t inferred; /* part of `crossings`: with MODEL_CROSSING_INFERRED */
	/*
	 * Number of crossings with other members that are probably in unknown processes. They
	 * have MODEL_CROSSING_UNMET, their episode is not complete, and the object had no complete
	 * episode before. model_summed.unmet is added.
	 */
	uint64_t unmet;
	uint32_t team_min, team_max; /* number of members of complete episodes */
	struct model_stat phase; /* phase time */
	struct model_stat barrier; /* barrier time */
	struct model_stat wait; /* one value for each member; the sum is the lost time, ns */
	struct model_stat release; /* release latency, one value for each member, ns */
	/* sum over episodes of the longest work of a member: sum_k max_i w_ik */
	uint64_t max_work_ns;
	/* sum over episodes: time (ns) from the last arrival but one to the last arrival */
	uint64_t margin_ns;
	/* if `summed`: sum of phase time x members; if not, this sum is in phases[] */
	uint64_t summed_thread_ns;
	/* longest first; phase_ns is 0 if there is none */
	struct model_longest longest[MODEL_LONGEST];

	uint32_t nthreads;
	struct model_barrier_thread *threads;
	uint32_t nphases;
	struct model_phase *phases;
};

/*
 * Flags of model_episode.why. They say why the episode is incomplete or ambiguous, or what is
 * uncertain about a complete episode.
 */
#define MODEL_WHY_LOST	    0x01 /* a member's record was lost */
#define MODEL_WHY_BEFORE    0x02 /* too few members, because some arrived before tracing began */
#define MODEL_WHY_ABANDONED 0x04 /* a member never returned */
/* a member left before the last arrival, so its wait is counted only until it left */
#define MODEL_WHY_CAUSALITY 0x08
#define MODEL_WHY_COUNT	    0x10 /* the number of members and the count disagree */
/* the order of two arrivals at an episode boundary may be reversed */
#define MODEL_WHY_SWAP	    0x20
#define MODEL_WHY_END	    0x40 /* tracing ended before the episode was over */
#define MODEL_WHY_OTHERS    0x80 /* further members exist, but are not known */
/* Complete episodes may also have the following flags. */
/* a member's arrival is only an upper bound; see MODEL_CROSSING_BOUND */
#define MODEL_WHY_BOUND	    0x100
/* several members have an upper bound as their arrival, so the last arriver is not certain */
#define MODEL_WHY_RIVALS    0x200

enum model_state { MODEL_COMPLETE, MODEL_INCOMPLETE, MODEL_AMBIGUOUS };

struct model_member {
	uint32_t thread; /* index */
	uint32_t tid;
	uint32_t site;
	uint16_t arrive_cpu;
	uint16_t depart_cpu;
	uint64_t arrive_ns;
	uint64_t depart_ns; /* or MODEL_UNKNOWN */
	/*
	 * W_i = max(0, min(L, l_i) - e_i): from the arrival e_i to the release L or the departure
	 * l_i
	 */
	uint64_t wait_ns;
	uint64_t latency_ns; /* release latency, or MODEL_UNKNOWN */
	/* length of the thread's phase; MODEL_UNKNOWN after a loss or an unseen departure */
	uint64_t work_ns;
	/*
	 * How long (ns) the start of the team took: from the beginning of the region to the
	 * thread's first instruction in the region, where its phase begins. MODEL_UNKNOWN if the
	 * thread continued without a new region, or if not known.
	 */
	uint64_t team_start_ns;
	uint16_t flags; /* MODEL_CROSSING_* */
	uint8_t kind;
	const struct model_detail *detail; /* NULL if unknown; valid only during the callback */
};

struct model_episode {
	uint32_t proc;
	uint32_t barrier;
	uint64_t object;
	uint64_t seq; /* number of the episode at the barrier, from 0 */
	/*
	 * Phase number within the process, from 0, ordered by release. MODEL_UNKNOWN if nested or
	 * never released.
	 */
	uint64_t number;
	uint64_t release_ns; /* the last arrival that was seen */
	uint64_t phase_ns; /* or MODEL_UNKNOWN */
	uint32_t phase_from; /* barrier at which the phase began, or MODEL_NONE */
	uint64_t barrier_ns;
	uint32_t count; /* as model_crossing.count */
	uint32_t n;
	enum model_state state;
	uint32_t why;
	bool nested;
	const struct model_member *members; /* ordered by arrival; valid only during the callback */
};

#define MODEL_DETACHED_WHOLE UINT64_MAX

/*
 * What the cost limit (--cost-limit) detached from a process: the whole process, or some probe
 * groups.
 */
struct model_detached {
	uint64_t t_ns; /* when they were detached (ns); MODEL_UNKNOWN if nothing was detached */
	/* estimated tracing overhead at that time, in millionths of the process's thread time */
	uint32_t cost_ppm;
	uint32_t limit_ppm; /* the limit, in the same unit */
	/* if another process exceeded the limit, the tgid of that process; else 0 */
	uint32_t because;
	bool probed; /* the process's probes are still attached, and still cost time */
	/* one bit for each probe group; MODEL_DETACHED_WHOLE for the whole process */
	uint64_t probe_groups;
};

struct model_proc {
	uint32_t tgid;
	uint32_t inc;
	uint32_t parent; /* index, or MODEL_NONE */
	char comm[16]; /* untrusted */
	/*
	 * when its first thread was created; if that was not seen, when tracing of the process
	 * began
	 */
	uint64_t start_ns;
	uint64_t end_ns;
	bool start_seen;
	bool exited;
	/*
	 * Number of processes in this entry: 1, or more if exited processes of one program were
	 * added up (model_keep()). Such an entry has the ids of the process that exited first. Its
	 * elapsed_ns and ideal_ns are sums, all its threads are in `folded`, and `longest` of its
	 * barriers is not known.
	 */
	uint32_t processes;
	/*
	 * if `processes` is above 1, the sum of the processes' lives; MODEL_UNKNOWN if the start of
	 * one was not seen
	 */
	uint64_t life_ns;
	uint64_t crossings; /* number of crossings of all depths */
	uint64_t unmet; /* number of crossings that model_barrier.unmet counts */
	/* number of waits for threads that arrived without leaving a record */
	uint64_t arrivals_unseen;
	uint64_t departures_unknown; /* number of crossings with MODEL_CROSSING_UNTIMED */
	uint64_t lost;
	uint64_t abandoned;
	uint64_t episodes; /* number of complete episodes of depth 0 */
	uint64_t incomplete;
	uint64_t ambiguous;
	/*
	 * Counts of the complete, incomplete and ambiguous episodes in which threads of the process
	 * took part. The counts above include an episode at a shared barrier only for the process
	 * that was seen there first. These counts include it for each process.
	 */
	uint64_t episodes_joined, incomplete_joined, ambiguous_joined;
	uint32_t nthreads_crossed; /* number of threads that crossed a barrier (n) */
	/*
	 * Sums over threads that ended long ago and were folded, because there were too many to
	 * keep. These threads are in nthreads_crossed but not in the list of threads. At a barrier
	 * they share one entry, with thread MODEL_NONE.
	 */
	struct {
		uint64_t threads, crossings, last;
		uint64_t outside_ns, outside_max_ns, idle_ns, wait_ns, unknown_ns;
		uint64_t life_ns; /* sum of the threads' lives, without away_ns */
		struct model_sums sums;
	} folded;
	/*
	 * T and T_ideal of the efficiencies, after model_finish(). T is the time from the first
	 * start to the last end of the threads that crossed a barrier. T_ideal is the longest path
	 * through their intervals outside barriers. In this path each episode joins its members at
	 * the last arrival, at no cost. A thread's path begins at its start, counted from the first
	 * start.
	 */
	uint64_t elapsed_ns;
	uint64_t ideal_ns; /* MODEL_UNKNOWN if `summed` */
	/* crossings of the process's threads were added as sums; see model_add_summed() */
	bool summed;
	/*
	 * If the whole process was detached, `exited` is set, and end_ns is the time when it was
	 * detached.
	 */
	struct model_detached detached;
	/*
	 * Probe groups that were detached so far, in the order of time, each group at most once.
	 * The model owns the array.
	 */
	struct model_detached *parts;
	uint32_t nparts;
};

struct model_totals {
	uint64_t crossings; /* number of crossings that were fed */
	uint64_t episodes; /* number of complete episodes of depth 0, of all processes */
	uint64_t incomplete;
	uint64_t ambiguous;
	uint64_t lost; /* number of crossings that are missing according to gaps in seq */
	uint64_t abandoned;
};

/* --- interface ------------------------------------------------------------------------------- */

struct model_ops {
	void *ctx;
	/*
	 * Called when a barrier is seen for the first time. The callee may set barrier->flags.
	 * Optional.
	 */
	void (*barrier)(void *ctx, const struct model *model, uint32_t index,
			struct model_barrier *barrier);
	/* Called when an episode is finished, complete or not. Optional. */
	void (*episode)(void *ctx, const struct model *model, const struct model_episode *episode);
	/*
	 * Return the number (model_thread.ordinal) of a thread when its first episode is finished.
	 * @next is the number that the thread would have without this function. Threads of one
	 * process should have different numbers. Optional.
	 */
	uint32_t (*number)(void *ctx, const struct model *model, uint32_t thread, uint32_t next);
	/* Return whether this process may be folded into its program. Optional. */
	bool (*may_fold)(void *ctx, const struct model *model, uint32_t proc);
	/*
	 * Called when the barrier or process @from has been added to @into, which belongs to the
	 * same program. The index @from, and the indices of its threads, will be reused. Optional.
	 */
	void (*barrier_folded)(void *ctx, const struct model *model, uint32_t from, uint32_t into);
	void (*process_folded)(void *ctx, const struct model *model, uint32_t from, uint32_t into);
	/*
	 * Called when a known thread has marked a phase, or has accessed another thread's data. The
	 * model only passes this on. Return 0 or -errno. Optional.
	 */
	int (*mark)(void *ctx, const struct model *model, uint32_t thread,
		    const struct model_mark *mark);
	int (*message)(void *ctx, const struct model *model, uint32_t thread,
		       const struct model_message *message);
	/*
	 * Called when a thread was on a CPU. @thread is MODEL_NONE if it is not known, or not yet.
	 * Return 0 or -errno. Optional.
	 */
	int (*sample)(void *ctx, const struct model *model, uint32_t thread,
		      const struct model_sample *sample);
	/* Called when a thread without crossings has ended. Return 0 or -errno. Optional. */
	int (*activity)(void *ctx, const struct model *model, uint32_t thread,
			const struct model_activity *activity);
};

/* Return a new model, or NULL when out of memory. @start_ns is the time when tracing began. */
struct model *model_new(const struct model_ops *ops, uint64_t start_ns);
/* Set the time when tracing began, if that was after model_new(). Call before the first input. */
void model_begin(struct model *model, uint64_t start_ns);
void model_free(struct model *model);
/*
 * Keep at most @exited exited processes unchanged: those with the largest losses. Fold the other
 * exited processes into their program. Without this call, all processes are kept. After this call,
 * entries of processes and barriers may be empty: `crossings` of an empty process is 0, and `proc`
 * of an empty barrier is MODEL_NONE.
 */
void model_keep(struct model *model, uint32_t exited);

/*
 * Types of the model's input, as recorded. Each type stands for a call of one of the functions
 * below. Append only, because the numbers are in recordings.
 */
enum model_input_type {
	MODEL_INPUT_CROSSING = 1,
	MODEL_INPUT_PROCESS = 2,
	MODEL_INPUT_THREAD = 3,
	MODEL_INPUT_FOUND = 4,
	MODEL_INPUT_END_THREAD = 5,
	MODEL_INPUT_END_PROCESS = 6,
	MODEL_INPUT_NAME = 7,
	MODEL_INPUT_TAIL = 8,
	MODEL_INPUT_PENDING = 9,
	MODEL_INPUT_ADVANCE = 10,
	MODEL_INPUT_FINISH = 11,
	MODEL_INPUT_DETACHED = 12,
	MODEL_INPUT_DETACHED_PART = 13,
	MODEL_INPUT_JOINED = 14,
	MODEL_INPUT_PROGRAM = 15,
	/*
	 * Recordings have separate records for marks, messages, samples and activities, so these
	 * numbers are in no recording.
	 */
	MODEL_INPUT_ACTIVITY = 252,
	MODEL_INPUT_SAMPLE = 253,
	MODEL_INPUT_MARK = 254,
	MODEL_INPUT_MESSAGE = 255,
};

/*
 * A call of the function for @type. The members hold its arguments, under the same names. A member
 * is 0 if the function has no such argument. Types without a member in the union have no further
 * arguments.
 */
struct model_input {
	uint8_t type; /* enum model_input_type */
	/* 0 for inputs with a pointer below: they contain their own ids and times */
	uint32_t tgid, inc, tid;
	uint64_t t_ns; /* time of the event: the start, the end, or the arrival */
	union {
		const struct model_crossing *crossing;
		const struct model_mark *mark;
		const struct model_message *message;
		const struct model_sample *sample;
		const struct model_activity *activity;
		struct {
			uint32_t parent_tgid, parent_inc;
			bool seen;
			const char *comm;
		} process;
		struct {
			uint64_t inside;
		} found;
		struct {
			const char *comm;
		} end_thread, name;
		struct {
			uint64_t program;
		} program;
		struct {
			const struct model_detail *detail;
		} tail;
		struct {
			uint64_t object;
		} pending;
		struct {
			uint64_t for_ns, after_ns; /* until_ns is t_ns above */
		} joined;
		/* The members of struct model_detached, except t_ns, which is above. */
		struct {
			uint32_t cost_ppm, limit_ppm, because;
			bool probed;
			uint64_t probe_groups; /* MODEL_INPUT_DETACHED: MODEL_DETACHED_WHOLE */
		} detached; /* MODEL_INPUT_DETACHED and MODEL_INPUT_DETACHED_PART */
	};
};

/*
 * Call the function for @input->type and return its result. Return -EINVAL if there is no such
 * type.
 */
int model_take(struct model *model, const struct model_input *input);
/*
 * From now on, call @tap with each input after the model has taken it. If @tap is NULL, remove the
 * tap.
 */
void model_tap(struct model *model, void (*tap)(void *ctx, const struct model_input *input),
	       void *ctx);

/*
 * The functions that add input return 0 or -ENOMEM. After an error, only read the model and call
 * model_free().
 */
int model_add_crossing(struct model *model, const struct model_crossing *crossing);
/*
 * Prefetch the data for a crossing of this thread that will be fed soon. With ten thousand threads
 * that leave in random order, waiting for memory would take two fifths of the model's time. The
 * function has no other effect.
 */
void model_expect(const struct model *model, uint32_t tid);
/*
 * Add a process that is known from @t_ns on. @seen: the process was created at @t_ns; if not set,
 * it was found running. If it was found after tracing began, its figures count from @t_ns. @comm
 * may be NULL. A second call before the first crossing of the process replaces the start of the
 * process. This is for a process that sbt-trace stopped for a while. A call of model_add_thread()
 * then replaces the start of its first thread.
 */
int model_add_process(struct model *model, uint32_t tgid, uint32_t inc, uint32_t parent_tgid,
		      uint32_t parent_inc, uint64_t t_ns, bool seen, const char *comm);
/*
 * Add a thread that was created during tracing. Do not call this for threads that were found
 * running.
 */
int model_add_thread(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns);
/*
 * Add a thread that existed when tracing began, before its first crossing. @inside is the address
 * (a futex word) at which it waited then, or 0 if it did not wait. @inside shows at which barrier
 * the thread waited. If this function is not called, that is derived from the thread's first
 * crossings.
 */
int model_add_found(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		    uint64_t inside);
/* Note that a thread ended. Another thread may reuse its tid. */
int model_end_thread(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		     const char *comm);
int model_end_process(struct model *model, uint32_t tgid, uint32_t inc, uint64_t t_ns);
/*
 * Set the program that a process runs, as a number that is the same for the same program. Call this
 * before the process ends.
 */
int model_add_program(struct model *model, uint32_t tgid, uint32_t inc, uint64_t program);
int model_name_thread(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		      const char *comm);
/*
 * Add the thread's activity between its last departure and @t_ns, which is its end or the end of
 * tracing. If @detail is NULL, all time was on a CPU. The model copies @detail. Call this before
 * model_end_thread(). The detail is added to model_thread.sums only when all records of the thread
 * have been fed, and the time is added to outside_ns only at the end of the run. The results of
 * model_thread_at() contain both. Tails of unknown threads are ignored.
 */
int model_add_tail(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		   const struct model_detail *detail);
/* Pass these to model_ops. Those of unknown threads are ignored, except for samples. */
int model_add_mark(struct model *model, const struct model_mark *mark);
int model_add_message(struct model *model, const struct model_message *message);
int model_add_sample(struct model *model, const struct model_sample *sample);
int model_add_activity(struct model *model, const struct model_activity *activity);
/*
 * The crossings of one thread at one call site, added up on the kernel side. Values of an episode,
 * such as its phase time, are in the sums of its last arriver. Times before a thread's first
 * crossing are not included, because only the model knows the thread's start. The tap does not see
 * sums, so they are not recorded.
 */
struct model_summed {
	uint32_t tgid, inc, tid;
	uint32_t site;
	uint8_t family, kind;
	bool several; /* the crossings were at more than one object */
	uint64_t object; /* the object used last */
	uint64_t born_ns; /* a time at which the thread existed, because tids are reused */
	/*
	 * Arrival of the thread's very first crossing, if it was at this site and its episode was
	 * complete; 0 if not.
	 */
	uint64_t first_arrive_ns;
	/* release of that episode if the thread was the last arriver; 0 if not */
	uint64_t first_release_ns;
	/* number of members of that episode if the thread was the last arriver */
	uint32_t first_team;
	uint64_t depart_ns; /* the thread's last departure at this site */
	uint64_t crossings, abandoned;
	uint64_t unmet; /* number of crossings at barriers that have unknown members */
	/* number of episodes; each is counted by one of its threads */
	uint64_t incomplete, ambiguous;
	/* in complete episodes; work_n: number of phases in work_ns */
	uint64_t idle_ns, work_ns, work_n;
	uint64_t idle_other_ns; /* time inside barriers in other episodes */
	uint64_t unknown_ns; /* in abandoned crossings */
	/* sum of phase time x members, over the episodes with this thread as last arriver */
	uint64_t thread_ns;
	/*
	 * smallest and largest number of members of the episodes with this thread as last arriver;
	 * team_max is 0 if there are none
	 */
	uint32_t team_min, team_max;
	struct model_stat wait, release; /* waits and release latencies of this thread */
	/* values of episodes with this thread as last arriver; barrier.n is their number */
	struct model_stat barrier, phase;
};

/* Add sums after all other input has been fed and before model_finish(). */
int model_add_summed(struct model *model, const struct model_summed *summed);
/*
 * Note that @tid waited for another thread to end. The wait took @for_ns and ended at @until_ns. If
 * @tid crosses no barrier afterwards, the wait is added to model_thread.away_ns. If it crosses one,
 * the wait is part of its phase. If crossings are added as sums, @after_ns is the time when the
 * thread left its last barrier; otherwise it is 0.
 */
int model_add_joined(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		     uint64_t for_ns, uint64_t until_ns, uint64_t after_ns);
/*
 * Before model_finish(), note that @tid arrived at @arrive_ns and had not left when tracing ended.
 */
int model_add_pending(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		      uint64_t object, uint64_t arrive_ns);
/*
 * Note that all records with departures before @t_ns have been fed, and make the decisions that
 * this permits.
 */
int model_advance(struct model *model, uint64_t t_ns);
/*
 * Note what was detached from a process. From detached->t_ns on, the process or its probe groups
 * are not traced. Earlier records may still be fed, later records may not.
 */
int model_detached(struct model *model, uint32_t tgid, uint32_t inc,
		   const struct model_detached *detached);
/*
 * End the run: close all open episodes, and add the tails (each thread's time after its last
 * departure). Nothing may be fed afterwards.
 */
int model_finish(struct model *model, uint64_t end_ns);

/*
 * For interim reports, return the process or thread in the state that it would have if tracing
 * ended at @end_ns. Open intervals count until @end_ns. The model does not change. After
 * model_finish() the result equals model_proc().
 */
void model_proc_at(const struct model *model, uint32_t index, uint64_t end_ns,
		   struct model_proc *out);
void model_thread_at(const struct model *model, uint32_t index, uint64_t end_ns,
		     struct model_thread *out);

/* A member of the last episode on an object. */
struct model_team_member {
	uint32_t thread; /* index; MODEL_NONE if the thread ended long ago and has been folded */
	uint32_t tid;
};

struct model_team {
	uint32_t n; /* number of members of the last episode; 0 if none is known */
	uint64_t release_ns; /* release of that episode */
	/* index of the barrier of the newest finished episode at the object, or MODEL_NONE */
	uint32_t barrier;
	/* more threads use the barrier than its count, so the next members may differ */
	bool changes;
};

/*
 * Find the last team at an object. The members tgid, inc, object, family and shared of @at identify
 * the object. Write at most @max of the out->n members to @members. Return false if nothing is
 * known about the object.
 */
bool model_team(const struct model *model, const struct model_crossing *at,
		struct model_team_member *members, uint32_t max, struct model_team *out);

const struct model_totals *model_totals(const struct model *model);
uint64_t model_start(const struct model *model);
uint32_t model_nprocs(const struct model *model);
const struct model_proc *model_proc(const struct model *model, uint32_t index);
/* Return the number of thread entries. In empty entries proc is MODEL_NONE. */
uint32_t model_nthreads(const struct model *model);
/* Return the index of the last thread with this tid, or MODEL_NONE if none is known. */
uint32_t model_find_thread(const struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid);
const struct model_thread *model_thread(const struct model *model, uint32_t index);
uint32_t model_nbarriers(const struct model *model);
const struct model_barrier *model_barrier(const struct model *model, uint32_t index);

#endif /* MODEL_MODEL_H */
