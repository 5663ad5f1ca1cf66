/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Crossings -> episodes -> phases -> barriers. Pure: no I/O, no kernel, no clock of its own. Times
 * are nanoseconds of CLOCK_MONOTONIC.
 *
 * Crossings are fed in the order of their departures (as far as the stream knows it), events of
 * threads and processes in the order of time. Finished episodes are passed to a callback in the
 * order of their releases within a process.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sbt/parts.h"

#define MODEL_UNKNOWN UINT64_MAX /* an unknown time: never shown as 0 */
#define MODEL_NONE    UINT32_MAX /* no such index */

struct model;

/* --- input ----------------------------------------------------------------------------------- */

/* model_crossing.flags */
#define MODEL_CROSSING_ABANDONED 0x01 /* depart_ns is MODEL_UNKNOWN: it never returned */
/* Unknown processes may share the object, so members of other processes may be missing. */
#define MODEL_CROSSING_UNMET	 0x02
/* Its time is accounted for: without detail it was all on a CPU. */
#define MODEL_CROSSING_ACCOUNTED 0x04
/*
 * The departure cannot be seen (a worker at the end of a parallel region): depart_ns is
 * MODEL_UNKNOWN, but the crossing is not abandoned. The next record of the thread
 * (MODEL_CROSSING_RESUMES) says when it continued. That record is no crossing: only depart_ns, the
 * parts of the time inside, and arrive_ns are valid. arrive_ns, if earlier, is when the region
 * began in which the thread continues. The thread was idle in between.
 */
#define MODEL_CROSSING_STAYS	 0x08
#define MODEL_CROSSING_RESUMES	 0x10
/* All threads that arrive belong to the current team. Its size may change between episodes. */
#define MODEL_CROSSING_TEAM	 0x20
/* The other members cannot be known: no episode of the object is complete. */
#define MODEL_CROSSING_PARTIAL	 0x40
/* The thread arrived at arrive_ns or earlier: the exact time was not seen. */
#define MODEL_CROSSING_BOUND	 0x80
/*
 * A thread that only waits for other threads to end, such as a creator that joins them. It is no
 * member, and its time inside does not count. Its departure is the end of the episode. (Arrivals of
 * a team are never bounds, so the combination of the two flags is free.)
 */
#define MODEL_CROSSING_JOINS	 (MODEL_CROSSING_TEAM | MODEL_CROSSING_BOUND)

static inline bool model_joins(uint8_t flags)
{
	return (flags & MODEL_CROSSING_JOINS) == MODEL_CROSSING_JOINS;
}

/* Return whether arrive_ns is an upper bound. */
static inline bool model_bound(uint8_t flags)
{
	return flags & MODEL_CROSSING_BOUND && !model_joins(flags);
}

/* Why a thread was blocked: indices, in the order of include/sbt/record.h. */
enum model_blocked {
	MODEL_BLOCKED_LOCK,
	MODEL_BLOCKED_IO,
	MODEL_BLOCKED_FAULT,
	MODEL_BLOCKED_SLEEP,
	MODEL_BLOCKED_THROTTLED,
	MODEL_BLOCKED_OTHER,
	MODEL_BLOCKED_REASONS
};

/*
 * What the holder of a lock, or the waker, did meanwhile; from MODEL_DOING_BLOCKED on: + enum
 * model_blocked.
 */
enum model_doing {
	MODEL_DOING_UNKNOWN,
	MODEL_DOING_ONCPU,
	MODEL_DOING_RUNQ,
	MODEL_DOING_BLOCKED,
};

/* What a thread waited for if it is none of the reasons above. */
enum model_other {
	MODEL_OTHER_UNKNOWN,
	MODEL_OTHER_STOPPED, /* by a signal or a debugger */
	MODEL_OTHER_CHILD, /* for a child process to end */
	MODEL_OTHER_SIGNAL, /* for a signal */
};

/* What kind of object a thread waited for. */
enum model_waited {
	MODEL_WAITED_UNKNOWN,
	MODEL_WAITED_LOCK,
	MODEL_WAITED_JOIN, /* the end of thread `holder` */
	MODEL_WAITED_EVENT, /* a semaphore or a condition variable */
	MODEL_WAITED_SEMAPHORE,
	MODEL_WAITED_WAKER, /* MODEL_BLOCKED_IO: `waker` certainly ended the wait */
};

