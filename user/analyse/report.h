/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The report: the model's figures in the order in which people read them, each with a verdict and
 * advice. Pure. Everything that emit/ prints is a member of one of these structs. emit/fields.c
 * lists them once for all formats.
 *
 * Conventions: times are in ns. REPORT_UNKNOWN (u64) or NAN (double) is unknown and printed as
 * such. Strings are untrusted bytes unless stated otherwise; NULL is unknown.
 */
#ifndef ANALYSE_REPORT_H
#define ANALYSE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/remark.h"
#include "model/model.h"
#include "sites/site.h"

#define REPORT_UNKNOWN	MODEL_UNKNOWN
/* From this mean phase on, estimated and measured costs agree: tests/bench, table. */
#define REPORT_ROUGH_NS 5000

/* Statistics of a quantity in ns. n == 0: all unknown. */
struct report_times {
	uint64_t n;
	uint64_t sum, min, max;
	double mean, stddev;
	const uint32_t *hist; /* 64 log-2 buckets, or NULL */
};

/* POP efficiencies, 0 to 1, NAN unknown (the design's model, "Efficiencies"). */
struct report_efficiency {
	double parallel, load_balance, serialisation, transfer, communication;
};

struct report_callsite {
	const char *function, *file, *module;
	uint32_t line;
	uint64_t offset;
	const char *inlined; /* "a <- b": the frames it was inlined into; NULL none */
	/* The function called there, in which the barrier is implemented by hand; NULL none */
	const char *through;
};

/* Where time went (the design's model). All REPORT_UNKNOWN if it was not accounted for. */
struct report_parts {
	uint64_t oncpu_ns; /* fault_ns included */
	uint64_t runq_ns; /* runnable, not running */
	uint64_t blocked_ns[MODEL_BLOCKED_REASONS];
	uint64_t unattributed_ns;
	SBT_PART_TIMES(SBT_PART_MEMBER, uint64_t)
	uint64_t spin_ns; /* on a CPU inside barriers: not part of the work */
	uint64_t late_ns; /* released, but waiting for a CPU: not part of the work */
	SBT_PART_COUNTS(SBT_PART_MEMBER, uint64_t)
};

/* A counter, over the thing that contains it. */
struct report_counter {
	const char *name;
	uint64_t value; /* in phases; REPORT_UNKNOWN: it did not count part of the time */
	uint64_t inside; /* inside barriers; unknown as value */
	bool scaled; /* multiplexed: an estimate */
	/* The part that was counted if value and inside are unknown; else 0. */
	uint64_t least, inside_least;
};

/* A part of a lateness: analyse/cause.h lists the kinds. */
struct report_part {
	const char *name; /* ours, lower case words: "more work" */
	int64_t ns;
};

#define REPORT_PARTS_MAX 16

struct cause_row;

struct report_cause {
	/* The part that explains most (analyse/cause.h); NULL: no cause is named */
	const struct cause_row *dominant;
	double share; /* of the dominant part in the positive parts; NAN if none */
	uint32_t nparts; /* parts that are not 0, largest first */
	struct report_part parts[REPORT_PARTS_MAX];
	uint64_t lateness_ns; /* sum of the parts; for a site, over its episodes */
	uint64_t episodes; /* for a site: episodes with a cause */
	uint64_t dominated; /* for a site: episodes in which this cause was dominant */
	uint8_t waited; /* enum culprit_waited: the kind of "lock", "i/o" or "released late" */
	uint8_t doing; /* what the awaited thread did; enum model_doing */
	const char *culprit; /* what made it late, printable; NULL unknown */
	char text[768]; /* one sentence; "" none */
	uint32_t nframes; /* user stack of the longest block, innermost frame first */
	const struct report_callsite *frames;
};

/* One thread at one barrier, or of one process, over all episodes. */
struct report_thread {
	uint32_t tid;
	/*
	 * The program's own number, if known; else in the order of first crossings in the process
	 */
	uint32_t index;
	const char *comm;
	bool ranked; /* index is the MPI rank */
	uint64_t crossings;
	uint64_t wait_ns, idle_ns, work_ns; /* work_ns REPORT_UNKNOWN if no phase is known */
	uint64_t wait_max_ns;
	uint64_t waits; /* complete episodes in wait_ns */
	double wait_squares; /* sum of the squared waits of these episodes, ns^2 */
	/*
	 * Only for threads of a process: start and end of their lives (the release, if a thread's
	 * end is its arrival), and the time in which they belonged to no team but waited for other
	 * threads to end. A sum of threads has start_ns 0.
	 */
	uint64_t start_ns, until_ns, away_ns;
	/*
	 * Only for threads of a process: threads with disjoint lives share a position; MODEL_NONE
	 * of a sum.
	 */
	uint32_t position;
	uint64_t last; /* episodes in which it arrived last */
	double last_share; /* of all episodes */
	struct report_parts parts;
	uint32_t ncounters;
	struct report_counter *counters;
};

