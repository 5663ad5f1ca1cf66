// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/conceptual.h"
#include "attach/attach.h"
#include "base/msg.h"
#include "base/output.h"
#include "cmd/option_rows.h"
#include "emit/emit.h"
#include "sites/rule.h"

#define RING_BYTES     (2u << 20)
#define HANG_NS	       10000000000ULL
#define KEEP_PROCESSES 256

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

/* As a share. */
static int parse_percent(const char *s, double *out)
{
	double percent;

	if (parse_seconds(s, &percent) || !(percent > 0) || percent > 1e5)
		return -EINVAL;
	*out = percent / 100;
	return 0;
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

/* The dots between BEGIN and END: not those of a path. */
static char *find_dots(char *s)
{
	char *at;

	for (at = strstr(s, ".."); at; at = strstr(at + 2, ".."))
		if (at[2] != '/')
			return at;
	return NULL;
}

/* Cuts the argument in three where it lies. */
static int add_phase(struct options *o, char *arg)
{
	char *eq = strchr(arg, '='), *dots = eq ? find_dots(eq + 1) : NULL;
	struct options_phase *phases;

	if (!dots || eq == arg || !dots[2] || o->nphases == CONCEPTUAL_MAX)
		return -EINVAL;
	phases = realloc(o->phases, (o->nphases + 1) * sizeof(*phases));
	if (!phases)
		return -ENOMEM;
	*eq = *dots = '\0';
	o->phases = phases;
	phases[o->nphases++] = (struct options_phase){ arg, eq + 1, dots + 2 };
	return 0;
}

static int add_pids(struct options *o, const char *list)
{
	size_t len = strlen(list);
	char *copy, *save = NULL, *word;
	int err, *pids;
	size_t before = o->npids;
	uint64_t pid;

	/* strtok would not mind them. */
	if (!len || list[0] == ',' || list[len - 1] == ',' || strstr(list, ",,"))
		return -EINVAL;
	copy = strdup(list);
	err = copy ? 0 : -ENOMEM;
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

/* Where their values are: the environment, or the words of a command line, each followed by its value. */
struct variables {
	char *const *words; /* NULL: the environment */
};

static const char *variable(const struct variables *v, const char *name)
{
	char *const *word;
	const char *value;

	if (!v->words) {
		value = getenv(name);
		return value && *value ? value : NULL;
	}
	for (word = v->words; word[0] && word[1]; word++)
		if (!strcmp(word[0], name))
			return word[1];
	return NULL;
}

/* Appendix A: 0 is off, any other value is on. */
static void take_bool(const struct variables *v, const char *name, bool *out)
{
	const char *value = variable(v, name);

	if (value)
		*out = strcmp(value, "0") != 0;
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
	      "SBT_EVENTS       counters by phase, as with -e (default none)\n",
	      stderr);
}

static int read_variables(const struct variables *v, struct options *o)
{
	const char *value = variable(v, "SBT_WATCH");
	bool list = false;
	uint64_t ms;

	if (value) {
		o->nwatch = 0;
		if (add_watch(o, value))
			return -ENOMEM;
		o->watch_from_env = true;
	}
	take_bool(v, "SBT_WATCH_ALL", &o->watch_all);
	take_bool(v, "SBT_WARNINGS", &o->warnings);
	take_bool(v, "SBT_PHASE_TIMES", &o->phase_times);
	take_bool(v, "SBT_NO_DEBUG", &o->no_debug);
	take_bool(v, "SBT_OPTIONS", &o->banner);
	take_bool(v, "SBT_VERBOSE", &list);
	if (list) {
		o->verbose = o->verbose ? o->verbose : 1;
		print_environment();
	}
	value = variable(v, "SBT_WARN_TIME");
	if (value) {
		if (parse_u64(value, UINT64_MAX / 1000000, &ms)) {
			msg_error("SBT_WARN_TIME is \"%s\": a number of milliseconds is expected",
				  value);
			return -EINVAL;
		}
		o->warn_ns = ms * 1000000;
	}
	value = variable(v, "SBT_EVENTS");
	if (value) {
		o->events = value;
		o->events_from = "SBT_EVENTS";
	}
	return 0;
}

static int read_environment(struct options *o)
{
	struct variables environment = { NULL };

	o->warnings = true;
	o->banner = true;
	return read_variables(&environment, o);
}

int options_read_words(struct options *o)
{
	struct variables words = { o->command + 1 };

	return o->mode == OPTIONS_COMMAND && o->command && o->command[0] ? read_variables(&words, o)
									 : 0;
}

/* --- the command line --------------------------------------------------------------------------------- */

static int wrong_value(const char *option, const char *value, const char *expected)
{
	msg_error("%s %s: %s is expected", option, value, expected);
	return -EINVAL;
}

static int add_rule(struct options *o, const char *spec)
{
	char why[256];
	int err;

	if (!o->rules)
		o->rules = calloc(1, sizeof(*o->rules));
	err = o->rules ? rules_add(o->rules, spec, why, sizeof(why)) : -ENOMEM;

	if (err == -ENOMEM)
		msg_error("-b %s: %s", spec, strerror(ENOMEM));
	else if (err)
		msg_error("-b %s: %s", spec, why);
	return err;
}

#define NOT_MINE 1

/* What to trace, as --help has it. Returns 0, -EINVAL (said), -ENOMEM or NOT_MINE. */
static int take_target(struct options *o, int c, char *arg)
{
	uint64_t n;

	switch (c) {
	case 'p':
		return add_pids(o, arg) ? wrong_value("-p", arg, "a list of process numbers") : 0;
	case 'a':
		o->mode = OPTIONS_SYSTEM;
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
	case OPT_FRAMES:
		if (parse_u64(arg, SBT_FRAMES_MAX, &n))
			return wrong_value("--frames", arg, "a number of callers, 0 to 8,");
		o->frames = (uint8_t)n;
		return 0;
	case OPT_NO_CHILDREN:
		o->follow = false;
		return 0;
	case OPT_DISCOVER:
		o->discover = o->discover_futex = true;
		o->discover_given = true;
		return 0;
	case OPT_NO_DISCOVER:
		o->discover = o->discover_futex = false;
		o->discover_given = true;
		return 0;
	case 'b':
		return add_rule(o, arg);
	default:
		return NOT_MINE;
	}
}

/* What to see while it runs. Returns as take_target(). */
static int take_view(struct options *o, int c, char *arg)
{
	double seconds;
	uint64_t n;
	int err;

	switch (c) {
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
	case OPT_PHASE:
		err = add_phase(o, arg);
		return err == -EINVAL ? wrong_value("--phase", arg,
						    "NAME=[BARRIER]..BARRIER, 32 times at most,")
				      : err;
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
	case OPT_HANG:
		if (parse_seconds(arg, &seconds))
			return wrong_value("--hang", arg, "a number of seconds");
		o->hang_ns = (uint64_t)(seconds * 1e9);
		return 0;
	case 'e':
		o->events = arg;
		o->events_from = "-e";
		return 0;
	default:
		return NOT_MINE;
	}
}

/* Output. Returns as take_target(). */
static int take_output(struct options *o, int c, char *arg)
{
	enum emit_format format;
	uint64_t n;

	switch (c) {
	case 'o':
		o->output = arg;
		return 0;
	case OPT_JSON:
	case OPT_CSV:
	case OPT_MARKDOWN:
		format = c == OPT_JSON ? EMIT_JSON : c == OPT_CSV ? EMIT_CSV : EMIT_MARKDOWN;
		if (o->format != EMIT_TEXT && o->format != format) {
			msg_error("one of --json, --csv and --markdown, not both");
			return -EINVAL;
		}
		o->format = format;
		return 0;
	case OPT_RECORD:
		o->record = arg;
		return 0;
	case OPT_NO_CAUSES:
		o->causes = false;
		return 0;
	case OPT_AGGREGATE:
		o->aggregate = true;
		return 0;
	case OPT_COST_LIMIT:
		if (parse_percent(arg, &o->cost_limit))
			return wrong_value(
				"--cost-limit", arg,
				"a number of per cent over 0, up to 100000, without a sign");
		return 0;
	case OPT_KEEP:
		if (parse_u64(arg, UINT32_MAX / 2, &n))
			return wrong_value("--keep-processes", arg, "a number of processes");
		o->keep = (uint32_t)n;
		return 0;
	case OPT_ATTACH:
		o->method_given = true;
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
		return NOT_MINE;
	}
}

static int take_option(struct options *o, int c, char *arg)
{
	int err = take_target(o, c, arg);

	if (err == NOT_MINE)
		err = take_view(o, c, arg);
	if (err == NOT_MINE)
		err = take_output(o, c, arg);
	return err == NOT_MINE ? -EINVAL : err;
}

/* Sums know nothing of single meetings. */
static int check_aggregate(const struct options *o)
{
	const struct {
		bool given;
		const char *name;
	} not_with[] = {
		{ o->events, "-e" },
		{ o->record, "--record" },
		{ o->nwatch && !o->watch_from_env, "-w" },
		{ o->watch_all, "-W" },
		{ o->nnames, "--name" },
		{ o->nphases, "--phase" },
		{ o->phase_times, "--phase-times" },
		{ o->frames, "--frames" },
		{ o->rules, "-b" },
		{ o->discover_given && o->discover, "--discover" },
		/* Sums are read at the end: what each process does meanwhile is not known. */
		{ o->cost_limit > 0, "--cost-limit" },
	};
	size_t i;

	if (!o->aggregate)
		return 0;
	for (i = 0; i < sizeof(not_with) / sizeof(not_with[0]); i++) {
		if (!not_with[i].given)
			continue;
		msg_error("--aggregate keeps sums of pthread barriers and no single meeting: %s "
			  "means nothing with it",
			  not_with[i].name);
		return -EINVAL;
	}
	return 0;
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
	if (o->events && !o->causes) {
		msg_error("-e counts by thread and phase, which --no-causes switches off");
		return -EINVAL;
	}
	if (command && (o->format == EMIT_JSON || o->format == EMIT_CSV) && !o->output) {
		msg_error("--json and --csv with a command need -o FILE: stderr is the command's "
			  "too");
		return -EINVAL;
	}
	return 0;
}

/* What was asked for is on stdout, or is not: then it is said. */
static enum options_result answered(int err)
{
	errno = 0;
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = errno ? -errno : -EIO;
	if (!err)
		return OPTIONS_DONE;
	msg_error("cannot write to stdout: %s", strerror(-err));
	return OPTIONS_FAILED;
}

static int set_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	o->warn_ns = 1000000000u;
	o->warn_every = 1;
	o->hang_ns = HANG_NS;
	o->keep = KEEP_PROCESSES;
	o->follow = true;
	o->causes = true;
	o->ring_bytes = RING_BYTES;
	opterr = 0;
	return read_environment(o);
}