#define MODEL_COUNTERS_MAX 8

/* The longest block of a phase, among those with one reason. */
struct model_block {
	uint64_t ns; /* 0: none */
	/*
	 * Lock: address of the futex; fault: address that was touched; I/O: the file; other: enum
	 * model_other.
	 */
	uint64_t addr;
	uint64_t stack; /* opaque; 0: none */
	uint64_t doing_ns; /* how long the holder or waker did `doing` */
	uint32_t waker, holder, culprit; /* tids; 0: none or unknown */
	uint8_t reason; /* enum model_blocked */
	uint8_t doing; /* enum model_doing */
	uint8_t among; /* other threads held the lock, too */
	uint8_t waited; /* enum model_waited */
};

/*
 * Where the time of one crossing went: its phase, and the time inside the barrier.
 *
 * In the model's input, oncpu_ns and inside_oncpu_ns may be MODEL_UNKNOWN for "all of it". In its
 * output both are times, the parts are no more than the whole (work_ns; departure minus arrival),
 * and the difference is unattributed. If the whole is not known, oncpu_ns (inside_oncpu_ns) is
 * MODEL_UNKNOWN in the output, and the other parts and the counters of the phase (of the time
 * inside) are 0 and mean nothing.
 */
struct model_detail {
	uint64_t oncpu_ns; /* fault_ns included */
	uint64_t runq_ns;
	uint64_t blocked_ns[MODEL_BLOCKED_REASONS];
	SBT_PART_TIMES(SBT_PART_MEMBER, uint64_t)
	uint64_t turn_oncpu_ns; /* spinning: part of turn_ns and begin_ns, and of oncpu_ns */
	uint64_t fault_addr;
	uint64_t ran_ns; /* part of runq_ns in which the task `ran` had the CPU */
	uint32_t ran;
	SBT_PART_COUNTS(SBT_PART_MEMBER, uint32_t)
	uint32_t cpus_allowed; /* 0: unknown */
	uint64_t inside_oncpu_ns; /* spinning */
	uint64_t inside_runq_ns; /* released and waiting for a CPU */
	uint32_t inside_ran; /* the task that had the CPU meanwhile */
	/* Of runq_ns and inside_runq_ns: while the tracer had the CPU, as far as known. */
	uint64_t interference_ns, inside_interference_ns;
	uint32_t inside_switches;
	uint32_t ncounters;
	uint8_t scaled; /* one bit for each counter: multiplexed */
	uint8_t unknown; /* one bit for each counter: not counted for part of the time */
	struct model_block block, second; /* for the reason that cost most; for the next */
	uint64_t counters[MODEL_COUNTERS_MAX]; /* of the phase */
	uint64_t inside_counters[MODEL_COUNTERS_MAX];
};

struct model_crossing {
	uint32_t tgid;
	uint32_t inc; /* incarnation of the process */
	uint32_t tid;
	/* number of the thread's record, from 1 (0 is accepted); a gap is a lost record */
	uint32_t seq;
	uint32_t site; /* call site: opaque, the same number for the same call */
	uint32_t count; /* number of threads that the barrier waits for; 0: unknown */
	uint64_t object; /* address in the process */
	uint64_t shared; /* identifies memory that processes share; 0: private to the process */
	uint64_t arrive_ns;
	uint64_t depart_ns; /* or MODEL_UNKNOWN */
	uint16_t arrive_cpu;
	uint16_t depart_cpu;
	uint8_t family;
	uint8_t kind; /* opaque: the program's construct, enum sbt_kind */
	uint8_t flags; /* MODEL_CROSSING_* */
	uint8_t depth; /* > 0: nested; enters no sum */
	uint8_t probe_group; /* number of its probe group, below 64; 0: `family` */
	/* number of the thread in its team, as the program counts, plus 1; 0: not known */
	uint16_t place;
	/*
	 * How many threads were still missing when it had arrived, plus 1; 0: not known. With
	 * MODEL_CROSSING_BOUND, 1 means that none was missing. Missing threads that leave no record
	 * make the episode incomplete.
	 */
	uint16_t rest;
	/*
	 * Number of the episode at the object, as its members count: members of one episode have
	 * the same number, members of neighbouring episodes have others. 0: not known.
	 */
	uint32_t round;
	/*
	 * `round` is the ordinal of the call on the object, which all members know: equal ordinals
	 * are one episode, whatever their times are. For recordings with different clocks.
	 * Crossings of one ordinal are fed before those of the next.
	 */
	bool ordinal;
	/* NULL: only the flags are known. Copied. */
	const struct model_detail *detail;
};

