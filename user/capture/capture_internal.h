/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* One tracing session, shared by the files that set it up, run it and report it. */
#ifndef CAPTURE_CAPTURE_INTERNAL_H
#define CAPTURE_CAPTURE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "attach/guard.h"
#include "capture/counting.h"
#include "capture/handover.h"
#include "capture/hot.h"
#include "base/options.h"
#include "capture/diagnostics.h"
#include "capture/capture.h"
#include "target/launch.h"

/* epoll data of each descriptor. FD_PIDS + i: process i of capture.pidfds. */
enum { FD_SIGNALS = 1, FD_RINGS, FD_COMMAND, FD_HOOK, FD_WRITTEN, FD_PIDS };

struct capture {
	struct options options;
	const struct capture_hook *hook; /* functions of the caller; NULL: print the output */
	struct run_facts_live run_facts_live;
	struct attach *attach;
	struct counting counting;
	struct stack_samples *samples; /* NULL: threads are not sampled */
	struct cause_names *cause_names;
	struct stream *stream;
	struct progress *progress; /* NULL: no progress is printed */
	struct modules *modules;
	struct symbol_server *symbols;
	struct address_spaces *spaces;
	struct tracker *tracker;
	struct model *model;
	struct observer *observer;
	struct ingest *ingest;
	struct hang_monitor *hang_monitor;
	/* pauses probes that are hit often and show no barrier; NULL before begin() */
	struct hot *hot;
	struct limit *limit; /* --cost-limit; NULL: none */
	struct recording *recording; /* NULL: none */
	struct emit *emit;
	FILE *out;
	struct launch launch;
	struct guard guard;
	bool launched;
	int command_status; /* exit status of COMMAND; -1: it has not ended */
	struct diagnostics_left left; /* processes that COMMAND left running */
	int epoll;
	int signals;
	int *pidfds; /* pidfds of the processes of -p, or of ranks that were handed over */
	size_t npidfds;
	size_t nlive; /* number of processes in pidfds that have not exited */
	struct attach_delays delays; /* for inferred departures */
	struct handover handover;
	char *own_output, *own_record; /* file names of a rank that is traced on its own */
	uint64_t begin_ns; /* when sbt-trace itself began */
	uint64_t arm_ns;
	uint64_t end_ns; /* end of tracing by --duration; 0: no limit */
	uint64_t returned_ns; /* when the sums of exited threads were last read */
	uint64_t last_many_ns; /* when the rings last held many events */
	bool armed;
	bool showing; /* an event is being handled */
	bool priced; /* the costs of all kinds of probes were measured before tracing began */
	bool stop;
	int error; /* error of processing events, as negative errno; 0: none */
	int write_error; /* error of writing output, as negative errno; 0: none */
};

/* Run COMMAND without tracing (SBT_NO_DEBUG). Return the exit status. */
int capture_run_untraced(const struct options *o);
/*
 * Attach the probes and stop COMMAND before its first instruction. Nothing is recorded yet. Return
 * 0 or negative errno.
 */
int capture_set_up(struct capture *c);
/* Watch for the signals that end tracing, or for @events of @fd. Return 0 or negative errno. */
int capture_set_up_signals(struct capture *c);
int capture_watch_fd(struct capture *c, int fd, uint64_t data, uint32_t events);
/* Move events out of the rings while sbt-trace waits for something else. @ctx: struct capture. */
void capture_save(void *ctx);
/* Discard the events that a calibration left in the rings. @ctx: struct capture. */
void capture_drain(void *ctx);
/*
 * Join the ranks of "mpirun sbt-trace COMMAND" into one session. If the result is not 0, exit now
 * with *status.
 */
int capture_meet_ranks(struct capture *c, int *status);
/* Report that COMMAND could not be executed, for @err (negative errno). Return the exit status. */
int capture_cannot_run(const struct options *o, int err);

#endif /* CAPTURE_CAPTURE_INTERNAL_H */
