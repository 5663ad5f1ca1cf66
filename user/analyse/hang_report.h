/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The report of a hang: a barrier at which threads wait because other threads do not arrive. hang/
 * fills in the report, recordings store it, and emit/ prints it.
 */
#ifndef ANALYSE_HANG_REPORT_H
#define ANALYSE_HANG_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#define HANG_NONE UINT32_MAX

enum hang_verdict {
	HANG_UNKNOWN, /* none of the following */
	HANG_DEADLOCK, /* a proven cycle of waits */
	HANG_NEVER_FILLS, /* a missing thread exited, or waits forever */
	HANG_LONG_PHASE, /* the missing thread runs on a CPU, or waits for a CPU */
	HANG_OUTSIDE, /* the missing thread waits for a file, a child process or a timeout */
};

enum hang_state {
	HANG_STATE_UNKNOWN,
	HANG_RUNNING,
	HANG_RUNNABLE,
	HANG_BLOCKED,
	HANG_STOPPED, /* a signal or a debugger stopped the missing thread */
	HANG_GONE, /* exited */
};

/* Evidence that a thread is missing. */
enum hang_known {
	HANG_BY_PAST, /* the thread was a member of the last episode at this barrier */
	HANG_BY_TEAM, /* the runtime lists the thread in the team */
	/*
	 * the barrier's count equals the number of threads of the process, so all of them are
	 * members
	 */
	HANG_BY_COUNT,
	HANG_BY_PROCESS, /* the thread belongs to the process; this is a guess */
	HANG_BY_CALL, /* an MPI call waits for this rank, outside of any barrier */
};

/* A frame of a stack. Strings are untrusted; NULL if unknown. */
struct hang_frame {
	const char *function, *file, *module;
	uint32_t line; /* 0 if unknown */
	const char *inlined; /* the function into which `function` was inlined; NULL if none */
	uint64_t address; /* address in the process; 0 if unknown */
};

/* --- the report: it owns all strings --------------------------------------------------------- */

struct report_hang_arrived {
	uint32_t pid, tid, index;
	const char *comm;
	uint64_t arrive_ns; /* CLOCK_MONOTONIC */
	uint64_t waited_ns;
	const char *function, *file, *module;
	uint32_t line;
};

struct report_hang_missing {
	uint32_t pid, tid, index;
	const char *comm;
	enum hang_known why;
	enum hang_state state;
	/* what the thread is blocked on, as text; NULL if it is not blocked, or if unknown */
	const char *blocked_on;
	const char *syscall, *wchan;
	uint32_t holder; /* tid of the thread that it waits for; 0 if none, or unknown */
	bool sampled;
	uint32_t nframes;
	const struct hang_frame *frames;
};

/*
 * One step of a cycle: this thread waits for the next thread, and the last thread waits for the
 * first.
 */
struct report_hang_link {
	uint32_t pid, tid, index;
	const char *comm;
	const char *waits_for; /* "the mutex `m`", "the barrier at x.c:30", "the end of thread 3" */
	uint32_t next; /* tid of the thread for which this thread waits */
};

struct report_hang {
	char id[17];
	char label[192];
	const char *name, *comm, *family;
	uint32_t pid;
	const char *function, *file, *module;
	uint32_t line;
	uint32_t count; /* number of threads for which the barrier waits; 0 if unknown */
	uint64_t t_ns; /* time when the hang was found */
	uint64_t since_ns; /* time of the first arrival */
	uint64_t waited_ns; /* time since the first arrival */
	uint32_t reported; /* number of earlier reports of this hang */
	bool over; /* the hang has been resolved, and this is the last report */
	enum hang_verdict verdict;
	bool guess; /* the missing threads are a guess */
	uint32_t narrived;
	struct report_hang_arrived *arrived; /* in the order of arrival */
	uint32_t nmissing;
	struct report_hang_missing *missing; /* ordered by importance */
	uint32_t ncycle;
	struct report_hang_link *cycle;
	char text[1024]; /* the verdict in one sentence */
	void *arena; /* owns strings and arrays */
};

void report_hang_free(struct report_hang *hang);

#endif /* ANALYSE_HANG_REPORT_H */