/* --- distributions --------------------------------------------------------------------------- */

/*
 * Sum, extremes, mean and deviation (Welford), and a log-2 histogram: bucket i counts [2^i,
 * 2^(i+1)).
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
/* Return the standard deviation of the population; 0 for fewer than two values. */
double model_stat_stddev(const struct model_stat *s);

/* --- state ----------------------------------------------------------------------------------- */

/*
 * Sums of where time went: of a thread over all its phases and its tail, or of one thread at one
 * barrier. known_ns is the time with known parts: what they do not add up to is unattributed.
 * Nested crossings and phases of unknown length are not included.
 */
struct model_sums {
	uint64_t known_ns;
	uint64_t oncpu_ns;
	uint64_t inside_known_ns; /* time inside barriers with known parts */
	uint64_t inside_oncpu_ns; /* of it: on a CPU, spinning */
	uint64_t runq_ns;
	SBT_PART_TIMES(SBT_PART_MEMBER, uint64_t)
	uint64_t blocked_ns[MODEL_BLOCKED_REASONS];
	uint64_t inside_runq_ns;
	SBT_PART_COUNTS(SBT_PART_MEMBER, uint64_t)
	uint64_t inside_switches;
	uint64_t interference_ns; /* of runq_ns and inside_runq_ns: while the tracer had the CPU */
	uint64_t slept; /* crossings in which the thread was switched out inside */
	uint64_t counters[MODEL_COUNTERS_MAX]; /* phases */
	uint64_t inside_counters[MODEL_COUNTERS_MAX];
	uint64_t counted; /* crossings and tails with counters */
	uint8_t scaled, unknown; /* one bit for each counter */
};

/*
 * Add a phase of @work_ns and a time inside of @inside_ns, with the parts @d from the model's
 * output. MODEL_UNKNOWN: leave that one out. @d NULL: all on a CPU.
 */
void model_sums_add(struct model_sums *s, const struct model_detail *d, uint64_t work_ns,
		    uint64_t inside_ns);
/* Add the sums of @from to @to. */
void model_sums_join(struct model_sums *to, const struct model_sums *from);

/* A thread. The members that every crossing and episode changes come first: one cache line. */
struct model_thread {
	uint32_t tid;
	uint32_t proc; /* index of its process */
	uint32_t barrier; /* index of the barrier of its last episode; MODEL_NONE: none */
	bool start_seen; /* created while tracing */
	bool exited;
	uint64_t crossings; /* depth 0, seen */
	uint64_t outside_ns; /* u_i: time outside barriers, phase 0 and tail included */
	uint64_t idle_ns; /* inside barriers */
	uint64_t wait_ns;
	uint64_t last; /* number of episodes of which it was the last arriver */
	uint64_t release_ns; /* release of its last episode; MODEL_UNKNOWN: none */
	uint64_t depart_ns; /* last departure; MODEL_UNKNOWN: none, or not seen */

	struct model_sums sums;

	/*
	 * Number within the process, by creation among threads that are first shown together;
	 * MODEL_NONE: not yet.
	 */
	uint32_t ordinal;
	/*
	 * The last known model_crossing.place, minus 1; MODEL_NONE: none. A place among the threads
	 * of its process has precedence over a place among those of all processes.
	 */
	uint32_t place;
	uint64_t start_ns; /* its creation, or the start of tracing */
	/* Its exit; MODEL_UNKNOWN while it lives; after model_finish() the end of tracing. */
	uint64_t end_ns;
	char comm[16]; /* "" unknown; untrusted */

