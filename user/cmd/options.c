// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cmd/option_help.h"
#include "cmd/option_store.h"
#include "cmd/option_table.h"
#include "emit/emit.h"
#include "sites/rule.h"

#define RING_BYTES     (2u << 20)
#define SECOND_NS      1000000000ULL
#define KEEP_PROCESSES 256
#define LONG_BASE      256 /* getopt's value of a long option is this plus the index of its row */

/* --- the variables of the SBT library --------------------------------------------------------- */

/*
 * Where the values are: in the environment, or among the words of a command line, in which each
 * name is followed by its value.
 */
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

/* The thesis (see emit/emit.h) defines this in appendix A: 0 is off, any other value is on. */
static void take_bool(const struct variables *v, const char *name, bool *out)
{
	const char *value = variable(v, name);

	if (value)
		*out = strcmp(value, "0") != 0;
}

static void print_variables(void)
{
	fputs("SBT_WATCH        the barrier to watch: a line number, or a name\n"
	      "SBT_WATCH_ALL    1: watch all barriers (default 0)\n"
	      "SBT_WARN_TIME    warn of barrier times of at least this many ms (default 1000)\n"
	      "SBT_WARNINGS     0: no warnings (default 1)\n"
	      "SBT_PHASE_TIMES  1: print the time of every phase (default 0)\n"
	      "SBT_NO_DEBUG     1: only run the command, without tracing (default 0)\n"
	      "SBT_OPTIONS      1: a banner with the options (default 1 with -v or --detail)\n"
	      "SBT_VERBOSE      1: print this list (default 0)\n"
	      "SBT_EVENTS       counters by phase, as with -e (default none)\n",
	      stderr);
}

