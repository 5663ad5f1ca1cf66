/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The options of all commands in one table. Command lines are parsed with it. Help, completion and
 * the OPTIONS sections of the man pages are made from it.
 */
#ifndef CMD_OPTION_TABLE_H
#define CMD_OPTION_TABLE_H

#include "cmd/command_text.h"
#include "cmd/option_row.h"

extern const char *const option_group_titles[OPTION_GROUPS];
extern const struct option_row option_table[];
extern const size_t noptions;

/*
 * Return the row of @command with this name, or with this letter; NULL: the command does not take
 * it.
 */
const struct option_row *option_by_name(enum command command, const char *name);
const struct option_row *option_by_letter(enum command command, char letter);
/*
 * Return the commands, as bits, that take the option @name or, if @name is NULL, the option
 * @letter.
 */
unsigned option_commands(const char *name, char letter);
/*
 * Return the name of the option nearest to @word. If several are equally near, prefer an option of
 * @command. NULL: none is similar.
 */
const char *option_nearest(enum command command, const char *word);

#endif /* CMD_OPTION_TABLE_H */
