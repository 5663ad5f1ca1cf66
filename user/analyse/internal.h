/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Shared by the files of this room and their tests only. */
#ifndef ANALYSE_INTERNAL_H
#define ANALYSE_INTERNAL_H

#include <math.h>
#include <stddef.h>

#include "base/hash.h"
#include "base/text.h"
#include "analyse/cause.h"
#include "analyse/conceptual.h"
#include "analyse/openmp.h"
#include "analyse/report.h"

/* Fewer complete episodes than this do not support a verdict. */
#define VERDICT_FEW    8
/* A smaller share of lost time counts as balanced. */
#define VERDICT_LITTLE 0.05

struct arena;

/* arena.c: zeroed memory of a report, released at once. Return NULL when out of memory. */
struct arena *arena_new(void);
void arena_free(struct arena *a);
void *arena_alloc(struct arena *a, size_t size);
char *arena_string(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* name.c */
struct name_table {
	uint32_t n;
	uint32_t *ids; /* by barrier: the number in its id; 0 in the entry of a folded barrier */
};

int name_ids(struct arena *a, const struct model *m, const struct report_env *env, uint32_t n,
	     struct name_table *out);
int name_barrier(struct arena *a, const struct model *m, const struct report_env *env, uint32_t id,
		 uint32_t index, struct report_barrier *out);
/*
 * Copy @src to dst[size], made printable. A longer string is cut between characters and ends in
 * "...".
 */
void name_copy(char *dst, size_t size, const char *src);
/*
 * As name_copy(), for a function's name. A name of more than @limit bytes is shortened: return
 * type, parameters and template arguments are left out ("std::__detail::__wait<>()").
 */
void name_function(char *dst, size_t size, const char *function, size_t limit);
/*
 * End the text that fills dst[size] (8 or more) in "...", after a word if one ends in its second
 * half. Return its new length.
 */
size_t name_cut(char *dst, size_t size);
/* Append to the string in dst[size] (8 or more), and cut it as name_cut() does. */
void name_append(char *dst, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Copy the facts of a call site; all are unknown if nothing is known of it. Return 0 or -ENOMEM. */
int name_callsite(struct arena *a, const struct report_env *env, uint32_t site,
		  struct report_callsite *out);

/* The values of figures that are unknown. */
#define EFFICIENCY_UNKNOWN ((struct report_efficiency){ NAN, NAN, NAN, NAN, NAN })
#define TIMES_UNKNOWN \
	((struct report_times){ 0, REPORT_UNKNOWN, REPORT_UNKNOWN, REPORT_UNKNOWN, NAN, NAN, NULL })

/* tasks.c */
/* Replace the efficiencies of a process that runs tasks by bounds. @spent: sums of its threads. */
void tasks_process(struct report_process *p, const struct model_sums *spent);
/* Replace the verdict of an OpenMP barrier in such a process, and what rests on lost time. */
void tasks_barrier(struct report_barrier *b);
/* Reset the figures of such processes that are summed over barriers. */
void tasks_forget(struct report *report);

/* efficiency.c */
struct efficiency_sums {
	uint64_t n;
	uint64_t sum_ns, max_ns; /* of u_i */
	uint64_t ideal_ns, elapsed_ns;
};

/*
 * Return the part of the time outside barriers that is work: without waits for a turn or a team, if
 * known.
 */
uint64_t efficiency_useful(uint64_t outside_ns, uint64_t turn_ns, uint64_t begin_ns);
struct report_efficiency efficiency_of(const struct efficiency_sums *s);
void efficiency_losses(const struct report_efficiency *e, double *lost_static,
		       double *lost_rotating, double *lost_transfer);
/* Work of the threads at one position before a barrier, and the number of their arrivals. */
struct efficiency_work {
	uint64_t ns, n;
};

/*
 * Set *load_balance and *serialisation of a barrier from the work of its threads. @position: by
 * thread index; threads that run one after another share a position. @scratch: one entry for each
 * position; zeroed before and after.
 */
void efficiency_barrier(const struct model_barrier *b, const uint32_t *position,
			struct efficiency_work *scratch, double *load_balance,
			double *serialisation);

/* positions.c: efficiencies of threads that do not live throughout. */

/* Set the position of each thread: the lowest that is free when it begins. Return 0 or -ENOMEM. */
int positions_assign(struct report_thread *threads, uint32_t n, uint32_t *positions);
/* Set @out from threads with positions. @sums: n and max_ns are unused. Return 0 or -ENOMEM. */
int positions_efficiency(const struct report_thread *threads, uint32_t n, uint32_t positions,
			 const struct efficiency_sums *sums, struct report_efficiency *out);
/* Set n and max_ns of @sums to those of positions. Return 0 or -ENOMEM. */
int positions_sums(const struct report_thread *threads, uint32_t n, uint32_t positions,
		   struct efficiency_sums *sums);

/*
 * Return the share of the accounted time outside barriers that was on a CPU; NAN if there is none.
 */
double efficiency_oncpu(const struct model_sums *s);

/* Times in ns, summed over the threads of an OpenMP program. Together they are all of its time. */
struct efficiency_omp {
	uint64_t useful_ns; /* in outlined functions, and in the one thread of serial parts */
	/* Waiting for other threads: at the end of worksharing, or at barriers outside OpenMP */
	uint64_t imbalance_ns;
	uint64_t scheduling_ns; /* in the runtime, which distributes work */
	/*
	 * From the call that begins a region to the workers' first instructions; MODEL_UNKNOWN: in
	 * serialisation_ns
	 */
	uint64_t start_ns;
	/* Idle while one thread runs a serial part, or not created yet */
	uint64_t serialisation_ns;
	uint64_t turns_ns; /* waiting for a turn: one thread after another */
};

/* Ratios of at most 1; NAN if the divisor is 0. */
struct efficiency_omp_ratios {
	double load_balance, scheduling;
	double start; /* NAN: unknown, and in serialisation */
	double serialisation;
	double turns;
	double parallel; /* useful time over all time: the product of the known ratios */
};

/*
 * Return TALP's efficiencies for OpenMP (DLB, perf_metrics.c) and two more: for the start of teams,
 * which TALP counts as serialisation, and for waits for a turn, which TALP counts as useful. Losses
 * are peeled off in this order: scheduling, imbalance, start, serialisation, turns.
 */
struct efficiency_omp_ratios efficiency_openmp(const struct efficiency_omp *t);

/*
 * openmp.c: set @out to the times of process @proc. of_proc[@n] holds the indices of its threads in
 * @threads. The times add up to @elapsed_ns times @at_once, the most threads that exist at one
 * time, so that the product of the efficiencies is PE: they count from the start of the process or
 * of tracing. Return false if there are no teams or too little is known.
 */
bool openmp_times(const struct openmp *openmp, uint32_t proc, const struct model_thread *threads,
		  const uint32_t *of_proc, uint32_t n, uint32_t at_once, uint64_t elapsed_ns,
		  struct efficiency_omp *out);

/*
 * conceptual.c: fill the conceptual phases of @out. @procs, @threads: from the model, at the end of
 * the report, by index. @position: as for efficiency_barrier(). Return 0 or -ENOMEM.
 */
int conceptual_report(const struct conceptual *conceptual, const struct report_env *env,
		      const struct model_proc *procs, const struct model_thread *threads,
		      const uint32_t *position, struct arena *arena, struct report *out);

/*
 * group.c: fill the groups of @out from its sorted processes and barriers, and set meets_others of
 * their processes. Return 0 or -ENOMEM.
 */
int groups_build(struct arena *a, const struct model *model, const struct model_proc *procs,
		 const struct model_thread *threads, struct report *out);

/* report.c: compare threads by index, then by tid, for qsort(). */
int threads_by_index(const void *a, const void *b);
/* Return true if all threads have distinct ranks of MPI. @threads: sorted by index. */
bool report_ranked(const struct report_thread *threads, uint32_t n);
/*
 * Return the figures of a quantity; all unknown if it has no values. Set *err to -ENOMEM on
 * failure.
 */
struct report_times report_times(struct arena *a, const struct model_stat *s, int *err);

/* delay.c: delay costs. */
struct delay;

struct delay *delay_new(void);
void delay_free(struct delay *d);
/* Add an episode, in the order of model_ops.episode. Return 0 or -ENOMEM. */
int delay_episode(struct delay *d, const struct model_episode *ep);
/* Fold barrier @from into @into; the index @from is free then. Return 0 or -ENOMEM. */
int delay_fold(struct delay *d, uint32_t from, uint32_t into);
/* Set the waits caused by phases that end at @barrier; REPORT_UNKNOWN if nothing is known. */
void delay_of(const struct delay *d, uint32_t barrier, uint64_t *direct_ns, uint64_t *passed_ns);
/*
 * Return the waits of complete episodes that are charged to no barrier, neither directly nor passed
 * on.
 */
uint64_t delay_unknown(const struct delay *d);

/* cause.c */

/* The parts of one lateness; their sum is lateness_ns. */
struct cause_parts {
	int64_t ns[CAUSE_KINDS];
	int64_t lateness_ns;
};

/* Sums over the episodes of a process, for findings.c. */
struct cause_proc {
	uint64_t episodes; /* complete and accounted for */
	/*
	 * Those in which the last thread waited for a CPU while other threads spun in the barrier
	 */
	uint64_t spun_episodes;
	uint64_t spun_ns; /* the smaller of the two times in each of them */
	uint64_t node_moves; /* moves of threads to a CPU of another NUMA node */
	uint64_t first_ns, last_ns; /* first and last release */
};

/* Sums over phases in which one thread had a CPU without a switch. */
struct cause_cpu {
	uint64_t cycles, oncpu_ns, phases;
};

/*
 * Set the cause of a barrier over all its episodes. @a owns strings and frames. Return 0 or
 * -ENOMEM.
 */
int causes_site(const struct causes *causes, uint32_t barrier, struct arena *a,
		struct report_cause *out);
/* As causes_site(), for any blame that causes_episode() filled. */
int causes_blame(const struct causes *causes, const struct blame *blame, struct arena *a,
		 struct report_cause *out);
/* Return the sums of a process or a CPU; NULL if unknown. */
const struct delay *causes_delay(const struct causes *causes);
const struct cause_proc *causes_proc(const struct causes *causes, uint32_t proc);
const struct cause_cpu *causes_cpu(const struct causes *causes, uint32_t cpu);
uint32_t causes_ncpus(const struct causes *causes);
/* Return the only CPU that the thread may run on; MODEL_NONE: several, or unknown. */
uint32_t causes_pinned(const struct causes *causes, uint32_t thread, uint32_t tid);

/* culprit.c: what made a thread late. */

#define CULPRIT_NAME	    256
#define CULPRIT_CLAUSE	    448
#define CULPRIT_TALLY	    8
#define CULPRIT_DIDS	    8
/* Bytes of a thread's name. */
#define CULPRIT_THREAD_NAME 68

/* Identified by keys. It is described in words only when needed. */
struct culprit {
	enum cause_kind kind;
	uint64_t key; /* exact; 0 unknown */
	/* What was waited for, and the name of the threads that ended such waits; 0: none */
	uint64_t named;
	uint64_t coarse; /* the lock with any holder, or all tasks of a name; 0: none */
	uint32_t proc, tgid, inc;
	bool shared; /* processes share the barrier: numbers of threads are ambiguous */
	bool began; /* CAUSE_RELEASED_LATE: it had not been at any barrier before */
	bool elsewhere; /* CAUSE_RELEASED_LATE: it was at another episode than the reference */
	uint64_t did; /* what the awaited thread waited for: a thread, or all of a name; 0: none */
	uint32_t ran; /* the task that had the CPU; 0 unknown */
	bool among; /* it had the CPU for less than half of that time */
	uint32_t awaited; /* CAUSE_RELEASED_LATE: the thread that it waited for there */
	uint64_t fault_addr;
	struct model_block block; /* ns 0: none of this kind */
};

/* Return one key for two facts. */
static inline uint64_t culprit_key(uint64_t a, uint64_t b)
{
	return hash_mix(a ^ hash_mix(b + 1));
}

/* What a thread waited for at a futex, as far as the word and the stack show. */
enum culprit_waited {
	WAITED_LOCK, /* also if unknown */
	WAITED_JOIN, /* the end of a thread */
	WAITED_SEMAPHORE,
	WAITED_CONDITION,
	WAITED_EVENT, /* a semaphore or a condition variable */
	WAITED_BARRIER, /* an untraced barrier */
	WAITED_VALUE, /* a futex of the program itself, std::atomic */
	WAITED_ELSEWHERE, /* CAUSE_RELEASED_LATE: the end of another episode */
	WAITED_THREAD, /* a thread of a traced process: CAUSE_IO, or for an unknown reason */
};

/* How precisely a culprit is described. */
enum culprit_level {
	CULPRIT_EXACT,
	CULPRIT_NAMED, /* by the names of threads, because new threads have new numbers */
	CULPRIT_COARSE,
	CULPRIT_LEVELS
};

/* Description of a culprit, printable. */
struct culprit_words {
	uint8_t waited; /* enum culprit_waited; CAUSE_LOCK, CAUSE_IO, CAUSE_RELEASED_LATE */
	uint8_t doing; /* what the awaited thread did most of the time; enum model_doing */
	bool doing_matters; /* advice depends on doing */
	char name[CULPRIT_NAME]; /* "" unknown */
	/* What the awaited thread waited for; "" unknown, or none */
	char awaits[CULPRIT_THREAD_NAME];
	char clause[CULPRIT_CLAUSE]; /* after "because", without what the awaited thread did */
};

/* One thing that the awaited thread did, over several episodes. */
struct culprit_did {
	uint64_t key; /* what it waited for: all threads of a name */
	uint32_t tid; /* the first of these threads */
	bool several; /* there were more threads of that name */
	uint64_t ns; /* of lost time; 0: the entry is free */
	uint64_t worded_ns; /* ns when awaits was written; 0: to be written */
	uint64_t episodes;
	uint8_t doing; /* enum model_doing */
	bool among; /* it waited for other threads, too */
	char awaits[CULPRIT_THREAD_NAME]; /* what it waited for; "" unknown */
};

struct culprit_dids {
	struct culprit_did one[CULPRIT_DIDS];
};

/*
 * The largest contributors to a sum, in constant memory (Misra and Gries 1982, with weights). Each
 * contributor of more than a ninth of the sum has an entry. No entry exceeds the true value.
 */
struct tally {
	uint64_t key[CULPRIT_TALLY];
	uint64_t ns[CULPRIT_TALLY];
};

/*
 * Add to the entry of @key. Return its index, or -1 if it has none. *fresh: the entry was free or
 * another key's.
 */
int tally_add(struct tally *t, uint64_t key, uint64_t ns, bool *fresh);
/* Return the index of the largest entry, or -1. */
int tally_top(const struct tally *t);

/*
 * Context of descriptions. Threads of the late thread's process that cross barriers go by number.
 */
struct culprit_env {
	const struct model *model;
	const struct cause_env *env;
	const struct report_env *report_env;
	const struct hash *by_tid; /* process << 32 | tid -> index */
};

/* Return what the thread that @b waited for did for at least half of the time. */
enum model_doing culprit_doing(const struct model_block *b);
void culprit_words(const struct culprit_env *env, const struct culprit *c, enum culprit_level level,
		   struct culprit_words *out);
/* Append what the awaited thread did ("was asleep"). @awaits: what it waited for; "" unknown. */
void culprit_append_did(uint8_t doing, const char *awaits, bool among, char *out, size_t size);
/* Add @from's time and episodes to the entry of its kind. Return the entry; NULL: none is free. */
struct culprit_did *dids_add(struct culprit_dids *dids, const struct culprit_did *from);
/*
 * Append ", which was asleep in 9 episodes (48 %) and was on a CPU in 8 (43 %)". @all_ns: of the
 * culprit.
 */
void dids_append(const struct culprit_dids *dids, uint64_t all_ns, char *out, size_t size);
/* Return what it did for most of the time; MODEL_DOING_UNKNOWN: no single thing. */
uint8_t dids_most(const struct culprit_dids *dids, uint64_t all_ns);
/* Write the name of a thread: by its number within the process, or by tid. */
void culprit_thread(const struct culprit_env *env, uint32_t thread, uint32_t tid, bool shared,
		    char *out, size_t size);
/* Return the clause of a cause without a named culprit. */
const char *culprit_clause(enum cause_kind kind);

/* lateness.c: the parts of a lateness. */

/*
 * Split the lateness of @l relative to @ref. @instructions: the counter that separates more work
 * from slower work, or MODEL_NONE. Return false if the time of one of them is not accounted for.
 */
bool lateness_parts(uint32_t instructions, const struct model_member *l,
		    const struct model_member *ref, struct cause_parts *p);
/* Return the sum of the positive parts. */
double lateness_positive(const int64_t *parts);
/* Return the largest positive part other than @but; CAUSE_NONE if there is none. */
enum cause_kind lateness_largest(const int64_t *parts, enum cause_kind but);

/* blame.c: a site over all its episodes. All zero at first. */
struct kind_state;

struct blame {
	uint64_t episodes;
	int64_t parts[CAUSE_KINDS];
	int64_t lateness_ns;
	double weight[CAUSE_KINDS]; /* lost time, by the shares of its causes */
	double noise_ns; /* lost time of episodes without a named cause */
	double thread_ns; /* phase time x members */
	uint64_t dominated[CAUSE_KINDS];
	struct kind_state *kinds[CAUSE_KINDS];
};

/*
 * Add an episode. @lost: sum of waits. @thread_ns: phase time x members. @dominant CAUSE_NONE:
 * noise.
 */
void blame_add(struct blame *s, const struct cause_parts *p, enum cause_kind dominant, double lost,
	       double thread_ns);
/* Charge @lost of the lost time to @q. Return 0 or -ENOMEM. */
int blame_culprit(struct blame *s, const struct culprit_env *env, const struct culprit *q,
		  double lost);
/* Fill @out, which is zeroed. Return 0 or -ENOMEM. */
int blame_out(const struct blame *s, const struct cause_env *env,
	      const struct report_env *report_env, struct arena *a, struct report_cause *out);
void blame_free(struct blame *s);
/*
 * Add @from to @to, without its stacks: the process that they belong to is folded. Return 0 or
 * -ENOMEM.
 */
int blame_join(struct blame *to, const struct blame *from);

/* cause_text.c: text of causes of episodes and of sites. */

/* A stack, and the process that it belongs to. */
struct stack_ref {
	uint64_t stack;
	uint32_t tgid, inc;
};

/* A second cause is reported from this share of the positive parts on. */
#define CAUSE_SECOND 0.2
/*
 * A lateness below this share of a phase is noise; a site below this share of its time is balanced.
 */
#define CAUSE_LITTLE VERDICT_LITTLE

/* Return whole per cent; 0 for NAN. */
int text_percent(double share);
void text_time(int64_t ns, char out[32]);
/* Set the parts that are not 0, largest first. */
void cause_set_parts(const int64_t *parts, struct report_cause *out);
/* End the sentence in @out, with the second cause if there is one and it fits. */
void cause_end_text(struct report_cause *out, double share, const char *clause);
/* Set the frames of the stack, which @a owns. Return 0 or -ENOMEM. */
int cause_set_frames(struct arena *a, const struct cause_env *env,
		     const struct report_env *report_env, const struct stack_ref *ref,
		     struct report_cause *out);

/*
 * Sort the threads that crossed a barrier by process: those of process i are (*order)[(*start)[i]]
 * up to (*order)[(*start)[i + 1] - 1]. @a owns both arrays. Return 0 or -ENOMEM.
 */
int threads_by_process(struct arena *a, const struct model *model,
		       const struct model_thread *threads, uint32_t **start, uint32_t **order);

/*
 * findings.c: fill @out->findings from the model, the causes and the rest of @out. Return 0 or
 * -ENOMEM.
 */
int findings_build(struct arena *a, const struct model *model, const struct report_env *env,
		   const struct model_thread *threads, struct report *out);

/* name.c: return the name of a family ("pthread"); "unknown". */
const char *report_family(const struct report_env *env, uint8_t family);

/*
 * detached.c: set until when this barrier was traced, and when others of its process were detached.
 */
void detached_barrier(const struct model_proc *p, const struct model_barrier *barrier,
		      struct report_barrier *out);
/* Set detached_* and sheds of @out. Return 0 or -ENOMEM. */
int detached_process(struct arena *arena, const struct report_env *env, const struct model_proc *p,
		     struct report_process *out);

/* time_parts.c: convert the model's sums. */
struct report_parts parts_of(const struct model_sums *s);
/* Return the number of counters that a report has. */
uint32_t parts_counters_n(const struct report_env *env);
/* Return parts_counters_n() counters; NULL if there are none, or with *err set to -ENOMEM. */
struct report_counter *counters_of(struct arena *a, const struct report_env *env,
				   const struct model_sums *s, int *err);

/* verdict.c */
void verdict_barrier(struct report_barrier *b);
/* Return true if most of the lost time is known to be due to late threads that have more work. */
bool verdict_by_work(const struct report_barrier *b);
/* Shares of the waits of a process; NAN if it has none. */
struct verdict_shares {
	double top; /* at the barrier where it loses most */
	double work; /* where the late threads have more work */
	double fixed; /* at barriers of REPORT_STATIC: the same threads are late each time */
};

/*
 * If tracing costs the process more than it loses at its barriers, or most of its time, no figure
 * is reliable: replace @advice by advice on that cost.
 */
void verdict_costs(const struct report_process *p, char *advice, size_t size);
/* Add the share that @b has of @wait_ns. */
void verdict_share(struct verdict_shares *shares, const struct report_barrier *b, uint64_t wait_ns);
/* Write the verdict of a process. @top: the barrier where it loses most; NULL: none. */
void verdict_process(struct report_process *p, const struct report_barrier *top,
		     const struct verdict_shares *shares);

#endif /* ANALYSE_INTERNAL_H */
