/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Classify a barrier that does not fill. The input is the threads that have arrived, the threads
 * that took part in the last episode, and what all threads wait for now. The result is the missing
 * threads, whether they can still arrive, and a sentence about it. This code does no I/O.
 *
 * A thread may wait for other threads: for the holder of a lock, for the end of a joined thread, or
 * at a barrier for all missing threads. A thread that waits for no other thread can continue. A
 * thread that waits only for threads that can continue can itself continue later. All remaining
 * threads can never continue, and only a cycle among them is called a deadlock.
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
	HANG_ON_RWLOCK, /* held by .holder, if it is locked for writing and the writer is known */
	HANG_ON_JOIN, /* the end of .holder */
	HANG_ON_BARRIER, /* .barrier */
	HANG_ON_COND, /* a condition variable: any thread may signal it */
	HANG_ON_SEM,
	HANG_ON_FUTEX, /* a futex word; the kind of its lock is unknown */
	HANG_ON_IO,
	HANG_ON_SLEEP,
	HANG_ON_CHILD,
	HANG_ON_DISK,
	HANG_ON_OTHER,
	/* An MPI message from or to the rank of thread .holder, if known. The thread may spin. */
	HANG_ON_MESSAGE,
	HANG_ON_COLLECTIVE, /* an MPI collective other than the barrier's; the thread may spin */
};

/* A thread that was alive when the processes were examined. */
struct hang_thread {
	uint32_t pid, tid;
	uint32_t index; /* the thread's number in reports; HANG_NONE: none */
	bool ranked; /* .index is a rank */
	const char *comm; /* untrusted; NULL: unknown */
	/* start time (CLOCK_MONOTONIC), with the precision of a clock tick; 0: unknown */
	uint64_t start_ns;
	enum hang_state state;
	enum hang_on on; /* valid for HANG_BLOCKED */
	/*
	 * Two looks at least 120 ms apart found the thread blocked on the same object with the same
	 * holder, and it did not run between the looks. For a thread in an MPI call: it did not
	 * return from the call between the looks. If this is false, the thread's wait proves
	 * nothing.
	 */
	bool still;
	uint64_t cpu_ns; /* CPU time between the two looks; MODEL_UNKNOWN: unknown */
	uint64_t interval_ns; /* time between the two looks; 0: there was only one */
	uint32_t holder; /* tid; 0: unknown */
	uint32_t barrier; /* index of the barrier, for HANG_ON_BARRIER; HANG_NONE: none */
	const char *object; /* description of the lock: "the mutex `lock_a`"; NULL: unknown */
	/* description of any other object: "read() of a pipe"; NULL: unknown */
	const char *waits_for;
	const char *syscall; /* the system call that the thread is in; NULL: none, or unknown */
	const char *wchan; /* the kernel function that it waits in; NULL: unknown */
	const char *call; /* the MPI call that it waits in: "MPI_Recv"; NULL: none */
	/* index in .frames of the program's frame that makes .call; HANG_NONE: none, or unknown */
	uint32_t call_frame;
	/* the rank that .call waits for, as numbered in its communicator; HANG_NONE: none */
	uint32_t peer;
	bool world; /* the call is on MPI_COMM_WORLD */
	/*
	 * name of the call that ends the thread's use of MPI, if the thread is in such a call:
	 * "MPI_Finalize" or "MPI_Abort"; NULL: it is not
	 */
	const char *left;
	bool idle; /* an OpenMP worker outside of any parallel region */
	bool sampled; /* the thread ran, and its stack is a sample */
	uint32_t nframes;
	const struct hang_frame *frames; /* innermost first */
};

struct hang_arrival {
	uint32_t tid;
	uint64_t since_ns; /* time of the arrival, CLOCK_MONOTONIC; MODEL_UNKNOWN: unknown */
	struct hang_frame site; /* call site */
};

/* A thread of the last episode, or a thread that the runtime declares to be in the team. */
struct hang_member {
	uint32_t pid, tid;
	uint32_t index;
	bool ranked;
	const char *comm;
	/* the thread has ended; otherwise it is in hang_input.threads, if these are complete */
	bool gone;
	bool left; /* the thread has left the parallel region */
};

struct hang_barrier {
	uint32_t pid; /* process of the first arrival */
	const char *comm;
	char id[17];
	char label[192];
	const char *name; /* given by the program or the user; NULL: none */
	const char *family;
	/*
	 * name of the MPI call, if this is a call that waits for one rank ("MPI_Recv") and not a
	 * barrier; NULL: a barrier
	 */
	const char *call;
	struct hang_frame site; /* call site of the first arrival */
	uint32_t count; /* number of threads that must arrive; 0: unknown */
	uint32_t narrived;
	const struct hang_arrival *arrived;
	/*
	 * The threads of the last episode. Empty if they are unknown, or if they change from
	 * episode to episode (the barrier has more threads than its count).
	 */
	uint32_t nteam;
	const struct hang_member *team;
	bool team_declared; /* the runtime declares the members of .team (see HANG_BY_TEAM) */
	uint64_t team_ns; /* time of the last episode; 0: unknown */
	bool of_regions; /* only threads in a parallel region arrive: OpenMP */
	bool of_processes; /* one thread of each process arrives: MPI */
	bool world; /* the communicator is MPI_COMM_WORLD */
	bool open; /* threads of unknown processes may also arrive */
	uint32_t npids; /* number of processes with threads that may arrive; 0: only .pid */
	const uint32_t *pids;
};

struct hang_input {
	uint64_t now_ns;
	bool all; /* .threads has all threads of the processes that are involved */
	uint32_t nthreads;
	const struct hang_thread *threads;
	uint32_t nbarriers;
	const struct hang_barrier *barriers;
};

/*
 * Classify the barrier with this index. Return 0 and fill *out, which the caller passes to
 * report_hang_free(), or return -ENOMEM. A tid that is in no list is an unknown thread: any input
 * gives a usable result.
 */
int hang_classify(const struct hang_input *in, uint32_t barrier, struct report_hang *out);

/*
 * Return whether a hang in the module is attributed to the caller of the module. This applies to
 * the C library, language runtimes and MPI libraries.
 */
bool hang_is_runtime(const char *module);
/*
 * Return whether @words describe a call ("read() of a pipe", "sleep of 5 s") and not an object.
 * Sentences differ: a thread is blocked "in" a call, but "on" an object. Only @words distinguish
 * the two, because recordings contain nothing else about what the thread waits for.
 */
bool hang_is_call(const char *words);
/*
 * Return the innermost frame of the program's own code, which is neither in a runtime (see
 * hang_is_runtime()) nor in C++'s namespace std. If there is none, return the innermost frame of
 * all, or NULL if there are no frames.
 */
const struct hang_frame *hang_user_frame(const struct hang_frame *frames, uint32_t n);

#endif /* HANG_HANG_H */
