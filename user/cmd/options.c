// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"

#define RING_BYTES (2u << 20)

enum {
	OPT_JSON = 256,
	OPT_CSV,
	OPT_WARN_TIME,
	OPT_NO_WARNINGS,
	OPT_WARN_EVERY,
	OPT_PHASE_TIMES,
	OPT_DELAY,
	OPT_CGROUP,
	OPT_COMM,
	OPT_NAME,
	OPT_NO_CHILDREN,
	OPT_ATTACH,
	OPT_RING,
	OPT_DEBUGINFOD,
	OPT_SCHEMA,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "all", no_argument, NULL, 'a' },
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "watch", required_argument, NULL, 'w' },
	{ "watch-all", no_argument, NULL, 'W' },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "warn-time", required_argument, NULL, OPT_WARN_TIME },
	{ "no-warnings", no_argument, NULL, OPT_NO_WARNINGS },
	{ "warn-every", required_argument, NULL, OPT_WARN_EVERY },
	{ "phase-times", no_argument, NULL, OPT_PHASE_TIMES },
	{ "duration", required_argument, NULL, 'd' },
	{ "delay", required_argument, NULL, OPT_DELAY },
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "user", required_argument, NULL, 'u' },
	{ "no-children", no_argument, NULL, OPT_NO_CHILDREN },
	{ "attach", required_argument, NULL, OPT_ATTACH },
	{ "ring-size", required_argument, NULL, OPT_RING },
	{ "debuginfod", no_argument, NULL, OPT_DEBUGINFOD },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "json-schema", no_argument, NULL, OPT_SCHEMA },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static void print_help(void)
{
	fputs("Usage: sbt-trace [OPTIONS] -- COMMAND [ARGS...]   run COMMAND, trace it and what it "
	      "starts\n"
	      "       sbt-trace [OPTIONS] -p PID[,PID...]        attach to running processes\n"
	      "       sbt-trace [OPTIONS] -a                     the whole machine\n"
	      "\n"
	      "Follows threaded programs through their pthread barriers: which phase costs most, "
	      "is the load even,\n"
	      "who comes last. Nothing is recompiled. Needs root and Linux 5.10 or later.\n"
	      "\n"
	      "What to trace\n"
	      "  -p, --pid LIST        these processes, all their threads, and the children they "
	      "make\n"
	      "  -a, --all             every process, those started later included\n"
	      "      --comm NAME       with -a: only processes of this name\n"
	      "      --cgroup PATH     with -a: only processes in or below this cgroup (version "
	      "2)\n"
	      "      --no-children     do not follow children; then no other process ever meets a "
	      "probe\n"
	      "  -u, --user USER       who COMMAND runs as (default: the user behind sudo)\n"
	      "      --delay SECONDS   begin later\n"
	      "  -d, --duration SECONDS  end after that long\n"
	      "What to see while it runs\n"
	      "  -w, --watch BARRIER   each meeting there in full; BARRIER is a name given with "
	      "--name, a function,\n"
	      "                        FILE:LINE, LINE, or the #id that reports show; repeatable\n"
	      "  -W, --watch-all       each meeting at every barrier in full\n"
	      "      --name N=BARRIER  call a barrier N, and tell of each meeting there briefly; "
	      "repeatable\n"
	      "      --warn-time MS    warn when a barrier takes this long (default 1000; 0: of "
	      "every meeting)\n"
	      "      --warn-every N    at most one warning a barrier in N\n"
	      "      --no-warnings     none\n"
	      "      --phase-times     the time of every phase, one line each\n"
	      "Output\n"
	      "  -o, --output FILE     into FILE; else to stderr with COMMAND, to stdout without\n"
	      "      --json, --csv     JSON Lines, or CSV; with COMMAND they need -o\n"
	      "      --json-schema     print the JSON Schema of --json, and exit\n"
	      "      --debuginfod      debuginfod servers may be asked for names\n"
	      "      --attach METHOD   session, multi or perf: where to begin trying (default "
	      "session)\n"
	      "      --ring-size KIB   size of each CPU's buffer (default 2048)\n"
	      "  -q, --quiet           only the report at the end        -v, --verbose  the "
	      "probes, and why there\n"
	      "  -h, --help            this                              --version\n"
	      "\n"
	      "SIGUSR1: a report at once. SIGINT, SIGTERM: end, report, leave the targets "
	      "running.\n"
	      "The SBT library's variables hold, options win: SBT_VERBOSE=1 lists them. More: man "
	      "sbt-trace\n",
	      stdout);
}

/* --- values ---------------------------------------------------------------------------------------- */

static int parse_u64(const char *s, uint64_t max, uint64_t *out)
{
	unsigned long long v;
	char *end;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || *end || v > max)
		return -EINVAL;
	*out = v;
	return 0;
}