enum report_pattern {
	REPORT_BALANCED, /* little is lost */
	REPORT_STATIC, /* the same threads always arrive late: repartition */
	REPORT_ROTATING, /* another thread each time: fewer barriers, dynamic scheduling */
	REPORT_MIXED_LOSS, /* both */
	REPORT_COSTLY, /* the barrier itself is expensive */
	REPORT_FEW, /* too few complete episodes for a verdict */
	REPORT_UNTOLD, /* threads are known only as a sum: the late ones are unknown */
	REPORT_TASKS, /* threads run tasks in barriers: the loss there is unknown */
};

/* Barriers of a process that were detached while the rest of it was still traced. */
struct report_detached {
	const char *family;
	/*
	 * The function by which they are crossed; NULL: all of the family without rows of their own
	 */
	const char *function;
	uint64_t t_ns;
	double cost; /* share of thread time that all tracing of the process cost then */
	double limit; /* the share that it may cost */
	uint32_t because; /* as report_process.detached_because */
	bool probed;
};

struct report_barrier {
	char id[17]; /* "#" and hexadecimal digits: from family, module, function, line or offset */
	uint32_t index; /* in the model */
	uint32_t pid;
	const char *comm;
	uint32_t processes; /* as report_process.processes */
	/*
	 * When it was detached, alone or with its process (--cost-limit). REPORT_UNKNOWN: traced to
	 * the end.
	 */
	uint64_t detached_ns;
	/*
	 * When other barriers of its process were detached while it was still traced. From then on,
	 * its phases and work include what happened at those. REPORT_UNKNOWN: never.
	 */
	uint64_t detached_beside_ns;
	const char *family; /* "pthread" */
	const char *kind; /* "explicit" */
	const char *name; /* given by the program or the user; NULL */
	const char *function, *file, *module;
	uint32_t line;
	uint64_t offset;
	/* Its name in text: name, or function file:line, or module+0xoffset; made printable */
	char label[192];
	char object[128]; /* the symbol or the address of the object */
	uint32_t ncallsites; /* > 1: mixed */
	struct report_callsite *callsites;
	uint64_t episodes, incomplete, ambiguous, crossings;
	/* Crossings with unknown participants, because processes share the barrier */
	uint64_t unmet;
	bool summed; /* --aggregate: the kernel's sums contain no episodes of it */
	uint32_t participants, participants_min; /* most and fewest members of a complete episode */
	bool shared, nested;
	bool ranked; /* shared, and its threads are identified by their ranks */
	bool loop; /* the program declares it a loop barrier: only its sum is of interest */

	struct report_times phase_ns, barrier_ns, wait_ns, release_ns;
	uint64_t lost_ns; /* sum of wait */
	uint64_t gain_ns; /* potential gain: lost / n */
	double share; /* phase time over the process's elapsed time */
	/*
	 * Lost / (phase time x members): share of the thread time of its phases that is lost
	 * waiting
	 */
	double imbalance;
	double load_balance; /* mean / max of W_i */
	double serialisation; /* max W_i / sum_k max w_ik */
	double release_share; /* release latencies / (phase time x members) */
	uint32_t last_tid; /* the thread that arrives last most often; 0 none */
	const char *last_comm;
	uint64_t last_count;
	uint32_t last_index; /* report_thread.index of last_tid */
	bool last_known; /* last_index is set, even if the thread is not listed below */
	double last_share; /* of the complete episodes */
	enum report_pattern pattern;
	char verdict[640]; /* one sentence */
	char advice[256]; /* one sentence; "" none */
	struct report_cause cause; /* over all episodes, weighted by lost time */
	/*
	 * Waits at any barrier that began as an imbalance in phases that end here (delay costs):
	 * direct waits, and waits passed on by threads that were delayed themselves. REPORT_UNKNOWN
	 * if unknown.
	 */
	uint64_t delay_direct_ns, delay_passed_ns;
	uint32_t ncounters; /* of all threads */
	struct report_counter *counters;
	uint32_t nthreads;
	struct report_thread *threads; /* by index */
	uint32_t nlongest;
	struct model_longest longest[MODEL_LONGEST]; /* release_ns from clock start */
};

