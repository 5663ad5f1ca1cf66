// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace trace and record: from the command line to a tracing session. */
#include "cmd/trace.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "capture/capture.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "sites/reader.h"

/* Find the program @name as a shell would, and write its path into @file, of PATH_MAX bytes. */
static bool find_program(const char *name, char *file)
{
	const char *path = getenv("PATH"), *end;

	if (strchr(name, '/')) {
		snprintf(file, PATH_MAX, "%s", name);
		return true;
	}
	for (; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		if (snprintf(file, PATH_MAX, "%.*s/%s", (int)(end - path), path, name) < PATH_MAX &&
		    !access(file, X_OK))
			return true;
	}
	return false;
}

/*
 * Return whether COMMAND has the markers of include/sbt/sbt.h. Such a program may have variables of
 * the SBT library among its arguments.
 */
static bool has_marks(const struct options *o)
{
	char file[PATH_MAX];

	return o->mode == OPTIONS_COMMAND && find_program(o->command[0], file) &&
	       reader_file_has_marks(file, "sbt");
}

/* Set up @o for record: print nothing, and write the recording to the file of -o. */
static int record_only(struct options *o)
{
	o->only_record = true;
	if (!o->output) {
		msg_error("record: -o FILE is missing (see sbt-trace record --help)");
		return -EINVAL;
	}
	o->record = o->output;
	o->output = "/dev/null";
	return 0;
}

/* Return whether the first word is neither a command nor a program, and print that. */
static bool is_no_command(const struct command_line *line)
{
	const char *word = line->options.command ? line->options.command[0] : NULL, *nearest;
	char file[PATH_MAX];

	if (!line->bare || line->before_dashes != line->files.n || !word ||
	    find_program(word, file))
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
	if (is_no_command(line) || (line->command == COMMAND_RECORD && record_only(&line->options)))
		return EXIT_USAGE;
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