	uint64_t lost; /* crossings known to be missing, by gaps in seq */
	uint64_t abandoned;
	/* time that is neither known as work nor as idle (a lost record, an unseen departure) */
	uint64_t unknown_ns;
	/* its position on the longest path, after model_finish(): model_proc.ideal_ns */
	uint64_t ideal_ns;
	/* its arrival, if it was inside a barrier at the end; else MODEL_UNKNOWN */
	uint64_t pending_ns;
	uint32_t cpus_allowed; /* last known; 0 unknown */
	/* time that it waited for other threads to end: neither outside_ns nor idle_ns */
	uint64_t away_ns;
	uint64_t waits; /* complete episodes in wait_ns */
	double wait_squares; /* sum of the squared waits of these episodes, ns^2 */
};

/* The phases that end at one barrier and began at another (or at the start: from == MODEL_NONE). */
struct model_phase {
	uint32_t from;
	struct model_stat time; /* phase times */
	uint64_t wait_ns; /* lost at its end */
	uint64_t thread_ns; /* sum of phase time x members: the whole of which wait_ns is a share */
};

struct model_barrier_thread {
	uint32_t thread; /* index; MODEL_NONE: the sum of folded threads */
	uint64_t crossings;
	uint64_t wait_ns;
	uint64_t wait_max_ns;
	uint64_t waits; /* complete episodes in wait_ns */
	double wait_squares; /* sum of the squared waits of these episodes, ns^2 */
	uint64_t idle_ns;
	uint64_t undeparted; /* crossings with an unknown departure: not in idle_ns */
	uint64_t work_ns; /* of phases that ended here */
	uint64_t work_n; /* number of these phases with known work */
	uint32_t place; /* the last known model_crossing.place here, minus 1; MODEL_NONE */
	/* time outside barriers since all members of the episode had met before */
	uint64_t team_work_ns;
	uint64_t last;
	struct model_sums sums; /* of those phases and these crossings */
};

struct model_longest {
	uint64_t phase_ns;
	uint64_t number; /* phase number */
	uint64_t release_ns;
};

#define MODEL_LONGEST 3

/*
 * A site within a process: one row of the report. Only complete, depth 0 episodes enter the sums.
 */
struct model_barrier {
	uint32_t proc; /* for a process-shared object: the process seen first */
	uint32_t before; /* index of the previous barrier of the same process; MODEL_NONE */
	uint8_t family;
	uint8_t kind; /* of its first episode's first member */
	bool shared; /* members from several processes */
	bool nested; /* depth > 0: enters no sum of the process */
	bool has_user; /* ops.barrier was called */
	/* of model_add_summed(): max_work_ns, margin_ns, longest and phases are not known */
	bool summed;
	uint32_t nsites; /* 1; more for a mixed barrier: the sorted set of its call sites */
	const uint32_t *sites;
	uint64_t object; /* the last one seen */
	uint32_t objects; /* number of different objects: 1, or 2 for two or more */
	uint32_t flags; /* the caller's own: watched, named; set in ops.barrier */
	uint64_t probe_groups; /* of all crossings: one bit each, as in struct model_detached */

	uint64_t episodes; /* complete */
	uint64_t incomplete;
	uint64_t ambiguous;
	uint64_t crossings;
	/*
	 * Of the crossings: as in struct model_summed; or MODEL_CROSSING_UNMET, if no threads ever
	 * met there.
	 */
	uint64_t unmet;
	uint32_t team_min, team_max; /* members of complete episodes */
	struct model_stat phase; /* phase time */
	struct model_stat barrier; /* barrier time */
	struct model_stat wait; /* one value for each member; the sum is the lost time */
	struct model_stat release; /* release latency, one value for each member */
	uint64_t max_work_ns; /* sum over episodes of the longest team_work: sum_k max_i w_ik */
	uint64_t margin_ns; /* sum over episodes: last arrival minus the arrival before it */
	uint64_t summed_thread_ns; /* if `summed`: sum of phase time x members, else in phases[] */
	struct model_longest longest[MODEL_LONGEST]; /* longest first; phase_ns 0: none */

