/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The report: the model's figures put into the order in which a person wants them, with a verdict and an
 * advice each. Pure. Everything that emit/ prints is a field of one of these structs; emit/fields.c lists
 * them once for all formats.
 *
 * Conventions: times in ns; REPORT_UNKNOWN (u64) or NAN (double) is unknown and is shown as such;
 * strings are UTF-8-or-worse from outside unless said otherwise, NULL is unknown.
 */
#ifndef ANALYSE_REPORT_H
#define ANALYSE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/remark.h"
#include "model/model.h"
#include "sites/site.h"

#define REPORT_UNKNOWN MODEL_UNKNOWN
#define REPORT_ROUGH_NS \
	5000 /* a phase, from which estimated and measured costs agree: tests/bench, table */

/* sum, min, mean, max, stddev of a quantity in ns. n == 0: all unknown. */
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
	const char *
		through; /* the function called there, in which the barrier is written by hand; NULL none */
};

/* Where time went (the design's model). REPORT_UNKNOWN in all where it was not accounted for. */
struct report_parts {
	uint64_t oncpu_ns; /* fault_ns included */
	uint64_t runq_ns; /* runnable, not running */
	uint64_t blocked_ns[MODEL_BLOCKED_REASONS];
	uint64_t unattributed_ns;
	SBT_PART_TIMES(SBT_PART_MEMBER, uint64_t)
	uint64_t spin_ns; /* on a CPU inside barriers: not part of the work */
	uint64_t late_ns; /* released, and waiting for a CPU: the same */
	SBT_PART_COUNTS(SBT_PART_MEMBER, uint64_t)
};

/* A counter over whatever it stands beside. */
struct report_counter {
	const char *name;
	uint64_t value; /* of phases; REPORT_UNKNOWN: it did not count for part of the time */
	uint64_t inside; /* of the same, inside barriers */
	bool scaled; /* multiplexed: an estimate */
	/* What was counted all the same, where both are unknown; else 0. */
	uint64_t least, inside_least;
};

/* What made somebody late: analyse/cause.h has the kinds. */
struct report_part {
	const char *name; /* ours, lower case words: "more work" */
	int64_t ns;
};

#define REPORT_PARTS_MAX 16

struct cause_row;

struct report_cause {
	const struct cause_row *
		dominant; /* the part that explains most (analyse/cause.h); NULL: no cause is to be named */
	double share; /* its, of the positive parts; NAN if none */
	uint32_t nparts; /* those that are not 0, largest first */
	struct report_part parts[REPORT_PARTS_MAX];
	uint64_t lateness_ns; /* what the parts add up to; of a site: summed */
	uint64_t episodes; /* of a site: those it rests on */
	uint64_t dominated; /* of those: where this cause was dominant */
	uint8_t waited; /* enum culprit_waited of analyse/: what a dominant "lock", "i/o" or "released late" was */
	uint8_t doing; /* what the thread that was waited for did; enum model_doing */
	const char *culprit; /* who or what, printable words; NULL unknown */
	char text[768]; /* one sentence; "" none */
	uint32_t nframes; /* the user stack of the longest block, innermost first */
	const struct report_callsite *frames;
};

/* One thread at one barrier, over all its episodes; or of one process, over all barriers. */
struct report_thread {
	uint32_t tid;
	uint32_t
		index; /* as the program counts, where known; else by first crossing in the process */
	const char *comm;
	bool ranked; /* the program numbers it among the threads of all processes: MPI's rank */
	uint64_t crossings;
	uint64_t wait_ns, idle_ns, work_ns; /* work_ns REPORT_UNKNOWN if no phase is known */
	uint64_t wait_max_ns;
	uint64_t waits; /* complete episodes in wait_ns */
	double wait_squares; /* sum of the squares of the waits in those, ns^2 */
	/*
	 * Of a process's threads alone: their lives, up to the release where the end is the arrival, and how long they were no
	 * members of a team meanwhile, but waited for other threads to end. Of a sum of threads, start_ns is 0.
	 */
	uint64_t start_ns, until_ns, away_ns;
	uint32_t
		position; /* the same: threads with disjoint lives follow each other at one; MODEL_NONE of a sum */
	uint64_t last; /* times it came last */
	double last_share; /* of the episodes */
	struct report_parts parts;
	uint32_t ncounters;
	struct report_counter *counters;
};

