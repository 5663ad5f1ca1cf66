/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* One run of sbt-trace trace, from its words to its report. */
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

/* What is waited for: epoll's data. From FD_PIDS on: a process, by its place in capture.pidfds. */
enum { FD_SIGNALS = 1, FD_RINGS, FD_COMMAND, FD_HOOK, FD_WRITTEN, FD_PIDS };

struct capture {
	struct options options;
	const struct capture_hook *hook; /* NULL: the output is ours */
	struct run_facts_live run_facts_live; /* what the report needs to know */
	struct attach *attach;
	struct counting counting;
	struct cause_names *cause_names;
	struct stream *stream;
	struct progress *progress; /* NULL: nowhere */
	struct modules *modules;
	struct symbol_server *symbols;
	struct address_spaces *spaces;
	struct tracker *tracker;
	struct model *model;
	struct observer *observer;
	struct ingest *ingest;
	struct hang_monitor *hang_monitor;
	struct hot *hot; /* condition variables that are looked at for nothing; NULL: none are */
	struct limit *limit; /* --cost-limit; NULL: none */
	struct recording *recording; /* NULL: none */
	struct emit *emit;
	FILE *out;
	struct launch launch;
	struct guard guard;
	bool launched;
	int command_status; /* as an exit status; -1: not ended */
	struct diagnostics_left left; /* COMMAND's, once it has ended */
	int epoll;
	int signals;
	int *pidfds; /* of -p; of ranks handed over */
	size_t npidfds;
	size_t nlive; /* of these: not yet exited */
	struct handover handover;
	char *own_output, *own_record; /* of a rank left alone */
	uint64_t begin_ns; /* of sbt-trace itself */
	uint64_t arm_ns;
	uint64_t end_ns; /* by --duration; 0: none */
	uint64_t returned_ns; /* when sums of threads that have exited were read last */
	uint64_t last_many_ns; /* when there was much to be read last */
	bool armed;
	bool showing; /* events are, at the moment */
	bool priced; /* all that a crossing may cost was measured at the start */
	bool stop;
	int error; /* of following what happens: negative errno */
	int write_error; /* of writing: the same */
};

/* SBT_NO_DEBUG: run COMMAND as if sbt-trace were not there. Return the exit status. */
int capture_run_untraced(const struct options *o);
/*
 * Probes in place, and COMMAND held before its first instruction; nothing is recorded yet. Returns 0 or negative errno.
 */
int capture_set_up(struct capture *c);
/* For it: signals that end tracing, and what else is waited for. Return 0 or negative errno. */
int capture_set_up_signals(struct capture *c);
int capture_watch_fd(struct capture *c, int fd, uint64_t data, uint32_t events);
/* Empties the rings of what a calibration left there. @ctx: struct capture. */
/* Makes room in the rings, while something is waited for. */
void capture_save(void *ctx);
void capture_drain(void *ctx);
/* mpirun sbt-trace COMMAND: one report for all. Not 0: there is nothing more to do, *status is the exit status. */
int capture_meet_ranks(struct capture *c, int *status);
/* Says that COMMAND could not be executed, for @err (negative errno). Returns the exit status. */
int capture_cannot_run(const struct options *o, int err);

#endif /* CAPTURE_CAPTURE_INTERNAL_H */
