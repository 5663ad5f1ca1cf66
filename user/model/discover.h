/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the barriers among the objects that threads wait on. Only the recorded behaviour of the
 * threads decides.
 *
 * A round ends with one waking of all waiters (pthread_cond_broadcast, FUTEX_WAKE). Its members are
 * the threads that were waiting at that moment, and the waker, which arrived last. An object is a
 * barrier once three rounds in a row meet these conditions:
 * - They had the same three or more members, and any member woke the others.
 * - Each member took part once, the waker did not wait, and nothing else woke a member.
 * - All waits and the waking were called from one function, which is identified by its declaration.
 *   The waking may also be in code that compilers have merged from the equal ends of several
 *   functions, one of which contains the wait. If it is not known which functions were inlined
 *   there, one more condition applies: the rounds had different wakers, or several small functions
 *   both wait and wake. For a futex, wrappers may hide the function, so different wakers are
 *   enough, and each must have woken as many threads as waited.
 * - The waits on a futex did not all expect the same value. A barrier's word changes in each round,
 *   or counts. A lock's word does not change. If unlocking wakes all waiters, threads that compete
 *   for the lock look like members of an episode.
 * An object with the same two call sites for waits and wakings as a known barrier is a barrier even
 * without such rounds. If its first rounds have only some of that barrier's members, it is
 * undecided until three rounds had the same members, or until its records must be decided: the
 * other members may have spun, and then there is no record of them.
 *
 * The start of a thread pool, queues, events, read-write locks and joins are not taken for
 * barriers, for one of these reasons: the thread that waits in a function never wakes there, the
 * members differ from round to round, only one thread is woken, or the waker has waited itself.
 *
 * Known errors: threads that pass a turn around in one function, and all wait for their turn, are
 * classified as a barrier. A ticket lock on a futex is classified as a barrier, too. The following
 * barriers are not found:
 * - barriers of two threads, because two threads that hand over data behave in the same way (a
 *   candidate only)
 * - barriers that are used fewer than three times, at call sites seen nowhere else
 * - barriers that wake their threads one by one (reported as possible: `alone`)
 * - barriers with waits in a function of their own, except the C++ library's (reported as possible:
 *   `split`)
 * - futexes on which some threads only spin
 * - futexes with a word that is reset in each round before a thread waits again
 * Possible barriers are not classified as barriers, because other programs behave in the same way:
 * a hand-written lock that wakes all waiters (`split`), or a queue (`alone`).
 */
#ifndef MODEL_DISCOVER_H
#define MODEL_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct discover;

enum discover_verdict {
	DISCOVER_OPEN,
	DISCOVER_BARRIER,
	DISCOVER_OTHER, /* the object broke the rule too often and is not a barrier */
};

/* discover_record.flags */
#define DISCOVER_FUTEX 0x01 /* the object is a futex; if not set, a condition variable */
/* the thread woke other threads at arrive_ns; if not set, it waited until depart_ns */
#define DISCOVER_WAKE  0x02
#define DISCOVER_AGAIN 0x04 /* the futex already had another value, so the thread did not wait */
#define DISCOVER_OVER  0x08 /* the wait timed out; the thread may wait again */
/*
 * For condition variables. Some implementations count the waits that have begun. This count reveals
 * waits that were not seen, for example in a process that had just begun and had no probes yet.
 */
#define DISCOVER_COUNT 0x10 /* `earlier_waits` is known */
/* the kernel side knew that the object is a barrier, so there is no count */
#define DISCOVER_KNOWN 0x20
#define DISCOVER_OLDER 0x40 /* the object may have been used before tracing began */
#define DISCOVER_BLIND 0x80 /* the process ran for some time before its waits were seen */
/* a thread that was woken waits for a lock before it finds out why, so it may be slow */
#define DISCOVER_SLOW  0x100

#define DISCOVER_INNERMOST UINT32_MAX /* @depth of discover_ops.line: the innermost function */