	uint32_t nthreads;
	struct model_barrier_thread *threads;
	uint32_t nphases;
	struct model_phase *phases;
};

/* model_episode.why: why it is incomplete or ambiguous, or what is uncertain about it; a set */
#define MODEL_WHY_LOST	    0x01 /* a member's record was lost */
#define MODEL_WHY_BEFORE    0x02 /* too few members: some arrived before tracing began */
#define MODEL_WHY_ABANDONED 0x04 /* a member never returned */
#define MODEL_WHY_CAUSALITY 0x08 /* a member left before the last arrival: its wait is cut */
#define MODEL_WHY_COUNT	    0x10 /* members and count disagree */
#define MODEL_WHY_SWAP	    0x20 /* two arrivals at an episode boundary could be reversed */
#define MODEL_WHY_END	    0x40 /* tracing ended first */
#define MODEL_WHY_OTHERS    0x80 /* further members are not known */
/* These occur in complete episodes, too: */
#define MODEL_WHY_BOUND	    0x100 /* the last arrival is an upper bound: MODEL_CROSSING_BOUND */
#define MODEL_WHY_RIVALS    0x200 /* several such members: the last arriver is not certain */

enum model_state { MODEL_COMPLETE, MODEL_INCOMPLETE, MODEL_AMBIGUOUS };

struct model_member {
	uint32_t thread; /* index */
	uint32_t tid;
	uint32_t site;
	uint16_t arrive_cpu;
	uint16_t depart_cpu;
	uint64_t arrive_ns;
	uint64_t depart_ns; /* or MODEL_UNKNOWN */
	uint64_t wait_ns; /* W_i = max(0, min(L, l_i) - e_i) */
	uint64_t latency_ns; /* release latency, or MODEL_UNKNOWN */
	/* the thread's phase; MODEL_UNKNOWN after a loss or an unseen departure */
	uint64_t work_ns;
	/*
	 * Start of the team: from the beginning of the region until the thread's first instruction
	 * in it, where its phase begins. MODEL_UNKNOWN if it continued without a new region, or if
	 * not known.
	 */
	uint64_t team_start_ns;
	uint8_t flags; /* MODEL_CROSSING_* */
	uint8_t kind;
	const struct model_detail *detail; /* NULL: unknown; valid during the callback */
};

struct model_episode {
	uint32_t proc;
	uint32_t barrier;
	uint64_t object;
	uint64_t seq; /* number of the episode at the barrier, from 0 */
	/*
	 * Phase number within the process, from 0, by release; MODEL_UNKNOWN: nested, or never
	 * released.
	 */
	uint64_t number;
	uint64_t release_ns; /* the last arrival seen */
	uint64_t phase_ns; /* or MODEL_UNKNOWN */
	uint32_t phase_from; /* barrier, or MODEL_NONE */
	uint64_t barrier_ns;
	uint32_t count; /* 0 unknown */
	uint32_t n;
	enum model_state state;
	uint32_t why;
	bool nested;
	const struct model_member *members; /* by arrival; valid during the callback */
};

#define MODEL_DETACHED_WHOLE UINT64_MAX

/*
 * What the cost limit (--cost-limit) detached from a process: the whole process, or some probe
 * groups.
 */
struct model_detached {
	uint64_t t_ns; /* traced until then; MODEL_UNKNOWN: nothing was detached */
	uint32_t cost_ppm; /* estimated cost at that time, in millionths of its threads' time */
	uint32_t limit_ppm; /* the limit, in the same unit */
	uint32_t because; /* tgid of the process that exceeded the limit, if another one; else 0 */
	bool probed; /* its probes are still attached and have a cost */
	uint64_t probe_groups; /* one bit each; MODEL_DETACHED_WHOLE: the whole process */
};

