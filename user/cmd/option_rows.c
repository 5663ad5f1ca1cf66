// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/option_rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>


#define NO    no_argument
#define VALUE required_argument
#define ALL   (OF_TRACE | OF_RECORD | OF_REPORT)
#define BOTH  (OF_TRACE | OF_RECORD)
#define SEE   (OF_TRACE | OF_REPORT)

#define COLUMN 24 /* where texts begin */

/* A line of a page, for the commands of @shown, and the option that it begins with. */
struct row {
	const char *section; /* a new one begins here */
	const char *name;
	int c, arg;
	uint8_t of; /* who takes it */
	uint8_t shown; /* whose page has this line; 0: it is told of in another's */
	const char *left, *text;
};

/* clang-format off */
static const struct row rows[] = {
{ "What to trace", "pid", 'p', VALUE, ALL, BOTH, "-p, --pid LIST",
  "these processes, all their threads, and the children they make" },
{ NULL, "all", 'a', NO, ALL, BOTH, "-a, --all",
  "every process, those started later included" },
{ NULL, "comm", OPT_COMM, VALUE, ALL, BOTH, "    --comm NAME",
  "with -a: only processes of this name; --cgroup PATH: in or below this one" },
{ NULL, "cgroup", OPT_CGROUP, VALUE, ALL, 0, NULL, NULL },
{ NULL, "no-children", OPT_NO_CHILDREN, NO, ALL, BOTH, "    --no-children",
  "do not follow children; then no other process ever meets a probe" },
{ NULL, "user", 'u', VALUE, ALL, BOTH, "-u, --user USER",
  "who COMMAND runs as (default: the user behind sudo)" },
{ NULL, "discover", OPT_DISCOVER, NO, ALL, BOTH, "    --discover",
  "look for barriers that nobody named on futexes too, and with -a; on\n"
  "condition variables they are looked for anyway; --no-discover: nowhere" },
{ NULL, "no-discover", OPT_NO_DISCOVER, NO, ALL, 0, NULL, NULL },
{ NULL, "barrier", 'b', VALUE, ALL, BOTH, "-b, --barrier SPEC",
  "this function too: [FILE:]NAME[..NAME][@N|@all][,count=N]; NAME may be a\n"
  "pattern, or FILE:0xADDRESS; @: which argument is the barrier; repeatable" },
{ NULL, "frames", OPT_FRAMES, VALUE, ALL, BOTH, "    --frames N",
  "a barrier's site is the call N callers further up" },
{ NULL, "delay", OPT_DELAY, VALUE, ALL, BOTH, "    --delay SECONDS",
  "begin later; -d, --duration SECONDS: end after that long" },
{ NULL, "duration", 'd', VALUE, ALL, 0, NULL, NULL },

{ "What to record", "events", 'e', VALUE, 0, OF_RECORD, "-e, --events LIST",
  "count these by thread and phase: cycles,instructions,page-faults, PAPI's" },
{ NULL, "hang", OPT_HANG, VALUE, 0, OF_RECORD, "    --hang SECONDS",
  "barriers that some wait at for so long, and why (default 10; 0: never)" },

{ "Which part of it", "from", OPT_FROM, VALUE, OF_REPORT, OF_REPORT, "    --from SECONDS",
  "from there on; --to SECONDS: up to there; from the start of tracing" },
{ NULL, "to", OPT_TO, VALUE, OF_REPORT, 0, NULL, NULL },
{ NULL, "site", OPT_SITE, VALUE, OF_REPORT, OF_REPORT, "    --site BARRIER",
  "only rows of barriers that are called so (as -w has it); repeatable" },
{ NULL, "thread", OPT_THREAD, VALUE, OF_REPORT, OF_REPORT, "    --thread TID",
  "only rows of these threads, and barriers that they came to; repeatable" },

{ "What to see while it runs", NULL, 0, 0, 0, OF_TRACE, NULL, NULL },
{ "What to see", NULL, 0, 0, 0, OF_REPORT, NULL, NULL },
{ NULL, "watch", 'w', VALUE, ALL, SEE, "-w, --watch BARRIER",
  "each meeting there in full; BARRIER is a name given with --name, a function,\n"
  "FILE:LINE, LINE, or the #id that reports show; repeatable" },
{ NULL, "watch-all", 'W', NO, ALL, SEE, "-W, --watch-all",
  "each meeting at every barrier in full" },
{ NULL, "name", OPT_NAME, VALUE, ALL, SEE, "    --name N=BARRIER",
  "call a barrier N, and tell of each meeting there briefly; repeatable" },
{ NULL, "warn-time", OPT_WARN_TIME, VALUE, ALL, SEE, "    --warn-time MS",
  "warn when a barrier takes this long (default 1000; 0: of every meeting)" },
{ NULL, "warn-every", OPT_WARN_EVERY, VALUE, ALL, SEE, "    --warn-every N",
  "at most one warning a barrier in N; --no-warnings: none" },
{ NULL, "no-warnings", OPT_NO_WARNINGS, NO, ALL, 0, NULL, NULL },
{ NULL, "hang", OPT_HANG, VALUE, ALL, OF_TRACE, "    --hang SECONDS",
  "tell of barriers that some wait at for so long, who is missing, and why\n"
  "(default 10; 0: never)" },
{ NULL, "phase", OPT_PHASE, VALUE, ALL, SEE, "    --phase N=B..E",
  "sum up phase N, from barrier B (empty: the start) to E; repeatable" },
{ NULL, "phase-times", OPT_PHASE_TIMES, NO, ALL, SEE, "    --phase-times",
  "the time of every phase, one line each" },
{ NULL, "events", 'e', VALUE, ALL, OF_TRACE, "-e, --events LIST",
  "count these by thread and phase: cycles,instructions,page-faults, PAPI's" },

{ "Output", "output", 'o', VALUE, ALL, OF_TRACE, "-o, --output FILE",
  "into FILE; else to stderr with COMMAND, to stdout without" },
{ NULL, "output", 'o', VALUE, 0, OF_RECORD, "-o, --output FILE",
  "the recording; without it there is none to be made" },
{ NULL, "output", 'o', VALUE, 0, OF_REPORT, "-o, --output FILE",
  "into FILE; else to stdout" },
{ NULL, "json", OPT_JSON, NO, ALL, OF_TRACE, "    --json, --csv",
  "JSON Lines, or CSV; with COMMAND they need -o; --json-schema: what is in it;\n"
  "--markdown: the text as Markdown; --record FILE: a recording, too" },
{ NULL, "json", OPT_JSON, NO, 0, OF_REPORT, "    --json, --csv",
  "JSON Lines, or CSV; --json-schema: what is in it; --markdown: the text so" },
{ NULL, "csv", OPT_CSV, NO, ALL, 0, NULL, NULL },
{ NULL, "json-schema", OPT_SCHEMA, NO, ALL, 0, NULL, NULL },
{ NULL, "markdown", OPT_MARKDOWN, NO, ALL, 0, NULL, NULL },
{ NULL, "record", OPT_RECORD, VALUE, ALL, 0, NULL, NULL },
{ NULL, "html", OPT_HTML, VALUE, OF_REPORT, OF_REPORT, "    --html FILE",
  "the report as one page for a browser too: timeline, phases, causes, counters" },
{ NULL, "with", OPT_WITH, VALUE, OF_REPORT, OF_REPORT, "    --with RECORDING",
  "compare with this one on that page: phases, idle times, speedup; repeatable" },
{ NULL, "chrome", OPT_CHROME, VALUE, OF_REPORT, OF_REPORT, "    --chrome FILE",
  "the timeline for Perfetto or chrome://tracing; --folded FILE: flame graph" },
{ NULL, "folded", OPT_FOLDED, VALUE, OF_REPORT, 0, NULL, NULL },
{ NULL, "cost-limit", OPT_COST_LIMIT, VALUE, ALL, BOTH, "    --cost-limit N",
  "let go of a process that tracing costs more than N % of its threads' time" },
{ NULL, "keep-processes", OPT_KEEP, VALUE, ALL, 0, NULL, NULL },
{ NULL, "debuginfod", OPT_DEBUGINFOD, NO, ALL, 0, NULL, NULL },
{ NULL, "no-causes", OPT_NO_CAUSES, NO, ALL, BOTH, "    --no-causes",
  "do not ask where time goes and why; --debuginfod: servers may give names" },
{ NULL, "aggregate", OPT_AGGREGATE, NO, ALL, OF_TRACE, "    --aggregate",
  "sums kept in the kernel, of pthread barriers only; no single meetings" },
{ NULL, "attach", OPT_ATTACH, VALUE, ALL, BOTH, "    --attach METHOD",
  "session, multi or perf: where to begin; --ring-size KIB: a CPU's buffer" },
{ NULL, "ring-size", OPT_RING, VALUE, ALL, 0, NULL, NULL },
{ NULL, "quiet", 'q', NO, ALL, SEE, "-q, --quiet",
  "only the report at the end        -v, --verbose  the probes, and why there" },
{ NULL, "quiet", 'q', NO, 0, OF_RECORD, "-q, --quiet",
  "not a word of what was recorded, and no progress" },
{ NULL, "verbose", 'v', NO, ALL, 0, NULL, NULL },
{ NULL, "help", 'h', NO, ALL, ALL, "-h, --help",
  "this; --version; --keep-processes N: exited ones told one by one (256)" },
{ NULL, "version", OPT_VERSION, NO, ALL, 0, NULL, NULL },
};

