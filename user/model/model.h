/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Crossings -> episodes -> phases -> sites. Pure: no I/O, no kernel, no clock of its own. The words
 * are those of the design's model; times are nanoseconds of CLOCK_MONOTONIC.
 *
 * Crossings are fed in the order of their departures (as well as the stream can tell), what happens
 * to threads and processes in the order of time. Finished episodes come out of a callback in the
 * order of their releases within a process.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sbt/parts.h"

#define MODEL_UNKNOWN UINT64_MAX /* a time that is not known: never shown as 0 */
#define MODEL_NONE    UINT32_MAX /* no such index */

struct model;

/* --- what goes in ---------------------------------------------------------------------------- */

/* model_crossing.flags */
#define MODEL_CROSSING_ABANDONED 0x01 /* depart_ns is MODEL_UNKNOWN: it never returned */
#define MODEL_CROSSING_UNMET \
	0x02 /* processes may share the object, and it is not known which: who else came may be of others */
#define MODEL_CROSSING_ACCOUNTED \
	0x04 /* its time is accounted for: without detail it was all on a CPU */
/*
 * When it leaves cannot be seen (a worker at the end of a parallel region): depart_ns is MODEL_UNKNOWN, but it is
 * not abandoned. The next record of the thread, in the same row of numbers, says when it went on: no crossing,
 * only depart_ns and the parts of the time inside mean something there, and arrive_ns, if that is earlier: then the region
 * in which it goes on was begun. In between it was idle.
 */
#define MODEL_CROSSING_STAYS   0x08
#define MODEL_CROSSING_RESUMES 0x10
/* Whoever comes to the object is of the team that is there now: its size may change from one meeting to the next. */
#define MODEL_CROSSING_TEAM    0x20
#define MODEL_CROSSING_PARTIAL \
	0x40 /* who else meets there cannot be known: no episode of the object is complete */
#define MODEL_CROSSING_BOUND \
	0x80 /* it arrived at arrive_ns at the latest: when exactly was not seen */
/*
 * A thread that only waits for the others to end, as a creator that joins them: it is no member, and nothing of its time in
 * there counts. It says when the episode ended, and goes on from there. (Of a team no arrival is a bound.)
 */
#define MODEL_CROSSING_JOINS (MODEL_CROSSING_TEAM | MODEL_CROSSING_BOUND)

static inline bool model_joins(uint8_t flags)
{
	return (flags & MODEL_CROSSING_JOINS) == MODEL_CROSSING_JOINS;
}

/* Is arrive_ns an upper bound? */
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

/* What the holder of a lock, or the waker, did meanwhile; MODEL_DOING_BLOCKED + enum model_blocked. */
enum model_doing {
	MODEL_DOING_UNKNOWN,
	MODEL_DOING_ONCPU,
	MODEL_DOING_RUNQ,
	MODEL_DOING_BLOCKED,
};

/* What it waited for where none of the reasons fits. */
enum model_other {
	MODEL_OTHER_UNKNOWN,
	MODEL_OTHER_STOPPED, /* by a signal or a debugger */
	MODEL_OTHER_CHILD, /* for a child process to end */
	MODEL_OTHER_SIGNAL, /* for a signal */
};

/* What kind of thing it waited for. */
enum model_waited {
	MODEL_WAITED_UNKNOWN,
	MODEL_WAITED_LOCK,
	MODEL_WAITED_JOIN, /* for `holder` to end */
	MODEL_WAITED_EVENT, /* a semaphore or a condition variable */
	MODEL_WAITED_SEMAPHORE,
	MODEL_WAITED_WAKER, /* MODEL_BLOCKED_IO: it is certain that `waker` ended it */
};

#define MODEL_COUNTERS_MAX 8

/* The longest block of a phase, among those of one reason. */
struct model_block {
	uint64_t ns; /* 0: none */
	uint64_t
		addr; /* lock: of the futex; fault: what was touched; I/O: the file; other: enum model_other */
	uint64_t stack; /* opaque; 0 none */
	uint64_t doing_ns;
	uint32_t waker, holder, culprit; /* tids; 0 none or unknown */
	uint8_t reason; /* enum model_blocked */
	uint8_t doing; /* enum model_doing */
	uint8_t among; /* others held the lock, too */
	uint8_t waited; /* enum model_waited */
};

