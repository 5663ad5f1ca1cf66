// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace help: print the help of a command. */
#include "cmd/cmd.h"
#include "cmd/option_help.h"
#include "cmd/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/msg.h"

/* Print that @word is no command. */
static void help_unknown(const char *word)
{
	const char *nearest = command_nearest(word);

	if (nearest)
		msg_error("help: sbt-trace has no command %s; did you mean %s?", word, nearest);
	else
		msg_error("help: sbt-trace has no command %s (see sbt-trace help)", word);
}

static int help_run(struct command_line *line)
{
	char **words = line->files.words;
	enum command command = line->files.n ? command_named(words[0]) : COMMANDS;

	if (line->files.n > 1) {
		msg_error("help: one command is expected (see sbt-trace help)");
		return EXIT_USAGE;
	}
	if (line->files.n && command == COMMANDS) {
		help_unknown(words[0]);
		return EXIT_USAGE;
	}
	if (line->files.n)
		option_help_command(command);
	else
		option_help_short();
	return options_flush() ? EXIT_FAILED : 0;
}

int cmd_help(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_HELP }, argc, argv, help_run);
}
