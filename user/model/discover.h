/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find out which of the objects that threads wait on are barriers. Pure: decided by behaviour
 * alone.
 *
 * A round ends with one waking of all waiters (pthread_cond_broadcast, FUTEX_WAKE). Its members are
 * the threads that were waiting at that moment, and the waker, which arrived last. An object is a
 * barrier once three rounds in a row meet these conditions:
 * - They had the same three or more members, whichever of them woke the others.
 * - Each member took part once, the waker did not wait, and nothing else woke a member.
 * - All waits and the waking were called from one function, which is identified by where it is
 *   declared. The waking may also be in code that compilers have merged from the equal ends of
 *   several functions, one of which contains the wait. If it is not known which functions were
 *   inlined there, the wakers must have differed, too, or several small functions must do the same.
 *   For a futex, wrappers may hide the function, so different wakers are enough, and each
 *   must have woken as many threads as waited.
 * - The waits on a futex did not all expect the same value. A barrier's word changes in each round,
 *   or counts. A lock's word does not, and if unlocking wakes all waiters, threads that compete for
 *   it look like threads that meet.
 * An object that is waited on and woken at the same two call sites as a known barrier needs no
 * rounds of its own.
 *
 * The start of a thread pool, queues, events, read-write locks and joins fail for one of these
 * reasons: the thread that waits in a function never wakes there, the members differ from round to
 * round, only one thread is woken, or the waker has waited itself.
 *
 * Known errors: threads that pass a turn around in one function, and all wait for it, are taken for
 * a barrier. So are locks on a futex that give out tickets. Not found are:
 * - barriers of two threads: two threads that hand something over do the same (a candidate only)
 * - barriers that are used fewer than three times, at call sites seen nowhere else
 * - barriers that wake their threads one by one (reported as possible: `alone`)
 * - barriers with waits in a function of their own, except the C++ library's (reported as
 *   possible: `split`)
 * - futexes on which some threads only spin
 * - futexes with a word that is reset in each round before a thread waits again
 * Possible ones are not taken for barriers, because other programs behave in the same way: a
 * hand-written lock that wakes all waiters (`split`), or a queue (`alone`).
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
	DISCOVER_OTHER, /* it broke the rule too often: no barrier */
};

/* discover_record.flags */
#define DISCOVER_FUTEX 0x01 /* else a condition variable */
#define DISCOVER_WAKE  0x02 /* woke other threads at arrive_ns; else waited until depart_ns */
#define DISCOVER_AGAIN 0x04 /* a futex that already had another value: the thread did not wait */
#define DISCOVER_OVER  0x08 /* the wait timed out: more of it may follow */
/*
 * For condition variables. Some of them count the waits that have begun there. That count reveals
 * waits that were not seen, for example in a process that had just begun and had no probes yet.
 */
#define DISCOVER_COUNT 0x10 /* `value` is that count, before this record */
#define DISCOVER_KNOWN 0x20 /* the kernel side knew that it is a barrier: there is no count */
#define DISCOVER_OLDER 0x40 /* the object may have been used before tracing began */
#define DISCOVER_BLIND 0x80 /* the process ran for a while before its waits were seen */

#define DISCOVER_INNERMOST UINT32_MAX /* discover_ops.line */

/* A wait or a waking at a candidate, in the order of depart_ns. */
struct discover_record {
	uint64_t cookie; /* the caller's: larger each time */
	uint32_t tgid, inc, tid;
	uint32_t flags;
	uint32_t wakes; /* maximum number of threads that it wakes */
	uint32_t site; /* call site: an opaque number, the same for the same call */
	uint64_t object; /* address in the process */
	uint64_t shared; /* identifies memory that processes share; 0: not shared */
	uint32_t value; /* the futex value that the wait expected; or the count of DISCOVER_COUNT */
	uint64_t arrive_ns, depart_ns;
};

/* What is known of one object. */
struct discover_object {
	uint32_t tgid, inc; /* the first process that was seen there */
	bool futex;
	uint64_t object, shared;
	enum discover_verdict verdict;
	uint32_t members; /* of the last round that kept the rule */
	uint64_t rounds; /* rounds that kept the rule but were not reported as a barrier's */
	uint64_t untold; /* of these: dropped, although the object turned out to be a barrier */
	uint32_t wait_site, wake_site;
	/* Rounds in a row of the same threads, woken from another function, by varying members. */
	uint32_t split;
	uint32_t led; /* the same, but always woken by the same member */
	uint32_t uneven; /* rounds in one function with other members than the round before */
	uint32_t most; /* the largest number of members of such a round */
	/*
	 * Waits that no waking of all ended, in groups: all waits of a group began before the first
	 * of them ended, and all ended before the next group began. Number of groups.
	 */
	uint32_t batches;
	uint32_t loose; /* such waits that came one by one, as at a lock or a queue */
	bool was_barrier; /* DISCOVER_OTHER: it had been classified as a barrier before */
	bool one_waker; /* it kept the rule, but the same thread woke the others each time */
	bool echo; /* threads are woken twice in each episode, the second time when all have left */
	/* Mean time that threads waited for the second waking; 0: no longer than leaving takes. */
	uint64_t echo_ns;
	/*
	 * Condition variables: threads that waited although no thread ever woke all; a few at most.
	 */
	uint32_t alone;
};

