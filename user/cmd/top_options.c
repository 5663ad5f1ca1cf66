// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The command line of top, and what of it is handed on to trace. */
#include "top/top_internal.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"

#define INTERVAL_LEAST_S 0.1
#define INTERVAL_MOST_S	 86400.0

enum {
	OPT_COMM = 256,
	OPT_CGROUP,
	OPT_FRAMES,
	OPT_NO_CHILDREN,
	OPT_NO_CAUSES,
	OPT_DISCOVER,
	OPT_NO_DISCOVER,
	OPT_ATTACH,
	OPT_RING,
	OPT_DEBUGINFOD,
};

/* Those from --comm on are trace's: handed on by these names. */
static const struct option long_options[] = {
	{ "interval", required_argument, NULL, 'd' },
	{ "iterations", required_argument, NULL, 'n' },
	{ "pid", required_argument, NULL, 'p' },
	{ "all", no_argument, NULL, 'a' },
	{ "help", no_argument, NULL, 'h' },
	{ "user", required_argument, NULL, 'u' },
	{ "barrier", required_argument, NULL, 'b' },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "frames", required_argument, NULL, OPT_FRAMES },
	{ "no-children", no_argument, NULL, OPT_NO_CHILDREN },
	{ "no-causes", no_argument, NULL, OPT_NO_CAUSES },
	{ "discover", no_argument, NULL, OPT_DISCOVER },
	{ "no-discover", no_argument, NULL, OPT_NO_DISCOVER },
	{ "attach", required_argument, NULL, OPT_ATTACH },
	{ "ring-size", required_argument, NULL, OPT_RING },
	{ "debuginfod", no_argument, NULL, OPT_DEBUGINFOD },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
	"Usage: sbt-trace top [OPTIONS] [-a]\n"
	"       sbt-trace top [OPTIONS] -p PID[,PID...]\n"
	"       sbt-trace top [OPTIONS] -- COMMAND [ARGS...]\n"
	"\n"
	"A live table of processes and their barriers: who loses how much time each second, who "
	"comes last,\n"
	"and why. Where the output is no terminal: lines, a block each interval.\n"
	"  -a, --all             the whole machine (the default)\n"
	"  -p, --pid LIST        these processes, and the children they make\n"
	"  -d, --interval SECONDS  between two looks (default 1)\n"
	"  -n, --iterations N    end after so many looks\n"
	"  -u, --user USER       who COMMAND runs as (default: the user behind sudo)\n"
	"  -b, --barrier SPEC    this function too, as in sbt-trace -b; repeatable\n"
	"      --comm NAME, --cgroup PATH, --no-children, --discover, --no-discover, --no-causes,\n"
	"      --frames N, --attach METHOD, --ring-size KIB, --debuginfod   as in sbt-trace "
	"--help\n"
	"  -h, --help            this\n"
	"\n"
	"Keys: Up, Down choose a row, Enter shows its threads, Esc goes back; s, or l r i w n: "
	"sort; / filter;\n"
	"t: without processes; Space: hold; ?: help, and what the columns are; q: quit. Whoever is "
	"traced\n"
	"goes on when top ends. What COMMAND prints to the terminal is shown after that; it has "
	"no input.\n";

static int parse_number(const char *s, double least, double most, double *out)
{
	char *end;

	if ((*s < '0' || *s > '9') && *s != '.')
		return -EINVAL;
	errno = 0;
	*out = strtod(s, &end);
	return errno || *end || !(*out >= least) || !(*out <= most) ? -EINVAL : 0;
}

static int add_word(struct top *t, const char *word)
{
	char **argv = reallocarray(t->argv, (size_t)t->argc + 2, sizeof(*argv));

	if (!argv)
		return -ENOMEM;
	t->argv = argv;
	argv[t->argc] = strdup(word);
	if (!argv[t->argc])
		return -ENOMEM;
	argv[++t->argc] = NULL;
	return 0;
}

/* An option of trace's, in its long form. */
static int hand_on(struct top *t, int c, const char *arg)
{
	const struct option *o;
	char *word = NULL;
	int err;

	for (o = long_options; o->val != c; o++)
		;
	if (asprintf(&word, "--%s%s%s", o->name, arg ? "=" : "", arg ? arg : "") < 0)
		return -ENOMEM;
	err = add_word(t, word);
	free(word);
	return err;
}

static int wrong(const char *option, const char *value, const char *expected)
{
	msg_error("%s %s: %s is expected", option, value, expected);
	return -EINVAL;
}

static int take_option(struct top *t, int c, char *arg)
{
	double v;

	switch (c) {
	case 'd':
		if (parse_number(arg, INTERVAL_LEAST_S, INTERVAL_MOST_S, &v))
			return wrong("--interval", arg, "a number of seconds from 0.1");
		t->interval_ns = (uint64_t)(v * 1e9);
		return 0;
	case 'n':
		if (parse_number(arg, 1, 1e15, &v) || v != floor(v))
			return wrong("--iterations", arg, "a number from 1");
		t->iterations = (uint64_t)v;
		return 0;
	case 'p':
		t->pids = true;
		t->pid_list = arg;
		break;
	default:
		break;
	}
	return hand_on(t, c, arg);
}

/* What to look at, when nobody says it: everything. */
static int end_words(struct top *t, int argc, char **argv, bool all)
{
	int i, err = 0;

	t->command = optind < argc;
	if (t->command)
		snprintf(t->what, sizeof(t->what), "%s", argv[optind]);
	else if (t->pids)
		snprintf(t->what, sizeof(t->what), "process%s %s",
			 strchr(t->pid_list, ',') ? "es" : "", t->pid_list);
	else
		snprintf(t->what, sizeof(t->what), "the whole machine");
	if (!t->command && !t->pids && !all)
		err = hand_on(t, 'a', NULL);
	if (t->command && !err)
		err = add_word(t, "--");
	for (i = optind; i < argc && !err; i++)
		err = add_word(t, argv[i]);
	return err;
}

/* Returns 0, 1 (answered), -EINVAL (a sentence has been printed) or -ENOMEM. */
int top_parse(struct top *t, int argc, char **argv)
{
	static const char *const first[] = { "sbt-trace", "--output=/dev/null", "--quiet",
					     "--no-warnings", "--hang=0" };
	bool all = false;
	int c, err = 0;
	size_t i;

	for (i = 0; i < sizeof(first) / sizeof(first[0]) && !err; i++)
		err = add_word(t, first[i]);
	opterr = 0;
	while (!err && (c = getopt_long(argc, argv, "+:p:ad:n:u:b:h", long_options, NULL)) != -1) {
		switch (c) {
		case 'h':
			fputs(help, stdout);
			if (!fflush(stdout) && !ferror(stdout))
				return 1;
			msg_error("cannot write to stdout: %s", strerror(errno));
			return -EIO;
		case '?':
			if (optopt > 0 && optopt < 256)
				msg_error("unknown option -%c (see sbt-trace top --help)", optopt);
			else
				msg_error("unknown option %s (see sbt-trace top --help)",
					  argv[optind - 1]);
			return -EINVAL;
		case ':':
			msg_error("option %s needs a value (see sbt-trace top --help)",
				  argv[optind - 1]);
			return -EINVAL;
		default:
			all |= c == 'a';
			err = take_option(t, c, optarg);
		}
	}
	return err ? err : end_words(t, argc, argv, all);
}