static int read_variables(const struct variables *v, struct options *o)
{
	const char *value = variable(v, "SBT_WATCH");
	bool list = false;
	unsigned long long ms;
	char *end;

	if (value) {
		o->nwatch = 0;
		if (options_add_watch(o, value))
			return -ENOMEM;
		o->watch_from_env = true;
	}
	take_bool(v, "SBT_WATCH_ALL", &o->watch_all);
	take_bool(v, "SBT_WARNINGS", &o->warnings);
	take_bool(v, "SBT_PHASE_TIMES", &o->phase_times);
	take_bool(v, "SBT_NO_DEBUG", &o->no_debug);
	o->banner_given = variable(v, "SBT_OPTIONS") != NULL;
	take_bool(v, "SBT_OPTIONS", &o->banner);
	take_bool(v, "SBT_VERBOSE", &list);
	if (list) {
		o->verbose = o->verbose ? o->verbose : 1;
		print_variables();
	}
	value = variable(v, "SBT_WARN_TIME");
	if (value) {
		errno = 0;
		ms = strtoull(value, &end, 10);
		if (*value < '0' || *value > '9' || errno || *end || ms > UINT64_MAX / 1000000) {
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

int options_read_words(struct options *o)
{
	struct variables words = { o->command + 1 };

	return o->mode == OPTIONS_COMMAND && o->command && o->command[0] ? read_variables(&words, o)
									 : 0;
}

/* --- checks of what was given together -------------------------------------------------------- */

/* Refuse options that need single episodes, which --aggregate does not keep. */
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
		/* Sums are read at the end, so the overhead of a running process is unknown. */
		{ o->cost_limit > 0, "--cost-limit" },
	};
	size_t i;

	if (!o->aggregate)
		return 0;
	for (i = 0; i < sizeof(not_with) / sizeof(not_with[0]); i++) {
		if (!not_with[i].given)
			continue;
		msg_error("--aggregate keeps sums and no episodes: it cannot be combined with %s",
			  not_with[i].name);
		return -EINVAL;
	}
	return 0;
}

static int check_together(const struct options *o)
{
	bool command = o->command != NULL, pids = o->npids > 0, system = o->mode == OPTIONS_SYSTEM;
	const char *what = NULL;

	if (command + pids + system > 1)
		what = "give one of -- COMMAND, -p PID and -a, not several";
	else if (!command && !pids && !system)
		what = "nothing to trace: give -- COMMAND, -p PID or -a (see sbt-trace --help)";
	else if ((o->cgroup || o->comm) && !system)
		what = "--cgroup and --comm need -a: they select among all processes";
	else if (o->user && !command)
		what = "-u needs -- COMMAND: it selects the user that COMMAND runs as";
	else if (system && !o->follow)
		what = "-a traces all processes: it cannot be combined with --no-children";
	else if (o->events && !o->causes)
		what = "-e counts by thread and phase, which --no-causes switches off";
	else if (command && (o->format == EMIT_JSON || o->format == EMIT_CSV) && !o->output)
		what = "--json and --csv with a command need -o FILE: the command writes to "
		       "stderr too";
	if (what) {
		msg_error("%s", what);
		return -EINVAL;
	}
	if (o->comm && strlen(o->comm) >= SBT_COMM_LEN) {
		msg_error(
			"--comm %s: the kernel keeps only %d characters of a name: give only those",
			o->comm, SBT_COMM_LEN - 1);
		return -EINVAL;
	}
	return 0;
}

/* Check and complete the options of a command that traces. */
static enum options_result complete_capture(struct command_line *line)
{
	struct options *o = &line->options;

	o->command = line->files.n ? line->files.words : NULL;
	if (line->command == COMMAND_TOP) {
		o->output = "/dev/null";
		o->quiet = true;
		o->warnings = false;
		o->hang_ns = 0;
		if (!o->command && !o->npids)
			o->mode = OPTIONS_SYSTEM;
	}
	if (check_together(o) || check_aggregate(o))
		return OPTIONS_WRONG;
	if (o->npids)
		o->mode = OPTIONS_PIDS;
	/* With -a, discovery would slow down all processes of the machine. */
	if (!o->discover_given)
		o->discover = o->mode != OPTIONS_SYSTEM && !o->aggregate;
	/* A session probe is hit by all processes. Other methods can probe single processes. */
	if (!o->follow && !o->method_given)
		o->method = ATTACH_MULTI;
	if (o->aggregate)
		o->causes = false;
	return OPTIONS_GO;
}

/* --- the command line ------------------------------------------------------------------------- */

int options_flush(void)
{
	int err;

	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	err = errno ? -errno : -EIO;
	msg_error("cannot write to stdout: %s", strerror(-err));
	return err;
}

static enum options_result print_answer(const struct command_line *line,
					const struct option_row *row, const char *value)
{
	int err = 0;

	if (row->kind == OPTION_SCHEMA) {
		err = emit_json_schema(stdout);
	} else if (row->kind == OPTION_VERSION) {
		puts("sbt-trace " SBT_VERSION);
	} else if (value && !strcmp(value, "all")) {
		option_help_all();
	} else if (value && !strcmp(value, "table")) {
		option_help_table();
	} else if (value) {
		msg_error("--help=%s: --help or --help=all is expected", value);
		return OPTIONS_WRONG;
	} else if (line->bare) {
		option_help_short();
	} else {
		option_help_command(line->command);
	}
	if (err)
		msg_error("cannot write to stdout: %s", strerror(-err));
	else
		err = options_flush();
	return err ? OPTIONS_FAILED : OPTIONS_DONE;
}

/* Write "sbt-trace COMMAND" into @out, for messages. Return @out. */
static const char *help_of(const struct command_line *line, char *out, size_t size)
{
	snprintf(out, size, "sbt-trace%s%s", line->bare ? "" : " ",
		 line->bare ? "" : command_texts[line->command].name);
	return out;
}

/* Write the options that begin with @name into @out. Return whether there are any. */
static bool options_from(enum command command, const char *name, char *out, size_t size)
{
	size_t at = 0, i;

	for (i = 0; i < noptions && at < size; i++)
		if (option_table[i].commands >> command & 1 &&
		    !strncmp(option_table[i].name, name, strlen(name)))
			at += (size_t)snprintf(out + at, size - at, "%s--%s", at ? ", " : "",
					       option_table[i].name);
	return at > 0;
}

/* Write the name of the option in @word, without dashes and value, into @out. */
static void name_of(const char *word, char *out, size_t size)
{
	word += strspn(word, "-");
	snprintf(out, size, "%.*s", (int)strcspn(word, "="), word);
}

/*
 * If an option is similar to @name, print that @given is unknown and that this option was probably
 * meant. Return whether there is such an option.
 */
static bool suggest(const struct command_line *line, const char *given, const char *name)
{
	const char *nearest = option_nearest(line->command, name);
	char commands[128];

	if (!nearest)
		return false;
	command_names(option_commands(nearest, 0), commands, sizeof(commands));
	if (option_by_name(line->command, nearest))
		msg_error("unknown option %s; did you mean --%s?", given, nearest);
	else
		msg_error("unknown option %s; did you mean --%s, an option of %s?", given, nearest,
			  commands);
	return true;
}

/*
 * Return whether @word seems to be a long option with one dash, such as -duration, which
 * getopt_long() took for letters. If so, print a message.
 */
static bool lacks_dash(const struct command_line *line, const char *word)
{
	char name[64];

	name_of(word, name, sizeof(name));
	return word[1] != '-' && strlen(name) > 2 && suggest(line, word, name);
}

/*
 * Print what is wrong with the option @given, which getopt_long() refused. @name is NULL for an
 * option of one letter.
 */
static void explain(const struct command_line *line, const char *given, const char *name)
{
	unsigned commands = option_commands(name, given[1]);
	char program[32], list[256];

	help_of(line, program, sizeof(program));
	command_names(commands, list, sizeof(list));
	if (optopt >= LONG_BASE)
		msg_error("option --%s takes no value (see %s --help)",
			  option_table[optopt - LONG_BASE].name, program);
	else if (commands)
		msg_error("%s has no option %s: it is an option of %s (see %s --help)",
			  command_texts[line->command].name, given, list, program);
	else if (name && *name && options_from(line->command, name, list, sizeof(list)))
		msg_error("option %s is ambiguous: give one of %s", given, list);
	else if (!name || !suggest(line, given, name))
		msg_error("unknown option %s (see %s --help)", given, program);
}

/* Print what is wrong with @word, for which getopt_long() returned @c. */
static enum options_result wrong_option(const struct command_line *line, int c, const char *word)
{
	char program[32], letter[] = "-?", name[64];

	if (c == ':') {
		msg_error("option %s needs a value (see %s --help)", word,
			  help_of(line, program, sizeof(program)));
	} else if (optopt > 0 && optopt < LONG_BASE) {
		letter[1] = (char)optopt;
		if (!lacks_dash(line, word))
			explain(line, letter, NULL);
	} else {
		name_of(word, name, sizeof(name));
		explain(line, word, name);
	}
	return OPTIONS_WRONG;
}

/* The arguments of getopt_long() for a command. */
struct getopt_tables {
	struct option *longs; /* to be freed */
	char letters[128];
};

static int make_tables(enum command command, struct getopt_tables *t)
{
	size_t i, n = 0, at;

	t->longs = calloc(noptions + 1, sizeof(*t->longs));
	if (!t->longs)
		return -ENOMEM;
	/*
	 * '-' makes getopt_long() return files and options in the order of the command line: the
	 * label of a file is that of the last --label before the file. '+' ends the options at the
	 * first word of a command to run.
	 */
	at = (size_t)snprintf(t->letters, sizeof(t->letters), "%c:",
			      command_texts[command].operands == OPERANDS_COMMAND ? '+' : '-');
	for (i = 0; i < noptions; i++) {
		const struct option_row *row = &option_table[i];
		int argument = row->kind == OPTION_HELP ? optional_argument
			       : row->argument		? required_argument
							: no_argument;

		if (!((row->commands | row->silent) >> command & 1))
			continue;
		t->longs[n++] = (struct option){ row->name, argument, NULL, LONG_BASE + (int)i };
		if (row->letter)
			at += (size_t)snprintf(t->letters + at, sizeof(t->letters) - at, "%c%s",
					       row->letter, row->argument ? ":" : "");
	}
	return 0;
}

/* Return the result for an error of storing a value. For -EINVAL, a message was printed before. */
static enum options_result result_of(int err)
{
	if (err == -ENOMEM)
		msg_error("%s", strerror(ENOMEM));
	return !err ? OPTIONS_GO : err == -ENOMEM ? OPTIONS_FAILED : OPTIONS_WRONG;
}

/*
 * Return whether @word is the name of another command's option, which getopt_long() took for an
 * abbreviation of @row. If so, print a message.
 */
static bool is_mistaken(const struct command_line *line, const struct option_row *row,
			const char *word)
{
	char name[64];

	name_of(word, name, sizeof(name));
	if (!strcmp(name, row->name) || !option_commands(name, 0))
		return false;
	optopt = 0;
	explain(line, word, name);
	return true;
}

/* Take what getopt_long() returned for @word: an option or a file. */
static enum options_result take(struct command_line *line, int c, const char *word)
{
	char given[64] = { '-', (char)c };
	const struct option_row *row;

	if (c == '?' || c == ':')
		return wrong_option(line, c, word);
	if (c == 1)
		return result_of(option_add_file(line, optarg));
	row = c < LONG_BASE ? option_by_letter(line->command, (char)c)
			    : &option_table[c - LONG_BASE];
	/* Options with a letter and .expected take numbers, which do not begin with a letter. */
	if (c >= LONG_BASE ? is_mistaken(line, row, word)
			   : row->expected && isalpha(*optarg) && lacks_dash(line, word))
		return OPTIONS_WRONG;
	if (row->kind >= OPTION_HELP)
		return print_answer(line, row, optarg);
	if (c >= LONG_BASE)
		snprintf(given, sizeof(given), "--%s", row->name);
	return result_of(option_store(line, row, given, optarg));
}

static enum options_result read_options(struct command_line *line, int argc, char **argv)
{
	struct getopt_tables tables;
	enum options_result result = OPTIONS_GO;
	bool dashes;
	int c, at;

	if (make_tables(line->command, &tables))
		return result_of(-ENOMEM);
	opterr = 0;
	optind = 0; /* makes getopt start again */
	while (result == OPTIONS_GO) {
		at = optind ? optind : 1;
		c = getopt_long(argc, argv, tables.letters, tables.longs, NULL);
		if (c == -1)
			break;
		result = take(line, c, argv[at]);
	}
	free(tables.longs);
	if (result != OPTIONS_GO)
		return result;
	dashes = optind > 1 && !strcmp(argv[optind - 1], "--");
	line->before_dashes = line->files.n;
	for (; optind < argc && result == OPTIONS_GO; optind++)
		result = result_of(option_add_file(line, argv[optind]));
	if (!dashes)
		line->before_dashes = line->files.n;
	return result;
}

static int set_defaults(struct command_line *line)
{
	struct variables environment = { NULL };

	line->options = (struct options){
		.warnings = true,
		.banner = true,
		.warn_ns = OPTIONS_WARN_NS,
		.warn_every = 1,
		.hang_ns = 10 * SECOND_NS,
		.keep = KEEP_PROCESSES,
		.follow = true,
		.causes = true,
		.departures = DEPARTURES_INFERRED,
		.samples = true,
		.ring_bytes = RING_BYTES,
	};
	line->to_s = line->fail_above = NAN;
	line->confidence = 0.95;
	line->base = "first";
	line->interval_ns = SECOND_NS;
	return command_texts[line->command].variables ? read_variables(&environment, &line->options)
						      : 0;
}

enum options_result options_parse(struct command_line *line, int argc, char **argv)
{
	enum options_result result = result_of(set_defaults(line));

	if (result == OPTIONS_GO)
		result = read_options(line, argc, argv);
	if (result == OPTIONS_GO && command_texts[line->command].operands == OPERANDS_COMMAND)
		result = complete_capture(line);
	return result;
}

void options_free(struct command_line *line)
{
	struct option_list *lists[] = { &line->files,	  &line->labels,  &line->sites,
					&line->with,	  &line->threads, &line->sets,
					&line->quantities };
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free(lists[i]->words);
	free(line->options.pids);
	free(line->options.watch);
	free(line->options.names);
	free(line->options.phases);
	if (line->options.rules)
		rules_free(line->options.rules);
	free(line->options.rules);
}

int options_run(struct command_line line, int argc, char **argv,
		int (*run)(struct command_line *line))
{
	enum options_result result = options_parse(&line, argc, argv);
	int status = result == OPTIONS_DONE    ? 0
		     : result == OPTIONS_WRONG ? EXIT_USAGE
		     : result == OPTIONS_GO    ? run(&line)
					       : EXIT_FAILED;

	options_free(&line);
	return status;
}
