/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The command line and the environment, once, into one struct that is passed down. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "attach/attach.h"
#include "emit/emit.h"
#include "sites/rule.h"

/* Exit statuses of sbt-trace itself. */
#define EXIT_FAILED 1
#define EXIT_USAGE  2

enum options_mode { OPTIONS_COMMAND, OPTIONS_PIDS, OPTIONS_SYSTEM };

/* --name NAME=BARRIER */
struct options_name {
	const char *name;
	const char *barrier;
};

/* --phase NAME=BEGIN..END */
struct options_phase {
	const char *name;
	const char *begin; /* a barrier, as -w has them; "": the start of the process */
	const char *end;
};

struct options {
	enum options_mode mode;
	char **command; /* NULL-terminated, points into argv */
	int *pids;
	size_t npids;

	const char *output; /* NULL: stderr with a command, else stdout */
	const char *record; /* a recording goes there; NULL: none */
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
	struct options_phase *phases;
	size_t nphases;
	struct rules rules; /* -b */
	bool warnings;
	uint64_t warn_ns;
	uint64_t warn_every;
	bool phase_times;

	uint64_t hang_ns; /* --hang; 0: hangs are not told of */
	double delay_s;
	double duration_s; /* 0: until the end */
	const char *cgroup;
	const char *comm;
	const char *user;
	bool follow;
	bool discover; /* look for barriers on condition variables */
	bool discover_futex; /* and on futexes */
	bool discover_given;
	const char *events; /* counters by phase; NULL none */
	const char *events_from; /* who asked for them: -e, or a variable */
	char perfex[32]; /* what T5_EVENT0 and T5_EVENT1 ask for */
	uint8_t frames; /* callers up that the site is */
	bool causes; /* account for where threads' time goes */
	bool aggregate; /* crossings are summed in the kernel */
	uint32_t keep; /* --keep-processes: exited ones that are kept whole */
	double cost_limit; /* --cost-limit, a share; 0: none */
	bool debuginfod;
	enum attach_method method;
	bool method_given;
	size_t ring_bytes;
	bool ring_given;
};

/* Whose page --help shows. */
enum options_help { OPTIONS_HELP_GENERAL, OPTIONS_HELP_TRACE, OPTIONS_HELP_RECORD };

enum options_result { OPTIONS_GO, OPTIONS_DONE, OPTIONS_WRONG, OPTIONS_FAILED };

/*
 * Reads the environment, then the command line, which wins. OPTIONS_DONE: --help and the like have been
 * answered; OPTIONS_WRONG: a sentence has been printed; OPTIONS_FAILED: the answer could not be written, and a
 * sentence has been.
 */
enum options_result options_parse(int argc, char **argv, enum options_help help,
				  struct options *out);
/* Options beside those that say what to see: of a command that looks at what has been recorded. */
struct options_more {
	const char *help; /* NULL: report, whose page and options are in cmd/option_rows.h */
	const struct option
		*longs; /* values from OPTIONS_MORE on; ends with a NULL name; or NULL */
	/* Returns 0 or -EINVAL, told, or -ENOMEM. */
	int (*take)(void *ctx, int c, char *arg);
	void *ctx;
};

#define OPTIONS_MORE 1024

/*
 * The same for a command that traces nothing: of trace's options those about what to see and the output. What is left of the
 * words is out->command, NULL if nothing is.
 */
enum options_result options_parse_view(int argc, char **argv, const struct options_more *more,
				       struct options *out);
/*
 * All of such a command: reads the words, has them checked, opens the output, has it printed and closes it. @check returns 0, or
 * not, told: wrong usage; @print 0, or not, told. Both are given more->ctx. Returns the exit status.
 */
int options_run_view(int argc, char **argv, const struct options_more *more,
		     int (*check)(void *ctx, const struct options *options),
		     int (*print)(void *ctx, const struct options *options, FILE *out));
/*
 * The variables of the SBT library among COMMAND's own arguments, "SBT_WATCH NAME", which win over all others: for
 * programs that take them. Returns 0, -EINVAL (a sentence has been printed) or -ENOMEM.
 */
int options_read_words(struct options *options);
void options_free(struct options *options);

#endif /* CMD_OPTIONS_H */
