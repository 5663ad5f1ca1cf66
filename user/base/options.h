/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The user's options. cmd/options.c reads them once, from the command line and the environment. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rules;

/* Exit statuses of sbt-trace itself. */
#define EXIT_FAILED	    1
#define EXIT_USAGE	    2
#define EXIT_CANNOT_EXECUTE 126 /* COMMAND exists, but cannot be executed */
#define EXIT_NOT_FOUND	    127 /* COMMAND does not exist */

/* Output formats of data. EMIT_MARKDOWN is the text format with Markdown tables. */
enum emit_format { EMIT_TEXT, EMIT_JSON, EMIT_CSV, EMIT_MARKDOWN };

/* default of --warn-time, ns */
#define OPTIONS_WARN_NS 1000000000ULL

/* The attach methods, the best one first. */
enum attach_method { ATTACH_SESSION, ATTACH_MULTI, ATTACH_PERF, ATTACH_METHODS };

/* --departures */
enum options_departures { DEPARTURES_SEEN, DEPARTURES_INFERRED };

enum options_mode { OPTIONS_COMMAND, OPTIONS_PIDS, OPTIONS_SYSTEM };

/* --name NAME=BARRIER */
struct options_name {
	const char *name;
	const char *barrier;
};

/* --phase NAME=BEGIN..END */
struct options_phase {
	const char *name;
	const char *begin; /* a barrier in the syntax of -w; "": the start of the process */
	const char *end;
};

struct options {
	enum options_mode mode;
	char **command; /* NULL-terminated, points into argv */
	int *pids;
	size_t npids, cap_pids;

	const char *output; /* NULL: stderr with a command, else stdout */
	const char *record; /* path of the recording to write; NULL: none */
	bool record_default; /* `record` is the default file: keep what it has, as FILE.old */
	enum emit_format format;
	bool quiet;
	int verbose;
	bool detail; /* text: print the whole report, not only its first screen */
	bool no_pager;
	/* print a banner with the options; SBT_OPTIONS decides, or else -v or --detail */
	bool banner;
	bool banner_given; /* `banner` is from SBT_OPTIONS */
	bool no_debug; /* SBT_NO_DEBUG */
	bool only_record; /* sbt-trace record: print no report */

	const char **watch;
	size_t nwatch, cap_watch;
	bool watch_from_env; /* `watch` is from the environment; the first -w replaces it */
	bool watch_all;
	struct options_name *names;
	size_t nnames, cap_names;
	struct options_phase *phases;
	size_t nphases, cap_phases;
	struct rules *rules; /* -b: sites/rule.h */
	bool warnings;
	uint64_t warn_ns;
	uint64_t warn_every;
	bool phase_times;

	uint64_t hang_ns; /* --hang; 0: do not report hangs */
	double delay_s;
	double duration_s; /* --duration, in seconds; 0: no limit */
	const char *cgroup;
	const char *comm;
	const char *user;
	bool follow;
	bool discover; /* find barriers built on condition variables */
	bool discover_futex; /* also find barriers built on futexes */
	bool discover_given;
	const char *events; /* counters to read in each phase; NULL: none */
	/* where `events` is from: "-e", or the name of an environment variable */
	const char *events_from;
	uint8_t frames; /* --frames N: attribute a barrier to its Nth caller */
	bool causes; /* find the causes of lateness: account for the threads' time */
	bool samples; /* sample threads on a CPU; without `causes` it has no effect */
	uint32_t sample_hz; /* --sample-rate; 0: at the kernel's tick */
	uint32_t departures; /* enum options_departures */
	bool aggregate; /* sum crossings in the kernel */
	uint32_t keep; /* --keep-processes: number of exited processes to keep in full */
	/* --cost-limit, as a share of the threads' time (1 is 100 %); 0: no limit */
	double cost_limit;
	bool debuginfod;
	enum attach_method method;
	bool method_given;
	size_t ring_bytes;
	bool ring_given;
};

/* Return whether the options are printed before the report. */
static inline bool options_banner(const struct options *o)
{
	return o->banner && (o->banner_given || o->verbose || o->detail);
}

#endif /* BASE_OPTIONS_H */
