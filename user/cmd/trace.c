// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace trace and record: from the command line to a tracing session. */
#include "cmd/trace.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "capture/capture.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "recording/default_file.h"
#include "sites/reader.h"
#include "target/launch.h"

/*
 * Return whether COMMAND has the markers of include/sbt/sbt.h. Such a program may have variables of
 * the SBT library among its arguments.
 */
static bool has_marks(const struct options *o)
{
	char file[PATH_MAX];

	return o->mode == OPTIONS_COMMAND && !launch_find_program(o->command[0], file) &&
	       reader_file_has_marks(file, "sbt");
}

/* Set up @o for record: print nothing, and write to the file of -o or to the default file. */
static void record_only(struct options *o)
{
	o->only_record = true;
	o->record_default = !o->output;
	o->record = o->output ? o->output : DEFAULT_FILE;
	o->output = "/dev/null";
}

/*
 * Return whether the first word after the options of a command line without "--" is a command of
 * sbt-trace, or neither that nor a program. If so, print a message: nothing is run that the user
 * may not have meant.
 */
static bool is_no_program(const struct command_line *line)
{
	const char *word = line->options.command ? line->options.command[0] : NULL, *nearest;
	char file[PATH_MAX];

	if (!line->bare || line->before_dashes != line->files.n || !word)
		return false;
	if (command_named(word) != COMMANDS) {
		msg_error("the command %s must be the first word: sbt-trace %s [OPTIONS]; to trace "
			  "a program of this name, write -- before it",
			  word, word);
		return true;
	}
	/* A path is no mistyped command. */
	if (strchr(word, '/') || launch_find_program(word, file) != -ENOENT)
		return false;
	nearest = command_nearest(word);
	if (nearest)
		msg_error("%s is neither a command nor a program; did you mean %s?", word, nearest);
	else
		msg_error("%s is neither a command nor a program (see sbt-trace --help)", word);
	return true;
}

int trace_run(struct options *o, const struct capture_hook *hook)
{
	int err = has_marks(o) ? options_read_words(o) : 0;

	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	return capture_run(o, hook);
}

static int run(struct command_line *line)
{
	if (is_no_program(line))
		return EXIT_USAGE;
	if (line->command == COMMAND_RECORD)
		record_only(&line->options);
	return trace_run(&line->options, NULL);
}

int cmd_trace(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_TRACE }, argc, argv, run);
}

int cmd_bare(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_TRACE, .bare = true }, argc,
			   argv, run);
}

int cmd_record(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_RECORD }, argc, argv, run);
}