enum report_pattern {
	REPORT_BALANCED, /* little is lost */
	REPORT_STATIC, /* the same threads always come late: repartition */
	REPORT_ROTATING, /* another thread each time: fewer barriers, dynamic scheduling */
	REPORT_MIXED_LOSS, /* both */
	REPORT_COSTLY, /* the barrier itself is dear */
	REPORT_FEW, /* too few complete episodes to say */
	REPORT_UNTOLD, /* threads are known as a sum only: which of them come late is not known */
	REPORT_TASKS, /* threads run tasks in barriers: what is lost there is not known */
};

/* Barriers of a process that were traced up to some moment only, while others of it were traced on. */
struct report_detached {
	const char *family;
	const char *
		function; /* by which they are met; NULL: all of the family that is not told of apart */
	uint64_t t_ns;
	double cost,
		limit; /* shares of its threads' time: all that tracing cost then, and what it was to cost */
	uint32_t because; /* as report_process.detached_because */
	bool probed;
};

struct report_barrier {
	char id[17]; /* "#" and hexadecimal digits: from family, module, function, line or offset */
	uint32_t index; /* in the model */
	uint32_t pid;
	const char *comm;
	uint32_t processes; /* as of its process */
	/* Traced up to this moment only, alone or with all of its process (--cost-limit). REPORT_UNKNOWN: to the end. */
	uint64_t detached_ns;
	/*
	 * From this moment on others of its process were not traced, while it was: phases and work since then have in them what
	 * was done there. REPORT_UNKNOWN: there is none.
	 */
	uint64_t detached_beside_ns;
	const char *family; /* "pthread" */
	const char *kind; /* "explicit" */
	const char *name; /* given by program or user; NULL */
	const char *function, *file, *module;
	uint32_t line;
	uint64_t offset;
	char label
		[192]; /* how text names it: name, or function file:line, or module+0xoffset; made printable */
	char object[128]; /* the object's symbol or address */
	uint32_t ncallsites; /* > 1: mixed */
	struct report_callsite *callsites;
	uint64_t episodes, incomplete, ambiguous, crossings;
	uint64_t
		unmet; /* of the crossings, those of which it is not known who met: processes share the barrier */
	bool summed; /* --aggregate: the kernel's sums tell of no meeting there */
	uint32_t participants, participants_min; /* most and fewest members of a complete episode */
	bool shared, nested;
	bool ranked; /* shared, and its threads' indices are ranks, which tell them apart */
	bool loop; /* the program calls it a loop barrier: of interest as a sum */

