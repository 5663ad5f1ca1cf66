/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The report: the model's figures in the order in which people read them, each with a verdict and
 * advice. This code does no I/O. Everything that emit/ prints is a member of one of these structs.
 * emit/fields.c lists each member once for all formats.
 *
 * Conventions: times are in ns. REPORT_UNKNOWN (u64) and NAN (double) mean unknown, and are printed
 * as unknown. Strings are untrusted bytes unless stated otherwise. NULL means unknown.
 */
#ifndef ANALYSE_REPORT_H
#define ANALYSE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/remark.h"
#include "analyse/batches.h"
#include "model/model.h"
#include "sites/site.h"

#define REPORT_UNKNOWN	MODEL_UNKNOWN
/*
 * If the mean work per crossing is at least this long, in ns, the estimated cost of tracing agrees
 * with the measured cost (tests/bench prints a table of both).
 */
#define REPORT_ROUGH_NS 5000

/* Statistics of a quantity in ns. If n is 0, all other members are unknown. */
struct report_times {
	uint64_t n;
	uint64_t sum, min, max;
	double mean, stddev;
	const uint32_t *hist; /* 64 buckets by powers of two, or NULL */
};

/* POP efficiencies from 0 to 1; NAN if unknown. See docs/reference/report.md. */
struct report_efficiency {
	double parallel, load_balance, serialisation, transfer, communication;
};

struct report_callsite {
	const char *function, *file, *module;
	uint32_t line;
	uint64_t offset;
	/* "a <- b": the frames into which the call was inlined; NULL if none */
	const char *inlined;
	/* The called function that implements the barrier by hand; NULL if none. */
	const char *through;
};

/*
 * How thread time was spent, in ns. All members are REPORT_UNKNOWN if the time was not accounted
 * for.
 */
struct report_parts {
	SBT_PARTS_ALL(SBT_PART_MEMBER, uint64_t)
	uint64_t blocked_ns[MODEL_BLOCKED_REASONS];
	uint64_t unattributed_ns;
	uint64_t spin_ns; /* on a CPU inside barriers; not part of the work */
	uint64_t late_ns; /* released, but waiting for a CPU; not part of the work */
};

/* A performance counter of the thread, barrier or process that contains this struct. */
struct report_counter {
	const char *name;
	/*
	 * count in phases, outside barriers; REPORT_UNKNOWN if the counter did not count all the
	 * time
	 */
	uint64_t value;
	uint64_t inside; /* count inside barriers; REPORT_UNKNOWN in the same case */
	bool scaled; /* the value is an estimate, because the counter was multiplexed */
	/* If `value` and `inside` are unknown: the parts of them that were counted. Otherwise 0. */
	uint64_t least, inside_least;
};

/* A part of a lateness: analyse/cause.h lists the kinds. */
struct report_part {
	const char *name; /* trusted text in lower case: "more work" */
	int64_t ns;
};

#define REPORT_PARTS_MAX 16

struct cause_row;

struct report_cause {
	/*
	 * The part that explains most of the lateness (analyse/cause.h); NULL if no cause is named.
	 */
	const struct cause_row *dominant;
	double share; /* share of the dominant part in the positive parts; NAN if none */
	uint32_t nparts; /* parts that are not 0, largest first */
	struct report_part parts[REPORT_PARTS_MAX];
	uint64_t lateness_ns; /* sum of the parts; for a site, the sum over its episodes */
	uint64_t episodes; /* for a site: episodes with a cause */
	uint64_t dominated; /* for a site: episodes in which this cause was dominant */
	/*
	 * enum culprit_waited: what exactly was waited for, if the cause is "lock", "i/o" or
	 * "released late"
	 */
	uint8_t waited;
	uint8_t doing; /* activity of the awaited thread; enum model_doing */
	const char *culprit; /* what made the thread late, printable; NULL if unknown */
	char text[768]; /* one sentence; "" if none */
	uint32_t nframes; /* user stack of the longest block, innermost frame first */
	const struct report_callsite *frames;
};

enum report_place_kind {
	REPORT_PLACE_WORK, /* late threads spent more time there, outside barriers */
	REPORT_PLACE_SPIN, /* threads spun there, inside the barrier */
};

/*
 * A function in which late threads spent significantly more time on a CPU than the threads with
 * which they are compared, or in which threads spun in a barrier (analyse/places.h). Times are sums
 * over the late episodes (spinning: over all episodes), in ns, estimated from samples.
 */