struct model_proc {
	uint32_t tgid;
	uint32_t inc;
	uint32_t parent; /* index, or MODEL_NONE */
	char comm[16]; /* untrusted */
	uint64_t start_ns; /* start of its first thread, or of tracing, or when it was first seen */
	uint64_t end_ns;
	bool start_seen;
	bool exited;
	/*
	 * 1; more: the sum of this many exited processes of one program (model_keep()). It has the
	 * ids of the process that exited first; elapsed_ns and ideal_ns are sums, all threads are
	 * in `folded`, and `longest` of its barriers is not known.
	 */
	uint32_t processes;
	/* of a sum: the sum of their lives; MODEL_UNKNOWN: not all starts were seen */
	uint64_t life_ns;
	uint64_t crossings; /* all depths */
	uint64_t unmet; /* of these: see model_barrier.unmet */
	uint64_t arrivals_unseen; /* of these: waits for threads that arrived without a trace */
	uint64_t lost;
	uint64_t abandoned;
	uint64_t episodes; /* complete, depth 0 */
	uint64_t incomplete;
	uint64_t ambiguous;
	/*
	 * The same for episodes in which its threads took part. An episode at a shared barrier is
	 * counted above only for the process that was seen there first, and here for each process.
	 */
	uint64_t met, met_incomplete, met_ambiguous;
	uint32_t nthreads_crossed; /* n: threads that crossed a barrier */
	/*
	 * Sums of threads that ended long ago, if there are too many to keep. They are in
	 * nthreads_crossed but not in the list of threads. At a barrier they share one entry, with
	 * thread MODEL_NONE.
	 */
	struct {
		uint64_t threads, crossings, last;
		uint64_t outside_ns, outside_max_ns, idle_ns, wait_ns, unknown_ns;
		uint64_t life_ns; /* without away_ns */
		struct model_sums sums;
	} folded;
	/*
	 * T and T_ideal of the efficiencies, after model_finish(). T: from the first start to the
	 * last end of the threads that crossed a barrier. T_ideal: the longest path through their
	 * intervals outside barriers, where each episode joins its members at the last arrival, at
	 * no cost. A thread's path begins at its start, counted from the first start.
	 */
	uint64_t elapsed_ns;
	uint64_t ideal_ns; /* MODEL_UNKNOWN if `summed` */
	bool summed; /* its threads' crossings came as sums: model_add_summed() */
	/* If the whole process was detached, `exited` is set, and end_ns is that time. */
	struct model_detached detached;
	/*
	 * Probe groups that were detached before, in the order of time; each at most once. Owned by
	 * the model.
	 */
	struct model_detached *parts;
	uint32_t nparts;
};

struct model_totals {
	uint64_t crossings; /* fed */
	uint64_t episodes; /* complete, all processes, depth 0 */
	uint64_t incomplete;
	uint64_t ambiguous;
	uint64_t lost; /* known missing by gaps in seq */
	uint64_t abandoned;
};

/* --- interface ------------------------------------------------------------------------------- */

struct model_ops {
	void *ctx;
	/* A barrier was seen for the first time: the caller may set barrier->flags. Optional. */
	void (*barrier)(void *ctx, const struct model *model, uint32_t index,
			struct model_barrier *barrier);
	/* An episode is finished (complete or not). Optional. */
	void (*episode)(void *ctx, const struct model *model, const struct model_episode *episode);
	/*
	 * Return the number of a thread that is shown for the first time. @next: its number without
	 * this function. Threads of one process should have different numbers. Optional.
	 */
	uint32_t (*number)(void *ctx, const struct model *model, uint32_t thread, uint32_t next);
	/* Return whether this process may be folded into its program. Optional. */
	bool (*may_fold)(void *ctx, const struct model *model, uint32_t proc);
	/*
	 * The barrier (the process) @from has been added to @into, of the same program. The index
	 * @from, and those of its threads, will be reused. Optional.
	 */
	void (*barrier_folded)(void *ctx, const struct model *model, uint32_t from, uint32_t into);
	void (*process_folded)(void *ctx, const struct model *model, uint32_t from, uint32_t into);
};

/* Return a new model, or NULL when out of memory. @start_ns: when tracing began. */
struct model *model_new(const struct model_ops *ops, uint64_t start_ns);
void model_free(struct model *model);
/*
 * Keep at most @exited exited processes as they are, those that lost most; fold the others into
 * their program. Without this call all are kept. Entries of processes and barriers may then be
 * empty: their crossings are 0, and proc of an empty barrier is MODEL_NONE.
 */