static const char commands[] =
"Usage: sbt-trace [OPTIONS] -- COMMAND [ARGS...]   run COMMAND, trace it and what it starts\n"
"       sbt-trace [OPTIONS] -p PID[,PID...]        attach to running processes\n"
"       sbt-trace [OPTIONS] -a                     the whole machine\n"
"       sbt-trace top [-p PID | -- COMMAND]        a live table of who loses most\n"
"       sbt-trace hang -p PID[,PID...]             where a process that hangs is stuck\n"
"       sbt-trace list BINARY | -p PID | --events  barriers that can be seen there; counters for -e\n"
"       sbt-trace doctor                           what can be done here, and what to do about it\n"
"       sbt-trace record -o FILE [OPTIONS] ...     the same capture into a file; then report FILE\n"
"       sbt-trace predict FILE                     that run on other processors or machines\n"
"       sbt-trace diff A B; sbt-trace series FILE...  recordings compared; many of them in one table\n"
"\n"
"Which phase of a parallel program costs most, is the load even, who comes last to which barrier and\n"
"why, where it hangs. Nothing is recompiled. Needs Linux 5.10 or later, and root or two capabilities.\n";

static const char trace[] =
"Usage: sbt-trace [trace] [OPTIONS] -- COMMAND [ARGS...]   run COMMAND, trace it and what it starts\n"
"       sbt-trace [trace] [OPTIONS] -p PID[,PID...]        attach to running processes\n"
"       sbt-trace [trace] [OPTIONS] -a                     the whole machine\n"
"\n"
"Prints what is watched and warned about as it happens, and the report at the end: which phase costs\n"
"most, is the load even, who comes last to which barrier and why, where it hangs. The exit status is\n"
"COMMAND's, 128 and the signal that killed it; else 0; 1 if tracing failed or COMMAND cannot be run,\n"
"2 for wrong usage.\n";