struct report_place {
	const char *barrier; /* report_barrier.id */
	uint32_t pid;
	enum report_place_kind kind;
	/*
	 * The innermost function of the program's own code, or NULL; the line with the largest
	 * difference; `offset` is one position in the module, for code without names.
	 */
	const char *function, *file, *module;
	uint32_t line;
	uint64_t offset;
	const char *callee; /* a function that it called, where samples fell; NULL: none */
	/* reference_ns is REPORT_UNKNOWN for spinning */
	uint64_t last_ns, reference_ns;
	int64_t low_ns, high_ns; /* 95 % interval of last_ns - reference_ns */
	uint64_t samples; /* number of samples at this place */
	uint64_t episodes; /* episodes that were compared: late ones, or for spinning all */
	/*
	 * all time on a CPU of the last arrivers and of the references in these episodes, of which
	 * last_ns and reference_ns are parts
	 */
	uint64_t oncpu_last_ns, oncpu_reference_ns;
	uint32_t nstack; /* the most frequent stack, innermost frame first */
	const struct report_callsite *stack;
};

/*
 * A function in which threads were on a CPU in the phases that end at a barrier. The time is
 * estimated from samples. The batches are parts of consecutive episodes, as in batches.h.
 */
struct report_function {
	const char *function, *file; /* untrusted */
	double oncpu_ns;
	struct batches_times batches;
};

struct report_places {
	uint32_t n;
	bool alike; /* chance explains which thread is late: see places_of() */
	struct report_place *places; /* NULL if the barrier has no samples */
	uint64_t late; /* number of late episodes that were compared */
	/* time on a CPU of the last arrivers and of the references in these episodes, ns */
	uint64_t last_ns, reference_ns;
};

/* A function in which a thread was on a CPU, and its share in the thread's samples. */
struct report_activity_function {
	struct report_callsite where;
	double share;
};

/* A thread that ended waits of another thread. */
struct report_waker {
	uint32_t tid;
	uint64_t waits, wait_ns;
};

/*
 * Waits of a thread at one place, for conditions and not for locks, that other threads of the
 * process ended.
 */
struct report_woken {
	struct report_callsite where; /* without function and module: unknown */
	uint64_t waits, wait_ns;
	uint32_t nby;
	struct report_waker *by; /* most waits first */
};

#define REPORT_ACTIVITIES 64 /* maximum number of threads with an activity */

/* What a thread did that crossed no barrier. Times in ns. */
struct report_activity {
	uint32_t pid, tid;
	const char *comm; /* "" unknown */
	uint64_t elapsed_ns; /* from its start or that of tracing to its end or that of tracing */
	struct report_parts parts; /* of elapsed_ns */
	uint64_t samples;
	uint32_t nfunctions;
	struct report_activity_function *functions; /* most frequent first */
	uint64_t wait_ns; /* its longest wait; 0: none */
	uint8_t wait_reason; /* enum model_blocked */
	uint32_t nframes; /* stack of this wait, innermost frame first */
	const struct report_callsite *frames;
	uint32_t nwoken; /* longest waits first */
	struct report_woken *woken;
	uint64_t woken_more; /* number of such waits that are not in `woken` */
	/* number of threads that ended waits in woken[0], and of which this thread ended waits */
	uint32_t partners;
};

/* Samples of threads on a CPU. All are REPORT_UNKNOWN if none were taken. */
struct report_sampling {
	uint64_t samples; /* taken or lost */
	uint64_t lost; /* not stored, because the reader was late */
	uint64_t cost_ns; /* time that taking them took, in the kernel */
};

/* One thread at one barrier, or one thread of a process, over all episodes. */
struct report_thread {
	uint32_t tid;
	/*
	 * The number that the program gives the thread, if known; otherwise its number within the
	 * process, in the order of first crossings. MODEL_NONE for a sum of threads.
	 */
	uint32_t index;
	const char *comm;
	bool ranked; /* index is the thread's MPI rank */
	uint64_t crossings;
	/*
	 * times in ns; work_ns is REPORT_UNKNOWN if no phase is known, and idle_ns if a departure
	 * is unknown
	 */
	uint64_t wait_ns, idle_ns, work_ns;
	uint64_t wait_max_ns;
	uint64_t waits; /* number of complete episodes that wait_ns sums up */
	double wait_squares; /* sum of the squared waits of these episodes, ns^2 */
	/*
	 * Only for threads of a process. start_ns and until_ns are the start and end of the
	 * thread's life. If the thread's end counts as its arrival (fork-join), until_ns is the
	 * release. away_ns is the time in which the thread belonged to no team but waited for other
	 * threads to end. In an entry for a sum of threads, start_ns is 0 and until_ns is the sum
	 * of their lives.
	 */
	uint64_t start_ns, until_ns, away_ns;
	/*
	 * Only for threads of a process: threads with disjoint lives share a position. MODEL_NONE
	 * for a sum.
	 */
	uint32_t position;
	uint64_t last; /* number of episodes in which the thread arrived last */
	double last_share; /* `last` as a share of all episodes */
	struct report_parts parts;
	uint32_t ncounters;
	struct report_counter *counters;
};

