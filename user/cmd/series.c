// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace series: many recordings in one table and picture. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "compare/series.h"
#include "base/msg.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/pictures.h"
#include "cmd/view_options.h"
#include "compare/recording_set.h"
#include "emit/emit.h"
#include "emit/html_tables.h"

enum { SERIES_JSON = 256, SERIES_CSV, SERIES_MARKDOWN, SERIES_HTML, SERIES_BY, SERIES_BASE };

static const struct option series_options[] = {
	{ "label", required_argument, NULL, 'l' },
	{ "by", required_argument, NULL, SERIES_BY },
	{ "base", required_argument, NULL, SERIES_BASE },
	{ "json", no_argument, NULL, SERIES_JSON },
	{ "csv", no_argument, NULL, SERIES_CSV },
	{ "markdown", no_argument, NULL, SERIES_MARKDOWN },
	{ "html", required_argument, NULL, SERIES_HTML },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* clang-format off */
static const char series_help[] =
"Usage: sbt-trace series [OPTIONS] FILE...\n"
"       sbt-trace series [OPTIONS] --label LABEL FILE... [--label LABEL FILE...]...\n"
"\n"
"Many recordings of one program in one table: sizes, versions, thread counts, repeated runs.\n"
"Recordings of one label are runs of the same thing, and are averaged: time, deviation, time to that\n"
"of a base, speedup, efficiency, counters per thread; and site by site phase time, barrier time,\n"
"shares, and the range of the threads' idle times.\n"
"  -l, --label LABEL     of the files that follow; with a slash, ROW/COLUMN, for a table of two ways\n"
"      --by WHAT         label those without one by: run (command line and number of threads, as far\n"
"                        as they differ; the default), command, threads, or file (its name without\n"
"                        directories and what follows the last dot)\n"
"      --base BASE       what times are normalised to, and speedups are over: first (the default),\n"
"                        fastest, row (the first of the same row), column (the first of the same\n"
"                        column), or a label\n"
"      --json, --csv     every point, with its sites\n"
"  -o, --output FILE     into FILE\n"
"  -h, --help            this\n"
"\n"
"Time is that of the longest process, from its beginning to its end where both were seen, or of\n"
"processes that meet one another. A recording in which nobody crossed a barrier, of a sequential\n"
"program say, counts with its length.\n"
"Exit status: 0; 1 if a recording cannot be read; 2 for wrong usage.\n";
/* clang-format on */

struct many {
	struct view_output out;
	const char *html; /* NULL: no page */
	struct series_options options;
	char **paths;
	const char **labels; /* by path; NULL: none */
	uint32_t n;
};

static void many_print(struct emit *emit, const void *ctx)
{
	emit_series(emit, ctx);
}

static int many_draw(FILE *file, const void *ctx)
{
	return html_series(file, ctx, "Series of recordings");
}

static int many_run(const struct many *m)
{
	struct series_input *in = calloc((size_t)m->n + 1, sizeof(*in));
	struct recording_set r = { 0 };
	struct series s = { 0 };
	int status = EXIT_FAILED, err;
	uint32_t i;

	if (!in) {
		msg_error("%s", strerror(ENOMEM));
		return status;
	}
	if (view_spare(m->out.path, (const char *const *)m->paths, m->n) ||
	    view_spare(m->html, (const char *const *)m->paths, m->n) ||
	    pictures_page_possible(m->html) || recording_set_load(m->paths, m->n, &r))
		goto out;
	for (i = 0; i < m->n; i++)
		in[i] = (struct series_input){ r.reports[i], m->labels[i], m->paths[i],
					       r.all[i].command };
	err = series_build(in, m->n, &m->options, &s);
	if (err) {
		msg_error("cannot put the recordings together: %s", strerror(-err));
	} else if (s.base_label) {
		msg_error("series: --base %s: no recording is labelled so (see sbt-trace series "
			  "--help)",
			  s.base_label);
		status = EXIT_USAGE;
	} else {
		status = view_print(&m->out, many_print, &s);
		if (pictures_page(m->html, many_draw, &s))
			status = EXIT_FAILED;
	}
out:
	series_free(&s);
	recording_set_free(&r);
	free(in);
	return status;
}

static int many_by(struct many *m, const char *arg)
{
	static const char *const names[] = {
		[SERIES_BY_RUN] = "run",
		[SERIES_BY_COMMAND] = "command",
		[SERIES_BY_THREADS] = "threads",
		[SERIES_BY_FILE] = "file",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(arg, names[i]) != 0)
			continue;
		m->options.by = (enum series_by)i;
		return 0;
	}
	msg_error("series: --by %s: run, command, threads or file is expected", arg);
	return -EINVAL;
}

