/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The command line and the environment, read by the option table. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "cmd/command_line.h"

enum options_result { OPTIONS_GO, OPTIONS_DONE, OPTIONS_WRONG, OPTIONS_FAILED };

/*
 * Read the environment, then the words from argv[1] to the last, into @line, which is to be freed
 * with options_free(). The caller has set command and bare. The command line overrides the
 * environment. Return OPTIONS_DONE if --help or the like was answered, OPTIONS_WRONG after a
 * message about wrong usage, and OPTIONS_FAILED after a message about a failure.
 */
enum options_result options_parse(struct command_line *line, int argc, char **argv);
void options_free(struct command_line *line);
/* Write what is buffered for standard output. Return 0, or -errno after a message. */
int options_flush(void);
/* Parse, call @run if there is something to run, and free. Return the exit status. */
int options_run(struct command_line line, int argc, char **argv,
		int (*run)(struct command_line *line));

/*
 * Read the variables of the SBT library among COMMAND's own arguments, such as "SBT_WATCH NAME",
 * for programs that take the variables as arguments. They override everything else. Return 0,
 * -ENOMEM, or -EINVAL after a message.
 */
int options_read_words(struct options *options);

#endif /* CMD_OPTIONS_H */