enum report_pattern {
	REPORT_BALANCED, /* little is lost */
	REPORT_STATIC, /* the same threads always arrive late; advice: repartition */
	/* a different thread is late each time; advice: fewer barriers, dynamic scheduling */
	REPORT_ROTATING,
	REPORT_MIXED_LOSS, /* static and rotating */
	REPORT_COSTLY, /* the barrier itself is expensive */
	REPORT_FEW, /* too few complete episodes for a verdict */
	REPORT_SUM_ONLY, /* threads are known only as a sum, so the late threads are unknown */
	REPORT_TASKS, /* threads run tasks in barriers, so the loss there is unknown */
};

/* Barriers of a process that were detached while the rest of the process was still traced. */
struct report_detached {
	const char *family;
	/*
	 * The function that crosses these barriers. NULL stands for all barriers of the family,
	 * except those with entries of their own.
	 */
	const char *function;
	uint64_t t_ns;
	/* cost of tracing the process at t_ns, as a share of thread time */
	double cost;
	double limit; /* maximum allowed share */
	uint32_t because; /* see report_process.detached_because */
	bool probed;
};

struct report_barrier {
	/* "#" and hexadecimal digits, made from family, module, function, line or offset */
	char id[17];
	uint32_t index; /* index in the model */
	uint32_t pid;
	const char *comm;
	uint32_t processes; /* see report_process.processes */
	/*
	 * Time when the barrier was detached, alone or with its process (--cost-limit).
	 * REPORT_UNKNOWN if it was traced to the end.
	 */
	uint64_t detached_ns;
	/*
	 * Time when other barriers of its process were detached while this barrier was still
	 * traced. From then on, its phases and work include the time at those barriers.
	 * REPORT_UNKNOWN if this never happened.
	 */
	uint64_t detached_beside_ns;
	const char *family; /* "pthread" */
	const char *kind; /* "explicit" */
	const char *name; /* name given by the program or the user; NULL if none */
	const char *function, *file, *module;
	uint32_t line;
	uint64_t offset;
	/*
	 * The barrier in text output: its name, or function file:line, or module+0xoffset. In a
	 * report, what distinguishes it from others of its process follows in parentheses if their
	 * labels would be the same. Printable.
	 */
	char label[192];
	char object[128]; /* the symbol or the address of the object */
	uint32_t ncallsites; /* if above 1, the barrier is crossed from several call sites */
	struct report_callsite *callsites;
	uint64_t episodes, incomplete, ambiguous, crossings;
	/* Crossings with unknown participants, because processes share the barrier. */
	uint64_t unmet;
	/* --aggregate: the figures are sums made in the kernel, so single episodes are unknown */
	bool summed;
	/* largest and smallest number of members of a complete episode */
	uint32_t participants, participants_min;
	bool shared, nested;
	/* processes share the barrier, and its threads are identified by their ranks */
	bool ranked;
	bool loop; /* the program declares it a loop barrier, so only its sum is of interest */

