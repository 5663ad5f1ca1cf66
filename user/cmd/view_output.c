// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/view_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/output.h"

/*
 * Return -EINVAL after a message if @output is one of the files. @output may be NULL or not exist.
 */
static int spare(const char *output, const struct option_list *files)
{
	struct stat out, in;
	size_t i;

	if (!output || stat(output, &out))
		return 0;
	for (i = 0; i < files->n; i++) {
		if (stat(files->words[i], &in) || in.st_ino != out.st_ino ||
		    in.st_dev != out.st_dev)
			continue;
		msg_error("%s is one of the recordings to read: give another output file", output);
		return -EINVAL;
	}
	return 0;
}

int view_spare_files(const struct command_line *line)
{
	const char *const outputs[] = { line->options.output, line->html, line->chrome,
					line->folded, line->record_to };
	size_t i;

	for (i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		if (spare(outputs[i], &line->files) || spare(outputs[i], &line->with))
			return -EINVAL;
	return 0;
}

int view_write(const struct options *o, int (*print)(FILE *out, void *ctx), void *ctx)
{
	FILE *out = o->output ? output_open(o->output) : stdout;
	int status;

	if (!out) {
		msg_error("cannot write %s: %s", o->output, strerror(errno));
		return EXIT_FAILED;
	}
	status = print(out, ctx) ? EXIT_FAILED : 0;
	if (out != stdout && fclose(out) && !status) {
		msg_error("cannot write %s: %s", o->output, strerror(errno));
		status = EXIT_FAILED;
	}
	return status;
}

static unsigned width_of(FILE *out)
{
	struct winsize size;

	return !ioctl(fileno(out), TIOCGWINSZ, &size) ? size.ws_col : 0;
}

struct printed {
	const struct options *options;
	void (*print)(struct emit *emit, const void *ctx);
	const void *ctx;
};

static int print_formatted(FILE *out, void *ctx)
{
	const struct printed *p = ctx;
	const struct emit_options options = {
		.format = p->options->format,
		.colour = isatty(fileno(out)) && !getenv("NO_COLOR"),
		.width = width_of(out),
	};
	struct emit *emit = emit_new(out, &options);
	int err;

	if (emit)
		p->print(emit, p->ctx);
	err = emit ? emit_free(emit) : -ENOMEM;
	if (err)
		msg_error("cannot write %s: %s",
			  p->options->output ? p->options->output : "to stdout", strerror(-err));
	return err;
}

int view_print(const struct options *o, void (*print)(struct emit *emit, const void *ctx),
	       const void *ctx)
{
	struct printed printed = { o, print, ctx };

	return view_write(o, print_formatted, &printed);
}