struct report_phase {
	uint32_t pid;
	char from_id[17], to_id[17]; /* "" : the start */
	char from[192], to[192]; /* labels; "start" */
	uint64_t occurrences;
	struct report_times phase_ns;
	uint64_t lost_ns;
	double share; /* of the process's elapsed time */
	double imbalance; /* lost / thread time */
};

/* All finished occurrences of a conceptual phase in one process (analyse/conceptual.h). */
struct report_conceptual {
	const char *name; /* the user's */
	uint32_t pid;
	const char *comm;
	uint64_t occurrences;
	uint64_t unfinished; /* occurrences without a recorded end */
	uint64_t episodes, incomplete; /* inside, including the end barrier's */
	struct report_times phase_ns;
	double share; /* of the process's elapsed time; above 1 if occurrences overlap */
	uint64_t lost_ns; /* sum of the waits inside */
	uint64_t gain_ns; /* potential gain: lost / number of its threads */
	double imbalance; /* lost / (time x threads) */
	struct report_efficiency efficiency;
	struct report_cause cause; /* over the episodes inside, weighted by lost time */
	uint32_t ncounters; /* of all threads */
	struct report_counter *counters;
	uint32_t nthreads;
	struct report_thread *threads; /* those with episodes inside; by index */
};

struct report_process {
	uint32_t index; /* in the model */
	uint32_t pid;
	const char *comm;
	/*
	 * Normally 1. More: number of exited processes of one program that are kept as a sum. Then
	 * pid is of the one that exited first; elapsed_ns, life_ns and ideal_ns are sums; only the
	 * parallel efficiency is known. 0 for a group.
	 */
	uint32_t processes;
	uint32_t parent; /* pid, 0 unknown */
	bool exited;
	bool start_seen; /* false: T and the efficiencies count from the start of tracing */
	/*
	 * If crossings before it were not recorded, its first recorded crossing, from which T
	 * counts. For a group, the latest of these. Else REPORT_UNKNOWN.
	 */
	uint64_t counted_from_ns;
	uint64_t elapsed_ns; /* T */
	/* From start to end of the process; REPORT_UNKNOWN (0 in a group) if not both were seen */
	uint64_t life_ns;
	uint64_t ideal_ns; /* T_ideal */
	uint32_t threads; /* that crossed a barrier */
	/* The most of those threads at one time: see report_thread.position; 0 for a group */
	uint32_t positions;
	uint64_t episodes, incomplete, ambiguous, crossings, abandoned, lost;
	uint64_t unmet; /* as of its barriers; if not 0, wait_ns is unknown */
	/* Crossings that wait for threads that leave no trace: these waits count in no loss */
	uint64_t arrivals_unseen;
	bool summed; /* as of its barriers */
	uint64_t outside_ns; /* sum of u_i */
	uint64_t wait_ns, release_ns; /* sums over threads; REPORT_UNKNOWN */
	struct report_efficiency efficiency;
	/* Shares of its threads' lives, peeled in this order: PE = 1 - their sum */
	double lost_static, lost_rotating, lost_transfer;
	bool meets_others; /* at barriers that processes share: see report.groups */
	bool ranked; /* a group: threads are identified by their ranks */
	bool by_barrier; /* each of its barriers has its own late threads, the same each time */
	bool hung; /* some of its threads wait until the end: that time is in no sum */
	enum report_pattern pattern;
	char verdict[640], advice[256];
	/*
	 * Functions that its code calls and in which it may wait, but that are not traced: that
	 * time counts as work, so the efficiencies are upper limits. "MPI_Recv and MPI_Send"; NULL:
	 * none. For a group: of one of its processes.
	 */
	const char *untraced;
	/*
	 * It runs OpenMP tasks, or may do so. The tasks of its threads inside barriers are work of
	 * unknown length. Only bounds of the parallel efficiency are known then.
	 */
	bool tasks;
	double parallel_least, parallel_most; /* NAN: not needed, or unknown */
	double inside_oncpu; /* if tasks: share of the time in barriers on a CPU; NAN unknown */
	const char *exit_detection; /* "return probe", "ret instructions", ...; NULL unknown */
	/*
	 * wait_ns over the time of its threads, each from its start to its end: the share in the
	 * first line of the report. NAN unknown.
	 */
	double wait_share;
	/*
	 * Waits over phase time x members, over all barriers that are not nested. NAN unknown, or
	 * shared.
	 */
	double imbalance;
	uint64_t phase_wait_ns, phase_thread_ns; /* dividend and divisor of imbalance */
	double useful_oncpu; /* share of outside_ns that was on a CPU; NAN unknown */
	/*
	 * TALP's efficiencies for OpenMP, if its barriers are OpenMP's; else NAN. Scheduling is
	 * peeled first. Only omp_start NAN: the start of teams is unknown and in the serialisation.
	 */
	double omp_load_balance, omp_scheduling, omp_start, omp_serialisation;
	double omp_turns; /* only this NAN: waits for turns are unknown and count as useful time */
	uint32_t ncounters; /* of all threads, over the whole run */
	struct report_counter *counters;
	uint64_t cost_ns; /* estimated: report_cost(); REPORT_UNKNOWN */
	double crossing_cost_ns; /* of one of its crossings; NAN unknown */
	uint64_t looks; /* probe hits that are no crossings: report_env.looks; in cost_ns */
	uint64_t paused_ns; /* how long probes of its hot condition variables were removed */
	/* How long its threads waited for CPUs that the tracer had; REPORT_UNKNOWN */
	uint64_t cost_interference_ns;
	double cost_share; /* of its threads' time, limited by the number of CPUs */
	/*
	 * Its threads do so little between barriers (mean below REPORT_ROUGH_NS, with their starts
	 * and ends) and sleep there, so that a wait is mostly waking up. Tracing may change the
	 * CPUs on which the scheduler wakes them, which matters more than the cost of tracing.
	 */
	bool cost_rough;
	/*
	 * When it was detached because tracing cost too much (--cost-limit): all figures end there.
	 * REPORT_UNKNOWN: never.
	 */
	uint64_t detached_ns;
	double detached_cost, detached_limit; /* shares of thread time, as estimated then; NAN */
	uint32_t detached_because; /* pid of the process that cost so much if another one; 0 */
	bool detached_probed; /* its probes were left attached and still cost time */
	bool detached_some; /* sheds is not empty, here or for a process of this group */
	uint32_t nsheds; /* in the order of time */
	struct report_detached *sheds;
	uint32_t nmembers;
	struct report_thread *members; /* over all barriers, by index */
};