	struct report_times phase_ns, barrier_ns, wait_ns, release_ns;
	uint64_t lost_ns; /* sum of all waits */
	uint64_t gain_ns; /* potential gain: lost / members */
	/*
	 * Time that the phases need at least, ns, because of their work on the CPUs of the machine:
	 * with the work divided evenly, and as it is divided. 0 if unknown.
	 */
	uint64_t cpu_even_ns, cpu_least_ns;
	double share; /* phase time over the process's elapsed time */
	/*
	 * Share of the thread time in the barrier's phases that is lost to waiting: lost / (phase
	 * time x members).
	 */
	double imbalance;
	double load_balance; /* mean / maximum of the threads' work */
	/* maximum of the threads' work / sum of the longest work in each episode */
	double serialisation;
	double release_share; /* release latencies / (phase time x members) */
	uint32_t last_tid; /* the thread that most often arrives last; 0 if none */
	const char *last_comm;
	uint64_t last_count;
	uint32_t last_index; /* report_thread.index of last_tid */
	bool last_known; /* last_index is set, even if the thread is not listed below */
	double last_share; /* share of the complete episodes */
	enum report_pattern pattern;
	char verdict[640]; /* one sentence */
	char advice[256]; /* one sentence; "" if none */
	struct report_cause cause; /* over all episodes, weighted by lost time */
	struct report_places places; /* where the late threads spent more time on a CPU */
	uint32_t nfunctions; /* only with report_env.functions */
	struct report_function *functions; /* most time first */
	/*
	 * Waits at any barrier that began as an imbalance in phases that end at this barrier (delay
	 * costs): direct waits, and waits passed on by threads that were delayed themselves.
	 * REPORT_UNKNOWN if unknown.
	 */
	uint64_t delay_direct_ns, delay_passed_ns;
	uint32_t ncounters; /* of all threads */
	struct report_counter *counters;
	uint32_t nthreads;
	struct report_thread *threads; /* ordered by their index */
	uint32_t nlongest;
	/* longest phases; their release_ns counts from report.start_ns */
	struct model_longest longest[MODEL_LONGEST];
};

struct report_phase {
	uint32_t pid;
	/* "" if the phase began at the start of the process or of the window */
	char from_id[17], to_id[17];
	char from[192], to[192]; /* labels; "start" or "window" if from_id is "" */
	uint64_t occurrences;
	struct report_times phase_ns;
	uint64_t lost_ns;
	double share; /* share of the process's elapsed time */
	double imbalance; /* lost / thread time */
};

/* All finished occurrences of a conceptual phase in one process (analyse/conceptual.h). */
struct report_conceptual {
	const char *name; /* given by the user or the program */
	uint32_t pid;
	const char *comm;
	uint64_t occurrences;
	uint64_t unfinished; /* occurrences without a recorded end */
	uint64_t episodes, incomplete; /* number of episodes inside, including the end barrier's */
	struct report_times phase_ns;
	double share; /* share of the process's elapsed time; above 1 if occurrences overlap */
	uint64_t lost_ns; /* sum of the waits inside */
	uint64_t gain_ns; /* potential gain: lost / number of threads */
	double imbalance; /* lost / (time x threads) */
	struct report_efficiency efficiency;
	struct report_cause cause; /* cause over the episodes inside, weighted by lost time */
	uint32_t ncounters; /* of all threads */
	struct report_counter *counters;
	uint32_t nthreads;
	struct report_thread *threads; /* threads with episodes inside, ordered by index */
};

