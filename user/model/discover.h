/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Which of the objects that threads wait on are barriers: pure, by behaviour alone.
 *
 * A round is what one waking of all (pthread_cond_broadcast, FUTEX_WAKE) ends: its members are those who waited over
 * that moment, and the waker, who came last. An object is a barrier once three rounds in a row
 * - had the same three or more members, whoever of them woke the others;
 * - had each of them once, the waker not among those who waited, nobody woken by anything else;
 * - and all waits and the waking were called from one function, told by where it is declared, or the waking from an end that
 *   compilers made of the equal ends of several, one of which is that of its wait. Where nothing tells which functions were
 *   inlined there, the wakers must have differed too, or several small functions do the same. For a futex, where wrappers hide the function, that alone will do, and each
 *   must have woken as many as waited.
 * - The waits on a futex must not all have expected the same value: a barrier's word is another each time, or counts. A
 *   lock's is not, and where unlocking wakes all, those who fight for it look like threads that meet.
 * What a barrier's calls are in is a barrier: another object that is waited on and woken at the same two places needs no
 * rounds of its own.
 *
 * The start of a thread pool, queues, events, read-write locks and joins fail for the function (who waits there
 * never wakes there), for members that differ from round to round, for one thread being woken, or for a waker that waited
 * itself. Known errors: threads that pass a turn around in one function, all of them waiting for it, are taken for a
 * barrier, and so are locks on a futex that give out tickets. Not found are barriers of two threads (two that hand something over do the same: candidates only), those used
 * fewer than three times at places seen nowhere else, those that wake their threads one by one, those whose waits are in
 * a function of their own (but the C++ library's), futexes on which some only spin, and those whose word is set back in each round
 * before anybody waits again. Of the two last but one it is told
 * that there may be such (split, alone): the same three or more threads in three rounds in a row, not always woken by the
 * same; and waits of two or more threads that nobody's waking of all ended. They are not taken for barriers: a lock that
 * is written by hand, whose unlocking wakes all who want it, does the former, and a queue the latter.
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
	DISCOVER_OTHER, /* it broke the rule too often */
};

/* discover_record.flags */
#define DISCOVER_FUTEX 0x01 /* else a condition variable */
#define DISCOVER_WAKE  0x02 /* woke others, at arrive_ns; else waited up to depart_ns */
#define DISCOVER_AGAIN 0x04 /* a futex that had another value already: came, and did not wait */
#define DISCOVER_OVER  0x08 /* the time that it was given was over: more of the wait may follow */
/*
 * A condition variable. Some keep count of the waits that have begun there: by it is known what nobody saw, as in a process
 * that had just begun and had no probes yet.
 */
#define DISCOVER_COUNT 0x10 /* `value` is that count, from before this record */
#define DISCOVER_KNOWN 0x20 /* written of what was known to be a barrier: without a count */
#define DISCOVER_OLDER 0x40 /* the object may be older than what was traced */
#define DISCOVER_BLIND 0x80 /* the process ran for a while before its waits were seen */

#define DISCOVER_INNERMOST UINT32_MAX /* discover_ops.line */

/* A candidate, in the order of depart_ns. */
struct discover_record {
	uint64_t cookie; /* the caller's: larger each time */
	uint32_t tgid, inc, tid;
	uint32_t flags;
	uint32_t wakes; /* how many it wakes at most */
	uint32_t site; /* the call: opaque, the same number for the same place */
	uint64_t object; /* address in the process */
	uint64_t shared; /* 0, or names the memory that processes share */
	uint32_t value; /* what the futex was waited for to change from; DISCOVER_COUNT */
	uint64_t arrive_ns, depart_ns;
};

/* What is known of one object. */
struct discover_object {
	uint32_t tgid, inc; /* of the process that was seen there first */
	bool futex;
	uint64_t object, shared;
	enum discover_verdict verdict;
	uint32_t members; /* of the last round that kept the rule */
	uint64_t rounds; /* such, that were not taken for a barrier's */
	uint64_t untold; /* of those: given up, though the object turned out to be a barrier */
	uint32_t wait_site, wake_site;
	uint32_t
		split; /* rounds in a row of the same threads, woken from another function by one or another of them */
	uint32_t led; /* the same, but always woken by the same one */
	uint32_t uneven; /* rounds in one function that had other members than the one before */
	uint32_t most; /* members of any of them */
	uint32_t
		batches; /* of waits that nobody's waking of all ended: began before the first ended, and all ended before the next */
	uint32_t loose; /* such waits that came one by one, as at a lock or a queue */
	bool was_barrier; /* DISCOVER_OTHER: it had been classified as a barrier before */
	bool one_waker; /* it kept the rule, but the same thread woke the others each time */
	bool echo; /* woken twice in each meeting, the second time when all have left */
	uint64_t
		echo_ns; /* for how long threads waited for the second time, on average; 0: not longer than leaving takes */
	uint32_t
		alone; /* condition variables: threads that waited, where nobody ever woke all; a few at most */
};

