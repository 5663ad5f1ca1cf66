/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The command line and the environment, read by the option table. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "cmd/command_line.h"

enum options_result { OPTIONS_GO, OPTIONS_DONE, OPTIONS_WRONG, OPTIONS_FAILED };

/*
 * Read the environment, then the words argv[1] and on, into @line, with command and bare set, to be
 * freed with options_free(). The command line overrides the environment. OPTIONS_DONE: --help or
 * the like was answered. OPTIONS_WRONG and OPTIONS_FAILED: wrong usage, and a failure; a message
 * was printed.
 */
enum options_result options_parse(struct command_line *line, int argc, char **argv);
void options_free(struct command_line *line);
/* Parse, call @run and free. Return the exit status: that of @run if it was called. */
int options_run(struct command_line line, int argc, char **argv,
		int (*run)(struct command_line *line));

/*
 * Read the variables of the SBT library among COMMAND's own arguments, such as "SBT_WATCH NAME",
 * for programs that take them there. They override everything else. Return 0, -EINVAL (a message
 * was printed) or -ENOMEM.
 */
int options_read_words(struct options *options);

#endif /* CMD_OPTIONS_H */
