/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Why a barrier does not fill: from who has come to it, who came before, and what all threads wait
 * for at this moment, to who is missing, whether they can still come, and a sentence about it.
 * Pure.
 *
 * Threads wait for others: one that waits for a lock for its holder, one that joins for the thread
 * to end, one at a barrier for all that are missing there. Whoever waits for nobody of these may go
 * on by itself; whoever waits for such a one may, too. What is left can never go on: a cycle among
 * those is a deadlock, and nothing else is called one.
 */
#ifndef HANG_HANG_H
#define HANG_HANG_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/hang_report.h"
#include "model/model.h"

/* What a blocked thread waits for. */
enum hang_on {
	HANG_ON_UNKNOWN,
	HANG_ON_MUTEX, /* held by .holder, if that is known */
	HANG_ON_RWLOCK, /* the same; not known where readers hold it */
	HANG_ON_JOIN, /* the end of .holder */
	HANG_ON_BARRIER, /* .barrier */
	HANG_ON_COND, /* a condition variable: whoever signals it */
	HANG_ON_SEM,
	HANG_ON_FUTEX, /* a word in memory, of which no more is known */
	HANG_ON_IO,
	HANG_ON_SLEEP,
	HANG_ON_CHILD,
	HANG_ON_DISK,
	HANG_ON_OTHER,
	HANG_ON_MESSAGE, /* of MPI, from or to the rank whose thread is .holder, if that is known; it may spin */
	HANG_ON_COLLECTIVE, /* of MPI, another one than the barrier's; it may spin */
};

/* A thread that is alive, or was just now. */
struct hang_thread {
	uint32_t pid, tid;
	uint32_t index; /* as reports number it; HANG_NONE */
	bool ranked; /* that number is a rank */
	const char *comm; /* untrusted; NULL unknown */
	uint64_t start_ns; /* CLOCK_MONOTONIC, to a tick or so; 0 unknown */
	enum hang_state state;
	enum hang_on on; /* of HANG_BLOCKED */
	/*
	 * Two looks some 100 ms apart found it blocked on the same, the holder the same, and it did
	 * not run in between. Without this nothing that it waits for is proven.
	 */
	bool still;
	uint64_t cpu_ns; /* that it used between these looks; MODEL_UNKNOWN */
	uint64_t apart_ns; /* how far apart they were; 0: there was one */
	uint32_t holder; /* tid; 0 not known */
	uint32_t barrier; /* HANG_ON_BARRIER: index; HANG_NONE */
	const char *object; /* the lock in words: "the mutex `lock_a`"; NULL */
	const char *waits_for; /* anything else in words: "read() of a pipe"; NULL */
	const char *syscall; /* that it is in; NULL: none, or not known */
	const char *wchan; /* where in the kernel; NULL not known */
	const char *call; /* of MPI that it waits in, "MPI_Recv"; NULL: none */
	uint32_t call_frame; /* the program's frame that called it; HANG_NONE */
	uint32_t peer; /* the rank in its communicator that it waits for there; HANG_NONE */
	bool world; /* that call is on MPI_COMM_WORLD */
	const char *left; /* the call by which it has left for good: "MPI_Finalize"; NULL */
	bool idle; /* a worker of OpenMP's that is in no parallel region */
	bool sampled; /* it ran, and its stack is a sample */
	uint32_t nframes;
	const struct hang_frame *frames; /* innermost first */
};

struct hang_arrival {
	uint32_t tid;
	uint64_t since_ns; /* CLOCK_MONOTONIC; MODEL_UNKNOWN */
	struct hang_frame site; /* the call */
};

/* One that was there the last time, or that the runtime says is of the team. */
struct hang_member {
	uint32_t pid, tid;
	uint32_t index;
	bool ranked;
	const char *comm;
	bool gone; /* it has ended; else it is among the threads, if they are all there */
	bool left; /* of the team: it has left the parallel region */
};

struct hang_barrier {
	uint32_t pid; /* of the first that came */
	const char *comm;
	char id[17];
	char label[192];
	const char *name; /* given by program or user; NULL */
	const char *family;
	const char
		*call; /* it is no barrier, but a call that waits for one rank: "MPI_Recv"; NULL */
	struct hang_frame site; /* of the first that came */
	uint32_t count; /* how many must come; 0 not known */
	uint32_t narrived;
	const struct hang_arrival *arrived;
	/*
	 * Who met there the last time; nobody where that is not known, or where they change (more
	 * threads than the count).
	 */
	uint32_t nteam;
	const struct hang_member *team;
	bool team_declared; /* by the runtime: HANG_BY_TEAM */
	uint64_t team_ns; /* when they met; 0 not known */
	bool of_regions; /* who is in no parallel region does not come: OpenMP */
	bool of_processes; /* one thread of each process comes: MPI */
	bool world; /* of MPI_COMM_WORLD */
	bool open; /* processes that are not known may come, too */
	uint32_t npids; /* whose threads may come */
	const uint32_t *pids;
};

struct hang_input {
	uint64_t now_ns;
	bool all; /* these are all threads that the processes have */
	uint32_t nthreads;
	const struct hang_thread *threads;
	uint32_t nbarriers;
	const struct hang_barrier *barriers;
};

/*
 * Judges the barrier with this index. Returns 0 and fills *out (to be released by
 * report_hang_free()), or -ENOMEM. Numbers of threads that are in no list are taken for unknown
 * ones: whatever is put in, something sensible comes out.
 */
int hang_classify(const struct hang_input *in, uint32_t barrier, struct report_hang *out);

/*
 * Is it a library in which nobody's program hangs, but its callers do: the C library, runtimes of
 * languages, MPI's?
 */
bool hang_is_runtime(const char *module);
/* "in" or "on": a thread is blocked in a call, on a thing. */
const char *hang_preposition(const char *words);
/*
 * Of a stack the innermost frame that is not of the C library or another runtime; the innermost if
 * all are; NULL: none.
 */
const struct hang_frame *hang_user_frame(const struct hang_frame *frames, uint32_t n);

#endif /* HANG_HANG_H */