/* What is missing at barriers on condition variables, though no record was lost. */
struct discover_unseen {
	uint64_t waits; /* that nobody saw begin, or of which nobody saw who ended them */
	uint32_t
		uncounted; /* barriers of processes that were not seen at first, and which keep no count that can be read */
	uint64_t
		given_up; /* waits and wakings dropped at objects that are, or had been classified as, barriers, or may be */
};

/* How a thread met the others. */
struct discover_member {
	uint64_t arrive_ns, depart_ns;
	bool merged;
	/*
	 * How many met when it was found out; 0 not known. Of futexes alone: a thread that saw the value change before it
	 * would have slept leaves no trace, so that some of a meeting may be missing.
	 */
	uint32_t team;
};

struct discover_ops {
	void *ctx;
	/*
	 * The function that a call is in: the same number for the same, its cold part too; 0 not known. Not *exact: others
	 * may have been inlined there.
	 */
	uint64_t (*function)(void *ctx, uint32_t site, bool *exact);
	/* The function that all others were inlined into; 0 not known. Optional. */
	uint64_t (*outer)(void *ctx, uint32_t site);
	/*
	 * The line of the source that a call is on: at @depth 0 of the function that all others were inlined into, at 1 of the
	 * one that was inlined there, and so on; of the innermost one at DISCOVER_INNERMOST. The same number for the same line;
	 * 0 not known, or there is no such function. Optional.
	 */
	uint64_t (*line)(void *ctx, uint32_t site, uint32_t depth);
	/*
	 * Does the function that both calls are in hold little else, or were both inlined from one line? It then is likely a
	 * barrier, not a program's phase. Optional: yes.
	 */
	bool (*compact)(void *ctx, uint32_t wait_site, uint32_t wake_site);
	/*
	 * The record is of a meeting. member->merged: its wait was in several parts, as by spurious wake-ups, of which
	 * this is the last.
	 */
	void (*take)(void *ctx, uint64_t cookie, const struct discover_member *member);
	/* The record is of none. */
	void (*drop)(void *ctx, uint64_t cookie);
	/* The verdict has changed: to DISCOVER_OPEN when another process comes to what was taken for nothing. Optional. */
	void (*classified)(void *ctx, const struct discover_object *object);
};

/* NULL: out of memory. */
struct discover *discover_new(const struct discover_ops *ops);
void discover_free(struct discover *d);

/*
 * Every record is taken or dropped once: by this call, a later one, or discover_finish(). Returns 0 or -ENOMEM; then
 * it was dropped. *id: of its object, for what follows; 0 if the record was decided at once.
 */
int discover_add(struct discover *d, const struct discover_record *r, uint64_t *id);
/* So far: of a barrier it is known some rounds after it was found, or when its process has ended. */
struct discover_unseen discover_unseen(const struct discover *d);
/* Are waits of this process among these, or barriers that are not counted? */
bool discover_waited_unseen(const struct discover *d, uint32_t tgid, uint32_t inc);
/* Is anything known of this object, which processes do not share? */
bool discover_has(const struct discover *d, uint32_t tgid, uint32_t inc, uint64_t object);
/* How many have been seen to meet there: 0 if there was no more than a waking that nobody waited for. */
uint32_t discover_team(const struct discover *d, uint64_t id);
/* What is held of this object is dropped: it cannot be waited for. */
void discover_give_up(struct discover *d, uint64_t id);
enum discover_hope {
	DISCOVER_HOPE_NONE,
	DISCOVER_HOPE_SOME, /* rounds of three or more threads that keep the rule so far */
	DISCOVER_HOPE_BARRIER, /* one is known */
};

/* Whether some condition variable of the process is a barrier, as far as is known. */
enum discover_hope discover_hope(const struct discover *d, uint32_t tgid, uint32_t inc);
/* Its condition variables are not looked at for a while: nothing is held of them, and what was no barrier is looked at again then. */
void discover_pause(struct discover *d, uint32_t tgid, uint32_t inc);
/* The process has ended: its objects are forgotten, what was held of them dropped. */
void discover_end_process(struct discover *d, uint32_t tgid, uint32_t inc);
/* The same of its futexes, or of its condition variables. */
void discover_end_kind(struct discover *d, uint32_t tgid, uint32_t inc, bool futex);
/* Drops whatever is held. */
void discover_finish(struct discover *d);
/* Objects that kept the rule for a while but are no barrier, and barriers with rounds untold. */
void discover_each(const struct discover *d,
		   void (*each)(void *ctx, const struct discover_object *object), void *ctx);

#endif /* MODEL_DISCOVER_H */
