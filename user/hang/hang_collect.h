/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Turn barriers that do not fill into the input of hang_classify(). Examine twice the threads that
 * may be involved and the locks for which they wait. Then add names. The tracer, which knows the
 * arrivals, uses this code. So do commands that start after the hang began and read the arrivals
 * from the stacks.
 */
#ifndef HANG_HANG_COLLECT_H
#define HANG_HANG_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "hang/hang.h"
#include "analyse/report.h"
#include "hang/thread_snapshot.h"
#include "sites/address_space.h"

/* An arrival without a departure. */
struct hang_collect_arrival {
	uint32_t pid, tid;
	uint64_t since_ns; /* time of the arrival, CLOCK_MONOTONIC; MODEL_UNKNOWN: unknown */
	uint64_t ip; /* return address of the call; 0: unknown */
	uint64_t sp; /* stack pointer on arrival; 0: unknown */
	bool returns; /* the word at .sp is .ip, or the address of a return probe's trampoline */
	/*
	 * Output: the thread left without a recorded departure (longjmp, an exception), or does not
	 * exist any more.
	 */
	bool stale;
};

struct hang_collect_barrier {
	uint32_t pid; /* process of the first arrival */
	uint8_t family;
	uint64_t object; /* address of the barrier object in process .pid */
	uint32_t count; /* 0: unknown */
	char comm[16];
	const char *name; /* given by the user or the program, not copied; NULL: none */
	/* A better name than the call site's; NULL: none. Its strings are in .named_arena. */
	struct report_barrier *named;
	void *named_arena; /* for report_arena_free() */
	bool of_processes, world, team_declared, open; /* as in struct hang_barrier */
	uint64_t team_ns;
	uint32_t narrived;
	struct hang_collect_arrival *arrived;
	uint32_t nteam, team_cap;
	struct hang_member *team; /* owns each .comm */
	/* number of processes with threads that may arrive; 0: only .pid */
	uint32_t npids, pids_cap;
	uint32_t *pids;
};

/* A thread's number in reports. */
struct hang_collect_number {
	uint32_t tid, index;
	bool ranked;
};

struct hang_collect_question {
	uint32_t nbarriers;
	struct hang_collect_barrier *barriers;
	uint32_t nnumbers;
	struct hang_collect_number *numbers;
	/* The processes of an MPI job, if its ranks may wait for messages from each other. */
	uint32_t npids, pids_cap;
	uint32_t *pids;
};

/* Free the content of @question. */
void hang_collect_question_free(struct hang_collect_question *question);

struct hang_collect;
struct hang_collect_answer;

/* Both arguments must outlive *out. Return 0 or -ENOMEM. */
int hang_collect_new(struct address_spaces *spaces, struct snapshots *snapshots,
		     struct hang_collect **out);
void hang_collect_free(struct hang_collect *hang_collect);
/*
 * Examine all processes twice, at least 120 ms apart. @question must outlive the answer. Return 0,
 * -ENOMEM, or, if no process could be examined, the error of the last one.
 */
int hang_collect_look(struct hang_collect *hang_collect, struct hang_collect_question *question,
		      struct hang_collect_answer **out);
/*
 * Classify one of the barriers, or, if @barrier is HANG_NONE, the cycle of ranks that wait for
 * messages. Return the result of hang_classify(), or -ENOENT if the barrier has no arrivals any
 * more or there is no cycle.
 */
int hang_collect_classify(const struct hang_collect_answer *answer, uint32_t barrier,
			  struct report_hang *out);
void hang_collect_answer_free(struct hang_collect_answer *answer);

#endif /* HANG_HANG_COLLECT_H */