struct report_process {
	uint32_t index; /* index in the model */
	uint32_t pid;
	const char *comm;
	/*
	 * Normally 1. A larger number is the number of exited processes of one program that are
	 * kept as a sum. In that case, pid belongs to the process that exited first, elapsed_ns,
	 * life_ns and ideal_ns are sums, and only the parallel efficiency is known. 0 for a group.
	 */
	uint32_t processes;
	uint32_t parent; /* pid; 0 if unknown */
	bool exited;
	/*
	 * if false, elapsed_ns and the efficiencies count from the start of tracing, or from
	 * counted_from_ns
	 */
	bool start_seen;
	/*
	 * Time of the first recorded crossing, if earlier crossings were not recorded. elapsed_ns
	 * counts from this time. For a group, the latest such time. REPORT_UNKNOWN if all crossings
	 * were recorded.
	 */
	uint64_t counted_from_ns;
	uint64_t elapsed_ns; /* T in the formulas of the efficiencies */
	/*
	 * Time from the start to the end of the process; REPORT_UNKNOWN (0 in a group) if either
	 * was not seen.
	 */
	uint64_t life_ns;
	uint64_t ideal_ns; /* T_ideal in the formulas: time of the longest path */
	uint32_t threads; /* number of threads that crossed a barrier */
	/*
	 * Largest number of these threads that existed at the same time, see
	 * report_thread.position; 0 for a group.
	 */
	uint32_t positions;
	uint64_t episodes, incomplete, ambiguous, crossings, abandoned, lost;
	uint64_t unmet; /* sum over its barriers; if not 0, wait_ns is unknown */
	/*
	 * Crossings that wait for threads that leave no trace. These waits are not part of any
	 * loss.
	 */
	uint64_t arrivals_unseen, departures_unknown;
	bool summed; /* see report_barrier.summed */
	uint64_t outside_ns; /* time outside barriers, summed over all threads */
	uint64_t wait_ns, release_ns; /* sums over threads; may be REPORT_UNKNOWN */
	struct report_efficiency efficiency;
	/* Shares of its threads' lives, subtracted in this order: PE = 1 - their sum. */
	double lost_static, lost_rotating, lost_transfer;
	bool meets_others; /* processes share some of its barriers; see report.groups */
	bool ranked; /* for a group: threads are identified by their ranks */
	/* each of its barriers has its own late threads, which do not change */
	bool by_barrier;
	bool hung; /* some of its threads wait until the end, and no sum includes this wait */
	enum report_pattern pattern;
	char verdict[640], advice[256];
	/*
	 * Length of the beginning of `verdict` that says how much is lost and where. The rest is
	 * about single threads. 0: the verdict cannot be divided.
	 */
	uint16_t verdict_head;
	/*
	 * The largest OpenMP loss: its share of the threads' time, words that continue "... is
	 * lost", and advice. The strings are NULL if waits for late threads are the largest loss.
	 */
	double openmp_lost;
	const char *openmp_where, *openmp_advice;
	/*
	 * Untraced functions that its code calls and in which it may wait: "MPI_Recv and MPI_Send".
	 * Waiting in them counts as work, so the efficiencies are upper limits. NULL if none. For a
	 * group, the functions of one of its processes.
	 */
	const char *untraced;
	/*
	 * The process runs OpenMP tasks, or may do so. Tasks of its threads inside barriers are
	 * work of unknown length, so only bounds of the parallel efficiency are known.
	 */
	bool tasks;
	double parallel_least, parallel_most; /* NAN if not needed, or unknown */
	/* share of the time in barriers that was on a CPU; NAN if unknown, or without tasks */
	double inside_oncpu;
	const char *exit_detection; /* "return probe", "ret instructions", ...; NULL if unknown */
	/*
	 * wait_ns / the known time of its threads. This share is in the first line of the report.
	 * NAN if unknown.
	 */
	double wait_share;
	/*
	 * Waits / (phase time x members), over all barriers that are not nested. NAN if unknown, or
	 * if processes share its barriers.
	 */
	double imbalance;
	uint64_t phase_wait_ns, phase_thread_ns; /* dividend and divisor of imbalance */
	double useful_oncpu; /* share of outside_ns that was on a CPU; NAN if unknown */
	/*
	 * TALP's efficiencies for OpenMP if its barriers belong to OpenMP; otherwise NAN.
	 * Scheduling is subtracted first. If only omp_start is NAN, the time to start teams is
	 * unknown and counts as serialisation.
	 */
	double omp_load_balance, omp_scheduling, omp_start, omp_serialisation;
	/* if only this is NAN, waits for turns are unknown and count as useful time */
	double omp_turns;
	uint32_t ncounters; /* counters of all threads, over the whole run */
	struct report_counter *counters;
	uint64_t cost_ns; /* estimated by cost_estimate(); REPORT_UNKNOWN if unknown */
	double crossing_cost_ns; /* cost of one of its crossings, ns; NAN if unknown */
	/* probe hits that are no crossings (report_env.looks); included in cost_ns */
	uint64_t looks;
	/* time during which probes of its hot condition variables were removed, ns */
	uint64_t paused_ns;
	/*
	 * Time during which its threads waited for CPUs that sbt-trace used; REPORT_UNKNOWN if
	 * unknown.
	 */
	uint64_t cost_interference_ns;
	double cost_share; /* cost_ns as a share of cost_available() */
	/* cost.limited: cost_ns is an upper limit, and the cost is unknown */
	bool cost_limited;
	/*
	 * cost_ns is only a rough estimate. The mean work per crossing is below REPORT_ROUGH_NS,
	 * and the threads sleep inside barriers, so that a wait consists mostly of the wake-up.
	 * Tracing may change the CPUs on which the scheduler wakes the threads, and this effect may
	 * exceed the cost of tracing.
	 */
	bool cost_rough;
	/*
	 * Time when the process was detached because tracing cost too much (--cost-limit). All
	 * figures end at this time. REPORT_UNKNOWN if it was not detached.
	 */
	uint64_t detached_ns;
	/* cost at that time (estimated) and its limit, as shares of thread time; NAN if unknown */
	double detached_cost, detached_limit;
	/* pid of another process if that process exceeded the limit; 0 if not */
	uint32_t detached_because;
	bool detached_probed; /* its probes were left attached and still take time */
	/* detached_groups is not empty, for this process or for a process of this group */
	bool detached_some;
	uint32_t ndetached_groups; /* number of `detached_groups`, which are ordered by time */
	struct report_detached *detached_groups;
	uint32_t nmembers;
	struct report_thread *members; /* figures over all barriers; ordered by index */
};

