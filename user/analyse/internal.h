/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Shared only by the files of this directory and their tests. */
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
/* A barrier or process that loses a smaller share of its thread time than this is balanced. */
#define VERDICT_LITTLE 0.05

struct arena;

/*
 * arena.c: the memory of a report. Allocations are zeroed, and arena_free() frees all of them at
 * once. Functions that return a pointer return NULL when out of memory.
 */
struct arena *arena_new(void);
void arena_free(struct arena *a);
void *arena_alloc(struct arena *a, size_t size);
char *arena_string(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* name.c */
struct name_table {
	uint32_t n;
	/* indexed by barrier: the number in its id; 0 in the entry of a folded barrier */
	uint32_t *ids;
};

int name_ids(struct arena *a, const struct model *m, const struct report_env *env, uint32_t n,
	     struct name_table *out);
int name_barrier(struct arena *a, const struct model *m, const struct report_env *env, uint32_t id,
		 uint32_t index, struct report_barrier *out);
/* Return @h with @s hashed into it; NULL counts as "". */
uint64_t name_hash(uint64_t h, const char *s);
/* Return a copy of @s that @a owns; NULL for NULL, or with *err set to -ENOMEM. */
const char *name_keep(struct arena *a, const char *s, int *err);
/*
 * Copy @src to dst[size], made printable. A longer string is cut between characters and ends in
 * "...".
 */
void name_copy(char *dst, size_t size, const char *src);
/*
 * Like name_copy(), for a function's name. A name of more than @limit bytes is shortened: return
 * type, parameters and template arguments are omitted ("std::__detail::__wait<>()").
 */
void name_function(char *dst, size_t size, const char *function, size_t limit);
/*
 * Replace the end of the text in dst[size] (at least 8 bytes, all in use) by "...". If the last
 * complete word ends in the second half of the text, cut after this word. Return the new length.
 */
size_t name_cut(char *dst, size_t size);
/*
 * Append to the string in dst[size] (at least 8 bytes). If the result does not fit, cut it as
 * name_cut() does.
 */
void name_append(char *dst, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Copy the facts of a call site. If the call site is unknown, all facts are unknown. Return 0 or
 * -ENOMEM.
 */
int name_callsite(struct arena *a, const struct report_env *env, uint32_t site,
		  struct report_callsite *out);

/* same_name.c */
/*
 * Append to equal labels of barriers of one process what distinguishes the barriers. Return 0 or
 * -ENOMEM.
 */
int name_tell_apart(struct report_barrier *barriers, uint32_t n);

/* Values of structs in which all figures are unknown. */
#define EFFICIENCY_UNKNOWN ((struct report_efficiency){ NAN, NAN, NAN, NAN, NAN })
#define TIMES_UNKNOWN \
	((struct report_times){ 0, REPORT_UNKNOWN, REPORT_UNKNOWN, REPORT_UNKNOWN, NAN, NAN, NULL })

/* tasks.c */
/*
 * Replace the efficiencies of a process that runs OpenMP tasks by bounds. @spent holds the sums
 * over its threads.
 */
void tasks_process(struct report_process *p, const struct model_sums *spent);
/*
 * For an OpenMP barrier in a process that runs tasks, replace the verdict and the figures that are
 * based on lost time.
 */
void tasks_barrier(struct report_barrier *b);
/*
 * In processes that run tasks, mark the figures that are sums over barriers as unknown, including
 * the figures of conceptual phases.
 */
void tasks_forget(struct report *report);

/* efficiency.c */
struct efficiency_sums {
	uint64_t n;
	/* sum and maximum of the threads' useful times (efficiency_useful()) */
	uint64_t sum_ns, max_ns;
	uint64_t ideal_ns, elapsed_ns;
};

/*
 * Return the part of the time outside barriers that is work. Waits for a turn or for a team are not
 * work. They are subtracted if they are known.
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
 * Set *load_balance and *serialisation of a barrier from the work of its threads. @position is
 * indexed by thread; threads that run one after another share a position. @scratch has one entry
 * for each position. All entries are zero before and after the call.
 */
void efficiency_barrier(const struct model_barrier *b, const uint32_t *position,
			struct efficiency_work *scratch, double *load_balance,
			double *serialisation);

/* positions.c: efficiencies of threads that live for only a part of the run. */

/*
 * Set the position of each thread to the lowest position that is free when the thread begins.
 * Return 0 or -ENOMEM.
 */
int positions_assign(struct report_thread *threads, uint32_t n, uint32_t *positions);
/*
 * Set @out to the efficiencies of threads that have positions. n and max_ns of @sums are not used.
 * Return 0 or -ENOMEM.
 */
int positions_efficiency(const struct report_thread *threads, uint32_t n, uint32_t positions,
			 const struct efficiency_sums *sums, struct report_efficiency *out);
/*
 * Set n of @sums to the number of positions, and max_ns to the longest useful time at one position.
 * Return 0 or -ENOMEM.
 */
int positions_sums(const struct report_thread *threads, uint32_t n, uint32_t positions,
		   struct efficiency_sums *sums);

/*
 * Return the share of the accounted time outside barriers that was on a CPU, or NAN if there is no
 * such time.
 */
double efficiency_oncpu(const struct model_sums *s);

/*
 * Times in ns, summed over the threads of an OpenMP program. They add up to all of its thread time.
 */
struct efficiency_omp {
	/* time in the code of parallel regions, and of the single running thread in serial parts */
	uint64_t useful_ns;
	/* waits for other threads, at the end of worksharing or at barriers outside OpenMP */
	uint64_t imbalance_ns;
	uint64_t scheduling_ns; /* time in the runtime, which distributes the work */
	/*
	 * time from the call that begins a region to the workers' first instructions; if this is
	 * MODEL_UNKNOWN, serialisation_ns includes the time
	 */
	uint64_t start_ns;
	/*
	 * time in which threads are idle because one thread runs a serial part, or in which they do
	 * not exist yet
	 */
	uint64_t serialisation_ns;
	uint64_t turns_ns; /* waits for a turn (`critical`, `ordered`, locks) */
};

/* Ratios of at most 1, or NAN if the divisor is 0. */
struct efficiency_omp_ratios {
	double load_balance, scheduling;
	double start; /* NAN if unknown; the loss at the start is then in `serialisation` */
	double serialisation;
	double turns;
	double parallel; /* useful time over all time, which is the product of the known ratios */
};

/*
 * Return TALP's efficiencies for OpenMP (DLB, perf_metrics.c) and two more. One is for the start of
 * teams, which TALP counts as serialisation. The other is for waits for a turn, which TALP counts
 * as useful. Losses are subtracted in this order: scheduling, imbalance, start, serialisation,
 * turns.
 */
struct efficiency_omp_ratios efficiency_openmp(const struct efficiency_omp *t);

/*
 * openmp.c: set @out to the times of process @proc. of_proc[@n] holds the indices of its threads in
 * @threads. The sum of the times is @elapsed_ns x @at_once. @at_once is the largest number of
 * threads that existed at the same time. The times count from the start of the process or of
 * tracing, so that the product of the efficiencies is the parallel efficiency. Return false if
 * there are no teams or if too little is known.
 */
bool openmp_times(const struct openmp *openmp, uint32_t proc, const struct model_thread *threads,
		  const uint32_t *of_proc, uint32_t n, uint32_t at_once, uint64_t elapsed_ns,
		  struct efficiency_omp *out);

/*
 * conceptual.c: fill the conceptual phases of @out. @procs and @threads hold the model's state at
 * the end of the report, in the order of the model's indices. @position is the same as for
 * efficiency_barrier(). Return 0 or -ENOMEM.
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
/* Return true if all threads have distinct MPI ranks. @threads is sorted by index. */
bool report_ranked(const struct report_thread *threads, uint32_t n);
/*
 * Return the statistics of a quantity. If it has no values, all of them are unknown. Set *err to
 * -ENOMEM on failure.
 */
struct report_times report_times(struct arena *a, const struct model_stat *s, int *err);

/* delay.c: delay costs. */
struct delay;
struct places_words;

struct delay *delay_new(void);
void delay_free(struct delay *d);
/* Add an episode, in the order of model_ops.episode. Return 0 or -ENOMEM. */
int delay_episode(struct delay *d, const struct model_episode *ep);
/* Fold barrier @from into @into. The index @from is then free. Return 0 or -ENOMEM. */
int delay_fold(struct delay *d, uint32_t from, uint32_t into);
/*
 * Set *direct_ns and *passed_ns to the waits that began in phases that end at @barrier (see
 * report_barrier.delay_direct_ns). If nothing is known, set both to REPORT_UNKNOWN.
 */
void delay_of(const struct delay *d, uint32_t barrier, uint64_t *direct_ns, uint64_t *passed_ns);

/* cause.c */

/* The parts of one lateness. Their sum is lateness_ns. */
struct cause_parts {
	int64_t ns[CAUSE_KINDS];
	int64_t lateness_ns;
};

/* Sums over the episodes of a process, for findings.c. */
struct cause_proc {
	uint64_t episodes; /* number of complete episodes that are not nested */
	/*
	 * Number of these episodes in which the last thread waited for a CPU before it arrived, and
	 * other threads spun in the barrier.
	 */
	uint64_t spun_episodes;
	/*
	 * sum over these episodes, ns; for each of them, the shorter of two times: the spinning of
	 * all other threads, and the last thread's wait for a CPU
	 */
	uint64_t spun_ns;
	uint64_t samples; /* samples of its threads on a CPU */
	uint64_t node_moves; /* moves of threads to a CPU of another NUMA node */
	uint64_t first_ns, last_ns; /* first and last release */
};

/* Sums over phases that ran on one CPU without a context switch. */
struct cause_cpu {
	uint64_t cycles, oncpu_ns, phases;
};

/*
 * Set the cause of a barrier over all its episodes. @where is from places_words(), or NULL. @a
 * owns strings and frames. Return 0 or -ENOMEM.
 */
int causes_site(const struct causes *causes, uint32_t barrier, struct arena *a,
		const struct places_words *where, struct report_cause *out);
/* Like causes_site() without a place, for any blame that causes_episode() filled. */
int causes_blame(const struct causes *causes, const struct blame *blame, struct arena *a,
		 struct report_cause *out);
/*
 * Return the delay costs, the sums of a process or of a CPU (NULL if unknown), or the number of
 * CPUs that have an entry.
 */
const struct delay *causes_delay(const struct causes *causes);
const struct cause_proc *causes_proc(const struct causes *causes, uint32_t proc);
const struct cause_cpu *causes_cpu(const struct causes *causes, uint32_t cpu);
uint32_t causes_ncpus(const struct causes *causes);
/*
 * Return the only CPU on which the thread may run, or MODEL_NONE if there are several, or if
 * unknown.
 */
uint32_t causes_pinned(const struct causes *causes, uint32_t thread, uint32_t tid);

/* culprit.c: the reason why a thread was late. */

#define CULPRIT_NAME	    256
#define CULPRIT_CLAUSE	    448
#define CULPRIT_TALLY	    8
#define CULPRIT_DIDS	    8
/* Bytes of a thread's name. */
#define CULPRIT_THREAD_NAME 68

/* A culprit is identified by keys. Words that describe it are made only when needed. */
struct culprit {
	enum cause_kind kind;
	uint64_t key; /* exact identity; 0 if unknown */
	/*
	 * Key made from the object of the wait and the name of the thread that ended the wait.
	 * Threads with the same name have the same key. 0 if unknown.
	 */
	uint64_t named;
	/*
	 * key of the object (a lock, a file) without the thread that held it or ended the wait, or
	 * key of all tasks with one name; 0 if none
	 */
	uint64_t coarse;
	uint32_t proc, tgid, inc;
	bool shared; /* processes share the barrier, so numbers of threads are ambiguous */
	bool began; /* CAUSE_RELEASED_LATE: the thread had not been at any barrier before */
	/*
	 * CAUSE_RELEASED_LATE: before this episode, the late thread took part in a different
	 * episode than the reference thread (see enum cause_kind)
	 */
	bool elsewhere;
	/*
	 * key of the thread for which the awaited thread itself waited, or of all threads with that
	 * thread's name; 0 if none
	 */
	uint64_t did;
	/* tid of the task that had the CPU for which the thread waited; 0 if unknown */
	uint32_t ran;
	bool among; /* `ran` had the CPU for less than half of the wait */
	/*
	 * CAUSE_RELEASED_LATE: tid of the thread for which the late thread waited in its preceding
	 * episode; 0 if none
	 */
	uint32_t awaited;
	uint64_t fault_addr;
	/* the block that `kind` refers to; its ns is 0 if there is none */
	struct model_block block;
};

/* Return one key for two facts. */
static inline uint64_t culprit_key(uint64_t a, uint64_t b)
{
	return hash_mix(a ^ hash_mix(b + 1));
}

/*
 * What a late thread waited for. For a wait at a futex, this is known only if the futex word or the
 * stack shows it.
 */
enum culprit_waited {
	WAITED_LOCK, /* also if unknown */
	WAITED_JOIN, /* the end of a thread */
	WAITED_SEMAPHORE,
	WAITED_CONDITION,
	WAITED_EVENT, /* a semaphore or a condition variable */
	WAITED_BARRIER, /* an untraced barrier */
	WAITED_VALUE, /* a futex of the program itself, or of std::atomic */
	WAITED_ELSEWHERE, /* CAUSE_RELEASED_LATE: the end of another episode */
	/* a traced thread that ended a wait for I/O, or for a lock with an unknown holder */
	WAITED_THREAD,
};

/* How precisely a culprit is described. */
enum culprit_level {
	CULPRIT_EXACT,
	/*
	 * by the name of the thread that ended the wait: this may be a new thread, with a new
	 * number, in each episode
	 */
	CULPRIT_NAMED,
	CULPRIT_COARSE,
	CULPRIT_LEVELS
};

/* Printable description of a culprit. */
struct culprit_words {
	uint8_t waited; /* enum culprit_waited, for CAUSE_LOCK, CAUSE_IO, CAUSE_RELEASED_LATE */
	uint8_t doing; /* main activity of the awaited thread; enum model_doing */
	bool doing_matters; /* advice depends on `doing` */
	bool has_ends; /* the file connects threads: an unnamed pipe, or a socket */
	char name[CULPRIT_NAME]; /* "" if unknown */
	/* What the awaited thread waited for; "" if unknown or nothing. */
	char awaits[CULPRIT_THREAD_NAME];
	/* text after "because", without the activity of the awaited thread */
	char clause[CULPRIT_CLAUSE];
};

/* One activity of the awaited thread, over several episodes. */
struct culprit_did {
	uint64_t key; /* key of the thread for which the awaited thread waited; see culprit.did */
	uint32_t tid; /* tid of the first thread with this key */
	bool several; /* several threads have this key */
	uint64_t ns; /* lost time, ns; 0 if the entry is free */
	uint64_t worded_ns; /* value of `ns` when awaits was written; 0 if it is not written yet */
	uint64_t episodes;
	uint8_t doing; /* enum model_doing */
	bool among; /* the awaited thread waited for other threads, too */
	char awaits[CULPRIT_THREAD_NAME]; /* what the awaited thread waited for; "" if unknown */
};

struct culprit_dids {
	struct culprit_did one[CULPRIT_DIDS];
};

/*
 * The largest contributors to a sum, in constant memory (Misra and Gries 1982, with weights). Each
 * contributor of more than a ninth of the sum has an entry. No entry exceeds the true value of its
 * contributor.
 */
struct tally {
	uint64_t key[CULPRIT_TALLY];
	uint64_t ns[CULPRIT_TALLY];
};

/*
 * Add to the entry of @key. Return its index, or -1 if @key has no entry. Set *fresh to whether the
 * entry was free or belonged to another key before.
 */
int tally_add(struct tally *t, uint64_t key, uint64_t ns, bool *fresh);
/* Return the index of the largest entry, or -1. */
int tally_top(const struct tally *t);

/*
 * Context of descriptions. Threads of the late thread's process that cross barriers are named by
 * number.
 */
struct culprit_env {
	const struct model *model;
	const struct cause_env *env;
	const struct report_env *report_env;
	const struct hash *by_tid; /* process << 32 | tid -> index */
};

/*
 * Return what the awaited thread did during at least half of the wait @b, or MODEL_DOING_UNKNOWN if
 * no activity lasted that long.
 */
enum model_doing culprit_doing(const struct model_block *b);
/*
 * Return the thread that held the GIL in the wait @b, or 0 if unknown. A thread that gives the GIL
 * away wakes the next one, so the waker held it if no holder is noted.
 */
uint32_t culprit_holder(const struct model_block *b);
void culprit_words(const struct culprit_env *env, const struct culprit *c, enum culprit_level level,
		   struct culprit_words *out);
/*
 * Append the activity of the awaited thread ("was asleep"). @awaits is the thread for which the
 * awaited thread itself waited, or "" if unknown. @among: it waited for other threads, too.
 */
void culprit_append_did(uint8_t doing, const char *awaits, bool among, char *out, size_t size);
/*
 * Add @from's time and episodes to the entry with the same activity and key. Without such an entry,
 * use a free entry, or another entry with the same activity. Return the entry, or NULL if there is
 * none.
 */
struct culprit_did *dids_add(struct culprit_dids *dids, const struct culprit_did *from);
/*
 * Append ", which was asleep in 9 episodes (48 %) and was on a CPU in 8 (43 %)". @all_ns is the
 * culprit's time.
 */
void dids_append(const struct culprit_dids *dids, uint64_t all_ns, char *out, size_t size);
/*
 * Return what the awaited thread did during most of @all_ns, or MODEL_DOING_UNKNOWN if no activity
 * lasted that long.
 */
uint8_t dids_most(const struct culprit_dids *dids, uint64_t all_ns);
/*
 * Write "thread N". N is the thread's number within its process, or its tid if processes share the
 * barrier (@shared) or if the number is unknown.
 */
void culprit_thread(const struct culprit_env *env, uint32_t thread, uint32_t tid, bool shared,
		    char *out, size_t size);
/* Return the clause of a cause without a named culprit. */
const char *culprit_clause(enum cause_kind kind);

/* lateness.c: the parts of a lateness. */

/*
 * Split the lateness of @l relative to @ref. @instructions is the counter that separates more work
 * from slower work, or MODEL_NONE. Return false if the time of either thread is not accounted for.
 */
bool lateness_parts(uint32_t instructions, const struct model_member *l,
		    const struct model_member *ref, struct cause_parts *p);
/* Return the cause of the time that a thread is blocked for a reason (enum model_blocked). */
enum cause_kind lateness_of_reason(unsigned reason);
/* Return the sum of the positive parts. */
double lateness_positive(const int64_t *parts);
/* Return the largest positive part other than @but, or CAUSE_NONE if there is none. */
enum cause_kind lateness_largest(const int64_t *parts, enum cause_kind but);

/* blame.c: return whether the cause is time on a CPU. */
bool cause_is_work(enum cause_kind k);

/* blame.c: the causes of a site, summed over all its episodes. All members are zero initially. */
struct kind_state;

struct blame {
	uint64_t episodes;
	int64_t parts[CAUSE_KINDS];
	int64_t lateness_ns;
	/* lost time, split by the causes' shares of each lateness; indexed by cause */
	double weight[CAUSE_KINDS];
	double noise_ns; /* lost time of episodes without a named cause */
	double thread_ns; /* phase time x members */
	uint64_t dominated[CAUSE_KINDS];
	struct kind_state *kinds[CAUSE_KINDS];
};

/*
 * Add an episode. @lost is the sum of waits. @thread_ns is phase time x members. @dominant is
 * CAUSE_NONE for noise.
 */
void blame_add(struct blame *s, const struct cause_parts *p, enum cause_kind dominant, double lost,
	       double thread_ns);
/* Charge @lost, a part of the lost time, to @q. Return 0 or -ENOMEM. */
int blame_culprit(struct blame *s, const struct culprit_env *env, const struct culprit *q,
		  double lost);
/*
 * Fill @out, which is zeroed before the call. @where is from places_words(), or NULL. Return 0 or
 * -ENOMEM.
 */
int blame_out(const struct blame *s, const struct cause_env *env,
	      const struct report_env *report_env, const struct places_words *where,
	      struct arena *a, struct report_cause *out);
void blame_free(struct blame *s);
/*
 * Add @from to @to, but not @from's stacks, because the process to which they belong is folded.
 * Return 0 or -ENOMEM.
 */
int blame_join(struct blame *to, const struct blame *from);

/* cause_text.c: text of causes of episodes and of sites. */

/* A stack, and the process to which it belongs. */
struct stack_ref {
	uint64_t stack;
	uint32_t tgid, inc;
};

/* A second cause is reported if it has at least this share of the positive parts. */
#define CAUSE_SECOND 0.2
/*
 * A lateness below this share of a phase is noise. A site that loses less than this share of its
 * thread time is balanced.
 */
#define CAUSE_LITTLE VERDICT_LITTLE

/* Return @share in whole per cent, or 0 for NAN. */
int text_percent(double share);
void text_time(int64_t ns, char out[32]);
/* Write the parts that are not 0 to @out, the largest first. */
void cause_set_parts(const int64_t *parts, struct report_cause *out);
/*
 * End the sentence in @out. Before that, add the second cause (@clause) if its @share is at least
 * CAUSE_SECOND and the text fits.
 */
void cause_end_text(struct report_cause *out, double share, const char *clause);
/* Set the frames of the stack, which @a owns. Return 0 or -ENOMEM. */
int cause_set_frames(struct arena *a, const struct cause_env *env,
		     const struct report_env *report_env, const struct stack_ref *ref,
		     struct report_cause *out);

/*
 * Sort the threads that crossed a barrier by process. The threads of process i are
 * (*order)[(*start)[i]] to (*order)[(*start)[i + 1] - 1]. @a owns both arrays. Return 0 or -ENOMEM.
 */
int threads_by_process(struct arena *a, const struct model *model,
		       const struct model_thread *threads, uint32_t **start, uint32_t **order);

/*
 * findings.c: fill @out->findings from the model, the causes and the rest of @out. Return 0 or
 * -ENOMEM.
 */
int findings_build(struct arena *a, const struct model *model, const struct report_env *env,
		   const struct model_thread *threads, struct report *out);

/* name.c: return the name of a family ("pthread"), or "unknown". */
const char *report_family(const struct report_env *env, uint8_t family);

/*
 * detached.c: set the time until which this barrier was traced, and the time when other barriers of
 * its process were detached.
 */
void detached_barrier(const struct model_proc *p, const struct model_barrier *barrier,
		      struct report_barrier *out);
/* Set detached_* and detached_groups of @out. Return 0 or -ENOMEM. */
int detached_process(struct arena *arena, const struct report_env *env, const struct model_proc *p,
		     struct report_process *out);

/* time_parts.c: convert the model's sums. */
struct report_parts parts_of(const struct model_sums *s);
/* Return the number of counters that a report has. */
uint32_t parts_counters_n(const struct report_env *env);
/*
 * Return parts_counters_n() counters, or NULL if there are none. On failure return NULL and set
 * *err to -ENOMEM.
 */
struct report_counter *counters_of(struct arena *a, const struct report_env *env,
				   const struct model_sums *s, int *err);

/* verdict.c */
void verdict_barrier(struct report_barrier *b);
/* Return whether the waits of the barrier's threads differ by no more than chance explains. */
bool verdict_alike(const struct report_barrier *b);
/* Return true if most of the lost time is known to be caused by late threads with more work. */
bool verdict_by_work(const struct report_barrier *b);
/* Shares of a process's waits; NAN if it has no waits. */
struct verdict_shares {
	double top; /* at the barrier with the largest loss of the process */
	double work; /* at barriers where the late threads have more work */
	double fixed; /* at barriers of REPORT_STATIC, where the same threads are late each time */
};

/*
 * Replace @advice by advice on the cost of tracing if this cost makes all figures of the process
 * unreliable: the cost is at least half of the thread time, or at least 5 % of it and no less than
 * the time lost at barriers.
 */
void verdict_costs(const struct report_process *p, char *advice, size_t size);
/* Add @b's lost time, as a share of @wait_ns, to each of the shares that applies to @b. */
void verdict_share(struct verdict_shares *shares, const struct report_barrier *b, uint64_t wait_ns);
/*
 * Write the verdict of a process. @top is the barrier at which the process loses most, or NULL if
 * there is none.
 */
void verdict_process(struct report_process *p, const struct report_barrier *top,
		     const struct verdict_shares *shares);

#endif /* ANALYSE_INTERNAL_H */