/* One that getopt does not know, or that has no value. */
static enum options_result wrong_option(int c, char **argv)
{
	if (c == ':')
		msg_error("option %s needs a value (see sbt-trace --help)", argv[optind - 1]);
	else if (optopt > 0 && optopt < 256)
		msg_error("unknown option -%c (see sbt-trace --help)", optopt);
	else
		msg_error("unknown option %s (see sbt-trace --help)", argv[optind - 1]);
	return OPTIONS_WRONG;
}

/* Of a command of its own: what says what to see, and the output. */
static int take_more(struct options *o, const struct options_more *more, int c, char *arg)
{
	int err;

	if (c >= OPTIONS_MORE)
		return more->take(more->ctx, c, arg);
	err = c == 'e' || c == OPT_HANG ? NOT_MINE : take_view(o, c, arg);
	if (err == NOT_MINE && (c == 'o' || c == OPT_JSON || c == OPT_CSV || c == OPT_MARKDOWN ||
				c == 'q' || c == 'v' || (!more->help && c == OPT_KEEP)))
		err = take_output(o, c, arg);
	if (err != NOT_MINE)
		return err;
	msg_error("what was traced is recorded, and how: that option is for tracing");
	return -EINVAL;
}

/* What is answered, and then nothing more is done. Returns OPTIONS_GO: it is none of these. */
static enum options_result answer(int c, const char *help, enum option_page page)
{
	switch (c) {
	case 'h':
		if (help)
			fputs(help, stdout);
		else
			option_rows_print(stdout, page);
		return answered(0);
	case OPT_VERSION:
		puts("sbt-trace " SBT_VERSION);
		return answered(0);
	case OPT_SCHEMA:
		return answered(emit_json_schema(stdout));
	default:
		return OPTIONS_GO;
	}
}

