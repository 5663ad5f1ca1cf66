/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find rounds of fork and join: a thread creates others and joins all of them.
 *
 * A batch is the set of threads that one thread, the creator, makes between joins. A batch is a
 * round if it has two or more threads, all were made before the first join, and the creator joins
 * exactly these threads before it makes another thread. The members of the round are these threads,
 * which arrive by ending. The creator is a member if it does a part of the work itself. It then
 * arrives at its first join and departs from its last join.
 *
 * A single round is no loop: nearly every program ends with one. Rounds are reported after a
 * process has joined two rounds at one call site, the site of the first join. Until then the first
 * round waits. A round cannot be the first round of a call site if the creator did more than join
 * between its joins. Such a creator may use results one by one, and may have waited for each
 * result.
 *
 * A creator may also wait for all threads of a batch at once, as Rust's thread::scope() does: it
 * waits several times, until all threads have ended. Such a round is over if the last thread ended
 * at about the time when the creator continued, or if the creator then does something else.
 *
 * Three cases are left out. The first is a round with a thread that is not joined, because it is
 * detached or lives longer, or that another thread joins; later rounds are reported. The second is
 * threads that are joined while other threads are made, as in a pool. The third is everything that
 * began before the tracer could see it.
 */
#ifndef MODEL_FORKJOIN_H
#define MODEL_FORKJOIN_H

#include <stdbool.h>
#include <stdint.h>

struct forkjoin;

/* A thread that was joined. */
struct forkjoin_member {
	uint32_t tid;
	uint32_t seq; /* number of the thread's records, as reported at its end */
	uint32_t cpu;
	/* the end of the thread, or the time of its join if its end was seen later */
	uint64_t arrive_ns;
};

/* A round, passed to forkjoin_ops.take, which frees it with free(). */
struct forkjoin_episode {
	struct forkjoin_episode *next; /* in the list of rounds that wait */
	uint64_t cookie;
	uint32_t tgid, inc, tid; /* ids of the creator */
	uint32_t site;
	uint64_t arrive_ns, depart_ns; /* arrival and departure of the creator */
	/*
	 * In the rounds of this call site the creator only makes threads and waits for them to end:
	 * it is not a member of the team.
	 */
	bool joins_only; /* set when the round is taken */
	uint32_t missing; /* number of members with an end that was not seen yet */
	bool open; /* the creator may wait for the members once more */
	/*
	 * Some members had ended when others were made. There may have been two rounds, the first
	 * of which was over at once.
	 */
	bool doubtful;
	uint32_t n;
	struct forkjoin_member members[]; /* in the order of their creation */
};

struct forkjoin_ops {
	void *ctx;
	/*
	 * Called if the join with this cookie ended a round. The callee owns the round from now on.
	 */
	void (*take)(void *ctx, uint64_t cookie, struct forkjoin_episode *episode);
	/* Called if the join ended no round, or if its round is dropped. */
	void (*drop)(void *ctx, uint64_t cookie);
};

/* A call that joins a thread, or waits for all threads that the caller created. */
struct forkjoin_join {
	uint64_t cookie; /* chosen by the caller; increases with each join */
	uint32_t tgid, inc, tid; /* the thread that joins */
	uint32_t site; /* call site: opaque number, equal for the same call */
	bool all; /* the thread waits for all threads that it has created */
	uint64_t handle; /* without `all`: pthread_t of the joined thread */
	uint64_t enter_ns, leave_ns;
	int result; /* result of the call: 0, or an errno (positive) */
};

/* Return a new instance, or NULL when out of memory. */
struct forkjoin *forkjoin_new(const struct forkjoin_ops *ops);
void forkjoin_free(struct forkjoin *f);

/* Call the following functions in the order of the events' times. They return 0 or -ENOMEM. */
/*
 * Note the first thread of a new program. No traced thread made it, and it has not made any thread
 * yet.
 */
int forkjoin_begin(struct forkjoin *f, uint32_t tgid, uint32_t inc, uint32_t tid);
/*
 * Note that @creator made @tid at @t_ns. @pointer is its thread pointer. The thread's handle
 * (pthread_t) equals @pointer or is just below it.
 */
int forkjoin_made(struct forkjoin *f, uint32_t tgid, uint32_t inc, uint32_t creator, uint32_t tid,
		  uint64_t pointer, uint64_t t_ns);
void forkjoin_ended(struct forkjoin *f, uint32_t tgid, uint32_t inc, uint32_t tid, uint64_t t_ns,
		    uint32_t seq, uint32_t cpu);
/* Add a join. Exactly once, this call or a later call takes or drops the join. */
int forkjoin_join(struct forkjoin *f, const struct forkjoin_join *join);
/* Drop the waiting rounds of a process that has ended, and forget its threads. */
void forkjoin_end_process(struct forkjoin *f, uint32_t tgid, uint32_t inc);
/* Drop the round of this join, because its time limit has passed. */
void forkjoin_give_up(struct forkjoin *f, uint64_t cookie);
/* Drop all waiting rounds. */
void forkjoin_finish(struct forkjoin *f);
/*
 * Return the number of threads in dropped rounds, at call sites where other rounds were reported.
 */
uint64_t forkjoin_unreported(const struct forkjoin *f);

#endif /* MODEL_FORKJOIN_H */