	struct report_times phase_ns, barrier_ns, wait_ns, release_ns;
	uint64_t lost_ns; /* sum of wait */
	uint64_t gain_ns; /* potential gain: lost / n */
	double share; /* phase time over the process's elapsed time */
	double imbalance; /* lost / (phase time x members): the share of its phases' thread time that is lost waiting */
	double load_balance,
		serialisation; /* of the site: mean/max of W_i, max W_i / sum_k max w_ik */
	double release_share; /* release latencies / (phase time x members) */
	uint32_t last_tid; /* who comes last most often; 0 none */
	const char *last_comm;
	uint64_t last_count;
	uint32_t last_index; /* its report_thread.index, with */
	bool last_known; /* also if it is not among the threads below */
	double last_share; /* of the complete episodes */
	enum report_pattern pattern;
	char verdict[640]; /* one sentence */
	char advice[256]; /* one sentence; "" none */
	struct report_cause cause; /* over all episodes, weighted by lost time */
	/*
	 * Waits anywhere that began as an imbalance in phases that end here (delay costs): direct, and passed on by
	 * threads that were held up themselves. REPORT_UNKNOWN if not known.
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

/* A conceptual phase in one process (analyse/conceptual.h): all its occurrences that ended. */
struct report_conceptual {
	const char *name; /* the user's */
	uint32_t pid;
	const char *comm;
	uint64_t occurrences;
	uint64_t unfinished; /* their end was not seen */
	uint64_t episodes, incomplete; /* inside, the end barrier's included */
	struct report_times phase_ns;
	double share; /* of the process's elapsed time; over 1 is possible where they overlap */
	uint64_t lost_ns; /* sum of the waits inside */
	uint64_t gain_ns; /* potential gain: lost / its threads */
	double imbalance; /* lost / (time x threads) */
	struct report_efficiency efficiency;
	struct report_cause cause; /* over the episodes inside, weighted by lost time */
	uint32_t ncounters; /* of all threads */
	struct report_counter *counters;
	uint32_t nthreads;
	struct report_thread *threads; /* those that met anybody inside; by index */
};

struct report_process {
	uint32_t index; /* in the model */
	uint32_t pid;
	const char *comm;
	/*
	 * 1; more: so many processes of one program that have exited, kept as a sum: pid is of the one that exited first,
	 * elapsed_ns, life_ns and ideal_ns are sums, and of the efficiencies only the parallel one is known. 0 of a group.
	 */
	uint32_t processes;
	uint32_t parent; /* pid, 0 unknown */
	bool exited;
	bool start_seen; /* its beginning; else T and all efficiencies count from the start of tracing, or from: */
	uint64_t
		counted_from_ns; /* its first recorded crossing, as earlier ones were not recorded; of a group the last of these; else REPORT_UNKNOWN */
	uint64_t elapsed_ns; /* T */
	uint64_t
		life_ns; /* from its beginning to its end; REPORT_UNKNOWN, or 0 in a group: not both were seen */
	uint64_t ideal_ns; /* T_ideal */
	uint32_t threads; /* that crossed a barrier */
	uint32_t
		positions; /* the most of those threads at one time: see report_thread.position; 0 of a group */
	uint64_t episodes, incomplete, ambiguous, crossings, abandoned, lost;
	uint64_t unmet; /* as of its barriers; then wait_ns is unknown */
	uint64_t
		arrivals_unseen; /* of the crossings: waits for others who came without a trace, in no figure of what is lost */
	bool summed; /* as of its barriers */
	uint64_t outside_ns; /* sum of u_i */
	uint64_t wait_ns, release_ns; /* sums over threads; REPORT_UNKNOWN */
	struct report_efficiency efficiency;
	double lost_static, lost_rotating,
		lost_transfer; /* shares of its threads' lives lost to each: PE = 1 - their sum (peeled in that order) */
	bool meets_others; /* at barriers that processes share: see report.groups */
	bool ranked; /* a group: its threads' indices are ranks, which tell them apart */
	bool by_barrier; /* at each of its barriers the same threads are late, others at others */
	bool hung; /* some of its threads wait to the end for others: of that time no sum knows */
	enum report_pattern pattern;
	char verdict[640], advice[256];
	/*
	 * Functions that its code calls and in which it may wait: they are not traced, and the time counts as work, so that
	 * the efficiencies are upper limits. "MPI_Recv and MPI_Send"; NULL: none is known. Of a group: of one of its processes.
	 */
	const char *untraced;
	/*
	 * It runs OpenMP tasks, or may do so. What its threads do in tasks while they are inside barriers is work, and how much that is
	 * is not known: its efficiencies are not, but for the bounds of the parallel efficiency.
	 */
	bool tasks;
	double parallel_least, parallel_most; /* NAN: no bounds are needed, or none are known */
	double inside_oncpu; /* then: of the time in barriers the share that was on a CPU; NAN unknown */
	const char *exit_detection; /* "return probe", "ret instructions", ...; NULL unknown */
	/*
	 * wait_ns over the time of its threads, each from its start to its end: what the first line of the report says is lost
	 * waiting. NAN unknown.
	 */
	double wait_share;
	/* As of a barrier, of all its barriers that are not nested: waits over phase time x members. NAN unknown, or shared. */
	double imbalance;
	uint64_t phase_wait_ns, phase_thread_ns; /* that is the quotient of */
	double useful_oncpu; /* share of outside_ns that was on a CPU; NAN unknown */
	/*
	 * TALP's for OpenMP, of a process whose barriers are such; NAN else. Peeled scheduling first. The start of teams is apart;
	 * NAN alone: what it takes is not known, and is in the serialisation.
	 */
	double omp_load_balance, omp_scheduling, omp_start, omp_serialisation;
	double omp_turns; /* NAN alone: waits for turns are not known, and are useful time */
	uint32_t ncounters; /* of all threads, over the whole run */
	struct report_counter *counters;
	uint64_t cost_ns; /* estimated: report_cost(); REPORT_UNKNOWN */
	double crossing_cost_ns; /* of one of its crossings; NAN unknown */
	uint64_t looks; /* hits of probes for what is no crossing: report_env.looks; in cost_ns */
	uint64_t
		paused_ns; /* how long its condition variables were not looked at, because they were hot */
	uint64_t
		cost_interference_ns; /* how long its threads waited for CPUs that the tracer had; REPORT_UNKNOWN */
	double cost_share; /* of its threads' time, as far as there are CPUs for them */
	/*
	 * Its threads do so little between barriers (REPORT_ROUGH_NS, at the mean of all, their beginnings and ends included)
	 * and sleep there, so that a wait is mostly waking: tracing may change on which CPUs the scheduler wakes them, and
	 * that counts for more than what tracing takes.
	 */
	bool cost_rough;
	/*
	 * It was traced up to this moment only, for tracing cost too much (--cost-limit): all figures are of the time before.
	 * REPORT_UNKNOWN: to its end.
	 */
	uint64_t detached_ns;
	double detached_cost,
		detached_limit; /* shares of its threads' time, as estimated then; NAN */
	uint32_t
		detached_because; /* pid of the process that cost so much, if it is another one; 0 */
	bool detached_probed; /* its probes were left, and still cost it something */
	bool detached_some; /* there are such, here or in a process of the group that this is */
	uint32_t nsheds; /* in the order of time */
	struct report_detached *sheds;
	uint32_t nmembers;
	struct report_thread *members; /* over all barriers, by index */
};

struct report_group_process {
	uint32_t pid;
	const char *comm;
};

/* Processes that meet one another at barriers, as one team. */
struct report_group {
	struct report_process all; /* pid is the first one's; no OpenMP, counters or cost */
	uint32_t nprocesses;
	struct report_group_process *processes; /* most lost time first */
};

/* Something that the data prove about the machine or how it is used. */
struct report_finding {
	const char *
		kind; /* ours: "oversubscribed", "spinning", "pinned", "migrating", "slow_cpu", "throttled", "cost_limit", "site_unknown", "untraced", "counted_from", "tasks", "arrivals_unseen" */
	uint32_t pid; /* 0: the machine */
	double figure; /* the number in the sentence */
	char text[768];
};

/* A counter that was asked for and cannot be had. */
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

/* What of a run a report is of; all 0: of all of it. */
struct report_extent {
	bool window; /* only of what threads came to in this time, from the start of tracing on */
	uint64_t from_ns, to_ns;
	const char *rows; /* "barrier solve; thread 17": other rows are left out; NULL: none is */
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
	struct report_loss *losses; /* every cause, also those with 0 */
	uint32_t nuncounted;
	struct report_uncounted *uncounted;
	uint32_t nhangs;
	const struct report_hang *hangs; /* that have not ended; not the report's own */
	uint32_t nremarks;
	const struct remark *remarks; /* likewise */
	uint32_t
		ndetached_parts; /* of the others, processes of which some barriers were not: report_process.sheds */
	uint32_t
		ndetached; /* processes that were not traced to their end: report_process.detached_ns */
	uint32_t ntasks; /* processes that run OpenMP tasks: report_process.tasks */
	bool lossless; /* nothing was lost */
	uint32_t nuntraced; /* processes whose code may wait at barriers that are not traced */
	bool waits_unseen; /* a remark names processes that are in no figure and may wait unseen */
	bool complete; /* nor was anything left out */
	bool cut; /* read from a recording that ends before the run did */
	double crossing_cost_ns; /* of all processes, at the mean of their crossings; NAN unknown */
	double switch_cost_ns; /* as in report_env */
	uint64_t switches_cost_ns, rested_ns; /* likewise */
	uint64_t tracer_cpu_ns; /* CPU time sbt-trace itself used; REPORT_UNKNOWN */
	bool for_all; /* its probes are in every process that runs the probed files */
	bool accounted; /* where threads' time goes was looked at: page faults are dearer for all */
	bool aggregate; /* all comes of sums made in the kernel: of single meetings nothing is known */
	uint64_t unmet, arrivals_unseen; /* of all processes */
	const char *
		left_out; /* families of barriers that are there and of which sums know nothing; NULL none */
	void *arena; /* owns all strings and arrays */
};

/* What the pure code must be told. All callbacks may return NULL / unknown. */
struct report_env {
	void *ctx;
	/* Facts of a call site; valid as long as the env. */
	const struct site_name *(*site)(void *ctx, uint32_t site);
	/* The name that the user or the program gave a barrier. */
	const char *(*barrier_name)(void *ctx, const struct model_barrier *barrier);
	/* The symbol of the barrier object in the process. */
	const char *(*object_name)(void *ctx, const struct model_barrier *barrier);
	/* What families and kinds are called, for all; without them: "unknown" and "explicit". */
	const char *(*family_name)(uint8_t family);
	const char *(*kind_name)(uint8_t kind);
	/*
	 * Of what can be shed alone, by number: its family, and the function by which its barriers are met (NULL: it is what else
	 * there is of the family). Without them all are families.
	 */
	uint8_t (*probe_group_family)(uint8_t probe_group);
	const char *(*probe_group_name)(void *ctx, const struct model_proc *proc,
					uint8_t probe_group);
	/* How departures of the process are seen. */
	const char *(*exit_detection)(void *ctx, const struct model_proc *proc);
	/* Names of functions that its code calls and in which it waits unseen, for one sentence; NULL: none is known. */
	const char *(*untraced)(void *ctx, const struct model_proc *proc);
	/* Do its threads run OpenMP tasks, which may be inside barriers? NULL: none does. */
	bool (*tasks)(void *ctx, const struct model_proc *proc);
	/*
	 * How often probes on condition variables were hit in it for what is no crossing, and for how long they were away because of
	 * that. NULL: there were none.
	 */
	uint64_t (*looks)(void *ctx, const struct model_proc *proc, uint64_t *paused_ns);
	/* One crossing of this process, both probes, ns; NAN unknown. NULL: crossing_cost_ns for all. */
	double (*crossing_cost)(void *ctx, const struct model_proc *proc);
	double crossing_cost_ns; /* one crossing, both probes; NAN unknown */
	double switch_cost_ns; /* to account for a thread's losing a CPU and getting one again; NAN unknown */
	/*
	 * What that took in all, processes that crossed no barrier too; and of how much of their threads' time the causes were not
	 * looked for, as they switched too often. REPORT_UNKNOWN.
	 */
	uint64_t switches_cost_ns, rested_ns;
	uint64_t tracer_cpu_ns;
	bool for_all; /* probes of barriers are in every process that runs the probed files */
	uint64_t produced, consumed;
	const struct report_loss *losses;
	uint32_t nlosses;
	const struct report_uncounted *uncounted; /* copied, not so the strings */
	uint32_t nuncounted;
	const struct report_hang *hangs; /* that have not ended; they must outlive the report */
	uint32_t nhangs;
	const struct remark *remarks; /* they must outlive the report */
	uint32_t nremarks;
	struct causes *causes; /* analyse/cause.h; NULL: nobody's time was accounted for */
	struct conceptual *conceptual; /* analyse/conceptual.h; NULL: there are none */
	struct openmp *openmp; /* analyse/openmp.h; NULL: nobody looked for teams */
	uint32_t ncounters;
	const char *const *counters; /* their names */
	uint32_t ncpus; /* online; 0 unknown */
	const uint32_t *cpu_node; /* NUMA node by CPU, ncpu_node of them; NULL unknown */
	uint32_t ncpu_node;
	uint64_t end_ns;
	bool interim;
	bool cut; /* see struct report */
	struct report_extent extent; /* its text must outlive the report */
	bool aggregate; /* the same */
	const char *left_out; /* the same; must outlive the report */
};

/*
 * Builds the report from a model (finished, or at any time for an interim one: then open intervals
 * count up to end_ns). Returns 0 and fills *out (to be released by report_free()), or -ENOMEM.
 */
int report_build(const struct model *model, const struct report_env *env, struct report *out);
void report_free(struct report *report);

/* What was counted so far: @known, or a part of it only. */
struct report_counter report_counter(const char *name, uint64_t value, uint64_t inside, bool known,
				     bool scaled);
/* Adds @c to @sum, all zero at first: what one of them does not know, the sum does not; only how much it is at least. */
void report_counter_add(struct report_counter *sum, const struct report_counter *c);

/* How many threads of the process meet, at the mean of its episodes. */
uint32_t report_met(const struct model_proc *p);

/*
 * What tracing cost the time of threads, ns: @crossings at @crossing_ns each, their switches at meetings where threads slept,
 * those between barriers, by the prices that @env knows; and where the tracer had the CPU of one of the @met that meet, which
 * all of them then waited for. NAN: @crossing_ns is.
 */
double report_cost(const struct report_env *env, double crossing_ns, uint64_t crossings,
		   const struct model_sums *sums, uint32_t met);

/*
 * What to hold that against: the time of threads, ns, in @elapsed_ns. More of them than there are CPUs take turns, and what is
 * added to one the others wait for.
 */
uint64_t report_time(const struct report_env *env, uint64_t threads_ns, uint64_t elapsed_ns);

/* Shares of the time of an OpenMP process's threads: its ratios, peeled as they are. */
struct report_openmp_losses {
	double serial; /* one thread works, the others of its team have no region */
	double waiting; /* for others, in regions */
	double runtime;
	double start; /* a region has begun, and its workers are not there yet; NAN: not known, in serial */
	double turns; /* waiting for a turn in critical, ordered, locks; NAN: not known, in none of these */
};

/* False: not known. */
bool report_openmp_losses(const struct report_process *p, struct report_openmp_losses *out);

/* The id, label and call-site strings of one barrier, for episodes and warnings as they happen. */
int report_barrier_name(const struct model *model, const struct report_env *env, uint32_t index,
			struct report_barrier *out, void **arena);
/*
 * The same for a caller that has many of one model named, each when it comes: an id depends on the barriers before, which are
 * looked at once. NULL: out of memory.
 */
struct report_namer *report_namer_new(void);
void report_namer_free(struct report_namer *namer);
/* Indices of barriers are others' from now on. */
void report_namer_forget(struct report_namer *namer);
int report_namer_name(struct report_namer *namer, const struct model *model,
		      const struct report_env *env, uint32_t index, struct report_barrier *out,
		      void **arena);
/* The same of all barriers from index @from on, one after the other; each is gone after its call. */
int report_barrier_names(const struct model *model, const struct report_env *env, uint32_t from,
			 int (*each)(void *ctx, const struct report_barrier *barrier), void *ctx);
/*
 * The same of a barrier that the model need not know: of this family, called at these sites, each once, called @name by
 * the user (NULL: not at all). What the model makes of it later has the same id, unless two are alike.
 */
int report_place_name(const struct report_env *env, uint8_t family, const uint32_t *sites,
		      uint32_t nsites, const char *name, struct report_barrier *out, void **arena);
void report_arena_free(void *arena);
/* What text calls one call site, made printable, into out[size]. Returns 0 or -ENOMEM. */
int report_site_label(const struct report_env *env, uint32_t site, char *out, size_t size);

#endif /* ANALYSE_REPORT_H */
