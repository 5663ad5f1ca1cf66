// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/option_table.h"

#include <float.h>
#include <string.h>

#include "base/array.h"
#include "cmd/command_line.h"
#include "cmd/nearest.h"
#include "cmd/option_store.h"
#include "sbt/state.h"

#define TRACE	(1u << COMMAND_TRACE)
#define RECORD	(1u << COMMAND_RECORD)
#define REPORT	(1u << COMMAND_REPORT)
#define LIST	(1u << COMMAND_LIST)
#define HANG	(1u << COMMAND_HANG)
#define TOP	(1u << COMMAND_TOP)
#define PREDICT (1u << COMMAND_PREDICT)
#define DIFF	(1u << COMMAND_DIFF)
#define SERIES	(1u << COMMAND_SERIES)
#define DOCTOR	(1u << COMMAND_DOCTOR)
#define HELP	(1u << COMMAND_HELP)
#define ALL	((1u << COMMANDS) - 1)
#define ANY	(ALL & ~HELP) /* all commands that do something */

#define CAPTURE (TRACE | RECORD | TOP)
#define WRITE	(TRACE | RECORD)
#define SHOW	(TRACE | REPORT)

#define TO(member)                                       \
	.offset = offsetof(struct command_line, member), \
	.size = sizeof(((struct command_line *)NULL)->member)
#define CALL(function)	  .kind = OPTION_CALL, .take = function
/* A number of seconds from @from to @to, stored as a double in seconds. */
#define SECONDS(from, to) .kind = OPTION_DECIMAL, .least = (from), .most = (to), .scale = 1

const char *const option_group_titles[OPTION_GROUPS] = {
	[GROUP_TARGET] = "What to trace", [GROUP_MEASURE] = "What to measure",
	[GROUP_SHOW] = "What to print",	  [GROUP_SELECT] = "Part of a recording",
	[GROUP_PREDICT] = "Prediction",	  [GROUP_COMPARE] = "Comparison",
	[GROUP_OUTPUT] = "Output",	  [GROUP_TRACING] = "How to trace",
	[GROUP_GENERAL] = "General",
};