struct report_group_process {
	uint32_t pid;
	const char *comm;
};

/* Processes that share barriers, as one team. */
struct report_group {
	/* pid belongs to the first process; OpenMP efficiencies, counters and cost are not set */
	struct report_process all;
	uint32_t nprocesses;
	struct report_group_process *processes; /* ordered by lost time, the largest first */
};

/* A fact about the machine or its use that the data prove. */
struct report_finding {
	/*
	 * "oversubscribed", "spinning", "pinned", "migrating", "slow_cpu", "throttled",
	 * "cost_limit", "site_unknown", "untraced", "counted_from", "tasks", "arrivals_unseen"
	 */
	const char *kind;
	uint32_t pid; /* 0 for the machine */
	double figure; /* the number in the sentence */
	char text[768];
	const char *advice; /* a sentence with numbers of this finding; NULL: none */
};

/* A requested counter that is not available. */
struct report_uncounted {
	const char *name; /* as the user gave it */
	const char *reason; /* a sentence without its full stop */
};

struct report_loss {
	const char *cause; /* trusted name in lower_snake: "ring_full", ... */
	const char *text; /* trusted text for people */
	uint64_t count;
};

struct causes;
struct conceptual;
struct report_hang;
struct openmp;

/* The part of a run that a report covers. If all members are 0, it covers the whole run. */
struct report_extent {
	bool window; /* includes only arrivals in this time, counted from the start of tracing */
	uint64_t from_ns, to_ns;
	/* the filter of rows ("barrier solve; thread 17"); NULL if all rows are included */
	const char *rows;
};

struct report {
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t end_ns;
	struct report_extent extent;
	bool interim;
	uint32_t nprocesses;
	/* processes with crossings, ordered by lost time, the largest first */
	struct report_process *processes;
	uint32_t ngroups;
	struct report_group *groups; /* ordered by lost time, the largest first */
	uint32_t nbarriers;
	struct report_barrier *barriers; /* ordered by lost time, the largest first */
	uint32_t nphases;
	struct report_phase *phases; /* ordered by time, the longest first */
	uint32_t nactivities;
	struct report_activity *activities; /* only if no barrier was crossed */
	uint64_t activities_more; /* number of further threads that crossed no barrier */
	uint32_t nplaces;
	struct report_place *places; /* of all barriers, in the order of the barriers */
	uint32_t nconceptuals;
	/* in the order of the user's options, then by process */
	struct report_conceptual *conceptuals;
	uint32_t nfindings;
	struct report_finding *findings;
	uint64_t episodes, incomplete, ambiguous, crossings;
	uint64_t produced, consumed, lost; /* records; produced = consumed + lost */
	uint32_t nlosses;
	struct report_loss *losses; /* every cause, including causes with count 0 */
	uint32_t nuncounted;
	struct report_uncounted *uncounted;
	uint32_t ncpus; /* number of online CPUs; 0 if unknown */
	uint32_t nhangs;
	const struct report_hang *hangs; /* hangs that have not ended; not owned */
	uint32_t nremarks;
	const struct remark *remarks; /* not owned */
	/* number of processes with `detached_groups` that were not detached completely */
	uint32_t ndetached_parts;
	/* number of processes that were not traced to their end; see report_process.detached_ns */
	uint32_t ndetached;
	uint32_t ntasks; /* number of processes that run OpenMP tasks; see report_process.tasks */
	bool lossless; /* no record was lost */
	uint32_t nuntraced; /* number of processes with code that may wait at untraced barriers */
	/*
	 * A remark names processes that no figure includes and that may wait at untraced barriers.
	 */
	bool waits_unseen;
	bool complete; /* nothing was lost or left out */
	bool cut; /* read from a recording that ends before the end of the run */
	/* mean cost of a crossing over all processes, ns; NAN if unknown */
	double crossing_cost_ns;
	double switch_cost_ns; /* as in report_env */
	uint64_t switches_cost_ns, rested_ns; /* as in report_env */
	struct report_sampling sampling;
	/*
	 * samples in no phase of a complete episode, and samples for which there was no room;
	 * REPORT_UNKNOWN if none were taken
	 */
	uint64_t samples_outside;
	uint64_t tracer_cpu_ns; /* CPU time of sbt-trace itself, ns; REPORT_UNKNOWN if unknown */
	bool for_all; /* the probes are in every process that runs the probed files */
	/* thread time was accounted for, so page faults cost more in every process */
	bool accounted;
	bool aggregate; /* all data are sums made in the kernel, so single episodes are unknown */
	/* summed over all processes */
	uint64_t unmet, arrivals_unseen, departures_unknown;
	/* families of barriers that exist but that no sum includes; NULL if none */
	const char *left_out;
	void *arena; /* owns all strings and arrays */
};