static int parse_seconds(const char *s, double *out)
{
	char *end;

	if ((*s < '0' || *s > '9') && *s != '.')
		return -EINVAL;
	errno = 0;
	*out = strtod(s, &end);
	return errno || *end || !isfinite(*out) || *out < 0 || *out > 1e9 ? -EINVAL : 0;
}

static int add_watch(struct options *o, const char *barrier)
{
	const char **watch = realloc(o->watch, (o->nwatch + 1) * sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	o->watch = watch;
	watch[o->nwatch++] = barrier;
	return 0;
}

/* Cuts the argument in two where it lies: argv is ours to keep. */
static int add_name(struct options *o, char *arg)
{
	struct options_name *names;
	char *eq = strchr(arg, '=');

	if (!eq || eq == arg || !eq[1])
		return -EINVAL;
	names = realloc(o->names, (o->nnames + 1) * sizeof(*names));
	if (!names)
		return -ENOMEM;
	*eq = '\0';
	o->names = names;
	names[o->nnames].name = arg;
	names[o->nnames++].barrier = eq + 1;
	return 0;
}

static int add_pids(struct options *o, const char *list)
{
	char *copy = strdup(list), *save = NULL, *word;
	int err = copy ? 0 : -ENOMEM, *pids;
	size_t before = o->npids;
	uint64_t pid;

	for (word = copy ? strtok_r(copy, ",", &save) : NULL; word && !err;
	     word = strtok_r(NULL, ",", &save)) {
		err = parse_u64(word, 1 << 30, &pid);
		if (!err && !pid)
			err = -EINVAL;
		pids = err ? NULL : realloc(o->pids, (o->npids + 1) * sizeof(*pids));
		if (!pids)
			break;
		o->pids = pids;
		pids[o->npids++] = (int)pid;
	}
	free(copy);
	return err || o->npids == before ? -EINVAL : 0;
}

/* --- the thesis's variables ------------------------------------------------------------------------ */

/* Appendix A: 0 is off, any other value is on. */
static bool env_bool(const char *name, bool otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strcmp(value, "0") != 0 : otherwise;
}

static void print_environment(void)
{
	fputs("SBT_WATCH        the barrier to watch: a line number, or a name\n"
	      "SBT_WATCH_ALL    1: watch all barriers (default 0)\n"
	      "SBT_WARN_TIME    milliseconds that a barrier may take before a warning (default "
	      "1000)\n"
	      "SBT_WARNINGS     0: no warnings (default 1)\n"
	      "SBT_PHASE_TIMES  1: the time of every phase (default 0)\n"
	      "SBT_NO_DEBUG     1: run the command, trace and print nothing (default 0)\n"
	      "SBT_OPTIONS      0: no banner with the options (default 1)\n"
	      "SBT_VERBOSE      1: this list (default 0)\n"
	      "SBT_EVENTS       counters by phase: not available in this version\n",
	      stderr);
}

static int read_environment(struct options *o)
{
	const char *value;
	uint64_t ms;

	value = getenv("SBT_WATCH");
	if (value && *value) {
		if (add_watch(o, value))
			return -ENOMEM;
		o->watch_from_env = true;
	}
	o->watch_all = env_bool("SBT_WATCH_ALL", false);
	o->warnings = env_bool("SBT_WARNINGS", true);
	o->phase_times = env_bool("SBT_PHASE_TIMES", false);
	o->no_debug = env_bool("SBT_NO_DEBUG", false);
	o->banner = env_bool("SBT_OPTIONS", true);
	if (env_bool("SBT_VERBOSE", false)) {
		o->verbose = 1;
		print_environment();
	}
	value = getenv("SBT_WARN_TIME");
	if (value && *value) {
		if (parse_u64(value, UINT64_MAX / 1000000, &ms)) {
			msg_error("SBT_WARN_TIME is \"%s\": a number of milliseconds is expected",
				  value);
			return -EINVAL;
		}
		o->warn_ns = ms * 1000000;
	}
	value = getenv("SBT_EVENTS");
	if (value && *value)
		msg_warn("SBT_EVENTS is ignored: this version has no counters");
	return 0;
}

/* --- the command line --------------------------------------------------------------------------------- */

static int wrong_value(const char *option, const char *value, const char *expected)
{
	msg_error("%s %s: %s is expected", option, value, expected);
	return -EINVAL;
}

static int take_option(struct options *o, int c, char *arg)
{
	uint64_t n;
	int err;

	switch (c) {
	case 'p':
		return add_pids(o, arg) ? wrong_value("-p", arg, "a list of process numbers") : 0;
	case 'a':
		o->mode = OPTIONS_SYSTEM;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case OPT_JSON:
		o->format = EMIT_JSON;
		return 0;
	case OPT_CSV:
		o->format = EMIT_CSV;
		return 0;
	case 'w':
		if (o->watch_from_env)
			o->nwatch = 0;
		o->watch_from_env = false;
		return add_watch(o, arg);
	case 'W':
		o->watch_all = true;
		return 0;
	case OPT_NAME:
		err = add_name(o, arg);
		return err == -EINVAL ? wrong_value("--name", arg, "NAME=BARRIER") : err;
	case OPT_WARN_TIME:
		if (parse_u64(arg, UINT64_MAX / 1000000, &n))
			return wrong_value("--warn-time", arg, "a number of milliseconds");
		o->warn_ns = n * 1000000;
		return 0;
	case OPT_NO_WARNINGS:
		o->warnings = false;
		return 0;
	case OPT_WARN_EVERY:
		if (parse_u64(arg, UINT64_MAX, &o->warn_every) || !o->warn_every)
			return wrong_value("--warn-every", arg, "a number from 1");
		return 0;
	case OPT_PHASE_TIMES:
		o->phase_times = true;
		return 0;
	case 'd':
		if (parse_seconds(arg, &o->duration_s) || o->duration_s <= 0)
			return wrong_value("--duration", arg, "a number of seconds above 0");
		return 0;
	case OPT_DELAY:
		if (parse_seconds(arg, &o->delay_s))
			return wrong_value("--delay", arg, "a number of seconds");
		return 0;
	case OPT_CGROUP:
		o->cgroup = arg;
		return 0;
	case OPT_COMM:
		o->comm = arg;
		return 0;
	case 'u':
		o->user = arg;
		return 0;
	case OPT_NO_CHILDREN:
		o->follow = false;
		return 0;
	case OPT_ATTACH:
		if (attach_method_parse(arg, &o->method))
			return wrong_value("--attach", arg, "session, multi or perf");
		return 0;
	case OPT_RING:
		if (parse_u64(arg, 1 << 20, &n) || !n)
			return wrong_value("--ring-size", arg, "a number of KiB up to 1048576");
		o->ring_bytes = (size_t)n << 10;
		o->ring_given = true;
		return 0;
	case OPT_DEBUGINFOD:
		o->debuginfod = true;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case 'v':
		o->verbose++;
		return 0;
	default:
		return -EINVAL;
	}
}

static int check_together(const struct options *o, bool system)
{
	bool command = o->command != NULL, pids = o->npids > 0;

	if (command + pids + system != 1) {
		msg_error(command + pids + system ? "one of -- COMMAND, -p PID and -a, not several"
						  : "what shall be traced? -- COMMAND, -p PID or "
						    "-a (see sbt-trace --help)");
		return -EINVAL;
	}
	if ((o->cgroup || o->comm) && !system) {
		msg_error("--cgroup and --comm choose among the processes of -a");
		return -EINVAL;
	}
	if (o->comm && strlen(o->comm) >= SBT_COMM_LEN) {
		msg_error("--comm %s: the kernel keeps %d characters of a name; give those",
			  o->comm, SBT_COMM_LEN - 1);
		return -EINVAL;
	}
	if (o->user && !command) {
		msg_error("-u says who COMMAND runs as: there is no COMMAND");
		return -EINVAL;
	}
	if (system && !o->follow) {
		msg_error("-a traces whoever comes: --no-children means nothing with it");
		return -EINVAL;
	}
	if (command && o->format != EMIT_TEXT && !o->output) {
		msg_error("--json and --csv with a command need -o FILE: stderr is the command's "
			  "too");
		return -EINVAL;
	}
	return 0;
}

enum options_result options_parse(int argc, char **argv, struct options *o)
{
	int c;

	memset(o, 0, sizeof(*o));
	o->warn_ns = 1000000000u;
	o->warn_every = 1;
	o->follow = true;
	o->ring_bytes = RING_BYTES;
	if (read_environment(o))
		return OPTIONS_WRONG;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:p:ao:w:Wd:u:qvh", long_options, NULL)) != -1) {
		switch (c) {
		case 'h':
			print_help();
			return OPTIONS_DONE;
		case OPT_VERSION:
			puts("sbt-trace " SBT_VERSION);
			return OPTIONS_DONE;
		case OPT_SCHEMA:
			return emit_json_schema(stdout) ? OPTIONS_WRONG : OPTIONS_DONE;
		case '?':
			if (optopt > 0 && optopt < 256)
				msg_error("unknown option -%c (see sbt-trace --help)", optopt);
			else
				msg_error("unknown option %s (see sbt-trace --help)",
					  argv[optind - 1]);
			return OPTIONS_WRONG;
		case ':':
			msg_error("option %s needs a value (see sbt-trace --help)",
				  argv[optind - 1]);
			return OPTIONS_WRONG;
		default:
			if (take_option(o, c, optarg))
				return OPTIONS_WRONG;
		}
	}
	if (optind < argc)
		o->command = argv + optind;
	if (check_together(o, o->mode == OPTIONS_SYSTEM))
		return OPTIONS_WRONG;
	if (o->npids)
		o->mode = OPTIONS_PIDS;
	return OPTIONS_GO;
}

void options_free(struct options *o)
{
	free(o->pids);
	free(o->watch);
	free(o->names);
}