void model_keep(struct model *model, uint32_t exited);

/*
 * What goes in, as it is put on record: each of the functions below is one of these. Append only:
 * the numbers are in recordings.
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
};

/*
 * A call of the function for @type. The members hold its arguments, under the same names. A member
 * that is no argument of the function is 0. Types without a member in the union have no further
 * arguments.
 */
struct model_input {
	uint8_t type; /* enum model_input_type */
	uint32_t tgid, inc, tid; /* 0 for a crossing, which holds its own */
	uint64_t t_ns; /* when it happened: the start, the end, or the arrival */
	union {
		const struct model_crossing *crossing;
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
			uint64_t for_ns, after_ns; /* t_ns is until_ns */
		} joined;
		/* The members of struct model_detached; t_ns above. */
		struct {
			uint32_t cost_ppm, limit_ppm, because;
			bool probed;
			uint64_t probe_groups; /* MODEL_INPUT_DETACHED: MODEL_DETACHED_WHOLE */
		} detached; /* MODEL_INPUT_DETACHED and MODEL_INPUT_DETACHED_PART */
	};
};

/* Call the function for @input->type and return its result, -EINVAL if there is no such type. */
int model_take(struct model *model, const struct model_input *input);
/* Call @tap with each input after the model has taken it. NULL: no tap. */
void model_tap(struct model *model, void (*tap)(void *ctx, const struct model_input *input),
	       void *ctx);

/* These functions return 0 or -ENOMEM. After an error only reading and model_free() are allowed. */
int model_add_crossing(struct model *model, const struct model_crossing *crossing);
/*
 * Prefetch what a crossing of this thread will need, as it will be fed soon. With ten thousand
 * threads that leave in no order, waiting for memory would take two fifths of the time. Has no
 * other effect.
 */
void model_expect(const struct model *model, uint32_t tid);
/*
 * Add a process that is known from @t_ns on. @seen: it was created then; else it was found running.
 * If it was found after tracing began, its figures count from @t_ns. @comm may be NULL. A second
 * call before its first crossing sets its start, and that of its first thread, anew: sbt-trace had
 * stopped it until then.
 */
int model_add_process(struct model *model, uint32_t tgid, uint32_t inc, uint32_t parent_tgid,
		      uint32_t parent_inc, uint64_t t_ns, bool seen, const char *comm);
/* Add a thread that was created while tracing; not for threads that were found running. */
int model_add_thread(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns);
/*
 * Add a thread that existed when tracing began, before its first crossing. @inside: the address (a
 * futex word) at which it was waiting then; 0: it was not waiting. The barrier that it was inside
 * of is then known, and need not be derived from the first crossings.
 */
int model_add_found(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		    uint64_t inside);
/* Note that a thread ended. Its tid may be used again by another thread. */
int model_end_thread(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		     const char *comm);
int model_end_process(struct model *model, uint32_t tgid, uint32_t inc, uint64_t t_ns);
/* Set the program that a process runs: the same number for the same program. Before its end. */
int model_add_program(struct model *model, uint32_t tgid, uint32_t inc, uint64_t program);
int model_name_thread(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		      const char *comm);
/*
 * Add what a thread did between its last departure and @t_ns, which is its end or the end of
 * tracing. @detail NULL: all on a CPU; copied. To be called before model_end_thread(). The detail
 * enters model_thread.sums when the tail enters outside_ns: at the end, or in model_thread_at().
 * Tails of unknown threads are ignored.
 */
int model_add_tail(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		   const struct model_detail *detail);
/*
 * Sums from the kernel side: what one thread did at one call site, instead of its crossings.
 * Figures of episodes are with their last arriver. Times before its first crossing are not
 * included, because only the model knows its start. Not recorded: the tap does not see it.
 */