/*
 * The look-ups in struct report_env: X(member). Live runs and recordings both provide all of them,
 * and a recording stores each result. Both make their tables of look-ups from this list, so the
 * compiler reports a missing one.
 */
#define REPORT_QUESTIONS(X) \
	X(site)             \
	X(barrier_name)     \
	X(object_name)      \
	X(probe_group_name) \
	X(exit_detection)   \
	X(untraced)         \
	X(tasks)            \
	X(looks)            \
	X(crossing_cost)

/* Facts that the report needs from its callers. Each callback may return NULL or unknown. */
struct report_env {
	void *ctx;
	/* Return the facts of a call site. They are valid as long as the env. */
	const struct site_name *(*site)(void *ctx, uint32_t site);
	/* Return the name of a barrier that the user or the program set. */
	const char *(*barrier_name)(void *ctx, const struct model_barrier *barrier);
	/* Return the symbol of the barrier object in the process. */
	const char *(*object_name)(void *ctx, const struct model_barrier *barrier);
	/*
	 * Return the names of families and kinds. If the callback is NULL, all are "unknown" and
	 * "explicit".
	 */
	const char *(*family_name)(uint8_t family);
	const char *(*kind_name)(uint8_t kind);
	/*
	 * Return the family of a probe group, and the barrier function that it probes (NULL for the
	 * rest of the family). Without these callbacks all probe groups are families.
	 */
	uint8_t (*probe_group_family)(uint8_t probe_group);
	const char *(*probe_group_name)(void *ctx, const struct model_proc *proc,
					uint8_t probe_group);
	/* Return how departures of the process are detected. */
	const char *(*exit_detection)(void *ctx, const struct model_proc *proc);
	/*
	 * Return the names of functions that the process calls and in which its waits are not
	 * traced, as text for one sentence. If the callback is NULL, none is known.
	 */
	const char *(*untraced)(void *ctx, const struct model_proc *proc);
	/*
	 * Return whether the threads of the process run OpenMP tasks, possibly in barriers. If the
	 * callback is NULL, none runs tasks.
	 */
	bool (*tasks)(void *ctx, const struct model_proc *proc);
	/*
	 * Return how often calls that are no crossings hit its probes on condition variables. Set
	 * *paused_ns to the time for which the probes were therefore detached. If the callback is
	 * NULL, there were no such calls.
	 */
	uint64_t (*looks)(void *ctx, const struct model_proc *proc, uint64_t *paused_ns);
	/*
	 * Return the process's cost of a crossing, in ns, or NAN if unknown. If the callback is
	 * NULL, crossing_cost_ns applies.
	 */
	double (*crossing_cost)(void *ctx, const struct model_proc *proc);
	double crossing_cost_ns; /* cost of a crossing with both probes, ns; NAN if unknown */
	/* cost of recording a switch off a CPU and back, ns; NAN if unknown */
	double switch_cost_ns;
	/*
	 * switches_cost_ns is the cost of recording all switches, including switches of processes
	 * that crossed no barrier. rested_ns is the thread time for which no causes were recorded,
	 * because the threads switched too often. REPORT_UNKNOWN if unknown.
	 */
	uint64_t switches_cost_ns, rested_ns;
	struct report_sampling sampling;
	uint64_t tracer_cpu_ns;
	bool for_all; /* the probes of barriers are in every process that runs the probed files */
	uint64_t produced, consumed;
	const struct report_loss *losses;
	uint32_t nlosses;
	const struct report_uncounted *uncounted; /* copied, except the strings */
	uint32_t nuncounted;
	const struct report_hang *hangs; /* hangs that have not ended; must outlive the report */
	uint32_t nhangs;
	const struct remark *remarks; /* must outlive the report */
	uint32_t nremarks;
	struct causes *causes; /* analyse/cause.h; NULL if no causes were recorded */
	bool functions; /* also fill report_barrier.functions */
	/* analyse/conceptual.h; NULL if there are no conceptual phases */
	struct conceptual *conceptual;
	struct openmp *openmp; /* analyse/openmp.h; NULL if no OpenMP teams were recorded */
	uint32_t ncounters;
	const char *const *counters; /* names of the performance counters */
	uint32_t ncpus; /* number of online CPUs; 0 if unknown */
	const uint32_t *cpu_node; /* NUMA node by CPU, ncpu_node entries; NULL if unknown */
	uint32_t ncpu_node;
	uint64_t end_ns;
	bool interim;
	bool cut; /* see struct report */
	struct report_extent extent; /* its text must outlive the report */
	bool aggregate; /* see struct report */
	const char *left_out; /* see report.left_out; must outlive the report */
};