/* clang-format off */
const struct option_row option_table[] = {
/* --- what to trace ---------------------------------------------------------------------------- */
{ "pid", "LIST", "trace these running processes and their children",
  .letter = 'p', .group = GROUP_TARGET, .commands = CAPTURE, .common = true, CALL(option_take_pids),
  .expected = "a list of process numbers" },
{ "pid", "LIST", "examine these processes; for MPI, give all local ranks",
  .letter = 'p', .group = GROUP_TARGET, .commands = HANG, CALL(option_take_pids),
  .expected = "a list of process numbers" },
{ "pid", "PID", "list the barriers in the files that this process has mapped",
  .letter = 'p', .group = GROUP_TARGET, .commands = LIST, CALL(option_take_pids),
  .value = 1, .expected = "one process number" },
{ "all", NULL, "trace every process, including those that start later",
  .letter = 'a', .group = GROUP_TARGET, .commands = CAPTURE, .common = true,
  CALL(option_take_all) },
{ "comm", "NAME", "with -a: only processes of this name",
  .group = GROUP_TARGET, .commands = CAPTURE, .kind = OPTION_TEXT, TO(options.comm) },
{ "cgroup", "PATH", "with -a: only processes in this cgroup or below",
  .group = GROUP_TARGET, .commands = CAPTURE, .kind = OPTION_TEXT, TO(options.cgroup) },
{ "no-children", NULL, "do not trace children",
  .group = GROUP_TARGET, .commands = CAPTURE, .kind = OPTION_FALSE, TO(options.follow) },
{ "user", "USER", "run COMMAND as this user (default: sudo's user)",
  .letter = 'u', .group = GROUP_TARGET, .commands = CAPTURE, .kind = OPTION_TEXT,
  TO(options.user) },
{ "delay", "SECONDS", "start tracing after SECONDS",
  .group = GROUP_TARGET, .commands = WRITE, SECONDS(0, 1e9), TO(options.delay_s),
  .expected = "a number of seconds" },
{ "duration", "SECONDS", "stop tracing after SECONDS",
  .letter = 'd', .group = GROUP_TARGET, .commands = WRITE, .common = true, SECONDS(DBL_MIN, 1e9),
  TO(options.duration_s), .expected = "a number of seconds above 0" },
{ "barrier", "SPEC", "treat these functions as barriers too; repeatable",
  .letter = 'b', .group = GROUP_TARGET, .commands = CAPTURE | LIST | HANG, .common = true,
  CALL(option_take_barrier) },
{ "frames", "N", "attribute a barrier to its Nth caller",
  .group = GROUP_TARGET, .commands = CAPTURE, .kind = OPTION_INTEGER, .most = SBT_FRAMES_MAX,
  TO(options.frames), .expected = "a number of callers, 0 to 8," },
{ "discover", NULL, "look for hand-written barriers on futexes too",
  .group = GROUP_TARGET, .commands = CAPTURE, CALL(option_take_discover), .value = true },
{ "no-discover", NULL, "do not look for hand-written barriers at all",
  .group = GROUP_TARGET, .commands = CAPTURE, CALL(option_take_discover), .value = false },
{ "events", NULL, "list the counters of this machine",
  .group = GROUP_TARGET, .commands = LIST, .kind = OPTION_TRUE, TO(events) },

/* --- what to measure -------------------------------------------------------------------------- */
{ "events", "LIST", "count these events by thread and phase",
  .letter = 'e', .group = GROUP_MEASURE, .commands = WRITE, .common = true,
  CALL(option_take_events) },
{ "hang", "SECONDS", "report hangs after SECONDS (default 10; 0: never)",
  .group = GROUP_MEASURE, .commands = WRITE, .common = true, .kind = OPTION_SECONDS, .most = 1e9,
  TO(options.hang_ns), .expected = "a number of seconds" },
{ "no-causes", NULL, "do not measure where the time of threads goes",
  .group = GROUP_MEASURE, .commands = CAPTURE, .kind = OPTION_FALSE, TO(options.causes) },
{ "no-samples", NULL, "do not sample threads on a CPU, to show where their work is",
  .group = GROUP_MEASURE, .commands = CAPTURE, .kind = OPTION_FALSE, TO(options.samples) },
{ "sample-rate", "HZ", "samples of each CPU in a second (default: the kernel's tick)",
  .group = GROUP_MEASURE, .commands = CAPTURE, .kind = OPTION_INTEGER, .least = 1, .most = 10000,
  TO(options.sample_hz), .expected = "a number of samples in a second, 1 to 10000," },
{ "aggregate", NULL, "keep only sums, in the kernel, for pthread barriers",
  .group = GROUP_MEASURE, .commands = TRACE, .kind = OPTION_TRUE, TO(options.aggregate) },

/* --- what to print while it runs -------------------------------------------------------------- */
{ "watch", "BARRIER", "print each episode of this barrier; repeatable",
  .letter = 'w', .group = GROUP_SHOW, .commands = SHOW, .silent = RECORD | PREDICT, .common = true,
  CALL(option_take_watch) },
{ "watch-all", NULL, "print each episode of every barrier",
  .letter = 'W', .group = GROUP_SHOW, .commands = SHOW, .silent = RECORD | PREDICT,
  .kind = OPTION_TRUE, TO(options.watch_all) },
{ "name", "NAME=BARRIER", "name a barrier and print its episodes briefly; repeatable",
  .group = GROUP_SHOW, .commands = SHOW, .silent = RECORD | PREDICT, CALL(option_take_name),
  .expected = "NAME=BARRIER" },
{ "warn-time", "MS", "warn of barrier times of MS ms or more (default 1000)",
  .group = GROUP_SHOW, .commands = SHOW, .silent = RECORD | PREDICT, .kind = OPTION_INTEGER,
  .most = 18446744073709, .scale = 1e6, TO(options.warn_ns),
  .expected = "a number of milliseconds" },
{ "warn-every", "N", "print at most one warning in N for each barrier",
  .group = GROUP_SHOW, .commands = SHOW, .silent = RECORD | PREDICT, .kind = OPTION_INTEGER,
  .least = 1, .most = 18446744073709551615.0, TO(options.warn_every),
  .expected = "a number from 1" },
{ "no-warnings", NULL, "print no warnings",
  .group = GROUP_SHOW, .commands = SHOW, .silent = RECORD | PREDICT, .kind = OPTION_FALSE,
  TO(options.warnings) },
{ "phase", "NAME=A..B", "report barrier A to barrier B as a phase; repeatable",
  .group = GROUP_SHOW, .commands = SHOW, .silent = RECORD | PREDICT, CALL(option_take_phase),
  .expected = "NAME=[BARRIER]..BARRIER, 32 times at most," },
{ "phase-times", NULL, "print the time of every phase",
  .group = GROUP_SHOW, .commands = SHOW, .silent = RECORD | PREDICT, .kind = OPTION_TRUE,
  TO(options.phase_times) },

/* --- part of a recording ---------------------------------------------------------------------- */
{ "from", "SECONDS", "begin SECONDS after the start of tracing",
  .group = GROUP_SELECT, .commands = REPORT | PREDICT, SECONDS(0, 1e9), TO(from_s),
  .expected = "a number of seconds" },
{ "to", "SECONDS", "end SECONDS after the start of tracing",
  .group = GROUP_SELECT, .commands = REPORT | PREDICT, SECONDS(0, 1e9), TO(to_s),
  .expected = "a number of seconds" },
{ "site", "BARRIER", "print only the rows of this barrier; repeatable",
  .group = GROUP_SELECT, .commands = REPORT, .kind = OPTION_LIST, TO(sites) },
{ "thread", "TID", "print only the rows of this thread; repeatable",
  .group = GROUP_SELECT, .commands = REPORT, .kind = OPTION_LIST, TO(threads) },

/* --- predict ---------------------------------------------------------------------------------- */
{ "processors", "LIST", "numbers of processors, such as 1,2,4-8",
  .group = GROUP_PREDICT, .commands = PREDICT, .kind = OPTION_TEXT, TO(processors) },
{ "machine", "MACHINE", "a file of parameters, or a built-in machine",
  .choices = "laptop two-socket cm5 distributed ideal",
  .group = GROUP_PREDICT, .commands = PREDICT, .kind = OPTION_TEXT, TO(machine) },
{ "barrier-model", "MODEL", "how barriers work",
  .choices = "linear central tree dissemination free",
  .group = GROUP_PREDICT, .commands = PREDICT, .kind = OPTION_TEXT, TO(barrier_model) },
{ "set", "NAME=VALUE", "set one parameter of the machine; repeatable",
  .group = GROUP_PREDICT, .commands = PREDICT, .kind = OPTION_LIST, TO(sets) },
{ "parameters", NULL, "print the machine's parameters, and exit",
  .group = GROUP_PREDICT, .commands = PREDICT, .kind = OPTION_TRUE, TO(parameters) },
{ "calibrate", NULL, "measure this machine, print the result, and exit",
  .group = GROUP_PREDICT, .commands = PREDICT, .kind = OPTION_TRUE, TO(calibrate) },

/* --- diff and series -------------------------------------------------------------------------- */
{ "fail-above", "PERCENT", "exit with status 3 if a regression exceeds PERCENT",
  .group = GROUP_COMPARE, .commands = DIFF, .kind = OPTION_DECIMAL, .most = DBL_MAX, .scale = 0.01,
  TO(fail_above), .percent_sign = true, .expected = "a number of per cent" },
{ "quantity", "LIST", "compare only these quantities; repeatable",
  .choices = "phase barrier lost release elapsed efficiency functions counters",
  .group = GROUP_COMPARE, .commands = DIFF, CALL(option_take_quantities) },
{ "confidence", "PERCENT", "confidence of tests and intervals (default 95)",
  .group = GROUP_COMPARE, .commands = DIFF, .kind = OPTION_DECIMAL, .least = 50,
  .most = 100 - 64 * DBL_EPSILON, .scale = 0.01, TO(confidence), .percent_sign = true,
  .expected = "a number of per cent from 50 to below 100" },
{ "label", "LABEL", "label the files that follow; ROW/COLUMN: 2-way table",
  .letter = 'l', .group = GROUP_COMPARE, .commands = SERIES, CALL(option_take_label) },
{ "by", "WHAT", "label the other files by",
  .choices = "run command threads file",
  .group = GROUP_COMPARE, .commands = SERIES, .kind = OPTION_CHOICE, TO(by) },
{ "base", "BASE", "base of relative times, or a label",
  .choices = "first fastest row column",
  .group = GROUP_COMPARE, .commands = SERIES, .kind = OPTION_TEXT, TO(base) },

/* --- output ----------------------------------------------------------------------------------- */
{ "detail", NULL, "print the whole report, not only its first screen",
  .group = GROUP_OUTPUT, .commands = SHOW, .silent = RECORD | PREDICT, .common = true,
  .kind = OPTION_TRUE, TO(options.detail) },
{ "no-pager", NULL, "print to the terminal without a pager",
  .group = GROUP_OUTPUT, .commands = REPORT | PREDICT | DIFF | SERIES | DOCTOR,
  .kind = OPTION_TRUE, TO(options.no_pager) },
{ "output", "FILE", "write the report to FILE",
  .letter = 'o', .group = GROUP_OUTPUT, .commands = TRACE, .common = true, .kind = OPTION_TEXT,
  TO(options.output) },
{ "output", "FILE", "write the recording to FILE",
  .letter = 'o', .group = GROUP_OUTPUT, .commands = RECORD, .kind = OPTION_TEXT,
  TO(options.output) },
{ "output", "FILE", "write to FILE instead of standard output",
  .letter = 'o', .group = GROUP_OUTPUT,
  .commands = REPORT | HANG | PREDICT | DIFF | SERIES | DOCTOR, .kind = OPTION_TEXT,
  TO(options.output) },
{ "json", NULL, "write JSON Lines, one object per line",
  .group = GROUP_OUTPUT, .commands = ANY & ~(RECORD | TOP), .common = true,
  CALL(option_take_format), .value = EMIT_JSON },
{ "csv", NULL, "write CSV: the fields of --json in one table",
  .group = GROUP_OUTPUT, .commands = SHOW | PREDICT | DIFF | SERIES, CALL(option_take_format),
  .value = EMIT_CSV },
{ "markdown", NULL, "write the text as Markdown",
  .group = GROUP_OUTPUT, .commands = SHOW | PREDICT | DIFF | SERIES, CALL(option_take_format),
  .value = EMIT_MARKDOWN },
{ "json-schema", NULL, "print the JSON Schema of --json, and exit",
  .group = GROUP_OUTPUT, .commands = SHOW | RECORD | PREDICT, .kind = OPTION_SCHEMA },
{ "record", "FILE", "also write a recording, for sbt-trace report",
  .group = GROUP_OUTPUT, .commands = TRACE, .common = true, .kind = OPTION_TEXT,
  TO(options.record) },
{ "record-to", "FILE", "write the predicted run as a recording",
  .group = GROUP_OUTPUT, .commands = PREDICT, .kind = OPTION_TEXT, TO(record_to) },
{ "html", "FILE", "also write a page for a browser, with pictures",
  .group = GROUP_OUTPUT, .commands = REPORT | PREDICT | DIFF | SERIES, .kind = OPTION_TEXT,
  TO(html) },
{ "with", "RECORDING", "with --html: also show this recording; repeatable",
  .group = GROUP_OUTPUT, .commands = REPORT, .kind = OPTION_LIST, TO(with) },
{ "chrome", "FILE", "also write a timeline for Perfetto",
  .group = GROUP_OUTPUT, .commands = REPORT, .kind = OPTION_TEXT, TO(chrome) },
{ "folded", "FILE", "also write where all time went, for a flame graph",
  .group = GROUP_OUTPUT, .commands = REPORT, .kind = OPTION_TEXT, TO(folded) },
{ "folded-stacks", "FILE", "also write the sampled stacks by barrier, for a flame graph",
  .group = GROUP_OUTPUT, .commands = REPORT, .kind = OPTION_TEXT, TO(folded_stacks) },
{ "folded-late", "FILE", "the same: references and late threads, for a difference",
  .group = GROUP_OUTPUT, .commands = REPORT, .kind = OPTION_TEXT, TO(folded_late) },
{ "interval", "SECONDS", "refresh every SECONDS (default 1)",
  .letter = 'd', .group = GROUP_OUTPUT, .commands = TOP, .kind = OPTION_SECONDS, .least = 0.1,
  .most = 86400, TO(interval_ns), .expected = "a number of seconds from 0.1" },
{ "iterations", "N", "exit after N refreshes",
  .letter = 'n', .group = GROUP_OUTPUT, .commands = TOP, .kind = OPTION_INTEGER, .least = 1,
  .most = 1e15, TO(iterations), .expected = "a number from 1" },
{ "keep-processes", "N", "report N exited processes one by one (default 256)",
  .group = GROUP_OUTPUT, .commands = SHOW | RECORD, .kind = OPTION_INTEGER, .most = 2147483647,
  TO(options.keep), .expected = "a number of processes" },

/* --- how to trace ----------------------------------------------------------------------------- */
{ "cost-limit", "N", "stop tracing a process if its overhead exceeds N %",
  .group = GROUP_TRACING, .commands = WRITE, .kind = OPTION_DECIMAL, .least = DBL_MIN, .most = 1e5,
  .scale = 0.01, TO(options.cost_limit),
  .expected = "a number of per cent above 0 and up to 100000, without \"%\"," },
{ "attach", "METHOD", "attach method to try first",
  .choices = "session multi perf",
  .group = GROUP_TRACING, .commands = CAPTURE, CALL(option_take_attach) },
{ "departures", "METHOD", "how departures are found (default: inferred where possible)",
  .choices = "seen inferred",
  .group = GROUP_TRACING, .commands = WRITE, .kind = OPTION_CHOICE, TO(options.departures) },
{ "ring-size", "KIB", "buffer size of each CPU in KiB (default 2048)",
  .group = GROUP_TRACING, .commands = CAPTURE, CALL(option_take_ring_size), .least = 1,
  .most = 1 << 20, .scale = 1024, .expected = "a number of KiB up to 1048576" },
{ "debuginfod", NULL, "ask debuginfod servers for names after tracing",
  .group = GROUP_TRACING, .commands = CAPTURE, .kind = OPTION_TRUE, TO(options.debuginfod) },

/* --- general ---------------------------------------------------------------------------------- */
{ "quiet", NULL, "print only the report, at the end",
  .letter = 'q', .group = GROUP_GENERAL, .commands = SHOW, .common = true, .kind = OPTION_TRUE,
  TO(options.quiet) },
{ "quiet", NULL, "print no progress and no summary",
  .letter = 'q', .group = GROUP_GENERAL, .commands = RECORD, .kind = OPTION_TRUE,
  TO(options.quiet) },
{ "quiet", NULL, "print no progress",
  .letter = 'q', .group = GROUP_GENERAL, .commands = PREDICT, .kind = OPTION_TRUE,
  TO(options.quiet) },
{ "verbose", NULL, "print which probes are used, and why",
  .letter = 'v', .group = GROUP_GENERAL, .commands = SHOW | RECORD, .silent = PREDICT,
  .kind = OPTION_COUNT, TO(options.verbose) },
{ "verbose", NULL, "print why some facts are missing",
  .letter = 'v', .group = GROUP_GENERAL, .commands = HANG, .kind = OPTION_COUNT,
  TO(options.verbose) },
{ "help", NULL, "print help; --help=all: help of all commands",
  .letter = 'h', .group = GROUP_GENERAL, .commands = ALL, .common = true, .kind = OPTION_HELP },
{ "version", NULL, "print the version",
  .group = GROUP_GENERAL, .commands = ALL, .kind = OPTION_VERSION },
};
/* clang-format on */