struct model_summed {
	uint32_t tgid, inc, tid;
	uint32_t site;
	uint8_t family, kind;
	bool several; /* objects */
	uint64_t object; /* the last one */
	uint64_t born_ns; /* some time in the life of the thread, because tids are reused */
	/*
	 * Arrival of the thread's very first crossing, if it was here and its episode complete;
	 * else 0.
	 */
	uint64_t first_arrive_ns;
	uint64_t first_release_ns; /* release of that episode, if it was the last arriver; else 0 */
	uint32_t first_team; /* number of members of that episode, if so */
	uint64_t depart_ns; /* its last departure here */
	uint64_t crossings, abandoned;
	uint64_t unmet; /* of the crossings: at barriers with unknown members */
	uint64_t incomplete, ambiguous; /* episodes; each counted by one thread */
	uint64_t idle_ns, work_ns, work_n; /* in complete episodes */
	uint64_t idle_other_ns; /* in other episodes */
	uint64_t unknown_ns; /* in abandoned crossings */
	uint64_t thread_ns; /* phase times x members */
	uint32_t team_min, team_max; /* of episodes with it as last arriver; team_max 0: none */
	struct model_stat wait, release; /* its own */
	/* of episodes with it as last arriver: barrier.n of them */
	struct model_stat barrier, phase;
};

/* Add sums, after everything else has been fed and before model_finish(). */
int model_add_summed(struct model *model, const struct model_summed *summed);
/*
 * Note that @tid waited @for_ns, until @until_ns, for another thread to end. If it crosses no
 * barrier afterwards, it was no member of a team meanwhile; else that time is a part of its phase.
 * @after_ns: with sums, when it left its last barrier; else 0.
 */
int model_add_joined(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		     uint64_t for_ns, uint64_t until_ns, uint64_t after_ns);
/*
 * Note that @tid arrived at @arrive_ns and had not left when tracing ended; before model_finish().
 */
int model_add_pending(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		      uint64_t object, uint64_t arrive_ns);
/* Decide what can be decided: all records with departures before @t_ns have been fed. */
int model_advance(struct model *model, uint64_t t_ns);
/*
 * Note what was detached from a process. From detached->t_ns on the process, or its probe groups,
 * are not traced: records from before may still be fed, later ones not.
 */
int model_detached(struct model *model, uint32_t tgid, uint32_t inc,
		   const struct model_detached *detached);
/* End the run: close what is open, and add the tails. Nothing may be fed afterwards. */
int model_finish(struct model *model, uint64_t end_ns);

/*
 * For interim reports: return the process (the thread) as it would be if tracing ended at @end_ns,
 * with open intervals counted until then. Changes nothing. After model_finish() the same as
 * model_proc().
 */
void model_proc_at(const struct model *model, uint32_t index, uint64_t end_ns,
		   struct model_proc *out);
void model_thread_at(const struct model *model, uint32_t index, uint64_t end_ns,
		     struct model_thread *out);

/* A member of the last episode on an object. */
struct model_met {
	uint32_t thread; /* index; MODEL_NONE: it ended long ago and has been folded */
	uint32_t tid;
};

struct model_team {
	uint32_t n; /* members of the last episode; 0: none is known */
	uint64_t release_ns; /* its release */
	/* index of the barrier of the newest finished episode there; MODEL_NONE: none */
	uint32_t barrier;
	/* more threads use the barrier than it counts: the next members may be others */
	bool changes;
};

/*
 * Find the team that met last on the object that tgid, inc, object, family and shared of @at
 * identify. At most @max of out->n members are written to @met. Return false if nothing is known of
 * the object.
 */
bool model_team(const struct model *model, const struct model_crossing *at, struct model_met *met,
		uint32_t max, struct model_team *out);

const struct model_totals *model_totals(const struct model *model);
uint64_t model_start(const struct model *model);
uint32_t model_nprocs(const struct model *model);
const struct model_proc *model_proc(const struct model *model, uint32_t index);
/* Some entries may be empty: their proc is MODEL_NONE. */
uint32_t model_nthreads(const struct model *model);
/* Return the index of the last thread with this number; MODEL_NONE: none is known. */
uint32_t model_find_thread(const struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid);
const struct model_thread *model_thread(const struct model *model, uint32_t index);
uint32_t model_nbarriers(const struct model *model);
const struct model_barrier *model_barrier(const struct model *model, uint32_t index);

#endif /* MODEL_MODEL_H */