/*
 * Build the report from a model that is finished. For an interim report the model may be in any
 * state, and open intervals count up to end_ns. Return 0 and *out (free it with report_free()), or
 * -ENOMEM.
 */
int report_build(const struct model *model, const struct report_env *env, struct report *out);
void report_free(struct report *report);

/* Return a counter. @known says whether it counted for all of the time. */
struct report_counter report_counter(const char *name, uint64_t value, uint64_t inside, bool known,
				     bool scaled);
/*
 * Add @c to @sum, which is all zero initially. If one of them is unknown, the sum is also unknown,
 * and only least and inside_least are added up.
 */
void report_counter_add(struct report_counter *sum, const struct report_counter *c);

/*
 * Return how much shorter the run can become, at most, if the cause of the lost time at the barrier
 * goes away, in ns. For more work of some threads, if it is at least a part of the cause, and for
 * unknown causes, this is the gain of a perfectly even distribution. For another cause, it is the
 * cause's share of the barrier times. For an expensive barrier, it is the time in which its threads
 * are released. The gain is never more than the time of the phases, less the time that their work
 * needs on the CPUs (unless the cause is on a CPU itself). Return REPORT_UNKNOWN if little is lost,
 * or if too little is known.
 */
uint64_t report_gain(const struct report_barrier *barrier);

/*
 * Return what report_gain() assumes, as words that follow the gain: "with equal work". @on_cpu: set
 * to whether the gain comes from less work on CPUs; may be NULL.
 */
const char *report_gain_basis(const struct report_barrier *barrier, bool *on_cpu);

/*
 * Return true if the threads that leave the barrier are known to wait for a CPU for at least half
 * of the time that they need to leave it. The barrier itself is then not expensive.
 */
bool report_released_without_cpu(const struct report_barrier *barrier);

/* Return the mean number of threads in an episode of the process. */
uint32_t report_members(const struct model_proc *p);

/*
 * Losses of an OpenMP process as shares of thread time, subtracted in the same order as in its
 * efficiencies.
 */
struct report_openmp_losses {
	double serial; /* one thread works, and the rest of its team has no region */
	double waiting; /* waits for other threads, in regions */
	double runtime;
	/*
	 * time from the start of a region until its workers begin; if NAN (unknown), this loss is
	 * in `serial`
	 */
	double start;
	/*
	 * waits for a turn (`critical`, `ordered`, locks); if NAN (unknown), no other loss includes
	 * them
	 */
	double turns;
};

/* Return false if unknown. */
bool report_openmp_losses(const struct report_process *p, struct report_openmp_losses *out);

/* Fill in the id, label and call sites of one barrier, for live output. */
int report_barrier_name(const struct model *model, const struct report_env *env, uint32_t index,
			struct report_barrier *out, void **arena);
/*
 * A namer names many barriers of one model. An id depends on earlier barriers, which the namer
 * examines only once. Return NULL when out of memory.
 */
struct report_namer *report_namer_new(void);
void report_namer_free(struct report_namer *namer);
/* Forget the ids, because from now on indices may belong to other barriers. */
void report_namer_forget(struct report_namer *namer);
int report_namer_name(struct report_namer *namer, const struct model *model,
		      const struct report_env *env, uint32_t index, struct report_barrier *out,
		      void **arena);
/*
 * Call @each for each barrier from index @from on, with the barrier's names. They are valid only
 * during the call.
 */
int report_barrier_names(const struct model *model, const struct report_env *env, uint32_t from,
			 int (*each)(void *ctx, const struct report_barrier *barrier), void *ctx);
/*
 * Name a barrier from its family, its call sites (each once) and the user's @name (NULL if none).
 * The model need not know the barrier. If the model adds it later, its id is the same, unless
 * another barrier has the same facts.
 */
int report_place_name(const struct report_env *env, uint8_t family, const uint32_t *sites,
		      uint32_t nsites, const char *name, struct report_barrier *out, void **arena);
void report_arena_free(void *arena);
/* Write the label of a call site, made printable. Return 0 or -ENOMEM. */
int report_site_label(const struct report_env *env, uint32_t site, char *out, size_t size);

#endif /* ANALYSE_REPORT_H */