struct report_group_process {
	uint32_t pid;
	const char *comm;
};

/* Processes that share barriers, as one team. */
struct report_group {
	struct report_process all; /* pid is the first one's; no OpenMP, counters or cost */
	uint32_t nprocesses;
	struct report_group_process *processes; /* most lost time first */
};

/* A fact about the machine or its use that the data prove. */
struct report_finding {
	/*
	 * "oversubscribed", "spinning", "pinned", "migrating", "slow_cpu", "throttled",
	 * "cost_limit", "site_unknown", "untraced", "counted_from", "tasks", "arrivals_unseen"
	 */
	const char *kind;
	uint32_t pid; /* 0: the machine */
	double figure; /* the number in the sentence */
	char text[768];
};

/* A requested counter that is not available. */
struct report_uncounted {
	const char *name; /* as asked for */
	const char *reason; /* a sentence without its full stop */
};

struct report_loss {
	const char *cause; /* "ring_full", ...: lower_snake, ours */
	const char *text; /* for people, ours */
	uint64_t count;
};

struct causes;
struct conceptual;
struct report_hang;
struct openmp;

/* The part of a run that a report covers; all 0: all of it. */
struct report_extent {
	bool window; /* only arrivals in this time, from the start of tracing */
	uint64_t from_ns, to_ns;
	const char *rows; /* "barrier solve; thread 17": other rows are left out; NULL: no filter */
};

