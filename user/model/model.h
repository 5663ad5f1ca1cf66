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

#define MODEL_UNKNOWN UINT64_MAX /* a time that is not known: never shown as 0 */
#define MODEL_NONE    UINT32_MAX /* no such index */

struct model;

/* --- what goes in ---------------------------------------------------------------------------- */

/* model_crossing.flags */
#define MODEL_CROSSING_ABANDONED    0x01 /* depart_ns is MODEL_UNKNOWN: it never returned */
#define MODEL_CROSSING_BEGUN_BEFORE 0x02 /* reserved for sources that can see such members */

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
	uint8_t flags;
	uint8_t depth; /* > 0: nested; kept apart, enters no sum */
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
/* Standard deviation of the population; 0 for fewer than two values. */
double model_stat_stddev(const struct model_stat *s);

/* --- what is kept ------------------------------------------------------------------------------ */

struct model_thread {
	uint32_t tid;
	uint32_t proc; /* index of its process */
	uint32_t
		ordinal; /* within the process, by creation among those first shown together; MODEL_NONE: not yet */
	uint64_t start_ns; /* its creation, or the start of tracing */
	uint64_t
		end_ns; /* its exit; MODEL_UNKNOWN while alive; the end of tracing after model_finish() */
	bool start_seen; /* created while tracing */
	bool exited;
	char comm[16]; /* "" unknown; untrusted */

	uint64_t crossings; /* depth 0, seen */
	uint64_t lost; /* crossings known to be missing, by gaps in seq */
	uint64_t abandoned;
	uint64_t outside_ns; /* u_i: time outside barriers, phase 0 and tail included */
	uint64_t
		unknown_ns; /* time of which it is not known (a record was lost, an unseen departure) */
	uint64_t idle_ns; /* inside barriers */
	uint64_t wait_ns;
	uint64_t last; /* how often it came last to an episode */
	uint64_t
		ideal_ns; /* its place on the longest path, after model_finish(): see model_proc.ideal_ns */

	uint64_t depart_ns; /* last departure; MODEL_UNKNOWN if none or unseen */
	uint64_t release_ns; /* release of the last episode it was in; MODEL_UNKNOWN if none */
	uint32_t barrier; /* that episode's barrier; MODEL_NONE if none */
	uint64_t pending_ns; /* arrived and not left when tracing ended; MODEL_UNKNOWN if not */
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
	uint64_t idle_ns;
	uint64_t work_ns; /* of phases that ended here */
	uint64_t work_n; /* how many of them were known */
	uint64_t last;
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
	uint8_t family;
	bool shared; /* members from several processes */
	bool nested; /* depth > 0: in no sum of the process */
	bool has_user; /* ops.barrier was called */
	uint32_t nsites; /* 1, or more for mixed: the sorted set of its call sites */
	const uint32_t *sites;
	uint64_t object; /* the last one seen */
	uint32_t objects; /* how many different ones (1, 2 = two or more) */
	uint32_t flags; /* the caller's own: watched, named; set in ops.barrier */

	uint64_t episodes; /* complete */
	uint64_t incomplete;
	uint64_t ambiguous;
	uint64_t crossings;
	uint32_t team_min, team_max; /* members of complete episodes */
	struct model_stat phase; /* phase time */
	struct model_stat barrier; /* barrier time */
	struct model_stat wait; /* one value a member: sum is the lost time */
	struct model_stat release; /* release latency, one value a member */
	uint64_t max_work_ns; /* sum over episodes of the longest work: sum_k max_i w_ik */
	uint64_t margin_ns; /* sum over episodes: last arrival - the one before */
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
	uint8_t flags; /* MODEL_CROSSING_* */
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

struct model_proc {
	uint32_t tgid;
	uint32_t inc;
	uint32_t parent; /* index, or MODEL_NONE */
	char comm[16]; /* untrusted */
	uint64_t start_ns; /* of its first thread, or of tracing */
	uint64_t end_ns;
	bool start_seen;
	bool exited;
	uint64_t crossings; /* all depths */
	uint64_t lost;
	uint64_t abandoned;
	uint64_t episodes; /* complete, depth 0 */
	uint64_t incomplete;
	uint64_t ambiguous;
	uint32_t nthreads_crossed; /* n: threads that crossed a barrier */
	/*
	 * Threads that ended so long ago that only their sums are kept (there are too many). They are in
	 * nthreads_crossed but not in the list of threads; at a barrier they share one entry, whose
	 * thread is MODEL_NONE.
	 */
	struct {
		uint64_t threads, crossings, last;
		uint64_t outside_ns, outside_max_ns, idle_ns, wait_ns, unknown_ns;
	} folded;
	/*
	 * T and T_ideal of the efficiencies, after model_finish(): from the first start to the last end of the threads
	 * that crossed a barrier; and the longest path through their intervals outside barriers,
	 * each meeting joining its members at the last arrival at no cost. A thread's path begins at
	 * its start, counted from the first start.
	 */
	uint64_t elapsed_ns;
	uint64_t ideal_ns;
};

struct model_totals {
	uint64_t crossings; /* fed */
	uint64_t episodes; /* complete, all processes, depth 0 */
	uint64_t incomplete;
	uint64_t ambiguous;
	uint64_t lost; /* known missing by gaps in seq */
	uint64_t abandoned;
};

/* --- interface ------------------------------------------------------------------------------------ */

struct model_ops {
	void *ctx;
	/* A barrier was seen for the first time: the caller may set barrier->flags. Optional. */
	void (*barrier)(void *ctx, const struct model *model, uint32_t index,
			struct model_barrier *barrier);
	/* An episode is finished (complete or not). Optional. */
	void (*episode)(void *ctx, const struct model *model, const struct model_episode *episode);
};

/* @start_ns: when tracing began. Returns NULL when out of memory. */
struct model *model_new(const struct model_ops *ops, uint64_t start_ns);
void model_free(struct model *model);

/* All return 0 or -ENOMEM; after an error nothing but looking and model_free() makes sense. */
int model_add_crossing(struct model *model, const struct model_crossing *crossing);
/* A process known from @t_ns on; @seen: created then, else merely found. @comm may be NULL. */
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
int model_name_thread(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		      const char *comm);
/* @tid arrived at @arrive_ns and had not left when tracing ended; before model_finish(). */
int model_add_pending(struct model *model, uint32_t tgid, uint32_t inc, uint32_t tid,
		      uint64_t object, uint64_t arrive_ns);
/* All records that departed before @t_ns have been fed: what can be decided is decided. */
int model_advance(struct model *model, uint64_t t_ns);
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

const struct model_totals *model_totals(const struct model *model);
uint64_t model_start(const struct model *model);
uint32_t model_nprocs(const struct model *model);
const struct model_proc *model_proc(const struct model *model, uint32_t index);
/* Some places may be empty: their proc is MODEL_NONE. */
uint32_t model_nthreads(const struct model *model);
const struct model_thread *model_thread(const struct model *model, uint32_t index);
uint32_t model_nbarriers(const struct model *model);
const struct model_barrier *model_barrier(const struct model *model, uint32_t index);

#endif /* MODEL_MODEL_H */
