/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The command line and the environment, once, into one struct that is passed down. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/attach.h"
#include "emit/emit.h"

/* Exit statuses of sbt-trace itself. */
#define EXIT_FAILED 1
#define EXIT_USAGE  2

enum options_mode { OPTIONS_COMMAND, OPTIONS_PIDS, OPTIONS_SYSTEM };

/* --name NAME=BARRIER */
struct options_name {
	const char *name;
	const char *barrier;
};

struct options {
	enum options_mode mode;
	char **command; /* NULL-terminated, points into argv */
	int *pids;
	size_t npids;

	const char *output; /* NULL: stderr with a command, else stdout */
	enum emit_format format;
	bool quiet;
	int verbose;
	bool banner; /* SBT_OPTIONS */
	bool no_debug; /* SBT_NO_DEBUG */

	const char **watch;
	size_t nwatch;
	bool watch_from_env; /* the first -w takes its place */
	bool watch_all;
	struct options_name *names;
	size_t nnames;
	bool warnings;
	uint64_t warn_ns;
	uint64_t warn_every;
	bool phase_times;

	double delay_s;
	double duration_s; /* 0: until the end */
	const char *cgroup;
	const char *comm;
	const char *user;
	bool follow;
	bool debuginfod;
	enum attach_method method;
	size_t ring_bytes;
	bool ring_given;
};

enum options_result { OPTIONS_GO, OPTIONS_DONE, OPTIONS_WRONG };

/*
 * Reads the environment, then the command line, which wins. OPTIONS_DONE: --help and the like have been
 * answered; OPTIONS_WRONG: a sentence has been printed.
 */
enum options_result options_parse(int argc, char **argv, struct options *out);
void options_free(struct options *options);

#endif /* CMD_OPTIONS_H */
