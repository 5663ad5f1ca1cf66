/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Rounds of fork and join: a thread makes others and joins them all. Pure.
 *
 * A batch is what one thread, the creator, makes between joins. It is a round if it is two threads or more, all of them
 * made before the first is joined, and the creator joins those, all of them and no others, before it makes the next.
 * Its members are those threads, which arrive by ending. The creator is a member if it has a part in the work itself: it
 * arrives at its first join and departs from its last.
 *
 * One round is no loop: nearly every program ends so. Rounds are told once two of one process were joined at one call
 * (that of the first join); until then the first waits. A round is not the first of a call if the creator did more between
 * its joins than join: it may use results one by one, and have waited for each of them.
 *
 * A creator may also wait for all of a batch at once, as Rust's thread::scope() does: several times, until all have ended. Then
 * the round is known to be over when the last has ended about when the creator went on, or when the creator does another thing.
 *
 * Left out are rounds in which a thread is made that is not joined (detached, or meant to live longer; the rounds after
 * that one are told), or joined by another than its creator; threads that are joined while others are made, as
 * a pool's may be; and whatever began before it could be seen.
 */
#ifndef MODEL_FORKJOIN_H
#define MODEL_FORKJOIN_H

#include <stdbool.h>
#include <stdint.h>

struct forkjoin;

/* One that was joined. */
struct forkjoin_member {
	uint32_t tid;
	uint32_t seq; /* as told at its end */
	uint32_t cpu;
	uint64_t arrive_ns; /* its end; or when it had been joined, if its end was seen later */
};

/* Freed by free(). */
struct forkjoin_episode {
	struct forkjoin_episode *next; /* while it waits */
	uint64_t cookie;
	uint32_t tgid, inc, tid; /* the creator's */
	uint32_t site;
	uint64_t arrive_ns, depart_ns; /* the creator's */
	/* In the rounds of this call it makes threads, waits for them to end, and does no more: it is no member of the team. */
	bool joins_only; /* set when the round is taken */
	uint32_t missing; /* members whose end was not seen yet */
	bool open; /* its creator may wait for them once more */
	bool doubtful; /* some had ended when others were made: there may have been two rounds, the first over at once */
	uint32_t n;
	struct forkjoin_member members[]; /* in the order in which they were made */
};

struct forkjoin_ops {
	void *ctx;
	/* The join of this cookie ended a round, which is the callee's from now on. */
	void (*take)(void *ctx, uint64_t cookie, struct forkjoin_episode *episode);
	/* It ended none. */
	void (*drop)(void *ctx, uint64_t cookie);
};

/* A call that joins a thread. */
struct forkjoin_join {
	uint64_t cookie; /* the caller's: larger each time */
	uint32_t tgid, inc, tid; /* who joins */
	uint32_t site; /* the call: opaque, the same number for the same place */
	uint64_t handle; /* pthread_t; SBT_JOIN_ALL */
	uint64_t enter_ns, leave_ns;
	int result; /* an errno */
};

/* NULL: out of memory. */
struct forkjoin *forkjoin_new(const struct forkjoin_ops *ops);
void forkjoin_free(struct forkjoin *f);

/* What follows returns 0 or -ENOMEM, and is told in the order of time. */
/* A thread that nobody made while it was looked, but that made none before: the first of a new program. */
int forkjoin_begin(struct forkjoin *f, uint32_t tgid, uint32_t inc, uint32_t tid);
/* @creator made @tid at @t_ns; @pointer: its thread pointer, which its handle is, or lies just below. */
int forkjoin_made(struct forkjoin *f, uint32_t tgid, uint32_t inc, uint32_t creator, uint32_t tid,
		  uint64_t pointer, uint64_t t_ns);
void forkjoin_ended(struct forkjoin *f, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		    uint32_t seq, uint32_t cpu);
/* The join is taken or dropped once: by this call or a later one. */
int forkjoin_join(struct forkjoin *f, const struct forkjoin_join *join);
/* The process has ended: what it has waiting is dropped. */
void forkjoin_end_process(struct forkjoin *f, uint32_t tgid, uint32_t inc);
/* The round of this join cannot wait any longer: it is dropped. */
void forkjoin_give_up(struct forkjoin *f, uint64_t cookie);
/* Drops whatever waits. */
void forkjoin_finish(struct forkjoin *f);
/* Threads of rounds that had to be given up, at calls where others were told. */
uint64_t forkjoin_untold(const struct forkjoin *f);

#endif /* MODEL_FORKJOIN_H */