/* A wait or a waking at a candidate. Records are added in the order of depart_ns. */
struct discover_record {
	uint64_t cookie; /* chosen by the caller; increases with each record */
	uint32_t tgid, inc, tid;
	uint32_t flags;
	uint32_t wakes; /* only for a waking: maximum number of threads that it wakes */
	uint32_t site; /* call site: an opaque number, equal for the same call */
	uint64_t object; /* address in the process */
	uint64_t shared; /* identifies memory that processes share; 0 if not shared */
	union {
		uint32_t expected; /* futex: the value that the wait expected */
		uint32_t earlier_waits; /* condition variable: number of waits that began before */
		uint32_t value; /* to copy `expected` or `earlier_waits`, whichever is valid */
	};
	/*
	 * Condition variables, for a wait: hash of what the waiting functions hold in registers and
	 * on the stack. If a thread waits again in the same call, it is the same. 0: unknown.
	 */
	uint32_t held;
	uint64_t arrive_ns, depart_ns;
};

/* What is known about one object. */
struct discover_object {
	uint32_t tgid, inc; /* the first process that was seen at the object */
	bool futex;
	uint64_t object, shared;
	enum discover_verdict verdict;
	/* number of members of the last round that was counted in `rounds`, `split` or `led` */
	uint32_t members;
	/* number of rounds that kept the rule but were not reported as episodes of a barrier */
	uint64_t rounds;
	/* number of rounds that were dropped although the object turned out to be a barrier */
	uint64_t unreported;
	uint32_t wait_site, wake_site;
	/*
	 * Number of consecutive rounds of the same threads in which the waking was in a different
	 * function from the waits, and the waker changed.
	 */
	uint32_t split;
	uint32_t led; /* like `split`, but the same member always woke the others */
	/*
	 * number of rounds with waits and waking in one function, but with different members from
	 * the previous round
	 */
	uint32_t uneven;
	/* the largest number of members of a round with waits and waking in one function */
	uint32_t most;
	/*
	 * Number of groups of waits that no waking of all threads ended. All waits of a group began
	 * before the first of them ended, and all ended before the next group began.
	 */
	uint32_t batches;
	/*
	 * number of waits that no waking of all threads ended, outside of the groups of `batches`,
	 * as at a lock or a queue
	 */
	uint32_t loose;
	bool was_barrier; /* DISCOVER_OTHER: the object had been classified as a barrier before */
	/* the object kept the rule, but the same thread woke the others each time */
	bool one_waker;
	/* threads are woken twice in each episode, the second time when all threads have left */
	bool echo;
	/*
	 * Mean time (ns) that threads waited for the second waking. 0: they waited no longer than
	 * threads take to leave.
	 */
	uint64_t echo_ns;
	/*
	 * Condition variables on which no thread ever woke all waiters: number of threads that
	 * waited, counted only up to 8.
	 */
	uint32_t alone;
};

/*
 * Numbers of records that are missing at barriers on condition variables, because the waits were
 * not seen.
 */
struct discover_unseen {
	uint64_t waits; /* number of waits for which the beginning or the waking was not seen */
	/*
	 * Number of barriers without a readable count, in processes that ran before they had
	 * probes.
	 */
	uint32_t uncounted;
	/*
	 * Number of waits and wakings that were dropped at barriers, at objects that may be
	 * barriers, and at objects that were once classified as barriers.
	 */
	uint64_t given_up;
};

/* How the thread of a record takes part in an episode. */
struct discover_member {
	uint64_t arrive_ns, depart_ns;
	bool merged;
	/*
	 * Futexes: the largest number of threads that were seen to cross together, or 0 if not
	 * known. A thread that saw the value change before it slept leaves no record, so members
	 * may be missing.
	 */
	uint32_t team;
};

