/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * From barriers that do not fill to what hang/hang.h judges: looks at all threads that may have
 * to do with it, twice, at what their locks say, and names what there is. For those that trace (who
 * has come is known) and for those that come too late for that (it is told from the stacks).
 */
#ifndef HANG_HANG_COLLECT_H
#define HANG_HANG_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "hang/hang.h"
#include "analyse/report.h"
#include "hang/thread_snapshot.h"
#include "sites/address_space.h"

/* One that has come to a barrier and not left. */
struct hang_collect_arrival {
	uint32_t pid, tid;
	uint64_t since_ns; /* CLOCK_MONOTONIC; MODEL_UNKNOWN */
	uint64_t ip; /* where its call returns to; 0 unknown */
	uint64_t sp; /* of the stack when it came in; 0 unknown */
	bool returns; /* and at sp is that address, or a return probe's */
	bool stale; /* out: it has left without a word (longjmp, an exception), or is no more */
};

struct hang_collect_barrier {
	uint32_t pid; /* of the first that came */
	uint8_t family;
	uint64_t object; /* address there */
	uint32_t count; /* 0 unknown */
	char comm[16];
	const char *name; /* the user's, or the program's; NULL. Not ours */
	struct report_barrier *
		named; /* what it is called, if that is known better than by its site; NULL. With */
	void *named_arena; /* report_arena_free() */
	bool of_processes, world, team_declared, open; /* as in struct hang_barrier */
	uint64_t team_ns;
	uint32_t narrived;
	struct hang_collect_arrival *arrived;
	uint32_t nteam;
	struct hang_member *team; /* with .comm, which is freed with it */
	uint32_t npids; /* whose threads may come; 0: those of .pid alone */
	uint32_t *pids;
};

/* What reports call a thread. */
struct hang_collect_number {
	uint32_t tid, index;
	bool ranked;
};

struct hang_collect_question {
	uint32_t nbarriers;
	struct hang_collect_barrier *barriers;
	uint32_t nnumbers;
	struct hang_collect_number *numbers;
	uint32_t
		npids; /* of a job of MPI: may its ranks wait for one another's messages, without any barrier? */
	uint32_t *pids;
};

/* Frees what is in it. */
void hang_collect_question_free(struct hang_collect_question *question);

struct hang_collect;
struct hang_collect_answer;

/* Both must outlive it. Returns 0 or -ENOMEM. */
int hang_collect_new(struct address_spaces *spaces, struct snapshots *snapshots,
		     struct hang_collect **out);
void hang_collect_free(struct hang_collect *hang_collect);
/*
 * Looks at all of it, twice, 100 ms apart and more. @question must outlive the answer. Returns 0,
 * or as snapshot_take() of the first process.
 */
int hang_collect_look(struct hang_collect *hang_collect, struct hang_collect_question *question,
		      struct hang_collect_answer **out);
/*
 * Judges one of the barriers; HANG_NONE: the circle of ranks that wait for messages, or -ENOENT: there is none. Returns as hang_classify(), or -ENOENT: nobody is in it any more. */
int hang_collect_classify(const struct hang_collect_answer *answer, uint32_t barrier,
			  struct report_hang *out);
void hang_collect_answer_free(struct hang_collect_answer *answer);

#endif /* HANG_HANG_COLLECT_H */