/*
 * Where the time of one crossing went: its phase, and the time inside the barrier. What goes in may say
 * MODEL_UNKNOWN of oncpu_ns and of inside_oncpu_ns for "all of it"; in what comes out both are
 * times, the parts are no more than the whole (work_ns; the departure less the arrival), and what
 * they do not add up to is unattributed. If that whole is not known, oncpu_ns (inside_oncpu_ns) is
 * MODEL_UNKNOWN in what comes out and the rest of the phase (of the time inside), its counters too,
 * is 0 and means nothing.
 */
struct model_detail {
	uint64_t oncpu_ns; /* fault_ns included */
	uint64_t runq_ns;
	uint64_t blocked_ns[MODEL_BLOCKED_REASONS];
	SBT_PART_TIMES(SBT_PART_MEMBER, uint64_t)
	uint64_t turn_oncpu_ns; /* of turn_ns and begin_ns, and of oncpu_ns: spinning */
	uint64_t fault_addr;
	uint64_t ran_ns; /* of runq_ns: while the task `ran` had the CPU */
	uint32_t ran;
	SBT_PART_COUNTS(SBT_PART_MEMBER, uint32_t)
	uint32_t cpus_allowed; /* 0 unknown */
	uint64_t inside_oncpu_ns; /* spinning */
	uint64_t inside_runq_ns; /* released and waiting for a CPU */
	uint32_t inside_ran; /* who had it */
	uint64_t interference_ns,
		inside_interference_ns; /* of these two: while the tracer had the CPU, as far as is known */
	uint32_t inside_switches;
	uint32_t ncounters;
	uint8_t scaled; /* a bit a counter: multiplexed */
	uint8_t unknown; /* a bit a counter: not counted for part of the time */
	struct model_block block, second; /* of the reason that cost most; of the next */
	uint64_t counters[MODEL_COUNTERS_MAX]; /* of the phase */
	uint64_t inside_counters[MODEL_COUNTERS_MAX];
};

struct model_crossing {
	uint32_t tgid;
	uint32_t inc; /* incarnation of the process */
	uint32_t tid;
	uint32_t seq; /* of the thread, its first is 1 (0 is taken too); a gap is a lost record */
	uint32_t site; /* call site: opaque, the same number for the same place */
	uint32_t count; /* how many the barrier waits for; 0 unknown */
	uint64_t object; /* address in the process */
	uint64_t shared; /* 0: private to the process; else names the memory that processes share */
	uint64_t arrive_ns;
	uint64_t depart_ns; /* or MODEL_UNKNOWN */
	uint16_t arrive_cpu;
	uint16_t depart_cpu;
	uint8_t family;
	uint8_t kind; /* opaque: what makes them meet there */
	uint8_t flags;
	uint8_t depth; /* > 0: nested; kept apart, enters no sum */
	uint8_t probe_group; /* what it is shed with: a number below 64; 0 stands for `family` */
	uint16_t place; /* of the thread in its team, as the program counts, plus 1; 0 not known */
	/*
	 * How many were still to come when it had arrived, plus 1; 0 not known. With MODEL_CROSSING_BOUND 1: nobody. Of
	 * those that nothing shows, which leave the episode incomplete.
	 */
	uint16_t rest;
	/*
	 * Which of the meetings at the object it is, as its members count them themselves: those of one meeting have the same
	 * number, those of one soon before or after have another. 0 not known.
	 */
	uint32_t round;
	/*
	 * `round` is the ordinal of the call on the object, known to all: equal ones are one episode and others are not, whatever
	 * their times say. For recordings of several clocks. Those of one ordinal come before those of the next.
	 */
	bool ordinal;
	/* NULL: nothing but what flags say of it. Copied. */
	const struct model_detail *detail;
};

/* --- distributions --------------------------------------------------------------------------- */

/* Sum, extremes, mean and deviation (Welford), and a log-2 histogram: bucket i counts [2^i, 2^(i+1)). */
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
/* What went into @from has gone into @to as well. */
void model_stat_join(struct model_stat *to, const struct model_stat *from);
/* Standard deviation of the population; 0 for fewer than two values. */
double model_stat_stddev(const struct model_stat *s);

/* --- what is kept ---------------------------------------------------------------------------- */