enum options_result options_parse_view(int argc, char **argv, const struct options_more *more,
				       struct options *o)
{
	struct option *longs =
		option_rows_longs(more->help ? OF_TRACE : OF_TRACE | OF_REPORT, more->longs);
	enum options_result result = OPTIONS_GO;
	int c;

	if (!longs || set_defaults(o)) {
		free(longs);
		return OPTIONS_WRONG;
	}
	while (result == OPTIONS_GO &&
	       (c = getopt_long(argc, argv, ":p:ao:w:Wb:e:d:u:qvh", longs, NULL)) != -1) {
		result = answer(c, more->help, OPTION_PAGE_REPORT);
		if (result != OPTIONS_GO)
			break;
		if (c == '?' || c == ':')
			result = wrong_option(c, argv);
		else if (take_more(o, more, c, optarg))
			result = OPTIONS_WRONG;
	}
	free(longs);
	if (optind < argc)
		o->command = argv + optind;
	return result;
}

/* Opens what @o names, prints into it and closes it. Returns the exit status. */
static int print_into(const struct options *o, void *ctx,
		      int (*print)(void *ctx, const struct options *options, FILE *out))
{
	FILE *out = o->output ? output_open(o->output) : stdout;
	int status;

	if (!out) {
		msg_error("cannot write %s: %s", o->output, strerror(errno));
		return EXIT_FAILED;
	}
	status = print(ctx, o, out) ? EXIT_FAILED : 0;
	if (out != stdout && fclose(out) && !status) {
		msg_error("cannot write %s: %s", o->output, strerror(errno));
		status = EXIT_FAILED;
	}
	return status;
}

