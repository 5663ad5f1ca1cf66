// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace series: show many recordings in one table and page. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/pictures.h"
#include "cmd/view_output.h"
#include "compare/recording_set.h"
#include "compare/series.h"
#include "emit/emit.h"
#include "emit/html_tables.h"

static void series_print(struct emit *emit, const void *ctx)
{
	emit_series(emit, ctx);
}

static int series_draw(FILE *file, const void *ctx)
{
	return html_series(file, ctx, "Series of recordings");
}

/* Choose the base by its name; any other name is a label. */
static void set_base(struct series_options *options, const char *name)
{
	static const char *const names[] = {
		[SERIES_FIRST] = "first",
		[SERIES_FASTEST] = "fastest",
		[SERIES_ROW] = "row",
		[SERIES_COLUMN] = "column",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && strcmp(name, names[i]) != 0; i++)
		;
	options->base = i < sizeof(names) / sizeof(names[0]) ? (enum series_base)i : SERIES_LABEL;
	options->base_label = options->base == SERIES_LABEL ? name : NULL;
}

static int series_run(struct command_line *line)
{
	struct series_options options = { .by = (enum series_by)line->by };
	uint32_t n = (uint32_t)line->files.n, i;
	struct recording_set r = { 0 };
	struct series_input *in;
	struct series s = { 0 };
	int status = EXIT_FAILED, err;

	if (!n) {
		msg_error("series: no recording is given (see sbt-trace series --help)");
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	set_base(&options, line->base);
	in = calloc(n, sizeof(*in));
	if (!in) {
		msg_error("%s", strerror(ENOMEM));
		return status;
	}
	if (view_spare_files(line) || pictures_page_possible(line->html) ||
	    recording_set_load(line->files.words, n, &r))
		goto out;
	for (i = 0; i < n; i++)
		in[i] = (struct series_input){ r.reports[i], line->labels.words[i],
					       line->files.words[i], r.all[i].command };
	err = series_build(in, n, &options, &s);
	if (err) {
		msg_error("cannot put the recordings together: %s", strerror(-err));
	} else if (s.base_label) {
		msg_error("series: --base %s: no recording has this label (see sbt-trace series "
			  "--help)",
			  s.base_label);
		status = EXIT_USAGE;
	} else {
		status = view_print(&line->options, series_print, &s);
		if (pictures_page(line->html, series_draw, &s))
			status = EXIT_FAILED;
	}
out:
	series_free(&s);
	recording_set_free(&r);
	free(in);
	return status;
}

int cmd_series(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_SERIES }, argc, argv,
			   series_run);
}