/*
 * Where time went, summed: of a thread over all its phases and its tail, or of one thread at one barrier.
 * known_ns is the time of which the parts are known: what of it they do not add up to is unattributed.
 * Nested crossings are in none of these, nor are phases of unknown length.
 */
struct model_sums {
	uint64_t known_ns;
	uint64_t oncpu_ns;
	uint64_t inside_known_ns; /* time in barriers of which the parts are known */
	uint64_t
		inside_oncpu_ns; /* so far: of threads that were on a CPU all the time, all there is */
	uint64_t runq_ns;
	SBT_PART_TIMES(SBT_PART_MEMBER, uint64_t)
	uint64_t blocked_ns[MODEL_BLOCKED_REASONS];
	uint64_t inside_runq_ns;
	SBT_PART_COUNTS(SBT_PART_MEMBER, uint64_t)
	uint64_t inside_switches;
	uint64_t interference_ns; /* of runq_ns and inside_runq_ns: while the tracer had the CPU */
	uint64_t slept; /* crossings of a thread that was switched out inside */
	uint64_t counters[MODEL_COUNTERS_MAX]; /* phases */
	uint64_t inside_counters[MODEL_COUNTERS_MAX];
	uint64_t counted; /* crossings and tails with counters */
	uint8_t scaled, unknown; /* a bit a counter */
};

/*
 * Adds a phase of @work_ns and a time inside of @inside_ns (either MODEL_UNKNOWN: not that) with the parts that came
 * out of the model for them; @d NULL: all on a CPU.
 */
void model_sums_add(struct model_sums *s, const struct model_detail *d, uint64_t work_ns,
		    uint64_t inside_ns);
/* Two threads' sums are then one's. */
void model_sums_join(struct model_sums *to, const struct model_sums *from);

/* What every crossing and episode changes comes first: one line of the cache. */
struct model_thread {
	uint32_t tid;
	uint32_t proc; /* index of its process */
	uint32_t barrier; /* of the last episode it was in; MODEL_NONE if none */
	bool start_seen; /* created while tracing */
	bool exited;
	uint64_t crossings; /* depth 0, seen */
	uint64_t outside_ns; /* u_i: time outside barriers, phase 0 and tail included */
	uint64_t idle_ns; /* inside barriers */
	uint64_t wait_ns;
	uint64_t last; /* how often it came last to an episode */
	uint64_t release_ns; /* release of the last episode it was in; MODEL_UNKNOWN if none */
	uint64_t depart_ns; /* last departure; MODEL_UNKNOWN if none or unseen */

	struct model_sums sums;

	uint32_t
		ordinal; /* within the process, by creation among those first shown together; MODEL_NONE: not yet */
	/*
	 * The last known of model_crossing.place, less 1; MODEL_NONE: none. One among the threads of its process goes before
	 * one among all processes'.
	 */
	uint32_t place;
	uint64_t start_ns; /* its creation, or the start of tracing */
	uint64_t
		end_ns; /* its exit; MODEL_UNKNOWN while alive; the end of tracing after model_finish() */
	char comm[16]; /* "" unknown; untrusted */

	uint64_t lost; /* crossings known to be missing, by gaps in seq */
	uint64_t abandoned;
	uint64_t
		unknown_ns; /* time of which it is not known (a record was lost, an unseen departure) */
	uint64_t
		ideal_ns; /* its place on the longest path, after model_finish(): see model_proc.ideal_ns */
	uint64_t pending_ns; /* arrived and not left when tracing ended; MODEL_UNKNOWN if not */
	uint32_t cpus_allowed; /* last known; 0 unknown */
	uint64_t away_ns; /* waited for other threads to end: in neither outside_ns nor idle_ns */
	uint64_t waits; /* complete episodes in wait_ns */
	double wait_squares; /* sum of the squares of the waits in those, ns^2 */
};

/* A phase: what ends at one barrier and began at another (or at the start: from == MODEL_NONE). */
struct model_phase {
	uint32_t from;
	struct model_stat time; /* phase times */
	uint64_t wait_ns; /* lost at its end */
	uint64_t thread_ns; /* phase time x members, summed: what wait_ns is a share of */
};

