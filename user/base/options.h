/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the user asks for: read once by cmd/options.c, from the command line and the environment, and passed down. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rules;

/* Exit statuses of sbt-trace itself. */
#define EXIT_FAILED 1
#define EXIT_USAGE  2

/* The forms of what is printed as data. EMIT_MARKDOWN is the text, its tables as tables. */
enum emit_format { EMIT_TEXT, EMIT_JSON, EMIT_CSV, EMIT_MARKDOWN };

/* Ways in which the kernel puts in probes, the best one first. */
enum attach_method { ATTACH_SESSION, ATTACH_MULTI, ATTACH_PERF, ATTACH_METHODS };

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
	bool only_record; /* sbt-trace record: nothing is printed */

	const char **watch;
	size_t nwatch;
	bool watch_from_env; /* the first -w takes its place */
	bool watch_all;
	struct options_name *names;
	size_t nnames;
	struct options_phase *phases;
	size_t nphases;
	struct rules *rules; /* -b: sites/rule.h */
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

#endif /* BASE_OPTIONS_H */