static const char record[] =
"Usage: sbt-trace record -o FILE [OPTIONS] -- COMMAND [ARGS...]\n"
"       sbt-trace record -o FILE [OPTIONS] -p PID[,PID...] | -a\n"
"\n"
"What trace would see goes into the recording FILE, and nothing is printed of it: sbt-trace report\n"
"FILE does that, here or elsewhere, as often as one likes; diff, series and predict read it too. It\n"
"reads up to a second before the end after a crash or on a full disk. A COMMAND that cannot be run\n"
"leaves FILE as it was; the exit status is as trace's. With mpirun the first rank's sbt-trace on a\n"
"machine records all of them into its FILE.\n";

static const char report[] =
"Usage: sbt-trace report [OPTIONS] FILE...\n"
"\n"
"Prints what trace would have printed, from the recording FILE (sbt-trace record -o FILE, or trace\n"
"--record FILE): the numbers are the same. What to see may be another thing each time. Several are\n"
"recordings of one run on several nodes, put together by the meetings that they have in common.\n";

static const char variables[] =
"\n"
"SIGUSR1: a report at once. SIGINT, SIGTERM: end, report, leave the targets running.\n"
"The SBT library's variables hold, options win: SBT_VERBOSE=1 lists them. More: man sbt-trace\n";

static const char signals[] =
"\n"
"SIGUSR1: FILE reads up to now. SIGINT, SIGTERM: end, leave the targets running.\n"
"More: man sbt-trace; the format: man 5 sbt-trace-recording\n";

static const char parts[] =
"\n"
"Times, sums and shares are of the part from --from to --to alone; --site and --thread leave rows\n"
"out and change no figure. Exit status: 0; 1 if FILE cannot be read; 2 for wrong usage.\n";
/* clang-format on */

#define NROWS (sizeof(rows) / sizeof(rows[0]))

struct option *option_rows_longs(unsigned int of, const struct option *more)
{
	size_t nmore = 0, n = 0, i;
	struct option *longs;

	while (more && more[nmore].name)
		nmore++;
	longs = calloc(NROWS + nmore + 1, sizeof(*longs));
	if (!longs)
		return NULL;
	for (i = 0; i < NROWS; i++)
		if (rows[i].of & of)
			longs[n++] = (struct option){ rows[i].name, rows[i].arg, NULL, rows[i].c };
	if (nmore)
		memcpy(longs + n, more, nmore * sizeof(*longs));
	return longs;
}

/* A text of several lines begins them all in the same column. */
static void print_row(FILE *out, const struct row *row)
{
	const char *text = row->text, *end;
	const char *left = row->left;

	for (; text; text = *end ? end + 1 : NULL, left = "") {
		end = strchrnul(text, '\n');
		fprintf(out, "  %-*s%.*s\n", COLUMN - 2, left, (int)(end - text), text);
	}
}

void option_rows_print(FILE *out, enum option_page page)
{
	static const struct {
		const char *head, *foot;
		uint8_t of;
	} pages[] = {
		[OPTION_PAGE_GENERAL] = { commands, variables, OF_TRACE },
		[OPTION_PAGE_TRACE] = { trace, variables, OF_TRACE },
		[OPTION_PAGE_RECORD] = { record, signals, OF_RECORD },
		[OPTION_PAGE_REPORT] = { report, parts, OF_REPORT },
	};
	const char *section = NULL;
	size_t i;

	fputs(pages[page].head, out);
	for (i = 0; i < NROWS; i++) {
		bool mine = rows[i].shown & pages[page].of;

		/* A section's name may stand with a row that this page has not. */
		if (rows[i].section && (mine || rows[i].text))
			section = rows[i].section;
		if (!mine)
			continue;
		if (section)
			fprintf(out, "%s\n", section);
		section = NULL;
		print_row(out, &rows[i]);
	}
	fputs(pages[page].foot, out);
}