struct model_barrier_thread {
	uint32_t thread; /* index; MODEL_NONE: threads that are only kept as a sum */
	uint64_t crossings;
	uint64_t wait_ns;
	uint64_t wait_max_ns;
	uint64_t waits; /* complete episodes in wait_ns */
	double wait_squares; /* sum of the squares of the waits in those, ns^2 */
	uint64_t idle_ns;
	uint64_t undeparted; /* crossings of which it is not known when it left: not in idle_ns */
	uint64_t work_ns; /* of phases that ended here */
	uint64_t work_n; /* how many of them were known */
	uint32_t place; /* the last known of model_crossing.place here, less 1; MODEL_NONE */
	uint64_t
		team_work_ns; /* outside barriers since all members of the episode had met before */
	uint64_t last;
	struct model_sums sums; /* of those phases and these crossings */
};

struct model_longest {
	uint64_t phase_ns;
	uint64_t number; /* phase number */
	uint64_t release_ns;
};

#define MODEL_LONGEST 3

/* A site within a process: one row of the report. Only complete, depth 0 episodes enter the sums. */
struct model_barrier {
	uint32_t proc; /* for a process-shared object: the process seen first */
	uint32_t before; /* the last one before it of the same process; MODEL_NONE */
	uint8_t family;
	uint8_t kind; /* of its first episode's first member */
	bool shared; /* members from several processes */
	bool nested; /* depth > 0: in no sum of the process */
	bool has_user; /* ops.barrier was called */
	bool summed; /* of model_add_summed(): max_work_ns, margin_ns, longest and phases are not known */
	uint32_t nsites; /* 1, or more for mixed: the sorted set of its call sites */
	const uint32_t *sites;
	uint64_t object; /* the last one seen */
	uint32_t objects; /* how many different ones (1, 2 = two or more) */
	uint32_t flags; /* the caller's own: watched, named; set in ops.barrier */
	uint64_t probe_groups; /* of all that came here: a bit each, as in struct model_detached */

	uint64_t episodes; /* complete */
	uint64_t incomplete;
	uint64_t ambiguous;
	uint64_t crossings;
	uint64_t
		unmet; /* of the crossings: as in struct model_summed, or MODEL_CROSSING_UNMET and nobody ever met there */
	uint32_t team_min, team_max; /* members of complete episodes */
	struct model_stat phase; /* phase time */
	struct model_stat barrier; /* barrier time */
	struct model_stat wait; /* one value a member: sum is the lost time */
	struct model_stat release; /* release latency, one value a member */
	uint64_t max_work_ns; /* sum over episodes of the longest team_work: sum_k max_i w_ik */
	uint64_t margin_ns; /* sum over episodes: last arrival - the one before */
	uint64_t
		summed_thread_ns; /* where `summed`: what is in phases[] else, phase time x members */
	struct model_longest longest[MODEL_LONGEST]; /* longest first; phase_ns 0: none */

	uint32_t nthreads;
	struct model_barrier_thread *threads;
	uint32_t nphases;
	struct model_phase *phases;
};

/* model_episode.why: what makes it incomplete or ambiguous, or is wrong with it; a set */
#define MODEL_WHY_LOST	    0x01 /* a member's record was lost */
#define MODEL_WHY_BEFORE    0x02 /* fewer members than the count: some began before tracing did */
#define MODEL_WHY_ABANDONED 0x04 /* a member never returned */
#define MODEL_WHY_CAUSALITY 0x08 /* a member left before the last arrived: its wait is cut */
#define MODEL_WHY_COUNT	    0x10 /* members and count disagree */
#define MODEL_WHY_SWAP	    0x20 /* two arrivals at the edge could be the other way round */
#define MODEL_WHY_END	    0x40 /* tracing ended first */
#define MODEL_WHY_OTHERS    0x80 /* who else was to come is not known */
/* The following are said of complete ones, too: */
#define MODEL_WHY_BOUND	    0x100 /* the last arrival is an upper bound: MODEL_CROSSING_BOUND */
#define MODEL_WHY_RIVALS    0x200 /* several members are such: which was the last is not certain */

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
	uint64_t
		work_ns; /* the thread's phase; MODEL_UNKNOWN after a loss or an unseen departure */
	/*
	 * Start of the team: from when the region was begun until the thread's first instruction in it, where its phase begins;
	 * MODEL_UNKNOWN if it went on by itself, or if that is not known
	 */
	uint64_t team_start_ns;
	uint8_t flags; /* MODEL_CROSSING_* */
	uint8_t kind;
	const struct model_detail *detail; /* NULL: nothing is known; valid during the callback */
};