const size_t noptions = sizeof(option_table) / sizeof(option_table[0]);

static bool takes(const struct option_row *row, enum command command)
{
	return (row->commands | row->silent) >> command & 1;
}

const struct option_row *option_by_name(enum command command, const char *name)
{
	size_t i;

	for (i = 0; i < noptions; i++)
		if (takes(&option_table[i], command) && !strcmp(option_table[i].name, name))
			return &option_table[i];
	return NULL;
}

const struct option_row *option_by_letter(enum command command, char letter)
{
	size_t i;

	for (i = 0; i < noptions; i++)
		if (takes(&option_table[i], command) && option_table[i].letter == letter)
			return &option_table[i];
	return NULL;
}

unsigned option_commands(const char *name, char letter)
{
	unsigned commands = 0;

	array_for_each (row, option_table, noptions)
		if (name ? !strcmp(row->name, name) : row->letter && row->letter == letter)
			commands |= row->commands;
	return commands;
}

const char *option_nearest(enum command command, const char *word)
{
	struct nearest nearest = nearest_to(word);

	array_for_each (row, option_table, noptions)
		if (row->commands >> command & 1)
			nearest_try(&nearest, row->name);
	array_for_each (row, option_table, noptions)
		nearest_try(&nearest, row->name);
	return nearest.best;
}
