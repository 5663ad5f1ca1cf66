// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/view_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/output.h"
#include "base/terminal.h"
#include "cmd/option_store.h"
#include "cmd/pager.h"
#include "recording/default_file.h"

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
	const char *const outputs[] = { line->options.output, line->html,
					line->chrome,	      line->folded,
					line->folded_stacks,  line->folded_late,
					line->record_to };
	size_t i;

	for (i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
		if (spare(outputs[i], &line->files) || spare(outputs[i], &line->with))
			return -EINVAL;
	return 0;
}

/* Add the default recording @file. */
static int add_default(struct command_line *line, char *file)
{
	const char *name = command_texts[line->command].name;
	int err;

	if (access(file, F_OK)) {
		msg_error("%s: no recording is given, and there is no file %s here (see sbt-trace "
			  "help %s)",
			  name, file, name);
		return -EINVAL;
	}
	err = option_add_file(line, file);
	line->before_dashes = line->files.n;
	if (err)
		msg_error("%s", strerror(-err));
	return err;
}

int view_default_files(struct command_line *line, bool both)
{
	static char file[] = DEFAULT_FILE, old[] = DEFAULT_FILE_OLD;
	int err = 0;

	if (line->files.n)
		return 0;
	if (both)
		err = add_default(line, old);
	return err ? err : add_default(line, file);
}

int view_write(const struct options *o, int (*print)(FILE *out, void *ctx), void *ctx)
{
	FILE *pager = o->output || o->no_pager ? NULL : pager_start();
	FILE *out = o->output ? output_open(o->output) : pager ? pager : stdout;
	int status;

	if (!out) {
		msg_error("cannot write %s: %s", o->output, strerror(errno));
		return EXIT_FAILED;
	}
	status = print(out, ctx) ? EXIT_FAILED : 0;
	if (pager) {
		if (pager_end(pager) && !status) {
			msg_error("the pager cannot be run: use --no-pager, or set PAGER");
			status = EXIT_FAILED;
		}
	} else if (out != stdout && fclose(out) && !status) {
		msg_error("cannot write %s: %s", o->output, strerror(errno));
		status = EXIT_FAILED;
	}
	return status;
}

/* Return the descriptor that decides about width and colour: a pager shows on standard output. */
static int shown_on(const struct options *o, FILE *out)
{
	return o->output ? fileno(out) : STDOUT_FILENO;
}

struct emit_options view_options(const struct options *o, FILE *out)
{
	return (struct emit_options){
		.format = o->format,
		.quiet = o->quiet,
		.verbose = o->verbose,
		.detail = o->detail,
		.banner = options_banner(o),
		.colour = terminal_colour(shown_on(o, out)),
		.width = terminal_width(shown_on(o, out)),
	};
}

struct printed {
	const struct options *options;
	void (*print)(struct emit *emit, const void *ctx);
	const void *ctx;
};

static int print_formatted(FILE *out, void *ctx)
{
	const struct printed *p = ctx;
	const struct emit_options options = view_options(p->options, out);
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