struct report {
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t end_ns;
	struct report_extent extent;
	bool interim;
	uint32_t nprocesses;
	struct report_process *processes; /* with crossings, most lost time first */
	uint32_t ngroups;
	struct report_group *groups; /* most lost time first */
	uint32_t nbarriers;
	struct report_barrier *barriers; /* most lost time first */
	uint32_t nphases;
	struct report_phase *phases; /* most time first */
	uint32_t nconceptuals;
	struct report_conceptual *conceptuals; /* as the user gave them, then by process */
	uint32_t nfindings;
	struct report_finding *findings;
	uint64_t episodes, incomplete, ambiguous, crossings;
	uint64_t produced, consumed, lost; /* records; produced = consumed + lost */
	uint32_t nlosses;
	struct report_loss *losses; /* every cause, also with count 0 */
	uint32_t nuncounted;
	struct report_uncounted *uncounted;
	uint32_t nhangs;
	const struct report_hang *hangs; /* not ended yet; not owned */
	uint32_t nremarks;
	const struct remark *remarks; /* not owned */
	uint32_t ndetached_parts; /* of the other processes, those with report_process.sheds */
	uint32_t ndetached; /* processes not traced to their end: report_process.detached_ns */
	uint32_t ntasks; /* processes that run OpenMP tasks: report_process.tasks */
	bool lossless; /* nothing was lost */
	uint32_t nuntraced; /* processes with code that may wait at untraced barriers */
	/* A remark names processes that are in no figure and may wait untraced */
	bool waits_unseen;
	bool complete; /* lossless, and nothing was left out */
	bool cut; /* read from a recording that ends before the run did */
	double crossing_cost_ns; /* of all processes, at the mean of their crossings; NAN unknown */
	double switch_cost_ns; /* as in report_env */
	uint64_t switches_cost_ns, rested_ns; /* as in report_env */
	uint64_t tracer_cpu_ns; /* CPU time that sbt-trace itself used; REPORT_UNKNOWN */
	bool for_all; /* its probes are in every process that runs the probed files */
	bool accounted; /* thread time was accounted for: page faults cost more in every process */
	bool aggregate; /* all data are sums made in the kernel: single episodes are unknown */
	uint64_t unmet, arrivals_unseen; /* of all processes */
	const char *left_out; /* families of barriers that exist but are in no sum; NULL none */
	void *arena; /* owns all strings and arrays */
};

/*
 * The questions that the report asks about a run: X(member of struct report_env). Both providers,
 * for live runs and for recordings, answer all of them, and a recording keeps each answer. Their
 * tables are made from this list, so a question without an answer does not compile.
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

/* What the report needs to know from outside. All callbacks may return NULL or unknown. */
struct report_env {
	void *ctx;
	/* Return the facts of a call site; valid as long as the env. */
	const struct site_name *(*site)(void *ctx, uint32_t site);
	/* Return the name that the user or the program gave a barrier. */
	const char *(*barrier_name)(void *ctx, const struct model_barrier *barrier);
	/* Return the symbol of the barrier object in the process. */
	const char *(*object_name)(void *ctx, const struct model_barrier *barrier);
	/* Return the names of families and kinds. NULL: "unknown" and "explicit" for all. */
	const char *(*family_name)(uint8_t family);
	const char *(*kind_name)(uint8_t kind);
	/*
	 * Return the family of a probe group, and the barrier function that it probes (NULL: the
	 * rest of the family). Without these callbacks all probe groups are families.
	 */
	uint8_t (*probe_group_family)(uint8_t probe_group);
	const char *(*probe_group_name)(void *ctx, const struct model_proc *proc,
					uint8_t probe_group);
	/* Return how departures of the process are detected. */
	const char *(*exit_detection)(void *ctx, const struct model_proc *proc);
	/*
	 * Return the names of functions that the process calls and in which its waits are not
	 * traced, as text for one sentence. NULL: none is known.
	 */
	const char *(*untraced)(void *ctx, const struct model_proc *proc);
	/* Return whether its threads run OpenMP tasks, perhaps in barriers. NULL: none does. */
	bool (*tasks)(void *ctx, const struct model_proc *proc);
	/*
	 * Return how often its probes on condition variables were hit by calls that are no
	 * crossings. *paused_ns: for how long the probes were detached because of that. NULL: there
	 * were none.
	 */
	uint64_t (*looks)(void *ctx, const struct model_proc *proc, uint64_t *paused_ns);
	/* Return the process's cost of a crossing, ns; NAN: unknown. NULL: crossing_cost_ns. */
	double (*crossing_cost)(void *ctx, const struct model_proc *proc);
	double crossing_cost_ns; /* cost of a crossing, both probes; NAN: unknown */
	double switch_cost_ns; /* cost of recording a switch off a CPU and back; NAN: unknown */
	/*
	 * Cost of recording all switches, those of processes that crossed no barrier included; and
	 * the threads' time for which no causes were recorded because they switched too often.
	 * REPORT_UNKNOWN: not known.
	 */
	uint64_t switches_cost_ns, rested_ns;
	uint64_t tracer_cpu_ns;
	bool for_all; /* the probes of barriers are in every process that runs the probed files */
	uint64_t produced, consumed;
	const struct report_loss *losses;
	uint32_t nlosses;
	const struct report_uncounted *uncounted; /* copied, except the strings */
	uint32_t nuncounted;
	const struct report_hang *hangs; /* that have not ended; must outlive the report */
	uint32_t nhangs;
	const struct remark *remarks; /* must outlive the report */
	uint32_t nremarks;
	struct causes *causes; /* analyse/cause.h; NULL: no causes were recorded */
	struct conceptual *conceptual; /* analyse/conceptual.h; NULL: no conceptual barriers */
	struct openmp *openmp; /* analyse/openmp.h; NULL: no OpenMP teams were recorded */
	uint32_t ncounters;
	const char *const *counters; /* names of the performance counters */
	uint32_t ncpus; /* online CPUs; 0: unknown */
	const uint32_t *cpu_node; /* NUMA node by CPU, ncpu_node entries; NULL: unknown */
	uint32_t ncpu_node;
	uint64_t end_ns;
	bool interim;
	bool cut; /* see struct report */
	struct report_extent extent; /* its text must outlive the report */
	bool aggregate; /* the same */
	const char *left_out; /* the same; must outlive the report */
};