struct discover_ops {
	void *ctx;
	/*
	 * Return the function that contains the call, as the same number for the same function,
	 * including its cold part. Return 0 if the function is not known. If *exact is false, other
	 * functions may have been inlined there.
	 */
	uint64_t (*function)(void *ctx, uint32_t site, bool *exact);
	/*
	 * Return the outermost function at the call, into which the other functions were inlined,
	 * or 0 if not known. Optional.
	 */
	uint64_t (*outer)(void *ctx, uint32_t site);
	/*
	 * Return the source line of the call. @depth is 0 for the outermost function, 1 for the
	 * function that was inlined into it, and so on, or DISCOVER_INNERMOST for the innermost
	 * function. Equal numbers mean the same line. Return 0 if the line is not known, or if
	 * there is no function at that depth. Optional.
	 */
	uint64_t (*line)(void *ctx, uint32_t site, uint32_t depth);
	/*
	 * Return whether the function that contains both calls has little other code, or both calls
	 * were inlined from one line. If so, the function is more likely to be a barrier than a
	 * phase of the program. Optional: without this callback the result is true.
	 */
	bool (*compact)(void *ctx, uint32_t wait_site, uint32_t wake_site);
	/*
	 * The record belongs to an episode. member->merged: its wait had several parts, for example
	 * because of spurious wake-ups, and this record is the last part.
	 */
	void (*take)(void *ctx, uint64_t cookie, const struct discover_member *member);
	/* The record belongs to no episode. */
	void (*drop)(void *ctx, uint64_t cookie);
	/*
	 * The verdict has changed. If an object was found not to be a barrier, the verdict returns
	 * to DISCOVER_OPEN when another process uses the object, or after a pause
	 * (discover_pause()). Optional.
	 */
	void (*classified)(void *ctx, const struct discover_object *object);
};

/* Return a new instance, or NULL when out of memory. */
struct discover *discover_new(const struct discover_ops *ops);
void discover_free(struct discover *d);

/*
 * Add a record. Each record is taken or dropped exactly once: by this call, a later call, or
 * discover_finish(). *id identifies its object for the functions below, or is 0 if the record was
 * decided at once. Return 0, or -ENOMEM; the record was then dropped.
 */
int discover_add(struct discover *d, const struct discover_record *r, uint64_t *id);
/*
 * Return the number of records that are missing so far. The number for a barrier becomes known some
 * rounds after the barrier was found, or when its process has ended.
 */
struct discover_unseen discover_unseen(const struct discover *d);
/*
 * Return whether discover_unseen() includes waits of this process, or its barriers without a count.
 */
bool discover_waited_unseen(const struct discover *d, uint32_t tgid, uint32_t inc);
/*
 * Return whether this condition variable is known. Those that processes share are not found by this
 * function.
 */
bool discover_has(const struct discover *d, uint32_t tgid, uint32_t inc, uint64_t object);
/*
 * Return the number of threads that have crossed at the object, or 0 if there were only wakings
 * without waiters.
 */
uint32_t discover_team(const struct discover *d, uint64_t id);
/*
 * Drop the pending records of this object, because its verdict would come too late. At a known
 * barrier on a condition variable, end the current round instead.
 */
void discover_give_up(struct discover *d, uint64_t id);
/* How likely it is that a process has a barrier on a condition variable. */
enum discover_hope {
	DISCOVER_HOPE_NONE,
	DISCOVER_HOPE_SOME, /* rounds of three or more threads that keep the rule so far */
	DISCOVER_HOPE_BARRIER, /* a barrier is known */
};

/* Return whether a condition variable of the process is a barrier, or may be one. */
enum discover_hope discover_hope(const struct discover *d, uint32_t tgid, uint32_t inc);
/*
 * Note that the condition variables of a process are not observed for a while. Drop their pending
 * records. After the pause, objects that were found not to be barriers are examined again.
 */
void discover_pause(struct discover *d, uint32_t tgid, uint32_t inc);
/* Forget the objects of a process that has ended, and drop their pending records. */
void discover_end_process(struct discover *d, uint32_t tgid, uint32_t inc);
/*
 * Forget only the futexes of a process, or only its condition variables, and drop their pending
 * records.
 */
void discover_end_kind(struct discover *d, uint32_t tgid, uint32_t inc, bool futex);
/* Drop all pending records. */
void discover_finish(struct discover *d);
/*
 * Call @each for objects that kept the rule for some rounds but are not barriers, and for barriers
 * with dropped rounds.
 */
void discover_each(const struct discover *d,
		   void (*each)(void *ctx, const struct discover_object *object), void *ctx);

#endif /* MODEL_DISCOVER_H */
