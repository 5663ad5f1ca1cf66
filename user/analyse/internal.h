/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of this room share. Nobody else but its tests includes it. */
#ifndef ANALYSE_INTERNAL_H
#define ANALYSE_INTERNAL_H

#include <stddef.h>

#include "base/hash.h"
#include "base/text.h"
#include "analyse/cause.h"
#include "analyse/conceptual.h"
#include "analyse/openmp.h"
#include "analyse/report.h"

/* Fewer complete episodes than this are no ground for a verdict. */
#define VERDICT_FEW    8
/* A loss below this share is called balanced. */
#define VERDICT_LITTLE 0.05

struct arena;

/* arena.c: all of a report's memory, released at once; zeroed. NULL when out of memory. */
struct arena *arena_new(void);
void arena_free(struct arena *a);
void *arena_alloc(struct arena *a, size_t size);
char *arena_string(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* name.c */
struct name_table {
	uint32_t n;
	uint32_t *ids; /* by barrier: the number in its id */
};

int name_ids(struct arena *a, const struct model *m, const struct report_env *env, uint32_t n,
	     struct name_table *out);
int name_barrier(struct arena *a, const struct model *m, const struct report_env *env, uint32_t id,
		 uint32_t index, struct report_barrier *out);
/* Puts @src, made printable, into dst[size]; cut between characters, with "..." then. */
void name_copy(char *dst, size_t size, const char *src);
/*
 * The same of a function's name; one of more than @limit bytes loses what a reader can do without: return type, parameters
 * and what its templates are made with ("std::__detail::__wait<>()").
 */
void name_function(char *dst, size_t size, const char *function, size_t limit);
/* Ends the text that fills dst[size], of 8 and more, in "...", behind a word if one ends in its second half. Returns its length. */
size_t name_cut(char *dst, size_t size);
/* Writes on where the string in dst[size], of 8 and more, ends; cut like that. */
void name_append(char *dst, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A call site's facts, copied; all unknown if nothing is known of it. Returns 0 or -ENOMEM. */
int name_callsite(struct arena *a, const struct report_env *env, uint32_t site,
		  struct report_callsite *out);

/* tasks.c */
/* Of a process that runs tasks: bounds in place of its efficiencies. @spent: of its threads. */
void tasks_process(struct report_process *p, const struct model_sums *spent);
/* Of a barrier of OpenMP's in such a process, with its verdict. */
void tasks_barrier(struct report_barrier *b);
/* Of what is summed over its barriers. */
void tasks_forget(struct report *report);

/* efficiency.c */
struct efficiency_sums {
	uint64_t n;
	uint64_t sum_ns, max_ns; /* of u_i */
	uint64_t ideal_ns, elapsed_ns;
};

/* Of time outside barriers what is work: less the waits for a turn (REPORT_UNKNOWN: of which nothing is known). */
uint64_t efficiency_useful(uint64_t outside_ns, uint64_t turn_ns, uint64_t begin_ns);
struct report_efficiency efficiency_of(const struct efficiency_sums *s);
void efficiency_losses(const struct report_efficiency *e, double *lost_static,
		       double *lost_rotating, double *lost_transfer);
/* What the threads at one position did up to a barrier, and how often they arrived there. */
struct efficiency_work {
	uint64_t ns, n;
};

/*
 * Set *load_balance and *serialisation of a barrier from the work of its threads. @position: by a thread's index, threads that
 * follow each other have the same. @scratch: one for each position, zeroed, and left so.
 */
void efficiency_barrier(const struct model_barrier *b, const uint32_t *position,
			struct efficiency_work *scratch, double *load_balance,
			double *serialisation);

/* positions.c: the same where threads do not live throughout. */

/* Set the position of each thread: the lowest that is free when it begins. Returns 0 or -ENOMEM. */
int positions_assign(struct report_thread *threads, uint32_t n, uint32_t *positions);
/* Set @out from threads that have their positions. @sums: n and max_ns are not used. Returns 0 or -ENOMEM. */
int positions_efficiency(const struct report_thread *threads, uint32_t n, uint32_t positions,
			 const struct efficiency_sums *sums, struct report_efficiency *out);
/* Set @sums' n and max_ns to those of positions. Returns 0 or -ENOMEM. */
int positions_sums(const struct report_thread *threads, uint32_t n, uint32_t positions,
		   struct efficiency_sums *sums);

/* Of the time outside barriers of which it is known, the share on a CPU; NAN if it is of none. */
double efficiency_oncpu(const struct model_sums *s);

/* Times summed over the threads of an OpenMP program, outside of which nothing is (all in ns). */
struct efficiency_omp {
	uint64_t useful_ns; /* in outlined functions and in the serial parts' one thread */
	uint64_t
		imbalance_ns; /* waiting for others: at the end of worksharing, or at barriers that are none of OpenMP's */
	uint64_t scheduling_ns; /* in the run-time system, dealing out work */
	/* From the call that begins a region until its workers' first instructions in it; MODEL_UNKNOWN: in the next. */
	uint64_t start_ns;
	uint64_t serialisation_ns; /* idle while one thread runs a serial part, or not made yet */
	uint64_t turns_ns; /* waiting for its turn: one thread after another */
};

/* Of 1 each; NAN where there is nothing to divide by. */
struct efficiency_omp_ratios {
	double load_balance, scheduling;
	double start; /* NAN: what it takes is not known, and is in serialisation */
	double serialisation;
	double turns;
	double parallel; /* the product of those that are known: useful time over all */
};

/*
 * TALP's efficiencies for OpenMP (DLB, perf_metrics.c), and two more: of what the team's start takes, which TALP has in
 * the serialisation, and of waits for a turn, which TALP takes for useful. Losses are peeled off in this order: scheduling,
 * imbalance, start, serialisation, turns.
 */
struct efficiency_omp_ratios efficiency_openmp(const struct efficiency_omp *t);

/*
 * openmp.c: the same of the process at index @proc, of the threads of_proc[@n], which are indices of @threads, the
 * model's. What they add up to is the time in @elapsed_ns of the @at_once threads that there are at one time at most, so that the
 * product of the efficiencies is PE: it counts from the start of the process, or of tracing. False: it has no teams, or too little of them is known for a figure.
 */
bool openmp_times(const struct openmp *openmp, uint32_t proc, const struct model_thread *threads,
		  const uint32_t *of_proc, uint32_t n, uint32_t at_once, uint64_t elapsed_ns,
		  struct efficiency_omp *out);

/*
 * conceptual.c: fills @out's conceptual phases. @procs, @threads: the model's as they are at the end of the report, by
 * index; @position: by a thread's index, threads that follow each other have the same. Returns 0 or -ENOMEM.
 */
int conceptual_report(const struct conceptual *conceptual, const struct report_env *env,
		      const struct model_proc *procs, const struct model_thread *threads,
		      const uint32_t *position, struct arena *arena, struct report *out);

/*
 * group.c: fills @out's groups, and says of their processes that they meet others; when its processes and barriers
 * are there, in order. Returns 0 or -ENOMEM.
 */
int groups_build(struct arena *a, const struct model *model, const struct model_proc *procs,
		 const struct model_thread *threads, struct report *out);

/* report.c: sorted by index, is each of them known by a number of its own, as MPI's ranks are? */
bool report_ranked(const struct report_thread *threads, uint32_t n);
/* The quantity's figures; of none all are unknown. *err is set to -ENOMEM if need be. */
struct report_times report_times(struct arena *a, const struct model_stat *s, int *err);

/* delay.c: delay costs. */
struct delay;

struct delay *delay_new(void);
void delay_free(struct delay *d);
/* Takes in one episode, in the order in which the model hands them out. Returns 0 or -ENOMEM. */
int delay_episode(struct delay *d, const struct model_episode *ep);
/* What is known of the barrier @from goes to @into; @from is another one from now on. Returns 0 or -ENOMEM. */
int delay_fold(struct delay *d, uint32_t from, uint32_t into);
/* What began in phases that end at @barrier; REPORT_UNKNOWN if nothing is known of it. */
void delay_of(const struct delay *d, uint32_t barrier, uint64_t *direct_ns, uint64_t *passed_ns);
/* Waits of complete episodes that could not be charged: with all direct and passed ones all waits. */
uint64_t delay_unknown(const struct delay *d);

/* cause.c */

/* The parts of one lateness; they add up to lateness_ns. */
struct cause_parts {
	int64_t ns[CAUSE_KINDS];
	int64_t lateness_ns;
};

/* What episodes prove of a process (findings.c). Times and counts are sums. */
struct cause_proc {
	uint64_t episodes; /* complete, and accounted for */
	uint64_t
		spun_episodes; /* whose last thread waited for a CPU while others spun in the barrier */
	uint64_t spun_ns; /* the lesser of the two in each */
	uint64_t node_moves; /* a thread's CPU changed to one of another NUMA node */
	uint64_t first_ns, last_ns; /* releases */
};

/* Of a CPU, in phases during which one thread had it without a switch. */
struct cause_cpu {
	uint64_t cycles, oncpu_ns, phases;
};

/* Over all its episodes so far. Strings and frames are put into @a. Returns 0 or -ENOMEM. */
int causes_site(const struct causes *causes, uint32_t barrier, struct arena *a,
		struct report_cause *out);
/* The same of any blame that was filled by causes_episode(). */
int causes_blame(const struct causes *causes, const struct blame *blame, struct arena *a,
		 struct report_cause *out);
/* NULL: nothing is known of it. */
const struct delay *causes_delay(const struct causes *causes);
const struct cause_proc *causes_proc(const struct causes *causes, uint32_t proc);
const struct cause_cpu *causes_cpu(const struct causes *causes, uint32_t cpu);
uint32_t causes_ncpus(const struct causes *causes);
/* The only CPU that the thread with this index may run on; MODEL_NONE: several, or not known. */
uint32_t causes_pinned(const struct causes *causes, uint32_t thread, uint32_t tid);

/* culprit.c: who or what made a thread late. */

#define CULPRIT_WHO	256
#define CULPRIT_CLAUSE	448
#define CULPRIT_TALLY	8
#define CULPRIT_DIDS	8
/* Bytes of what a thread is called. */
#define CULPRIT_DID_WHO 68

/* Told apart by keys, put into words only when somebody reads them. */
struct culprit {
	enum cause_kind kind;
	uint64_t key; /* who exactly; 0: nobody is known */
	uint64_t
		named; /* what was waited for, and all threads of a name that ended such waits. 0: none */
	uint64_t coarse; /* of a kind: the lock, whoever held it; all tasks of a name. 0: none */
	uint32_t proc, tgid, inc;
	bool shared; /* the barrier is shared by processes: numbers of threads say nothing */
	bool began; /* CAUSE_RELEASED_LATE: it had not been at any barrier before */
	bool elsewhere; /* the same: it was at another meeting than the reference was */
	uint64_t did,
		did_named; /* whom the thread that was waited for itself waited for: one, or all of a name; 0: none */
	uint32_t ran; /* who had the CPU; 0 unknown */
	bool among; /* ... but for less than half of that time */
	uint32_t awaited; /* CAUSE_RELEASED_LATE: for whom it waited there */
	uint64_t fault_addr;
	struct model_block block; /* ns 0: none of this kind */
};

/* Two facts in one key. */
static inline uint64_t culprit_key(uint64_t a, uint64_t b)
{
	return hash_mix(a ^ hash_mix(b + 1));
}

/* What a thread waited for at a futex, as far as the word and the stack tell. */
enum culprit_waited {
	WAITED_LOCK, /* or not known to be anything else */
	WAITED_JOIN, /* a thread's end */
	WAITED_SEMAPHORE,
	WAITED_CONDITION,
	WAITED_EVENT, /* one of those two */
	WAITED_BARRIER, /* one that is not traced */
	WAITED_VALUE, /* a futex of the program's own, std::atomic */
	WAITED_ELSEWHERE, /* CAUSE_RELEASED_LATE: until another meeting ended */
	WAITED_THREAD, /* of this process, or of another one that is traced: CAUSE_IO; or it is not known what for */
};

/* How closely a culprit is described. */
enum culprit_level {
	CULPRIT_EXACT,
	CULPRIT_NAMED, /* by the names of threads, for those that are made anew have other numbers */
	CULPRIT_COARSE,
	CULPRIT_LEVELS
};

/* Words about a culprit, printable. */
struct culprit_words {
	uint8_t waited; /* enum culprit_waited; CAUSE_LOCK, CAUSE_IO, CAUSE_RELEASED_LATE */
	uint8_t doing; /* what the thread that was waited for did most of the time; enum model_doing */
	bool tells; /* the advice depends on that */
	char who[CULPRIT_WHO]; /* "" unknown */
	char did_who[CULPRIT_DID_WHO]; /* whom that thread itself waited for; "" unknown, or none */
	char clause[CULPRIT_CLAUSE]; /* after "because", without what that thread did */
};

/* One of the things that the thread that was waited for did, over several episodes. */
struct culprit_did {
	uint64_t key; /* of whom it waited for: all of a name */
	uint32_t tid; /* the first of these */
	bool several; /* there were others of that name */
	uint64_t ns; /* of lost time; 0: the place is free */
	uint64_t worded_ns; /* that, when `who` was written; 0: it is to be written */
	uint64_t episodes;
	uint8_t doing; /* enum model_doing */
	bool among; /* it waited for others, too */
	char who[CULPRIT_DID_WHO]; /* "": not known */
};

struct culprit_dids {
	struct culprit_did one[CULPRIT_DIDS];
};

/*
 * Who accounts for most of a sum, in little memory (Misra and Gries 1982, with weights): whoever has more than
 * a ninth of it is there, and what is said of anybody is never more than the truth.
 */
struct tally {
	uint64_t key[CULPRIT_TALLY];
	uint64_t ns[CULPRIT_TALLY];
};

/* The place that now stands for @key, or -1. *fresh: it stood for another before. */
int tally_add(struct tally *t, uint64_t key, uint64_t ns, bool *fresh);
/* The place with the most, or -1. */
int tally_top(const struct tally *t);

/* Who is looked up by the late thread's process: its threads that cross barriers go by their numbers. */
struct culprit_env {
	const struct model *model;
	const struct cause_env *env;
	const struct report_env *report_env;
	const struct hash *by_tid; /* process << 32 | tid -> index */
};

/* What the thread that @b waited for did for at least half of the time. */
enum model_doing culprit_doing(const struct model_block *b);
void culprit_words(const struct culprit_env *env, const struct culprit *c, enum culprit_level level,
		   struct culprit_words *out);
/* Append "was asleep", which is what the thread that was waited for did. @who: whom it waited for; "": not known. */
void culprit_say_did(uint8_t doing, const char *who, bool among, char *out, size_t size);
/* The place for @from's kind among them, with its time and episodes added; NULL: there is none. */
struct culprit_did *dids_add(struct culprit_dids *dids, const struct culprit_did *from);
/* Append ", which was asleep in 9 episodes (48 %) and was on a CPU in 8 (43 %)". @all_ns: of the culprit. */
void dids_say(const struct culprit_dids *dids, uint64_t all_ns, char *out, size_t size);
/* What it did for most of the time; MODEL_DOING_UNKNOWN: nothing in particular. */
uint8_t dids_most(const struct culprit_dids *dids, uint64_t all_ns);
/* How a thread is called: by number within its process, or by tid. */
void culprit_thread(const struct culprit_env *env, uint32_t thread, uint32_t tid, bool shared,
		    char *out, size_t size);
/* The clause when nobody in particular is to be named. */
const char *culprit_clause(enum cause_kind kind);

/* lateness.c: the parts of a lateness. */

/*
 * Of @l against @ref. @instructions: the counter that tells more work from slower work, or MODEL_NONE. False: of
 * one of them it is not known where its time went.
 */
bool lateness_parts(uint32_t instructions, const struct model_member *l,
		    const struct model_member *ref, struct cause_parts *p);
/* The sum of those that are positive. */
double lateness_positive(const int64_t *parts);
/* The largest positive one that is not @but; CAUSE_NONE if there is none. */
enum cause_kind lateness_largest(const int64_t *parts, enum cause_kind but);

/* blame.c: a site over all its episodes; all zero at first. */
struct kind_state;

struct blame {
	uint64_t episodes;
	int64_t parts[CAUSE_KINDS];
	int64_t lateness_ns;
	double weight[CAUSE_KINDS]; /* lost time, by the shares of its causes */
	double noise_ns; /* lost time of episodes of which no cause is named */
	double thread_ns; /* phase time x members */
	uint64_t dominated[CAUSE_KINDS];
	struct kind_state *kinds[CAUSE_KINDS];
};

/* @lost: sum of waits; @thread_ns: phase time x members. @dominant CAUSE_NONE: the lateness is noise. */
void blame_add(struct blame *s, const struct cause_parts *p, enum cause_kind dominant, double lost,
	       double thread_ns);
/* @q accounts for @lost of it. Returns 0 or -ENOMEM. */
int blame_culprit(struct blame *s, const struct culprit_env *env, const struct culprit *q,
		  double lost);
/* Fills @out, which is zeroed. Returns 0 or -ENOMEM. */
int blame_out(const struct blame *s, const struct cause_env *env,
	      const struct report_env *report_env, struct arena *a, struct report_cause *out);
void blame_free(struct blame *s);
/* What is known of @from goes into @to as well; the stacks do not, which are of a process that is kept no more. 0 or -ENOMEM. */
int blame_join(struct blame *to, const struct blame *from);

/* say.c: what both sentences are made with. */

/* A stack, and the process that it is of. */
struct stack_ref {
	uint64_t stack;
	uint32_t tgid, inc;
};

/* A second cause is said too from this share of the positive parts. */
#define CAUSE_SECOND 0.2
/* Below this share of a phase a lateness is noise, and below it of all its time a site is balanced. */
#define CAUSE_LITTLE VERDICT_LITTLE

/* Whole per cent; 0 of NaN. */
int say_percent(double share);
void say_time(int64_t ns, char out[32]);
/* Those that are not 0, largest first. */
void say_parts(const int64_t *parts, struct report_cause *out);
/* Ends the sentence in @out, with the second cause if there is one and room for it. */
void say_second(struct report_cause *out, double share, const char *clause);
/* The stack's frames, in @a. Returns 0 or -ENOMEM. */
int say_frames(struct arena *a, const struct cause_env *env, const struct report_env *report_env,
	       const struct stack_ref *ref, struct report_cause *out);

/*
 * The threads that crossed a barrier, one process after the other: those of process i are (*order)[(*start)[i]] up to
 * (*start)[i + 1]. The arena's. Returns 0 or -ENOMEM.
 */
int threads_by_process(struct arena *a, const struct model *model,
		       const struct model_thread *threads, uint32_t **start, uint32_t **order);

/* findings.c: fills @out->findings from the model, the causes and what is already in @out. 0 or -ENOMEM. */
int findings_build(struct arena *a, const struct model *model, const struct report_env *env,
		   const struct model_thread *threads, struct report *out);

/* name.c: "pthread"; "unknown". */
const char *report_family(const struct report_env *env, uint8_t family);

/* shed.c: up to when all of a process, some of its barriers, or this one of it was traced. */
void detached_barrier(const struct model_proc *p, const struct model_barrier *barrier,
		      struct report_barrier *out);
/* out->shed* and out->sheds. Returns 0 or -ENOMEM. */
int detached_process(struct arena *arena, const struct report_env *env, const struct model_proc *p,
		     struct report_process *out);

/* parts.c: the model's sums as the report has them. */
struct report_parts parts_of(const struct model_sums *s);
/* How many counters a report shows. */
uint32_t parts_counters_n(const struct report_env *env);
/* parts_counters_n() of them. NULL if there are none, or with *err set to -ENOMEM. */
struct report_counter *counters_of(struct arena *a, const struct report_env *env,
				   const struct model_sums *s, int *err);

/* verdict.c */
void verdict_barrier(struct report_barrier *b);
/* Are they late there, as far as most of the lost time goes, because they have more to do? Else it is not known, or not so. */
bool verdict_by_work(const struct report_barrier *b);
/* Of a process's waiting, the share that is; NAN if there is none. */
struct verdict_shares {
	double top; /* where it loses most */
	double work; /* where the late ones have more to do */
	double fixed; /* at barriers of REPORT_STATIC: where the same threads are late each time */
};

/*
 * Where tracing costs the process more than what is lost at its barriers, or most of its time, no figure is a ground to act on:
 * replace @advice by one about that cost.
 */
void verdict_costs(const struct report_process *p, char *advice, size_t size);
/* Adds what @b has of @wait_ns. */
void verdict_share(struct verdict_shares *shares, const struct report_barrier *b, uint64_t wait_ns);
/* @top: where the process loses most; NULL: nowhere. */
void verdict_process(struct report_process *p, const struct report_barrier *top,
		     const struct verdict_shares *shares);

#endif /* ANALYSE_INTERNAL_H */