static void many_base(struct many *m, const char *arg)
{
	static const char *const names[] = {
		[SERIES_FIRST] = "first",
		[SERIES_FASTEST] = "fastest",
		[SERIES_ROW] = "row",
		[SERIES_COLUMN] = "column",
	};
	size_t i;

	m->options.base = SERIES_LABEL;
	m->options.base_label = arg;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(arg, names[i]))
			m->options.base = (enum series_base)i;
}

static int many_format(struct many *m, enum emit_format format)
{
	if (m->out.format != EMIT_TEXT && m->out.format != format) {
		msg_error("series: one of --json, --csv and --markdown, not two");
		return -EINVAL;
	}
	m->out.format = format;
	return 0;
}

/* Returns 0, or -EINVAL and has said why. */
static int many_option(struct many *m, int c, char *arg, const char **label)
{
	switch (c) {
	case 'o':
		m->out.path = arg;
		return 0;
	case 'l':
		if (!*arg) {
			msg_error("series: --label: a label is expected");
			return -EINVAL;
		}
		*label = arg;
		return 0;
	case SERIES_BY:
		return many_by(m, arg);
	case SERIES_BASE:
		many_base(m, arg);
		return 0;
	case SERIES_HTML:
		m->html = arg;
		return 0;
	case SERIES_MARKDOWN:
		return many_format(m, EMIT_MARKDOWN);
	default:
		return many_format(m, c == SERIES_JSON ? EMIT_JSON : EMIT_CSV);
	}
}

/* Returns -1, or the exit status: there is no more to do. */
static int many_parse(struct many *m, int argc, char **argv)
{
	const char *label = NULL;
	int c;

	opterr = 0;
	/* In order: a label is of the files after it. */
	while ((c = getopt_long(argc, argv, "-:ho:l:", series_options, NULL)) != -1) {
		switch (c) {
		case 1:
			m->labels[m->n] = label;
			m->paths[m->n++] = optarg;
			break;
		case 'h':
			return view_help(series_help);
		case ':':
			msg_error("series: option %s needs a value (see sbt-trace series --help)",
				  argv[optind - 1]);
			return EXIT_USAGE;
		case '?':
			msg_error("series: unknown option %s (see sbt-trace series --help)",
				  argv[optind - 1]);
			return EXIT_USAGE;
		default:
			if (many_option(m, c, optarg, &label))
				return EXIT_USAGE;
		}
	}
	for (; optind < argc; optind++) {
		m->labels[m->n] = label;
		m->paths[m->n++] = argv[optind];
	}
	if (m->n)
		return -1;
	msg_error("series: which recordings? (see sbt-trace series --help)");
	return EXIT_USAGE;
}

int cmd_series(int argc, char **argv)
{
	struct many m = { .options = { .by = SERIES_BY_RUN, .base = SERIES_FIRST } };
	int status = EXIT_FAILED;

	m.paths = calloc((size_t)argc + 1, sizeof(*m.paths));
	m.labels = calloc((size_t)argc + 1, sizeof(*m.labels));
	if (!m.paths || !m.labels) {
		msg_error("%s", strerror(ENOMEM));
	} else {
		status = many_parse(&m, argc, argv);
		if (status < 0) {
			signal(SIGPIPE, SIG_IGN);
			status = many_run(&m);
		}
	}
	free(m.labels);
	free(m.paths);
	return status;
}