struct model_episode {
	uint32_t proc;
	uint32_t barrier;
	uint64_t object;
	uint64_t seq; /* of the barrier, from 0 */
	uint64_t
		number; /* phase number: of the process, from 0, by release; MODEL_UNKNOWN if nested or never released */
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

/* A process of which all, or some of its barriers, were traced up to some moment only, for that cost it too much (--cost-limit). */
struct model_detached {
	uint64_t t_ns; /* from then on it was not; MODEL_UNKNOWN: it always was */
	uint32_t cost_ppm; /* of its threads' time, as it was estimated then, in millionths */
	uint32_t limit_ppm;
	uint32_t because; /* tgid of the process that cost so much, if that is another one; 0 */
	bool probed; /* its probes are still there and cost it something */
	uint64_t
		probe_groups; /* a bit each; MODEL_DETACHED_WHOLE: the whole process, all that it does later */
};

struct model_proc {
	uint32_t tgid;
	uint32_t inc;
	uint32_t parent; /* index, or MODEL_NONE */
	char comm[16]; /* untrusted */
	uint64_t start_ns; /* of its first thread, or of tracing, or from when it was seen */
	uint64_t end_ns;
	bool start_seen;
	bool exited;
	/*
	 * 1; more: that of a program, the sum of so many processes that have exited (model_keep()). It has the numbers of the one
	 * that exited first; elapsed_ns and ideal_ns are sums, its threads are all in `folded`, and of its barriers `longest` is
	 * not known.
	 */
	uint32_t processes;
	uint64_t
		life_ns; /* then: the sum of their lives; MODEL_UNKNOWN: not all starts were seen */
	uint64_t crossings; /* all depths */
	uint64_t unmet; /* of these: as of its barriers */
	uint64_t arrivals_unseen; /* of these: waits for others who came without a trace */
	uint64_t lost;
	uint64_t abandoned;
	uint64_t episodes; /* complete, depth 0 */
	uint64_t incomplete;
	uint64_t ambiguous;
	/*
	 * The same of those in which its threads took part: one that processes share is counted above with the process that
	 * came to its barrier first, and here with each.
	 */
	uint64_t met, met_incomplete, met_ambiguous;
	uint32_t nthreads_crossed; /* n: threads that crossed a barrier */
	/*
	 * Threads that ended so long ago that only their sums are kept (there are too many). They are in
	 * nthreads_crossed but not in the list of threads; at a barrier they share one entry, whose
	 * thread is MODEL_NONE.
	 */
	struct {
		uint64_t threads, crossings, last;
		uint64_t outside_ns, outside_max_ns, idle_ns, wait_ns, unknown_ns;
		uint64_t life_ns; /* without what they were away */
		struct model_sums sums;
	} folded;
	/*
	 * T and T_ideal of the efficiencies, after model_finish(): from the first start to the last end of the threads
	 * that crossed a barrier; and the longest path through their intervals outside barriers,
	 * each meeting joining its members at the last arrival at no cost. A thread's path begins at
	 * its start, counted from the first start.
	 */
	uint64_t elapsed_ns;
	uint64_t ideal_ns; /* MODEL_UNKNOWN where `summed` */
	bool summed; /* what its threads did came as sums: model_add_summed() */
	struct model_detached
		detached; /* the whole of it: then `exited` is set, and end_ns is that moment */
	/* What of it was shed before, in the order of time; no unit twice. The model's. */
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
	 * The small number of a thread that is shown for the first time: @next is what it gets without this. Two of one process
	 * should not have the same. Optional.
	 */
	uint32_t (*number)(void *ctx, const struct model *model, uint32_t thread, uint32_t next);
	/* May this process be folded into its program? Optional. */
	bool (*may_fold)(void *ctx, const struct model *model, uint32_t proc);
	/*
	 * What was at the barrier (then: the process) @from has been added to @into, of the same program; @from will be the index of
	 * another one, and its threads' indices those of others. Optional.
	 */
	void (*barrier_folded)(void *ctx, const struct model *model, uint32_t from, uint32_t into);
	void (*process_folded)(void *ctx, const struct model *model, uint32_t from, uint32_t into);
};

/* @start_ns: when tracing began. Returns NULL when out of memory. */
struct model *model_new(const struct model_ops *ops, uint64_t start_ns);
void model_free(struct model *model);
/*
 * Keeps so many of the processes that have exited as they are, those that lost most; the others are folded into their program.
 * Without this all are kept. Places of processes and barriers may then be empty: their crossings are 0, and an empty barrier's
 * proc is MODEL_NONE.
 */
void model_keep(struct model *model, uint32_t exited);

/*
 * What goes in, as it is put on record: each of the functions below is one of these. Append only: the numbers are in
 * recordings.
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

/* The arguments of the function of that type, by their names there; those that it has not are 0. */
struct model_input {
	uint8_t type; /* enum model_input_type */
	bool seen;
	uint32_t tgid, inc, tid;
	uint32_t parent_tgid, parent_inc;
	uint64_t t_ns; /* arrive_ns, end_ns, until_ns likewise */
	uint64_t object; /* inside, for_ns likewise */
	const char *comm;
	const struct model_crossing *crossing; /* tgid, inc and tid are in there alone */
	const struct model_detail *detail; /* of a tail */
};

/*
 * In a struct model_input after_ns of a join is in `parent_tgid` (the upper half) and `parent_inc`. What a struct model_detached has beside t_ns is in `object`, `parent_tgid` and `seen`, and of a part in
 * `parent_inc` and, the upper half, `tid` its units.
 */

/* Does what the function of its type does, and returns what that would. -EINVAL: there is no such type. */
int model_take(struct model *model, const struct model_input *input);
/* @tap is called with all that is taken in, after it has been. NULL: nobody is. */
void model_tap(struct model *model, void (*tap)(void *ctx, const struct model_input *input),
	       void *ctx);

/* All return 0 or -ENOMEM; after an error nothing but looking and model_free() makes sense. */
int model_add_crossing(struct model *model, const struct model_crossing *crossing);
/*
 * A crossing of a thread with this number will be fed soon: what it needs is fetched meanwhile. With ten thousand threads that
 * leave in no order, two fifths of the time would go into waiting for it. Nothing else comes of it.
 */
void model_expect(const struct model *model, uint32_t tid);
/*
 * A process known from @t_ns on; @seen: created then, else merely found. @comm may be NULL. Found after tracing began (@t_ns), it
 * did things before that were not seen: then its figures count from there. Said again before any of it has
 * crossed, and of its first thread, it began then: whoever held it up before that was no part of it.
 */
int model_add_process(struct model *model, uint32_t tgid, uint32_t inc, uint32_t parent_tgid,
		      uint32_t parent_inc, uint64_t t_ns, bool seen, const char *comm);
/* A thread was created while tracing; not for those that were merely found. */
int model_add_thread(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns);
/*
 * A thread that was there when tracing began; before its first crossing. @inside: the address it was
 * waiting at then (a futex word), 0 if it was not waiting. What it was inside of is then known, and
 * need not be worked out from the first crossings.
 */
int model_add_found(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		    uint64_t inside);
/* A thread ended; its number may come again as another thread. */
int model_end_thread(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		     const char *comm);
int model_end_process(struct model *model, uint32_t tgid, uint32_t inc, uint64_t t_ns);
/* What it runs: the same number for the same program. Before its end. */
int model_add_program(struct model *model, uint32_t tgid, uint32_t inc, uint64_t program);
int model_name_thread(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		      const char *comm);
/*
 * What a thread did between its last departure and @t_ns, its end or the end of tracing. @detail
 * NULL: all on a CPU. Before model_end_thread(); copied. It enters model_thread.sums as the tail
 * enters outside_ns: at the end, or in what model_thread_at() says. Of a thread that is not known
 * nothing is kept.
 */
int model_add_tail(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		   const struct model_detail *detail);
/*
 * Of sources that add up themselves: what one thread did at one place, with its crossings nowhere else. What is of whole
 * episodes is with the thread that came last to them. Times before its first crossing are not known there: the model has its
 * start. Not put on record: a tap is told nothing of it.
 */
struct model_summed {
	uint32_t tgid, inc, tid;
	uint32_t site;
	uint8_t family, kind;
	bool several; /* objects */
	uint64_t object; /* the last */
	uint64_t born_ns; /* some time in the life of the thread: numbers come again */
	uint64_t
		first_arrive_ns; /* of the thread's very first crossing, if it was here and its episode whole; else 0 */
	uint64_t first_release_ns; /* if it came last to that, when; else 0 */
	uint32_t first_team; /* how many met then, if so */
	uint64_t depart_ns; /* its last departure here */
	uint64_t crossings, abandoned;
	uint64_t
		unmet; /* of the crossings, those at barriers of which it is not known who meets there */
	uint64_t incomplete, ambiguous; /* episodes; each told of by one thread */
	uint64_t idle_ns, work_ns, work_n; /* in whole episodes */
	uint64_t idle_other_ns; /* in others */
	uint64_t unknown_ns; /* in what it abandoned */
	uint64_t thread_ns; /* phase times x members */
	uint32_t team_min, team_max; /* of episodes that it came last to; team_max 0: none */
	struct model_stat wait, release; /* its own */
	struct model_stat barrier, phase; /* of episodes that it came last to: barrier.n of them */
};

/* After everything else has been fed, before model_finish(). */
int model_add_summed(struct model *model, const struct model_summed *summed);
/*
 * @tid waited @for_ns, up to @until_ns, for another thread to end. If it crosses no barrier afterwards, it was no member of any
 * team meanwhile; else that time is a part of its phase. @after_ns: where crossings come as sums, when it left its last
 * barrier; else 0.
 */
int model_add_joined(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		     uint64_t for_ns, uint64_t until_ns, uint64_t after_ns);
/* @tid arrived at @arrive_ns and had not left when tracing ended; before model_finish(). */
int model_add_pending(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		      uint64_t object, uint64_t arrive_ns);
/* All records that departed before @t_ns have been fed: what can be decided is decided. */
int model_advance(struct model *model, uint64_t t_ns);
/*
 * From shed->t_ns on the process is not traced: as far as it is concerned tracing ended then. What it did before may still
 * be fed; nothing it did later. Of shed->units only, that holds for crossings of these.
 */
int model_detached(struct model *model, uint32_t tgid, uint32_t inc,
		   const struct model_detached *detached);
/* The end: closes what is open, adds the tails. Nothing may be fed afterwards. */
int model_finish(struct model *model, uint64_t end_ns);

/*
 * For interim reports: the process as it would be if tracing ended at @end_ns, open intervals
 * counted up to then. Changes nothing. The same as model_proc() after model_finish().
 */
void model_proc_at(const struct model *model, uint32_t index, uint64_t end_ns,
		   struct model_proc *out);
void model_thread_at(const struct model *model, uint32_t index, uint64_t end_ns,
		     struct model_thread *out);

/* One of those who met on an object the last time. */
struct model_met {
	uint32_t thread; /* index; MODEL_NONE: it ended so long ago that it has been forgotten */
	uint32_t tid;
};

struct model_team {
	uint32_t n; /* 0: nobody has, as far as is known */
	uint64_t release_ns; /* when */
	uint32_t
		barrier; /* of the newest episode there that is finished; MODEL_NONE: there is none */
	bool changes; /* more threads come than the barrier counts: others may be next */
};

/*
 * Of the object that @at's process, object, family and shared name (the rest is not looked at). At most @max of
 * out->n are put into @met. False: nothing is known of it.
 */
bool model_team(const struct model *model, const struct model_crossing *at, struct model_met *met,
		uint32_t max, struct model_team *out);

const struct model_totals *model_totals(const struct model *model);
uint64_t model_start(const struct model *model);
uint32_t model_nprocs(const struct model *model);
const struct model_proc *model_proc(const struct model *model, uint32_t index);
/* Some places may be empty: their proc is MODEL_NONE. */
uint32_t model_nthreads(const struct model *model);
/* Index of the last thread that had this number; MODEL_NONE: none has been heard of. */
uint32_t model_find_thread(const struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid);
const struct model_thread *model_thread(const struct model *model, uint32_t index);
uint32_t model_nbarriers(const struct model *model);
const struct model_barrier *model_barrier(const struct model *model, uint32_t index);

#endif /* MODEL_MODEL_H */