int options_run_view(int argc, char **argv, const struct options_more *more,
		     int (*check)(void *ctx, const struct options *options),
		     int (*print)(void *ctx, const struct options *options, FILE *out))
{
	struct options options = { 0 };
	int status = EXIT_USAGE;

	switch (options_parse_view(argc, argv, more, &options)) {
	case OPTIONS_DONE:
		status = 0;
		break;
	case OPTIONS_FAILED:
		status = EXIT_FAILED;
		break;
	case OPTIONS_WRONG:
		break;
	case OPTIONS_GO:
		if (!check(more->ctx, &options))
			status = print_into(&options, more->ctx, print);
		break;
	}
	options_free(&options);
	return status;
}

/* The words up to COMMAND. */
static enum options_result read_options(int argc, char **argv, enum option_page page,
					struct options *o)
{
	struct option *longs = option_rows_longs(OF_TRACE | OF_RECORD, NULL);
	enum options_result result = OPTIONS_GO;
	int c;

	if (!longs)
		return OPTIONS_WRONG;
	while (result == OPTIONS_GO &&
	       (c = getopt_long(argc, argv, "+:p:ao:w:Wb:e:d:u:qvh", longs, NULL)) != -1) {
		result = answer(c, NULL, page);
		if (result != OPTIONS_GO)
			break;
		if (c == '?' || c == ':')
			result = wrong_option(c, argv);
		else if (take_option(o, c, optarg))
			result = OPTIONS_WRONG;
	}
	free(longs);
	return result;
}

enum options_result options_parse(int argc, char **argv, enum options_help help, struct options *o)
{
	static const enum option_page pages[] = {
		[OPTIONS_HELP_GENERAL] = OPTION_PAGE_GENERAL,
		[OPTIONS_HELP_TRACE] = OPTION_PAGE_TRACE,
		[OPTIONS_HELP_RECORD] = OPTION_PAGE_RECORD,
	};
	enum options_result result;

	if (set_defaults(o))
		return OPTIONS_WRONG;
	result = read_options(argc, argv, pages[help], o);
	if (result != OPTIONS_GO)
		return result;
	if (optind < argc)
		o->command = argv + optind;
	if (check_together(o, o->mode == OPTIONS_SYSTEM) || check_aggregate(o))
		return OPTIONS_WRONG;
	if (o->npids)
		o->mode = OPTIONS_PIDS;
	/* Everybody on the machine would pay for it. */
	if (!o->discover_given)
		o->discover = o->mode != OPTIONS_SYSTEM && !o->aggregate;
	/* A session is for all, others can be for one process alone. */
	if (!o->follow && !o->method_given)
		o->method = ATTACH_MULTI;
	if (o->aggregate)
		o->causes = false;
	return OPTIONS_GO;
}

void options_free(struct options *o)
{
	free(o->pids);
	free(o->watch);
	free(o->names);
	free(o->phases);
	if (o->rules)
		rules_free(o->rules);
	free(o->rules);
}