/*
 * Build the report from a model: finished, or at any time for an interim report, in which open
 * intervals count up to end_ns. Return 0 and *out (release with report_free()), or -ENOMEM.
 */
int report_build(const struct model *model, const struct report_env *env, struct report *out);
void report_free(struct report *report);

/* Return a counter of which @known says whether it counted all the time. */
struct report_counter report_counter(const char *name, uint64_t value, uint64_t inside, bool known,
				     bool scaled);
/*
 * Add @c to @sum, which is all zero at first. If one is unknown, so is the sum, except for least.
 */
void report_counter_add(struct report_counter *sum, const struct report_counter *c);

/* Return the mean number of threads in an episode of the process. */
uint32_t report_met(const struct model_proc *p);

/*
 * Return the thread time that tracing cost, in ns: @crossings at @crossing_ns each, the switches of
 * threads that slept in episodes and between barriers, at the prices in @env, and the time in which
 * the tracer had the CPU of one of the @met members, for which all of them then waited. NAN if
 * @crossing_ns is NAN.
 */
double report_cost(const struct report_env *env, double crossing_ns, uint64_t crossings,
		   const struct model_sums *sums, uint32_t met);

/*
 * Return the thread time in @elapsed_ns to compare a cost with, in ns. If there are more threads
 * than CPUs, they take turns, and a cost of one delays the others.
 */
uint64_t report_time(const struct report_env *env, uint64_t threads_ns, uint64_t elapsed_ns);

/* Losses of an OpenMP process as shares of thread time, peeled as its efficiencies are. */
struct report_openmp_losses {
	double serial; /* one thread works, the rest of its team has no region */
	double waiting; /* for other threads, in regions */
	double runtime;
	double start; /* a region has begun without its workers; NAN: unknown, in serial */
	double turns; /* waits for a turn in critical, ordered, locks; NAN: unknown, in none */
};

/* Return false if unknown. */
bool report_openmp_losses(const struct report_process *p, struct report_openmp_losses *out);

/* Fill in the id, label and call sites of one barrier, for live output. */
int report_barrier_name(const struct model *model, const struct report_env *env, uint32_t index,
			struct report_barrier *out, void **arena);
/*
 * A namer does the same for many barriers of one model. An id depends on the barriers before it,
 * which the namer examines only once. Return NULL when out of memory.
 */
struct report_namer *report_namer_new(void);
void report_namer_free(struct report_namer *namer);
/* Forget the ids: from now on, indices may belong to other barriers. */
void report_namer_forget(struct report_namer *namer);
int report_namer_name(struct report_namer *namer, const struct model *model,
		      const struct report_env *env, uint32_t index, struct report_barrier *out,
		      void **arena);
/* Name all barriers from index @from on. Each is valid during its call. */
int report_barrier_names(const struct model *model, const struct report_env *env, uint32_t from,
			 int (*each)(void *ctx, const struct report_barrier *barrier), void *ctx);
/*
 * Name a barrier that may be unknown to the model, by family, call sites (each once) and the user's
 * @name (NULL: none). The model's barrier has the same id later, unless two are alike.
 */
int report_place_name(const struct report_env *env, uint8_t family, const uint32_t *sites,
		      uint32_t nsites, const char *name, struct report_barrier *out, void **arena);
void report_arena_free(void *arena);
/* Write the label of a call site, made printable. Return 0 or -ENOMEM. */
int report_site_label(const struct report_env *env, uint32_t site, char *out, size_t size);

#endif /* ANALYSE_REPORT_H */
