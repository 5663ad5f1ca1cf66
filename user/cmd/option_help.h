/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Pages of help, made from the option table. */
#ifndef CMD_OPTION_HELP_H
#define CMD_OPTION_HELP_H

#include "cmd/command_text.h"

/*
 * Print the help of a command, of sbt-trace itself, of all commands (--help=all), or as a table for
 * scripts/options (--help=table).
 */
void option_help_command(enum command command);
void option_help_short(void);
void option_help_all(void);
void option_help_table(void);

#endif /* CMD_OPTION_HELP_H */