/* What is missing at barriers on condition variables, although no record was lost. */
struct discover_unseen {
	uint64_t waits; /* waits with a beginning or a waker that was not seen */
	/* Barriers of processes that were not seen at first and that keep no readable count. */
	uint32_t uncounted;
	/*
	 * Waits and wakings dropped at objects that are barriers, may be, or were classified as
	 * such.
	 */
	uint64_t given_up;
};

/* One thread's part in an episode. */
struct discover_member {
	uint64_t arrive_ns, depart_ns;
	bool merged;
	/*
	 * Futexes: how many threads met when the barrier was recognised; 0: not known. A thread
	 * that saw the value change before it would have slept leaves no trace, so members may be
	 * missing.
	 */
	uint32_t team;
};

struct discover_ops {
	void *ctx;
	/*
	 * Return the function that contains the call: the same number for the same function,
	 * including its cold part; 0: not known. *exact false: functions may have been inlined
	 * there.
	 */
	uint64_t (*function)(void *ctx, uint32_t site, bool *exact);
	/* Return the function into which all others were inlined; 0: not known. Optional. */
	uint64_t (*outer)(void *ctx, uint32_t site);
	/*
	 * Return the source line of the call. @depth 0: in the outermost function; 1: in the
	 * function that was inlined there; and so on. DISCOVER_INNERMOST: in the innermost
	 * function. The same number for the same line; 0: not known, or no function at that depth.
	 * Optional.
	 */
	uint64_t (*line)(void *ctx, uint32_t site, uint32_t depth);
	/*
	 * Return whether the function that contains both calls holds little else, or both were
	 * inlined from one line. It is then likely to be a barrier, not a program's phase.
	 * Optional: without it, true.
	 */
	bool (*compact)(void *ctx, uint32_t wait_site, uint32_t wake_site);
	/*
	 * The record belongs to an episode. member->merged: its wait had several parts, for example
	 * because of spurious wake-ups, of which this is the last.
	 */
	void (*take)(void *ctx, uint64_t cookie, const struct discover_member *member);
	/* The record belongs to no episode. */
	void (*drop)(void *ctx, uint64_t cookie);
	/*
	 * The verdict has changed. It changes back to DISCOVER_OPEN when another process uses an
	 * object that was classified as no barrier. Optional.
	 */
	void (*classified)(void *ctx, const struct discover_object *object);
};

/* Return a new instance, or NULL when out of memory. */
struct discover *discover_new(const struct discover_ops *ops);
void discover_free(struct discover *d);

/*
 * Add a record. Each record is taken or dropped exactly once: by this call, a later one, or
 * discover_finish(). *id: identifies its object for the functions below; 0 if the record was
 * decided at once. Return 0, or -ENOMEM; the record was then dropped.
 */
int discover_add(struct discover *d, const struct discover_record *r, uint64_t *id);
/*
 * Return what is missing so far. For a barrier this is known some rounds after it was found, or
 * when its process has ended.
 */
struct discover_unseen discover_unseen(const struct discover *d);
/*
 * Return whether discover_unseen() includes waits of this process, or its barriers without a count.
 */
bool discover_waited_unseen(const struct discover *d, uint32_t tgid, uint32_t inc);
/* Return whether this object, which processes do not share, is known. */
bool discover_has(const struct discover *d, uint32_t tgid, uint32_t inc, uint64_t object);
/* Return how many threads have met there; 0 if there were only wakings without waiters. */
uint32_t discover_team(const struct discover *d, uint64_t id);
/* Drop the pending records of this object: there is no more time to wait for its verdict. */
void discover_give_up(struct discover *d, uint64_t id);
/* Whether a process may have a barrier. */
enum discover_hope {
	DISCOVER_HOPE_NONE,
	DISCOVER_HOPE_SOME, /* rounds of three or more threads that keep the rule so far */
	DISCOVER_HOPE_BARRIER, /* one is known */
};

/* Return whether some condition variable of the process is a barrier, as far as is known. */
enum discover_hope discover_hope(const struct discover *d, uint32_t tgid, uint32_t inc);
/*
 * Note that the condition variables of a process are not observed for a while. Drop their pending
 * records; objects that were no barriers are examined anew afterwards.
 */
void discover_pause(struct discover *d, uint32_t tgid, uint32_t inc);
/* Forget the objects of a process that has ended, and drop their pending records. */
void discover_end_process(struct discover *d, uint32_t tgid, uint32_t inc);
/* Do the same for its futexes only, or for its condition variables only. */
void discover_end_kind(struct discover *d, uint32_t tgid, uint32_t inc, bool futex);
/* Drop all pending records. */
void discover_finish(struct discover *d);
/*
 * Call @each for objects that kept the rule for a while but are no barriers, and for barriers with
 * dropped rounds.
 */
void discover_each(const struct discover *d,
		   void (*each)(void *ctx, const struct discover_object *object), void *ctx);

#endif /* MODEL_DISCOVER_H */
